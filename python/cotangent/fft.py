"""Fourier transforms: the array API's extension."""

from __future__ import annotations

from typing import Any

from cotangent import _cotangent, _create, _shapes
from cotangent._core import Array, ArrayLike, Axis, array, axes_of, floating, on_device, one_axis, op, raise_


def _complex(x: ArrayLike) -> Array:
    y = floating(x)
    if y.dtype.kind == "c":
        return y
    return _cotangent.convert(y, "complex128" if y.dtype == "float64" else "complex64")


def _real(x: ArrayLike) -> Array:
    x = floating(x)
    if x.dtype.kind == "c":
        raise raise_("DTypeMismatch", "this transform takes a real array")
    return x if x.dtype in ("float32", "float64") else _cotangent.convert(x, "float32")


def _sized(x: Array, n: int | None, axis: int) -> Array:
    """With ``n`` elements along an axis: cut, or followed by zeros."""
    m = x.shape[axis]
    if n is None or n == m:
        return x
    if n < 1:
        raise raise_("Attribute", f"a transform of {n} elements")
    if n < m:
        return x[(slice(None),) * axis + (slice(n),)]
    return _shapes.pad(x, [(0, n - m if k == axis else 0) for k in range(x.ndim)])


def _scaled(x: Array, n: Any, norm: str, inverse: bool) -> Array:
    """The factor of ``norm``: operations of the library divide in the inverse."""
    if norm not in ("backward", "ortho", "forward"):
        raise raise_("Attribute", f"norm is 'backward', 'ortho' or 'forward', not {norm!r}")
    if norm == "backward":
        return x
    if norm == "ortho":
        return x * float(float(n) ** (0.5 if inverse else -0.5))
    return x * float(n) if inverse else x / float(n)


def _one(name: str, x: Array, n: int | None, axis: int, norm: str, inverse: bool) -> Array:
    axis = one_axis(axis, x.ndim)
    x = _sized(x, n, axis)
    return _scaled(op(name, (x,), {"axis": axis}), x.shape[axis], norm, inverse)


def fft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The Fourier transform along an axis, of ``n`` elements.

    >>> ct.fft.fft([1.0, 0.0, 0.0, 0.0])
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _one("fft", _complex(x), n, axis, norm, False)


def ifft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse Fourier transform along an axis.

    >>> ct.fft.ifft([4.0, 0.0, 0.0, 0.0])
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _one("ifft", _complex(x), n, axis, norm, True)


def rfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Half of the Fourier transform of a real array along an axis.

    >>> ct.fft.rfft([1.0, 1.0, 1.0, 1.0])
    array([4.+0.j, 0.-0.j, 0.+0.j], dtype=complex128)
    """
    return _one("rfft", _real(x), n, axis, norm, False)


def irfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of ``rfft``: real, with ``n`` elements (an even number without it).

    >>> ct.fft.irfft([4.0, 0.0, 0.0])
    array([1., 1., 1., 1.], dtype=float64)
    """
    x = _complex(x)
    axis = one_axis(axis, x.ndim)
    n = 2 * (x.shape[axis] - 1) if n is None else n
    y = op("irfft", (_sized(x, n // 2 + 1, axis),), {"axis": axis, "length": n})
    return _scaled(y, n, norm, True)


def _many(name: str, x: Array, s: Any, axes: Axis, norm: str, inverse: bool) -> Array:
    at = _axes(x, s, axes)
    size = 1
    for k, axis in enumerate(at):
        x = _sized(x, None if s is None else s[k], axis)
        size = size * x.shape[axis]
    return _scaled(op(name, (x,), {"axes": at}), size, norm, inverse) if at else x


def _axes(x: Array, s: Any, axes: Axis) -> list[int]:
    n = x.ndim if s is None else len(s)
    if n > x.ndim:
        raise raise_("Attribute", f"{n} extents for the {x.ndim} axes of an array")
    at = list(range(x.ndim - n, x.ndim)) if axes is None else axes_of(axes, x.ndim)
    if s is not None and len(at) != n:
        raise raise_("Attribute", f"{n} extents for {len(at)} axes")
    return at


def fftn(x: ArrayLike, /, *, s: Any = None, axes: Axis = None, norm: str = "backward") -> Array:
    """The Fourier transform over axes.

    >>> ct.fft.fftn([[1.0, 1.0], [1.0, 1.0]])
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex128)
    """
    return _many("fftn", _complex(x), s, axes, norm, False)


def ifftn(x: ArrayLike, /, *, s: Any = None, axes: Axis = None, norm: str = "backward") -> Array:
    """The inverse Fourier transform over axes.

    >>> ct.fft.ifftn([[4.0, 0.0], [0.0, 0.0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return _many("ifftn", _complex(x), s, axes, norm, True)


def rfftn(x: ArrayLike, /, *, s: Any = None, axes: Axis = None, norm: str = "backward") -> Array:
    """Half of the Fourier transform of a real array over axes.

    >>> ct.fft.rfftn([[1.0, 1.0], [1.0, 1.0]])
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex128)
    """
    x = _real(x)
    at = _axes(x, s, axes)
    if at == sorted(at):
        return _many("rfftn", x, s, axes, norm, False)
    half = rfft(x, n=None if s is None else s[-1], axis=at[-1], norm=norm)
    return fftn(half, s=None if s is None else s[:-1], axes=at[:-1], norm=norm)


def irfftn(x: ArrayLike, /, *, s: Any = None, axes: Axis = None, norm: str = "backward") -> Array:
    """The inverse of ``rfftn``: real.

    >>> ct.fft.irfftn([[4.0, 0.0], [0.0, 0.0]])
    array([[1., 1.],
           [1., 1.]], dtype=float64)
    """
    x = _complex(x)
    at = _axes(x, s, axes)
    if at != sorted(at):
        whole = ifftn(x, s=None if s is None else s[:-1], axes=at[:-1], norm=norm)
        return irfft(whole, n=None if s is None else s[-1], axis=at[-1], norm=norm)
    sizes = [x.shape[k] for k in at] if s is None else list(s)
    if s is None:
        sizes[-1] = 2 * (sizes[-1] - 1)
    total = 1
    for k, axis in enumerate(at):
        x = _sized(x, sizes[k] // 2 + 1 if k == len(at) - 1 else sizes[k], axis)
        total = total * sizes[k]
    return _scaled(op("irfftn", (x,), {"axes": at, "length": sizes[-1]}), total, norm, True)


_INVERSE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The real transform of a signal that is Hermitian along an axis.

    >>> ct.fft.hfft([1.0, 0.0, 0.0])
    array([1., 1., 1., 1.], dtype=float64)
    """
    return irfft(op("conj", (_complex(x),)), n=n, axis=axis, norm=_INVERSE.get(norm, norm))


def ihfft(x: ArrayLike, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of ``hfft``: half of a Hermitian signal.

    >>> ct.fft.ihfft([4.0, 0.0, 0.0, 0.0])
    array([1.-0.j, 1.+0.j, 1.-0.j], dtype=complex128)
    """
    return op("conj", (rfft(x, n=n, axis=axis, norm=_INVERSE.get(norm, norm)),))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of ``fft`` for samples at a distance ``d``.

    >>> ct.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float64)
    """
    k = _create.arange(n, dtype="float64")
    y = (k - n * _cotangent.convert(k >= (n + 1) // 2, "float64")) / (n * d)
    return on_device(y if dtype is None else _cotangent.convert(y, dtype), device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of ``rfft``.

    >>> ct.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ], dtype=float64)
    """
    y = _create.arange(n // 2 + 1, dtype="float64") / (n * d)
    return on_device(y if dtype is None else _cotangent.convert(y, dtype), device)


def fftshift(x: ArrayLike, /, *, axes: Axis = None) -> Array:
    """The zero frequency moved to the middle.

    >>> ct.fft.fftshift([0, 1, 2, 3])
    array([2, 3, 0, 1], dtype=int64)
    """
    x = array(x)
    at = axes_of(axes, x.ndim)
    return _shapes.roll(x, [x.shape[k] // 2 for k in at], axis=at)


def ifftshift(x: ArrayLike, /, *, axes: Axis = None) -> Array:
    """The inverse of ``fftshift``.

    >>> ct.fft.ifftshift([2, 3, 0, 1])
    array([0, 1, 2, 3], dtype=int64)
    """
    x = array(x)
    at = axes_of(axes, x.ndim)
    return _shapes.roll(x, [-(x.shape[k] // 2) for k in at], axis=at)


__all__ = ["fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq", "fftshift",
         "ifftshift"]
