//! Conversions in traces. Their semantics are those of [`convert`](crate::tile::convert).

use super::trace::{
    BinaryInst, Convert, IntegerInst, LaneType, Op, ShiftDirection, Trace, TraceId, UnaryInst,
    predicate,
};
use half::f16;

/// `1.5 * 2^52`: the sum with an integer below `2^51` in magnitude has that integer in its low
/// bits.
const SHIFTED: f64 = 6_755_399_441_055_744.0;

/// `2^52`: the unit in the last place of numbers in its binade is 1.
const ONES: f64 = 4_503_599_627_370_496.0;

/// The bits of `x` as a float of `size` bytes.
fn float_bits(x: f64, size: usize) -> u64 {
    if size == 4 {
        (x as f32).to_bits().into()
    } else {
        x.to_bits()
    }
}

impl Trace {
    pub(super) fn converted(&mut self, f: Convert, a: TraceId, size: usize) -> TraceId {
        self.push(Op::Convert(f, a), LaneType::Lane(size as u8))
    }

    pub(super) fn number(&mut self, x: f64, size: usize) -> TraceId {
        self.constant(float_bits(x, size), size)
    }

    /// An operation on the bits of lanes.
    pub(super) fn bits_of(&mut self, f: BinaryInst, a: TraceId, bits: u64) -> TraceId {
        let size = self.size(a);
        let bits = self.constant(bits, size);
        self.bitwise(f, a, bits)
    }

    /// Converts a float to the other width.
    pub(super) fn float_resize(&mut self, a: TraceId) -> TraceId {
        // Converts before it negates: the converted operand may have been recorded already.
        if let Some(x) = self.negated(a) {
            let x = self.float_resize(x);
            return self.negative(x);
        }
        match (self.size(a), self.known(a)) {
            (4, Some(bits)) => self.number(f32::from_bits(bits as u32).into(), 8),
            (8, Some(bits)) => self.number(f64::from_bits(bits), 4),
            (4, None) => self.converted(Convert::Float, a, 8),
            (8, None) => self.converted(Convert::Float, a, 4),
            _ => self.fail(),
        }
    }

    /// Converts an integer to the nearest float.
    pub(super) fn float_of_whole(&mut self, a: TraceId, to: usize, signed: bool) -> TraceId {
        let a = self.byte(a);
        match (self.size(a), to) {
            (1 | 2, _) => {
                let a = self.resize(a, 4, signed);
                self.converted(Convert::FromWhole(true), a, to)
            }
            (4, _) if signed || self.wide => self.converted(Convert::FromWhole(signed), a, to),
            (8, _) if self.wide => self.converted(Convert::FromWhole(signed), a, to),
            (4, _) => {
                let a = self.resize(a, 8, false);
                let x = self.bits_of(BinaryInst::Or, a, ONES.to_bits());
                let ones = self.number(ONES, 8);
                let x = self.two(BinaryInst::Sub, x, ones);
                if to == 8 { x } else { self.float_resize(x) }
            }
            (8, 8) => self.long_float(a, signed),
            (8, _) => {
                // The bits that f64 cannot hold are merged into one sticky bit, so that the result
                // is rounded only once, to f32.
                let few = self.bits_of(BinaryInst::And, a, 2047);
                let most = self.constant(2047, 8);
                let up = self.whole(IntegerInst::Add, few, most);
                let all = self.bitwise(BinaryInst::Or, a, up);
                let odd = self.bits_of(BinaryInst::And, all, !2047);
                let start = self.constant(if signed { 1 << 53 } else { 0 }, 8);
                let above = self.whole(IntegerInst::Add, a, start);
                let above =
                    self.shift_by(ShiftDirection::Right, above, if signed { 54 } else { 53 });
                let zero = self.constant(0, 8);
                let near = self.order(predicate::EQ, true, above, zero);
                let x = self.select(near, a, odd);
                let x = self.long_float(x, signed);
                self.float_resize(x)
            }
            _ => self.fail(),
        }
    }

    /// The upper and the lower half of an integer, each exact in a float with its own scale, and
    /// their sum.
    fn long_float(&mut self, a: TraceId, signed: bool) -> TraceId {
        let above: u64 = if signed {
            0x4530_0000_8000_0000
        } else {
            0x4530_0000_0000_0000
        };
        let high = self.shift_by(ShiftDirection::Right, a, 32);
        let high = self.bits_of(BinaryInst::Xor, high, above);
        let low = self.bits_of(BinaryInst::And, a, 0xffff_ffff);
        let low = self.bits_of(BinaryInst::Or, low, ONES.to_bits());
        let both = self.number(f64::from_bits(above) + ONES, 8);
        let high = self.two(BinaryInst::Sub, high, both);
        self.two(BinaryInst::Add, high, low)
    }

