//! The table of binary functions: value, domain and derivative of each.
//!
//! Where a formula for a derivative is `0 * inf` but a limit or a convention exists, the operand is
//! replaced by a regular one (`guarded`) before the singular function is applied. So higher
//! derivatives are correct, too.

use crate::array::Scalar;
use crate::dtype::{C128, DType, Kind};
use crate::ir::{Arg, Emit, Lin, Lv, Val};
use crate::math;
use crate::ops::{Comparison, Side};

/// The functions. [`Binary::def`] is the row of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Atan2,
    Max,
    Min,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightLogical,
    ShiftRightArithmetic,
    Xlogy,
    /// `x * y`, and 0 where either operand is 0. Derivatives in strong-zero mode use it.
    MulStrongZero,
    /// `x / y`, and 0 where `x` is 0 or `y` infinite. Derivatives in strong-zero mode use it.
    DivStrongZero,
    AddError,
}

/// Operands in which a row is linear, with the other held constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Linearity {
    /// None.
    No,
    /// Both together, and neither alone: sums.
    Both,
    /// Either alone: products.
    Either,
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// Operands, results and tangents of a row's derivative.
pub struct BinaryRuleArgs {
    /// First operand.
    pub x: Val,
    /// Second operand.
    pub y: Val,
    /// Result.
    pub out: Val,
    /// Tangent of the first operand.
    pub tx: Option<Lv>,
    /// Tangent of the second operand.
    pub ty: Option<Lv>,
}

/// The adjoint of a linear row: operands and cotangent to the cotangents of the operands.
pub type BinaryTranspose = fn(&dyn Emit, &[Arg], Val) -> Vec<Option<Val>>;

/// A row of the table of binary functions.
pub struct BinaryDef {
    /// The function.
    pub op: Binary,
    /// Its name in the text form.
    pub name: &'static str,
    /// The name of the method of the emitter and of tensors; empty if they have none.
    pub method: &'static str,
    /// A one-line description with the formula.
    pub doc: &'static str,
    /// Whether it is defined on an element type (of operands and result).
    pub types: fn(DType) -> bool,
    /// Its value on reals.
    pub real: fn(f64, f64) -> f64,
    /// Its value on complex numbers.
    pub complex: fn(C128, C128) -> C128,
    /// Its value on integers and booleans; the result is wrapped to the type.
    pub int: fn(i128, i128, DType) -> i128,
    /// Intervals where it is smooth, for samples.
    pub domain: [(f64, f64); 2],
    /// Work per element, in additions.
    pub flops: f64,
    /// The derivative.
    pub linearize: fn(&Lin<'_>, &BinaryRuleArgs) -> Option<Lv>,
    /// Linearity, from which `linear_in` follows.
    pub linear: Linearity,
    /// The adjoint, for rows with some linearity.
    pub transpose: Option<BinaryTranspose>,
}

impl Binary {
    /// Its row.
    pub fn def(self) -> &'static BinaryDef {
        &BINARY[self as usize]
    }
}

fn numeric(d: DType) -> bool {
    d != DType::Bool
}

fn float(d: DType) -> bool {
    d.is_float()
}

fn ordered(d: DType) -> bool {
    !d.is_complex()
}

fn bits(d: DType) -> bool {
    matches!(d.kind(), Kind::Int | Kind::Bool)
}

fn no_int(_: i128, _: i128, _: DType) -> i128 {
    unreachable!("the type rule admits no integers")
}

/// A row with default fields.
const fn row(op: Binary, name: &'static str, doc: &'static str) -> BinaryDef {
    BinaryDef {
        op,
        name,
        method: name,
        doc,
        types: numeric,
        real: |x, _| x,
        complex: |x, _| x,
        int: no_int,
        domain: [(-2.0, 2.0), (-2.0, 2.0)],
        flops: 1.0,
        linearize: |_, _| None,
        linear: Linearity::No,
        transpose: None,
    }
}

