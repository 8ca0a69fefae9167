//! Executable memory: an anonymous file that is mapped twice, once writable and once executable. No
//! mapping is both.
//!
//! Code is appended and never moved or overwritten. A segment is unmapped when all code in it has
//! been dropped. If the operating system refuses the mappings, no code is emitted.

use crate::tuning::MAX_CODE_BYTES;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Size of a segment, in bytes.
const SEGMENT_BYTES: usize = 1 << 18;

/// Approximate size of the shortest code, in bytes. A segment with less free space is full.
const MIN_CODE_BYTES: usize = 256;

/// Size of all mapped segments, in bytes.
static MAPPED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The segment that receives new code. After a fork, parent and child share its file, so a child
/// begins a new segment.
static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

struct Segment {
    run: NonNull<u8>,
}

/// The writable mapping of a segment that is not full. It is unmapped when the segment is full:
/// from then on no address allows a change of the code.
struct Alias(NonNull<u8>);

impl Drop for Alias {
    fn drop(&mut self) {
        // SAFETY: the mapping has `SEGMENT_BYTES` bytes, and this is its only owner.
        unsafe { libc::munmap(self.0.as_ptr().cast(), SEGMENT_BYTES) };
    }
}

// SAFETY: the memory is written only while the lock of `CURRENT` is held.
unsafe impl Send for Alias {}

/// The segment that receives new code.
struct Current {
    segment: Arc<Segment>,
    alias: Alias,
    /// Number of bytes in use.
    used: usize,
    /// The process that owns the segment.
    owner: u32,
}

// SAFETY: the memory is written only while the lock of `CURRENT` is held, at addresses that no code
// uses yet.
unsafe impl Send for Segment {}
// SAFETY: shared access only reads and executes code that is complete; see `Send`.
unsafe impl Sync for Segment {}

impl Segment {
    /// Maps a new segment. Returns `None` if the operating system refuses, or at the limit
    /// `MAX_CODE_BYTES`.
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
        // SAFETY: the calls use only the file and the mappings that are created here. Every failure
        // is checked. The file is closed after both mappings, which keep it alive, exist.
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
        // SAFETY: the mapping has `SEGMENT_BYTES` bytes. `Code` holds the segment by `Arc`, so no
        // code in it is left.
        unsafe { libc::munmap(self.run.as_ptr().cast(), SEGMENT_BYTES) };
        MAPPED_BYTES.fetch_sub(SEGMENT_BYTES, Ordering::Relaxed);
    }
}

/// Executable code.
pub(super) struct Code {
    at: NonNull<u8>,
    #[allow(dead_code, reason = "holds the memory")]
    segment: Arc<Segment>,
}

// SAFETY: code is immutable after its construction.
unsafe impl Send for Code {}
// SAFETY: code is immutable after its construction.
unsafe impl Sync for Code {}

impl Code {
    /// Copies position-independent code to executable memory. Returns `None` if no memory is
    /// available.
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
        // SAFETY: `fits` or the new segment guarantees that these bytes are inside the segment and
        // unused. Only the holder of the lock writes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), alias.0.as_ptr().add(from), bytes.len());
        }
        // SAFETY: `fits` or the new segment guarantees that `from` is inside the segment, which
        // `run` maps too.
        let at = unsafe { segment.run.add(from) };
        let code = Code {
            at,
            segment: segment.clone(),
        };
        // The segment is full: the rest is too small for any code.
        if *used + MIN_CODE_BYTES > SEGMENT_BYTES {
            *current = None;
        }
        Some(code)
    }

    /// Address of the first instruction.
    pub(super) fn entry(&self) -> NonNull<u8> {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The permissions of every mapping of the file that is mapped at an address.
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
        // SAFETY: the bytes are a complete function of this calling convention.
        let f: extern "sysv64" fn() -> u32 = unsafe { std::mem::transmute(code.entry()) };
        assert_eq!(f(), 42);
        assert!(Code::new(&vec![0xc3; SEGMENT_BYTES + 1]).is_none());
        // The following segments replace the first one, which is unmapped with its code.
        let segment = Arc::downgrade(&code.segment);
        let others: Vec<Code> = (0..2)
            .map(|_| Code::new(&vec![0xc3; SEGMENT_BYTES]).unwrap())
            .collect();
        drop(code);
        // Another test may have appended code to it.
        assert!(segment.strong_count() < 1000 && others.len() == 2);
        // A full segment has no writable mapping.
        for code in &others {
            let rights = rights_of(code.entry().as_ptr() as usize);
            assert!(
                rights.len() == 1 && rights[0].starts_with("r-x"),
                "{rights:?}"
            );
        }
    }
}
