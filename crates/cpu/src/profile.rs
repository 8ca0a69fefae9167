//! Profile of a run: for each step its equations, arithmetic, memory traffic and time.
//!
//! A step is one kernel call: an equation, or a fused group of equations. Arithmetic is counted by
//! the operations' `cost`. Bytes are those of the operands that a step reads and the results that
//! it writes, so intermediate values of a group do not count. Equations in a loop body belong to
//! the loop's step.

use crate::executor::Executor;
use crate::fuse::{Node, plan};
use crate::kernel::Operands;
use crate::program::Program;
use crate::tensor::Tensor;
use cotangent_core::{Cost, DType, Env, Function, Result, Type, Val};
use cotangent_kernels::gemm::gemm;
use cotangent_kernels::view::View;
use rustc_hash::FxHashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A step: equations that run as one kernel.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Indices into [`Function::eqns`], ascending.
    pub equations: Vec<usize>,
    /// Values that the step reads and other steps compute.
    pub reads: Vec<Val>,
    /// Values that the step computes and other steps or the caller read.
    pub writes: Vec<Val>,
}

/// Measurements of a step.
#[derive(Clone, Debug)]
pub struct StepProfile {
    /// Equations and values of the step.
    pub step: StepInfo,
    /// Median time over the runs.
    pub time: Duration,
    /// Start time in the last run, relative to the start of that run.
    pub start: Duration,
    /// Arithmetic operations, and bytes read and written, per run.
    pub cost: Cost,
    /// Whether a result has element type f64 or c128.
    pub double: bool,
}

/// Measurements of several runs of a program.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Steps in execution order.
    pub steps: Vec<StepProfile>,
    /// Median time of a run, with the overhead of measurement.
    pub total: Duration,
}

impl Profile {
    /// Total arithmetic and memory traffic of all steps.
    pub fn cost(&self) -> Cost {
        self.steps.iter().fold(Cost::default(), |mut sum, s| {
            sum += s.cost;
            sum
        })
    }
}

/// The steps into which [`compile`](crate::compile) divides a function.
pub fn steps(f: &Function) -> Vec<StepInfo> {
    let need = f.needed(None);
    let mut producer = vec![None; f.len()];
    for (i, e) in f.eqns().iter().enumerate() {
        e.results().for_each(|r| producer[r.index()] = Some(i));
    }
    let members = |node: &Node| match node {
        Node::Single(e) => vec![*e],
        Node::Group(g) => {
            let folds = g.results().filter_map(|r| producer[r.index()]);
            let mut all: Vec<usize> = g.equations().chain(folds).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
    };
    let steps: Vec<Vec<usize>> = plan(f, |e| e.results().any(|r| need[r.index()]), true)
        .iter()
        .map(members)
        .collect();
    let mut step_of = vec![None; f.len()];
    for (k, members) in steps.iter().enumerate() {
        members
            .iter()
            .flat_map(|&e| f.eqns()[e].results())
            .for_each(|r| step_of[r.index()] = Some(k));
    }
    let mut read_elsewhere: FxHashSet<Val> = f.results().iter().copied().collect();
    let mut out: Vec<StepInfo> = Vec::with_capacity(steps.len());
    for (k, equations) in steps.into_iter().enumerate() {
        let mut reads: Vec<Val> = Vec::new();
        let mut open: Vec<Val> = equations
            .iter()
            .rev()
            .flat_map(|&e| f.operands(&f.eqns()[e]))
            .copied()
            .collect();
        while let Some(v) = open.pop() {
            match (step_of[v.index()], producer[v.index()]) {
                // Broadcasts and constants that are not executed: the group reads their operands.
                (None, Some(e)) => open.extend(f.operands(&f.eqns()[e])),
                (step, _) if step != Some(k) && !reads.contains(&v) => reads.push(v),
                _ => {}
            }
        }
        read_elsewhere.extend(&reads);
        out.push(StepInfo {
            equations,
            reads,
            writes: Vec::new(),
        });
    }
    for step in &mut out {
        let made = step.equations.iter().flat_map(|&e| f.eqns()[e].results());
        step.writes = made.filter(|r| read_elsewhere.contains(r)).collect();
    }
    out
}

impl Program {
    /// Runs the program `runs` times (at least once) and measures each step.
    ///
    /// Returns the errors of [`Program::run`].
    pub fn profile(&self, inputs: &[Tensor], runs: usize) -> Result<Profile> {
        if self.tiny().is_some() {
            // A straight-line program has no steps, so it is compiled again with steps. It contains
            // no extension operations, so the default executor suffices.
            return Executor::new()
                .stepwise()
                .compile(self.function())?
                .profile(inputs, runs);
        }
        let f = self.function().clone();
        let infos = steps(&f);
        let runs = runs.max(1);
        let mut times = vec![Vec::new(); infos.len()];
        let mut starts = vec![Duration::ZERO; infos.len()];
        let mut costs = vec![Cost::default(); infos.len()];
        let mut totals = Vec::new();
        for _ in 0..runs {
            let begin = Instant::now();
            self.run_watched(
                inputs.iter().cloned().collect(),
                |k, env, x: Operands, kernel| {
                    // A value that is passed twice counts once.
                    let again = |k: usize| {
                        x[..k]
                            .iter()
                            .any(|y| y.first_ptr() == x[k].first_ptr() && y.numel() == x[k].numel())
                    };
                    let mut bytes: f64 = (0..x.len())
                        .filter(|&k| !again(k))
                        .map(|k| bytes_of(&x[k]))
                        .sum();
                    let start = begin.elapsed();
                    let y = kernel(env, x)?;
                    times[k].push(begin.elapsed() - start);
                    starts[k] = start;
                    bytes += y.iter().map(bytes_of).sum::<f64>();
                    costs[k] = Cost {
                        flops: flops(&f, &infos[k], env),
                        bytes,
                    };
                    Ok(y)
                },
            )?;
            totals.push(begin.elapsed());
        }
        let median = |mut t: Vec<Duration>| {
            t.sort_unstable();
            t.get(t.len() / 2).copied().unwrap_or_default()
        };
        let double = |s: &StepInfo| {
            s.writes
                .iter()
                .any(|&v| matches!(f.ty(v).dtype, DType::F64 | DType::C128))
        };
        let steps = infos.into_iter().zip(times).zip(starts).zip(costs);
        let steps = steps.map(|(((step, times), start), cost)| StepProfile {
            double: double(&step),
            step,
            time: median(times),
            start,
            cost,
        });
        Ok(Profile {
            steps: steps.collect(),
            total: median(totals),
        })
    }
}

/// Bytes of the distinct elements of a tensor; broadcast elements count once.
fn bytes_of(t: &Tensor) -> f64 {
    let distinct = t
        .shape()
        .iter()
        .zip(t.strides())
        .filter(|(_, s)| **s != 0)
        .map(|(&n, _)| n as f64);
    distinct.product::<f64>() * t.dtype().size() as f64
}

/// Arithmetic operations of a step with the actual sizes. Extents that are not bound in `env` count
/// as 1.
fn flops(f: &Function, step: &StepInfo, env: &Env) -> f64 {
    let sized = |v: Val| {
        let ty = f.ty(v);
        ty.shape.eval(env).map_or_else(
            |_| ty.clone(),
            |shape| Type::new(ty.dtype, shape.as_slice()),
        )
    };
    let cost = |&e: &usize| {
        let e = &f.eqns()[e];
        let operands: Vec<Type> = f.operands(e).iter().map(|&v| sized(v)).collect();
        let results: Vec<Type> = e.results().map(sized).collect();
        e.op.cost(&operands, &results).flops
    };
    step.equations.iter().map(cost).sum()
}

/// Measured peak performance of this machine, to which a profile is compared.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Operations per second of a matrix product in f32.
    pub single: f64,
    /// Operations per second of a matrix product in f64.
    pub double: f64,
    /// Bandwidth of copies, as pairs of bytes moved and bytes per second (read and written). Small
    /// copies stay in the cache.
    pub copies: Vec<(usize, f64)>,
}

