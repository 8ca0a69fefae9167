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

    def at(x: Any, where: Any, outs: Any) -> Any:
        """The results at ``outs`` as a function of the arguments at ``where``."""
        def g(*v: Any) -> Any:
            full = list(x)
            for k, u in zip(where, v):
                full[k] = u
            y = f(*full)
            y = y if isinstance(y, tuple) else (y,)
            return tuple(y[k] for k in outs)
        return g, tuple(x[k] for k in where)

    @functools.cache
    def push(n: int, where: Any, outs: Any) -> Any:
        def forward(*both: Any) -> Any:
            g, x = at(both[:n], where, outs)
            return ct.jvp(g, x, both[n:])[1]
        return wrap(forward)

    @functools.cache
    def pull(n: int, where: Any, outs: Any) -> Any:
        def reverse(*both: Any) -> Any:
            g, x = at(both[:n], where, outs)
            return ct.vjp(g, *x)[1](tuple(both[n:]))
        return wrap(reverse)

    def with_tangents(x: Any) -> tuple[int, ...]:
        """The positions of floats and complex numbers: others, such as indices, are values only."""
        return tuple(k for k, t in enumerate(x) if t.is_floating_point() or t.is_complex())

    def array(t: Any) -> Any:
        t = t.detach().resolve_conj().resolve_neg()
        return ct.asarray(t.float().numpy()).astype("bfloat16") if t.dtype == torch.bfloat16 else t.numpy()

    def tensor(x: Any) -> Any:
        import numpy as np
        if x.dtype == ct.bfloat16:
            return torch.from_numpy(np.array(x.astype("float32"))).bfloat16()
        return torch.from_numpy(np.array(x))

    def forward(*x: Any) -> Any:
        y = value(*map(array, x))
        return tuple(map(tensor, y)) if isinstance(y, tuple) else tensor(y)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        y = output if isinstance(output, tuple) else (output,)
        ctx.at = len(inputs), with_tangents(inputs), with_tangents(y)
        ctx.mark_non_differentiable(*(t for k, t in enumerate(y) if k not in ctx.at[2]))
        ctx.count = len(y)
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def placed(n: int, at: Any, values: Any) -> Any:
        found = [None] * n
        for k, v in zip(at, values):
            found[k] = v
        return found[0] if n == 1 else tuple(found)

    def backward(ctx: Any, *ct_y: Any) -> Any:
        n, where, outs = ctx.at
        return placed(n, where, pull(n, where, outs)(*ctx.saved_tensors, *(ct_y[k] for k in outs)))

    def jvp(ctx: Any, *t: Any) -> Any:
        (n, where, outs), x = ctx.at, ctx.saved_tensors
        t = tuple(torch.zeros_like(x[k]) if t[k] is None else t[k] for k in where)
        return placed(ctx.count, outs, push(n, where, outs)(*x, *t))

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
