//! Memory of a run: one aligned block for all values that do not leave it, and where each is.

use cotangent_core::{Result, bail};
use cotangent_kernels::memory::{Bytes, MIN_POOLED_BYTES, capacity, give, take};
use std::alloc::{Layout, dealloc};
use std::ptr::NonNull;

/// Alignment of the arena and of every value in it, in bytes.
pub(crate) const ALIGNMENT: usize = 64;

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
