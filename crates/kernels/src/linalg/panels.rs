//! Lower triangles packed in panels of eight rows, and triangular solves with them in vectors of
//! right-hand sides.
//!
//! ```text
//! x[i] = (c[i] - l[i, 0] x[0] - .. - l[i, i-1] x[i-1]) (1 / l[i, i])        fused, in this order
//! ```
//! The kernel computes `-c[i] + l[i, 0] x[0] + ..`, times the negative reciprocal. It divides by
//! the negative if a reciprocal is not a normal number. Lanes are right-hand sides and every `x[i]`
//! is one chain, so bits depend neither on the instruction set nor on the number of right-hand
//! sides.

use crate::gemm::{PackLanes, transfer};
use crate::memory::{Fallible, with_capacity};
use crate::simd::Isa;
use crate::vector::{V, VectorFloat};
use std::ops::Range;

/// Number of rows of a panel.
pub(super) const PANEL_ROWS: usize = 8;
/// Number of right-hand sides that are solved together: three of the widest vectors.
pub(super) const PANEL_RHS: usize = 24;

/// Packed lower triangle, with rows padded to a multiple of [`PANEL_ROWS`]. Results of padding rows
/// are unspecified.
pub(super) struct Panels {
    n: usize,
    /// Panel after panel, `[p · PANEL_ROWS + r]` for step `p` and row `r`. The diagonal holds the
    /// factors to multiply by. Elements above the diagonal are not used.
    data: Vec<f64>,
    divide: bool,
}

/// Offset of a panel.
fn start(panel: usize) -> usize {
    PANEL_ROWS * PANEL_ROWS * panel * (panel + 1) / 2
}

impl Panels {
    /// Returns an empty triangle with room for `n` rows.
    pub(super) fn of(n: usize) -> Fallible<Panels> {
        Ok(Panels {
            n,
            data: with_capacity(start(n.div_ceil(PANEL_ROWS)))?,
            divide: false,
        })
    }

    /// Packs the triangle at `from`, with strides `row` and `col`. A unit triangle has ones on the
    /// diagonal.
    ///
    /// # Safety
    /// The whole n by n square is valid for reading.
    pub(super) unsafe fn new(
        n: usize,
        unit: bool,
        from: *const f64,
        row: isize,
        col: isize,
    ) -> Fallible<Panels> {
        let mut panels = Panels::of(n)?;
        // SAFETY: the caller guarantees that the square is readable (# Safety).
        let diagonal = |i: usize| unsafe {
            if unit {
                1.0
            } else {
                *from.offset(i as isize * (row + col))
            }
        };
        panels.divide = (0..n).any(|i| !diagonal(i).recip().is_normal());
        for first in (0..n).step_by(PANEL_ROWS) {
            // Padding rows are read as the last row, and their results are not used.
            let mut rows: [*const f64; PANEL_ROWS] = std::array::from_fn(|r| {
                from.wrapping_offset((first + r).min(n - 1) as isize * row)
            });
            for _ in 0..n.min(first + PANEL_ROWS) {
                // SAFETY: the caller guarantees that the square is readable (# Safety).
                panels
                    .data
                    .extend_from_slice(&rows.map(|row| unsafe { *row }));
                rows = rows.map(|row| row.wrapping_offset(col));
            }
            let end = start(first / PANEL_ROWS + 1);
            panels.data.resize(end, 0.0);
            for (r, d) in panels.data[end - PANEL_ROWS * PANEL_ROWS..]
                .iter_mut()
                .step_by(PANEL_ROWS + 1)
                .enumerate()
            {
                let x = if first + r < n {
                    diagonal(first + r)
                } else {
                    1.0
                };
                *d = if panels.divide { -x } else { -x.recip() };
            }
        }
        Ok(panels)
    }

    /// Appends steps of a panel.
    #[inline(always)]
    pub(super) fn extend(&mut self, steps: Range<usize>, at: impl Fn(usize, usize) -> f64) {
        for p in steps {
            self.data
                .extend_from_slice(&std::array::from_fn::<f64, PANEL_ROWS, _>(|r| at(r, p)));
        }
    }

    /// Appends the triangle at the end of a panel. Elements above the diagonal are not read.
    #[inline(always)]
    pub(super) fn finish(&mut self, at: impl Fn(usize, usize) -> f64) {
        self.extend(0..PANEL_ROWS, |r, p| {
            if r == p { -at(r, r).recip() } else { at(r, p) }
        });
    }

