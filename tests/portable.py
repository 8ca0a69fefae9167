#!/usr/bin/env python3
"""Compiles programs for every XLA target (`Target::Portable`) with XLA's CPU, runs them, and compares with our CPU runtime.

    COTANGENT_PORTABLE=DIR cargo test --workspace --test portable -- --ignored
    python3 tests/portable.py DIR [--only REGEX] [--every N] [--jobs N] [--plugin LIBRARY]
    python3 tests/portable.py --plugins

Programs are every sample of every operation and the corpus, by value and by reverse derivative. An element agrees if it is
within 512 epsilons of the largest finite element of its own row or column; integers are equal. `portable.txt` lists, with
their causes, programs that are refused and elements that are not compared. Programs run in child processes, because XLA
aborts on odd ones. Without `--plugin` the compiler is that of jaxlib. Needs jax and numpy; without them it prints a message and succeeds, unless COTANGENT_REQUIRE has `jax`.
"""
import argparse, concurrent.futures, json, os, pathlib, re, subprocess, sys

try:
    import numpy as np
    import jax
    import ml_dtypes
except ImportError as e:
    print(f"skipped: {e}; `pip install jax` brings what this script needs")
    sys.exit("jax" in os.environ.get("COTANGENT_REQUIRE", "").split(","))

