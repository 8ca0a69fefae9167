//! Laws on random graphs: derivatives are consistent, batching equals a loop, rewrites preserve
//! results.
//!
//! A longer run:
//! `SEEDS=20000 cargo test --release -p cotangent-core --test random_graphs -- --ignored`. One
//! graph: `SEED=17 cargo test -p cotangent-core --test random_graphs`.

use cotangent_core::check::random::{Case, graph, loop_graph};
use cotangent_core::check::{Law, Options, Verdict, agree, check_function, read_again};
use cotangent_core::rewrite::{simplify, with_simple_loops};
use cotangent_core::text::print_function;
use cotangent_core::transform::{AdContext, Direction, Rule, RuleSet, batch, jacobian, vjp};
use cotangent_core::{Arg, Array, Code, DType, Emit, Function, Op, Result, Val, reference};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The checks that a graph fails, as messages.
type Outcome = Result<Vec<String>>;

fn differentiable(f: &Function) -> Vec<Val> {
    f.params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect()
}

fn checked(ad: &AdContext, seed: u64, unsure: &AtomicU64, rows: &AtomicU64) -> Outcome {
    let Case { function: f, args } = graph(seed, 4 + seed as usize % 20)?;
    let mut found = Vec::new();
    let y = reference::run(&f, &args)?;
    let small = simplify(&f);
    if let Err(e) = agree_in_bits(&reference::run(&small, &args)?, &y) {
        found.push(format!("simplify: {e}"));
    }
    let opts = Options {
        wrt: Some(differentiable(&f)),
        directions: 1,
        third_order: false,
        ..Options::default()
    };
    let report = check_function(ad, &f, &args, &opts)?;
    for r in &report.rows {
        // If a difference converges to another number, the graph has a kink or a jump, or a rule is
        // wrong; the laws of operations distinguish these. Laws without finite differences must
        // hold everywhere.
        let exact = matches!(
            r.law,
            Law::Adjoint | Law::Linear | Law::Orders | Law::Symmetry
        );
        rows.fetch_add(1, Ordering::Relaxed);
        match r.verdict {
            Verdict::Fail if exact => found.push(r.to_string()),
            Verdict::Unsure => drop(unsure.fetch_add(1, Ordering::Relaxed)),
            _ => {}
        }
    }
    if !f.result_types().iter().any(|t| t.dtype.has_tangent()) {
        // Functions with integer and boolean results only have no adjoint, which is an error.
        match vjp(ad, &f, &differentiable(&f)) {
            Err(e) if e.code() == Code::IntegerOutput => {}
            g if differentiable(&f).is_empty() => drop(g?),
            g => found.push(format!("the adjoint of integers: {g:?}")),
        }
    } else if let Err(e) = adjoint_simplified(ad, &f, &args) {
        found.push(format!("simplify of the adjoint: {e}"));
    }
    if let Err(e) = as_text(ad, &f, &args, &y) {
        found.push(format!("text: {e}"));
    }
    if let Err(e) = jacobians(ad, &f, &args) {
        found.push(format!("jacobian: {e}"));
    }
    if let Err(e) = batched(ad, &f, &args, &y) {
        found.push(format!("batch: {e}"));
    }
    Ok(found)
}

fn agree_in_bits(got: &[Array], want: &[Array]) -> std::result::Result<(), String> {
    match got.iter().zip(want).position(|(a, b)| !a.same_bits(b)) {
        Some(k) => Err(format!("result {k}: {:?} is not {:?}", got[k], want[k])),
        None => Ok(()),
    }
}

fn adjoint_simplified(
    ad: &AdContext,
    f: &Function,
    args: &[Array],
) -> std::result::Result<(), String> {
    let text = |e: cotangent_core::Error| e.to_string();
    let g = vjp(ad, f, &differentiable(f)).map_err(text)?;
    let y = reference::run(f, args).map_err(text)?;
    let cts = y.iter().filter(|a| a.dtype().has_tangent()).map(ones);
    let args: Vec<Array> = args.iter().cloned().chain(cts).collect();
    let (a, b) = (
        reference::run(&simplify(&g), &args),
        reference::run(&g, &args),
    );
    agree_in_bits(&a.map_err(text)?, &b.map_err(text)?)
}

