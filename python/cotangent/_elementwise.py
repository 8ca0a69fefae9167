"""Elementwise functions. Most are a row of a table: name, operation of the library, kind of operands, meaning."""

from __future__ import annotations

import builtins
from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, binary, op, unary

# Kinds: "float": integers and booleans become float64; "integer": booleans become int64; "any"; "compare".
UNARY = [
    ("acos", "acos", "float", "Inverse cosine."),
    ("acosh", "acosh", "float", "Inverse hyperbolic cosine."),
    ("asin", "asin", "float", "Inverse sine."),
    ("asinh", "asinh", "float", "Inverse hyperbolic sine."),
    ("atan", "atan", "float", "Inverse tangent."),
    ("atanh", "atanh", "float", "Inverse hyperbolic tangent."),
    ("cbrt", "cbrt", "float", "Cube root."),
    ("cos", "cos", "float", "Cosine."),
    ("cosh", "cosh", "float", "Hyperbolic cosine."),
    ("erf", "erf", "float", "Error function."),
    ("erfc", "erfc", "float", "1 - erf(x) without cancellation."),
    ("exp", "exp", "float", "Exponential function."),
    ("exp2", "exp2", "float", "2 to the power x."),
    ("expm1", "expm1", "float", "exp(x) - 1 without cancellation."),
    ("log", "log", "float", "Natural logarithm."),
    ("log10", "log10", "float", "Logarithm to base 10."),
    ("log1p", "log1p", "float", "log(1 + x) without cancellation."),
    ("log2", "log2", "float", "Logarithm to base 2."),
    ("negative", "neg", "any", "-x."),
    ("rsqrt", "rsqrt", "float", "1 / sqrt(x)."),
    ("signbit", "signbit", "integer", "Whether the sign bit is set: of -0.0 and negative NaN, too."),
    ("sin", "sin", "float", "Sine."),
    ("sinc", "sinc", "float", "sin(pi x) / (pi x), 1 at 0."),
    ("sinh", "sinh", "float", "Hyperbolic sine."),
    ("sqrt", "sqrt", "float", "Square root; its derivative is infinite at 0."),
    ("square", "square", "any", "x * x."),
    ("stop_gradient", "stop_gradient", "any", "x, with derivative zero."),
    ("tan", "tan", "float", "Tangent."),
    ("tanh", "tanh", "float", "Hyperbolic tangent."),
]

BINARY = [
    ("add", "add", "any", "x1 + x2."),
    ("atan2", "atan2", "float", "Angle of the point (x2, x1)."),
    ("bitwise_and", "and", "any", "Bitwise and."),
    ("bitwise_left_shift", "shift_left", "integer", "Bits shifted to the left."),
    ("bitwise_or", "or", "any", "Bitwise or."),
    ("bitwise_xor", "xor", "any", "Bitwise exclusive or."),
    ("copysign", "copysign", "float", "The magnitude of x1 with the sign of x2."),
    ("divide", "div", "float", "x1 / x2: float64 for integers."),
    ("equal", "eq", "compare", "x1 == x2."),
    ("floor_divide", "floor_divide", "integer", "x1 / x2 rounded toward -inf; of integers, -1 where x2 is 0."),
    ("fmod", "rem", "any", "Remainder with the sign of x1."),
    ("greater", "gt", "compare", "x1 > x2."),
    ("greater_equal", "ge", "compare", "x1 >= x2."),
    ("hypot", "hypot", "float", "sqrt(x1² + x2²) without overflow; its derivative is 0 where both are 0."),
    ("less", "lt", "compare", "x1 < x2."),
    ("less_equal", "le", "compare", "x1 <= x2."),
    ("logaddexp", "logaddexp", "float", "log(exp(x1) + exp(x2))."),
    ("maximum", "max", "any", "The larger operand; NaN if either is NaN; a tie shares the gradient."),
    ("minimum", "min", "any", "The smaller operand; NaN if either is NaN; a tie shares the gradient."),
    ("multiply", "mul", "any", "x1 * x2."),
    ("nextafter", "nextafter", "float", "The next number after x1 toward x2."),
    ("not_equal", "ne", "compare", "x1 != x2."),
    ("remainder", "floor_mod", "integer", "The remainder of floor division, with the sign of x2; of integers, x1 where x2 is 0."),
    ("subtract", "sub", "any", "x1 - x2."),
]

for _name, _op, _kind, _doc in UNARY:
    globals()[_name] = unary(_name, _op, _kind, _doc)
for _name, _op, _kind, _doc in BINARY:
    globals()[_name] = binary(_name, _op, _kind, _doc)

_unary = _cotangent.unary
_binary = _cotangent.binary


def abs(x: ArrayLike, /) -> Array:
    """Magnitude: of integers and floats with their type, of complex numbers real."""
    x = array(x)
    return x if x.dtype.kind in "bu" else op("abs", (x,))


def conj(x: ArrayLike, /) -> Array:
    """Complex conjugate; real numbers are themselves."""
    x = array(x)
    return op("conj", (x,)) if x.dtype.kind == "c" else x


def positive(x: ArrayLike, /) -> Array:
    """x."""
    return array(x)


