"""Layers in programs of PyTorch."""

import numpy as np
import pytest

import cotangent as ct

torch = pytest.importorskip("torch")
layer = ct.torch.wrap(lambda w, x: ct.tanh(x @ w))
W = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(3, 2).requires_grad_()
X = torch.linspace(0, 1, 12, dtype=torch.float64).reshape(4, 3)


def test_first_and_second_derivatives_pass_gradcheck():
    assert torch.autograd.gradcheck(layer, (W, X.clone().requires_grad_()))
    assert torch.autograd.gradgradcheck(layer, (W, X.clone().requires_grad_()))


def test_forward_mode_and_batches():
    t = torch.ones_like(W)
    _, dy = torch.func.jvp(lambda w: layer(w, X), (W.detach(),), (t,))
    _, want = torch.func.jvp(lambda w: torch.tanh(X @ w), (W.detach(),), (t,))
    assert torch.allclose(dy, want)
    many = torch.func.vmap(layer, in_dims=(None, 0))(W.detach(), torch.stack([X, 2 * X]))
    assert np.allclose(many, torch.tanh(torch.stack([X, 2 * X]) @ W.detach()))


def test_the_example_runs(capsys):
    import pathlib
    import runpy
    runpy.run_path(str(pathlib.Path(__file__).parent.parent / "examples" / "torch_module.py"))
    assert capsys.readouterr().out