    /// A float, with NaN replaced by 0.
    fn without_nan(&mut self, a: TraceId) -> TraceId {
        let is_number = self.compare(predicate::EQ, a, a);
        self.where_true(is_number, a)
    }

    /// A float clamped to an interval; NaN becomes 0.
    fn within(&mut self, a: TraceId, low: f64, high: f64) -> TraceId {
        let size = self.size(a);
        let a = self.without_nan(a);
        let (low, high) = (self.number(low, size), self.number(high, size));
        let a = self.two(BinaryInst::Max, low, a);
        self.two(BinaryInst::Min, high, a)
    }

    /// Truncates a float to an integer. Out-of-range values saturate, and NaN becomes 0.
    pub(super) fn whole_of_float(&mut self, a: TraceId, to: usize, signed: bool) -> TraceId {
        let size = self.size(a);
        let bits = 8 * to as i32;
        let (low, high) = match signed {
            true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
            false => (0.0, 2f64.powi(bits)),
        };
        match (to, size) {
            (1 | 2, _) | (4, 8) if to < 4 || signed => {
                let a = self.within(a, low, high - 1.0);
                let x = self.converted(Convert::ToWhole(true), a, 4);
                self.resize(x, to, true)
            }
            (4, 4) if signed => {
                let x = self.converted(Convert::ToWhole(true), a, 4);
                self.saturated(a, x, None, high, u64::MAX >> 33)
            }
            (4 | 8, 4) => {
                let a = self.float_resize(a);
                self.whole_of_float(a, to, signed)
            }
            (4, _) => {
                let a = self.within(a, low, high - 1.0);
                self.unsigned_word(a)
            }
            _ => {
                let top = if signed { u64::MAX >> 1 } else { u64::MAX };
                let zero = self.number(0.0, 8);
                let a = if signed {
                    a
                } else {
                    self.two(BinaryInst::Max, a, zero)
                };
                let x = match self.wide {
                    true => self.converted(Convert::ToWhole(signed), a, 8),
                    false => self.long_whole(a),
                };
                // The instruction returns the least integer for all values that are out of range;
                // the sequence does not.
                let below = (signed && !self.wide).then_some((low, 1 << 63));
                self.saturated(a, x, below, high, top)
            }
        }
    }

    /// `x`, replaced by the saturated value where `a` is out of range, and by 0 where `a` is NaN.
    fn saturated(
        &mut self,
        a: TraceId,
        x: TraceId,
        below: Option<(f64, u64)>,
        high: f64,
        top: u64,
    ) -> TraceId {
        let (size, to) = (self.size(a), self.size(x));
        let mut x = x;
        if let Some((low, bottom)) = below {
            let (low, bottom) = (self.number(low, size), self.constant(bottom, to));
            let is_below = self.compare(predicate::LT, a, low);
            x = self.select(is_below, bottom, x);
        }
        let (high, top) = (self.number(high, size), self.constant(top, to));
        let is_above = self.compare(predicate::LE, high, a);
        x = self.select(is_above, top, x);
        let is_number = self.compare(predicate::EQ, a, a);
        self.where_true(is_number, x)
    }

    /// Truncates a number between 0 and `2^32 - 1` to an integer.
    pub(super) fn unsigned_word(&mut self, a: TraceId) -> TraceId {
        if self.wide {
            return self.converted(Convert::ToWhole(false), a, 4);
        }
        let cut = self.one(UnaryInst::Round(3), a);
        let shifted = self.number(SHIFTED, 8);
        let x = self.two(BinaryInst::Add, cut, shifted);
        self.resize(x, 4, false)
    }

