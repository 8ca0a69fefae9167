//! The steps of a plan in terms of the function: equations, and values that they read and write.

use super::Plan;
use cotangent_core::{Function, Loc, Val};
use rustc_hash::FxHashMap;

/// A step: equations that run as one kernel.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Indices into [`Function::eqns`], ascending. An equation that several steps compute anew
    /// belongs to each of them; a copy that a call reads is a step without equations.
    pub equations: Vec<usize>,
    /// Values that the step reads and other steps compute.
    pub reads: Vec<Val>,
    /// Values that the step computes and other steps or the caller read.
    pub writes: Vec<Val>,
}

impl StepInfo {
    /// Names of its operations in the function that was compiled, abridged.
    pub fn label(&self, f: &Function) -> String {
        const MAX_SHOWN_OPERATIONS: usize = 4;
        let names: Vec<&str> = self
            .equations
            .iter()
            .map(|&e| f.eqns()[e].op.name())
            .collect();
        match names.len() {
            0 => "copy".to_owned(),
            n if n <= MAX_SHOWN_OPERATIONS + 1 => names.join(" "),
            n => format!(
                "{} .. {} ({n})",
                names[..MAX_SHOWN_OPERATIONS - 1].join(" "),
                names[n - 1]
            ),
        }
    }

    /// The first known source location of its equations.
    pub(crate) fn loc(&self, f: &Function) -> Loc {
        let known = |l: &Loc| !matches!(l, Loc::None);
        let mut locs = self.equations.iter().map(|&e| f.eqns()[e].loc);
        locs.find(known).unwrap_or_default()
    }
}

impl Plan {
    /// The steps. A copy that a call reads writes no value of the function: the call reads what the
    /// copy does.
    pub(crate) fn step_infos(&self) -> Vec<StepInfo> {
        let (f, parts) = (&self.function, &self.parts);
        let value = |p: u32| parts.places[p as usize].value;
        let mut copied: FxHashMap<Val, Vec<Val>> = FxHashMap::default();
        let mut out = Vec::with_capacity(parts.steps.len());
        for (k, step) in parts.steps.iter().enumerate() {
            let mut reads: Vec<Val> = Vec::new();
            step.reads(parts, &mut |p| {
                let v = value(p);
                // Values of the step itself are not read.
                if parts.places[p as usize].def == Some(k as u32) {
                    return;
                }
                // Numbers that a call reads are no values of the function.
                let of = copied.get(&v).map_or(std::slice::from_ref(&v), |of| of);
                for &v in of.iter().filter(|v| v.index() < f.len()) {
                    if !reads.contains(&v) {
                        reads.push(v);
                    }
                }
            });
            let mut writes: Vec<Val> = Vec::new();
            step.writes(&mut |p| {
                if parts.places[p as usize].last > k as u32 {
                    writes.push(value(p));
                }
            });
            if let [copy] = writes[..]
                && copy.index() >= f.len()
            {
                copied.insert(copy, reads.clone());
                writes.clear();
            }
            out.push(StepInfo {
                equations: step.eqns.iter().map(|&e| e as usize).collect(),
                reads,
                writes,
            });
        }
        out
    }
}
