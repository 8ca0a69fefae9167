//! `check`: derivatives against finite differences and the adjoint law, per value;
//! `derive --check`: custom rules.

use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::{Loaded, Target};
use crate::output::{Outcome, print};
use crate::streams;
use cotangent::ad::AdContext;
use cotangent::check::{Options, check_custom_rules, check_points, points};
use cotangent::{Array, Result, Val, text};

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

/// Checks the custom rules of a text, and reports them on standard error.
pub(super) fn custom_rules(program: &text::Program) -> Result<Outcome> {
    let ad = AdContext::builder()
        .with_numerics(program.numerics())
        .build()?;
    let mut outcome = Outcome::Good;
    for f in program.modules() {
        for (loc, report) in check_custom_rules(&ad, f).map_err(|e| program.locate(e))? {
            streams::report(&format!("{loc}: in `@{}`: {report}", f.name));
            if !report.passed() {
                outcome = Outcome::Bad;
            }
        }
    }
    Ok(outcome)
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
