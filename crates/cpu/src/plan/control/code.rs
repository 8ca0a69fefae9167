//! Instructions of a step of code: of its loops, its folds, and its updates of windows.

use super::build::{INSTRUCTION_WORK, InPlaceBuilder};
use super::frame::{FrameAddress, StridedOperand};
use super::in_place::InPlace;
use super::instruction::{Instruction, Pack, Tile, TileBody, TileCode, TileInput, TileRun};
use super::update::{Update, UpdateForm};
use super::views::{copy_of, is_dense};
use crate::axes::positions;
use crate::plan::axes::LoopAxes;
use crate::plan::boxes::{Decided, boxes, decided};
use crate::plan::build::{Home, StepKind};
use crate::plan::code::{Code, CodeMember, Finish};
use crate::plan::laid::{
    Base, ByCopies, DirectFold, HaloSource, LaidBox, LaidCode, LaidLeaf, LaidUpdates, PackedRead,
};
use crate::plan::reads::{NumRead, NumStart};
use crate::tensor::Strides;
use crate::tuning::PACK_PS;
use cotangent_core::DType;
use cotangent_kernels::tile::{self, Body};
use smallvec::SmallVec;
use std::sync::Arc;

/// Largest number of bytes of a value that the instructions of a loop compute tile by tile. Larger
/// ones run by the step's code, which is compiled.
pub(super) const MAX_TILE_BYTES: usize = 16384;

/// Largest number of bytes of such a value in a program, which keeps memory for it as long as it is
/// known: there may be programs for many extents.
pub(super) const MAX_DIRECT_TILE_BYTES: usize = 4096;

/// A strided input over a part of a box.
pub(super) struct StridedLeaf {
    pub(super) base: Base,
    /// In elements.
    pub(super) offset: i64,
    pub(super) strides: Strides,
    /// Slots of starts, each with the elements that it moves by.
    pub(super) dynamic: SmallVec<[(usize, i64); 1]>,
}

/// An input over a part of a box.
pub(super) enum PartLeaf {
    Number(Vec<u8>),
    Strided(StridedLeaf),
}

/// Largest number of tiles of a part of a space.
const MAX_TILES: usize = 64;

/// Largest number of multiplications of a product whose factors are gathered element by element: to
/// copy them to matrices takes a general step.
const MAX_GATHERED_PRODUCT: usize = 512;

