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


def test_arguments_and_results_without_tangents_are_values():
    rows = ct.torch.wrap(lambda w, i: (ct.sum(ct.take(w, i, axis=0) ** 2, axis=1), ct.argmax(w, axis=0)))
    i = torch.tensor([0, 2, 2])
    w = W.detach().clone().requires_grad_()
    y, k = rows(w, i)
    assert not k.requires_grad and k.dtype == torch.int64
    y.sum().backward()
    v = W.detach().clone().requires_grad_()
    (v[i] ** 2).sum().backward()
    assert torch.allclose(w.grad, v.grad)
    assert torch.autograd.gradgradcheck(lambda w: rows(w, i)[0], (W,))
    _, dy = torch.func.jvp(lambda w: rows(w, i)[0], (w.detach(),), (torch.ones_like(w),))
    assert torch.allclose(dy, 2 * w.detach()[i].sum(1))
    grads = torch.func.vmap(torch.func.grad(lambda w, i: rows(w, i)[0].sum()), in_dims=(None, 0))(w.detach(), torch.stack([i, i]))
    assert torch.allclose(grads[1], v.grad)


def test_element_types_stay():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64):
        x = torch.ones(3, dtype=dtype)
        y = ct.torch.wrap(lambda x: x * x + x)(x)
        assert y.dtype == dtype and torch.equal(y, x * x + x)


def test_the_example_runs(capsys):
    import pathlib
    import runpy
    runpy.run_path(str(pathlib.Path(__file__).parent.parent / "examples" / "torch_module.py"))
    assert capsys.readouterr().out
