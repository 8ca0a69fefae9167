//! Values defined by an equation, for the text form: the equation is a module.
//!
//! ```text
//! x = f(x, p..)         tgraph.fixed_point @f %start.., %p..
//! f(x, p..) = 0         tgraph.root        @f %start.., %p..
//! f(x, p..) least       tgraph.argmin      @f %start.., %p..
//! f(x, p..) = b         tgraph.solve       @f %b.., %p..         f linear in x
//! ```
//! The module's first parameters are the unknowns. Their number is that of its results (for
//! `argmin`, whose module has one result, the attribute `unknowns`, by default 1). The other
//! parameters are those of the equation, with respect to which results are differentiated.

use super::entry::{Composite, option};
use crate::bail;
use crate::error::Result;
use crate::ir::{Attr, Emit, Function, Op, Session, Val, Visit, Walk};
use crate::ops::body::{params, rewrap};
use crate::ops::entry::Spelled;
use crate::ops::{Solution, Solver, Stopping};
use std::sync::Arc;

pub(super) static IMPLICIT: &[Composite] = &[
    Composite {
        name: "fixed_point",
        doc: "x with f(x, p..) = x for a module @f, by fixed-point iteration from the operand; the derivative is that of the equation. \
              `tol` and `max_iter` end it; a run-time error if it does not converge, unless `accept_unconverged`.",
        build: |cx, s, x| {
            let e = Equation::take(cx, s, x, None)?;
            let y = cx.fixed_point(e.parameters, e.unknowns, e.stop, |cx, p, x| {
                cx.inline(&e.module, &[x, p].concat())
            });
            Ok(found(cx, y, e.stop, "`fixed_point` did not converge"))
        },
    },
    Composite {
        name: "root",
        doc: "x with f(x, p..) = 0 for a module @f, by Newton's method from the operand; the derivative is that of the equation. \
              `tol` and `max_iter` end it; a run-time error if it does not converge, unless `accept_unconverged`.",
        build: |cx, s, x| {
            let e = Equation::take(cx, s, x, None)?;
            let y = cx.root(e.parameters, e.unknowns, e.stop, |cx, p, x| {
                cx.inline(&e.module, &[x, p].concat())
            });
            Ok(found(
                cx,
                y,
                e.stop,
                "`root`: Newton's method did not converge",
            ))
        },
    },
    Composite {
        name: "argmin",
        doc: "A local minimum x of the real scalar f(x, p..) of a module @f, near the operand (the first `unknowns` operands); \
              the derivative is that of its gradient's root. `tol` and `max_iter` end it; a run-time error if it does \
              not converge, unless `accept_unconverged`.",
        build: |cx, s, x| {
            let unknowns = option(s, "unknowns", 1)?;
            let e = Equation::take(cx, s, x, Some(unknowns))?;
            if e.module.results().len() != 1 {
                bail!(
                    Arity,
                    "the module of `argmin` has one result, got {}",
                    e.module.results().len()
                );
            }
            let y = cx.minimize(e.parameters, e.unknowns, e.stop, |cx, p, x| {
                cx.inline(&e.module, &[x, p].concat())[0]
            });
            Ok(found(cx, y, e.stop, "`argmin` did not converge"))
        },
    },
    Composite {
        name: "solve",
        doc: "x with f(x, p..) = b for a module @f that is linear in x, b being the first operand; `solver` is \"gmres\", \
              \"cg\" (symmetric positive definite) or \"dense\". `tol` and `max_iter` end it; a run-time error where no \
              solution is found, unless `accept_unconverged`.",
        build: |cx, s, x| {
            let solver: String = option(s, "solver", "gmres".into())?;
            let solver = match solver.as_str() {
                "gmres" => Solver::Gmres,
                "cg" => Solver::Cg,
                "dense" => Solver::Dense,
                _ => bail!(
                    Attribute,
                    "`solve` has no `solver` = {solver}; there are gmres, cg, dense"
                ),
            };
            let e = Equation::take(cx, s, x, None)?;
            let matvec =
                |cx: &dyn Emit, p: &[Val], x: &[Val]| cx.inline(&e.module, &[x, p].concat());
            Ok(cx.solve_linear(e.parameters, e.unknowns, solver, matvec, e.stop))
        },
    },
];

/// An implicit equation as parsed from text.
struct Equation<'x> {
    module: Arc<Function>,
    /// Start values of the unknowns, or the right-hand side.
    unknowns: &'x [Val],
    parameters: &'x [Val],
    stop: Stopping,
}

impl<'x> Equation<'x> {
    /// Reads an equation with `unknowns` unknowns. Default: the number of results of the module.
    fn take(
        cx: &dyn Emit,
        s: &mut Spelled<'_>,
        x: &'x [Val],
        unknowns: Option<usize>,
    ) -> Result<Equation<'x>> {
        let Some(Attr::Fn(module)) = s.attrs.take("callee") else {
            bail!(
                Attribute,
                "`{0}` needs a module before its operands: `tgraph.{0} @f %x`",
                s.name
            )
        };
        let n = unknowns.unwrap_or(module.results().len());
        if n == 0 || x.len() < n {
            bail!(
                Arity,
                "`{}` of @{} has {n} unknowns and needs an operand for each, then the parameters; got {}",
                s.name,
                module.name,
                x.len()
            );
        }
        module.apply_types(s.operands)?;
        let module = without_calls(cx.session(), &cx.session().specialize(&module, s.operands))?;
        let tolerance = s.attrs.opt::<f64>("tol")?;
        if tolerance.is_some_and(|t| !(t > 0.0 && t.is_finite())) {
            bail!(Attribute, "the attribute `tol` must be positive");
        }
        let stop = Stopping {
            tolerance,
            max_steps: s.attrs.opt("max_iter")?,
            accept_unconverged: option(s, "accept_unconverged", false)?,
        };
        let (unknowns, parameters) = x.split_at(n);
        Ok(Equation {
            module,
            unknowns,
            parameters,
            stop,
        })
    }
}

/// The function with its calls inlined, because solvers analyse in which operands it is linear.
fn without_calls(session: &Session, f: &Arc<Function>) -> Result<Arc<Function>> {
    if !f.eqns().iter().any(|e| matches!(e.op, Op::Call(_))) {
        return Ok(f.clone());
    }
    rewrap(session, &f.name, &[f], |b| {
        let cx: &dyn Emit = b;
        let mut walk = Walk::copying(f);
        walk.set_params(params(b, &f.param_types()));
        while let Some(Visit { eqn, op, x, .. }) = walk.next(cx) {
            let y = match &*op {
                Op::Call(c) => {
                    match without_calls(session, &session.specialize(&c.callee, &cx.types(&x))) {
                        Ok(callee) => cx.inline(&callee, &x),
                        Err(e) => {
                            cx.fail(e);
                            return Vec::new();
                        }
                    }
                }
                op => cx.emit(op.clone(), &x).to_vec(),
            };
            walk.set_results(eqn, y);
        }
        walk.results()
    })
}

fn found(cx: &dyn Emit, y: Solution, stop: Stopping, message: &str) -> Vec<Val> {
    if cx.failed() {
        y.x
    } else {
        y.checked_unless_accepted(cx, stop, message)
    }
}