LIST = pathlib.Path(__file__).with_suffix(".txt")
BATCH = 40
# Files of the packages of `devices.txt`.
PLUGINS = ["xla_plugins/xla_cpu*/xla_cpu_pjrt.so", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"]


def exceptions():
    """Lines `KIND REGEX: cause`: programs of these outcomes are no failures."""
    all = []
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            kind, pattern, cause = re.fullmatch(r"(refused|special|differs|compiler) (\S+): (.+)", line).groups()
            all.append((kind, re.compile(pattern), cause))
    return all


class Compiler:
    """XLA's CPU, of jaxlib or of a plugin."""

    def __init__(self, plugin):
        import jax.extend.backend

        jax.config.update("jax_enable_x64", True)
        if plugin:
            from jax._src import xla_bridge
            xla_bridge.register_plugin("plugin", library_path=plugin)
            jax.config.update("jax_platforms", "plugin")
        self.backend = jax.extend.backend.get_backend("plugin" if plugin else "cpu")

    def compile(self, text):
        """The function `main` of a program, on arrays, and the types of its parameters."""
        from jaxlib import _jax as xla
        from jaxlib.mlir import ir
        from jax._src.interpreters import mlir as jax_mlir

        with jax_mlir.make_ir_context():
            module = ir.Module.parse(text)
            types = [str(p.type) for p in module.body.operations[0].arguments]
            devices = xla.DeviceList(tuple(self.backend.local_devices()[:1]))
            executable = self.backend.compile_and_load(module, devices, xla.CompileOptions())

        def run(args):
            results = executable.execute_sharded(args).disassemble_into_single_device_arrays()
            return [np.asarray(y[0]) for y in results]

        return run, types


def child(folder, names, plugin):
    """Prints a line of JSON for each program, before and after it is compiled."""
    compiler = Compiler(plugin)
    for name in names:
        print(json.dumps([name, "aborts", ""]), flush=True)
        outcome, why = "compiler", ""
        try:
            data = np.load(folder / f"{name}.npz")
            args = [data[f"in_{i}"] for i in range(sum(k.startswith("in_") for k in data))]
            want = [data[f"out_{i}"] for i in range(sum(k.startswith("out_") for k in data))]
            run, types = compiler.compile((folder / f"{name}.mlir").read_text())
            args = [jax.device_put(of_type(a, t)) for a, t in zip(args, types, strict=True)]
            outcome, why = compare(run(args), want, args)
        except Exception as e:
            why = str(e).strip().splitlines()[0][:200] if str(e).strip() else type(e).__name__
        print(json.dumps([name, outcome, why]), flush=True)


def of_type(a, ty):
    """npz files have bf16 as bits."""
    if ty.endswith("bf16>") and a.dtype != ml_dtypes.bfloat16:
        return a.view(ml_dtypes.bfloat16)
    return a


def compare(got, want, args):
    """The outcome, and the first difference. Elements differ in convention, not in accuracy, where one is not finite or the
    operands' element is not."""
    special = 0
    unusual = {}
    for x in map(np.asarray, args):
        if np.issubdtype(x.dtype, np.inexact):
            unusual[x.shape] = unusual.get(x.shape, False) | ~np.isfinite(x)
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        b = of_type(b, "bf16>") if a.dtype == ml_dtypes.bfloat16 else b
        if a.shape != b.shape or a.dtype != b.dtype:
            return "differs", f"result {k}: {a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        if not (np.issubdtype(b.dtype, np.inexact) or b.dtype == ml_dtypes.bfloat16):
            if not np.array_equal(a, b):
                return "differs", f"result {k}: integers"
            continue
        eps = float(ml_dtypes.finfo(b.dtype).eps)
        wide = np.complex128 if np.issubdtype(b.dtype, np.complexfloating) else np.float64
        a, b = a.astype(wide), b.astype(wide)
        finite = np.isfinite(a) & np.isfinite(b) & ~np.broadcast_to(unusual.get(b.shape, False), b.shape)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        special += int((~finite & ~same).sum())
        size = np.where(np.isfinite(b), np.abs(np.where(np.isfinite(b), b, 0)), 0.0)
        # The larger one of the element's row and its column.
        scale = np.zeros(b.shape)
        for axis in range(max(b.ndim - 2, 0), b.ndim):
            scale = np.maximum(scale, size.max(axis=axis, keepdims=True, initial=0.0))
        scale = np.maximum(scale, size) if b.ndim else size
        with np.errstate(invalid="ignore"):
            far = finite & (np.abs(a - b) > 512 * eps * scale)
        if far.any():
            at = tuple(int(i) for i in np.argwhere(far)[0])
            return "differs", f"result {k} at {list(at)}: {a[at]}, expected {b[at]}"
    return ("special", f"{special} elements") if special else ("agrees", "")


def run(folder, names, plugin):
    """Outcomes of programs. A child that dies is started again after the program that killed it."""
    outcomes = {}
    while names:
        env = {**os.environ, "XLA_FLAGS": "--xla_cpu_enable_fast_min_max=false"}
        words = [sys.executable, __file__, str(folder), "--child", json.dumps(names), *(["--plugin", plugin] if plugin else [])]
        y = subprocess.run(words, capture_output=True, text=True, env=env)
        for line in y.stdout.splitlines():
            name, outcome, why = json.loads(line)
            outcomes[name] = (outcome, why)
        done = [n for n in names if n in outcomes]
        if not done:
            raise SystemExit(y.stderr)
        names = names[len(done):]
    return outcomes


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder", type=pathlib.Path, nargs="?")
    ap.add_argument("--only", default="")
    ap.add_argument("--every", type=int, default=1, help="a sample: each Nth program")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--plugin", help="the library of a PJRT plugin")
    ap.add_argument("--plugins", action="store_true", help="prints the libraries of the plugins that are installed")
    ap.add_argument("--child")
    args = ap.parse_args()
    if args.plugins:
        packages = [pathlib.Path(p) for p in sys.path if p.endswith("-packages")]
        found = [f for p in packages for pattern in PLUGINS for f in p.glob(pattern)]
        return print("\n".join(map(str, found)))
    if args.folder is None:
        ap.error("the folder of the programs is missing")
    if args.child:
        return child(args.folder, json.loads(args.child), args.plugin)
    find = lambda suffix: sorted(p.name[: -len(suffix)] for p in args.folder.glob(f"*{suffix}"))
    chosen = lambda names: [n for n in names if re.search(args.only, n)]
    names, refused = chosen(find(".mlir"))[:: args.every], chosen(find(".refused"))
    assert names, "the folder has no program"
    batches = [names[i : i + BATCH] for i in range(0, len(names), BATCH)]
    outcomes = {n: ("refused", (args.folder / f"{n}.refused").read_text()) for n in refused}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for some in pool.map(lambda b: run(args.folder, b, args.plugin), batches):
            outcomes.update(some)
    rules = exceptions()
    listed = lambda n, kind: any(k == kind and p.fullmatch(n) for k, p, _ in rules)
    kinds = ["agrees", "special", "differs", "refused", "compiler", "aborts"]
    print("| | programs | " + " | ".join(kinds) + " |\n|" + "---|" * (len(kinds) + 2))
    for part in ["samples, value", "samples, vjp", "corpus, value", "corpus, vjp"]:
        where, what = part.split(", ")
        own = [n for n in outcomes if n.startswith("corpus.") == (where == "corpus") and n.endswith(what)]
        count = [sum(outcomes[n][0] == k for n in own) for k in kinds]
        print(f"| {part} | {len(own)} | " + " | ".join(map(str, count)) + " |")
    bad = 0
    for n, (outcome, why) in sorted(outcomes.items()):
        good = outcome == "agrees" or listed(n, outcome)
        if not good:
            bad += 1
            print(f"{n}: {outcome}: {why}")
    if args.every == 1 and not args.only:
        for kind, pattern, cause in rules:
            if not any(o[0] == kind and pattern.fullmatch(n) for n, o in outcomes.items()):
                bad += 1
                print(f"portable.txt: no program is {kind} as {pattern.pattern} ({cause})")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
