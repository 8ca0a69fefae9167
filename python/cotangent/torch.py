"""Functions of this package in programs of PyTorch."""

# Of the other library: it may be missing, or without types.
# mypy: disable-error-code="no-untyped-call, import-not-found, import-untyped, misc"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cotangent as ct


def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` as a function of torch tensors on the CPU, with derivatives of every order and forward mode.

    ``f`` takes arrays and returns an array or a tuple of arrays.

    >>> import torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> ct.torch.wrap(lambda x: ct.sum(x * x))(w).backward()
    >>> w.grad.tolist()
    [2.0, 2.0]
    """
    import functools

    import torch

    value = ct.jit(f)

    @functools.cache
    def push(n: int) -> Any:
        return wrap(lambda *both: ct.jvp(f, both[:n], both[n:])[1])

    @functools.cache
    def pull(n: int) -> Any:
        def reverse(*both: Any) -> Any:
            t = both[n:]
            g = ct.vjp(f, *both[:n])[1](tuple(t) if len(t) > 1 else t[0])
            return g if n > 1 else g[0]
        return wrap(reverse)

    def array(t: Any) -> Any:
        return t.detach().resolve_conj().numpy()

    def tensor(x: Any) -> Any:
        import numpy as np
        return torch.from_numpy(np.array(x))

    def forward(*x: Any) -> Any:
        y = value(*map(array, x))
        return tuple(map(tensor, y)) if isinstance(y, tuple) else tensor(y)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(ctx: Any, *ct_y: Any) -> Any:
        x = ctx.saved_tensors
        return pull(len(x))(*x, *ct_y)

    def jvp(ctx: Any, *t: Any) -> Any:
        x = ctx.saved_tensors
        t = tuple(torch.zeros_like(a) if b is None else b for a, b in zip(x, t))
        return push(len(x))(*x, *t)

    def vmap(info: Any, in_dims: Any, *x: Any) -> Any:
        y = wrap(ct.vmap(f, in_axes=tuple(in_dims)))(*x)
        return y, tuple(0 for _ in y) if isinstance(y, tuple) else 0

    # The value, whose derivatives are layers again.
    members = (forward, setup_context, backward, jvp, vmap)
    Layer: Any = type("Layer", (torch.autograd.Function,), {m.__name__: staticmethod(m) for m in members})

    def layer(*x: Any) -> Any:
        return Layer.apply(*x)

    layer.__doc__ = f"A layer of cotangent: {getattr(f, '__name__', 'f')}."
    return layer


__all__ = ["wrap"]
