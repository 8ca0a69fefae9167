//! `ops`: the operation set, generated from the list of operations.

mod attributes;
mod composites;
mod formula;
mod meanings;
#[cfg(test)]
mod pages;
mod record;
mod rules;

use crate::args::Args;
use crate::output::{Outcome, print};
use crate::show;
use cotangent::ops::{applied, composites, entries};
use cotangent::{Code, Error, Result};
use record::Record;
use std::ffi::OsStr;

pub(super) fn ops(args: &Args, out: &mut Vec<u8>) -> Result<Outcome> {
    let Some(given) = args.target.as_deref().map(OsStr::to_string_lossy) else {
        return print(out, &list());
    };
    let name = given.strip_prefix("tgraph.").unwrap_or(&given);
    let other = cotangent::text::alias_of(name);
    let records = Record::of(other.unwrap_or(name))?;
    if records.is_empty() {
        let all = entries();
        let names = all.iter().map(|e| e.name);
        let written = composites().iter().chain(applied()).map(|c| c.name);
        let near = cotangent::text::nearest(name, names.chain(written));
        let hint = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        let text = format!("there is no operation `{name}`{hint}");
        let error = Error::new(Code::UnknownOperation, text);
        return Err(error.note("`cotangent ops` lists all operations"));
    }
    if let Some(other) = other {
        print(out, &format!("`{name}` is another name of `{other}`.\n\n"))?;
    }
    let texts: Vec<String> = records.iter().map(text).collect();
    print(out, &texts.join("\n"))
}

/// Every operation and composite, with its sentence.
fn list() -> String {
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
    rows.iter()
        .map(|r| format!("{:<width$}  {}\n", r[0], r[1]))
        .collect()
}

/// A record as text.
fn text(r: &Record) -> String {
    let mut out = format!("{}: {}\n", r.title, r.doc);
    if r.composite {
        out.push_str("A composite: it is expanded into other operations.\n");
    }
    if !r.attributes.is_empty() {
        let head = ["attribute", "type", "without it", "meaning"].map(str::to_owned);
        let rows = r.attributes.iter().map(|a| a.row().to_vec());
        let rows: Vec<_> = [head.to_vec()].into_iter().chain(rows).collect();
        out.push_str(&format!("\n{}", show::left_table(&rows)));
    }
    if !r.types.is_empty() {
        let head = vec!["operands".to_owned(), "results".to_owned()];
        let rows = r.types.iter().map(|t| t.to_vec());
        let rows: Vec<_> = [head].into_iter().chain(rows).collect();
        out.push_str(&format!("\n{}", show::left_table(&rows)));
    }
    out.push('\n');
    let width = r.facts.iter().map(|f| f.0.len()).max().unwrap_or(0);
    for (name, fact) in &r.facts {
        out.push_str(&format!("{name:<width$}  {fact}\n"));
    }
    format!("{out}\n{}\n{}", r.example, r.output)
}
