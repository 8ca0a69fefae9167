//! The iterations: Newton's method, fixed-point iteration, gradient descent.
//!
//! Each ends when a step is small relative to the new iterate, `|d| <= tol |x|`. The test is
//! invariant under scaling of equations, losses and unknowns. This is a heuristic. A residual that
//! underflows as `x` grows is no root (`exp(-x)` has none): there the derivative vanishes, too,
//! while the last step is not small ([`regular`]). A point from which the loss decreases without
//! bound, or along another direction ([`curved`]), is no minimum.

use super::jacobian::jacobian;
use super::solver::Solver;
use super::space::{COMPARABLE_EXPONENTS, Space, count, measure, number};
use super::stopping::{Solution, Stopping};
use crate::dtype::DType;
use crate::ir::{Emit, Function, Val};
use crate::ops::Comparison;
use crate::shape::Type;
use std::sync::Arc;

fn space(cx: &dyn Emit, x: &[Val]) -> Space {
    Space::of(&x.iter().map(|&x| cx.ty(x)).collect::<Vec<_>>())
}

fn truth(cx: &dyn Emit, b: bool) -> Val {
    cx.full(&Type::scalar(DType::Bool), b)
}

fn at_most(cx: &dyn Emit, x: Val, c: f64, y: Val) -> Val {
    cx.compare(x, Comparison::Le, cx.scale_by(c, y))
}

/// Whether a step is small relative to the new iterate, or the residual is zero.
fn arrived(cx: &dyn Emit, step: Val, x: Val, left: Val, tol: f64) -> Val {
    let some = cx.compare(step, Comparison::Gt, number(cx, 0.0));
    let zero = cx.compare(left, Comparison::Eq, number(cx, 0.0));
    cx.and(
        cx.and(at_most(cx, step, tol, x), cx.is_finite(x)),
        cx.or(some, zero),
    )
}

/// Whether to continue: not done, and fewer than `max` steps.
fn going(cx: &dyn Emit, steps: Val, done: Val, max: usize) -> Val {
    cx.and(
        cx.compare(steps, Comparison::Lt, count(cx, max as i64)),
        cx.not(done),
    )
}

/// Loop carries of Newton-type methods, besides the unknowns and the last step.
struct NewtonState;

/// Default maximum number of steps that do not halve the residual, and of all steps.
const MAX_SLOW_STEPS: usize = 200;
const MAX_TOTAL_STEPS: usize = 5000;

impl NewtonState {
    const VALUES: usize = 6;

    /// The initial state: steps, slow steps, whether done, `|d|`, the residual before the step, and
    /// the largest `|x|`.
    fn start(cx: &dyn Emit, s: &Space, x: &[Val]) -> Vec<Val> {
        let (none, infinite) = (count(cx, 0), number(cx, f64::INFINITY));
        vec![
            none,
            none,
            truth(cx, false),
            number(cx, 0.0),
            infinite,
            s.norm(cx, x),
        ]
    }

    fn going(cx: &dyn Emit, c: &[Val], stop: Stopping) -> Val {
        let slow = cx.compare(
            c[1],
            Comparison::Lt,
            count(cx, stop.max_steps.unwrap_or(MAX_SLOW_STEPS) as i64),
        );
        cx.and(
            slow,
            going(cx, c[0], c[2], stop.max_steps.unwrap_or(MAX_TOTAL_STEPS)),
        )
    }

    /// The state after the step `d` to `x`, from an iterate with residual `left`; and the last
    /// nonzero step, previously `old`.
    fn step(
        cx: &dyn Emit,
        s: &Space,
        c: &[Val],
        [old, d, x]: [&[Val]; 3],
        left: Val,
        tol: f64,
    ) -> Vec<Val> {
        let (of_d, of_x) = (s.norm(cx, d), s.norm(cx, x));
        let lost = cx.not(cx.and(cx.is_finite(of_d), cx.is_finite(left)));
        let done = cx.or(arrived(cx, of_d, of_x, left, tol), lost);
        let slow = cx.not(at_most(cx, left, 0.5, c[4]));
        let slow = cx.add(c[1], cx.convert(slow, DType::I64));
        // If the residual is zero, the last step stays the previous one.
        let still = cx.compare(left, Comparison::Eq, number(cx, 0.0));
        let keep = |old: Val, new: Val| cx.select(still, old, new);
        let top = cx.select(cx.compare(of_x, Comparison::Gt, c[5]), of_x, c[5]);
        let pace = vec![
            cx.add(c[0], count(cx, 1)),
            slow,
            done,
            keep(c[3], of_d),
            keep(c[4], left),
            top,
        ];
        [pace, s.select(cx, still, old, d)].concat()
    }
}

