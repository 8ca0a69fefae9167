//! Integers in traces. An operation without a vector instruction becomes several operations with
//! the same bits.
//!
//! Parts of lanes are processed together: an operation on integers of a given size applies to all
//! such integers of a vector, whatever the lane size.

use super::trace::{
    BinaryInst, IntegerInst, LaneType, Op, ShiftDirection, Trace, TraceId, UnaryInst, predicate,
};

/// Number of set bits of the numbers below 16.
const ONES: u128 = 0x04030302_03020201_03020201_02010100;

/// Leading zeros of a byte: by its high half (8 if that is 0), and by its low half if the high half
/// is 0.
const HIGH: u128 = 0x00000000_00000000_01010101_02020308;
const LOW: u128 = 0x04040404_04040404_05050505_06060708;

/// A lane of `size` bytes that repeats a byte.
fn bytes(byte: u8, size: usize) -> u64 {
    u64::from_le_bytes([byte; 8]) >> (64 - 8 * size)
}

impl Trace {
    /// An operation on integers of a given size, in lanes of any size.
    fn at(&mut self, f: IntegerInst, size: usize, a: TraceId, b: TraceId) -> TraceId {
        let kind = LaneType::Lane(self.size(a) as u8);
        self.push(Op::Binary(BinaryInst::Integer(f, size as u8), a, b), kind)
    }

    fn moved(&mut self, way: ShiftDirection, by: u32, size: usize, a: TraceId) -> TraceId {
        let kind = LaneType::Lane(self.size(a) as u8);
        self.push(
            Op::Unary(UnaryInst::Shift(way, by as u8, size as u8), a),
            kind,
        )
    }

    fn bits(&mut self, f: BinaryInst, a: TraceId, b: TraceId) -> TraceId {
        let kind = LaneType::Lane(self.size(a) as u8);
        self.push(Op::Binary(f, a, b), kind)
    }

    /// The bits of a lane mask, as a constant that any instruction can read.
    fn masked(&mut self, a: TraceId, mask: u64) -> TraceId {
        let size = self.size(a);
        let mask = self.constant(mask, size);
        self.bits(BinaryInst::And, a, mask)
    }

    /// A repeated pattern of 16 bytes, with the lane size of a value.
    fn pattern(&mut self, bytes: u128, like: TraceId) -> TraceId {
        let size = self.size(like) as u8;
        self.push(
            Op::Pattern([bytes as u64, (bytes >> 64) as u64], size),
            LaneType::Lane(size),
        )
    }

    /// All bits set where `a < 0`, in lanes.
    fn sign_lanes(&mut self, a: TraceId) -> TraceId {
        let zero = self.constant(0, self.size(a));
        self.push(
            Op::Order(predicate::GT, true, zero, a),
            self.compared(self.kind(a)),
        )
    }

    /// Operands of an operation on integers of one size. Booleans are converted to bytes.
    fn whole_operands(&mut self, a: TraceId, b: TraceId) -> Option<(TraceId, TraceId, usize)> {
        let (a, b) = (self.byte(a), self.byte(b));
        self.lanes(&[a, b]).map(|kind| (a, b, kind.size()))
    }

    /// A function of two integers.
    pub(super) fn whole(&mut self, f: IntegerInst, a: TraceId, b: TraceId) -> TraceId {
        let Some((a, b, size)) = self.whole_operands(a, b) else {
            return self.fail();
        };
        match f {
            IntegerInst::Mul if size == 1 => self.byte_products(a, b),
            IntegerInst::Mul if size == 8 && !self.wide => self.long_products(a, b),
            IntegerInst::Shift(way) => self.shift(way, a, b),
            IntegerInst::Min
            | IntegerInst::MinUnsigned
            | IntegerInst::Max
            | IntegerInst::MaxUnsigned
                if size == 8 && !self.wide =>
            {
                let signed = matches!(f, IntegerInst::Min | IntegerInst::Max);
                let less = self.order(predicate::WHOLE_LT, signed, a, b);
                let (x, y) = if matches!(f, IntegerInst::Min | IntegerInst::MinUnsigned) {
                    (a, b)
                } else {
                    (b, a)
                };
                self.select(less, x, y)
            }
            _ => self.at(f, size, a, b),
        }
    }