    /// Number of rows, including padding.
    pub(super) fn rows(&self) -> usize {
        self.n.next_multiple_of(PANEL_ROWS)
    }

    /// Solves in place of `x`: `width` right-hand sides, a multiple of 8, in rows that are `step`
    /// apart. The first `zero` rows are zeros; they are unchanged, except the last few.
    pub(super) fn solve(&self, isa: Isa, x: &mut [f64], step: usize, width: usize, zero: usize) {
        self.run(isa, x, 0, self.job(zero / PANEL_ROWS, step as isize, width));
    }

    /// Solves as [`solve`](Panels::solve), from the last row of `x` to the first.
    pub(super) fn solve_upwards(
        &self,
        isa: Isa,
        x: &mut [f64],
        step: usize,
        width: usize,
        zero: usize,
    ) {
        self.run(
            isa,
            x,
            (self.rows() - 1) * step,
            self.job(zero / PANEL_ROWS, -(step as isize), width),
        );
    }

    fn job(&self, first: usize, step: isize, width: usize) -> Job {
        Job {
            panels: first..self.rows() / PANEL_ROWS,
            zero: first * PANEL_ROWS,
            step,
            width,
            divide: self.divide,
            solve: true,
        }
    }

    /// Solves as [`solve`](Panels::solve) for the rows of one panel. Without its triangle, the rows
    /// are only reduced by the rows before.
    pub(super) fn solve_one(
        &self,
        isa: Isa,
        panel: usize,
        x: &mut [f64],
        step: usize,
        width: usize,
        solve: bool,
    ) {
        let job = Job {
            panels: panel..panel + 1,
            zero: 0,
            step: step as isize,
            width,
            divide: self.divide,
            solve,
        };
        self.run(isa, x, 0, job);
    }

    fn run(&self, isa: Isa, x: &mut [f64], first: usize, job: Job) {
        let (step, rows) = (job.step.unsigned_abs(), job.panels.end * PANEL_ROWS);
        assert!(
            job.width.is_multiple_of(8) && x.len() + step >= rows * step + job.width,
            "x has every row of the triangle"
        );
        let last = start(job.panels.end)
            - if job.solve {
                0
            } else {
                PANEL_ROWS * PANEL_ROWS
            };
        assert!(
            job.panels.is_empty() || self.data.len() >= last,
            "the panels are complete"
        );
        let x = x.as_mut_ptr().wrapping_add(first);
        // SAFETY: rows and panels are inside `x` and `data` by the assertion; `isa` is supported
        // by the CPU.
        unsafe {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => avx512(&job, &self.data, x),
                #[cfg(target_arch = "x86_64")]
                isa if isa.has_avx2() => avx2(&job, &self.data, x),
                _ => portable(&job, &self.data, x),
            }
        }
    }
}

/// Packs lanes as [`transfer`] does to a matrix with rows of `width` elements, in blocks of few
/// steps.
///
/// # Safety
/// As [`transfer`].
pub(super) unsafe fn by_rows(isa: Isa, dst: *mut f64, width: usize, x: PackLanes<f64>) {
    const TRANSFER_BLOCK_STEPS: usize = 32;
    for first in (0..x.depth).step_by(TRANSFER_BLOCK_STEPS) {
        let from = x.from.wrapping_offset(first as isize * x.step);
        let lines = PackLanes {
            from,
            depth: TRANSFER_BLOCK_STEPS.min(x.depth - first),
            ..x
        };
        // SAFETY: the caller guarantees the lanes and `dst` (# Safety).
        unsafe { transfer(isa, dst.wrapping_add(first * width), width, lines) };
    }
}

/// Rows of some panels of right-hand sides that are solved or, without the triangles, reduced.
struct Job {
    panels: Range<usize>,
    /// Number of leading rows that are zero and not read.
    zero: usize,
    /// Row stride of the right-hand sides.
    step: isize,
    width: usize,
    divide: bool,
    solve: bool,
}

