#!/usr/bin/env python3
"""Changes programs by one step and counts their instructions, to find kernels that are fast for one shape or type only.

    python3 benches/peers/neighbours.py [--module NAME] [--only REGEX] [--steps half,plus,..] [--bin FILE] [--table FILE.md]

For each program of `programs.py`, or of `family`, and each step, callgrind counts the instructions of a call (AVX2, one thread; the
difference of runs with four and two calls). They are divided by the number of input elements. The ratio to the unchanged program
may be at most 1.5, or 3 for elements of twice the width; exceptions are in `EXCEPTIONS`. A step that does not apply
(shapes are fixed, JAX cannot trace it) is skipped with a message.

The steps: `half` and `sign`, other types; `plus` and `minus`, the largest extent one longer or shorter; `swapped`, axes stored in
transposed order; `batched`, a `vmap` of three; `reversed` and `strided`, an input that is a view; `inserted`, 1 added to an input;
`scanned`, a scan of one trip around all; `symbolic`, the largest extent is a symbol.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from compare import bench_binary
from libraries import LIBRARIES
from workloads import ALL, Workload, make, use_module

MOST = 1.5
LENGTHS = "256 = 2^8 beside 255 = 3 5 17 and the prime 257; 1000 = 2^3 5^3 beside 999 = 3^3 37"
APART = "rows that are adjacent are copied whole, others element by element, each of which waits for memory"
POLYNOMIALS = "JAX's exports with symbols have polynomials in place of erfc, erf_inv and digamma"
ROUNDED = "each operation is rounded to 16 bits and widened again"
REVERSED = "each read of reversed rows is copied first: a load, a permutation and a store for each vector"
STRIDED = "each read of every second element is copied first"
SQUARES = "each read along the other axis is copied first, by squares in registers"
ZEROS = "the gradient of a slice with a step is written between zeros, by a pass of its own"
LARGE_STEP = "a step of three is more than the 8,000 instructions that become one function"
EXCEPTIONS = {
    "fft_rows_256x256.v:plus": LENGTHS,
    "fft_rows_256x256.v:minus": LENGTHS,
    "rfft_power_512x1000.v:minus": LENGTHS,
    "rfft_power_512x1000.g:minus": LENGTHS,
    "embedding_8192x64.v:swapped": APART,
    "embedding_8192x64.v:reversed": APART,
    "embedding_8192x64.v:strided": APART,
    "embedding_8192x64.g:strided": APART,
    "embedding_8192x64.v:batched": "the address of a row has two terms, so that each row is found anew",
    "matvec_50000x3.v:reversed": "the columns of a matrix of 3 x 3 are read one by one, as the order of a sum is fixed",
    "conv_depthwise_16x64x28.v:swapped": "the operand is copied to its layout element by element",
    "solve_2000x6.v:reversed": "matrices of 6 x 6 are packed in runs of six",
    "cumsum_1000x1000.v:reversed": "lines are copied forwards first",
    "popcount_1000000.v:reversed": "the count takes 1.7 instructions an element, to reverse vectors as many again",
    "batch_norm_64x32x16.v:reversed": REVERSED,
    "batch_norm_64x32x16.g:reversed": REVERSED,
    "layer_norm_8192x32.v:reversed": REVERSED,
    "layer_norm_8192x32.g:reversed": REVERSED,
    "stencil9_1000x1000.v:reversed": REVERSED,
    "total_variation_8x3x64.v:reversed": REVERSED,
    "stencil9_1000x1000.v:strided": STRIDED,
    "total_variation_8x3x64.v:strided": STRIDED,
    "batch_norm_64x32x16.v:swapped": SQUARES,
    "batch_norm_64x32x16.g:swapped": SQUARES,
    "matvec_50000x3.g:swapped": SQUARES,
    "rms_norm_bf16_512x1024.v:swapped": SQUARES,
    "stencil9_1000x1000.v:swapped": SQUARES,
    "total_variation_8x3x64.v:swapped": SQUARES,
    "cross_entropy_64x32000.v:swapped": SQUARES,
    "cross_entropy_64x32000.g:swapped": SQUARES,
    "poisson_loss_100000.g:strided": ZEROS,
    "cross_20000x3.g:strided": ZEROS,
    "softmax_20000x4.g:strided": ZEROS,
    "variance_32768x8.g:strided": ZEROS,
    "lstm_200x16.v:batched": LARGE_STEP,
    "wave_200x500.v:batched": LARGE_STEP,
    "histogram_1000000.v:inserted": "one index in 256 becomes one out of bounds, which is dropped",
    "embedding_8192x64.v:inserted": "1 is added to the whole table, of which rows are read",
    "stencil9_1000x1000.v:inserted": "1 is added to each of nine reads",
    "erf_inv_100000.g:symbolic": POLYNOMIALS,
    "log_ndtr_100000.g:symbolic": POLYNOMIALS,
    "lgamma_100000.v:symbolic": POLYNOMIALS,
    "lgamma_100000.g:symbolic": POLYNOMIALS,
    "lorenz_500.g:symbolic": "indices 1 and 2 are not known to be inside of an axis of n elements",
    "batch_norm_64x32x16.v:half": ROUNDED,
    "batch_norm_64x32x16.g:half": ROUNDED,
    "total_variation_8x3x64.v:half": ROUNDED,
    "total_variation_8x3x64.g:half": ROUNDED,
    "cumsum_1000x1000.v:half": ROUNDED,
    "cumsum_1000x1000.g:half": ROUNDED,
    "graph_network_40000.g:half": ROUNDED,
    "rnn_200x16x32.g:half": ROUNDED,
    "lstm_200x16.v:half": ROUNDED,
    "shift_register_5000x8.g:half": ROUNDED,
    "sgd_loop_100x16.v:half": ROUNDED,
    "heat_roll_50x128.v:half": ROUNDED,
    "heat_roll_50x128.g:half": ROUNDED,
    "wave_200x500.v:half": ROUNDED,
    "wave_200x500.g:half": ROUNDED,
    "stencil9_1000x1000.v:half": ROUNDED,
    "stencil9_1000x1000.g:half": ROUNDED,
    "mandelbrot_50x200x200.v:half": ROUNDED,
    "poisson_loss_100000.g:half": ROUNDED,
    "scalar_parameters_300.v:half": ROUNDED,
    "scalar_parameters_300.g:half": ROUNDED,
}
HALVES = {"float32": "float16", "float64": "float32", "int32": "int16", "uint32": "uint16", "int8": "int8", "complex64": "complex64"}
SIGNS = {"int32": "uint32", "uint32": "int32", "int8": "uint8", "float32": "float32", "float64": "float64", "complex64": "complex64"}


def typed(table):
    def step(w, f):
        inputs = [(table[d], s, r) for d, s, r in w.inputs]
        return (inputs, f) if inputs != w.inputs else None

    return step


def resized(by):
    def step(w, f):
        top = largest(w.inputs)
        return [(d, tuple(n + by if n == top else n for n in s), r) for d, s, r in w.inputs], f

    return step


def swapped(w, f):
    """Inputs with the last two axes stored in transposed order."""
    if all(len(s) < 2 for _, s, _ in w.inputs):
        return None
    inputs = [(d, s if len(s) < 2 else (*s[:-2], s[-1], s[-2]), r) for d, s, r in w.inputs]
    return inputs, lambda nn, *x: f(nn, *[v if v.ndim < 2 else nn.swap(v) for v in x])


def batched(w, f):
    import jax

    return [(d, (3, *s), r) for d, s, r in w.inputs], lambda nn, *x: jax.vmap(lambda *x: f(nn, *x))(*x)


def viewed(stretch, view):
    """The first input of the largest rank as a view of another."""

    def step(w, f):
        k = max(range(len(w.inputs)), key=lambda k: len(w.inputs[k][1]))
        d, s, r = w.inputs[k]
        if not s:
            return None
        inputs = [*w.inputs[:k], (d, (*s[:-1], s[-1] * stretch), r), *w.inputs[k + 1 :]]
        return inputs, lambda nn, *x: f(nn, *[view(v) if i == k else v for i, v in enumerate(x)])

    return step


def largest(inputs):
    return max((n for _, s, _ in inputs for n in s), default=0)


def inserted(w, f):
    """An addition to the first input of the largest rank."""
    k = max(range(len(w.inputs)), key=lambda k: len(w.inputs[k][1]))
    one = np.ones((), w.inputs[k][0])
    return w.inputs, lambda nn, *x: f(nn, *[v + one if i == k else v for i, v in enumerate(x)])


def scanned(w, f):
    import jax

    def step(nn, *x):
        return jax.lax.scan(lambda c, x: (c, f(nn, *x)), 0, tuple(v[None] for v in x))[1][0]

    return w.inputs, step


STEPS = {
    "half": typed(HALVES),
    "sign": typed(SIGNS),
    "plus": resized(1),
    "minus": resized(-1),
    "swapped": swapped,
    "batched": batched,
    "reversed": viewed(1, lambda x: x[..., ::-1]),
    "strided": viewed(2, lambda x: x[..., ::2]),
    "inserted": inserted,
    "scanned": scanned,
    "symbolic": lambda w, f: (w.inputs, f) if largest(w.inputs) else None,
}


def elements(inputs):
    return sum(int(np.prod(s)) for _, s, _ in inputs)


def widths(inputs):
    return max(np.dtype(d).itemsize for d, _, _ in inputs)


def variant(w, step):
    """The changed workload and its text, or `None`."""
    import jax
    from jax import export

    inputs, wrt = w.inputs[w.weighted :], [i - w.weighted for i in w.wrt]
    changed = STEPS[step](Workload(w.name, w.derived, (), inputs, w.primal), w.primal)
    if changed is None:
        return None
    inputs, f = changed
    nn = LIBRARIES["jax"](1)
    symbols = {largest(inputs): export.symbolic_shape("n")[0]} if step == "symbolic" else {}
    shaped = lambda inputs: [jax.ShapeDtypeStruct(tuple(symbols.get(n, n) for n in s), d) for d, s, _ in inputs]
    y = jax.eval_shape(lambda *x: f(nn, *x), *shaped(inputs))
    types, name = shaped(inputs), f"{w.name}:{step}"
    if w.derived == "value":
        changed = Workload(name, "value", (), inputs, f, all_inputs=True)
    else:
        real = str(jax.numpy.finfo(y.dtype).dtype)
        weighted = lambda nn, w, *x: nn.weighted_sum(f(nn, *x), w)
        numbers = {str(n): k for k, n in symbols.items()}
        weights = (real, tuple(numbers.get(str(n), n) for n in y.shape), "normal")
        types = [jax.ShapeDtypeStruct(y.shape, real), *types]
        changed = Workload(name, "grad", tuple(i + 1 for i in wrt), [weights, *inputs], weighted, all_inputs=True)
    if not symbols:
        return changed, nn.text(changed)
    of_all = jax.jit(lambda *x: changed.f(nn, *x), keep_unused=True)
    return changed, export.export(of_all)(*types).mlir_module()


def instructions(binary, w, module, folder):
    """Instructions of one call, in millions."""
    text, path = Path(folder) / "program.mlir", Path(folder) / "in.npz"
    wrt = ",".join(map(str, w.wrt)) or "-"
    text.write_text(f"// workload {w.name} {w.derived} {wrt} {' '.join(r for _, _, r in w.inputs)}\n{module}")
    rng = np.random.default_rng(0)
    np.savez(path, **{f"x{i}": make(rng, *x) for i, x in enumerate(w.inputs)})
    env = {**os.environ, "WORKLOADS": str(text), "COTANGENT_THREADS": "1", "COTANGENT_SIMD": "avx2"}

    def count(calls):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(binary), "--once", w.name, str(calls), str(path)]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            raise RuntimeError(done.stderr.strip().split("\n")[-1][:150])
        return int(found[1])

    return (count(4) - count(2)) / 2e6


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--only", default="")
    a.add_argument("--module")
    a.add_argument("--steps", type=lambda s: s.split(","), default=list(STEPS))
    a.add_argument("--bin")
    a.add_argument("--table")
    args = a.parse_args()
    binary = Path(args.bin) if args.bin else bench_binary()
    if args.module:
        use_module(args.module)
    chosen = [w for w in ALL if args.module or w.name[-2:] in (".v", ".g")]
    rows = [w for w in chosen if re.search(args.only, w.name)]
    lines, failed = ["| program | instructions an element | " + " | ".join(args.steps) + " |", "|---|---|" + "---|" * len(args.steps)], []
    with tempfile.TemporaryDirectory() as folder:
        for w in rows:
            base = instructions(binary, w, LIBRARIES["jax"](1).text(w), folder) / elements(w.inputs)
            cells = []
            for step in args.steps:
                try:
                    changed = variant(w, step)
                    if changed is None:
                        cells.append("")
                        continue
                    v, module = changed
                    wider = max(1.0, widths(v.inputs) / widths(w.inputs))
                    ratio = instructions(binary, v, module, folder) / elements(v.inputs) / base / wider
                except Exception as e:  # a program to which the step does not apply
                    print(f"{w.name}:{step} is left out: {str(e).splitlines()[0][:150] if str(e) else repr(e)}", file=sys.stderr)
                    cells.append("-")
                    continue
                over = ratio > MOST and f"{w.name}:{step}" not in EXCEPTIONS
                cells.append(f"**{ratio:.2f}**" if over else f"{ratio:.2f}")
                if over:
                    failed.append(f"{w.name}:{step}")
            lines.append(f"| {w.name} | {base * 1e6:.1f} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    if args.table:
        Path(args.table).write_text("\n".join(lines) + "\n")
    if failed:
        sys.exit(f"more than {MOST}: {' '.join(failed)}")


if __name__ == "__main__":
    main()
