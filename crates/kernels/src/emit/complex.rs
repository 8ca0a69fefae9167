//! Complex numbers in traces. Each operation is recorded as operations on real and imaginary parts,
//! which are separate values.
//!
//! A number of 8 bytes is one integer lane in memory. Shifts extract its parts and combine them. A
//! number of 16 bytes is no lane: it is an input with parts ([`Op::Part`]) or a pair of lanes
//! ([`Op::Pair`]). The kernels are those of [`tile`](crate::tile). Each function is generic in the
//! complex type of its operands.

use super::record::TraceVector;
use super::recorder::with;
use super::trace::{BinaryInst, LaneType, Op, ShiftDirection, Trace, TraceId, predicate};
use crate::vector::V;
use crate::vector::complex::formulas;

impl Trace {
    /// The real and imaginary part of a complex number of `size` bytes.
    pub(super) fn parts_of(&mut self, z: TraceId, size: usize) -> [TraceId; 2] {
        if self.kind(z) != LaneType::Lane(size as u8) {
            return [self.fail(); 2];
        }
        match (self.op(z), size) {
            (Op::Pair(re, im), _) => [re, im],
            (Op::Input(_), 16) => {
                [false, true].map(|half| self.push(Op::Part(half, z), LaneType::Lane(8)))
            }
            (_, 8) => self.parts.get(&z).copied().unwrap_or_else(|| {
                let high = self.shift_by(ShiftDirection::Right, z, 32);
                [z, high].map(|x| self.resize(x, 4, false))
            }),
            _ => [self.fail(); 2],
        }
    }

    /// A complex number from its parts.
    pub(super) fn pair(&mut self, [re, im]: [TraceId; 2]) -> TraceId {
        match self.lanes(&[re, im]) {
            Some(LaneType::Lane(4)) => {
                let [low, high] = [re, im].map(|x| self.resize(x, 8, false));
                let high = self.shift_by(ShiftDirection::Left, high, 32);
                let z = if self.known(high) == Some(0) {
                    low
                } else {
                    self.bitwise(BinaryInst::Or, low, high)
                };
                self.parts.insert(z, [re, im]);
                z
            }
            Some(LaneType::Lane(8)) => self.push(Op::Pair(re, im), LaneType::Lane(16)),
            _ => self.fail(),
        }
    }

    /// The parts of two values of one type, if they are complex numbers whose parts have been
    /// computed.
    pub(super) fn both_parts(&mut self, a: TraceId, b: TraceId) -> Option<[[TraceId; 2]; 2]> {
        let size = self.size(a);
        let known =
            size == 16 || size == 8 && (self.parts.contains_key(&a) || self.parts.contains_key(&b));
        known.then(|| [a, b].map(|z| self.parts_of(z, size)))
    }

    /// Whether a number of 8 bytes is still a single lane. Some operations on such a lane cost no
    /// more than on its parts.
    fn is_lane(&self, z: TraceId) -> bool {
        self.kind(z) == LaneType::Lane(8) && !self.parts.contains_key(&z)
    }

    /// A sum or difference of complex numbers. `f[0]` applies to parts, `f[1]` to whole lanes.
    fn linear(&mut self, f: [BinaryInst; 2], a: TraceId, b: TraceId, size: usize) -> TraceId {
        if size == 8 && self.is_lane(a) && self.is_lane(b) {
            return self.two(f[1], a, b);
        }
        let (a, b) = (self.parts_of(a, size), self.parts_of(b, size));
        let z = [0, 1].map(|k| self.two(f[0], a[k], b[k]));
        self.pair(z)
    }

    /// A negated number.
    pub(super) fn negative(&mut self, x: TraceId) -> TraceId {
        let size = self.size(x);
        let sign = self.constant(1 << (8 * size - 1), size);
        self.two(BinaryInst::Xor, x, sign)
    }

    /// A complex number with a negated imaginary part, and a negated real part if `both`.
    fn with_negated_parts(&mut self, z: TraceId, size: usize, both: bool) -> TraceId {
        if size == 8 && self.is_lane(z) {
            let signs = self.constant(if both { 1 << 63 | 1 << 31 } else { 1 << 63 }, 8);
            return self.two(BinaryInst::Xor, z, signs);
        }
        let [re, im] = self.parts_of(z, size);
        let (re, im) = (if both { self.negative(re) } else { re }, self.negative(im));
        self.pair([re, im])
    }

    /// Whether a number is finite.
    fn is_finite(&mut self, x: TraceId) -> TraceId {
        let size = self.size(x);
        let (magnitude, infinity) = match size {
            4 => (u64::from(u32::MAX >> 1), u64::from(f32::INFINITY.to_bits())),
            _ => (u64::MAX >> 1, f64::INFINITY.to_bits()),
        };
        let (magnitude, infinity) = (
            self.constant(magnitude, size),
            self.constant(infinity, size),
        );
        let x = self.two(BinaryInst::And, x, magnitude);
        self.compare(predicate::LT, x, infinity)
    }
}

macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($p:ident, $($z:ident),*) $body:block)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<Z>(x: [TraceId; 3], _: usize) -> TraceId {
            with(|$p: &mut Trace| {
                let mut operands = x.into_iter();
                $(let $z = $p.parts_of(operands.next().expect("a kernel has three places"), size_of::<Z>());)*
                $body
            })
        }
    )*};
}

instructions! {
    real(_p, z) { z[0] }
    imaginary(_p, z) { z[1] }
    equal(p, a, b) {
        let [re, im] = [0, 1].map(|k| p.compare(predicate::EQ, a[k], b[k]));
        p.both(re, im)
    }
    unequal(p, a, b) {
        let [re, im] = [0, 1].map(|k| p.compare(predicate::opposite(predicate::EQ), a[k], b[k]));
        p.either(re, im)
    }
    nonzero(p, z) { let [re, im] = z.map(|x| p.nonzero(x, true)); p.either(re, im) }
    is_finite(p, z) { let [re, im] = z.map(|x| p.is_finite(x)); p.both(re, im) }
    is_nan(p, z) {
        let [re, im] = z.map(|x| p.compare(predicate::opposite(predicate::EQ), x, x));
        p.either(re, im)
    }
    /// Converts from `Z` to the other complex type.
    resize(p, z) { let z = z.map(|x| p.float_resize(x)); p.pair(z) }
}

pub(crate) fn sum<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| {
        p.linear(
            [BinaryInst::Add, BinaryInst::AddHalves],
            x[0],
            x[1],
            size_of::<Z>(),
        )
    })
}

pub(crate) fn difference<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| {
        p.linear(
            [BinaryInst::Sub, BinaryInst::SubHalves],
            x[0],
            x[1],
            size_of::<Z>(),
        )
    })
}

pub(crate) fn negative<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| p.with_negated_parts(x[0], size_of::<Z>(), true))
}

pub(crate) fn conjugate<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| p.with_negated_parts(x[0], size_of::<Z>(), false))
}

/// A complex number from its parts.
pub(crate) fn pair(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| p.pair([x[0], x[1]]))
}

/// A complex number with imaginary part 0.
pub(crate) fn from_real(x: [TraceId; 3], _: usize) -> TraceId {
    with(|p| {
        let zero = p.constant(0, p.size(x[0]));
        p.pair([x[0], zero])
    })
}

/// The parts of a complex number of either type as `f64`.
pub(crate) fn widened<Z>(z: TraceId) -> [TraceVector<f64>; 2] {
    let parts = with(|p| {
        let z = p.parts_of(z, size_of::<Z>());
        z.map(|x| if p.size(x) == 4 { p.float_resize(x) } else { x })
    });
    parts.map(TraceVector::of)
}

/// A part of a `Z`, rounded from `f64`.
pub(crate) fn part<Z>(x: TraceVector<f64>) -> TraceId {
    if size_of::<Z>() == 8 {
        with(|p| p.float_resize(x.0))
    } else {
        x.0
    }
}

/// A complex number whose parts are rounded from `f64`.
pub(crate) fn narrowed<Z>(z: [TraceVector<f64>; 2]) -> TraceId {
    let z = z.map(part::<Z>);
    with(|p| p.pair(z))
}

pub(crate) fn product<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    narrowed::<Z>(formulas::product(widened::<Z>(x[0]), widened::<Z>(x[1])))
}

/// A product. It is 0 if one factor is 0 and the product is NaN.
pub(crate) fn strong_product<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    let (a, b) = (widened::<Z>(x[0]), widened::<Z>(x[1]));
    let y = formulas::product(a, b);
    let zero = TraceVector::<f64>::either(formulas::is_zero(a), formulas::is_zero(b));
    let none = TraceVector::<f64>::both(
        zero,
        TraceVector::<f64>::either(y[0].is_nan(), y[1].is_nan()),
    );
    narrowed::<Z>(y.map(|y| TraceVector::select(none, TraceVector::splat(0.0), y)))
}

/// `(1 - z)(1 + z)`
pub(crate) fn one_minus_square<Z>(x: [TraceId; 3], _: usize) -> TraceId {
    let z = widened::<Z>(x[0]);
    let one = [TraceVector::splat(1.0), TraceVector::splat(0.0)];
    let [below, above] = [
        [one[0].sub(z[0]), one[1].sub(z[1])],
        [one[0].add(z[0]), one[1].add(z[1])],
    ];
    narrowed::<Z>(formulas::product(below, above))
}
