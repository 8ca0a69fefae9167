//! Numerical derivatives with an error estimate: central differences, extrapolated to step zero.
//!
//! ```text
//! D(h) = (g(h) - g(-h)) / 2h = g'(0) + c₂ h² + c₄ h⁴ + ..
//! ```
//! Halving `h` and eliminating one power at a time gives a triangle of estimates (Ridders 1982); of each coordinate
//! the entry with the smallest estimated error is taken. The estimate has two parts: how far neighbours in the
//! triangle differ, and the rounding of `g` divided by `h`.

/// A numerical derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub value: f64,
    /// Infinite if no step gave finite numbers.
    pub error: f64,
}

/// Steps per triangle, and powers eliminated at most.
const STEPS: usize = 11;
const POWERS: usize = 6;

/// A curve in the coordinates of a function's results; `None` is a step at which it has no value.
pub(super) type Curve<'a> = &'a mut dyn FnMut(f64) -> Option<Vec<f64>>;

/// The derivative at 0 of a curve with `n` coordinates, computed to a relative precision of `eps`.
pub(super) fn derivative(n: usize, eps: f64, curve: Curve<'_>) -> Vec<Estimate> {
    let mut best = vec![Estimate { value: f64::NAN, error: f64::INFINITY }; n];
    // Steep functions and small domains need smaller steps from the start.
    for start in [0.1, 1e-3, 1e-5] {
        triangle(start, eps, curve, &mut best);
        if best.iter().all(|e| e.error <= 1e-7 * e.value.abs() || e.error <= 1e-12) {
            break;
        }
    }
    best
}

/// Whether a curve has a kink at 0: its slopes to the left and to the right differ, and go on to differ as the step
/// shrinks.
pub(super) fn kink(n: usize, curve: Curve<'_>) -> bool {
    let Some(mid) = curve(0.0) else { return false };
    let mut gap = |h: f64| -> Option<Vec<f64>> {
        let (up, down) = (curve(h)?, curve(-h)?);
        Some((0..n).map(|k| ((up[k] - 2.0 * mid[k] + down[k]) / h).abs()).collect())
    };
    let (Some(far), Some(near)) = (gap(1e-4), gap(1e-6)) else { return false };
    let scale = mid.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    far.iter().zip(&near).any(|(far, near)| *near > 0.5 * far && *near > 1e-6 * scale)
}

fn triangle(start: f64, eps: f64, curve: Curve<'_>, best: &mut [Estimate]) {
    let mut before: Vec<Vec<f64>> = vec![Vec::new(); best.len()];
    for i in 0..STEPS {
        let h = start * 0.5f64.powi(i as i32);
        let (Some(up), Some(down)) = (curve(h), curve(-h)) else {
            before.iter_mut().for_each(Vec::clear);
            continue;
        };
        for (k, best) in best.iter_mut().enumerate() {
            let rounding = eps * (up[k].abs() + down[k].abs()) / h;
            let mut row = vec![(up[k] - down[k]) / (2.0 * h)];
            for j in 0..before[k].len().min(POWERS) {
                let power = 4f64.powi(j as i32 + 1);
                let next = (power * row[j] - before[k][j]) / (power - 1.0);
                let spread = (next - row[j]).abs().max((next - before[k][j]).abs());
                let error = spread + rounding;
                if error <= best.error {
                    *best = Estimate { value: next, error };
                }
                row.push(next);
            }
            before[k] = row;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(g: impl Fn(f64) -> f64) -> Estimate {
        derivative(1, f64::EPSILON, &mut |h| Some(vec![g(h)]))[0]
    }

    #[test]
    fn smooth_curves_to_eleven_digits() {
        for (got, want) in [
            (at(|h| (1.0 + h).exp()), 1f64.exp()),
            (at(|h| (1e-3 + h).ln()), 1e3),
            (at(|h| (100.0 * (0.2 + h)).sin()), 100.0 * 20f64.cos()),
            (at(|_| 3.0), 0.0),
        ] {
            assert!((got.value - want).abs() <= 1e-10 * want.abs().max(1.0), "{got:?} {want}");
            assert!(got.error <= 1e-7 * want.abs().max(1.0), "{got:?} {want}");
        }
    }

    #[test]
    fn kinks_are_seen() {
        assert!(kink(1, &mut |h| Some(vec![h.abs()])));
        assert!(!kink(1, &mut |h| Some(vec![(1.0 + h).exp()])));
    }

    #[test]
    fn a_jump_does_not_settle() {
        assert!(at(|h| if h > 0.0 { 1.0 } else { 0.0 }).error > 1.0);
        assert!(derivative(1, f64::EPSILON, &mut |_| None)[0].error.is_infinite());
    }
}
