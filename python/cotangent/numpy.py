"""NumPy's spellings of the functions of the package; NumPy's own functions on arrays come here.

>>> import cotangent as ct, cotangent.numpy as cnp
>>> cnp.concatenate([ct.ones(2), ct.zeros(1)]).tolist()
[1.0, 1.0, 0.0]
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

import cotangent as ct
from cotangent import (abs, acos, acosh, add, arange, asin, asinh, atan, atan2, atanh, broadcast_arrays, broadcast_shapes,  # noqa: F401
                       broadcast_to, cbrt, ceil, conj, copysign, cos, cosh, count_nonzero, divide, equal, exp, exp2, expm1, eye,
                       floor, floor_divide, fmod, full, greater, greater_equal, hypot, imag, isfinite, isin, isinf, isnan, kron,
                       less, less_equal, linspace, log, log1p, log2, log10, logaddexp, logical_and, logical_not, logical_or,
                       logical_xor, matmul, maximum, meshgrid, minimum, multiply, negative, nextafter, nonzero, not_equal, ones,
                       pad, permute_dims, positive, real, reciprocal, remainder, round, sign, signbit, sin, sinc, sinh, split,
                       sqrt, square, subtract, tan, tanh, trunc, vecdot, zeros)
from cotangent._core import Array, array as _array, one_axis, reshape as _reshape

concat = ct.concat


# Element types and constants.
from cotangent import (bfloat16, complex64, complex128, e, float16, float32, float64, inf, int8, int16, int32, int64, nan, newaxis,  # noqa: E402,F401
                       pi, uint8, uint16, uint32, uint64)

bool_ = ct.bool
ndarray = Array


def asarray(a: Any, dtype: Any = None, order: str = "K", *, copy: builtins.bool | None = None) -> Array:
    """The array of numbers, lists and arrays."""
    return a if isinstance(a, Array) and dtype is None else ct.asarray(a, dtype=dtype, copy=copy)


def array(a: Any, dtype: Any = None, *, copy: builtins.bool = True, order: str = "K", ndmin: int = 0) -> Array:
    """The array of numbers, lists and arrays."""
    x = asarray(a, dtype)
    return _reshape(x, [1] * (ndmin - x.ndim) + list(x.shape)) if x.ndim < ndmin else x


def _into(out: Any, y: Any) -> Any:
    """A result, which is written to ``out`` if that is given."""
    if out is None:
        return y
    from cotangent._dispatch import _filled
    return _filled(out, y)


def _only(where: Any, a: Any, otherwise: Any) -> Array:
    """The elements that a reduction takes part in; a neutral number in the place of others."""
    return _array(a) if where is None or where is True else ct.where(where, a, otherwise)


def _extreme(reduced: Callable[..., Array], pair: Callable[..., Array], name: str) -> Callable[..., Any]:
    def f(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True) -> Any:
        if initial is None and where is not True:
            raise ValueError(f"{name} with where needs initial: the {name} of no elements")
        y = reduced(_only(where, a, initial), axis=axis, keepdims=keepdims is True)
        return _into(out, y if initial is None else pair(y, initial))
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {name} over axes, of elements where ``where`` holds, and of ``initial``."
    return f


max = amax = _extreme(ct.max, maximum, "max")
min = amin = _extreme(ct.min, minimum, "min")


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """Whether an element is not zero."""
    return _into(out, ct.any(_only(where, a, False), axis=axis, keepdims=keepdims is True))


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """Whether no element is zero."""
    x = _array(a)
    return _into(out, ct.all(x if where is True else logical_or(x, logical_not(where)), axis=axis, keepdims=keepdims is True))


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: builtins.bool = False, keepdims: Any = False) -> Any:
    """The middle element, or the mean of the middle two."""
    return _into(out, ct.median(a, axis=axis, keepdims=keepdims is True))


def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The position of the first maximum."""
    return _into(out, ct.argmax(a, axis=axis, keepdims=keepdims is True))


