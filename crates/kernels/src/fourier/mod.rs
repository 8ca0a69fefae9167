//! Fourier transforms along an axis, without scale factors, in O(n log n) for every n.
//!
//! A line occupies one lane of a vector from the first pass to the last. `lanes::lines` copies
//! lines to a panel and back. `plan` has the passes of the radices 2, 3, 4, 5, 8 (`butterfly`) and
//! odd primes (`odd`). Large primes are convolutions (`prime`). `real` transforms real lines at
//! half the work, and `hartley` those of a large prime length. A `long` line is split, so that
//! lanes are its columns.
//!
//! The operations on a line depend on its length only, so bits do not depend on instruction sets,
//! threads or other lines. Roots of unity are rounded once (`roots`). The relative error of a
//! transform is of the order of `ε log2 n`. An inverse transform is a forward one with the real and
//! imaginary parts of both lines exchanged.
//!
//! ```
//! use cotangent_kernels::View;
//! use cotangent_kernels::fourier::Fourier;
//! use num_complex::Complex;
//!
//! let x = [1.0, 0.0, 0.0, 0.0];
//! let mut y = [Complex::new(0.0, 0.0); 3];
//! f64::real(&mut y, View::dense(&x, &[1, 4, 1])).unwrap();
//! assert_eq!(y, [Complex::new(1.0, 0.0); 3]);
//! ```

mod butterfly;
mod factors;
mod hartley;
mod long;
mod odd;
mod plan;
mod prime;
mod real;
mod roots;
#[cfg(test)]
mod tests;

use crate::lanes::lines::{LaneLines, LineLayout, Load, Store};
use crate::lanes::{Width, dispatch, over_panels};
use crate::memory::{Fallible, hold, with_scratch};
use crate::parallel::{Shared, attempt};
use crate::simd::Isa;
use crate::tuning::MAX_PLAN_BYTES;
use crate::vector::VectorFloat;
use crate::view::View;
use long::{Long, MAX_LANE_POINTS, nanos, panels};
use num_complex::Complex;
use plan::Plan;
use real::{LongReal, RealPlan};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Float whose lines are transformed. Operands have three axes: those before the axis of the lines,
/// that axis, and those after it.
pub trait Fourier: Sized {
    /// Transforms every line of `n` points by `Σ x[j] e^(∓2πi jk/n)`; the sign is positive if
    /// `backward`.
    ///
    /// # Panics
    /// If the operand does not have three axes, or the result a different number of elements.
    fn complex(y: &mut [Complex<Self>], x: View<Complex<Self>>, backward: bool) -> Fallible;

    /// Computes the first `n / 2 + 1` points of the transform of every line of `n` reals.
    ///
    /// # Panics
    /// If the operand does not have three axes, or the result a different number of lines.
    fn real(y: &mut [Complex<Self>], x: View<Self>) -> Fallible;

    /// Computes the adjoint of [`real`](Self::real): `Re Σ x[k] e^(2πi jk/n)` over `k <= n / 2`,
    /// lines of `n` elements.
    ///
    /// # Panics
    /// If the operand does not have three axes, or its lines do not have `n / 2 + 1` points, or the
    /// result has a different number of lines.
    fn real_adjoint(y: &mut [Self], x: View<Complex<Self>>, n: usize) -> Fallible;
}

/// Whether lines of this length are transformed fast only if their elements are adjacent, in the
/// operand and in the result.
pub fn is_long(n: usize) -> bool {
    n > if n.is_multiple_of(2) {
        2 * MAX_LANE_POINTS
    } else {
        MAX_LANE_POINTS
    }
}

