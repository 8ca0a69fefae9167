#!/usr/bin/env python3
"""Compile what `cotangent convert` writes with XLA, run it, and compare with what Cotangent computes.

    python3 tests/xla.py --bin target/release/cotangent [--only REGEX]

Takes every program of tests/corpus, and of examples with its inputs: the program itself, read and written again, and
its gradient where it is a real scalar. Needs jax and numpy; without them it says so and succeeds.
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
# Routines of LAPACK are found when they are first asked for.
lapack.prepare_lapack_call("getrf_ffi", np.dtype(np.float64))
ROOT = pathlib.Path(__file__).parent.parent


def compile_and_run(text, args):
    """Results of @main on these arrays."""
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
            yield folder.name, folder / "module.mlir", [data[f"in_{i}"] for i in range(count)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bin", required=True)
    ap.add_argument("--only", default=".")
    args = ap.parse_args()
    total = good = unwritten = 0
    for name, path, inputs in programs(args.only):
        with tempfile.TemporaryDirectory() as tmp:
            src, dst, mlir, grad = f"{tmp}/in.npz", f"{tmp}/out.npz", f"{tmp}/a.mlir", f"{tmp}/g.mlir"
            np.savez(src, **{f"in_{i}": a for i, a in enumerate(inputs)})
            jobs = [("value", "run", "out_", mlir, lambda: cotangent(args.bin, "convert", path, mlir))]
            tgraph = f"{tmp}/a.tgraph"

            def derive():
                cotangent(args.bin, "convert", path, tgraph)
                wrt = [i for i, a in enumerate(inputs) if a.dtype.kind in "fc"]
                names = re.findall(r"^  (%\S+) = tgraph\.arg", pathlib.Path(tgraph).read_text().split("tgraph.module @main")[1], re.M)
                with open(tgraph, "a") as f:
                    chosen = ", ".join(names[i] for i in wrt)
                    f.write(f'\ntgraph.adjoint @main wrt({chosen}) {{zero_division = "ieee"}} -> @gradient\n')
                cotangent(args.bin, "convert", f"{tgraph}@gradient", grad)

            one = r"public @main\([^\n]*\) -> \(?tensor<f(32|64)>( \{[^}]*\})?\)? \{\n"
            scalar = re.search(one, pathlib.Path(path).read_text())
            if scalar and any(a.dtype.kind in "fc" for a in inputs):
                jobs.append(("gradient", "grad", "grad_", grad, derive))
            for what, verb, prefix, text, make in jobs:
                total += 1
                try:
                    make()
                    cotangent(args.bin, verb, path, "--in", src, "--out", dst)
                    want = dict(np.load(dst))
                    got = compile_and_run(pathlib.Path(text).read_text(), inputs)
                    single = any(a.dtype.itemsize <= 4 and a.dtype.kind == "f" or a.dtype == np.complex64 for a in [*inputs, *got])
                    why = [close(g, want[f"{prefix}{k}"], 1e-4 if single else 1e-8) for k, g in enumerate(got)]
                    why = next((w for w in why if w), None)
                except (RuntimeError, ValueError, subprocess.TimeoutExpired, ir.MLIRError) as e:
                    why = str(e).strip().splitlines()[0][:200]
                    if "write the loop as a scan" in why:
                        unwritten += 1
                        continue
                good += why is None
                if why:
                    print(f"{name:36} {what:8} {why}")
    print(f"{good} of {total} agree with XLA; {unwritten} have no StableHLO form (loops of unknown length in reverse)")
    sys.exit(0 if good + unwritten == total else 1)


if __name__ == "__main__":
    main()
