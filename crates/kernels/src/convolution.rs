//! Convolutions as matrix products: the windows of the operand become columns, a tile at a time.
//!
//! ```text
//! y[g, b, o, p] = Σ_{f, k} x[g, b, f, i] w[g, o, f, k]        rows (f, k), columns (b, p)
//! ```
//! Rows are summed in blocks whose size depends on the shapes alone. With few outputs and few rows (a depthwise kernel)
//! the sums run over the rows one after the other instead, without a matrix.

use crate::element::Number;
use crate::gemm::{Gemm, gemm};
use crate::parallel::{self, Shared};
use crate::sliding::{Axis, Run, components, each_line};
use crate::view::View;
use std::ops::Range;

/// Extents of the axes that are not spatial.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// Groups.
    pub groups: usize,
    /// Elements of the batch.
    pub batch: usize,
    /// Features that are summed over.
    pub features: usize,
    /// Features of the result.
    pub outputs: usize,
}

/// Rows of a tile; more are summed in blocks.
const ROWS: usize = 2048;
/// Elements of a tile: it stays in the second cache.
const TILE: usize = 1 << 16;
/// With fewer outputs and no more rows than these a matrix does not pay.
const FEW: usize = 4;
const SHORT: usize = 256;
/// Pieces that the columns are cut into for threads.
const PIECES: usize = 16;

/// `y[g, b, o, p]` of `x[g, b, f, ..]` and `w[g, o, f, ..]`, all row-major.
///
/// # Panics
/// If the slices do not have the elements that the extents say.
pub fn convolve<T: Gemm>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (n, m, count) = (volume(|a| a.len), volume(|a| a.window), volume(|a| a.count));
    assert_eq!(x.len(), c.groups * c.batch * c.features * n, "the operand of {c:?} {axes:?}");
    assert_eq!(w.len(), c.groups * c.outputs * c.features * m, "the kernel of {c:?} {axes:?}");
    assert_eq!(y.len(), c.groups * c.batch * c.outputs * count, "the result of {c:?} {axes:?}");
    if y.is_empty() {
        return;
    }
    if axes.iter().all(Axis::is_still) {
        // One element each: a product of matrices as they are.
        let (a, strides) = ([c.groups, c.batch, c.outputs, c.features], [c.outputs * c.features, 0, c.features, 1]);
        let strides = strides.map(|s| s as isize);
        let b = [c.groups, c.batch, c.features, n];
        let a = if w.is_empty() { View::dense(w, &a) } else { View::new(w, 0, &a, &strides) };
        return gemm(y, a, View::dense(x, &b));
    }
    let plan =
        Plan { c, axes, runs: axes.iter().map(|a| (0..a.window).map(|k| a.run(k)).collect()).collect(), n, m, count };
    let (per_x, per_w, per_y) = (c.batch * c.features * n, c.outputs * c.features * m, c.batch * c.outputs * count);
    for (g, y) in y.chunks_exact_mut(per_y).enumerate() {
        let (x, w) = (&x[g * per_x..][..per_x], &w[g * per_w..][..per_w]);
        if c.outputs < FEW && c.features * m <= SHORT {
            plan.directly(y, x, w);
        } else {
            plan.by_tiles(y, x, w);
        }
    }
}

struct Plan<'a> {
    c: Channels,
    axes: &'a [Axis],
    /// For each axis and element of the window.
    runs: Vec<Vec<Run>>,
    /// Elements of the operand, of the kernel and of the result, per feature.
    n: usize,
    m: usize,
    count: usize,
}

/// A part of a line of the result: windows `lo..hi` along the last axis.
struct Line {
    batch: usize,
    /// Windows along the other axes.
    outer: Vec<usize>,
    lo: usize,
    hi: usize,
    /// Its first column in the tile.
    at: usize,
}