macro_rules! fourier {
    ($($t:ty)*) => {$(
        impl Fourier for $t {
            fn complex(y: &mut [Complex<$t>], x: View<Complex<$t>>, backward: bool) -> Fallible {
                complex(Isa::chosen(), y, x, backward)
            }

            fn real(y: &mut [Complex<$t>], x: View<$t>) -> Fallible {
                real(Isa::chosen(), y, x)
            }

            fn real_adjoint(y: &mut [$t], x: View<Complex<$t>>, n: usize) -> Fallible {
                real_adjoint(Isa::chosen(), y, x, n)
            }
        }

        impl PlanCache for $t {
            fn cache() -> &'static Mutex<Plans<$t>> {
                static PLANS: OnceLock<Mutex<Plans<$t>>> = OnceLock::new();
                PLANS.get_or_init(Mutex::default)
            }
        }
    )*};
}

fourier!(f32 f64);

/// Transform of lines of one length.
enum LinePlan<E> {
    Lanes(Plan<E>),
    Real(RealPlan<E>),
    Long(Long<E>),
    LongReal(LongReal<E>),
}

/// Cached plans, by length and whether lines are real.
struct Plans<E> {
    all: FxHashMap<(usize, bool), Arc<LinePlan<E>>>,
    bytes: usize,
}

impl<E> Default for Plans<E> {
    fn default() -> Self {
        Plans {
            all: FxHashMap::default(),
            bytes: 0,
        }
    }
}

/// Float with a cache of plans.
trait PlanCache: VectorFloat + Send + Sync {
    fn cache() -> &'static Mutex<Plans<Self>>;
}

/// Returns the plan for `n > 0` points. The cache is cleared before it exceeds [`MAX_PLAN_BYTES`].
fn plan<E: PlanCache>(n: usize, real: bool) -> Fallible<Arc<LinePlan<E>>> {
    // A poisoned lock is usable: the cache is consistent at every panic.
    if let Some(plan) = E::cache()
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .all
        .get(&(n, real))
    {
        return Ok(plan.clone());
    }
    // Tables of chirps and spectra have at most four times the length of a line.
    let _reservation = hold(n.saturating_mul(16 * size_of::<E>()))?;
    let made = match real {
        true if is_long(n) => LinePlan::LongReal(LongReal::new(n)?),
        true => LinePlan::Real(RealPlan::new(n)?),
        false if n <= MAX_LANE_POINTS => LinePlan::Lanes(Plan::new(n)?),
        false => LinePlan::Long(Long::new(n)?),
    };
    let bytes = match &made {
        LinePlan::Lanes(plan) => plan.bytes(),
        LinePlan::Real(plan) => plan.bytes(),
        LinePlan::Long(plan) => plan.bytes(),
        LinePlan::LongReal(plan) => plan.bytes(),
    };
    let made = Arc::new(made);
    let mut cache = E::cache().lock().unwrap_or_else(|e| e.into_inner());
    if cache.bytes.saturating_add(bytes) > MAX_PLAN_BYTES {
        *cache = Plans::default();
    }
    cache.bytes = cache.bytes.saturating_add(bytes);
    cache.all.insert((n, real), made.clone());
    Ok(made)
}

/// The extents of an operand: groups, points and lines of a group.
fn extents<T>(x: &View<T>) -> [usize; 3] {
    x.shape()
        .try_into()
        .expect("groups, points and lines of a group")
}

/// The first element of a view, and the layout of its lines.
fn place<T, E>(x: &View<T>) -> (*const E, LineLayout) {
    let unit = size_of::<T>() / size_of::<E>();
    let step = |axis| x.stride(axis).wrapping_mul(unit as isize);
    let [outer, _, inner] = extents(x);
    // Groups of one line are treated as the lines of one group.
    let (inner, line_step) = if inner == 1 {
        (outer, step(0))
    } else {
        (inner, step(2))
    };
    let place = LineLayout {
        inner,
        outer_step: step(0),
        line_step,
        point_step: step(1),
        unit,
    };
    (x.data().as_ptr().wrapping_add(x.offset()).cast(), place)
}

/// Layout of the lines of a row-major result.
fn rows(points: usize, inner: usize, unit: usize) -> LineLayout {
    let step = |n: usize| (n * unit) as isize;
    LineLayout {
        inner,
        outer_step: step(points * inner),
        line_step: step(1),
        point_step: step(inner),
        unit,
    }
}

