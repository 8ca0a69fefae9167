//! [`parallel`]: chunks of work on several threads, each run once, in unspecified order.
//!
//! The calling thread and the workers claim chunks one by one (`claims`). The caller waits only
//! for claimed chunks, never for a thread that the system has descheduled. Idle workers spin for a
//! while and then sleep. Waking one costs about 20 µs, so small jobs run on the caller alone,
//! unless there are many of them. Each worker is pinned to its own core if there are enough,
//! because systems tend to wake a thread on the core of its waker.
//!
//! The thread of a run that should end ([`interrupt`]) tells the workers by a flag, which they read
//! between chunks. After a fork, the child process makes a pool of its own ([`forget`]).
//!
//! **Same bits.** The number and the bounds of chunks must depend on shapes alone. Then results do
//! not depend on the number of threads, because chunks do not share data. One job runs at a time: a
//! nested or concurrent job runs on its caller alone.
//!
//! ```
//! use cotangent_kernels::parallel;
//! let mut squares = vec![0; 100_000];
//! parallel::chunks(&mut squares, 8192, 1_000_000, |c, part| {
//!     part.iter_mut().enumerate().for_each(|(i, y)| *y = (c * 8192 + i) * (c * 8192 + i));
//! });
//! assert_eq!(squares[70_000], 4_900_000_000);
//! ```

mod claims;
mod sync;

use crate::environment::chosen;
use crate::interrupt::{self, Interrupted, Pulse};
use crate::memory::{Fallible, is_free};
use crate::tuning::{SHARE_MIN_NS, SPIN_US, WAKE_MIN_NS, WAKE_SMALL_JOBS_NS};
use claims::{Claims, Parker};
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that must be free to start a worker: twice its stack, and some more.
const THREAD_RESERVE_BYTES: usize = 8 << 20;

thread_local! {
    /// Number of threads for jobs of this thread; 0 is [`default_threads`].
    static THREADS: Cell<usize> = const { Cell::new(0) };
}

/// Number of threads for jobs that this thread starts.
pub fn threads() -> usize {
    match THREADS.get() {
        0 => default_threads(),
        n => n,
    }
}

/// Value of `COTANGENT_THREADS`, or else the number of cores available to this process. Read once.
pub fn default_threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    *DEFAULT.get_or_init(|| {
        let number = |text: &str| text.parse().ok().filter(|&n| n > 0);
        let asked = chosen(
            "COTANGENT_THREADS",
            "the number of threads, 1 or more",
            number,
        );
        asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
    })
}

/// Runs `f` with `n` threads for the jobs that it starts on this thread.
pub fn with_threads<R>(n: usize, f: impl FnOnce() -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREADS.set(self.0);
        }
    }
    let _restore = Restore(THREADS.replace(n.max(1)));
    f()
}

/// Calls `f(chunk)` for every `chunk < count`, on this thread and others, and returns when all have
/// returned. `nanos` is the estimated run time of the job on one thread, in ns. Jobs of a few
/// microseconds are not shared.
///
/// # Panics
/// If a chunk panicked: with its payload, after all other chunks have returned. If the run of this
/// thread should end, no chunk begins after that, and the payload is [`Interrupted`].
pub fn parallel(count: usize, nanos: u64, f: impl Fn(usize) + Sync) {
    run(count, nanos, &|chunks: Range<usize>| chunks.for_each(&f));
}

/// [`parallel`] for a function of ranges of chunks. It is one function for all jobs, so that the
/// code of a chunk exists once.
fn run(count: usize, nanos: u64, f: &Chunks<'_>) {
    // The variable for the number of threads is read by the first job, however small.
    let threads = threads().min(count);
    if nanos < SHARE_MIN_NS {
        return f(0..count);
    }
    if threads > 1 && pool().share(threads, count, nanos, f) {
        return;
    }
    let mut pulse = pulse(count, nanos);
    for chunk in 0..count {
        f(chunk..chunk + 1);
        pulse.check();
    }
}

/// The count of the chunks of a job on one thread.
fn pulse(count: usize, nanos: u64) -> Pulse {
    Pulse::new(
        (nanos / count.max(1) as u64)
            .try_into()
            .unwrap_or(usize::MAX),
    )
}

