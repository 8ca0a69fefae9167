//! The iterations: Newton's method, repetition, descent.

use super::krylov;
use super::space::{Space, count, number};
use super::{Solution, Stopping};
use crate::dtype::DType;
use crate::emit::Emit;
use crate::graph::Function;
use crate::ops::Comparison;
use crate::primitive::Val;
use crate::shape::Type;
use std::sync::Arc;

fn space(cx: &dyn Emit, x: &[Val]) -> Space {
    Space::of(&x.iter().map(|&x| cx.ty(x)).collect::<Vec<_>>())
}

fn truth(cx: &dyn Emit, b: bool) -> Val {
    cx.full(&Type::scalar(DType::Bool), b)
}

/// Whether to end: a step is small beside where it led, `|d| <= tol (|x| + tol)`, or not finite.
fn ended(cx: &dyn Emit, s: &Space, step: Val, x: &[Val], tol: f64) -> Val {
    let scale = cx.add(s.norm(cx, x), number(cx, tol));
    let small = cx.compare(step, Comparison::Le, cx.scale_by(tol, scale));
    cx.or(small, cx.not(cx.is_finite(step)))
}

/// Whether to go on: neither done nor at the end of the steps.
fn going(cx: &dyn Emit, steps: Val, done: Val, max: usize) -> Val {
    cx.and(cx.compare(steps, Comparison::Lt, count(cx, max as i64)), cx.not(done))
}

/// The largest of `1, 1/2, 1/4..` for which `good(constants, x - t d)`, or one that is too small to matter.
fn line_search(
    cx: &dyn Emit,
    s: &Space,
    consts: &[Val],
    x: &[Val],
    d: &[Val],
    good: &dyn Fn(&dyn Emit, &[Val], Val, &[Val]) -> Val,
) -> Vec<Val> {
    let (nc, n) = (consts.len(), x.len());
    let at = |cx: &dyn Emit, w: &[Val], t: Val| {
        let (x, d) = w[nc..].split_at(n);
        s.sub(cx, x, &s.scale(cx, t, d))
    };
    let all = [consts, x, d].concat();
    let t = cx.while_loop(
        &all,
        &[number(cx, 1.0)],
        |cx, w, t| {
            let matters = cx.compare(t[0], Comparison::Gt, number(cx, 1e-9));
            cx.and(matters, cx.not(good(cx, &w[..nc], t[0], &at(cx, w, t[0]))))
        },
        |cx, _, t| vec![cx.scale_by(0.5, t[0])],
    );
    at(cx, &all, t[0])
}

/// `f(consts, x) = 0`.
pub(super) fn newton(cx: &dyn Emit, f: &Arc<Function>, consts: &[Val], start: &[Val], stop: Stopping) -> Solution {
    let (s, nc) = (space(cx, start), consts.len());
    let tol = s.newton_tolerance(stop);
    let max = stop.max_steps.unwrap_or(200);
    let jacobian = match super::jacobian(cx.session(), f, nc) {
        Ok(j) => j,
        Err(e) => {
            cx.fail(e);
            return Solution::of(vec![Val::POISON; start.len() + 3]);
        }
    };
    let init = [&[count(cx, 0), truth(cx, false)], start].concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| going(cx, c[0], c[1], max),
        |cx, w, c| {
            let x = &c[2..];
            let at = [w, x].concat();
            let y = cx.inline(f, &at);
            let apply = |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(&jacobian, &[w, v].concat());
            let d = krylov::gmres(cx, &apply, &at, &y, Stopping::default()).x;
            let of_y = s.norm(cx, &y);
            let smaller = |cx: &dyn Emit, w: &[Val], _: Val, x: &[Val]| {
                let new = s.norm(cx, &cx.inline(f, &[&w[..nc], x].concat()));
                cx.compare(new, Comparison::Lt, w[nc])
            };
            let next = line_search(cx, &s, &[w, &[of_y]].concat(), x, &d, &smaller);
            let done = ended(cx, &s, s.norm(cx, &d), &next, tol);
            [vec![cx.add(c[0], count(cx, 1)), done], next].concat()
        },
    );
    let x = y[2..].to_vec();
    let residual = s.norm(cx, &cx.inline(f, &[consts, &x].concat()));
    Solution { x, residual, steps: y[0], converged: cx.and(y[1], cx.is_finite(residual)) }
}

/// `f(consts, x) = x`.
pub(super) fn picard(cx: &dyn Emit, f: &Arc<Function>, consts: &[Val], start: &[Val], stop: Stopping) -> Solution {
    let s = space(cx, start);
    let tol = s.tolerance(stop, 64.0);
    let max = stop.max_steps.unwrap_or(10_000);
    let init = [&[count(cx, 0), truth(cx, false), number(cx, f64::INFINITY)], start].concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| going(cx, c[0], c[1], max),
        |cx, w, c| {
            let x = &c[3..];
            let next = cx.inline(f, &[w, x].concat());
            let step = s.norm(cx, &s.sub(cx, &next, x));
            let done = ended(cx, &s, step, &next, tol);
            [vec![cx.add(c[0], count(cx, 1)), done, step], next].concat()
        },
    );
    Solution { x: y[3..].to_vec(), residual: y[2], steps: y[0], converged: cx.and(y[1], cx.is_finite(y[2])) }
}

