"""NumPy's spellings of the functions of the package; NumPy's own functions on arrays come here.

>>> import cotangent as ct, cotangent.numpy as cnp
>>> cnp.concatenate([ct.ones(2), ct.zeros(1)]).tolist()
[1.0, 1.0, 0.0]
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import cotangent as ct
from cotangent import (abs, acos, acosh, add, arange, asin, asinh, atan, atan2, atanh, broadcast_arrays, broadcast_shapes,  # noqa: F401
                       broadcast_to, cbrt, ceil, conj, copysign, cos, cosh, count_nonzero, divide, equal, exp, exp2, expm1, eye,
                       floor, floor_divide, fmod, full, greater, greater_equal, hypot, imag, isfinite, isin, isinf, isnan, kron,
                       less, less_equal, linspace, log, log1p, log2, log10, logaddexp, logical_and, logical_not, logical_or,
                       logical_xor, matmul, maximum, meshgrid, minimum, multiply, negative, nextafter, nonzero, not_equal, ones,
                       pad, permute_dims, positive, real, reciprocal, remainder, round, sign, signbit, sin, sinc, sinh, split,
                       sqrt, square, subtract, tan, tanh, tensordot, trunc, vecdot, zeros)
from cotangent._core import Array, array, axes_of, one_axis, reshape as _reshape

concat = ct.concat


def _plain(f: Callable[..., Array]) -> Callable[..., Array]:
    """A reduction with NumPy's order of arguments."""
    @functools.wraps(f)
    def reduced(a: Any, axis: Any = None, out: None = None, keepdims: Any = False, **options: Any) -> Array:
        options = {k: v for k, v in options.items() if v is not None and k not in ("initial", "where", "overwrite_input")}
        return f(a, axis=axis, keepdims=keepdims is True, **options)
    return reduced


max = amax = _plain(ct.max)
min = amin = _plain(ct.min)
any = _plain(ct.any)
all = _plain(ct.all)
median = _plain(ct.median)
argmax = _plain(ct.argmax)
argmin = _plain(ct.argmin)


def sum(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False) -> Array:
    """The sum over axes."""
    return ct.sum(a, axis=axis, dtype=dtype, keepdims=keepdims is True)


def prod(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False) -> Array:
    """The product over axes."""
    return ct.prod(a, axis=axis, dtype=dtype, keepdims=keepdims is True)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False) -> Array:
    """The mean over axes."""
    return ct.mean(a if dtype is None else array(a).astype(dtype), axis=axis, keepdims=keepdims is True)


def average(a: Any, axis: Any = None, weights: Any = None) -> Array:
    """The mean, or the mean with weights."""
    if weights is None:
        return ct.mean(a, axis=axis)
    return ct.sum(a * array(weights), axis=axis) / ct.sum(ct.broadcast_to(weights, array(a).shape), axis=axis)


def var(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: Any = False) -> Array:
    """The variance over axes."""
    return ct.var(a, axis=axis, correction=ddof, keepdims=keepdims is True)


def std(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: Any = False) -> Array:
    """The standard deviation over axes."""
    return ct.std(a, axis=axis, correction=ddof, keepdims=keepdims is True)