    /// Truncates a number to an integer of 64 bits. The upper half is computed first, then the
    /// lower half from the remainder.
    fn long_whole(&mut self, a: TraceId) -> TraceId {
        let cut = self.one(UnaryInst::Round(3), a);
        let (scale, back) = (
            self.number(2f64.powi(-32), 8),
            self.number(-(2f64.powi(32)), 8),
        );
        let high = self.two(BinaryInst::Mul, cut, scale);
        let high = self.one(UnaryInst::Round(1), high);
        let low = self.fma(high, back, cut);
        let (shifted, ones) = (self.number(SHIFTED, 8), self.number(ONES, 8));
        let (high, low) = (
            self.two(BinaryInst::Add, high, shifted),
            self.two(BinaryInst::Add, low, ones),
        );
        let high = self.shift_by(ShiftDirection::Left, high, 32);
        let low = self.bits_of(BinaryInst::Xor, low, ONES.to_bits());
        self.bitwise(BinaryInst::Or, high, low)
    }

    /// Whether a float or an integer is not 0.
    pub(super) fn nonzero(&mut self, a: TraceId, float: bool) -> TraceId {
        if self.kind(a).is_bool() {
            return a;
        }
        let size = self.size(a);
        let zero = self.constant(0, size);
        match float {
            true => self.compare(predicate::opposite(predicate::EQ), a, zero),
            false => {
                let none = self.order(predicate::EQ, true, a, zero);
                self.not(none)
            }
        }
    }

    /// Converts bf16 to f32.
    pub(super) fn bf16_widen(&mut self, a: TraceId) -> TraceId {
        let x = self.resize(a, 4, false);
        self.shift_by(ShiftDirection::Left, x, 16)
    }

    /// Bits of an f32 whose upper half is the nearest bf16.
    fn bf16_bits(&mut self, a: TraceId) -> TraceId {
        let last = self.shift_by(ShiftDirection::Right, a, 16);
        let last = self.bits_of(BinaryInst::And, last, 1);
        let half = self.constant(0x7fff, 4);
        let up = self.whole(IntegerInst::Add, a, half);
        let up = self.whole(IntegerInst::Add, up, last);
        let quiet = self.bits_of(BinaryInst::Or, a, 0x40_0000);
        let is_number = self.compare(predicate::EQ, a, a);
        self.select(is_number, up, quiet)
    }

    pub(super) fn bf16_narrow(&mut self, a: TraceId) -> TraceId {
        let x = self.bf16_bits(a);
        let x = self.shift_by(ShiftDirection::Right, x, 16);
        self.resize(x, 2, false)
    }

    /// An f32 rounded to bf16 precision.
    pub(super) fn bf16_round(&mut self, a: TraceId) -> TraceId {
        let x = self.bf16_bits(a);
        self.bits_of(BinaryInst::And, x, 0xffff_0000)
    }

    /// Converts f16 to f32, if the CPU has the instructions.
    pub(super) fn f16_widen(&mut self, a: TraceId) -> TraceId {
        match self.known(a) {
            Some(bits) => self.constant(f16::from_bits(bits as u16).to_f32().to_bits().into(), 4),
            None if self.has_f16() => self.converted(Convert::WidenHalf, a, 4),
            None => self.fail(),
        }
    }

    pub(super) fn f16_narrow(&mut self, a: TraceId) -> TraceId {
        if self.has_f16() {
            self.converted(Convert::NarrowHalf, a, 2)
        } else {
            self.fail()
        }
    }

    /// An f32 rounded to f16 precision.
    pub(super) fn f16_round(&mut self, a: TraceId) -> TraceId {
        let x = self.f16_narrow(a);
        self.f16_widen(x)
    }

    fn has_f16(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.wide || is_x86_feature_detected!("f16c");
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// Converts f64 to f32 by rounding to odd: an inexact result has its last bit set.
    pub(super) fn round_to_odd(&mut self, a: TraceId) -> TraceId {
        let y = self.float_resize(a);
        let back = self.float_resize(y);
        let (less, more) = (
            self.compare(predicate::LT, back, a),
            self.compare(predicate::LT, a, back),
        );
        let inexact = self.either(less, more);
        let (magnitude, of_back) = (
            self.bits_of(BinaryInst::And, a, u64::MAX >> 1),
            self.bits_of(BinaryInst::And, back, u64::MAX >> 1),
        );
        let beyond = self.compare(predicate::LT, magnitude, of_back);
        let (down, up) = (self.constant(u64::MAX, 4), self.constant(1, 4));
        let step = self.select(beyond, down, up);
        let moved = self.whole(IntegerInst::Add, y, step);
        let last = self.bits_of(BinaryInst::And, y, 1);
        let is_odd = self.nonzero(last, false);
        let even = self.not(is_odd);
        let changes = self.both(inexact, even);
        self.select(changes, moved, y)
    }
}
