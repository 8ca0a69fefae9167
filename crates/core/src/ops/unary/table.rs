//! The table of unary functions: value, domain and derivative of each.
//!
//! Derivatives are written so that they and *their* derivatives do not cancel or overflow where the
//! limit exists.

use crate::dtype::{C128, DType, Kind};
use crate::ir::{Emit, Lin, Lv, Val};
use crate::math;
use crate::ops::{Comparison, Convert, Side};
use crate::shape::Type;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2};

/// The functions. [`Unary::def`] is the row of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Sign,
    Floor,
    Ceil,
    Trunc,
    RoundHalfEven,
    RoundHalfAway,
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Logistic,
    Erf,
    Erfc,
    ErfInv,
    Lgamma,
    Digamma,
    OneMinusSquare,
    SechSquare,
    RecipOnePlusSquare,
    IsFinite,
    IsNan,
    Not,
    Popcnt,
    Clz,
    Conj,
    Real,
    Imag,
    StopGradient,
}

/// The adjoint of a linear row: cotangent and the operand's type to the operand's cotangent.
pub type UnaryTranspose = fn(&dyn Emit, Val, &Type) -> Val;

/// A row of the table of unary functions.
pub struct UnaryDef {
    /// The function.
    pub op: Unary,
    /// Its name in the text form.
    pub name: &'static str,
    /// The name of the emitter's method.
    pub method: &'static str,
    /// The name of the method of tensors; empty if they have none.
    pub tensor: &'static str,
    /// A one-line description with the formula.
    pub doc: &'static str,
    /// The element type of the result for that of the operand. `None` if it is not defined.
    pub types: fn(DType) -> Option<DType>,
    /// Its value on reals.
    pub real: fn(f64) -> f64,
    /// Its value on complex numbers. If the result type is real, the real part is used.
    pub complex: fn(C128) -> C128,
    /// Its value on integers and booleans; the result is wrapped to the type.
    pub int: fn(i128, DType) -> i128,
    /// An interval where it is smooth, for samples.
    pub domain: (f64, f64),
    /// Work per element, in additions.
    pub flops: f64,
    /// The derivative: operand, result, tangent.
    pub linearize: fn(&Lin<'_>, Val, Val, Lv) -> Option<Lv>,
    /// The adjoint, for linear rows.
    pub transpose: Option<UnaryTranspose>,
}

impl Unary {
    /// Its row.
    pub fn def(self) -> &'static UnaryDef {
        &UNARY[self as usize]
    }
}

fn float(d: DType) -> Option<DType> {
    d.is_float().then_some(d)
}

fn float_or_complex(d: DType) -> Option<DType> {
    d.is_inexact().then_some(d)
}

fn any(d: DType) -> Option<DType> {
    Some(d)
}

fn numeric(d: DType) -> Option<DType> {
    (d != DType::Bool).then_some(d)
}

fn to_real(d: DType) -> Option<DType> {
    float_or_complex(d).map(DType::real)
}

fn to_bool(d: DType) -> Option<DType> {
    float_or_complex(d).map(|_| DType::Bool)
}

fn bits(d: DType) -> Option<DType> {
    matches!(d.kind(), Kind::Int | Kind::Bool).then_some(d)
}

