//! [`Long`]: transforms of one long line, by columns in lanes, or by a convolution.
//!
//! ```text
//! n = a b      x[i b + j] -> columns of a points -> times e^(-2πi jk/n) -> rows of b points -> y[k + a l]
//! ```
//! If `n` has no two such factors, the transform is a convolution with a chirp, of a length that
//! has.

use super::butterfly::C;
use super::factors::{convolved, cost, primes};
use super::plan::Plan;
use super::prime::chirp;
use super::roots::{Roots, pair};

use crate::lanes::lines::{LaneLines, LineLayout, Load, Store};
use crate::lanes::{Job, Width, dispatch, over_panels};
use crate::memory::{Fallible, push, with_capacity, with_scratch, zeros};
use crate::parallel::Shared;
use crate::simd::Isa;
use crate::vector::{MAX_LANES, Tables, V, VectorFloat};

/// Maximum number of points of a line that occupies one lane. It decides the bits of a transform.
pub(super) const MAX_LANE_POINTS: usize = 1024;

/// Transform of a long line.
pub(super) enum Long<E> {
    /// By columns and rows.
    Split(Split<E>),
    /// By a convolution with a chirp.
    Chirp(Chirp<E>),
}

pub(super) struct Split<E> {
    columns: Plan<E>,
    rows: Plan<E>,
    /// Real parts of the twiddles, row by row, then imaginary ones.
    twiddles: Vec<E>,
}

pub(super) struct Chirp<E> {
    n: usize,
    points: Split<E>,
    chirp: Vec<E>,
    /// Spectrum of the chirp, divided by the number of points.
    spectrum: Vec<E>,
}

/// Both factors of `n`, if a transform by columns and rows is cheaper than a convolution.
fn factors(n: usize) -> Option<(usize, usize)> {
    let mut divisors = smallvec::SmallVec::<[usize; 64]>::new();
    divisors.push(1);
    for p in primes(n) {
        for i in 0..divisors.len() {
            let more = divisors[i].saturating_mul(p);
            if more <= n.isqrt() && !divisors.contains(&more) {
                divisors.push(more);
            }
        }
    }
    let a = divisors.into_iter().max()?;
    let b = n / a;
    let direct = cost(a) * b as f64 + cost(b) * a as f64;
    let points = convolved(2 * n - 1);
    let alternative = 2.0 * cost(points) + 24.0 * points as f64;
    (a >= 16 && (b <= MAX_LANE_POINTS || b / a <= 64) && direct <= alternative).then_some((a, b))
}

impl<E: VectorFloat> Split<E> {
    fn new((a, b): (usize, usize)) -> Fallible<Split<E>> {
        let (roots, mut twiddles) = (Roots::new(a * b)?, zeros_of::<E>(2 * a * b)?);
        let (re, im) = twiddles.split_at_mut(a * b);
        for k in 0..a {
            for j in 0..b {
                let (x, y) = roots.at(j * k);
                (re[k * b + j], im[k * b + j]) = (E::narrow(x), E::narrow(y));
            }
        }
        Ok(Split {
            columns: Plan::new(a)?,
            rows: Plan::new(b)?,
            twiddles,
        })
    }

    /// Transforms a line.
    ///
    /// # Safety
    /// As for [`Long::run`], for `n` points of this plan.
    unsafe fn run(&self, isa: Isa, x: *const E, y: *mut E, swap: bool) -> Fallible {
        let (a, b) = (self.columns.points(), self.rows.points());
        let steps = |line: usize, point: usize| LineLayout {
            inner: usize::MAX,
            outer_step: 0,
            line_step: 2 * line as isize,
            point_step: 2 * point as isize,
            unit: 2,
        };
        // Rows that are a power of two apart would map to the same cache sets.
        let step = b + 64 / size_of::<E>();
        with_scratch(2 * a * step * size_of::<E>(), |middle| {
            let middle = middle.cast::<E>();
            // SAFETY: the caller guarantees both lines (# Safety), and `middle` has `a` rows.
            unsafe {
                let turns = Some(&self.twiddles[..]);
                panels(
                    isa,
                    &self.columns,
                    b,
                    (x, steps(1, b), swap),
                    (middle, steps(1, step), false),
                    turns,
                )?;
                panels(
                    isa,
                    &self.rows,
                    a,
                    (middle, steps(step, 1), false),
                    (y, steps(1, a), swap),
                    None,
                )
            }
        })?
    }
}

/// Returns `n` zeros.
fn zeros_of<E: VectorFloat>(n: usize) -> Fallible<Vec<E>> {
    crate::memory::filled(E::ZERO, n)
}

