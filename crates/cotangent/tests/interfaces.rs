//! One program has the same value and derivatives through every interface, under every policy of
//! zeros. Interfaces: a graph, text with directives, StableHLO that is read back, traced tensors,
//! closures, eager tensors, and column-major inputs.
//!
//! The programs are random graphs and all samples of all operations, nonsmooth ones included, so
//! masked infinities, ties, NaN and zeros of both signs are among the inputs. A longer run:
//! `SEEDS=3000 cargo test --release -p cotangent --test interfaces`.

use cotangent::ad::{self, AdContext, Numerics};
use cotangent::check::{Rng, agree, function_of, random};
use cotangent::closures;
use cotangent::ops::entries;
use cotangent::primitive::Sample;
use cotangent::tensor::Order;
use cotangent::text::print_function;
use cotangent::transform::Session;
use cotangent::{
    Array, Builder, CpuBackend, DType, EagerRuntime, EagerTensor, Emit, Env, Error, Function,
    Program, Tensor, TensorOps, TracedTensor, Type, Val, Wide, reference,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A program with inputs, the loss that is differentiated in reverse, and the policy of its
/// derivatives.
#[derive(Clone)]
struct Case {
    /// The program, each parameter with a name.
    f: Arc<Function>,
    /// A real scalar: the sum of all results that have derivatives, weighted so that no two weights
    /// are equal.
    loss: Arc<Function>,
    /// Both functions with the extents of the arguments, because tensors have no symbols.
    fixed: [Arc<Function>; 2],
    args: Vec<Array>,
    /// The position of the parameter of the derivatives.
    wrt: usize,
    /// A tangent of that parameter.
    direction: Array,
    numerics: Numerics,
    context: AdContext,
}

/// The value, the gradient of the loss, the tangents, and the product of the Hessian of the loss
/// with the direction.
type Answers = BTreeMap<&'static str, Vec<Array>>;

type Outcome = Result<Answers, String>;

fn words(e: impl std::fmt::Display) -> String {
    e.to_string()
}

/// Copies a function under this name, with named parameters; `end` computes its results.
fn rebuilt(
    f: &Function,
    name: &str,
    end: impl Fn(&dyn Emit, Vec<Val>) -> Vec<Val>,
) -> Option<Arc<Function>> {
    let b = Builder::new(name, Session::default());
    let x: Vec<Val> = f
        .param_types()
        .into_iter()
        .enumerate()
        .map(|(i, t)| b.param(t, Some(&format!("x{i}"))))
        .collect();
    let y = end(&b, (&b as &dyn Emit).inline(f, &x));
    b.finish(&y).ok().map(Arc::new)
}

fn weighted_sum(cx: &dyn Emit, results: Vec<Val>) -> Vec<Val> {
    let mut total = cx.full(&Type::scalar(DType::F64), 0.0);
    for y in results {
        let ty = cx.ty(y);
        if ty.dtype.has_tangent() {
            let real = if ty.dtype.is_complex() { cx.real(y) } else { y };
            let mut y = cx.convert(real, DType::F64);
            for axis in 0..ty.rank() {
                let weight = cx.iota(&cx.ty(y), axis);
                y = cx.mul(cx.add(weight, cx.full_like(weight, 0.5)), y);
            }
            let axes: Vec<usize> = (0..ty.rank()).collect();
            total = cx.add(total, cx.reduce_sum(y, &axes));
        }
    }
    vec![total]
}

impl Case {
    /// `None` if no result has a derivative.
    fn new(f: &Function, args: &[Array], numerics: Numerics) -> Option<Case> {
        let wrt = args.iter().position(|a| a.dtype().has_tangent())?;
        if !f.results().iter().any(|&r| f.ty(r).dtype.has_tangent()) {
            return None;
        }
        let shape: Vec<_> = args[wrt].shape().iter().map(|&n| n.into()).collect();
        let direction = Rng::new(7)
            .array(&Type::new(args[wrt].dtype(), shape), &Env::default())
            .ok()?;
        let mut env = Env::default();
        reference::bind(f, &args.iter().map(Array::ty).collect::<Vec<_>>(), &mut env).ok()?;
        let fixed = f.subst(&|s| env.get(s).map(|&n| n.into()));
        Some(Case {
            f: rebuilt(f, "main", |_, y| y)?,
            loss: rebuilt(f, "loss", weighted_sum)?,
            fixed: [
                rebuilt(&fixed, "main", |_, y| y)?,
                rebuilt(&fixed, "loss", weighted_sum)?,
            ],
            args: args.to_vec(),
            wrt,
            direction,
            numerics,
            context: AdContext::builder().with_numerics(numerics).build().ok()?,
        })
    }

    fn args_and_direction(&self) -> Vec<Array> {
        self.args.iter().chain([&self.direction]).cloned().collect()
    }

    /// The answers of two functions that are equivalent to `f` and `loss`.
    fn answers_of(&self, f: &Arc<Function>, loss: &Arc<Function>) -> Outcome {
        let ad = &self.context;
        let run = |f: Function, args: &[Array]| cotangent::run(&Arc::new(f), args).map_err(words);
        let (by_f, by_loss) = (f.params()[self.wrt], loss.params()[self.wrt]);
        let jvp = ad::jvp(ad, f, &[by_f]).map_err(words)?;
        let hvp = ad::hvp(ad, loss, &[by_loss]).map_err(words)?;
        let grad = ad::grad(ad, loss, &[by_loss]).map_err(words)?;
        let more = self.args_and_direction();
        Ok(Answers::from([
            ("value", cotangent::run(f, &self.args).map_err(words)?),
            ("grad", run(grad, &self.args)?),
            ("jvp", run(jvp, &more)?),
            ("hvp", run(hvp, &more)?),
        ]))
    }
}

fn graph(c: &Case) -> Outcome {
    c.answers_of(&c.f, &c.loss)
}

/// The policy as attributes of a directive.
fn attributes(n: Numerics) -> String {
    let zero = if n.zero_division_nan { "nan" } else { "ieee" };
    format!(
        "{{zero_division = \"{zero}\", stable = {}, strong_zero = {}}}",
        n.stable, n.strong_zero
    )
}

fn modules(c: &Case) -> Result<String, String> {
    let modules = [c.f.clone(), c.loss.clone()];
    Ok(cotangent::text::Program::from_modules(modules)
        .map_err(words)?
        .print())
}

/// Text with a directive for each derivative.
fn text(c: &Case) -> Outcome {
    let (x, how) = (format!("%x{}", c.wrt), attributes(c.numerics));
    let text = format!(
        "{}\ntgraph.adjoint @loss wrt({x}) {how} -> @g\ntgraph.jvp @main wrt({x}) {how} -> @j\n\
         tgraph.hvp @loss wrt({x}) dir(%direction) {how} -> @h\n",
        modules(c)?
    );
    let p = Program::from_tgraph(&text).map_err(words)?;
    let run = |name: &str, args: &[Array]| {
        p.function(name)
            .and_then(|f| cotangent::run(&f, args))
            .map_err(words)
    };
    let more = c.args_and_direction();
    Ok(Answers::from([
        ("value", run("main", &c.args)?),
        ("grad", run("g", &c.args)?),
        ("jvp", run("j", &more)?),
        ("hvp", run("h", &more)?),
    ]))
}

/// Written as StableHLO and read back. A program without such a form is an error.
fn stablehlo(c: &Case) -> Outcome {
    let written = Program::from_tgraph(&modules(c)?)
        .and_then(|p| p.to_stablehlo())
        .map_err(words)?;
    let p = Program::from_stablehlo(&written).map_err(|e| format!("unreadable: {e}\n{written}"))?;
    c.answers_of(
        &p.function("main").map_err(words)?,
        &p.function("loss").map_err(words)?,
    )
}

fn inlined<T: TensorOps>(f: &Function, x: &[T]) -> Result<Vec<T>, T::Error> {
    T::emit(&x.iter().collect::<Vec<_>>(), |cx, x| cx.inline(f, x))
}

fn arrays<'a>(tensors: impl IntoIterator<Item = &'a TracedTensor>) -> Result<Vec<Array>, Error> {
    tensors
        .into_iter()
        .map(|t| t.to_tensor()?.to_array())
        .collect()
}

