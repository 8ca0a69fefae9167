#!/usr/bin/env python3
"""Runs the same programs in Cotangent, JAX, PyTorch and NumPy, in turn on one machine, and prints the ratios.

    python3 benches/peers/compare.py [--threads 1,2] [--only REGEX] [--budget SECONDS] [--rounds N] [--table FILE.md]
    python3 benches/peers/compare.py --write      # prints the programs again for Cotangent: benches/workloads.mlir

Each library is a process of its own, pinned to as many cores as there are threads. A workload's inputs are made once and
given to all; results are compared before anything is timed; then the libraries are timed in turn, for some rounds, and
the median of all samples counts. Inputs are outside of the timed part, outputs are made inside. A peer that is not
installed is left out, and said so.
"""

import argparse
import datetime
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEXT = ROOT / "benches" / "workloads.mlir"
sys.path.insert(0, str(HERE))

from libraries import LIBRARIES, limit_threads  # noqa: E402
from workloads import ALL, make  # noqa: E402

BY_NAME = {w.name: w for w in ALL}


def write():
    """One file: before each program a line with its name, what is derived, with respect to what, and the inputs."""
    jax, out = LIBRARIES["jax"](1), []
    for w in ALL:
        wrt = ",".join(map(str, w.wrt)) or "-"
        recipes = " ".join(r for _, _, r in w.inputs)
        out.append(f"// workload {w.name} {w.derived} {wrt} {recipes}\n{jax.text(w)}")
    TEXT.write_text("".join(out))


def worker(library, threads):
    """Answers lines `name, inputs, results, budget` with the samples, in seconds."""
    limit_threads(threads)
    lib = LIBRARIES[library](threads)
    print(lib.version, flush=True)
    ready = None
    for line in sys.stdin:
        name, inputs, results, budget = line.rstrip("\n").split("\t")
        try:
            if ready is None or ready[0] != name:
                w, data = BY_NAME[name], np.load(inputs)
                ready = (name, lib.prepare(w, [data[f"x{i}"] for i in range(len(w.inputs))]))
                y = lib.numpy(ready[1]())
                np.savez(results, **{f"y{i}": v for i, v in enumerate(y)})
            print("ok\t" + "\t".join(f"{s:.9f}" for s in samples(ready[1], float(budget))), flush=True)
        except Exception as e:  # a peer that cannot is a line in the table
            ready = None
            print("error\t" + repr(e).replace("\n", " ").replace("\t", " ")[:200], flush=True)


def samples(run, budget):
    """Times of one call; as many calls to a sample as take two milliseconds."""
    times, calls, end = [], 1, time.perf_counter() + budget
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        t = time.perf_counter() - start
        if t < 0.002 and calls < 10**6:
            calls = max(calls + 1, int(calls * min(10, 0.0022 / max(t, 1e-9))))
            times = []
            continue
        times.append(t / calls)
    return times


class Process:
    def __init__(self, name, command, threads):
        self.name = name
        self.p = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: limit_threads(threads)
        )
        self.version = self.p.stdout.readline().strip()

    def ask(self, *words):
        self.p.stdin.write("\t".join(map(str, words)) + "\n")
        self.p.stdin.flush()
        answer = self.p.stdout.readline().rstrip("\n").split("\t")
        if answer[0] != "ok":
            raise RuntimeError(answer[1] if len(answer) > 1 else "the process ended")
        return [float(s) for s in answer[1:]]

    def stop(self):
        self.p.stdin.close()
        self.p.wait(10)


def difference(mine, theirs):
    """The largest difference of two lists of arrays, each relative to the largest number in it."""
    if len(mine) != len(theirs):
        return float("inf")
    worst = 0.0
    for a, b in zip(mine, theirs):
        if a.shape != b.shape:
            return float("inf")
        if a.size:
            scale = np.max(np.abs(b)) or 1.0
            d = np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))) / scale
            worst = max(worst, float(d) if np.isfinite(d) else float("inf"))
    return worst