/// The sum of the contributions of both tangents.
fn each(
    cx: &Lin<'_>,
    a: &BinaryRuleArgs,
    x: impl FnOnce(Lv) -> Lv,
    y: impl FnOnce(Lv) -> Lv,
) -> Option<Lv> {
    let tx = a.tx.map(x);
    cx.sum_opt(tx, a.ty.map(y))
}

/// A shift amount; `None` if it is at least the width of the type (negative amounts count as
/// large).
fn amount(y: i128, d: DType) -> Option<u32> {
    u32::try_from(y).ok().filter(|&n| n < d.bits())
}

/// The unsigned integer with the bits of `x`.
fn unsigned(x: i128, d: DType) -> i128 {
    x & ((1 << d.bits()) - 1)
}

/// The signed integer with the bits of `x`.
fn signed(x: i128, d: DType) -> i128 {
    let above = i128::BITS - d.bits();
    x << above >> above
}

/// The table, in the order of the enum.
pub static BINARY: &[BinaryDef] = &[
    BinaryDef {
        types: |_| true,
        real: |x, y| x + y,
        complex: |x, y| x + y,
        int: |x, y, d| if d == DType::Bool { x | y } else { x + y },
        linearize: |cx, a| cx.sum_opt(a.tx, a.ty),
        linear: Linearity::Both,
        transpose: Some(|_, _, ct| vec![Some(ct), Some(ct)]),
        ..row(Binary::Add, "add", "x + y; on booleans the logical or")
    },
    BinaryDef {
        real: |x, y| x - y,
        complex: |x, y| x - y,
        int: |x, y, _| x - y,
        linearize: |cx, a| match (a.tx, a.ty) {
            (Some(x), Some(y)) => Some(cx.apply1(Binary::Sub, &[x.into(), y.into()])),
            (x, y) => x.or_else(|| Some(cx.lneg(y?))),
        },
        linear: Linearity::Both,
        transpose: Some(|cx, _, ct| vec![Some(ct), Some(cx.neg(ct))]),
        ..row(Binary::Sub, "sub", "x - y")
    },
    BinaryDef {
        types: |_| true,
        real: |x, y| x * y,
        complex: |x, y| x * y,
        int: |x, y, _| x.wrapping_mul(y),
        linearize: |cx, a| each(cx, a, |t| cx.scale(a.y, t), |t| cx.scale(a.x, t)),
        linear: Linearity::Either,
        transpose: Some(|cx, x, ct| transpose_product(cx, Binary::Mul, x, ct)),
        ..row(Binary::Mul, "mul", "x * y; on booleans the logical and")
    },
    BinaryDef {
        real: |x, y| x / y,
        complex: math::complex::div,
        int: |x, y, _| if y == 0 { -1 } else { x / y },
        domain: [(-2.0, 2.0), (0.5, 2.0)],
        flops: 4.0,
        // d(x/y) = (dx - out dy) / y: one division for both tangents.
        linearize: |cx, a| {
            let ty = a.ty.map(|t| cx.lneg(cx.scale(a.out, t)));
            Some(cx.unscale(cx.sum_opt(a.tx, ty)?, a.y))
        },
        linear: Linearity::First,
        transpose: Some(|cx, x, ct| {
            let y = x[1].val().map(|y| cx.conj(y));
            vec![y.map(|y| cx.div(ct, y)), None]
        }),
        ..row(
            Binary::Div,
            "div",
            "x / y; integers truncate toward zero, x / 0 = -1",
        )
    },
    BinaryDef {
        types: |d| numeric(d) && ordered(d),
        real: libm::fmod,
        int: |x, y, _| if y == 0 { x } else { x % y },
        domain: [(2.1, 2.9), (0.8, 1.0)],
        flops: 10.0,
        // The quotient is computed from x - out, a multiple of y, because x / y may round up to the
        // next integer.
        linearize: |cx, a| {
            let whole = || cx.round_half_even(cx.div(cx.sub(a.x, a.out), a.y));
            each(cx, a, |t| t, |t| cx.lneg(cx.scale(whole(), t)))
        },
        ..row(
            Binary::Rem,
            "rem",
            "x - trunc(x / y) y, with the sign of x; for integers x rem 0 = x",
        )
    },
    BinaryDef {
        real: libm::pow,
        complex: math::complex::pow,
        int: |x, y, _| math::pow_int(x, y),
        domain: [(0.3, 2.0), (-2.0, 2.0)],
        flops: 20.0,
        linearize: |cx, a| {
            each(
                cx,
                a,
                |t| cx.scale(pow_dx(cx, a), t),
                |t| cx.scale(pow_dy(cx, a), t),
            )
        },
        ..row(
            Binary::Pow,
            "pow",
            "x to the power y; integers by repeated multiplication, wrapping",
        )
    },
    BinaryDef {
        types: float,
        real: libm::atan2,
        domain: [(0.3, 2.0), (-2.0, 2.0)],
        flops: 15.0,
        linearize: atan2_linearize,
        ..row(
            Binary::Atan2,
            "atan2",
            "angle of the point (y, x), in [-pi, pi]; derivative 0 at the origin",
        )
    },
    BinaryDef {
        types: ordered,
        real: math::maximum,
        int: |x, y, _| x.max(y),
        domain: [(-2.0, 0.0), (-1.0, 2.0)],
        linearize: |cx, a| extremum(cx, a, true),
        method: "maximum",
        ..row(
            Binary::Max,
            "max",
            "the larger operand; NaN if either is NaN, +0 > -0; a tie shares the gradient",
        )
    },
    BinaryDef {
        types: ordered,
        real: math::minimum,
        int: |x, y, _| x.min(y),
        domain: [(-2.0, 0.0), (-1.0, 2.0)],
        linearize: |cx, a| extremum(cx, a, false),
        method: "minimum",
        ..row(
            Binary::Min,
            "min",
            "the smaller operand; NaN if either is NaN, -0 < +0; a tie shares the gradient",
        )
    },
    BinaryDef {
        types: bits,
        int: |x, y, _| x & y,
        ..row(Binary::And, "and", "logical and; bitwise on integers")
    },
    BinaryDef {
        types: bits,
        int: |x, y, _| x | y,
        ..row(Binary::Or, "or", "logical or; bitwise on integers")
    },
    BinaryDef {
        types: bits,
        int: |x, y, _| x ^ y,
        ..row(Binary::Xor, "xor", "logical xor; bitwise on integers")
    },
    BinaryDef {
        types: |d| d.is_int(),
        int: |x, y, d| amount(y, d).map_or(0, |n| x << n),
        ..row(
            Binary::ShiftLeft,
            "shift_left",
            "shift left by y bits; 0 if y is at least the width of the type",
        )
    },
    BinaryDef {
        types: |d| d.is_int(),
        int: |x, y, d| amount(y, d).map_or(0, |n| unsigned(x, d) >> n),
        ..row(
            Binary::ShiftRightLogical,
            "shift_right_logical",
            "logical shift right by y bits; 0 if y is at least the width of the type",
        )
    },
    BinaryDef {
        types: |d| d.is_int(),
        int: |x, y, d| signed(x, d) >> amount(y, d).unwrap_or(d.bits()),
        ..row(
            Binary::ShiftRightArithmetic,
            "shift_right_arithmetic",
            "arithmetic shift right by y bits, which repeats the sign bit",
        )
    },
    BinaryDef {
        types: |d| d.is_inexact(),
        real: math::xlogy,
        complex: math::complex::xlogy,
        domain: [(-2.0, 2.0), (0.3, 2.0)],
        flops: 12.0,
        linearize: |cx, a| {
            // 0 / 0 becomes 0 / 1.
            let y = || {
                guarded(
                    cx.emit(),
                    cx.and(is_zero(cx.emit(), a.x), is_zero(cx.emit(), a.y)),
                    a.y,
                )
            };
            let by_x = |t| cx.scale(cx.pole(is_zero(cx.emit(), a.y), cx.log(a.y)), t);
            let by_y = |y: Val| cx.pole(is_zero(cx.emit(), y), cx.div(a.x, y));
            each(cx, a, by_x, |t| cx.scale(by_y(y()), t))
        },
        ..row(Binary::Xlogy, "xlogy", "x log y, 0 where x = 0")
    },
    BinaryDef {
        types: |d| d.is_inexact(),
        real: |x, y| strong(x * y, x == 0.0 || y == 0.0),
        complex: |x, y| strong_complex(x * y, x == C128::ZERO || y == C128::ZERO),
        linearize: |cx, a| {
            let by = |v: Val, t: Lv| cx.apply1(Binary::MulStrongZero, &[v.into(), t.into()]);
            each(cx, a, |t| by(a.y, t), |t| by(a.x, t))
        },
        linear: Linearity::Either,
        transpose: Some(|cx, x, ct| transpose_product(cx, Binary::MulStrongZero, x, ct)),
        method: "",
        ..row(
            Binary::MulStrongZero,
            "mul_strong_zero",
            "x * y, zero where either is zero",
        )
    },
    BinaryDef {
        types: |d| d.is_inexact(),
        real: |x, y| strong(x / y, x == 0.0 || y.is_infinite()),
        complex: |x, y| {
            strong_complex(
                math::complex::div(x, y),
                x == C128::ZERO || y.re.is_infinite() || y.im.is_infinite(),
            )
        },
        domain: [(-2.0, 2.0), (0.5, 2.0)],
        flops: 4.0,
        linearize: |cx, a| {
            let ty =
                a.ty.map(|t| cx.lneg(cx.apply1(Binary::MulStrongZero, &[a.out.into(), t.into()])));
            let t = cx.sum_opt(a.tx, ty)?;
            Some(cx.apply1(Binary::DivStrongZero, &[t.into(), a.y.into()]))
        },
        linear: Linearity::First,
        transpose: Some(|cx, x, ct| {
            let y = x[1].val().map(|y| cx.conj(y));
            vec![y.map(|y| cx.op(Binary::DivStrongZero, &[ct, y])), None]
        }),
        method: "",
        ..row(
            Binary::DivStrongZero,
            "div_strong_zero",
            "x / y, zero where x is zero or y infinite",
        )
    },
    BinaryDef {
        // Types whose sums are rounded in their own precision.
        types: |d| matches!(d, DType::F32 | DType::F64),
        real: math::add_error,
        flops: 6.0,
        // In exact arithmetic the rounding error is the zero function, which is linear. Its tangent
        // is the error of the sum of the tangents, so that the tangent of a compensated sum is a
        // compensated sum.
        linearize: |cx, a| Some(cx.apply1(Binary::AddError, &[a.tx?.into(), a.ty?.into()])),
        linear: Linearity::Both,
        transpose: Some(|_, _, _| vec![None, None]),
        method: "",
        ..row(
            Binary::AddError,
            "add_error",
            "rounding error of x + y, 0 where the sum is not finite; derivative 0",
        )
    },
];