def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The position of the first minimum."""
    return _into(out, ct.argmin(a, axis=axis, keepdims=keepdims is True))


def sum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
        where: Any = True) -> Any:
    """The sum over axes, of elements where ``where`` holds, and of ``initial``."""
    y = ct.sum(_only(where, a, 0), axis=axis, dtype=dtype, keepdims=keepdims is True)
    return _into(out, y if initial is None else y + initial)


def prod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None,
         where: Any = True) -> Any:
    """The product over axes, of elements where ``where`` holds, and of ``initial``."""
    y = ct.prod(_only(where, a, 1), axis=axis, dtype=dtype, keepdims=keepdims is True)
    return _into(out, y if initial is None else y * initial)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """The mean over axes, of elements where ``where`` holds."""
    x = _array(a if dtype is None else _array(a).astype(dtype))
    if where is True:
        return _into(out, ct.mean(x, axis=axis, keepdims=keepdims is True))
    n = ct.sum(ct.broadcast_to(where, x.shape), axis=axis, keepdims=keepdims is True)
    return _into(out, ct.sum(_only(where, x, 0), axis=axis, keepdims=keepdims is True) / n)


def average(a: Any, axis: Any = None, weights: Any = None, returned: builtins.bool = False, *, keepdims: Any = False) -> Any:
    """The mean, or the mean with weights, and their sum if ``returned`` is true."""
    x = _array(a)
    w = ct.ones(x.shape, dtype=x.dtype if x.dtype.kind in "fc" else None) if weights is None else _array(weights)
    if w.ndim == 1 and x.ndim > 1:
        w = _reshape(w, [w.shape[0] if k == one_axis(axis, x.ndim) else 1 for k in range(x.ndim)])
    w = ct.broadcast_to(w, x.shape)
    total = ct.sum(w, axis=axis, keepdims=keepdims is True)
    y = ct.sum(x * w, axis=axis, keepdims=keepdims is True) / total
    return (y, total) if returned else y


def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False, *,
        correction: float | None = None) -> Any:
    """The variance over axes."""
    x = a if dtype is None else _array(a).astype(dtype)
    return _into(out, ct.var(x, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims is True))


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False, *,
        correction: float | None = None) -> Any:
    """The standard deviation over axes."""
    x = a if dtype is None else _array(a).astype(dtype)
    return _into(out, ct.std(x, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims is True))


def ptp(a: Any, axis: Any = None) -> Array:
    """The maximum minus the minimum."""
    return ct.max(a, axis=axis) - ct.min(a, axis=axis)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The running sum."""
    return _into(out, _array(a).cumsum(axis, dtype))


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The running product."""
    return _into(out, _array(a).cumprod(axis, dtype))


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours."""
    return ct.diff(a, axis=axis, n=n, prepend=prepend, append=append)


def concatenate(arrays: Any, axis: int | None = 0) -> Array:
    """Arrays joined along an axis."""
    return ct.concat(arrays, axis=axis)


def stack(arrays: Any, axis: int = 0) -> Array:
    """Arrays joined along a new axis."""
    return ct.stack(arrays, axis=axis)


def hstack(arrays: Any) -> Array:
    """Arrays side by side."""
    found = [atleast_1d(x) for x in arrays]
    return ct.concat(found, axis=0 if found[0].ndim == 1 else 1)


def vstack(arrays: Any) -> Array:
    """Arrays one below the other."""
    return ct.concat([atleast_2d(x) for x in arrays], axis=0)


def dstack(arrays: Any) -> Array:
    """Arrays joined along a third axis."""
    return ct.concat([atleast_3d(x) for x in arrays], axis=2)


def column_stack(arrays: Any) -> Array:
    """Vectors as columns."""
    found = [_array(x) for x in arrays]
    return ct.concat([x[:, None] if x.ndim == 1 else x for x in found], axis=1)


def atleast_1d(x: Any) -> Array:
    """An array of one axis or more."""
    x = _array(x)
    return _reshape(x, [1]) if x.ndim == 0 else x


def atleast_2d(x: Any) -> Array:
    """An array of two axes or more: a vector is a row."""
    x = _array(x)
    return _reshape(x, [1] * (2 - x.ndim) + list(x.shape)) if x.ndim < 2 else x


