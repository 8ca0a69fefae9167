"""Elementwise functions. Most are a row of a table: name, operation of the library, kind of operands, meaning, a call, its result."""

from __future__ import annotations

import builtins
from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, array, binary, op, unary

# Kinds: "float": integers and booleans become float64; "integer": booleans become int64; "any"; "compare".
UNARY = [
    ("acos", "acos", "float", "Inverse cosine.",
     "ct.acos(1.0)", "array(0., dtype=float64)"),
    ("acosh", "acosh", "float", "Inverse hyperbolic cosine.",
     "ct.acosh(1.0)", "array(0., dtype=float64)"),
    ("asin", "asin", "float", "Inverse sine.",
     "ct.asin(0.0)", "array(0., dtype=float64)"),
    ("asinh", "asinh", "float", "Inverse hyperbolic sine.",
     "ct.asinh(0.0)", "array(0., dtype=float64)"),
    ("atan", "atan", "float", "Inverse tangent.",
     "ct.atan(1.0)", "array(0.78539816, dtype=float64)"),
    ("atanh", "atanh", "float", "Inverse hyperbolic tangent.",
     "ct.atanh(0.5)", "array(0.54930614, dtype=float64)"),
    ("cbrt", "cbrt", "float", "Cube root.",
     "ct.cbrt([8.0, -27.0])", "array([ 2., -3.], dtype=float64)"),
    ("cos", "cos", "float", "Cosine.",
     "ct.cos(0.0)", "array(1., dtype=float64)"),
    ("cosh", "cosh", "float", "Hyperbolic cosine.",
     "ct.cosh(0.0)", "array(1., dtype=float64)"),
    ("erf", "erf", "float", "Error function.",
     "ct.erf(0.5)", "array(0.52049988, dtype=float64)"),
    ("erfc", "erfc", "float", "1 - erf(x) without cancellation.",
     "ct.erfc(10.0)", "array(2.08848758e-45, dtype=float64)"),
    ("exp", "exp", "float", "Exponential function.",
     "ct.exp([0.0, 1.0])", "array([1.        , 2.71828183], dtype=float64)"),
    ("exp2", "exp2", "float", "2 to the power x.",
     "ct.exp2(3.0)", "array(8., dtype=float64)"),
    ("expm1", "expm1", "float", "exp(x) - 1 without cancellation.",
     "ct.expm1(1e-12)", "array(1.e-12, dtype=float64)"),
    ("log", "log", "float", "Natural logarithm.",
     "ct.log([1.0, 2.0])", "array([0.        , 0.69314718], dtype=float64)"),
    ("log10", "log10", "float", "Logarithm to base 10.",
     "ct.log10(1000.0)", "array(3., dtype=float64)"),
    ("log1p", "log1p", "float", "log(1 + x) without cancellation.",
     "ct.log1p(1e-12)", "array(1.e-12, dtype=float64)"),
    ("log2", "log2", "float", "Logarithm to base 2.",
     "ct.log2(8.0)", "array(3., dtype=float64)"),
    ("negative", "neg", "any", "-x.",
     "ct.negative([1, -2])", "array([-1,  2], dtype=int64)"),
    ("rsqrt", "rsqrt", "float", "1 / sqrt(x).",
     "ct.rsqrt(4.0)", "array(0.5, dtype=float64)"),
    ("signbit", "signbit", "integer", "Whether the sign bit is set: of -0.0 and negative NaN, too.",
     "ct.signbit([-0.0, 0.0])", "array([ True, False], dtype=bool)"),
    ("sin", "sin", "float", "Sine.",
     "ct.sin([0.0, 0.5])", "array([0.        , 0.47942554], dtype=float64)"),
    ("sinc", "sinc", "float", "sin(pi x) / (pi x), 1 at 0.",
     "ct.sinc([0.0, 0.5])", "array([1.        , 0.63661977], dtype=float64)"),
    ("sinh", "sinh", "float", "Hyperbolic sine.",
     "ct.sinh(1.0)", "array(1.17520119, dtype=float64)"),
    ("sqrt", "sqrt", "float", "Square root; its derivative is infinite at 0.",
     "ct.sqrt([4.0, 2.0])", "array([2.        , 1.41421356], dtype=float64)"),
    ("square", "square", "any", "x * x.",
     "ct.square([3, -4])", "array([ 9, 16], dtype=int64)"),
    ("stop_gradient", "stop_gradient", "any", "x, with derivative zero.",
     "float(ct.grad(lambda x: x * ct.stop_gradient(x))(3.0))", "3.0"),
    ("tan", "tan", "float", "Tangent.",
     "ct.tan(0.0)", "array(0., dtype=float64)"),
    ("tanh", "tanh", "float", "Hyperbolic tangent.",
     "ct.tanh(0.5)", "array(0.46211716, dtype=float64)"),
]