fn as_text(
    ad: &AdContext,
    f: &Function,
    args: &[Array],
    y: &[Array],
) -> std::result::Result<(), String> {
    let text = |e: cotangent_core::Error| e.to_string();
    agree_in_bits(
        &reference::run(&read_again(f).map_err(text)?, args).map_err(text)?,
        y,
    )?;
    if !f.result_types().iter().any(|t| t.dtype.has_tangent()) {
        return Ok(());
    }
    let g = vjp(ad, f, &differentiable(f)).map_err(text)?;
    read_again(&g)
        .and_then(|_| read_again(&simplify(&g)))
        .map(drop)
        .map_err(text)
}

/// Compares Jacobians by batched forward and reverse mode, for real and small functions: of each
/// result by each parameter, since a zero of a tangent or cotangent of another one may meet a pole,
/// where their product is NaN.
fn jacobians(ad: &AdContext, f: &Function, args: &[Array]) -> std::result::Result<(), String> {
    let text = |e: cotangent_core::Error| e.to_string();
    let wrt: Vec<Val> = differentiable(f)
        .into_iter()
        .filter(|&v| f.ty(v).dtype == DType::F64)
        .take(2)
        .collect();
    let y: Vec<Val> = f
        .results()
        .iter()
        .copied()
        .filter(|&v| f.ty(v).dtype == DType::F64)
        .collect();
    let numbers = |v: &[Val]| {
        v.iter()
            .try_fold(0, |n, &v| Some(n + f.ty(v).shape.numel().as_const()?))
    };
    if f.vals().any(|v| f.ty(v).dtype.epsilon() > 1e-10)
        || numbers(&wrt).is_none_or(|n| n > 40)
        || numbers(&y).is_none_or(|n| n > 40)
    {
        return Ok(());
    }
    for (k, &y) in y.iter().enumerate() {
        let f = f.clone().with_results(&[y]);
        for (l, &x) in wrt.iter().enumerate() {
            let of = |d| {
                jacobian(ad, &f, &[x], d)
                    .and_then(|j| reference::run(&j, args))
                    .map_err(text)
            };
            agree(&of(Direction::Forward)?, &of(Direction::Reverse)?, 1e-8)
                .map_err(|e| format!("of result {k} by parameter {l}: {e}"))?;
        }
    }
    Ok(())
}

fn ones(like: &Array) -> Array {
    cotangent_core::Scalar::F(1.0)
        .cast(like.dtype())
        .full(like.dtype(), like.shape().to_vec())
        .unwrap()
}

fn batched(
    ad: &AdContext,
    f: &Function,
    args: &[Array],
    y: &[Array],
) -> std::result::Result<(), String> {
    let text = |e: cotangent_core::Error| e.to_string();
    let n = f.params().len();
    let (fb, _) = batch(
        &ad.session(),
        f,
        &vec![true; n],
        &vec![true; f.results().len()],
        &2.into(),
    )
    .map_err(text)?;
    let twice = |a: &Array| -> Array {
        let b = cotangent_core::check::stack(a, &[a, a]).unwrap();
        assert_eq!(b.shape()[0], 2);
        b
    };
    let got = reference::run(&fb, &args.iter().map(twice).collect::<Vec<_>>()).map_err(text)?;
    let coarse = args
        .iter()
        .chain(y)
        .map(|a| a.dtype().epsilon())
        .fold(0.0, f64::max)
        * 64.0;
    agree(
        &got,
        &y.iter().map(twice).collect::<Vec<_>>(),
        coarse.max(1e-9),
    )
}

/// The failing graphs with their seeds, and the fraction of laws that were unsure.
fn run(ad: &AdContext, seeds: std::ops::Range<u64>) -> (Vec<String>, f64) {
    let seeds = match std::env::var("SEED")
        .ok()
        .and_then(|s| s.parse::<u64>().ok())
    {
        Some(s) => s..s + 1,
        None => seeds,
    };
    let (next, unsure, rows) = (
        AtomicU64::new(seeds.start),
        AtomicU64::new(0),
        AtomicU64::new(0),
    );
    let found = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let outcome =
                        catch_unwind(AssertUnwindSafe(|| checked(ad, seed, &unsure, &rows)));
                    let text = match outcome {
                        Ok(Ok(list)) if list.is_empty() => continue,
                        Ok(Ok(list)) => list.join("\n  "),
                        Ok(Err(e)) => e.to_string(),
                        Err(_) => "panics".to_owned(),
                    };
                    let graph =
                        graph(seed, 4 + seed as usize % 20).map(|c| print_function(&c.function));
                    let text = format!("{text}\n{}", graph.unwrap_or_default());
                    found
                        .lock()
                        .unwrap()
                        .push(format!("seed {seed}:\n  {text}"));
                }
            });
        }
    });
    (
        found.into_inner().unwrap(),
        unsure.into_inner() as f64 / rows.into_inner().max(1) as f64,
    )
}

