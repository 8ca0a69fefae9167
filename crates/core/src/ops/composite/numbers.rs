//! Division with rounding toward -inf, and functions of signs and neighbours of numbers.
//!
//! ```text
//! x = floor_divide(x, y) y + floor_mod(x, y)          0 <= floor_mod(x, y) / y < 1
//! ```

use super::entry::{Composite, operands};
use crate::array::Scalar;
use crate::dtype::{DType, Kind};
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::Comparison;

pub(super) static NUMBERS: &[Composite] = &[
    Composite {
        name: "floor_divide",
        doc: "The quotient x / y rounded toward -inf, with derivative 0; for integers x / 0 = -1.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.floor_divide(x, y)]),
    },
    Composite {
        name: "floor_mod",
        doc: "The remainder x - floor(x / y) y, with the sign of y; for integers x mod 0 = x.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.floor_mod(x, y)]),
    },
    Composite {
        name: "copysign",
        doc: "The magnitude of x with the sign of y, which may be the sign of a zero or of NaN.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.copysign(x, y)]),
    },
    Composite {
        name: "signbit",
        doc: "Whether x is negative, -0 or a NaN with the sign bit.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.signbit(x)]),
    },
    Composite {
        name: "nextafter",
        doc: "The next representable number after x toward y, with derivative 0.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.next_after(x, y)]),
    },
];

/// Whether both values are real numbers of one type. Reports an error otherwise.
fn are_real(cx: &dyn Emit, what: &str, x: Val, y: Val) -> bool {
    let (tx, ty) = (cx.ty(x), cx.ty(y));
    let is_real = tx.dtype.is_int() || tx.dtype.is_float();
    if !(cx.failed() || is_real && tx.dtype == ty.dtype) {
        let text = format!(
            "`{what}` of {tx} and {ty}: both must be floats, or integers, of one type; convert one of them"
        );
        cx.fail(Error::new(Code::DTypeMismatch, text).at(cx.loc()));
    }
    !cx.failed()
}

/// Computes `f` in single precision for 16-bit floats, and rounds the result.
fn pair_in_f32(cx: &dyn Emit, x: Val, y: Val, f: impl FnOnce(Val, Val) -> Val) -> Val {
    match cx.ty(x).dtype {
        d @ (DType::F16 | DType::BF16) => {
            let wide = |v: Val| cx.convert(v, DType::F32);
            cx.convert(f(wide(x), wide(y)), d)
        }
        _ => f(x, y),
    }
}

impl dyn Emit + '_ {
    fn is_zero(&self, x: Val) -> Val {
        self.compare(x, Comparison::Eq, self.full_like(x, Scalar::I(0)))
    }

    /// The remainder with the sign of `x`, and whether it has another sign than `y`: then the
    /// quotient is not an integer, and rounding toward zero is not rounding toward -inf.
    fn truncated_rem(&self, x: Val, y: Val) -> (Val, Val) {
        let r = self.rem(x, y);
        let zero = self.full_like(x, Scalar::I(0));
        let negative = |v: Val| self.compare(v, Comparison::Lt, zero);
        let differ = self.xor(negative(r), negative(y));
        let is_fraction = self.not(self.or(self.is_zero(r), self.is_zero(y)));
        (r, self.and(differ, is_fraction))
    }

    /// The quotient `x / y` rounded toward -inf. Its derivative is zero. For integers `x / 0` is
    /// -1, as in `div`. For floats it is that of `div` where `y` is zero, or `x` or `y` is
    /// infinite.
    pub fn floor_divide(&self, x: Val, y: Val) -> Val {
        if !are_real(self, "floor_divide", x, y) {
            return Val::POISON;
        }
        let (x, y) = (self.stop_gradient(x), self.stop_gradient(y));
        pair_in_f32(self, x, y, |x, y| {
            let (r, adjusts) = self.truncated_rem(x, y);
            let one = |v: Val| self.sub(v, self.full_like(v, Scalar::I(1)));
            if self.ty(x).dtype.is_int() {
                let q = self.div(x, y);
                return self.select(adjusts, one(q), q);
            }
            // x - r is a multiple of y, so that the quotient is an integer up to rounding.
            let q = self.round_half_even(self.div(self.sub(x, r), y));
            let q = self.select(adjusts, one(q), q);
            let whole = self.div(x, y);
            // A quotient of zero has the sign of x / y.
            let zero = self.copysign(self.full_like(q, 0.0), whole);
            let q = self.select(self.is_zero(q), zero, q);
            // A quotient by zero, and one with an infinity, is that of `div`.
            let finite = self.and(self.is_finite(x), self.is_finite(y));
            self.select(self.or(self.is_zero(y), self.not(finite)), whole, q)
        })
    }

    /// The remainder `x - floor(x / y) y`, with the sign of `y`. For integers `x mod 0` is `x`. Its
    /// derivative is 1 by `x`, and `-floor(x / y)` by `y`.
    pub fn floor_mod(&self, x: Val, y: Val) -> Val {
        if !are_real(self, "floor_mod", x, y) {
            return Val::POISON;
        }
        let (r, adjusts) = self.truncated_rem(x, y);
        let r = self.select(adjusts, self.add(r, y), r);
        if self.ty(x).dtype.is_int() {
            return r;
        }
        // Adding +0 to a zero makes it +0, without a change of derivatives.
        let positive = |v: Val| self.add(v, self.full_like(v, 0.0));
        let negative = self.neg(positive(self.neg(r)));
        let zero = self.select(self.signbit(y), negative, positive(r));
        self.select(self.is_zero(r), zero, r)
    }

    /// The magnitude of `x` with the sign of `y`. The derivative by `x` is 1 or -1, also at 0.
    pub fn copysign(&self, x: Val, y: Val) -> Val {
        if !are_real(self, "copysign", x, y) {
            return Val::POISON;
        }
        let flips = self.xor(self.signbit(x), self.signbit(y));
        self.select(flips, self.neg(x), x)
    }

    /// Whether the sign bit of real numbers is set: for negative ones, -0, and some NaN.
    pub fn signbit(&self, x: Val) -> Val {
        let ty = self.ty(x);
        let bits = match (ty.dtype.kind(), ty.dtype.size()) {
            (Kind::Int, _) => x,
            (Kind::Float, 2) => self.bitcast(x, DType::I16),
            (Kind::Float, 4) => self.bitcast(x, DType::I32),
            (Kind::Float, _) => self.bitcast(x, DType::I64),
            _ => {
                let text = format!("`signbit` of {ty}: it is defined on floats and integers");
                self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
                return Val::POISON;
            }
        };
        self.compare(bits, Comparison::Lt, self.full_like(bits, Scalar::I(0)))
    }
}