impl Plan<'_> {
    fn last(&self) -> &Axis {
        self.axes.last().expect("there is an axis")
    }

    /// The components of a row-major index over all axes but the last.
    fn outer(&self, index: usize, extent: fn(&Axis) -> usize) -> Vec<usize> {
        components(index, self.axes[..self.axes.len() - 1].iter().map(extent))
    }

    /// Where the line of the operand begins that element `k` of the windows at `p` reads, axes but the last.
    fn start(&self, k: &[usize], p: &[usize]) -> Option<usize> {
        let line = (0..p.len()).try_fold(0, |s, a| Some(s * self.axes[a].len + self.runs[a][k[a]].element(p[a])?));
        line.map(|l| l * self.last().len)
    }

    fn directly<T: Number>(&self, y: &mut [T], x: &[T], w: &[T]) {
        y.fill(T::ZERO);
        let Channels { batch, features, outputs, .. } = self.c;
        each_line(self.axes, |k, p, start, run| {
            for b in 0..batch {
                for f in 0..features {
                    let x = &x[(b * features + f) * self.n + start..];
                    for o in 0..outputs {
                        let y = &mut y[(b * outputs + o) * self.count + p..];
                        accumulate(y, x, w[(o * features + f) * self.m + k], run);
                    }
                }
            }
        });
    }

    /// Pieces of the columns, on several threads.
    fn by_tiles<T: Gemm>(&self, y: &mut [T], x: &[T], w: &[T]) {
        let rows = self.c.features * self.m;
        if rows == 0 {
            return y.fill(T::ZERO);
        }
        let columns = self.c.batch * self.count;
        // Whole images where they fit, so that a product is written where it belongs.
        let (high, image) = (rows.min(ROWS), self.count);
        let wide = if image >= 16 && image * high <= 4 * TILE { image } else { (TILE / high).max(32).min(columns) };
        let tiles = columns.div_ceil(wide);
        let each = tiles.div_ceil(PIECES);
        let nanos = (self.c.outputs * rows * columns / 25) as u64;
        let y = Shared(y.as_mut_ptr());
        parallel::parallel(tiles.div_ceil(each), nanos, |piece| {
            let mut tile = vec![T::ZERO; high * wide];
            let mut product = vec![T::ZERO; self.c.outputs * wide];
            for first in (piece * each..tiles.min((piece + 1) * each)).map(|t| t * wide) {
                let width = wide.min(columns - first);
                let product = &mut product[..self.c.outputs * width];
                self.product(product, &mut tile, x, w, first);
                for (at, from) in self.lines(first, width).into_iter().flat_map(|line| self.places(line, width)) {
                    let n = from.len();
                    // SAFETY: a place of the result of its own: each column is in one tile, each tile in one piece.
                    unsafe { y.get().add(at).copy_from_nonoverlapping(product[from].as_ptr(), n) };
                }
            }
        });
    }

    /// The product of the kernel with the columns from `first` on, as many as there is room for.
    fn product<T: Gemm>(&self, product: &mut [T], tile: &mut [T], x: &[T], w: &[T], first: usize) {
        let (rows, width) = (self.c.features * self.m, product.len() / self.c.outputs);
        let lines = self.lines(first, width);
        // Long windows of which there are few are read window by window: the tile is transposed.
        let turned = self.last().window > self.last().count;
        let mut more = vec![T::ZERO; if rows > ROWS { product.len() } else { 0 }];
        for top in (0..rows).step_by(ROWS) {
            let height = ROWS.min(rows - top);
            let tile = &mut tile[..height * width];
            let strides = match turned {
                true => {
                    self.fill_windows(tile, x, &lines, top, height);
                    [1, height as isize]
                }
                false => {
                    self.fill(tile, x, &lines, top, width);
                    [width as isize, 1]
                }
            };
            let (of_kernel, of_tile, by) = ([self.c.outputs, height], [height, width], [rows as isize, 1]);
            let (kernel, tile) = (View::new(w, top, &of_kernel, &by), View::new(tile, 0, &of_tile, &strides));
            if top == 0 {
                gemm(product, kernel, tile);
            } else {
                gemm(&mut more, kernel, tile);
                product.iter_mut().zip(&more).for_each(|(y, &v)| *y = y.plus(v));
            }
        }
    }

    /// The columns `first..first + width` as parts of lines.
    fn lines(&self, first: usize, width: usize) -> Vec<Line> {
        let span = self.last().count;
        let (mut out, mut at) = (Vec::new(), first);
        while at < first + width {
            let (batch, p) = (at / self.count, at % self.count);
            let lo = p % span;
            let hi = span.min(lo + first + width - at);
            out.push(Line { batch, outer: self.outer(p / span, |a| a.count), lo, hi, at: at - first });
            at += hi - lo;
        }
        out
    }

    /// Where every line begins that element `k` of the windows reads, axes but the last, of the first feature.
    fn starts(&self, k: &[usize], lines: &[Line]) -> Vec<Option<usize>> {
        let of = |l: &Line| Some(l.batch * self.c.features * self.n + self.start(k, &l.outer)?);
        lines.iter().map(of).collect()
    }

    /// Rows from `top` on, each along the lines.
    fn fill<T: Number>(&self, tile: &mut [T], x: &[T], lines: &[Line], top: usize, width: usize) {
        let (inner, len) = (self.last().window, self.last().len);
        let height = tile.len() / width;
        for outer in 0..self.m / inner {
            let starts = self.starts(&self.outer(outer, |a| a.window), lines);
            for j in 0..inner {
                let run = self.runs[self.axes.len() - 1][j];
                let parts: Vec<Run> = lines.iter().map(|l| run.within(l.lo, l.hi)).collect();
                let k = outer * inner + j;
                for f in top.saturating_sub(k).div_ceil(self.m)..self.c.features {
                    let r = f * self.m + k - top;
                    if r >= height {
                        break;
                    }
                    let row = &mut tile[r * width..][..width];
                    for ((line, start), &part) in lines.iter().zip(&starts).zip(&parts) {
                        let to = &mut row[line.at..line.at + line.hi - line.lo];
                        match start {
                            Some(start) => read(to, &x[start + f * self.n..][..len], part, line.lo),
                            None => to.fill(T::ZERO),
                        }
                    }
                }
            }
        }
    }

    /// The same elements, `tile[column, row]`: each column along its windows.
    fn fill_windows<T: Number>(&self, tile: &mut [T], x: &[T], lines: &[Line], top: usize, height: usize) {
        let (inner, len) = (self.last().window, self.last().len);
        let turned = self.last().turned();
        let along: Vec<Run> = (0..self.last().count).map(|p| turned.run(p)).collect();
        // Parts of rows: of a feature, and of the axes of the window but the last.
        for part in top / inner..(top + height).div_ceil(inner) {
            let (f, outer) = (part / (self.m / inner), part % (self.m / inner));
            let starts = self.starts(&self.outer(outer, |a| a.window), lines);
            let (lo, hi) = ((part * inner).max(top), ((part + 1) * inner).min(top + height));
            for (line, start) in lines.iter().zip(&starts) {
                for p in line.lo..line.hi {
                    let to = &mut tile[(line.at + p - line.lo) * height + lo - top..][..hi - lo];
                    let (lo, hi) = (lo - part * inner, hi - part * inner);
                    match start {
                        Some(start) => read(to, &x[start + f * self.n..][..len], along[p].within(lo, hi), lo),
                        None => to.fill(T::ZERO),
                    }
                }
            }
        }
    }

    /// The parts of a line of a product of `width` columns: where they belong in the result, and where they are.
    fn places(&self, line: Line, width: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let p = line.outer.iter().zip(self.axes).fold(0, |s, (p, a)| s * a.count + p) * self.last().count;
        let (outputs, count) = (self.c.outputs, self.count);
        (0..outputs).map(move |o| {
            let from = o * width + line.at;
            ((line.batch * outputs + o) * count + p + line.lo, from..from + line.hi - line.lo)
        })
    }
}

