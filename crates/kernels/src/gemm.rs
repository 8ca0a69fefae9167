//! Batched matrix products `C[.., m, n] = A[.., m, k] B[.., k, n]` of views with any strides.
//!
//! `f32`, `f64` and the complex types go through `matrixmultiply`, which folds `k` in ascending order within blocks of
//! 256 and adds the blocks in ascending order, so an element of C depends on its row of A and its column of B alone:
//! not on layout, batch or the other rows. Small products go the same way without packing. Where the CPU has fused
//! multiply-add it is used within a block. `f16` and `bf16` are products in f32, rounded once. Integers wrap; `bool` is
//! or of ands.

mod small;

use crate::copy::copy_into;
use crate::element::Number;
use crate::loops::{Axis, Loops};
use crate::view::{View, volume};
use half::{bf16, f16};
use matrixmultiply::{CGemmOption, cgemm, dgemm, sgemm, zgemm};
use num_complex::Complex;

/// Products over the leading axes of `a[.., m, k]` and `b[.., k, n]`, written to `c[.., m, n]` in row-major order.
///
/// An operand that is the same for the whole batch has stride 0 there. `k == 0` gives zeros. O(batch · m · n · k).
///
/// # Panics
/// If the ranks are below 2, or the shapes or `c.len()` do not fit.
pub fn gemm<T: Gemm>(c: &mut [T], a: View<T>, b: View<T>) {
    let batch = a.shape().len().checked_sub(2).expect("operands have rows and columns");
    let (m, k) = (a.shape()[batch], a.shape()[batch + 1]);
    assert!(
        b.shape().len() == batch + 2 && a.shape()[..batch] == b.shape()[..batch] && b.shape()[batch] == k,
        "the product of shapes {:?} and {:?}",
        a.shape(),
        b.shape()
    );
    let n = b.shape()[batch + 1];
    let count = volume(&a.shape()[..batch]);
    let size = m.checked_mul(n).expect("the number of elements fits a usize");
    assert_eq!(count.checked_mul(size), Some(c.len()), "c has shape [.., {m}, {n}]");
    if c.is_empty() {
        return;
    }
    if k == 0 {
        return c.fill(T::ZERO);
    }
    let axes = (0..batch).map(|d| Axis { len: a.shape()[d], strides: [a.stride(d), b.stride(d)] });
    let loops = Loops::new(axes);
    let Axis { len, strides: [sa, sb] } = loops.inner();
    if loops.outer().is_empty() && sb == 0 && (m == 1 || Some(sa) == a.stride(batch).checked_mul(m as isize)) {
        // One B for the whole batch, and the rows of A follow each other: a single tall product.
        let mut tall = Matrix::of(a, m * len, k, a.offset());
        if m == 1 {
            tall.row_stride = sa;
        }
        return T::product(c, tall, Matrix::of(b, k, n, b.offset()));
    }
    let mut blocks = c.chunks_exact_mut(size);
    loops.in_order([a.offset(), b.offset()], |[at, bt], len| {
        for (i, c) in (0..len as isize).zip(&mut blocks) {
            let a = Matrix::of(a, m, k, at.wrapping_add_signed(i * sa));
            let b = Matrix::of(b, k, n, bt.wrapping_add_signed(i * sb));
            T::product(c, a, b);
        }
    });
}

/// A strided matrix inside a slice.
///
/// Invariant: every element `data[offset + i · row_stride + j · col_stride]` exists; matrices are cut from [`View`]s.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    offset: usize,
    rows: usize,
    cols: usize,
    row_stride: isize,
    col_stride: isize,
}

impl<'a, T: Copy> Matrix<'a, T> {
    /// The matrix at `offset` in the last two axes of a view.
    fn of(v: View<'a, T>, rows: usize, cols: usize, offset: usize) -> Self {
        let batch = v.shape().len() - 2;
        Matrix { data: v.data(), offset, rows, cols, row_stride: v.stride(batch), col_stride: v.stride(batch + 1) }
    }

    /// A row-major matrix.
    fn dense(data: &'a [T], rows: usize, cols: usize) -> Self {
        debug_assert_eq!(data.len(), rows * cols);
        Matrix { data, offset: 0, rows, cols, row_stride: cols as isize, col_stride: 1 }
    }

    fn pointer(&self) -> *const T {
        self.data[self.offset..].as_ptr()
    }

    /// The elements in row-major order.
    fn to_vec(self, zero: T) -> Vec<T> {
        let (shape, strides) = ([self.rows, self.cols], [self.row_stride, self.col_stride]);
        let mut out = vec![zero; self.rows * self.cols];
        copy_into(&mut out, View::new(self.data, self.offset, &shape, &strides));
        out
    }
}

