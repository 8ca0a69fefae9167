//! Functions that record operations other than functions of floats: integers, booleans,
//! comparisons, conversions.

use super::complex;
use super::recorder::with;
use super::trace::{BinaryInst, IntegerInst, Record, ShiftDirection, Trace, TraceId, predicate};
use num_complex::{Complex32, Complex64};

macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($p:ident, $x:ident) $body:block)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name($x: [TraceId; 3], _: usize) -> TraceId {
            with(|$p: &mut Trace| $body)
        }
    )*};
}

instructions! {
    copy(_p, x) { x[0] }
    select(p, x) { p.select(x[0], x[1], x[2]) }
    fma(p, x) { p.fma(x[0], x[1], x[2]) }

    eq(p, x) { p.compare(predicate::EQ, x[0], x[1]) }
    ne(p, x) { p.compare(predicate::opposite(predicate::EQ), x[0], x[1]) }
    lt(p, x) { p.compare(predicate::LT, x[0], x[1]) }
    le(p, x) { p.compare(predicate::LE, x[0], x[1]) }

    whole_eq(p, x) { p.order(predicate::EQ, true, x[0], x[1]) }
    whole_ne(p, x) { let same = p.order(predicate::EQ, true, x[0], x[1]); p.not(same) }
    signed_lt(p, x) { p.order(predicate::WHOLE_LT, true, x[0], x[1]) }
    signed_le(p, x) { p.order(predicate::WHOLE_LE, true, x[0], x[1]) }
    unsigned_lt(p, x) { p.order(predicate::WHOLE_LT, false, x[0], x[1]) }
    unsigned_le(p, x) { p.order(predicate::WHOLE_LE, false, x[0], x[1]) }

    both(p, x) { p.both(x[0], x[1]) }
    either(p, x) { p.either(x[0], x[1]) }
    unlike(p, x) { p.unlike(x[0], x[1]) }
    alike(p, x) { let unlike = p.unlike(x[0], x[1]); p.not(unlike) }
    not(p, x) { p.not(x[0]) }
    /// `!a & b` of booleans.
    less(p, x) { let not = p.not(x[0]); p.both(not, x[1]) }
    /// `!a | b` of booleans.
    implies(p, x) { let not = p.not(x[0]); p.either(not, x[1]) }

    whole_add(p, x) { p.whole(IntegerInst::Add, x[0], x[1]) }
    whole_sub(p, x) { p.whole(IntegerInst::Sub, x[0], x[1]) }
    whole_mul(p, x) { p.whole(IntegerInst::Mul, x[0], x[1]) }
    signed_min(p, x) { p.whole(IntegerInst::Min, x[0], x[1]) }
    signed_max(p, x) { p.whole(IntegerInst::Max, x[0], x[1]) }
    unsigned_min(p, x) { p.whole(IntegerInst::MinUnsigned, x[0], x[1]) }
    unsigned_max(p, x) { p.whole(IntegerInst::MaxUnsigned, x[0], x[1]) }
    and(p, x) { p.bitwise(BinaryInst::And, x[0], x[1]) }
    or(p, x) { p.bitwise(BinaryInst::Or, x[0], x[1]) }
    xor(p, x) { p.bitwise(BinaryInst::Xor, x[0], x[1]) }
    invert(p, x) { p.complement(x[0]) }
    shift_left(p, x) { p.whole(IntegerInst::Shift(ShiftDirection::Left), x[0], x[1]) }
    shift_right(p, x) { p.whole(IntegerInst::Shift(ShiftDirection::Right), x[0], x[1]) }
    shift_right_signed(p, x) {
        p.whole(IntegerInst::Shift(ShiftDirection::RightSigned), x[0], x[1])
    }
    magnitude(p, x) { p.magnitude(x[0]) }
    signed_sign(p, x) { p.sign(x[0], true) }
    unsigned_sign(p, x) { p.sign(x[0], false) }
    count_ones(p, x) { p.count_ones(x[0]) }
    leading_zeros(p, x) { p.leading_zeros(x[0]) }

    signed_div(p, x) { p.divide(x[0], x[1], true, false) }
    signed_rem(p, x) { p.divide(x[0], x[1], true, true) }
    unsigned_div(p, x) { p.divide(x[0], x[1], false, false) }
    unsigned_rem(p, x) { p.divide(x[0], x[1], false, true) }

    nonzero_whole(p, x) { p.nonzero(x[0], false) }
    nonzero_float(p, x) { p.nonzero(x[0], true) }
    float_resize(p, x) { p.float_resize(x[0]) }
    bf16_widen(p, x) { p.bf16_widen(x[0]) }
    bf16_narrow(p, x) { p.bf16_narrow(x[0]) }
    bf16_round(p, x) { p.bf16_round(x[0]) }
    f16_widen(p, x) { p.f16_widen(x[0]) }
    f16_narrow(p, x) { p.f16_narrow(x[0]) }
    f16_round(p, x) { p.f16_round(x[0]) }
    round_to_odd(p, x) { p.round_to_odd(x[0]) }

    /// 1 or 0.
    bool_to_f32(p, x) {
        let (one, zero) = (p.constant(1f32.to_bits().into(), 4), p.constant(0, 4));
        p.select(x[0], one, zero)
    }
    /// 1 or 0.
    bool_to_f64(p, x) {
        let (one, zero) = (p.constant(1f64.to_bits(), 8), p.constant(0, 8));
        p.select(x[0], one, zero)
    }
}

