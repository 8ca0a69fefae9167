"""Functions that move elements."""

from __future__ import annotations

import builtins
import numbers
from collections.abc import Sequence
from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, Axis, array, axes_of, beside, one_axis, op, raise_, reshape as _reshape


def reshape(x: ArrayLike, /, shape: Any, *, copy: bool | None = None) -> Array:
    """The elements, read row by row, in another shape; one extent may be -1.

    >>> ct.reshape(ct.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int64)
    """
    x = array(x)
    shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    shape = [int(n) if isinstance(n, numbers.Integral) else n for n in shape]
    if shape.count(-1) > 1:
        raise raise_("ShapeMismatch", f"the shape {tuple(shape)} leaves more than one extent open")
    if -1 in [n for n in shape if isinstance(n, int)]:
        known, at = 1, shape.index(-1)
        for k, n in enumerate(shape):
            if k != at:
                known = known * n
        size = x.size
        if isinstance(known, int) and isinstance(size, int) and (known == 0 or size % known):
            raise raise_("ShapeMismatch", f"{size} elements do not fill the shape {tuple(shape)}")
        shape[at] = size // known if isinstance(known, int) and known != 1 else size
    return _reshape(x, shape)


def permute_dims(x: ArrayLike, /, axes: Sequence[int]) -> Array:
    """Axis k of the result is axis ``axes[k]``.

    >>> ct.permute_dims(ct.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = array(x)
    axes = axes_of(tuple(axes), x.ndim)
    if len(axes) != x.ndim:
        raise raise_("Attribute", f"{axes} is no permutation of the axes of an array of rank {x.ndim}")
    return op("transpose", (x,), {"perm": axes}) if axes != list(range(x.ndim)) else x


def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two axes exchanged.

    >>> ct.matrix_transpose([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]], dtype=int64)
    """
    return array(x).mT


def moveaxis(x: ArrayLike, source: Axis, destination: Axis, /) -> Array:
    """Axes moved to other positions.

    >>> ct.moveaxis(ct.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = array(x)
    source, destination = axes_of(source, x.ndim), axes_of(destination, x.ndim)
    if len(source) != len(destination):
        raise raise_("Attribute", "moveaxis takes as many destinations as sources")
    order = [k for k in range(x.ndim) if k not in source]
    for to, of in sorted(zip(destination, source)):
        order.insert(to, of)
    return permute_dims(x, order)


def expand_dims(x: ArrayLike, /, axis: Axis = 0) -> Array:
    """New axes of extent 1.

    >>> ct.expand_dims([1, 2], 1)
    array([[1],
           [2]], dtype=int64)
    """
    x = array(x)
    new = (axis,) if not isinstance(axis, (tuple, list)) else tuple(axis)
    rank = x.ndim + len(new)
    at = axes_of(new, rank)
    rest = iter(x.shape)
    return _reshape(x, [1 if k in at else next(rest) for k in range(rank)])


def squeeze(x: ArrayLike, /, axis: Axis) -> Array:
    """Without these axes, which have extent 1.

    >>> ct.squeeze([[1, 2]], 0)
    array([1, 2], dtype=int64)
    """
    x = array(x)
    at = axes_of(axis, x.ndim)
    if builtins.any(isinstance(x.shape[k], int) and x.shape[k] != 1 for k in at):
        raise raise_("ShapeMismatch", f"squeeze of axes {at} of the shape {x.shape}: they must have extent 1")
    return _reshape(x, [n for k, n in enumerate(x.shape) if k not in at])


def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """Arrays joined along an axis; flattened first for ``None``.

    >>> ct.concat([[1, 2], [3]])
    array([1, 2, 3], dtype=int64)
    """
    found = _cotangent.promoted(*arrays)
    if not found:
        raise raise_("Arity", "concat of no arrays")
    if axis is None:
        found, axis = tuple(reshape(x, -1) for x in found), 0
    if found[0].ndim == 0:
        raise raise_("ShapeMismatch", "concat of arrays of rank 0: use stack")
    return op("concatenate", found, {"axis": one_axis(axis, found[0].ndim)})


def stack(arrays: Sequence[ArrayLike], /, *, axis: int = 0) -> Array:
    """Arrays joined along a new axis.

    >>> ct.stack([[1, 2], [3, 4]], axis=1)
    array([[1, 3],
           [2, 4]], dtype=int64)
    """
    found = _cotangent.promoted(*arrays)
    if not found:
        raise raise_("Arity", "stack of no arrays")
    at = one_axis(axis, found[0].ndim + 1)
    return op("concatenate", tuple(expand_dims(x, at) for x in found), {"axis": at})


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts along an axis, which is removed.

    >>> ct.unstack([[1, 2], [3, 4]])
    (array([1, 2], dtype=int64), array([3, 4], dtype=int64))
    """
    x = moveaxis(x, axis, 0)
    return tuple(x[k] for k in range(x.shape[0]))