def atleast_3d(x: Any) -> Array:
    """An array of three axes or more."""
    x = atleast_2d(x) if _array(x).ndim != 1 else _array(x)[None, :]
    return _reshape(x, [*x.shape, 1]) if x.ndim == 2 else x


def reshape(a: Any, shape: Any, order: str = "C") -> Array:
    """The elements in another shape."""
    if order in ("C", "A", "K"):
        return ct.reshape(a, shape)
    if order != "F":
        raise ValueError(f"reshape: order is 'C', 'F' or 'A', not {order!r}")
    shape = [shape] if isinstance(shape, int) else list(shape)
    return ct.reshape(_array(a).T, shape[::-1]).T


def ravel(a: Any, order: str = "C") -> Array:
    """The elements in a row."""
    return reshape(a, (-1,), order)


def transpose(a: Any, axes: Any = None) -> Array:
    """Axes permuted, or reversed."""
    return _array(a).T if axes is None else ct.permute_dims(a, axes)


def matrix_transpose(a: Any) -> Array:
    """The last two axes exchanged."""
    return ct.matrix_transpose(a)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Two axes exchanged."""
    return _array(a).swapaxes(axis1, axis2)


def squeeze(a: Any, axis: Any = None) -> Array:
    """Without axes of extent 1."""
    return _array(a).squeeze(axis)


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Axes moved."""
    return ct.moveaxis(a, source, destination)


def expand_dims(a: Any, axis: Any) -> Array:
    """New axes of extent 1."""
    return ct.expand_dims(a, axis)


def flip(m: Any, axis: Any = None) -> Array:
    """Reversed along axes."""
    return ct.flip(m, axis=axis)


def fliplr(m: Any) -> Array:
    """Reversed along the second axis."""
    return ct.flip(m, axis=1)


def flipud(m: Any) -> Array:
    """Reversed along the first axis."""
    return ct.flip(m, axis=0)


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Elements shifted around."""
    return ct.roll(a, shift, axis=axis)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Array:
    """Each element several times."""
    return ct.repeat(a, repeats, axis=axis)


def tile(A: Any, reps: Any) -> Array:
    """The whole several times."""
    return ct.tile(A, reps)


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Array:
    """Elements in order."""
    return ct.sort(_array(a).flatten() if axis is None else a, axis=-1 if axis is None else axis)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Array:
    """Positions that sort."""
    return ct.argsort(_array(a).flatten() if axis is None else a, axis=-1 if axis is None else axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Where to insert."""
    return ct.searchsorted(a, v, side=side, sorter=sorter)


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at positions."""
    x = _array(a).flatten() if axis is None else _array(a)
    k = 0 if axis is None else one_axis(axis, x.ndim)
    i = remainder(indices, x.shape[k]) if mode == "wrap" else indices
    return _into(out, ct.take(x, i, axis=k, mode=None if mode in ("raise", "wrap") else mode))


def take_along_axis(arr: Any, indices: Any, axis: int = -1) -> Array:
    """Elements at positions, row by row."""
    return ct.take_along_axis(arr, indices, axis=axis)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Elements within bounds."""
    return _into(out, ct.clip(a, a_min if min is None else min, a_max if max is None else max))


def where(condition: Any, x: Any = None, y: Any = None) -> Array | tuple[Array, ...]:
    """x where the condition holds, otherwise y; positions with one argument."""
    if (x is None) != (y is None):
        raise ValueError("where takes both x and y, or neither")
    return ct.nonzero(condition) if x is None else ct.where(condition, x, y)


