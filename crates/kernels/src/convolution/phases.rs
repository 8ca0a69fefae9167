//! Convolutions of a dilated operand (zeros between its elements) as convolutions of the elements
//! alone.
//!
//! ```text
//! p = r + q t:   y[r + q t] = Σ_{f, k of r} x[f, i] w[f, k]        q = d / gcd(stride, d),  d: dilation of the operand
//! ```
//! The windows at every `q`-th place along an axis have elements at the same `k`, and zeros at all
//! others. These windows are one phase: a convolution by those `k`. Its result is written to every
//! `q`-th place. Blocks of rows end where blocks of all rows end, so sums have the order of
//! [`tiles`] without the zeros.

use super::tiles::{self, KernelRows};
use super::types::{Channels, Planes};
use crate::gemm::{Gemm, GemmFloat, K_BLOCK_STEPS};
use crate::memory::{Fallible, collected, filled, with_capacity};
use crate::parallel::try_chunks;
use crate::simd::Isa;
use crate::sliding::{Axis, components};

/// Maximum number of phases. Each takes a pass over the operand.
const MAX_PHASES: usize = 64;

/// One phase along an axis.
#[derive(Clone, Debug)]
struct Phase {
    /// First window, and the step between windows.
    first: usize,
    step: usize,
    /// First element of the kernel, and the step between elements.
    k: usize,
    k_step: usize,
    /// Number of elements of the whole kernel along the axis.
    window: usize,
    axis: Axis,
}

impl Phase {
    /// Returns the phases of an axis. `None` if there are too many, or a number does not fit.
    fn all(axis: &Axis) -> Fallible<Option<Vec<Phase>>> {
        let [stride, dilation, between, low] =
            [axis.stride, axis.dilation, axis.x_dilation, axis.low].map(i128::from);
        let step = axis.steps().0;
        let k_step = Axis {
            stride: axis.dilation,
            ..*axis
        }
        .steps()
        .0;
        let phase = |first: usize| {
            let at = |k: usize| stride * first as i128 + dilation * k as i128 - low;
            let k = (0..k_step).find(|&k| at(k) % between == 0);
            let window = k.map_or(0, |k| axis.window.saturating_sub(k).div_ceil(k_step));
            let k = k.unwrap_or(0);
            let number = |x: i128| i64::try_from(x).ok();
            let of_phase = Axis {
                len: axis.len,
                window,
                count: (axis.count - first).div_ceil(step),
                stride: number(stride * step as i128 / between)?,
                dilation: number(dilation * k_step as i128 / between)?,
                x_dilation: 1,
                low: if window > 0 {
                    number(-at(k) / between)?
                } else {
                    0
                },
            };
            Some(Phase {
                first,
                step,
                k,
                k_step,
                window: axis.window,
                axis: of_phase,
            })
        };
        let mut all = with_capacity(step.min(MAX_PHASES))?;
        for first in 0..step.min(axis.count) {
            match phase(first) {
                Some(phase) if first < MAX_PHASES => all.push(phase),
                _ => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// Index in the kernel of element `k` of the phase.
    fn element(&self, k: usize) -> usize {
        self.k + k * self.k_step
    }
}

/// Computes `y[g, b, o, p]` as [`tiles::products`], if the operand is dilated and phases keep the
/// order of sums. Returns whether it did.
pub(super) fn products<T: GemmFloat + Gemm>(
    isa: Isa,
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible<bool> {
    let window = axes.iter().map(|a| a.window).product::<usize>();
    // With at most half a block of rows per kernel, every block has rows of each phase.
    if axes.iter().all(|a| a.steps().0 == 1) || 2 * window > K_BLOCK_STEPS {
        return Ok(false);
    }
    let mut along = with_capacity(axes.len())?;
    for axis in axes {
        match Phase::all(axis)? {
            Some(phases) => along.push(phases),
            None => return Ok(false),
        }
    }
    let count = along.iter().map(Vec::len).product::<usize>();
    if count > MAX_PHASES {
        return Ok(false);
    }
    let mut all = with_capacity(count)?;
    for at in 0..count {
        let at = components(at, along.iter().map(Vec::len));
        let phases: Vec<&Phase> = collected(along.iter().zip(at).map(|(phases, at)| &phases[at]))?;
        let axes = collected(phases.iter().map(|phase| phase.axis))?;
        let rows = rows_of(&phases, &axes, window)?;
        let few =
            c.batch * axes.iter().map(|a| a.count).product::<usize>() < tiles::MIN_PACKED_WINDOWS;
        if few || !(rows.kept.is_empty() || rows.fill_blocks(c.features)) {
            return Ok(false);
        }
        all.push((phases, axes, rows));
    }
    let full: usize = axes.iter().map(|a| a.count).product();
    for (phases, of_phase, rows) in all {
        let many: usize = of_phase.iter().map(|a| a.count).product();
        let mut made = filled(T::ZERO, y.len() / full * many)?;
        if !rows.kept.is_empty() {
            let kernel = rows.of(w)?;
            tiles::products(isa, &mut made, x, &kernel, c, &of_phase, &rows)?;
        }
        let extents = collected(axes.iter().map(|a| a.count))?;
        interleave(y, &made, [full, many], &extents, &phases)?;
    }
    Ok(true)
}

/// Elements of the kernel that windows of a phase have.
fn rows_of(phases: &[&Phase], axes: &[Axis], window: usize) -> Fallible<KernelRows> {
    let many = axes.iter().map(|a| a.window).product();
    let mut kept = with_capacity(many)?;
    for k in 0..many {
        let k = components(k, axes.iter().map(|a| a.window));
        let mut at = 0;
        for (phase, k) in phases.iter().zip(k) {
            at = at * phase.window + phase.element(k);
        }
        kept.push(at);
    }
    Ok(KernelRows { window, kept })
}

/// Copies the planes of a phase to their places in the planes of the result.
fn interleave<T: GemmFloat>(
    y: &mut [T],
    made: &[T],
    [full, many]: [usize; 2],
    extents: &[usize],
    phases: &[&Phase],
) -> Fallible {
    let (last, outer) = phases.split_last().expect("there is an axis");
    let lines = outer
        .iter()
        .map(|phase| phase.axis.count)
        .product::<usize>();
    let mut starts = with_capacity(lines)?;
    for line in 0..lines {
        let at = components(line, outer.iter().map(|phase| phase.axis.count));
        let start = outer
            .iter()
            .zip(at)
            .zip(extents)
            .fold(0, |start, ((phase, t), extent)| {
                start * extent + phase.first + phase.step * t
            });
        starts.push(start * extents[outer.len()] + last.first);
    }
    try_chunks(y, full, made.len() as u64, |plane, y| {
        let made = made[plane * many..][..many].chunks_exact(last.axis.count);
        for (start, made) in starts.iter().zip(made) {
            y[*start..]
                .iter_mut()
                .step_by(last.step)
                .zip(made)
                .for_each(|(y, &x)| *y = x);
        }
        Ok(())
    })
}
