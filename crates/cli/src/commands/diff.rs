//! `grad vjp jvp hvp jacobian hessian`: derive, simplify, run.

use super::devices;
use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::Target;
use crate::output::{NamedResult, Outcome, results};
use cotangent::ad::{self, Direction};
use cotangent::rewrite::simplify;
use cotangent::{Array, Function, Result, Val};
use std::sync::Arc;

pub(super) fn differentiate(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--out", args.output.as_deref())?;
    let loaded = target.load()?;
    let f = &*loaded.function;
    let wrt = wrt(args, f)?;
    let cx = loaded.context()?;
    let inputs = Inputs::read(args, &target)?;
    let located = |e: cotangent::Error| loaded.locate(e);

    let (from, by) = loaded.to_derive(&wrt);
    let derived = match args.command.as_str() {
        "grad" => ad::value_and_grad(&cx, &from, &by),
        "vjp" => ad::vjp(&cx, &from, &by),
        "jvp" => ad::jvp(&cx, &from, &by),
        "hvp" => ad::hvp(&cx, &from, &by),
        "jacobian" => ad::jacobian(&cx, &from, &by, Direction::Auto),
        _ => ad::hessian(&cx, &from, &by),
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
    let y = devices::run(args, &derived, x).map_err(located)?;
    results(args, named(&args.command, f, &wrt, y), out)
}

/// Names of results: `out_k` for values, and derivatives by their position in `wrt`, with the name
/// of the value.
fn named(command: &str, f: &Function, wrt: &[Val], y: Vec<Array>) -> Vec<NamedResult> {
    let mut y = y.into_iter();
    let mut out = Vec::new();
    let outs: Vec<usize> = (0..f.results().len())
        .filter(|&k| f.ty(f.results()[k]).dtype.has_tangent())
        .collect();
    let by = |i: usize| f.show(wrt[i]).trim_start_matches('%').to_owned();
    if matches!(command, "grad" | "jvp") {
        let values = y.by_ref().take(f.results().len()).enumerate();
        out.extend(values.map(|(k, a)| NamedResult::value(k, a)));
    }
    let names: Vec<(String, Vec<String>)> = match command {
        "jvp" => outs
            .iter()
            .map(|k| (format!("jvp_{k}"), Vec::new()))
            .collect(),
        "jacobian" => {
            let pairs = outs
                .iter()
                .flat_map(|k| (0..wrt.len()).map(move |i| (k, i)));
            pairs
                .map(|(k, i)| (format!("{command}_{k}_{i}"), vec![by(i)]))
                .collect()
        }
        "hessian" => {
            let pairs = (0..wrt.len()).flat_map(|k| (0..wrt.len()).map(move |i| (k, i)));
            pairs
                .map(|(k, i)| (format!("{command}_{k}_{i}"), vec![by(k), by(i)]))
                .collect()
        }
        _ => (0..wrt.len())
            .map(|i| (format!("{command}_{i}"), vec![by(i)]))
            .collect(),
    };
    out.extend(
        names
            .into_iter()
            .zip(y)
            .map(|((name, by), array)| NamedResult { name, by, array }),
    );
    out
}
