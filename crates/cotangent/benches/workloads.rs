//! How long do whole programs and their derivatives take?
//!
//! The same programs are measured in other libraries. `benches/workloads.mlir` holds their
//! StableHLO text without derivatives, printed by JAX (`benches/peers/compare.py --write`). A
//! header per program gives its name, the derivative, its variables, and the kind of each input.
//! `cargo bench -p cotangent --bench workloads [part of a name]` prints medians. With `--serve` it
//! answers lines of `name, inputs, results, budget`, which is how `benches/peers/compare.py`
//! interleaves it with the others. Inputs are created outside the timed part; results are allocated
//! and dropped inside. `--once NAME CALLS [INPUTS]` runs one program `CALLS` times, for callgrind
//! and perf; `WORKLOADS` names another file of programs. `--limits` prints, for the step of each
//! program that takes the most time, its shares of the machine's arithmetic and bandwidth, measured
//! first.

use cotangent::ad::{AdContext, grad, hessian, hvp};
use cotangent::cpu::{Machine, View as Tensor};
use cotangent::rewrite::simplify;
use cotangent::{Array, C64, Code, DType, Error, Function, Program, Result, Type, Val, npz};
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program, its derivative, and its inputs.
struct Workload {
    name: String,
    derived: String,
    wrt: Vec<usize>,
    recipes: Vec<String>,
    text: String,
}

fn workloads() -> Vec<Workload> {
    let ours = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/workloads.mlir").to_owned();
    let path = std::env::var("WORKLOADS").unwrap_or_else(|_| ours());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let programs = text.split("// workload ").skip(1).map(|part| {
        let (head, text) = part.split_once('\n').expect("a program follows its name");
        let mut words = head.split(' ').map(str::to_owned);
        let (name, derived) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let wrt = words
            .next()
            .unwrap_or_default()
            .split(',')
            .filter_map(|i| i.parse().ok())
            .collect();
        Workload {
            name,
            derived,
            wrt,
            recipes: words.collect(),
            text: text.to_owned(),
        }
    });
    programs.collect()
}

/// A function that is timed.
type TimedFn<'a> = Box<dyn Fn() -> Result<Vec<Tensor>> + 'a>;

impl Workload {
    fn primal(&self) -> Result<Arc<Function>> {
        Ok(Program::from_stablehlo(&self.text)?.main().clone())
    }

    fn derive(&self, f: &Arc<Function>) -> Result<Function> {
        let (ad, wrt) = (
            AdContext::default(),
            self.wrt
                .iter()
                .map(|&i| f.params()[i])
                .collect::<Vec<Val>>(),
        );
        let derived = match self.derived.as_str() {
            "value" => (**f).clone(),
            "hvp" => hvp(&ad, f, &wrt)?,
            "hessian" => hessian(&ad, f, &wrt)?,
            _ => grad(&ad, f, &wrt)?,
        };
        Ok(simplify(&derived))
    }

    /// The function that is timed.
    fn ready(&self, inputs: &[Array]) -> Result<TimedFn<'_>> {
        let inputs: Vec<Tensor> = inputs.iter().map(Tensor::from).collect();
        if self.derived == "first_gradient" {
            return Ok(Box::new(move || {
                let f = Arc::new(self.derive(&self.primal()?)?);
                cotangent::compile(&f)?.run_tensors(inputs.iter().cloned())
            }));
        }
        let program = cotangent::compile(&Arc::new(self.derive(&self.primal()?)?))?;
        Ok(Box::new(move || {
            program.run_tensors(inputs.iter().cloned())
        }))
    }

    /// The step with the longest run time: its operations, and its shares of peak arithmetic and
    /// bandwidth.
    fn limits(&self, machine: &Machine) -> Result<String> {
        let f = Arc::new(self.derive(&self.primal()?)?);
        let inputs: Vec<Tensor> = self.inputs()?.iter().map(Tensor::from).collect();
        let profile = cotangent::compile(&f)?.profile(&inputs, 9)?;
        let Some(step) = profile.steps.iter().max_by_key(|s| s.time) else {
            return Ok(String::new());
        };
        let mut names: Vec<&str> = step
            .step
            .equations
            .iter()
            .map(|&e| f.eqns()[e].op.name())
            .collect();
        names.dedup();
        names.truncate(4);
        let (arithmetic, bandwidth) = machine.share(step);
        Ok(format!(
            "{:9.1} us of {:9.1}   arithmetic {:4.0} %   bandwidth {:4.0} %   {}",
            step.time.as_secs_f64() * 1e6,
            profile.total.as_secs_f64() * 1e6,
            arithmetic * 100.0,
            bandwidth * 100.0,
            names.join(" ")
        ))
    }

    /// Inputs of the kinds that the workload names.
    fn inputs(&self) -> Result<Vec<Array>> {
        let f = self.primal()?;
        let types: Vec<Type> = f.params().iter().map(|&p| f.ty(p).clone()).collect();
        let directions = self.wrt.iter().map(|&i| types[i].clone());
        let mut state = 1u64;
        types
            .iter()
            .cloned()
            .chain(directions)
            .zip(&self.recipes)
            .map(|(t, r)| input(&t, r, &mut state))
            .collect()
    }
}

