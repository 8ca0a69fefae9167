//! The text form of plans: places, steps, and the memory of a run.

use super::arena::scratch_bytes;
use super::build::{Home, PlanParts, StepKind, StoredPlace};
use super::laid::{LaidCode, LaidLeaf, LaidStep, Resolved};
use cotangent_core::Function;
use std::fmt::Write;

/// The steps of a plan, with numbers of a segment where it is resolved.
pub(crate) fn text(f: &Function, parts: &PlanParts, resolved: &[Option<&Resolved>]) -> String {
    let mut out = String::new();
    for (segment, s) in parts.segments.iter().enumerate() {
        let r = resolved.get(segment).copied().flatten();
        for (at, k) in s.steps.clone().enumerate() {
            let step = &parts.steps[k];
            let laid = r.and_then(|r| r.steps.get(at));
            let place = |p: u32| place_text(f, &parts.places[p as usize], r, p);
            let _ = match &step.kind {
                StepKind::Code { code, outputs, .. } => {
                    let to: Vec<String> = outputs.iter().map(|&p| place(p)).collect();
                    let loops = match laid {
                        Some(LaidStep::Code(l)) => loops_text(code, l),
                        Some(_) => " nothing".to_owned(),
                        None => String::new(),
                    };
                    let n = code.body.steps();
                    writeln!(
                        out,
                        "{k} code of {n} operations{loops} -> {}",
                        to.join(", ")
                    )
                }
                StepKind::Call(c) => {
                    let from: Vec<String> = c.operands.iter().map(|x| place(x.place)).collect();
                    let to: Vec<String> = c.results.iter().flatten().map(|&p| place(p)).collect();
                    let (from, to) = (from.join(", "), to.join(", "));
                    writeln!(out, "{k} call {}({from}) -> {to}: {}", c.name, c.why.text())
                }
            };
        }
        if segment + 1 < parts.segments.len() {
            out.push_str("extents by data\n");
        }
    }
    let results: Vec<String> = parts
        .results
        .iter()
        .map(|v| {
            let of = f.show(parts.places[v.place as usize].value);
            if v.read.is_some() {
                format!("view of {of}")
            } else {
                of
            }
        })
        .collect();
    let _ = writeln!(out, "results {}", results.join(", "));
    let arena: Option<usize> = resolved
        .iter()
        .map(|r| Some(r.as_ref()?.arena))
        .try_fold(0, |n, a| Some(a?.max(n)));
    let arena = match arena {
        Some(n) => format!("{n} B"),
        None => "by extents".to_owned(),
    };
    let (own, all) = (parts.equations - parts.called, parts.equations);
    let _ = writeln!(
        out,
        "arena {arena}; {own} of {all} equations without a call"
    );
    out
}

fn place_text(f: &Function, p: &StoredPlace, r: Option<&Resolved>, place: u32) -> String {
    let name = match p.value.index() < f.len() {
        true => f.show(p.value),
        false => format!("copy {}", p.value.index() - f.len()),
    };
    match (&p.home, r) {
        (Home::Argument, _) => name,
        (Home::Constant(_), _) => format!("{name} constant"),
        (Home::Tensor, _) => format!("{name} {} tensor", p.ty),
        (Home::Arena, Some(r)) => format!("{name} {} arena {}", p.ty, r.offsets[place as usize]),
        (Home::Arena, None) => format!("{name} {} arena", p.ty),
    }
}

/// The loops of a step.
fn loops_text(code: &super::code::Code, l: &LaidCode) -> String {
    let boxes: Vec<String> = l
        .boxes
        .iter()
        .map(|b| format!("{:?}", &b.extents[..]))
        .collect();
    let packed = l.boxes.iter().flat_map(|b| &b.leaves);
    let packed = packed.filter(|l| matches!(l, LaidLeaf::Packed(_))).count();
    let mut out = format!(" over {}", boxes.join(" "));
    if l.len != 1 || code.rank < code.space.len() {
        let _ = write!(out, " folded by {}", l.len);
    }
    if packed > 0 {
        let _ = write!(out, ", {packed} reads packed");
    }
    if let Some(n) = scratch_bytes(code, l) {
        let _ = write!(out, ", {n} B for a row");
    }
    out
}