BINARY = [
    ("add", "add", "any", "x1 + x2.",
     "ct.add([1, 2], 0.5)", "array([1.5, 2.5], dtype=float64)"),
    ("atan2", "atan2", "float", "Angle of the point (x2, x1).",
     "ct.atan2(1.0, -1.0)", "array(2.35619449, dtype=float64)"),
    ("bitwise_and", "and", "any", "Bitwise and.",
     "ct.bitwise_and(6, 3)", "array(2, dtype=int64)"),
    ("bitwise_left_shift", "shift_left", "integer", "Bits shifted to the left.",
     "ct.bitwise_left_shift(3, 2)", "array(12, dtype=int64)"),
    ("bitwise_or", "or", "any", "Bitwise or.",
     "ct.bitwise_or(6, 3)", "array(7, dtype=int64)"),
    ("bitwise_xor", "xor", "any", "Bitwise exclusive or.",
     "ct.bitwise_xor(6, 3)", "array(5, dtype=int64)"),
    ("copysign", "copysign", "float", "The magnitude of x1 with the sign of x2.",
     "ct.copysign([1.0, 2.0], [-0.0, 3.0])", "array([-1.,  2.], dtype=float64)"),
    ("divide", "div", "float", "x1 / x2: float64 for integers.",
     "ct.divide(1, 4)", "array(0.25, dtype=float64)"),
    ("equal", "eq", "compare", "x1 == x2.",
     "ct.equal([1, 2], [1, 3])", "array([ True, False], dtype=bool)"),
    ("floor_divide", "floor_divide", "integer", "x1 / x2 rounded toward -inf; of integers, -1 where x2 is 0.",
     "ct.floor_divide([7, -7], 2)", "array([ 3, -4], dtype=int64)"),
    ("fmod", "rem", "any", "Remainder with the sign of x1.",
     "ct.fmod([7, -7], 3)", "array([ 1, -1], dtype=int64)"),
    ("greater", "gt", "compare", "x1 > x2.",
     "ct.greater([1, 2], 1)", "array([False,  True], dtype=bool)"),
    ("greater_equal", "ge", "compare", "x1 >= x2.",
     "ct.greater_equal([1, 2], 2)", "array([False,  True], dtype=bool)"),
    ("hypot", "hypot", "float", "sqrt(x1² + x2²) without overflow; its derivative is 0 where both are 0.",
     "ct.hypot(3e200, 4e200)", "array(5.e+200, dtype=float64)"),
    ("less", "lt", "compare", "x1 < x2.",
     "ct.less([1, 2], 2)", "array([ True, False], dtype=bool)"),
    ("less_equal", "le", "compare", "x1 <= x2.",
     "ct.less_equal([1, 2], 1)", "array([ True, False], dtype=bool)"),
    ("logaddexp", "logaddexp", "float", "log(exp(x1) + exp(x2)).",
     "ct.logaddexp(0.0, 0.0)", "array(0.69314718, dtype=float64)"),
    ("maximum", "max", "any", "The larger operand; NaN if either is NaN; a tie shares the gradient.",
     "ct.maximum([1.0, 5.0], 3.0)", "array([3., 5.], dtype=float64)"),
    ("minimum", "min", "any", "The smaller operand; NaN if either is NaN; a tie shares the gradient.",
     "ct.minimum([1.0, 5.0], 3.0)", "array([1., 3.], dtype=float64)"),
    ("multiply", "mul", "any", "x1 * x2.",
     "ct.multiply([1, 2], [3, 4])", "array([3, 8], dtype=int64)"),
    ("nextafter", "nextafter", "float", "The next number after x1 toward x2.",
     "ct.nextafter(1.0, 2.0) - 1.0", "array(2.22044605e-16, dtype=float64)"),
    ("not_equal", "ne", "compare", "x1 != x2.",
     "ct.not_equal([1, 2], [1, 3])", "array([False,  True], dtype=bool)"),
    ("remainder", "floor_mod", "integer", "The remainder of floor division, with the sign of x2; of integers, x1 where x2 is 0.",
     "ct.remainder([7, -7], 3)", "array([1, 2], dtype=int64)"),
    ("subtract", "sub", "any", "x1 - x2.",
     "ct.subtract([5, 2], 1)", "array([4, 1], dtype=int64)"),
]

for _row in UNARY:
    globals()[_row[0]] = unary(*_row)
