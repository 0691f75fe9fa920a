#!/usr/bin/env python3
"""Stands in for a training program: prints the documents of `config`, `probe` and `train` without training anything.

FAKE_TOOL is the command ddpkit, which knows the configuration. FAKE_MODE makes the program misbehave.
"""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys

MODE = os.environ.get("FAKE_MODE", "")
RANKS = int(os.environ.get("FAKE_RANKS", "1"))
CORES = int(os.environ.get("FAKE_CORES", "2"))
SPEED = {1: 1000.0, 2: 1900.0, 4: 1950.0}


def options(arguments):
    given, rest = {}, iter(arguments)
    for word in rest:
        if word == "--set":
            key, value = next(rest).split("=", 1)
            given[key] = value
    return given


def probe(given):
    rate = SPEED[RANKS] * (0.6 if MODE == "slow" and RANKS > 1 else 1)
    batch = {key: int(given["batch." + key]) for key in ("global", "micro", "accumulate")}
    assert batch["global"] == batch["micro"] * batch["accumulate"] * RANKS
    step = batch["global"] / rate
    crowded = RANKS > CORES
    threads = int(given.get("run.threads", max(1, CORES // RANKS)))
    wait = 0.45 if MODE == "slow" and RANKS > 1 else 0.04
    full = 0.97 if MODE == "full" else 0.5
    limit = 64 << 20
    return {
        "verb": "probe", "world_size": RANKS, "nodes": 1, "device": "cpu", "batch": batch, "windows": 20,
        "samples_per_second": None if MODE == "oom" else rate,
        "step_seconds": {"median": step, "low": step * 0.99, "high": step * 1.01},
        "phase_seconds": {"data": 0.01 * step, "forward": 0.3 * step, "backward": 0.5 * step, "reduce": wait * step, "update": 0.1 * step},
        "utilisation": 0.99 - wait, "data_share": 0.01, "communication_share": wait,
        "memory": {"limit_bytes": limit, "target": 0.9,
                   "peak_bytes": {"forward": int(full * limit), "backward": 1, "optimizer": 1},
                   "ranks": [{"rank": rank, "peak_bytes": int(full * limit), "limit_bytes": limit} for rank in range(RANKS)]},
        "placement": [{"rank": rank, "host": "node1", "cores": list(range(CORES)) if RANKS != CORES else [rank], "threads": threads,
                       "oversubscribed": crowded} for rank in range(RANKS)],
        "verdict": "does not fit: rank 0 had no memory for 3 MiB in backward" if MODE == "oom" else "fits",
    }


def loss_at(step, given):
    loss = 2 * math.exp(-0.05 * step) + 0.01 * math.sin(7 * step)
    if MODE == "batchnorm":
        loss += 0.2 / int(given["batch.micro"])
    if MODE == "scale" and step > 1:
        loss += 0.1 * int(given["batch.accumulate"])
    return loss * (1 + 1e-6 * RANKS)


def train(given):
    folder = pathlib.Path(given["run.dir"]) / f"{RANKS}-{given['batch.micro']}"
    folder.mkdir(parents=True)
    with open(folder / "metrics.jsonl", "w", encoding="utf-8") as file:
        for step in range(1, int(given["run.steps"]) + 1):
            record = {"schema": 1, "kind": "train", "step": step, "epoch": 0.1 * step, "samples": step * int(given["batch.global"]),
                      "time": 0.0, "values": {"loss": None if MODE == "nan" and step == 3 else loss_at(step, given), "lr": 0.1}}
            file.write(json.dumps(record) + "\n")
        file.write(json.dumps({"schema": 1, "kind": "valid", "step": step, "epoch": 1, "samples": 1, "time": 0, "values": {"loss": 9}}) + "\n")
    return {"end": "complete", "run_folder": str(folder)}


def main():
    verb, arguments = sys.argv[1], sys.argv[2:]
    given = options(arguments)
    if MODE == "old" and verb == "probe":
        print("The following argument was not expected: probe", file=sys.stderr)
        sys.exit(64)
    if MODE == "crash" and verb == "train":
        print("a line on the way\nsomething broke in layer 3", file=sys.stderr)
        sys.exit(65)
    if MODE == "hang" and verb == "train":
        signal.pause()  # until it is ended
    if MODE == "chatty":
        print("hello from the program")
    if verb == "config":
        sys.exit(subprocess.run([os.environ["FAKE_TOOL"], "config", *[a for a in arguments if a != "--chosen"]], check=False).returncode)
    print(json.dumps(probe(given) if verb == "probe" else train(given)))


main()
