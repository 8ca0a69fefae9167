//! [`Record`]: what there is to know about an operation, for `ops NAME` and for the book's
//! reference.

use super::attributes::{Attribute, of_composite, of_operation};
use super::composites::example;
use super::{formula, rules};
use crate::show;
use cotangent::check::{function_of, points};
use cotangent::ops::{Composite, Entry, applied, composites, entries};
use cotangent::{Array, Function, Program, Result, Sample, Type, bail, reference, stablehlo, text};
use std::sync::Arc;

/// An operation or a composite.
pub(super) struct Record {
    /// The name, with ` @f` if a module follows it.
    pub title: String,
    /// One sentence, with the formula.
    pub doc: String,
    /// Whether it is expanded into operations.
    pub composite: bool,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Operand and result types of its samples.
    pub types: Vec<[String; 2]>,
    /// Names and texts of further facts: rules, the derivative, the StableHLO form.
    pub facts: Vec<(&'static str, String)>,
    /// A module that uses it.
    pub example: String,
    /// Arguments and results of the module.
    pub output: String,
}

impl Record {
    /// The records of a name: a composite, a composite of a module, and an operation may share it.
    pub(super) fn of(name: &str) -> Result<Vec<Record>> {
        let mut out = Vec::new();
        for c in composites().iter().filter(|c| c.name == name) {
            out.push(Record::of_composite(c, "")?);
        }
        for c in applied().iter().filter(|c| c.name == name) {
            out.push(Record::of_composite(c, " @f")?);
        }
        for e in entries().iter().filter(|e| e.name == name) {
            out.push(Record::of_operation(e)?);
        }
        Ok(out)
    }

    /// The record of an operation, from its samples.
    pub(super) fn of_operation(e: &Entry) -> Result<Record> {
        let samples = (e.samples)(e.name);
        let mut types = Vec::new();
        for s in &samples {
            let operands: Vec<Type> = s.operands.iter().map(Array::ty).collect();
            let row = [list(&operands), list(&s.op.infer(&operands)?)];
            if !types.contains(&row) {
                types.push(row);
            }
        }
        let mut record = Record {
            title: e.name.into(),
            doc: e.doc.into(),
            composite: false,
            attributes: of_operation(e, &samples),
            types,
            facts: rules::facts(&samples)?,
            example: String::new(),
            output: String::new(),
        };
        if let Some(s) = samples.iter().min_by_key(|s| length(s)) {
            let f = Arc::new(function_of(s)?);
            record.facts.extend(formula::adjoint(&f));
            record.facts.push(("stablehlo", stablehlo_form(&f)));
            record.example = text::print_function(&f);
            record.output = values(&f, &s.operands)?;
        }
        Ok(record)
    }

    /// The record of a composite, from its example.
    pub(super) fn of_composite(c: &Composite, reference: &str) -> Result<Record> {
        let Some(row) = example(c.name, !reference.is_empty()) else {
            bail!(
                UnknownOperation,
                "the composite `{}` has no example",
                c.name
            )
        };
        let example = row.text();
        let program = Program::from_tgraph(&example)?;
        let f = program.main().clone();
        let x = match f.params() {
            [] => Vec::new(),
            _ => points(&f).next().unwrap_or(Ok(Vec::new()))?,
        };
        let mut names: Vec<&str> = Vec::new();
        for e in f.eqns() {
            if !names.contains(&e.op.name()) {
                names.push(e.op.name());
            }
        }
        Ok(Record {
            title: format!("{}{reference}", c.name),
            doc: c.doc.into(),
            composite: true,
            attributes: of_composite(row),
            types: Vec::new(),
            facts: vec![("written with", names.join(", "))],
            output: values(&f, &x)?,
            example,
        })
    }
}

/// Order of samples for an example: with elements, of floats, smooth, with few lines and elements.
fn length(s: &Sample) -> impl Ord + use<> {
    let elements: usize = s.operands.iter().map(Array::len).sum();
    let empty = s.operands.iter().any(Array::is_empty);
    let discrete = !s.operands.iter().any(|a| a.dtype().has_tangent());
    let wide = |a: &Array| matches!(a.dtype().to_string().as_str(), "f64" | "c128");
    let narrow = s
        .operands
        .iter()
        .filter(|a| a.dtype().has_tangent() && !wide(a));
    let narrow = narrow.count();
    let lines = function_of(s).map_or(usize::MAX, |f| text::print_function(&f).lines().count());
    (
        (empty, discrete, narrow > 0),
        lines,
        !s.smooth,
        elements.abs_diff(6),
    )
}

fn list(types: &[Type]) -> String {
    let types: Vec<String> = types.iter().map(Type::to_string).collect();
    types.join(", ")
}

/// The arguments and the results of a function, evaluated by the reference.
fn values(f: &Arc<Function>, x: &[Array]) -> Result<String> {
    let y = reference::run(f, x)?;
    let arguments = f.params().iter().map(|&p| f.show(p)).zip(x);
    let results = f.results().iter().map(|&r| f.show(r)).zip(&y);
    Ok(arguments
        .chain(results)
        .map(|(name, a)| show::array(&name, a))
        .collect())
}

/// The StableHLO operations that a function is written with.
fn stablehlo_form(f: &Arc<Function>) -> String {
    match stablehlo::write(std::slice::from_ref(f)) {
        Ok(module) => operations(&module).join(", "),
        Err(_) => "none".to_owned(),
    }
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
