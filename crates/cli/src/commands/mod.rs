//! Commands, one file per command or family.

mod check;
mod devices;
mod diff;
mod explain;
mod ops;
mod profile;
mod residuals;

use crate::args::{Args, usage};
use crate::inputs::Inputs;
use crate::load::Target;
use crate::output::{NamedResult, Outcome, print, results};
use crate::{help, streams};
use cotangent::ad::AdContext;
use cotangent::error::shown;
use cotangent::program::{as_text, is_stablehlo};
use cotangent::rewrite::raise;
use cotangent::stablehlo::{Sharding, WriteOptions};
use cotangent::{Result, files};
use std::ffi::OsStr;
use std::sync::Arc;

/// Runs a command. Its output is appended to `out`.
pub(crate) fn dispatch(args: Args, out: &mut Vec<u8>) -> Result<Outcome> {
    if args.help || args.command == "help" {
        let topic = if args.command == "help" {
            args.target.as_deref().map(OsStr::to_string_lossy)
        } else {
            Some(args.command.as_str().into())
        };
        return print(out, &help::text(topic.as_deref())?);
    }
    match args.command.as_str() {
        "version" => print(out, &format!("cotangent {}\n", env!("CARGO_PKG_VERSION"))),
        "fmt" => fmt(&args, out),
        "derive" => derive(&args, out),
        "convert" => convert(&args, out),
        "compile" => devices::compile(&args, out),
        "run" => run(&args, out),
        "grad" | "vjp" | "jvp" | "hvp" | "jacobian" | "hessian" => diff::differentiate(&args, out),
        "check" => check::check(&args, out),
        "explain" => explain::explain(&args, out),
        "profile" => profile::profile(&args, out),
        "devices" => devices::devices(out),
        "ops" => ops::ops(&args, out),
        other => Err(usage(format!("unknown command `{other}`"))),
    }
}

fn fmt(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    let (source, name) = (target.source()?, target.name());
    let text = match is_stablehlo(&source, Some(&name)) {
        true => cotangent::stablehlo::format(&source, Some(&name))?,
        false => cotangent::text::Program::parse(as_text(&source, Some(&name))?, Some(&name))?
            .to_string(),
    };
    if (args.check || args.write) && std::str::from_utf8(&source).is_err() {
        return Err(usage(format!(
            "`fmt --check` and `--write` take texts: {} is bytecode, which `fmt` prints as text",
            shown(&name, 200)
        )));
    }
    if args.check {
        let same = text.as_bytes() == source;
        if !same {
            streams::report(&format!("{} is not in canonical form", shown(&name, 200)));
        }
        return Ok(if same { Outcome::Good } else { Outcome::Bad });
    }
    if !args.write {
        return print(out, &text);
    }
    if target.is_stdin() {
        return Err(usage("`fmt --write` needs a file, not standard input"));
    }
    if text.as_bytes() != source {
        target.write(&text)?;
    }
    Ok(Outcome::Good)
}

fn derive(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let written = Target::new(args)?.written()?;
    let derived = written.derive(&AdContext::default())?;
    print(out, &derived.to_string())?;
    if args.check {
        check::custom_rules(&written)
    } else {
        Ok(Outcome::Good)
    }
}

fn convert(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    let source = target.source()?;
    target.refuse_overwrite("TO", args.destination.as_deref())?;
    let program = target.program(&source)?;
    let mut functions = match &target.module {
        Some(name) => vec![program.function(name)?],
        None => program.public()?,
    };
    // StableHLO text is raised when it is read.
    if args.raise {
        functions = functions.iter().map(|f| Arc::new(raise(f))).collect();
    }
    let to_stablehlo = match args
        .destination
        .as_deref()
        .map(|d| d.extension().and_then(OsStr::to_str))
    {
        Some(Some("mlir")) => true,
        Some(Some("tgraph")) if args.written_for.is_some() => {
            return Err(usage(
                "`--target` is an option for StableHLO: give a .mlir file",
            ));
        }
        Some(Some("tgraph")) => false,
        None if args.written_for.is_some() => true,
        None => !is_stablehlo(&source, Some(&target.name())),
        _ => return Err(usage("`convert` writes .mlir or .tgraph files")),
    };
    let text = match to_stablehlo {
        true => {
            let sharding = match (&args.mesh, functions.first()) {
                (Some(mesh), Some(f)) => {
                    let (arguments, results) = devices::divisions(args, f);
                    Some(Sharding::of(f, mesh, &arguments, &results)?)
                }
                _ => None,
            };
            let options = WriteOptions {
                target: args.written_for.unwrap_or_default(),
                bound: args.bound,
                sharding: sharding.as_ref(),
                ..WriteOptions::default()
            };
            program.stablehlo_with(&functions, &options)?
        }
        false => program.tgraph_of(functions)?,
    };
    match &args.destination {
        None => print(out, &text),
        Some(to) => {
            files::write(to, text.as_bytes())?;
            Ok(Outcome::Good)
        }
    }
}

fn run(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--out", args.output.as_deref())?;
    if target.is_compiled() {
        return devices::run_compiled(args, &target, out);
    }
    let loaded = target.load()?;
    let x = Inputs::read(args, &target)?.args(&loaded.function)?;
    let y = devices::run(args, &loaded.function, x).map_err(|e| loaded.locate(e))?;
    let y = y.into_iter().enumerate();
    results(
        args,
        y.map(|(k, a)| NamedResult::value(k, a)).collect(),
        out,
    )
}
