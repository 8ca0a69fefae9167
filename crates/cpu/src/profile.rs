//! Profile of a run: for each step its equations, arithmetic, memory traffic and time.
//!
//! Steps are those of the plan that runs: the code of a group of equations, or a call of a kernel.
//! Views belong to no step: the steps that read them read their operands. Arithmetic is counted by
//! the operations' `cost`. Bytes are those that a step reads of values of other steps and writes
//! for them, so intermediate values of a group do not count. Equations in a loop body belong to the
//! loop's step.

use crate::compilation::plan_of;
pub use crate::plan::StepInfo;
use crate::plan::{RunObserver, StepTraffic};
use crate::program::Program;
use crate::tensor::Tensor;
use cotangent_core::{Cost, DType, Env, Function, Loc, Result, Type, Val};
use cotangent_kernels::gemm::gemm;
use cotangent_kernels::view::View;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measurements of a step.
#[derive(Clone, Debug)]
pub struct StepProfile {
    /// Equations and values of the step.
    pub step: StepInfo,
    /// Names of its operations, abridged.
    pub label: String,
    /// The first known source location of its equations.
    pub loc: Loc,
    /// Median time over the runs.
    pub time: Duration,
    /// Start time in the last run, relative to the start of that run.
    pub start: Duration,
    /// Arithmetic operations, and bytes read and written, per run.
    pub cost: Cost,
    /// Whether a result has element type f64 or c128.
    pub double: bool,
    /// How a loop runs: by machine code, or the reason for which not.
    pub how: Option<String>,
}

/// Measurements of several runs of a program. `Display` is the [table](Profile::table) without a
/// machine.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name of the function.
    pub function: Arc<str>,
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

    /// A row per step, slowest first: its operations, median time, share of the sum of times,
    /// arithmetic and memory traffic per second, and a source location. With a machine, the rates
    /// are also shown as fractions of what it reaches.
    pub fn table(&self, machine: Option<&Machine>) -> String {
        let sum: f64 = self.steps.iter().map(|s| s.time.as_secs_f64()).sum();
        let width = self.steps.iter().map(|s| s.label.chars().count()).max();
        let width = width.unwrap_or(0).max(4);
        let share = |part: f64| match machine {
            Some(_) => format!(" {:>7.0} %", part * 100.0),
            None => String::new(),
        };
        let of_peak = machine.map_or("", |_| "   of peak");
        let mut out = format!(
            "@{}: {} steps, {} us a run\n\n{:<width$} {:>9} {:>8} {:>9}{of_peak} {:>9}{of_peak}  place\n",
            self.function,
            self.steps.len(),
            micros(self.total),
            "step",
            "us",
            "share",
            "GFLOP/s",
            "GB/s"
        );
        let mut steps: Vec<&StepProfile> = self.steps.iter().collect();
        steps.sort_by_key(|s| std::cmp::Reverse(s.time));
        for s in &steps {
            let seconds = s.time.as_secs_f64().max(1e-9);
            let (arithmetic, bandwidth) = machine.map_or((0.0, 0.0), |m| m.share(s));
            let row = format!(
                "{:<width$} {:>9} {:>6.1} % {:>9.2}{} {:>9.2}{}  {}",
                s.label,
                micros(s.time),
                s.time.as_secs_f64() / sum.max(1e-12) * 100.0,
                s.cost.flops / seconds * 1e-9,
                share(arithmetic),
                s.cost.bytes / seconds * 1e-9,
                share(bandwidth),
                s.loc
            );
            out += row.trim_end();
            out.push('\n');
        }
        for s in steps.iter().filter(|s| s.how.is_some()) {
            let how = s.how.as_deref().unwrap_or_default();
            let row = format!("{}: {how}  {}", s.label, s.loc);
            out += row.trim_end();
            out.push('\n');
        }
        out
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table(None))
    }
}

/// A duration in microseconds.
fn micros(t: Duration) -> String {
    format!("{:.1}", t.as_secs_f64() * 1e6)
}

/// The steps into which [`compile`](crate::compile) divides a function, if its plan can be made.
pub fn steps(f: &Function) -> Vec<StepInfo> {
    plan_of(&Arc::new(f.clone())).map_or_else(|_| Vec::new(), |plan| plan.step_infos())
}

/// Measurements of the runs of a plan.
struct Measured<'f> {
    f: &'f Function,
    infos: &'f [StepInfo],
    begin: Instant,
    /// Start of the step that runs.
    start: Instant,
    times: Vec<Vec<Duration>>,
    starts: Vec<Duration>,
    costs: Vec<Cost>,
    hows: Vec<Option<String>>,
}

impl RunObserver for Measured<'_> {
    fn before(&mut self, _: usize) {
        self.start = Instant::now();
    }

    fn after(&mut self, step: usize, env: &Env, traffic: &mut dyn FnMut() -> StepTraffic) {
        self.times[step].push(self.start.elapsed());
        self.starts[step] = self.start - self.begin;
        if self.times[step].len() == 1 {
            let StepTraffic { bytes, how } = traffic();
            let flops = flops(self.f, &self.infos[step], env);
            (self.costs[step], self.hows[step]) = (Cost { flops, bytes }, how);
        }
    }
}

impl Program {
    /// Runs the program `runs` times (at least once) and measures each step.
    ///
    /// Returns the errors of [`Program::run`].
    pub fn profile(&self, inputs: &[Tensor], runs: usize) -> Result<Profile> {
        let plan = self.plan();
        let (f, infos) = (self.function().clone(), plan.step_infos());
        let now = Instant::now();
        let mut measured = Measured {
            f: &f,
            infos: &infos,
            begin: now,
            start: now,
            times: vec![Vec::new(); infos.len()],
            starts: vec![Duration::ZERO; infos.len()],
            costs: vec![Cost::default(); infos.len()],
            hows: vec![None; infos.len()],
        };
        let mut totals = Vec::new();
        for _ in 0..runs.max(1) {
            measured.begin = Instant::now();
            self.run_observed(inputs.iter().cloned().collect(), &mut measured)?;
            totals.push(measured.begin.elapsed());
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
        let Measured {
            times,
            starts,
            costs,
            hows,
            ..
        } = measured;
        let each = infos.iter().zip(times).zip(starts).zip(costs).zip(hows);
        let steps = each.map(|((((step, times), start), cost), how)| StepProfile {
            double: double(step),
            how,
            label: step.label(&f),
            loc: step.loc(&f),
            step: step.clone(),
            time: median(times),
            start,
            cost,
        });
        Ok(Profile {
            function: f.name.clone(),
            steps: steps.collect(),
            total: median(totals),
        })
    }
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