/// Whether the end of Newton's method is regular: its last step was small, or there was no step, or
/// the derivative along it is not negligible. It is not regular where a function underflows toward
/// infinity.
fn regular(cx: &dyn Emit, s: &Space, c: &[Val], x: &[Val], along: &[Val], tol: f64) -> Val {
    let reach = cx.add(s.norm(cx, x), cx.scale_by(tol, c[5]));
    let small = at_most(cx, c[3], tol, reach);
    let first = cx.not(cx.is_finite(c[4]));
    // The factor is on this side, because 1e-3 times the smallest number underflows to zero.
    let there = cx.compare(cx.scale_by(1e3, s.norm(cx, along)), Comparison::Ge, c[4]);
    cx.or(first, cx.or(small, there))
}

/// The largest `t` of `1, 1/2, 1/4..` for which `good(constants, t, x - t d)`, or a negligible one.
fn line_search(
    cx: &dyn Emit,
    s: &Space,
    consts: &[Val],
    x: &[Val],
    d: &[Val],
    good: impl Fn(&dyn Emit, &[Val], Val, &[Val]) -> Val,
) -> Val {
    let nc = consts.len();
    cx.while_loop(
        &[consts, x, d].concat(),
        &[number(cx, 1.0)],
        |cx, w, t| {
            let matters = cx.compare(t[0], Comparison::Gt, number(cx, 1e-9));
            cx.and(
                matters,
                cx.not(good(cx, &w[..nc], t[0], &along(cx, s, &w[nc..], t[0]))),
            )
        },
        |cx, _, t| vec![cx.scale_by(0.5, t[0])],
    )[0]
}

/// `x - t d` for `xd`, the list of `x` and `d`.
fn along(cx: &dyn Emit, s: &Space, xd: &[Val], t: Val) -> Vec<Val> {
    let (x, d) = xd.split_at(xd.len() / 2);
    s.sub(cx, x, &s.scale(cx, t, d))
}

fn poison(x: &[Val]) -> Solution {
    Solution::of(vec![Val::POISON; x.len() + 3])
}

/// `f(consts, x) = 0`.
pub(super) fn newton(
    cx: &dyn Emit,
    f: &Arc<Function>,
    consts: &[Val],
    start: &[Val],
    stop: Stopping,
) -> Solution {
    let (s, nc, n) = (space(cx, start), consts.len(), start.len());
    let tol = s.newton_tolerance(stop);
    let jacobian = match jacobian(cx.session(), f, nc) {
        Ok(j) => j,
        Err(e) => {
            cx.fail(e);
            return poison(start);
        }
    };
    let init = [
        NewtonState::start(cx, &s, start),
        s.zeros(cx),
        start.to_vec(),
    ]
    .concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| NewtonState::going(cx, c, stop),
        |cx, w, c| {
            let (last, x) = c[NewtonState::VALUES..].split_at(n);
            let at = [w, x].concat();
            let y = cx.inline(f, &at);
            let apply =
                |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(&jacobian, &[w, v].concat());
            let d = Solver::Gmres
                .run(cx, &apply, &at, &y, Stopping::default())
                .x;
            // Residuals of equations are scaled as in the linear solver, by the norms of rows.
            let rows = s.row_scales(
                cx,
                &apply(cx, &at, &s.probe(cx)),
                false,
                COMPARABLE_EXPONENTS,
            );
            let of_y = s.norm(cx, &s.times(cx, &rows, &y));
            let smaller = |cx: &dyn Emit, w: &[Val], _: Val, x: &[Val]| {
                let y = cx.inline(f, &[&w[..nc], x].concat());
                cx.compare(
                    s.norm(cx, &s.times(cx, &w[nc + 1..], &y)),
                    Comparison::Lt,
                    w[nc],
                )
            };
            let t = line_search(cx, &s, &[w, &[of_y], &rows].concat(), x, &d, smaller);
            let next = along(cx, &s, &[x, &d].concat(), t);
            [
                NewtonState::step(cx, &s, c, [last, &d, &next], of_y, tol),
                next,
            ]
            .concat()
        },
    );
    let (last, x) = y[NewtonState::VALUES..].split_at(n);
    let at = [consts, x].concat();
    let residual = s.norm(cx, &cx.inline(f, &at));
    let derivative = |v: &[Val]| cx.inline(&jacobian, &[&at, v].concat());
    let rows = s.row_scales(cx, &derivative(&s.probe(cx)), false, COMPARABLE_EXPONENTS);
    let moved = s.times(cx, &rows, &derivative(last));
    let sound = cx.and(cx.is_finite(residual), regular(cx, &s, &y, x, &moved, tol));
    let converged = cx.and(cx.and(y[2], cx.is_finite(y[3])), sound);
    Solution {
        x: x.to_vec(),
        residual,
        steps: y[0],
        converged,
    }
}