/// Transforms `lines` lines, panel by panel, on several threads if they are many.
///
/// # Safety
/// All lines of `x` are valid for reading and those of `y` for writing, and they do not overlap.
pub(super) unsafe fn panels<E: VectorFloat>(
    isa: Isa,
    plan: &Plan<E>,
    lines: usize,
    (x, from, swap_from): (*const E, LineLayout, bool),
    (y, to, swap_to): (*mut E, LineLayout, bool),
    twiddles: Option<&[E]>,
) -> Fallible {
    let (x, y, n) = (Shared(x.cast_mut()), Shared(y), plan.points());
    over_panels::<E>(
        isa,
        lines,
        4 * n + 2 * plan.work(),
        nanos(n, lines),
        |width, first, count, scratch| {
            let row = 2 * width.lanes::<E>();
            let (a, b) = (scratch, scratch.wrapping_add(n * row));
            let part = |place, swap| LaneLines {
                place,
                first,
                count,
                points: n,
                swap,
            };
            // SAFETY: the caller guarantees the lines (# Safety); the scratch memory has two panels
            // and the plan's workspace.
            unsafe {
                dispatch(
                    width,
                    &Load {
                        lines: part(from, swap_from),
                        from: x.get().cast_const(),
                        to: a,
                    },
                );
                plan.run(width, a, b, b.wrapping_add(n * row));
                if let Some(twiddles) = twiddles {
                    dispatch(
                        width,
                        &Twiddle {
                            twiddles,
                            points: n,
                            lines,
                            first,
                            count,
                            x: b,
                        },
                    );
                }
                dispatch(
                    width,
                    &Store {
                        lines: part(to, swap_to),
                        from: b,
                        to: y.get(),
                    },
                );
            }
        },
    )
}

/// Estimated time of transforms, in ns: one per element and two passes.
pub(super) fn nanos(points: usize, lines: usize) -> u64 {
    (points as u64)
        .saturating_mul(lines as u64)
        .saturating_mul(u64::from(points.ilog2() / 2 + 1))
}

/// Multiplies the columns of a panel by their twiddles.
struct Twiddle<'a, E> {
    twiddles: &'a [E],
    points: usize,
    lines: usize,
    first: usize,
    count: usize,
    x: *mut E,
}

impl<E: VectorFloat> Job<E> for Twiddle<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let (re, im) = self.twiddles.split_at(self.points * self.lines);
        for k in 1..self.points {
            let at = k * self.lines + self.first;
            // SAFETY: each of `count` columns has a twiddle, and the panel has this row.
            unsafe {
                let (re, im, x) = (
                    re.as_ptr().add(at),
                    im.as_ptr().add(at),
                    self.x.add(2 * k * W::N),
                );
                let turn = match self.count < W::N {
                    true => (
                        W::load_part(re, self.count, E::ZERO),
                        W::load_part(im, self.count, E::ZERO),
                    ),
                    false => (W::load(re), W::load(im)),
                };
                let turn = C {
                    re: turn.0,
                    im: turn.1,
                };
                C::load(x).mul(turn).store(x);
            }
        }
    }
}

impl<E: VectorFloat> Long<E> {
    /// Returns the transform of `n > 0` points.
    pub(super) fn new(n: usize) -> Fallible<Long<E>> {
        if let Some(factors) = factors(n) {
            return Ok(Long::Split(Split::new(factors)?));
        }
        let points = convolved(2 * n - 1);
        let two =
            factors(points).expect("a product of small primes has two factors of similar size");
        let exact = chirp(n)?;
        let mut factor = zeros::<f64>(2 * points)?;
        for j in 0..n {
            let (re, im) = (exact[2 * j], -exact[2 * j + 1]);
            for at in [j, (points - j) % points] {
                (factor[2 * at], factor[2 * at + 1]) = (re, im);
            }
        }
        let mut y = zeros::<f64>(2 * points)?;
        // SAFETY: both vectors have `2 * points` elements.
        unsafe { Split::new(two)?.run(Isa::chosen(), factor.as_ptr(), y.as_mut_ptr(), false)? };
        let (mut narrow, mut spectrum) = (with_capacity(2 * n)?, with_capacity(2 * points)?);
        exact
            .iter()
            .try_for_each(|&x| push(&mut narrow, E::narrow(x)))?;
        y.chunks_exact(2)
            .try_for_each(|z| pair(&mut spectrum, (z[0] / points as f64, z[1] / points as f64)))?;
        Ok(Long::Chirp(Chirp {
            n,
            points: Split::new(two)?,
            chirp: narrow,
            spectrum,
        }))
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        let split =
            |s: &Split<E>| s.columns.bytes() + s.rows.bytes() + size_of::<E>() * s.twiddles.len();
        match self {
            Long::Split(s) => split(s),
            Long::Chirp(c) => {
                split(&c.points) + size_of::<E>() * (c.chirp.len() + c.spectrum.len())
            }
        }
    }

