//! Kernels on zero-padded rows: whole groups of eight elements are read, without a scalar remainder
//! loop.
//!
//! ```text
//! dots        Σ_j r_q[j] x[j]                 for some rows r_q
//! combine     y - Σ_q by_q r_q
//! symmetric   A x, of a triangle of A
//! sweep       [x; y] -> [c x + s y; c y - s x]      for consecutive pairs of rows, each starting at the second row of the last
//! ```
//! A group is one or two vectors, and its sum is computed by halves, so bits depend on extents
//! only. All functions are inlined into a [`Task`], which is compiled for each instruction set.

use crate::simd::Isa;
use crate::vector::{V, VectorFloat};
use std::ops::Range;

/// Number of elements of a group.
pub(super) const LANES: usize = 8;

/// Row stride for `n` elements followed by zeros. There is a whole group from every element on. An
/// odd number of groups keeps rows in different cache sets.
pub(super) fn padded(n: usize) -> usize {
    LANES * ((n + LANES - 1).div_ceil(LANES) | 1)
}

/// Work that is compiled for every instruction set. A group consists of `K` vectors.
pub(super) trait Task {
    /// Result of the task.
    type Output;
    /// Runs the task; implementations must be `#[inline(always)]`.
    fn run<W: V<E = f64>, const K: usize>(self) -> Self::Output;
}

macro_rules! levels {
    ($($(#[$attribute:meta])* $name:ident: $v:ty, $count:literal;)*) => {$(
        /// # Safety
        /// The CPU supports the instruction set.
        $(#[$attribute])*
        unsafe fn $name<T: Task>(task: T) -> T::Output {
            task.run::<$v, $count>()
        }
    )*};
}

levels! {
    portable: <f64 as VectorFloat>::Portable, 1;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    avx2: <f64 as VectorFloat>::Avx2, 2;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
    avx512: <f64 as VectorFloat>::Avx512, 1;
}

/// Runs a task with the vectors of an instruction set.
pub(super) fn at<T: Task>(isa: Isa, task: T) -> T::Output {
    // SAFETY: values of `Isa` come from `Isa::chosen` or `available`, so the CPU supports them.
    unsafe {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512(task),
            #[cfg(target_arch = "x86_64")]
            isa if isa.has_avx2() => avx2(task),
            _ => portable(task),
        }
    }
}

/// A group of eight elements.
#[derive(Clone, Copy)]
pub(super) struct Group<W, const K: usize>(pub [W; K]);

impl<W: V<E = f64>, const K: usize> Group<W, K> {
    #[inline(always)]
    pub(super) fn splat(x: f64) -> Self {
        Group([W::splat(x); K])
    }

    // Loops, because closures that array methods call are not always inlined.
    #[inline(always)]
    pub(super) fn load(x: &[f64], at: usize) -> Self {
        let x = &x[at..at + LANES];
        let mut out = Self::splat(0.0);
        for k in 0..K {
            // SAFETY: `x` has `LANES` elements, which `K` vectors cover exactly.
            out.0[k] = unsafe { W::load(x.as_ptr().add(k * W::N)) };
        }
        out
    }

    #[inline(always)]
    pub(super) fn store(self, x: &mut [f64], at: usize) {
        let x = &mut x[at..at + LANES];
        for k in 0..K {
            // SAFETY: `x` has `LANES` elements, which `K` vectors cover exactly.
            unsafe { self.0[k].store(x.as_mut_ptr().add(k * W::N)) };
        }
    }

    #[inline(always)]
    pub(super) fn mul(mut self, b: Self) -> Self {
        for k in 0..K {
            self.0[k] = self.0[k].mul(b.0[k]);
        }
        self
    }

    #[inline(always)]
    pub(super) fn neg(mut self) -> Self {
        for k in 0..K {
            self.0[k] = self.0[k].neg();
        }
        self
    }

    /// `self · b + c`.
    #[inline(always)]
    pub(super) fn fma(mut self, b: Self, c: Self) -> Self {
        for k in 0..K {
            self.0[k] = self.0[k].fma(b.0[k], c.0[k]);
        }
        self
    }

    /// The sum of all elements, by halves.
    #[inline(always)]
    pub(super) fn total(self) -> f64 {
        let mut x = [0.0; LANES];
        self.store(&mut x, 0);
        ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
    }
}

/// Dot products of some rows and `x`, over their first `n` elements and the zeros after them.
#[inline(always)]
pub(super) fn dots<W: V<E = f64>, const K: usize, const R: usize>(
    rows: [&[f64]; R],
    x: &[f64],
    n: usize,
) -> [f64; R] {
    let mut sums = [Group::<W, K>::splat(0.0); R];
    let end = n.next_multiple_of(LANES);
    let mut at = 0;
    while at < end {
        let x = Group::load(x, at);
        for q in 0..R {
            sums[q] = Group::load(rows[q], at).fma(x, sums[q]);
        }
        at += LANES;
    }
    let mut out = [0.0; R];
    for q in 0..R {
        out[q] = sums[q].total();
    }
    out
}

/// Subtracts multiples of some rows from `n` elements.
#[inline(always)]
pub(super) fn combine<W: V<E = f64>, const K: usize, const R: usize>(
    y: &mut [f64],
    rows: [&[f64]; R],
    by: [f64; R],
    n: usize,
) {
    let end = n.next_multiple_of(LANES);
    let mut at = 0;
    while at < end {
        let mut sum = Group::<W, K>::load(y, at);
        for q in 0..R {
            sum = Group::splat(-by[q]).fma(Group::load(rows[q], at), sum);
        }
        sum.store(y, at);
        at += LANES;
    }
}

/// Number of parts in which `n` rows are read; threads share parts.
pub(super) fn parts(n: usize) -> usize {
    if n < 192 { 1 } else { (n / 64).min(8) }
}

/// Contribution of some rows to `y = A x` for a symmetric matrix, of which the triangle on and
/// above the diagonal is read. The matrix has `n` zero-padded rows that are `step` apart. The index
/// of the first of these rows is a multiple of four.
#[inline(always)]
pub(super) fn symmetric<W: V<E = f64>, const K: usize>(
    a: &[f64],
    step: usize,
    n: usize,
    rows: Range<usize>,
    x: &[f64],
    y: &mut [f64],
) {
    y[rows.start..n].fill(0.0);
    let whole = rows.end - rows.end % 4;
    for i in (rows.start..whole).step_by(4) {
        symmetric_rows::<W, K, 4>(a, step, n, i, x, y);
    }
    for i in whole..rows.end {
        symmetric_rows::<W, K, 1>(a, step, n, i, x, y);
    }
}

#[inline(always)]
fn symmetric_rows<W: V<E = f64>, const K: usize, const R: usize>(
    a: &[f64],
    step: usize,
    n: usize,
    i: usize,
    x: &[f64],
    y: &mut [f64],
) {
    let right = i + R;
    let width = (n - right).next_multiple_of(LANES);
    let mut rows: [&[f64]; R] = [&[]; R];
    let (mut own, mut corner) = ([0.0; R], [0.0; R]);
    for q in 0..R {
        rows[q] = &a[(i + q) * step + i..][..R + width];
        own[q] = x[i + q];
    }
    for q in 0..R {
        corner[q] += rows[q][q] * own[q];
        for c in q + 1..R {
            corner[q] += rows[q][c] * own[c];
            corner[c] += rows[q][c] * own[q];
        }
    }
    let (x, beside) = (&x[right..][..width], &mut y[right..][..width]);
    let mut sums = [Group::<W, K>::splat(0.0); R];
    let mut at = 0;
    while at < width {
        let (x, mut sum) = (Group::load(x, at), Group::load(beside, at));
        for q in 0..R {
            let row = Group::load(rows[q], R + at);
            sums[q] = row.fma(x, sums[q]);
            sum = row.fma(Group::splat(own[q]), sum);
        }
        sum.store(beside, at);
        at += LANES;
    }
    for q in 0..R {
        y[i + q] += corner[q] + sums[q].total();
    }
}

/// Rotation of two rows.
#[derive(Clone, Copy)]
pub(super) struct Rotation {
    pub c: f64,
    pub s: f64,
}

impl Rotation {
    /// The rotation that maps `(f, g)` to `(r, 0)`, and `r`.
    #[inline(always)]
    pub(super) fn of(f: f64, g: f64) -> (Rotation, f64) {
        if g == 0.0 {
            return (Rotation { c: 1.0, s: 0.0 }, f);
        }
        let square = f.mul_add(f, g * g);
        if !(1e-280..1e280).contains(&square) {
            return Rotation::scaled(f, g);
        }
        // The square root and the quotient are independent.
        let r = square.sqrt();
        let by = r * square.recip();
        (
            Rotation {
                c: f * by,
                s: g * by,
            },
            r,
        )
    }

    #[cold]
    fn scaled(f: f64, g: f64) -> (Rotation, f64) {
        let most = f.abs().max(g.abs());
        let (x, y) = (f / most, g / most);
        let r = x.mul_add(x, y * y).sqrt();
        (Rotation { c: x / r, s: y / r }, r * most)
    }
}

/// Rows of `width` elements that are `step` apart, both multiples of [`LANES`].
pub(super) struct RotatedRows<'a> {
    pub data: &'a mut [f64],
    pub step: usize,
    pub width: usize,
}

