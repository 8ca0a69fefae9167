//! Convolutions as matrix products: the windows of the operand become columns, a tile at a time.
//!
//! ```text
//! y[g, b, o, p] = Σ_{f, k} x[g, b, f, i] w[g, o, f, k]        rows (f, k), columns (b, p)
//! ```
//! Rows are summed in blocks whose size depends on the shapes alone. With few outputs and few rows (a depthwise kernel)
//! the sums run over the rows one after the other instead, without a matrix.

use crate::element::Number;
use crate::gemm::{Gemm, gemm};
use crate::sliding::{Axis, Run, components, each_line};
use crate::view::View;

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

    fn by_tiles<T: Gemm>(&self, y: &mut [T], x: &[T], w: &[T]) {
        let rows = self.c.features * self.m;
        if rows == 0 {
            return y.fill(T::ZERO);
        }
        let high = rows.min(ROWS);
        let columns = self.c.batch * self.count;
        let wide = (TILE / high).max(32).min(columns);
        let mut tile = vec![T::ZERO; high * wide];
        let mut product = vec![T::ZERO; self.c.outputs * wide];
        for first in (0..columns).step_by(wide) {
            let width = wide.min(columns - first);
            let lines = self.lines(first, width);
            for top in (0..rows).step_by(high) {
                let height = high.min(rows - top);
                let (tile, product) = (&mut tile[..height * width], &mut product[..self.c.outputs * width]);
                self.fill(tile, x, &lines, top, width);
                let (a, b) = ([self.c.outputs, height], [height, width]);
                gemm(product, View::new(w, top, &a, &[rows as isize, 1]), View::dense(tile, &b));
                self.put(y, product, &lines, width, top > 0);
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
            out.push(Line { batch, outer: self.outer(p / span, |a| a.count), lo, hi });
            at += hi - lo;
        }
        out
    }

    fn fill<T: Number>(&self, tile: &mut [T], x: &[T], lines: &[Line], top: usize, width: usize) {
        let (inner, len) = (self.last().window, self.last().len);
        for (r, row) in tile.chunks_exact_mut(width).enumerate() {
            let (f, k) = ((top + r) / self.m, (top + r) % self.m);
            let (at, run) = (self.outer(k / inner, |a| a.window), self.runs[self.axes.len() - 1][k % inner]);
            let mut rest = row;
            for line in lines {
                let (to, more) = rest.split_at_mut(line.hi - line.lo);
                rest = more;
                match self.start(&at, &line.outer) {
                    Some(start) => {
                        let x = &x[(line.batch * self.c.features + f) * self.n + start..][..len];
                        read(to, x, run.within(line.lo, line.hi), line.lo);
                    }
                    None => to.fill(T::ZERO),
                }
            }
        }
    }

    /// The columns of a product to where they belong.
    fn put<T: Number>(&self, y: &mut [T], product: &[T], lines: &[Line], width: usize, add: bool) {
        for (o, row) in product.chunks_exact(width).enumerate() {
            let mut at = 0;
            for line in lines {
                let p = line.outer.iter().zip(self.axes).fold(0, |s, (p, a)| s * a.count + p) * self.last().count;
                let n = line.hi - line.lo;
                let to = &mut y[(line.batch * self.c.outputs + o) * self.count + p + line.lo..][..n];
                let from = &row[at..at + n];
                match add {
                    true => to.iter_mut().zip(from).for_each(|(y, &v)| *y = y.plus(v)),
                    false => to.copy_from_slice(from),
                }
                at += n;
            }
        }
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
