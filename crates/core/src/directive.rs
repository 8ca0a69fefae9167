//! Directives: modules that are derived from other modules, by name.

use crate::bail;
use crate::error::{Code, Error, Loc, Result};
use crate::ir::{AdContext, Builder, Emit, Function, Numerics, Session, Val, Walk};
use crate::names::{clip, did_you_mean, written};
use crate::rewrite::{raise_for_derivatives, simplify};
use crate::shape::Dim;
use crate::transform::{Policy, adjoint, batch, hvp, jvp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The derivative that a directive requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// The gradient of a real scalar; for other results the vjp.
    Adjoint,
    /// Results and their tangents.
    Jvp,
    /// The Hessian-vector product.
    Hvp,
}

impl Derivative {
    /// Its keyword in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Derivative::Adjoint => "adjoint",
            Derivative::Jvp => "jvp",
            Derivative::Hvp => "hvp",
        }
    }
}

/// `tgraph.adjoint @of wrt(%x) -> @target`.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The derivative.
    pub derivative: Derivative,
    /// The module that is differentiated.
    pub of: Arc<str>,
    /// Values to differentiate with respect to, by name.
    pub wrt: Vec<String>,
    /// Directions by name, of `jvp` and `hvp`: one per `wrt` value, or none.
    pub dir: Vec<String>,
    /// Number of tangents that `jvp` and `hvp` take together: their arguments and results have a
    /// leading axis of this extent.
    pub columns: Option<Dim>,
    /// The name of the derived module.
    pub target: Arc<str>,
    /// Its numerics. Fields that it omits are those of the text
    /// ([`Program::numerics`](crate::text::Program::numerics)).
    pub policy: Policy,
    /// Source location.
    pub loc: Loc,
    /// The derived module, if a later module calls it: then it is derived during parsing.
    pub(crate) made: Option<Arc<Function>>,
}

/// A line that lists the arguments of a function.
pub(crate) fn arguments(f: &Function) -> String {
    let list: Vec<String> = f
        .params()
        .iter()
        .map(|&p| format!("{} : {}", f.show(p), f.ty(p)))
        .collect();
    format!(
        "arguments of @{}: {}",
        written(&f.name),
        if list.is_empty() {
            "none".into()
        } else {
            list.join(", ")
        }
    )
}

/// Finds values of a function by name, with an index that is built once.
pub(crate) fn named(f: &Function) -> impl Fn(&str) -> Result<Val> + '_ {
    let by_name: FxHashMap<&str, Val> = f
        .vals()
        .rev()
        .filter_map(|v| f.name_of(v).map(|n| (&**n, v)))
        .collect();
    move |name: &str| {
        if let Some(&v) = by_name.get(name) {
            return Ok(v);
        }
        // The value at position 7 prints as `%7` if it has no name.
        if let Ok(i) = name.parse::<usize>()
            && i < f.len()
            && f.name_of(Val::from_index(i)).is_none()
        {
            return Ok(Val::from_index(i));
        }
        let hint = did_you_mean(name, "%", by_name.keys().copied());
        let text = format!(
            "`@{}` has no value `%{}`{hint}",
            written(&f.name),
            clip(name)
        );
        Err(Error::new(Code::UnknownName, text).note(arguments(f)))
    }
}

/// Values of a function, given as `x,w` (names of any values, with an optional `%`) or `0,2`
/// (positions of arguments).
pub fn resolve_wrt(f: &Function, text: &str) -> Result<Vec<Val>> {
    let find = named(f);
    let one = |part: &str| {
        let part = part.trim();
        let name = part.strip_prefix('%').unwrap_or(part);
        if name == part
            && let Ok(i) = name.parse::<usize>()
            && f.find(name).is_none()
        {
            return match f.params().get(i) {
                Some(&p) => Ok(p),
                None => Err(Error::new(
                    Code::UnknownName,
                    format!("`@{}` has no argument {i}", written(&f.name)),
                )
                .note(arguments(f))),
            };
        }
        find(name)
    };
    text.split(',').map(one).collect()
}

