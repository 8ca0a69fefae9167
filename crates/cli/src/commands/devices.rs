//! `devices`, and the device of `--on`.

use crate::args::{Args, usage};
use crate::inputs::Inputs;
use crate::load::Target;
use crate::output::{NamedResult, Outcome, print, results};
use crate::show::{bytes, table};
use cotangent::pjrt::{
    CompiledProgram, DeviceTensor, MemoryStats, OptionValue, PjrtBackend, Spec, find,
};
use cotangent::stablehlo::Sharding;
use cotangent::transform::Session;
use cotangent::{Array, Function, Result, Tensor, Type, Val, files};
use std::fmt::Write;
use std::sync::Arc;

/// The device of `--on`; `None` is the CPU.
fn chosen(args: &Args) -> Result<Option<PjrtBackend>> {
    let Some(on) = args.on.as_deref().filter(|on| *on != "cpu") else {
        return Ok(None);
    };
    let name = on.split(':').next().unwrap_or(on);
    if !PjrtBackend::names().any(|n| n == name) {
        return Err(usage(format!(
            "--on {on}: devices are cpu, xla, cuda, tpu and cotangent; `cotangent devices` lists them"
        )));
    }
    // XLA's CPU has as many devices as are asked for.
    if let (Some(mesh), "xla") = (&args.mesh, name) {
        let count = OptionValue::Int(mesh.size() as i64);
        let backend = PjrtBackend::with_library(find("cpu")?, &[("cpu_device_count", count)])?;
        return Ok(Some(backend));
    }
    Ok(Some(PjrtBackend::new(on)?))
}

