#!/usr/bin/env python3
"""Checks that includes only point down the list of layers, and that Torch, MPI, CUDA and yaml-cpp stay where they belong.

Run from anywhere; prints one line per offence and exits with 1 when there is any.
"""
import pathlib
import re
import sys

# Bottom up. Layers in one tuple stand side by side and may not see each other.
LAYERS = [
    ("base",), ("comm",), ("observe",), ("checkpoint",), ("schedule",), ("data",), ("batch",), ("config",),
    # LibTorch from here on.
    ("tensor",), ("reduce",), ("optim",), ("step",), ("train",), ("tune",), ("app",),
]
TORCH_FREE = {"base", "comm", "observe", "checkpoint", "schedule", "data", "batch", "config", "testing"}
RANK = {layer: level for level, layers in enumerate(LAYERS) for layer in layers}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')

ONLY_IN = [  # (what an include begins with, the places that may have it)
    ("mpi.h", ("src/comm/mpi/", "include/ddpkit/comm/mpi/")),
    ("nccl.h", ("src/comm/nccl/", "src/cuda/")),
    ("cuda", ("src/comm/nccl/", "src/cuda/")),
    ("yaml-cpp/", ("src/config/",)),
    ("spdlog/", ("src/base/log.cpp",)),
    ("Eigen/", ("src/batch/",)),
]


def layer_of(path):
    """`comm` for both include/ddpkit/comm/x.hpp and src/comm/mpi/x.cpp; None outside the layers."""
    parts = path.parts
    if parts[:2] == ("include", "ddpkit") and len(parts) > 3:
        return parts[2]
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return None


def may_include(user, used, used_file, user_file):
    if used == user:
        return True
    if used_file.endswith("_options.hpp"):
        # An options header includes base only, and config may include it although its component lies higher.
        if user == "config":
            return True
    if user_file.endswith("_options.hpp"):
        return used == "base"
    if user == "testing":
        return used in ("base", "comm")
    if user == "cuda":
        return True
    return user in RANK and used in RANK and RANK[used] < RANK[user]


def check(root):
    offences = []
    files = [p for folder in ("include", "src") for p in sorted((root / folder).rglob("*")) if p.suffix in (".hpp", ".cpp", ".cu")]
    for file in files:
        relative = file.relative_to(root)
        layer = layer_of(relative)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            place = f"{relative}:{number}"
            if layer in TORCH_FREE and re.match(r"(torch|ATen|c10)/", target):
                offences.append(f"{place}: {layer} lies below the Torch line and includes <{target}>")
            for prefix, allowed in ONLY_IN:
                if target.startswith(prefix) and not str(relative).startswith(allowed):
                    offences.append(f"{place}: <{target}> belongs in {' or '.join(allowed)} only")
            inside = re.match(r"(?:ddpkit/)?([a-z]+)/(?:.+/)?[a-z0-9_]+\.hpp$", target)
            if layer and inside and inside.group(1) in RANK | {"testing": 0, "cuda": 0}:
                used = inside.group(1)
                if not may_include(layer, used, target, str(relative)):
                    offences.append(f"{place}: {layer} may not include {used} ({target}): includes point down")
    return offences


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    offences = check(root)
    print("\n".join(offences) if offences else "layers: every include points down")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
