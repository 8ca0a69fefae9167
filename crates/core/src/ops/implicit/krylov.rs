//! Conjugate gradients and GMRES, written with operations.
//!
//! ```text
//! converged:  |b - A x| <= tol (|b| + |A| |x|)  and  <= √tol |b|       |A| by the largest |A v| / |v| that was seen
//! ```
//! Iterations stop when the backward error reaches rounding. GMRES is the simpler variant, which
//! stores directions and an orthonormal basis of their images. A new direction is the residual
//! while it decreases, otherwise the last image (Jiránek, Rozložník 2010). Restarts recompute the
//! residual. [`Solver::run`](super::Solver) scales the systems of both solvers, so that squared
//! norms do not overflow or underflow.

use super::space::{COMPARABLE_EXPONENTS, Space, count, measure, number};
use super::stopping::{Solution, Stopping};
use crate::dtype::DType;
use crate::ir::{Emit, Val};
use crate::ops::{Apply, Comparison};
use crate::shape::Type;

const DEFAULT_MAX_STEPS: usize = 2000;
/// Maximum number of directions before a restart of GMRES.
const GMRES_RESTART_STEPS: usize = 40;
/// Default tolerance, in rounding errors.
const TOLERANCE_ROUNDINGS: f64 = 128.0;

/// Whether a residual is at the level of rounding, and small relative to `b`, so that a huge `x` is
/// not accepted.
pub(super) fn small(cx: &dyn Emit, r: Val, of_x: Val, of_a: Val, of_b: Val, tol: f64) -> Val {
    let scale = cx.add(of_b, cx.mul(of_a, of_x));
    let below = |c: f64, m: Val| cx.compare(r, Comparison::Le, cx.scale_by(c, m));
    // False if the scale is not finite.
    cx.and(
        cx.is_finite(scale),
        cx.and(below(tol, scale), below(tol.sqrt(), of_b)),
    )
}

/// The larger of a norm and `|y| / |x|`.
fn larger(cx: &dyn Emit, s: &Space, norm: Val, y: &[Val], x: &[Val]) -> Val {
    let seen = cx.div(s.length(cx, y), s.length(cx, x));
    cx.select(cx.compare(seen, Comparison::Gt, norm), seen, norm)
}

/// Scales of rows and columns that make the diagonal elements of a Hermitian positive definite
/// matrix comparable. The norm of a row is about the square root of its diagonal element if rows
/// are coupled, and the element itself otherwise. So half the exponent is applied repeatedly until
/// rows are comparable.
pub(super) fn symmetric_scales(
    cx: &dyn Emit,
    s: &Space,
    apply: &Apply<'_>,
    consts: &[Val],
    product: &[Val],
) -> Vec<Val> {
    let nc = consts.len();
    let first = s.row_scales(cx, product, true, COMPARABLE_EXPONENTS);
    let init = [&[count(cx, 1), s.any_scaled(cx, &first)], &first[..]].concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| cx.and(c[1], cx.compare(c[0], Comparison::Lt, count(cx, 10))),
        |cx, w, c| {
            let d = &c[2..];
            let q = s.times(cx, d, &apply(cx, &w[..nc], &s.times(cx, d, &s.probe(cx))));
            let more = s.row_scales(cx, &q, true, 4.0);
            [
                &[cx.add(c[0], count(cx, 1)), s.any_scaled(cx, &more)],
                &s.times(cx, d, &more)[..],
            ]
            .concat()
        },
    );
    y[2..].to_vec()
}

/// Solves a Hermitian positive definite system.
pub(super) fn cg(
    cx: &dyn Emit,
    apply: &Apply<'_>,
    consts: &[Val],
    b: &[Val],
    stop: Stopping,
) -> Solution {
    let s = Space::of(&b.iter().map(|&b| cx.ty(b)).collect::<Vec<_>>());
    let (n, nc) = (b.len(), consts.len());
    let tol = s.tolerance(stop, TOLERANCE_ROUNDINGS);
    let max = stop.max_steps.unwrap_or(DEFAULT_MAX_STEPS) as i64;
    let of_b = s.length(cx, b);
    // Steps, |A|, <r, r>, then x, r, p.
    let init = [
        vec![count(cx, 0), number(cx, 0.0), s.real_dot(cx, b, b)],
        s.zeros(cx),
        b.to_vec(),
        b.to_vec(),
    ]
    .concat();
    let done = |cx: &dyn Emit, of_b: Val, c: &[Val]| {
        small(
            cx,
            cx.sqrt(c[2]),
            s.length(cx, &c[3..3 + n]),
            c[1],
            of_b,
            tol,
        )
    };
    let y = cx.while_loop(
        &[consts, &[of_b]].concat(),
        &init,
        |cx, w, c| {
            let left = cx.and(
                cx.compare(c[0], Comparison::Lt, count(cx, max)),
                cx.is_finite(c[2]),
            );
            cx.and(left, cx.not(done(cx, w[nc], c)))
        },
        |cx, w, c| {
            let (x, rest) = c[3..].split_at(n);
            let (r, p) = rest.split_at(n);
            let ap = apply(cx, &w[..nc], p);
            let alpha = cx.div(c[2], s.real_dot(cx, p, &ap));
            let x = s.add(cx, x, &s.scale(cx, alpha, p));
            let r = s.sub(cx, r, &s.scale(cx, alpha, &ap));
            let rr = s.real_dot(cx, &r, &r);
            let next = s.add(cx, &r, &s.scale(cx, cx.div(rr, c[2]), p));
            let k = cx.add(c[0], count(cx, 1));
            [vec![k, larger(cx, &s, c[1], &ap, p), rr], x, r, next].concat()
        },
    );
    let x = y[3..3 + n].to_vec();
    let residual = s.length(cx, &s.sub(cx, b, &apply(cx, consts, &x)));
    let converged = small(cx, residual, s.length(cx, &x), y[1], of_b, tol);
    Solution {
        x,
        residual,
        steps: y[0],
        converged,
    }
}

