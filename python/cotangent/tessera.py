"""The names of the Tessera guide: ``from tessera import op, graph`` after :func:`install`.

Calls of a ``graph.module`` give lazy arrays, which are computed when they are read. Every array has one value of programs,
so ``graph.backward(loss, wrt=[Q])`` finds the ``Q`` that went into the loss.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import cotangent as ct
from cotangent import _cotangent
from cotangent._core import Array, raise_

_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def _dtype(name: Any) -> Any:
    return _DTYPES.get(name, name) if isinstance(name, str) else name


@contextlib.contextmanager
def _lazily() -> Iterator[None]:
    _cotangent.lazily(True)
    try:
        yield
    finally:
        _cotangent.lazily(False)


def _lazy_tree(tree: Any) -> Any:
    leaves, structure = _cotangent.tree_flatten(tree)
    return structure.unflatten([_cotangent.lazy(x) for x in leaves])


class _Graph(types.ModuleType):
    """``graph``: modules, and derivatives of their values."""

    @staticmethod
    def module(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: calls of the function give lazy arrays."""
        def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(f)
            def call(*args: Any, **kwargs: Any) -> Any:
                with _lazily():
                    return _lazy_tree(f(*_lazy_tree(args), **kwargs))
            call.module_name = name  # type: ignore[attr-defined]
            return call
        return decorate

    @staticmethod
    def training_step(module: str | None = None) -> Callable[[Callable[..., Any]], Any]:
        """A decorator: the function is compiled; parameters that it reads are hidden arguments."""
        def decorate(f: Callable[..., Any]) -> Any:
            step = ct.jit(f)
            step.module_name = module or getattr(f, "__name__", "step")
            step.cache_size = lambda: step.cache_info().entries
            return step
        return decorate

    @staticmethod
    def backward(loss: Any, wrt: Any) -> Any:
        """The gradients of a lazy scalar in the structure of ``wrt``, which may name intermediate values."""
        leaves, structure = _cotangent.tree_flatten(wrt)
        return structure.unflatten(_cotangent.lazy_grad(loss, leaves))

    @staticmethod
    def forward(f: Callable[..., Any], inputs: Any, tangents: Any) -> Any:
        """The results of ``f(*inputs)`` and their tangents."""
        return ct.jvp(f, tuple(inputs), tuple(tangents))

    @staticmethod
    def jvp(u: Any, wrt: Any, tangent: Any = None) -> Any:
        """The derivative of a value along a tangent of others: of ones by default."""
        leaves, _ = _cotangent.tree_flatten(wrt)
        along = [ct.ones_like(x) for x in leaves] if tangent is None else _cotangent.tree_flatten(tangent)[0]
        values, structure = _cotangent.tree_flatten(u)
        return structure.unflatten(_cotangent.lazy_jvp(values, leaves, along))

    @staticmethod
    def vjp(u: Any, wrt: Any, ct: Any) -> Any:
        """The cotangents of values in the structure of ``wrt``, for cotangents of ``u``."""
        leaves, structure = _cotangent.tree_flatten(wrt)
        values, cotangents = _cotangent.tree_flatten(u)[0], _cotangent.tree_flatten(ct)[0]
        return structure.unflatten(_cotangent.lazy_vjp(values, leaves, cotangents))

    @staticmethod
    def hvp(f_or_value: Any, wrt: Any, dir: Any, inputs: Any = ()) -> Any:
        """Of a function: the Hessian of ``f(wrt, *inputs)`` times ``dir``. Of a value: the gradient of ``sum(jvp(u, wrt, dir))``,
        which for a pointwise function is its second derivative."""
        if callable(f_or_value) and not isinstance(f_or_value, Array):
            return ct.hvp(lambda p: f_or_value(p, *inputs), (wrt,), (dir,))[0]
        slope = _Graph.jvp(f_or_value, wrt, dir)
        total = slope
        if not isinstance(slope, Array):
            parts = [ct.sum(s) for s in _cotangent.tree_flatten(slope)[0]]
            total = functools.reduce(lambda a, b: a + b, parts)
        with _lazily():
            return _Graph.backward(ct.sum(total), wrt)

    @staticmethod
    def derive(text: str) -> Any:
        """The program of a text with directives."""
        return ct.Program.from_text(text)


