//! [`ExtentSum`]: integers of a program that are sums of a number and extents.
//!
//! Comparisons are proved from the signs of the terms of a polynomial: a proof may be missed, but
//! is never wrong. Extents are assumed to fit in the integer types in which a program holds them.

use crate::dtype::DType;
use crate::shape::{Dim, Poly, relu};

/// Bound of the numbers that are followed.
pub(super) const MAX_FOLLOWED: i128 = 1 << 62;

/// Largest extent for which integers of 64 bits are proved not to wrap.
const MAX_EXTENT: i64 = 1 << 40;

/// Largest multiple of the number of steps that a proof subtracts.
const MAX_MULTIPLE: i128 = 4;

/// A sum of a number and extents.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ExtentSum {
    number: i128,
    /// The extents, without a constant term.
    extents: Poly,
}

impl ExtentSum {
    pub(super) fn number(number: i128) -> ExtentSum {
        ExtentSum {
            number,
            extents: Poly::default(),
        }
    }

    pub(super) fn extent(d: &Dim) -> ExtentSum {
        ExtentSum::of(&d.poly())
    }

    fn of(p: &Poly) -> ExtentSum {
        let number = p.constant_term();
        ExtentSum {
            number: number.into(),
            extents: p.plus(&Poly::constant(number), -1),
        }
    }

    /// The number, if there are no extents.
    pub(super) fn as_number(&self) -> Option<i128> {
        (self.extents.len() == 0).then_some(self.number)
    }

    /// The extent: 0 if the sum is negative.
    pub(super) fn dim(&self) -> Dim {
        Dim::from_poly(relu(self.poly()))
    }

    fn poly(&self) -> Poly {
        let number = self.number.clamp(-MAX_FOLLOWED, MAX_FOLLOWED) as i64;
        self.extents.plus(&Poly::constant(number), 1)
    }

    pub(super) fn plus(&self, other: &ExtentSum, scale: i128) -> ExtentSum {
        let by = scale.clamp(-MAX_FOLLOWED, MAX_FOLLOWED) as i64;
        ExtentSum {
            number: self.number + scale * other.number,
            extents: self.extents.plus(&other.extents, by),
        }
    }

    pub(super) fn minus(&self, other: &ExtentSum) -> ExtentSum {
        self.plus(other, -1)
    }

    pub(super) fn times(&self, scale: i128) -> ExtentSum {
        ExtentSum::number(0).plus(self, scale)
    }

    /// `ceil(self / by)`. A negative number may give any negative number, or 0.
    pub(super) fn ceil_div(&self, by: i128) -> Option<ExtentSum> {
        let d = usize::try_from(by).ok()?;
        match self.as_number() {
            Some(n) if n <= 0 => Some(ExtentSum::number(0)),
            Some(n) => Some(ExtentSum::number((n - 1) / by + 1)),
            None if by == 1 => Some(self.clone()),
            None => {
                let raised = self.plus(&ExtentSum::number(by - 1), 1).poly();
                Some(ExtentSum::extent(&Dim::from_poly(raised).floor_div(d)))
            }
        }
    }

    /// Whether it is at least 0 for all extents.
    pub(super) fn is_never_negative(&self) -> bool {
        match self.as_number() {
            Some(n) => n >= 0,
            None => self.poly().never_below(1),
        }
    }

    /// Whether it is at least 0 for all extents for which `steps` is at least 1.
    pub(super) fn is_never_negative_in(&self, steps: &ExtentSum) -> bool {
        let more = steps.minus(&ExtentSum::number(1));
        let multiples = match steps.as_number() {
            Some(_) => 0..=0,
            None => 0..=MAX_MULTIPLE,
        };
        { multiples }.any(|k| self.plus(&more, -k).is_never_negative())
    }

    pub(super) fn is_followed(&self) -> bool {
        let size = i128::from(self.extents.magnitude(MAX_EXTENT));
        self.number.abs() < MAX_FOLLOWED && size < MAX_FOLLOWED
    }

    /// Whether it is in the range of an element type for all extents that are in it.
    pub(super) fn fits(&self, dtype: DType) -> bool {
        let (lo, hi) = dtype.int_range();
        let from = |n: i128| ExtentSum::number(n).minus(self);
        let (below, above) = (from(lo).times(-1), from(hi));
        let in_range = below.is_never_negative() && above.is_never_negative();
        // Extents are expected to fit in 32 bits, but not in fewer.
        if in_range || self.as_number().is_some() || dtype.size() < 4 {
            return in_range;
        }
        // A sum that is followed does not exceed 64 bits.
        if dtype.size() == 8 {
            return lo < 0 || below.is_never_negative();
        }
        // At most as far from 0 as one of its extents.
        let (mut least, mut most) = (below.is_never_negative(), above.is_never_negative());
        Dim::from_poly(self.extents.clone()).syms(&mut |s| {
            let extent = ExtentSum::extent(&Dim::sym(s));
            least |= lo < 0 && extent.plus(self, 1).is_never_negative();
            most |= extent.minus(self).is_never_negative();
        });
        least && most
    }
}
