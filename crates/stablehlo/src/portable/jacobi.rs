//! Parallel Jacobi rotations, for eigenvalues and singular values.
//!
//! The columns are split into a left and a right half. A step rotates column `i` of one half with
//! column `i` of the other, for all `i` together. The columns then move by one place, as in a
//! round-robin tournament: a sweep of `n - 1` steps meets every pair once and restores the order.

use super::matrix::{on_columns, phase, scaled};
use cotangent_core::ops::Comparison;
use cotangent_core::primitive::Val;
use cotangent_core::{DType, Dim, Emit, Type};

/// Largest number of rows (eigh) or of the smaller extent (svd).
pub(super) const MAX_EXTENT: usize = 512;

/// Maximum number of sweeps. Convergence is quadratic: matrices of this size need 8 to 15.
const MAX_SWEEPS: i64 = 40;

/// Rotations of pairs of columns: `x' = c x - s e y` and `y' = s x + c e y`, with `|e| = 1`.
pub(super) struct Rotation {
    pub cosine: Val,
    pub sine: Val,
    pub phase: Val,
    /// The tangent of the angle.
    pub tangent: Val,
}

/// The rotations that diagonalise `[[p, z], [conj z, q]]` where `rotates` is true; elsewhere the
/// identity.
pub(super) fn rotation(cx: &dyn Emit, p: Val, q: Val, z: Val, rotates: Val) -> Rotation {
    let number = |c: f64| cx.full_like(p, c);
    let size = cx.select(rotates, cx.abs(z), number(1.0));
    let tau = cx.div(cx.sub(q, p), cx.mul(number(2.0), size));
    let down = cx.compare(tau, Comparison::Lt, number(0.0));
    let root = cx.sqrt(cx.add(number(1.0), cx.square(tau)));
    let t = cx.recip(cx.add(cx.abs(tau), root));
    let t = cx.select(down, cx.neg(t), t);
    let t = cx.select(rotates, t, number(0.0));
    // 1 / sqrt(1 + t^2) in the form 1 - d: rounding that has one sign for small angles would change
    // the lengths of vectors.
    let u = cx.add(number(1.0), cx.square(t));
    let d = cx.div(cx.square(t), cx.add(u, cx.sqrt(u)));
    let c = cx.sub(number(1.0), d);
    let e = cx.conj(phase(cx, z));
    Rotation {
        cosine: c,
        sine: cx.mul(t, c),
        phase: cx.select(rotates, e, cx.full_like(e, 1.0)),
        tangent: t,
    }
}

impl Rotation {
    /// Rotates columns.
    pub(super) fn columns(&self, cx: &dyn Emit, x: Val, y: Val) -> (Val, Val) {
        let ty = cx.ty(x);
        self.apply(cx, x, y, &|v| {
            on_columns(cx, v, &ty.with_dtype(cx.ty(v).dtype))
        })
    }

    /// Rotates rows by the adjoint.
    pub(super) fn rows(&self, cx: &dyn Emit, x: Val, y: Val) -> (Val, Val) {
        let adjoint = Rotation {
            phase: cx.conj(self.phase),
            ..*self
        };
        let ty = cx.ty(x);
        adjoint.apply(cx, x, y, &|v| {
            super::matrix::leading(cx, v, &ty.with_dtype(cx.ty(v).dtype))
        })
    }

    fn apply(&self, cx: &dyn Emit, x: Val, y: Val, spread: &dyn Fn(Val) -> Val) -> (Val, Val) {
        let (c, s) = (spread(self.cosine), spread(self.sine));
        let y = if cx.ty(y).dtype.is_complex() {
            cx.mul(spread(self.phase), y)
        } else {
            cx.mul(y, spread(self.phase))
        };
        (
            cx.sub(scaled(cx, c, x), scaled(cx, s, y)),
            cx.add(scaled(cx, s, x), scaled(cx, c, y)),
        )
    }
}

