//! Invariants of functions, and their check.
//!
//! 1. Exactly the values marked as parameters are parameters, in the order of the list.
//! 2. Every other value is a result of exactly one equation, its definition. Results of an equation
//!    are consecutive, in the order of equations, and their number is that of the operation.
//! 3. Operands precede the results of their equation. The results of the function exist.
//! 4. Types agree with the operation's type rule: element types and ranks are equal, extents are
//!    not certainly different. Values of opaque types have rank 0, and built-in operations that
//!    compute take and return none.
//! 5. A symbol is bound by a parameter or by at most one equation. It is an extent of a result of
//!    the equation that binds it.
//! 6. Names of values are unique.
//! 7. Regions are functions with these invariants. Their nesting depth is at most [`MAX_DEPTH`],
//!    and equals the depth that the function records.
//!
//! The builder maintains these invariants. [`verify`] is for authors of rules, transforms and
//! rewrites, and for tests.

use crate::bail;
use crate::error::{Error, Result};
use crate::ir::{Def, Eqn, Function, MAX_DEPTH, Val};
use crate::shape::{Sym, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Returns an error ([`Invalid`](crate::Code::Invalid)) that names the first invariant that `f`
/// violates. O(equations): a shared region is checked a single time.
pub fn verify(f: &Function) -> Result<()> {
    function(f, &mut FxHashMap::default()).map(|_| ())
}

/// Checks a function. Returns the nesting depth of its regions.
fn function(f: &Function, done: &mut FxHashMap<*const Function, u32>) -> Result<u32> {
    check(f, done).map_err(|e| {
        let name = crate::names::written(&f.name);
        if e.notes().is_empty() {
            e.note(format!("in `@{name}`"))
        } else {
            e
        }
    })
}

fn check(f: &Function, done: &mut FxHashMap<*const Function, u32>) -> Result<u32> {
    parameters(f)?;
    let mut next = 0;
    let mut depth = 0;
    let mut bound: FxHashSet<Sym> = FxHashSet::default();
    let by_params = f.param_syms();
    for (i, e) in f.eqns().iter().enumerate() {
        let at = |err: Error| err.at(e.loc);
        next = results(f, i, e, next).map_err(at)?;
        types(f, e).map_err(at)?;
        for s in e.op.binds() {
            if by_params.contains(&s) || !bound.insert(s.clone()) {
                bail!(
                    Invalid,
                    "`{}` binds the symbol `{s}`, which is bound already",
                    e.op.name()
                );
            }
            if !e.results().any(|r| mentions(f.ty(r), &s)) {
                bail!(
                    Invalid,
                    "`{}` binds the symbol `{s}`, but no result has that extent",
                    e.op.name()
                );
            }
        }
        for r in e.op.regions() {
            depth = depth.max(1 + body(r, done)?);
        }
    }
    if let Some(v) = f.vals().skip(next).find(|&v| !is_param(f, v)) {
        bail!(Invalid, "{} is defined by no equation", f.show(v));
    }
    if let Some(r) = f.results().iter().find(|r| r.index() >= f.len()) {
        bail!(Invalid, "the result {r:?} is not a value");
    }
    names(f)?;
    if depth > MAX_DEPTH || depth != f.depth() {
        bail!(
            Invalid,
            "bodies nest {depth} deep, the function records {}, at most {MAX_DEPTH} are allowed",
            f.depth()
        );
    }
    Ok(depth)
}

fn is_param(f: &Function, v: Val) -> bool {
    matches!(f.def(v), Def::Param(_))
}

fn parameters(f: &Function) -> Result<()> {
    for (i, &p) in f.params().iter().enumerate() {
        if p.index() >= f.len() || f.def(p) != Def::Param(i) {
            bail!(
                Invalid,
                "parameter {i} is not a value that is defined as parameter {i}"
            );
        }
        f.ty(p).check()?;
    }
    if f.vals().filter(|&v| is_param(f, v)).count() != f.params().len() {
        bail!(Invalid, "a value is defined as a parameter but is none");
    }
    Ok(())
}

/// Checks the definitions of the results of equation `i`, which start at value `next`. Returns the
/// index after the last result.
fn results(f: &Function, i: usize, e: &Eqn, next: usize) -> Result<usize> {
    let name = e.op.name();
    if e.results().len() != e.op.results() {
        bail!(
            Invalid,
            "`{name}` has {} results, its equation {}",
            e.op.results(),
            e.results().len()
        );
    }
    let first = e.results().next().map_or(next, Val::index);
    let skipped = (next..first)
        .map(Val::from_index)
        .find(|&v| v.index() >= f.len() || !is_param(f, v));
    if first < next || skipped.is_some() {
        bail!(
            Invalid,
            "results of `{name}` do not follow those of the equation before it"
        );
    }
    for r in e.results() {
        if r.index() >= f.len() || f.def(r) != Def::Eqn(i) {
            bail!(
                Invalid,
                "the results of `{name}` do not name it as their equation"
            );
        }
    }
    let operands = f.operands(e);
    // The operands of an equation without results only have to exist.
    let before = if e.results().len() > 0 {
        first
    } else {
        f.len()
    };
    if let Some(x) = operands.iter().find(|x| x.index() >= before) {
        bail!(Invalid, "the operand {x:?} of `{name}` does not precede it");
    }
    Ok(first + e.results().len())
}

fn types(f: &Function, e: &Eqn) -> Result<()> {
    let x: Vec<Type> = f.operands(e).iter().map(|&v| f.ty(v).clone()).collect();
    let want = e.op.infer(&x)?;
    for (r, want) in e.results().zip(&want) {
        if f.ty(r).differs(want) {
            bail!(
                Invalid,
                "{} = `{}` has type {}, its type rule returns {want}",
                f.show(r),
                e.op.name(),
                f.ty(r)
            );
        }
    }
    Ok(())
}

fn mentions(t: &Type, s: &Sym) -> bool {
    t.shape.iter().any(|d| d.as_sym() == Some(s))
}

fn names(f: &Function) -> Result<()> {
    let mut seen = FxHashSet::default();
    for v in f.vals() {
        if let Some(n) = f.name_of(v)
            && !seen.insert(&**n)
        {
            bail!(Invalid, "two values are called `%{n}`");
        }
    }
    Ok(())
}

fn body(f: &Arc<Function>, done: &mut FxHashMap<*const Function, u32>) -> Result<u32> {
    if let Some(&depth) = done.get(&Arc::as_ptr(f)) {
        return Ok(depth);
    }
    let depth = function(f, done)?;
    done.insert(Arc::as_ptr(f), depth);
    Ok(depth)
}
