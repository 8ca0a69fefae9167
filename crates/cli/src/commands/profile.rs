//! `profile`: the time of each step of a run.

use crate::args::Args;
use crate::inputs::{Inputs, wrt};
use crate::load::Target;
use crate::output::{Outcome, print};
use crate::{draw, show};
use cotangent::ad;
use cotangent::check::points;
use cotangent::cpu::{Machine, Profile, View, memory};
use cotangent::rewrite::simplify;
use cotangent::{Env, Error, Function, Loc, Result, Type, files};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Default number of runs.
const DEFAULT_RUNS: usize = 20;

pub(super) fn profile(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--trace", args.trace.as_deref())?;
    let loaded = target.load()?;
    let located = |e: Error| loaded.locate(e);
    let cx = loaded.context()?;
    let f = match args.grad || args.wrt.is_some() {
        true => ad::value_and_grad(&cx, &loaded.function, &wrt(args, &loaded.function)?)
            .map_err(located)?,
        false => (*loaded.function).clone(),
    };
    let f = Arc::new(simplify(&f));
    let x = match (&args.input, target.sibling()) {
        (None, None) => points(&loaded.function).next().expect("there are points")?,
        _ => Inputs::read(args, &target)?.args(&loaded.function)?,
    };
    let x: Vec<View> = x.iter().map(View::from).collect();
    let program = cotangent::compile(&f).map_err(located)?;
    let profile = program
        .profile(&x, args.runs.unwrap_or(DEFAULT_RUNS))
        .map_err(located)?;
    if let Some(path) = &args.trace {
        files::write(path, trace(&f, &profile).as_bytes())?;
    }
    print(out, &table(&f, &profile, &Machine::measure()))?;
    let types: Vec<Type> = x.iter().map(View::ty).collect();
    match memory(&f, &types, &Env::default()) {
        Ok(m) => {
            let [peak, results] = [m.peak, m.results].map(|n| show::bytes(n as f64));
            print(
                out,
                &format!(
                    "A run takes at most {peak} in addition to its arguments, {results} of them for results.\n"
                ),
            )
        }
        // An extent is data-dependent.
        Err(_) => Ok(Outcome::Good),
    }
}

fn micros(t: Duration) -> String {
    format!("{:.1}", t.as_secs_f64() * 1e6)
}

/// A row per step, slowest first, and the peak rates of the machine.
fn table(f: &Function, p: &Profile, machine: &Machine) -> String {
    let head = [
        "step", "us", "share", "GFLOP/s", "of peak", "GB/s", "of peak", "place",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let sum: f64 = p
        .steps
        .iter()
        .map(|s| s.time.as_secs_f64())
        .sum::<f64>()
        .max(1e-12);
    let mut order: Vec<_> = p.steps.iter().collect();
    order.sort_by_key(|s| std::cmp::Reverse(s.time));
    for s in order {
        let seconds = s.time.as_secs_f64().max(1e-9);
        let (arithmetic, bandwidth) = machine.share(s);
        let place = s
            .step
            .equations
            .iter()
            .map(|&e| f.eqns()[e].loc)
            .find(|l| !matches!(l, Loc::None));
        rows.push(vec![
            draw::label(f, &s.step),
            micros(s.time),
            format!("{:.1} %", s.time.as_secs_f64() / sum * 100.0),
            format!("{:.2}", s.cost.flops / seconds * 1e-9),
            format!("{:.0} %", arithmetic * 100.0),
            format!("{:.2}", s.cost.bytes / seconds * 1e-9),
            format!("{:.0} %", bandwidth * 100.0),
            place.map_or(String::new(), |l| l.to_string()),
        ]);
    }
    let mut text = format!(
        "@{}: {} steps, {} us a run\n\n{}",
        f.name,
        p.steps.len(),
        micros(p.total),
        show::table(&rows)
    );
    let copies: Vec<String> = machine
        .copies
        .iter()
        .map(|(n, s)| format!("{:.0} GB/s for {}", s * 1e-9, show::bytes(*n as f64)))
        .collect();
    let _ = writeln!(
        text,
        "\nThis machine, one thread: products {:.0} GFLOP/s in f32, {:.0} in f64; copies {}.",
        machine.single * 1e-9,
        machine.double * 1e-9,
        copies.join(", ")
    );
    text
}

/// The last run as events of the Chrome trace format, which Perfetto reads: times are in
/// microseconds.
fn trace(f: &Function, p: &Profile) -> String {
    let event = |s: &cotangent::cpu::StepProfile| {
        let operations: Vec<&str> = s
            .step
            .equations
            .iter()
            .map(|&e| f.eqns()[e].op.name())
            .collect();
        format!(
            "{{\"name\": \"{}\", \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": {}, \"dur\": {}, \"args\": {{\"operations\": \"{}\", \"flops\": {}, \"bytes\": {}}}}}",
            draw::label(f, &s.step),
            micros(s.start),
            micros(s.time),
            operations.join(" "),
            s.cost.flops,
            s.cost.bytes
        )
    };
    let mut steps: Vec<_> = p.steps.iter().collect();
    steps.sort_by_key(|s| s.start);
    let events: Vec<String> = steps.into_iter().map(event).collect();
    format!("{{\"traceEvents\": [\n{}\n]}}\n", events.join(",\n"))
}
