"""The other end of benchmarks/harness/companion.hpp: takes turns with a C++ program, together with the companions of its other
ranks. A rival's script gives `serve` a function from the name of a block to what one iteration does."""
import os
import sys
import time

import torch
import torch.distributed as dist


def meet():
    """The process group of all ranks' companions; (rank, number of ranks) come as arguments, as does the file to meet at."""
    rank, ranks, file = int(sys.argv[-3]), int(sys.argv[-2]), sys.argv[-1]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=ranks)
    return rank, ranks


def seconds_of(iteration, iterations):
    iteration()
    start = time.perf_counter()
    for _ in range(iterations):
        iteration()
    return time.perf_counter() - start


def serve(make_iteration):
    """Answers "NAME ITERATIONS" with seconds until the owner closes the pipe."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    made = {}
    print("ready", file=answers)
    for line in sys.stdin:
        name, iterations = line.split()
        if name not in made:
            made[name] = make_iteration(name)
        dist.barrier()
        print(seconds_of(made[name], int(iterations)), file=answers)
