//! The pool of threads after a fork, in a process of its own.
#![cfg(target_os = "linux")]

use cotangent_kernels::parallel::{parallel, with_threads};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Whether another thread takes part in jobs of this one, within ten seconds.
fn has_workers() -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) {
        let ran = Mutex::new(HashSet::new());
        with_threads(3, || {
            parallel(16, u64::MAX, |_| {
                thread::sleep(Duration::from_millis(1));
                ran.lock().unwrap().insert(thread::current().id());
            })
        });
        if ran.into_inner().unwrap().len() > 1 {
            return true;
        }
    }
    false
}

/// Forks. The exit code of the child is 0 if `f` returns true there.
fn child_holds(f: fn() -> bool) -> bool {
    // SAFETY: the child runs `f`, which takes no lock that another thread of the parent may hold,
    // and exits without unwinding into the test harness.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "fork");
        if child == 0 {
            libc::_exit(i32::from(!f()));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

#[test]
fn a_child_process_has_a_pool_of_its_own() {
    assert!(has_workers(), "the parent has workers");
    assert!(child_holds(has_workers), "the child has workers");
    // While another thread of the parent runs a job, the child finds the pool's lock held.
    static RUNS: AtomicBool = AtomicBool::new(false);
    static STOP: AtomicBool = AtomicBool::new(false);
    let job = || {
        with_threads(3, || {
            parallel(2, u64::MAX, |_| {
                RUNS.store(true, Ordering::Relaxed);
                while !STOP.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
            })
        })
    };
    thread::scope(|s| {
        s.spawn(job);
        while !RUNS.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let held = child_holds(has_workers);
        STOP.store(true, Ordering::Relaxed);
        assert!(held, "the child of a busy parent has workers");
    });
    assert!(has_workers(), "the parent's pool works as before");
}
