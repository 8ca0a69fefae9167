//! Householder reflectors in LAPACK's storage: packed below a triangle, with scalar factors `tau`
//! in a separate vector.
//!
//! ```text
//! H_k = I - tau_k v_k v_kᴴ,   v_k = (0, .., 0, 1, packed[p + 1.., k]),   p = k + offset
//! Q = H_0 H_1 ..,   Qᴴ A = R (offset 0),   Qᴴ A Q Hessenberg (offset 1)
//! ```
//! `H_kᴴ` zeros column `k` below row `p` and makes its element in row `p` real:
//! `beta = -sign(re alpha) |x|`, `tau = (beta - alpha) / beta`. Emitted as a scan over columns, so
//! it is differentiable.

use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Emit, Val};
use crate::ops::checkpoint::Checkpoint;
use crate::ops::compare::Comparison;
use crate::ops::scan::Scan;
use crate::ops::windows::Bounds;
use crate::shape::{Dim, Type};
use std::sync::Arc;

/// Form of a reduction by reflectors.
#[derive(Clone, Copy)]
pub struct Reflectors {
    /// Number of subdiagonals that stay nonzero.
    pub offset: usize,
    /// Whether each step swaps the column of largest norm to the front.
    pub pivoted: bool,
}

/// True on the diagonal of matrices of this type.
fn on_diagonal(cx: &dyn Emit, ty: &Type) -> Val {
    let index = ty.with_dtype(DType::I64);
    cx.compare(
        cx.iota(&index, ty.rank() - 2),
        Comparison::Eq,
        cx.iota(&index, ty.rank() - 1),
    )
}

/// Broadcasts a vector per matrix along the rows (`of_rows`) or the columns of the matrix.
fn along(cx: &dyn Emit, v: Val, like: &Type, of_rows: bool) -> Val {
    let rank = like.rank();
    let dims: Vec<usize> = (0..rank - 2)
        .chain([if of_rows { rank - 2 } else { rank - 1 }])
        .collect();
    cx.broadcast_in_dim(v, &like.shape, &dims)
}

/// Broadcasts a scalar per matrix to a vector or matrix.
fn each(cx: &dyn Emit, v: Val, like: &Type) -> Val {
    let dims: Vec<usize> = (0..cx.ty(v).rank()).collect();
    cx.broadcast_in_dim(v, &like.shape, &dims)
}

/// `c - tau v (vᴴ c)` from the left, `c - (c v) tau vᴴ` from the right.
fn reflect(cx: &dyn Emit, c: Val, v: Val, tau: Val, left: bool) -> Val {
    let ty = cx.ty(c);
    let (axis, conj) = (ty.rank() - if left { 2 } else { 1 }, cx.conj(v));
    let seen = cx.reduce_sum(
        cx.mul(along(cx, if left { conj } else { v }, &ty, left), c),
        &[axis],
    );
    let outer = cx.mul(
        along(cx, if left { v } else { conj }, &ty, left),
        along(cx, seen, &ty, !left),
    );
    cx.sub(c, cx.mul(each(cx, tau, &ty), outer))
}

/// The largest magnitude along these axes, without a derivative. It is 1 where all elements are
/// zero or one is not finite.
fn largest(cx: &dyn Emit, x: Val, axes: &[usize]) -> Val {
    let most = cx.max_or_least(cx.abs(cx.stop_gradient(x)), axes);
    let (zero, one) = (cx.full_like(most, 0i64), cx.full_like(most, 1i64));
    let useful = cx.and(cx.is_finite(most), cx.compare(most, Comparison::Gt, zero));
    cx.select(useful, most, one)
}

/// Mask of the elements whose index along `axis` compares with the scalar `k`.
fn where_index(cx: &dyn Emit, ty: &Type, axis: usize, c: Comparison, k: Val) -> Val {
    let index = ty.with_dtype(DType::I64);
    cx.compare(
        cx.iota(&index, axis),
        c,
        cx.broadcast_in_dim(k, &ty.shape, &[]),
    )
}