/// `f(consts, x) = x`.
pub(super) fn picard(
    cx: &dyn Emit,
    f: &Arc<Function>,
    consts: &[Val],
    start: &[Val],
    stop: Stopping,
) -> Solution {
    let s = space(cx, start);
    let tol = s.tolerance(stop, 64.0);
    let max = stop.max_steps.unwrap_or(10_000);
    // Steps, whether done, the last step, the largest |x|.
    let infinite = number(cx, f64::INFINITY);
    let init = [
        &[count(cx, 0), truth(cx, false), infinite, s.norm(cx, start)],
        start,
    ]
    .concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| going(cx, c[0], c[1], max),
        |cx, w, c| {
            let x = &c[4..];
            let next = cx.inline(f, &[w, x].concat());
            let (step, of_x) = (s.norm(cx, &s.sub(cx, &next, x)), s.norm(cx, &next));
            let done = cx.or(
                arrived(cx, step, of_x, step, tol),
                cx.not(cx.is_finite(step)),
            );
            let top = cx.select(cx.compare(of_x, Comparison::Gt, c[3]), of_x, c[3]);
            [vec![cx.add(c[0], count(cx, 1)), done, step, top], next].concat()
        },
    );
    // Iterates that still decrease to zero when the steps end count as converged if the last step
    // is below `tol²` times the largest iterate.
    let near = cx.and(at_most(cx, y[2], tol * tol, y[3]), cx.is_finite(y[3]));
    let converged = cx.and(cx.or(y[1], near), cx.is_finite(y[2]));
    Solution {
        x: y[4..].to_vec(),
        residual: y[2],
        steps: y[0],
        converged,
    }
}

