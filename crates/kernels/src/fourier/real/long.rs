//! [`LongReal`]: transforms of one long real line, and their adjoints.

use super::passes::{Expand, Mirror, Untangle};
use crate::fourier::butterfly::C;
use crate::fourier::long::Long;
use crate::fourier::roots::{Roots, pair};
use crate::lanes::{Job, Width, dispatch};
use crate::memory::{Fallible, with_capacity, with_scratch};
use crate::simd::Isa;
use crate::vector::{V, VectorFloat};

/// Transform of one long line of `n` reals, by that of `n / 2` complex numbers, or of `n` if `n` is
/// odd.
pub(crate) struct LongReal<E> {
    n: usize,
    long: Long<E>,
    /// `w^k` for `k <= n/4`, if `n` is even.
    twiddles: Vec<E>,
}

impl<E: VectorFloat> LongReal<E> {
    pub(crate) fn new(n: usize) -> Fallible<LongReal<E>> {
        let even = n.is_multiple_of(2);
        let (count, roots) = (if even { n / 4 + 1 } else { 0 }, Roots::new(n)?);
        let mut twiddles = with_capacity(2 * count)?;
        (0..count).try_for_each(|k| pair(&mut twiddles, roots.at(k)))?;
        Ok(LongReal {
            n,
            long: Long::new(if even { n / 2 } else { n })?,
            twiddles,
        })
    }

    /// Bytes of the tables.
    pub(crate) fn bytes(&self) -> usize {
        self.long.bytes() + size_of::<E>() * self.twiddles.len()
    }

    /// Computes the first `n / 2 + 1` points of the spectrum.
    ///
    /// # Safety
    /// `x` has `n` reals, `y` has `n / 2 + 1` adjacent complex numbers, and they do not overlap.
    pub(crate) unsafe fn forward(&self, isa: Isa, x: *const E, y: *mut E) -> Fallible {
        let (n, single) = (self.n, Width::Single(isa));
        if n.is_multiple_of(2) {
            // SAFETY: the caller guarantees both lines (# Safety); a line is a panel of one lane.
            unsafe {
                self.long.run(isa, x, y, false)?;
                dispatch(
                    single,
                    &Untangle {
                        twiddles: &self.twiddles,
                        h: n / 2,
                        x: y,
                        y,
                        backward: false,
                    },
                );
            }
            return Ok(());
        }
        with_scratch(4 * n * size_of::<E>(), |scratch| {
            let (a, b) = (scratch.cast::<E>(), scratch.cast::<E>().wrapping_add(2 * n));
            // SAFETY: the caller guarantees both lines (# Safety); the scratch memory has two
            // complex lines.
            unsafe {
                dispatch(single, &Expand { n, x, y: a });
                self.long.run(isa, a, b, false)?;
                std::ptr::copy_nonoverlapping(b, y, 2 * (n / 2 + 1));
            }
            Ok(())
        })?
    }

    /// Computes the adjoint.
    ///
    /// # Safety
    /// As for [`forward`](Self::forward), with `x` and `y` exchanged.
    pub(crate) unsafe fn adjoint(&self, isa: Isa, x: *const E, y: *mut E) -> Fallible {
        let (n, single) = (self.n, Width::Single(isa));
        if n.is_multiple_of(2) {
            return with_scratch(n * size_of::<E>(), |scratch| {
                let scratch = scratch.cast::<E>();
                // SAFETY: the caller guarantees both lines (# Safety); the scratch memory has `n /
                // 2` complex numbers. `Untangle` has exchanged their parts already.
                unsafe {
                    let h = n / 2;
                    dispatch(
                        single,
                        &Untangle {
                            twiddles: &self.twiddles,
                            h,
                            x,
                            y: scratch,
                            backward: true,
                        },
                    );
                    self.long.run(isa, scratch, y, false)?;
                    dispatch(single, &Exchange { h, y });
                }
                Ok(())
            })?;
        }
        with_scratch(4 * n * size_of::<E>(), |scratch| {
            let (a, b) = (scratch.cast::<E>(), scratch.cast::<E>().wrapping_add(2 * n));
            // SAFETY: the caller guarantees both lines (# Safety); the scratch memory has two
            // complex lines.
            unsafe {
                dispatch(single, &Mirror { n, x, y: a });
                self.long.run(isa, a, b, true)?;
                for j in 0..n {
                    *y.add(j) = *b.add(2 * j);
                }
            }
            Ok(())
        })?
    }
}

/// Exchanges the members of `h` pairs of rows.
struct Exchange<E> {
    h: usize,
    y: *mut E,
}

impl<E: VectorFloat> Job<E> for Exchange<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        for j in 0..self.h {
            // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
            // Safety).
            unsafe {
                let C { re, im } = C::<W>::load(self.y.add(2 * j * W::N));
                C { re: im, im: re }.store(self.y.add(2 * j * W::N));
            }
        }
    }
}
