//! Executable memory: one file without a name, mapped twice, to write and to run, so that nothing
//! is ever both.
//!
//! Code is written behind other code and never moved or written over. A segment goes when all code
//! in it has gone. Where the system refuses, there is no emitted code.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The size of a segment.
const SEGMENT_BYTES: usize = 1 << 18;

/// Bytes that the shortest code takes, about: a segment with less is full.
const MIN_CODE_BYTES: usize = 256;

/// The most memory for code.
const MAX_CODE_BYTES: usize = 64 << 20;

/// Memory of all segments.
static MAPPED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The segment that is written, how much of it is, and the process that writes it: after a fork two
/// processes see one file, so each child begins a segment of its own.
static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

struct Segment {
    run: NonNull<u8>,
}

/// Where a segment that has room is written: a second mapping of the same memory. It goes when the
/// segment is full, so no code that nobody adds to can be changed through any address.
struct Alias(NonNull<u8>);

impl Drop for Alias {
    fn drop(&mut self) {
        // SAFETY: a mapping of this size, through which nobody writes any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), SEGMENT_BYTES) };
    }
}

// SAFETY: it is written only under the lock of `CURRENT`.
unsafe impl Send for Alias {}

/// The segment that is written.
struct Current {
    segment: Arc<Segment>,
    alias: Alias,
    /// How much of it is written.
    used: usize,
    /// The process that writes it.
    owner: u32,
}

// SAFETY: the memory is written only under the lock of `CURRENT`, where nothing runs yet.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// `None` if the system refuses, or there are enough.
    fn new() -> Option<(Segment, Alias)> {
        if MAPPED_BYTES.fetch_add(SEGMENT_BYTES, Ordering::Relaxed) + SEGMENT_BYTES > MAX_CODE_BYTES
        {
            MAPPED_BYTES.fetch_sub(SEGMENT_BYTES, Ordering::Relaxed);
            return None;
        }
        let mapped = Segment::map();
        if mapped.is_none() {
            MAPPED_BYTES.fetch_sub(SEGMENT_BYTES, Ordering::Relaxed);
        }
        mapped
    }

    fn map() -> Option<(Segment, Alias)> {
        // SAFETY: system calls on a file and mappings of our own; every failure is looked at, and
        // the file is closed when both mappings hold it.
        unsafe {
            let file = libc::memfd_create(c"cotangent".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return None;
            }
            let map = |rights| {
                let at = libc::mmap(
                    std::ptr::null_mut(),
                    SEGMENT_BYTES,
                    rights,
                    libc::MAP_SHARED,
                    file,
                    0,
                );
                (at != libc::MAP_FAILED)
                    .then(|| NonNull::new(at.cast::<u8>()))
                    .flatten()
            };
            let sized = libc::ftruncate(file, SEGMENT_BYTES as libc::off_t) == 0;
            let write = if sized {
                map(libc::PROT_READ | libc::PROT_WRITE)
            } else {
                None
            };
            let run = if sized {
                map(libc::PROT_READ | libc::PROT_EXEC)
            } else {
                None
            };
            libc::close(file);
            match (write, run) {
                (Some(write), Some(run)) => Some((Segment { run }, Alias(write))),
                (one, other) => {
                    one.into_iter().chain(other).for_each(|p| {
                        libc::munmap(p.as_ptr().cast(), SEGMENT_BYTES);
                    });
                    None
                }
            }
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: a mapping of this size, and no code in it is left.
        unsafe { libc::munmap(self.run.as_ptr().cast(), SEGMENT_BYTES) };
        MAPPED_BYTES.fetch_sub(SEGMENT_BYTES, Ordering::Relaxed);
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
        if bytes.len() > SEGMENT_BYTES {
            return None;
        }
        let mut current = CURRENT.lock().ok()?;
        let process = std::process::id();
        let fits = |c: &Current| c.owner == process && c.used + bytes.len() <= SEGMENT_BYTES;
        if !current.as_ref().is_some_and(fits) {
            let (segment, alias) = Segment::new()?;
            *current = Some(Current {
                segment: Arc::new(segment),
                alias,
                used: 0,
                owner: process,
            });
        }
        let Current {
            segment,
            alias,
            used,
            ..
        } = current.as_mut()?;
        let from = *used;
        *used = (from + bytes.len()).next_multiple_of(64);
        // SAFETY: these bytes of the segment are free, and only the holder of the lock writes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), alias.0.as_ptr().add(from), bytes.len());
        }
        // SAFETY: the code is inside the segment.
        let code = Code {
            at: unsafe { segment.run.add(from) },
            segment: segment.clone(),
        };
        // What is left has no room for any code.
        if *used + MIN_CODE_BYTES > SEGMENT_BYTES {
            *current = None;
        }
        Some(code)
    }

    /// Its first instruction.
    pub(super) fn entry(&self) -> NonNull<u8> {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rights of every mapping of the file that is mapped at an address.
    fn rights_of(address: usize) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let all = maps
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>());
        let all: Vec<Vec<&str>> = all.filter(|l| l.len() > 4 && l[4] != "0").collect();
        let file = |l: &Vec<&str>| (l[3].to_owned(), l[4].to_owned());
        let covers = |l: &&Vec<&str>| {
            let ends = l[0]
                .split('-')
                .map(|x| usize::from_str_radix(x, 16).expect("an address"))
                .collect::<Vec<_>>();
            (ends[0]..ends[1]).contains(&address)
        };
        let of = file(all.iter().find(covers).expect("code is mapped"));
        all.iter()
            .filter(|l| file(l) == of)
            .map(|l| l[1].to_owned())
            .collect()
    }

    #[test]
    fn code_runs_and_its_memory_goes() {
        // mov eax, 42; ret
        let code = Code::new(&[0xb8, 42, 0, 0, 0, 0xc3]).expect("this machine runs emitted code");
        // SAFETY: that is a whole function, by the calling convention.
        let f: extern "sysv64" fn() -> u32 = unsafe { std::mem::transmute(code.entry()) };
        assert_eq!(f(), 42);
        assert!(Code::new(&vec![0xc3; SEGMENT_BYTES + 1]).is_none());
        // A segment after another: the first goes with its code.
        let segment = Arc::downgrade(&code.segment);
        let others: Vec<Code> = (0..2)
            .map(|_| Code::new(&vec![0xc3; SEGMENT_BYTES]).unwrap())
            .collect();
        drop(code);
        // Another test may have written into it, too.
        assert!(segment.strong_count() < 1000 && others.len() == 2);
        // What is full has no address at which it can be written.
        for code in &others {
            let rights = rights_of(code.entry().as_ptr() as usize);
            assert!(
                rights.len() == 1 && rights[0].starts_with("r-x"),
                "{rights:?}"
            );
        }
    }
}