impl RotatedRows<'_> {
    /// Applies a sequence of rotations. The first pair is `start` and the row after it (`down`) or
    /// before it. The next pair begins with the second row of this one.
    #[inline(always)]
    pub(super) fn sweep<W: V<E = f64>, const K: usize>(
        &mut self,
        start: usize,
        down: bool,
        turns: &[Rotation],
    ) {
        let mut at = 0;
        while at < self.width {
            match (self.width - at) / LANES {
                1 => self.strip::<W, K, 1>(&mut at, start, down, turns),
                2 | 3 => self.strip::<W, K, 2>(&mut at, start, down, turns),
                _ => self.strip::<W, K, 4>(&mut at, start, down, turns),
            }
        }
    }

    /// Applies the rotations to `G` groups, as [`sweep`](RotatedRows::sweep).
    #[inline(always)]
    fn strip<W: V<E = f64>, const K: usize, const G: usize>(
        &mut self,
        left: &mut usize,
        start: usize,
        down: bool,
        turns: &[Rotation],
    ) {
        let mut to = start * self.step + *left;
        let mut held = [Group::<W, K>::splat(0.0); G];
        for (k, held) in held.iter_mut().enumerate() {
            *held = Group::load(self.data, to + k * LANES);
        }
        for turn in turns {
            let next = if down { to + self.step } else { to - self.step };
            let (c, s) = (Group::<W, K>::splat(turn.c), Group::<W, K>::splat(turn.s));
            for (k, held) in held.iter_mut().enumerate() {
                let x = Group::load(self.data, next + k * LANES);
                c.fma(*held, s.mul(x)).store(self.data, to + k * LANES);
                *held = c.fma(x, s.mul(*held).neg());
            }
            to = next;
        }
        for (k, held) in held.into_iter().enumerate() {
            held.store(self.data, to + k * LANES);
        }
        *left += G * LANES;
    }
}
