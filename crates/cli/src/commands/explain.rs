//! `explain`: operations, residuals of the forward pass, and the cost of derivatives; or the stages
//! of planning.

use super::devices;
use super::residuals::residual_table;
use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::Target;
use crate::output::{Outcome, print};
use crate::{draw, page, show};
use cotangent::ad;
use cotangent::cpu::{Memory, memory, passes, plan_text, steps};
use cotangent::error::shown;
use cotangent::rewrite::{simplify, with_simple_loops};
use cotangent::{Array, Dim, Env, Function, Result, Type, Val, files, reference};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn explain(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--svg", args.svg.as_deref())?;
    target.refuse_overwrite("--html", args.html.as_deref())?;
    let start = out.len();
    let loaded = target.load()?;
    let f = &*loaded.function;
    let simple = Arc::new(simplify(f));
    if args.passes {
        print(out, &passes(&with_simple_loops(&simple))?)?;
        return Ok(Outcome::Good);
    }
    let extents = Extents::read(args, &target, f)?;
    if args.plan {
        print(out, &plan_text(&with_simple_loops(&simple), &extents.env)?)?;
        return Ok(Outcome::Good);
    }
    let wrt = wrt(args, f)?;
    let cx = loaded.context()?;
    let located = |e: cotangent::Error| loaded.locate(e);
    print(out, &numbers_of_equations(f, &simple))?;
    print(out, &operation_table(&extents.applied(&simple)))?;

    // A function without float results has no derivative; rows of derivatives are omitted.
    let float = f.result_types().iter().any(|t| t.dtype.has_tangent());
    let derived = |derive: &dyn Fn() -> Result<Function>| match float {
        true => derive().map(|g| Some(simplify(&g))).map_err(located),
        false => Ok(None),
    };
    let gradient = derived(&|| ad::adjoint(&cx, f, &wrt))?;
    let active: Vec<bool> = f.params().iter().map(|p| wrt.contains(p)).collect();
    if wrt.iter().all(|v| f.params().contains(v)) {
        let table = residual_table(
            &cx.session(),
            &simple,
            &active,
            gradient.as_ref(),
            &extents.env,
        );
        print(out, &format!("\n{}", table.map_err(located)?))?;
    }
    let tangent = derived(&|| ad::jvp(&cx, f, &wrt))?;
    let second = ad::hvp(&cx, f, &wrt).ok().map(|h| simplify(&h));
    let all = [
        ("primal", Some(&*simple)),
        ("jvp", tangent.as_ref()),
        ("adjoint", gradient.as_ref()),
        ("hvp", second.as_ref()),
    ];
    let all: Vec<(&str, Function)> = all
        .into_iter()
        .filter_map(|(name, g)| Some((name, extents.applied(g?))))
        .collect();
    print(out, &format!("\n{}", cost_table(&all)))?;
    let shown = gradient.as_ref().unwrap_or(&simple);
    print(
        out,
        &memory_table(&extents.env, &[("primal", &simple), ("adjoint", shown)]),
    )?;
    let gradients = gradient
        .as_ref()
        .map(|g| ("adjoint", Arc::new(extents.applied(g))));
    let primal = ("primal", Arc::new(extents.applied(&simple)));
    let on_device: Vec<_> = [primal].into_iter().chain(gradients).collect();
    print(out, &devices::explained(args, &on_device)?)?;
    print(out, &extents.footer(f, &all))?;
    if let Some(path) = &args.svg {
        files::write(path, draw::steps_svg(shown).as_bytes())?;
    }
    if let Some(path) = &args.html {
        let page = page::Page {
            file: &target.name(),
            summary: &String::from_utf8_lossy(&out[start..]),
            primal: &simple,
            adjoint: gradient.as_ref(),
            memory: memory_of(&extents.env, shown),
        };
        files::write(path, page.html().as_bytes())?;
    }
    Ok(Outcome::Good)
}

fn numbers_of_equations(f: &Function, simple: &Function) -> String {
    let [all, left] = [f, simple].map(|f| f.eqns().len());
    format!("@{}: {all} equations, {left} after rewrites\n\n", f.name)
}

/// Extents of symbols that arrays determine.
struct Extents {
    env: Env,
    /// The file of the arrays, if they determine extents.
    from: Option<String>,
}

impl Extents {
    /// Extents by the inputs, if there are any. Inputs next to the program are ignored if they do
    /// not fit.
    fn read(args: &Args, target: &Target, f: &Function) -> Result<Extents> {
        let read = || {
            let mut env = Env::default();
            let types: Vec<Type> = Inputs::read(args, target)?
                .args(f)?
                .iter()
                .map(Array::ty)
                .collect();
            reference::bind(f, &types, &mut env).map(|()| env)
        };
        let sibling = target.sibling();
        let env = match (&args.input, &sibling) {
            (None, None) => Env::default(),
            (None, Some(_)) => read().unwrap_or_default(),
            (Some(_), _) => read()?,
        };
        let path = args.input.clone().or(sibling);
        let from = path.filter(|_| !env.is_empty());
        Ok(Extents {
            env,
            from: from.map(|p| shown(&p.display().to_string(), 200)),
        })
    }

    /// The function with these extents in place of symbols.
    fn applied(&self, f: &Function) -> Function {
        if self.env.is_empty() {
            return f.clone();
        }
        f.subst(&|s| self.env.get(s).map(|&n| Dim::from(n)))
    }

    /// The sentences about extents below the tables: those of the arrays, and those that count as 1
    /// in one of the functions `all`.
    fn footer(&self, f: &Function, all: &[(&str, Function)]) -> String {
        let mut out = String::new();
        if let Some(from) = &self.from {
            let mut known: Vec<String> =
                self.env.iter().map(|(s, n)| format!("{s} = {n}")).collect();
            known.sort();
            out.push_str(&format!(
                "Extents of the arrays in {from}: {}.\n",
                known.join(", ")
            ));
        }
        let open = |g: &Function| g.vals().any(|v| g.ty(v).shape.as_const().is_none());
        if all.iter().any(|(_, g)| open(g)) {
            out.push_str("Extents that are known only at run time count as 1");
            let arguments = f
                .params()
                .iter()
                .any(|&p| f.ty(p).shape.as_const().is_none());
            out.push_str(match arguments && self.from.is_none() {
                true => "; arrays (--in A.npz) determine those of arguments.\n",
                false => ".\n",
            });
        }
        match out.is_empty() {
            true => out,
            false => format!("\n{out}"),
        }
    }
}

/// The cost of a function, the first, and of its derivatives.
fn cost_table(functions: &[(&str, Function)]) -> String {
    let mut rows = vec![vec![
        "".into(),
        "equations".into(),
        "flops".into(),
        "bytes".into(),
        "flops / primal".into(),
    ]];
    let flops = functions[0].1.cost().flops;
    for (name, g) in functions {
        let c = g.cost();
        let ratio = if flops > 0.0 {
            format!("{:.2}", c.flops / flops)
        } else {
            "-".into()
        };
        rows.push(vec![
            (*name).into(),
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
        let at = m.step.map_or(String::new(), |k| steps(f)[k].label(f));
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
