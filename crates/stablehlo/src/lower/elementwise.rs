//! Elementwise operations.

use super::attributes::attribute;
use super::frame::{Frame, one};
use super::row::{How, How::By, Row};
use crate::ast::{Attr, Operation, Ty};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Binary, Binary as B, Comparison, Unary as U};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Emit, Result, Val, bail};

pub const TABLE: &[Row] = &[
    ("negate", How::Unary(U::Neg)),
    ("abs", How::Unary(U::Abs)),
    ("sign", How::Unary(U::Sign)),
    ("floor", How::Unary(U::Floor)),
    ("ceil", How::Unary(U::Ceil)),
    ("round_nearest_even", How::Unary(U::RoundHalfEven)),
    ("round_nearest_afz", How::Unary(U::RoundHalfAway)),
    ("sqrt", How::Unary(U::Sqrt)),
    ("rsqrt", How::Unary(U::Rsqrt)),
    ("cbrt", How::Unary(U::Cbrt)),
    ("exponential", How::Unary(U::Exp)),
    ("exponential_minus_one", How::Unary(U::Expm1)),
    ("log", How::Unary(U::Log)),
    ("log_plus_one", How::Unary(U::Log1p)),
    ("logistic", How::Unary(U::Logistic)),
    ("sine", How::Unary(U::Sin)),
    ("cosine", How::Unary(U::Cos)),
    ("tan", How::Unary(U::Tan)),
    ("asin", How::Unary(U::Asin)),
    ("acos", How::Unary(U::Acos)),
    ("atan", How::Unary(U::Atan)),
    ("sinh", How::Unary(U::Sinh)),
    ("cosh", How::Unary(U::Cosh)),
    ("tanh", How::Unary(U::Tanh)),
    ("asinh", How::Unary(U::Asinh)),
    ("acosh", How::Unary(U::Acosh)),
    ("atanh", How::Unary(U::Atanh)),
    ("erf", How::Unary(U::Erf)),
    ("erfc", How::Unary(U::Erfc)),
    ("erf_inv", How::Unary(U::ErfInv)),
    ("lgamma", How::Unary(U::Lgamma)),
    ("digamma", How::Unary(U::Digamma)),
    ("is_finite", How::Unary(U::IsFinite)),
    ("not", How::Unary(U::Not)),
    ("popcnt", How::Unary(U::Popcnt)),
    ("add", How::Binary(B::Add)),
    ("subtract", How::Binary(B::Sub)),
    ("multiply", How::Binary(B::Mul)),
    ("divide", How::Binary(B::Div)),
    ("remainder", How::Binary(B::Rem)),
    ("power", How::Binary(B::Pow)),
    ("atan2", How::Binary(B::Atan2)),
    ("maximum", How::Binary(B::Max)),
    ("minimum", How::Binary(B::Min)),
    ("and", How::Binary(B::And)),
    ("or", How::Binary(B::Or)),
    ("xor", How::Binary(B::Xor)),
    ("shift_left", How::Binary(B::ShiftLeft)),
    ("shift_right_logical", How::Binary(B::ShiftRightLogical)),
    (
        "shift_right_arithmetic",
        How::Binary(B::ShiftRightArithmetic),
    ),
    ("conj", By(|f, op| map(f, op, |cx, x| cx.conj(x)))),
    ("real", By(|f, op| map(f, op, |cx, x| cx.real(x)))),
    ("imag", By(|f, op| map(f, op, |cx, x| cx.imag(x)))),
    ("square", By(|f, op| map(f, op, |cx, x| cx.square(x)))),
    ("complex", By(complex)),
    ("select", By(select)),
    ("clamp", By(clamp)),
    ("compare", By(compare)),
    ("convert", By(convert)),
    ("mulhi", By(mulhi)),
    (
        "is_inf",
        By(|f, op| map(f, op, |cx, x| is(cx, cx.abs(x), f64::INFINITY))),
    ),
    (
        "is_pos_inf",
        By(|f, op| map(f, op, |cx, x| is(cx, x, f64::INFINITY))),
    ),
    (
        "is_neg_inf",
        By(|f, op| map(f, op, |cx, x| is(cx, x, f64::NEG_INFINITY))),
    ),
];

/// The function of two operands of this name without its dialect.
pub fn binary(name: &str) -> Option<Binary> {
    TABLE.iter().find_map(|r| match r {
        (n, How::Binary(b)) if *n == name => Some(*b),
        _ => None,
    })
}

/// A function of one operand.
fn map(f: &Frame<'_>, op: &Operation<'_>, write: fn(&dyn Emit, Val) -> Val) -> Result<Vals> {
    let [x] = f.take(op)?;
    one(write(f.cx(), x))
}

fn is(cx: &dyn Emit, x: Val, value: f64) -> Val {
    cx.compare(x, Comparison::Eq, cx.full_like(x, value))
}

fn complex(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [re, im] = f.take(op)?;
    one(f.cx().complex(re, im))
}

fn select(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [p, a, b] = f.take(op)?;
    one(f.cx().select(p, a, f.outside(p, b)))
}

/// Bounds of rank 0 hold for every element.
fn clamp(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [lo, x, hi] = f.take(op)?;
    let (cx, shape) = (f.cx(), f.cx().ty(x).shape);
    let full = |v: Val| {
        if cx.ty(v).rank() == 0 {
            cx.broadcast_in_dim(v, &shape, &[])
        } else {
            v
        }
    };
    one(cx.clamp(full(lo), x, full(hi)))
}