/// A product or quotient with a zero factor: a zero with the sign of the IEEE result, also where
/// that is NaN.
fn strong(y: f64, zero: bool) -> f64 {
    if zero && y.is_nan() { 0.0 } else { y }
}

fn strong_complex(y: C128, zero: bool) -> C128 {
    if zero && y.is_nan() { C128::ZERO } else { y }
}

fn transpose_product(cx: &dyn Emit, op: Binary, x: &[Arg], ct: Val) -> Vec<Option<Val>> {
    let by = |other: &Arg| other.val().map(|v| cx.op(op, &[cx.conj(v), ct]));
    vec![by(&x[1]), by(&x[0])]
}

fn is_zero(cx: &dyn Emit, x: Val) -> Val {
    cx.compare(x, Comparison::Eq, cx.full_like(x, Scalar::I(0)))
}

/// 1 where the condition holds, `x` elsewhere.
fn guarded(cx: &dyn Emit, condition: Val, x: Val) -> Val {
    cx.select(condition, cx.full_like(x, 1.0), x)
}

/// `y x^(y-1)`, and 0 where `y` is 0 even if the power is infinite, as in every derivative of a
/// power series. There the power is written `x^y / x`, whose derivatives omit infinite terms with a
/// zero factor.
fn pow_dx(cx: &Lin<'_>, a: &BinaryRuleArgs) -> Val {
    let one = cx.full_like(a.y, 1.0);
    let constant = is_zero(cx.emit(), a.y);
    let over = cx.op(Binary::DivStrongZero, &[cx.full_like(a.x, 1.0), a.x]);
    let there = cx.op(Binary::MulStrongZero, &[a.out, over]);
    let power = cx.pow(a.x, guarded(cx.emit(), constant, cx.sub(a.y, one)));
    let by = cx.op(
        Binary::MulStrongZero,
        &[a.y, cx.select(constant, there, power)],
    );
    if !cx.session().numerics().zero_division_nan {
        return by;
    }
    let re = cx.real(a.y);
    let falls = cx.compare(re, Comparison::Lt, cx.full_like(re, 1.0));
    let pole = cx.and(falls, cx.not(is_zero(cx.emit(), a.y)));
    cx.pole(cx.and(is_zero(cx.emit(), a.x), pole), by)
}

