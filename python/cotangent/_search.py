"""Order and search. Functions whose extents depend on elements need known elements."""

from __future__ import annotations

from typing import Any, NamedTuple

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, kept, one_axis, op, raise_, reshape, several
from cotangent._elementwise import broadcast_to, where


def _arg(name: str, x: ArrayLike, axis: int | None, keepdims: bool) -> Array:
    x = array(x)
    if axis is None:
        y = op(name, (reshape(x, [x.size]),), {"axis": 0})
        return kept(y, x, list(range(x.ndim)), keepdims)
    k = one_axis(axis, x.ndim)
    return kept(op(name, (x,), {"axis": k}), x, [k], keepdims)


def argmax(x: ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The position of the maximum: the first of equal elements, or the first NaN.

    >>> ct.argmax([1, 5, 5])
    array(1, dtype=int64)
    """
    return _arg("argmax", x, axis, keepdims)


def argmin(x: ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The position of the minimum: the first of equal elements, or the first NaN.

    >>> ct.argmin([[3, 1], [0, 2]], axis=1)
    array([1, 0], dtype=int64)
    """
    return _arg("argmin", x, axis, keepdims)


def sort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Elements in order along an axis, NaN last; equal elements keep their order.

    >>> ct.sort([3, 1, 2], descending=True)
    array([3, 2, 1], dtype=int64)
    """
    x = array(x)
    return op("sort", (x,), {"axis": one_axis(axis, x.ndim), "descending": descending})


def argsort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The positions that sort along an axis.

    >>> ct.argsort([3, 1, 2])
    array([1, 2, 0], dtype=int64)
    """
    x = array(x)
    return op("argsort", (x,), {"axis": one_axis(axis, x.ndim), "descending": descending})


def top_k(x: ArrayLike, k: int, /, *, axis: int = -1) -> tuple[Array, Array]:
    """The ``k`` greatest elements along an axis, greatest first, and their positions.

    >>> ct.top_k([3, 1, 2], 2)
    (array([3, 2], dtype=int64), array([0, 2], dtype=int64))
    """
    x = array(x)
    values, positions = several("top_k", (x,), {"axis": one_axis(axis, x.ndim), "k": k})
    return values, positions


def searchsorted(x1: ArrayLike, x2: ArrayLike, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Where elements of x2 are to be inserted in the sorted vector x1, so that it stays sorted.

    >>> ct.searchsorted([1, 3, 5], [3, 4])
    array([1, 2], dtype=int64)
    """
    x1, x2 = _cotangent.promoted(x1, x2)
    if side not in ("left", "right"):
        raise raise_("Attribute", f"side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        x1 = take(x1, sorter)
    return op("searchsorted", (x1, x2), {"right": side == "right"})


def _known(x: ArrayLike) -> Any:
    import numpy as np
    return np.asarray(array(x).detach())


def nonzero(x: ArrayLike, /) -> tuple[Array, ...]:
    """The positions of elements that are not zero, an array for each axis. The elements must be known.

    >>> ct.nonzero([0, 5, 7])
    (array([1, 2], dtype=int64),)
    """
    x = array(x)
    if x.ndim == 0:
        raise raise_("ShapeMismatch", "nonzero of an array of rank 0")
    import numpy as np
    return tuple(array(i) for i in np.nonzero(_known(x)))


class UniqueAll(NamedTuple):
    """The result of ``unique_all``."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The result of ``unique_counts``."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The result of ``unique_inverse``."""

    values: Array
    inverse_indices: Array


def unique_all(x: ArrayLike, /) -> UniqueAll:
    """Distinct elements, where they are first, where each element is among them, and how often they occur.

    >>> ct.unique_all([2, 1, 2]).inverse_indices
    array([1, 0, 1], dtype=int64)
    """
    import numpy as np
    a = _known(x)
    values, indices, inverse, counts = np.unique(a, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return UniqueAll(array(values), array(indices), array(inverse.reshape(a.shape)), array(counts))


def unique_counts(x: ArrayLike, /) -> UniqueCounts:
    """Distinct elements, and how often they occur.

    >>> ct.unique_counts([2, 1, 2]).counts
    array([1, 2], dtype=int64)
    """
    y = unique_all(x)
    return UniqueCounts(y.values, y.counts)


def unique_inverse(x: ArrayLike, /) -> UniqueInverse:
    """Distinct elements, and where each element is among them.

    >>> ct.unique_inverse([2, 1, 2]).inverse_indices
    array([1, 0, 1], dtype=int64)
    """
    y = unique_all(x)
    return UniqueInverse(y.values, y.inverse_indices)


def unique_values(x: ArrayLike, /) -> Array:
    """Distinct elements. The elements must be known.

    >>> ct.unique_values([2, 1, 2])
    array([1, 2], dtype=int64)
    """
    return unique_all(x).values


def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: bool = False) -> Array:
    """Whether elements of x1 are among those of x2.

    >>> ct.isin([1, 2, 3], [3, 1])
    array([ True, False,  True], dtype=bool)
    """
    x1, x2 = _cotangent.promoted(x1, x2)
    x2 = reshape(x2, [x2.size])
    if not isinstance(x2.size, int) or x2.size <= 16:
        found = op("reduce_any", (reshape(x1, tuple(x1.shape) + (1,)) == x2,), {"axes": [x1.ndim]})
    else:
        x2 = sort(x2)
        at = searchsorted(x2, reshape(x1, [x1.size]))
        found = reshape(take(x2, at, mode="clip"), x1.shape) == x1
    return ~found if invert else found


def _positions(i: Array, n: Any, mode: str | None) -> tuple[Array, str]:
    """Positions that count from the front, and the mode of the library."""
    if i.dtype.kind not in "iu":
        raise raise_("DTypeMismatch", f"positions are integers, not {i.dtype}")
    if mode not in (None, "error", "clip", "fill"):
        raise raise_("Attribute", f"mode is None, 'error', 'clip' or 'fill', not {mode!r}")
    if i.dtype.kind == "i" and mode != "clip":
        if not isinstance(n, int) or n >= 1 << (8 * i.dtype.itemsize - 1):
            i = _cotangent.convert(i, "int64")
        i = where(i < 0, i + n, i)
    return i, "error" if mode is None else mode


def take(x: ArrayLike, indices: ArrayLike, /, *, axis: int | None = None, mode: str | None = None) -> Array:
    """Elements at positions along an axis, negative ones from the end.

    A position out of range is an error; with ``mode="clip"`` the nearest element, with ``mode="fill"`` zero.

    >>> ct.take([10, 20, 30], [2, -3])
    array([30, 10], dtype=int64)
    """
    x, i = array(x), array(indices)
    if axis is None:
        if x.ndim != 1:
            raise raise_("Attribute", f"take from an array of rank {x.ndim} needs an axis")
        axis = 0
    k = one_axis(axis, x.ndim)
    i, mode = _positions(i, x.shape[k], mode)
    sizes = [1 if a == k else n for a, n in enumerate(x.shape)]
    windows = list(range(k)) + list(range(k + i.ndim, x.ndim - 1 + i.ndim))
    return op("gather", (x, i), {"offset_dims": windows, "collapsed_slice_dims": [k], "start_index_map": [k],
                                 "slice_sizes": sizes, "index_vector_dim": i.ndim, "mode": mode})


def take_along_axis(x: ArrayLike, indices: ArrayLike, /, *, axis: int = -1, mode: str | None = None) -> Array:
    """Elements at positions along an axis, row by row: ``indices`` has the rank of x.

    >>> ct.take_along_axis([[1, 2], [3, 4]], [[1], [0]], axis=1)
    array([[2],
           [3]], dtype=int64)
    """
    x, i = array(x), array(indices)
    if x.ndim != i.ndim:
        raise raise_("ShapeMismatch", f"take_along_axis of rank {x.ndim} with positions of rank {i.ndim}")
    k = one_axis(axis, x.ndim)
    common = []
    for a, (n, m) in enumerate(zip(x.shape, i.shape)):
        common.append(m if n == 1 else n)
    x = broadcast_to(x, tuple(x.shape[k] if a == k else n for a, n in enumerate(common)))
    i = broadcast_to(i, tuple(i.shape[k] if a == k else n for a, n in enumerate(common)))
    i, mode = _positions(i, x.shape[k], mode)
    rest = [a for a in range(x.ndim) if a != k]
    return op("gather", (x, i), {"operand_batching_dims": rest, "start_indices_batching_dims": rest,
                                 "collapsed_slice_dims": [k], "start_index_map": [k], "slice_sizes": [1] * x.ndim,
                                 "index_vector_dim": i.ndim, "mode": mode})


NAMES = ["argmax", "argmin", "sort", "argsort", "top_k", "searchsorted", "nonzero", "unique_all", "unique_counts",
         "unique_inverse", "unique_values", "isin", "take", "take_along_axis"]
