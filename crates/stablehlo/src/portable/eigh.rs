//! Eigenvalues and eigenvectors of Hermitian matrices by two-sided Jacobi rotations.
//!
//! Above 64 rows a matrix has blocks. A step rotates columns in each pair of blocks; the product of
//! these rotations is applied to the other blocks by products of matrices. Blocks move as columns
//! do. The first step of a sweep rotates all pairs of columns in a pair of blocks, the others those
//! with a column of each block: in a sweep each pair of columns is rotated once.

use super::jacobi::{self, MAX_EXTENT};
use super::matrix::{
    adjoint_product, columns, extents, finite, leading, nan_unless, normal_range, normalized, of,
    phases, symmetric,
};
use cotangent_core::ops::{ANCHOR, Comparison, Eigh};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};

/// Maximum number of rows of a block.
const MAX_BLOCK: usize = 32;

/// Eigenvalues, ascending, and eigenvectors. NaN for matrices that did not converge.
pub(super) fn eigh(cx: &dyn Emit, e: &Eigh, a: Val) -> Result<Vals> {
    let ty = cx.ty(a);
    let (_, n, _) = extents(&ty)?;
    if n > MAX_EXTENT {
        bail!(
            Unsupported,
            "`eigh` of matrices with more than {MAX_EXTENT} rows has no portable StableHLO form: compute it on the \
             CPU runtime"
        );
    }
    let rank = ty.rank();
    let (rows, cols) = (rank - 2, rank - 1);
    let (h, power) = normal_range(cx, symmetric(cx, a));
    // Infinities would not end; the result is NaN.
    let fine = finite(cx, h);
    let h = cx.select(leading(cx, fine, &ty), h, cx.zeros(&ty));
    let blocks = Blocks::of(n);
    let wide = blocks.extent();
    let h = jacobi::padded(cx, h, &[rows, cols], wide);
    let norm = cx.reduce_sum(cx.abs2(h), &[rows, cols]);
    let mut state = vec![h];
    if e.vectors {
        state.push(cx.broadcast_to(cx.eye(ty.dtype, &Dim::Const(wide)), &cx.ty(h).shape));
    }
    // All elements of this size together change eigenvalues by an epsilon of the norm.
    let least = ty.dtype.epsilon() / wide as f64;
    let bound = cx.mul(cx.sqrt(norm), cx.full_like(norm, least));
    let (y, unfinished) =
        jacobi::sweeps(cx, bound, &state, |cx, bound, s| blocks.sweep(cx, bound, s));
    let w = cx.slice_axis(cx.real(cx.diagonal(y[0])), rows, 0usize, n);
    let fine = cx.and(fine, cx.not(unfinished));
    let back = |w: Val| {
        let power = leading(cx, power, &cx.ty(w));
        nan_unless(cx, fine, cx.mul(power, w))
    };
    if !e.vectors {
        return Ok(Vals::from_slice(&[back(cx.sort(w, rows, false))]));
    }
    let places = cx.iota(&cx.ty(w).with_dtype(DType::I64), rows);
    let sorted = cx.sort_by(&[w, places], rows, 1, false);
    let v = cx.slice_axis(cx.slice_axis(y[1], rows, 0usize, n), cols, 0usize, n);
    let v = columns(cx, cx.adjoint(v), sorted[1]);
    let v = normalized(cx, v, phases(cx, v, ANCHOR));
    Ok(Vals::from_slice(&[
        back(sorted[0]),
        nan_unless(cx, fine, v),
    ]))
}

/// A matrix as `2 pairs` blocks of rows and columns, of `block` each. Blocks `2 i` and `2 i + 1`
/// are a pair.
#[derive(Clone, Copy)]
struct Blocks {
    pairs: usize,
    block: usize,
}