/// The divisions of `--shard`: of arguments by name, and of results, whose names are `out_0`, ..
pub(super) fn divisions<'a>(args: &'a Args, f: &Function) -> (Vec<(&'a str, Spec)>, Vec<Spec>) {
    let mut arguments = Vec::new();
    let mut results = vec![Spec::replicated(); f.results().len()];
    for (name, spec) in &args.shard {
        let named = |&p: &Val| f.name_of(p).is_some_and(|n| **n == **name);
        let result = name.strip_prefix("out_").and_then(|k| k.parse().ok());
        match result.filter(|&k: &usize| k < results.len()) {
            Some(k) if !f.params().iter().any(named) => results[k] = spec.clone(),
            _ => arguments.push((name.as_str(), spec.clone())),
        }
    }
    (arguments, results)
}

/// Runs a function on the device of `--on`.
pub(super) fn run(args: &Args, f: &Arc<Function>, x: Vec<Array>) -> Result<Vec<Array>> {
    let Some(device) = chosen(args)? else {
        return cotangent::run(f, &x);
    };
    let mut program = match args.bound {
        None => device.program(f)?,
        Some(steps) => device.bounded_program(f, steps)?,
    };
    let mut specs = vec![Spec::replicated(); x.len()];
    if let Some(mesh) = &args.mesh {
        let (named, results) = divisions(args, f);
        program = program.sharded(mesh, &named, &results)?;
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        if let Some(division) = program.division(&types)? {
            specs.clone_from(&division.arguments);
        }
    }
    let upload = |(x, spec): (Array, &Spec)| match &args.mesh {
        None => device.upload(&Tensor::from(x)),
        Some(mesh) => device.upload_sharded(&Tensor::from(x), mesh, spec),
    };
    let x = x.into_iter().zip(&specs).map(upload);
    let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
    let y = program.run(&x.iter().collect::<Vec<&DeviceTensor>>())?;
    y.iter().map(|y| y.download()?.to_array()).collect()
}

/// A table of what functions need on the device of `--on`, or why it cannot run them.
pub(super) fn explained(args: &Args, all: &[(&str, Arc<Function>)]) -> Result<String> {
    let Some(device) = chosen(args)? else {
        return Ok(String::new());
    };
    let mut rows = vec![vec![
        "".into(),
        "temporary memory".into(),
        "exchanges".into(),
    ]];
    let mut refused = String::new();
    for (name, f) in all {
        let sharding = match &args.mesh {
            None => None,
            Some(mesh) => {
                let (named, results) = divisions(args, f);
                Some(Sharding::of(f, mesh, &named, &results)?)
            }
        };
        let needs = match device.requirements(f, sharding.as_ref(), args.bound) {
            Ok(needs) => needs,
            Err(e) => {
                let _ = writeln!(refused, "{name} cannot run: {}", e.message());
                continue;
            }
        };
        let memory = needs.temporary_bytes.map(|n| bytes(n as f64));
        let counts = needs.collectives.map(|all| match all.is_empty() {
            true => "none".to_owned(),
            false => {
                let all: Vec<String> = all.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
                all.join(", ")
            }
        });
        let told = |text: Option<String>| text.unwrap_or_else(|| "not told".to_owned());
        rows.push(vec![(*name).into(), told(memory), told(counts)]);
    }
    let table = match rows.len() {
        1 => String::new(),
        _ => table(&rows),
    };
    let devices = args.mesh.as_ref().map_or(1, |m| m.size());
    let count = match devices {
        1 => String::new(),
        n => format!(" and {} more devices", n - 1),
    };
    Ok(format!("\non {device:?}{count}:\n{table}{refused}"))
}

/// Compiles a program for devices that need not be here.
pub(super) fn compile(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let target = Target::new(args)?;
    target.refuse_overwrite("--out", args.output.as_deref())?;
    let to = args.output.as_deref();
    if to.is_some_and(|to| to.extension().is_none_or(|e| e != "pjrt")) {
        return Err(usage("`compile --out` writes a .pjrt file"));
    }
    let loaded = target.load()?;
    let mut f = loaded.function.clone();
    if !f.param_syms().is_empty() {
        let x = Inputs::read(args, &target)?.args(&f)?;
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        f = Session::default().specialize(&f, &types);
    }
    let sharding = match &args.mesh {
        None => None,
        Some(mesh) => {
            let (named, results) = divisions(args, &f);
            Some(Sharding::of(&f, mesh, &named, &results)?)
        }
    };
    let devices = args.compiled_for.as_deref().unwrap_or_default();
    let made = CompiledProgram::compile(devices, &f, sharding.as_ref(), args.bound)
        .map_err(|e| loaded.locate(e))?;
    let mut text = format!("{devices}: {}", bytes(made.size() as f64));
    for (name, count) in made.collectives() {
        let _ = write!(text, ", {count} {name}");
    }
    text.push('\n');
    if let Some(to) = to {
        files::write(to, &made.to_bytes())?;
    }
    print(out, &text)
}

/// Runs a program that [`compile`] wrote.
pub(super) fn run_compiled(args: &Args, target: &Target, out: &mut Vec<u8>) -> Result<Outcome> {
    let compiled = CompiledProgram::from_bytes(&target.source()?)
        .map_err(|e| e.note(format!("in {}", target.name())))?;
    let args = &Args {
        mesh: compiled.sharding().map(|s| s.mesh.clone()),
        ..args.clone()
    };
    let Some(device) = chosen(args)? else {
        return Err(usage(format!(
            "a program that was compiled for `{}` runs there: give its device, as in `--on cuda`",
            compiled.target()
        )));
    };
    let program = device.load(&compiled)?;
    let x = Inputs::read(args, target)?.args(compiled.function())?;
    let upload = |(k, x): (usize, Array)| match compiled.sharding() {
        None => device.upload(&Tensor::from(x)),
        Some(s) => device.upload_sharded(&Tensor::from(x), &s.mesh, &s.arguments[k]),
    };
    let x = x.into_iter().enumerate().map(upload);
    let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
    let y = program.run(&x.iter().collect::<Vec<&DeviceTensor>>())?;
    let value = |(k, y): (usize, &DeviceTensor)| -> Result<NamedResult> {
        Ok(NamedResult::value(k, y.download()?.to_array()?))
    };
    let y = y.iter().enumerate().map(value).collect::<Result<_>>()?;
    results(args, y, out)
}

/// Prints what `--on` takes.
pub(super) fn devices(out: &mut Vec<u8>) -> Result<Outcome> {
    let mut text = String::from("cpu         Cotangent's own runtime\n");
    let plugins = PjrtBackend::installed();
    for (name, plugin) in &plugins {
        match plugin {
            Ok(first) => described(&mut text, name, first)?,
            Err(why) => {
                let _ = writeln!(text, "{name:<12}cannot be used: {}", why.message());
            }
        }
    }
    for name in PjrtBackend::names().filter(|n| plugins.iter().all(|p| p.0 != *n)) {
        let _ = writeln!(text, "{name:<12}not installed");
    }
    print(out, &text)
}

/// A line for each device of a plugin.
fn described(text: &mut String, name: &str, first: &PjrtBackend) -> Result<()> {
    for k in 0..first.devices() {
        let device = first.on(k)?;
        let memory = match device.memory() {
            Ok(MemoryStats {
                in_use,
                limit: Some(limit),
                ..
            }) => format!(
                ", {} of {} in use",
                bytes(in_use as f64),
                bytes(limit as f64)
            ),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "{:<12}{}{memory}",
            format!("{name}:{k}"),
            device.kind()?
        );
    }
    Ok(())
}
