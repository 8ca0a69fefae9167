//! `check`: derivatives against finite differences and the adjoint law, per value.

use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::{Loaded, Target};
use crate::output::{Outcome, print};
use cotangent::check::{Options, check_points, points};
use cotangent::{Array, Result, Val};

pub(super) fn check(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    let loaded = target.load()?;
    let f = &*loaded.function;
    let wrt = wrt(args, f)?;
    if args.input.is_none() && target.sibling().is_none() {
        return report(args, &loaded, wrt, points(f), out);
    }
    let given = Inputs::read(args, &target)?.args(f)?;
    report(args, &loaded, wrt, std::iter::once(Ok(given)), out)
}

fn report(
    args: &Args,
    loaded: &Loaded,
    wrt: Vec<Val>,
    points: impl Iterator<Item = Result<Vec<Array>>>,
    out: &mut Vec<u8>,
) -> Result<Outcome> {
    let options = Options {
        wrt: Some(wrt),
        ..Options::default()
    };
    let context = loaded.context()?;
    let report =
        check_points(&context, &loaded.function, points, &options).map_err(|e| loaded.locate(e))?;
    print(out, &report.to_string())?;
    let good = report.violated() == 0 && (report.skipped() == 0 || args.allow_skipped);
    Ok(if good { Outcome::Good } else { Outcome::Bad })
}
