//! `grad vjp jvp hvp jacobian hessian`: derive, simplify, run.

use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::Target;
use crate::output::{Outcome, results};
use cotangent::ad::{self, Direction};
use cotangent::npz::Arrays;
use cotangent::rewrite::simplify;
use cotangent::{Array, Function, Result, Val};
use std::sync::Arc;

pub fn differentiate(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--out", args.output.as_deref())?;
    let loaded = target.load()?;
    let f = &*loaded.function;
    let wrt = wrt(args, f)?;
    let cx = loaded.context()?;
    let inputs = Inputs::read(args, &target)?;
    let located = |e: cotangent::Error| loaded.locate(e);

    let derived = match args.command.as_str() {
        "grad" => ad::value_and_grad(&cx, f, &wrt),
        "vjp" => ad::vjp(&cx, f, &wrt),
        "jvp" => ad::jvp(&cx, f, &wrt),
        "hvp" => ad::hvp(&cx, f, &wrt),
        "jacobian" => ad::jacobian(&cx, f, &wrt, Direction::Auto),
        _ => ad::hessian(&cx, f, &wrt),
    };
    let derived = Arc::new(simplify(&derived.map_err(located)?));

    let mut x = inputs.args(f)?;
    match args.command.as_str() {
        "vjp" => x.extend(inputs.cotangents(f)?),
        "jvp" => x.extend(inputs.directions(f, &wrt, &["t"])?),
        "hvp" => {
            if !ad::is_scalar_loss(f) {
                x.extend(inputs.cotangents(f)?);
            }
            x.extend(inputs.directions(f, &wrt, &["v", "t"])?);
        }
        _ => {}
    }
    let y = cotangent::run(&derived, &x).map_err(located)?;
    results(args, &name(&args.command, f, &wrt, y), out)
}

/// Names of results: `out_k` for values, and derivatives by their position in `wrt`.
fn name(command: &str, f: &Function, wrt: &[Val], y: Vec<Array>) -> Arrays {
    let mut y = y.into_iter();
    let mut out = Arrays::new();
    let outs: Vec<usize> = (0..f.results().len())
        .filter(|&k| f.ty(f.results()[k]).dtype.has_tangent())
        .collect();
    if matches!(command, "grad" | "jvp") {
        let n = f.results().len();
        out.extend((0..n).map(|k| format!("out_{k}")).zip(y.by_ref().take(n)));
    }
    match command {
        "jvp" => out.extend(outs.iter().map(|k| format!("jvp_{k}")).zip(y)),
        "jacobian" | "hessian" => {
            let rows = if command == "hessian" {
                (0..wrt.len()).collect()
            } else {
                outs
            };
            let pairs = rows
                .iter()
                .flat_map(|k| (0..wrt.len()).map(move |i| format!("{command}_{k}_{i}")));
            out.extend(pairs.zip(y));
        }
        _ => out.extend((0..wrt.len()).map(|i| format!("{command}_{i}")).zip(y)),
    }
    out
}