fn complex<E: PlanCache>(
    isa: Isa,
    y: &mut [Complex<E>],
    x: View<Complex<E>>,
    backward: bool,
) -> Fallible {
    let [outer, n, inner] = extents(&x);
    let lines = outer * inner;
    assert_eq!(y.len(), lines * n, "lines of {n} points");
    if y.is_empty() {
        return Ok(());
    }
    let ((x, from), to, y) = (
        place::<_, E>(&x),
        rows(n, inner, 2),
        y.as_mut_ptr().cast::<E>(),
    );
    match &*plan::<E>(n, false)? {
        // SAFETY: the lines of a view are inside its slice; those of the result fill `y`, which is
        // borrowed mutably.
        LinePlan::Lanes(plan) => unsafe {
            panels(
                isa,
                plan,
                lines,
                (x, from, backward),
                (y, to, backward),
                None,
            )
        },
        LinePlan::Long(long) => {
            let both = ((Shared(x.cast_mut()), from, n), (Shared(y), to, n));
            // SAFETY: `each_line` passes lines of `n` complex numbers of the view and of the
            // result, or copies.
            each_line(isa, lines, both, |x, y| unsafe {
                long.run(isa, x, y, backward)
            })
        }
        _ => unreachable!("plans of real lines are kept apart"),
    }
}

/// First element, layout and number of points of lines.
type LineBuffer<E> = (Shared<E>, LineLayout, usize);

/// Calls `f` with every line of the operand and of the result as adjacent elements, copied if they
/// are not. Lines may run on several threads. The lines must be valid for reading and for writing,
/// and `f` must write all of its second line.
fn each_line<E: VectorFloat>(
    isa: Isa,
    lines: usize,
    ((x, from, points), (y, to, results)): (LineBuffer<E>, LineBuffer<E>),
    f: impl Fn(*const E, *mut E) -> Fallible + Sync,
) -> Fallible {
    let single = Width::Single(isa);
    let part = |place, first, points| LaneLines {
        place,
        first,
        count: 1,
        points,
        swap: false,
    };
    attempt(lines, (points * 8).saturating_mul(lines) as u64, |l| {
        let packed = |place: LineLayout| place.point_step != place.unit as isize;
        let sizes = [
            (packed(from), points * from.unit),
            (packed(to), results * to.unit),
        ];
        let scratch = sizes.map(|(packed, size)| if packed { size } else { 0 });
        with_scratch((scratch[0] + scratch[1]) * size_of::<E>(), |memory| {
            let memory = memory.cast::<E>();
            let (mut source, mut target) = (
                x.get().wrapping_offset(from.line(l)),
                y.get().wrapping_offset(to.line(l)),
            );
            if packed(from) {
                let load = Load {
                    lines: part(from, l, points),
                    from: x.get().cast_const(),
                    to: memory,
                };
                // SAFETY: the line is valid (stated at this function), and the scratch memory has
                // room for it.
                unsafe { dispatch(single, &load) };
                source = memory;
            }
            if packed(to) {
                target = memory.wrapping_add(scratch[0]);
            }
            f(source.cast_const(), target)?;
            if packed(to) {
                let store = Store {
                    lines: part(to, l, results),
                    from: target,
                    to: y.get(),
                };
                // SAFETY: the line of the result is valid (stated at this function), and `f` wrote
                // all of `target`.
                unsafe { dispatch(single, &store) };
            }
            Ok(())
        })?
    })
}