/// The next step's order of columns or rows: the first one stays, the others move by one place.
pub(super) fn moved(cx: &dyn Emit, first: Val, second: Val, axis: usize) -> (Val, Val) {
    let h = cx.ty(first).shape[axis].as_const().unwrap_or(0);
    if h < 2 {
        return (first, second);
    }
    let part = |v: Val, from: usize, to: usize| cx.slice_axis(v, axis, from, to);
    let one = [part(first, 0, 1), part(second, 0, 1)];
    let first_next = match h {
        2 => cx.concatenate(&one, axis),
        _ => cx.concatenate(&[one[0], one[1], part(first, 1, h - 1)], axis),
    };
    let second_next = cx.concatenate(&[part(second, 1, h), part(first, h - 1, h)], axis);
    (first_next, second_next)
}

/// As [`moved`], for rotations of the columns of one half with those of the other alone: the second
/// half moves, and after as many steps as it has columns it has its order again.
pub(super) fn moved_across(cx: &dyn Emit, first: Val, second: Val, axis: usize) -> (Val, Val) {
    let h = cx.ty(second).shape[axis].as_const().unwrap_or(0);
    if h < 2 {
        return (first, second);
    }
    let part = |from: usize, to: usize| cx.slice_axis(second, axis, from, to);
    (first, cx.concatenate(&[part(1, h), part(0, 1)], axis))
}

/// Runs `steps` steps. A step maps the state to the next one and to a mask of the matrices in which
/// it rotates a pair; it reads `bound`. Returns the state, and a mask of the matrices in which any
/// step rotated a pair.
pub(super) fn sweep(
    cx: &dyn Emit,
    bound: Val,
    state: &[Val],
    steps: usize,
    step: impl FnOnce(&dyn Emit, Val, &[Val]) -> (Vec<Val>, Val),
) -> (Vec<Val>, Val) {
    let mask = cx.ty(bound).with_dtype(DType::Bool);
    let start = [&[cx.full(&mask, false)], state].concat();
    let steps = Dim::Const(steps);
    let (next, _) = cx.scan(&[bound], &start, &[], &steps, false, |cx, w, c, _| {
        let (state, rotated) = step(cx, w[0], &c[1..]);
        ([vec![cx.or(c[0], rotated)], state].concat(), vec![])
    });
    (next[1..].to_vec(), next[0])
}

/// Runs sweeps until no pair of a sweep is rotated, in any matrix. A sweep has the arguments and
/// results of a step. Returns the state, and the mask of the last sweep: the matrices that did not
/// converge.
pub(super) fn sweeps(
    cx: &dyn Emit,
    bound: Val,
    state: &[Val],
    sweep: impl FnOnce(&dyn Emit, Val, &[Val]) -> (Vec<Val>, Val),
) -> (Vec<Val>, Val) {
    let number = Type::scalar(DType::I32);
    let mask = cx.ty(bound).with_dtype(DType::Bool);
    let init = [&[cx.full(&number, 0i64), cx.full(&mask, true)], state].concat();
    let y = cx.while_loop(
        &[bound],
        &init,
        |cx, _, c| {
            let axes: Vec<usize> = (0..mask.rank()).collect();
            let any = cx.reduce_any(c[1], &axes);
            let more = cx.compare(c[0], Comparison::Lt, cx.full(&number, MAX_SWEEPS));
            cx.and(any, more)
        },
        |cx, w, c| {
            let (next, rotated) = sweep(cx, w[0], &c[2..]);
            let count = cx.add(c[0], cx.full(&number, 1i64));
            [vec![count, rotated], next].concat()
        },
    );
    (y[2..].to_vec(), y[1])
}

/// The left and the right half of an axis of even extent.
pub(super) fn halves(cx: &dyn Emit, v: Val, axis: usize) -> (Val, Val) {
    let n = cx.ty(v).shape[axis].as_const().unwrap_or(0);
    (
        cx.slice_axis(v, axis, 0usize, n / 2),
        cx.slice_axis(v, axis, n / 2, n),
    )
}

/// Zeros appended to axes, up to an extent.
pub(super) fn padded(cx: &dyn Emit, v: Val, axes: &[usize], extent: usize) -> Val {
    let ty = cx.ty(v);
    let none = vec![0i64; ty.rank()];
    let mut high = none.clone();
    for &a in axes {
        high[a] = (extent - ty.shape[a].as_const().unwrap_or(extent)) as i64;
    }
    if high == none {
        v
    } else {
        cx.pad_zeros(v, &none, &high, &vec![0; ty.rank()])
    }
}
