//! [`Profile`]: run times of eager operations, by section and thread, and the environment variables
//! that print them.

use super::turns::lock;
use crate::report::report;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Environment variable that turns on profiling for runtimes created while it is set (to any value
/// except `0`). Their profiles are printed on standard error when the runtime, or the thread that
/// created it, ends.
pub const PROFILE_VARIABLE: &str = "COTANGENT_EAGER_PROFILE";

/// Environment variable with a number of calls. It turns on profiling as [`PROFILE_VARIABLE`] does.
/// A profile is printed and cleared each time that it has this number of calls.
pub const PROFILE_EVERY_VARIABLE: &str = "COTANGENT_EAGER_PROFILE_EVERY";

/// A section of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Section {
    /// The derivative rule.
    Rule,
    /// The kernel.
    Run,
    /// The node of the tape.
    Record,
    /// Waiting for the backend.
    Lock,
}

const SECTIONS: usize = 4;

/// Number of calls of an operation, and their run time.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// rt.set_profiling(true);
/// let x = rt.constant_from(cotangent::Tensor::scalar(1.0))?;
/// x.exp()?.exp()?;
/// let exp = &rt.profile()[0];
/// assert_eq!((&*exp.name, exp.calls), ("exp", 2));
/// assert!(exp.per_call() <= exp.total && exp.run <= exp.total);
/// // Everything ran on this thread.
/// assert_eq!(exp.threads.iter().map(|t| t.total).collect::<Vec<_>>(), [exp.total]);
/// rt.reset_profile();
/// assert!(rt.profile().is_empty());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpProfile {
    /// The operation's name.
    pub name: String,
    /// Number of calls.
    pub calls: u64,
    /// Total run time: the sum of all sections.
    pub total: Duration,
    /// Time in derivative rules, without the operations that they run.
    pub rule: Duration,
    /// Time in kernels.
    pub run: Duration,
    /// Time for the nodes of the tape.
    pub record: Duration,
    /// Time of waiting for the backend.
    pub lock: Duration,
    /// The total of each thread, in the order of their first operations.
    pub threads: Vec<ThreadProfile>,
}

/// The run time of an operation on one thread.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// rt.set_profiling(true);
/// let x = rt.constant_from(cotangent::Tensor::scalar(1.0))?;
/// std::thread::scope(|s| s.spawn(|| x.exp().map(drop)).join().unwrap())?;
/// x.exp()?;
/// assert_eq!(rt.profile()[0].threads.len(), 2);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadProfile {
    /// The thread's name, or its id.
    pub thread: String,
    /// The run time of the operation.
    pub total: Duration,
}

impl OpProfile {
    /// Mean run time of a call.
    pub fn per_call(&self) -> Duration {
        self.total / u32::try_from(self.calls.max(1)).unwrap_or(u32::MAX)
    }
}

#[derive(Default)]
struct OpTimes {
    calls: u64,
    sections: [Duration; SECTIONS],
}

#[derive(Default)]
struct Table {
    rows: FxHashMap<(String, ThreadId), OpTimes>,
    /// Threads, in the order of their first operations.
    threads: Vec<(ThreadId, String)>,
    calls: u64,
}

impl Table {
    fn add(&mut self, name: &str, section: Section, took: Duration) {
        let thread = std::thread::current();
        let id = thread.id();
        if !self.threads.iter().any(|t| t.0 == id) {
            let name = thread
                .name()
                .map_or_else(|| format!("{id:?}"), str::to_owned);
            self.threads.push((id, name));
        }
        let times = self.rows.entry((name.to_owned(), id)).or_default();
        times.sections[section as usize] += took;
        if matches!(section, Section::Run) {
            times.calls += 1;
            self.calls += 1;
        }
    }

