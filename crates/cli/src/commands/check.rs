//! `check`: derivatives against finite differences and the adjoint law, per value.

use super::print;
use crate::Outcome;
use crate::args::Args;
use crate::inputs::{Inputs, made_up, wrt};
use crate::load::Target;
use cotangent::Result;
use cotangent::check::{Options, check_function};

pub fn check(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args.target.as_deref())?;
    let loaded = target.load()?;
    let f = &*loaded.function;
    let wrt = wrt(args, f)?;
    let x = if args.input.is_some() || target.sibling().is_some() {
        Inputs::read(args, &target)?.args(f)?
    } else {
        made_up(f)?
    };
    let cx = loaded.context()?;
    let report =
        check_function(&cx, f, &x, &Options { wrt: Some(wrt), ..Options::default() }).map_err(|e| loaded.locate(e))?;
    print(out, &report.to_string())?;
    Ok(if report.passed() { Outcome::Good } else { Outcome::Bad })
}
