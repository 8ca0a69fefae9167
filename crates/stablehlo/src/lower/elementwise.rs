//! Elementwise operations of StableHLO and chlo.

use super::attributes::direction;
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule, LoweringRule::Custom};
use crate::ast::{Attr, Operation, Ty};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Binary, Binary as B, Comparison, Unary as U};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Emit, Result, Val, bail};

pub(crate) const ELEMENTWISE: &[LoweringRow] = &[
    ("negate", LoweringRule::Unary(U::Neg)),
    ("abs", LoweringRule::Unary(U::Abs)),
    ("sign", LoweringRule::Unary(U::Sign)),
    ("floor", LoweringRule::Unary(U::Floor)),
    ("ceil", LoweringRule::Unary(U::Ceil)),
    ("round_nearest_even", LoweringRule::Unary(U::RoundHalfEven)),
    ("round_nearest_afz", LoweringRule::Unary(U::RoundHalfAway)),
    ("sqrt", LoweringRule::Unary(U::Sqrt)),
    ("rsqrt", LoweringRule::Unary(U::Rsqrt)),
    ("cbrt", LoweringRule::Unary(U::Cbrt)),
    ("exponential", LoweringRule::Unary(U::Exp)),
    ("exponential_minus_one", LoweringRule::Unary(U::Expm1)),
    ("log", LoweringRule::Unary(U::Log)),
    ("log_plus_one", LoweringRule::Unary(U::Log1p)),
    ("logistic", LoweringRule::Unary(U::Logistic)),
    ("sine", LoweringRule::Unary(U::Sin)),
    ("cosine", LoweringRule::Unary(U::Cos)),
    ("tan", LoweringRule::Unary(U::Tan)),
    ("asin", LoweringRule::Unary(U::Asin)),
    ("acos", LoweringRule::Unary(U::Acos)),
    ("atan", LoweringRule::Unary(U::Atan)),
    ("sinh", LoweringRule::Unary(U::Sinh)),
    ("cosh", LoweringRule::Unary(U::Cosh)),
    ("tanh", LoweringRule::Unary(U::Tanh)),
    ("asinh", LoweringRule::Unary(U::Asinh)),
    ("acosh", LoweringRule::Unary(U::Acosh)),
    ("atanh", LoweringRule::Unary(U::Atanh)),
    ("erf", LoweringRule::Unary(U::Erf)),
    ("erfc", LoweringRule::Unary(U::Erfc)),
    ("erf_inv", LoweringRule::Unary(U::ErfInv)),
    ("lgamma", LoweringRule::Unary(U::Lgamma)),
    ("digamma", LoweringRule::Unary(U::Digamma)),
    ("is_finite", LoweringRule::Unary(U::IsFinite)),
    ("not", LoweringRule::Unary(U::Not)),
    ("popcnt", LoweringRule::Unary(U::Popcnt)),
    ("add", LoweringRule::Binary(B::Add)),
    ("subtract", LoweringRule::Binary(B::Sub)),
    ("multiply", LoweringRule::Binary(B::Mul)),
    ("divide", LoweringRule::Binary(B::Div)),
    ("remainder", LoweringRule::Binary(B::Rem)),
    ("power", LoweringRule::Binary(B::Pow)),
    ("atan2", LoweringRule::Binary(B::Atan2)),
    ("maximum", LoweringRule::Binary(B::Max)),
    ("minimum", LoweringRule::Binary(B::Min)),
    ("and", LoweringRule::Binary(B::And)),
    ("or", LoweringRule::Binary(B::Or)),
    ("xor", LoweringRule::Binary(B::Xor)),
    ("shift_left", LoweringRule::Binary(B::ShiftLeft)),
    (
        "shift_right_logical",
        LoweringRule::Binary(B::ShiftRightLogical),
    ),
    (
        "shift_right_arithmetic",
        LoweringRule::Binary(B::ShiftRightArithmetic),
    ),
    ("conj", Custom(|f, op| map(f, op, |cx, x| cx.conj(x)))),
    ("real", Custom(|f, op| map(f, op, |cx, x| cx.real(x)))),
    ("imag", Custom(|f, op| map(f, op, |cx, x| cx.imag(x)))),
    ("square", Custom(|f, op| map(f, op, |cx, x| cx.square(x)))),
    ("complex", Custom(complex)),
    ("select", Custom(select)),
    ("clamp", Custom(clamp)),
    ("compare", Custom(compare)),
    ("convert", Custom(convert)),
    ("mulhi", Custom(mulhi)),
    (
        "is_inf",
        Custom(|f, op| map(f, op, |cx, x| is(cx, cx.abs(x), f64::INFINITY))),
    ),
    (
        "is_pos_inf",
        Custom(|f, op| map(f, op, |cx, x| is(cx, x, f64::INFINITY))),
    ),
    (
        "is_neg_inf",
        Custom(|f, op| map(f, op, |cx, x| is(cx, x, f64::NEG_INFINITY))),
    ),
];

