//! State machine of the thread pool under every interleaving that loom explores: `cargo test
//! --release --manifest-path crates/kernels/loom/Cargo.toml`.
//!
//! The source file of the pool ([`claims`]) is compiled with loom's atomics. A job is a number in a
//! cell that loom tracks. A worker that reads it while its owner may write it is reported.

#![cfg(test)]

#[path = "../../src/parallel/claims.rs"]
mod claims;

mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    pub(super) use loom::thread::{Thread, park};
}

use claims::{Claims, Parker};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sync::{AtomicBool, AtomicU32, Ordering};

struct Pool {
    claims: Claims,
    parkers: Vec<Parker>,
    job: UnsafeCell<usize>,
    /// Number of runs of each chunk of each job.
    ran: Vec<Vec<AtomicU32>>,
    over: AtomicBool,
}

impl Pool {
    fn work(&self) {
        while let Some(chunk) = self.claims.claim() {
            // SAFETY: this thread has claimed a chunk and not finished it, so the owner does not
            // write the cell.
            let job = self.job.with(|job| unsafe { *job });
            self.ran[job][chunk as usize].fetch_add(1, Ordering::Relaxed);
            self.claims.finish();
        }
    }
}

fn every_chunk_runs_once(workers: usize, jobs: usize, chunks: u32, preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let pool = Arc::new(Pool {
            claims: Claims::new(),
            parkers: (0..workers).map(|_| Parker::new()).collect(),
            job: UnsafeCell::new(0),
            ran: (0..jobs)
                .map(|_| (0..chunks).map(|_| AtomicU32::new(0)).collect())
                .collect(),
            over: AtomicBool::new(false),
        });
        let hire = |w: usize| {
            let pool = pool.clone();
            thread::spawn(move || {
                while !pool.over.load(Ordering::Acquire) {
                    pool.work();
                    pool.parkers[w]
                        .sleep(|| pool.claims.open() || pool.over.load(Ordering::Acquire));
                }
            })
        };
        let threads: Vec<_> = (0..workers).map(hire).collect();
        let wake = || {
            pool.parkers
                .iter()
                .zip(&threads)
                .for_each(|(parker, t)| parker.wake(t.thread()))
        };
        for job in 0..jobs {
            // SAFETY: every chunk of the last job is finished, so no worker reads the cell.
            pool.job.with_mut(|j| unsafe { *j = job });
            pool.claims.offer(chunks);
            wake();
            pool.work();
            while !pool.claims.finished(chunks) {
                thread::yield_now();
            }
            assert!(pool.ran[job].iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
        pool.over.store(true, Ordering::Release);
        wake();
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
}

#[test]
fn one_worker_two_jobs() {
    every_chunk_runs_once(1, 2, 2, 3);
}

#[test]
fn two_workers_one_job() {
    every_chunk_runs_once(2, 1, 2, 2);
}