for _row in BINARY:
    globals()[_row[0]] = binary(*_row)

_unary = _cotangent.unary
_binary = _cotangent.binary


def abs(x: ArrayLike, /) -> Array:
    """Magnitude: of integers and floats with their type, of complex numbers real.

    >>> ct.abs([-1.5, 3 + 4j])
    array([1.5, 5. ], dtype=float64)
    """
    x = array(x)
    return x if x.dtype.kind in "bu" else op("abs", (x,))


def conj(x: ArrayLike, /) -> Array:
    """Complex conjugate; real numbers are themselves.

    >>> ct.conj(1 + 2j)
    array(1.-2.j, dtype=complex128)
    """
    x = array(x)
    return op("conj", (x,)) if x.dtype.kind == "c" else x


def positive(x: ArrayLike, /) -> Array:
    """x.

    >>> ct.positive([1, -2])
    array([ 1, -2], dtype=int64)
    """
    return array(x)


def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1, and NaN for NaN; z / abs(z) for complex numbers.

    >>> ct.sign([-2.0, 0.0, 3.0])
    array([-1.,  0.,  1.], dtype=float64)
    """
    return op("sign", (x,)) + 0  # the array API: +0 for both zeros


def reciprocal(x: ArrayLike, /) -> Array:
    """1 / x.

    >>> ct.reciprocal([2.0, 4.0])
    array([0.5 , 0.25], dtype=float64)
    """
    return _binary("div", "float", 1, x)


def _integral(name: str, x: ArrayLike) -> Array:
    y = array(x)
    if y.dtype.kind in "biu":
        return y
    if y.dtype.kind == "c":
        return op("complex", (op(name, (op("real", (y,)),)), op(name, (op("imag", (y,)),))))
    return op(name, (y,))


def ceil(x: ArrayLike, /) -> Array:
    """The smallest integer that is at least x.

    >>> ct.ceil([1.2, -1.2])
    array([ 2., -1.], dtype=float64)
    """
    return _integral("ceil", x)


def floor(x: ArrayLike, /) -> Array:
    """The largest integer that is at most x.

    >>> ct.floor([1.2, -1.2])
    array([ 1., -2.], dtype=float64)
    """
    return _integral("floor", x)


def trunc(x: ArrayLike, /) -> Array:
    """The integer part of x, toward zero.

    >>> ct.trunc([1.7, -1.7])
    array([ 1., -1.], dtype=float64)
    """
    return _integral("trunc", x)


def round(x: ArrayLike, /, decimals: int = 0) -> Array:
    """The nearest number with so many decimals, ties to even; complex numbers by parts.

    >>> ct.round([0.5, 1.5, 2.6])
    array([0., 2., 3.], dtype=float64)
    """
    if decimals:
        scale = 10.0 ** decimals
        return _integral("round_half_even", array(x) * scale) / scale
    return _integral("round_half_even", x)


def real(x: ArrayLike, /) -> Array:
    """The real part.

    >>> ct.real(1 + 2j)
    array(1., dtype=float64)
    """
    x = array(x)
    return op("real", (x,)) if x.dtype.kind == "c" else x


def imag(x: ArrayLike, /) -> Array:
    """The imaginary part.

    >>> ct.imag(1 + 2j)
    array(2., dtype=float64)
    """
    x = array(x)
    return op("imag", (x,)) if x.dtype.kind == "c" else x * 0


def _test(name: str, x: ArrayLike, of_integers: bool) -> Array:
    x = array(x)
    if x.dtype.kind in "biu":
        return op("full_like", (x,), {"value": of_integers, "dtype": "i1"})
    return op(name, (x,))


def isfinite(x: ArrayLike, /) -> Array:
    """Whether x, with both parts of a complex x, is neither infinite nor NaN.

    >>> ct.isfinite([1.0, np.inf, np.nan])
    array([ True, False, False], dtype=bool)
    """
    return _test("is_finite", x, True)


def isinf(x: ArrayLike, /) -> Array:
    """Whether x, or a part of a complex x, is infinite.

    >>> ct.isinf([1.0, np.inf, np.nan])
    array([False,  True, False], dtype=bool)
    """
    return _test("is_inf", x, False)


def isnan(x: ArrayLike, /) -> Array:
    """Whether x, or a part of a complex x, is not a number.

    >>> ct.isnan([1.0, np.inf, np.nan])
    array([False, False,  True], dtype=bool)
    """
    return _test("is_nan", x, False)


def logical_not(x: ArrayLike, /) -> Array:
    """Not x.

    >>> ct.logical_not([True, False])
    array([False,  True], dtype=bool)
    """
    return op("not", (_truth(x),))


def bitwise_invert(x: ArrayLike, /) -> Array:
    """Bitwise not.

    >>> ct.bitwise_invert([0, 1])
    array([-1, -2], dtype=int64)
    """
    return op("not", (x,))


def _truth(x: ArrayLike) -> Array:
    x = array(x)
    return x if x.dtype.kind == "b" else _cotangent.convert(x, "bool")


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 and x2.

    >>> ct.logical_and([True, True], [True, False])
    array([ True, False], dtype=bool)
    """
    return _binary("and", "any", _truth(x1), _truth(x2))


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 or x2.

    >>> ct.logical_or([True, False], [False, False])
    array([ True, False], dtype=bool)
    """
    return _binary("or", "any", _truth(x1), _truth(x2))


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Either x1 or x2.

    >>> ct.logical_xor([True, True], [True, False])
    array([False,  True], dtype=bool)
    """
    return _binary("xor", "any", _truth(x1), _truth(x2))


