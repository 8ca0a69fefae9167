//! Fourier transforms of lines, without scale factors, in O(n log n) for every n.
//!
//! Plans are `rustfft`'s and `realfft`'s scalar ones, so results do not depend on the instruction set.

use num_complex::Complex;
use realfft::RealFftPlanner;
use rustfft::{FftDirection, FftNum, FftPlanner};
use std::sync::Mutex;

/// Transforms of one element type; plans are kept.
pub struct Transforms<T: FftNum> {
    complex: Mutex<FftPlanner<T>>,
    real: Mutex<RealFftPlanner<T>>,
}

impl<T: FftNum> Default for Transforms<T> {
    fn default() -> Self {
        Transforms { complex: Mutex::new(FftPlanner::new()), real: Mutex::new(RealFftPlanner::new()) }
    }
}

/// What a planner was left with when a thread failed is still a planner.
fn locked<P>(planner: &Mutex<P>) -> std::sync::MutexGuard<'_, P> {
    planner.lock().unwrap_or_else(|e| e.into_inner())
}

impl<T: FftNum> Transforms<T> {
    /// Every line of `n` elements by `Σ x[j] e^(∓2πi jk/n)`; the sign is positive if `backward`.
    pub fn complex(&self, lines: &mut [Complex<T>], n: usize, backward: bool) {
        if n == 0 {
            return;
        }
        let direction = if backward { FftDirection::Inverse } else { FftDirection::Forward };
        let plan = locked(&self.complex).plan_fft(n, direction);
        plan.process(lines);
    }

    /// The first `n / 2 + 1` elements of the transform of every line of `n`.
    ///
    /// # Panics
    /// If `y` does not have them.
    pub fn real(&self, y: &mut [Complex<T>], x: &[T], n: usize) {
        if n == 0 {
            return y.fill(Complex::new(T::zero(), T::zero()));
        }
        let plan = locked(&self.real).plan_fft_forward(n);
        let (mut line, mut scratch) = (vec![T::zero(); n], plan.make_scratch_vec());
        for (y, x) in y.chunks_exact_mut(n / 2 + 1).zip(x.chunks_exact(n)) {
            line.copy_from_slice(x);
            plan.process_with_scratch(&mut line, y, &mut scratch).expect("lines of the plan's length");
        }
    }

    /// The adjoint of [`real`](Self::real): `Re Σ x[k] e^(2πi jk/n)` over `k <= n / 2`, lines of `n` elements.
    ///
    /// # Panics
    /// If the slices do not have as many lines.
    pub fn real_adjoint(&self, y: &mut [T], x: &[Complex<T>], n: usize) {
        if n == 0 {
            return;
        }
        let plan = locked(&self.real).plan_fft_inverse(n);
        let (mut line, mut scratch) = (plan.make_input_vec(), plan.make_scratch_vec());
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
    }
}
