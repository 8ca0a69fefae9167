//! Real products where packing does not pay: small matrices, and a matrix times a few vectors.
//!
//! The order is that of `matrixmultiply`, bit for bit: each element is a chain of (fused) multiply-adds over ascending
//! `k` from 0 within blocks of [`DEPTH`], and the blocks are added in ascending order. Lanes of a vector register are
//! columns of C (or rows, of the transposed problem), never steps of `k`.

use super::Matrix;
use crate::element::Number;
use crate::simd::{fused, widest};

/// The steps of `k` that one chain takes: `KC` of `matrixmultiply`.
const DEPTH: usize = 256;

/// Rows of C that share a load of B.
const ROWS: usize = 4;

/// A float with a fused multiply-add.
pub trait Real: Number {
    /// `self · b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn mul_add(self, b: f32, c: f32) -> f32 {
        f32::mul_add(self, b, c)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn mul_add(self, b: f64, c: f64) -> f64 {
        f64::mul_add(self, b, c)
    }
}

/// Whether [`product`] is faster than a product of packed blocks: measured, and without effect on the result.
pub(super) fn suits<T>(a: Matrix<T>, b: Matrix<T>) -> bool {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    let adjacent = a.row_stride == 1 || b.col_stride == 1;
    m.min(n) == 1 || m.saturating_mul(n).saturating_mul(k) <= if adjacent { 4096 } else { 512 }
}

/// `c = a b` for non-empty matrices, `c` row-major, with `W` lanes, or `WIDE` for a vector times a matrix: one row must
/// fill the pipelines of the multiplier that several rows fill together.
pub(super) fn product<T: Real, const W: usize, const WIDE: usize>(c: &mut [T], a: Matrix<T>, b: Matrix<T>) {
    let adjacent = if a.rows == 1 { b.col_stride } else { a.row_stride } == 1;
    match a.rows.min(b.cols) == 1 && adjacent && a.rows.max(b.cols) >= WIDE {
        true => with_lanes::<T, WIDE>(c, a, b),
        false => with_lanes::<T, W>(c, a, b),
    }
}

fn with_lanes<T: Real, const W: usize>(c: &mut [T], a: Matrix<T>, b: Matrix<T>) {
    let (m, n) = (a.rows, b.cols);
    assert!(a.cols == b.rows && a.cols > 0 && m > 0 && n > 0 && c.len() == m * n, "sizes of a product");
    // Lanes go along the side that fills more of them, or along which the operand is adjacent.
    let rows_fill_more = m.min(W) > n.min(W);
    let rows_adjoin = m.min(W) == n.min(W) && a.row_stride == 1 && b.col_stride != 1;
    let (x, y, strides) = match rows_fill_more || rows_adjoin {
        true => (b.transposed(), a.transposed(), [1, n]),
        false => (a, b, [n, 1]),
    };
    // Two closures, not a flag: in each the multiply-add is one known sequence of instructions.
    if fused() {
        widest(
            #[inline(always)]
            move || columns::<T, W>(c, strides, x, y, |x, y, acc| x.mul_add(y, acc)),
        );
    } else {
        columns::<T, W>(c, strides, x, y, |x, y, acc| x.times(y).plus(acc));
    }
}

/// All of C, a block of `W` columns at a time.
#[inline(always)]
fn columns<T: Real, const W: usize>(
    c: &mut [T],
    strides: [usize; 2],
    x: Matrix<T>,
    y: Matrix<T>,
    step: impl Fn(T, T, T) -> T + Copy,
) {
    for j in (0..y.cols).step_by(W) {
        let width = W.min(y.cols - j);
        let chains = Chains { strides, x, j, width };
        match y.col_stride == 1 && width == W {
            // SAFETY: the columns j..j + W of `y` exist and are adjacent.
            true => chains.columns::<W>(c, step, |p| unsafe { *std::ptr::from_ref(y.at(p, j)).cast() }),
            false => {
                // Lanes past the last column repeat it; their results are dropped.
                let lanes: [usize; W] = std::array::from_fn(|l| j + l.min(width - 1));
                // SAFETY: the lanes are columns of `y`.
                chains.columns::<W>(c, step, |p| lanes.map(|j| unsafe { *y.at(p, j) }))
            }
        }
    }
}

/// The columns of C from `j` on, at most as many as there are lanes.
#[derive(Clone, Copy)]
struct Chains<'a, T> {
    strides: [usize; 2],
    x: Matrix<'a, T>,
    j: usize,
    width: usize,
}

