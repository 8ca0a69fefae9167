//! Buffer pool: one cache for the process of buffers that are no longer referenced, by layout.
//!
//! Getting large memory from the system costs several times the time to write it, because every
//! page is cleared and mapped on first access. Clearing the result of a small matrix product costs
//! 10 % of the product. So buffers of at least [`MIN_POOLED_BYTES`] are cached, up to
//! [`MAX_POOL_BYTES`] over all threads. New buffers of at least [`MIN_SYSTEM_BYTES`] request huge
//! pages. A buffer of more than one huge page has a [`capacity`] that fills pages, because Linux
//! aligns such mappings.
//!
//! Only buffers that are likely to be reused are cached. A buffer is cached if one of its size was
//! taken and not yet returned; buffers that were allocated elsewhere, such as arguments, are freed.
//! Sizes that were taken twice stay for [`REPEATED_USE_CALLS`] calls of the pool after the last
//! one, others for [`SINGLE_USE_CALLS`]. [`release`] frees all cached buffers.

use super::system::{is_allowed, leaves_reserve};
use crate::tuning::{
    MAX_POOL_BYTES, MAX_POOL_CLASSES, MIN_POOLED_BYTES, MIN_SYSTEM_BYTES, REPEATED_USE_CALLS,
    SINGLE_USE_CALLS,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

/// Maximum count of buffers of one layout that were taken and not returned; more are not counted.
const MAX_OUTSTANDING: u32 = 256;

/// Required contents of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// All bytes are zero.
    Zero,
    /// Bytes are initialised, with unspecified values.
    Initialised,
    /// Bytes may be uninitialised if the buffer has fewer than [`MIN_SYSTEM_BYTES`].
    Any,
}

/// State of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of cached buffers.
    pub buffers: usize,
    /// Bytes of the cached buffers.
    pub bytes: usize,
    /// Maximum number of cached bytes.
    pub limit: usize,
}

/// Buffers and statistics of one layout.
#[derive(Default)]
struct Class {
    kept: Vec<usize>,
    /// Number of buffers that were taken and not returned.
    out: u32,
    /// Number of takes, and the pool call of the last one.
    taken: u64,
    last: u64,
}

#[derive(Default)]
struct Pool {
    classes: FxHashMap<Layout, Class>,
    bytes: usize,
    /// Number of calls so far.
    calls: u64,
}

/// Buffers to free after the lock is released.
#[derive(Default)]
struct Freed(SmallVec<[(usize, Layout); 2]>);

impl Drop for Freed {
    fn drop(&mut self) {
        for &(at, layout) in &self.0 {
            // SAFETY: the buffer was given with this layout, is not referenced (# Safety of
            // [`give`]), and is no longer in the pool.
            unsafe { dealloc(at as *mut u8, whole(layout)) };
        }
    }
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Locks the pool. A poisoned lock is usable, because no operation panics between changes that
/// belong together.
fn pool() -> MutexGuard<'static, Option<Pool>> {
    POOL.lock().unwrap_or_else(|e| e.into_inner())
}

impl Pool {
    fn take(&mut self, layout: Layout) -> Option<usize> {
        self.calls += 1;
        let class = self.classes.entry(layout).or_default();
        (class.taken, class.last) = (class.taken + 1, self.calls);
        class.out = (class.out + 1).min(MAX_OUTSTANDING);
        let found = class.kept.pop()?;
        self.bytes -= layout.size();
        Some(found)
    }

    fn give(&mut self, at: usize, layout: Layout, freed: &mut Freed) {
        self.calls += 1;
        match self.classes.get_mut(&layout).filter(|class| class.out > 0) {
            Some(class) if layout.size() <= MAX_POOL_BYTES => {
                class.out -= 1;
                class.kept.push(at);
                self.bytes += layout.size();
            }
            _ => freed.0.push((at, layout)),
        }
        if self.calls.is_multiple_of(SINGLE_USE_CALLS) || self.classes.len() > MAX_POOL_CLASSES {
            self.forget(freed);
        }
        while self.bytes > MAX_POOL_BYTES && self.free_oldest(freed) {}
    }

    /// Frees buffers of layouts that were not taken recently.
    fn forget(&mut self, freed: &mut Freed) {
        let calls = self.calls;
        let mut gone = 0;
        self.classes.retain(|&layout, class| {
            let stays = if class.taken > 1 {
                REPEATED_USE_CALLS
            } else {
                SINGLE_USE_CALLS
            };
            let age = calls - class.last;
            if age > stays {
                gone += class.kept.len() * layout.size();
                freed.0.extend(class.kept.drain(..).map(|at| (at, layout)));
            }
            age <= REPEATED_USE_CALLS
        });
        self.bytes -= gone;
        while self.classes.len() > MAX_POOL_CLASSES {
            let Some(oldest) = self
                .classes
                .iter()
                .min_by_key(|(_, c)| c.last)
                .map(|(&layout, _)| layout)
            else {
                break;
            };
            if let Some(class) = self.classes.remove(&oldest) {
                self.bytes -= class.kept.len() * oldest.size();
                freed
                    .0
                    .extend(class.kept.into_iter().map(|at| (at, oldest)));
            }
        }
    }