/// Runs [`parallel`] with one part of a slice per chunk: `size` elements, fewer in the last.
pub fn chunks<T: Send>(dst: &mut [T], size: usize, nanos: u64, f: impl Fn(usize, &mut [T]) + Sync) {
    let (first, len) = (Shared(dst.as_mut_ptr()), dst.len());
    parallel(len.div_ceil(size.max(1)), nanos, |c| {
        let start = c * size;
        // SAFETY: parts of different chunks do not overlap, and each chunk runs once, while `dst`
        // is borrowed.
        let part = unsafe {
            std::slice::from_raw_parts_mut(first.get().add(start), size.min(len - start))
        };
        f(c, part);
    });
}

/// Runs [`parallel`] for chunks that need workspaces. Returns an error of a chunk, if there is one;
/// no chunk begins after it.
pub fn attempt(count: usize, nanos: u64, f: impl Fn(usize) -> Fallible + Sync) -> Fallible {
    run_fallible(count, nanos, &|mut chunks: Range<usize>| {
        chunks.try_for_each(&f)
    })
}

/// [`attempt`] for a function of ranges of chunks, as [`run`].
fn run_fallible(
    count: usize,
    nanos: u64,
    f: &(dyn Fn(Range<usize>) -> Fallible + Sync),
) -> Fallible {
    let threads = threads().min(count);
    if nanos < SHARE_MIN_NS {
        return f(0..count);
    }
    if threads <= 1 {
        let mut pulse = pulse(count, nanos);
        return (0..count).try_for_each(|chunk| {
            f(chunk..chunk + 1)?;
            pulse.check();
            Ok(())
        });
    }
    // Written at most once per job, so chunks that succeed take no lock.
    let (failed, first) = (AtomicBool::new(false), Mutex::new(Ok(())));
    parallel(count, nanos, |c| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(e) = f(c..c + 1)
            && !failed.swap(true, Ordering::Relaxed)
            && let Ok(mut first) = first.lock()
        {
            *first = Err(e);
        }
    });
    first.into_inner().unwrap_or(Ok(()))
}

/// Runs [`chunks`] for chunks that need workspaces.
pub fn try_chunks<T: Send>(
    dst: &mut [T],
    size: usize,
    nanos: u64,
    f: impl Fn(usize, &mut [T]) -> Fallible + Sync,
) -> Fallible {
    let (first, len) = (Shared(dst.as_mut_ptr()), dst.len());
    attempt(len.div_ceil(size.max(1)), nanos, |c| {
        let start = c * size;
        // SAFETY: parts of different chunks do not overlap, and each chunk runs once, while `dst`
        // is borrowed.
        let part = unsafe {
            std::slice::from_raw_parts_mut(first.get().add(start), size.min(len - start))
        };
        f(c, part)
    })
}

/// Pointer that chunks share. The user must guarantee that their accesses do not conflict.
pub struct Shared<T>(pub *mut T);

impl<T> Shared<T> {
    /// The pointer.
    pub fn get(&self) -> *mut T {
        self.0
    }
}

// SAFETY: this type only carries an address; unsafe code that dereferences it guarantees that
// accesses are disjoint.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: this type only carries an address; unsafe code that dereferences it guarantees that
// accesses are disjoint.
unsafe impl<T> Sync for Shared<T> {}

/// Value on its own cache line, which avoids false sharing.
#[repr(align(128))]
struct CachePadded<T>(T);

/// Function that runs the chunks of a range.
type Chunks<'a> = dyn Fn(Range<usize>) + Sync + 'a;

/// Function that runs a group of chunks of a job.
type Job<'a> = dyn Fn(u32) + Sync + 'a;

struct Pool {
    claims: CachePadded<Claims>,
    /// Valid from an offer until its last chunk is finished.
    job: UnsafeCell<*const Job<'static>>,
    /// Payload of the first panic of a chunk.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Whether the remaining chunks of the job are claimed without running.
    stopped: AtomicBool,
    /// The lock that a thread holds to offer a job.
    workers: Mutex<Workers>,
}

#[derive(Default)]
struct Workers {
    all: Vec<Worker>,
    /// Run time, in ns, of small jobs that ran on their callers since the last shared one.
    small_jobs_ns: u64,
}

// SAFETY: `job` is written by the thread that holds `workers`, before an offer, when every chunk of
// the last offer is finished. It is read only between claiming and finishing a chunk. The atomic
// word of the claims orders the two.
unsafe impl Sync for Pool {}
// SAFETY: the pointer in `job` is accessed as described for `Sync`, on any thread.
unsafe impl Send for Pool {}

