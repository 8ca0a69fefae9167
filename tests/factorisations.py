#!/usr/bin/env python3
"""Accuracy of the factorisations of programs for every XLA target on XLA's CPU, and their times beside XLA's own.

    COTANGENT_PORTABLE=DIR cargo test --workspace --test portable_matrices -- --ignored
    python3 tests/factorisations.py DIR [--only REGEX] [--plugin LIBRARY] [--times]

Programs are `eigh`, `svd`, `qr` and `lu` of matrices of 1, 2, 3, 33, 128 and 512 rows in f32, f64, c64 and c128, with random,
clustered, graded and rank-deficient spectra. Residuals, relative to the norm, and distances of `Qᴴ Q` from the identity are at
most 100 n epsilons; the last matrix has an element that is NaN, and so have its results. `--times` prints CPU times at n = 512
beside XLA's custom calls `Eigh` and `Qr`, which XLA expands itself. Needs jax and numpy; without them it prints a message and
succeeds, unless COTANGENT_REQUIRE has `jax`.
"""
import argparse, pathlib, re, sys, time

from portable import Compiler, jax, np

REAL = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}


def spectra(n, eps):
    """Names and singular values or eigenvalues."""
    j = np.arange(n)
    return {
        "random": 0.5 + np.sin(1.3 * j),
        "clustered": 1 + 2 * eps * (j % 5) + j % 3,
        "graded": 10.0 ** (-12.0 * j / n),
        "deficient": np.where(2 * j < n, 1.0 + j, 0.0),
    }


def matrix(op, dtype, values, seed=0):
    """A matrix with these eigenvalues (eigh) or singular values."""
    rng, n = np.random.default_rng(seed), len(values)

    def orthogonal():
        a = rng.standard_normal((n, n))
        return np.linalg.qr(a + 1j * rng.standard_normal((n, n)) if dtype.startswith("c") else a)[0]

    u = orthogonal()
    a = (u * values) @ (u if op == "eigh" else orthogonal()).conj().T
    return (a + a.conj().T if op == "eigh" else a).astype(REAL[dtype])


def errors(op, a, y):
    """Errors by name, relative to the norm."""
    wide = [v.astype(np.complex128) if v.dtype.kind in "fc" else v for v in (a, *y)]
    a, y = wide[0], wide[1:]
    size, one = np.linalg.norm(a) or 1.0, np.eye(len(a))
    residual = lambda b, c: float(np.linalg.norm(b - c) / size)
    skew = lambda q: float(np.linalg.norm(q.conj().T @ q - one))
    descends = lambda s: float(0 if (np.diff(s.real) <= 0).all() else np.inf)
    if op == "eigh":
        w, v = y
        return {"residual": residual(a @ v, v * w), "orthogonality": skew(v), "order": descends(w[::-1])}
    if op == "svd":
        u, s, v = y
        return {"residual": residual(a, (u * s) @ v), "orthogonality": max(skew(u), skew(v.conj().T)), "order": descends(s)}
    if op == "qr":
        q, r = y
        return {"residual": residual(a, q @ r), "orthogonality": skew(q), "triangle": float(np.abs(np.tril(r, -1)).sum() and np.inf)}
    lower, upper = np.tril(y[0], -1) + one, np.triu(y[0])
    return {"residual": residual(a[y[2]], lower @ upper)}


def own(name, ty, real, n):
    """The text of XLA's custom call, which XLA expands."""
    square, config = f"tensor<{n}x{n}x{ty}>", {"Eigh": "1,1,100,1e-6", "Qr": ""}[name]
    results = f"{square}, tensor<{n}x{real}>" if name == "Eigh" else f"{square}, tensor<{n}x{ty}>"
    last = "%1#0, %1#1"
    more = ""
    if name == "Qr":
        last = "%2"
        more = f"%2 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1#0, %1#1) : ({results}) -> {square}\n"
        results_of = square
    else:
        results_of = results
    return (
        f"module {{ func.func public @main(%0: {square}) -> ({results_of}) {{\n"
        f"%1:2 = stablehlo.custom_call @{name}(%0) {{backend_config = \"{config}\"}} : ({square}) -> ({results})\n"
        f"{more}return {last} : {results_of}\n}} }}"
    )


def seconds(run, a):
    """The least CPU time of two runs."""
    times = []
    for _ in range(2):
        start = time.process_time()
        run([a])
        times.append(time.process_time() - start)
    return min(times)


def times(folder, compiler, only):
    """Prints the table of times at n = 512."""
    print("| | spectrum | ours, s | XLA's, s | ratio |\n|---|---|---|---|---|")
    for op, name in [("eigh", "Eigh"), ("qr", "Qr")]:
        for dtype in REAL:
            if not re.search(only, f"{op}.{dtype}.512"):
                continue
            ours, types = compiler.compile((folder / f"{op}.{dtype}.512.mlir").read_text())
            ty = re.fullmatch(r"tensor<512x512x(.+)>", types[0]).group(1)
            try:
                theirs, _ = compiler.compile(own(name, ty, dtype.replace("c64", "f32").replace("c128", "f64"), 512))
            except Exception as e:
                theirs = None
                print(f"XLA's {name} in {dtype}: {str(e).splitlines()[0][:100]}")
            every = spectra(512, np.finfo(REAL[dtype]).eps)
            for spectrum in every if op == "eigh" else ["random"]:
                a = jax.device_put(matrix(op, dtype, every[spectrum]))
                t = seconds(ours, a)
                u = seconds(theirs, a) if theirs else float("nan")
                print(f"| {op} {dtype} | {spectrum} | {t:.3f} | {u:.3f} | {t / u:.2f} |", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder", type=pathlib.Path)
    ap.add_argument("--only", default="")
    ap.add_argument("--plugin", help="the library of a PJRT plugin")
    ap.add_argument("--times", action="store_true")
    args = ap.parse_args()
    folder, compiler = args.folder / "factorisations", Compiler(args.plugin)
    if args.times:
        return times(folder, compiler, args.only)
    names = sorted(p.name[: -len(".mlir")] for p in folder.glob("*.mlir"))
    names = [n for n in names if re.search(args.only, n)]
    assert names, "the folder has no program"
    bad, seen, worst = [], 0, {}
    for name in names:
        op, dtype, n = name.split(".")
        eps, n = float(np.finfo(REAL[dtype]).eps), int(n)
        run, _ = compiler.compile((folder / f"{name}.mlir").read_text())
        for spectrum, values in spectra(n, eps).items():
            a = matrix(op, dtype, values)
            for what, error in errors(op, a, run([jax.device_put(a)])).items():
                seen += 1
                error /= n * eps
                at = f"{op} {what}"
                worst[at] = max(worst.get(at, (0.0, "")), (error, f"{dtype} {n} {spectrum}"))
                if not error <= 100:
                    bad.append(f"{name} {spectrum} {what}: {error:.1f} n eps")
        a[n // 2, 0] = a[0, n // 2] = np.nan
        if op != "lu" and not all(np.isnan(y).all() for y in run([jax.device_put(a)])):
            bad.append(f"{name}: results of a matrix with NaN are not NaN")
        print(f"{name}: done", file=sys.stderr, flush=True)
    for at, (error, where) in worst.items():
        print(f"{at}: at most {error:.2f} n eps ({where})")
    print(f"{seen} errors of {len(names)} programs, {len(bad)} above 100 n eps")
    print("\n".join(bad))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