    /// A bitwise function of two values.
    pub(super) fn bitwise(&mut self, f: BinaryInst, a: TraceId, b: TraceId) -> TraceId {
        match self.whole_operands(a, b) {
            Some((a, b, _)) => self.bits(f, a, b),
            None => self.fail(),
        }
    }

    /// Products of the even and of the odd bytes, in 2 bytes each.
    fn byte_products(&mut self, a: TraceId, b: TraceId) -> TraceId {
        let mask = self.pattern(
            u128::from_le_bytes([0xff, 0].repeat(8).try_into().expect("16 bytes")),
            a,
        );
        let even = self.at(IntegerInst::Mul, 2, a, b);
        let even = self.bits(BinaryInst::And, even, mask);
        let high = self.moved(ShiftDirection::Right, 8, 2, b);
        let mask = self.pattern(
            u128::from_le_bytes([0, 0xff].repeat(8).try_into().expect("16 bytes")),
            a,
        );
        let up = self.bits(BinaryInst::And, a, mask);
        let odd = self.at(IntegerInst::Mul, 2, up, high);
        self.bits(BinaryInst::Or, even, odd)
    }

    /// `a b` in 8 bytes, from products of halves.
    fn long_products(&mut self, a: TraceId, b: TraceId) -> TraceId {
        let [high_a, high_b] = [a, b].map(|x| self.moved(ShiftDirection::Right, 32, 8, x));
        let (low, p, q) = (
            self.at(IntegerInst::MulLow, 8, a, b),
            self.at(IntegerInst::MulLow, 8, high_a, b),
            self.at(IntegerInst::MulLow, 8, a, high_b),
        );
        let cross = self.at(IntegerInst::Add, 8, p, q);
        let cross = self.moved(ShiftDirection::Left, 32, 8, cross);
        self.at(IntegerInst::Add, 8, low, cross)
    }

    /// `a = b`, `a < b` or `a <= b` of integers.
    pub(super) fn order(&mut self, p: u8, signed: bool, a: TraceId, b: TraceId) -> TraceId {
        let Some((mut a, mut b, size)) = self.whole_operands(a, b) else {
            return self.fail();
        };
        let kind = self.compared(LaneType::Lane(size as u8));
        if self.wide || p == predicate::EQ {
            return self.push(Op::Order(p, signed || p == predicate::EQ, a, b), kind);
        }
        if !signed && size < 8 {
            // `a <= b` if and only if `a = min(a, b)`.
            let (x, y) = if p == predicate::WHOLE_LE {
                (a, b)
            } else {
                (b, a)
            };
            let least = self.at(IntegerInst::MinUnsigned, size, x, y);
            let m = self.push(Op::Order(predicate::EQ, true, least, x), kind);
            return if p == predicate::WHOLE_LE {
                m
            } else {
                self.not(m)
            };
        }
        if !signed {
            let sign = self.constant(1 << 63, 8);
            (a, b) = (
                self.bits(BinaryInst::Xor, a, sign),
                self.bits(BinaryInst::Xor, b, sign),
            );
        }
        if p == predicate::WHOLE_LT {
            return self.push(Op::Order(predicate::GT, true, b, a), kind);
        }
        let m = self.push(Op::Order(predicate::GT, true, a, b), kind);
        self.not(m)
    }

    fn shift(&mut self, way: ShiftDirection, a: TraceId, by: TraceId) -> TraceId {
        let size = self.size(a);
        match self.known(by) {
            Some(n) => self.shift_by(way, a, n),
            None => self.shift_at(way, size, a, by),
        }
    }

