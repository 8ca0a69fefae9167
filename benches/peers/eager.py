#!/usr/bin/env python3
"""Time of one eager operation with its gradient, in Cotangent and in PyTorch, on one machine, with one thread.

    python3 benches/peers/eager.py [--rounds N]

A chain of 99 sums, differences and products of vectors of 10 elements and the sum of its result are computed and pulled back, as
the benchmark `eager_overhead` does it; the time is divided by 100 operations. Medians, in microseconds.
"""
import argparse
import operator
import os
import statistics
import subprocess
import sys
import time

from first_gradient import ROOT, median_of

BENCH = ["cargo", "bench", "-p", "cotangent", "--bench", "eager_overhead", "--", "chain_of_100_on_10"]


STEPS = (operator.add, operator.sub, operator.mul)


def chain(torch):
    """The seconds of one chain, forward and backward."""
    x = torch.full((10,), 0.5, requires_grad=True)
    begin = time.perf_counter()
    y = x
    for i in range(99):
        y = STEPS[i % 3](y, x)
    y.sum().backward()
    return time.perf_counter() - begin


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=500)
    rounds = options.parse_args().rounds
    environment = {**os.environ, "COTANGENT_THREADS": "1"}
    run = subprocess.run(BENCH, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    print(f"cotangent  {10 * median_of(run.stdout, BENCH[-1] + ' '):.2f} us")
    try:
        import torch
    except ImportError:
        sys.exit("torch is not installed: pip install torch")
    torch.set_num_threads(1)
    times = [chain(torch) for _ in range(rounds + 50)][50:]
    print(f"torch {torch.__version__}  {1e6 * statistics.median(times) / 100:.2f} us")


if __name__ == "__main__":
    main()
