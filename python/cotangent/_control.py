"""Control flow, tapes, threads and files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from cotangent import _cotangent
from cotangent._core import Array, Parameter, array, raise_
from cotangent._transforms import once, recorded

C = TypeVar("C")
R = TypeVar("R")
T = TypeVar("T")
Y = TypeVar("Y")


def cond(pred: Any, true_fn: Callable[..., R], false_fn: Callable[..., R], *operands: Any) -> R:
    """``true_fn(*operands)`` if the boolean holds, otherwise ``false_fn(*operands)``.

    >>> ct.cond(True, ct.sin, ct.cos, 0.0)
    array(0., dtype=float64)
    """
    if recorded((pred, operands)):
        return once(lambda p, *x: cond(p, true_fn, false_fn, *x), pred, *operands)
    y: R = _cotangent.cond(pred, true_fn, false_fn, *operands)
    return y


def switch(index: Any, branches: Sequence[Callable[..., R]], *operands: Any) -> R:
    """``branches[index](*operands)``; the index is clamped to the branches.

    >>> ct.switch(1, [ct.sin, ct.cos], 0.0)
    array(1., dtype=float64)
    """
    if not branches:
        raise raise_("Arity", "switch needs at least one branch")
    if recorded((index, operands)):
        return once(lambda i, *x: switch(i, branches, *x), index, *operands)
    y: R = _cotangent.switch(index, list(branches), *operands)
    return y


def scan(f: Callable[[Any, Any], tuple[C, Y]], init: Any, xs: Any = None, length: int | None = None,
         reverse: bool = False) -> tuple[C, Y]:
    """``carry, y[i] = f(carry, xs[i])`` along the first axis: the last carry, and the stacked outputs.

    >>> ct.scan(lambda c, x: (c + x, c), 0, np.array([1, 2, 3]))
    (array(6, dtype=int64), array([0, 1, 3], dtype=int64))
    """
    if recorded((init, xs)):
        return once(lambda c, x: scan(f, c, x, length, reverse), init, xs)
    if not _cotangent.tree_flatten(xs)[0]:
        if length is None:
            raise raise_("Arity", "scan needs xs or a length")
        return scan(lambda c, _: f(c, xs), init, _cotangent.iota(length, "int64"), reverse=reverse)
    if length is not None:
        for x in map(array, _cotangent.tree_flatten(xs)[0]):
            if x.ndim and isinstance(x.shape[0], int) and x.shape[0] != length:
                raise raise_("ShapeMismatch", f"scan: length is {length}, and xs has {x.shape[0]} steps")
    y: tuple[C, Y] = _cotangent.scan(f, init, xs, reverse)
    return y


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], C], init: Any) -> C:
    """``carry = body_fun(carry)`` while ``cond_fun(carry)`` holds. Reverse mode works, too.

    >>> ct.while_loop(lambda x: x < 100, lambda x: 2 * x, 3)
    array(192, dtype=int64)
    """
    if recorded(init):
        return once(lambda c: while_loop(cond_fun, body_fun, c), init)
    y: C = _cotangent.while_loop(cond_fun, body_fun, init)
    return y


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], C], init: Any) -> C:
    """``carry = body_fun(i, carry)`` for i from ``lower`` to ``upper`` (excluded).

    >>> ct.fori_loop(0, 10, lambda i, c: c + i, 0)
    array(45, dtype=int64)
    """
    if recorded(init):
        return once(lambda c: fori_loop(lower, upper, body_fun, c), init)
    y: C = _cotangent.fori_loop(lower, upper, body_fun, init)
    return y


def variable(x: Any) -> Parameter:
    """A parameter on a tape: operations on it are recorded, and ``backward`` adds to its ``grad``.

    >>> w = ct.variable([1.0, 2.0])
    >>> ct.sum(w * w).backward()
    >>> w.grad
    array([2., 4.], dtype=float64)
    """
    return _cotangent.variable(x)


def grad_of(y: Array, xs: T, create_graph: bool = False) -> T:
    """The gradients of a recorded scalar in the structure of ``xs``, not added to their ``grad``.

    >>> x = ct.variable(2.0)
    >>> (g,) = ct.grad_of(x**3, [x], create_graph=True)
    >>> ct.grad_of(g, [x])
    [array(12., dtype=float64)]
    """
    leaves, structure = _cotangent.tree_flatten(xs)
    gradients: T = structure.unflatten(_cotangent.grad_of(y, leaves, create_graph))
    return gradients


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """A block whose operations are not recorded.

    >>> w = ct.variable(1.0)
    >>> with ct.no_grad(): (2.0 * w).tracked
    ...
    False
    """
    _cotangent.silence(True)
    try:
        yield
    finally:
        _cotangent.silence(False)


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """A block whose programs use at most ``n`` threads. Results do not depend on it.

    >>> with ct.threads(1): ct.sum(ct.ones(10))
    ...
    array(10., dtype=float64)
    """
    if n < 1:
        raise raise_("Attribute", "at least one thread")
    old = _cotangent.set_threads(n)
    try:
        yield
    finally:
        _cotangent.set_threads(old)


def load(path: Any) -> Any:
    """The array of an ``.npy`` file, or the arrays by name of an ``.npz`` or ``.safetensors`` file.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npy")
    >>> ct.save(path, ct.arange(3))
    >>> ct.load(path)
    array([0, 1, 2], dtype=int64)
    """
    found = _cotangent.read_file(path)
    return next(iter(found.values())) if str(path).endswith(".npy") else found


def save(path: Any, arrays: Any) -> None:
    """Writes an array to an ``.npy`` file, or a dict of arrays to an ``.npz`` or ``.safetensors`` file.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npz")
    >>> ct.save(path, {"w": ct.ones(2)})
    >>> ct.load(path)
    {'w': array([1., 1.], dtype=float64)}
    """
    suffix = str(path).rpartition(".")[2]
    if isinstance(arrays, dict) != (suffix in ("npz", "safetensors")) or not isinstance(arrays, dict) and suffix != "npy":
        raise raise_("Attribute", f"{path}: a .npy file has one array, an .npz or .safetensors file a dict of arrays")
    if isinstance(arrays, dict):
        _cotangent.write_file(path, [(k, array(v)) for k, v in arrays.items()])
    else:
        _cotangent.write_npy(path, array(arrays))


NAMES = ["cond", "switch", "scan", "while_loop", "fori_loop", "variable", "grad_of", "no_grad", "threads", "load", "save"]