class _Op(types.ModuleType):
    """``op``: operations by the guide's names."""

    @staticmethod
    def tensor(shape_or_values: Any, dtype: Any = "fp32", value: Any = None) -> Any:
        """A parameter of a shape, zero without a value; or of values."""
        kind = _dtype(dtype)
        is_shape = isinstance(shape_or_values, int) or (
            isinstance(shape_or_values, (tuple, list)) and all(isinstance(n, int) for n in shape_or_values))
        if not is_shape:
            return ct.Parameter(ct.asarray(shape_or_values, dtype=kind))
        parameter = ct.Parameter(ct.zeros(shape_or_values, dtype=kind))
        if value is not None:
            parameter.set(value)
        return parameter

    matmul = staticmethod(ct.matmul)
    relu = staticmethod(ct.nn.relu)
    exp = staticmethod(ct.exp)
    log = staticmethod(ct.log)
    sin = staticmethod(ct.sin)
    cos = staticmethod(ct.cos)
    tanh = staticmethod(ct.tanh)
    sqrt = staticmethod(ct.sqrt)
    add = staticmethod(ct.add)
    sub = staticmethod(ct.subtract)
    mul = staticmethod(ct.multiply)
    div = staticmethod(ct.divide)
    softmax = staticmethod(ct.nn.softmax)

    @staticmethod
    def sum(x: Any, axis: Any = None) -> Array:
        """The sum over axes."""
        return ct.sum(x, axis=axis)

    @staticmethod
    def mean(x: Any, axis: Any = None) -> Array:
        """The mean over axes."""
        return ct.mean(x, axis=axis)

    @staticmethod
    def reduce_sum(x: Any, axis: Any = None, stable: bool = True) -> Array:
        """The sum by a fixed tree of pairs, whatever the number of threads; ``stable=False`` is the same."""
        return ct.sum(x, axis=axis)

    @staticmethod
    def cross_entropy(logits: Any, labels: Any, axis: int = -1) -> Array:
        """The mean of -log softmax(logits) at the labels."""
        return ct.nn.cross_entropy(logits, labels, axis)

    @staticmethod
    def solve(A: Any, b: Any) -> Array:
        """The x with ``A x = b``."""
        return ct.linalg.solve(A, b)

    @staticmethod
    def fixed_point(f: Callable[[Any], Any], x0: Any, tol: float = 1e-6, max_iter: int = 100) -> Any:
        """The x with ``x = f(x)``; an error where it is read if ``max_iter`` steps do not reach it."""
        with _lazily():
            return ct.implicit.fixed_point(f, x0, tol=tol, max_steps=max_iter)

    @staticmethod
    def root(f: Callable[[Any], Any], x0: Any, tol: float | None = None, max_iter: int = 100) -> Any:
        """The x with ``f(x) = 0``."""
        with _lazily():
            return ct.implicit.root(f, x0, tol=tol, max_steps=max_iter)

    @staticmethod
    def argmin(f: Callable[[Any], Any], x0: Any, tol: float | None = None, max_iter: int | None = None) -> Any:
        """A minimum of ``f``."""
        with _lazily():
            return ct.implicit.argmin(f, x0, tol=tol, max_steps=max_iter)


graph = _Graph("tessera.graph")
op = _Op("tessera.op")


def install() -> None:
    """Registers this module as ``tessera``, unless another one has the name."""
    present = sys.modules.get("tessera")
    if present is not None and present is not sys.modules[__name__]:
        raise raise_("DuplicateName", "there is another module tessera, which stays: import cotangent.tessera instead")
    if present is None:
        import importlib.util
        if importlib.util.find_spec("tessera") is not None:
            raise raise_("DuplicateName", "a package tessera is installed, and stays: import cotangent.tessera instead")
    sys.modules["tessera"] = sys.modules[__name__]
    sys.modules["tessera.graph"], sys.modules["tessera.op"] = graph, op


__all__ = ["graph", "op", "install"]
