"""Functions of neural networks."""

from __future__ import annotations

from typing import Any

import cotangent as ct
from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, axes_of, beside, floating, one_axis, op, raise_

_unary = _cotangent.unary


def relu(x: ArrayLike) -> Array:
    """max(x, 0), with derivative 0 at 0.

    >>> ct.nn.relu([-1.0, 2.0])
    array([0., 2.], dtype=float64)
    """
    return _unary("relu", "any", x)


def silu(x: ArrayLike) -> Array:
    """x / (1 + exp(-x)).

    >>> ct.nn.silu([0.0, 1.0])
    array([0.        , 0.73105858], dtype=float64)
    """
    return _unary("silu", "float", x)


def softplus(x: ArrayLike) -> Array:
    """log(1 + exp(x)).

    >>> ct.nn.softplus(0.0)
    array(0.69314718, dtype=float64)
    """
    return _unary("softplus", "float", x)


def sigmoid(x: ArrayLike) -> Array:
    """1 / (1 + exp(-x)).

    >>> ct.nn.sigmoid(0.0)
    array(0.5, dtype=float64)
    """
    return _unary("logistic", "float", x)


def tanh(x: ArrayLike) -> Array:
    """Hyperbolic tangent.

    >>> ct.nn.tanh(0.5)
    array(0.46211716, dtype=float64)
    """
    return _unary("tanh", "float", x)


def gelu(x: ArrayLike, approximate: str = "none") -> Array:
    """x times the normal distribution function of x; ``approximate="tanh"``: the usual approximation.

    >>> ct.nn.gelu([-1.0, 2.0])
    array([-0.15865525,  1.95449974], dtype=float64)
    """
    return op("gelu", (floating(x),), {"approximate": approximate})


def softmax(x: ArrayLike, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along an axis.

    >>> ct.nn.softmax([0.0, 0.0])
    array([0.5, 0.5], dtype=float64)
    """
    x = floating(x)
    return op("softmax", (x,), {"axis": one_axis(axis, x.ndim)})


def log_softmax(x: ArrayLike, axis: int = -1) -> Array:
    """The logarithm of softmax, stable to every order.

    >>> ct.nn.log_softmax([0.0, 0.0])
    array([-0.69314718, -0.69314718], dtype=float64)
    """
    x = floating(x)
    return op("log_softmax", (x,), {"axis": one_axis(axis, x.ndim)})


def cross_entropy(logits: ArrayLike, labels: ArrayLike, axis: int = -1, reduction: str = "mean") -> Array:
    """-log softmax(logits) at the labels: classes, or probabilities of the shape of ``logits``.

    >>> ct.nn.cross_entropy([[0.0, 0.0]], [1])
    array(0.69314718, dtype=float64)
    """
    logits, labels = floating(logits), array(labels)
    if labels.dtype.kind == "f" and labels.dtype != logits.dtype:
        labels = _cotangent.convert(labels, logits.dtype)
    return op("cross_entropy", (logits, labels), {"axis": one_axis(axis, logits.ndim), "reduction": reduction})


def layer_norm(x: ArrayLike, weight: Any = None, bias: Any = None, axes: Any = (-1,), eps: float = 1e-5) -> Array:
    """(x - mean) / sqrt(var + eps) over axes, times a weight and plus a bias.

    >>> ct.nn.layer_norm([1.0, 3.0], eps=0.0)
    array([-1.,  1.], dtype=float64)
    """
    x = floating(x)
    if bias is not None and weight is None:
        weight = beside(x, _cotangent.full(array(bias).shape, 1, x.dtype))
    extra = tuple(array(a) for a in (weight, bias) if a is not None)
    return op("layer_norm", (x, *extra), {"axes": axes_of(axes, x.ndim), "eps": float(eps)})


def one_hot(x: ArrayLike, num_classes: int, dtype: Any = "float64") -> Array:
    """1 at the class along a new last axis, 0 elsewhere.

    >>> ct.nn.one_hot([0, 2], 3)
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float64)
    """
    return op("one_hot", (x,), {"depth": num_classes, "dtype": _cotangent.dtype(dtype)})


def elu(x: ArrayLike, alpha: float = 1.0) -> Array:
    """x above 0, alpha (exp(x) - 1) below.

    >>> ct.nn.elu([-1.0, 2.0])
    array([-0.63212056,  2.        ], dtype=float64)
    """
    x = floating(x)
    return ct.where(x > 0, x, alpha * ct.expm1(ct.where(x > 0, 0.0, x)))


def selu(x: ArrayLike) -> Array:
    """The self-normalising elu.

    >>> ct.nn.selu(1.0)
    array(1.05070099, dtype=float64)
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def leaky_relu(x: ArrayLike, negative_slope: float = 0.01) -> Array:
    """x above 0, a small multiple of it below.

    >>> ct.nn.leaky_relu([-1.0, 2.0])
    array([-0.01,  2.  ], dtype=float64)
    """
    x = floating(x)
    return ct.where(x >= 0, x, negative_slope * x)


def hard_tanh(x: ArrayLike) -> Array:
    """x between -1 and 1.

    >>> ct.nn.hard_tanh([-3.0, 0.5])
    array([-1. ,  0.5], dtype=float64)
    """
    return ct.clip(floating(x), -1.0, 1.0)


def glu(x: ArrayLike, axis: int = -1) -> Array:
    """The first half along an axis times the sigmoid of the second.

    >>> ct.nn.glu([2.0, 0.0])
    array([1.], dtype=float64)
    """
    from cotangent._shapes import split
    x = floating(x)
    a, b = split(x, 2, axis)
    return a * sigmoid(b)


def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: Any = None, scale: float | None = None) -> Array:
    """softmax(query key^T scale) value over the last two axes; ``scale`` is 1 / sqrt of the last extent by default.

    >>> ct.nn.dot_product_attention(ct.zeros((1, 2)), ct.ones((2, 2)), [[1.0], [3.0]])
    array([[2.]], dtype=float64)
    """
    from cotangent._products import matmul
    q, k, v = _cotangent.promoted(query, key, value, kind="float")
    if not isinstance(q.shape[-1], int) and scale is None:
        raise raise_("Attribute", "attention over an extent that is not known needs a scale")
    scores = matmul(q, k.mT) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = ct.where(mask, scores, -float("inf"))
    return matmul(softmax(scores), v)


def batch_norm(x: ArrayLike, mean: ArrayLike, var: ArrayLike, weight: Any = None, bias: Any = None, axis: int = 1,
               eps: float = 1e-5) -> Array:
    """(x - mean) / sqrt(var + eps) with statistics for each element of an axis.

    >>> ct.nn.batch_norm([[3.0, 4.0]], [1.0, 2.0], [1.0, 4.0], eps=0.0)
    array([[2., 1.]], dtype=float64)
    """
    x0 = floating(x)
    axis = one_axis(axis, x0.ndim)

    def spread(a: ArrayLike) -> Array:
        return array(a).reshape([array(a).size if k == axis else 1 for k in range(x0.ndim)])

    y = (x0 - spread(mean)) * ct.rsqrt(spread(var) + eps)
    y = y if weight is None else y * spread(weight)
    return y if bias is None else y + spread(bias)


__all__ = ["relu", "gelu", "silu", "softplus", "sigmoid", "tanh", "softmax", "log_softmax", "cross_entropy", "layer_norm", "one_hot",
         "elu", "leaky_relu", "selu", "hard_tanh", "glu", "dot_product_attention", "batch_norm"]
