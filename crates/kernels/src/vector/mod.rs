//! Vectors of floats: a trait with an implementation for each [`Isa`](crate::simd::Isa). All
//! implementations give the same bits.
//!
//! Every method is one IEEE operation or a fixed bit manipulation, lane by lane. There is no
//! approximation, no contraction and no flush of subnormal numbers. So a function over `V` gives
//! the same bits for every vector type. `fma` is exact for every instruction set; it is slow on
//! CPUs without the instruction.

pub mod complex;
pub mod functions;
pub(crate) mod gradual;
mod inverse;
mod math;
mod portable;
mod single;
pub mod special;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use math::{maximum, minimum};
pub(crate) use tables::Tables;

/// A float type with vectors for each instruction set.
pub(crate) trait VectorFloat: Tables + Copy + Send + Sync + 'static {
    /// The vector for CPUs without a detected instruction set.
    type Portable: V<E = Self>;
    /// A vector of one lane.
    type Single: V<E = Self>;
    /// The vector for long functions on CPUs without a detected instruction set. It has one lane
    /// where `fma` is a call: eight copies of a function with a thousand calls take minutes to
    /// compile and are no faster.
    type Plain: V<E = Self>;
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    type Avx2: V<E = Self>;
    /// 512 bits.
    #[cfg(target_arch = "x86_64")]
    type Avx512: V<E = Self>;

    fn widen(self) -> f64;
    fn narrow(x: f64) -> Self;
    /// The bits of the number, zero-extended.
    fn bits(self) -> u64;
}

/// Maximum number of lanes of a vector.
pub(crate) const MAX_LANES: usize = 16;

/// A vector of floats.
pub(crate) trait V: Copy {
    /// The element type.
    type E: VectorFloat;
    /// A boolean for each lane.
    type M: Copy;
    /// The number of lanes.
    const N: usize;