impl Blocks {
    /// The blocks of a matrix of at least `n` rows.
    fn of(n: usize) -> Blocks {
        let pairs = n.div_ceil(2 * MAX_BLOCK);
        Blocks {
            pairs,
            block: n.div_ceil(2 * pairs),
        }
    }

    fn extent(self) -> usize {
        2 * self.pairs * self.block
    }

    /// Rotates each pair of columns once. The state is the matrix, and the adjoint of the vectors.
    fn sweep(self, cx: &dyn Emit, bound: Val, s: &[Val]) -> (Vec<Val>, Val) {
        let (s, rotated) = self.step(cx, bound, s, Columns::All);
        if self.pairs == 1 {
            return (s, rotated);
        }
        let others = 2 * self.pairs - 2;
        let (s, more) = jacobi::sweep(cx, bound, &s, others, |cx, bound, s| {
            self.step(cx, bound, s, Columns::OfBothBlocks)
        });
        (s, cx.or(rotated, more))
    }

    /// Rotates columns of each pair of blocks, and moves the blocks.
    fn step(self, cx: &dyn Emit, bound: Val, s: &[Val], which: Columns) -> (Vec<Val>, Val) {
        let ty = cx.ty(s[0]);
        let lead = &ty.shape[..ty.rank() - 2];
        let width = 2 * self.block;
        let grid = of(ty.dtype, lead, &[self.pairs, width, self.pairs, width]);
        let (from, to) = (lead.len(), lead.len() + 2);
        let on = same_index(cx, &grid, from, to);
        let parts = cx.select(on, cx.reshape(s[0], &grid.shape), cx.zeros(&grid));
        let parts = cx.reduce_sum(parts, &[to]);
        let (diagonal, v, rotated) = self.pair_sweep(cx, bound, parts, which, s.len() > 1);
        let Some(v) = v else {
            return (vec![cx.reshape(diagonal, &ty.shape)], rotated);
        };
        // Vᴴ X, where V is block-diagonal.
        let strips = of(ty.dtype, lead, &[self.pairs, width, self.extent()]);
        let turned = |x: Val| {
            cx.reshape(
                adjoint_product(cx, v, cx.reshape(x, &strips.shape)),
                &ty.shape,
            )
        };
        // The matrix is Hermitian: (Vᴴ A)ᴴ = A V.
        let a = cx.reshape(turned(cx.adjoint(turned(s[0]))), &grid.shape);
        let axes: Vec<usize> = (0..to).chain([to + 1]).collect();
        let exact = cx.broadcast_in_dim(diagonal, &grid.shape, &axes);
        let a = cx.reshape(cx.select(on, exact, a), &ty.shape);
        let (rows, cols) = (lead.len(), lead.len() + 1);
        let mut next = vec![self.moved(cx, self.moved(cx, a, rows), cols)];
        next.extend(s[1..].iter().map(|&w| self.moved(cx, turned(w), rows)));
        (next, rotated)
    }

    /// Rotations in each pair of blocks: the matrices, the product of the rotations unless there is
    /// one pair and no vectors are asked for, and a mask of the matrices with a rotation.
    fn pair_sweep(
        self,
        cx: &dyn Emit,
        bound: Val,
        a: Val,
        which: Columns,
        vectors: bool,
    ) -> (Val, Option<Val>, Val) {
        let ty = cx.ty(a);
        let rank = ty.rank();
        let (rows, cols) = (rank - 2, rank - 1);
        let width = 2 * self.block;
        let (steps, next): (usize, Order) = match which {
            Columns::All => (width - 1, jacobi::moved),
            Columns::OfBothBlocks => (self.block, jacobi::moved_across),
        };
        let (top, bottom) = jacobi::halves(cx, a, rows);
        let (tl, tr) = jacobi::halves(cx, top, cols);
        let (bl, br) = jacobi::halves(cx, bottom, cols);
        let mut state = vec![tl, tr, bl, br];
        if vectors || self.pairs > 1 {
            let eye = cx.broadcast_to(cx.eye(ty.dtype, &Dim::Const(width)), &ty.shape);
            let (left, right) = jacobi::halves(cx, eye, cols);
            state.extend([left, right]);
        }
        let each = Type::new(cx.ty(bound).dtype, &ty.shape[..rank - 2]);
        let bound = leading(cx, bound, &each);
        let (y, rotated) = jacobi::sweep(cx, bound, &state, steps, |cx, bound, s| {
            step(cx, bound, s, next)
        });
        let beside = |x: &[Val]| cx.concatenate(x, cols);
        (
            cx.concatenate(&[beside(&y[..2]), beside(&y[2..4])], rows),
            y.get(4..).filter(|v| !v.is_empty()).map(beside),
            cx.reduce_any(rotated, &[rank - 3]),
        )
    }

