"""``python -m cotangent.distributed``: a divided program on the devices of several processes.

    cotangent convert step.tgraph --target portable --mesh data=8 --shard x=data,- --shard labels=data step.mlir
    python -m cotangent.distributed step.mlir --in start.npz --out end.npz --processes 2 --devices 4 --steps 100 --state 4

One command starts all processes on this machine. On several machines each one runs the command with the number of its
process and the address of the first one: ``--coordinator HOST:PORT --processes 2 --rank K``. The text is the same.

The mesh of the program has as many devices as all processes together. Each process reads the part of the arguments that
its devices hold, by position (``in_0``, ..) or by name. The first ``--state`` results of a step are the first arguments
of the next one; the others are printed, if they are numbers. The first process writes all results of the last step.

Needs jax, which connects the processes. It is no part of the package.
"""

import argparse
import importlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

# The axes of each dimension.
Spec = tuple[tuple[str, ...], ...]


class Arguments:
    """Names, types and divisions of the arguments of a program, and the divisions of its results."""

    def __init__(self, text: str) -> None:
        mesh = re.search(r"sdy\.mesh @mesh = <\[(.*?)\]>", text)
        if mesh is None:
            raise SystemExit("the program has no mesh: write it by `cotangent convert --target portable --mesh data=8`")
        self.axes = [(n, int(k)) for n, k in re.findall(r'"(\w+)"=(\d+)', mesh[1])]
        head = re.search(r"func\.func public @main\((.*?)\) -> \((.*)\) \{\n", text)
        if head is None:
            raise SystemExit("the program has no function @main with divided results")
        division = r"(tensor<[^>]*>) \{sdy\.sharding = #sdy\.sharding<@mesh, \[(.*?)\]>"
        self.names = re.findall(r"%(\w+): tensor", head[1])
        self.arguments = [self.spec(d) for _, d in re.findall(division, head[1])]
        self.results = [(self.shape(t), self.spec(d)) for t, d in re.findall(division, head[2])]

    @staticmethod
    def shape(text: str) -> tuple[int, ...]:
        return tuple(int(n) for n in re.findall(r"(\d+)x", text))

    @staticmethod
    def spec(text: str) -> Spec:
        """The axes of each dimension: ``{"data"}, {}`` is ``(("data",), ())``."""
        return tuple(tuple(re.findall(r'"(\w+)"', axes)) for axes in re.findall(r"\{(.*?)\}", text))

    @property
    def size(self) -> int:
        n = 1
        for _, extent in self.axes:
            n *= extent
        return n


def arrays(path: str, names: list[str]) -> Iterator[Any]:
    """The arguments in a file."""
    data = np.load(path)
    for k, name in enumerate(names):
        key = next((n for n in (name, f"in_{k}") if n in data), None)
        if key is None:
            raise SystemExit(f"{path} has no array `{name}` or `in_{k}`")
        yield data[key]


def child(args: argparse.Namespace, text: str, signature: Arguments) -> int:
    """Runs one of the processes."""
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_platforms", args.platform)
    if args.platform == "cpu":
        jax.config.update("jax_num_cpu_devices", args.devices)
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_enable_x64", True)
    jax.distributed.initialize(args.coordinator, args.processes, args.rank)

    xla: Any = importlib.import_module("jaxlib._jax")
    ir: Any = importlib.import_module("jaxlib.mlir.ir")
    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    multihost: Any = importlib.import_module("jax.experimental.multihost_utils")
    sharding: Any = importlib.import_module("jax.sharding")
    extend: Any = importlib.import_module("jax.extend.backend")
    devices = jax.devices()
    if len(devices) != signature.size:
        raise SystemExit(f"the mesh has {signature.size} devices, and the processes have {len(devices)}")
    backend = extend.get_backend()
    options = xla.CompileOptions()
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, signature.size
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    build.device_assignment = xla.DeviceAssignment.create(np.array([[d.id for d in devices]]))
    options.env_option_overrides = [("xla_allow_excess_precision", False)]
    if args.platform == "cpu":
        options.env_option_overrides += [("xla_cpu_enable_fast_min_max", False), ("xla_cpu_enable_fast_math", False)]
    with mlir.make_ir_context():
        program = backend.compile_and_load(ir.Module.parse(text), xla.DeviceList(tuple(devices)), options)

    mesh = sharding.Mesh(np.array(devices).reshape([k for _, k in signature.axes]), [n for n, _ in signature.axes])

    def placed(spec: Spec) -> Any:
        return sharding.NamedSharding(mesh, sharding.PartitionSpec(*[a or None for a in spec]))

    x = []
    for array, spec in zip(arrays(args.input, signature.names), signature.arguments, strict=True):
        x.append(jax.make_array_from_callback(array.shape, placed(spec), array.__getitem__))
    for step in range(args.steps):
        results = program.execute_sharded(x).disassemble_into_single_device_arrays()
        y = [
            jax.make_array_from_single_device_arrays(shape, placed(spec), parts)
            for (shape, spec), parts in zip(signature.results, results, strict=True)
        ]
        x = y[: args.state] + x[args.state :]
        shown = [float(multihost.process_allgather(v, tiled=True)) for v in y[args.state :] if v.ndim == 0]
        if args.rank == 0 and shown:
            print(step, *shown, flush=True)
    if args.output:
        whole: dict[str, Any] = {f"out_{k}": np.asarray(multihost.process_allgather(v, tiled=True)) for k, v in enumerate(y)}
        if args.rank == 0:
            np.savez(args.output, **whole)
    jax.distributed.shutdown()
    return 0


def launch(argv: list[str], args: argparse.Namespace) -> int:
    """Starts the processes of this machine, and ends all if one fails."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{s.getsockname()[1]}"
    words = [sys.executable, "-m", "cotangent.distributed", *argv, "--coordinator", address, "--rank"]
    running = [subprocess.Popen([*words, str(k)], env=os.environ) for k in range(args.processes)]
    try:
        while any(p.poll() is None for p in running):
            if any(p.poll() for p in running):
                break
            time.sleep(0.05)
    finally:
        for p in running:
            if p.poll() is None:
                p.terminate()
            p.wait()
    return next((1 for p in running if p.returncode), 0)


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    ap = argparse.ArgumentParser(prog="python -m cotangent.distributed", description=(__doc__ or "").split("\n\n")[0])
    ap.add_argument("program", help="StableHLO text with a mesh, by `cotangent convert --target portable --mesh ..`")
    ap.add_argument("--in", dest="input", required=True, help="an .npz file of the arguments")
    ap.add_argument("--out", dest="output", help="an .npz file for the results")
    ap.add_argument("--processes", type=int, default=1)
    ap.add_argument("--devices", type=int, default=1, help="devices of each process, on a CPU")
    ap.add_argument("--platform", default="cpu", help="cpu, cuda or tpu")
    ap.add_argument("--steps", type=int, default=1)
    ap.add_argument("--state", type=int, default=0, help="number of results that are arguments of the next step")
    ap.add_argument("--coordinator", help="HOST:PORT of the first process")
    ap.add_argument("--rank", type=int, help="the number of this process")
    args = ap.parse_args(argv)
    if (args.coordinator is None) != (args.rank is None):
        ap.error("give --coordinator and --rank together, or neither to start all processes here")
    if min(args.processes, args.devices, args.steps) < 1:
        ap.error("--processes, --devices and --steps are at least 1")
    with open(args.program, encoding="utf-8") as f:
        text = f.read()
    signature = Arguments(text)
    if args.rank is None:
        return launch(argv, args)
    return child(args, text, signature)


if __name__ == "__main__":
    sys.exit(main())