/// The direction: the first word of the pretty form.
pub fn direction(op: &Operation<'_>) -> Result<Comparison> {
    let a = op
        .attr("comparison_direction")
        .or_else(|| op.unnamed().next());
    Ok(match a.and_then(Attr::word) {
        Some("EQ") => Comparison::Eq,
        Some("NE") => Comparison::Ne,
        Some("LT") => Comparison::Lt,
        Some("LE") => Comparison::Le,
        Some("GT") => Comparison::Gt,
        Some("GE") => Comparison::Ge,
        _ => {
            return Err(attribute(
                op,
                "comparison_direction",
                "one of EQ, NE, LT, LE, GT, GE",
            ));
        }
    })
}

/// Whether floats are compared as `-NaN < -inf < .. < -0 < +0 < .. < inf < NaN`.
pub fn total_order(op: &Operation<'_>) -> bool {
    let a = op.attr("compare_type").or_else(|| op.unnamed().nth(1));
    a.and_then(Attr::word) == Some("TOTALORDER")
}

fn compare(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, y] = f.take(op)?;
    let (cx, c) = (f.cx(), direction(op)?);
    if total_order(op) && cx.ty(x).dtype.is_float() {
        return one(totally(cx, x, c, y));
    }
    one(cx.compare(x, c, y))
}

/// A comparison in total order.
fn totally(cx: &dyn Emit, x: Val, c: Comparison, y: Val) -> Val {
    cx.compare(total_key(cx, x), c, total_key(cx, y))
}

/// Integers that compare as floats do in total order: their bits, those below the sign turned where
/// it is set.
pub fn total_key(cx: &dyn Emit, x: Val) -> Val {
    let dtype = match cx.ty(x).dtype.size() {
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    };
    let bits = cx.bitcast(x, dtype);
    let (lowest, greatest) = (dtype.bits() - 1, dtype.int_range().1 as i64);
    let sign = cx.op(
        Binary::ShiftRightArithmetic,
        &[bits, cx.full_like(bits, i64::from(lowest))],
    );
    cx.op(
        Binary::Xor,
        &[bits, cx.and(sign, cx.full_like(bits, greatest))],
    )
}

/// The greater, or the lesser, of complex numbers: by real part, then by imaginary part. NaN stays.
pub fn extremum(cx: &dyn Emit, [x, y]: [Val; 2], max: bool) -> Val {
    let c = if max { Comparison::Gt } else { Comparison::Lt };
    let ([a, b], [p, q]) = ([x, y].map(|v| cx.real(v)), [x, y].map(|v| cx.imag(v)));
    let later = cx.and(cx.compare(a, Comparison::Eq, b), cx.compare(p, c, q));
    let wins = cx.and(cx.not(cx.is_nan(y)), cx.or(cx.compare(a, c, b), later));
    let one = cx.select(cx.or(cx.is_nan(x), wins), x, y);
    // Equal ones share their derivative, as real ones do; infinite ones have no mean.
    let mean = cx.mul(cx.add(x, y), cx.full_like(x, 0.5));
    let tie = cx.and(
        cx.compare(x, Comparison::Eq, y),
        cx.compare(mean, Comparison::Eq, x),
    );
    cx.select(tie, mean, one)
}

/// The high half of a product of integers.
fn mulhi(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, y] = f.take(op)?;
    let (cx, dtype) = (f.cx(), f.cx().ty(x).dtype);
    if !dtype.is_int() {
        bail!(
            DTypeMismatch,
            "`{}` takes integers, got {}",
            op.name,
            cx.ty(x)
        );
    }
    let (bits, signed) = (dtype.bits(), dtype.is_signed());
    let down = |v: Val, by: u32, signed: bool| {
        let shift = if signed {
            Binary::ShiftRightArithmetic
        } else {
            Binary::ShiftRightLogical
        };
        cx.op(shift, &[v, cx.full_like(v, i64::from(by))])
    };
    if bits < 64 {
        let wide = if signed { DType::I64 } else { DType::U64 };
        let product = cx.mul(cx.convert(x, wide), cx.convert(y, wide));
        return one(cx.convert(down(product, bits, signed), dtype));
    }
    // Halves of 32 bits, without signs: what they carry fits.
    let [a, b] = [x, y].map(|v| cx.bitcast(v, DType::U64));
    let low = |v: Val| cx.and(v, cx.full_like(v, 0xFFFF_FFFFi64));
    let high = |v: Val| down(v, 32, false);
    let middle = cx.add(cx.mul(high(a), low(b)), high(cx.mul(low(a), low(b))));
    let other = cx.add(cx.mul(low(a), high(b)), low(middle));
    let product = cx.add(cx.mul(high(a), high(b)), cx.add(high(middle), high(other)));
    if !signed {
        return one(product);
    }
    // A sign counts -2^64 times the other operand.
    let zero = cx.zeros(&cx.ty(x));
    let less = |v: Val, other: Val| cx.select(cx.compare(v, Comparison::Lt, zero), other, zero);
    one(cx.sub(cx.sub(cx.bitcast(product, dtype), less(x, y)), less(y, x)))
}

fn convert(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.take(op)?;
    match op.result_types().and_then(|t| t.first()) {
        Some(ty @ Ty::Narrow(..)) => one(f.to_narrow(x, ty)),
        _ => one(f.cx().convert(x, f.result(op, 0)?.dtype)),
    }
}

/// The bounds of an element type: what a maximum and a minimum start from.
pub fn is_extreme(v: cotangent_core::Scalar, dtype: DType, least: bool) -> bool {
    use cotangent_core::Scalar;
    match (v, dtype.kind()) {
        (Scalar::F(x), Kind::Float) => {
            x == if least {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }
        }
        (Scalar::I(i), Kind::Int) => {
            i == if least {
                dtype.int_range().0
            } else {
                dtype.int_range().1
            }
        }
        (Scalar::I(i), Kind::Bool) => i == i128::from(!least),
        _ => false,
    }
}
