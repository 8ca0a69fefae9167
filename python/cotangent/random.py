"""Random numbers from keys: the same key gives the same numbers, with the bits of ``jax.random``."""

from __future__ import annotations

import operator
from typing import Any

import cotangent as ct
from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, beside, one_axis, op, raise_

Shape = Any


def key(seed: int) -> Array:
    """The key of a seed.

    >>> ct.random.key(7)
    array([0, 7], dtype=uint32)
    """
    seed = operator.index(seed)
    if not -2**63 <= seed < 2**63:
        raise raise_("Attribute", f"the seed {seed} does not fit 64 bits")
    return op("random_key", (), {"seed": seed})


def split(key: Array, num: Any = 2) -> Array:
    """``num`` keys (or keys of a shape) that are independent of each other and of the key.

    >>> ct.random.split(ct.random.key(7)).shape
    (2, 2)
    """
    shape = (num,) if isinstance(num, int) else tuple(num)
    return op("random_split", (key,), {"shape": shape})


def fold_in(key: Array, data: Any) -> Array:
    """A key that a number derives: of a step, or of a layer.

    >>> ct.random.fold_in(ct.random.key(7), 1).shape
    (2,)
    """
    return op("random_fold_in", (key, _cotangent.convert(array(data), "uint32")))


def _shape(shape: Shape) -> tuple[Any, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _standard(name: str, key: Array, shape: Shape, dtype: Any) -> Array:
    return op(name, (key,), {"shape": _shape(shape), "dtype": _cotangent.dtype(dtype)})


def bits(key: Array, shape: Shape = (), dtype: Any = "uint32") -> Array:
    """Random bits as unsigned integers.

    >>> ct.random.bits(ct.random.key(7), (2,)).dtype
    cotangent.uint32
    """
    return _standard("random_bits", key, shape, dtype)


def uniform(key: Array, shape: Shape = (), dtype: Any = "float64", minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Array:
    """Uniform numbers from ``minval`` to ``maxval`` (excluded).

    >>> ct.random.uniform(ct.random.key(7), (2,))
    array([0.84410695, 0.04541259], dtype=float64)
    """
    if type(minval) in (int, float) and type(maxval) in (int, float) and (minval, maxval) == (0, 1):
        return _standard("random_uniform", key, shape, dtype)
    low, high = (_cotangent.convert(array(x), dtype) for x in (minval, maxval))
    return op("random_uniform", (key, low, high), {"shape": _shape(shape)})


def normal(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Normal numbers with mean 0 and variance 1.

    >>> ct.random.normal(ct.random.key(7), (2, 3)).shape
    (2, 3)
    """
    return _standard("random_normal", key, shape, dtype)


def exponential(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Exponentially distributed numbers with mean 1.

    >>> bool(ct.all(ct.random.exponential(ct.random.key(7), (9,)) > 0.0))
    True
    """
    return _standard("random_exponential", key, shape, dtype)


def gumbel(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Numbers of the standard Gumbel distribution.

    >>> ct.random.gumbel(ct.random.key(7), dtype="float32").dtype
    cotangent.float32
    """
    return _standard("random_gumbel", key, shape, dtype)


def truncated_normal(key: Array, lower: ArrayLike, upper: ArrayLike, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Normal numbers within bounds.

    >>> bool(ct.random.truncated_normal(ct.random.key(7), -1.0, 1.0) < 1.0)
    True
    """
    low, high = (_cotangent.convert(array(x), dtype) for x in (lower, upper))
    return op("random_truncated_normal", (key, low, high), {"shape": _shape(shape), "dtype": _cotangent.dtype(dtype)})


def bernoulli(key: Array, p: ArrayLike = 0.5, shape: Shape = None) -> Array:
    """Booleans that are true with probability ``p``.

    >>> ct.random.bernoulli(ct.random.key(7), 1.0, (2,))
    array([ True,  True], dtype=bool)
    """
    p = array(p)
    p = _cotangent.convert(p, "float64") if p.dtype.kind != "f" else p
    return op("random_bernoulli", (key, p), {"shape": tuple(p.shape) if shape is None else _shape(shape)})


def categorical(key: Array, logits: ArrayLike, axis: int = -1) -> Array:
    """Classes with the probabilities ``softmax(logits)`` along an axis.

    >>> ct.random.categorical(ct.random.key(7), [0.0, 100.0])
    array(1, dtype=int64)
    """
    logits = array(logits)
    return op("random_categorical", (key, logits), {"axis": one_axis(axis, logits.ndim)})


def randint(key: Array, shape: Shape, minval: Any, maxval: Any, dtype: Any = "int64") -> Array:
    """Integers from ``minval`` to ``maxval`` (excluded).

    >>> bool(ct.random.randint(ct.random.key(7), (), 0, 10) < 10)
    True
    """
    low, high = (_cotangent.convert(array(x), dtype) for x in (minval, maxval))
    return op("random_int", (key, low, high), {"shape": _shape(shape), "dtype": _cotangent.dtype(dtype)})


def permutation(key: Array, x: ArrayLike, axis: int = 0) -> Array:
    """The parts of x along an axis in random order; of ``arange(x)`` for an integer.

    >>> ct.sort(ct.random.permutation(ct.random.key(7), 4))
    array([0, 1, 2, 3], dtype=int64)
    """
    x = beside(key, _cotangent.iota(x, "int64")) if isinstance(x, int) else array(x)
    return op("random_permutation", (key, x), {"axis": one_axis(axis, x.ndim)})


def dropout(key: Array, x: ArrayLike, rate: float) -> Array:
    """x divided by ``1 - rate``, or 0 with probability ``rate`` for each element.

    >>> ct.random.dropout(ct.random.key(7), [1.0, 2.0], 0.0)
    array([1., 2.], dtype=float64)
    """
    return op("random_dropout", (key, x), {"rate": float(rate)})


def laplace(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Numbers of the standard Laplace distribution.

    >>> ct.random.laplace(ct.random.key(7), (3,)).shape
    (3,)
    """
    u = uniform(key, shape, dtype, -1.0 + ct.finfo(dtype).eps / 2, 1.0)
    return ct.sign(u) * ct.log1p(-ct.abs(u))


def cauchy(key: Array, shape: Shape = (), dtype: Any = "float64") -> Array:
    """Numbers of the standard Cauchy distribution.

    >>> ct.random.cauchy(ct.random.key(7), (3,)).shape
    (3,)
    """
    return ct.tan(3.141592653589793 * (uniform(key, shape, dtype) - 0.5))


def gamma(key: Array, a: ArrayLike, shape: Shape = None, dtype: Any = "float64") -> Array:
    """Gamma-distributed numbers of shape parameter ``a`` and scale 1, with derivatives by ``a``: the inverse of the
    distribution function at uniform numbers, by Newton's method.

    >>> bool(ct.random.gamma(ct.random.key(7), 2.0) > 0.0)
    True
    """
    from cotangent import special
    from cotangent._transforms import custom_jvp
    a = _cotangent.convert(array(a), dtype)
    shape = tuple(a.shape) if shape is None else _shape(shape)
    a = ct.broadcast_to(a, shape)
    u = uniform(key, shape, dtype, 1e-12, 1.0)

    def value(a: Any, u: Any) -> Array:
        # Wilson and Hilferty's approximation, then steps in log x, which stay positive.
        z = special.ndtri(u)
        start = a * ct.maximum(1 - 1 / (9 * a) + z / (3 * ct.sqrt(a)), 1e-3) ** 3
        small = ct.exp((ct.log(u) + special.gammaln(a + 1)) / a)
        y = ct.log(ct.where(a < 1.0, ct.minimum(small, start + 1.0), start))
        for _ in range(24):
            x = ct.exp(y)
            density = ct.exp(a * y - x - special.gammaln(a))
            y = y - ct.clip((special.gammainc(a, x) - u) / ct.maximum(density, 1e-290), -1.0, 1.0)
        return ct.exp(y)

    def rule(x: Any, t: Any) -> Any:
        y = value(*x)
        density = ct.exp((x[0] - 1) * ct.log(y) - y - special.gammaln(x[0]))
        slope = _cotangent.op("igamma", (x[0], y), {"order": 1})
        return y, -slope / density * t[0] + t[1] / density

    return custom_jvp(value, rule)(a, u)


def beta(key: Array, a: ArrayLike, b: ArrayLike, shape: Shape = None, dtype: Any = "float64") -> Array:
    """Beta-distributed numbers, from two gamma-distributed ones.

    >>> bool(ct.random.beta(ct.random.key(7), 2.0, 3.0) < 1.0)
    True
    """
    from cotangent._elementwise import broadcast_arrays
    a, b = broadcast_arrays(array(a), array(b))
    keys = split(key)
    x, y = gamma(keys[0], a, shape, dtype), gamma(keys[1], b, shape, dtype)
    return x / (x + y)


def poisson(key: Array, lam: ArrayLike, shape: Shape = None, dtype: Any = "int64") -> Array:
    """Poisson-distributed integers of mean ``lam``, at most a few hundred: the distribution function is searched.

    >>> ct.random.poisson(ct.random.key(7), 2.0).dtype
    cotangent.int64
    """
    from cotangent import special
    lam = _cotangent.convert(array(lam), "float64")
    shape = tuple(lam.shape) if shape is None else _shape(shape)
    lam = ct.broadcast_to(lam, shape)
    u = uniform(key, shape)
    low, high = lam * 0 - 1.0, ct.ceil(lam + 20.0 * ct.sqrt(lam) + 40.0)
    for _ in range(24):
        middle = ct.floor((low + high) / 2)
        below = (middle <= low) | (special.gammaincc(ct.maximum(middle, 0.0) + 1.0, lam) < u)
        low, high = ct.where(below, middle, low), ct.where(below, high, middle)
    return _cotangent.convert(high, dtype)


__all__ = ["key", "split", "fold_in", "bits", "uniform", "normal", "exponential", "gumbel", "truncated_normal", "bernoulli",
         "categorical", "randint", "permutation", "dropout", "laplace", "cauchy", "gamma", "beta",
         "poisson"]
