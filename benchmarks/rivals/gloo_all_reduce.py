#!/usr/bin/env python3
"""Companion of all_reduce: torch.distributed.all_reduce on gloo, for so many bytes of float32."""
import torch
import torch.distributed as dist

import companion


def make_iteration(name):
    count = int(name) // 4
    data = torch.arange(count, dtype=torch.float32) % 97 + rank
    dist.all_reduce(data)
    expected = (torch.arange(count, dtype=torch.float32) % 97) * ranks + ranks * (ranks - 1) / 2
    assert torch.equal(data, expected), "gloo's sum is wrong"
    data.zero_()
    return lambda: dist.all_reduce(data)


rank, ranks = companion.meet()
companion.serve(make_iteration)
