#!/usr/bin/env python3
"""Runs every .mlir program of a folder, there and back through the text form. See README.md beside this."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: python3 has no numpy")
    sys.exit(0)

TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "complex<f32>": np.complex64, "complex<f64>": np.complex128,
    "i4": np.int8, "i2": np.int8, "ui4": np.uint8, "ui2": np.uint8,
}


def made_up(text):
    """Inputs for the main function from its types: both signs, several magnitudes."""
    head = re.search(r"func\.func (?:public )?@main\((.*?)\)\s*(?:->|attributes|\{)", text, re.S)
    inputs = {}
    rng = np.random.default_rng(0)
    for k, ty in enumerate(re.findall(r"%\w+: tensor<([^>]*(?:<[^>]*>)?)>", head.group(1) if head else "")):
        *dims, element = ty.split("x") if "complex" not in ty else [*ty.split("complex")[0].rstrip("x").split("x"), "complex" + ty.split("complex")[1]]
        shape = tuple(int(d) if d.isdigit() else 3 for d in dims if d)
        dtype = np.dtype(TYPES.get(element, np.float32))
        if dtype.kind in "iu":
            a = rng.integers(0, 4, shape)
        elif dtype.kind == "b":
            a = rng.integers(0, 2, shape)
        else:
            a = rng.normal(size=shape) * 10.0 ** rng.integers(-1, 2, shape)
            a = a + 1j * rng.normal(size=shape) if dtype.kind == "c" else a
        inputs[f"in_{k}"] = np.asarray(a, dtype)
    return inputs


def cases(root):
    """Name, text, inputs (a path or arrays), known results."""
    for path in sorted(root.rglob("*.mlir")):
        known = {}
        if path.name == "module.mlir" and (path.parent / "data.npz").exists():
            data = path.parent / "data.npz"
        else:
            beside = [path.with_suffix(".npz"), path.with_suffix(".in.npz")]
            data = next((p for p in beside if p.exists()), None)
        inputs = dict(np.load(data)) if data else made_up(path.read_text())
        want = path.with_suffix(".want.npz")
        if want.exists():
            known = dict(np.load(want))
        known = {k: v for k, v in {**inputs, **known}.items() if k.startswith("out_")}
        inputs = {k: v for k, v in inputs.items() if re.fullmatch(r"in_\d+", k)} or inputs
        yield str(path.relative_to(root)), path, inputs, known


def command(binary, *args):
    done = subprocess.run([binary, *map(str, args)], capture_output=True, text=True, timeout=600)
    return done.returncode, (done.stderr or done.stdout).strip().splitlines()


def run(binary, path, inputs, out):
    """Results, or what went wrong."""
    code, said = command(binary, "run", path, "--in", inputs, "--out", out)
    if code != 0:
        return None, next((line for line in said if "error" in line), " ".join(said[-1:]))
    return dict(np.load(out)), ""


def bits(a):
    return np.ascontiguousarray(a).tobytes()


def near(a, b, rtol):
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return bool(np.all(a == b))
    tol = rtol or (1e-9 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) > 4 else 1e-4)
    tol = max(tol, 4 * float(np.finfo(a.dtype).eps))
    a, b = np.asarray(a, np.complex128), np.asarray(b, np.complex128)
    known = np.abs(b[np.isfinite(b)])
    room = tol * (known.max() if known.size else 1.0)
    with np.errstate(all="ignore"):
        return bool(np.all((np.abs(a - b) <= room) | (a == b) | (np.isnan(a) & np.isnan(b))))


def check(binary, path, inputs, known, tmp, rtol):
    """What is wrong, in words; and whether the way back to StableHLO was refused."""
    given = tmp / "in.npz"
    np.savez(given, **inputs)
    first, why = run(binary, path, given, tmp / "a.npz")
    if first is None:
        return why, False
    for k, v in known.items():
        if k in first and not near(first[k], v, rtol):
            return f"{k} is not what is known", False
    code, said = command(binary, "convert", path, tmp / "a.tgraph")
    if code != 0:
        return f"convert to .tgraph: {' '.join(said[-1:])}", False
    second, why = run(binary, tmp / "a.tgraph", given, tmp / "b.npz")
    if second is None:
        return f".tgraph: {why}", False
    if first.keys() != second.keys() or any(bits(first[k]) != bits(second[k]) for k in first):
        return ".tgraph gives other bits", False
    code, _ = command(binary, "convert", tmp / "a.tgraph", tmp / "b.mlir")
    if code != 0:
        return "", True
    third, why = run(binary, tmp / "b.mlir", given, tmp / "c.npz")
    if third is None:
        return f"StableHLO again: {why}", False
    if first.keys() != third.keys() or not all(near(third[k], first[k], rtol) for k in first):
        return "StableHLO again gives other numbers", False
    return "", False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--bin", default="target/release/cotangent")
    parser.add_argument("--rtol", type=float, default=0.0)
    args = parser.parse_args()
    right = total = refused = 0
    for name, path, inputs, known in cases(args.dir):
        total += 1
        with tempfile.TemporaryDirectory() as tmp:
            wrong, back = check(args.bin, path, inputs, known, pathlib.Path(tmp), args.rtol)
        refused += back
        right += not wrong
        if wrong:
            print(f"{name}: {wrong}")
    if refused:
        print(f"{refused} have no StableHLO form on the way back")
    print(f"{right} of {total}")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
