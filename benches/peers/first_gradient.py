#!/usr/bin/env python3
"""Time from the text of a program to its first gradient, in Cotangent and in JAX, on one machine.

    python3 benches/peers/first_gradient.py [--rounds N]

The program is the loss of the transformer of two blocks of `examples/transformer.py`. Cotangent reads the StableHLO text, derives
the gradient of all parameters, compiles it and runs it once. JAX traces, compiles and runs `value_and_grad` of the Python function
once, in a new process each time; importing JAX is not counted. Medians, in milliseconds.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ["cargo", "bench", "-p", "cotangent", "--bench", "first_gradient", "--", "transformer_of_two_blocks"]
UNITS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}
CHILD = """
import sys, time
sys.path.insert(0, "examples")
import jax, numpy as np, transformer as t
params = t.start(np.random.default_rng(0))
data = [np.zeros((t.BATCH, t.LENGTH), np.int32)] * 2
jax.block_until_ready(jax.numpy.zeros(1) + 1)
begin = time.perf_counter()
gradient = jax.jit(jax.value_and_grad(t.loss, argnums=tuple(range(len(params)))))
jax.block_until_ready(gradient(*params, *data))
print(1e3 * (time.perf_counter() - begin))
"""


def median_of(output, name):
    """The median of a benchmark, in milliseconds, from the table that it prints."""
    row = next(line for line in output.splitlines() if name in line)
    number, unit = re.split(r"\s*│\s*", row)[2].split()
    return float(number) * UNITS[unit]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    rounds = options.parse_args().rounds
    run = subprocess.run(BENCH, cwd=ROOT, capture_output=True, text=True, check=True)
    print(f"cotangent  {median_of(run.stdout, BENCH[-1]):.2f} ms")
    try:
        import jax
    except ImportError:
        sys.exit("jax is not installed: pip install jax")
    child = [sys.executable, "-c", CHILD]
    times = [float(subprocess.run(child, cwd=ROOT, capture_output=True, text=True, check=True).stdout) for _ in range(rounds)]
    print(f"jax {jax.__version__}  {statistics.median(times):.0f} ms")


if __name__ == "__main__":
    main()
