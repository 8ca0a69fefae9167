//! Raising that does not look through some values: those that a derivative is taken by.
//!
//! In `softmax(x)` there is no `e = exp(x)` by which `e / sum(e)` could be differentiated. So
//! operations that use such a value read a parameter instead, for the time of the pass.

use super::{RaisedRegions, Rules, raised};
use crate::ir::{Builder, Def, Emit, Function, Session, Val, Visit, Walk};

/// As [`raise`](super::raise), also for formulas that overflow (`log(sum(exp(x)))`,
/// `exp(x) / sum(exp(x))`, `log(1 + exp(x))`), for a function that is differentiated by these
/// values: directives derive from it. Returns the values in the raised function.
///
/// Values of results agree with those of `f` within rounding where the latter are finite.
///
/// ```
/// use cotangent_core::{AdContext, Array, Builder, DType, Emit, Type};
/// use cotangent_core::{reference, rewrite::raise_for_derivatives, transform::grad};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.log1p(cx.exp(x));
/// let f = b.finish(&[y])?;
/// let (g, wrt) = raise_for_derivatives(&f, f.params());
/// let slope = grad(&AdContext::default(), &g, &wrt)?;
/// assert_eq!(reference::run(&slope, &[Array::scalar(1000.0)])?[0], Array::scalar(1.0));
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub fn raise_for_derivatives(f: &Function, wrt: &[Val]) -> (Function, Vec<Val>) {
    let inner: Vec<Val> = wrt
        .iter()
        .copied()
        .filter(|&v| matches!(f.def(v), Def::Eqn(_)))
        .collect();
    // A parameter cannot have an extent that the function computes.
    let computed = |v: &Val| {
        let mut found = false;
        f.ty(*v).syms(&mut |s| found |= f.bound_syms().contains(s));
        found
    };
    let unraised = || (f.clone(), wrt.to_vec());
    if inner.iter().any(computed) {
        return unraised();
    }
    let mut regions = RaisedRegions {
        rules: Rules::Unshifted,
        ..RaisedRegions::default()
    };
    let parameter = |g: &Function, v: Val| match f.def(v) {
        Def::Param(k) => g.params()[k],
        Def::Eqn(_) => Val::POISON,
    };
    if inner.is_empty() {
        let Some(g) = raised(f, &mut regions) else {
            return unraised();
        };
        let at = wrt.iter().map(|&v| parameter(&g, v)).collect();
        return (g, at);
    }
    let joined = cut(f, &inner)
        .and_then(|cut| raised(&cut, &mut regions))
        .and_then(|g| join(&g, f, inner.len()));
    let Some((g, values)) = joined else {
        return unraised();
    };
    let at = wrt
        .iter()
        .map(|&v| match inner.iter().position(|&i| i == v) {
            Some(k) => values[k],
            None => parameter(&g, v),
        })
        .collect();
    (g, at)
}

/// The function with a last parameter in place of each value, and the values as last results.
fn cut(f: &Function, values: &[Val]) -> Option<Function> {
    let b = Builder::deriving(&f.name, &Session::default(), &[f]);
    let mut walk = Walk::copying(f);
    walk.copy_params(&b);
    let given: Vec<Val> = values
        .iter()
        .map(|&v| b.param(f.ty(v).clone(), None))
        .collect();
    let mut computed = vec![Val::POISON; values.len()];
    while let Some(Visit { eqn, op, x, .. }) = walk.next(&b) {
        for (r, y) in eqn.results().zip(b.emit(op.into_owned(), &x)) {
            walk.set_named(&b, r, y);
            for (k, _) in values.iter().enumerate().filter(|(_, v)| **v == r) {
                computed[k] = y;
                walk.set(r, given[k]);
            }
        }
    }
    b.finish(&[walk.results(), computed].concat()).ok()
}

/// The function without its last `n` parameters: their values are its last `n` results, which it
/// returns no more. Also returns these values. `None` if one is used before it is computed.
fn join(g: &Function, f: &Function, n: usize) -> Option<(Function, Vec<Val>)> {
    let b = Builder::deriving(&f.name, &Session::default(), &[g]);
    let (kept, given) = g.params().split_at(g.params().len() - n);
    let (results, computed) = g.results().split_at(g.results().len() - n);
    let mut walk = Walk::copying(g);
    for &p in kept {
        let v = b.param_like(g.ty(p).clone(), g, p);
        walk.set(p, v);
    }
    let settle = |walk: &mut Walk<'_, Val>| {
        for (&p, &v) in given.iter().zip(computed) {
            walk.set(p, walk.image(v));
        }
    };
    settle(&mut walk);
    while let Some(Visit { eqn, op, x, .. }) = walk.next(&b) {
        if x.contains(&Val::POISON) {
            return None;
        }
        for (r, y) in eqn.results().zip(b.emit(op.into_owned(), &x)) {
            walk.set_named(&b, r, y);
        }
        settle(&mut walk);
    }
    let values: Vec<Val> = computed.iter().map(|&v| walk.image(v)).collect();
    let results: Vec<Val> = results.iter().map(|&r| walk.image(r)).collect();
    Some((b.finish(&results).ok()?, values))
}