/// `x^y log x`, and its limit 0 at `x = 0, y >= 0`.
fn pow_dy(cx: &Lin<'_>, a: &BinaryRuleArgs) -> Val {
    let re = cx.real(a.y);
    let not_negative = cx.compare(re, Comparison::Ge, cx.full_like(re, 0.0));
    let zero = is_zero(cx.emit(), a.x);
    let x = guarded(cx.emit(), cx.and(zero, not_negative), a.x);
    cx.pole(cx.and(zero, cx.not(not_negative)), cx.mul(a.out, cx.log(x)))
}

/// `d atan2(y, x) = (x dy - y dx) / (x² + y²)`, with both divided by `m = max(|x|, |y|)` before
/// they are squared. The value does not depend on `m`, so `m` is treated as a constant. At the
/// origin `m` is 1.
fn atan2_linearize(cx: &Lin<'_>, a: &BinaryRuleArgs) -> Option<Lv> {
    let m = cx.stop_gradient(cx.maximum(cx.abs(a.x), cx.abs(a.y)));
    let m = guarded(cx.emit(), is_zero(cx.emit(), m), m);
    let (y, x) = (cx.div(a.x, m), cx.div(a.y, m));
    let norm = cx.add(cx.square(x), cx.square(y));
    // 0 / 1 at the origin, where the norm is 0 too.
    let norm = guarded(cx.emit(), is_zero(cx.emit(), norm), norm);
    let over = |v: Val| cx.div(cx.div(v, norm), m);
    each(
        cx,
        a,
        |t| cx.scale(over(x), t),
        |t| cx.lneg(cx.scale(over(y), t)),
    )
}

/// The tangent of the chosen operand; half of each where they are equal, and their sum where an
/// operand is NaN. On one side of a tie the larger operand is the one that increases.
fn extremum(cx: &Lin<'_>, a: &BinaryRuleArgs, largest: bool) -> Option<Lv> {
    let like = |c: f64| cx.full_like(a.out, c);
    let loses = if largest {
        Comparison::Lt
    } else {
        Comparison::Gt
    };
    let first = cx.rises(a.x, Some(a.y)) == largest;
    let part = |x: Val, y: Val, whole: bool, t: Lv| {
        let shared = cx.select(cx.compare(x, Comparison::Eq, y), like(0.5), like(1.0));
        cx.at_kink(
            Side::Share { whole },
            cx.select(cx.compare(x, loses, y), like(0.0), shared),
            t,
        )
    };
    each(
        cx,
        a,
        |t| part(a.x, a.y, first, t),
        |t| part(a.y, a.x, !first, t),
    )
}