fn no_int(_: i128, _: DType) -> i128 {
    unreachable!("the type rule admits no integers")
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// A row with default fields.
const fn row(op: Unary, name: &'static str, doc: &'static str) -> UnaryDef {
    UnaryDef {
        op,
        name,
        method: name,
        tensor: name,
        doc,
        types: float_or_complex,
        real: |x| x,
        complex: |z| z,
        int: no_int,
        domain: (-2.0, 2.0),
        flops: 10.0,
        linearize: |_, _, _, _| None,
        transpose: None,
    }
}

/// A row of a piecewise constant function.
const fn step(op: Unary, name: &'static str, doc: &'static str, real: fn(f64) -> f64) -> UnaryDef {
    UnaryDef {
        types: float,
        real,
        flops: 1.0,
        ..row(op, name, doc)
    }
}

/// `t / (c x)`.
fn over(cx: &Lin<'_>, t: Lv, c: f64, x: Val) -> Lv {
    cx.unscale(t, cx.mul(cx.full_like(x, c), x))
}

/// `1 + x²`. On complex numbers it is written as a product, because it vanishes at `±i`.
fn one_plus_square(cx: &dyn Emit, x: Val) -> Val {
    if cx.ty(x).dtype.is_complex() {
        return cx.one_minus_square(cx.mul(cx.full_like(x, C128::I), x));
    }
    cx.add(cx.full_like(x, 1.0), cx.square(x))
}

/// `sqrt(1 - x²)`. On complex numbers it is the product of two roots, which does not overflow.
fn root_one_minus_square(cx: &dyn Emit, x: Val) -> Val {
    if !cx.ty(x).dtype.is_complex() {
        return cx.sqrt(cx.one_minus_square(x));
    }
    let one = cx.full_like(x, 1.0);
    cx.mul(cx.sqrt(cx.sub(one, x)), cx.sqrt(cx.add(one, x)))
}

/// The table, in the order of the enum.
pub static UNARY: &[UnaryDef] = &[
    UnaryDef {
        types: numeric,
        real: |x| -x,
        complex: |z| -z,
        int: |i, _| -i,
        flops: 1.0,
        linearize: |cx, _, _, t| Some(cx.lneg(t)),
        transpose: Some(|cx, ct, _| cx.neg(ct)),
        ..row(Unary::Neg, "neg", "-x")
    },
    UnaryDef {
        types: |d| numeric(d).map(DType::real),
        real: f64::abs,
        complex: |z| z.norm().into(),
        int: |i, _| i.abs(),
        domain: (0.2, 2.0),
        flops: 1.0,
        // d|z| = Re(conj(z / |z|) dz), and sign(0) = 0.
        linearize: |cx, x, _, t| {
            let s = cx.sign(x);
            if !cx.ty(x).dtype.is_complex() {
                return Some(cx.at_kink(
                    Side::Sign {
                        up: cx.rises(x, None),
                    },
                    s,
                    t,
                ));
            }
            Some(cx.apply1(Unary::Real, &[cx.scale(cx.conj(s), t).into()]))
        },
        ..row(
            Unary::Abs,
            "abs",
            "absolute value: real for complex numbers; derivative 0 at 0",
        )
    },
    UnaryDef {
        types: numeric,
        real: math::sign,
        complex: math::complex::sign,
        int: |i, _| i.signum(),
        domain: (0.2, 2.0),
        flops: 1.0,
        // Constant on the reals. d(z/|z|) = (dz - s Re(conj(s) dz)) / |z|, and 0 at 0.
        linearize: |cx, x, y, t| {
            let dtype = cx.ty(x).dtype;
            if !dtype.is_complex() {
                return None;
            }
            let r = cx.abs(x);
            let zero = cx.full_like(r, 0.0);
            let w = cx.select(cx.compare(r, Comparison::Eq, zero), zero, cx.recip(r));
            let along = cx.apply1(Unary::Real, &[cx.scale(cx.conj(y), t).into()]);
            let along = cx.scale(y, cx.apply1(Convert { to: dtype }, &[along.into()]));
            Some(cx.scale(cx.convert(w, dtype), cx.sum(t, cx.lneg(along))))
        },
        ..row(
            Unary::Sign,
            "sign",
            "-1, 0 or 1 (zeros keep their sign, NaN stays NaN); z / |z| on complex numbers",
        )
    },
    step(
        Unary::Floor,
        "floor",
        "largest integer that is at most x",
        f64::floor,
    ),
    step(
        Unary::Ceil,
        "ceil",
        "smallest integer that is at least x",
        f64::ceil,
    ),
    step(
        Unary::Trunc,
        "trunc",
        "integer part, toward zero",
        f64::trunc,
    ),
    UnaryDef {
        tensor: "round_ties_even",
        ..step(
            Unary::RoundHalfEven,
            "round_half_even",
            "nearest integer, ties to even",
            f64::round_ties_even,
        )
    },
    step(
        Unary::RoundHalfAway,
        "round_half_away",
        "nearest integer, ties away from zero",
        f64::round,
    ),
    UnaryDef {
        real: f64::sqrt,
        complex: math::complex::sqrt,
        domain: (0.2, 3.0),
        flops: 4.0,
        linearize: |cx, _, y, t| Some(over(cx, t, 2.0, y)),
        ..row(Unary::Sqrt, "sqrt", "square root; derivative infinite at 0")
    },
    UnaryDef {
        real: |x| 1.0 / x.sqrt(),
        complex: |z| math::complex::div(C128::ONE, math::complex::sqrt(z)),
        domain: (0.2, 3.0),
        flops: 5.0,
        // -y / (2x), without 2x, which overflows first.
        linearize: |cx, x, y, t| Some(cx.unscale(cx.scale(cx.emit().scale_by(-0.5, y), t), x)),
        ..row(Unary::Rsqrt, "rsqrt", "1 / sqrt(x)")
    },
    UnaryDef {
        real: libm::cbrt,
        complex: math::complex::cbrt,
        domain: (0.2, 3.0),
        linearize: |cx, _, y, t| Some(over(cx, t, 3.0, cx.square(y))),
        ..row(
            Unary::Cbrt,
            "cbrt",
            "cube root; the principal one on complex numbers",
        )
    },
    UnaryDef {
        real: libm::exp,
        complex: math::complex::exp,
        linearize: |cx, _, y, t| Some(cx.scale(y, t)),
        ..row(Unary::Exp, "exp", "e^x")
    },
    UnaryDef {
        real: libm::exp2,
        complex: |z| math::complex::exp(z * LN_2),
        linearize: |cx, _, y, t| Some(cx.scale(cx.emit().scale_by(LN_2, y), t)),
        ..row(Unary::Exp2, "exp2", "2^x")
    },
    UnaryDef {
        real: libm::expm1,
        complex: math::complex::expm1,
        // Not y + 1, which is 0 below -37.
        linearize: |cx, x, _, t| Some(cx.scale(cx.exp(x), t)),
        ..row(Unary::Expm1, "expm1", "e^x - 1 without cancellation")
    },
    UnaryDef {
        real: libm::log,
        complex: math::complex::log,
        domain: (0.2, 3.0),
        linearize: |cx, x, _, t| Some(cx.unscale(t, x)),
        ..row(
            Unary::Log,
            "log",
            "natural logarithm; the principal branch on complex numbers",
        )
    },
    UnaryDef {
        real: libm::log2,
        complex: |z| math::complex::log(z) / LN_2,
        domain: (0.2, 3.0),
        linearize: |cx, x, _, t| Some(over(cx, t, LN_2, x)),
        ..row(Unary::Log2, "log2", "logarithm to base 2")
    },
    UnaryDef {
        real: libm::log1p,
        complex: math::complex::log1p,
        domain: (-0.5, 2.0),
        linearize: |cx, x, _, t| Some(cx.unscale(t, cx.add(cx.full_like(x, 1.0), x))),
        ..row(Unary::Log1p, "log1p", "log(1 + x) without cancellation")
    },
    UnaryDef {
        real: libm::sin,
        complex: math::complex::sin,
        linearize: |cx, x, _, t| Some(cx.scale(cx.cos(x), t)),
        ..row(Unary::Sin, "sin", "sine")
    },
    UnaryDef {
        real: libm::cos,
        complex: math::complex::cos,
        linearize: |cx, x, _, t| Some(cx.scale(cx.neg(cx.sin(x)), t)),
        ..row(Unary::Cos, "cos", "cosine")
    },
    UnaryDef {
        real: libm::tan,
        complex: math::complex::tan,
        domain: (-1.2, 1.2),
        linearize: |cx, x, y, t| {
            // Complex: not computed from y, because 1 + y² cancels near ±i.
            let slope = match cx.ty(x).dtype.is_complex() {
                true => cx.sech_square(cx.mul(cx.full_like(x, C128::I), x)),
                false => one_plus_square(cx.emit(), y),
            };
            Some(cx.scale(slope, t))
        },
        ..row(Unary::Tan, "tan", "tangent")
    },
    UnaryDef {
        real: libm::asin,
        complex: math::complex::asin,
        domain: (-0.9, 0.9),
        linearize: |cx, x, _, t| Some(cx.unscale(t, root_one_minus_square(cx.emit(), x))),
        ..row(Unary::Asin, "asin", "inverse sine")
    },
    UnaryDef {
        real: libm::acos,
        complex: math::complex::acos,
        domain: (-0.9, 0.9),
        linearize: |cx, x, _, t| Some(cx.lneg(cx.unscale(t, root_one_minus_square(cx.emit(), x)))),
        ..row(Unary::Acos, "acos", "inverse cosine")
    },
    UnaryDef {
        real: libm::atan,
        complex: math::complex::atan,
        linearize: |cx, x, _, t| {
            Some(match cx.ty(x).dtype.is_complex() {
                true => cx.unscale(t, one_plus_square(cx.emit(), x)),
                false => cx.scale(cx.recip_one_plus_square(x), t),
            })
        },
        ..row(Unary::Atan, "atan", "inverse tangent")
    },
    UnaryDef {
        real: libm::sinh,
        complex: math::complex::sinh,
        linearize: |cx, x, _, t| Some(cx.scale(cx.cosh(x), t)),
        ..row(Unary::Sinh, "sinh", "hyperbolic sine")
    },
    UnaryDef {
        real: libm::cosh,
        complex: math::complex::cosh,
        linearize: |cx, x, _, t| Some(cx.scale(cx.sinh(x), t)),
        ..row(Unary::Cosh, "cosh", "hyperbolic cosine")
    },
    UnaryDef {
        real: libm::tanh,
        complex: math::complex::tanh,
        // Not 1 - y², which cancels where y is near 1.
        linearize: |cx, x, _, t| Some(cx.scale(cx.sech_square(x), t)),
        ..row(Unary::Tanh, "tanh", "hyperbolic tangent")
    },
    UnaryDef {
        real: libm::asinh,
        complex: math::complex::asinh,
        // cosh(y) equals sqrt(1 + x²) and does not overflow for large x.
        linearize: |cx, x, y, t| {
            Some(cx.unscale(
                t,
                match cx.ty(x).dtype.is_complex() {
                    true => root_one_minus_square(cx.emit(), cx.mul(cx.full_like(x, C128::I), x)),
                    false => of_angle(cx.emit(), x, y, |cx, x| cx.asinh(x), |cx, y| cx.cosh(y)),
                },
            ))
        },
        ..row(Unary::Asinh, "asinh", "inverse hyperbolic sine")
    },
    UnaryDef {
        // libm's acosh returns numbers for some negative arguments.
        real: |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
        complex: math::complex::acosh,
        domain: (1.2, 3.0),
        // sinh(y) equals sqrt(x² - 1) and does not overflow for large x.
        linearize: |cx, x, y, t| {
            if !cx.ty(x).dtype.is_complex() {
                let slope = of_angle(cx.emit(), x, y, |cx, x| cx.acosh(x), |cx, y| cx.sinh(y));
                return Some(cx.unscale(t, slope));
            }
            let one = cx.full_like(x, 1.0);
            Some(cx.unscale(t, cx.mul(cx.sqrt(cx.sub(x, one)), cx.sqrt(cx.add(x, one)))))
        },
        ..row(Unary::Acosh, "acosh", "inverse hyperbolic cosine")
    },
    UnaryDef {
        real: libm::atanh,
        complex: math::complex::atanh,
        domain: (-0.9, 0.9),
        linearize: |cx, x, _, t| Some(cx.unscale(t, cx.one_minus_square(x))),
        ..row(Unary::Atanh, "atanh", "inverse hyperbolic tangent")
    },
    UnaryDef {
        real: math::logistic,
        complex: math::complex::logistic,
        // logistic(-x) equals 1 - y, without cancellation where y is near 1.
        linearize: |cx, x, y, t| Some(cx.scale(cx.mul(y, cx.logistic(cx.neg(x))), t)),
        ..row(Unary::Logistic, "logistic", "1 / (1 + e^-x)")
    },
    UnaryDef {
        types: float,
        real: libm::erf,
        flops: 20.0,
        linearize: |cx, x, _, t| Some(cx.scale(gauss(cx.emit(), FRAC_2_SQRT_PI, x), t)),
        ..row(
            Unary::Erf,
            "erf",
            "error function: 2/sqrt(pi) times the integral of e^-s² from 0 to x",
        )
    },
    UnaryDef {
        types: float,
        real: libm::erfc,
        flops: 20.0,
        linearize: |cx, x, _, t| Some(cx.scale(gauss(cx.emit(), -FRAC_2_SQRT_PI, x), t)),
        ..row(Unary::Erfc, "erfc", "1 - erf(x) without cancellation")
    },
    UnaryDef {
        types: float,
        real: math::erf_inv,
        domain: (-0.9, 0.9),
        flops: 20.0,
        linearize: |cx, x, y, t| {
            let e = of_angle(
                cx.emit(),
                x,
                y,
                |cx, x| cx.erf_inv(x),
                |cx, y| cx.exp(cx.square(y)),
            );
            Some(cx.scale_at_pole(cx.emit().scale_by(1.0 / FRAC_2_SQRT_PI, e), t))
        },
        ..row(Unary::ErfInv, "erf_inv", "inverse of erf")
    },
    UnaryDef {
        types: float,
        real: libm::lgamma,
        domain: (0.3, 4.0),
        flops: 20.0,
        linearize: |cx, x, _, t| Some(cx.scale_at_pole(cx.digamma(x), t)),
        ..row(Unary::Lgamma, "lgamma", "log |gamma(x)|")
    },
    UnaryDef {
        types: float,
        real: math::digamma,
        domain: (0.3, 4.0),
        flops: 20.0,
        linearize: |cx, x, _, t| Some(cx.scale_at_pole(cx.polygamma(1, x), t)),
        ..row(Unary::Digamma, "digamma", "derivative of log gamma(x)")
    },
    UnaryDef {
        real: |x| (1.0 - x) * (1.0 + x),
        complex: |z| (1.0 - z) * (1.0 + z),
        flops: 3.0,
        linearize: |cx, x, _, t| Some(cx.scale(cx.emit().scale_by(-2.0, x), t)),
        tensor: "",
        ..row(
            Unary::OneMinusSquare,
            "one_minus_square",
            "1 - x² as (1 - x)(1 + x): no cancellation, here or in -2x",
        )
    },
    UnaryDef {
        real: math::sech_square,
        complex: math::complex::sech_square,
        linearize: |cx, x, y, t| Some(cx.scale(cx.emit().scale_by(-2.0, cx.mul(cx.tanh(x), y)), t)),
        tensor: "",
        ..row(
            Unary::SechSquare,
            "sech_square",
            "1 / cosh(x)², the derivative of tanh",
        )
    },
    UnaryDef {
        types: float,
        real: math::recip_one_plus_square,
        flops: 5.0,
        // Computed from x y and y, not from y², which underflows.
        linearize: |cx, x, y, t| {
            Some(cx.scale(cx.mul(cx.emit().scale_by(-2.0, cx.mul(x, y)), y), t))
        },
        tensor: "",
        ..row(
            Unary::RecipOnePlusSquare,
            "recip_one_plus_square",
            "1 / (1 + x²), the derivative of atan",
        )
    },
    UnaryDef {
        types: to_bool,
        real: |x| truth(x.is_finite()),
        complex: |z| truth(z.is_finite()).into(),
        flops: 1.0,
        ..row(Unary::IsFinite, "is_finite", "neither infinite nor NaN")
    },
    UnaryDef {
        types: to_bool,
        real: |x| truth(x.is_nan()),
        complex: |z| truth(z.is_nan()).into(),
        flops: 1.0,
        ..row(Unary::IsNan, "is_nan", "not a number")
    },
    UnaryDef {
        types: bits,
        int: |i, d| if d == DType::Bool { 1 - i } else { !i },
        flops: 1.0,
        ..row(Unary::Not, "not", "logical not; bitwise on integers")
    },
    UnaryDef {
        types: |d| d.is_int().then_some(d),
        int: |i, d| (i & ((1 << d.bits()) - 1)).count_ones().into(),
        flops: 1.0,
        tensor: "count_ones",
        ..row(Unary::Popcnt, "popcnt", "number of bits that are set")
    },
    UnaryDef {
        types: |d| d.is_int().then_some(d),
        int: |i, d| {
            i128::from((i & ((1 << d.bits()) - 1)).leading_zeros()) - (128 - i128::from(d.bits()))
        },
        flops: 1.0,
        method: "clz",
        tensor: "leading_zeros",
        ..row(
            Unary::Clz,
            "count_leading_zeros",
            "number of leading zero bits",
        )
    },
    UnaryDef {
        complex: |z| z.conj(),
        flops: 1.0,
        linearize: |cx, _, _, t| Some(cx.apply1(Unary::Conj, &[t.into()])),
        transpose: Some(|cx, ct, _| cx.conj(ct)),
        ..row(Unary::Conj, "conj", "complex conjugate")
    },
    UnaryDef {
        types: to_real,
        flops: 1.0,
        linearize: |cx, _, _, t| Some(cx.apply1(Unary::Real, &[t.into()])),
        transpose: Some(|cx, ct, ty| cx.convert(ct, ty.dtype)),
        ..row(Unary::Real, "real", "real part")
    },
    UnaryDef {
        types: to_real,
        real: |_| 0.0,
        complex: |z| z.im.into(),
        flops: 1.0,
        linearize: |cx, _, _, t| Some(cx.apply1(Unary::Imag, &[t.into()])),
        // <c, Im z> = <i c, z>
        transpose: Some(|cx, ct, ty| {
            let zero = cx.zeros(&cx.ty(ct));
            if ty.dtype.is_complex() {
                cx.complex(zero, ct)
            } else {
                zero
            }
        }),
        ..row(Unary::Imag, "imag", "imaginary part")
    },
    UnaryDef {
        types: any,
        int: |i, _| i,
        flops: 0.0,
        ..row(
            Unary::StopGradient,
            "stop_gradient",
            "the identity, with derivative zero",
        )
    },
];

/// Computes a function of `x` in f32 if its element type has 16 bits, so that intermediate values
/// are not rounded to 16 bits.
fn in_f32(cx: &dyn Emit, x: Val, f: impl FnOnce(&dyn Emit, Val) -> Val) -> Val {
    let dtype = cx.ty(x).dtype;
    if dtype.size() < 4 {
        cx.convert(f(cx, cx.convert(x, DType::F32)), dtype)
    } else {
        f(cx, x)
    }
}

/// `c exp(-x²)`.
fn gauss(cx: &dyn Emit, c: f64, x: Val) -> Val {
    in_f32(cx, x, |cx, x| cx.scale_by(c, cx.exp(cx.neg(cx.square(x)))))
}

/// `f(y)` with `y = g(x)`. In 16-bit types `y` is not accurate enough for an exponential.
fn of_angle(
    cx: &dyn Emit,
    x: Val,
    y: Val,
    g: fn(&dyn Emit, Val) -> Val,
    f: fn(&dyn Emit, Val) -> Val,
) -> Val {
    if cx.ty(x).dtype.size() < 4 {
        in_f32(cx, x, |cx, x| f(cx, g(cx, x)))
    } else {
        f(cx, y)
    }
}