    /// Transforms a line of adjacent complex numbers. `swap` exchanges the real and imaginary parts
    /// of both lines, which gives the inverse transform.
    ///
    /// # Safety
    /// `x` and `y` are valid for `2 n` elements, and do not overlap.
    pub(super) unsafe fn run(&self, isa: Isa, x: *const E, y: *mut E, swap: bool) -> Fallible {
        match self {
            // SAFETY: the caller guarantees both lines (# Safety).
            Long::Split(split) => unsafe { split.run(isa, x, y, swap) },
            Long::Chirp(c) => {
                let points = c.chirp.len().max(c.spectrum.len());
                with_scratch(2 * points * size_of::<E>(), |scratch| {
                    let (a, b) = (
                        scratch.cast::<E>(),
                        scratch.cast::<E>().wrapping_add(points),
                    );
                    let (chirp, spectrum) = (c.chirp.as_ptr(), c.spectrum.as_ptr());
                    let whole = points / 2;
                    // SAFETY: the caller guarantees both lines (# Safety); the scratch memory has
                    // two lines of the convolution.
                    unsafe {
                        let times = |[x, factor, y]: [*const E; 3], count, swap_x, swap_y| {
                            let y = y.cast_mut();
                            dispatch(
                                Width::Whole(isa),
                                &PointwiseProduct {
                                    x,
                                    factor,
                                    y,
                                    count,
                                    swap_x,
                                    swap_y,
                                },
                            );
                        };
                        times([x, chirp, a], c.n, swap, false);
                        std::slice::from_raw_parts_mut(a.add(2 * c.n), points - 2 * c.n)
                            .fill(E::ZERO);
                        c.points.run(isa, a, b, false)?;
                        times([b, spectrum, b], whole, false, false);
                        c.points.run(isa, b, a, true)?;
                        times([a, chirp, y], c.n, false, swap);
                    }
                    Ok(())
                })?
            }
        }
    }
}

/// Multiplies complex numbers pointwise. Real and imaginary parts are exchanged before or after.
struct PointwiseProduct<E> {
    x: *const E,
    factor: *const E,
    y: *mut E,
    count: usize,
    swap_x: bool,
    swap_y: bool,
}

impl<E: VectorFloat> Job<E> for PointwiseProduct<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let mut i = 0;
        // SAFETY: the caller guarantees that all numbers exist (# Safety).
        unsafe {
            while i < self.count {
                let left = self.count - i;
                let (x, factor, y) = (self.x.add(2 * i), self.factor.add(2 * i), self.y.add(2 * i));
                let z = read::<W>(x, left, self.swap_x).mul(read(factor, left, false));
                let (a, b) = if self.swap_y {
                    z.im.zip(z.re)
                } else {
                    z.re.zip(z.im)
                };
                if left < W::N {
                    let mut part = [E::ZERO; 2 * MAX_LANES];
                    a.store(part.as_mut_ptr());
                    b.store(part.as_mut_ptr().add(W::N));
                    std::ptr::copy_nonoverlapping(part.as_ptr(), y, 2 * left);
                } else {
                    a.store(y);
                    b.store(y.add(W::N));
                }
                i += W::N;
            }
        }
    }
}

/// Loads `N` adjacent complex numbers, or the remaining ones.
///
/// # Safety
/// The numbers are valid for reading.
#[inline(always)]
unsafe fn read<W: V>(p: *const W::E, left: usize, swap: bool) -> C<W> {
    let mut part = [W::E::ZERO; 2 * MAX_LANES];
    // SAFETY: the caller guarantees that they are readable (# Safety).
    let (a, b) = unsafe {
        match left < W::N {
            true => {
                std::ptr::copy_nonoverlapping(p, part.as_mut_ptr(), 2 * left);
                (W::load(part.as_ptr()), W::load(part.as_ptr().add(W::N)))
            }
            false => (W::load(p), W::load(p.add(W::N))),
        }
    };
    let (re, im) = a.unzip(b);
    if swap {
        C { re: im, im: re }
    } else {
        C { re, im }
    }
}
