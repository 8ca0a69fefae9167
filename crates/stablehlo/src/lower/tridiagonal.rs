//! Tridiagonal systems: LAPACK's `gtsv`, and its variant for singular matrices.
//!
//! Rows are eliminated in order. Each step swaps the current row with the next one if that has the
//! larger leading element, so the upper factor has two superdiagonals:
//!
//! ```text
//! p_i x_i + q_i x_(i+1) + r_i x_(i+2) = b_i
//! ```
//! Both passes are scans over the rows: time and memory are O(n) for each right-hand side.

use super::function::{FunctionLowering, first, one};
use crate::ast::Operation;
use crate::portable::matrix::leading;
use cotangent_core::ops::Comparison;
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};

/// The eliminated rows, with the row as the first axis: pivots, both superdiagonals, and right-hand
/// sides.
struct Eliminated {
    pivots: Val,
    above: [Val; 2],
    b: Val,
}

/// `v` with this axis moved to the front.
fn front(cx: &dyn Emit, v: Val, axis: usize) -> Val {
    let rank = cx.ty(v).rank();
    let perm: Vec<usize> = std::iter::once(axis)
        .chain((0..rank).filter(|&k| k != axis))
        .collect();
    cx.transpose(v, &perm)
}

/// `|re| + |im|`, by which LAPACK selects pivots.
fn size(cx: &dyn Emit, v: Val) -> Val {
    match cx.ty(v).dtype.is_complex() {
        true => cx.add(cx.abs(cx.real(v)), cx.abs(cx.imag(v))),
        false => cx.abs(v),
    }
}

/// `c v` for a number `c` of each system and its right-hand sides `v`.
fn scaled(cx: &dyn Emit, c: Val, v: Val) -> Val {
    cx.mul(leading(cx, c, &cx.ty(v)), v)
}

/// The elimination of a system with the diagonals `dl`, `d` and `du`, of one length. `dl[0]` and
/// `du[n - 1]` are not used.
fn eliminate(cx: &dyn Emit, [dl, d, du, b]: [Val; 4]) -> Eliminated {
    let axis = cx.ty(d).rank() - 1;
    let [dl, d, du, b] = [dl, d, du, b].map(|v| front(cx, v, axis));
    let n = cx.ty(d).shape[0].clone();
    let last = n.affine(1, -1);
    let head = |v: Val| cx.index_axis(v, 0, 0usize);
    let rest = |v: Val| cx.slice_axis(v, 0, 1usize, n.clone());
    let none = cx.zeros(&cx.ty(d).unbatched().batched(&Dim::Const(1)));
    let du = cx.concatenate(&[cx.slice_axis(du, 0, 0usize, last.clone()), none], 0);
    let init = [head(d), head(du), head(b)];
    let rows = [rest(dl), rest(d), rest(du), rest(b)];
    let (c, y) = cx.scan(&[], &init, &rows, &last, false, |cx, _, c, x| {
        let larger = cx.compare(size(cx, x[0]), Comparison::Gt, size(cx, c[0]));
        let choose = |swapped: Val, kept: Val| {
            let swap = leading(cx, larger, &cx.ty(kept).with_dtype(DType::Bool));
            cx.select(swap, swapped, kept)
        };
        let zero = cx.full_like(c[1], 0.0);
        let (pivot, other) = (choose(x[0], c[0]), choose(c[0], x[0]));
        let (q, next_q) = (choose(x[1], c[1]), choose(c[1], x[1]));
        let (r, next_r) = (choose(x[2], zero), choose(zero, x[2]));
        let (b, next_b) = (choose(x[3], c[2]), choose(c[2], x[3]));
        // A zero pivot is next to a zero: there is nothing to eliminate.
        let is_zero = cx.compare(pivot, Comparison::Eq, zero);
        let divisor = cx.select(is_zero, cx.full_like(pivot, 1.0), pivot);
        let factor = cx.div(other, divisor);
        let next = [
            cx.sub(next_q, cx.mul(factor, q)),
            cx.sub(next_r, cx.mul(factor, r)),
            cx.sub(next_b, scaled(cx, factor, b)),
        ];
        (next.to_vec(), vec![pivot, q, r, b])
    });
    if cx.failed() {
        return Eliminated {
            pivots: Val::POISON,
            above: [Val::POISON; 2],
            b: Val::POISON,
        };
    }
    let with = |rows: Val, v: Val| {
        let one = cx.ty(v).batched(&Dim::Const(1));
        cx.concatenate(&[rows, cx.reshape(v, &one.shape)], 0)
    };
    let zero = cx.full_like(c[1], 0.0);
    Eliminated {
        pivots: with(y[0], c[0]),
        above: [with(y[1], zero), with(y[2], zero)],
        b: with(y[3], c[2]),
    }
}