/// Converts to an integer of `TO` bytes; the value wraps. The source type is signed if `SIGNED`.
fn resize<const TO: usize, const SIGNED: bool>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| p.resize(x[0], TO, SIGNED))
}

fn float_of_whole<const TO: usize, const SIGNED: bool>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| p.float_of_whole(x[0], TO, SIGNED))
}

fn whole_of_float<const TO: usize, const SIGNED: bool>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| p.whole_of_float(x[0], TO, SIGNED))
}

/// Quotient or remainder of integers of 8 bytes by a constant; `None` for other divisors.
pub(crate) fn divided_by_constant(
    x: [TraceId; 3],
    signed: bool,
    remainder: bool,
) -> Option<TraceId> {
    with(|p| p.divided_by_constant(x[0], x[1], signed, remainder))
}

/// Class of an element type, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A boolean.
    Bool,
    /// An integer: size in bytes, and whether it is signed.
    Integer(usize, bool),
    /// A float: size in bytes.
    Float(usize),
    /// A complex number: size of both parts together, in bytes.
    Complex(usize),
}

/// The recording function of a conversion, or `None` if it cannot be emitted.
pub(crate) fn cast(from: Class, to: Class) -> Option<Record> {
    use Class::*;
    macro_rules! sized {
        ($f:ident, $to:expr, $signed:expr; $($size:literal)*) => {
            match ($to, $signed) {
                $(($size, false) => $f::<$size, false>,
                ($size, true) => $f::<$size, true>,)*
                _ => return None,
            }
        };
    }
    Some(match (from, to) {
        (Integer(..), Bool) => nonzero_whole,
        (Float(_), Bool) => nonzero_float,
        (Integer(_, signed), Integer(to, _)) => sized!(resize, to, signed; 1 2 4 8),
        (Integer(_, signed), Float(to)) => sized!(float_of_whole, to, signed; 4 8),
        (Float(_), Integer(to, signed)) => sized!(whole_of_float, to, signed; 1 2 4 8),
        (Float(a), Float(b)) if a != b => float_resize,
        (Complex(8), Bool) => complex::nonzero::<Complex32>,
        (Complex(_), Bool) => complex::nonzero::<Complex64>,
        (Complex(8), Float(4)) => complex::real::<Complex32>,
        (Complex(16), Float(8)) => complex::real::<Complex64>,
        (Float(4), Complex(8)) | (Float(8), Complex(16)) => complex::from_real,
        (Complex(8), Complex(16)) => complex::resize::<Complex32>,
        (Complex(16), Complex(8)) => complex::resize::<Complex64>,
        _ => return None,
    })
}
