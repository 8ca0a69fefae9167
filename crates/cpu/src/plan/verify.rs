//! The verifier of plans: each place is written before it is read, and values that are live
//! together share no byte of the arena but where one is written over the other.

use super::arena::{bytes, scratch_bytes};
use super::build::{CodeStep, Home, PlanParts, StepKind};
use super::code::Code;
use super::compose::LeafSource;
use super::laid::{LaidCode, LaidGroup, LaidLeaf, LaidStep, Resolved, writes_over};
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
        if let (StepKind::Code(c), LaidStep::Code(l)) = (&parts.steps[k].kind, laid) {
            let mut phases = c.phases.iter().zip(&l.phases);
            phases.try_for_each(|(p, l)| v.loops(k, &p.code, l))?;
            v.rows(k, c, l)?;
            v.writes(k, c, l)?;
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

    /// Checks that what a step reads is given or written before, by earlier phases if it is its
    /// own.
    fn reads(&self, k: usize) -> Result<()> {
        let readable = |p: u32| {
            let place = &self.parts.places[p as usize];
            let given = matches!(place.home, Home::Argument | Home::Constant(_));
            (given || place.def.is_some_and(|d| (d as usize) < k)) && place.last as usize >= k
        };
        let mut fits = true;
        match &self.parts.steps[k].kind {
            StepKind::Call(c) => fits = c.operands.iter().all(|x| readable(x.place)),
            StepKind::Code(c) => {
                let mut written: Vec<u32> = Vec::new();
                for p in &c.phases {
                    for leaf in &p.code.leaves {
                        if let LeafSource::Read(read) = &leaf.source {
                            read.elements(&mut |a| {
                                let p = self.parts.place_of[&a.of];
                                fits &= written.contains(&p) || readable(p);
                            });
                        }
                    }
                    written.extend(&p.places);
                }
                fits &= c
                    .outputs
                    .iter()
                    .chain(&c.blocks)
                    .all(|p| written.contains(p));
            }
        }
        if !fits {
            bail!(Invalid, "step {k} reads a place that is not written");
        }
        Ok(())
    }

    /// Checks that all phases have the rows of the blocks.
    fn rows(&self, k: usize, c: &CodeStep, l: &LaidGroup) -> Result<()> {
        let Some(b) = &l.rows else {
            return Ok(());
        };
        let whole = |l: &LaidCode| l.rows.is_multiple_of(b.count);
        let place = |(&p, &n): (&u32, &usize)| bytes(self.parts, &self.r.shapes, p) == n * b.count;
        let sizes =
            c.blocks.len() == b.row_bytes.len() && c.blocks.iter().zip(&b.row_bytes).all(place);
        if b.block == 0 || !l.phases.iter().all(whole) || !sizes {
            bail!(Invalid, "the phases of step {k} have other rows");
        }
        Ok(())
    }

    /// Checks that the loops of a step are its space.
    fn loops(&self, k: usize, code: &Code, l: &LaidCode) -> Result<()> {
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
        let want = match &code.region {
            Some(region) => region.iter().map(Range::len).product(),
            None => l.rows * l.len,
        };
        if all != want {
            bail!(Invalid, "the boxes of step {k} are not its space");
        }
        Ok(())
    }

    /// Checks that outputs and the memory of a step share nothing with live values.
    fn writes(&mut self, k: usize, c: &CodeStep, l: &LaidGroup) -> Result<()> {
        for p in self.held(&c.outputs) {
            let at = self.r.offsets[p as usize];
            let own = |o: &&u32| self.in_arena(**o) && self.offset(**o) == at;
            if c.over.iter().filter(own).any(|&o| writes_over(c, l, o)) {
                self.memory.remove(at);
            }
            let n = bytes(self.parts, &self.r.shapes, p);
            self.memory.add(k, at, n)?;
        }
        if l.rows.is_none() {
            let size = |p: &u32| bytes(self.parts, &self.r.shapes, *p);
            let blocks = c.blocks.iter().map(|p| (self.offset(*p), size(p)));
            let mut taken: Vec<(usize, usize)> = blocks.filter(|b| b.1 > 0).collect();
            let phases = c.phases.iter().zip(&l.phases);
            let rows = phases.filter_map(|(p, l)| Some((l.scratch?, scratch_bytes(&p.code, l)?)));
            // Phases take turns.
            taken.extend(rows.max_by_key(|r| r.1));
            for &(at, n) in &taken {
                self.memory.add(k, at, n)?;
            }
            taken.iter().for_each(|t| self.memory.remove(t.0));
        }
        let (end, all) = (self.memory.end, self.r.arena);
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
                StepKind::Code(c) => {
                    let mut held = self.held(&c.outputs).into_iter();
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
struct Live {
    ranges: BTreeMap<usize, usize>,
    /// The greatest end of a range so far.
    end: usize,
}

impl Live {
    fn add(&mut self, step: usize, at: usize, bytes: usize) -> Result<()> {
        let before = self.ranges.range(..=at).next_back();
        let after = self.ranges.range(at..).next();
        if before.is_some_and(|(a, n)| a + n > at) || after.is_some_and(|(a, _)| at + bytes > *a) {
            bail!(Invalid, "step {step} writes to memory of a live value");
        }
        self.ranges.insert(at, bytes);
        self.end = self.end.max(at + bytes);
        Ok(())
    }

    fn remove(&mut self, at: usize) {
        self.ranges.remove(&at);
    }
}