    /// Frees a buffer of the layout whose last use is the oldest. Returns `false` if there is none.
    fn free_oldest(&mut self, freed: &mut Freed) -> bool {
        let held = self
            .classes
            .iter_mut()
            .filter(|(_, class)| !class.kept.is_empty());
        let Some((&layout, class)) = held.min_by_key(|(_, class)| class.last) else {
            return false;
        };
        freed.0.extend(class.kept.pop().map(|at| (at, layout)));
        self.bytes -= layout.size();
        true
    }
}

/// Bytes of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Maximum bytes of the allocator's header before a buffer.
const ALLOCATOR_HEADER_BYTES: usize = 64;

/// Allocated bytes of a buffer of `bytes` bytes. If there is more than one huge page, the buffer
/// and the allocator's header fill whole huge pages. Nothing touches the bytes past the end: they
/// take memory only if the last page is huge, which needs half of it in use (`prepare_pages`).
pub fn capacity(bytes: usize) -> usize {
    match bytes
        .checked_add(ALLOCATOR_HEADER_BYTES)
        .and_then(|n| n.checked_next_multiple_of(HUGE_PAGE_BYTES))
    {
        Some(pages) if bytes >= HUGE_PAGE_BYTES && pages <= isize::MAX as usize => {
            pages - ALLOCATOR_HEADER_BYTES
        }
        _ => bytes,
    }
}

/// Layout of the allocation of a buffer.
fn whole(layout: Layout) -> Layout {
    Layout::from_size_align(capacity(layout.size()), layout.align()).unwrap_or(layout)
}

/// Returns a buffer of this layout, whose size is not 0. It must be freed with a size of its
/// [`capacity`]. `None` if there is no memory.
pub fn take(layout: Layout, bytes: Bytes) -> Option<NonNull<u8>> {
    if !is_allowed() {
        return None;
    }
    if layout.size() >= MIN_POOLED_BYTES {
        let found = pool().get_or_insert_default().take(layout);
        if let Some(data) = found.and_then(|at| NonNull::new(at as *mut u8)) {
            if bytes == Bytes::Zero {
                // SAFETY: the buffer has this layout and was removed from the pool, so it is not
                // shared.
                unsafe { data.write_bytes(0, layout.size()) };
            }
            return Some(data);
        }
    }
    let data =
        fresh(layout, bytes).or_else(|| (release() > 0).then(|| fresh(layout, bytes)).flatten())?;
    if layout.size() >= MIN_SYSTEM_BYTES {
        prepare_pages(data, layout.size());
    }
    Some(data)
}

/// Allocates a buffer.
fn fresh(layout: Layout, bytes: Bytes) -> Option<NonNull<u8>> {
    let zero = bytes != Bytes::Any || layout.size() >= MIN_SYSTEM_BYTES;
    let whole = whole(layout);
    // SAFETY: the caller passes a layout whose size is not 0 (documented at [`take`]).
    let data = NonNull::new(unsafe {
        if zero {
            alloc_zeroed(whole)
        } else {
            alloc(whole)
        }
    })?;
    if !leaves_reserve(layout.size()) {
        // SAFETY: it was just allocated with this layout, and is not shared.
        unsafe { dealloc(data.as_ptr(), whole) };
        return None;
    }
    Some(data)
}

/// Caches a buffer that is likely to be reused, or frees it.
///
/// # Safety
/// The buffer was allocated with the [`capacity`] of this layout, which has at least
/// [`MIN_POOLED_BYTES`]. All bytes of the layout are initialised, and nothing refers to the buffer.
pub unsafe fn give(data: NonNull<u8>, layout: Layout) {
    let mut freed = Freed::default();
    pool()
        .get_or_insert_default()
        .give(data.as_ptr() as usize, layout, &mut freed);
}

/// Frees all cached buffers and returns their bytes.
pub fn release() -> usize {
    let Some(all) = pool().take() else { return 0 };
    let mut freed = Freed::default();
    let bytes = all.bytes;
    for (layout, class) in all.classes {
        freed
            .0
            .extend(class.kept.into_iter().map(|at| (at, layout)));
    }
    drop(freed);
    bytes
}