def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1, and NaN for NaN; z / abs(z) for complex numbers."""
    return op("sign", (x,)) + 0  # the array API: +0 for both zeros


def reciprocal(x: ArrayLike, /) -> Array:
    """1 / x."""
    return _binary("div", "float", 1, x)


def _integral(name: str, x: ArrayLike) -> Array:
    x = array(x)
    if x.dtype.kind in "biu":
        return x
    if x.dtype.kind == "c":
        return op("complex", (op(name, (op("real", (x,)),)), op(name, (op("imag", (x,)),))))
    return op(name, (x,))


def ceil(x: ArrayLike, /) -> Array:
    """The smallest integer that is at least x."""
    return _integral("ceil", x)


def floor(x: ArrayLike, /) -> Array:
    """The largest integer that is at most x."""
    return _integral("floor", x)


def trunc(x: ArrayLike, /) -> Array:
    """The integer part of x, toward zero."""
    return _integral("trunc", x)


def round(x: ArrayLike, /, decimals: int = 0) -> Array:
    """The nearest number with so many decimals, ties to even; complex numbers by parts."""
    if decimals:
        scale = 10.0 ** decimals
        return _integral("round_half_even", array(x) * scale) / scale
    return _integral("round_half_even", x)


def real(x: ArrayLike, /) -> Array:
    """The real part."""
    x = array(x)
    return op("real", (x,)) if x.dtype.kind == "c" else x


def imag(x: ArrayLike, /) -> Array:
    """The imaginary part."""
    x = array(x)
    return op("imag", (x,)) if x.dtype.kind == "c" else x * 0


def _test(name: str, x: ArrayLike, of_integers: bool) -> Array:
    x = array(x)
    if x.dtype.kind in "biu":
        return op("full_like", (x,), {"value": of_integers, "dtype": "i1"})
    return op(name, (x,))


def isfinite(x: ArrayLike, /) -> Array:
    """Whether x, with both parts of a complex x, is neither infinite nor NaN."""
    return _test("is_finite", x, True)


def isinf(x: ArrayLike, /) -> Array:
    """Whether x, or a part of a complex x, is infinite."""
    return _test("is_inf", x, False)


def isnan(x: ArrayLike, /) -> Array:
    """Whether x, or a part of a complex x, is not a number."""
    return _test("is_nan", x, False)


def logical_not(x: ArrayLike, /) -> Array:
    """Not x."""
    return op("not", (_truth(x),))


def bitwise_invert(x: ArrayLike, /) -> Array:
    """Bitwise not."""
    return op("not", (x,))


def _truth(x: ArrayLike) -> Array:
    x = array(x)
    return x if x.dtype.kind == "b" else _cotangent.convert(x, "bool")


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 and x2."""
    return _binary("and", "any", _truth(x1), _truth(x2))


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 or x2."""
    return _binary("or", "any", _truth(x1), _truth(x2))


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Either x1 or x2."""
    return _binary("xor", "any", _truth(x1), _truth(x2))


def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Bits shifted to the right: the sign is repeated for signed types."""
    x1, x2 = _cotangent.promoted(x1, x2, kind="integer")
    return op("shift_right_logical" if x1.dtype.kind == "u" else "shift_right_arithmetic", tuple(broadcast_arrays(x1, x2)))


def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 to the power x2; a constant integer exponent is repeated multiplication."""
    if isinstance(x2, int) and not isinstance(x2, bool):
        return array(x1) ** x2
    return _binary("pow", "any", x1, x2)


def xlogy(x: ArrayLike, y: ArrayLike, /) -> Array:
    """x log(y), 0 where x is 0."""
    return _binary("xlogy", "float", x, y)


def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 where the condition holds, otherwise x2."""
    x1, x2 = _cotangent.promoted(x1, x2)
    c, x1, x2 = broadcast_arrays(_truth(condition), x1, x2)
    return op("select", (c, x1, x2))


def clip(x: ArrayLike, /, min: Any = None, max: Any = None) -> Array:
    """x within bounds, which broadcast."""
    y = array(x)
    kind = y.dtype
    for bound, name in ((min, "max"), (max, "min")):
        if bound is not None:
            if isinstance(bound, Array) and bound.dtype != kind and not bound.weak_type:
                bound = _cotangent.convert(bound, kind)
            y = _binary(name, "any", y, bound)
    return y


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """The common shape of shapes by NumPy's rule."""
    rank = builtins.max((len(s) for s in shapes), default=0)
    out: list[Any] = [1] * rank
    for shape in shapes:
        for k, n in enumerate(shape, rank - len(shape)):
            if isinstance(out[k], int) and out[k] == 1:
                out[k] = n
            elif not (isinstance(n, int) and n == 1) and isinstance(n, int) and isinstance(out[k], int) and n != out[k]:
                from cotangent._core import raise_
                raise raise_("ShapeMismatch", f"shapes that do not broadcast: {', '.join(map(str, shapes))}")
    return tuple(out)


def broadcast_to(x: ArrayLike, /, shape: Any) -> Array:
    """x repeated along new axes and axes of extent 1."""
    x = array(x)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(shape) == x.ndim and builtins.all(a is b or (isinstance(a, int) and a == b) for a, b in zip(shape, x.shape)):
        return x
    if broadcast_shapes(x.shape, shape) != shape:
        from cotangent._core import raise_
        raise raise_("ShapeMismatch", f"an array of shape {x.shape} does not broadcast to {shape}")
    dims = tuple(range(len(shape) - x.ndim, len(shape)))
    return op("broadcast_in_dim", (x,), {"shape": shape, "dims": dims})


def broadcast_arrays(*arrays: ArrayLike) -> list[Array]:
    """Arrays broadcast to their common shape."""
    found = [array(x) for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in found))
    return [broadcast_to(x, shape) for x in found]


NAMES = [r[0] for r in UNARY] + [r[0] for r in BINARY] + [
    "abs", "conj", "positive", "sign", "reciprocal", "ceil", "floor", "trunc", "round", "real", "imag", "isfinite", "isinf", "isnan",
    "logical_not", "bitwise_invert", "logical_and", "logical_or", "logical_xor",
    "bitwise_right_shift", "pow", "xlogy", "where", "clip", "broadcast_shapes", "broadcast_to",
    "broadcast_arrays"]
