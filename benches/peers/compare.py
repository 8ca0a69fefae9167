#!/usr/bin/env python3
"""Runs the same programs in Cotangent, JAX, PyTorch and NumPy, interleaved on one machine, and prints the ratios of times.

    python3 benches/peers/compare.py [--threads 1,2] [--only REGEX] [--budget SECONDS] [--rounds N] [--table FILE.md]
    python3 benches/peers/compare.py --module family ..  # the programs of a module, in Cotangent and JAX: `family`, `sweep`
    python3 benches/peers/compare.py --write      # rewrites the programs for Cotangent: benches/workloads.mlir
                                                  # (with --module NAME: target/NAME.mlir, as each run does)

Each library runs in a separate process, pinned to one core per thread. The inputs of a workload are generated once and
shared; results are compared before anything is timed. The libraries are then timed in interleaved runs, for several
rounds. Creation of inputs is not timed; creation of outputs is. On a busy machine, use the ratio of CPU times with one
thread. A library that is not installed is skipped with a message. XLA compiles a loop as one function only below a size
limit, which the peer `jax+loops` raises.
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEXT = ROOT / "benches" / "workloads.mlir"
sys.path.insert(0, str(HERE))

from libraries import LIBRARIES, limit_threads  # noqa: E402
from family import HOLDS  # noqa: E402
from workloads import ALL, make, use_module  # noqa: E402


def text_of(module):
    return ROOT / "target" / f"{module}.mlir" if module else TEXT


def write(path):
    """The programs in one file. A line before each has its name, the derivative, the `wrt` inputs, and the inputs."""
    jax, out = LIBRARIES["jax"](1), []
    for w in ALL:
        wrt = ",".join(map(str, w.wrt)) or "-"
        recipes = " ".join(r for _, _, r in w.inputs)
        out.append(f"// workload {w.name} {w.derived} {wrt} {recipes}\n{jax.text(w)}")
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(out))


def worker(library, threads):
    """For each line `name, inputs, results, budget`, prints samples: pairs `wall:cpu`, in seconds."""
    limit_threads(threads)
    lib = LIBRARIES[library](threads)
    print(lib.version, flush=True)
    by_name, ready = {w.name: w for w in ALL}, None
    for line in sys.stdin:
        name, inputs, results, budget = line.rstrip("\n").split("\t")
        try:
            if ready is None or ready[0] != name:
                w, data = by_name[name], np.load(inputs)
                ready = (name, lib.prepare(w, [data[f"x{i}"] for i in range(len(w.inputs))]))
                y = lib.numpy(ready[1]())
                np.savez(results, **{f"y{i}": v for i, v in enumerate(y)})
            print("ok\t" + "\t".join(f"{t:.9f}:{c:.9f}" for t, c in samples(ready[1], float(budget))), flush=True)
        except Exception as e:  # a failure of a library is a line in the table
            ready = None
            print("error\t" + repr(e).replace("\n", " ").replace("\t", " ")[:200], flush=True)


def samples(run, budget):
    """Wall and CPU times of one call, in seconds. A sample consists of calls that take 2 ms in total."""
    times, calls, end = [], 1, time.perf_counter() + budget
    while time.perf_counter() < end or len(times) < 3:
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            run()
        t, c = time.perf_counter() - start, time.process_time() - cpu
        if t < 0.002 and calls < 10**6:
            calls = max(calls + 1, int(calls * min(10, 0.0022 / max(t, 1e-9))))
            times = []
            continue
        times.append((t / calls, c / calls))
    return times


class Process:
    def __init__(self, name, command, threads):
        self.name = name

        def prepare():
            limit_threads(threads)
            os.environ.update(getattr(LIBRARIES.get(name), "environment", {}))

        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=prepare)
        self.version = self.p.stdout.readline().strip()

    def ask(self, *words):
        self.p.stdin.write("\t".join(map(str, words)) + "\n")
        self.p.stdin.flush()
        answer = self.p.stdout.readline().rstrip("\n").split("\t")
        if answer[0] != "ok":
            raise RuntimeError(answer[1] if len(answer) > 1 else "the process ended")
        return [tuple(map(float, s.split(":"))) for s in answer[1:]]

    def stop(self):
        self.p.stdin.close()
        self.p.wait(60)


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
            wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
            d = np.max(np.abs(a.astype(wide) - b.astype(wide))) / scale
            worst = max(worst, float(d) if np.isfinite(d) else float("inf"))
    return worst


def bench_binary():
    """Builds the Rust program and returns its path."""
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
    module = ["--module", args.module] if args.module else []
    if module:
        subprocess.run([sys.executable, __file__, *module, "--write"], check=True)
        os.environ["WORKLOADS"] = str(text_of(args.module))
    chosen = [w for w in ALL if re.search(args.only, w.name)]
    out = []
    for threads in args.threads:
        peers = [Process("cotangent", [str(binary), "--serve"], threads)]
        for name in args.peers:
            p = Process(name, [sys.executable, str(HERE / "compare.py"), "--worker", name, str(threads), *module], threads)
            if p.version:
                peers.append(p)
            else:
                print(f"left out: {name} does not start here")
        rows = []
        for w in chosen:
            rows.append(one(w, peers, args))
            print(" ".join(str(c) for c in rows[-1].cells()), flush=True)
        for p in peers:
            p.stop()
        out += table(threads, peers, rows)
    print("\n".join(out))
    if args.table:
        cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.processor())
        head = f"Run on {datetime.date.today()}, {cpu}, {os.cpu_count()} cores; `{' '.join(['compare.py', *sys.argv[1:]])}`."
        Path(args.table).write_text("\n".join([head, *out]) + "\n")


def table(threads, peers, rows):
    """A Markdown table for one number of threads. Rows with a CPU ratio above 1 come first, in descending order."""
    names = [p.name for p in peers]
    out = ["", f"### {threads} thread{'s' * (threads > 1)}: {', '.join(p.version for p in peers)}", ""]
    for column, of in (("CPU", lambda r: r.cpu_ratio), ("wall", lambda r: r.wall_ratio)):
        ratios = [of(r) for r in rows if of(r)]
        if ratios:
            mean, ahead = statistics.geometric_mean(ratios), sum(r <= 1 for r in ratios)
            out.append(f"By {column} time at or ahead of the best peer in {ahead} of {len(ratios)}; geometric mean of the ratios {mean:.2f}.")
    if any(r.holds for r in rows):
        out += groups(peers[1:], rows)
    out += ["", "| workload | " + " | ".join(names) + " | by CPU time | by wall time | difference |", "|---|" + "---|" * (len(names) + 3)]
    behind = sorted((r for r in rows if (r.cpu_ratio or 0) > 1), key=lambda r: -r.cpu_ratio)
    rest = [r for r in rows if r not in behind]
    return out + ["| " + " | ".join(r.cells()) + " |" for r in behind + rest]


def groups(peers, rows):
    """Ratios of CPU times to each peer, by what the body of the innermost loop holds; the largest mean first."""
    out = []
    for p in peers:
        lines = []
        for holds, text in [*HOLDS.items(), ("", "all")]:
            at = [r.cpu_ratios[p.name] for r in rows if p.name in r.cpu_ratios and holds in ("", r.holds)]
            if at:
                mean, most = statistics.geometric_mean(at), [sum(r <= 1 for r in at), sum(r > 3 for r in at), sum(r > 10 for r in at)]
                lines.append((mean * bool(holds), f"| {text} | {len(at)} | {most[0]} | {most[1]} | {most[2]} | {mean:.2f} | {max(at):.1f} |"))
        out += ["", f"| CPU time by that of {p.name}; the innermost loop holds | rows | at most 1 | above 3 | above 10 | mean | largest |", "|---|" + "---|" * 6]
        out += [line for _, line in sorted(lines, key=lambda l: -l[0])]
    return out


@dataclass
class Row:
    """A workload: wall times of each library, and ratios of Cotangent's times to the best of the others."""

    name: str
    wall: dict
    errors: dict
    wall_ratio: float
    cpu_ratio: float
    apart: float
    names: list
    holds: str
    cpu_ratios: dict  # to each of the others

    def cells(self):
        def time(n):
            return micros(self.wall[n]) if n in self.wall else self.errors.get(n, "")[:40]

        numbers = [f"{r:.2f}" if r else "" for r in (self.cpu_ratio, self.wall_ratio)]
        return [self.name, *map(time, self.names), *numbers, f"{self.apart:.0e}" if self.apart is not None else ""]