    /// The operations, sorted by total time, descending.
    fn operations(&self) -> Vec<OpProfile> {
        let mut all: FxHashMap<&str, OpProfile> = FxHashMap::default();
        for (id, thread) in &self.threads {
            for ((name, _), times) in self.rows.iter().filter(|((_, t), _)| t == id) {
                let op = all.entry(name).or_default();
                let [rule, run, record, lock] = times.sections;
                let total = rule + run + record + lock;
                op.name.clone_from(name);
                op.calls += times.calls;
                op.total += total;
                op.rule += rule;
                op.run += run;
                op.record += record;
                op.lock += lock;
                op.threads.push(ThreadProfile {
                    thread: thread.clone(),
                    total,
                });
            }
        }
        let mut all: Vec<OpProfile> = all.into_values().collect();
        all.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
        all
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |d: Duration| format!("{:.1}", d.as_secs_f64() * 1e6);
        let mut head: Vec<String> = ["operation", "calls", "total us", "per call"]
            .map(Into::into)
            .to_vec();
        head.extend(["rule", "run", "record", "lock"].map(Into::into));
        head.extend(self.threads.iter().map(|t| t.1.clone()));
        let mut lines = vec![head];
        for op in self.operations() {
            let mut line = vec![op.name.clone(), op.calls.to_string()];
            line.extend([op.total, op.per_call(), op.rule, op.run, op.record, op.lock].map(us));
            for (_, thread) in &self.threads {
                let of = op.threads.iter().find(|t| t.thread == *thread);
                line.push(of.map_or_else(String::new, |t| us(t.total)));
            }
            lines.push(line);
        }
        let width = |k: usize| {
            lines
                .iter()
                .map(|l| l[k].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
        for line in &lines {
            let mut text = format!("{:<w$}", line[0], w = widths[0]);
            for (cell, w) in line.iter().zip(&widths).skip(1) {
                write!(text, "  {cell:>w$}")?;
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// The profile of a runtime.
pub(super) struct Profile {
    table: Mutex<Table>,
    /// Whether the rest is printed at the end.
    prints: bool,
    /// Number of calls after which it is printed and cleared.
    every: Option<u64>,
}

thread_local! {
    /// Time of the sections inside the current one.
    static INNER: Cell<Duration> = const { Cell::new(Duration::ZERO) };

    /// Profiles of runtimes that this thread created, printed when it ends.
    static CREATED: RefCell<Created> = const { RefCell::new(Created(Vec::new())) };
}

struct Created(Vec<Weak<Profile>>);

impl Drop for Created {
    fn drop(&mut self) {
        self.0
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|p| p.print());
    }
}

/// The value of [`PROFILE_EVERY_VARIABLE`], read once. One that is no number of calls is reported
/// and ignored.
fn every() -> Option<u64> {
    static EVERY: OnceLock<Option<u64>> = OnceLock::new();
    *EVERY.get_or_init(|| {
        let text = std::env::var_os(PROFILE_EVERY_VARIABLE)?;
        let count = text.to_str().and_then(|v| v.parse().ok());
        let count = count.filter(|&n: &u64| n > 0);
        if count.is_none() {
            let text = text.to_string_lossy();
            report(&format!(
                "cotangent: {PROFILE_EVERY_VARIABLE}={} is ignored: it may be a number of calls, 1 or more\n",
                text.escape_debug()
            ));
        }
        count
    })
}

impl Profile {
    /// The profile of a new runtime, and whether the environment turns it on.
    pub(super) fn of_environment() -> (Arc<Profile>, bool) {
        let every = every();
        let on = every.is_some() || std::env::var_os(PROFILE_VARIABLE).is_some_and(|v| v != "0");
        let profile = Arc::new(Profile {
            table: Mutex::default(),
            prints: on,
            every,
        });
        if on {
            CREATED.with_borrow_mut(|all| all.0.push(Arc::downgrade(&profile)));
        }
        (profile, on)
    }

    /// Runs `f`, a section of an operation, and adds its time without that of the sections inside
    /// it.
    pub(super) fn timed<R>(&self, name: &str, section: Section, f: impl FnOnce() -> R) -> R {
        let outer = INNER.replace(Duration::ZERO);
        let start = Instant::now();
        let y = f();
        let took = start.elapsed();
        let own = took.saturating_sub(INNER.get());
        INNER.set(outer + took);
        let full = {
            let mut table = lock(&self.table);
            table.add(name, section, own);
            self.every.is_some_and(|n| table.calls >= n)
        };
        if full {
            self.print();
        }
        y
    }

    pub(super) fn operations(&self) -> Vec<OpProfile> {
        lock(&self.table).operations()
    }

    pub(super) fn reset(&self) {
        *lock(&self.table) = Table::default();
    }

    /// Prints the profile on standard error, if it has any operation, and clears it.
    fn print(&self) {
        let table = std::mem::take(&mut *lock(&self.table));
        if table.calls > 0 {
            report(&format!(
                "profile of {} eager operations\n{table}",
                table.calls
            ));
        }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        if self.prints {
            self.print();
        }
    }
}