impl Reflectors {
    /// Returns the packed matrix, the scalar factors, and the original index of each column
    /// (`i64`).
    ///
    /// # Errors
    /// An extent of the matrix is not known.
    pub fn reduce(self, cx: &dyn Emit, a: Val) -> Result<[Val; 3]> {
        let ty = cx.ty(a);
        let rank = ty.rank();
        let (Some(m), Some(n)) = (ty.shape[rank - 2].as_const(), ty.shape[rank - 1].as_const())
        else {
            bail!(
                UnknownOperation,
                "a factorisation of {ty} by reflectors needs known extents"
            );
        };
        let steps = if self.offset == 0 {
            m.min(n)
        } else {
            n.saturating_sub(self.offset)
        };
        let places = {
            let shape: Vec<Dim> = ty.shape[..rank - 2]
                .iter()
                .cloned()
                .chain([Dim::Const(n)])
                .collect();
            Type::new(DType::I64, shape)
        };
        let columns = cx.iota(&places, rank - 2);
        if steps == 0 {
            let none = ty.with_shape(
                ty.shape[..rank - 2]
                    .iter()
                    .cloned()
                    .chain([Dim::Const(0)])
                    .collect::<Vec<_>>(),
            );
            return Ok([a, cx.zeros(&none), columns]);
        }
        let b = cx.nested("reflect");
        let p = [
            b.param(ty.clone(), None),
            b.param(places, None),
            b.param(Type::scalar(DType::I64), None),
        ];
        let [next, order, tau] = self.step(&b, p);
        let body = Arc::new(b.finish(&[next, order, tau])?);
        let numbers = cx.iota(&Type::new(DType::I64, vec![Dim::Const(steps)]), 0);
        let scan = Scan {
            body,
            length: Dim::Const(steps),
            reverse: false,
            consts: 0,
            carry: 2,
            checkpoint: Checkpoint::Never,
        };
        let y = cx.emit(scan.into(), &[a, columns, numbers]);
        // The scan stacks factors along the first axis.
        let taus = cx.transpose(y[2], &(1..rank - 1).chain([0]).collect::<Vec<_>>());
        Ok([y[0], taus, y[1]])
    }

    fn step(self, cx: &dyn Emit, [mut a, mut order, k]: [Val; 3]) -> [Val; 3] {
        let ty = cx.ty(a);
        let (rows, columns) = (ty.rank() - 2, ty.rank() - 1);
        let p = cx.add(k, cx.full_like(k, self.offset as i64));
        if self.pivoted {
            (a, order) = exchange(cx, a, order, k);
        }
        let x = cx.dynamic_index_axis(a, columns, k);
        let line = cx.ty(x);
        let (at, below) = (
            where_index(cx, &line, rows, Comparison::Eq, p),
            where_index(cx, &line, rows, Comparison::Gt, p),
        );
        let (zero, one) = (cx.zeros(&line), cx.full(&line, 1i64));
        let alpha = cx.reduce_sum(cx.select(at, x, zero), &[rows]);
        let tail = cx.select(below, x, zero);
        // Components are divided by the largest before they are squared, so squares neither
        // overflow nor underflow.
        let most = largest(cx, cx.select(cx.or(at, below), x, zero), &[rows]);
        let size = |v: Val, most: Val| {
            let v = cx.div(v, cx.convert(most, line.dtype));
            if line.dtype.is_complex() {
                cx.abs2(v)
            } else {
                cx.square(v)
            }
        };
        let rest = cx.reduce_sum(
            size(tail, each(cx, most, &line.with_dtype(line.dtype.real()))),
            &[rows],
        );
        let none = cx.compare(rest, Comparison::Eq, cx.full_like(rest, 0i64));
        let number = |v: Val| {
            if line.dtype.is_complex() {
                cx.real(v)
            } else {
                v
            }
        };
        let done = match line.dtype.is_complex() {
            true => cx.and(
                none,
                cx.compare(cx.imag(alpha), Comparison::Eq, cx.full_like(rest, 0i64)),
            ),
            false => none,
        };
        let square = cx.select(
            done,
            cx.full_like(rest, 1i64),
            cx.add(size(alpha, most), rest),
        );
        let norm = cx.mul(most, cx.sqrt(square));
        let negative = cx.compare(number(alpha), Comparison::Lt, cx.full_like(rest, 0i64));
        let beta = cx.convert(cx.select(negative, norm, cx.neg(norm)), line.dtype);
        let tau = cx.select(
            done,
            cx.full_like(alpha, 0i64),
            cx.div(cx.sub(beta, alpha), beta),
        );
        let scale = cx.select(done, cx.full_like(alpha, 1i64), cx.sub(alpha, beta));
        let v = cx.add(
            cx.div(tail, each(cx, scale, &line)),
            cx.select(at, one, zero),
        );
        let mut next = if self.offset > 0 {
            reflect(cx, a, v, tau, false)
        } else {
            a
        };
        let right = where_index(cx, &ty, columns, Comparison::Gt, k);
        next = cx.select(right, reflect(cx, next, v, cx.conj(tau), true), next);
        let diagonal = cx.select(done, alpha, beta);
        let kept = cx.select(at, each(cx, diagonal, &line), x);
        let column = cx.select(below, v, kept);
        [
            cx.dynamic_update_index_axis(next, column, columns, k),
            order,
            tau,
        ]
    }
}