/// The direction `H d = g` by conjugate gradients, up to where the curvature is negative: what was found until there,
/// or the gradient.
fn direction(cx: &dyn Emit, s: &Space, hessian: &Arc<Function>, at: &[Val], g: &[Val]) -> Vec<Val> {
    let (n, nc) = (g.len(), at.len());
    let max = s.dimension().map_or(200, |d| 2 * d + 10) as i64;
    let gg = s.real_dot(cx, g, g);
    // Steps, <r, r>, whether the curvature was negative, then d, r, p.
    let init = [vec![count(cx, 0), gg, truth(cx, false)], s.zeros(cx), g.to_vec(), g.to_vec()].concat();
    let y = cx.while_loop(
        &[at, &[gg]].concat(),
        &init,
        |cx, w, c| {
            let small = cx.compare(c[1], Comparison::Le, cx.scale_by(1e-28, w[nc]));
            going(cx, c[0], cx.or(c[2], small), max as usize)
        },
        |cx, w, c| {
            let (d, rest) = c[3..].split_at(n);
            let (r, p) = rest.split_at(n);
            let hp = cx.inline(hessian, &[&w[..nc], p].concat());
            let curvature = s.real_dot(cx, p, &hp);
            let bad = cx.not(cx.compare(curvature, Comparison::Gt, number(cx, 0.0)));
            let alpha = cx.div(c[1], curvature);
            let d = s.select(cx, bad, d, &s.add(cx, d, &s.scale(cx, alpha, p)));
            let r = s.select(cx, bad, r, &s.sub(cx, r, &s.scale(cx, alpha, &hp)));
            let rr = s.real_dot(cx, &r, &r);
            let next = s.add(cx, &r, &s.scale(cx, cx.div(rr, c[1]), p));
            [vec![cx.add(c[0], count(cx, 1)), rr, bad], d, r, next].concat()
        },
    );
    let first = cx.and(y[2], cx.compare(y[0], Comparison::Le, count(cx, 1)));
    s.select(cx, first, g, &y[3..3 + n])
}

/// Where the real scalar `f(consts, x)` is least; `g` is its gradient in `x`.
pub(super) fn descent(
    cx: &dyn Emit,
    f: &Arc<Function>,
    g: &Arc<Function>,
    consts: &[Val],
    start: &[Val],
    stop: Stopping,
) -> Solution {
    let (s, nc) = (space(cx, start), consts.len());
    let tol = s.newton_tolerance(stop);
    let max = stop.max_steps.unwrap_or(200);
    let hessian = match super::jacobian(cx.session(), g, nc) {
        Ok(h) => h,
        Err(e) => {
            cx.fail(e);
            return Solution::of(vec![Val::POISON; start.len() + 3]);
        }
    };
    let wide = |cx: &dyn Emit, v: Val| if cx.ty(v).dtype == DType::F64 { v } else { cx.convert(v, DType::F64) };
    let rounding = s.tolerance(Stopping::default(), 4.0);
    let init = [&[count(cx, 0), truth(cx, false)], start].concat();
    let y = cx.while_loop(
        consts,
        &init,
        |cx, _, c| going(cx, c[0], c[1], max),
        |cx, w, c| {
            let x = &c[2..];
            let at = [w, x].concat();
            let value = wide(cx, cx.inline(f, &at)[0]);
            let slope = cx.inline(g, &at);
            let d = direction(cx, &s, &hessian, &at, &slope);
            let along = s.real_dot(cx, &slope, &d);
            // Armijo's condition, where rounding does not hide it.
            let lower = |cx: &dyn Emit, w: &[Val], t: Val, x: &[Val]| {
                let new = wide(cx, cx.inline(f, &[&w[..nc], x].concat())[0]);
                let least = cx.scale_by(1e-4, cx.mul(t, w[nc + 1]));
                let slack = cx.scale_by(rounding, cx.abs(w[nc]));
                cx.compare(new, Comparison::Le, cx.add(cx.sub(w[nc], least), slack))
            };
            let next = line_search(cx, &s, &[w, &[value, along]].concat(), x, &d, &lower);
            let done = ended(cx, &s, s.norm(cx, &d), &next, tol);
            [vec![cx.add(c[0], count(cx, 1)), done], next].concat()
        },
    );
    let x = y[2..].to_vec();
    let residual = s.norm(cx, &cx.inline(g, &[consts, &x].concat()));
    Solution { x, residual, steps: y[0], converged: cx.and(y[1], cx.is_finite(residual)) }
}