/// The elements of a run, zeros where there are none; `to` begins at window `lo`.
fn read<T: Number>(to: &mut [T], x: &[T], run: Run, lo: usize) {
    let from = run.p.wrapping_sub(lo);
    if run.count == 0 {
        return to.fill(T::ZERO);
    }
    if run.p_step == 1 {
        to[..from].fill(T::ZERO);
        to[from + run.count..].fill(T::ZERO);
        let to = &mut to[from..from + run.count];
        if run.i_step == 1 {
            return to.copy_from_slice(&x[run.i..run.i + run.count]);
        }
        let mut i = run.i;
        for y in to {
            *y = x[i];
            i = i.wrapping_add_signed(run.i_step);
        }
        return;
    }
    to.fill(T::ZERO);
    let mut i = run.i;
    for y in to[from..].iter_mut().step_by(run.p_step).take(run.count) {
        *y = x[i];
        i = i.wrapping_add_signed(run.i_step);
    }
}

/// `y[p] += w x[i]` along a run.
fn accumulate<T: Number>(y: &mut [T], x: &[T], w: T, run: Run) {
    if run.count > 0 && run.p_step == 1 && run.i_step == 1 {
        let x = &x[run.i..run.i + run.count];
        return y[run.p..run.p + run.count].iter_mut().zip(x).for_each(|(y, &x)| *y = y.plus(w.times(x)));
    }
    let (mut p, mut i) = (run.p, run.i);
    for _ in 0..run.count {
        y[p] = y[p].plus(w.times(x[i]));
        p += run.p_step;
        i = i.wrapping_add_signed(run.i_step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// By the equation of the windows, in whole numbers, whose sums do not depend on the order.
    fn naive(x: &[f64], w: &[f64], c: Channels, axes: &[Axis]) -> Vec<f64> {
        let extents = |f: fn(&Axis) -> usize| axes.iter().map(f).collect::<Vec<_>>();
        let (n, m, count) = (extents(|a| a.len), extents(|a| a.window), extents(|a| a.count));
        let volume = |v: &[usize]| v.iter().product::<usize>();
        let mut y = Vec::new();
        for (g, b, o) in (0..c.groups * c.batch * c.outputs)
            .map(|e| (e / c.outputs / c.batch, e / c.outputs % c.batch, e % c.outputs))
        {
            for p in (0..volume(&count)).map(|p| components(p, count.iter().copied())) {
                let mut sum = 0.0;
                for (j, k) in (0..volume(&m)).map(|k| (k, components(k, m.iter().copied()))) {
                    let element = |s: usize, a: usize| {
                        let at = axes[a].stride * p[a] as i64 + axes[a].dilation * k[a] as i64 - axes[a].low;
                        let i = usize::try_from(at / axes[a].x_dilation).ok().filter(|&i| i < n[a])?;
                        (at % axes[a].x_dilation == 0 && at >= 0).then_some(s * n[a] + i)
                    };
                    let Some(i) = (0..axes.len()).try_fold(0, element) else { continue };
                    for f in 0..c.features {
                        let x = x[((g * c.batch + b) * c.features + f) * volume(&n) + i];
                        sum += x * w[((g * c.outputs + o) * c.features + f) * volume(&m) + j];
                    }
                }
                y.push(sum);
            }
        }
        y
    }

    #[test]
    fn every_path_is_the_sum_over_windows() {
        let mut random = Random(5);
        for case in 0..60 {
            let small = |random: &mut Random, most| 1 + random.below(most);
            let c = Channels {
                groups: small(&mut random, 2),
                batch: small(&mut random, 4),
                features: if case % 10 == 0 { 260 } else { small(&mut random, 6) },
                outputs: small(&mut random, 9),
            };
            let axes: Vec<Axis> = (0..small(&mut random, 2))
                .map(|_| Axis {
                    len: small(&mut random, 12),
                    window: small(&mut random, if case % 3 == 0 { 11 } else { 4 }),
                    count: small(&mut random, if case % 3 == 0 { 4 } else { 12 }),
                    stride: [1, 1, 2, -1][random.below(4)],
                    dilation: [1, 1, 2, -1][random.below(4)],
                    x_dilation: [1, 1, 1, 2][random.below(4)],
                    low: random.below(7) as i64 - 3,
                })
                .collect();
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let mut draw = |n: usize| (0..n).map(|_| random.below(9) as f64 - 4.0).collect::<Vec<_>>();
            let x = draw(c.groups * c.batch * c.features * volume(|a| a.len));
            let w = draw(c.groups * c.outputs * c.features * volume(|a| a.window));
            let expected = naive(&x, &w, c, &axes);
            for threads in [1, 3] {
                let mut y = vec![7.0; expected.len()];
                parallel::with_threads(threads, || convolve(&mut y, &x, &w, c, &axes));
                assert_eq!(y, expected, "{c:?} {axes:?}");
            }
        }
    }
}
