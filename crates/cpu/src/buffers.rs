//! Memory that tensors leave and take: a buffer that nobody refers to any more is kept for the next of its size.
//!
//! To get large memory from the system costs several times what it costs to write it (every page is cleared and mapped
//! when it is first touched), and to clear what a product of matrices will set costs a tenth of a small one. So buffers of
//! [`KEPT`] bytes and more are kept, at most [`MOST`] bytes and [`MANY`] buffers for each thread, and new ones of [`LARGE`]
//! bytes ask for huge pages. What is kept is freed when its thread ends.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::ptr::NonNull;

/// From this size on a buffer is kept.
pub(crate) const KEPT: usize = 32 << 10;

/// From this size on memory comes from the system, where zeros cost nothing: all of it is initialised.
pub(crate) const LARGE: usize = 1 << 20;

/// Bytes that one thread keeps.
const MOST: usize = 256 << 20;

/// Buffers that one thread keeps.
const MANY: usize = 256;

/// What the bytes of a buffer are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Bytes {
    Zero,
    /// Anything, but somebody wrote them.
    Initialised,
    /// Of less than [`LARGE`] bytes perhaps never written.
    Any,
}

/// A buffer that is kept.
struct Kept {
    data: NonNull<u8>,
    layout: Layout,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the buffer was allocated with this layout, and nothing else refers to it.
        unsafe { dealloc(self.data.as_ptr(), self.layout) };
    }
}

#[derive(Default)]
struct Pool {
    kept: Vec<Kept>,
    bytes: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

/// A buffer to be freed with this layout, which has a size; `None` if there is no such memory.
pub(crate) fn take(layout: Layout, bytes: Bytes) -> Option<NonNull<u8>> {
    if layout.size() >= KEPT {
        let found = POOL.try_with(|pool| {
            let mut pool = pool.try_borrow_mut().ok()?;
            let i = pool.kept.iter().rposition(|k| k.layout == layout)?;
            let kept = std::mem::ManuallyDrop::new(pool.kept.remove(i));
            pool.bytes -= layout.size();
            Some(kept.data)
        });
        if let Ok(Some(data)) = found {
            if bytes == Bytes::Zero {
                // SAFETY: the buffer has this layout and is ours.
                unsafe { data.write_bytes(0, layout.size()) };
            }
            return Some(data);
        }
    }
    let zero = bytes != Bytes::Any || layout.size() >= LARGE;
    // SAFETY: the layout has a size.
    let data = NonNull::new(unsafe { if zero { alloc_zeroed(layout) } else { alloc(layout) } })?;
    if layout.size() >= LARGE {
        ask_for_huge_pages(data, layout.size());
    }
    Some(data)
}

/// Keeps a buffer, or frees it if there are enough.
///
/// # Safety
/// The buffer was allocated with this layout, which is of [`KEPT`] bytes or more, all of them were written or zeroed, and
/// nothing refers to it.
pub(crate) unsafe fn give(data: NonNull<u8>, layout: Layout) {
    let kept = Kept { data, layout };
    if layout.size() > MOST {
        return;
    }
    // When the thread ends, the pool is gone and the buffer is freed here.
    let _ = POOL.try_with(move |pool| {
        let Ok(mut pool) = pool.try_borrow_mut() else { return };
        pool.bytes += layout.size();
        pool.kept.push(kept);
        while pool.bytes > MOST || pool.kept.len() > MANY {
            let oldest = pool.kept.remove(0);
            pool.bytes -= oldest.layout.size();
        }
    });
}

/// The size of a huge page.
const HUGE: usize = 2 << 20;

/// Tells the system that the pages inside a fresh buffer should be huge. It need not listen.
fn ask_for_huge_pages(data: NonNull<u8>, size: usize) {
    #[cfg(target_os = "linux")]
    {
        unsafe extern "C" {
            fn madvise(start: *mut u8, length: usize, advice: i32) -> i32;
        }
        const MADV_HUGEPAGE: i32 = 14;
        let skip = data.as_ptr().align_offset(HUGE);
        let length = size.saturating_sub(skip) / HUGE * HUGE;
        if length > 0 {
            // SAFETY: these pages lie inside the buffer; the advice changes how they are backed, not what they hold.
            unsafe { madvise(data.as_ptr().wrapping_add(skip), length, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (data, size);
}
