//! The error that iterations leave in a function: its results with those of every iteration changed
//! by as much as the stopping tolerance permits.
//!
//! ```text
//! x = root(..)        ->   x + tolerance max|x| cos(1.7 i + k)             for element i of the result k
//! x = solve(A, b)     ->   solve(A, b + 2 tolerance max|b| cos(1.7 i + k))
//! ```
//! Linear systems have a tolerance of the residual, and it is the condition number that decides how
//! far their solution moves.
//!
//! A value that an iteration found is not a smooth function of the operands below its tolerance.
//! Finite differences with smaller steps measure the iteration, not the derivative.

use super::numbers::flat;
use super::options::Evaluator;
use crate::array::Array;
use crate::error::Result;
use crate::ir::{Builder, Emit, Function, Op, Val, Visit, Walk};
use crate::shape::{Dim, Type};
use crate::transform::Session;
use std::sync::Arc;

/// The iterations whose results are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Iterations {
    /// Of every operation with a tolerance.
    All,
    /// Of linear systems alone: two forms of one derivative share its nonlinear solutions.
    Linear,
}

/// The changes of the results of `f`, by coordinate: infinite where the changed function has no
/// value. `None` if no such iteration is in `f`.
pub(super) fn changes(
    evaluator: &Evaluator,
    f: &Function,
    args: &[Array],
    of: Iterations,
) -> Result<Option<Vec<f64>>> {
    let Some(g) = changed(f, of)? else {
        return Ok(None);
    };
    let at = flat(&evaluator.run(f, args)?);
    let Ok(other) = evaluator.run(&g, args) else {
        return Ok(Some(vec![f64::INFINITY; at.len()]));
    };
    let change = |(a, b): (&f64, f64)| match (a - b).abs() {
        d if d.is_nan() && (a.is_nan() && b.is_nan() || *a == b) => 0.0,
        d if d.is_nan() => f64::INFINITY,
        d => d,
    };
    Ok(Some(at.iter().zip(flat(&other)).map(change).collect()))
}

/// Whether an operation of `f`, or of a region, ends an iteration at a tolerance.
pub(super) fn iterates(f: &Function) -> bool {
    let regions = |op: &Op| op.regions().into_iter().any(|r| iterates(r));
    let mut eqns = f.eqns().iter();
    eqns.any(|e| e.op.tolerance().is_some() || regions(&e.op))
}

/// The function with changed results of iterations, in regions, too; `None` if there are none.
fn changed(f: &Function, of: Iterations) -> Result<Option<Function>> {
    let b = Builder::deriving(&f.name, &Session::default(), &[f]);
    let cx: &dyn Emit = &b;
    let (mut walk, mut any) = (Walk::copying(f), false);
    walk.copy_params(&b);
    while let Some(Visit { index, eqn, op, x }) = walk.next(cx) {
        let tolerance = match (of, &*op) {
            (Iterations::Linear, Op::LinearSolve(_)) | (Iterations::All, _) => op.tolerance(),
            _ => None,
        };
        // The steps of an iteration are not changed, only its results.
        let inner = match tolerance {
            Some(_) => None,
            None => changed_regions(&op, of)?,
        };
        any |= tolerance.is_some() || inner.is_some();
        let rhs = match &*op {
            Op::LinearSolve(s) => s.consts,
            _ => x.len(),
        };
        let mut x = x;
        for (k, b) in x[rhs..].iter_mut().enumerate() {
            *b = tolerance.map_or(*b, |t| change(cx, *b, 2.0 * t, index + k));
        }
        let of_results = tolerance.filter(|_| rhs == x.len());
        let y = cx.emit(inner.unwrap_or_else(|| op.into_owned()), &x);
        for (k, (r, y)) in eqn.results().zip(y).enumerate() {
            walk.set(r, of_results.map_or(y, |t| change(cx, y, t, index + k)));
        }
    }
    let g = b.finish(&walk.results())?;
    Ok(any.then_some(g))
}

fn changed_regions(op: &Op, of: Iterations) -> Result<Option<Op>> {
    let mut any = false;
    let mut new = Vec::new();
    for &region in &op.regions() {
        let g = changed(region, of)?;
        any |= g.is_some();
        new.push(g.map_or_else(|| region.clone(), Arc::new));
    }
    Ok(any.then(|| op.with_regions(&new)))
}

/// `y + tolerance max|y| cos(1.7 i + k)` for a phase `k` that differs between operations, so
/// that changes do not cancel; integers and booleans are not changed.
fn change(cx: &dyn Emit, y: Val, tolerance: f64, k: usize) -> Val {
    let ty = cx.ty(y);
    if !ty.dtype.has_tangent() {
        return y;
    }
    let real = ty.dtype.real();
    let axes: Vec<usize> = (0..ty.rank()).collect();
    let most = cx.max_or_least(cx.abs(y), &axes);
    let flat = Type::new(real, vec![ty.shape.numel()]);
    let i = cx.iota(&flat, 0);
    let at = cx.add(cx.scale_by(1.7, i), cx.full(&flat, k as f64));
    let wave = cx.reshape(cx.scale_by(tolerance, cx.cos(at)), &ty.shape);
    let size: &[Dim] = &ty.shape;
    let by = cx.mul(wave, cx.broadcast_in_dim(most, size, &[]));
    cx.add(y, cx.convert(by, ty.dtype))
}
