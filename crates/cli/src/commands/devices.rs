//! `devices`, and the device of `--on`.

use crate::args::{Args, usage};
use crate::output::{Outcome, print};
use crate::show::bytes;
use cotangent::pjrt::{DeviceTensor, MemoryStats, OptionValue, PjrtBackend, Spec, find, found};
use cotangent::stablehlo::Sharding;
use cotangent::{Array, Function, Result, Tensor, Val};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Names of `--on`, and those of the plugins. `cpu` alone is this library's own runtime.
const DEVICES: [(&str, &str); 4] = [
    ("xla", "cpu"),
    ("cuda", "cuda"),
    ("tpu", "tpu"),
    ("cotangent", "cotangent"),
];

/// The device of `--on`; `None` is the CPU.
fn chosen(args: &Args) -> Result<Option<PjrtBackend>> {
    let Some(on) = args.on.as_deref().filter(|on| *on != "cpu") else {
        return Ok(None);
    };
    let (name, number) = on.split_once(':').unwrap_or((on, "0"));
    let Some((_, plugin)) = DEVICES.iter().find(|d| d.0 == name) else {
        return Err(usage(format!(
            "--on {on}: devices are cpu, xla, cuda, tpu and cotangent; `cotangent devices` lists them"
        )));
    };
    // XLA's CPU has as many devices as are asked for.
    if let (Some(mesh), "cpu") = (&args.mesh, *plugin) {
        let count = OptionValue::Int(mesh.size() as i64);
        let backend = PjrtBackend::with_library(find(plugin)?, &[("cpu_device_count", count)])?;
        return Ok(Some(backend));
    }
    Ok(Some(PjrtBackend::new(&format!("{plugin}:{number}"))?))
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
        specs = Sharding::of(f, mesh, &named, &results)?.arguments;
        program = program.sharded(mesh, &named, &results)?;
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

/// Prints what `--on` takes.
pub(super) fn devices(out: &mut Vec<u8>) -> Result<Outcome> {
    let mut text = String::from("cpu         Cotangent's own runtime\n");
    let mut plugins: BTreeMap<&str, Result<PjrtBackend>> = BTreeMap::new();
    let installed = found();
    for (name, plugin) in DEVICES {
        let variable = format!("COTANGENT_PJRT_{}", plugin.to_uppercase());
        if installed.iter().any(|(n, _)| *n == plugin) || std::env::var_os(variable).is_some() {
            plugins.insert(name, PjrtBackend::new(plugin));
        }
    }
    for (name, plugin) in &plugins {
        match plugin {
            Ok(first) => described(&mut text, name, first)?,
            Err(why) => {
                let _ = writeln!(text, "{name:<12}cannot be used: {}", why.message());
            }
        }
    }
    for (name, _) in DEVICES.iter().filter(|d| !plugins.contains_key(d.0)) {
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