def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Bits shifted to the right: the sign is repeated for signed types.

    >>> ct.bitwise_right_shift(-8, 1)
    array(-4, dtype=int64)
    """
    x1, x2 = _cotangent.promoted(x1, x2, kind="integer")
    return op("shift_right_logical" if x1.dtype.kind == "u" else "shift_right_arithmetic", tuple(broadcast_arrays(x1, x2)))


def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 to the power x2; a constant integer exponent is repeated multiplication.

    >>> ct.pow([2.0, 3.0], 3)
    array([ 8., 27.], dtype=float64)
    """
    if isinstance(x2, int) and not isinstance(x2, bool):
        return array(x1) ** x2
    return _binary("pow", "any", x1, x2)


def xlogy(x: ArrayLike, y: ArrayLike, /) -> Array:
    """x log(y), 0 where x is 0.

    >>> ct.xlogy([0.0, 2.0], [0.0, 1.0])
    array([0., 0.], dtype=float64)
    """
    return _binary("xlogy", "float", x, y)


def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 where the condition holds, otherwise x2.

    >>> ct.where([True, False], 1.0, [5.0, 6.0])
    array([1., 6.], dtype=float64)
    """
    x1, x2 = _cotangent.promoted(x1, x2)
    c, x1, x2 = broadcast_arrays(_truth(condition), x1, x2)
    return op("select", (c, x1, x2))


def clip(x: ArrayLike, /, min: Any = None, max: Any = None) -> Array:
    """x within bounds, which broadcast.

    >>> ct.clip([-1.0, 0.5, 2.0], 0.0, 1.0)
    array([0. , 0.5, 1. ], dtype=float64)
    """
    y = array(x)
    kind = y.dtype
    for bound, name in ((min, "max"), (max, "min")):
        if bound is not None:
            if isinstance(bound, Array) and bound.dtype != kind and not bound.weak_type:
                bound = _cotangent.convert(bound, kind)
            y = _binary(name, "any", y, bound)
    return y


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The common shape of shapes by NumPy's rule.

    >>> ct.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
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
    """x repeated along new axes and axes of extent 1.

    >>> ct.broadcast_to([1, 2], (2, 2))
    array([[1, 2],
           [1, 2]], dtype=int64)
    """
    y = array(x)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(shape) == y.ndim and builtins.all(a is b or (isinstance(a, int) and a == b) for a, b in zip(shape, y.shape)):
        return y
    if broadcast_shapes(y.shape, shape) != shape:
        from cotangent._core import raise_
        raise raise_("ShapeMismatch", f"an array of shape {y.shape} does not broadcast to {shape}")
    dims = tuple(range(len(shape) - y.ndim, len(shape)))
    return op("broadcast_in_dim", (y,), {"shape": shape, "dims": dims})


def broadcast_arrays(*arrays: ArrayLike) -> list[Array]:
    """Arrays broadcast to their common shape.

    >>> [x.shape for x in ct.broadcast_arrays(ct.ones((2, 1)), ct.ones(3))]
    [(2, 3), (2, 3)]
    """
    found = [array(x) for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in found))
    return [broadcast_to(x, shape) for x in found]


NAMES = [r[0] for r in UNARY] + [r[0] for r in BINARY] + [
    "abs", "conj", "positive", "sign", "reciprocal", "ceil", "floor", "trunc", "round", "real", "imag", "isfinite", "isinf", "isnan",
    "logical_not", "bitwise_invert", "logical_and", "logical_or", "logical_xor",
    "bitwise_right_shift", "pow", "xlogy", "where", "clip", "broadcast_shapes", "broadcast_to",
    "broadcast_arrays"]
