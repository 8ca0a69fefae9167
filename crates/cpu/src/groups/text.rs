//! The text form of groups: a line for each, `g0 [i:20000 | j:4]  lanes i, unrolled j   %4 block,
//! %7 whole   reads %x[i, j]   writes %7[i, j]`.

use super::form::{GroupAccess, Member, NestGroup, RowBlock, Storage};
use crate::nests::nest::{Nests, What};
use crate::nests::text::Names;
use std::fmt::Write;

/// The groups of nests as text. The rows of a group precede the bar.
pub(crate) fn shown(nests: &Nests<'_>, groups: &[NestGroup]) -> String {
    let names = Names::new(nests.function);
    let mut out = String::new();
    for (k, g) in groups.iter().enumerate() {
        let _ = writeln!(out, "g{k} {}", line(&names, nests, g));
    }
    out
}

fn line(names: &Names<'_>, nests: &Nests<'_>, g: &NestGroup) -> String {
    let first = &nests.nests[g.members[0].nest as usize];
    let kind = match first.what {
        What::Call(_) => Some("call"),
        What::Literal(_) => Some("literal"),
        What::Map(_) | What::Fold { .. } => None,
    };
    let mut parts: Vec<String> = match kind {
        Some(kind) => {
            let values: Vec<String> = first.values().map(|v| names.value(v)).collect();
            vec![format!("{kind} {}", values.join(", "))]
        }
        None => vec![
            format!("{}  {}", space(names, g), schedule(names, g)),
            members(names, nests, &g.members),
        ],
    };
    parts.push(accesses(names, "reads", &g.reads));
    if kind.is_none() {
        parts.push(accesses(names, "writes", &g.writes));
    }
    parts.extend(g.why.map(|why| format!("apart: {}", why.text())));
    parts.retain(|p| !p.is_empty());
    parts.join("   ")
}

fn space(names: &Names<'_>, g: &NestGroup) -> String {
    let axis = |(k, d)| format!("{}:{d}", names.axis(k));
    let all: Vec<String> = g.space.axes.iter().enumerate().map(axis).collect();
    let (rows, inner) = all.split_at(g.space.rows);
    match (rows.is_empty(), inner.is_empty()) {
        (_, true) => format!("[{}]", rows.join(" ")),
        (true, false) => format!("[| {}]", inner.join(" ")),
        (false, false) => format!("[{} | {}]", rows.join(" "), inner.join(" ")),
    }
}

fn schedule(names: &Names<'_>, g: &NestGroup) -> String {
    let s = &g.schedule;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(s.lanes.map(|a| format!("lanes {}", names.axis(a as usize))));
    if !s.unrolled.is_empty() {
        let axes: Vec<String> = s.unrolled.iter().map(|&a| names.axis(a as usize)).collect();
        parts.push(format!("unrolled {}", axes.join(" ")));
    }
    for split in &s.split {
        let at: Vec<String> = split.at.iter().map(usize::to_string).collect();
        parts.push(format!(
            "split {} at {}",
            names.axis(split.axis as usize),
            at.join(" ")
        ));
    }
    for &r in &s.transposed {
        let read = &g.reads[r as usize];
        let element = names.element(&read.element, &read.starts);
        parts.push(format!("{element} transposed"));
    }
    match s.block {
        RowBlock::Any => {}
        RowBlock::Rows(1) => parts.push("blocks of 1 row".to_owned()),
        RowBlock::Rows(n) => parts.push(format!("blocks of {n} rows")),
        RowBlock::Phases => parts.push("phases".to_owned()),
    }
    match parts.is_empty() {
        true => "scalar".to_owned(),
        false => parts.join(", "),
    }
}

fn members(names: &Names<'_>, nests: &Nests<'_>, all: &[Member]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (at, word) in [
        (Storage::Inline, "inline"),
        (Storage::Block, "block"),
        (Storage::Whole, "whole"),
    ] {
        let of = all.iter().filter(|m| m.at == at);
        let values: Vec<String> = of
            .map(|m| names.value(nests.nests[m.nest as usize].value))
            .collect();
        if !values.is_empty() {
            parts.push(format!("{} {word}", values.join(" ")));
        }
    }
    parts.join(", ")
}

fn accesses(names: &Names<'_>, word: &str, all: &[GroupAccess]) -> String {
    let shown: Vec<String> = all
        .iter()
        .map(|a| names.element(&a.element, &a.starts))
        .collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!("{word} {}", shown.join(", ")),
    }
}
