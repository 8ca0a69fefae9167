"""``numpy.fft``: NumPy's signatures of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cotangent as ct
from cotangent._core import Array
from cotangent.fft import fftshift, ifftshift


def _along(f: Callable[..., Array]) -> Callable[..., Any]:
    """A transform along an axis, with NumPy's order of arguments."""
    def g(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        from cotangent.numpy import _into
        return _into(out, f(a, n=n, axis=axis, norm=norm or "backward"))
    g.__name__ = g.__qualname__ = f.__name__
    g.__doc__ = (f.__doc__ or "").split("\n")[0]
    return g


def _over(f: Callable[..., Array], two: bool = False) -> Callable[..., Any]:
    """A transform over axes, with NumPy's order of arguments: the last ``len(s)`` axes if only s is given."""
    def g(a: Any, s: Any = None, axes: Any = (-2, -1) if two else None, norm: str | None = None, out: Any = None) -> Any:
        from cotangent.numpy import _into
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return _into(out, f(a, s=s, axes=axes, norm=norm or "backward"))
    g.__name__ = g.__qualname__ = f.__name__[:-1] + "2" if two else f.__name__
    g.__doc__ = (f.__doc__ or "").split("\n")[0]
    return g


fft, ifft, rfft, irfft, hfft, ihfft = map(_along, (ct.fft.fft, ct.fft.ifft, ct.fft.rfft, ct.fft.irfft, ct.fft.hfft, ct.fft.ihfft))
fftn, ifftn, rfftn, irfftn = map(_over, (ct.fft.fftn, ct.fft.ifftn, ct.fft.rfftn, ct.fft.irfftn))
fft2, ifft2, rfft2, irfft2 = (_over(f, True) for f in (ct.fft.fftn, ct.fft.ifftn, ct.fft.rfftn, ct.fft.irfftn))


def fftfreq(n: int, d: float = 1.0) -> Array:
    """Frequencies of a transform."""
    return ct.fft.fftfreq(n, d=d)


def rfftfreq(n: int, d: float = 1.0) -> Array:
    """Frequencies of a transform of real numbers."""
    return ct.fft.rfftfreq(n, d=d)


__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
           "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]
