//! Executable memory: one file without a name, mapped twice, to write and to run, so that nothing is ever both.
//!
//! Code is written behind other code and never moved or written over. A segment goes when all code in it has gone.
//! Where the system refuses, there is no emitted code.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The size of a segment.
const SEGMENT: usize = 1 << 18;

/// The most memory for code.
const MOST: usize = 64 << 20;

/// Memory of all segments.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// The segment that is written, how much of it is, and the process that writes it: after a fork two processes see one
/// file, so each child begins a segment of its own.
static CURRENT: Mutex<Option<(Arc<Segment>, usize, u32)>> = Mutex::new(None);

struct Segment {
    write: NonNull<u8>,
    run: NonNull<u8>,
}

// SAFETY: the memory is written only under the lock of `CURRENT`, where nothing runs yet.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// `None` if the system refuses, or there are enough.
    fn new() -> Option<Segment> {
        if MAPPED.fetch_add(SEGMENT, Ordering::Relaxed) + SEGMENT > MOST {
            MAPPED.fetch_sub(SEGMENT, Ordering::Relaxed);
            return None;
        }
        let mapped = Segment::map();
        if mapped.is_none() {
            MAPPED.fetch_sub(SEGMENT, Ordering::Relaxed);
        }
        mapped
    }

    fn map() -> Option<Segment> {
        // SAFETY: system calls on a file and mappings of our own; every failure is looked at, and the file is closed when
        // both mappings hold it.
        unsafe {
            let file = libc::memfd_create(c"cotangent".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return None;
            }
            let map = |rights| {
                let at = libc::mmap(std::ptr::null_mut(), SEGMENT, rights, libc::MAP_SHARED, file, 0);
                (at != libc::MAP_FAILED).then(|| NonNull::new(at.cast::<u8>())).flatten()
            };
            let sized = libc::ftruncate(file, SEGMENT as libc::off_t) == 0;
            let write = if sized { map(libc::PROT_READ | libc::PROT_WRITE) } else { None };
            let run = if sized { map(libc::PROT_READ | libc::PROT_EXEC) } else { None };
            libc::close(file);
            match (write, run) {
                (Some(write), Some(run)) => Some(Segment { write, run }),
                (one, other) => {
                    one.into_iter().chain(other).for_each(|p| {
                        libc::munmap(p.as_ptr().cast(), SEGMENT);
                    });
                    None
                }
            }
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        for p in [self.write, self.run] {
            // SAFETY: both are mappings of this size, and no code in them is left.
            unsafe { libc::munmap(p.as_ptr().cast(), SEGMENT) };
        }
        MAPPED.fetch_sub(SEGMENT, Ordering::Relaxed);
    }
}

/// Code that can be run.
pub(super) struct Code {
    at: NonNull<u8>,
    #[allow(dead_code, reason = "holds the memory")]
    segment: Arc<Segment>,
}

// SAFETY: code is never written again.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// A copy of code that does not depend on its place; `None` if there is no memory for it.
    pub(super) fn new(bytes: &[u8]) -> Option<Code> {
        if bytes.len() > SEGMENT {
            return None;
        }
        let mut current = CURRENT.lock().ok()?;
        let process = std::process::id();
        let fits = |(_, used, owner): &(_, usize, u32)| *owner == process && *used + bytes.len() <= SEGMENT;
        if !current.as_ref().is_some_and(fits) {
            *current = Some((Arc::new(Segment::new()?), 0, process));
        }
        let (segment, used, _) = current.as_mut()?;
        let from = *used;
        *used = (from + bytes.len()).next_multiple_of(64);
        // SAFETY: these bytes of the segment are free, and only the holder of the lock writes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), segment.write.as_ptr().add(from), bytes.len());
            Some(Code { at: segment.run.add(from), segment: segment.clone() })
        }
    }

    /// Its first instruction.
    pub(super) fn entry(&self) -> NonNull<u8> {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_runs_and_its_memory_goes() {
        // mov eax, 42; ret
        let code = Code::new(&[0xb8, 42, 0, 0, 0, 0xc3]).expect("this machine runs emitted code");
        // SAFETY: that is a whole function, by the calling convention.
        let f: extern "sysv64" fn() -> u32 = unsafe { std::mem::transmute(code.entry()) };
        assert_eq!(f(), 42);
        assert!(Code::new(&vec![0xc3; SEGMENT + 1]).is_none());
        // A segment after another: the first goes with its code.
        let segment = Arc::downgrade(&code.segment);
        let others: Vec<Code> = (0..2).map(|_| Code::new(&vec![0xc3; SEGMENT]).unwrap()).collect();
        drop(code);
        // Another test may have written into it, too.
        assert!(segment.strong_count() < 1000 && others.len() == 2);
    }
}
