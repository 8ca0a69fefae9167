#!/usr/bin/env python3
"""Training programs of JAX on Cotangent's runtime and on XLA's CPU, in interleaved runs.

    target/python-jax/bin/python benches/peers/jax_plugin.py [--rounds N] [--threads N] [--cpu] [--only NAME ..]

The Python must have the package `cotangent-jax`; `python/cotangent-jax/ci.sh` makes that environment. Each run is a process of
its own, and measures, in milliseconds:

- `first loss`: from the end of `import jax` to the first loss: data, devices, parameters, tracing, compilation, the first step;
- `compile`: compilation of a step that was lowered before, and its first execution, in the process of that run;
- `step`: the median of later steps, each waited for.

The medians of the runs are printed, with the least and the largest. Both sides may use the same number of processors. With
`--cpu` times are CPU time of the process instead of wall time, for machines that other programs use, too.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["mlp", "transformer", "rnn"]
PLATFORMS = {"cotangent": "cotangent,cpu", "xla": "cpu"}
MEASURES = ["first loss", "compile", "step"]


def measure(name, clock):
    """The times of one run, as a child process."""
    import jax

    begin = clock()
    sys.path.insert(0, str(ROOT / "python/cotangent-jax/tests"))
    import models

    start, loss, data = models.PROGRAMS[name]()
    step = models.step_of(loss)
    params, value = step(jax.jit(lambda: start())(), *data)
    value.item()
    first = clock() - begin

    lowered = models.step_of(loss, rate=0.04).lower(params, *data)
    other = jax.tree.map(lambda x: x + 0, params)
    jax.block_until_ready(other)
    begin = clock()
    jax.block_until_ready(lowered.compile()(other, *data))
    compiled = clock() - begin

    steps, end = [], time.perf_counter() + 1.5
    while len(steps) < 100 or (time.perf_counter() < end and len(steps) < 3000):
        begin = clock()
        params, value = jax.block_until_ready(step(params, *data))
        steps.append(clock() - begin)
    times = [first, compiled, statistics.median(steps[10:])]
    platform = jax.devices()[0].platform
    print(json.dumps({"platform": platform, **dict(zip(MEASURES, (1e3 * t for t in times)))}))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--cpu", action="store_true", help="CPU time instead of wall time")
    options.add_argument("--only", nargs="*", default=PROGRAMS)
    options.add_argument("--measure", help=argparse.SUPPRESS)
    options = options.parse_args()
    if options.measure:
        return measure(options.measure, time.process_time if options.cpu else time.perf_counter)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    times = {(n, p): [] for n in options.only for p in PLATFORMS}
    for _ in range(options.rounds):
        for name, platform in times:
            variables = {"JAX_PLATFORMS": PLATFORMS[platform], "COTANGENT_THREADS": str(options.threads)}
            child = [sys.executable, __file__, "--measure", name] + ["--cpu"] * options.cpu
            done = subprocess.run(child, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True)
            run = json.loads(done.stdout)
            assert run["platform"] == PLATFORMS[platform].split(",")[0], run
            times[name, platform].append(run)
            print(name, platform, {key: round(run[key], 3) for key in MEASURES}, file=sys.stderr, flush=True)
    print("| program | | cotangent, ms | XLA, ms | ratio |\n|---|---|---|---|---|")
    for name in options.only:
        for key in MEASURES:
            cells, medians = [], []
            for platform in PLATFORMS:
                values = [run[key] for run in times[name, platform]]
                medians.append(statistics.median(values))
                cells.append(f"{medians[-1]:.4g} ({min(values):.4g} to {max(values):.4g})")
            print(f"| {name} | {key} | {cells[0]} | {cells[1]} | {medians[0] / medians[1]:.3f} |")


if __name__ == "__main__":
    main()