/// Solves `PANEL_RHS` right-hand sides after another, in tiles of `R` rows.
///
/// # Safety
/// `x` is valid at every row up to the last of the panels, for the job's width.
#[inline(always)]
unsafe fn sweep<W: V<E = f64>, const R: usize>(job: &Job, data: &[f64], x: *mut f64) {
    let group = 3 * W::N;
    for left in (0..job.width).step_by(group) {
        let vectors = (job.width - left).min(group) / W::N;
        for panel in job.panels.clone() {
            let at = data[start(panel)..].as_ptr();
            for r in (0..PANEL_ROWS).step_by(R) {
                let depth = panel * PANEL_ROWS - job.zero + if job.solve { r } else { 0 };
                // SAFETY: the caller guarantees the rows of `x` (# Safety); panels have
                // `PANEL_ROWS` rows at each of their steps.
                unsafe {
                    let rows = x
                        .offset((panel * PANEL_ROWS + r) as isize * job.step)
                        .add(left);
                    let known = x.offset(job.zero as isize * job.step).add(left);
                    let t = Tile {
                        panel: at.add(job.zero * PANEL_ROWS + r),
                        known,
                        depth,
                        rows,
                    };
                    match vectors {
                        1 => tile::<W, R, 1>(job, t),
                        2 => tile::<W, R, 2>(job, t),
                        _ => tile::<W, R, 3>(job, t),
                    }
                }
            }
        }
    }
}

/// Rows that are computed together.
struct Tile {
    panel: *const f64,
    /// First solved row.
    known: *const f64,
    /// Number of solved rows.
    depth: usize,
    rows: *mut f64,
}

/// Computes `R` rows of `C` vectors.
///
/// # Safety
/// The rows and the panel of `t` exist.
#[inline(always)]
unsafe fn tile<W: V<E = f64>, const R: usize, const C: usize>(job: &Job, t: Tile) {
    // SAFETY: the caller guarantees rows and panel (# Safety).
    unsafe {
        let mut acc = [[W::splat(0.0); C]; R];
        for (r, acc) in acc.iter_mut().enumerate() {
            for (v, acc) in acc.iter_mut().enumerate() {
                *acc = W::load(t.rows.offset(r as isize * job.step).add(v * W::N)).neg();
            }
        }
        let (mut known, mut l) = (t.known, t.panel);
        for _ in 0..t.depth {
            let mut y = [W::splat(0.0); C];
            for (v, y) in y.iter_mut().enumerate() {
                *y = W::load(known.add(v * W::N));
            }
            for (r, acc) in acc.iter_mut().enumerate() {
                let l = W::splat(*l.add(r));
                for (acc, &y) in acc.iter_mut().zip(&y) {
                    *acc = l.fma(y, *acc);
                }
            }
            known = known.offset(job.step);
            l = l.add(PANEL_ROWS);
        }
        if !job.solve {
            for (r, acc) in acc.iter().enumerate() {
                let row = t.rows.offset(r as isize * job.step);
                acc.iter()
                    .enumerate()
                    .for_each(|(v, acc)| acc.neg().store(row.add(v * W::N)));
            }
            return;
        }
        // Unrolled by a macro: rows that are indexed by a variable would be kept in memory.
        macro_rules! find {
            ($($r:literal)*) => {$(
                if $r < R {
                    let d = W::splat(*l.add($r * PANEL_ROWS + $r));
                    let row = t.rows.offset($r * job.step);
                    for v in 0..C {
                        let x = acc[$r % R][v];
                        let x = if job.divide { x.div(d) } else { x.mul(d) };
                        x.store(row.add(v * W::N));
                        acc[$r % R][v] = x;
                    }
                    for below in $r + 1..R {
                        let l = W::splat(*l.add($r * PANEL_ROWS + below));
                        for v in 0..C {
                            acc[below][v] = l.fma(acc[$r % R][v], acc[below][v]);
                        }
                    }
                }
            )*};
        }
        find!(0 1 2 3 4 5 6 7);
    }
}

macro_rules! levels {
    ($($(#[$attribute:meta])* $name:ident: $v:ty, $rows:literal;)*) => {$(
        /// # Safety
        /// As [`sweep`]; the CPU supports the instruction set.
        $(#[$attribute])*
        unsafe fn $name(job: &Job, data: &[f64], x: *mut f64) {
            // SAFETY: the caller guarantees the rows of `x` (# Safety).
            unsafe { sweep::<$v, $rows>(job, data, x) }
        }
    )*};
}

levels! {
    portable: <f64 as VectorFloat>::Portable, 4;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    avx2: <f64 as VectorFloat>::Avx2, 4;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
    avx512: <f64 as VectorFloat>::Avx512, 8;
}