fn tensor(a: &Array, order: Order) -> Result<Tensor, Error> {
    Tensor::from(a).to_order(order)
}

fn traced_in(c: &Case, order: Order) -> Result<Answers, Error> {
    let inputs = c
        .args
        .iter()
        .map(|a| Ok(TracedTensor::from_tensor(tensor(a, order)?)));
    let inputs = inputs.collect::<Result<Vec<_>, Error>>()?;
    let direction = TracedTensor::from_tensor(tensor(&c.direction, order)?);
    let ad = AdContext::builder().with_numerics(c.numerics).build()?;
    let (x, y) = (&inputs[c.wrt], inlined(&c.fixed[0], &inputs)?);
    let loss = inlined(&c.fixed[1], &inputs)?.remove(0);
    let grad = ad.grad(&loss, x)?;
    let hvp = ad.jvp(&grad, x, &direction)?;
    let tracked = |t: &&TracedTensor| t.dtype().is_ok_and(|d| d.has_tangent());
    let mut jvp = y.clone();
    for y in y.iter().filter(tracked) {
        jvp.push(ad.jvp(y, x, &direction)?);
    }
    Ok(Answers::from([
        ("value", arrays(&y)?),
        ("grad", arrays([&grad])?),
        ("jvp", arrays(&jvp)?),
        ("hvp", arrays([&hvp])?),
    ]))
}