impl<T: Real> Chains<'_, T> {
    /// All rows of these columns; `load` reads them in the row of `y` of the given number, which is below `y.rows`.
    #[inline(always)]
    fn columns<const W: usize>(
        self,
        c: &mut [T],
        step: impl Fn(T, T, T) -> T + Copy,
        load: impl Fn(usize) -> [T; W] + Copy,
    ) {
        let whole = self.x.rows - self.x.rows % ROWS;
        for i in (0..whole).step_by(ROWS) {
            self.rows::<ROWS, W>(c, i, step, load);
        }
        for i in whole..self.x.rows {
            self.rows::<1, W>(c, i, step, load);
        }
    }

    /// The rows i..i + R.
    #[inline(always)]
    fn rows<const R: usize, const W: usize>(
        self,
        c: &mut [T],
        i: usize,
        step: impl Fn(T, T, T) -> T,
        load: impl Fn(usize) -> [T; W],
    ) {
        let depth = self.x.cols;
        for p0 in (0..depth).step_by(DEPTH) {
            let mut acc = [[T::ZERO; W]; R];
            for p in p0..depth.min(p0 + DEPTH) {
                let y = load(p);
                for (r, acc) in acc.iter_mut().enumerate() {
                    // SAFETY: i + R <= x.rows and p < x.cols.
                    let x = unsafe { *self.x.at(i + r, p) };
                    *acc = std::array::from_fn(|l| step(x, y[l], acc[l]));
                }
            }
            // A copy, because indexing by a variable below would keep `acc` itself in memory during the loop above.
            let sums: [[T; W]; R] = std::array::from_fn(|r| std::array::from_fn(|l| acc[r][l]));
            for (r, sums) in sums.iter().enumerate() {
                let (start, stride) = ((i + r) * self.strides[0] + self.j * self.strides[1], self.strides[1]);
                let add = |c: &mut T, sum: T| *c = if p0 == 0 { sum } else { c.plus(sum) };
                match c[start..].first_chunk_mut::<W>() {
                    Some(c) if stride == 1 && self.width == W => (0..W).for_each(|l| add(&mut c[l], sums[l])),
                    _ => (0..self.width).for_each(|l| add(&mut c[start + l * stride], sums[l])),
                }
            }
        }
    }
}

impl<'a, T> Matrix<'a, T> {
    fn transposed(self) -> Self {
        let Matrix { data, offset, rows, cols, row_stride, col_stride } = self;
        Matrix { data, offset, rows: cols, cols: rows, row_stride: col_stride, col_stride: row_stride }
    }

    /// The element in row `i` and column `j`.
    ///
    /// # Safety
    /// `i < rows` and `j < cols`.
    #[inline(always)]
    unsafe fn at(&self, i: usize, j: usize) -> &'a T {
        let at = i as isize * self.row_stride + j as isize * self.col_stride;
        let at = self.offset.wrapping_add_signed(at);
        debug_assert!(i < self.rows && j < self.cols && at < self.data.len());
        // SAFETY: a matrix addresses elements of its slice only.
        unsafe { self.data.get_unchecked(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::Packed;
    use crate::testing::Random;

    fn same_bits_as_packed<T: Real + Packed, const W: usize, const WIDE: usize>(value: impl Fn(&mut Random) -> T) {
        let mut random = Random(1);
        for [m, k, n] in [[3, 5, 4], [33, 700, 29], [16, 256, 64], [70, 513, 1], [1, 300, 140], [18, 257, 35]] {
            let [a, b] = [m * k, k * n].map(|len| (0..len).map(|_| value(&mut random)).collect::<Vec<T>>());
            for layout in 0..4 {
                let matrix = |data, rows, cols, turned: bool| match turned {
                    false => Matrix::dense(data, rows, cols),
                    true => Matrix::dense(data, cols, rows).transposed(),
                };
                let (a, b) = (matrix(&a, m, k, layout % 2 == 1), matrix(&b, k, n, layout > 1));
                let [mut here, mut packed] = [vec![T::ONE; m * n], vec![T::ONE; m * n]];
                product::<T, W, WIDE>(&mut here, a, b);
                T::packed(&mut packed, a, b);
                assert_eq!(here, packed, "{m} {k} {n}, layout {layout}");
            }
        }
    }

    #[test]
    fn the_bits_of_packed_products() {
        same_bits_as_packed::<f32, 16, 64>(|r| r.float() as f32);
        same_bits_as_packed::<f64, 8, 32>(|r| r.float());
    }
}