struct Worker {
    thread: thread::Thread,
    parker: &'static CachePadded<Parker>,
}

/// The pool of this process; null before the first job, and after [`forget`].
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

fn pool() -> &'static Pool {
    // SAFETY: a pool that `POOL` pointed to is never freed.
    if let Some(pool) = unsafe { POOL.load(Ordering::Acquire).as_ref() } {
        return pool;
    }
    fn nothing(_: u32) {}
    let new = Box::into_raw(Box::new(Pool {
        claims: CachePadded(Claims::new()),
        job: UnsafeCell::new(&(nothing as fn(u32)) as &Job<'static>),
        panic: Mutex::default(),
        stopped: AtomicBool::new(false),
        workers: Mutex::default(),
    }));
    forget_after_fork();
    let (null, release) = (std::ptr::null_mut(), Ordering::AcqRel);
    match POOL.compare_exchange(null, new, release, Ordering::Acquire) {
        // SAFETY: a pool that `POOL` pointed to is never freed.
        Ok(_) => unsafe { &*new },
        Err(first) => {
            // SAFETY: `new` came from a box and is not shared. `first` was in `POOL`, so it is
            // never freed.
            unsafe {
                drop(Box::from_raw(new));
                &*first
            }
        }
    }
}

/// Forgets the pool of threads: the next job makes another one. For a child process after a fork,
/// where the threads of the pool do not exist, and its lock may be held forever by one of them. A
/// job that runs is finished by the old pool, whose memory is not freed.
///
/// On Linux the child of a fork does this by itself.
pub fn forget() {
    POOL.store(std::ptr::null_mut(), Ordering::Release);
}

/// Lets every child process forget the pool.
#[cfg(target_os = "linux")]
fn forget_after_fork() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn in_child() {
        forget();
    }
    // SAFETY: the handler only stores a pointer, which is safe in a child of any process. If the
    // system refuses, the child runs its jobs alone.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child as unsafe extern "C" fn()));
    });
}

#[cfg(not(target_os = "linux"))]
fn forget_after_fork() {}

impl Pool {
    /// Runs a job with the workers. Returns `false`, without running it, if they are busy or the
    /// job is too small to wake them.
    fn share(&'static self, threads: usize, count: usize, nanos: u64, f: &Chunks<'_>) -> bool {
        let Ok(mut workers) = self.workers.try_lock() else {
            return false;
        };
        let Workers { all, small_jobs_ns } = &mut *workers;
        while all.len() < threads - 1 {
            match self.spawn_worker(all.len()) {
                Some(worker) => all.push(worker),
                None => break,
            }
        }
        let helpers = &all[..all.len().min(threads - 1)];
        if helpers.is_empty() {
            return false;
        }
        if nanos < WAKE_MIN_NS && helpers.iter().all(|w| w.parker.0.is_asleep()) {
            *small_jobs_ns += nanos;
            if *small_jobs_ns < WAKE_SMALL_JOBS_NS {
                return false;
            }
        }
        *small_jobs_ns = 0;
        let group = count.div_ceil(Claims::MAX_CHUNKS as usize);
        let groups = count.div_ceil(group) as u32;
        let job = |k: u32| f(k as usize * group..count.min((k as usize + 1) * group));
        let job: &Job<'_> = &job;
        // SAFETY: only a thread with a claimed chunk reads `job`, and this call returns when all
        // chunks are finished. No other thread writes it, because this thread holds `workers`. No
        // thread reads it now, because every chunk of the last job is finished.
        unsafe {
            *self.job.get() = std::mem::transmute::<*const Job<'_>, *const Job<'static>>(job)
        };
        self.stopped.store(false, Ordering::Relaxed);
        self.claims.0.offer(groups);
        helpers.iter().for_each(|w| w.parker.0.wake(&w.thread));
        self.work(pulse(groups as usize, nanos));
        let mut rounds = 0u32;
        while !self.claims.0.finished(groups) {
            rounds += 1;
            // The thread with the last chunk may need this core.
            if rounds < 1000 {
                std::hint::spin_loop()
            } else {
                thread::yield_now()
            }
        }
        let panic = self.panic.lock().ok().and_then(|mut p| p.take());
        let stopped = self.stopped.load(Ordering::Relaxed);
        drop(workers);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        if stopped {
            interrupt::stop();
        }
        true
    }

