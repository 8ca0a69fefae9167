"""Advanced indexing, by NumPy's rule; and ``x.at[key]``, which returns arrays with other elements."""

from __future__ import annotations

from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, array, beside, op, raise_, reshape
from cotangent._elementwise import broadcast_arrays, broadcast_to, where


def _parts(key: Any, shape: tuple[Any, ...]) -> list[Any]:
    """The parts of a key with one part for each axis and each new one: ``...`` becomes whole axes, masks positions."""
    rank = len(shape)
    items = list(key) if isinstance(key, tuple) else [key]
    out: list[Any] = []
    masks: list[tuple[Array, tuple[Any, ...]]] = []
    for k in items:
        if k is None or k is Ellipsis or isinstance(k, slice) or (isinstance(k, int) and not isinstance(k, bool)):
            out.append(k)
            continue
        if isinstance(k, str) or (isinstance(k, (float, complex)) and not hasattr(k, "dtype")):
            raise TypeError(f"an index is an integer, a slice, None, ... or an array of integers or booleans, not {k!r}")
        a = array(k)
        if a.dtype.kind == "b":
            if a.ndim == 0:
                raise TypeError("a boolean of rank 0 beside other indices is no index: use where")
            from cotangent._search import nonzero
            out.extend(nonzero(a))
            masks.append((out[-a.ndim], a.shape))
        elif a.dtype.kind in "iu" or a.size == 0:
            out.append(a if a.dtype.kind in "iu" else _cotangent.convert(a, "int64"))
        else:
            raise IndexError(f"an index is an array of integers or booleans, not of {a.dtype}")
    used = sum(k is not None and k is not Ellipsis for k in out)
    if used > rank:
        raise IndexError(f"{used} indices for an array of {rank} axes")
    whole = [slice(None)] * (rank - used)
    at = next((n for n, k in enumerate(out) if k is Ellipsis), None)
    out = out + whole if at is None else out[:at] + whole + out[at + 1:]
    axes = [k for k in out if k is not None]
    for first, extents in masks:
        n = next(n for n, k in enumerate(axes) if k is first)
        of = shape[n:n + len(extents)]
        # The array API: an axis of a mask may be empty.
        if any(k not in (0, m) for k, m in zip(extents, of, strict=True)):
            raise IndexError(f"a mask of shape {extents} beside axes of shape {of}")
    return out


def get(x: Array, key: Any) -> Array:
    """The elements at a key that is not basic."""
    if isinstance(key, bool) or (getattr(key, "ndim", None) == 0 and array(key).dtype.kind == "b"):
        return x[None] if key else x[None][:0]
    parts = _parts(key, tuple(x.shape))
    if not any(isinstance(k, Array) for k in parts):
        return x[tuple(parts)]
    # Slices and new axes first: arrays, and integers beside them, index what remains.
    basic = tuple(k if k is None or isinstance(k, slice) else slice(None) for k in parts)
    y = x[basic]
    arrays = [(n, k) for n, k in enumerate(parts) if not (k is None or isinstance(k, slice))]
    axes = [n for n, _ in arrays]
    found = broadcast_arrays(*(_wrapped(array(k), y.shape[n], n) for n, k in arrays))
    shape, rank = found[0].shape, found[0].ndim
    indices = op("concatenate", tuple(reshape(i, tuple(shape) + (1,)) for i in found), {"axis": rank})
    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    rest = y.ndim - len(axes)
    windows = [k if k < first else k + rank for k in range(rest)]
    return op("gather", (y, indices), {
        "offset_dims": windows, "collapsed_slice_dims": axes, "start_index_map": axes,
        "slice_sizes": [1 if k in axes else n for k, n in enumerate(y.shape)], "index_vector_dim": rank, "mode": "error"})


def _wrapped(i: Array, n: Any, axis: int) -> Array:
    """Positions that count from the front; an error for known ones out of bounds."""
    i = _cotangent.convert(i, "int64")
    return where(i < 0, i + n, i)


class At:
    """``x.at``: index it with a key."""

    def __init__(self, x: Array) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Selection:
        return Selection(self._x, key)


class Selection:
    """``x.at[key]``: new arrays with other elements at a key."""

    def __init__(self, x: Array, key: Any) -> None:
        self._x, self._key = x, key

    def get(self) -> Array:
        """The elements at the key."""
        return self._x[self._key]

    def _combined(self, combine: str, value: Any) -> Array:
        x = self._x
        order = "biufc"
        if order.index(_cotangent.result_type(x, value).kind) > order.index(x.dtype.kind.replace("i", "u")):
            raise raise_("DTypeMismatch", f"elements of {x.dtype} cannot be set to {array(value).dtype}: convert with astype")
        number = type(value) in (bool, int, float, complex)
        value = beside(x, _cotangent.asarray(value, x.dtype, None)) if number else _cotangent.convert(value, x.dtype)
        size = x.size
        positions = beside(x, reshape(_cotangent.iota(size, "int64"), x.shape))[self._key]
        n = positions.size
        value = reshape(broadcast_to(value, positions.shape), (n,))
        y = op("scatter", (reshape(x, (size,)), reshape(positions, (n,)), value), {
            "combine": combine, "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0], "update_window_dims": [],
            "index_vector_dim": 1, "mode": "drop"})
        return reshape(y, x.shape)

    def set(self, value: Any) -> Array:
        """x with these elements replaced."""
        return self._combined("set", value)

    def add(self, value: Any) -> Array:
        """x with values added to these elements; an element that is listed several times gets them all."""
        return self._combined("add", value)

    def multiply(self, value: Any) -> Array:
        """x with these elements multiplied."""
        return self._combined("mul", value)

    def min(self, value: Any) -> Array:
        """x with the minimum of these elements and values."""
        return self._combined("min", value)

    def max(self, value: Any) -> Array:
        """x with the maximum of these elements and values."""
        return self._combined("max", value)