fn assert_laws(seeds: std::ops::Range<u64>) {
    let (found, unsure) = run(&AdContext::default(), seeds);
    assert!(
        found.is_empty(),
        "{} graphs fail:\n{}",
        found.len(),
        found.join("\n")
    );
    assert!(
        unsure < 0.05,
        "nothing can be said about {unsure} of the laws: the graphs are not tame"
    );
}

#[test]
fn laws_hold_on_random_graphs() {
    assert_laws(0..300);
}

/// Results of a function and of its adjoint, with and without simpler loops.
fn same_loops(ad: &AdContext, case: Case) -> Result<std::result::Result<(), String>> {
    let Case { function, args } = case;
    let f = Arc::new(function);
    let y = reference::run(&f, &args)?;
    let simple = reference::run(&with_simple_loops(&f), &args)?;
    if let Err(e) = agree_in_bits(&simple, &y) {
        return Ok(Err(e));
    }
    let Ok(g) = vjp(ad, &f, &differentiable(&f)) else {
        return Ok(Ok(()));
    };
    let cts = y.iter().filter(|a| a.dtype().has_tangent()).map(ones);
    let args: Vec<Array> = args.iter().cloned().chain(cts).collect();
    for g in [Arc::new(simplify(&g)), Arc::new(g)] {
        let simple = reference::run(&with_simple_loops(&g), &args)?;
        if let Err(e) = agree_in_bits(&simple, &reference::run(&g, &args)?) {
            return Ok(Err(format!("adjoint: {e}")));
        }
    }
    Ok(Ok(()))
}

#[test]
fn simpler_loops_have_the_same_bits() {
    let ad = AdContext::default();
    let seeds = std::env::var("SEEDS").map_or(600, |n| n.parse().expect("a number"));
    let (mut changed, mut loops) = (0, 0);
    for seed in 0..seeds {
        let case = match seed % 3 {
            0 => graph(seed, 4 + seed as usize % 20).unwrap(),
            _ => loop_graph(seed).unwrap(),
        };
        let f = Arc::new(case.function.clone());
        loops += usize::from(f.depth() > 0);
        changed += usize::from(!Arc::ptr_eq(&f, &with_simple_loops(&f)));
        let same = same_loops(&ad, case);
        assert!(
            matches!(same, Ok(Ok(()))),
            "seed {seed}: {same:?}\n{f}\n{}",
            with_simple_loops(&f)
        );
    }
    assert!(
        changed * 3 > loops && loops * 2 > seeds as usize,
        "{changed} of {loops}"
    );
}

#[test]
#[ignore = "minutes: see the top of the file"]
fn soak() {
    let n = std::env::var("SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(5000);
    assert_laws(1_000_000..1_000_000 + n);
}

/// An injected fault: a sum of products without the cotangent of the second operand.
struct Forgetful;

impl Rule for Forgetful {
    fn transpose(
        &self,
        op: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Option<Result<Vec<Option<Val>>>> {
        let mut back = op.transpose(cx, x, ct);
        if let Ok(v) = &mut back {
            v[1] = None;
        }
        Some(back)
    }
}

#[test]
fn random_graphs_find_a_wrong_rule() {
    let rules = RuleSet::default().with("add", Forgetful);
    let ad = AdContext::builder()
        .with_extension_rules(rules)
        .build()
        .unwrap();
    assert!(run(&ad, 0..60).0.len() > 5);
}

#[test]
fn graphs_are_varied_and_reproducible() {
    let (mut names, mut symbols, mut empty) = (std::collections::BTreeSet::new(), 0, 0);
    for seed in 0..200 {
        let (a, b) = (graph(seed, 12).unwrap(), graph(seed, 12).unwrap());
        assert_eq!(format!("{:?}", a.function), format!("{:?}", b.function));
        names.extend(a.function.eqns().iter().map(|e| e.op.name().to_owned()));
        symbols += usize::from(
            a.function
                .vals()
                .any(|v| a.function.ty(v).shape.as_const().is_none()),
        );
        empty += usize::from(a.args.iter().any(Array::is_empty));
    }
    for name in [
        "scan",
        "while",
        "call",
        "checkpoint",
        "cond",
        "switch",
        "gather",
        "scatter",
        "dot_general",
        "cumprod",
        "pow",
    ] {
        assert!(names.contains(name), "no `{name}` among {names:?}");
    }
    assert!(
        names.len() > 80 && symbols > 20 && empty > 5,
        "{} {symbols} {empty}",
        names.len()
    );
}