/// An approximately normal number of mean 0 and variance 1: a shifted sum of twelve uniform
/// numbers.
fn normal(state: &mut u64) -> f64 {
    (0..12).map(|_| uniform(state)).sum::<f64>() - 6.0
}

/// The next number in [0, 1) of a linear congruential generator.
fn uniform(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

fn input(t: &Type, recipe: &str, state: &mut u64) -> Result<Array> {
    let shape = t.shape.as_const().unwrap_or_default();
    let n: usize = shape.iter().product();
    let (kind, number) = recipe.split_once(':').unwrap_or((recipe, ""));
    let number: f64 = number.parse().unwrap_or(1.0);
    let last = shape.last().copied().unwrap_or(1);
    let x: Vec<f64> = match kind {
        "value" => vec![number; n],
        "grid" => (0..n).map(|i| 4.0 * i as f64 / n as f64 - 2.0).collect(),
        "sorted" => (0..n)
            .map(|i| (i as f64 + uniform(state)) / n as f64)
            .collect(),
        "uniform" => (0..n).map(|_| uniform(state)).collect(),
        "above" => (0..n).map(|_| 0.5 + uniform(state) * number).collect(),
        "inside" => (0..n)
            .map(|_| (uniform(state) * 2.0 - 1.0) * 0.95)
            .collect(),
        "labels" => (0..n).map(|_| (uniform(state) * number).floor()).collect(),
        "bits" => (0..n)
            .map(|_| (uniform(state) * 4294967296.0).floor())
            .collect(),
        // A step that is coprime to the count visits each number once.
        "permutation" => (0..n)
            .map(|i| ((i * 7919) % number as usize) as f64)
            .collect(),
        "regular" => {
            let diagonal = |i: usize| {
                if (i / last) % last == i % last {
                    2.0
                } else {
                    0.0
                }
            };
            (0..n).map(|i| diagonal(i) + 0.3 * normal(state)).collect()
        }
        "positive" => positive(&shape, state),
        _ => (0..n).map(|_| normal(state) * number).collect(),
    };
    match t.dtype {
        DType::C64 => {
            let parts = x
                .into_iter()
                .map(|x| C64::new(x as f32, (normal(state) * number) as f32));
            Array::from_vec(shape, parts.collect())
        }
        DType::I8 => Array::from_vec(shape, x.into_iter().map(|x| x as i8).collect()),
        DType::I32 => Array::from_vec(shape, x.into_iter().map(|x| x as i32).collect()),
        DType::U32 => Array::from_vec(shape, x.into_iter().map(|x| x as u32).collect()),
        DType::F32 => Array::from_vec(shape, x.into_iter().map(|x| x as f32).collect()),
        DType::F64 => Array::from_vec(shape, x),
        other => Err(Error::new(
            Code::Input,
            format!("no recipe makes inputs of {other}"),
        )),
    }
}

/// Symmetric positive definite matrices: the identity and a product with its own transpose.
fn positive(shape: &[usize], state: &mut u64) -> Vec<f64> {
    let n = shape[shape.len() - 1];
    let count: usize = shape.iter().product::<usize>() / (n * n);
    let mut out = Vec::with_capacity(count * n * n);
    for _ in 0..count {
        let a: Vec<f64> = (0..n * n).map(|_| normal(state)).collect();
        for (i, row) in a.chunks(n).enumerate() {
            out.extend(a.chunks(n).enumerate().map(|(j, other)| {
                let dot: f64 = row.iter().zip(other).map(|(x, y)| x * y).sum();
                dot / n as f64 + f64::from(u8::from(i == j))
            }));
        }
    }
    out
}

/// CPU time of this process in seconds, all threads together.
fn cpu() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Wall and CPU times of one call, in seconds; a sample consists of calls that take 2 ms together.
fn samples(run: &dyn Fn() -> Result<Vec<Tensor>>, budget: Duration) -> Result<Vec<[f64; 2]>> {
    let (mut times, mut calls, start) = (Vec::new(), 1usize, Instant::now());
    while start.elapsed() < budget || times.len() < 3 {
        let (t, c) = (Instant::now(), cpu());
        for _ in 0..calls {
            black_box(run()?);
        }
        let (t, c) = (t.elapsed().as_secs_f64(), cpu() - c);
        if t < 0.002 && calls < 1_000_000 {
            calls = (calls + 1).max((calls as f64 * (0.0022 / t.max(1e-9)).min(10.0)) as usize);
            times.clear();
            continue;
        }
        times.push([t / calls as f64, c / calls as f64]);
    }
    Ok(times)
}

fn find<'w>(all: &'w [Workload], name: &str) -> Result<&'w Workload> {
    all.iter()
        .find(|w| w.name == name)
        .ok_or_else(|| Error::new(Code::Input, format!("no workload {name}")))
}

