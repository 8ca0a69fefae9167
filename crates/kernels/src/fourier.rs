//! Fourier transforms of lines, without scale factors, in O(n log n) for every n.
//!
//! Plans are `rustfft`'s and `realfft`'s scalar ones, so results do not depend on the instruction set. They are kept, up to
//! [`MOST`] bytes.

use crate::memory::{Fallible, Plain, filled, hold};
use num_complex::Complex;
use realfft::RealFftPlanner;
use rustc_hash::FxHashSet;
use rustfft::{FftDirection, FftNum, FftPlanner};
use std::sync::Mutex;

/// Bytes of plans that are kept, as [`planning`] counts them.
const MOST: usize = 64 << 20;

/// A planner, the lengths that it has planned for, and how many bytes these may take.
struct Planner<P> {
    planner: P,
    lengths: FxHashSet<(usize, bool)>,
    planned: usize,
}

impl<P> Planner<P> {
    fn new(planner: P) -> Mutex<Planner<P>> {
        Mutex::new(Planner { planner, lengths: FxHashSet::default(), planned: 0 })
    }
}

/// Transforms of one element type; plans are kept.
pub struct Transforms<T: FftNum> {
    complex: Mutex<Planner<FftPlanner<T>>>,
    real: Mutex<Planner<RealFftPlanner<T>>>,
}

impl<T: FftNum> Default for Transforms<T> {
    fn default() -> Self {
        Transforms { complex: Planner::new(FftPlanner::new()), real: Planner::new(RealFftPlanner::new()) }
    }
}

/// Bytes that a plan for `n` elements takes at most: some tables as long as the line, but for large prime factors, whose
/// transforms are convolutions of up to four times their length.
fn planning<T>(n: usize) -> usize {
    let mut rest = n;
    for factor in 2..=31 {
        while rest > 1 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    n.saturating_mul(size_of::<Complex<T>>()).saturating_mul(if rest == 1 { 4 } else { 16 })
}

/// Calls `plan` with a planner, if there is room for the plan. Those for other lengths go when there are many.
fn planned<T, P, R>(
    planner: &Mutex<Planner<P>>,
    another: fn() -> P,
    n: usize,
    backward: bool,
    plan: impl FnOnce(&mut P) -> R,
) -> Fallible<R> {
    // What a planner was left with when a thread failed is still a planner.
    let mut kept = planner.lock().unwrap_or_else(|e| e.into_inner());
    if kept.lengths.contains(&(n, backward)) {
        return Ok(plan(&mut kept.planner));
    }
    let bytes = planning::<T>(n);
    let _room = hold(bytes)?;
    if kept.planned.saturating_add(bytes) > MOST {
        *kept = Planner { planner: another(), lengths: FxHashSet::default(), planned: 0 };
    }
    kept.planned = kept.planned.saturating_add(bytes);
    kept.lengths.insert((n, backward));
    Ok(plan(&mut kept.planner))
}

impl<T: FftNum + Plain> Transforms<T> {
    /// Every line of `n` elements by `Σ x[j] e^(∓2πi jk/n)`; the sign is positive if `backward`.
    ///
    /// # Panics
    /// If there are no whole lines.
    pub fn complex(&self, lines: &mut [Complex<T>], n: usize, backward: bool) -> Fallible {
        if n == 0 || lines.is_empty() {
            return Ok(());
        }
        assert!(lines.len().is_multiple_of(n), "whole lines of {n} elements");
        let direction = if backward { FftDirection::Inverse } else { FftDirection::Forward };
        let plan =
            planned::<T, _, _>(&self.complex, FftPlanner::new, n, backward, |planner| planner.plan_fft(n, direction))?;
        let mut scratch = filled(Complex::new(T::zero(), T::zero()), plan.get_inplace_scratch_len())?;
        plan.process_with_scratch(lines, &mut scratch);
        Ok(())
    }

    /// The first `n / 2 + 1` elements of the transform of every line of `n`.
    ///
    /// # Panics
    /// If the slices do not have as many lines.
    pub fn real(&self, y: &mut [Complex<T>], x: &[T], n: usize) -> Fallible {
        let zero = Complex::new(T::zero(), T::zero());
        if n == 0 {
            y.fill(zero);
            return Ok(());
        }
        check(y.len(), x.len(), n);
        if y.is_empty() {
            return Ok(());
        }
        let plan =
            planned::<T, _, _>(&self.real, RealFftPlanner::new, n, false, |planner| planner.plan_fft_forward(n))?;
        let (mut line, mut scratch) = (filled(T::zero(), n)?, filled(zero, plan.get_scratch_len())?);
        for (y, x) in y.chunks_exact_mut(n / 2 + 1).zip(x.chunks_exact(n)) {
            line.copy_from_slice(x);
            plan.process_with_scratch(&mut line, y, &mut scratch).expect("lines of the plan's length");
        }
        Ok(())
    }

    /// The adjoint of [`real`](Self::real): `Re Σ x[k] e^(2πi jk/n)` over `k <= n / 2`, lines of `n` elements.
    ///
    /// # Panics
    /// If the slices do not have as many lines.
    pub fn real_adjoint(&self, y: &mut [T], x: &[Complex<T>], n: usize) -> Fallible {
        if n == 0 {
            return Ok(());
        }
        check(x.len(), y.len(), n);
        if y.is_empty() {
            return Ok(());
        }
        let plan = planned::<T, _, _>(&self.real, RealFftPlanner::new, n, true, |planner| planner.plan_fft_inverse(n))?;
        let zero = Complex::new(T::zero(), T::zero());
        let (mut line, mut scratch) = (filled(zero, n / 2 + 1)?, filled(zero, plan.get_scratch_len())?);
        let half = T::from_f64(0.5).expect("a float");
        for (y, x) in y.chunks_exact_mut(n).zip(x.chunks_exact(n / 2 + 1)) {
            // The plan counts what lies between the ends twice, and wants real ends.
            line.copy_from_slice(x);
            line[1..].iter_mut().for_each(|z| *z = *z * half);
            line[0].im = T::zero();
            if n.is_multiple_of(2) {
                line[n / 2] = Complex::new(x[n / 2].re, T::zero());
            }
            plan.process_with_scratch(&mut line, y, &mut scratch).expect("lines of the plan's length, with real ends");
        }
        Ok(())
    }
}

/// Whether there are as many lines of spectra as of `n` real numbers.
fn check(spectra: usize, reals: usize, n: usize) {
    let (half, lines) = (n / 2 + 1, reals / n);
    assert!(reals == lines * n && spectra == lines * half, "as many lines of {half} complex as of {n} real numbers");
}
