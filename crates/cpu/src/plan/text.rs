//! The text form of plans: places, steps, and the memory of a run.

use super::arena::scratch_bytes;
use super::build::{CallStep, CodeStep, Home, PlanParts, StepKind, StoredPlace};
use super::laid::{LaidCode, LaidGroup, LaidLeaf, LaidStep, Resolved};
use cotangent_core::{Env, Function};
use std::fmt::Write;

/// The steps of a plan, with numbers of a segment where it is resolved for these extents.
pub(crate) fn text(
    f: &Function,
    parts: &PlanParts,
    resolved: &[Option<&Resolved>],
    env: &Env,
) -> String {
    let mut out = String::new();
    for (segment, s) in parts.segments.iter().enumerate() {
        let r = resolved.get(segment).copied().flatten();
        for (at, k) in s.steps.clone().enumerate() {
            let step = &parts.steps[k];
            let laid = r.and_then(|r| r.steps.get(at));
            let place = |p: u32| place_text(f, &parts.places[p as usize], r, p);
            let _ = match &step.kind {
                StepKind::Code(c) => {
                    let laid = match laid {
                        Some(LaidStep::Code(l)) => Some(l),
                        _ => None,
                    };
                    let head = head_text(c, laid);
                    let to = |p: &u32| place_text(f, &parts.places[*p as usize], r, *p);
                    for (n, phase) in c.phases.iter().enumerate() {
                        let loops = laid.map(|l| loops_text(&phase.code, &l.phases[n]));
                        let mut places = phase.places.clone();
                        places.dedup();
                        let to: Vec<String> = places.iter().map(to).collect();
                        let start = match (n, &head) {
                            (0, None) => format!("{k} "),
                            (0, Some(head)) => format!("{k} {head}\n  "),
                            _ => "  ".to_owned(),
                        };
                        let _ = writeln!(
                            out,
                            "{start}code of {} operations{} -> {}",
                            phase.code.body.steps(),
                            loops.unwrap_or_default(),
                            to.join(", ")
                        );
                    }
                    Ok(())
                }
                StepKind::Call(c) => {
                    let from: Vec<String> = c.operands.iter().map(|x| place(x.place)).collect();
                    let to: Vec<String> = c.results.iter().flatten().map(|&p| place(p)).collect();
                    let (from, to) = (from.join(", "), to.join(", "));
                    let how = nested_text(c, r, laid, env);
                    let why = c.why.text();
                    writeln!(out, "{k} call {}({from}) -> {to}: {why}{how}", c.name)
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
            let of = name_text(f, &parts.places[v.place as usize]);
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

/// How an operation with regions runs.
fn nested_text(c: &CallStep, r: Option<&Resolved>, laid: Option<&LaidStep>, env: &Env) -> String {
    match (&c.nested, r, laid) {
        (Some(nested), Some(r), Some(LaidStep::Call { operands, .. })) => {
            format!(", {}", nested.text(&c.forms(&r.shapes, operands), env))
        }
        _ => String::new(),
    }
}

/// The name of a value. Copies and numbers have no name in the function.
fn name_text(f: &Function, p: &StoredPlace) -> String {
    match (&p.home, p.value.index().checked_sub(f.len())) {
        (_, None) => f.show(p.value),
        (Home::Constant(_), Some(k)) => format!("number {k}"),
        (_, Some(k)) => format!("copy {k}"),
    }
}

fn place_text(f: &Function, p: &StoredPlace, r: Option<&Resolved>, place: u32) -> String {
    let name = name_text(f, p);
    match (&p.home, r) {
        (Home::Argument, _) => name,
        (Home::Constant(_), _) => format!("{name} constant"),
        (Home::Tensor, _) => format!("{name} {} tensor", p.ty),
        (Home::Arena, Some(r)) => format!("{name} {} arena {}", p.ty, r.offsets[place as usize]),
        (Home::Arena, None) => format!("{name} {} arena", p.ty),
        (Home::Block, _) => format!("{name} {} block", p.ty),
    }
}

/// The schedule of a step of several phases.
fn head_text(c: &CodeStep, laid: Option<&LaidGroup>) -> Option<String> {
    if c.phases.len() < 2 {
        return None;
    }
    Some(match laid.map(|l| &l.rows) {
        None => "phases".to_owned(),
        Some(None) => "one phase after the other".to_owned(),
        Some(Some(b)) => {
            let all: usize = b.row_bytes.iter().map(|n| n * b.block).sum();
            format!(
                "blocks of {} of {} rows, {all} B for each thread",
                b.block, b.count
            )
        }
    })
}

/// The loops of a phase.
fn loops_text(code: &super::code::Code, l: &LaidCode) -> String {
    if l.boxes.is_empty() {
        return " over nothing".to_owned();
    }
    let all = match &l.by_copies {
        Some(c) if !c.is_all() => &c.boxes,
        _ => &l.boxes,
    };
    let boxes: Vec<String> = all
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
    match (&l.by_copies, scratch_bytes(code, l)) {
        (Some(c), _) if c.is_all() => out.push_str(" copied"),
        (Some(_), Some(n)) => {
            let _ = write!(out, ", {n} B for copies with halos");
        }
        (None, Some(n)) => {
            let _ = write!(out, ", {n} B for a row");
        }
        (_, None) => {}
    }
    out
}
