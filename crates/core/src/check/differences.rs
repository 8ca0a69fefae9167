//! Numerical derivatives with an error estimate: central differences, extrapolated to step zero.
//!
//! ```text
//! D(h) = (g(h) - g(-h)) / 2h = g'(0) + c₂ h² + c₄ h⁴ + ..
//! ```
//! Halving `h` and eliminating one power at a time gives a triangle of estimates (Ridders 1982);
//! the result for each coordinate is the entry with the smallest estimated error. The estimate is
//! the difference of neighbours in the triangle, plus the rounding error of `g` divided by `h`.

/// A numerical derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub value: f64,
    /// Infinite if no step gave finite numbers.
    pub error: f64,
}

/// Number of steps per triangle, and maximum number of eliminated powers of `h`.
const TRIANGLE_STEPS: usize = 11;
const MAX_ELIMINATED_POWERS: usize = 6;

/// A curve in the coordinates of a function's results. `None`: it has no value at this step.
pub(super) type Curve<'a> = &'a mut dyn FnMut(f64) -> Option<Vec<f64>>;

/// Exponents of the largest step of each triangle. Steps are powers of two, so that `x + h t` is
/// exact more often.
const START_EXPONENTS: [i32; 3] = [-3, -10, -17];

/// Exponent of the smallest step that is exact in directions rounded by [`exact`].
const MIN_EXACT_EXPONENT: i32 = START_EXPONENTS[0] - TRIANGLE_STEPS as i32 + 1;

/// Rounds `t` so that `x + h t` is exact for all steps `h` down to `2^MIN_EXACT_EXPONENT`; returns
/// `t` if that is impossible. The rounding error of `x + h t` may be much larger than that of the
/// function; this removes it from differences.
pub(super) fn exact(t: f64, x: f64) -> f64 {
    let digit = (x.abs() + t.abs()) * f64::EPSILON;
    if digit == 0.0 || !digit.is_finite() {
        return t;
    }
    let grid = 2f64.powi(digit.log2().ceil() as i32 - MIN_EXACT_EXPONENT);
    if grid.is_normal() && grid <= t.abs() {
        (t / grid).round() * grid
    } else {
        t
    }
}

/// The derivative at 0 of a curve. `errors` are those of its coordinates in addition to rounding,
/// `eps` is its relative precision, `at` the largest magnitude of the point.
///
/// Large steps have the smallest rounding errors, but may reach beyond a kink or a jump. So an
/// estimate from large steps is used only if a small step agrees with it.
pub(super) fn derivative(errors: &[f64], eps: f64, at: f64, curve: Curve<'_>) -> Vec<Estimate> {
    let n = errors.len();
    const NONE: Estimate = Estimate {
        value: f64::NAN,
        error: f64::INFINITY,
    };
    // Steep functions and small domains need smaller steps. Slowly varying functions at large
    // arguments need larger ones.
    let scale = if at.is_finite() && at > 0.0 {
        at.log2().floor() as i32
    } else {
        0
    };
    let relative = if scale.abs() > 3 {
        vec![scale + START_EXPONENTS[0], scale + START_EXPONENTS[1]]
    } else {
        vec![]
    };
    // At large arguments a small step is only a few units in the last place of the point: at least
    // 2^6 of them.
    let small = (START_EXPONENTS[2] + scale.min(0)).max(scale - 46);
    let probe = probe(errors, 2f64.powi(small), eps, at, curve);
    let mut best = vec![NONE; n];
    for start in START_EXPONENTS.into_iter().chain(relative) {
        let mut own = vec![NONE; n];
        triangle(2f64.powi(start), (eps, errors), at, curve, &mut own);
        let near = probe.iter().zip(errors);
        for ((own, best), (near, &error)) in own.into_iter().zip(&mut best).zip(near) {
            // Estimates from steps as small as the probe are not compared with it, nor where the
            // function has no value.
            let room =
                10.0 * (own.error + near.error) + 1e-3 * own.value.abs().max(near.value.abs());
            let judged = start > small && near.error.is_finite();
            let agrees = !judged || (own.value - near.value).abs() <= room;
            // A probe with the error of an iteration may agree with anything. Then the function may
            // have another solution at the end of a step that is large relative to the point.
            let blind = error > 0.0 && near.error > 1e-2 * near.value.abs();
            let far = blind && start > START_EXPONENTS[0];
            if agrees && !far && own.error <= best.error {
                *best = own;
            }
        }
        // Slowly varying functions at large arguments have small slopes. Larger relative steps
        // distinguish them from zero.
        if best
            .iter()
            .all(|e| e.error <= 1e-7 * e.value.abs() || e.error <= 1e-12 / at.max(1.0))
        {
            break;
        }
    }
    best
}

/// The central difference of one step, with its rounding error.
fn probe(errors: &[f64], h: f64, eps: f64, at: f64, curve: Curve<'_>) -> Vec<Estimate> {
    let (Some(up), Some(down)) = (curve(h), curve(-h)) else {
        return vec![
            Estimate {
                value: f64::NAN,
                error: f64::INFINITY
            };
            errors.len()
        ];
    };
    let moved = moved(h, at, &up, &down);
    let one = |((u, d), e): ((&f64, &f64), &f64)| {
        let rounding = eps * (u.abs() + d.abs()) / h;
        let error = rounding + moved + e / h;
        let error = if error.is_finite() {
            error
        } else {
            f64::INFINITY
        };
        Estimate {
            value: (u - d) / (2.0 * h),
            error,
        }
    };
    up.iter().zip(&down).zip(errors).map(one).collect()
}

