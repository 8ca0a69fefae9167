//! `explain`: residuals of the forward pass, and the cost of derivatives.

use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::Target;
use crate::output::{Outcome, print};
use crate::{draw, page, show};
use cotangent::ad::{self, SavePolicy, Session};
use cotangent::cpu::{Memory, memory, steps};
use cotangent::rewrite::simplify;
use cotangent::{Array, Env, Function, Result, Type, Val, files, reference};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) fn explain(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--svg", args.svg.as_deref())?;
    target.refuse_overwrite("--html", args.html.as_deref())?;
    let start = out.len();
    let loaded = target.load()?;
    let f = &*loaded.function;
    let wrt = wrt(args, f)?;
    let cx = loaded.context()?;
    let located = |e: cotangent::Error| loaded.locate(e);

    let simple = Arc::new(simplify(f));
    print(
        out,
        &format!(
            "@{}: {} equations, {} after rewrites\n\n",
            f.name,
            f.eqns().len(),
            simple.eqns().len()
        ),
    )?;
    print(out, &operation_table(&simple))?;

    let active: Vec<bool> = f.params().iter().map(|p| wrt.contains(p)).collect();
    if wrt.iter().all(|v| f.params().contains(v)) {
        print(
            out,
            &format!(
                "\n{}",
                residual_table(&cx.session(), &simple, &active).map_err(located)?
            ),
        )?;
    }

    // A function without float results has no derivative; rows of derivatives are omitted.
    let float = f.result_types().iter().any(|t| t.dtype.has_tangent());
    let derived = |derive: &dyn Fn() -> Result<Function>| match float {
        true => derive().map(|g| Some(simplify(&g))).map_err(located),
        false => Ok(None),
    };
    let gradient = derived(&|| ad::adjoint(&cx, f, &wrt))?;
    let tangent = derived(&|| ad::jvp(&cx, f, &wrt))?;
    let second = ad::hvp(&cx, f, &wrt).ok().map(|h| simplify(&h));
    let derivatives = [("jvp", &tangent), ("adjoint", &gradient), ("hvp", &second)];
    print(out, &format!("\n{}", cost_table(&simple, &derivatives)))?;
    let shown = gradient.as_ref().unwrap_or(&simple);
    let env = extents(args, &target, f)?;
    print(
        out,
        &memory_table(&env, &[("primal", &simple), ("adjoint", shown)]),
    )?;
    if let Some(path) = &args.svg {
        files::write(path, draw::steps_svg(shown).as_bytes())?;
    }
    if f.vals().any(|v| f.ty(v).shape.as_const().is_none()) {
        print(
            out,
            "\nExtents that are known only at run time count as 1.\n",
        )?;
    }
    if let Some(path) = &args.html {
        let page = page::Page {
            file: &target.name(),
            summary: &String::from_utf8_lossy(&out[start..]),
            primal: &simple,
            adjoint: gradient.as_ref(),
            memory: memory_of(&env, shown),
        };
        files::write(path, page.html().as_bytes())?;
    }
    Ok(Outcome::Good)
}

/// The cost of a function and of its derivatives.
fn cost_table(primal: &Function, derivatives: &[(&str, &Option<Function>)]) -> String {
    let mut rows = vec![vec![
        "".into(),
        "equations".into(),
        "flops".into(),
        "bytes".into(),
        "flops / primal".into(),
    ]];
    let flops = primal.cost().flops;
    let derivatives = derivatives
        .iter()
        .filter_map(|(name, g)| Some((*name, g.as_ref()?)));
    for (name, g) in [("primal", primal)].into_iter().chain(derivatives) {
        let c = g.cost();
        let ratio = if flops > 0.0 {
            format!("{:.2}", c.flops / flops)
        } else {
            "-".into()
        };
        rows.push(vec![
            name.into(),
            g.eqns().len().to_string(),
            format!("{:.0}", c.flops),
            show::bytes(c.bytes),
            ratio,
        ]);
    }
    show::table(&rows)
}

/// Memory of a run of a function. `None` if its extents are not known.
fn memory_of(env: &Env, f: &Function) -> Option<Memory> {
    let known = |ty: &Type| Ok(Type::new(ty.dtype, ty.shape.eval(env)?.as_slice()));
    let types = f.params().iter().map(|&p| known(f.ty(p)));
    let types = types.collect::<Result<Vec<Type>>>().ok()?;
    memory(f, &types, &Env::default()).ok()
}

