//! The table of residuals in `explain`: values that the forward pass saves for the backward pass,
//! with their names in the adjoint.

use crate::show;
use cotangent::ad::{Residual, SavePolicy, Session};
use cotangent::attr::Attr;
use cotangent::graph::Eqn;
use cotangent::rewrite::simplify;
use cotangent::{Env, Function, Result, Val, text};
use std::collections::HashMap;
use std::sync::Arc;

/// A table of the residuals by the active parameters. Names are those of the simplified adjoint.
/// Sizes are those of the extents in `env`; others count as 1.
pub(super) fn residual_table(
    session: &Session,
    f: &Arc<Function>,
    active: &[bool],
    adjoint: Option<&Function>,
    env: &Env,
) -> Result<String> {
    let lin = session.linearize_region(f, active, SavePolicy::Residuals)?;
    if lin.residuals.is_empty() {
        return Ok("The backward pass needs no residuals of the forward pass.\n".into());
    }
    let forward = simplify(&lin.forward);
    let made_by: HashMap<Val, &str> = forward
        .eqns()
        .iter()
        .flat_map(|e| e.results().map(|r| (r, e.op.name())))
        .collect();
    let names = adjoint.map_or_else(HashMap::new, |g| names_in(&forward, g));
    let mut rows = Vec::new();
    let mut total = 0.0;
    for (r, &p) in lin.residuals.iter().zip(lin.linear.params()) {
        let ty = lin.linear.ty(p);
        let extent = |d: &cotangent::Dim| d.eval(env).map_or(1.0, |n| n as f64);
        let size = ty.shape.iter().map(extent).product::<f64>() * ty.dtype.size() as f64;
        let (what, cost) = match r {
            Residual::Param(i) => (f.show(f.params()[*i]), "argument, not copied".to_owned()),
            Residual::Extra(k) => {
                total += size;
                let v = forward.results()[lin.out_active.len() + k];
                let by = made_by.get(&v).copied().unwrap_or("argument");
                let what = names
                    .get(&v)
                    .map_or(by.to_owned(), |name| format!("{name} = {by}"));
                (what, show::bytes(size))
            }
        };
        rows.push(vec![what, ty.to_string(), cost]);
    }
    Ok(format!(
        "Saved for the backward pass ({}), with names of the adjoint (--html prints it):\n{}",
        show::bytes(total),
        show::table(&rows)
    ))
}

/// Names in `g` of the values of `f` that `g` computes too. The first parameters of `g` are those
/// of `f`.
fn names_in(f: &Function, g: &Function) -> HashMap<Val, String> {
    let mut known = HashMap::new();
    let (of_f, of_g) = (expressions(f, &mut known), expressions(g, &mut known));
    let mut in_g: HashMap<usize, Val> = HashMap::new();
    for (v, n) in of_g {
        in_g.entry(n).or_insert(v);
    }
    let name = |(v, n): (Val, usize)| Some((v, g.show(*in_g.get(&n)?)));
    of_f.into_iter().filter_map(name).collect()
}

/// Operations with the numbers of their operands, numbered.
type ExpressionNumbers = HashMap<(String, Vec<usize>), usize>;

/// The values of a function, in order, each with the number of its expression of the parameters.
/// Equal expressions have equal numbers.
fn expressions(f: &Function, known: &mut ExpressionNumbers) -> Vec<(Val, usize)> {
    let mut number = |operation: String, operands: &[usize]| {
        let next = known.len();
        *known.entry((operation, operands.to_vec())).or_insert(next)
    };
    let params = f.params().iter().enumerate();
    let mut out: Vec<(Val, usize)> = params
        .map(|(i, &p)| (p, number(format!("argument {i}"), &[])))
        .collect();
    let mut of: HashMap<Val, usize> = out.iter().copied().collect();
    for (i, e) in f.eqns().iter().enumerate() {
        let x: Vec<usize> = f.operands(e).iter().map(|v| of[v]).collect();
        let text = operation(e).unwrap_or_else(|| format!("equation {i} of {:p}", f));
        for (k, r) in e.results().enumerate() {
            let n = number(format!("{text} {k}"), &x);
            of.insert(r, n);
            out.push((r, n));
        }
    }
    out
}

/// A text that determines an operation. `None` for constants with several numbers, and for regions
/// in regions, whose text may be much longer than the program.
fn operation(e: &Eqn) -> Option<String> {
    let regions = e.op.regions();
    if regions.is_empty() {
        let keyed = e.op.name() != "constant" || e.op.key_without_text().is_some();
        return keyed.then(|| format!("{:?}", e.op));
    }
    let flat = |r: &&Arc<Function>| r.eqns().iter().all(|e| e.op.regions().is_empty());
    if !regions.iter().all(flat) {
        return None;
    }
    let attrs = e.op.attrs();
    let plain = attrs
        .0
        .iter()
        .filter(|a| !matches!(a.1, Attr::Fn(_) | Attr::List(_)));
    let plain: Vec<String> = plain.map(|a| format!("{a:?}")).collect();
    let bodies: Vec<String> = regions.iter().map(|r| text::print_function(r)).collect();
    Some([e.op.name(), &plain.join(" "), &bodies.concat()].join(" "))
}