/// Error of a difference that the rounding of the point causes, estimated from the slope. Infinite
/// where a step is too small to move the point.
fn moved(h: f64, at: f64, up: &[f64], down: &[f64]) -> f64 {
    let digit = f64::EPSILON * at;
    // At larger arguments the grid of [`exact`] is coarser than the direction, and no step is
    // exact.
    if h >= 2f64.powi(MIN_EXACT_EXPONENT) && digit * 2f64.powi(-MIN_EXACT_EXPONENT) <= 0.25 {
        return 0.0;
    }
    if h < 16.0 * digit {
        return f64::INFINITY;
    }
    let gaps = up
        .iter()
        .zip(down)
        .map(|(u, d)| (u - d).abs())
        .filter(|d| d.is_finite());
    digit * gaps.fold(0.0, f64::max) / (2.0 * h) / h
}

/// Whether a curve has a kink at 0: its one-sided slopes differ, and still differ as the step
/// decreases.
pub(super) fn kink(n: usize, curve: Curve<'_>) -> bool {
    let Some(mid) = curve(0.0) else { return false };
    let mut gap = |h: f64| -> Option<Vec<f64>> {
        let (up, down) = (curve(h)?, curve(-h)?);
        Some(
            (0..n)
                .map(|k| ((up[k] - 2.0 * mid[k] + down[k]) / h).abs())
                .collect(),
        )
    };
    let (Some(far), Some(near)) = (gap(1e-4), gap(1e-6)) else {
        return false;
    };
    let scale = mid.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    far.iter()
        .zip(&near)
        .any(|(far, near)| *near > 0.5 * far && *near > 1e-6 * scale)
}

fn triangle(
    start: f64,
    (eps, errors): (f64, &[f64]),
    at: f64,
    curve: Curve<'_>,
    best: &mut [Estimate],
) {
    let mut before: Vec<Vec<f64>> = vec![Vec::new(); best.len()];
    for i in 0..TRIANGLE_STEPS {
        let h = start * 0.5f64.powi(i as i32);
        let (Some(up), Some(down)) = (curve(h), curve(-h)) else {
            before.iter_mut().for_each(Vec::clear);
            continue;
        };
        let moved = moved(h, at, &up, &down);
        for (k, best) in best.iter_mut().enumerate() {
            let rounding = eps * (up[k].abs() + down[k].abs()) / h + moved + errors[k] / h;
            let mut row = vec![(up[k] - down[k]) / (2.0 * h)];
            for j in 0..before[k].len().min(MAX_ELIMINATED_POWERS) {
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
        derivative(&[0.0], f64::EPSILON, 0.0, &mut |h| Some(vec![g(h)]))[0]
    }

    #[test]
    fn smooth_curves_to_eleven_digits() {
        for (got, want) in [
            (at(|h| (1.0 + h).exp()), 1f64.exp()),
            (at(|h| (1e-3 + h).ln()), 1e3),
            (at(|h| (100.0 * (0.2 + h)).sin()), 100.0 * 20f64.cos()),
            (at(|_| 3.0), 0.0),
        ] {
            assert!(
                (got.value - want).abs() <= 1e-10 * want.abs().max(1.0),
                "{got:?} {want}"
            );
            assert!(got.error <= 1e-7 * want.abs().max(1.0), "{got:?} {want}");
        }
    }

    #[test]
    fn far_from_zero_no_digit_is_made_up() {
        for x in [1e8, -3e5, 1e3, 1e-3, 1e12] {
            let t = exact(0.7310585, x);
            let e = derivative(&[0.0], f64::EPSILON, f64::abs(x), &mut |h| {
                Some(vec![(x + h * t).sin()])
            })[0];
            let want = t * x.cos();
            assert!(
                (e.value - want).abs() <= 10.0 * e.error,
                "{x}: {e:?} {want}"
            );
            assert!(x.abs() > 1e9 || e.error < 1e-5, "{x}: {e:?} {want}");
            let e = derivative(&[0.0], f64::EPSILON, f64::abs(x), &mut |h| {
                Some(vec![(x + h * t).abs().ln()])
            })[0];
            assert!(
                (e.value - t / x).abs() <= 1e-6 * (t / x).abs() + 10.0 * e.error
                    && e.error < 1e-5 * (t / x).abs()
            );
        }
    }

    #[test]
    fn large_steps_do_not_look_past_what_is_near() {
        // A jump at distance 1 from a point at 1000.5, and a kink at distance 1e-3 from the point.
        let floor = derivative(&[0.0], f64::EPSILON, 1000.5, &mut |h| {
            Some(vec![(1000.5 + h).floor()])
        })[0];
        assert!((floor.value).abs() <= 1e-9, "{floor:?}");
        let kink = derivative(&[0.0], f64::EPSILON, 1.0, &mut |h| {
            Some(vec![f64::max(h + 1e-3, 3.0 * h)])
        })[0];
        assert!((kink.value - 1.0).abs() <= 1e-6, "{kink:?}");
    }

    #[test]
    fn kinks_are_seen() {
        assert!(kink(1, &mut |h| Some(vec![h.abs()])));
        assert!(!kink(1, &mut |h| Some(vec![(1.0 + h).exp()])));
    }

    #[test]
    fn a_jump_does_not_settle() {
        assert!(at(|h| if h > 0.0 { 1.0 } else { 0.0 }).error > 1.0);
        assert!(
            derivative(&[0.0], f64::EPSILON, 0.0, &mut |_| None)[0]
                .error
                .is_infinite()
        );
    }
}