def quartile(times):
    return sorted(times)[len(times) // 4]


def one(w, peers, args):
    """Runs one workload. The time of a library in a round is its lower quartile, and a ratio is the median over rounds. On a
    busy machine only times of the same round are comparable."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as d:
        np.savez(f"{d}/in.npz", **{f"x{i}": make(rng, *x) for i, x in enumerate(w.inputs)})
        rounds, errors = {p.name: [] for p in peers}, {}
        for _ in range(args.rounds):
            for p in peers:
                if p.name in errors or (p.name != "cotangent" and p.name.partition("+")[0] not in w.peers):
                    continue
                try:
                    rounds[p.name].append(p.ask(w.name, f"{d}/in.npz", f"{d}/{p.name}.npz", args.budget))
                except RuntimeError as e:
                    errors[p.name] = str(e)
        results = {}
        for p in peers:
            if rounds[p.name] and p.name not in errors:
                data = np.load(f"{d}/{p.name}.npz")
                results[p.name] = [data[f"y{i}"] for i in range(len(data.files))]
    ours, others = results.pop("cotangent", None), list(results)
    apart = None
    if ours is not None and others:
        apart = difference(ours, results["jax" if "jax" in others else others[0]])
        if apart > (w.tol or (1e-2 if "float32" in {d for d, _, _ in w.inputs} else 1e-6)):
            errors["cotangent"] = "differs"

    def to(peer, times):
        return statistics.median(a / b for a, b in zip(times["cotangent"], times[peer]))

    def ratio(times):
        if ours is None or not others or "cotangent" in errors:
            return None
        return to(min(others, key=lambda n: statistics.median(times[n])), times)

    wall, cpu = ({n: [quartile([t[k] for t in r]) for r in rs] for n, rs in rounds.items() if rs} for k in (0, 1))
    for n, e in errors.items():
        print(f"{w.name}: {n}: {e}", file=sys.stderr)
    shown = {n: statistics.median(t) for n, t in wall.items() if n not in errors}
    each = {} if ratio(cpu) is None else {n: to(n, cpu) for n in others}
    return Row(w.name, shown, errors, ratio(wall), ratio(cpu), apart, [p.name for p in peers], w.holds, each)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--write", action="store_true")
    a.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    a.add_argument("--threads", type=lambda s: [int(t) for t in s.split(",")], default=[1])
    a.add_argument("--only", default="")
    a.add_argument("--peers", type=lambda s: s.split(","))
    a.add_argument("--module")
    a.add_argument("--budget", type=float, default=0.1)
    a.add_argument("--rounds", type=int, default=4)
    a.add_argument("--bin")
    a.add_argument("--table")
    args = a.parse_args()
    if args.module:
        use_module(args.module)
    args.peers = args.peers or (["jax", "jax+loops"] if args.module else ["jax", "torch", "numpy"])
    if args.write:
        return write(text_of(args.module))
    if args.worker:
        return worker(args.worker[0], int(args.worker[1]))
    compare(args)


if __name__ == "__main__":
    main()
