//! Division of integers in traces, with the semantics of [`integers`](crate::tile::integers).
//!
//! ```text
//! a / 2^k          (a + (2^k - 1 if a < 0)) >> k
//! a / c            trunc(float(a) * r)                  r is 1 / c, rounded away from zero
//! a / c            (t + ((a - t) >> 1)) >> (l - 1)      64 bits: t is the upper half of a * m
//! a / b            trunc(float(a) / float(b))
//! ```
//! The second form is exact. A multiple `a = q c` gives at least `q` in magnitude, and the relative
//! error of product and reciprocal is below `2^(2 - p)` for floats of `p` bits. So a quotient is
//! below the next integer, which is at least `1 / c` away, if `a < 2^(p - 2)`. The third form is
//! that of Granlund and Montgomery, "Division by invariant integers using multiplication" (1994),
//! figure 4.1, with `l = ceil(log2 c)` and `m = floor(2^64 (2^l - c) / c) + 1`.

use super::trace::{
    BinaryInst, Convert, IntegerInst, LaneType, ShiftDirection, Trace, TraceId, predicate,
};

/// The float of `size` bytes nearest to `1 / c` among those that are not smaller in magnitude.
fn reciprocal(c: f64, size: usize) -> f64 {
    let nearest = match size {
        4 => f64::from((1.0 / c) as f32),
        _ => 1.0 / c,
    };
    // The sign of `nearest * c - 1`, which is exact.
    let is_less = nearest.mul_add(c, -1.0) < 0.0;
    match size {
        _ if !is_less => nearest,
        4 => {
            let bits = (nearest as f32).to_bits();
            f64::from(f32::from_bits(bits + 1))
        }
        _ => f64::from_bits(nearest.to_bits() + 1),
    }
}

impl Trace {
    /// Quotient or remainder of integers. The quotient is truncated, and it is -1 if the divisor is
    /// 0; the remainder is the dividend then. Integers of 8 bytes need a constant divisor.
    pub(super) fn divide(
        &mut self,
        a: TraceId,
        b: TraceId,
        signed: bool,
        remainder: bool,
    ) -> TraceId {
        if let Some(y) = self.divided_by_constant(a, b, signed, remainder) {
            return y;
        }
        let (a, b) = (self.byte(a), self.byte(b));
        let size = self.lanes(&[a, b]).map(LaneType::size);
        let Some(size) = size.filter(|&s| s <= 4) else {
            return self.fail();
        };
        let (zero, one, minus) = (
            self.constant(0, size),
            self.constant(1, size),
            self.constant(u64::MAX, size),
        );
        let none = self.order(predicate::EQ, true, b, zero);
        let divisor = self.select(none, one, b);
        let float = if size == 4 { 8 } else { 4 };
        let (x, y) = (
            self.float_of_whole(a, float, signed),
            self.float_of_whole(divisor, float, signed),
        );
        let q = self.two(BinaryInst::Div, x, y);
        let q = self.whole_quotient(q, size, signed);
        match remainder {
            true => self.rest(a, q, b),
            false => self.select(none, minus, q),
        }
    }

    /// `a - q b`.
    fn rest(&mut self, a: TraceId, q: TraceId, b: TraceId) -> TraceId {
        let product = self.whole(IntegerInst::Mul, q, b);
        self.whole(IntegerInst::Sub, a, product)
    }

    /// Truncates a float to an integer of at most 4 bytes.
    fn whole_quotient(&mut self, q: TraceId, size: usize, signed: bool) -> TraceId {
        if (size, signed) == (4, false) {
            return self.unsigned_word(q);
        }
        let q = self.converted(Convert::ToWhole(true), q, 4);
        self.resize(q, size, true)
    }