def dot(a: Any, b: Any) -> Array:
    """The product: of vectors, matrices, or the last axis of a and the last but one of b."""
    x, y = _array(a), _array(b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return ct.tensordot(x, y, axes=([x.ndim - 1], [builtins.max(y.ndim - 2, 0)]))


def inner(a: Any, b: Any) -> Array:
    """The sum of products over the last axes."""
    a, b = _array(a), _array(b)
    return a * b if a.ndim == 0 or b.ndim == 0 else ct.tensordot(a, b, axes=([a.ndim - 1], [b.ndim - 1]))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """The sum of products over several axes."""
    return ct.tensordot(a, b, axes=axes)


def vdot(a: Any, b: Any) -> Array:
    """The product of all elements in a row, the first ones conjugated."""
    return ct.vecdot(_array(a).flatten(), _array(b).flatten())


def outer(a: Any, b: Any) -> Array:
    """Every element of a times every element of b."""
    return ct.outer(_array(a).flatten(), _array(b).flatten())


def cross(a: Any, b: Any, axis: int = -1) -> Array:
    """The cross product."""
    return ct.linalg.cross(a, b, axis=axis)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of a diagonal."""
    return ct.linalg.trace(ct.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """A diagonal."""
    return ct.linalg.diagonal(ct.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def diag(v: Any, k: int = 0) -> Array:
    """A diagonal of a matrix, or the matrix with a diagonal."""
    v = _array(v)
    if v.ndim == 2:
        return ct.linalg.diagonal(v, offset=k)
    if v.ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix, not an array of rank {v.ndim}")
    n = v.shape[0] + builtins.abs(k)
    placed = ct.pad(v, ((k, 0) if k > 0 else (0, -k),))
    return ct.where(ct.eye(n, k=k, dtype=ct.bool), placed[None, :], ct.zeros((), dtype=v.dtype))


def tril(m: Any, k: int = 0) -> Array:
    """The lower triangle."""
    return ct.tril(m, k=k)


def triu(m: Any, k: int = 0) -> Array:
    """The upper triangle."""
    return ct.triu(m, k=k)


def einsum(subscripts: str, *operands: Any, optimize: Any = "auto", **_: Any) -> Array:
    """A sum of products in Einstein's notation."""
    return ct.einsum(subscripts, *operands, optimize="auto" if optimize is True else optimize)


def heaviside(x: Any, h: Any) -> Array:
    """0 below 0, 1 above, h at 0."""
    x = _array(x)
    return ct.where(ct.isnan(x), x, ct.where(x == 0, h, ct.where(x > 0, 1.0, 0.0)))


def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Numbers in place of NaN and infinities."""
    y = _array(x)
    if y.dtype.kind not in "fc":
        return y
    limits = ct.finfo(y.dtype)
    y = ct.where(ct.isnan(y), nan, y)
    y = ct.where(y == ct.inf, limits.max if posinf is None else posinf, y)
    return ct.where(y == -ct.inf, limits.min if neginf is None else neginf, y)


def array_equal(a1: Any, a2: Any, equal_nan: builtins.bool = False) -> Array | builtins.bool:
    """Whether shapes and elements are equal; with ``equal_nan`` two NaN are."""
    a, b = _array(a1), _array(a2)
    if a.shape != b.shape:
        return False
    same = a == b
    return ct.all(logical_or(same, logical_and(isnan(a), isnan(b))) if equal_nan else same)


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: builtins.bool = False) -> builtins.bool:
    """Whether all elements differ by at most ``atol + rtol |b|``."""
    return builtins.bool(ct.all(isclose(a, b, rtol, atol, equal_nan)))


def fabs(x: Any) -> Array:
    """Magnitude."""
    return ct.abs(x)


def deg2rad(x: Any) -> Array:
    """Degrees as radians."""
    return _array(x) * (ct.pi / 180)


def rad2deg(x: Any) -> Array:
    """Radians as degrees."""
    return _array(x) * (180 / ct.pi)


def logaddexp2(x1: Any, x2: Any) -> Array:
    """log2(2**x1 + 2**x2)."""
    log_2 = 0.6931471805599453
    return ct.logaddexp(_array(x1) * log_2, _array(x2) * log_2) / log_2


def ndim(a: Any) -> int:
    """The number of axes."""
    return _array(a).ndim


def shape(a: Any) -> tuple[int, ...]:
    """The shape."""
    return _array(a).shape


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements."""
    x = _array(a)
    return x.size if axis is None else x.shape[one_axis(axis, x.ndim)]


def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Array:
    """Zeros."""
    return ct.zeros_like(a, dtype=dtype) if shape is None else ct.zeros(shape, dtype=dtype or _array(a).dtype)


def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Array:
    """Ones."""
    return ct.ones_like(a, dtype=dtype) if shape is None else ct.ones(shape, dtype=dtype or _array(a).dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Array:
    """One number everywhere."""
    return ct.full(_array(a).shape if shape is None else shape, fill_value, dtype=dtype or _array(a).dtype)


def copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    """The array: arrays do not change."""
    return _array(a)


# NumPy's names of functions that have another name here.
absolute = abs
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctanh = atanh
arctan2 = atan2
conjugate = conj
power = ct.pow
true_divide = divide
mod = remainder
rint = round
fix = trunc
around = round
invert = ct.bitwise_invert
bitwise_not = ct.bitwise_invert
left_shift = ct.bitwise_left_shift
right_shift = ct.bitwise_right_shift
bitwise_and = ct.bitwise_and
bitwise_or = ct.bitwise_or
bitwise_xor = ct.bitwise_xor
radians = deg2rad
degrees = rad2deg
row_stack = vstack
astype = ct.astype
unstack = ct.unstack


def float_power(x1: Any, x2: Any) -> Array:
    """x1 to the power x2, in 64 bits at least."""
    x, y = (_array(v) for v in (x1, x2))
    kind = ct.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else ct.float64
    return ct.pow(x.astype(kind), y.astype(kind))


def fmax(x1: Any, x2: Any) -> Array:
    """The larger operand; the other one if one is NaN."""
    x, y = ct.broadcast_arrays(x1, x2)
    return ct.where(ct.isnan(x), y, ct.where(ct.isnan(y), x, ct.maximum(x, y)))


def fmin(x1: Any, x2: Any) -> Array:
    """The smaller operand; the other one if one is NaN."""
    x, y = ct.broadcast_arrays(x1, x2)
    return ct.where(ct.isnan(x), y, ct.where(ct.isnan(y), x, ct.minimum(x, y)))


from cotangent._numpy_more import (angle, append, argwhere, array_split, convolve, corrcoef, correlate, cov, divmod, dsplit, ediff1d,  # noqa: E402,F401
                                   flatnonzero, geomspace, gradient, hsplit, identity, isclose, logspace, nanmax, nanmean, nanmin,
                                   nanprod, nanstd, nansum, nanvar, percentile, polyval, quantile, rollaxis, rot90, select,
                                   trapezoid, tri, vander, vsplit)
from cotangent import _numpy_fft as fft, _numpy_linalg as linalg  # noqa: E402

_TABLE: dict[Any, Any] = {}


def _functions() -> dict[Any, Any]:
    """The functions of this module by NumPy's functions (and ufuncs of SciPy)."""
    if not _TABLE:
        _TABLE.update(_by_numpy_s())
    special = sys.modules.get("scipy.special")
    if special is not None and None not in _TABLE:
        # It may be imported at any time.
        _TABLE.update(_by_scipy_s(special))
        _TABLE[None] = None
    return _TABLE


def _by_numpy_s() -> dict[Any, Any]:
    import numpy as np
    found: dict[Any, Any] = {}
    for name, mine in list(globals().items()):
        theirs = getattr(np, name, None)
        made = name in ("array", "asarray")  # NumPy asks the array itself for its elements
        if not (made or name.startswith("_")) and callable(mine) and callable(theirs) and not isinstance(theirs, type):
            found[theirs] = mine
    for part, mine in (("linalg", linalg), ("fft", fft)):
        for name in mine.__all__:
            theirs = getattr(getattr(np, part), name, None)
            if callable(theirs):
                found[theirs] = getattr(mine, name)
    return found


def _by_scipy_s(special: Any) -> dict[Any, Any]:
    names = {n: getattr(ct.special, n) for n in ct.special.__all__}
    return {getattr(special, n): f for n, f in names.items() if type(getattr(special, n, None)).__name__ == "ufunc"}


def table() -> list[str]:
    """The names of NumPy's functions that work on arrays in every state."""
    return sorted({f.__name__ for f in _functions() if f is not None})
