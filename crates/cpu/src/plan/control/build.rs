//! The instructions of a function in place, from the steps of its plan at given extents.

use super::frame::{FrameAddress, InPlaceForm, frame_entry};
use super::in_place::InPlace;
use super::instruction::{Instruction, body_time};
use super::steps::MAX_OPERATIONS;
use super::views::{copy_of, is_dense};
use crate::plan::Plan;
use crate::plan::arena::{ArenaLayout, padded};
use crate::plan::build::{CodeStep, Home, PlaceView, StepKind};
use crate::plan::code::ElementSlot;
use crate::plan::laid::{
    LaidBox, LaidGroup, LaidStep, LaidView, Resolved, box_overhead, writes_over,
};
use crate::plan::resolve::Extent;
use crate::tensor::{Extents, Strides, row_major};
use crate::tuning::{GENERAL_FORM_PERCENT, MIN_GENERAL_ELEMENTS, PHASE_PS};
use cotangent_core::Env;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// Largest number of bytes of an operand or a result of a kernel on tensors. Kernels own larger
/// ones, so that they may write over them.
pub(super) const MAX_LENT_BYTES: usize = 64 << 10;

/// Estimated work of an instruction besides its elements, in elementary operations.
pub(super) const INSTRUCTION_WORK: usize = 16;

/// Largest nesting depth of the regions of a function in place: each takes stack while it runs.
const MAX_NESTED_REGIONS: u32 = 8;

/// The function of a plan in place, for inputs of these extents; `None` if it has no such form.
/// Instructions compute values of at most `tile_bytes`.
pub(super) fn in_place(
    plan: &Arc<Plan>,
    inputs: &[Extents],
    env: Env,
    tile_bytes: usize,
) -> Option<InPlace> {
    let (f, parts) = (&plan.function, &plan.parts);
    if parts.segments.len() != 1 || f.depth() > MAX_NESTED_REGIONS {
        return None;
    }
    let arguments: Vec<Strides> = inputs.iter().map(|s| row_major(s)).collect();
    let extent = Extent {
        f,
        env: &env,
        arguments: &arguments,
        by_rows: false,
    };
    let resolved = plan.runs.resolved(parts, &extent, 0).ok()?;
    let known = resolved.failed.is_none() && resolved.shapes.iter().all(Option::is_some);
    if !known {
        return None;
    }
    let mut b = InPlaceBuilder::new(plan, &resolved, &env, tile_bytes);
    b.results_after(None)?;
    for k in 0..parts.steps.len() {
        b.step(k)?;
        b.results_after(Some(k))?;
    }
    Some(b.finish(inputs.len()))
}

/// Memory of the frame that is used again in each step.
#[derive(Default)]
pub(super) struct Scratch {
    /// The offset of the first byte of all scratch memory, the bytes in use, and the most so far.
    pub(super) used: usize,
    most: usize,
}

pub(super) struct InPlaceBuilder<'a> {
    pub(super) plan: &'a Arc<Plan>,
    pub(super) resolved: &'a Arc<Resolved>,
    pub(super) env: &'a Env,
    pub(super) code: Vec<Instruction>,
    pub(super) image: Vec<(usize, Vec<u8>)>,
    pub(super) entries: Vec<(usize, usize)>,
    pub(super) constants: Vec<(usize, *const u8)>,
    pub(super) outputs: Vec<InPlaceForm>,
    pub(super) output_entries: Vec<usize>,
    pub(super) over: Vec<SmallVec<[usize; 1]>>,
    /// For each place that is another one, changed in place, that place: nothing reads it
    /// afterwards.
    pub(super) changes: Vec<Option<u32>>,
    /// The last step that reads each place, results apart.
    pub(super) last_read: Vec<Option<usize>>,
    /// The step after which a result is copied from its place (`None`: before all), or `Direct`.
    pub(super) copies: Vec<ResultCopy>,
    pub(super) frame: usize,
    pub(super) scratch: Scratch,
    pub(super) table: usize,
    pub(super) starts: usize,
    pub(super) work: usize,
    /// Largest number of bytes of a value that instructions compute.
    pub(super) tile_bytes: usize,
}

/// How a result gets its elements.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ResultCopy {
    /// The step that computes it writes them.
    Direct,
    /// They are copied after this step, or before all.
    After(Option<usize>),
}

/// Entry of the table with the address of scratch memory.
fn scratch_entry(places: usize) -> usize {
    places
}