    /// A shift by one constant amount for all lanes.
    pub(super) fn shift_by(&mut self, way: ShiftDirection, a: TraceId, by: u64) -> TraceId {
        let size = self.size(a);
        let bits = 8 * size as u64;
        if let (Some(x), true) = (self.known(a), way != ShiftDirection::RightSigned) {
            let by = by.min(64) as u32;
            let x = if way == ShiftDirection::Left {
                x.checked_shl(by)
            } else {
                x.checked_shr(by)
            };
            return self.constant(x.unwrap_or(0), size);
        }
        let by = match way {
            ShiftDirection::RightSigned => by.min(bits - 1) as u32,
            _ if by >= bits => return self.constant(0, size),
            _ => by as u32,
        };
        match (way, size) {
            _ if by == 0 => a,
            (ShiftDirection::RightSigned, 1) => {
                // Sign extension from the shifted position of the sign bit.
                let x = self.shift_by(ShiftDirection::Right, a, by.into());
                let sign = self.constant(bytes(0x80 >> by, 1), 1);
                let x = self.bits(BinaryInst::Xor, x, sign);
                self.at(IntegerInst::Sub, 1, x, sign)
            }
            (_, 1) => {
                let x = self.moved(way, by, 2, a);
                let kept = if way == ShiftDirection::Left {
                    0xff << by
                } else {
                    0xff >> by
                };
                self.masked(x, kept & 0xff)
            }
            (ShiftDirection::RightSigned, 8) if !self.wide => {
                let signs = self.sign_lanes(a);
                let x = self.bits(BinaryInst::Xor, a, signs);
                let x = self.moved(ShiftDirection::Right, by, 8, x);
                self.bits(BinaryInst::Xor, x, signs)
            }
            _ => self.moved(way, by, size, a),
        }
    }

    /// Shift by per-lane unsigned amounts. Sizes without an instruction are computed in integers of
    /// twice the size.
    fn shift_at(&mut self, way: ShiftDirection, size: usize, a: TraceId, by: TraceId) -> TraceId {
        match size {
            8 if way == ShiftDirection::RightSigned && !self.wide => {
                let signs = self.sign_lanes(a);
                let x = self.bits(BinaryInst::Xor, a, signs);
                let x = self.at(IntegerInst::Shift(ShiftDirection::Right), 8, x, by);
                self.bits(BinaryInst::Xor, x, signs)
            }
            4 | 8 => self.at(IntegerInst::Shift(way), size, a, by),
            2 if self.wide => self.at(IntegerInst::Shift(way), 2, a, by),
            _ => {
                let (bits, double) = (8 * size as u32, 2 * size);
                let half: u128 =
                    (0..16 / double).fold(0, |m, k| m | ((1 << bits) - 1) << (16 * size * k));
                let (low, high) = (self.pattern(half, a), self.pattern(half << bits, a));
                let (few, many) = (
                    self.bits(BinaryInst::And, by, low),
                    self.moved(ShiftDirection::Right, bits, double, by),
                );
                let (even, odd) = match way {
                    ShiftDirection::Left => (a, self.bits(BinaryInst::And, a, high)),
                    ShiftDirection::Right => (self.bits(BinaryInst::And, a, low), a),
                    ShiftDirection::RightSigned => {
                        (self.moved(ShiftDirection::Left, bits, double, a), a)
                    }
                };
                let even = self.shift_at(way, double, even, few);
                let odd = self.shift_at(way, double, odd, many);
                let even = match way {
                    ShiftDirection::Left => self.bits(BinaryInst::And, even, low),
                    ShiftDirection::Right => even,
                    ShiftDirection::RightSigned => {
                        self.moved(ShiftDirection::Right, bits, double, even)
                    }
                };
                let odd = if way == ShiftDirection::Left {
                    odd
                } else {
                    self.bits(BinaryInst::And, odd, high)
                };
                self.bits(BinaryInst::Or, even, odd)
            }
        }
    }

    /// The complement of all bits.
    pub(super) fn complement(&mut self, a: TraceId) -> TraceId {
        let a = self.byte(a);
        let ones = self.constant(u64::MAX, self.size(a));
        self.bits(BinaryInst::Xor, a, ones)
    }

    /// Absolute value of a signed integer, wrapping.
    pub(super) fn magnitude(&mut self, a: TraceId) -> TraceId {
        let a = self.byte(a);
        let size = self.size(a);
        if size < 8 || self.wide {
            return self.one(UnaryInst::Magnitude, a);
        }
        let signs = self.sign_lanes(a);
        let x = self.bits(BinaryInst::Xor, a, signs);
        self.at(IntegerInst::Sub, 8, x, signs)
    }