/// Returns the state of the pool.
pub fn stats() -> Stats {
    let pool = pool();
    let (buffers, bytes) = match &*pool {
        Some(pool) => (
            pool.classes.values().map(|c| c.kept.len()).sum(),
            pool.bytes,
        ),
        None => (0, 0),
    };
    Stats {
        buffers,
        bytes,
        limit: MAX_POOL_BYTES,
    }
}

/// Requests huge pages for a new buffer, and maps the small pages at its ends. One call costs about
/// a third of a page fault per page. The system may ignore the request.
fn prepare_pages(data: NonNull<u8>, size: usize) {
    #[cfg(target_os = "linux")]
    {
        const PAGE_BYTES: usize = 4096;
        /// Since Linux 6.1; not every C library defines it.
        const MADV_COLLAPSE: libc::c_int = 25;
        let at = data.as_ptr() as usize;
        let advise = |from: usize, to: usize, advice| {
            let start = data.as_ptr().wrapping_add(from.wrapping_sub(at));
            // SAFETY: these pages belong to the allocator and contain part of the buffer or of its
            // header. The advice changes their backing, not their contents.
            from < to && unsafe { libc::madvise(start.cast(), to - from, advice) } == 0
        };
        let (first, last) = (
            at / PAGE_BYTES * PAGE_BYTES,
            at.saturating_add(size).next_multiple_of(PAGE_BYTES),
        );
        let end = at
            .saturating_add(capacity(size))
            .next_multiple_of(PAGE_BYTES);
        let inner = first.next_multiple_of(HUGE_PAGE_BYTES).min(last);
        // The last huge page is requested if at least half of it is used.
        let outer = match last.next_multiple_of(HUGE_PAGE_BYTES) {
            next if next <= end && last % HUGE_PAGE_BYTES >= HUGE_PAGE_BYTES / 2 => next,
            _ => (last / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES).max(inner),
        };
        advise(inner, outer, libc::MADV_HUGEPAGE);
        // The allocator wrote its header before the request, so the first huge page has a small
        // page in it. It is collapsed explicitly.
        if inner == first && inner < outer && !advise(inner, inner + HUGE_PAGE_BYTES, MADV_COLLAPSE)
        {
            advise(inner, inner + HUGE_PAGE_BYTES, libc::MADV_POPULATE_WRITE);
        }
        advise(first, inner, libc::MADV_POPULATE_WRITE);
        advise(outer, last, libc::MADV_POPULATE_WRITE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, size);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers are fake addresses: the pool only counts them.
    fn kept(pool: &Pool) -> usize {
        let sizes = pool
            .classes
            .iter()
            .map(|(layout, class)| layout.size() * class.kept.len());
        assert_eq!(sizes.sum::<usize>(), pool.bytes);
        pool.bytes
    }

    fn layout(kib: usize) -> Layout {
        Layout::from_size_align(kib << 10, 8).unwrap()
    }

    /// Gives a buffer without freeing it. Returns how many would have been freed.
    fn give(pool: &mut Pool, layout: Layout) -> usize {
        let mut freed = Freed::default();
        pool.give(64, layout, &mut freed);
        std::mem::take(&mut freed.0).len()
    }

    #[test]
    fn what_came_from_elsewhere_is_freed() {
        let mut pool = Pool::default();
        for _ in 0..100 {
            assert_eq!(give(&mut pool, layout(1024)), 1);
        }
        assert_eq!(kept(&pool), 0);
        // Each step has a result and an argument of one size; only one of them is cached.
        for _ in 0..100 {
            pool.take(layout(1024));
            give(&mut pool, layout(1024));
            give(&mut pool, layout(1024));
            assert_eq!(kept(&pool), 1 << 20);
        }
    }

    #[test]
    fn ever_other_sizes_do_not_pile_up() {
        let mut pool = Pool::default();
        for step in 0..10_000 {
            let layout = layout(1000 + step);
            pool.take(layout);
            give(&mut pool, layout);
            assert!(kept(&pool) <= 256 << 20 && pool.classes.len() <= MAX_POOL_CLASSES + 1);
        }
        // Sizes that a large program takes repeatedly stay cached.
        let mut pool = Pool::default();
        for _ in 0..3 {
            for kib in 100..400 {
                pool.take(layout(kib));
                give(&mut pool, layout(kib));
            }
        }
        assert!((100..400).all(|kib| pool.take(layout(kib)).is_some()));
    }

    #[test]
    fn there_is_one_limit() {
        let mut pool = Pool::default();
        for _ in 0..20 {
            (0..20).for_each(|_| _ = pool.take(layout(64 << 10)));
            (0..20).for_each(|_| _ = give(&mut pool, layout(64 << 10)));
            assert!(kept(&pool) <= MAX_POOL_BYTES);
        }
        assert!(kept(&pool) > MAX_POOL_BYTES / 2);
    }
}