/// Memory of a run in addition to its arguments, for functions whose extents are known.
fn memory_table(env: &Env, functions: &[(&str, &Function)]) -> String {
    let head = ["memory", "peak", "results", "at step"]
        .map(str::to_owned)
        .to_vec();
    let row = |(name, f): &(&str, &Function)| {
        let m = memory_of(env, f)?;
        let at = m
            .step
            .map_or(String::new(), |k| draw::label(f, &steps(f)[k]));
        Some(vec![
            (*name).to_owned(),
            show::bytes(m.peak as f64),
            show::bytes(m.results as f64),
            at,
        ])
    };
    let rows: Vec<_> = functions.iter().filter_map(row).collect();
    if rows.is_empty() {
        String::new()
    } else {
        format!("\n{}", show::table(&[vec![head], rows].concat()))
    }
}

/// Extents of symbols, from the inputs if there are any. Inputs next to the program are ignored if
/// they do not fit.
fn extents(args: &Args, target: &Target, f: &Function) -> Result<Env> {
    let read = || {
        let mut env = Env::default();
        let types: Vec<Type> = Inputs::read(args, target)?
            .args(f)?
            .iter()
            .map(Array::ty)
            .collect();
        reference::bind(f, &types, &mut env).map(|()| env)
    };
    match (&args.input, target.sibling()) {
        (None, None) => Ok(Env::default()),
        (None, Some(_)) => Ok(read().unwrap_or_default()),
        (Some(_), _) => read(),
    }
}

/// A table of operations by name: count and cost.
fn operation_table(f: &Function) -> String {
    let mut by_name: BTreeMap<String, (usize, f64, f64)> = BTreeMap::new();
    for e in f.eqns() {
        let types = |v: Vec<Val>| v.into_iter().map(|v| f.ty(v).clone()).collect::<Vec<_>>();
        let c = e.op.cost(
            &types(f.operands(e).to_vec()),
            &types(e.results().collect()),
        );
        let slot = by_name.entry(e.op.name().to_owned()).or_default();
        *slot = (slot.0 + 1, slot.1 + c.flops, slot.2 + c.bytes);
    }
    let mut rows = vec![vec![
        "operation".into(),
        "count".into(),
        "flops".into(),
        "bytes".into(),
    ]];
    rows.extend(
        by_name
            .into_iter()
            .map(|(n, (k, f, b))| vec![n, k.to_string(), format!("{f:.0}"), show::bytes(b)]),
    );
    show::table(&rows)
}

/// A table of the residuals that the forward pass saves for the backward pass.
fn residual_table(session: &Session, f: &Arc<Function>, active: &[bool]) -> Result<String> {
    let lin = session.linearize_region(f, active, SavePolicy::Residuals)?;
    let saved = lin.residuals.len();
    let made_by: HashMap<Val, &str> = lin
        .forward
        .eqns()
        .iter()
        .flat_map(|e| e.results().map(|r| (r, e.op.name())))
        .collect();
    let mut rows = Vec::new();
    let mut total = 0.0;
    for (r, &p) in lin.residuals.iter().zip(lin.linear.params()) {
        let ty = lin.linear.ty(p);
        let n: f64 = ty
            .shape
            .iter()
            .map(|d| d.as_const().unwrap_or(1) as f64)
            .product();
        let size = n * ty.dtype.size() as f64;
        let (what, cost) = match r {
            ad::Residual::Param(i) => (f.show(f.params()[*i]), "argument, not copied".to_owned()),
            ad::Residual::Extra(k) => {
                total += size;
                let v = lin.forward.results()[lin.out_active.len() + k];
                let by = made_by.get(&v).copied().unwrap_or("?");
                (format!("{} = {by}", lin.forward.show(v)), show::bytes(size))
            }
        };
        rows.push(vec![what, ty.to_string(), cost]);
    }
    if saved == 0 {
        return Ok("The backward pass needs no residuals of the forward pass.\n".into());
    }
    Ok(format!(
        "Saved for the backward pass ({}):\n{}",
        show::bytes(total),
        show::table(&rows)
    ))
}