impl<'a> InPlaceBuilder<'a> {
    fn new(
        plan: &'a Arc<Plan>,
        resolved: &'a Arc<Resolved>,
        env: &'a Env,
        tile_bytes: usize,
    ) -> InPlaceBuilder<'a> {
        let places = plan.parts.places.len();
        let mut b = InPlaceBuilder {
            plan,
            resolved,
            env,
            code: Vec::new(),
            image: Vec::new(),
            entries: vec![(frame_entry(places), 0)],
            constants: Vec::new(),
            outputs: Vec::new(),
            output_entries: Vec::new(),
            over: vec![SmallVec::new(); plan.parts.results.len()],
            changes: vec![None; places],
            last_read: vec![None; places],
            copies: Vec::new(),
            frame: resolved.arena,
            scratch: Scratch::default(),
            table: places + 2,
            starts: 0,
            work: 0,
            tile_bytes,
        };
        b.results();
        b.places();
        b.reads();
        b
    }

    pub(super) fn shape(&self, place: u32) -> &Extents {
        self.resolved.shapes[place as usize]
            .as_ref()
            .expect("known extents")
    }

    pub(super) fn bytes(&self, place: u32) -> usize {
        let n: usize = self.shape(place).iter().product();
        n * self.plan.parts.places[place as usize].ty.dtype.size()
    }

    /// A number of bytes of the frame that no other value shares.
    fn reserve(&mut self, bytes: usize) -> usize {
        let at = self.frame;
        self.frame += padded(bytes);
        at
    }

    /// A new entry of the table.
    pub(super) fn entry(&mut self) -> usize {
        self.table += 1;
        self.table - 1
    }

    /// Scratch memory until the end of the step.
    pub(super) fn temporary(&mut self, bytes: usize) -> FrameAddress {
        let at = self.scratch.used;
        self.scratch.used += padded(bytes);
        self.scratch.most = self.scratch.most.max(self.scratch.used);
        FrameAddress {
            base: scratch_entry(self.plan.parts.places.len()) as u32,
            offset: at as isize,
        }
    }

    /// Bytes that are the same in every run.
    pub(super) fn constant(&mut self, bytes: Vec<u8>) -> FrameAddress {
        let at = self.reserve(bytes.len());
        self.image.push((at, bytes));
        FrameAddress {
            base: frame_entry(self.plan.parts.places.len()) as u32,
            offset: at as isize,
        }
    }

    /// Memory of the places that steps write. That of a tensor is used again after the last step
    /// that reads it; results that their step writes have the memory of the caller.
    fn places(&mut self) {
        let parts = &self.plan.parts;
        let mut tensors: FxHashSet<u32> = FxHashSet::default();
        for (k, p) in parts.places.iter().enumerate() {
            match &p.home {
                Home::Argument => {}
                Home::Constant(t) => self.constants.push((k, t.first_ptr())),
                Home::Arena | Home::Block => self.entries.push((k, self.resolved.offsets[k])),
                Home::Tensor => {
                    tensors.insert(k as u32);
                }
            }
        }
        for (entry, copy) in self.output_entries.iter().zip(&self.copies) {
            if *copy == ResultCopy::Direct {
                tensors.remove(&(*entry as u32));
            }
        }
        let (mut layout, mut held) = (ArenaLayout::default(), FxHashMap::default());
        for step in &parts.steps {
            step.writes(&mut |p| {
                if tensors.contains(&p) {
                    let at = layout.take(self.bytes(p));
                    held.insert(p, at);
                    self.entries.push((p as usize, self.frame + at));
                }
            });
            for p in &step.dead {
                if let Some(at) = held.remove(p) {
                    layout.give(at, self.bytes(*p));
                }
            }
        }
        self.frame += layout.bytes();
    }

    /// Finds the last step that reads each place.
    fn reads(&mut self) {
        let parts = &self.plan.parts;
        for (k, step) in parts.steps.iter().enumerate() {
            step.reads(parts, &mut |p| self.last_read[p as usize] = Some(k));
        }
    }

    /// Decides where results are written. A place is written to the first result that is all of it;
    /// other results are copied as soon as their place is written, so that an update of the place
    /// may change it afterwards.
    fn results(&mut self) {
        let parts = &self.plan.parts;
        let mut taken = vec![false; parts.places.len()];
        for v in &parts.results {
            let place = &parts.places[v.place as usize];
            let own = matches!(place.home, Home::Tensor) && v.read.is_none();
            let direct = own && !std::mem::replace(&mut taken[v.place as usize], true);
            self.copies.push(match direct {
                true => ResultCopy::Direct,
                false => ResultCopy::After(place.def.map(|d| d as usize)),
            });
            let entry = match direct {
                true => v.place as usize,
                false => self.entry(),
            };
            self.output_entries.push(entry);
            let shape: Extents = match v.ty.shape.eval(self.env) {
                Ok(shape) => shape.into(),
                Err(_) => self.shape(v.place).clone(),
            };
            let n: usize = shape.iter().product();
            self.outputs.push(InPlaceForm {
                dtype: v.ty.dtype,
                bytes: n * v.ty.dtype.size(),
                shape,
            });
        }
    }

    /// Copies the results whose place this step writes.
    fn results_after(&mut self, step: Option<usize>) -> Option<()> {
        for k in 0..self.copies.len() {
            if self.copies[k] != ResultCopy::After(step) {
                continue;
            }
            let v = &self.plan.parts.results[k];
            let y = InPlace::entry(self.output_entries[k]);
            let laid = &self.resolved.results[k];
            self.view(v, laid, Some(y))?;
        }
        Some(())
    }

    /// The operand of a view, row-major: the place itself, or a copy, to `y` if it is given.
    pub(super) fn view(
        &mut self,
        v: &PlaceView,
        laid: &LaidView,
        y: Option<FrameAddress>,
    ) -> Option<FrameAddress> {
        let size = v.ty.dtype.size();
        let mut x = InPlace::entry(v.place as usize);
        let (shape, strides) = match laid {
            None => (self.shape(v.place).clone(), row_major(self.shape(v.place))),
            Some((offset, shape, strides)) => {
                x.offset = offset * size as isize;
                (shape.clone(), strides.clone())
            }
        };
        let n: usize = shape.iter().product();
        if n == 0 {
            return Some(y.unwrap_or(x));
        }
        if is_dense(&shape, &strides) {
            return Some(match y {
                None => x,
                Some(y) => {
                    self.push(
                        n,
                        Instruction::Copy {
                            bytes: n * size,
                            size,
                            y,
                            x,
                        },
                    );
                    y
                }
            });
        }
        if n * size > MAX_LENT_BYTES {
            return None;
        }
        let y = y.unwrap_or_else(|| self.temporary(n * size));
        self.push(n, copy_of(size, &shape, &strides, [y, x], false));
        Some(y)
    }

    pub(super) fn push(&mut self, elements: usize, i: Instruction) {
        self.work = self.work.saturating_add(INSTRUCTION_WORK + elements);
        self.code.push(i);
    }

    fn step(&mut self, k: usize) -> Option<()> {
        self.scratch.used = 0;
        let plan = self.plan;
        let resolved = self.resolved;
        match (&plan.parts.steps[k].kind, &resolved.steps[k]) {
            (StepKind::Code(c), LaidStep::Code(laid)) => {
                for phase in 0..c.phases.len() {
                    self.scratch.used = 0;
                    self.code([k, phase], c, laid);
                }
                self.changed_inputs(k, c, laid);
                Some(())
            }
            (StepKind::Call(c), LaidStep::Call { operands, .. }) => self.call(k, c, operands),
            _ => unreachable!("a step is laid as what it is, and none is skipped"),
        }
    }

    /// Finds inputs over which the one value of a step may be written: they are read for the last
    /// time, at the index that is written. A value of few elements may be a part of a loop's code,
    /// where it needs no memory.
    fn changed_inputs(&mut self, k: usize, step: &CodeStep, laid: &LaidGroup) {
        let [output] = step.outputs[..] else {
            return;
        };
        let elements: usize = self.shape(output).iter().product();
        let result = |r: &usize| {
            self.copies[*r] == ResultCopy::Direct && self.output_entries[*r] == output as usize
        };
        let Some(r) = (0..self.copies.len())
            .find(result)
            .filter(|_| elements > MAX_OPERATIONS)
        else {
            return;
        };
        for &o in &step.over {
            let argument = matches!(self.plan.parts.places[o as usize].home, Home::Argument);
            if argument && self.last_read[o as usize] == Some(k) && writes_over(step, laid, o) {
                self.over[r].push(o as usize);
            }
        }
    }

    /// A phase of a step of code: by instructions if its values are small and they take less time.
    fn code(&mut self, at: [usize; 2], step: &CodeStep, laid: &LaidGroup) {
        let (phase, laid) = (&step.phases[at[1]], &laid.phases[at[1]]);
        let (code, outputs) = (&*phase.code, &phase.places[..]);
        let (before, work) = (self.code.len(), self.work);
        let in_order = (code.members.iter()).all(|m| m.slot == ElementSlot::ROW_MAJOR);
        let done = match in_order {
            false => None,
            true if code.rank == code.space.len() => self.map(at, code, laid, outputs),
            true => self.fold(at, code, laid, outputs),
        };
        let elements = laid.rows.saturating_mul(laid.len.max(1));
        let boxes = laid.run_boxes().len() * box_overhead(code.leaves.len());
        let copies = laid
            .by_copies
            .as_ref()
            .map_or(0, |c| c.copy_time() as usize);
        let packed: usize = laid.run_boxes().iter().map(LaidBox::packing_time).sum();
        let of_elements = body_time(&code.body, elements, code.cost as usize) + packed;
        let time = |percent: usize| {
            let own = (PHASE_PS + boxes) * percent / 100 + copies;
            of_elements.saturating_add(own)
        };
        let own = &self.code[before..];
        let slower = elements >= MIN_GENERAL_ELEMENTS
            && own.iter().map(Instruction::time).sum::<usize>() > time(GENERAL_FORM_PERCENT)
            && !own.iter().any(|i| matches!(i, Instruction::Update(_)));
        if done.is_none() || slower {
            self.code.truncate(before);
            self.work = work;
            let work = elements.saturating_mul(1 + (code.cost / 1000) as usize);
            let (packed, time) = (Box::default(), time(100));
            self.push(work, Instruction::Code { at, packed, time });
        } else if self.code[before..]
            .iter()
            .any(|i| matches!(i, Instruction::Pack(_)))
        {
            let packed: Box<[Instruction]> = self.code.drain(before..).collect();
            let time = packed.iter().map(Instruction::time).sum();
            self.push(0, Instruction::Code { at, packed, time });
        }
    }

    /// Finds the results that are inputs, changed in place by one step or several, and the places
    /// in between: these have the memory of the result.
    fn chains(&mut self) -> Vec<SmallVec<[usize; 1]>> {
        let mut through = vec![SmallVec::new(); self.copies.len()];
        for (r, through) in through.iter_mut().enumerate() {
            if self.copies[r] != ResultCopy::Direct {
                continue;
            }
            let (mut at, mut between) = (self.output_entries[r] as u32, SmallVec::new());
            while let Some(from) = self.changes[at as usize] {
                match self.plan.parts.places[from as usize].home {
                    Home::Argument => {
                        self.over[r].push(from as usize);
                        *through = between;
                        break;
                    }
                    Home::Tensor | Home::Arena | Home::Block
                        if !self.output_entries.contains(&(from as usize)) =>
                    {
                        between.push(from as usize);
                        at = from;
                    }
                    _ => break,
                }
            }
        }
        through
    }

    fn finish(mut self, inputs: usize) -> InPlace {
        let through = self.chains();
        let scratch = self.reserve(self.scratch.most);
        self.entries
            .push((scratch_entry(self.plan.parts.places.len()), scratch));
        let (mut results, mut frame) = (Vec::new(), self.frame);
        let outputs = self.output_entries.iter().zip(&self.outputs);
        for ((&entry, form), copy) in outputs.zip(&self.copies) {
            if *copy == ResultCopy::Direct {
                results.push((entry, frame));
                frame += padded(form.bytes);
            }
        }
        let between = |&(entry, at): &(usize, usize)| {
            let r = self.output_entries.iter().position(|&o| o == entry);
            let places = r.into_iter().flat_map(|r| through[r].iter().copied());
            places.map(move |place| (place, at)).collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> = results.iter().flat_map(between).collect();
        results.extend(places);
        let form = |k: usize| {
            let place = &self.plan.parts.places[k];
            InPlaceForm {
                dtype: place.ty.dtype,
                shape: self.shape(k as u32).clone(),
                bytes: self.bytes(k as u32),
            }
        };
        InPlace {
            inputs: (0..inputs).map(form).collect(),
            plan: self.plan.clone(),
            resolved: self.resolved.clone(),
            env: self.env.clone(),
            instructions: self.code,
            outputs: self.outputs,
            output_entries: self.output_entries,
            over: self.over,
            through,
            entries: self.entries,
            constants: self.constants,
            image: self.image,
            frame: self.frame,
            results,
            frame_with_results: frame,
            table: self.table,
            starts: self.starts,
            work: self.work,
            states: Mutex::default(),
        }
    }
}
