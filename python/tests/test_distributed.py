"""A training step on two processes with four devices each, launched by one command."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

STEP = """
tgraph.module @loss {
  %x = tgraph.arg : tensor<16x6xf32>
  %y = tgraph.arg : tensor<16x3xf32>
  %W1 = tgraph.arg : tensor<6x16xf32>
  %W2 = tgraph.arg : tensor<16x3xf32>
  %a = tgraph.dot_general %x, %W1 {lhs_contract = [1], rhs_contract = [0]}
  %h = tgraph.tanh %a
  %o = tgraph.dot_general %h, %W2 {lhs_contract = [1], rhs_contract = [0]}
  %d = tgraph.sub %o, %y
  %s = tgraph.mul %d, %d
  %t = tgraph.reduce_sum %s {axes = [0, 1]}
  %loss = tgraph.div %t, 48.0
  tgraph.return %loss
}
tgraph.adjoint @loss wrt(%W1, %W2) {zero_division = "ieee"} -> @gradient
tgraph.module @step {
  %W1 = tgraph.arg : tensor<6x16xf32>
  %W2 = tgraph.arg : tensor<16x3xf32>
  %x = tgraph.arg : tensor<16x6xf32>
  %y = tgraph.arg : tensor<16x3xf32>
  %loss = tgraph.call @loss %x, %y, %W1, %W2
  %g1, %g2 = tgraph.call @gradient %x, %y, %W1, %W2
  %s1 = tgraph.mul %g1, 0.5
  %s2 = tgraph.mul %g2, 0.5
  %n1 = tgraph.sub %W1, %s1
  %n2 = tgraph.sub %W2, %s2
  tgraph.return %n1, %n2, %loss
}
"""

DATA = ["--mesh", "data=8", "--shard", "x=data,-", "--shard", "y=data,-"]
MODEL = ["--mesh", "data=4,model=2", "--shard", "x=data,-", "--shard", "y=data,-", "--shard", "W1=-,model"]
MODEL += ["--shard", "W2=model,-", "--shard", "out_0=-,model", "--shard", "out_1=model,-"]


def command(*words):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_"))}
    run = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, env=env, timeout=300)
    assert run.returncode == 0, run.stderr[-4000:]
    return run.stdout


@pytest.mark.parametrize("division", [DATA, MODEL], ids=["data", "data and model"])
def test_two_processes_train_as_one(tmp_path: pathlib.Path, division):
    pytest.importorskip("jax")
    source, text = tmp_path / "step.tgraph", tmp_path / "step.mlir"
    source.write_text(STEP)
    command("-m", "cotangent", "convert", f"{source}@step", text, "--target", "portable", *division)
    random = np.random.default_rng(0)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32) * np.float32(0.3)
    arrays = {"W1": normal(6, 16), "W2": normal(16, 3), "x": normal(16, 6), "y": normal(16, 3)}
    np.savez(tmp_path / "start.npz", **arrays)
    words = ["--in", tmp_path / "start.npz", "--out", tmp_path / "end.npz", "--steps", 5, "--state", 2]
    out = command("-m", "cotangent.distributed", text, *words, "--processes", 2, "--devices", 4)
    # The library that connects the processes prints to the same stream.
    losses = [float(loss) for loss in re.findall(r"^\d+ (\d[\d.e+-]*)$", out, re.M)]
    # The same steps on this library's own runtime.
    expected = []
    for _ in range(5):
        w1, w2, loss = own_step(source, arrays, tmp_path)
        arrays["W1"], arrays["W2"] = w1, w2
        expected.append(float(loss))
    assert losses == pytest.approx(expected, rel=1e-6)
    end = np.load(tmp_path / "end.npz")
    for k, value in enumerate([w1, w2, loss]):
        np.testing.assert_allclose(end[f"out_{k}"], value, rtol=0, atol=1e-6)


def own_step(source, arrays, folder):
    np.savez(folder / "now.npz", **arrays)
    command("-m", "cotangent", "run", f"{source}@step", "--in", folder / "now.npz", "--out", folder / "next.npz")
    results = np.load(folder / "next.npz")
    return [results[f"out_{k}"] for k in range(3)]


def test_wrong_programs_are_errors(tmp_path: pathlib.Path):
    pytest.importorskip("jax")
    text = tmp_path / "step.mlir"
    text.write_text("module @m {}\n")
    words = [sys.executable, "-m", "cotangent.distributed", str(text), "--in", "none.npz"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert run.returncode != 0 and "has no mesh" in run.stderr
