//! Memory of a run: one aligned block for all values that do not leave it, and where each is.

use super::build::{Home, PlanParts, StepKind};
use super::code::{Code, Finish};
use super::laid::{LaidCode, LaidStep, Resolved, is_direct, writes_over};
use crate::tensor::Extents;
use cotangent_core::{Result, bail};
use cotangent_kernels::memory::{Bytes, MIN_POOLED_BYTES, capacity, give, take};
use std::alloc::{Layout, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

/// Maximum number of elements of a row that is reduced from memory of a thread. Longer rows are
/// computed in the arena.
const MAX_ROW_ELEMENTS: usize = 4 * cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS;

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
struct ArenaLayout {
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
    fn bytes(&self) -> usize {
        self.end
    }

    /// The start of a range of this many bytes.
    fn take(&mut self, bytes: usize) -> usize {
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
    fn give(&mut self, at: usize, bytes: usize) {
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

/// Bytes of a row of all outputs, if the rows of a fold are long.
pub(crate) fn scratch_bytes(code: &Code, laid: &LaidCode) -> Option<usize> {
    let fold = code
        .members
        .iter()
        .any(|m| !matches!(m.finish, Finish::Store));
    let long = fold && laid.len > MAX_ROW_ELEMENTS;
    let sizes = code.members.iter().flat_map(|m| &m.outputs);
    (long && !is_direct(code, laid)).then(|| sizes.map(|d| padded(laid.len * d.size())).sum())
}

/// Assigns the arena. A value may be written over one that is read for the last time.
pub(crate) fn allocate(parts: &PlanParts, steps: Range<usize>, out: &mut Resolved) {
    let in_arena = |p: u32| matches!(parts.places[p as usize].home, Home::Arena);
    let mut arena = ArenaLayout::default();
    for (k, laid) in steps.zip(&mut out.steps) {
        let step = &parts.steps[k];
        let mut reused = None;
        if let (StepKind::Code(c), LaidStep::Code(l)) = (&step.kind, laid) {
            for &p in c.outputs.iter().filter(|p| in_arena(**p)) {
                let n = bytes(parts, &out.shapes, p);
                let over = c.over.iter();
                let found = over
                    .copied()
                    .find(|&o| bytes(parts, &out.shapes, o) == n && writes_over(c, l, o));
                out.offsets[p as usize] = match found {
                    Some(o) => {
                        reused = Some(o);
                        out.offsets[o as usize]
                    }
                    None => arena.take(n),
                };
            }
            let mut taken: Vec<(usize, usize)> = Vec::new();
            if l.rows.is_none() {
                for &p in &c.blocks {
                    let n = bytes(parts, &out.shapes, p);
                    out.offsets[p as usize] = arena.take(n);
                    taken.push((out.offsets[p as usize], n));
                }
                let phases = c.phases.iter().zip(&l.phases);
                let all = phases.map(|(p, l)| scratch_bytes(&p.code, l));
                let sizes: Vec<Option<usize>> = all.collect();
                // Phases run one after the other.
                if let Some(most) = sizes.iter().copied().flatten().max() {
                    let at = arena.take(most);
                    taken.push((at, most));
                    for (l, own) in l.phases.iter_mut().zip(&sizes) {
                        l.scratch = own.map(|_| at);
                    }
                }
            }
            taken.iter().for_each(|&(at, n)| arena.give(at, n));
        }
        for &p in step.dead.iter().filter(|p| in_arena(**p)) {
            if reused != Some(p) {
                arena.give(out.offsets[p as usize], bytes(parts, &out.shapes, p));
            }
        }
    }
    out.arena = arena.bytes();
}
