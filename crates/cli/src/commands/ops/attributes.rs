//! Attributes of operations: names, types and defaults, found by asking the parsers.
//!
//! A parser is given each name in `MEANINGS` with a value of the wrong type. It answers that it has
//! no such attribute, or which type the attribute has.

use super::composites::Example;
use super::meanings::{meaning_of, names};
use cotangent::attr::{Attr, Attrs};
use cotangent::ops::{Entry, Spelled};
use cotangent::{Array, DType, Program, Result, Sample, Scalar, Type};
use std::collections::BTreeSet;

/// An attribute of an operation.
pub(super) struct Attribute {
    pub name: String,
    /// The values that it takes.
    pub kind: String,
    /// The value without it, `required`, or nothing if that depends on the operands.
    pub default: String,
    /// A phrase about its effect.
    pub meaning: &'static str,
}

impl Attribute {
    /// Name, type, default and meaning.
    pub(super) fn row(&self) -> [String; 4] {
        let meaning = self.meaning.to_owned();
        [
            self.name.clone(),
            self.kind.clone(),
            self.default.clone(),
            meaning,
        ]
    }
}

/// Words that attributes take, as candidates for defaults.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "mean", "sum", "none", "clip", "fill", "error", "drop", "fro", "gmres", "exact", "real", "erf", "left", "set",
];

/// A question to a parser: its attributes with this one set, or without it. The answer is the
/// parsed operation as text.
type Ask<'a> = &'a dyn Fn(&str, Option<&Attr>) -> Result<String>;

/// The attributes of an operation, by the sample with the most attributes.
pub(super) fn of_operation(e: &Entry, samples: &[Sample]) -> Vec<Attribute> {
    let most = |s: &&Sample| {
        let elements: usize = s.operands.iter().map(Array::len).sum();
        (s.op.attrs().0.len(), elements)
    };
    let Some(sample) = samples.iter().max_by_key(most) else {
        return Vec::new();
    };
    let operands: Vec<Type> = sample.operands.iter().map(Array::ty).collect();
    let results = sample.op.infer(&operands).ok();
    let ask = |name: &str, value: Option<&Attr>| {
        let mut attrs = sample.op.attrs();
        attrs.take(name);
        attrs
            .0
            .extend(value.map(|v| (name.to_owned().into(), v.clone())));
        let mut s = Spelled {
            name: e.name,
            attrs,
            operands: &operands,
            results: results.as_deref(),
        };
        let op = (e.parse)(&mut s)?;
        s.attrs.finish(e.name)?;
        Ok(described(&op.attrs()))
    };
    let attrs = sample.op.attrs();
    let own = attrs.0.iter().filter(|a| !is_region(&a.1));
    let own = own.map(|a| a.0.to_string());
    found(e.name, own, &ask)
}

/// Whether an attribute is a function, or several.
fn is_region(a: &Attr) -> bool {
    match a {
        Attr::Fn(_) => true,
        Attr::List(v) => v.iter().any(is_region),
        _ => false,
    }
}

/// The attributes of a composite, by its example.
pub(super) fn of_composite(example: &Example) -> Vec<Attribute> {
    let ask = |name: &str, attr: Option<&Attr>| {
        let text = example.text_with(name, attr.map(value).as_deref());
        Ok(Program::from_tgraph(&text)?.main().to_string())
    };
    found(example.name(), std::iter::empty(), &ask)
}

/// The attributes among all known names that a parser reads.
fn found(op: &str, own: impl Iterator<Item = String>, ask: Ask<'_>) -> Vec<Attribute> {
    let names: BTreeSet<String> = own.chain(names().map(str::to_owned)).collect();
    let found = names.into_iter().filter_map(|name| {
        let kind = kind(&name, ask)?;
        let default = default(&name, &kind, ask);
        Some(Attribute {
            meaning: meaning_of(op, &name),
            name,
            kind,
            default,
        })
    });
    found.collect()
}

/// The type of an attribute; `None` if the parser does not read it.
fn kind(name: &str, ask: Ask<'_>) -> Option<String> {
    let wrong = Attr::List(vec![Attr::List(vec![Attr::Bool(true)])]);
    let Err(e) = ask(name, Some(&wrong)) else {
        return Some("a value".into());
    };
    let message = e.message();
    if message.contains("has no attribute") {
        return None;
    }
    let must = format!("the attribute `{name}` must be ");
    let kind = message
        .split_once(&must)
        .map_or("a value", |(_, kind)| kind);
    Some(kind.trim_end_matches('.').to_owned())
}

