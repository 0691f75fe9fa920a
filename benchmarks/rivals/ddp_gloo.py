#!/usr/bin/env python3
"""Companion of step: PyTorch's DistributedDataParallel on gloo, on cases such as "mlp:1024:64:adamw:views"."""
import torch
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

import companion
import models


def make_iteration(name):
    net, width, batch, rule, gradients = name.split(":")
    torch.manual_seed(1)
    model = models.make_mlp(int(width)) if net == "mlp" else models.make_cnn()
    model = DistributedDataParallel(model, gradient_as_bucket_view=gradients == "views")
    optimizer = models.make_optimizer(model, rule)
    torch.manual_seed(2 + rank)
    inputs = torch.randn(int(batch), 1, 28, 28)
    targets = torch.randint(models.CLASSES, (int(batch),))

    def step():
        optimizer.zero_grad()
        cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


rank, _ = companion.meet()
torch.set_flush_denormal(True)
companion.serve(make_iteration)
