//! Custom rules of a function, each checked as a function of its own.

use super::{Options, Report, check_points, points};
use crate::error::{Loc, Result};
use crate::ir::{AdContext, Builder, Emit, Eqn, Function, Op, Session, Val};
use std::sync::Arc;

/// Checks every `custom_vjp` and `custom_jvp` of `f`, in regions and called functions, too: its
/// rule against finite differences of its body, at generated points ([`points`]), by the context
/// `ad`. Returns the location of each in the text, and its report.
///
/// # Errors
/// A body runs at no generated point, or a rule is invalid.
///
/// ```
/// use cotangent_core::check::check_custom_rules;
/// use cotangent_core::{AdContext, Builder, DType, Emit, Type};
/// let b = Builder::new("f", Default::default());
/// let x = b.param(Type::scalar(DType::F64), Some("x"));
/// let cx: &dyn Emit = &b;
/// // The rule has the wrong sign.
/// let y = cx.custom_jvp(
///     &[x],
///     |cx, x| vec![cx.cos(x[0])],
///     |cx, x, _, t| vec![t[0].map(|t| cx.mul(cx.sin(x[0]), t))],
/// );
/// let f = b.finish(&y)?;
/// let reports = check_custom_rules(&AdContext::default(), &f)?;
/// assert!(reports.len() == 1 && reports[0].1.violated() > 0);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub fn check_custom_rules(ad: &AdContext, f: &Function) -> Result<Vec<(Loc, Report)>> {
    let mut rules = Vec::new();
    collect(f, &mut Vec::new(), &mut rules)?;
    let opts = Options {
        second_order: false,
        ..Options::default()
    };
    let check = |(loc, g): (Loc, Function)| {
        let report = check_points(ad, &g, points(&g), &opts).map_err(|e| e.at(loc))?;
        Ok((loc, report))
    };
    rules.into_iter().map(check).collect()
}

/// Adds the custom rules of `f`, each as a function. A shared region is visited a single time.
fn collect(
    f: &Function,
    seen: &mut Vec<*const Function>,
    out: &mut Vec<(Loc, Function)>,
) -> Result<()> {
    for e in f.eqns() {
        // An iteration states the equation's derivative, which holds at its solutions only.
        let own = e.op.tolerance().is_none();
        if own && matches!(e.op, Op::CustomVjp(_) | Op::CustomJvp(_)) {
            out.push((e.loc, alone(f, e)?));
        }
        for region in e.op.regions() {
            if !seen.contains(&Arc::as_ptr(region)) {
                seen.push(Arc::as_ptr(region));
                collect(region, seen, out)?;
            }
        }
    }
    Ok(())
}

/// The function of one equation.
fn alone(f: &Function, e: &Eqn) -> Result<Function> {
    let b = Builder::new(e.op.name(), Session::default());
    let param = |&v: &Val| b.param(f.ty(v).clone(), f.name_of(v).map(|n| &**n));
    let x: Vec<Val> = f.operands(e).iter().map(param).collect();
    b.set_loc(e.loc);
    let y = b.emit(e.op.clone(), &x);
    b.finish(&y)
}