/// The module that a directive derives, with the choices of `around` that it omits.
pub(crate) fn derive(
    d: &Directive,
    f: &Function,
    around: Policy,
    ad: &AdContext,
) -> Result<Function> {
    let find = named(f);
    let wrt: Vec<Val> = d.wrt.iter().map(|n| find(n)).collect::<Result<_>>()?;
    let policy = d.policy.over(around);
    let mut ad = ad.clone();
    ad.numerics = policy.or(Numerics::TGRAPH);
    let (stable, wrt) = if policy.raise == Some(false) {
        (f.clone(), wrt)
    } else {
        raise_for_derivatives(f, &wrt)
    };
    let g = match d.derivative {
        Derivative::Adjoint => adjoint(&ad, &stable, &wrt)?,
        Derivative::Jvp => jvp(&ad, &stable, &wrt)?,
        Derivative::Hvp => hvp(&ad, &stable, &wrt)?,
    };
    let g = match (&d.columns, d.derivative) {
        (Some(n), Derivative::Jvp) => for_columns(&ad, &g, wrt.len(), f.results().len(), n)?,
        (Some(n), _) => for_columns(&ad, &g, wrt.len(), 0, n)?,
        (None, _) => g,
    };
    let g = if d.dir.is_empty() {
        g
    } else {
        directed(d, f, &g)?
    };
    Ok(simplify(&g).renamed(&d.target))
}

/// The derived function for `size` tangents together: its last `tangents` parameters and its
/// results after the first `values` get a leading axis.
fn for_columns(
    ad: &AdContext,
    g: &Function,
    tangents: usize,
    values: usize,
    size: &Dim,
) -> Result<Function> {
    let after = |count: usize, first: usize| (0..count).map(|k| k >= first).collect::<Vec<_>>();
    let mapped = after(g.params().len(), g.params().len() - tangents);
    let force = after(g.results().len(), values);
    Ok(batch(&ad.session(), g, &mapped, &force, size)?.0)
}

/// The derived function with the directions named by the directive: the last parameters of `g` are
/// renamed, or replaced by arguments of `f`.
fn directed(d: &Directive, f: &Function, g: &Function) -> Result<Function> {
    let kept = g.params().len() - d.dir.len();
    let b = Builder::deriving(&g.name, &Session::default(), &[g]);
    let cx: &dyn Emit = &b;
    let mut walk = Walk::copying(g);
    let mut by_name: FxHashMap<&str, Val> = FxHashMap::default();
    for &p in &g.params()[..kept] {
        let v = b.param_like(g.ty(p).clone(), g, p);
        walk.set(p, v);
        if let Some(n) = g.name_of(p).map(|n| &**n) {
            by_name.insert(n, v);
        }
    }
    let inner: FxHashSet<&str> = f
        .vals()
        .filter_map(|v| f.name_of(v))
        .map(|n| &**n)
        .collect();
    for (&p, name) in g.params()[kept..].iter().zip(&d.dir) {
        let ty = g.ty(p);
        let direction = match by_name.get(name.as_str()) {
            Some(&v) if cx.ty(v).differs(ty) => {
                bail!(
                    TangentMismatch,
                    "the direction `%{name}` is an argument of type {}, {ty} is needed; use a new name",
                    cx.ty(v)
                )
            }
            Some(&v) => v,
            None if inner.contains(name.as_str()) => {
                bail!(
                    UnknownName,
                    "the direction `%{name}` must be an argument or a new name"
                )
            }
            None => {
                let v = b.param(ty.clone(), Some(name));
                b.set_tangent(v);
                by_name.insert(name, v);
                v
            }
        };
        walk.set(p, direction);
    }
    walk.copy_named(&b);
    b.finish(&walk.results())
}
