//! Real and complex numbers in lanes, by the operations of scalars, so that bits are those of plain
//! loops.

use crate::vector::{Tables, V};

/// Number in each lane.
pub(super) trait LaneNumber<W: V>: Copy {
    /// Elements of the real type: 1, or 2 of a complex number.
    const UNIT: usize;

    /// # Safety
    /// `p` is valid for reading `UNIT` rows.
    unsafe fn load(p: *const W::E) -> Self;
    /// # Safety
    /// `p` is valid for writing `UNIT` rows.
    unsafe fn store(self, p: *mut W::E);
    /// A number with these parts; a real one ignores `im`.
    fn of(re: W, im: W) -> Self;
    fn re(self) -> W;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn conjugate(self) -> Self;
    /// Half of the sum with `b`.
    fn mean(self, b: Self) -> Self;
    /// The magnitude that pivots are chosen by.
    fn pivot_size(self) -> W;
    fn is_zero(self) -> W::M;
    fn select(m: W::M, a: Self, b: Self) -> Self;

    #[inline(always)]
    fn zero() -> Self {
        Self::of(W::splat(W::E::ZERO), W::splat(W::E::ZERO))
    }
}

/// Real numbers.
#[derive(Clone, Copy)]
pub(super) struct RealLanes<W>(pub(super) W);

impl<W: V> LaneNumber<W> for RealLanes<W> {
    const UNIT: usize = 1;

    #[inline(always)]
    unsafe fn load(p: *const W::E) -> Self {
        // SAFETY: the caller guarantees that `p` is readable (# Safety).
        RealLanes(unsafe { W::load(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut W::E) {
        // SAFETY: the caller guarantees that `p` is writable (# Safety).
        unsafe { self.0.store(p) }
    }
    #[inline(always)]
    fn of(re: W, _: W) -> Self {
        RealLanes(re)
    }
    #[inline(always)]
    fn re(self) -> W {
        self.0
    }
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        RealLanes(self.0.sub(b.0))
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        RealLanes(self.0.mul(b.0))
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        RealLanes(self.0.div(b.0))
    }
    #[inline(always)]
    fn conjugate(self) -> Self {
        self
    }
    #[inline(always)]
    fn mean(self, b: Self) -> Self {
        RealLanes(W::splat(half()).mul(self.0.add(b.0)))
    }
    #[inline(always)]
    fn pivot_size(self) -> W {
        self.0.abs()
    }
    #[inline(always)]
    fn is_zero(self) -> W::M {
        self.0.eq(W::splat(W::E::ZERO))
    }
    #[inline(always)]
    fn select(m: W::M, a: Self, b: Self) -> Self {
        RealLanes(W::select(m, a.0, b.0))
    }
}

/// Complex numbers.
#[derive(Clone, Copy)]
pub(super) struct ComplexLanes<W> {
    re: W,
    im: W,
}

impl<W: V> LaneNumber<W> for ComplexLanes<W> {
    const UNIT: usize = 2;

    #[inline(always)]
    unsafe fn load(p: *const W::E) -> Self {
        // SAFETY: the caller guarantees that `p` is readable (# Safety).
        unsafe {
            ComplexLanes {
                re: W::load(p),
                im: W::load(p.add(W::N)),
            }
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut W::E) {
        // SAFETY: the caller guarantees that `p` is writable (# Safety).
        unsafe {
            self.re.store(p);
            self.im.store(p.add(W::N));
        }
    }
    #[inline(always)]
    fn of(re: W, im: W) -> Self {
        ComplexLanes { re, im }
    }
    #[inline(always)]
    fn re(self) -> W {
        self.re
    }
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        ComplexLanes {
            re: self.re.sub(b.re),
            im: self.im.sub(b.im),
        }
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        let re = self.re.mul(b.re).sub(self.im.mul(b.im));
        ComplexLanes {
            re,
            im: self.re.mul(b.im).add(self.im.mul(b.re)),
        }
    }
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        let size = b.re.mul(b.re).add(b.im.mul(b.im));
        let re = self.re.mul(b.re).add(self.im.mul(b.im));
        let im = self.im.mul(b.re).sub(self.re.mul(b.im));
        ComplexLanes {
            re: re.div(size),
            im: im.div(size),
        }
    }
    #[inline(always)]
    fn conjugate(self) -> Self {
        ComplexLanes {
            re: self.re,
            im: self.im.neg(),
        }
    }
    #[inline(always)]
    fn mean(self, b: Self) -> Self {
        let half = W::splat(half());
        ComplexLanes {
            re: self.re.add(b.re).mul(half),
            im: self.im.add(b.im).mul(half),
        }
    }
    #[inline(always)]
    fn pivot_size(self) -> W {
        self.re.abs().add(self.im.abs())
    }
    #[inline(always)]
    fn is_zero(self) -> W::M {
        let zero = W::splat(W::E::ZERO);
        W::both(self.re.eq(zero), self.im.eq(zero))
    }
    #[inline(always)]
    fn select(m: W::M, a: Self, b: Self) -> Self {
        ComplexLanes {
            re: W::select(m, a.re, b.re),
            im: W::select(m, a.im, b.im),
        }
    }
}

#[inline(always)]
fn half<E: crate::vector::VectorFloat>() -> E {
    E::narrow(0.5)
}
