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
        """A decorator: calls of the function give lazy arrays.

        >>> f = ct.tessera.graph.module("m")(lambda x: x * 2.0)
        >>> f(np.array([1.0, 2.0]))
        array([2., 4.], dtype=float64)
        """
        def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(f)
            def call(*args: Any, **kwargs: Any) -> Any:
                with _lazily():
                    return _lazy_tree(f(*_lazy_tree(args), **kwargs))
            call.module_name = name  # type: ignore[attr-defined]
            return call
        return decorate

    @staticmethod
    def training_step(module: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: the function is compiled; parameters that it reads are hidden arguments.

        >>> step = ct.tessera.graph.training_step()(lambda x: x * 2.0)
        >>> step(2.0), step.cache_size()
        (array(4., dtype=float64), 1)
        """
        def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
            step: Any = ct.jit(f)
            step.module_name = module or getattr(f, "__name__", "step")
            step.cache_size = lambda: step.cache_info().entries
            return step  # type: ignore[no-any-return]
        return decorate

    @staticmethod
    def backward(loss: Any, wrt: Any) -> Any:
        """The gradients of a lazy scalar in the structure of ``wrt``, which may name intermediate values.

        >>> f = ct.tessera.graph.module("m")(lambda x: ct.sum(x * x))
        >>> x = ct.asarray([1.0, 2.0])
        >>> ct.tessera.graph.backward(f(x), x)
        array([2., 4.], dtype=float64)
        """
        leaves, structure = _cotangent.tree_flatten(wrt)
        return structure.unflatten(_cotangent.lazy_grad(loss, leaves))

    @staticmethod
    def forward(f: Callable[..., Any], inputs: Any, tangents: Any) -> Any:
        """The results of ``f(*inputs)`` and their tangents.

        >>> ct.tessera.graph.forward(ct.sin, (0.0,), (1.0,))
        (array(0., dtype=float64), array(1., dtype=float64))
        """
        return ct.jvp(f, tuple(inputs), tuple(tangents))

    @staticmethod
    def jvp(u: Any, wrt: Any, tangent: Any = None) -> Any:
        """The derivative of a value along a tangent of others: of ones by default.

        >>> f = ct.tessera.graph.module("m")(ct.sin)
        >>> x = ct.asarray(0.0)
        >>> ct.tessera.graph.jvp(f(x), x)
        array(1., dtype=float64)
        """
        leaves, _ = _cotangent.tree_flatten(wrt)
        along = [ct.ones_like(x) for x in leaves] if tangent is None else _cotangent.tree_flatten(tangent)[0]
        values, structure = _cotangent.tree_flatten(u)
        return structure.unflatten(_cotangent.lazy_jvp(values, leaves, along))

    @staticmethod
    def vjp(u: Any, wrt: Any, ct: Any) -> Any:
        """The cotangents of values in the structure of ``wrt``, for cotangents of ``u``.

        >>> f = ct.tessera.graph.module("m")(ct.sin)
        >>> x = ct.asarray(0.0)
        >>> ct.tessera.graph.vjp(f(x), x, ct.asarray(2.0))
        array(2., dtype=float64)
        """
        leaves, structure = _cotangent.tree_flatten(wrt)
        values, cotangents = _cotangent.tree_flatten(u)[0], _cotangent.tree_flatten(ct)[0]
        return structure.unflatten(_cotangent.lazy_vjp(values, leaves, cotangents))

    @staticmethod
    def hvp(f_or_value: Any, wrt: Any, dir: Any, inputs: Any = ()) -> Any:
        """Of a function: the Hessian of ``f(wrt, *inputs)`` times ``dir``. Of a value: the gradient of ``sum(jvp(u, wrt, dir))``,
        which for a pointwise function is its second derivative.

        >>> ct.tessera.graph.hvp(lambda x: x**3, 2.0, 1.0)
        array(12., dtype=float64)
        """
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
    def derive(text: str) -> ct.Program:
        """The program of a text with directives.

        >>> ct.tessera.graph.derive("tgraph.module @m { %x = tgraph.arg : f64 tgraph.return %x }").names
        ['m']
        """
        return ct.Program.from_text(text)


class _Op(types.ModuleType):
    """``op``: operations by the guide's names."""

    @staticmethod
    def tensor(shape_or_values: Any, dtype: Any = "fp32", value: Any = None) -> ct.Parameter:
        """A parameter of a shape, zero without a value; or of values.

        >>> ct.tessera.op.tensor((2,), "fp64")
        array([0., 0.], dtype=float64)
        """
        kind = _dtype(dtype)
        is_shape = isinstance(shape_or_values, int) or (
            isinstance(shape_or_values, (tuple, list)) and all(isinstance(n, int) for n in shape_or_values))
        if not is_shape:
            return ct.Parameter(ct.asarray(shape_or_values, dtype=kind))
        parameter = ct.Parameter(ct.zeros(shape_or_values, dtype=kind))
        if value is not None:
            parameter.set(value)
        return parameter

    @staticmethod
    def matmul(a: Any, b: Any) -> Array:
        """The product of matrices.

        >>> ct.tessera.op.matmul([[1.0, 2.0]], [1.0, 1.0])
        array([3.], dtype=float64)
        """
        return ct.matmul(a, b)

    @staticmethod
    def add(a: Any, b: Any) -> Array:
        """a + b.

        >>> ct.tessera.op.add(1.0, 2.0)
        array(3., dtype=float64)
        """
        return ct.add(a, b)

    @staticmethod
    def sub(a: Any, b: Any) -> Array:
        """a - b.

        >>> ct.tessera.op.sub(1.0, 2.0)
        array(-1., dtype=float64)
        """
        return ct.subtract(a, b)

    @staticmethod
    def mul(a: Any, b: Any) -> Array:
        """a b.

        >>> ct.tessera.op.mul(3.0, 2.0)
        array(6., dtype=float64)
        """
        return ct.multiply(a, b)

    @staticmethod
    def div(a: Any, b: Any) -> Array:
        """a / b.

        >>> ct.tessera.op.div(3.0, 2.0)
        array(1.5, dtype=float64)
        """
        return ct.divide(a, b)

    @staticmethod
    def relu(x: Any) -> Array:
        """max(x, 0).

        >>> ct.tessera.op.relu([-1.0, 1.0])
        array([0., 1.], dtype=float64)
        """
        return ct.nn.relu(x)

    @staticmethod
    def exp(x: Any) -> Array:
        """Exponential function.

        >>> ct.tessera.op.exp(0.0)
        array(1., dtype=float64)
        """
        return ct.exp(x)

    @staticmethod
    def log(x: Any) -> Array:
        """Natural logarithm.

        >>> ct.tessera.op.log(1.0)
        array(0., dtype=float64)
        """
        return ct.log(x)

    @staticmethod
    def sin(x: Any) -> Array:
        """Sine.

        >>> ct.tessera.op.sin(0.0)
        array(0., dtype=float64)
        """
        return ct.sin(x)

    @staticmethod
    def cos(x: Any) -> Array:
        """Cosine.

        >>> ct.tessera.op.cos(0.0)
        array(1., dtype=float64)
        """
        return ct.cos(x)

    @staticmethod
    def tanh(x: Any) -> Array:
        """Hyperbolic tangent.

        >>> ct.tessera.op.tanh(0.0)
        array(0., dtype=float64)
        """
        return ct.tanh(x)

    @staticmethod
    def sqrt(x: Any) -> Array:
        """Square root.

        >>> ct.tessera.op.sqrt(4.0)
        array(2., dtype=float64)
        """
        return ct.sqrt(x)

    @staticmethod
    def softmax(x: Any, axis: int = -1) -> Array:
        """exp(x) / sum(exp(x)) along an axis.

        >>> ct.tessera.op.softmax([0.0, 0.0])
        array([0.5, 0.5], dtype=float64)
        """
        return ct.nn.softmax(x, axis)

    @staticmethod
    def sum(x: Any, axis: Any = None) -> Array:
        """The sum over axes.

        >>> ct.tessera.op.sum([1.0, 2.0])
        array(3., dtype=float64)
        """
        return ct.sum(x, axis=axis)

    @staticmethod
    def mean(x: Any, axis: Any = None) -> Array:
        """The mean over axes.

        >>> ct.tessera.op.mean([1.0, 2.0])
        array(1.5, dtype=float64)
        """
        return ct.mean(x, axis=axis)

    @staticmethod
    def reduce_sum(x: Any, axis: Any = None, stable: bool = True) -> Array:
        """The sum by a fixed tree of pairs, whatever the number of threads; ``stable=False`` is the same.

        >>> ct.tessera.op.reduce_sum([1.0, 2.0])
        array(3., dtype=float64)
        """
        return ct.sum(x, axis=axis)

    @staticmethod
    def cross_entropy(logits: Any, labels: Any, axis: int = -1) -> Array:
        """The mean of -log softmax(logits) at the labels.

        >>> ct.tessera.op.cross_entropy([[0.0, 0.0]], [1])
        array(0.69314718, dtype=float64)
        """
        return ct.nn.cross_entropy(logits, labels, axis)

    @staticmethod
    def solve(A: Any, b: Any) -> Array:
        """The x with ``A x = b``.

        >>> ct.tessera.op.solve([[2.0]], [1.0])
        array([0.5], dtype=float64)
        """
        return ct.linalg.solve(A, b)

    @staticmethod
    def fixed_point(f: Callable[[Any], Any], x0: Any, tol: float = 1e-6, max_iter: int = 100) -> Any:
        """The x with ``x = f(x)``; an error where it is read if ``max_iter`` steps do not reach it.

        >>> round(float(ct.tessera.op.fixed_point(ct.cos, ct.asarray(1.0))), 4)
        0.7391
        """
        with _lazily():
            return ct.implicit.fixed_point(f, x0, tol=tol, max_steps=max_iter)

    @staticmethod
    def root(f: Callable[[Any], Any], x0: Any, tol: float | None = None, max_iter: int = 100) -> Any:
        """The x with ``f(x) = 0``.

        >>> round(float(ct.tessera.op.root(lambda x: x * x - 4.0, ct.asarray(1.0))), 6)
        2.0
        """
        with _lazily():
            return ct.implicit.root(f, x0, tol=tol, max_steps=max_iter)

    @staticmethod
    def argmin(f: Callable[[Any], Any], x0: Any, tol: float | None = None, max_iter: int | None = None) -> Any:
        """A minimum of ``f``.

        >>> round(float(ct.tessera.op.argmin(lambda x: (x - 3.0) ** 2, ct.asarray(0.0))), 4)
        3.0
        """
        with _lazily():
            return ct.implicit.argmin(f, x0, tol=tol, max_steps=max_iter)


graph = _Graph("tessera.graph")
op = _Op("tessera.op")


def install() -> None:
    """Registers this module as ``tessera``, unless another one has the name.

    >>> ct.tessera.install()
    >>> from tessera import graph, op
    """
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