/// An element with a matrix product.
pub trait Gemm: Number {
    /// `c = a b` for non-empty matrices, `c` row-major.
    fn product(c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>);
}

/// A routine of `matrixmultiply`, which is called with raw pointers, for one element type.
macro_rules! through_matrixmultiply {
    ($($t:ty: $gemm:ident($($option:expr),*), $raw:ty, $one:expr, $zero:expr;)*) => {$(
        impl Packed for $t {
            fn packed(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>) {
                assert!(a.cols == b.rows && c.len() == a.rows * b.cols, "sizes of a product");
                // SAFETY: A and B address only elements of their slices (the invariant of `Matrix`), and C is the
                // row-major m × n matrix that fills `c`, which nothing else refers to. `Complex<R>` is `repr(C)` with
                // the layout of `[R; 2]`.
                unsafe {
                    $gemm(
                        $($option,)* a.rows, a.cols, b.cols, $one,
                        a.pointer().cast::<$raw>(), a.row_stride, a.col_stride,
                        b.pointer().cast::<$raw>(), b.row_stride, b.col_stride,
                        $zero, c.as_mut_ptr().cast::<$raw>(), b.cols as isize, 1,
                    );
                }
            }
        }
    )*};
}

/// An element whose products `matrixmultiply` computes.
trait Packed: Copy {
    /// `c = a b` for non-empty matrices, `c` row-major.
    fn packed(c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>);
}

through_matrixmultiply! {
    f32: sgemm(), f32, 1.0, 0.0;
    f64: dgemm(), f64, 1.0, 0.0;
    Complex<f32>: cgemm(CGemmOption::Standard, CGemmOption::Standard), [f32; 2], [1.0, 0.0], [0.0, 0.0];
    Complex<f64>: zgemm(CGemmOption::Standard, CGemmOption::Standard), [f64; 2], [1.0, 0.0], [0.0, 0.0];
}

impl Gemm for f32 {
    fn product(c: &mut [f32], a: Matrix<f32>, b: Matrix<f32>) {
        if small::suits(a, b) { small::product::<f32, 16, 64>(c, a, b) } else { f32::packed(c, a, b) }
    }
}

impl Gemm for f64 {
    fn product(c: &mut [f64], a: Matrix<f64>, b: Matrix<f64>) {
        if small::suits(a, b) { small::product::<f64, 8, 32>(c, a, b) } else { f64::packed(c, a, b) }
    }
}

impl Gemm for Complex<f32> {
    fn product(c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>) {
        Self::packed(c, a, b);
    }
}

impl Gemm for Complex<f64> {
    fn product(c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>) {
        Self::packed(c, a, b);
    }
}

macro_rules! through_f32 {
    ($($t:ty)*) => {$(
        impl Gemm for $t {
            fn product(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>) {
                let widened =
                    |m: Matrix<$t>| m.to_vec(<$t>::ZERO).into_iter().map(<$t>::to_f32).collect::<Vec<f32>>();
                let (wide_a, wide_b, mut wide_c) = (widened(a), widened(b), vec![0.0; c.len()]);
                let (a, b) = (Matrix::dense(&wide_a, a.rows, a.cols), Matrix::dense(&wide_b, b.rows, b.cols));
                f32::product(&mut wide_c, a, b);
                for (c, wide) in c.iter_mut().zip(wide_c) {
                    *c = <$t>::from_f32(wide);
                }
            }
        }
    )*};
}

through_f32!(f16 bf16);

macro_rules! through_loops {
    ($($t:ty)*) => {$(
        impl Gemm for $t {
            fn product(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>) {
                blocked(c, a, b);
            }
        }
    )*};
}

through_loops!(bool i8 i16 i32 i64 u8 u16 u32 u64);

