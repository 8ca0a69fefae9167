//! Methods of the emitter, one per row of the table.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::Binary;
use crate::ir::{Emit, Val};

impl dyn Emit + '_ {
    /// Elementwise `add`: x + y; on booleans the logical or.
    pub fn add(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Add, &[x, y])
    }

    /// Elementwise `sub`: x - y.
    pub fn sub(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Sub, &[x, y])
    }

    /// Elementwise `mul`: x * y; on booleans the logical and.
    pub fn mul(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Mul, &[x, y])
    }

    /// Elementwise `div`: x / y; integers truncate toward zero, x / 0 = -1.
    pub fn div(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Div, &[x, y])
    }

    /// Elementwise `rem`: x - trunc(x / y) y, with the sign of x; for integers x rem 0 = x.
    pub fn rem(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Rem, &[x, y])
    }

    /// Elementwise `pow`: x to the power y; integers by repeated multiplication, wrapping.
    pub fn pow(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Pow, &[x, y])
    }

    /// Elementwise `atan2`: angle of the point (y, x), in \[-pi, pi]; derivative 0 at the origin.
    pub fn atan2(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Atan2, &[x, y])
    }

    /// Elementwise `max`: the larger operand; NaN if either is NaN, +0 > -0; a tie shares the
    /// gradient.
    pub fn maximum(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Max, &[x, y])
    }

    /// Elementwise `min`: the smaller operand; NaN if either is NaN, -0 < +0; a tie shares the
    /// gradient.
    pub fn minimum(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Min, &[x, y])
    }

    /// Elementwise `and`: logical and; bitwise on integers.
    pub fn and(&self, x: Val, y: Val) -> Val {
        self.op(Binary::And, &[x, y])
    }

    /// Elementwise `or`: logical or; bitwise on integers.
    pub fn or(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Or, &[x, y])
    }

    /// Elementwise `xor`: logical xor; bitwise on integers.
    pub fn xor(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Xor, &[x, y])
    }

    /// Elementwise `shift_left`: shift left by y bits; 0 if y is at least the width of the type.
    pub fn shift_left(&self, x: Val, y: Val) -> Val {
        self.op(Binary::ShiftLeft, &[x, y])
    }

    /// Elementwise `shift_right_logical`: logical shift right by y bits; 0 if y is at least the
    /// width of the type.
    pub fn shift_right_logical(&self, x: Val, y: Val) -> Val {
        self.op(Binary::ShiftRightLogical, &[x, y])
    }

    /// Elementwise `shift_right_arithmetic`: arithmetic shift right by y bits, which repeats the
    /// sign bit.
    pub fn shift_right_arithmetic(&self, x: Val, y: Val) -> Val {
        self.op(Binary::ShiftRightArithmetic, &[x, y])
    }

    /// Elementwise `xlogy`: x log y, 0 where x = 0.
    pub fn xlogy(&self, x: Val, y: Val) -> Val {
        self.op(Binary::Xlogy, &[x, y])
    }
}
