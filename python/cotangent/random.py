"""Random numbers from keys: the same key gives the same numbers, with the bits of ``jax.random``."""

from __future__ import annotations

from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, one_axis, op

Shape = Any


def key(seed: int) -> Array:
    """The key of a seed."""
    return op("random_key", (), {"seed": int(seed)})


def split(key: Array, num: Any = 2) -> Array:
    """``num`` keys (or keys of a shape) that are independent of each other and of the key."""
    shape = (num,) if isinstance(num, int) else tuple(num)
    return op("random_split", (key,), {"shape": shape})


def fold_in(key: Array, data: Any) -> Array:
    """A key that a number derives: of a step, or of a layer."""
    return op("random_fold_in", (key, _cotangent.convert(array(data), "uint32")))


def _shape(shape: Shape) -> tuple[Any, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _standard(name: str, key: Array, shape: Shape, dtype: Any) -> Array:
    return op(name, (key,), {"shape": _shape(shape), "dtype": _cotangent.dtype(dtype)})


def bits(key: Array, shape: Shape = (), dtype: Any = "uint32") -> Array:
    """Random bits as unsigned integers."""
    return _standard("random_bits", key, shape, dtype)


def uniform(key: Array, shape: Shape = (), dtype: Any = "float64", minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Array:
    """Uniform numbers from ``minval`` to ``maxval`` (excluded)."""
    if type(minval) in (int, float) and type(maxval) in (int, float) and (minval, maxval) == (0, 1):
        return _standard("random_uniform", key, shape, dtype)
    low, high = (_cotangent.convert(array(x), dtype) for x in (minval, maxval))
    return op("random_uniform", (key, low, high), {"shape": _shape(shape)})


def normal(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Normal numbers with mean 0 and variance 1."""
    return _standard("random_normal", key, shape, dtype)


def exponential(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Exponentially distributed numbers with mean 1."""
    return _standard("random_exponential", key, shape, dtype)


def gumbel(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Numbers of the standard Gumbel distribution."""
    return _standard("random_gumbel", key, shape, dtype)


def truncated_normal(key: Array, lower: ArrayLike, upper: ArrayLike, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Normal numbers within bounds."""
    low, high = (_cotangent.convert(array(x), dtype) for x in (lower, upper))
    return op("random_truncated_normal", (key, low, high), {"shape": _shape(shape), "dtype": _cotangent.dtype(dtype)})


def bernoulli(key: Array, p: ArrayLike = 0.5, shape: Shape = None) -> Array:
    """Booleans that are true with probability ``p``."""
    p = array(p)
    p = _cotangent.convert(p, "float64") if p.dtype.kind != "f" else p
    return op("random_bernoulli", (key, p), {"shape": tuple(p.shape) if shape is None else _shape(shape)})


def categorical(key: Array, logits: ArrayLike, axis: int = -1) -> Array:
    """Classes with the probabilities ``softmax(logits)`` along an axis."""
    logits = array(logits)
    return op("random_categorical", (key, logits), {"axis": one_axis(axis, logits.ndim)})


def randint(key: Array, shape: Shape, minval: Any, maxval: Any, dtype: Any = "int64") -> Array:
    """Integers from ``minval`` to ``maxval`` (excluded)."""
    low, high = (_cotangent.convert(array(x), dtype) for x in (minval, maxval))
    return op("random_int", (key, low, high), {"shape": _shape(shape), "dtype": _cotangent.dtype(dtype)})


def permutation(key: Array, x: ArrayLike, axis: int = 0) -> Array:
    """The parts of x along an axis in random order; of ``arange(x)`` for an integer."""
    x = _cotangent.iota(x, "int64") if isinstance(x, int) else array(x)
    return op("random_permutation", (key, x), {"axis": one_axis(axis, x.ndim)})


def dropout(key: Array, x: ArrayLike, rate: float) -> Array:
    """x divided by ``1 - rate``, or 0 with probability ``rate`` for each element."""
    return op("random_dropout", (key, x), {"rate": float(rate)})


def laplace(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Numbers of the standard Laplace distribution."""
    from cotangent import _elementwise as e
    u = uniform(key, shape, dtype, -1.0, 1.0)
    return e.sign(u) * -e.log1p(-e.abs(u))  # type: ignore[attr-defined,no-any-return]


def cauchy(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Numbers of the standard Cauchy distribution."""
    from cotangent import _elementwise as e
    return e.tan(3.141592653589793 * (uniform(key, shape, dtype) - 0.5))  # type: ignore[attr-defined,no-any-return]


def gamma(key: Array, a: ArrayLike, shape: Shape = None, dtype: Any = "float64") -> Array:
    """Gamma-distributed numbers of shape parameter ``a`` and scale 1, with derivatives by ``a``: the inverse of the
    distribution function at uniform numbers, by Newton's method."""
    from cotangent import _elementwise as e, special
    from cotangent._transforms import custom_jvp
    a = _cotangent.convert(array(a), dtype)
    shape = tuple(a.shape) if shape is None else _shape(shape)
    a = e.broadcast_to(a, shape)
    u = uniform(key, shape, dtype, 1e-12, 1.0)

    def value(a: Any, u: Any) -> Any:
        # Wilson and Hilferty's approximation, then steps in log x, which stay positive.
        z = special.ndtri(u)
        start = a * e.maximum(1 - 1 / (9 * a) + z / (3 * e.sqrt(a)), 1e-3) ** 3  # type: ignore[attr-defined]
        small = e.exp((e.log(u) + special.gammaln(a + 1)) / a)  # type: ignore[attr-defined]
        y = e.log(e.where(a < 1.0, e.minimum(small, start + 1.0), start))  # type: ignore[attr-defined]
        for _ in range(24):
            x = e.exp(y)  # type: ignore[attr-defined]
            density = e.exp(a * y - x - special.gammaln(a))  # type: ignore[attr-defined]
            y = y - e.clip((special.gammainc(a, x) - u) / e.maximum(density, 1e-290), -1.0, 1.0)  # type: ignore[attr-defined]
        return e.exp(y)  # type: ignore[attr-defined]

    def rule(x: Any, t: Any) -> Any:
        y = value(*x)
        density = e.exp((x[0] - 1) * e.log(y) - y - special.gammaln(x[0]))  # type: ignore[attr-defined]
        slope = _cotangent.op("igamma", (x[0], y), {"order": 1})
        return y, -slope / density * t[0] + t[1] / density

    return custom_jvp(value, rule)(a, u)  # type: ignore[no-any-return]


def beta(key: Array, a: ArrayLike, b: ArrayLike, shape: Shape = None, dtype: Any = "float64") -> Array:
    """Beta-distributed numbers, from two gamma-distributed ones."""
    from cotangent._elementwise import broadcast_arrays
    a, b = broadcast_arrays(array(a), array(b))
    keys = split(key)
    x, y = gamma(keys[0], a, shape, dtype), gamma(keys[1], b, shape, dtype)
    return x / (x + y)


def poisson(key: Array, lam: ArrayLike, shape: Shape = None, dtype: Any = "int64") -> Array:
    """Poisson-distributed integers of mean ``lam``, at most a few hundred: the distribution function is searched."""
    from cotangent import _elementwise as e, special
    lam = _cotangent.convert(array(lam), "float64")
    shape = tuple(lam.shape) if shape is None else _shape(shape)
    lam = e.broadcast_to(lam, shape)
    u = uniform(key, shape)
    low, high = lam * 0 - 1.0, e.ceil(lam + 20.0 * e.sqrt(lam) + 40.0)  # type: ignore[attr-defined]
    for _ in range(24):
        middle = e.floor((low + high) / 2)
        below = (middle <= low) | (special.gammaincc(e.maximum(middle, 0.0) + 1.0, lam) < u)  # type: ignore[attr-defined]
        low, high = e.where(below, middle, low), e.where(below, high, middle)
    return _cotangent.convert(high, dtype)


NAMES = ["key", "split", "fold_in", "bits", "uniform", "normal", "exponential", "gumbel", "truncated_normal", "bernoulli",
         "categorical", "randint", "permutation", "dropout", "laplace", "cauchy", "gamma", "beta",
         "poisson"]
__all__ = NAMES