fn traced(c: &Case) -> Outcome {
    traced_in(c, Order::RowMajor).map_err(words)
}

fn traced_on_columns(c: &Case) -> Outcome {
    traced_in(c, Order::ColumnMajor).map_err(words)
}

/// Closures use the default policy.
fn closure(c: &Case) -> Outcome {
    if c.numerics != Numerics::default() {
        return Err("closures have the default policy".to_owned());
    }
    let inputs: Vec<TracedTensor> = c
        .args
        .iter()
        .map(|a| TracedTensor::from_tensor(Tensor::from(a)))
        .collect();
    let (x, v) = (
        inputs[c.wrt].clone(),
        TracedTensor::from_tensor(Tensor::from(&c.direction)),
    );
    let with = |x: TracedTensor| {
        let mut all = inputs.clone();
        all[c.wrt] = x;
        all
    };
    let f = |x: TracedTensor| inlined(&c.fixed[0], &with(x));
    let loss = |x: TracedTensor| Ok::<_, Error>(inlined(&c.fixed[1], &with(x))?.remove(0));
    let answers = || {
        let tracked = |t: &&TracedTensor| t.dtype().is_ok_and(|d| d.has_tangent());
        let (y, t) = closures::jvp(f, x.clone(), v.clone())?;
        let both: Vec<&TracedTensor> = y.iter().chain(t.iter().filter(tracked)).collect();
        Ok::<_, Error>(Answers::from([
            ("value", arrays(&f(x.clone())?)?),
            ("grad", arrays([&closures::grad(loss)(x.clone())?])?),
            ("jvp", arrays(both)?),
            (
                "hvp",
                arrays([&closures::hvp(loss)(x.clone(), v.clone())?])?,
            ),
        ]))
    };
    answers().map_err(words)
}

type EagerResult<T> = Result<T, <EagerTensor as TensorOps>::Error>;

