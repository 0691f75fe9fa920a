#!/usr/bin/env python3
"""The training run of examples/fashion_mnist.yaml on PyTorch's DistributedDataParallel over gloo, under mpirun, with all data in memory:
fashion_ddp.py default|views"""
import gzip
import math
import os
import pathlib
import sys
import tempfile

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
EPOCHS, GLOBAL_BATCH, RATE, WARM_UP = 5, 256, 0.1, 0.05


def meet():
    job = os.environ["PMIX_NAMESPACE"].replace("/", "_").replace("@", "_")
    file = pathlib.Path(tempfile.gettempdir()) / f"ddpkit_benchmark_{job}"
    rank, ranks = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks)
    dist.barrier()
    file.unlink(missing_ok=True)
    return rank, ranks


def read(split):
    def array(kind, header):
        return numpy.frombuffer(gzip.open(FOLDER / f"{split}-{kind}-ubyte.gz").read(), numpy.uint8, offset=header)

    labels = torch.from_numpy(array("labels-idx1", 8).astype(numpy.int64))
    images = torch.from_numpy(array("images-idx3", 16).reshape(-1, 1, 28, 28).astype(numpy.float32))
    return images.div_(255).sub_(0.286).div_(0.353), labels


def make_model(hidden=256):
    return nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                         nn.Linear(hidden, 10))


def rate_factor(step, all_steps):
    rising = WARM_UP * all_steps
    if step < rising:
        return (step + 1) / rising
    return (1 + math.cos(math.pi * (step - rising) / (all_steps - rising))) / 2


def accuracy(model, images, labels):
    with torch.no_grad():
        mine = sum((model(x).argmax(1) == y).sum() for x, y in zip(images[rank::ranks].split(512), labels[rank::ranks].split(512)))
    dist.all_reduce(mine)
    return mine.item() / len(labels)


rank, ranks = meet()
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.manual_seed(7)
images, labels = read("train")
valid_images, valid_labels = read("t10k")
model = DistributedDataParallel(make_model(), gradient_as_bucket_view=sys.argv[1] == "views")
optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9, nesterov=True, weight_decay=1e-4, fused=True)
steps = len(images) // GLOBAL_BATCH
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_factor(step, EPOCHS * steps))
for epoch in range(EPOCHS):
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(epoch))
    for rows in order[: steps * GLOBAL_BATCH].split(GLOBAL_BATCH):
        rows = rows.chunk(ranks)[rank]
        optimizer.zero_grad()
        cross_entropy(model(images[rows]), labels[rows]).backward()
        optimizer.step()
        schedule.step()
    correct = accuracy(model.module, valid_images, valid_labels)
if rank == 0:
    print(f"valid/accuracy {correct:.4f}")
sys.stdout.flush()
dist.barrier()
os._exit(0)  # gloo's threads end the process with an abort where its peer has gone first
