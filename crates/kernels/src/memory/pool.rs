//! The pool: a buffer that nobody refers to any more is kept for the next of its size, by one pool
//! for the process.
//!
//! To get large memory from the system costs several times what it costs to write it (every page is
//! cleared and mapped when it is first touched), and to clear what a product of matrices will set
//! costs a tenth of a small one. So buffers of [`MIN_POOLED_BYTES`] bytes and more are kept, at
//! most [`MAX_POOL_BYTES`] bytes of all threads together, and new ones of [`MIN_SYSTEM_BYTES`]
//! bytes ask for huge pages. A buffer of more than one huge page has a [`capacity`] that fills
//! pages, because Linux aligns what fills them.
//!
//! What is kept is what is likely to be taken again. A buffer stays if one of its size was taken
//! that has not come back: what a program gets from elsewhere, its arguments, is freed. Sizes that
//! were taken twice stay for [`REPEATED_USE_CALLS`] calls of the pool since they were taken last,
//! others for [`SINGLE_USE_CALLS`]. [`release`] frees everything.

use super::system::{MIN_SYSTEM_BYTES, allowed, leaves_room};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

/// From this size on a buffer is kept.
pub const MIN_POOLED_BYTES: usize = 32 << 10;

/// Bytes that are kept.
const MAX_POOL_BYTES: usize = 256 << 20;

/// Sizes that are remembered.
const MAX_POOL_CLASSES: usize = 512;

/// Buffers of one size that are taken and not yet back, as far as they are counted.
const MAX_OUTSTANDING: u32 = 256;

/// Calls of the pool for which buffers of a size stay that was taken once, or more often.
const SINGLE_USE_CALLS: u64 = 64;
const REPEATED_USE_CALLS: u64 = 4096;

/// What the bytes of a buffer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// Zero.
    Zero,
    /// Anything, but somebody wrote them.
    Initialised,
    /// Of less than [`MIN_SYSTEM_BYTES`] bytes perhaps never written.
    Any,
}

/// What the pool holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Buffers that are kept.
    pub buffers: usize,
    /// Their bytes.
    pub bytes: usize,
    /// The most bytes that are kept.
    pub limit: usize,
}

/// The buffers of one layout.
#[derive(Default)]
struct Class {
    kept: Vec<usize>,
    /// How many were taken and are not back.
    out: u32,
    /// How often one was taken, and at which call the last time.
    taken: u64,
    last: u64,
}

#[derive(Default)]
struct Pool {
    classes: FxHashMap<Layout, Class>,
    bytes: usize,
    /// Calls so far.
    calls: u64,
}

/// Buffers to free when the lock is gone.
#[derive(Default)]
struct Freed(SmallVec<[(usize, Layout); 2]>);

impl Drop for Freed {
    fn drop(&mut self) {
        for &(at, layout) in &self.0 {
            // SAFETY: the buffer was given with this layout, nobody refers to it, and it is no
            // longer in the pool.
            unsafe { dealloc(at as *mut u8, whole(layout)) };
        }
    }
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// The pool. A thread that failed inside left it whole: nothing in there calls what could fail.
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

    /// Frees what was not taken for long.
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

    /// Frees a buffer of the size that was taken last the longest time ago; `false`: there is none.
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

/// The size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// What the allocator keeps beside a buffer, at most.
const ALLOCATOR_HEADER_BYTES: usize = 64;

/// How many bytes a buffer for so many has: with the allocator's header they fill huge pages, if
/// there is more than one. What is past the end is never touched, so that it takes up addresses
/// alone.
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

/// The layout that a buffer is allocated with.
fn whole(layout: Layout) -> Layout {
    Layout::from_size_align(capacity(layout.size()), layout.align()).unwrap_or(layout)
}

/// A buffer of this layout, which has a size, to be freed as one of its [`capacity`]; `None` if
/// there is no such memory.
pub fn take(layout: Layout, bytes: Bytes) -> Option<NonNull<u8>> {
    if !allowed() {
        return None;
    }
    if layout.size() >= MIN_POOLED_BYTES {
        let found = pool().get_or_insert_default().take(layout);
        if let Some(data) = found.and_then(|at| NonNull::new(at as *mut u8)) {
            if bytes == Bytes::Zero {
                // SAFETY: the buffer has this layout and is ours.
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

/// A buffer from the allocator.
fn fresh(layout: Layout, bytes: Bytes) -> Option<NonNull<u8>> {
    let zero = bytes != Bytes::Any || layout.size() >= MIN_SYSTEM_BYTES;
    let whole = whole(layout);
    // SAFETY: the layout has a size.
    let data = NonNull::new(unsafe {
        if zero {
            alloc_zeroed(whole)
        } else {
            alloc(whole)
        }
    })?;
    if !leaves_room(layout.size()) {
        // SAFETY: it was allocated with this layout, and nobody has seen it.
        unsafe { dealloc(data.as_ptr(), whole) };
        return None;
    }
    Some(data)
}

/// Keeps a buffer that is likely to be taken again, or frees it.
///
/// # Safety
/// The buffer has the [`capacity`] of this layout, which is of [`MIN_POOLED_BYTES`] bytes or more;
/// those of the layout were all written or zeroed, and nothing refers to it.
pub unsafe fn give(data: NonNull<u8>, layout: Layout) {
    let mut freed = Freed::default();
    pool()
        .get_or_insert_default()
        .give(data.as_ptr() as usize, layout, &mut freed);
}

/// Frees everything that is kept; how many bytes that was.
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

/// What is kept now.
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

/// Tells the system that the pages of a fresh buffer should be huge, and has it map those at the
/// ends that cannot be: one call costs a third of a fault for each page. It need not listen.
fn prepare_pages(data: NonNull<u8>, size: usize) {
    #[cfg(target_os = "linux")]
    {
        const PAGE_BYTES: usize = 4096;
        /// From Linux 6.1 on; not every C library names it.
        const MADV_COLLAPSE: libc::c_int = 25;
        let at = data.as_ptr() as usize;
        let advise = |from: usize, to: usize, advice| {
            let start = data.as_ptr().wrapping_add(from.wrapping_sub(at));
            // SAFETY: these pages are the allocator's, and have some of the buffer or of its header
            // in them; the advice changes how they are backed, not what they hold.
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
        // The last page is huge as well if at least half of it is used.
        let outer = match last.next_multiple_of(HUGE_PAGE_BYTES) {
            next if next <= end && last % HUGE_PAGE_BYTES >= HUGE_PAGE_BYTES / 2 => next,
            _ => (last / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES).max(inner),
        };
        advise(inner, outer, libc::MADV_HUGEPAGE);
        // The allocator wrote its header before it was told, so that a small page lies where the
        // first huge one should.
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

    /// Buffers that are not memory: the pool only counts them.
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

    /// Gives without freeing: how many would have been freed.
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
        // A result and an argument of one size in each step: one of them is kept.
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
        // What a large program takes in turn is kept, if its sizes come again.
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