/// Swaps column `k` with the column `>= k` that has the largest norm over rows `>= k`.
fn exchange(cx: &dyn Emit, a: Val, order: Val, k: Val) -> (Val, Val) {
    let ty = cx.ty(a);
    let (rows, columns) = (ty.rank() - 2, ty.rank() - 1);
    let left = where_index(cx, &ty, rows, Comparison::Ge, k);
    let part = cx.select(left, a, cx.zeros(&ty));
    let part = cx.stop_gradient(part);
    let most = largest(cx, part, &[rows, columns]);
    let part = cx.div(
        part,
        cx.convert(each(cx, most, &ty.with_dtype(ty.dtype.real())), ty.dtype),
    );
    let sizes = if ty.dtype.is_complex() {
        cx.abs2(part)
    } else {
        cx.square(part)
    };
    let sizes = cx.reduce_sum(sizes, &[rows]);
    let (line, index) = (cx.ty(sizes), cx.ty(order));
    let free = where_index(cx, &line, rows, Comparison::Ge, k);
    let longest = cx.argmax(cx.select(free, sizes, cx.full(&line, -1.0)), rows);
    let here = cx.iota(&index, rows);
    let (target, wide) = (
        each(cx, longest, &index),
        cx.broadcast_in_dim(k, &index.shape, &[]),
    );
    let at = |v: Val| cx.compare(here, Comparison::Eq, v);
    let perm = cx.select(at(wide), target, cx.select(at(target), wide, here));
    let of_matrix = along(cx, perm, &ty.with_dtype(DType::I64), false);
    (
        cx.take_along_axis(a, of_matrix, columns, Bounds::Clip),
        cx.take_along_axis(order, perm, rows, Bounds::Clip),
    )
}

/// The leading columns of the product of reflectors, of the shape of `a`.
///
/// # Errors
/// The shapes do not fit, or an extent is not known.
pub fn product_of_reflectors(cx: &dyn Emit, a: Val, taus: Val) -> Result<Val> {
    let ty = cx.ty(a);
    let eye = cx.select(on_diagonal(cx, &ty), cx.full(&ty, 1i64), cx.zeros(&ty));
    apply_reflectors(cx, a, taus, eye, true, false)
}

/// Applies reflectors: `Q c`, or `Qᴴ c` with `adjoint`; from the right `c Q`, or `c Qᴴ`.
///
/// # Errors
/// The shapes do not fit, or an extent is not known.
pub fn apply_reflectors(
    cx: &dyn Emit,
    a: Val,
    taus: Val,
    c: Val,
    left: bool,
    adjoint: bool,
) -> Result<Val> {
    let (ty, factors) = (cx.ty(a), cx.ty(taus));
    let (rank, last) = (ty.rank(), factors.rank().wrapping_sub(1));
    let (Some(steps), true) = (
        factors.shape.last().and_then(Dim::as_const),
        factors.rank() + 1 == rank,
    ) else {
        bail!(
            ShapeMismatch,
            "a product of reflectors of {ty} needs a factor for each, got {factors}"
        );
    };
    if steps == 0 {
        return Ok(c);
    }
    let b = cx.nested("reflect");
    let whole = b.param(ty.clone(), None);
    let state = b.param(cx.ty(c), None);
    let k = b.param(Type::scalar(DType::I64), None);
    let number = Type::new(factors.dtype, factors.shape[..last].to_vec());
    let tau = b.param(number, None);
    let inner: &dyn Emit = &b;
    let x = inner.dynamic_index_axis(whole, rank - 1, k);
    let line = inner.ty(x);
    let at = where_index(inner, &line, rank - 2, Comparison::Eq, k);
    let below = where_index(inner, &line, rank - 2, Comparison::Gt, k);
    let v = inner.select(
        below,
        x,
        inner.select(at, inner.full(&line, 1i64), inner.zeros(&line)),
    );
    let tau = if adjoint { inner.conj(tau) } else { tau };
    let next = reflect(inner, state, v, tau, left);
    let body = Arc::new(b.finish(&[next])?);
    // Q c and c Qᴴ apply the last reflector first.
    let scan = Scan {
        body,
        length: Dim::Const(steps),
        reverse: left != adjoint,
        consts: 1,
        carry: 1,
        checkpoint: Checkpoint::Never,
    };
    let numbers = cx.iota(&Type::new(DType::I64, vec![Dim::Const(steps)]), 0);
    let stacked = cx.transpose(
        taus,
        &std::iter::once(last).chain(0..last).collect::<Vec<_>>(),
    );
    Ok(cx.op(scan, &[a, c, numbers, stacked]))
}