fn real<E: PlanCache>(isa: Isa, y: &mut [Complex<E>], x: View<E>) -> Fallible {
    let [outer, n, inner] = extents(&x);
    let (lines, half) = (outer * inner, n / 2 + 1);
    assert_eq!(
        y.len(),
        lines * half,
        "as many lines of {half} complex as of {n} real numbers"
    );
    if n == 0 {
        y.fill(Complex::new(E::ZERO, E::ZERO));
        return Ok(());
    }
    if y.is_empty() {
        return Ok(());
    }
    let ((x, from), to, y) = (
        place::<_, E>(&x),
        rows(half, inner, 2),
        y.as_mut_ptr().cast::<E>(),
    );
    let (x, y) = (Shared(x.cast_mut()), Shared(y));
    let plan = plan::<E>(n, true)?;
    let plan = match &*plan {
        LinePlan::Real(plan) => plan,
        LinePlan::LongReal(plan) => {
            let both = ((x, from, n), (y, to, half));
            // SAFETY: `each_line` passes a line of `n` reals of the view and one of `half` complex
            // numbers of the result.
            return each_line(isa, lines, both, |x, y| unsafe { plan.forward(isa, x, y) });
        }
        _ => unreachable!("plans of real lines are kept apart"),
    };
    over_panels::<E>(
        isa,
        lines,
        n + 2 * half + plan.work(),
        nanos(n, lines),
        |width, first, count, scratch| {
            let lanes = width.lanes::<E>();
            let (a, b) = (scratch, scratch.wrapping_add(n * lanes));
            // SAFETY: the lines are inside the view and the result, as in `complex`; the scratch
            // memory has both panels and the plan's workspace.
            unsafe {
                let lines = LaneLines {
                    place: from,
                    first,
                    count,
                    points: n,
                    swap: false,
                };
                dispatch(
                    width,
                    &Load {
                        lines,
                        from: x.get().cast_const(),
                        to: a,
                    },
                );
                plan.forward(width, a, b, b.wrapping_add(2 * half * lanes));
                let lines = LaneLines {
                    place: to,
                    points: half,
                    ..lines
                };
                dispatch(
                    width,
                    &Store {
                        lines,
                        from: b,
                        to: y.get(),
                    },
                );
            }
        },
    )
}

fn real_adjoint<E: PlanCache>(isa: Isa, y: &mut [E], x: View<Complex<E>>, n: usize) -> Fallible {
    let [outer, half, inner] = extents(&x);
    let lines = outer * inner;
    assert!(
        half == n / 2 + 1 && y.len() == lines * n,
        "as many lines of {half} complex as of {n} real numbers"
    );
    if y.is_empty() {
        return Ok(());
    }
    let ((x, from), to, y) = (place::<_, E>(&x), rows(n, inner, 1), y.as_mut_ptr());
    let (x, y) = (Shared(x.cast_mut()), Shared(y));
    let plan = plan::<E>(n, true)?;
    let plan = match &*plan {
        LinePlan::Real(plan) => plan,
        LinePlan::LongReal(plan) => {
            let both = ((x, from, half), (y, to, n));
            // SAFETY: `each_line` passes a line of `half` complex numbers of the view and one of
            // `n` reals of the result.
            return each_line(isa, lines, both, |x, y| unsafe { plan.adjoint(isa, x, y) });
        }
        _ => unreachable!("plans of real lines are kept apart"),
    };
    over_panels::<E>(
        isa,
        lines,
        n + 2 * half + plan.work(),
        nanos(n, lines),
        |width, first, count, scratch| {
            let lanes = width.lanes::<E>();
            let (a, b) = (scratch, scratch.wrapping_add(2 * half * lanes));
            // SAFETY: the lines are inside the view and the result, as in `complex`; the scratch
            // memory has both panels and the plan's workspace.
            unsafe {
                let lines = LaneLines {
                    place: from,
                    first,
                    count,
                    points: half,
                    swap: false,
                };
                dispatch(
                    width,
                    &Load {
                        lines,
                        from: x.get().cast_const(),
                        to: a,
                    },
                );
                plan.adjoint(width, a, b, b.wrapping_add(n * lanes));
                let lines = LaneLines {
                    place: to,
                    points: n,
                    swap: plan.swaps(),
                    ..lines
                };
                dispatch(
                    width,
                    &Store {
                        lines,
                        from: b,
                        to: y.get(),
                    },
                );
            }
        },
    )
}
