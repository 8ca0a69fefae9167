"""Products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, one_axis, op, raise_


def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The product of matrices: of the last two axes; leading axes broadcast, a vector is a row or a column.

    >>> ct.matmul([[1, 2], [3, 4]], [1, 1])
    array([3, 7], dtype=int64)
    """
    return op("matmul", _cotangent.promoted(x1, x2))


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The sum of conj(x1) x2 along an axis.

    >>> ct.vecdot([1, 2], [3, 4])
    array(11, dtype=int64)
    """
    from cotangent._elementwise import broadcast_arrays
    from cotangent._shapes import moveaxis
    x1, x2 = _cotangent.promoted(x1, x2)
    for x in (x1, x2):
        one_axis(axis, x.ndim)
    if x1.shape[axis] != x2.shape[axis]:
        raise raise_("ShapeMismatch", f"vecdot of {x1.shape[axis]} and {x2.shape[axis]} elements")
    x1, x2 = broadcast_arrays(moveaxis(x1, axis, -1), moveaxis(x2, axis, -1))
    if x1.dtype.kind == "c":
        x1 = op("conj", (x1,))
    batch = list(range(x1.ndim - 1))
    return op("dot_general", (x1, x2), {"lhs_batch": batch, "rhs_batch": batch, "lhs_contract": [x1.ndim - 1],
                                        "rhs_contract": [x1.ndim - 1]})


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: Any = 2) -> Array:
    """Products summed over axes: a number of neighbouring ones, or a pair of lists.

    >>> ct.tensordot([[1, 2], [3, 4]], [1, 1], axes=1)
    array([3, 7], dtype=int64)
    """
    x1, x2 = _cotangent.promoted(x1, x2)
    if isinstance(axes, int):
        a, b = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        a, b = ([k] if isinstance(k, int) else list(k) for k in axes)
        a, b = [one_axis(k, x1.ndim) for k in a], [one_axis(k, x2.ndim) for k in b]
    return op("dot_general", (x1, x2), {"lhs_contract": a, "rhs_contract": b})


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Every element of x1 times every element of x2.

    >>> ct.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]], dtype=int64)
    """
    return op("outer", _cotangent.promoted(x1, x2))


def kron(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The Kronecker product of matrices.

    >>> ct.kron([[1, 2]], [[1, 1]])
    array([[1, 1, 2, 2]], dtype=int64)
    """
    return op("kron", _cotangent.promoted(x1, x2))


def einsum(spec: str, *arrays: ArrayLike, optimize: Any = "auto") -> Array:
    """A sum of products in Einstein's notation: ``"ij,jk->ik"``; ``...`` stands for any axes.

    >>> ct.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1])
    array([3, 7], dtype=int64)
    """
    return _cotangent.einsum(spec.replace(" ", ""), _cotangent.promoted(*arrays), _order(optimize))


def _order(optimize: Any) -> str:
    """The name of an order of products; NumPy's ``True`` and ``False``, too."""
    if isinstance(optimize, bool):
        return "auto" if optimize else "in-order"
    return str(optimize)


def einsum_path(spec: str, *shapes: Any, optimize: Any = "auto") -> str:
    """The order of products that ``einsum`` takes for these shapes or arrays, and its cost.

    >>> print(ct.einsum_path("ij,jk->ik", (2, 3), (3, 4)))
    step                       operations     elements
    ij,jk->ik                     4.800e1      8.000e0
    operations 4.800e1, as one loop 4.800e1
    largest tensor 8.000e0 elements
    """
    found = [tuple(getattr(s, "shape", s)) for s in shapes]
    return _cotangent.einsum_path(spec.replace(" ", ""), found, _order(optimize))


def _pairs(padding: Any, rank: int) -> tuple[list[int], list[int]]:
    if isinstance(padding, int):
        return [padding] * rank, [padding] * rank
    pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in padding]
    return [p[0] for p in pairs], [p[1] for p in pairs]


def _each(n: int | Sequence[int], rank: int) -> list[int]:
    return [n] * rank if isinstance(n, int) else list(n)


def convolution(x: ArrayLike, w: ArrayLike, *, strides: Any = 1, padding: Any = 0, lhs_dilation: Any = 1,
                rhs_dilation: Any = 1, groups: int = 1) -> Array:
    """Sliding products of x[batch, channel, ..] with w[out, channel, ..], as torch's ``conv`` functions.

    >>> ct.convolution([[[1.0, 2.0, 3.0]]], [[[1.0, 1.0]]])
    array([[[3., 5.]]], dtype=float64)
    """
    x, w = _cotangent.promoted(x, w)
    rank = x.ndim - 2
    low, high = _pairs(padding, rank)
    return _cotangent.convolution(x, w, _each(strides, rank), low, high, _each(lhs_dilation, rank), _each(rhs_dilation, rank),
                                  groups)


def reduce_window(x: ArrayLike, op: str, window: Sequence[int], *, strides: Any = 1, padding: Any = 0,
                  dilation: Any = 1) -> Array:
    """A reduction (``"sum"``, ``"max"``, ``"min"``, ``"prod"``) over sliding windows, with an extent for each axis.

    >>> ct.reduce_window([1, 5, 2, 4], "max", [2])
    array([5, 5, 4], dtype=int64)
    """
    x = array(x)
    low, high = _pairs(padding, x.ndim)
    return _cotangent.op("reduce_window", (x,), {"reduce": op, "window": list(window), "stride": _each(strides, x.ndim), "low": low,
                                      "high": high, "dilation": _each(dilation, x.ndim)})


NAMES = ["matmul", "vecdot", "tensordot", "outer", "kron", "einsum", "einsum_path", "convolution", "reduce_window"]