/// The direction `H d = g` by conjugate gradients, truncated at negative curvature. Then it is the
/// current iterate, or the gradient with the length given by the curvature, at most that of `x`.
/// Also returns the ratio of the least to the largest curvature.
fn direction(
    cx: &dyn Emit,
    s: &Space,
    hessian: &Arc<Function>,
    at: &[Val],
    g: &[Val],
    of_x: Val,
) -> (Vec<Val>, Val) {
    let (n, nc) = (g.len(), at.len());
    let max = s.dimension().map_or(200, |d| 2 * d + 10) as i64;
    let of_g = s.exponent(cx, g);
    let g = s.shift(cx, cx.neg(of_g), g);
    let of_h = s.exponent(cx, &cx.inline(hessian, &[at, &g].concat()));
    let (gg, rate, zero) = (
        s.real_dot(cx, &g, &g),
        cx.exp2(cx.neg(of_h)),
        number(cx, 0.0),
    );
    // Steps, <r, r>, whether the curvature was negative, the last, the largest and the least
    // curvature, then d, r, p.
    let init = [
        vec![count(cx, 0), gg, truth(cx, false), zero, zero, zero],
        s.zeros(cx),
        g.clone(),
        g.clone(),
    ]
    .concat();
    let y = cx.while_loop(
        &[at, &[gg, rate]].concat(),
        &init,
        |cx, w, c| {
            let small = cx.compare(c[1], Comparison::Le, cx.scale_by(1e-28, w[nc]));
            going(cx, c[0], cx.or(c[2], small), max as usize)
        },
        |cx, w, c| {
            let (d, rest) = c[6..].split_at(n);
            let (r, p) = rest.split_at(n);
            let hp = s.scale(cx, w[nc + 1], &cx.inline(hessian, &[&w[..nc], p].concat()));
            let (curvature, pp) = (s.real_dot(cx, p, &hp), s.real_dot(cx, p, p));
            let bad = cx.not(cx.compare(curvature, Comparison::Gt, number(cx, 0.0)));
            let alpha = cx.div(c[1], curvature);
            let d = s.select(cx, bad, d, &s.add(cx, d, &s.scale(cx, alpha, p)));
            let r = s.select(cx, bad, r, &s.sub(cx, r, &s.scale(cx, alpha, &hp)));
            let rr = s.real_dot(cx, &r, &r);
            let next = s.add(cx, &r, &s.scale(cx, cx.div(rr, c[1]), p));
            let of = cx.div(curvature, pp);
            let size = cx.div(s.length(cx, &hp), cx.sqrt(pp));
            let most = cx.select(cx.compare(size, Comparison::Gt, c[4]), size, c[4]);
            let least = cx.select(cx.compare(of, Comparison::Lt, c[5]), of, c[5]);
            [
                vec![cx.add(c[0], count(cx, 1)), rr, bad, of, most, least],
                d,
                r,
                next,
            ]
            .concat()
        },
    );
    let turned = cx.and(y[2], cx.compare(y[0], Comparison::Le, count(cx, 1)));
    let shift = cx.sub(of_g, of_h);
    let found = s.shift(cx, shift, &y[6..6 + n]);
    // Without curvature the only length scale is that of x, or 1.
    let some = cx.compare(of_x, Comparison::Gt, number(cx, 0.0));
    let longest = cx.select(some, of_x, number(cx, 1.0));
    let of_g = s.length(cx, &g);
    let length = Space::of(&[measure()]).shift(cx, shift, &[cx.div(of_g, cx.abs(y[3]))])[0];
    let length = cx.select(cx.compare(length, Comparison::Lt, longest), length, longest);
    let back = s.scale(cx, cx.div(length, of_g), &g);
    (s.select(cx, turned, &back, &found), cx.div(y[5], y[4]))
}

/// Whether conjugate gradients from a generic direction find no negative curvature of the Hessian.
fn curved(cx: &dyn Emit, s: &Space, hessian: &Arc<Function>, at: &[Val]) -> Val {
    let (_, least) = direction(cx, s, hessian, at, &s.probe(cx), number(cx, 1.0));
    cx.not(cx.compare(least, Comparison::Lt, number(cx, -s.flat())))
}

/// The loss and its gradient, of constants and unknowns.
struct Loss<'a> {
    f: &'a Arc<Function>,
    g: &'a Arc<Function>,
    /// Relative rounding error of a value.
    rounding: f64,
}

impl Loss<'_> {
    fn value(&self, cx: &dyn Emit, consts: &[Val], x: &[Val]) -> Val {
        let y = cx.inline(self.f, &[consts, x].concat())[0];
        if cx.ty(y).dtype == DType::F64 {
            y
        } else {
            cx.convert(y, DType::F64)
        }
    }

    /// The step length along `d`: shortened if the full step decreases the loss too little. If
    /// steps do not shrink as those of Newton's method do (`again`), the step is tripled while the
    /// loss decreases. So inflection points are passed, and minima of higher order are reached
    /// faster.
    fn length(
        &self,
        cx: &dyn Emit,
        s: &Space,
        w: &[Val],
        xd: &[Val],
        slope: &[Val],
        again: Val,
    ) -> Val {
        let (nc, (x, d)) = (w.len(), xd.split_at(xd.len() / 2));
        let (value, fall) = (self.value(cx, w, x), s.real_dot(cx, slope, d));
        // Armijo's condition, unless rounding hides it.
        let lower = |cx: &dyn Emit, w: &[Val], t: Val, x: &[Val]| {
            let new = self.value(cx, &w[..nc], x);
            let least = cx.scale_by(1e-4, cx.mul(t, w[nc + 1]));
            let slack = cx.scale_by(self.rounding, cx.abs(w[nc]));
            cx.compare(new, Comparison::Le, cx.add(cx.sub(w[nc], least), slack))
        };
        let t = line_search(cx, s, &[w, &[value, fall]].concat(), x, d, lower);
        let whole = cx.compare(t, Comparison::Eq, number(cx, 1.0));
        let farther = |cx: &dyn Emit, w: &[Val], t: Val| {
            let at = along(cx, s, &w[nc + 2..], t);
            let new = self.value(cx, &w[..nc], &at);
            let slack = cx.scale_by(self.rounding, cx.abs(w[nc]));
            let falls = s.real_dot(
                cx,
                &cx.inline(self.g, &[&w[..nc], &at].concat()),
                &w[nc + 2 + x.len()..],
            );
            let lower = cx.compare(new, Comparison::Le, cx.add(w[nc], slack));
            let down = cx.compare(falls, Comparison::Gt, number(cx, 0.0));
            let more = cx.compare(t, Comparison::Lt, number(cx, 1e19));
            cx.and(
                cx.and(w[nc + 1], more),
                cx.and(cx.is_finite(new), cx.and(lower, down)),
            )
        };
        let consts = [w, &[value, cx.and(whole, again)], xd].concat();
        let thrice = |cx: &dyn Emit, t: Val| cx.scale_by(3.0, t);
        cx.while_loop(
            &consts,
            &[t],
            |cx, w, t| farther(cx, w, thrice(cx, t[0])),
            |cx, _, t| vec![thrice(cx, t[0])],
        )[0]
    }
}

