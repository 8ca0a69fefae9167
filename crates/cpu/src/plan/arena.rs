//! Memory of a run: one aligned block for all values that do not leave it, and where each is.

use super::build::{CodeStep, Home, PlanParts, StepKind};
use super::code::{Code, Finish};
use super::laid::{LaidCode, LaidGroup, LaidStep, Resolved, writes_over};
use crate::tensor::Extents;
use cotangent_core::{Result, bail};
use cotangent_kernels::memory::{Bytes, MIN_POOLED_BYTES, capacity, give, take};
use rustc_hash::FxHashSet;
use std::alloc::{Layout, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

/// Maximum number of elements of a row that is reduced from memory of a thread. Longer rows are
/// computed in the arena.
const MAX_ROW_ELEMENTS: usize = 4 * cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS;

/// Maximum number of elements of a fold along an outer axis that a thread computes alone.
pub(crate) const MAX_COLUMN_ELEMENTS: usize = 512;

/// Alignment of the arena and of every value in it, in bytes.
const ALIGNMENT: usize = 64;

#[cfg(test)]
thread_local! {
    /// Total size of the arenas that this thread allocated, in bytes.
    pub(crate) static ARENA_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A block of initialised memory.
pub(crate) struct Arena {
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the block is owned.
unsafe impl Send for Arena {}

impl Default for Arena {
    fn default() -> Arena {
        Arena {
            data: NonNull::dangling(),
            bytes: 0,
        }
    }
}

impl Arena {
    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes, ALIGNMENT).ok()
    }

    /// A block of this many bytes, with any contents.
    pub(crate) fn new(bytes: usize) -> Result<Arena> {
        if bytes == 0 {
            return Ok(Arena::default());
        }
        #[cfg(test)]
        ARENA_BYTES.set(ARENA_BYTES.get() + bytes);
        match Arena::layout(bytes).and_then(|l| take(l, Bytes::Initialised)) {
            Some(data) => Ok(Arena { data, bytes }),
            None => bail!(
                Limit,
                "there is no memory for the values of a run ({bytes} bytes)"
            ),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let layout = Arena::layout(self.bytes).expect("checked by `Arena::new`");
        let all = Arena::layout(capacity(self.bytes)).unwrap_or(layout);
        // SAFETY: `Arena::new` took the block with this layout, initialised; it is not used again.
        // Blocks below the least pooled size are freed with the size that they were allocated with.
        unsafe {
            if self.bytes >= MIN_POOLED_BYTES {
                give(self.data, layout);
            } else {
                dealloc(self.data.as_ptr(), all);
            }
        }
    }
}

/// A free range.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: usize,
    bytes: usize,
}

/// Allocation of ranges of an arena, whose lifetimes begin and end in the order of the calls: each
/// takes the smallest gap that is large enough.
#[derive(Default)]
pub(crate) struct ArenaLayout {
    /// By address; no two touch.
    gaps: Vec<Gap>,
    end: usize,
}

/// The bytes that a value takes.
pub(crate) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

impl ArenaLayout {
    /// Bytes of the arena.
    pub(crate) fn bytes(&self) -> usize {
        self.end
    }

    /// The start of a range of this many bytes.
    pub(crate) fn take(&mut self, bytes: usize) -> usize {
        let bytes = padded(bytes);
        let fits = |g: &(usize, &Gap)| g.1.bytes >= bytes;
        let best = self.gaps.iter().enumerate().filter(fits);
        if let Some((k, gap)) = best.min_by_key(|g| g.1.bytes) {
            let at = gap.at;
            match gap.bytes - bytes {
                0 => drop(self.gaps.remove(k)),
                rest => {
                    self.gaps[k] = Gap {
                        at: at + bytes,
                        bytes: rest,
                    };
                }
            }
            return at;
        }
        // A gap at the end grows.
        let last = self.gaps.last().filter(|g| g.at + g.bytes == self.end);
        let at = last.map_or(self.end, |g| g.at);
        if last.is_some() {
            self.gaps.pop();
        }
        self.end = at + bytes;
        at
    }

    /// Frees a range.
    pub(crate) fn give(&mut self, at: usize, bytes: usize) {
        let bytes = padded(bytes);
        if bytes == 0 {
            return;
        }
        let k = self.gaps.partition_point(|g| g.at < at);
        self.gaps.insert(k, Gap { at, bytes });
        if self
            .gaps
            .get(k + 1)
            .is_some_and(|next| at + bytes == next.at)
        {
            self.gaps[k].bytes += self.gaps.remove(k + 1).bytes;
        }
        if k > 0 && self.gaps[k - 1].at + self.gaps[k - 1].bytes == at {
            self.gaps[k - 1].bytes += self.gaps.remove(k).bytes;
        }
    }
}

/// Bytes of a place at these extents.
pub(crate) fn bytes(parts: &PlanParts, shapes: &[Option<Extents>], place: u32) -> usize {
    let n: usize = shapes[place as usize].iter().flatten().product();
    match shapes[place as usize] {
        Some(_) => n * parts.places[place as usize].ty.dtype.size(),
        None => 0,
    }
}

/// Bytes of copies with halos, or of a row of all outputs, if the rows of a fold are long.
pub(crate) fn scratch_bytes(code: &Code, laid: &LaidCode) -> Option<usize> {
    if let Some(c) = &laid.by_copies {
        return Some(padded(c.bytes));
    }
    let fold = code
        .members
        .iter()
        .any(|m| !matches!(m.finish, Finish::Store));
    let most = match laid.columns {
        true => MAX_COLUMN_ELEMENTS,
        false => MAX_ROW_ELEMENTS,
    };
    let long = fold && laid.len > most;
    let sizes = code.members.iter().flat_map(|m| &m.outputs);
    let len = laid.len * laid.columns_at_once();
    (long && laid.direct.is_none()).then(|| sizes.map(|d| padded(len * d.size())).sum())
}

/// Assigns the arena. A value may be written over one that is read for the last time.
pub(crate) fn allocate(parts: &PlanParts, steps: Range<usize>, out: &mut Resolved) {
    let mut a = Assignment {
        parts,
        shapes: &out.shapes,
        offsets: &mut out.offsets,
        arena: ArenaLayout::default(),
        held: FxHashSet::default(),
    };
    for (k, laid) in steps.zip(&mut out.steps) {
        let step = &parts.steps[k];
        if let (StepKind::Code(c), LaidStep::Code(l)) = (&step.kind, laid) {
            match l.rows {
                Some(_) => c.outputs.iter().for_each(|&p| a.place(c, l, p)),
                None => a.phases(c, l),
            }
        }
        step.dead.iter().for_each(|&p| a.give(p));
    }
    out.arena = a.arena.bytes();
}

/// The arena under construction.
struct Assignment<'a> {
    parts: &'a PlanParts,
    shapes: &'a [Option<Extents>],
    offsets: &'a mut [usize],
    arena: ArenaLayout,
    /// Places that have a range.
    held: FxHashSet<u32>,
}

