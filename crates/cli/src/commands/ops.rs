//! `ops`: the operation set, generated from the list of operations.

use crate::args::Args;
use crate::output::{Outcome, print};
use crate::show;
use cotangent::ad::{self, AdContext};
use cotangent::check::function_of;
use cotangent::ops::{applied, composites, entries};
use cotangent::{Code, Dim, Error, Function, Result, Sample, stablehlo, text};
use std::ffi::OsStr;
use std::sync::Arc;

pub fn ops(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let Some(name) = args.target.as_deref().map(OsStr::to_string_lossy) else {
        let mut rows: Vec<Vec<String>> = vec![vec!["operation".into(), "meaning".into()]];
        rows.extend(entries().iter().map(|e| vec![e.name.into(), e.doc.into()]));
        rows.extend(
            composites()
                .iter()
                .map(|c| vec![c.name.into(), format!("{} (composite)", c.doc)]),
        );
        rows.extend(
            applied()
                .iter()
                .map(|c| vec![format!("{} @f", c.name), format!("{} (composite)", c.doc)]),
        );
        let width = rows.iter().map(|r| r[0].len()).max().unwrap_or(0);
        let text: String = rows
            .iter()
            .map(|r| format!("{:<width$}  {}\n", r[0], r[1]))
            .collect();
        return print(out, &text);
    };
    let all = entries();
    let composite = composites().iter().find(|c| *c.name == *name);
    let of_module = applied().iter().find(|c| *c.name == *name);
    for (c, reference) in composite
        .map(|c| (c, ""))
        .into_iter()
        .chain(of_module.map(|c| (c, " @f")))
    {
        let text = format!(
            "{}{reference}: {}\nA composite: it is expanded into other operations.\n",
            c.name, c.doc
        );
        print(out, &text)?;
    }
    if (composite.is_some() || of_module.is_some()) && !all.iter().any(|e| *e.name == *name) {
        return Ok(Outcome::Good);
    }
    let Some(e) = all.iter().find(|e| *e.name == *name) else {
        let names = all.iter().map(|e| e.name);
        let written = composites().iter().chain(applied()).map(|c| c.name);
        let near = cotangent::text::nearest(&name, names.chain(written));
        let hint = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        return Err(Error::new(
            Code::UnknownOperation,
            format!("there is no operation `{name}`{hint}"),
        ));
    };
    print(out, &format!("{}: {}\n", e.name, e.doc))?;
    let samples = (e.samples)(e.name);
    let mut rows: Vec<Vec<String>> = vec![vec!["operands".into(), "results".into()]];
    for s in &samples {
        let types: Vec<_> = s.operands.iter().map(|a| a.ty()).collect();
        let list = |t: &[cotangent::Type]| {
            t.iter()
                .map(|t| t.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let row = vec![list(&types), list(&s.op.infer(&types)?)];
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    print(out, &format!("\n{}", show::table(&rows)))?;
    print(out, &format!("\n{}", rules(&samples)?))?;
    print(out, &example(&samples)?)
}

/// The shortest sample as text, with the attributes that it has, and the StableHLO operations that
/// it is written with.
fn example(samples: &[Sample]) -> Result<String> {
    let functions: Vec<Function> = samples.iter().map(function_of).collect::<Result<_>>()?;
    let texts = functions.iter().map(|f| (text::print_function(f), f));
    let Some((text, f)) = texts.min_by_key(|(text, _)| (text.lines().count(), text.len())) else {
        return Ok(String::new());
    };
    let form = match stablehlo::write(&[Arc::new(f.clone())]) {
        Ok(module) => operations(&module).join(", "),
        Err(_) => "none".to_owned(),
    };
    Ok(format!("stablehlo  {form}\n\n{text}"))
}

/// The operations of a StableHLO module, each once, in the order of the text.
fn operations(module: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for dialect in ["stablehlo.", "chlo."] {
        for (at, _) in module.match_indices(dialect) {
            let rest = &module[at..];
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len());
            let name = &rest[..end];
            let starts = !module[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '#');
            let other = [dialect, "stablehlo.return"];
            if starts && !other.contains(&name) && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// The rules of an operation, determined by applying them to its samples.
fn rules(samples: &[Sample]) -> Result<String> {
    let cx = AdContext::default();
    let (mut linearize, mut batch) = (false, false);
    let mut linear: Vec<String> = Vec::new();
    for s in samples {
        let f = function_of(s)?;
        let n = f.params().len();
        let floats: Vec<_> = f
            .params()
            .iter()
            .copied()
            .filter(|&p| f.ty(p).dtype.has_tangent())
            .collect();
        let active = f.result_types().iter().any(|t| t.dtype.has_tangent()) && !floats.is_empty();
        linearize |= active && ad::jvp(&cx, &f, &floats).is_ok();
        batch |= n > 0 && ad::batch(&cx.session(), &f, &vec![true; n], &[], &Dim::Const(2)).is_ok();
        // Linearity in one operand, or in all operands jointly.
        for i in 0..n.min(8) {
            let mask: Vec<bool> = (0..n).map(|k| k == i).collect();
            if active && floats.contains(&f.params()[i]) && s.op.linear_in(&mask) {
                linear.push(format!("operand {i}"));
            }
        }
        if active && n > 1 && s.op.linear_in(&vec![true; n]) {
            linear.push("all operands together".into());
        }
    }
    linear.sort();
    linear.dedup();
    let yes = |b: bool| if b { "yes" } else { "no" };
    let transpose = if linear.is_empty() {
        "not linear".to_owned()
    } else {
        format!("linear in {}", linear.join("; in "))
    };
    Ok(format!(
        "linearize  {}\ntranspose  {transpose}\nbatch      {}\n",
        yes(linearize),
        yes(batch)
    ))
}
