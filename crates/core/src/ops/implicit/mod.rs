//! Values defined by an equation: roots, fixed points, minima.
//!
//! ```text
//! r(c, x) = 0          dx = -(∂r/∂x)⁻¹ ∂r/∂c dc          r = f,   r = x - F,   r = ∇f
//! ```
//! The steps of the iteration are not differentiated. The rule is the derivative of the equation,
//! written with [`linear_solve`](super::linear_solve). So reverse mode costs one transposed solve,
//! and derivatives of every order and batching are available. The iterations stop at the level of
//! rounding. An iteration that ends before has not converged: a flag of [`Solution`], and an error
//! of the functions that return values only.

mod dense;
mod iterate;
mod jacobian;
mod krylov;
mod solver;
mod space;
mod stopping;

pub use solver::Solver;
pub use stopping::{Solution, Stopping};

use super::body::{params, rewrap};
use crate::ir::{Emit, Function, Val};
use crate::shape::Type;
use crate::transform::grad;
use iterate::{descent, newton, picard};
use jacobian::{jacobian, moved};
use space::Space;
use std::sync::Arc;

impl dyn Emit + '_ {
    /// The solution of `equation(consts, x) = 0` that `solve` computes from `start` up to a
    /// relative error, with the equation's derivative.
    fn implicit(
        &self,
        equation: &Arc<Function>,
        consts: &[Val],
        start: &[Val],
        (solver, error): (Solver, f64),
        solve: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Solution,
    ) -> Solution {
        let nc = consts.len();
        let jacobian = match jacobian(self.session(), equation, nc) {
            Ok(j) => j,
            Err(e) => {
                self.fail(e.at(self.loc()));
                return Solution::of(vec![Val::POISON; start.len() + 3]);
            }
        };
        let y = self.custom_jvp_within(
            Some(error),
            &[consts, start].concat(),
            |cx, x| solve(cx, &x[..nc], &x[nc..]).values(),
            |cx, x, y, t| {
                let at = [&x[..nc], &y[..start.len()]].concat();
                // Only constants have tangents: the solution does not depend on the start.
                let active: Vec<bool> = (0..at.len()).map(|k| k < nc && t[k].is_some()).collect();
                let none = vec![None; y.len()];
                if !active.contains(&true) {
                    return none;
                }
                let along: Vec<Val> = t[..nc].iter().flatten().copied().collect();
                let rhs = match moved(cx.session(), equation, &active) {
                    Ok(f) => cx.inline(&f, &[&at[..], &along].concat()),
                    Err(e) => {
                        cx.fail(e.at(cx.loc()));
                        return none;
                    }
                };
                let rhs: Vec<Val> = rhs.iter().map(|&v| cx.neg(v)).collect();
                let matvec =
                    |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(&jacobian, &[w, v].concat());
                let dx = cx.solve_linear(&at, &rhs, solver, matvec, Stopping::default());
                dx.into_iter().map(Some).chain([None; 3]).collect()
            },
        );
        Solution::of(y)
    }

    /// `x` with `f(consts, x) = 0`, by Newton's method from `start`. Steps that do not reduce `|f|`
    /// are halved.
    ///
    /// ```
    /// use cotangent_core::{Builder, DType, Emit, Type, ops::Stopping, transform::Session};
    /// let b = Builder::new("square_root", Session::default());
    /// let a = b.param(Type::scalar(DType::F64), None);
    /// let cx: &dyn Emit = &b;
    /// let one = cx.full_like(a, 1.0);
    /// let s = cx.root(&[a], &[one], Stopping::default(), |cx, c, x| vec![cx.sub(cx.square(x[0]), c[0])]);
    /// let x = s.checked(cx, "the square root was not found");
    /// let f = b.finish(&x)?;
    /// let y = cotangent_core::reference::run(&f.into(), &[cotangent_core::Array::scalar(4.0)])?;
    /// assert_eq!(y[0].to_f64(), [2.0]);
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    pub fn root(
        &self,
        consts: &[Val],
        start: &[Val],
        stop: Stopping,
        f: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
    ) -> Solution {
        let Some(f) = self.equation("root", consts, start, f) else {
            return Solution::of(vec![Val::POISON; start.len() + 3]);
        };
        let how = (Solver::Gmres, self.space(start).newton_error(stop));
        self.implicit(&f, consts, start, how, |cx, c, x| {
            newton(cx, &f, c, x, stop)
        })
    }

    /// `x` with `f(consts, x) = x`, by fixed-point iteration from `start`.
    pub fn fixed_point(
        &self,
        consts: &[Val],
        start: &[Val],
        stop: Stopping,
        f: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
    ) -> Solution {
        let nc = consts.len();
        let poison = || Solution::of(vec![Val::POISON; start.len() + 3]);
        let Some(f) = self.equation("fixed_point", consts, start, f) else {
            return poison();
        };
        let equation = rewrap(self.session(), "equation", &[&f], |b| {
            let x = params(b, &f.param_types());
            let cx: &dyn Emit = b;
            cx.inline(&f, &x)
                .into_iter()
                .zip(&x[nc..])
                .map(|(y, &x)| cx.sub(x, y))
                .collect()
        });
        let how = (Solver::Gmres, self.space(start).picard_tolerance(stop));
        match equation {
            Ok(equation) => self.implicit(&equation, consts, start, how, |cx, c, x| {
                picard(cx, &f, c, x, stop)
            }),
            Err(e) => {
                self.fail(e);
                poison()
            }
        }
    }

    /// A local minimum of the real scalar `f(consts, x)` near `start`, by truncated Newton steps:
    /// directions by conjugate gradients, which stop at negative curvature, and steps that decrease
    /// `f`.
    pub fn minimize(
        &self,
        consts: &[Val],
        start: &[Val],
        stop: Stopping,
        f: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Val,
    ) -> Solution {
        let nc = consts.len();
        let poison = || Solution::of(vec![Val::POISON; start.len() + 3]);
        let types = [self.types(consts), self.types(start)].concat();
        let Some(f) = self
            .body("loss", &types, |cx, x| vec![f(cx, &x[..nc], &x[nc..])])
            .func
        else {
            return poison();
        };
        let gradient = crate::transform::check_scalar_loss(&f)
            .and_then(|()| grad(self.session().context(), &f, &f.params()[nc..]))
            .map_err(|e| e.at(self.loc()));
        match gradient {
            Ok(g) => {
                let g = Arc::new(g);
                let how = (Solver::Cg, self.space(start).newton_error(stop));
                self.implicit(&g, consts, start, how, |cx, c, x| {
                    descent(cx, &f, &g, c, x, stop)
                })
            }
            Err(e) => {
                self.fail(e);
                poison()
            }
        }
    }

    fn space(&self, x: &[Val]) -> Space {
        Space::of(&self.types(x))
    }

    /// A region whose results have the types of the unknowns.
    fn equation(
        &self,
        name: &str,
        consts: &[Val],
        x: &[Val],
        f: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
    ) -> Option<Arc<Function>> {
        let nc = consts.len();
        let of_x = self.types(x);
        let types = [self.types(consts), of_x.clone()].concat();
        let f = self
            .body(name, &types, |cx, x| f(cx, &x[..nc], &x[nc..]))
            .func?;
        let y = f.result_types();
        if y.len() != of_x.len() || y.iter().zip(&of_x).any(|(y, x)| y.differs(x)) {
            let show = |t: &[Type]| super::body::show_types(t);
            let text = format!(
                "the function of `{name}` returns {} for unknowns {}: they must agree",
                show(&y),
                show(&of_x)
            );
            self.fail(crate::Error::new(crate::Code::CarryMismatch, text).at(self.loc()));
            return None;
        }
        if let Some(t) = of_x.iter().find(|t| !t.dtype.is_inexact()) {
            let text = format!("`{name}` has unknowns of type {t}: unknowns must be floats");
            self.fail(crate::Error::new(crate::Code::DTypeMismatch, text).at(self.loc()));
            return None;
        }
        Some(f)
    }

    /// `x` with `matvec(consts, x) = b`, where `matvec` is linear in `x`. Execution returns an
    /// error if there is no convergence.
    pub fn solve_linear(
        &self,
        consts: &[Val],
        b: &[Val],
        solver: Solver,
        matvec: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
        stop: Stopping,
    ) -> Vec<Val> {
        self.linear_solve_within(
            Some(self.space(b).linear_tolerance(stop)),
            consts,
            b,
            solver == Solver::Cg,
            matvec,
            |cx, apply, c, b| {
                solver.run(cx, apply, c, b, stop).checked_unless_accepted(
                    cx,
                    stop,
                    solver.complaint(),
                )
            },
        )
    }

    /// As `solve_linear`. Returns the state of the iteration instead of an
    /// error.
    pub fn try_solve_linear(
        &self,
        consts: &[Val],
        b: &[Val],
        solver: Solver,
        matvec: impl FnOnce(&dyn Emit, &[Val], &[Val]) -> Vec<Val>,
        stop: Stopping,
    ) -> Solution {
        let (nc, n) = (consts.len(), b.len());
        let types = [self.types(consts), self.types(b), self.types(b)].concat();
        let all = [consts, b].concat();
        let poison = || Solution::of(vec![Val::POISON; n + 3]);
        // The equation A x - b = 0 of constants, b and x.
        let body = self.body(
            "matvec",
            &[&types[..nc], &types[nc + n..]].concat(),
            |cx, x| matvec(cx, &x[..nc], &x[nc..]),
        );
        let Some(a) = body.func else { return poison() };
        let equation = self.body("equation", &types, |cx, x| {
            let y = cx.inline(&a, &[&x[..nc], &x[nc + n..]].concat());
            y.into_iter()
                .zip(&x[nc..])
                .map(|(y, &b)| cx.sub(y, b))
                .collect()
        });
        let Some(equation) = equation.func else {
            return poison();
        };
        let start: Vec<Val> = b.iter().map(|&b| self.full_like(b, 0.0)).collect();
        let how = (solver, self.space(b).linear_tolerance(stop));
        self.implicit(&equation, &all, &start, how, |cx, c, _| {
            let apply = |cx: &dyn Emit, w: &[Val], v: &[Val]| cx.inline(&a, &[w, v].concat());
            let (c, b) = c.split_at(nc);
            solver.run(cx, &apply, c, b, stop)
        })
    }
}
