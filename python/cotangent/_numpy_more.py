"""Functions of NumPy that are written with other functions of ``cotangent.numpy``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import cotangent as ct
from cotangent._core import Array, array, axes_of, one_axis, reshape as _reshape


def divmod(x1: Any, x2: Any) -> tuple[Array, Array]:
    """The floor of the quotient, and the remainder."""
    return ct.floor_divide(x1, x2), ct.remainder(x1, x2)


def angle(z: Any, deg: bool = False) -> Array:
    """The angle of complex numbers."""
    y = ct.atan2(ct.imag(z), ct.real(z))
    return y * (180 / ct.pi) if deg else y


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Array:
    """Whether elements differ by at most ``atol + rtol |b|``."""
    x, y = array(a), array(b)
    y = y if y.dtype.kind in "fc" else y.astype(ct.float64)
    near = ct.logical_and(ct.abs(x - y) <= atol + rtol * ct.abs(y), ct.isfinite(y))
    near = ct.logical_or(near, x == y)
    return ct.logical_or(near, ct.logical_and(ct.isnan(x), ct.isnan(y))) if equal_nan else near


def argwhere(a: Any) -> Array:
    """The positions of elements that are not zero, as rows."""
    x = array(a)
    return ct.stack(ct.nonzero(x), axis=-1) if x.ndim else ct.zeros((int(bool(x)), 0), dtype=ct.int64)


def flatnonzero(a: Any) -> Array:
    """The positions of elements that are not zero, in a row."""
    return ct.nonzero(array(a).flatten())[0]


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Values after an array."""
    return ct.concat([arr, values], axis=axis)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Differences of the elements in a row, between further ones."""
    y = ct.diff(array(ary).flatten())
    ends = [array(v).flatten().astype(y.dtype) if v is not None else None for v in (to_begin, to_end)]
    return ct.concat([v for v in (ends[0], y, ends[1]) if v is not None])


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """An axis moved before another one."""
    x = array(a)
    k, end = one_axis(axis, x.ndim), start + x.ndim if start < 0 else start
    return ct.moveaxis(x, k, end - 1 if k < end else end)


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """Rotated by k right angles in the plane of two axes."""
    x = array(m)
    a, b = (one_axis(n, x.ndim) for n in axes)
    for _ in range(k % 4):
        x = ct.flip(x, axis=b).swapaxes(a, b)
    return x


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Parts of about equal extent, or between positions."""
    x = array(ary)
    if isinstance(indices_or_sections, int):
        n, parts = x.shape[one_axis(axis, x.ndim)], indices_or_sections
        if parts < 1:
            raise ValueError(f"array_split into {parts} parts: at least one")
        whole, more = n // parts, n % parts
        ends = [whole * k + min(k, more) for k in range(1, parts)]
        return ct.split(x, ends, axis=axis)
    return ct.split(x, indices_or_sections, axis=axis)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Parts along the first axis."""
    return ct.split(ary, indices_or_sections, axis=0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Parts along the second axis, or along the only one."""
    return ct.split(ary, indices_or_sections, axis=0 if array(ary).ndim == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Parts along the third axis."""
    return ct.split(ary, indices_or_sections, axis=2)


def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix."""
    return ct.eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Ones on and below a diagonal."""
    return ct.tril(ct.ones((N, N if M is None else M), dtype=dtype), k=k)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of a vector as columns."""
    v = array(x)
    if v.ndim != 1:
        raise ValueError(f"vander takes a vector, not an array of rank {v.ndim}")
    n = v.shape[0] if N is None else N
    columns = [v ** k for k in (range(n) if increasing else range(n - 1, -1, -1))]
    return ct.stack(columns, axis=-1) if columns else ct.zeros((v.shape[0], 0), dtype=v.dtype)


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None) -> Array:
    """Numbers whose logarithms are evenly spaced between ``start`` and ``stop``."""
    y = ct.pow(float(base), ct.linspace(start, stop, num, endpoint=endpoint))
    return y if dtype is None else y.astype(dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Array:
    """Numbers from ``start`` to ``stop`` with equal quotients."""
    a, b = math.log10(abs(start)), math.log10(abs(stop))
    y = logspace(a, b, num, endpoint) * math.copysign(1.0, start)
    if num > 0:
        y = y.at[0].set(float(start))
    if num > 1 and endpoint:
        y = y.at[-1].set(float(stop))
    return y if dtype is None else y.astype(dtype)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """The first choice whose condition holds."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(f"select: {len(condlist)} conditions and {len(choicelist)} choices")
    y = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist)):
        y = ct.where(condition, choice, y)
    return y  # type: ignore[no-any-return]


def polyval(p: Any, x: Any) -> Array:
    """A polynomial with coefficients p, the highest first."""
    coefficients, at = array(p), array(x)
    y = ct.zeros_like(at)
    for k in range(coefficients.shape[0]):
        y = y * at + coefficients[k]
    return y


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral by trapezoids."""
    v = ct.moveaxis(y, axis, -1)
    steps = dx if x is None else ct.diff(x) if array(x).ndim == 1 else ct.moveaxis(ct.diff(x, axis=axis), axis, -1)
    return ct.sum((v[..., 1:] + v[..., :-1]) * steps / 2.0, axis=-1)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences along axes, of first order at the ends; the spacings are numbers."""
    x = array(f)
    x = x if x.dtype.kind in "fc" else x.astype(ct.float64)
    axes = axes_of(axis, x.ndim)
    if any(isinstance(x.shape[k], int) and x.shape[k] < 2 for k in axes):
        raise ValueError(f"gradient along axes {axes} of the shape {x.shape}: they need two elements or more")
    spacings = list(varargs) or [1.0]
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    if len(spacings) != len(axes) or any(array(h).ndim for h in spacings) or edge_order != 1:
        raise TypeError("gradient: the spacings are one number, or one for each axis, and edge_order is 1")
    found = []
    for k, h in zip(axes, spacings):
        v = ct.moveaxis(x, k, 0)
        inner = (v[2:] - v[:-2]) / (2.0 * h)
        found.append(ct.moveaxis(ct.concat([(v[1:2] - v[:1]) / h, inner, (v[-1:] - v[-2:-1]) / h]), 0, k))
    return found[0] if len(found) == 1 else tuple(found)


def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """The convolution of two vectors."""
    x, w = array(a), array(v)
    if x.shape[0] < w.shape[0]:
        x, w = w, x
    n, m = x.shape[0], w.shape[0]
    start = {"full": 0, "same": (m - 1) // 2, "valid": m - 1}
    if mode not in start:
        raise ValueError(f"convolve: mode is 'full', 'same' or 'valid', not {mode!r}")
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    padded = ct.pad(x, m - 1)
    # Each element of the shorter vector times a window of the longer one.
    windows = padded[ct.arange(start[mode], start[mode] + count)[:, None] + ct.arange(m)[None, :]]
    return ct.matmul(windows, ct.flip(w))


def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """The correlation of two vectors."""
    x, w = array(a), ct.conj(array(v))
    if x.shape[0] < w.shape[0]:
        return ct.flip(convolve(w, ct.flip(x), mode))
    return convolve(x, ct.flip(w), mode)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    """Covariances of rows."""
    x = _rows(m)
    x = x if rowvar or x.shape[0] == 1 else x.T
    if y is not None:
        more = _rows(y)
        x = ct.concat([x, more if rowvar or more.shape[0] == 1 else more.T])
    ddof = (0 if bias else 1) if ddof is None else ddof
    d = x - ct.mean(x, axis=1, keepdims=True)
    c = ct.matmul(d, ct.conj(d.T)) / (x.shape[1] - ddof)
    return c[0, 0] if c.shape == (1, 1) else c


def _rows(m: Any) -> Array:
    x = array(m)
    return _reshape(x, [1] * (2 - x.ndim) + list(x.shape)) if x.ndim < 2 else x


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Array:
    """Correlation coefficients of rows."""
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    d = ct.sqrt(ct.real(ct.linalg.diagonal(c)))
    return c / d[:, None] / d[None, :]


def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
             keepdims: bool = False) -> Any:
    """Quantiles along axes, by linear interpolation between sorted elements."""
    from cotangent.numpy import _into
    if method != "linear":
        raise TypeError(f"quantile: the method is 'linear', not {method!r}")
    x, at = array(a), array(q)
    if not at.traced and not bool(ct.all((at >= 0) & (at <= 1))):
        raise ValueError(f"quantile: q is between 0 and 1, not {q!r}")
    x = x if x.dtype.kind == "f" else x.astype(ct.float64)
    axes = axes_of(axis, x.ndim)
    rest = [k for k in range(x.ndim) if k not in axes]
    v = ct.sort(_reshape(ct.permute_dims(x, rest + axes), [x.shape[k] for k in rest] + [_volume(x, axes)]))
    n = v.shape[-1]
    place = at.astype(v.dtype) * (n - 1)
    low = ct.clip(ct.floor(place), 0, n - 1)
    part = place - low
    below = ct.take(v, low.astype(ct.int64), axis=-1)
    above = ct.take(v, ct.clip(low + 1, 0, n - 1).astype(ct.int64), axis=-1)
    y = below + (above - below) * part
    last = _reshape(v[..., -1:], [*v.shape[:-1], *[1] * at.ndim])
    y = ct.where(ct.isnan(last), ct.nan, y)
    if at.ndim:
        y = ct.moveaxis(y, list(range(y.ndim - at.ndim, y.ndim)), list(range(at.ndim)))
    if keepdims:
        y = _reshape(y, [*at.shape, *(1 if k in axes else x.shape[k] for k in range(x.ndim))])
    return _into(out, y)


def _volume(x: Array, axes: Sequence[int]) -> int:
    n = 1
    for k in axes:
        n = n * x.shape[k]
    return n


def percentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
               keepdims: bool = False) -> Any:
    """Percentiles along axes, by linear interpolation between sorted elements."""
    return quantile(a, array(q) / 100.0, axis, out, overwrite_input, method, keepdims)


def _without_nan(name: str, neutral: float) -> Callable[..., Any]:
    """A reduction of the elements that are numbers."""
    def f(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        from cotangent import numpy as cnp
        x = array(a if dtype is None else array(a).astype(dtype))
        bad = ct.isnan(x)
        y = getattr(cnp, name)(ct.where(bad, neutral, x) if x.dtype.kind in "fc" else x, axis=axis, keepdims=keepdims is True)
        if name in ("max", "min"):
            y = ct.where(ct.all(bad, axis=axis, keepdims=keepdims is True), ct.nan, y) if x.dtype.kind == "f" else y
        return cnp._into(out, y)
    f.__name__ = f.__qualname__ = f"nan{name}"
    f.__doc__ = f"The {name} of the elements that are numbers."
    return f


def _extreme_without_nan(name: str, neutral: float) -> Callable[..., Any]:
    f = _without_nan(name, neutral)

    def g(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return f(a, axis, None, out, keepdims)
    g.__name__, g.__qualname__, g.__doc__ = f.__name__, f.__qualname__, f.__doc__
    return g


nansum, nanprod = _without_nan("sum", 0.0), _without_nan("prod", 1.0)
nanmax, nanmin = _extreme_without_nan("max", -math.inf), _extreme_without_nan("min", math.inf)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The mean of the elements that are numbers."""
    from cotangent import numpy as cnp
    x = array(a if dtype is None else array(a).astype(dtype))
    n = ct.sum(ct.logical_not(ct.isnan(x)), axis=axis, keepdims=keepdims is True)
    return cnp._into(out, nansum(x, axis, keepdims=keepdims) / n)


def nanvar(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False) -> Any:
    """The variance of the elements that are numbers."""
    from cotangent import numpy as cnp
    x = array(a if dtype is None else array(a).astype(dtype))
    n = ct.sum(ct.logical_not(ct.isnan(x)), axis=axis, keepdims=keepdims is True)
    d = x - nanmean(x, axis, keepdims=True)
    return cnp._into(out, nansum(ct.real(d * ct.conj(d)), axis, keepdims=keepdims) / (n - ddof))


def nanstd(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = False) -> Any:
    """The standard deviation of the elements that are numbers."""
    from cotangent import numpy as cnp
    return cnp._into(out, ct.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims)))