    /// # Safety
    /// `p` is valid for reading `N` elements.
    unsafe fn load(p: *const Self::E) -> Self;
    /// # Safety
    /// `p` is valid for writing `N` elements.
    unsafe fn store(self, p: *mut Self::E);
    /// Loads the first `n` elements; the other lanes are `rest`.
    ///
    /// # Safety
    /// `p` is valid for reading `n < N` elements.
    #[inline(always)]
    unsafe fn load_part(p: *const Self::E, n: usize, rest: Self::E) -> Self {
        let mut lanes = [rest; MAX_LANES];
        // SAFETY: the caller guarantees `n` elements at `p`, and the array has room for a vector.
        unsafe {
            std::ptr::copy_nonoverlapping(p, lanes.as_mut_ptr(), n);
            Self::load(lanes.as_ptr())
        }
    }
    /// Stores the first `n` lanes.
    ///
    /// # Safety
    /// `p` is valid for writing `n < N` elements.
    #[inline(always)]
    unsafe fn store_part(self, p: *mut Self::E, n: usize) {
        let mut lanes = [Self::E::narrow(0.0); MAX_LANES];
        // SAFETY: the caller guarantees `n` elements at `p`, and the array has room for a vector.
        unsafe {
            self.store(lanes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), p, n);
        }
    }
    /// The first lane.
    #[inline(always)]
    fn first(self) -> Self::E {
        let mut lanes = [Self::E::narrow(0.0); MAX_LANES];
        // SAFETY: the array has room for a vector.
        unsafe { self.store(lanes.as_mut_ptr()) };
        lanes[0]
    }
    /// Lane `l` of the result is lane `l + H`, for `H` below `N` and `l` below `H`. The other lanes
    /// are unspecified.
    #[inline(always)]
    fn rotate<const H: i32>(self) -> Self {
        let mut lanes = [Self::E::narrow(0.0); 2 * MAX_LANES];
        // SAFETY: the array has room for two vectors, and `H < N`.
        unsafe {
            self.store(lanes.as_mut_ptr());
            Self::load(lanes.as_ptr().add(H as usize))
        }
    }
    /// The elements of even index and those of odd index of `self` followed by `b`.
    #[inline(always)]
    fn unzip(self, b: Self) -> (Self, Self) {
        let mut lanes = [Self::E::narrow(0.0); 2 * MAX_LANES];
        let (mut even, mut odd) = (
            [Self::E::narrow(0.0); MAX_LANES],
            [Self::E::narrow(0.0); MAX_LANES],
        );
        // SAFETY: `lanes` has room for two vectors, `even` and `odd` for one each.
        unsafe {
            self.store(lanes.as_mut_ptr());
            b.store(lanes.as_mut_ptr().add(Self::N));
            for l in 0..Self::N {
                (even[l], odd[l]) = (lanes[2 * l], lanes[2 * l + 1]);
            }
            (Self::load(even.as_ptr()), Self::load(odd.as_ptr()))
        }
    }
    /// The inverse of [`V::unzip`].
    #[inline(always)]
    fn zip(self, odd: Self) -> (Self, Self) {
        let mut lanes = [Self::E::narrow(0.0); 2 * MAX_LANES];
        let (mut x, mut y) = (
            [Self::E::narrow(0.0); MAX_LANES],
            [Self::E::narrow(0.0); MAX_LANES],
        );
        // SAFETY: `lanes` has room for two vectors, `x` and `y` for one each.
        unsafe {
            self.store(x.as_mut_ptr());
            odd.store(y.as_mut_ptr());
            for l in 0..Self::N {
                (lanes[2 * l], lanes[2 * l + 1]) = (x[l], y[l]);
            }
            (
                Self::load(lanes.as_ptr()),
                Self::load(lanes.as_ptr().add(Self::N)),
            )
        }
    }
    fn splat(x: Self::E) -> Self;

    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn sqrt(self) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Rounds to the nearest integer, ties to even.
    fn round(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;

    /// Bitwise operations.
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    /// Operations on the bits as integers, wrapping.
    fn bits_add(self, b: Self) -> Self;
    fn bits_sub(self, b: Self) -> Self;
    /// Logical shifts of the bits by the width of the fraction.
    fn to_exponent(self) -> Self;
    fn exponent_bits(self) -> Self;

    fn lt(self, b: Self) -> Self::M;
    fn le(self, b: Self) -> Self::M;
    fn eq(self, b: Self) -> Self::M;
    fn both(a: Self::M, b: Self::M) -> Self::M;
    fn either(a: Self::M, b: Self::M) -> Self::M;
    fn not(a: Self::M) -> Self::M;
    fn any(a: Self::M) -> bool;
    /// Whether the mask may hold in some lane. If not, a function may skip code that is only for
    /// such lanes.
    #[inline(always)]
    fn may_hold(a: Self::M) -> bool {
        Self::any(a)
    }
    /// `a` where `m` holds, else `b`.
    fn select(m: Self::M, a: Self, b: Self) -> Self;

    /// `self 2^n`, rounded once, for an integer `n` such that `2^(n/2)` is a normal number.
    #[inline(always)]
    fn scale(self, n: Self) -> Self {
        scale(self, n)
    }

    #[inline(always)]
    fn neg(self) -> Self {
        self.xor(Self::splat(Self::E::SIGN))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.and(Self::splat(Self::E::MAGNITUDE))
    }

    #[inline(always)]
    fn sign_of(self) -> Self {
        self.and(Self::splat(Self::E::SIGN))
    }

    #[inline(always)]
    fn is_nan(self) -> Self::M {
        Self::not(self.eq(self))
    }
}

#[inline(always)]
fn c<W: V>(x: W::E) -> W {
    W::splat(x)
}

/// A constant that is exact in every float type.
#[inline(always)]
fn k<W: V>(x: f64) -> W {
    W::splat(W::E::narrow(x))
}

/// `2^n` for an integer `n`; the result is a normal number.
#[inline(always)]
fn pow2<W: V>(n: W) -> W {
    n.add(c(W::E::TO_EXPONENT)).to_exponent()
}

/// [`V::scale`] in two steps, the first of which is exact.
#[inline(always)]
pub(crate) fn scale<W: V>(x: W, n: W) -> W {
    let half = n.mul(k(0.5)).floor();
    x.mul(pow2(half)).mul(pow2(n.sub(half)))
}