impl InPlaceBuilder<'_> {
    /// Slots of starts that are the same at all indices, which instructions read.
    fn starts(&mut self, starts: &[NumStart]) -> Option<Vec<usize>> {
        let mut slots = Vec::with_capacity(starts.len());
        for s in starts {
            let size = s.read.dtype.size() as isize;
            let x = match decided(&s.read, &LoopAxes::default())? {
                Decided::Number(bytes) => self.constant(bytes),
                Decided::Strided(e) if e.dynamic.is_empty() => FrameAddress {
                    base: e.place,
                    offset: e.offset as isize * size,
                },
                Decided::Strided(_) => return None,
            };
            let slot = self.starts;
            self.starts += 1;
            slots.push(slot);
            self.push(
                1,
                Instruction::Start {
                    slot,
                    dtype: s.read.dtype,
                    last: s.last,
                    x,
                },
            );
        }
        Some(slots)
    }

    /// A step that stores its values.
    pub(super) fn map(
        &mut self,
        at: [usize; 2],
        code: &Code,
        laid: &LaidCode,
        outputs: &[u32],
    ) -> Option<()> {
        if let Some(done) = self.updates(at, laid, outputs) {
            return Some(done);
        }
        if let Some(c) = laid.by_copies.as_ref().filter(|c| c.is_all()) {
            return self.copies(c, code.leaves[0].dtype.size(), outputs[0]);
        }
        let slots = self.starts(&laid.starts)?;
        let (before, work) = (self.code.len(), self.work);
        let parts = self.by_boxes(at, code, laid, &slots, outputs);
        if parts == Some(1) {
            return Some(());
        }
        // Several parts: the inputs may take less time to assemble.
        let by_boxes = (self.code.split_off(before), self.work);
        self.work = work;
        let assembled = self.assembled(at, code, laid, &slots, outputs);
        let time = |code: &[Instruction]| code.iter().map(Instruction::time).sum::<usize>();
        let faster = assembled.is_some() && time(&self.code[before..]) < time(&by_boxes.0);
        if parts.is_some() && !faster {
            self.code.truncate(before);
            self.code.extend(by_boxes.0);
            self.work = by_boxes.1;
            return Some(());
        }
        assembled
    }

    /// A step whose values are copies.
    fn copies(&mut self, by: &ByCopies, size: usize, output: u32) -> Option<()> {
        for c in &by.copies {
            let x = match &c.source {
                HaloSource::Place(p) => InPlace::entry(*p as usize),
                HaloSource::Number(n) => self.constant(n.0[..c.bytes].to_vec()),
            };
            let rows = Instruction::Rows {
                bytes: c.bytes,
                size,
                at: c.rows.clone(),
                y: InPlace::entry(output as usize),
                x,
            };
            self.push(c.rows.len() * c.bytes / 8, rows);
        }
        Some(())
    }

    /// A step that stores its values, part by part. The number of parts.
    fn by_boxes(
        &mut self,
        at: [usize; 2],
        code: &Code,
        laid: &LaidCode,
        slots: &[usize],
        outputs: &[u32],
    ) -> Option<usize> {
        let mut parts = 0;
        for b in &laid.boxes {
            for part in parts_of(b) {
                for tile in tiles_of(b, part, (body_of(code, b).widest(), self.tile_bytes))? {
                    self.scratch.used = 0;
                    self.part(at, (code, laid, b), &tile, slots, outputs)?;
                    parts += 1;
                }
            }
        }
        Some(parts)
    }

    /// Updates of windows.
    fn updates(&mut self, at: [usize; 2], laid: &LaidCode, outputs: &[u32]) -> Option<()> {
        let LaidUpdates { extents, reads } = &**laid.updates.as_ref()?;
        let forms = reads.iter().map(|r| UpdateForm::of(extents, r));
        let forms: Vec<UpdateForm<'_>> = forms.collect::<Option<_>>()?;
        let (before, starts, work) = (self.code.len(), self.starts, self.work);
        let Some(updates) = self.updates_of(extents, &forms, outputs) else {
            (self.starts, self.work) = (starts, work);
            self.code.truncate(before);
            return None;
        };
        for u in updates {
            self.push(laid.rows / 8, Instruction::Update(Box::new(u)));
        }
        for (k, form) in forms.iter().enumerate() {
            // The operand may be changed if nothing reads it afterwards. That of a block is read in
            // its step alone.
            let operand = form.operand as usize;
            let block = matches!(self.plan.parts.places[operand].home, Home::Block);
            let last = block || self.last_read[operand] == Some(at[0]);
            let reads = |f: &UpdateForm<'_>| {
                usize::from(f.operand == form.operand) + usize::from(f.update.place == form.operand)
            };
            let alone = forms.iter().map(reads).sum::<usize>() == 1;
            if last && alone && self.is_last_phase(at, form.operand) {
                self.changes[outputs[k] as usize] = Some(form.operand);
            }
        }
        Some(())
    }

    /// The instructions of updates, after all starts were read.
    fn updates_of(
        &mut self,
        extents: &[usize],
        forms: &[UpdateForm<'_>],
        outputs: &[u32],
    ) -> Option<Vec<Update>> {
        let mut slots = Vec::with_capacity(forms.len());
        for form in forms {
            slots.push(self.starts(&form.read.starts)?);
        }
        let all = forms.iter().zip(&slots).zip(outputs);
        let update = |((form, slots), &output): ((&UpdateForm<'_>, &Vec<usize>), &u32)| {
            let x = [form.operand, form.update.place].map(|p| InPlace::entry(p as usize));
            form.instruction(extents, slots, InPlace::entry(output as usize), x)
        };
        all.map(update).collect()
    }

    /// Whether no later phase of the step uses a place.
    fn is_last_phase(&self, [step, phase]: [usize; 2], place: u32) -> bool {
        let parts = &self.plan.parts;
        let StepKind::Code(c) = &parts.steps[step].kind else {
            return false;
        };
        let mut later = false;
        for p in &c.phases[phase + 1..] {
            p.uses(&parts.place_of, &mut |used| later |= used == place);
        }
        !later
    }

    /// Instructions over a part of a space in which every input is strided.
    fn part(
        &mut self,
        at: [usize; 2],
        (code, laid, b): (&Code, &LaidCode, &LaidBox),
        part: &LoopAxes,
        slots: &[usize],
        outputs: &[u32],
    ) -> Option<()> {
        let n: usize = part.iter().map(|a| a.extent).product();
        let own = TileCode {
            at,
            decided: b.decided.clone(),
        };
        let extents: SmallVec<[usize; 4]> = part.iter().map(|a| a.extent).collect();
        let (first, strides) = output_layout(part);
        let dense = is_dense(&extents, &strides);
        // A read that is the value is packed where the value is.
        if let ([m], &[p]) = (&code.members[..], outputs)
            && let [Some(k)] = m.copies[..]
            && let Some(r) = undecided(&b.leaves[k], part).filter(|_| dense)
        {
            let y = FrameAddress {
                base: p,
                offset: (first * m.dtype.size()) as isize,
            };
            return self.pack(r, (b, part), y);
        }
        let leaves = b.inputs();
        let scalars = TileRun::is_compiled(body_of(code, b), n);
        let inputs = self.inputs((code, leaves), laid, b, (part, scalars), slots)?;
        let mut to: SmallVec<[FrameAddress; 2]> = SmallVec::new();
        let mut moves: SmallVec<[Instruction; 1]> = SmallVec::new();
        for (m, &p) in code.members.iter().zip(outputs) {
            let size = m.dtype.size();
            let y = FrameAddress {
                base: p,
                offset: (first * size) as isize,
            };
            to.push(match dense {
                true => y,
                false => {
                    let own = self.temporary(n * size);
                    moves.push(copy_of(size, &extents, &strides, [y, own], true));
                    own
                }
            });
        }
        self.tiles(own, body_of(code, b), n, &inputs, &to)?;
        moves.into_iter().for_each(|i| self.push(n, i));
        Some(())
    }

    /// The instructions of code with this body on `n` elements. Only compiled code takes broadcast
    /// scalars.
    pub(super) fn tiles(
        &mut self,
        code: TileCode,
        body: &Body,
        n: usize,
        inputs: &[TileInput],
        outputs: &[FrameAddress],
    ) -> Option<()> {
        let widest = body.widest();
        if n * widest > self.tile_bytes {
            return None;
        }
        let steps = body.steps();
        let run = match TileRun::is_compiled(body, n) {
            true => {
                self.work += INSTRUCTION_WORK + steps * n;
                let strides: SmallVec<[[isize; 1]; 8]> =
                    inputs.iter().map(|x| [x.stride()]).collect();
                let layouts = Box::new(body.laid(&[n], strides.iter().map(|s| &s[..])));
                TileRun::Compiled { layouts, steps }
            }
            // Kernels read an element for each one of the tile.
            false if inputs.iter().any(|x| x.is_scalar) => return None,
            false => {
                let inputs: SmallVec<[FrameAddress; 8]> = inputs.iter().map(|x| x.at).collect();
                TileRun::Kernels(self.kernels(body, n, [&inputs, outputs]))
            }
        };
        let body = TileBody {
            n,
            widest,
            run,
            code,
            inputs: inputs.into(),
            outputs: outputs.into(),
        };
        self.push(0, Instruction::Body(Box::new(body)));
        Some(())
    }

    /// The kernels of a body on `n` elements, one after the other.
    fn kernels(
        &mut self,
        body: &Body,
        n: usize,
        [inputs, outputs]: [&[FrameAddress]; 2],
    ) -> Box<[Tile]> {
        let mut at: SmallVec<[FrameAddress; 16]> = SmallVec::new();
        for _ in 0..body.registers() {
            at.push(self.temporary(n * body.widest()));
        }
        at.extend_from_slice(inputs);
        let constants: Vec<Vec<u8>> = body.constants().map(|bytes| bytes.repeat(n)).collect();
        for bytes in constants {
            at.push(self.constant(bytes));
        }
        at.extend_from_slice(outputs);
        let tile = |i: tile::Instruction| Tile {
            kernel: i.kernel,
            data: i.data,
            y: at[i.y],
            x: i.x.map(|x| at[x]),
        };
        let tiles: Box<[Tile]> = body.code().map(tile).collect();
        // Each kernel is a call.
        self.work += tiles.len() * (INSTRUCTION_WORK + n);
        tiles
    }

    /// These leaves of the code over a part of a box, contiguous, or broadcast scalars if
    /// `scalars` allows them.
    fn inputs(
        &mut self,
        (code, leaves): (&Code, impl Iterator<Item = usize>),
        laid: &LaidCode,
        b: &LaidBox,
        (part, scalars): (&LoopAxes, bool),
        slots: &[usize],
    ) -> Option<SmallVec<[TileInput; 8]>> {
        let extents: SmallVec<[usize; 4]> = part.iter().map(|a| a.extent).collect();
        let n: usize = extents.iter().product();
        let mut out = SmallVec::new();
        for k in leaves {
            let size = code.leaves[k].dtype.size();
            if n * size > self.tile_bytes {
                return None;
            }
            if let Some(r) = undecided(&b.leaves[k], part) {
                let y = self.temporary(n * size);
                self.pack(r, (b, part), y)?;
                out.push(TileInput::each(y));
                continue;
            }
            out.push(match self.leaf(laid, b, (k, size), part, slots)? {
                PartLeaf::Number(bytes) if scalars => TileInput::scalar(self.constant(bytes)),
                PartLeaf::Number(bytes) => TileInput::each(self.constant(bytes.repeat(n))),
                PartLeaf::Strided(leaf) => match leaf.base {
                    Base::Place(p) if scalars && leaf.strides.iter().all(|s| *s == 0) => {
                        TileInput::scalar(self.element_at(p, leaf.offset, &leaf.dynamic, size))
                    }
                    _ => TileInput::each(self.input(laid, leaf, size, &extents)?),
                },
            });
        }
        Some(out)
    }

    /// A read over a box, packed to `y`; `None` if the part is not the box, or has too many
    /// elements.
    fn pack(
        &mut self,
        read: &Arc<PackedRead>,
        (b, part): (&LaidBox, &LoopAxes),
        y: FrameAddress,
    ) -> Option<()> {
        let (n, size) = (b.volume, read.read.dtype.size());
        let whole = part.iter().map(|a| a.extent).product::<usize>() == n;
        (whole && n * size <= self.tile_bytes).then_some(())?;
        let pack = Pack {
            read: read.clone(),
            n,
            time: read.time(PACK_PS),
            y,
        };
        self.push(pack.time / 1000, Instruction::Pack(Box::new(pack)));
        Some(())
    }

    /// An input over a part of a box in which it has one source.
    pub(super) fn leaf(
        &mut self,
        laid: &LaidCode,
        b: &LaidBox,
        (k, size): (usize, usize),
        part: &LoopAxes,
        slots: &[usize],
    ) -> Option<PartLeaf> {
        let moved = |strides: &[isize]| -> i64 {
            let low = part.iter().zip(&b.axes).zip(strides);
            low.map(|((p, a), s)| (p.low - a.low) as i64 * *s as i64)
                .sum()
        };
        Some(PartLeaf::Strided(match &b.leaves[k] {
            LaidLeaf::Strided {
                base: Base::Number(n),
                ..
            } => {
                return Some(PartLeaf::Number(laid.numbers[*n].0[..size].to_vec()));
            }
            LaidLeaf::Strided {
                base,
                offset,
                strides,
                dynamic,
            } => {
                let dynamic = dynamic.iter().map(|&(s, scale)| (slots[s], scale));
                StridedLeaf {
                    base: *base,
                    offset: offset + moved(strides),
                    strides: strides.clone(),
                    dynamic: dynamic.collect(),
                }
            }
            LaidLeaf::Packed(r) => match decided(&r.read, part)? {
                Decided::Number(bytes) => return Some(PartLeaf::Number(bytes)),
                Decided::Strided(s) => {
                    let slots = match s.dynamic.is_empty() {
                        true => Vec::new(),
                        false => self.starts(&r.read.starts)?,
                    };
                    let dynamic = s.dynamic.iter().map(|&(k, scale)| (slots[k], scale));
                    StridedLeaf {
                        base: Base::Place(s.place),
                        offset: s.offset,
                        dynamic: dynamic.collect(),
                        strides: s.strides,
                    }
                }
            },
        }))
    }

    /// A strided input, contiguous: in place, or copied to scratch memory.
    fn input(
        &mut self,
        laid: &LaidCode,
        leaf: StridedLeaf,
        size: usize,
        extents: &[usize],
    ) -> Option<FrameAddress> {
        let n: usize = extents.iter().product();
        let StridedLeaf {
            base,
            offset,
            strides,
            dynamic,
        } = leaf;
        let x = match base {
            Base::Number(_) | Base::Halo(_) => unreachable!("a place or a line"),
            Base::Line(k) => {
                let line = &laid.lines[k];
                let at = positions(extents, &strides, offset as isize);
                let all = line.numel() as isize;
                let mut bytes = vec![0; n * size];
                for (to, &from) in bytes.chunks_exact_mut(size).zip(&at) {
                    if !(0..all).contains(&from) || !line.is_row_major() {
                        return None;
                    }
                    // SAFETY: the position is one of an element of the dense line.
                    unsafe {
                        let from = line.first_ptr().offset(from * size as isize);
                        to.as_mut_ptr().copy_from_nonoverlapping(from, size);
                    }
                }
                return Some(self.constant(bytes));
            }
            Base::Place(p) => self.element_at(p, offset, &dynamic, size),
        };
        if is_dense(extents, &strides) {
            return Some(x);
        }
        let y = self.temporary(n * size);
        if strides.iter().all(|s| *s == 0) {
            self.push(n, Instruction::Fill { size, n, y, x });
        } else {
            self.push(n, copy_of(size, extents, &strides, [y, x], false));
        }
        Some(y)
    }

    /// The address of an element of a place, at starts each of which moves it by elements.
    pub(super) fn element_at(
        &mut self,
        place: u32,
        offset: i64,
        dynamic: &[(usize, i64)],
        size: usize,
    ) -> FrameAddress {
        let x = FrameAddress {
            base: place,
            offset: offset as isize * size as isize,
        };
        if dynamic.is_empty() {
            return x;
        }
        let to = self.entry();
        let moves = dynamic
            .iter()
            .map(|&(s, scale)| (s, scale as isize * size as isize))
            .collect();
        self.push(1, Instruction::Address { to, x, moves });
        InPlace::entry(to)
    }

    /// A step that folds its values.
    pub(super) fn fold(
        &mut self,
        at: [usize; 2],
        code: &Code,
        laid: &LaidCode,
        outputs: &[u32],
    ) -> Option<()> {
        let [b] = &laid.boxes[..] else { return None };
        let (n, rows, len) = (b.volume, laid.rows, laid.len);
        let narrow = |m: &CodeMember| matches!(&m.finish, Finish::Fold(f) if f.narrow.is_some());
        let by_rows = laid.scratch.is_none() && !laid.columns;
        if !by_rows || len == 0 || code.members.iter().any(narrow) {
            return None;
        }
        let slots = self.starts(&laid.starts)?;
        let is_product = |f: &DirectFold| matches!(f, DirectFold::Product(_));
        let products = laid.direct.as_ref().filter(|f| f.iter().all(is_product));
        if let Some(products) = products {
            let done = self.products(code, (laid, products), &slots, outputs);
            if done.is_some() || n > MAX_GATHERED_PRODUCT {
                return done;
            }
        }
        let [part] = &parts_of(b)[..] else {
            return None;
        };
        // A copy of an input is the input.
        let copies = (code.members.iter()).all(|m| m.copies.iter().all(Option::is_some));
        let scalars = !copies && TileRun::is_compiled(&code.body, n);
        let leaves = 0..code.leaves.len();
        let inputs = self.inputs((code, leaves), laid, b, (part, scalars), &slots)?;
        let types: Vec<DType> = code
            .members
            .iter()
            .flat_map(|m| m.outputs.iter().copied())
            .collect();
        let mut values: SmallVec<[FrameAddress; 4]> = SmallVec::new();
        for d in types {
            let own = self.temporary(n * d.size());
            values.push(own);
        }
        match copies {
            true => {
                let all = code.members.iter().flat_map(|m| m.copies.iter().flatten());
                values = all.map(|&leaf| inputs[leaf].at).collect();
            }
            false => {
                let own = TileCode { at, decided: None };
                self.tiles(own, &code.body, n, &inputs, &values)?;
            }
        }
        for (member, (m, &p)) in code.members.iter().zip(outputs).enumerate() {
            let (y, x) = (InPlace::entry(p as usize), values[m.output]);
            let i = match &m.finish {
                Finish::Fold(_) => Instruction::Fold {
                    at,
                    member,
                    rows,
                    len,
                    y,
                    x,
                },
                Finish::Product(product) => {
                    let row = len as isize;
                    let factor = |at, shape: [usize; 3], strides: [isize; 3]| StridedOperand {
                        at,
                        shape: SmallVec::from_slice(&shape),
                        strides: SmallVec::from_slice(&strides),
                    };
                    let a = factor(x, [rows, 1, len], [row, row, 1]);
                    let c = factor(values[m.output + 1], [rows, len, 1], [row, 1, 1]);
                    Instruction::Product {
                        product: *product,
                        dtype: m.dtype,
                        n: rows,
                        y,
                        x: Box::new([a, c]),
                    }
                }
                Finish::Store => unreachable!("a fold"),
            };
            self.push(n, i);
        }
        Some(())
    }

    /// Products of strided factors.
    fn products<'l>(
        &mut self,
        code: &Code,
        (laid, products): (&LaidCode, &'l [DirectFold]),
        slots: &[usize],
        outputs: &[u32],
    ) -> Option<()> {
        let b = &laid.boxes[0];
        let is_place = |leaf: &Option<usize>| {
            let place = |base: &Base| matches!(base, Base::Place(_));
            leaf.is_some_and(
                |k| matches!(&b.leaves[k], LaidLeaf::Strided { base, .. } if place(base)),
            )
        };
        let in_place = |(m, fold): (&CodeMember, &'l DirectFold)| {
            let DirectFold::Product(own) = fold else {
                return None;
            };
            let in_place = own.iter().all(|f| f.copied.is_none()) && m.copies.iter().all(is_place);
            in_place.then_some(own)
        };
        let all = code.members.iter().zip(products).map(in_place);
        let all: Vec<_> = all.collect::<Option<_>>()?;
        for ((m, &p), factors) in code.members.iter().zip(outputs).zip(all) {
            let Finish::Product(product) = &m.finish else {
                return None;
            };
            let mut x: SmallVec<[StridedOperand; 2]> = SmallVec::new();
            for (j, factor) in factors.iter().enumerate() {
                let LaidLeaf::Strided {
                    base: Base::Place(place),
                    offset,
                    dynamic,
                    ..
                } = &b.leaves[m.copies[j]?]
                else {
                    return None;
                };
                let size = m.outputs[j].size() as isize;
                let mut at = FrameAddress {
                    base: *place,
                    offset: *offset as isize * size,
                };
                if !dynamic.is_empty() {
                    let to = self.entry();
                    let moves = dynamic
                        .iter()
                        .map(|&(s, scale)| (slots[s], scale as isize * size));
                    let moves = moves.collect();
                    self.push(1, Instruction::Address { to, x: at, moves });
                    at = InPlace::entry(to);
                }
                x.push(StridedOperand {
                    at,
                    shape: factor.matrices.shape.iter().copied().collect(),
                    strides: factor.matrices.strides.iter().copied().collect(),
                });
            }
            let x = x.into_inner().ok()?;
            let y = InPlace::entry(p as usize);
            self.push(
                b.volume,
                Instruction::Product {
                    product: *product,
                    dtype: m.dtype,
                    n: laid.rows,
                    y,
                    x: Box::new(x),
                },
            );
        }
        Some(())
    }
}

/// A part of a box in tiles of at most `most` bytes. One tile unless a read is packed: then
/// instructions are faster than the step's code, which packs element by element.
fn tiles_of(b: &LaidBox, part: LoopAxes, (widest, most): (usize, usize)) -> Option<Vec<LoopAxes>> {
    let size = |part: &LoopAxes| part.iter().map(|a| a.extent).product::<usize>() * widest;
    let packed = b.leaves.iter().any(|l| matches!(l, LaidLeaf::Packed(_)));
    let mut out = vec![part];
    while packed && out.iter().any(|part| size(part) > most) {
        if out.len() > MAX_TILES {
            return None;
        }
        out = out
            .into_iter()
            .flat_map(|part| match size(&part) > most {
                true => halves(part),
                false => vec![part],
            })
            .collect();
    }
    Some(out)
}

/// Both halves of a part along its outermost axis of more than one index.
fn halves(part: LoopAxes) -> Vec<LoopAxes> {
    let Some(k) = part.iter().position(|a| a.extent > 1) else {
        return vec![part];
    };
    let (mut first, mut second) = (part.clone(), part);
    let half = first[k].extent / 2;
    first[k].extent = half;
    second[k].low += half;
    second[k].extent -= half;
    vec![first, second]
}

/// The read of a leaf that differs in its source over a part of a box.
fn undecided<'l>(leaf: &'l LaidLeaf, part: &LoopAxes) -> Option<&'l Arc<PackedRead>> {
    match leaf {
        LaidLeaf::Packed(r) if decided(&r.read, part).is_none() => Some(r),
        _ => None,
    }
}

/// Parts of a box in which every read has one source; the box, where that differs from index to
/// index.
fn parts_of(b: &LaidBox) -> Vec<LoopAxes> {
    let packed: Vec<&NumRead> = b
        .leaves
        .iter()
        .filter_map(|l| match l {
            LaidLeaf::Packed(r) => Some(&r.read),
            LaidLeaf::Strided { .. } => None,
        })
        .collect();
    let parts = match packed.is_empty() {
        true => vec![b.axes.clone()],
        false => boxes(&b.axes, 0..usize::MAX, &packed),
    };
    let all = parts
        .iter()
        .all(|part| packed.iter().all(|read| decided(read, part).is_some()));
    if all { parts } else { vec![b.axes.clone()] }
}

/// The body of a box.
fn body_of<'a>(code: &'a Code, b: &'a LaidBox) -> &'a Body {
    b.decided.as_ref().map_or(&code.body, |d| &d.body)
}

/// Position of the first output of a part of a space, and strides along its axes.
pub(super) fn output_layout(part: &LoopAxes) -> (usize, SmallVec<[isize; 4]>) {
    let first = part.iter().map(|a| a.low * a.apart).sum();
    (first, part.iter().map(|a| a.apart as isize).collect())
}
