//! Steps whose inputs are assembled: each is copied to contiguous memory, run by run, and the code
//! runs once over all indices.
//!
//! Views of one array that are cut at different indices, such as rolls by one in each direction,
//! make many small boxes together, for each of which the code would run. Alone, each is few runs.

use super::build::InPlaceBuilder;
use super::code::{PartLeaf, output_layout};
use super::frame::FrameAddress;
use super::instruction::{Instruction, TileCode, TileInput, TileRun};
use crate::axes::positions;
use crate::plan::axes::LoopAxes;
use crate::plan::boxes::boxes;
use crate::plan::code::Code;
use crate::plan::laid::{Base, LaidBox, LaidCode, LaidLeaf};
use smallvec::SmallVec;

/// Largest number of runs of an input.
const MAX_RUNS: usize = 1024;

/// Adjacent elements of an input: its positions in the result and in the source, in elements.
#[derive(Clone, Copy)]
struct ElementRun {
    base: FrameAddress,
    to: isize,
    from: isize,
    len: usize,
}

impl InPlaceBuilder<'_> {
    /// A step that stores its values, by inputs that are assembled.
    pub(super) fn assembled(
        &mut self,
        at: [usize; 2],
        code: &Code,
        laid: &LaidCode,
        slots: &[usize],
        outputs: &[u32],
    ) -> Option<()> {
        let n = laid.rows * laid.len;
        let volume: usize = laid.boxes.iter().map(|b| b.volume).sum();
        if n != volume || n * code.body.widest() > self.tile_bytes {
            return None;
        }
        self.scratch.used = 0;
        let scalars = TileRun::is_compiled(&code.body, n);
        let mut inputs: SmallVec<[TileInput; 8]> = SmallVec::new();
        for (k, leaf) in code.leaves.iter().enumerate() {
            let size = leaf.dtype.size();
            if let Some(at) = (scalars.then(|| self.scalar(laid, k, size, slots))).flatten() {
                inputs.push(TileInput::scalar(at));
                continue;
            }
            let mut runs = Vec::new();
            for b in &laid.boxes {
                self.runs((laid, b), (k, size), slots, &mut runs)?;
                (runs.len() <= MAX_RUNS).then_some(())?;
            }
            inputs.push(TileInput::each(self.copied(merged(runs), n, size)));
        }
        let y = |&place: &u32| FrameAddress {
            base: place,
            offset: 0,
        };
        let to: SmallVec<[FrameAddress; 2]> = outputs.iter().map(y).collect();
        let own = TileCode { at, decided: None };
        self.tiles(own, &code.body, n, &inputs, &to)
    }

    /// An input that is one element at all indices.
    fn scalar(
        &mut self,
        laid: &LaidCode,
        k: usize,
        size: usize,
        slots: &[usize],
    ) -> Option<FrameAddress> {
        let leaf = |b: &LaidBox| match &b.leaves[k] {
            LaidLeaf::Strided {
                base,
                offset,
                strides,
                dynamic,
            } if strides.iter().all(|s| *s == 0) => Some((*base, *offset, dynamic.clone())),
            _ => None,
        };
        let first = leaf(laid.boxes.first()?)?;
        let same = |b: &LaidBox| leaf(b).as_ref() == Some(&first);
        laid.boxes.iter().all(same).then_some(())?;
        let (base, offset, dynamic) = first;
        Some(match base {
            Base::Number(n) => self.constant(laid.numbers[n].0[..size].to_vec()),
            Base::Place(p) => {
                let moves: SmallVec<[(usize, i64); 1]> =
                    dynamic.iter().map(|&(s, by)| (slots[s], by)).collect();
                self.element_at(p, offset, &moves, size)
            }
            _ => return None,
        })
    }

    /// The runs of an input in a box.
    fn runs(
        &mut self,
        (laid, b): (&LaidCode, &LaidBox),
        (k, size): (usize, usize),
        slots: &[usize],
        runs: &mut Vec<ElementRun>,
    ) -> Option<()> {
        let parts: Vec<LoopAxes> = match &b.leaves[k] {
            LaidLeaf::Strided { .. } => vec![b.axes.clone()],
            LaidLeaf::Packed(r) => boxes(&b.axes, 0..usize::MAX, &[&r.read]),
        };
        for part in parts {
            let extents: SmallVec<[usize; 4]> = part.iter().map(|a| a.extent).collect();
            let inner = extents.last().copied().unwrap_or(1);
            let (base, first, from) = match self.leaf(laid, b, (k, size), &part, slots)? {
                PartLeaf::Number(bytes) => (self.constant(bytes.repeat(inner)), 0, None),
                PartLeaf::Strided(leaf) => {
                    let Base::Place(p) = leaf.base else {
                        return None;
                    };
                    // Runs of parts continue one another if they have one base.
                    let (first, offset) = match leaf.dynamic.is_empty() {
                        true => (leaf.offset as isize, 0),
                        false => (0, leaf.offset),
                    };
                    let base = self.element_at(p, offset, &leaf.dynamic, size);
                    (base, first, Some(leaf.strides))
                }
            };
            let (first_to, strides) = output_layout(&part);
            let outer = extents.len().saturating_sub(1);
            // A source that is not contiguous along the last axis is copied element by element.
            let adjacent = from
                .as_ref()
                .is_none_or(|s| s.last() == Some(&1) || inner == 1);
            let (axes, len) = match adjacent {
                true => (outer, inner),
                false => (extents.len(), 1),
            };
            let to = positions(&extents[..axes], &strides[..axes], first_to as isize);
            let from = match &from {
                Some(s) => positions(&extents[..axes], &s[..axes], first),
                None => to.iter().map(|_| 0).collect(),
            };
            let all = to.iter().zip(&from);
            runs.extend(all.map(|(&to, &from)| ElementRun {
                base,
                to,
                from,
                len,
            }));
        }
        Some(())
    }

    /// The elements of runs, contiguous: where they are, or copied.
    fn copied(&mut self, mut runs: Vec<ElementRun>, n: usize, size: usize) -> FrameAddress {
        let bytes = |elements: isize| elements * size as isize;
        if let [one] = runs[..]
            && one.len == n
        {
            return FrameAddress {
                base: one.base.base,
                offset: one.base.offset + bytes(one.from),
            };
        }
        let y = self.temporary(n * size);
        let key = |r: &ElementRun| (r.base.base, r.base.offset, r.len);
        runs.sort_by_key(|r| (key(r), r.to));
        for of_one in runs.chunk_by(|a, b| key(a) == key(b)) {
            let (x, len) = (of_one[0].base, of_one[0].len);
            let at = of_one.iter().map(|r| (bytes(r.to), bytes(r.from)));
            let rows = Instruction::Rows {
                bytes: len * size,
                size,
                at: at.collect(),
                y,
                x,
            };
            self.push(of_one.len() * len, rows);
        }
        y
    }
}

/// Runs in the order of the result, those that continue one another together.
fn merged(mut runs: Vec<ElementRun>) -> Vec<ElementRun> {
    runs.sort_by_key(|r| r.to);
    let mut out: Vec<ElementRun> = Vec::with_capacity(runs.len());
    for r in runs {
        match out.last_mut() {
            Some(last) if continues(last, &r) => last.len += r.len,
            _ => out.push(r),
        }
    }
    out
}

/// Whether a run begins where another one ends, in the result and in the source.
fn continues(last: &ElementRun, next: &ElementRun) -> bool {
    let len = last.len as isize;
    let of = |r: &ElementRun| (r.base.base, r.base.offset);
    of(last) == of(next) && last.to + len == next.to && last.from + len == next.from
}