/// The value that an attribute has without being given.
fn default(name: &str, kind: &str, ask: Ask<'_>) -> String {
    let without = match ask(name, None) {
        Ok(text) => text,
        Err(e) if e.message().contains(&format!("`{name}`")) => return "required".into(),
        Err(_) => return String::new(),
    };
    let same = |a: &Attr| ask(name, Some(a)).is_ok_and(|text| text == without);
    match candidates(kind).iter().find(|a| same(a)) {
        Some(Attr::List(v)) if name == "axes" && !v.is_empty() => "all axes".into(),
        Some(a) => value(a),
        None => String::new(),
    }
}

/// Values that a default may have.
fn candidates(kind: &str) -> Vec<Attr> {
    let integer = |i: i128| Attr::Num(Scalar::I(i));
    let numbers = || [-1, 0, 1, 2, 3, 4].map(integer).to_vec();
    if let Some(each) = kind.strip_prefix("a list in brackets, each ") {
        let each = candidates(each);
        let of_length = |n: usize| each.iter().map(move |a| Attr::List(vec![a.clone(); n]));
        let counted = (1..4).map(|n| Attr::List((0..n).map(integer).collect()));
        let lists = [1, 2, 3, 0]
            .into_iter()
            .flat_map(of_length)
            .collect::<Vec<_>>();
        return counted.chain(lists).collect();
    }
    let float = |x: f64| Attr::Num(Scalar::F(x));
    match kind {
        "true or false" => [false, true].map(Attr::Bool).to_vec(),
        "a number" => numbers()
            .into_iter()
            .chain([0.5, 1e-5, 1e-6, 1e-12].map(float))
            .collect(),
        "an element type" => DType::ALL.map(Attr::DType).to_vec(),
        "a word" => WORDS.iter().map(|w| Attr::Str((*w).into())).collect(),
        _ => numbers(),
    }
}

/// Attributes as text.
fn described(attrs: &Attrs) -> String {
    let each = attrs.0.iter().map(|(n, a)| format!("{n} = {}", value(a)));
    each.collect::<Vec<_>>().join(", ")
}

/// An attribute as text, a region by its kind alone.
pub(super) fn value(a: &Attr) -> String {
    match a {
        Attr::Num(Scalar::I(n)) => n.to_string(),
        Attr::Num(Scalar::F(x)) => format!("{x:?}"),
        Attr::Num(Scalar::C(z)) => format!("({:?}, {:?})", z.re, z.im),
        Attr::Bool(b) => b.to_string(),
        Attr::Str(s) => format!("\"{s}\""),
        Attr::DType(d) => d.name().to_owned(),
        Attr::Dim(d) => d.to_string(),
        Attr::List(v) => {
            let each: Vec<String> = v.iter().map(value).collect();
            format!("[{}]", each.join(", "))
        }
        Attr::Array(a) => a.ty().to_string(),
        Attr::Fn(_) => "a region".into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::ops::meanings::names;
    use regex_lite::Regex;
    use std::path::{Path, PathBuf};

    fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => sources(&path, out),
                path => out.push(path),
            }
        }
    }

    /// Names in calls such as `attrs.opt("axis")` of the parsers. Names of regions and counts of
    /// their operands are found in samples.
    #[test]
    fn every_name_that_a_parser_reads_is_known() {
        let reads = Regex::new(r#"(?:get|opt|take|option)(?:::<[^(]*>)?\((?:s, )?"([a-z_]+)""#);
        let reads = reads.unwrap();
        let mut files = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/ops");
        sources(&folder, &mut files);
        let regions = [
            "body", "cond", "callee", "f", "fwd", "bwd", "rule", "matvec", "solve",
        ];
        let shown = [
            "then",
            "else",
            "branches",
            "message",
            "residuals",
            "decomposed",
            "extent",
            "extents",
        ];
        let mut missing = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(file).unwrap();
            for name in reads.captures_iter(&text).map(|c| c[1].to_owned()) {
                let other = regions.iter().chain(&shown).any(|r| *r == name);
                if !other && !names().any(|n| n == name) {
                    missing.push(name);
                }
            }
        }
        assert!(
            missing.is_empty(),
            "attributes that `MEANINGS` lacks: {missing:?}"
        );
    }
}