/// The arrays `x0`, `x1`, .. `x10` of a file, by number.
fn read(path: &str) -> Result<Vec<Array>> {
    let mut arrays = npz::read(path)?;
    arrays.sort_by_key(|(name, _)| name[1..].parse::<usize>().unwrap_or_default());
    Ok(arrays.into_iter().map(|(_, a)| a).collect())
}

/// Answers the requests of `compare.py` until its input ends.
fn serve(all: &[Workload]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "cotangent {}", env!("CARGO_PKG_VERSION"))?;
    out.flush()?;
    let mut ready: Option<(&str, TimedFn<'_>)> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split('\t');
        let mut word = || words.next().unwrap_or_default();
        let (name, inputs, results, budget) = (word(), word(), word(), word());
        let budget = Duration::from_secs_f64(budget.parse().unwrap_or(0.2));
        let mut answer = || -> Result<Vec<[f64; 2]>> {
            let w = find(all, name)?;
            let run = match ready.take() {
                Some((at, run)) if at == name => run,
                _ => {
                    let run = w.ready(&read(inputs)?)?;
                    let y = run()?.into_iter().enumerate();
                    let y: Result<Vec<_>> = y
                        .map(|(i, t)| Ok((format!("y{i}"), t.into_array()?)))
                        .collect();
                    npz::write(results, &y?)?;
                    run
                }
            };
            let times = samples(&*run, budget)?;
            ready = Some((&w.name, run));
            Ok(times)
        };
        match answer() {
            Ok(times) => {
                let times: Vec<String> = times
                    .iter()
                    .map(|[t, c]| format!("{t:.9}:{c:.9}"))
                    .collect();
                writeln!(out, "ok\t{}", times.join("\t"))?;
            }
            Err(e) => writeln!(out, "error\t{}", e.to_string().replace(['\n', '\t'], " "))?,
        }
        out.flush()?;
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let all = workloads();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|a| a == "--serve") {
        return Ok(serve(&all)?);
    }
    if let Some(at) = args.iter().position(|a| a == "--once") {
        let (name, calls) = (&args[at + 1], args[at + 2].parse::<usize>()?);
        let w = find(&all, name)?;
        let inputs = args
            .get(at + 3)
            .filter(|a| !a.starts_with("--"))
            .map_or_else(|| w.inputs(), |path| read(path))?;
        let run = w.ready(&inputs)?;
        for _ in 0..calls {
            black_box(run()?);
        }
        return Ok(());
    }
    let machine = args.iter().any(|a| a == "--limits").then(Machine::measure);
    let part = args
        .iter()
        .find(|a| !a.starts_with("--"))
        .map_or("", String::as_str);
    for w in all.iter().filter(|w| w.name.contains(part)) {
        if let Some(machine) = &machine {
            println!(
                "{:32} {}",
                w.name,
                w.limits(machine).unwrap_or_else(|e| e.to_string())
            );
            continue;
        }
        let timed = w
            .inputs()
            .and_then(|x| samples(&*w.ready(&x)?, Duration::from_millis(400)));
        match timed {
            Ok(mut times) => {
                times.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
                let [median, least] = [times[times.len() / 2], times[0]].map(|t| t[0] * 1e6);
                println!(
                    "{:32} median {median:12.2} us   least {least:12.2} us",
                    w.name
                );
            }
            Err(e) => println!("{:32} {e}", w.name),
        }
    }
    Ok(())
}