def split(x: ArrayLike, sections: Any, axis: int = 0) -> list[Array]:
    """Parts along an axis: a number of equal ones, or those between positions.

    >>> ct.split(ct.arange(5), [2, 3])
    [array([0, 1], dtype=int64), array([2], dtype=int64), array([3, 4], dtype=int64)]
    """
    x = array(x)
    axis = one_axis(axis, x.ndim)
    n = x.shape[axis]
    if isinstance(sections, numbers.Integral):
        sections = int(sections)
        if sections < 1:
            raise raise_("Attribute", f"split into {sections} parts: at least one")
        if n % sections:
            raise raise_("ShapeMismatch", f"{n} elements do not split into {sections} equal parts")
        ends = [k * (n // sections) for k in range(1, sections)]
    else:
        ends = [int(k) for k in sections]
    ends = [0, *ends, n]
    head = (slice(None),) * axis
    return [x[head + (slice(a, b),)] for a, b in zip(ends, ends[1:])]


def flip(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """Reversed along axes.

    >>> ct.flip([1, 2, 3])
    array([3, 2, 1], dtype=int64)
    """
    x = array(x)
    axes = axes_of(axis, x.ndim)
    return op("reverse", (x,), {"axes": sorted(axes)}) if axes else x


def roll(x: ArrayLike, /, shift: Any, *, axis: Axis = None) -> Array:
    """Elements shifted around along axes; of all elements in a row for ``None``.

    >>> ct.roll([1, 2, 3, 4], 1)
    array([4, 1, 2, 3], dtype=int64)
    """
    x = array(x)
    if axis is None:
        return _reshape(roll(reshape(x, -1), shift, axis=0), x.shape)
    axes = [one_axis(a, x.ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    if len(shifts) != len(axes):
        raise raise_("Attribute", "roll takes a shift for each axis")
    y = array(x)
    for s, k in zip(shifts, axes):
        y = op("roll", (y,), {"shift": s, "axis": k})
    return y


def repeat(x: ArrayLike, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element several times; an array of counts must be known.

    >>> ct.repeat([1, 2], 2)
    array([1, 1, 2, 2], dtype=int64)
    """
    from cotangent._search import take
    x = array(x)
    if axis is None:
        x, axis = reshape(x, -1), 0
    axis = one_axis(axis, x.ndim)
    if isinstance(repeats, int):
        return op("repeat", (x,), {"count": repeats, "axis": axis})
    import numpy as np
    return take(x, beside(x, array(np.repeat(np.arange(x.shape[axis]), np.asarray(repeats)))), axis=axis)


def tile(x: ArrayLike, repetitions: Any, /) -> Array:
    """The whole array several times along each axis.

    >>> ct.tile([1, 2], 2)
    array([1, 2, 1, 2], dtype=int64)
    """
    x = array(x)
    return op("tile", (x,), {"counts": [repetitions] if isinstance(repetitions, int) else list(repetitions)})


def pad(x: ArrayLike, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
    """Elements added around: a number, or by mode ``edge``, ``reflect``, ``symmetric`` or ``wrap`` from the array.

    >>> ct.pad([1, 2], 1, "edge")
    array([1, 1, 2, 2], dtype=int64)
    """
    x = array(x)
    if isinstance(pad_width, int):
        widths = [(pad_width, pad_width)] * x.ndim
    else:
        widths = [(w, w) if isinstance(w, int) else tuple(w) for w in pad_width]
        if len(widths) == 2 and builtins.all(isinstance(w, int) for w in pad_width):
            widths = [tuple(pad_width)]
        widths = widths * x.ndim if len(widths) == 1 else widths
    if len(widths) != x.ndim:
        raise raise_("Attribute", f"pad_width {pad_width} for an array of rank {x.ndim}")
    if mode == "constant":
        value = _cotangent.asarray(constant_values, x.dtype, None)
        return op("pad", (x, value), {"low": [w[0] for w in widths], "high": [w[1] for w in widths]})
    import numpy as np

    from cotangent._search import take
    y = array(x)
    for k, (low, high) in enumerate(widths):
        if low or high:
            at = np.pad(np.arange(y.shape[k]), (low, high), mode=mode)  # type: ignore[call-overload]
            y = take(y, beside(y, array(at)), axis=k)
    return y


def of_nested(leaves: list[Any], shape: tuple[int, ...]) -> Array:
    """The array of nested lists of arrays: called by the extension."""
    x = stack(leaves)
    return _reshape(x, tuple(shape) + tuple(x.shape[1:]))


NAMES = ["reshape", "permute_dims", "matrix_transpose", "moveaxis", "expand_dims", "squeeze", "concat", "stack", "unstack",
         "split", "flip", "roll", "repeat", "tile", "pad"]