/// Minimizes the real scalar `f(consts, x)`. `g` is its gradient in `x`.
pub(super) fn descent(
    cx: &dyn Emit,
    f: &Arc<Function>,
    g: &Arc<Function>,
    consts: &[Val],
    start: &[Val],
    stop: Stopping,
) -> Solution {
    let (s, nc, n) = (space(cx, start), consts.len(), start.len());
    let tol = s.newton_tolerance(stop);
    let hessian = match jacobian(cx.session(), g, nc) {
        Ok(h) => h,
        Err(e) => {
            cx.fail(e);
            return poison(start);
        }
    };
    let loss = Loss {
        f,
        g,
        rounding: s.tolerance(Stopping::default(), 4.0),
    };
    let init = [
        NewtonState::start(cx, &s, start),
        s.zeros(cx),
        start.to_vec(),
    ]
    .concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| NewtonState::going(cx, c, stop),
        |cx, w, c| {
            let (last, x) = c[NewtonState::VALUES..].split_at(n);
            let at = [w, x].concat();
            let slope = cx.inline(g, &at);
            let (d, _) = direction(cx, &s, &hessian, &at, &slope, s.norm(cx, x));
            let stays = cx.compare(s.norm(cx, &d), Comparison::Gt, cx.scale_by(0.1, c[3]));
            let again = cx.and(stays, cx.compare(c[0], Comparison::Gt, count(cx, 0)));
            let t = loss.length(cx, &s, w, &[x, &d].concat(), &slope, again);
            let next = along(cx, &s, &[x, &d].concat(), t);
            // A lengthened step counts with its actual length, a shortened one with its full
            // length.
            let one = number(cx, 1.0);
            let d = s.scale(
                cx,
                cx.select(cx.compare(t, Comparison::Gt, one), t, one),
                &d,
            );
            [
                NewtonState::step(cx, &s, c, [last, &d, &next], s.norm(cx, &slope), tol),
                next,
            ]
            .concat()
        },
    );
    let (last, x) = y[NewtonState::VALUES..].split_at(n);
    let at = [consts, x].concat();
    let residual = s.norm(cx, &cx.inline(g, &at));
    let moved = cx.inline(&hessian, &[&at, last].concat());
    let finite = cx.and(
        cx.is_finite(residual),
        cx.is_finite(loss.value(cx, consts, x)),
    );
    let sound = cx.and(finite, regular(cx, &s, &y, x, &moved, tol));
    // A start without a descent direction is returned unchanged.
    let stayed = cx.not(cx.is_finite(y[4]));
    let sound = cx.and(sound, cx.or(stayed, curved(cx, &s, &hessian, &at)));
    let converged = cx.and(cx.and(y[2], cx.is_finite(y[3])), sound);
    Solution {
        x: x.to_vec(),
        residual,
        steps: y[0],
        converged,
    }
}