fn eager_in(c: &Case, order: Order) -> EagerResult<Answers> {
    let ad = AdContext::builder().with_numerics(c.numerics).build()?;
    let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::with_threads(1)?, &ad);
    let mut inputs = Vec::new();
    for (k, a) in c.args.iter().enumerate() {
        let t = tensor(a, order)?;
        inputs.push(if k == c.wrt {
            rt.variable_from(t)?
        } else {
            rt.constant_from(t)?
        });
    }
    let direction = rt.constant_from(tensor(&c.direction, order)?)?;
    let arrays = |t: &[EagerTensor]| {
        t.iter()
            .map(|t| Ok(t.to_tensor()?.to_array()?))
            .collect::<EagerResult<Vec<_>>>()
    };
    let (x, y) = (&inputs[c.wrt], inlined(&c.fixed[0], &inputs)?);
    let loss = inlined(&c.fixed[1], &inputs)?.remove(0);
    let grad = loss.grad_of(&[x], ad_options())?.remove(0);
    let hvp = grad.jvp(x, &direction)?;
    let mut jvp = arrays(&y)?;
    for y in y.iter().filter(|y| y.dtype().has_tangent()) {
        jvp.push(y.jvp(x, &direction)?.to_tensor()?.to_array()?);
    }
    Ok(Answers::from([
        ("value", arrays(&y)?),
        ("grad", arrays(&[grad])?),
        ("jvp", jvp),
        ("hvp", arrays(&[hvp])?),
    ]))
}

fn ad_options() -> ad::BackwardOptions {
    ad::BackwardOptions::create_graph()
}

fn eager(c: &Case) -> Outcome {
    eager_in(c, Order::RowMajor).map_err(words)
}

fn eager_on_columns(c: &Case) -> Outcome {
    eager_in(c, Order::ColumnMajor).map_err(words)
}

