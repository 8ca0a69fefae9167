"""Special functions, by SciPy's names."""

from __future__ import annotations

from typing import Any

from cotangent import _cotangent, _elementwise, _reductions
from cotangent._core import Array, ArrayLike, floating, op, unary

erf = unary("erf", "erf", "float", "Error function.")
erfc = unary("erfc", "erfc", "float", "1 - erf(x) without cancellation.")
erfinv = unary("erfinv", "erf_inv", "float", "Inverse of erf.")
gammaln = unary("gammaln", "lgamma", "float", "log |gamma(x)|.")
digamma = unary("digamma", "digamma", "float", "Derivative of log gamma(x).")
psi = digamma
expit = unary("expit", "logistic", "float", "1 / (1 + exp(-x)).")
xlogy = _elementwise.xlogy
logsumexp = _reductions.logsumexp


def polygamma(n: int, x: ArrayLike, /) -> Array:
    """Derivative of digamma of order ``n``."""
    return op("polygamma", (floating(x),), {"order": int(n)}) if n else digamma(x)


def i0e(x: ArrayLike, /) -> Array:
    """Modified Bessel function of order 0, times exp(-|x|)."""
    return op("bessel_ie", (floating(x),), {"order": 0})


def i1e(x: ArrayLike, /) -> Array:
    """Modified Bessel function of order 1, times exp(-|x|)."""
    return op("bessel_ie", (floating(x),), {"order": 1})


def _several(name: str, *x: ArrayLike) -> Array:
    return op(name, tuple(_elementwise.broadcast_arrays(*_cotangent.promoted(*x, kind="float"))))


def zeta(x: ArrayLike, q: ArrayLike = 1.0, /) -> Array:
    """Hurwitz zeta function."""
    return _several("zeta", x, q)


def gammainc(a: ArrayLike, x: ArrayLike, /) -> Array:
    """Regularized lower incomplete gamma function."""
    return _several("igamma", a, x)


def gammaincc(a: ArrayLike, x: ArrayLike, /) -> Array:
    """Regularized upper incomplete gamma function."""
    return _several("igammac", a, x)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike, /) -> Array:
    """Regularized incomplete beta function."""
    return _several("betainc", a, b, x)


def betaln(a: ArrayLike, b: ArrayLike, /) -> Array:
    """log |beta(a, b)|."""
    a, b = _cotangent.promoted(a, b, kind="float")
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def ndtr(x: ArrayLike, /) -> Array:
    """Distribution function of the normal distribution."""
    return 0.5 * erfc(floating(x) * -0.7071067811865476)


def ndtri(p: ArrayLike, /) -> Array:
    """Inverse of ndtr."""
    return 1.4142135623730951 * erfinv(2.0 * floating(p) - 1.0)


def log_ndtr(x: ArrayLike, /) -> Array:
    """log(ndtr(x)), by a continued fraction far below 0."""
    e: Any = _elementwise
    x = floating(x)
    far = x < -10.0
    t = e.where(far, x, -10.0)
    fraction = t * 0.0
    for k in range(30, 0, -1):
        fraction = k / (fraction - t)
    tail = -0.5 * t * t - 0.9189385332046727 - e.log(fraction - t)
    return e.where(far, tail, e.log(ndtr(e.where(far, 0.0, x))))  # type: ignore[no-any-return]


def logit(p: ArrayLike, /) -> Array:
    """log(p / (1 - p))."""
    e: Any = _elementwise
    p = floating(p)
    return e.log(p) - e.log1p(-p)  # type: ignore[no-any-return]


def entr(x: ArrayLike, /) -> Array:
    """-x log(x), 0 at 0, -inf below."""
    x = floating(x)
    return _elementwise.where(x < 0, float("-inf"), -xlogy(x, x))


def spherical_jn(n: int, x: ArrayLike, /) -> Array:
    """Spherical Bessel function of the first kind: by its series for small x, by recurrence elsewhere."""
    e: Any = _elementwise
    x = floating(x)
    near = e.abs(x) < 1.0 + 0.75 * n
    t = e.where(near, x, 0.0)
    term = t * 0.0 + 1.0
    for k in range(1, n + 1):
        term = term * t / (2 * k + 1)
    total = term
    for k in range(1, 24 + n):
        term = term * (-0.5 * t * t) / (k * (2 * n + 2 * k + 1))
        total = total + term
    s = e.where(near, 1.0 + 0.75 * n, x)
    before, here = e.sin(s) / s, (e.sin(s) / s - e.cos(s)) / s
    for k in range(1, n):
        before, here = here, (2 * k + 1) / s * here - before
    return e.where(near, total, before if n == 0 else here)  # type: ignore[no-any-return]


NAMES = ["erf", "erfc", "erfinv", "gammaln", "digamma", "psi", "polygamma", "expit", "xlogy", "logsumexp", "i0e", "i1e", "zeta",
         "gammainc", "gammaincc", "betainc", "betaln", "ndtr", "log_ndtr", "ndtri", "logit", "entr",
         "spherical_jn"]
__all__ = NAMES