impl Machine {
    /// Measures the machine on the calling thread, in some tens of milliseconds.
    pub fn measure() -> Machine {
        let copies = [1 << 14, 1 << 18, 1 << 22, 1 << 26];
        Machine {
            single: product::<f32>(1.0),
            double: product::<f64>(1.0),
            copies: copies.iter().map(|&n| (n, copy(n))).collect(),
        }
    }

    /// Fractions of the machine's arithmetic and of its bandwidth, for a copy of the same size,
    /// that a step reaches.
    pub fn share(&self, step: &StepProfile) -> (f64, f64) {
        let seconds = step.time.as_secs_f64().max(1e-9);
        let peak = if step.double {
            self.double
        } else {
            self.single
        };
        let fits = self
            .copies
            .iter()
            .find(|(n, _)| step.cost.bytes <= *n as f64);
        let (_, speed) = fits
            .or(self.copies.last())
            .copied()
            .unwrap_or((0, f64::INFINITY));
        (
            step.cost.flops / seconds / peak,
            step.cost.bytes / seconds / speed,
        )
    }
}

/// Time of the fastest of 12 runs, in seconds.
fn fastest(mut f: impl FnMut()) -> f64 {
    let time = |_| {
        let t = Instant::now();
        f();
        t.elapsed().as_secs_f64()
    };
    (0..12).map(time).fold(f64::INFINITY, f64::min).max(1e-9)
}

fn product<T: cotangent_kernels::gemm::Gemm>(one: T) -> f64 {
    const N: usize = 256;
    let (a, mut c) = (vec![one; N * N], vec![one; N * N]);
    let seconds = fastest(|| {
        let _ = gemm(
            black_box(&mut c),
            View::dense(&a, &[N, N]),
            View::dense(&a, &[N, N]),
        );
    });
    2.0 * (N * N * N) as f64 / seconds
}

fn copy(bytes: usize) -> f64 {
    let (from, mut to) = (vec![1u8; bytes / 2], vec![0u8; bytes / 2]);
    let calls = ((1 << 20) / bytes).max(1);
    let seconds =
        fastest(|| (0..calls).for_each(|_| black_box(&mut to).copy_from_slice(black_box(&from))));
    (bytes * calls) as f64 / seconds
}