    /// Runs chunks until none is left to claim. The thread of a run asks the run's hook between
    /// them. The flag needs no order of its own: claims and finished chunks order it.
    fn work(&self, mut pulse: Pulse) {
        while let Some(chunk) = self.claims.0.claim() {
            if self.stopped.load(Ordering::Relaxed) {
                self.claims.0.finish();
                continue;
            }
            // SAFETY: this thread claimed a chunk and has not finished it, so the owner of the job
            // waits and `job` is valid.
            let job = unsafe { &**self.job.get() };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(chunk))) {
                if panic.is::<Interrupted>() {
                    self.stopped.store(true, Ordering::Relaxed);
                } else if let Ok(mut first) = self.panic.lock() {
                    first.get_or_insert(panic);
                }
            }
            if pulse.stops_kernel() {
                self.stopped.store(true, Ordering::Relaxed);
            }
            self.claims.0.finish();
        }
    }

    /// Starts a worker, if the system has a thread for it.
    fn spawn_worker(&'static self, index: usize) -> Option<Worker> {
        // The stack and the thread-local data of the C library are allocated without a way to
        // report failure.
        is_free(THREAD_RESERVE_BYTES).then_some(())?;
        let parker: &'static CachePadded<Parker> = Box::leak(Box::new(CachePadded(Parker::new())));
        let core = core_of(index);
        let run = move || {
            if let Some(core) = core {
                pin_to_core(core);
            }
            loop {
                // A worker has no hook.
                self.work(Pulse::new(1));
                let since = Instant::now();
                while !self.claims.0.open() {
                    if since.elapsed() > Duration::from_micros(SPIN_US) {
                        parker.0.sleep(|| self.claims.0.open());
                        break;
                    }
                    (0..4).for_each(|_| std::hint::spin_loop());
                }
            }
        };
        let handle = thread::Builder::new()
            .name(format!("cotangent {}", index + 1))
            .spawn(run)
            .ok()?;
        Some(Worker {
            thread: handle.thread().clone(),
            parker,
        })
    }
}

/// Core of a worker: none gets the core of the first job's thread, if there are enough.
#[cfg(target_os = "linux")]
fn core_of(worker: usize) -> Option<usize> {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    let cores = CORES.get_or_init(|| {
        // SAFETY: a CPU set is plain data, and the core numbers are below its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
                return Vec::new();
            }
            let here = libc::sched_getcpu();
            let others = |c: &usize| *c as i32 != here && libc::CPU_ISSET(*c, &set);
            (0..libc::CPU_SETSIZE as usize).filter(others).collect()
        }
    });
    cores.get(worker).copied()
}

/// Pins this thread to a core.
#[cfg(target_os = "linux")]
fn pin_to_core(core: usize) {
    // SAFETY: a CPU set is plain data, and `core` is below its size. If the system refuses, the
    // thread stays unpinned.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

#[cfg(not(target_os = "linux"))]
fn core_of(_: usize) -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
fn pin_to_core(_: usize) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    const SHARED_NS: u64 = u64::MAX;

    #[test]
    fn every_chunk_runs_once() {
        for threads in [1, 2, 8] {
            with_threads(threads, || {
                for count in [0, 1, 2, 3, 100, 200_000] {
                    let mut ran = vec![0u8; count];
                    chunks(&mut ran, 1, SHARED_NS, |_, part| part[0] += 1);
                    assert!(
                        ran.iter().all(|&n| n == 1),
                        "{threads} threads, {count} chunks"
                    );
                }
            });
        }
    }

    #[test]
    fn jobs_inside_and_beside_jobs_run() {
        let total = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    with_threads(3, || {
                        for _ in 0..50 {
                            parallel(10, SHARED_NS, |_| {
                                parallel(10, SHARED_NS, |k| {
                                    total.fetch_add(k, Ordering::Relaxed);
                                });
                            });
                        }
                    });
                });
            }
        });
        assert_eq!(total.into_inner(), 4 * 50 * 10 * 45);
    }

    #[test]
    fn a_panic_comes_back() {
        for bad in [0, 7, 99] {
            let run = || {
                with_threads(2, || {
                    parallel(100, SHARED_NS, |k| assert!(k != bad, "chunk {bad}"))
                })
            };
            let message = catch_unwind(run).unwrap_err();
            assert!(
                message
                    .downcast_ref::<String>()
                    .unwrap()
                    .contains(&format!("chunk {bad}"))
            );
        }
        // The pool works as before.
        every_chunk_runs_once();
    }
}
