#!/usr/bin/env python3
"""Idioms of libraries, lowered by JAX, run here and there. See README.md beside this."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as e:
    print(f"skipped: python3 has no {e.name}")
    sys.exit(0)

jax.config.update("jax_enable_x64", True)

# No subnormal numbers: XLA on CPU takes them for zero.
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 2.3e-308, -2.3e-308, 2.0, 2.0])
GRID = np.array([-800.0, -90.0, -10.0, -1.0, -0.1, 0.1, 1.0, 10.0, 90.0, 800.0])
rng = np.random.default_rng(1)
MATRIX = rng.normal(size=(5, 5))


def low_precision(name):
    def f(x):
        small = x.astype(getattr(jnp, name))
        return small.astype(jnp.float32), (small + small).astype(jnp.float32)
    return f


def sharded(x):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
    spec = jax.sharding.PartitionSpec("i")

    def local(x):
        y = jax.lax.psum(jnp.sin(x), "i") + jax.lax.axis_index("i") + jax.lax.pmax(x, "i")
        return y + jax.lax.psum_scatter(x, "i", tiled=True) + jax.lax.ppermute(x, "i", [(0, 0)])
    return jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(x)


def printing(x):
    jax.debug.print("{}", x.sum())

    def step(c, i):
        jax.debug.print("{}", i, ordered=True)
        return c * 1.5 + i, c.sum()
    return jax.lax.scan(step, x, jnp.arange(3.0))


def sparse(d, x):
    from jax.experimental import sparse as sp
    m = sp.BCSR((d, jnp.array([0, 1, 0], jnp.int32), jnp.array([0, 1, 1, 3], jnp.int32)), shape=(3, 2))
    return m @ x


# Name, function, arguments, whether gradients of the text are JAX's.
IDIOMS = [
    ("sigmoid", jax.nn.sigmoid, [GRID], True),
    ("silu", jax.nn.silu, [GRID], True),
    ("softplus", jax.nn.softplus, [GRID], True),
    ("gelu", jax.nn.gelu, [GRID], True),
    ("mish", lambda x: x * jnp.tanh(jax.nn.softplus(x)), [GRID], True),
    ("selu", jax.nn.selu, [GRID], True),
    ("log_softmax", jax.nn.log_softmax, [GRID], True),
    ("logsumexp", lambda x: jax.nn.logsumexp(x), [GRID], True),
    ("cross_entropy", lambda x: -jax.nn.log_softmax(x)[3], [GRID], True),
    ("bce", lambda x: jnp.maximum(x, 0) - 0.3 * x + jnp.log1p(jnp.exp(-jnp.abs(x))), [GRID], True),
    ("layer_norm", lambda x: (x - x.mean()) * jax.lax.rsqrt(x.var() + 1e-6), [MATRIX[0]], True),
    ("mean_axes", lambda x: x.mean((2, 0)), [rng.normal(size=(2, 3, 4))], True),
    ("average_axes", lambda x: jnp.average(x, axis=(2, 0)), [rng.normal(size=(2, 3, 4))], True),
    ("sharded", sharded, [MATRIX[0]], False),
    ("printing", printing, [MATRIX[0]], False),
    ("sparse_vector", sparse, [MATRIX[0][:3], MATRIX[1][:2]], False),
    ("sparse_matrix", sparse, [MATRIX[0][:3], MATRIX[:2]], False),
    ("mulhi", lambda x, y: jax.lax.mulhi(x, y), [np.array([2**62, -5, 7]), np.array([9, 2**62, -2**63])], False),
    ("sort", jnp.sort, [SPECIAL], False),
    ("argsort", lambda x: jnp.argsort(x, descending=True), [SPECIAL], False),
    ("top_k", lambda x: jax.lax.top_k(x, 7)[1], [SPECIAL], False),
    ("lexsort", lambda x, y: jnp.lexsort((x, y)), [SPECIAL, np.arange(12.0) % 3], False),
    ("schur", lambda a: jnp.abs(jax.scipy.linalg.schur(a)[0]), [MATRIX], False),
    ("eigvals", jnp.linalg.eigvals, [MATRIX], False),
    ("eig", lambda a: jnp.abs(jnp.linalg.eig(a)[1]), [MATRIX], False),
    ("roots", lambda p: jnp.roots(p, strip_zeros=False), [np.array([1.0, -6.0, 11.0, -6.0])], False),
    ("eigh", lambda a: jnp.linalg.eigvalsh(a + a.T), [MATRIX], False),
    ("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), [MATRIX], True),
    ("lu", lambda a: jax.scipy.linalg.lu_factor(a), [MATRIX + 1j * MATRIX.T], False),
    ("solve", jnp.linalg.solve, [MATRIX, MATRIX[0]], True),
    ("det", jnp.linalg.det, [MATRIX], True),
]
IDIOMS += [
    (f"storage_{name}", low_precision(name), [np.array([0.3, -1.7, 5.2, 100.0, 465.0, 1e6], np.float32)], False)
    for name in ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"]
]
IDIOMS += [
    (f"storage_{name}", lambda x, n=name: x.astype(n).astype(jnp.int32), [np.arange(-20, 21, dtype=np.int32)], False)
    for name in ["int4", "uint4"]
]


def flat(y):
    return [np.asarray(v) for v in jax.tree.leaves(y)]


def near(a, b):
    if a.dtype.kind in "iub":
        return bool(np.all(a == b))
    tol = 1e-8 if b.dtype.itemsize // (2 if b.dtype.kind == "c" else 1) > 4 else 1e-5
    finite = np.abs(b[np.isfinite(b)])
    room = tol * max(1.0, finite.max() if finite.size else 1.0)
    with np.errstate(all="ignore"):
        return bool(np.all((np.abs(a - b) <= room) | (a == b) | (np.isnan(a) & np.isnan(b))))


def call(binary, verb, path, inputs, out, *more):
    done = subprocess.run([binary, verb, str(path), "--in", str(inputs), "--out", str(out), *more], capture_output=True, text=True)
    return (dict(np.load(out)), "") if done.returncode == 0 else (None, done.stderr.strip().splitlines()[-1:])


def check(binary, name, f, x, slope, folder):
    text = jax.jit(f).lower(*x).as_text()
    path, inputs = folder / f"{name}.mlir", folder / f"{name}.npz"
    path.write_text(text)
    np.savez(inputs, **{f"in_{k}": v for k, v in enumerate(x)})
    want = flat(jax.jit(f)(*x))
    got, why = call(binary, "run", path, inputs, folder / "out.npz.tmp.npz")
    if got is None:
        return f"refused: {why}"
    for k, w in enumerate(want):
        if not near(got[f"out_{k}"], w):
            return f"out_{k} = {got[f'out_{k}']}, JAX has {w}"
    if not slope:
        return ""
    total = lambda *x: sum(jnp.sum(v * jnp.cos(jnp.arange(v.size).reshape(v.shape))) for v in jax.tree.leaves(f(*x)))
    path = folder / f"{name}.total.mlir"
    path.write_text(jax.jit(total).lower(*x).as_text())
    got, why = call(binary, "grad", path, inputs, folder / "out.npz.tmp.npz")
    path.unlink()
    if got is None:
        return f"gradient refused: {why}"
    for k, w in enumerate(flat(jax.grad(total, tuple(range(len(x))))(*x))):
        if not near(got[f"grad_{k}"], w):
            return f"grad_{k} = {got[f'grad_{k}']}, JAX has {w}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="target/release/cotangent")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    right = total = 0
    with tempfile.TemporaryDirectory() as tmp:
        folder = args.keep or pathlib.Path(tmp)
        folder.mkdir(parents=True, exist_ok=True)
        for name, f, x, slope in IDIOMS:
            if args.only not in name:
                continue
            total += 1
            wrong = check(args.bin, name, f, x, slope, folder)
            right += not wrong
            if wrong:
                print(f"{name}: {wrong}")
        (folder / "out.npz.tmp.npz").unlink(missing_ok=True)
    print(f"{right} of {total}")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