def bench_binary():
    """Builds the Rust side and says where it is."""
    command = ["cargo", "bench", "-p", "cotangent", "--bench", "workloads", "--no-run", "--message-format=short"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = re.findall(r"\(([^()]*workloads-[0-9a-f]+)\)", done.stderr)
    if not found:
        sys.exit(done.stderr)
    return ROOT / found[-1]


def micros(s):
    return f"{s * 1e6:.3g} us" if s < 1e-3 else f"{s * 1e3:.3g} ms"


def compare(args):
    binary = Path(args.bin) if args.bin else bench_binary()
    chosen = [w for w in ALL if re.search(args.only, w.name)]
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    for threads in args.threads:
        peers = [Process("cotangent", [str(binary), "--serve"], threads)]
        for name in args.peers:
            p = Process(name, [sys.executable, str(HERE / "compare.py"), "--worker", name, str(threads)], threads)
            if p.version:
                peers.append(p)
            else:
                print(f"left out: {name} does not start here")
        say(f"\n### {threads} thread{'s' * (threads > 1)}: {', '.join(p.version for p in peers)}\n")
        say("| workload | cotangent | " + " | ".join(p.name for p in peers[1:]) + " | ratio to the best | difference |")
        say("|---|---|" + "---|" * (len(peers) + 1))
        ratios = []
        for w in chosen:
            ours, cells, best, apart = one(w, peers, args)
            ratio = ours / best if ours and best else None
            if ratio:
                ratios.append(ratio)
            first = micros(ours) if ours else cells[0]
            row = [w.name, first, *cells[1:], f"{ratio:.2f}" if ratio else "", f"{apart:.0e}" if apart is not None else ""]
            say("| " + " | ".join(row) + " |")
        if ratios:
            ahead = sum(r <= 1 for r in ratios)
            say(f"\nAt or ahead of the best peer in {ahead} of {len(ratios)}; geometric mean of the ratios {statistics.geometric_mean(ratios):.2f}.")
        for p in peers:
            p.stop()
    if args.table:
        cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.processor())
        head = f"Run on {datetime.date.today()}, {cpu}, {os.cpu_count()} cores; `{' '.join(['compare.py', *sys.argv[1:]])}`. Medians."
        Path(args.table).write_text("\n".join([head, *lines]) + "\n")


def one(w, peers, args):
    """Times of one workload: ours, the cells of the table, the best of the others, and how far results are apart."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as d:
        np.savez(f"{d}/in.npz", **{f"x{i}": make(rng, *x) for i, x in enumerate(w.inputs)})
        times, errors = {p.name: [] for p in peers}, {}
        for _ in range(args.rounds):
            for p in peers:
                if p.name in errors or (p.name != "cotangent" and p.name not in w.peers):
                    continue
                try:
                    times[p.name] += p.ask(w.name, f"{d}/in.npz", f"{d}/{p.name}.npz", args.budget)
                except RuntimeError as e:
                    errors[p.name] = str(e)
        if "cotangent" in errors:
            print(f"{w.name}: {errors['cotangent']}", file=sys.stderr)
        results = {}
        for p in peers:
            if times[p.name]:
                data = np.load(f"{d}/{p.name}.npz")
                results[p.name] = [data[f"y{i}"] for i in range(len(data.files))]
        median = {n: statistics.median(t) for n, t in times.items() if t}
        ours = median.pop("cotangent", None)
        apart = None
        if ours and median:
            reference = min(median, key=lambda n: n != "jax")
            apart = difference(results["cotangent"], results[reference])
            if apart > (1e-2 if "float32" in {d for d, _, _ in w.inputs} else 1e-6):
                errors["cotangent"], ours = "differs", None
        cells = [micros(median[p.name]) if p.name in median else ("fails" if p.name in errors else "") for p in peers]
        cells[0] = errors.get("cotangent", "")[:40]
        return ours, cells, min(median.values(), default=None), apart


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--write", action="store_true")
    a.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    a.add_argument("--threads", type=lambda s: [int(t) for t in s.split(",")], default=[1])
    a.add_argument("--only", default="")
    a.add_argument("--peers", type=lambda s: s.split(","), default=list(LIBRARIES))
    a.add_argument("--budget", type=float, default=0.2)
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--bin")
    a.add_argument("--table")
    args = a.parse_args()
    if args.write:
        return write()
    if args.worker:
        return worker(args.worker[0], int(args.worker[1]))
    compare(args)


if __name__ == "__main__":
    main()