impl Eliminated {
    /// The solution, with the axis of rows before the last one. Pivots are those that `pivot`
    /// returns for `consts`, a pivot and the right-hand sides of its row.
    fn solve(
        &self,
        cx: &dyn Emit,
        consts: &[Val],
        pivot: impl Fn(&dyn Emit, &[Val], Val, Val) -> Val,
    ) -> Val {
        let ty = cx.ty(self.b);
        let zero = cx.zeros(&ty.unbatched());
        let rows = [self.pivots, self.above[0], self.above[1], self.b];
        let step = |cx: &dyn Emit, w: &[Val], c: &[Val], x: &[Val]| {
            let known = cx.add(scaled(cx, x[1], c[0]), scaled(cx, x[2], c[1]));
            let b = cx.sub(x[3], known);
            let y = cx.div(b, leading(cx, pivot(cx, w, x[0], b), &cx.ty(b)));
            (vec![y, c[0]], vec![y])
        };
        let (_, y) = cx.scan(consts, &[zero, zero], &rows, &ty.shape[0], true, step);
        if cx.failed() {
            return Val::POISON;
        }
        let rank = ty.rank();
        let perm: Vec<usize> = (1..rank - 1).chain([0, rank - 1]).collect();
        cx.transpose(y[0], &perm)
    }

    /// The number of the first zero pivot, from 1, or 0.
    fn info(&self, cx: &dyn Emit, ty: &Type) -> Val {
        let sizes = size(cx, self.pivots);
        let counts = cx.ty(sizes).with_dtype(DType::I64);
        let number = cx.add(cx.iota(&counts, 0), cx.full(&counts, 1i64));
        let is_zero = cx.compare(sizes, Comparison::Eq, cx.full_like(sizes, 0.0));
        let none = i64::from(i32::MIN);
        let found = cx.select(is_zero, cx.neg(number), cx.full(&counts, none));
        let first = cx.max_or_least(found, &[0]);
        let regular = cx.compare(first, Comparison::Eq, cx.full_like(first, none));
        let info = cx.select(regular, cx.full_like(first, 0i64), cx.neg(first));
        cx.convert(info, ty.dtype)
    }
}

/// The operands: three diagonals of systems, and right-hand sides.
fn system(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<[Val; 4]> {
    let x: [Val; 4] = first(f, op)?;
    let [dl, d, du, b] = x.map(|v| f.cx().ty(v));
    let like = |ty: &Type| ty.dtype == d.dtype && ty.shape.starts_with(&d.shape);
    let fits = d.dtype.is_inexact() && d.rank() > 0 && b.rank() == d.rank() + 1 && like(&b);
    if !fits || dl != d || du != d {
        bail!(
            ShapeMismatch,
            "`{}` takes three diagonals `[.., n]` and right-hand sides `[.., n, k]` of one \
             floating-point or complex type, got {dl}, {d}, {du} and {b}",
            op.name
        )
    }
    Ok(x)
}

/// Whether there is nothing to solve.
fn is_empty(cx: &dyn Emit, b: Val) -> bool {
    cx.ty(b).shape.iter().any(|n| n.is(0))
}

/// Lowers `gtsv`: the diagonals, the solution, and `info`.
pub(super) fn gtsv(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let x @ [dl, d, du, b] = system(f, op)?;
    let (cx, info) = (f.cx(), f.result(op, 4)?);
    let (x, info) = match is_empty(cx, b) {
        true => (b, cx.zeros(&info)),
        false => {
            let rows = eliminate(cx, x);
            let info = rows.info(cx, &info);
            (rows.solve(cx, &[], |_, _, pivot, _| pivot), info)
        }
    };
    Ok(Vals::from_slice(&[dl, d, du, x, info]))
}

/// Lowers the solution of a system whose matrix may be singular. A pivot by which a quotient would
/// overflow is moved away from zero, by the precision of the largest element of the factor or by
/// what the quotient needs.
pub(super) fn perturbed(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let (cx, x) = (f.cx(), system(f, op)?);
    if is_empty(cx, x[3]) {
        return one(x[3]);
    }
    let rows = eliminate(cx, x);
    let sizes = [rows.pivots, rows.above[0], rows.above[1]].map(|v| cx.abs(v));
    let most = cx.maximum(cx.maximum(sizes[0], sizes[1]), sizes[2]);
    let real = cx.ty(most).dtype;
    let least = match real {
        DType::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    let most = cx.max_or_least(most, &[0]);
    let step = cx.mul(most, cx.full_like(most, real.epsilon()));
    let step = cx.maximum(step, cx.full_like(step, least));
    one(rows.solve(cx, &[step], |cx, w, pivot, b| {
        let columns = cx.ty(b).rank() - 1;
        let most = cx.max_or_least(cx.abs(b), &[columns]);
        let needed = cx.mul(most, cx.full_like(most, least));
        let size = cx.abs(pivot);
        let is_small = cx.or(
            cx.compare(size, Comparison::Lt, needed),
            cx.compare(size, Comparison::Eq, cx.full_like(size, 0.0)),
        );
        let sign = match cx.ty(pivot).dtype.is_complex() {
            true => cx.real(pivot),
            false => pivot,
        };
        let moved = cx.copysign(cx.maximum(w[0], needed), sign);
        let moved = cx.add(pivot, cx.convert(moved, cx.ty(pivot).dtype));
        cx.select(is_small, moved, pivot)
    }))
}
