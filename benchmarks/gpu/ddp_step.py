"""PyTorch's DistributedDataParallel on one GPU: takes turns with the GPU benchmark, whose shapes it repeats."""
import os
import sys
import time

import torch
from torch.nn.parallel import DistributedDataParallel

CUDA = torch.cuda.is_available()
SHAPES = {  # width, layers, rows; as in workload.cpp
    "launch_bound": (256, 16, 64) if CUDA else (8, 2, 4),
    "large": (4096, 8, 4096) if CUDA else (16, 3, 4),
}
CLASSES = 10


def perceptron(width, layers):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(width, CLASSES))


def make_step(name):
    width, layers, rows = SHAPES[name]
    device = torch.device("cuda" if CUDA else "cpu")
    model = DistributedDataParallel(perceptron(width, layers).to(device), gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2, fused=True)
    inputs = torch.randn(rows, width, device=device)
    targets = torch.randint(CLASSES, (rows,), device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


def synchronize():
    if CUDA:
        torch.cuda.synchronize()


def seconds_of(step, iterations):
    step()
    synchronize()
    start = time.perf_counter()
    for _ in range(iterations):
        step()
    synchronize()
    return time.perf_counter() - start


def main():
    meeting_file = sys.argv[-1]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    torch.distributed.init_process_group("nccl" if CUDA else "gloo", init_method=f"file://{meeting_file}", rank=0, world_size=1)
    print("ready", file=answers)
    steps = {}
    for line in sys.stdin:
        name, iterations = line.split()
        if name not in steps:
            steps[name] = make_step(name)
        print(seconds_of(steps[name], int(iterations)), file=answers)


main()