/// Rows of C accumulate multiples of rows of B, in blocks of B that stay in a second-level cache. For numbers whose
/// sums do not depend on the order.
fn blocked<T: Number>(c: &mut [T], a: Matrix<T>, b: Matrix<T>) {
    const DEPTH: usize = 64;
    const WIDTH: usize = 512;
    let (k, n) = (b.rows, b.cols);
    let (a, b) = (a.to_vec(T::ZERO), b.to_vec(T::ZERO));
    c.fill(T::ZERO);
    for p0 in (0..k).step_by(DEPTH) {
        for j0 in (0..n).step_by(WIDTH) {
            let (p1, j1) = (k.min(p0 + DEPTH), n.min(j0 + WIDTH));
            for (c, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
                for p in p0..p1 {
                    for (c, &b) in c[j0..j1].iter_mut().zip(&b[p * n + j0..p * n + j1]) {
                        *c = c.plus(a[p].times(b));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Owned, Random, layout};

    /// `Σ_p a[.., i, p] b[.., p, j]` by definition.
    fn naive<T: Number>(a: &Owned<T>, b: &Owned<T>) -> Vec<T> {
        let (batch, [m, k, n]) =
            (a.shape.len() - 2, [a.shape[a.shape.len() - 2], a.shape[a.shape.len() - 1], *b.shape.last().unwrap()]);
        let mut out = Vec::new();
        for index in crate::testing::indices(&a.shape[..batch]) {
            for (i, j) in (0..m * n).map(|e| (e / n, e % n)) {
                let at = |x, y| [&index[..], &[x, y]].concat();
                let terms = (0..k).map(|p| a.view().get(&at(i, p)).times(b.view().get(&at(p, j))));
                out.push(terms.fold(T::ZERO, T::plus));
            }
        }
        out
    }

    fn against_naive<T: Gemm>(seed: u64, value: impl Fn(&mut Random) -> T, close: impl Fn(T, T) -> bool) {
        let mut random = Random(seed);
        for case in 0..60 {
            let batch: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(3)).collect();
            let limit = if case % 20 == 0 { 300 } else { 20 };
            let [m, k, n] = [0; 3].map(|_| random.below(limit).min(random.below(limit)));
            let mut draw = |rows, cols| layout(&mut random, &[&batch[..], &[rows, cols]].concat(), &value);
            let (a, b) = (draw(m, k), draw(k, n));
            let expected = naive(&a, &b);
            let mut c = vec![T::ONE; expected.len()];
            gemm(&mut c, a.view(), b.view());
            for (&x, &y) in c.iter().zip(&expected) {
                assert!(
                    close(x, y),
                    "{x:?} {y:?}, shapes {:?} {:?}, strides {:?} {:?}",
                    a.shape,
                    b.shape,
                    a.strides,
                    b.strides
                );
            }
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        against_naive(1, |r| r.float() as f32, |x: f32, y| (x - y).abs() < 1e-4);
        against_naive(2, |r| r.float(), |x: f64, y| (x - y).abs() < 1e-12);
        against_naive(3, |r| Complex::new(r.float() as f32, r.float() as f32), |x, y| (x - y).norm() < 1e-4);
        against_naive(4, |r| Complex::new(r.float(), r.float()), |x, y| (x - y).norm() < 1e-12);
        against_naive(5, |r| r.next() as i32, |x, y| x == y);
        against_naive(6, |r| r.next() as u8, |x, y| x == y);
        against_naive(7, |r| r.below(9) == 0, |x, y| x == y);
        against_naive(8, |r| f16::from_f64(r.below(3) as f64), |x, y| x == y);
        against_naive(
            9,
            |r| bf16::from_f64(r.below(2) as f64),
            |x: bf16, y| (x - y).to_f32().abs() <= y.to_f32() * 0.3,
        );
    }

    #[test]
    fn an_element_depends_on_its_row_and_column_only() {
        let mut random = Random(10);
        for [m, k, n] in [[5, 700, 3], [40, 300, 50], [17, 1, 100], [1, 600, 64], [64, 600, 1]] {
            let (a, b) = (random.floats(m * k), random.floats(k * n));
            let mut c = vec![0.0; m * n];
            gemm(&mut c, View::dense(&a, &[m, k]), View::dense(&b, &[k, n]));
            let mut transposed = vec![0.0; m * n];
            let (at, bt) = ([1, k as isize], [1, n as isize]);
            gemm(&mut transposed, View::new(&b, 0, &[n, k], &bt), View::new(&a, 0, &[k, m], &at));
            for (e, c) in c.iter().enumerate() {
                let (i, j) = (e / n, e % n);
                let mut one = [0.0f32];
                let (shape, strides) = ([k, 1], [n as isize, 1]);
                let (row, column) = (&a[i * k..(i + 1) * k], View::new(&b, j, &shape, &strides));
                gemm(&mut one, View::dense(row, &[1, k]), column);
                assert_eq!(one[0].to_bits(), c.to_bits());
                assert_eq!(transposed[j * m + i].to_bits(), c.to_bits());
            }
        }
    }

    #[test]
    fn nothing_to_add_is_zero() {
        let mut c = [7.0; 6];
        gemm(&mut c, View::dense(&[], &[2, 0]), View::dense(&[], &[0, 3]));
        assert_eq!(c, [0.0; 6]);
        gemm::<i8>(&mut [], View::dense(&[1, 2], &[2, 1]), View::dense(&[], &[1, 0]));
        gemm::<f64>(&mut [], View::dense(&[], &[0, 2, 1]), View::dense(&[], &[0, 1, 3]));
    }
}
