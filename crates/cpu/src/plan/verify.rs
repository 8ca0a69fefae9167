//! The verifier of plans: each place is written before it is read, and values that are live
//! together share no byte of the arena but where one is written over the other.

use super::arena::{bytes, scratch_bytes};
use super::build::{CodeStep, Home, PlanParts, StepKind};
use super::code::Code;
use super::compose::LeafSource;
use super::laid::{LaidCode, LaidGroup, LaidLeaf, LaidStep, Resolved, writes_over};
use cotangent_core::{Result, bail};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::ops::Range;

/// Checks a segment at its extents. Returns an error that names the step.
pub(crate) fn verify(parts: &PlanParts, steps: Range<usize>, r: &Resolved) -> Result<()> {
    let mut v = Verifier {
        parts,
        r,
        memory: Live::default(),
        alive: FxHashSet::default(),
    };
    for (k, laid) in steps.zip(&r.steps) {
        v.reads(k)?;
        if let (StepKind::Code(c), LaidStep::Code(l)) = (&parts.steps[k].kind, laid) {
            let mut phases = c.phases.iter().zip(&l.phases);
            phases.try_for_each(|(p, l)| v.loops(k, &p.code, l))?;
            v.rows(k, c, l)?;
            match l.rows {
                Some(_) => c.outputs.iter().try_for_each(|&p| v.writes(k, c, l, p))?,
                None => v.phases(k, c, l)?,
            }
        }
        parts.steps[k].dead.iter().for_each(|&p| v.ends(p));
    }
    Ok(())
}

struct Verifier<'a> {
    parts: &'a PlanParts,
    r: &'a Resolved,
    memory: Live,
    /// Places whose ranges are in `memory`.
    alive: FxHashSet<u32>,
}

impl Verifier<'_> {
    fn in_arena(&self, place: u32) -> bool {
        let home = &self.parts.places[place as usize].home;
        let own = matches!(home, Home::Arena | Home::Block);
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
                let mut own = c.outputs.iter().copied().chain(c.blocks.clone());
                fits &= own.all(|p| written.contains(&p));
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
        let place = |(p, &n): (u32, &usize)| bytes(self.parts, &self.r.shapes, p) == n * b.count;
        let sizes =
            c.blocks.len() == b.row_bytes.len() && c.blocks.clone().zip(&b.row_bytes).all(place);
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

    /// Checks that an output of a step shares nothing with live values.
    fn writes(&mut self, k: usize, c: &CodeStep, l: &LaidGroup, p: u32) -> Result<()> {
        let at = self.offset(p);
        if !self.in_arena(p) || !self.alive.insert(p) {
            return Ok(());
        }
        let same = |o: u32| self.alive.contains(&o) && self.offset(o) == at;
        let over = c.over_of(p).iter();
        let over = over.copied().find(|o| same(*o) && writes_over(c, l, *o));
        if let Some(o) = over {
            self.ends(o);
        }
        self.range(k, at, bytes(self.parts, &self.r.shapes, p))
    }

    /// Checks phases that run one after the other.
    fn phases(&mut self, k: usize, c: &CodeStep, l: &LaidGroup) -> Result<()> {
        for (phase, own) in c.phases.iter().zip(&l.phases) {
            for &p in &phase.places {
                self.writes(k, c, l, p)?;
            }
            if let (Some(at), Some(n)) = (own.scratch, scratch_bytes(&phase.code, own)) {
                self.range(k, at, n)?;
                self.memory.remove(at);
            }
            phase.dead.iter().for_each(|&p| self.ends(p));
        }
        Ok(())
    }

    /// Adds a range of the arena.
    fn range(&mut self, k: usize, at: usize, bytes: usize) -> Result<()> {
        self.memory.add(k, at, bytes)?;
        let (end, all) = (at + bytes, self.r.arena);
        if end > all {
            bail!(Invalid, "step {k} needs {end} bytes of {all}");
        }
        Ok(())
    }

    /// Ends the life of a place that nothing reads any more.
    fn ends(&mut self, p: u32) {
        if self.alive.remove(&p) {
            self.memory.remove(self.offset(p));
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
}
