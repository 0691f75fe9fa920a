#!/usr/bin/env python3
"""expect.py --status N [--text WORDS]... [--once WORDS]... [--limit SECONDS] -- COMMAND...

Runs the command and fails unless it ends by itself within the limit, with this status and with every text in its output.
"""
import argparse
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--status", type=int, required=True)
    parser.add_argument("--text", action="append", default=[])
    parser.add_argument("--once", action="append", default=[], help="a text that must come exactly once")
    parser.add_argument("--limit", type=float, default=25)
    parser.add_argument("command", nargs="+")
    wanted = parser.parse_args()
    process = subprocess.Popen(wanted.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        output, _ = process.communicate(timeout=wanted.limit)
    except subprocess.TimeoutExpired:
        process.terminate()
        output, _ = process.communicate()
        sys.exit(f"{output}\ndid not end within {wanted.limit} s")
    missing = [words for words in wanted.text if words not in output]
    missing += [words for words in wanted.once if output.count(words) != 1]
    if process.returncode != wanted.status or missing:
        sys.exit(f"{output}\nstatus {process.returncode}, expected {wanted.status}; texts missing or repeated: {missing}")


if __name__ == "__main__":
    main()