def ptp(a: Any, axis: Any = None) -> Array:
    """The maximum minus the minimum."""
    return ct.max(a, axis=axis) - ct.min(a, axis=axis)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """The running sum."""
    return array(a).cumsum(axis, dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """The running product."""
    return array(a).cumprod(axis, dtype)


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
    found = [array(x) for x in arrays]
    return ct.concat([x[:, None] if x.ndim == 1 else x for x in found], axis=1)


def atleast_1d(x: Any) -> Array:
    """An array of one axis or more."""
    x = array(x)
    return _reshape(x, [1]) if x.ndim == 0 else x


def atleast_2d(x: Any) -> Array:
    """An array of two axes or more: a vector is a row."""
    x = array(x)
    return _reshape(x, [1] * (2 - x.ndim) + list(x.shape)) if x.ndim < 2 else x


def atleast_3d(x: Any) -> Array:
    """An array of three axes or more."""
    x = atleast_2d(x) if array(x).ndim != 1 else array(x)[None, :]
    return _reshape(x, [*x.shape, 1]) if x.ndim == 2 else x


def reshape(a: Any, shape: Any, order: str = "C") -> Array:
    """The elements in another shape."""
    return ct.reshape(a, shape)


def ravel(a: Any, order: str = "C") -> Array:
    """The elements in a row."""
    return array(a).flatten()


def transpose(a: Any, axes: Any = None) -> Array:
    """Axes permuted, or reversed."""
    return array(a).T if axes is None else ct.permute_dims(a, axes)


def matrix_transpose(a: Any) -> Array:
    """The last two axes exchanged."""
    return ct.matrix_transpose(a)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Two axes exchanged."""
    return array(a).swapaxes(axis1, axis2)


def squeeze(a: Any, axis: Any = None) -> Array:
    """Without axes of extent 1."""
    return array(a).squeeze(axis)


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
    return ct.sort(array(a).flatten() if axis is None else a, axis=-1 if axis is None else axis)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Array:
    """Positions that sort."""
    return ct.argsort(array(a).flatten() if axis is None else a, axis=-1 if axis is None else axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Where to insert."""
    return ct.searchsorted(a, v, side=side, sorter=sorter)


def take(a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise") -> Array:
    """Elements at positions."""
    a = array(a).flatten() if axis is None else a
    return ct.take(a, indices, axis=0 if axis is None else axis, mode=None if mode == "raise" else mode)


def take_along_axis(arr: Any, indices: Any, axis: int = -1) -> Array:
    """Elements at positions, row by row."""
    return ct.take_along_axis(arr, indices, axis=axis)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: None = None, *, min: Any = None, max: Any = None) -> Array:
    """Elements within bounds."""
    return ct.clip(a, a_min if min is None else min, a_max if max is None else max)


def where(condition: Any, x: Any = None, y: Any = None) -> Array | tuple[Array, ...]:
    """x where the condition holds, otherwise y; positions with one argument."""
    return ct.nonzero(condition) if x is None else ct.where(condition, x, y)


def dot(a: Any, b: Any) -> Array:
    """The product: of vectors, matrices, or the last axis of a and the last but one of b."""
    x, y = array(a), array(b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return ct.tensordot(x, y, axes=([x.ndim - 1], [builtins.max(y.ndim - 2, 0)]))


def inner(a: Any, b: Any) -> Array:
    """The sum of products over the last axes."""
    a, b = array(a), array(b)
    return a * b if a.ndim == 0 or b.ndim == 0 else ct.tensordot(a, b, axes=([a.ndim - 1], [b.ndim - 1]))


def vdot(a: Any, b: Any) -> Array:
    """The product of all elements in a row, the first ones conjugated."""
    return ct.vecdot(array(a).flatten(), array(b).flatten())


def outer(a: Any, b: Any) -> Array:
    """Every element of a times every element of b."""
    return ct.outer(array(a).flatten(), array(b).flatten())


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
    v = array(v)
    if v.ndim == 2:
        return ct.linalg.diagonal(v, offset=k)
    n = v.shape[0] + builtins.abs(k)
    placed = ct.pad(v, ((k, 0) if k > 0 else (0, -k),))
    return ct.eye(n, k=k, dtype=v.dtype) * (placed[None, :] if k > 0 else placed[:, None])


def tril(m: Any, k: int = 0) -> Array:
    """The lower triangle."""
    return ct.tril(m, k=k)


def triu(m: Any, k: int = 0) -> Array:
    """The upper triangle."""
    return ct.triu(m, k=k)


def einsum(subscripts: str, *operands: Any, optimize: Any = "auto", **_: Any) -> Array:
    """A sum of products in Einstein's notation."""
    return ct.einsum(subscripts, *operands, optimize="auto")


def heaviside(x: Any, h: Any) -> Array:
    """0 below 0, 1 above, h at 0."""
    return ct.where(x == 0, h, ct.where(array(x) > 0, 1.0, 0.0))


def nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Numbers in place of NaN and infinities."""
    x = array(x)
    limits = ct.finfo(x.dtype)
    x = ct.where(ct.isnan(x), nan, x)
    x = ct.where(x == ct.inf, limits.max if posinf is None else posinf, x)
    return ct.where(x == -ct.inf, limits.min if neginf is None else neginf, x)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """``numpy.linalg.norm``."""
    x = array(x)
    if axis is None and (ord is None or x.ndim == 1):
        return ct.linalg.vector_norm(x, ord=2 if ord is None else ord, keepdims=keepdims)
    axes = axes_of(axis, x.ndim)
    if len(axes) == 1:
        return ct.linalg.vector_norm(x, axis=axes[0], ord=2 if ord is None else ord, keepdims=keepdims)
    y = ct.linalg.matrix_norm(ct.moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return y if not keepdims else ct.expand_dims(y, tuple(axes))


def array_equal(a: Any, b: Any) -> Array | builtins.bool:
    """Whether shapes and elements are equal."""
    a, b = array(a), array(b)
    return a.shape == b.shape and ct.all(a == b)


def fabs(x: Any) -> Array:
    """Magnitude."""
    return ct.abs(x)


def deg2rad(x: Any) -> Array:
    """Degrees as radians."""
    return array(x) * (ct.pi / 180)


def rad2deg(x: Any) -> Array:
    """Radians as degrees."""
    return array(x) * (180 / ct.pi)


def logaddexp2(x1: Any, x2: Any) -> Array:
    """log2(2**x1 + 2**x2)."""
    log_2 = 0.6931471805599453
    return ct.logaddexp(array(x1) * log_2, array(x2) * log_2) / log_2


def ndim(a: Any) -> int:
    """The number of axes."""
    return array(a).ndim


def shape(a: Any) -> tuple[int, ...]:
    """The shape."""
    return array(a).shape


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements."""
    x = array(a)
    return x.size if axis is None else x.shape[one_axis(axis, x.ndim)]


def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Array:
    """Zeros."""
    return ct.zeros_like(a, dtype=dtype) if shape is None else ct.zeros(shape, dtype=dtype or array(a).dtype)


def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Array:
    """Ones."""
    return ct.ones_like(a, dtype=dtype) if shape is None else ct.ones(shape, dtype=dtype or array(a).dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Array:
    """One number everywhere."""
    return ct.full(array(a).shape if shape is None else shape, fill_value, dtype=dtype or array(a).dtype)


def copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    """The array: arrays do not change."""
    return array(a)


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
float_power = ct.pow
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


def fmax(x1: Any, x2: Any) -> Array:
    """The larger operand; the other one if one is NaN."""
    x, y = ct.broadcast_arrays(x1, x2)
    return ct.where(ct.isnan(x), y, ct.where(ct.isnan(y), x, ct.maximum(x, y)))


def fmin(x1: Any, x2: Any) -> Array:
    """The smaller operand; the other one if one is NaN."""
    x, y = ct.broadcast_arrays(x1, x2)
    return ct.where(ct.isnan(x), y, ct.where(ct.isnan(y), x, ct.minimum(x, y)))


_TABLE: dict[Any, Any] = {}


def _functions() -> dict[Any, Any]:
    """The functions of this module by NumPy's functions (and ufuncs of SciPy)."""
    if not _TABLE:
        _TABLE.update(_by_numpy_s())
    return _TABLE


def _by_numpy_s() -> dict[Any, Any]:
    import numpy as np
    found: dict[Any, Any] = {}
    for name, mine in list(globals().items()):
        theirs = getattr(np, name, None)
        if not name.startswith("_") and callable(mine) and callable(theirs) and not isinstance(theirs, type):
            found[theirs] = mine
    for part, names in (("linalg", "cholesky det eigh eigvalsh eigvals inv lstsq matrix_power matrix_rank pinv qr slogdet solve "
                                   "svd eig"), ("fft", "fft ifft rfft irfft fftn ifftn rfftn irfftn fftshift ifftshift hfft "
                                                       "ihfft")):
        for name in names.split():
            found[getattr(getattr(np, part), name)] = getattr(getattr(ct, part), name)
    found[np.linalg.norm] = norm
    import sys
    special = sys.modules.get("scipy.special")
    for name in ct.special.__all__:
        theirs = getattr(special, name, None)
        if isinstance(theirs, np.ufunc):
            found[theirs] = getattr(ct.special, name)
    return found


def table() -> list[str]:
    """The names of NumPy's functions that work on arrays in every state."""
    return sorted({f.__name__ for f in _functions()})
