//! Rules of the user's for Python functions, and values defined by equations.

use crate::closure::{Function, applied, finish, result, throw};
use crate::error::{OrRaise, raise};
use crate::tree::Tree;
use cotangent::closures::{self, Solution};
use cotangent::ops::{Solver, Stopping};
use cotangent::{Error, TracedTensor};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Mutex;

type Results<'py> = Bound<'py, PyAny>;

/// The two parts of a result that is a pair.
fn pair(f: &Function, what: &str) -> Result<(Tree, Tree), Error> {
    match f.out() {
        Tree::Tuple(parts) if parts.len() == 2 => Ok((parts[0].clone(), parts[1].clone())),
        out => Err(throw(Python::attach(|py| {
            raise(
                "RuleArity",
                format!("{what} returns a pair, not {}", out.show(py)),
            )
        }))),
    }
}

fn same(what: &str, got: &Tree, want: &Tree) -> Result<(), Error> {
    Python::attach(|py| {
        let same = got.same(want, py).map_err(throw)?;
        match same {
            true => Ok(()),
            false => Err(throw(raise(
                "RuleArity",
                format!(
                    "{what} has the structure {}, not {}",
                    got.show(py),
                    want.show(py)
                ),
            ))),
        }
    })
}

/// `f(*args)` with the derivative `rule(primals, tangents) -> (y, dy)`.
#[pyfunction]
pub(crate) fn custom_jvp<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    rule: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let (call, x) = applied(f, args.as_any())?;
    let both = Tree::Tuple(vec![call.args.clone(), call.args.clone()].into());
    let rule = Function::new(rule, both, Vec::new());
    let y = closures::custom_jvp(
        |x: Vec<TracedTensor>| call.run(x),
        |x: Vec<TracedTensor>, t: Vec<TracedTensor>| {
            let mut y = rule.run([x, t].concat())?;
            let (value, tangent) = pair(&rule, "a rule of custom_jvp")?;
            same("the tangent of a rule", &tangent, &call.out())?;
            same("the value of a rule", &value, &call.out())?;
            let dy = y.split_off(value.len());
            Ok::<_, Error>((y, dy))
        },
    )(x);
    result(py, &call, y.or_raise(py)?)
}

/// `f(*args)` with a reverse derivative: `fwd(*args) -> (y, residuals)`,
/// `bwd(residuals, ct) -> cotangents`.
#[pyfunction]
pub(crate) fn custom_vjp<'py>(
    py: Python<'py>,
    f: &Bound<'py, PyAny>,
    fwd: &Bound<'py, PyAny>,
    bwd: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Results<'py>> {
    let (call, x) = applied(f, args.as_any())?;
    let forward = Function::new(fwd, call.args.clone(), Vec::new());
    let of_residuals: Mutex<Option<(Tree, Tree)>> = Mutex::new(None);
    let y = closures::custom_vjp(
        |x: Vec<TracedTensor>| call.run(x),
        |x: Vec<TracedTensor>| {
            let mut y = forward.run(x)?;
            let (value, residuals) = pair(&forward, "fwd of custom_vjp")?;
            let r = y.split_off(value.len());
            *of_residuals.lock().unwrap_or_else(|e| e.into_inner()) = Some((residuals, value));
            Ok::<_, Error>((y, r))
        },
        |r: Vec<TracedTensor>, ct: Vec<TracedTensor>| {
            let trees = of_residuals
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .clone();
            let (residuals, value) = trees.unwrap_or((Tree::None, Tree::None));
            let both = Tree::Tuple(vec![residuals, value].into());
            let back = Function::new(bwd, both, Vec::new());
            let y = back.run([r, ct].concat())?;
            same("the cotangents that bwd returns", &back.out(), &call.args)?;
            Ok::<_, Error>(y)
        },
    )(x);
    result(py, &call, y.or_raise(py)?)
}

/// A solution, and with `full` its residual, steps and flag of convergence.
fn solution<'py>(
    py: Python<'py>,
    tree: &Tree,
    s: Solution<Vec<TracedTensor>>,
    full: bool,
) -> PyResult<Results<'py>> {
    if !full {
        let x = finish(py, s.x)?;
        return tree.unflatten(py, &mut x.into_iter());
    }
    let n = s.x.len();
    let rest = [s.residual, s.steps, s.converged];
    let all: Vec<TracedTensor> = s.x.into_iter().chain(rest).collect();
    let mut all = finish(py, all)?.into_iter();
    let x = tree.unflatten(py, &mut all.by_ref().take(n))?;
    let rest: Vec<_> = std::iter::once(x).chain(all).collect();
    Ok(PyTuple::new(py, rest)?.into_any())
}

/// `root`, `fixed_point` or `argmin` of a Python function near `start`.
#[pyfunction]
pub(crate) fn solve_equation<'py>(
    py: Python<'py>,
    kind: &str,
    f: &Bound<'py, PyAny>,
    start: &Bound<'py, PyAny>,
    tol: Option<f64>,
    max_steps: Option<usize>,
    full: bool,
) -> PyResult<Results<'py>> {
    let (call, x) = applied(f, PyTuple::new(py, [start])?.as_any())?;
    let Tree::Tuple(parts) = &call.args else {
        return Err(raise("Invalid", "arguments that are no tuple"));
    };
    let tree = parts[0].clone();
    let stop = Stopping {
        tolerance: tol,
        max_steps,
        accept_unconverged: full,
    };
    let checked = |x: Vec<TracedTensor>| {
        let y = call.run(x)?;
        Python::attach(|py| {
            let same = call.out().same(&tree, py).map_err(throw)?;
            match same {
                true => Ok(()),
                false => Err(throw(raise(
                    "CarryMismatch",
                    format!(
                        "the function of {kind} returns {} for unknowns {}",
                        call.out().show(py),
                        tree.show(py)
                    ),
                ))),
            }
        })?;
        Ok(y)
    };
    let loss = |x: Vec<TracedTensor>| {
        let mut y = call.run(x)?;
        match y.len() {
            1 => Ok(y.remove(0)),
            n => Err(throw(raise(
                "NonScalarOutput",
                format!("the function of argmin returns one scalar, not {n} arrays"),
            ))),
        }
    };
    let s = match kind {
        "root" => closures::root_with(checked, x, stop),
        "fixed_point" => closures::fixed_point_with(checked, x, stop),
        _ => closures::argmin_with(loss, x, stop),
    };
    solution(py, &tree, s.or_raise(py)?, full)
}

/// The solution of `matvec(x) = b` for a linear function.
#[pyfunction]
pub(crate) fn linear_solve<'py>(
    py: Python<'py>,
    matvec: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    solver: &str,
    tol: Option<f64>,
) -> PyResult<Results<'py>> {
    let (call, x) = applied(matvec, PyTuple::new(py, [b])?.as_any())?;
    let Tree::Tuple(parts) = &call.args else {
        return Err(raise("Invalid", "arguments that are no tuple"));
    };
    let solver = match solver {
        "cg" => Solver::Cg,
        "dense" => Solver::Dense,
        "auto" | "gmres" => Solver::Gmres,
        other => {
            return Err(raise(
                "Attribute",
                format!("there is no solver {other:?}: auto, gmres, cg or dense"),
            ));
        }
    };
    let stop = Stopping {
        tolerance: tol,
        ..Stopping::default()
    };
    let s = closures::linear_solve_with(|x: Vec<TracedTensor>| call.run(x), x, solver, stop);
    solution(py, &parts[0], s.or_raise(py)?, false)
}