/// Solves a nonsingular system.
pub(super) fn gmres(
    cx: &dyn Emit,
    apply: &Apply<'_>,
    consts: &[Val],
    b: &[Val],
    stop: Stopping,
) -> Solution {
    let s = Space::of(&b.iter().map(|&b| cx.ty(b)).collect::<Vec<_>>());
    let (n, nc) = (b.len(), consts.len());
    let tol = s.tolerance(stop, TOLERANCE_ROUNDINGS);
    let max = stop.max_steps.unwrap_or(DEFAULT_MAX_STEPS) as i64;
    let rows = s
        .dimension()
        .unwrap_or(GMRES_RESTART_STEPS)
        .clamp(1, GMRES_RESTART_STEPS);
    let of_b = s.length(cx, b);
    // Whether a cycle did not reduce the residual, then steps, |A|, |r|, x and r.
    let no = cx.full(&Type::scalar(DType::Bool), false);
    let init = [
        vec![no, count(cx, 0), number(cx, 0.0), of_b],
        s.zeros(cx),
        b.to_vec(),
    ]
    .concat();
    let going = |cx: &dyn Emit, of_b: Val, c: &[Val]| {
        let left = cx.and(
            cx.compare(c[0], Comparison::Lt, count(cx, max)),
            cx.is_finite(c[2]),
        );
        cx.and(
            left,
            cx.not(small(cx, c[2], s.length(cx, &c[3..3 + n]), c[1], of_b, tol)),
        )
    };
    let y = cx.while_loop(
        &[consts, &[of_b], b].concat(),
        &init,
        |cx, w, c| cx.and(cx.not(c[0]), going(cx, w[nc], &c[1..])),
        |cx, w, c| {
            let old = c[3];
            let c = cycle(cx, &s, apply, &w[..=nc], &c[1..], rows, going);
            let x = &c[3..3 + n];
            let r = s.sub(cx, &w[nc + 1..], &apply(cx, &w[..nc], x));
            let new = s.length(cx, &r);
            let vain = cx.compare(new, Comparison::Gt, cx.scale_by(0.999, old));
            [vec![vain, c[0], c[1], new], x.to_vec(), r].concat()
        },
    );
    let converged = small(cx, y[3], s.length(cx, &y[4..4 + n]), y[2], of_b, tol);
    Solution {
        x: y[4..4 + n].to_vec(),
        residual: y[3],
        steps: y[1],
        converged,
    }
}

/// One cycle of up to `rows` directions, from the residual in `c`. `w`: constants, then `|b|`.
fn cycle(
    cx: &dyn Emit,
    s: &Space,
    apply: &Apply<'_>,
    w: &[Val],
    c: &[Val],
    rows: usize,
    going: impl Fn(&dyn Emit, Val, &[Val]) -> Val,
) -> Vec<Val> {
    let n = (c.len() - 3) / 2;
    let nc = w.len() - 1;
    let r = &c[3 + n..];
    let z = s.scale(cx, cx.recip(c[2]), r);
    // Row, then the values of `c`, then the direction, the previous directions and their images.
    let init = [
        &[count(cx, 0)],
        c,
        &z,
        &s.stack(cx, rows),
        &s.stack(cx, rows),
    ]
    .concat();
    let y = cx.while_loop(
        w,
        &init,
        |cx, w, c| {
            let left = cx.compare(c[0], Comparison::Lt, count(cx, rows as i64));
            cx.and(left, going(cx, w[nc], &c[1..4 + 2 * n]))
        },
        |cx, w, c| {
            let (row, steps, of_a, of_r) = (c[0], c[1], c[2], c[3]);
            let part = |k: usize| &c[4 + k * n..4 + (k + 1) * n];
            let (x, r, z, ps, qs) = (part(0), part(1), part(2), part(3), part(4));
            let mut q = apply(cx, &w[..nc], z);
            let of_a = larger(cx, s, of_a, &q, z);
            let mut p = z.to_vec();
            // Two passes of Gram-Schmidt give orthogonality up to rounding.
            for _ in 0..2 {
                let h = s.project(cx, qs, &q);
                q = s.sub(cx, &q, &s.combine(cx, h, qs));
                p = s.sub(cx, &p, &s.combine(cx, h, ps));
            }
            let scale = cx.recip(s.length(cx, &q));
            let (p, q) = (s.scale(cx, scale, &p), s.scale(cx, scale, &q));
            let alpha = s.dot(cx, &q, r);
            let x = s.add(cx, x, &s.scale(cx, alpha, &p));
            let r = s.sub(cx, r, &s.scale(cx, alpha, &q));
            let new = s.length(cx, &r);
            let shrinks = cx.compare(new, Comparison::Le, cx.scale_by(0.9, of_r));
            let z = s.select(cx, shrinks, &s.scale(cx, cx.recip(new), &r), &q);
            let put = |all: &[Val], one: &[Val]| -> Vec<Val> {
                all.iter()
                    .zip(one)
                    .map(|(&all, &v)| cx.dynamic_update_index_axis(all, v, 0, row))
                    .collect()
            };
            let (ps, qs) = (put(ps, &p), put(qs, &q));
            let one = count(cx, 1);
            [
                vec![cx.add(row, one), cx.add(steps, one), of_a, new],
                x,
                r,
                z,
                ps,
                qs,
            ]
            .concat()
        },
    );
    debug_assert!(cx.failed() || cx.ty(y[3]) == measure());
    y[1..4 + 2 * n].to_vec()
}