    /// -1, 0 or 1.
    pub(super) fn sign(&mut self, a: TraceId, signed: bool) -> TraceId {
        let a = self.byte(a);
        let size = self.size(a);
        let (one, minus) = (self.constant(1, size), self.constant(u64::MAX, size));
        if !signed {
            return self.whole(IntegerInst::MinUnsigned, a, one);
        }
        let x = self.whole(IntegerInst::Min, a, one);
        self.whole(IntegerInst::Max, x, minus)
    }

    /// The high and the low halves of bytes.
    fn nibbles(&mut self, a: TraceId) -> (TraceId, TraceId) {
        let mask = bytes(0x0f, self.size(a));
        let high = self.moved(ShiftDirection::Right, 4, 2, a);
        (self.masked(high, mask), self.masked(a, mask))
    }

    /// The number of set bits.
    pub(super) fn count_ones(&mut self, a: TraceId) -> TraceId {
        let a = self.byte(a);
        let size = self.size(a);
        let ((high, low), table) = (self.nibbles(a), self.pattern(ONES, a));
        let (high, low) = (
            self.at(IntegerInst::Shuffle, 1, table, high),
            self.at(IntegerInst::Shuffle, 1, table, low),
        );
        let x = self.at(IntegerInst::Add, 1, high, low);
        let repeated = |byte: &[u8]| {
            u128::from_le_bytes(byte.repeat(16 / byte.len()).try_into().expect("16 bytes"))
        };
        match size {
            1 => x,
            8 => {
                let zero = self.pattern(0, a);
                self.at(IntegerInst::SumBytes, 8, x, zero)
            }
            _ => {
                let ones = self.pattern(repeated(&[1]), a);
                let x = self.at(IntegerInst::MulAdd, 1, x, ones);
                if size == 2 {
                    return x;
                }
                let ones = self.pattern(repeated(&[1, 0]), a);
                self.at(IntegerInst::MulAdd, 2, x, ones)
            }
        }
    }

    /// The number of leading zeros: first of bytes, then of pairs of equal halves. The lower half
    /// counts if the higher half is 0.
    pub(super) fn leading_zeros(&mut self, a: TraceId) -> TraceId {
        let a = self.byte(a);
        let size = self.size(a);
        let (high, low) = self.nibbles(a);
        let (t, u) = (self.pattern(HIGH, a), self.pattern(LOW, a));
        let (high, low) = (
            self.at(IntegerInst::Shuffle, 1, t, high),
            self.at(IntegerInst::Shuffle, 1, u, low),
        );
        let mut x = self.at(IntegerInst::MinUnsigned, 1, high, low);
        let mut part = 1;
        while part < size {
            let bits = 8 * part as u32;
            let double = 2 * part;
            let high = self.moved(ShiftDirection::Right, bits, double, x);
            // 1 where the higher half is all zeros.
            let all = self.moved(ShiftDirection::Right, bits + bits.ilog2(), double, x);
            let low = (0..16 / double).fold(0u128, |m, k| m | ((1 << bits) - 1) << (16 * part * k));
            let low = self.pattern(low, a);
            let low = self.bits(BinaryInst::And, x, low);
            let more = self.at(IntegerInst::Mul, 2, all, low);
            x = self.at(IntegerInst::Add, double, high, more);
            part = double;
        }
        x
    }

    /// Converts to an integer of another size; the value wraps.
    pub(super) fn resize(&mut self, a: TraceId, size: usize, signed: bool) -> TraceId {
        let a = self.byte(a);
        let own = self.size(a);
        if let Some(bits) = self.known(a) {
            let unused = 64 - 8 * own as u32;
            let signed = if signed {
                ((bits << unused) as i64 >> unused) as u64
            } else {
                bits
            };
            return self.constant(signed, size);
        }
        let kind = LaneType::Lane(size as u8);
        match own.cmp(&size) {
            std::cmp::Ordering::Equal => a,
            std::cmp::Ordering::Less => {
                self.push(Op::Convert(super::trace::Convert::Extend(signed), a), kind)
            }
            std::cmp::Ordering::Greater => {
                self.push(Op::Convert(super::trace::Convert::Cut, a), kind)
            }
        }
    }
}
