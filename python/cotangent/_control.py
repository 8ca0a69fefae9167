"""Control flow, tapes, threads and files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, Parameter, array, raise_


def _recorded(tree: Any) -> bool:
    return any(isinstance(x, Array) and x.tracked for x in _cotangent.tree_flatten(tree)[0])


def _once(f: Callable[..., Any], *args: Any) -> Any:
    """Control flow on recorded arrays is one operation of the tape: that of a compiled function."""
    from cotangent._transforms import jit
    return jit(f)(*args)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Any:
    """``true_fn(*operands)`` if the boolean holds, otherwise ``false_fn(*operands)``."""
    if _recorded((pred, operands)):
        return _once(lambda p, *x: _cotangent.cond(p, true_fn, false_fn, *x), pred, *operands)
    return _cotangent.cond(pred, true_fn, false_fn, *operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """``branches[index](*operands)``; the index is clamped to the branches."""
    if _recorded((index, operands)):
        return _once(lambda i, *x: _cotangent.switch(i, list(branches), *x), index, *operands)
    return _cotangent.switch(index, list(branches), *operands)


def scan(f: Callable[[Any, Any], Any], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False) -> Any:
    """``carry, y[i] = f(carry, xs[i])`` along the first axis: the last carry, and the stacked outputs."""
    if _recorded((init, xs)):
        return _once(lambda c, x: scan(f, c, x, length, reverse), init, xs)
    if not _cotangent.tree_flatten(xs)[0]:
        if length is None:
            raise raise_("Arity", "scan needs xs or a length")
        return _cotangent.scan(lambda c, _: f(c, xs), init, _cotangent.iota(length, "int64"), reverse)
    return _cotangent.scan(f, init, xs, reverse)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init: Any) -> Any:
    """``carry = body_fun(carry)`` while ``cond_fun(carry)`` holds. Reverse mode works, too."""
    if _recorded(init):
        return _once(lambda c: _cotangent.while_loop(cond_fun, body_fun, c), init)
    return _cotangent.while_loop(cond_fun, body_fun, init)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init: Any) -> Any:
    """``carry = body_fun(i, carry)`` for i from ``lower`` to ``upper`` (excluded)."""
    if _recorded(init):
        return _once(lambda c: _cotangent.fori_loop(lower, upper, body_fun, c), init)
    return _cotangent.fori_loop(lower, upper, body_fun, init)


def variable(x: Any) -> Parameter:
    """A parameter on a tape: operations on it are recorded, and ``backward`` adds to its ``grad``."""
    return _cotangent.variable(x)


def grad_of(y: Array, xs: Any, create_graph: bool = False) -> Any:
    """The gradients of a recorded scalar in the structure of ``xs``, not added to their ``grad``."""
    leaves, structure = _cotangent.tree_flatten(xs)
    return structure.unflatten(_cotangent.grad_of(y, leaves, create_graph))


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """A block whose operations are not recorded."""
    _cotangent.silence(True)
    try:
        yield
    finally:
        _cotangent.silence(False)


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """A block whose programs use at most ``n`` threads. Results do not depend on it."""
    if n < 1:
        raise raise_("Attribute", "at least one thread")
    old = _cotangent.set_threads(n)
    try:
        yield
    finally:
        _cotangent.set_threads(old)


def load(path: Any) -> Any:
    """The array of an ``.npy`` file, or the arrays by name of an ``.npz`` or ``.safetensors`` file."""
    found = _cotangent.read_file(path)
    return next(iter(found.values())) if str(path).endswith(".npy") else found


def save(path: Any, arrays: Any) -> None:
    """Writes an array to an ``.npy`` file, or a dict of arrays to an ``.npz`` or ``.safetensors`` file."""
    if isinstance(arrays, dict):
        _cotangent.write_file(path, [(k, array(v)) for k, v in arrays.items()])
    else:
        _cotangent.write_npy(path, array(arrays))


NAMES = ["cond", "switch", "scan", "while_loop", "fori_loop", "variable", "grad_of", "no_grad", "threads", "load", "save"]