type FrontEnd = (&'static str, fn(&Case) -> Outcome);

/// The front ends other than the graph itself.
const FRONT_ENDS: &[FrontEnd] = &[
    ("text", text),
    ("stablehlo", stablehlo),
    ("traced", traced),
    ("traced, column-major", traced_on_columns),
    ("closures", closure),
    ("eager", eager),
    ("eager, column-major", eager_on_columns),
];

/// All policies.
fn policies() -> Vec<Numerics> {
    let both = [false, true];
    let of = |zero_division_nan, stable, strong_zero| Numerics {
        zero_division_nan,
        stable,
        strong_zero,
    };
    both.iter()
        .flat_map(|&a| both.iter().flat_map(move |&b| both.map(|c| of(a, b, c))))
        .collect()
}

#[derive(Default)]
struct Tally {
    /// Number of comparisons of one answer from one front end.
    compared: usize,
    /// Number of refusals by front end, which must be errors.
    refused: BTreeMap<&'static str, usize>,
    found: Vec<String>,
}

impl Tally {
    fn compare(&mut self, what: &str, c: &Case, want: &Answers, (name, run): FrontEnd) {
        let how = || format!("{what} through {name} under {}", attributes(c.numerics));
        let got = match catch_unwind(AssertUnwindSafe(|| run(c))) {
            Ok(Ok(got)) => got,
            Ok(Err(e)) if e.starts_with("unreadable") => {
                return self.found.push(format!("{}: {e}", how()));
            }
            Ok(Err(_)) => return *self.refused.entry(name).or_default() += 1,
            Err(_) => return self.found.push(format!("{} panics", how())),
        };
        // Rounding differs if one front end fuses operations that another runs one by one.
        let precision =
            c.f.vals()
                .map(|v| c.f.ty(v).dtype.epsilon())
                .fold(0.0, f64::max);
        for (verb, want) in want {
            self.compared += 1;
            if let Err(e) = agree(&got[verb], want, (256.0 * precision).max(1e-9)) {
                self.found.push(format!("{}: {verb}: {e}", how()));
            }
        }
    }

    fn case(
        &mut self,
        front_ends: &[FrontEnd],
        what: &str,
        f: &Function,
        args: &[Array],
        numerics: Numerics,
    ) {
        let Some(c) = Case::new(f, args, numerics) else {
            return;
        };
        // A program without a derivative has none through any interface; another test checks this.
        let Ok(want) = graph(&c) else { return };
        let before = self.found.len();
        for &front_end in front_ends {
            self.compare(what, &c, &want, front_end);
        }
        if self.found.len() > before {
            let text = print_function(&c.f);
            let args = format!("{:?}", c.args);
            self.found
                .push(format!("of\n{}\nat {}", cut(&text), cut(&args)));
        }
    }
}

fn cut(s: &str) -> String {
    s.chars().take(1500).collect()
}

fn report(tally: Tally, least: usize) {
    let refused: usize = tally.refused.values().sum();
    println!(
        "{} answers compared, {refused} refusals {:?}",
        tally.compared, tally.refused
    );
    let list = tally.found.join("\n");
    assert!(
        tally.found.is_empty(),
        "{} differences:\n{}",
        tally.found.len(),
        list
    );
    assert!(
        tally.compared >= least,
        "{} answers were compared",
        tally.compared
    );
}

fn random_programs(front_ends: &[FrontEnd], seeds: u64) -> Tally {
    let (mut tally, policies) = (Tally::default(), policies());
    for seed in 0..seeds {
        let random::Case { function, args } = random::graph(seed, 4 + seed as usize % 16).unwrap();
        let numerics = policies[seed as usize % policies.len()];
        tally.case(
            front_ends,
            &format!("random graph {seed}"),
            &function,
            &args,
            numerics,
        );
    }
    tally
}

/// Each sample under the default policy, and under one of the others.
fn samples(front_ends: &[FrontEnd]) -> Tally {
    let (mut tally, policies, mut k) = (Tally::default(), policies(), 0);
    for entry in entries() {
        let samples: Vec<Sample> = (entry.samples)(entry.name);
        let wide = |s: &Sample| {
            s.operands
                .iter()
                .all(|a| !matches!(a.dtype(), DType::F16 | DType::BF16))
        };
        for s in samples.iter().filter(|s| wide(s)) {
            let Ok(f) = function_of(s) else { continue };
            k += 1;
            for numerics in [Numerics::default(), policies[1 + k % (policies.len() - 1)]] {
                tally.case(
                    front_ends,
                    &format!("a sample of `{}`", entry.name),
                    &f,
                    &s.operands,
                    numerics,
                );
            }
        }
    }
    tally
}

#[test]
fn random_programs_agree_through_every_interface() {
    let seeds = std::env::var("SEEDS").map_or(250, |n| n.parse().expect("a number"));
    report(random_programs(FRONT_ENDS, seeds), 3000);
}

#[test]
fn samples_agree_through_every_interface() {
    report(samples(FRONT_ENDS), 30_000);
}

/// Derives with the default policy instead of the case's.
fn deaf(c: &Case) -> Outcome {
    let c = Case {
        numerics: Numerics::default(),
        context: AdContext::default(),
        ..c.clone()
    };
    c.answers_of(&c.f, &c.loss)
}

/// The product of the Hessian with twice the direction.
fn doubled(c: &Case) -> Outcome {
    let mut answers = c.answers_of(&c.f, &c.loss)?;
    let twice = Case {
        direction: twice(&c.direction),
        ..c.clone()
    }
    .answers_of(&c.f, &c.loss)?;
    answers.insert("hvp", twice["hvp"].clone());
    Ok(answers)
}

fn twice(a: &Array) -> Array {
    let wide = match a.wide() {
        Wide::F(v) => Wide::F(v.into_iter().map(|x| 2.0 * x).collect()),
        Wide::C(v) => Wide::C(v.into_iter().map(|x| x * 2.0).collect()),
        v => v,
    };
    wide.narrow(a.dtype(), a.shape()).expect("the same shape")
}

#[test]
fn wrong_front_ends_are_found() {
    let found = |front_end: FrontEnd| samples(&[front_end]).found.len();
    assert!(found(("the graph", graph)) == 0);
    assert!(found(("a front end that ignores the policy", deaf)) > 20);
    assert!(found(("a front end with twice the Hessian product", doubled)) > 200);
}
