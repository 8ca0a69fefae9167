//! Excludes the padding of an operand from a convolution, for every kernel.
//!
//! [`tiles`](super::tiles) multiplies the zeros around and between the elements of an operand,
//! which adds nothing while the kernel is finite. If it is not, elements whose windows have such a
//! product are recomputed here by the same chain without it. All others keep their bits.

use super::types::{Channels, Planes};
use crate::element::Number;
use crate::gemm::{K_BLOCK_STEPS, K_RUN_STEPS};
use crate::memory::{Fallible, collected, with_capacity};
use crate::parallel;
use crate::simd::widest;
use crate::sliding::{Axis, components};

/// The sum of products in the order of [`gemm`](mod@crate::gemm). Blocks of steps are chains of
/// fused multiply-adds. Runs add blocks in ascending order, and runs are added in pairs. A product
/// that is `None` is skipped.
pub(super) fn ordered_sum<T: Number>(terms: &[Option<(T, T)>], fused: fn(T, T, T) -> T) -> T {
    if terms.len() > K_RUN_STEPS {
        let half = K_RUN_STEPS * (terms.len().div_ceil(K_RUN_STEPS)).next_power_of_two() / 2;
        let (left, right) = terms.split_at(half);
        return ordered_sum(left, fused).plus(ordered_sum(right, fused));
    }
    let chain = |terms: &[Option<(T, T)>]| {
        terms
            .iter()
            .flatten()
            .fold(T::ZERO, |sum, &(x, w)| fused(x, w, sum))
    };
    terms
        .chunks(K_BLOCK_STEPS)
        .map(chain)
        .reduce(T::plus)
        .unwrap_or(T::ZERO)
}

/// Whether all elements are finite.
fn all_finite<T: Number>(w: &[T]) -> bool {
    // No branch inside a block, so that it is vectorized.
    const BLOCK: usize = 256;
    widest(
        #[inline(always)]
        || {
            w.chunks(BLOCK).all(|w| {
                w.iter()
                    .fold(true, |all, w| all & (w.times(T::ZERO) == T::ZERO))
            })
        },
    )
}

/// Recomputes the elements of `y` whose windows have a product of a non-finite weight and padding.
/// `sum` receives the factors of the rows `(f, k)` in order, and `None` for padding.
pub(super) fn exclude_padding<T: Number>(
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
    sum: impl Fn(&[Option<(T, T)>]) -> T + Sync,
) -> Fallible {
    let finite = |w: &T| w.times(T::ZERO) == T::ZERO;
    if all_finite(w) {
        return Ok(());
    }
    let mut runs = with_capacity(axes.len())?;
    for a in axes {
        runs.push(collected((0..a.window).map(|k| a.run(k)))?);
    }
    if runs
        .iter()
        .zip(axes)
        .all(|(runs, a)| runs.iter().all(|r| r.count == a.count))
    {
        return Ok(());
    }
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (m, count) = (volume(|a| a.window), volume(|a| a.count));
    // The element of the operand at place `k` of the window `p`.
    let element = |k: &[usize], p: &[usize]| {
        (0..axes.len()).try_fold(0, |s, a| {
            Some(s * axes[a].len + runs[a][k[a]].element(p[a])?)
        })
    };
    let places = collected((0..m).map(|k| components(k, axes.iter().map(|a| a.window))))?;
    let rows = c.features * m;
    parallel::try_chunks(y, count, (count * rows) as u64, |plane, y| {
        let ((g, b), o) = (c.plane(plane / c.outputs), plane % c.outputs);
        let w = &w[(g * c.outputs + o) * rows..][..rows];
        let mut odd = collected((0..rows).filter(|&r| !finite(&w[r])).map(|r| r % m))?;
        odd.sort_unstable();
        odd.dedup();
        if odd.is_empty() {
            return Ok(());
        }
        for (p, y) in y.iter_mut().enumerate() {
            let p = components(p, axes.iter().map(|a| a.count));
            if odd.iter().all(|&k| element(&places[k], &p).is_some()) {
                continue;
            }
            let inside = collected(places.iter().map(|k| element(k, &p)))?;
            let term = |r: usize| inside[r % m].map(|i| (x.plane(g, b, r / m)[i], w[r]));
            *y = sum(&collected((0..rows).map(term))?);
        }
        Ok(())
    })
}