    /// The blocks of an axis in the next step's order.
    fn moved(self, cx: &dyn Emit, x: Val, axis: usize) -> Val {
        let ty = cx.ty(x);
        let split = [self.pairs, 2, self.block].map(Dim::Const);
        let split = [&ty.shape[..axis], &split, &ty.shape[axis + 1..]].concat();
        let (first, second) = jacobi::halves(cx, cx.reshape(x, &split), axis + 1);
        let (first, second) = jacobi::moved(cx, first, second, axis);
        cx.reshape(cx.concatenate(&[first, second], axis + 1), &ty.shape)
    }
}

/// Pairs of columns in a pair of blocks.
#[derive(Clone, Copy)]
enum Columns {
    All,
    /// A column of one block and a column of the other.
    OfBothBlocks,
}

/// The order of two halves in the next step, along an axis.
type Order = fn(&dyn Emit, Val, Val, usize) -> (Val, Val);

/// A mask of the elements with one index on two axes.
fn same_index(cx: &dyn Emit, ty: &Type, i: usize, j: usize) -> Val {
    let index = ty.with_dtype(DType::I32);
    cx.compare(cx.iota(&index, i), Comparison::Eq, cx.iota(&index, j))
}

/// Rotates all pairs, sets their elements off the diagonal to zero, and moves columns and rows.
fn step(cx: &dyn Emit, bound: Val, s: &[Val], next: Order) -> (Vec<Val>, Val) {
    let ty = cx.ty(s[0]);
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let (p, q) = (cx.real(cx.diagonal(s[0])), cx.real(cx.diagonal(s[3])));
    let z = cx.diagonal(s[1]);
    let size = cx.abs(z);
    let rotates = cx.compare(size, Comparison::Gt, leading(cx, bound, &cx.ty(size)));
    let r = jacobi::rotation(cx, p, q, z, rotates);
    let (tl, tr) = r.columns(cx, s[0], s[1]);
    let (bl, br) = r.columns(cx, s[2], s[3]);
    let (tl, bl) = r.rows(cx, tl, bl);
    let (tr, br) = r.rows(cx, tr, br);
    let change = cx.mul(r.tangent, size);
    let on = cx.band_of(&ty, 0);
    let set = |v: Val, d: Val| cx.select(on, leading(cx, cx.convert(d, ty.dtype), &ty), v);
    let zero = cx.full_like(p, 0.0);
    let (tl, br) = (set(tl, cx.sub(p, change)), set(br, cx.add(q, change)));
    let (tr, bl) = (set(tr, zero), set(bl, zero));
    let (tl, tr) = next(cx, tl, tr, cols);
    let (bl, br) = next(cx, bl, br, cols);
    let (tl, bl) = next(cx, tl, bl, rows);
    let (tr, br) = next(cx, tr, br, rows);
    let mut all = vec![tl, tr, bl, br];
    if let [_, _, _, _, left, right] = *s {
        let (left, right) = r.columns(cx, left, right);
        let (left, right) = next(cx, left, right, cols);
        all.extend([left, right]);
    }
    (all, cx.reduce_any(rotates, &[rows]))
}