    /// Quotient or remainder by a constant that is not 0; `None` for other divisors.
    pub(super) fn divided_by_constant(
        &mut self,
        a: TraceId,
        b: TraceId,
        signed: bool,
        remainder: bool,
    ) -> Option<TraceId> {
        let (a, b) = (self.byte(a), self.byte(b));
        let size = self.lanes(&[a, b])?.size();
        let bits = self.known(b).filter(|&bits| bits != 0)?;
        let unused = 64 - 8 * size as u32;
        let c = (bits << unused) as i64 >> unused;
        let (divisor, negative) = match signed {
            true => (c.unsigned_abs(), c < 0),
            false => (bits, false),
        };
        if divisor.is_power_of_two() {
            let multiple = self.above_multiple(a, divisor, size, signed);
            return Some(match remainder {
                true => {
                    let multiple = self.bits_of(BinaryInst::And, multiple, !(divisor - 1));
                    self.whole(IntegerInst::Sub, a, multiple)
                }
                false => {
                    let way = match signed {
                        true => ShiftDirection::RightSigned,
                        false => ShiftDirection::Right,
                    };
                    let q = self.shift_by(way, multiple, divisor.trailing_zeros().into());
                    self.negative_if(negative, q, size)
                }
            });
        }
        let q = if size == 8 {
            self.long_quotient(a, divisor, signed, negative)
        } else {
            let c = if signed { c as f64 } else { bits as f64 };
            let float = if size == 4 { 8 } else { 4 };
            let x = self.float_of_whole(a, float, signed);
            let r = self.number(reciprocal(c, float), float);
            let q = self.two(BinaryInst::Mul, x, r);
            self.whole_quotient(q, size, signed)
        };
        Some(if remainder { self.rest(a, q, b) } else { q })
    }

    /// An integer whose bits above those of a power of two are those of the multiple of it that is
    /// next to `a` in the direction of 0.
    fn above_multiple(&mut self, a: TraceId, power: u64, size: usize, signed: bool) -> TraceId {
        if !signed || power == 1 {
            return a;
        }
        let signs = self.shift_by(ShiftDirection::RightSigned, a, 8 * size as u64 - 1);
        let most = self.bits_of(BinaryInst::And, signs, power - 1);
        self.whole(IntegerInst::Add, a, most)
    }

    fn negative_if(&mut self, negative: bool, x: TraceId, size: usize) -> TraceId {
        if !negative {
            return x;
        }
        let zero = self.constant(0, size);
        self.whole(IntegerInst::Sub, zero, x)
    }

    /// `a / divisor` of 8 bytes, for a divisor that is no power of two; `-a / divisor` if
    /// `negative`.
    fn long_quotient(&mut self, a: TraceId, divisor: u64, signed: bool, negative: bool) -> TraceId {
        let x = if signed { self.magnitude(a) } else { a };
        let bits = u64::BITS - divisor.leading_zeros();
        let rest = (1u128 << bits) - u128::from(divisor);
        let factor = ((rest << 64) / u128::from(divisor) + 1) as u64;
        let t = self.upper_product(x, factor);
        let half = self.whole(IntegerInst::Sub, x, t);
        let half = self.shift_by(ShiftDirection::Right, half, 1);
        let q = self.whole(IntegerInst::Add, half, t);
        let q = self.shift_by(ShiftDirection::Right, q, (bits - 1).into());
        if !signed {
            return q;
        }
        let mut signs = self.shift_by(ShiftDirection::RightSigned, a, 63);
        if negative {
            signs = self.complement(signs);
        }
        let q = self.bitwise(BinaryInst::Xor, q, signs);
        self.whole(IntegerInst::Sub, q, signs)
    }

    /// The upper 8 bytes of the product of an integer of 8 bytes and a constant.
    fn upper_product(&mut self, a: TraceId, factor: u64) -> TraceId {
        let low = u64::from(u32::MAX);
        let (small, large) = (
            self.constant(factor & low, 8),
            self.constant(factor >> 32, 8),
        );
        let upper = self.shift_by(ShiftDirection::Right, a, 32);
        let [p00, p01, p10, p11] = [(a, small), (a, large), (upper, small), (upper, large)]
            .map(|(x, y)| self.whole(IntegerInst::MulLow, x, y));
        let carried = self.shift_by(ShiftDirection::Right, p00, 32);
        let middle = self.whole(IntegerInst::Add, p10, carried);
        let first = self.bits_of(BinaryInst::And, middle, low);
        let first = self.whole(IntegerInst::Add, p01, first);
        let mut sum = p11;
        for part in [middle, first] {
            let part = self.shift_by(ShiftDirection::Right, part, 32);
            sum = self.whole(IntegerInst::Add, sum, part);
        }
        sum
    }
}