impl Assignment<'_> {
    /// Gives a place of the arena a range. The one output may take that of an operand.
    fn place(&mut self, c: &CodeStep, l: &LaidGroup, p: u32) {
        let own = matches!(
            self.parts.places[p as usize].home,
            Home::Arena | Home::Block
        );
        if !own || !self.held.insert(p) {
            return;
        }
        let n = bytes(self.parts, self.shapes, p);
        let fits = |o: &&u32| {
            let same = bytes(self.parts, self.shapes, **o) == n;
            same && self.held.contains(*o) && writes_over(c, l, **o)
        };
        let found = c.over_of(p).iter().find(fits).copied();
        self.offsets[p as usize] = match found {
            Some(o) => {
                self.held.remove(&o);
                self.offsets[o as usize]
            }
            None => self.arena.take(n),
        };
    }

    /// Frees the range of a place, if it has one.
    fn give(&mut self, p: u32) {
        if self.held.remove(&p) {
            let n = bytes(self.parts, self.shapes, p);
            self.arena.give(self.offsets[p as usize], n);
        }
    }

    /// Ranges for phases that run one after the other.
    fn phases(&mut self, c: &CodeStep, l: &mut LaidGroup) {
        for (k, phase) in c.phases.iter().enumerate() {
            // What an earlier phase was the last to read has no range any more.
            for &p in &phase.places {
                self.place(c, l, p);
            }
            let own = &mut l.phases[k];
            if let Some(n) = scratch_bytes(&phase.code, own) {
                let at = self.arena.take(n);
                own.scratch = Some(at);
                self.arena.give(at, n);
            }
            phase.dead.iter().for_each(|&p| self.give(p));
        }
    }
}
