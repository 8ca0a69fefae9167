"""Reductions and running reductions."""

from __future__ import annotations

from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, Axis, DTypeLike, array, axes_of, beside, floating, kept, one_axis, op, raise_, reshape


def _wide(x: Array, dtype: DTypeLike) -> Array:
    """The operand of a sum: small integers become 64 bits wide."""
    if dtype is not None:
        return _cotangent.convert(x, dtype)
    kind = x.dtype.kind
    if kind in "bi" and x.dtype != "int64":
        return _cotangent.convert(x, "int64")
    return _cotangent.convert(x, "uint64") if kind == "u" and x.dtype != "uint64" else x


def _reduced(name: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    axes = axes_of(axis, x.ndim)
    return kept(op(name, (x,), {"axes": sorted(axes)}), x, axes, keepdims)


def sum(x: ArrayLike, /, *, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False) -> Array:
    """The sum over axes; small integers add up in 64 bits.

    >>> ct.sum([[1, 2], [3, 4]], axis=0)
    array([4, 6], dtype=int64)
    """
    return _reduced("reduce_sum", _wide(array(x), dtype), axis, keepdims)


def prod(x: ArrayLike, /, *, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False) -> Array:
    """The product over axes; small integers multiply in 64 bits.

    >>> ct.prod([2, 3, 4])
    array(24, dtype=int64)
    """
    return _reduced("reduce_prod", _wide(array(x), dtype), axis, keepdims)


def max(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The maximum over axes; NaN if there is one; equal maxima share the gradient.

    >>> ct.max([[1, 5], [3, 2]], axis=1)
    array([5, 3], dtype=int64)
    """
    return _reduced("reduce_max", array(x), axis, keepdims)


def min(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The minimum over axes; NaN if there is one; equal minima share the gradient.

    >>> ct.min([4, 2, 3])
    array(2, dtype=int64)
    """
    return _reduced("reduce_min", array(x), axis, keepdims)


def mean(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean over axes.

    >>> ct.mean([1.0, 2.0, 6.0])
    array(3., dtype=float64)
    """
    return _reduced("mean", floating(x), axis, keepdims)


def var(x: ArrayLike, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance over axes: the divisor is the number of elements minus ``correction``.

    >>> ct.var([1.0, 2.0, 3.0], correction=1)
    array(1., dtype=float64)
    """
    x = floating(x)
    axes = axes_of(axis, x.ndim)
    return op("var", (x,), {"axes": sorted(axes), "ddof": float(correction), "keepdims": keepdims})


def std(x: ArrayLike, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The standard deviation over axes.

    >>> ct.std([1.0, 3.0])
    array(1., dtype=float64)
    """
    x = floating(x)
    axes = axes_of(axis, x.ndim)
    return op("std", (x,), {"axes": sorted(axes), "ddof": float(correction), "keepdims": keepdims})


def median(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The middle element along axes, or the mean of the middle two.

    >>> ct.median([5.0, 1.0, 2.0, 4.0])
    array(3., dtype=float64)
    """
    from cotangent._shapes import moveaxis
    x = floating(x)
    axes = axes_of(axis, x.ndim)
    rest = [k for k in range(x.ndim) if k not in axes]
    moved = moveaxis(x, rest, list(range(len(rest)))) if rest else x
    n = 1
    for k in axes:
        n = n * x.shape[k]
    y = op("median", (reshape(moved, [x.shape[k] for k in rest] + [n]),), {"axis": len(rest)})
    return kept(y, x, axes, keepdims)


def _truth(x: ArrayLike) -> Array:
    x = array(x)
    return x if x.dtype.kind == "b" else _cotangent.convert(x, "bool")


def any(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether an element is not zero.

    >>> ct.any([[0, 1], [0, 0]], axis=1)
    array([ True, False], dtype=bool)
    """
    return _reduced("reduce_any", _truth(x), axis, keepdims)


def all(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether no element is zero.

    >>> ct.all([1, 2, 0])
    array(False, dtype=bool)
    """
    return _reduced("reduce_all", _truth(x), axis, keepdims)


def count_nonzero(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of elements that are not zero.

    >>> ct.count_nonzero([1, 0, 2])
    array(2, dtype=int64)
    """
    return sum(_truth(x), axis=axis, keepdims=keepdims)


def logsumexp(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """log(sum(exp(x))) over axes, stable to every order.

    >>> ct.logsumexp([1000.0, 1000.0])
    array(1000.69314718, dtype=float64)
    """
    x = floating(x)
    return op("logsumexp", (x,), {"axes": sorted(axes_of(axis, x.ndim)), "keepdims": keepdims})


def _running(name: str, x: Array, axis: int | None, initial: Any = None) -> Array:
    if axis is None:
        if x.ndim != 1:
            raise raise_("Attribute", f"a running reduction of an array of rank {x.ndim} needs an axis")
        axis = 0
    axis = one_axis(axis, x.ndim)
    y = op(name, (x,), {"axis": axis})
    if initial is None:
        return y
    first = beside(x, _cotangent.full([1 if k == axis else n for k, n in enumerate(x.shape)], initial, x.dtype))
    return op("concatenate", (first, y), {"axis": axis})


def cumulative_sum(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None,
                   include_initial: bool = False) -> Array:
    """The running sum along an axis, from zero with ``include_initial``.

    >>> ct.cumulative_sum([1, 2, 3], include_initial=True)
    array([0, 1, 3, 6], dtype=int64)
    """
    return _running("cumsum", _wide(array(x), dtype), axis, 0 if include_initial else None)


def cumulative_prod(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None,
                    include_initial: bool = False) -> Array:
    """The running product along an axis, from one with ``include_initial``.

    >>> ct.cumulative_prod([1, 2, 3])
    array([1, 2, 6], dtype=int64)
    """
    return _running("cumprod", _wide(array(x), dtype), axis, 1 if include_initial else None)


def cummax(x: ArrayLike, /, *, axis: int | None = None) -> Array:
    """The running maximum along an axis.

    >>> ct.cummax([1, 3, 2])
    array([1, 3, 3], dtype=int64)
    """
    return _running("cummax", array(x), axis)


def cummin(x: ArrayLike, /, *, axis: int | None = None) -> Array:
    """The running minimum along an axis.

    >>> ct.cummin([3, 1, 2])
    array([3, 1, 1], dtype=int64)
    """
    return _running("cummin", array(x), axis)


def cumlogsumexp(x: ArrayLike, /, *, axis: int | None = None) -> Array:
    """The running log(sum(exp(x))) along an axis.

    >>> ct.cumlogsumexp([0.0, 0.0])
    array([0.        , 0.69314718], dtype=float64)
    """
    return _running("cumlogsumexp", floating(x), axis)


def diff(x: ArrayLike, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours along an axis, ``n`` times.

    >>> ct.diff([1, 4, 9, 16])
    array([3, 5, 7], dtype=int64)
    """
    from cotangent._shapes import concat
    x = array(x)
    axis = one_axis(axis, x.ndim)
    def piece(p: ArrayLike) -> Array:
        p = array(p)
        shape = [1 if k == axis else m for k, m in enumerate(x.shape)]
        return beside(x, _cotangent.full(shape, p, None)) if p.ndim == 0 else p
    parts = ([piece(prepend)] if prepend is not None else []) + [x] + ([piece(append)] if append is not None else [])
    y = concat(parts, axis=axis) if len(parts) > 1 else x
    return op("diff", (y,), {"n": n, "axis": axis})


NAMES = ["sum", "prod", "max", "min", "mean", "var", "std", "median", "any", "all", "count_nonzero", "logsumexp",
         "cumulative_sum", "cumulative_prod", "cummax", "cummin", "cumlogsumexp", "diff"]
