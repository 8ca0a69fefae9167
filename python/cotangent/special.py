"""Special functions, by SciPy's names."""

from __future__ import annotations

from typing import Any

import cotangent as ct
from cotangent import _cotangent, _elementwise, _reductions
from cotangent._core import Array, ArrayLike, floating, op, unary

erf = unary("erf", "erf", "float", "Error function.",
            "ct.special.erf(0.5)", "array(0.52049988, dtype=float64)")
erfc = unary("erfc", "erfc", "float", "1 - erf(x) without cancellation.",
             "ct.special.erfc(10.0)", "array(2.08848758e-45, dtype=float64)")
erfinv = unary("erfinv", "erf_inv", "float", "Inverse of erf.",
               "ct.special.erfinv(0.0)", "array(0., dtype=float64)")
gammaln = unary("gammaln", "lgamma", "float", "log |gamma(x)|.",
                "ct.special.gammaln(5.0)", "array(3.17805383, dtype=float64)")
digamma = unary("digamma", "digamma", "float", "Derivative of log gamma(x).",
                "ct.special.digamma(1.0)", "array(-0.57721566, dtype=float64)")
psi = digamma
expit = unary("expit", "logistic", "float", "1 / (1 + exp(-x)).",
              "ct.special.expit(0.0)", "array(0.5, dtype=float64)")
xlogy = _elementwise.xlogy
logsumexp = _reductions.logsumexp


def polygamma(n: int, x: ArrayLike, /) -> Array:
    """Derivative of digamma of order ``n``.

    >>> ct.special.polygamma(1, 1.0)
    array(1.64493407, dtype=float64)
    """
    return op("polygamma", (floating(x),), {"order": int(n)}) if n else digamma(x)


def i0e(x: ArrayLike, /) -> Array:
    """Modified Bessel function of order 0, times exp(-|x|).

    >>> ct.special.i0e(0.0)
    array(1., dtype=float64)
    """
    return op("bessel_ie", (floating(x),), {"order": 0})


def i1e(x: ArrayLike, /) -> Array:
    """Modified Bessel function of order 1, times exp(-|x|).

    >>> ct.special.i1e(0.0)
    array(0., dtype=float64)
    """
    return op("bessel_ie", (floating(x),), {"order": 1})


def _several(name: str, *x: ArrayLike) -> Array:
    return op(name, tuple(_elementwise.broadcast_arrays(*_cotangent.promoted(*x, kind="float"))))


def zeta(x: ArrayLike, q: ArrayLike = 1.0, /) -> Array:
    """Hurwitz zeta function.

    >>> ct.special.zeta(2.0)
    array(1.64493407, dtype=float64)
    """
    return _several("zeta", x, q)


def gammainc(a: ArrayLike, x: ArrayLike, /) -> Array:
    """Regularized lower incomplete gamma function.

    >>> ct.special.gammainc(1.0, 1.0)
    array(0.63212056, dtype=float64)
    """
    return _several("igamma", a, x)


def gammaincc(a: ArrayLike, x: ArrayLike, /) -> Array:
    """Regularized upper incomplete gamma function.

    >>> ct.special.gammaincc(1.0, 1.0)
    array(0.36787944, dtype=float64)
    """
    return _several("igammac", a, x)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike, /) -> Array:
    """Regularized incomplete beta function.

    >>> ct.special.betainc(1.0, 1.0, 0.25)
    array(0.25, dtype=float64)
    """
    return _several("betainc", a, b, x)


def betaln(a: ArrayLike, b: ArrayLike, /) -> Array:
    """log |beta(a, b)|.

    >>> ct.special.betaln(1.0, 2.0)
    array(-0.69314718, dtype=float64)
    """
    a, b = _cotangent.promoted(a, b, kind="float")
    low, high = ct.where(a < b, a, b), ct.where(a < b, b, a)
    far = (high > 20.0) & (low > 0.0)
    s, z = ct.where(far, low, 1.0), ct.where(far, high, 21.0)
    # log gamma(z) - log gamma(z + s) by Stirling's series: the difference of the two would lose digits.
    rest = s - (z - 0.5) * ct.log1p(s / z) - s * ct.log(z + s) + _stirling(z) - _stirling(z + s)
    return gammaln(low) + ct.where(far, rest, gammaln(high) - gammaln(low + high))


