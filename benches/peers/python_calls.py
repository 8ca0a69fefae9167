#!/usr/bin/env python3
"""Times of calls through the package beside NumPy, JAX, PyTorch and HIPS autograd, in one run.

    python3 benches/peers/python_calls.py [--rounds N] [--only PART]

Every row is a question, with the time that the package aims at; every cell is the best of N short repetitions, in which the
libraries take turns. Times are CPU time of the process, all its threads, but those of large arrays, which are elapsed time. A library that is not installed, or has nothing of the kind, has an empty cell. Run it with the package of
the release profile (`pip install ./python`) on a machine that does nothing else.
"""
import argparse
import importlib
import os
import platform
import sys
import threading
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

import cotangent as ct


def optional(name):
    """A library, or `None`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


jax, torch, autograd = optional("jax"), optional("torch"), optional("autograd")
if jax:
    jax.config.update("jax_enable_x64", True)
if torch:
    torch.set_num_threads(1)

ROWS = []


def row(name, aim, clock=time.process_time_ns, **calls):
    """A question: its aim in microseconds, and a function without arguments for each library that answers it."""
    ROWS.append((name, aim, clock, {k: f for k, f in calls.items() if f is not None}))


def ready(f):
    """The call of a JAX function, until its result is there."""
    return lambda: jax.block_until_ready(f())


X10 = np.linspace(0.1, 1.0, 10)
BIG = np.ones(12_500_000)
SIZES = (16, 8), (32, 16), (32, 32), (1, 32)


def tiny():
    """A tiny compiled program."""
    f = lambda x: x * 2.0 + 1.0
    x = X10
    j, a = ct.jit(f), ct.asarray(X10)
    jj = jax and jax.jit(f)
    ja = jax and jax.numpy.asarray(X10)
    row("tiny program: NumPy in, Array out", 0.5, ours=lambda: j(x), numpy=lambda: f(x), jax=jax and ready(lambda: jj(x)))
    row("tiny program: Array in, Array out", 0.3, ours=lambda: j(a), jax=jax and ready(lambda: jj(ja)))
    row("tiny program: NumPy in and out", 0.8, ours=lambda: np.asarray(j(x)), numpy=lambda: f(x), jax=jax and (lambda: np.asarray(jj(x))))


def dictionaries():
    """A compiled function of a dict of five arrays."""
    f = lambda p: p["a"] + p["b"] + p["c"] + p["d"] + p["e"]
    p = {k: X10 for k in "abcde"}
    q = {k: ct.asarray(X10) for k in "abcde"}
    j = ct.jit(f)
    i = ct.jit(f)
    jj = jax and jax.jit(f)
    jq = jax and {k: jax.numpy.asarray(X10) for k in "abcde"}
    row("dict of five: Arrays", 1.0, ours=lambda: j(q), jax=jax and ready(lambda: jj(jq)))
    row("dict of five: NumPy arrays", 1.5, ours=lambda: i(p), numpy=lambda: f(p), jax=jax and ready(lambda: jj(p)))


def eager():
    """Operations of 10 elements."""
    a = ct.asarray(X10)
    n = X10
    ja = jax and jax.numpy.asarray(X10)
    t = torch and torch.tensor(X10)
    row("eager a + a", 0.3, ours=lambda: a + a, numpy=lambda: n + n, jax=jax and ready(lambda: ja + ja), torch=torch and (lambda: t + t))
    numbers = {"a * 2.0": lambda a: a * 2.0, "2.0 * a": lambda a: 2.0 * a, "2.0 - a": lambda a: 2.0 - a, "a * 2": lambda a: a * 2,
               "a < 0.5": lambda a: a < 0.5, "a ** 0.5": lambda a: a ** 0.5}
    for name, f in numbers.items():
        row(f"eager {name}", 0.4, ours=lambda f=f: f(a), numpy=lambda f=f: f(n), jax=jax and ready(lambda f=f: f(ja)),
            torch=torch and (lambda f=f: f(t)))
    row("eager add(a, a)", 0.6, ours=lambda: ct.add(a, a), numpy=lambda: np.add(n, n),
        jax=jax and ready(lambda: jax.numpy.add(ja, ja)), torch=torch and (lambda: torch.add(t, t)))
    row("eager sin(a)", 0.6, ours=lambda: ct.sin(a), numpy=lambda: np.sin(n), jax=jax and ready(lambda: jax.numpy.sin(ja)),
        torch=torch and (lambda: torch.sin(t)))
    v = ct.variable(X10)
    tv = torch and torch.tensor(X10, requires_grad=True)
    row("tape v * a", 0.6, ours=lambda: v * a, torch=torch and (lambda: tv * t))


def gradients():
    """Functions that are traced anew, and a small network."""
    g = ct.grad(lambda x: ct.sum(ct.sin(x) ** 2))
    jg = jax and jax.grad(lambda x: jax.numpy.sum(jax.numpy.sin(x) ** 2))
    ag = None
    if autograd:
        import autograd.numpy as anp
        ag = autograd.grad(lambda x: anp.sum(anp.sin(x) ** 2))

    def on_tape():
        x = torch.tensor(X10, requires_grad=True)
        (torch.sin(x) ** 2).sum().backward()
        return x.grad

    row("grad(f)(x), traced anew", 50.0, ours=lambda: g(X10), jax=jax and ready(lambda: jg(X10)), torch=torch and on_tape,
        autograd=ag and (lambda: ag(X10)))

    rng = np.random.default_rng(0)
    w = {"w1": rng.normal(size=(8, 32)), "b1": np.zeros(32), "w2": rng.normal(size=(32, 32)), "b2": np.zeros(32),
         "w3": rng.normal(size=(32, 1)), "b3": np.zeros(1)}
    x, y = rng.normal(size=(16, 8)), rng.normal(size=(16, 1))

    def mlp(m):
        def loss(w, x, y):
            h = m.tanh(x @ w["w1"] + w["b1"])
            h = m.tanh(h @ w["w2"] + w["b2"])
            return m.mean((h @ w["w3"] + w["b3"] - y) ** 2)
        return loss

    j = ct.jit(ct.grad(mlp(ct)))
    aw, ax, ay = {k: ct.asarray(v) for k, v in w.items()}, ct.asarray(x), ct.asarray(y)
    first = lambda: ct.jit(ct.grad(mlp(ct)))(w, x, y)
    jj = jax and jax.jit(jax.grad(mlp(jax.numpy)))

    def jax_first():
        jax.clear_caches()
        return jax.block_until_ready(jax.jit(jax.grad(mlp(jax.numpy)))(w, x, y))

    def torch_mlp():
        tw = {k: torch.tensor(v, requires_grad=True) for k, v in w.items()}
        mlp(torch)(tw, torch.tensor(x), torch.tensor(y)).backward()
        return tw

    am = None
    if autograd:
        import autograd.numpy as anp
        am = autograd.grad(mlp(anp))
    row("first gradient of an MLP, trace to result", 1000.0, ours=first, jax=jax and jax_first, torch=torch and torch_mlp,
        autograd=am and (lambda: am(w, x, y)))
    row("its gradient, jitted", 15.0, ours=lambda: j(aw, ax, ay), jax=jax and ready(lambda: jj(w, x, y)), torch=torch and torch_mlp,
        autograd=am and (lambda: am(w, x, y)))


def large():
    """Memory."""
    s = ct.jit(ct.sum)
    a = ct.asarray(BIG)
    jj = jax and jax.jit(jax.numpy.sum)
    t = torch and torch.from_numpy(BIG)
    row("sum of 100 MB of NumPy's", None, time.perf_counter_ns, ours=lambda: s(BIG), numpy=lambda: np.sum(BIG), jax=jax and ready(lambda: jj(BIG)),
        torch=torch and (lambda: torch.sum(t)))
    row("np.asarray of 100 MB", None, time.perf_counter_ns, ours=lambda: np.asarray(a))


def ticks():
    """Number of 0.5 ms ticks of another thread in 0.5 s of runs."""
    j = ct.jit(lambda x: ct.fori_loop(0, 300, lambda i, x: ct.tanh(x @ x), x))
    x = np.eye(200) * 0.5
    j(x)
    count, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            count[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        j(x)
    done.set()
    thread.join()
    return count[0]


def repetition(f, seconds=0.01):
    """The number of calls that take about this time."""
    n = 1
    while True:
        start = time.perf_counter()
        for _ in range(n):
            f()
        took = time.perf_counter() - start
        if took > seconds / 4 or n > 10**6:
            return max(1, int(n * seconds / max(took, 1e-9)))
        n *= 4


def measure(calls, clock, rounds):
    """The best time of a call of each library by this clock, in microseconds."""
    for f in calls.values():
        f()
    counts = {k: repetition(f) for k, f in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for k, f in calls.items():
            n = range(counts[k])
            start = clock()
            for _ in n:
                f()
            best[k] = min(best[k], (clock() - start) / len(n))
    return {k: 1e-3 * t for k, t in best.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=40)
    options.add_argument("--only", default="", help="part of the name of a row")
    options = options.parse_args()
    for f in (tiny, dictionaries, eager, gradients, large):
        f()
    versions = [f"{m.__name__} {m.__version__}" for m in (ct, np, jax, torch) if m]
    print(f"Python {platform.python_version()}, {', '.join(versions)}, {'autograd' if autograd else 'no autograd'}; microseconds")
    columns = ["ours", "numpy", "jax", "torch", "autograd"]
    print(f"| {'what':42} | {'aim':>7} | " + " | ".join(f"{c:>9}" for c in columns) + " |")
    print(f"|{'-' * 44}|{'-' * 9}|" + "|".join("-" * 11 for _ in columns) + "|")
    missed = []
    for name, aim, clock, calls in ROWS:
        if options.only not in name:
            continue
        found = measure(calls, clock, options.rounds)
        cells = [f"{found[c]:9.3g}" if c in found else " " * 9 for c in columns]
        print(f"| {name:42} | {'' if aim is None else aim:>7} | " + " | ".join(cells) + " |", flush=True)
        if aim is not None and found["ours"] > aim:
            missed.append(name)
    if not options.only:
        print(f"ticks of another thread in 0.5 s of runs: {ticks()} (more than 500)")
    print("over the aim:", ", ".join(missed) or "none")


if __name__ == "__main__":
    sys.exit(main())
