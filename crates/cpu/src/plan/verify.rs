//! The verifier of plans: each place is written before it is read, and values that are live
//! together share no byte of the arena but where one is written over the other.

use super::arena::{bytes, scratch_bytes};
use super::build::{Home, PlanParts, StepKind, values_read};
use super::code::{Code, LeafSource};
use super::laid::{LaidCode, LaidLeaf, LaidStep, Resolved, writes_over};
use cotangent_core::{Result, bail};
use std::collections::BTreeMap;
use std::ops::Range;

/// Checks a segment at its extents. Returns an error that names the step.
pub(crate) fn verify(parts: &PlanParts, steps: Range<usize>, r: &Resolved) -> Result<()> {
    let mut v = Verifier {
        parts,
        r,
        memory: Live::default(),
    };
    for (k, laid) in steps.zip(&r.steps) {
        v.reads(k)?;
        if let (
            StepKind::Code {
                code,
                outputs,
                over,
            },
            LaidStep::Code(l),
        ) = (&parts.steps[k].kind, laid)
        {
            v.loops(k, l)?;
            v.writes(k, code, l, outputs, over)?;
        }
        v.ends(k);
    }
    Ok(())
}

struct Verifier<'a> {
    parts: &'a PlanParts,
    r: &'a Resolved,
    memory: Live,
}

impl Verifier<'_> {
    /// The places among these that have bytes of the arena.
    fn held(&self, places: &[u32]) -> Vec<u32> {
        let own = places.iter().copied();
        own.filter(|&p| self.in_arena(p)).collect()
    }

    fn in_arena(&self, place: u32) -> bool {
        let own = matches!(self.parts.places[place as usize].home, Home::Arena);
        own && bytes(self.parts, &self.r.shapes, place) > 0
    }

    fn offset(&self, place: u32) -> usize {
        self.r.offsets[place as usize]
    }

    /// Checks that what a step reads is given or written before.
    fn reads(&self, k: usize) -> Result<()> {
        let readable = |p: u32| {
            let place = &self.parts.places[p as usize];
            let given = matches!(place.home, Home::Argument | Home::Constant(_));
            (given || place.def.is_some_and(|d| (d as usize) < k)) && place.last as usize >= k
        };
        let mut fits = true;
        match &self.parts.steps[k].kind {
            StepKind::Call(c) => fits = c.operands.iter().all(|x| readable(x.place)),
            StepKind::Code { code, .. } => {
                for leaf in &code.leaves {
                    if let LeafSource::Read(read) = &leaf.source {
                        values_read(read, &mut |v| fits &= readable(self.parts.place_of[&v]));
                    }
                }
            }
        }
        if !fits {
            bail!(Invalid, "step {k} reads a place that is not written");
        }
        Ok(())
    }

    /// Checks that the loops of a step are its space.
    fn loops(&self, k: usize, l: &LaidCode) -> Result<()> {
        for b in &l.boxes {
            let wide = b.leaves.iter().any(|leaf| match leaf {
                LaidLeaf::Strided { strides, .. } => strides.len() != b.extents.len(),
                LaidLeaf::Packed(_) => false,
            });
            if wide || b.volume != b.extents.iter().product::<usize>() {
                bail!(Invalid, "step {k} has strides for other axes");
            }
        }
        let all: usize = l.boxes.iter().map(|b| b.volume).sum();
        if all != l.rows * l.len {
            bail!(Invalid, "the boxes of step {k} are not its space");
        }
        Ok(())
    }

    /// Checks that outputs and the scratch memory of a step share nothing with live values.
    fn writes(
        &mut self,
        k: usize,
        code: &Code,
        l: &LaidCode,
        outputs: &[u32],
        over: &[u32],
    ) -> Result<()> {
        for p in self.held(outputs) {
            let at = self.r.offsets[p as usize];
            let own = |o: &&u32| self.in_arena(**o) && self.offset(**o) == at;
            if over.iter().filter(own).any(|&o| writes_over(code, l, o)) {
                self.memory.remove(at);
            }
            let n = bytes(self.parts, &self.r.shapes, p);
            self.memory.add(k, at, n)?;
        }
        if let (Some(at), Some(n)) = (l.scratch, scratch_bytes(code, l)) {
            self.memory.add(k, at, n)?;
            self.memory.remove(at);
        }
        let (end, all) = (self.memory.end(), self.r.arena);
        if end > all {
            bail!(Invalid, "step {k} needs {end} bytes of {all}");
        }
        Ok(())
    }

    /// Ends the lives of places that no later step reads.
    fn ends(&mut self, k: usize) {
        let step = &self.parts.steps[k];
        for p in self.held(&step.dead) {
            let at = self.r.offsets[p as usize];
            let reused = match &step.kind {
                StepKind::Code { outputs, .. } => {
                    let mut held = self.held(outputs).into_iter();
                    held.any(|o| o != p && self.offset(o) == at)
                }
                StepKind::Call(_) => false,
            };
            if !reused {
                self.memory.remove(at);
            }
        }
    }
}

/// Ranges that are alive, by their start.
#[derive(Default)]
struct Live(BTreeMap<usize, usize>);

impl Live {
    fn add(&mut self, step: usize, at: usize, bytes: usize) -> Result<()> {
        let before = self.0.range(..=at).next_back();
        let after = self.0.range(at..).next();
        if before.is_some_and(|(a, n)| a + n > at) || after.is_some_and(|(a, _)| at + bytes > *a) {
            bail!(Invalid, "step {step} writes to memory of a live value");
        }
        self.0.insert(at, bytes);
        Ok(())
    }

    fn remove(&mut self, at: usize) {
        self.0.remove(&at);
    }

    fn end(&self) -> usize {
        self.0.last_key_value().map_or(0, |(a, n)| a + n)
    }
}
