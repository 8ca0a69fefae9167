//! Shared code of operations with regions: regions written by closures, their type checks,
//! residuals and layouts.

use crate::bail;
use crate::error::Result;
use crate::ir::{Builder, Emit, Function, Op, Primitive, Session, Val};
use crate::shape::Type;
use crate::transform::{RegionLin, Residual};
use std::sync::Arc;

/// A function that writes equations: emitter and parameters to results.
pub type RegionFn<'a> = dyn Fn(&dyn Emit, &[Val]) -> Vec<Val> + 'a;

/// A region written by a closure, with its number of results even if it failed.
pub(crate) struct Body {
    pub func: Option<Arc<Function>>,
    pub results: usize,
}

impl Body {
    /// Writes the operation with this region. After a failure, returns poison values.
    pub(crate) fn emit(
        self,
        cx: &dyn Emit,
        x: &[Val],
        op: impl FnOnce(Arc<Function>) -> Op,
    ) -> Vec<Val> {
        match self.func {
            Some(f) => cx.emit(op(f), x).to_vec(),
            None => vec![Val::POISON; self.results],
        }
    }
}

impl dyn Emit + '_ {
    /// Writes a closed region with parameters of these types. Its errors are reported to this
    /// emitter.
    pub(crate) fn body(
        &self,
        name: &str,
        params: &[Type],
        write: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Body {
        let b = self.nested(name);
        let x: Vec<Val> = params.iter().map(|t| b.param(t.clone(), None)).collect();
        b.set_loc(self.loc());
        let y = write(&b, &x);
        let func = match b.finish(&y) {
            Ok(f) => Some(Arc::new(f)),
            Err(e) => {
                self.fail(e);
                None
            }
        };
        Body {
            func,
            results: y.len(),
        }
    }

    /// Types of values.
    pub(crate) fn types(&self, x: &[Val]) -> Vec<Type> {
        x.iter().map(|&v| self.ty(v)).collect()
    }
}

/// Writes a function for a rule: it copies equations of `sources`, with other parameters and
/// results.
pub(crate) fn rewrap(
    session: &Session,
    name: &str,
    sources: &[&Function],
    write: impl FnOnce(&Builder) -> Vec<Val>,
) -> Result<Arc<Function>> {
    let b = Builder::deriving(name, session, sources);
    let y = write(&b);
    Ok(Arc::new(b.finish(&y)?))
}

/// Adds parameters of these types.
pub(crate) fn params(b: &Builder, types: &[Type]) -> Vec<Val> {
    types.iter().map(|t| b.param(t.clone(), None)).collect()
}

/// The function that `write` writes for parameters of these types.
pub(crate) fn sample_function(name: &str, types: &[Type], write: &RegionFn<'_>) -> Arc<Function> {
    let b = Builder::new(name, Session::default());
    let y = write(&b, &params(&b, types));
    Arc::new(b.finish(&y).expect("a sample"))
}

/// Checks operands against the parameters of a region. `what` names it.
pub(crate) fn check_operands(
    op: &dyn Primitive,
    what: &str,
    f: &Function,
    x: &[Type],
) -> Result<()> {
    if f.params().len() != x.len() {
        bail!(
            Arity,
            "{what} of `{}` takes {} operands, got {}",
            op.name(),
            f.params().len(),
            x.len()
        );
    }
    for (k, (&p, t)) in f.params().iter().zip(x).enumerate() {
        if f.ty(p).differs(t) {
            bail!(
                ShapeMismatch,
                "{what} of `{}` takes {} for parameter {k} ({}), got {t}",
                op.name(),
                f.ty(p),
                f.show(p)
            );
        }
    }
    Ok(())
}

/// The types of the tangents of values that have tangents.
pub(crate) fn differentiable(types: &[Type]) -> Vec<Type> {
    types
        .iter()
        .filter(|t| t.dtype.has_tangent())
        .map(Type::tangent)
        .collect()
}

/// Checks the parameter and result types of a custom rule. `what` names it.
pub(crate) fn check_rule(
    op: &dyn Primitive,
    what: &str,
    f: &Function,
    x: &[Type],
    y: &[Type],
) -> Result<()> {
    for (have, want, verb) in [
        (f.param_types(), x, "takes"),
        (f.result_types(), y, "returns"),
    ] {
        if have.len() != want.len() {
            bail!(
                RuleArity,
                "{what} of `{}` {verb} {} but must have {}",
                op.name(),
                show_types(&have),
                show_types(want)
            );
        }
        if let Some(k) = (0..have.len()).find(|&k| have[k].differs(&want[k])) {
            bail!(
                RuleType,
                "{what} of `{}` {verb} {} where it needs {} (number {k})",
                op.name(),
                have[k],
                want[k]
            );
        }
    }
    Ok(())
}

/// Checks that no extent of a result is bound inside the region.
pub(crate) fn check_results(op: &dyn Primitive, what: &str, f: &Function) -> Result<()> {
    for t in f.result_types() {
        let mut inside = None;
        t.syms(&mut |s| {
            if f.bound_syms().contains(s) {
                inside = Some(s.clone());
            }
        });
        if let Some(s) = inside {
            bail!(
                Limit,
                "{what} of `{}` returns {t}: the extent {s} is bound inside and cannot be in a result; reduce over it or pad it \
                 to a known size first",
                op.name()
            );
        }
    }
    Ok(())
}

/// `(f64[], f64[2])`, or the type alone if there is one.
pub(crate) fn show_types(t: &[Type]) -> String {
    match t {
        [t] => t.to_string(),
        t => format!(
            "({})",
            t.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// One entry per result, from the entries of the results that have one.
pub(crate) fn spread<T: Copy>(have: &[bool], values: &[T]) -> Vec<Option<T>> {
    let mut it = values.iter();
    have.iter()
        .map(|&h| if h { it.next().copied() } else { None })
        .collect()
}

/// The entries that are `Some`.
pub(crate) fn some<T: Copy>(values: &[Option<T>]) -> Vec<T> {
    values.iter().flatten().copied().collect()
}

/// Mask of the entries that are `Some`.
pub(crate) fn mask<T>(values: &[Option<T>]) -> Vec<bool> {
    values.iter().map(Option::is_some).collect()
}

/// The residuals of one application of a region, from its operands and the results of its forward
/// form.
pub(crate) fn residuals(lin: &RegionLin, x: &[Val], y: &[Val]) -> Vec<Val> {
    lin.residuals
        .iter()
        .map(|r| match *r {
            Residual::Param(i) => x[i],
            Residual::Extra(j) => y[lin.out_active.len() + j],
        })
        .collect()
}

/// The distinct parameters among these residuals.
pub(crate) fn residual_params<'a>(residuals: impl Iterator<Item = &'a Residual>) -> Vec<usize> {
    let mut out: Vec<usize> = residuals
        .filter_map(|r| {
            if let Residual::Param(i) = r {
                Some(*i)
            } else {
                None
            }
        })
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Elementwise OR of two masks.
pub(crate) fn or(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| a | b).collect()
}