def _stirling(z: Array) -> Array:
    """The sum of 1/(12 z) - 1/(360 z^3) + .., which Stirling's formula leaves out."""
    r = 1.0 / (z * z)
    y = ct.zeros_like(z)
    for c in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        y = y * r + c
    return y / z


def ndtr(x: ArrayLike, /) -> Array:
    """Distribution function of the normal distribution.

    >>> ct.special.ndtr(0.0)
    array(0.5, dtype=float64)
    """
    return 0.5 * erfc(floating(x) * -0.7071067811865476)


def ndtri(p: ArrayLike, /) -> Array:
    """Inverse of ndtr.

    >>> ct.special.ndtri(0.5)
    array(0., dtype=float64)
    """
    p = floating(p)
    q = ct.where(p > 0.5, 1.0 - p, p)
    # In the tail 2 q - 1 has lost the digits of q: a rational approximation, and Newton's method for log(ndtr).
    far = (q > 0.0) & (q < 0.01)
    near = 1.4142135623730951 * erfinv(2.0 * ct.where(far, 0.25, q) - 1.0)
    log_q = ct.log(ct.where(far, q, 0.005))
    t = ct.sqrt(-2.0 * log_q)
    x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(3):
        log_p = log_ndtr(x)
        x = x - (log_p - log_q) * ct.exp(log_p + 0.5 * x * x + 0.9189385332046727)
    x = ct.where(far, x, near)
    return ct.where(p > 0.5, -x, x)


def log_ndtr(x: ArrayLike, /) -> Array:
    """log(ndtr(x)), by a continued fraction far below 0.

    >>> ct.special.log_ndtr(0.0)
    array(-0.69314718, dtype=float64)
    """
    x = floating(x)
    far = x < -10.0
    t = ct.where(far, x, -10.0)
    fraction = ct.zeros_like(t)
    for k in range(30, 0, -1):
        fraction = k / (fraction - t)
    tail = -0.5 * t * t - 0.9189385332046727 - ct.log(fraction - t)
    return ct.where(far, tail, ct.log(ndtr(ct.where(far, 0.0, x))))


def logit(p: ArrayLike, /) -> Array:
    """log(p / (1 - p)).

    >>> ct.special.logit(0.5)
    array(0., dtype=float64)
    """
    p = floating(p)
    return ct.log(p) - ct.log1p(-p)


def entr(x: ArrayLike, /) -> Array:
    """-x log(x), 0 at 0, -inf below.

    >>> ct.special.entr(0.5)
    array(0.34657359, dtype=float64)
    """
    x = floating(x)
    return ct.where(x < 0, float("-inf"), -xlogy(x, x))


def spherical_jn(n: int, x: ArrayLike, /) -> Array:
    """Spherical Bessel function of the first kind: by its series for small x, by recurrence elsewhere.

    >>> ct.special.spherical_jn(0, 0.0)
    array(1., dtype=float64)
    """
    x = floating(x)
    near = ct.abs(x) < 1.0 + 0.75 * n
    t = ct.where(near, x, 0.0)
    term = t * 0.0 + 1.0
    for k in range(1, n + 1):
        term = term * t / (2 * k + 1)
    total = term
    for k in range(1, 24 + n):
        term = term * (-0.5 * t * t) / (k * (2 * n + 2 * k + 1))
        total = total + term
    s = ct.where(near, 1.0 + 0.75 * n, x)
    before, here = ct.sin(s) / s, (ct.sin(s) / s - ct.cos(s)) / s
    for k in range(1, n):
        before, here = here, (2 * k + 1) / s * here - before
    return ct.where(near, total, before if n == 0 else here)


__all__ = ["erf", "erfc", "erfinv", "gammaln", "digamma", "psi", "polygamma", "expit", "xlogy", "logsumexp", "i0e", "i1e", "zeta",
         "gammainc", "gammaincc", "betainc", "betaln", "ndtr", "log_ndtr", "ndtri", "logit", "entr",
         "spherical_jn"]
