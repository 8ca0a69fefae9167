#!/usr/bin/env python3
"""Compiles and runs the output of `cotangent convert` with XLA, and compares the results with Cotangent's.

    python3 tests/xla.py --bin target/release/cotangent [--only REGEX]

Takes every program of tests/corpus: the program itself, read and written again, and its reverse derivative. Needs jax
and numpy; without them it prints a message and succeeds. XLA requires static extents, so the derivative of a loop of unknown length
is skipped and counted.
"""
import argparse, pathlib, re, subprocess, sys, tempfile

try:
    import numpy as np
    import jax
    import jax.extend.backend
    from jaxlib import _jax as xla
    from jaxlib import lapack
    from jaxlib.mlir import ir
    from jax._src.interpreters import mlir as jax_mlir
except ImportError as e:
    print(f"skipped: {e}; `pip install jax` brings what this script needs")
    sys.exit(0)

jax.config.update("jax_enable_x64", True)
# LAPACK routines are registered at their first use.
lapack.prepare_lapack_call("getrf_ffi", np.dtype(np.float64))
ROOT = pathlib.Path(__file__).parent.parent


def compile_and_run(text, args):
    """The results of @main on these arrays."""
    backend = jax.extend.backend.get_backend("cpu")
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        options = xla.CompileOptions()
        devices = xla.DeviceList(tuple(backend.local_devices()[:1]))
        executable = backend.compile_and_load(module, devices, options)
    results = executable.execute_sharded([jax.device_put(a) for a in args])
    return [np.asarray(y[0]) for y in results.disassemble_into_single_device_arrays()]


def cotangent(binary, *words):
    run = subprocess.run([binary, *map(str, words)], capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError((run.stderr.strip().splitlines() or [f"exit {run.returncode}"])[0][:200])
    return run.stdout


def close(a, b, rtol):
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
    if b.dtype.kind in "biu":
        return None if np.array_equal(a, b) else "integers differ"
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = np.abs(b[np.isfinite(b)])
    scale = max(1.0, float(finite.max()) if finite.size else 1.0)
    with np.errstate(invalid="ignore"):
        good = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= rtol * scale)
    return None if good.all() else f"{int((~good).sum())}/{b.size} off: {a[~good].ravel()[0]}, expected {b[~good].ravel()[0]}"


def programs(only):
    for folder in sorted((ROOT / "tests/corpus").iterdir()):
        if (folder / "case.json").exists() and re.search(only, folder.name):
            data = dict(np.load(folder / "data.npz"))
            count = sum(k.startswith("in_") for k in data)
            given = {k: np.conj(v) for k, v in data.items() if k.startswith("ct_")}
            yield folder.name, folder / "module.mlir", [data[f"in_{i}"] for i in range(count)], given


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bin", required=True)
    ap.add_argument("--only", default=".")
    args = ap.parse_args()
    total = good = open_extents = 0
    for name, path, inputs, given in programs(args.only):
        with tempfile.TemporaryDirectory() as tmp:
            src, dst, mlir, grad = f"{tmp}/in.npz", f"{tmp}/out.npz", f"{tmp}/a.mlir", f"{tmp}/g.mlir"
            np.savez(src, **{f"in_{i}": a for i, a in enumerate(inputs)}, **given)
            jobs = [("value", "run", mlir, inputs, lambda: cotangent(args.bin, "convert", path, mlir))]
            tgraph = f"{tmp}/a.tgraph"
            wrt = [i for i, a in enumerate(inputs) if a.dtype.kind in "fc"]

            def derive():
                cotangent(args.bin, "convert", path, tgraph)
                names = re.findall(r"^  (%\S+) = tgraph\.arg", pathlib.Path(tgraph).read_text().split("tgraph.module @main")[1], re.M)
                with open(tgraph, "a") as f:
                    chosen = ", ".join(names[i] for i in wrt)
                    f.write(f'\ntgraph.adjoint @main wrt({chosen}) {{zero_division = "ieee"}} -> @gradient\n')
                cotangent(args.bin, "convert", f"{tgraph}@gradient", grad)

            one = r"public @main\([^\n]*\) -> \(?tensor<f(32|64)>( \{[^}]*\})?\)? \{\n"
            if wrt and re.search(one, pathlib.Path(path).read_text()):
                jobs.append(("gradient", "grad", grad, inputs, derive))
            elif wrt and given:
                cts = [given[k] for k in sorted(given, key=lambda k: int(k[3:]))]
                jobs.append(("vjp", "vjp", grad, inputs + cts, derive))
            for what, verb, text, arrays, make in jobs:
                total += 1
                try:
                    make()
                    written = pathlib.Path(text).read_text()
                    if re.search(r"tensor<[^>]*\?", written):
                        open_extents += 1
                        continue
                    cotangent(args.bin, verb, path, "--in", src, "--out", dst)
                    prefix = {"run": "out_"}.get(verb, verb + "_")
                    results = {int(k[len(prefix):]): v for k, v in np.load(dst).items() if k.startswith(prefix)}
                    want = [results[i] for i in sorted(results)]
                    got = compile_and_run(written, arrays)
                    single = any(a.dtype.itemsize <= 4 and a.dtype.kind == "f" or a.dtype == np.complex64 for a in [*inputs, *got])
                    why = [close(g, w, 1e-4 if single else 1e-8) for g, w in zip(got, want, strict=True)]
                    why = next((w for w in why if w), None)
                except (RuntimeError, ValueError, subprocess.TimeoutExpired, ir.MLIRError) as e:
                    why = str(e).strip().splitlines()[0][:200]
                good += why is None
                if why:
                    print(f"{name:36} {what:8} {why}")
    print(f"{good} of {total} agree with XLA; {open_extents} have extents that are found while they run")
    sys.exit(0 if good + open_extents == total else 1)


if __name__ == "__main__":
    main()