/// The binary operation of this name, without its dialect.
pub(crate) fn binary(name: &str) -> Option<Binary> {
    ELEMENTWISE.iter().find_map(|r| match r {
        (n, LoweringRule::Binary(b)) if *n == name => Some(*b),
        _ => None,
    })
}

/// Lowers an operation of one operand.
fn map(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    write: fn(&dyn Emit, Val) -> Val,
) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    one(write(f.cx(), x))
}

fn is(cx: &dyn Emit, x: Val, value: f64) -> Val {
    cx.compare(x, Comparison::Eq, cx.full_like(x, value))
}

fn complex(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [re, im] = f.operand_array(op)?;
    one(f.cx().complex(re, im))
}

fn select(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [p, a, b] = f.operand_array(op)?;
    one(f.cx().select(p, a, b))
}

/// Lowers `clamp`. Scalar bounds are broadcast.
fn clamp(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [lo, x, hi] = f.operand_array(op)?;
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

/// Whether floats are compared in total order: `-NaN < -inf < .. < -0 < +0 < .. < inf < NaN`.
pub(crate) fn total_order(op: &Operation<'_>) -> bool {
    let a = op.attr("compare_type").or_else(|| op.unnamed().nth(1));
    a.and_then(Attr::word) == Some("TOTALORDER")
}

fn compare(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, y] = f.operand_array(op)?;
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

/// Integers whose order is the total order of floats: their bits, with all bits below the sign
/// inverted for negative numbers.
pub(crate) fn total_key(cx: &dyn Emit, x: Val) -> Val {
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

/// The maximum or minimum of complex numbers, ordered by real part, then by imaginary part. NaN
/// propagates.
pub(crate) fn extremum(cx: &dyn Emit, [x, y]: [Val; 2], max: bool) -> Val {
    let c = if max { Comparison::Gt } else { Comparison::Lt };
    let ([a, b], [p, q]) = ([x, y].map(|v| cx.real(v)), [x, y].map(|v| cx.imag(v)));
    let later = cx.and(cx.compare(a, Comparison::Eq, b), cx.compare(p, c, q));
    let wins = cx.and(cx.not(cx.is_nan(y)), cx.or(cx.compare(a, c, b), later));
    let one = cx.select(cx.or(cx.is_nan(x), wins), x, y);
    // Equal operands share the derivative, as real ones do. The mean of infinite operands is not
    // finite, so they are excluded.
    let mean = cx.mul(cx.add(x, y), cx.full_like(x, 0.5));
    let tie = cx.and(
        cx.compare(x, Comparison::Eq, y),
        cx.compare(mean, Comparison::Eq, x),
    );
    cx.select(tie, mean, one)
}

/// Lowers `mulhi`: the high half of the product of integers.
fn mulhi(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, y] = f.operand_array(op)?;
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
    // Products of unsigned 32-bit halves: sums with the carries fit in 64 bits.
    let [a, b] = [x, y].map(|v| cx.bitcast(v, DType::U64));
    let low = |v: Val| cx.and(v, cx.full_like(v, 0xFFFF_FFFFi64));
    let high = |v: Val| down(v, 32, false);
    let middle = cx.add(cx.mul(high(a), low(b)), high(cx.mul(low(a), low(b))));
    let other = cx.add(cx.mul(low(a), high(b)), low(middle));
    let product = cx.add(cx.mul(high(a), high(b)), cx.add(high(middle), high(other)));
    if !signed {
        return one(product);
    }
    // A set sign bit contributes -2^64 times the other operand.
    let zero = cx.zeros(&cx.ty(x));
    let less = |v: Val, other: Val| cx.select(cx.compare(v, Comparison::Lt, zero), other, zero);
    one(cx.sub(cx.sub(cx.bitcast(product, dtype), less(x, y)), less(y, x)))
}

fn convert(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    match op.result_types().and_then(|t| t.first()) {
        Some(ty @ Ty::Narrow(..)) => one(f.to_narrow(x, ty)),
        _ => one(f.cx().convert(x, f.result(op, 0)?.dtype)),
    }
}

/// Whether `v` is the least (or greatest) value of an element type, the identity of a maximum (or
/// minimum).
pub(crate) fn is_extreme(v: cotangent_core::Scalar, dtype: DType, least: bool) -> bool {
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
