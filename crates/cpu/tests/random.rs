//! Random graphs and their derivatives, in two steps. Each single operation agrees with the
//! reference. The program gives the bits of its operations run one by one on dense operands that
//! are not overwritten.

mod common;

use common::{exact, is_complex_function, precision, single, tolerable};
use cotangent_core::check::random::{Case, graph};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{Array, Dim, Env, Function, Result, reference};
use cotangent_cpu::{Executor, compile};
use std::sync::Arc;

/// The results of `f`, run one operation at a time. Each intermediate value is compared with the
/// reference.
fn one_by_one(f: &Function, args: &[Array], what: &str) -> Result<Vec<Array>> {
    let mut env = Env::default();
    reference::bind(f, &args.iter().map(Array::ty).collect::<Vec<_>>(), &mut env)?;
    let f = f.subst(&|s| env.get(s).map(|&n| Dim::Const(n)));
    let mut values: Vec<Option<Array>> = vec![None; f.len()];
    for (p, a) in f.params().iter().zip(args) {
        values[p.index()] = Some(a.clone());
    }
    for e in f.eqns() {
        let x: Vec<Array> = f
            .operands(e)
            .iter()
            .map(|v| values[v.index()].clone().unwrap())
            .collect();
        let want = e.op.eval(&x, &Env::default());
        let alone = single(&e.op, &x);
        let got = compile(&alone).and_then(|p| p.run(&x));
        let (got, want) = match (got, want) {
            (Ok(got), Ok(want)) => (got, want),
            (Err(got), Err(want)) if got.code() == want.code() => return Err(got),
            (got, want) => panic!("{what}: {:?} {got:?} is not {want:?}", e.op),
        };
        for ((r, g), w) in e.results().zip(got).zip(&want) {
            let is_exact = exact(&e.op) && !is_complex_function(&alone);
            let fits = if is_exact {
                g.same_bits(w)
            } else {
                tolerable(precision(&alone), &g, w, &x)
            };
            assert!(fits, "{what}: {:?} of {x:?}\n {g:?} is not\n {w:?}", e.op);
            values[r.index()] = Some(g);
        }
    }
    Ok(f.results()
        .iter()
        .map(|r| values[r.index()].clone().unwrap())
        .collect())
}

fn compare(what: &str, f: Function, args: &[Array]) {
    let want = one_by_one(&f, args, what);
    let f = Arc::new(f);
    let got = compile(&f).and_then(|p| p.run(args));
    if let (Ok(got), Ok(steps)) = (
        &got,
        Executor::new()
            .stepwise()
            .compile(&f)
            .and_then(|p| p.run(args)),
    ) {
        assert!(
            got.iter().zip(&steps).all(|(a, b)| a.same_bits(b)),
            "{what}: {got:?} by steps is {steps:?}"
        );
    }
    match (got, want) {
        (Ok(got), Ok(want)) => {
            for (g, w) in got.iter().zip(&want) {
                let text = || cotangent_core::text::print_function(&f);
                assert!(g.same_bits(w), "{what}: {g:?} is not {w:?}\n{}", text());
            }
        }
        // An operation whose result is unused may fail if operations run one by one.
        (Ok(_), Err(_)) => {}
        (Err(got), Err(want)) => assert_eq!(got.code(), want.code(), "{what}"),
        (Err(got), Ok(_)) => panic!("{what}: {got}"),
    }
}

/// Compares a random graph of this size and its adjoint.
fn check(seed: u64, size: usize) {
    let Case { function: f, args } = graph(seed, size).unwrap();
    let wrt: Vec<_> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    if let Ok(g) = vjp(&AdContext::default(), &f, &wrt) {
        let y = reference::run(&f, &args).unwrap();
        let cts = f
            .result_types()
            .into_iter()
            .zip(y)
            .filter(|(t, _)| t.dtype.has_tangent())
            .map(|(_, y)| y);
        let args: Vec<Array> = args.iter().cloned().chain(cts).collect();
        compare(
            &format!("simplified adjoint of {seed}"),
            simplify(&g),
            &args,
        );
        compare(&format!("adjoint of {seed}"), g, &args);
    }
    compare(&format!("simplified graph {seed}"), simplify(&f), &args);
    compare(&format!("graph {seed}"), f, &args);
}

/// For a longer run: `SEEDS=100000 cargo test --release -p cotangent-cpu --test random`.
#[test]
fn random_graphs_and_their_adjoints() {
    let seeds = std::env::var("SEEDS").map_or(1000, |n| n.parse().expect("a number"));
    for seed in 0..seeds {
        check(seed, 4 + seed as usize % 20);
    }
}

/// Graphs on which the fuzzer found defects.
#[test]
fn found_graphs_and_their_adjoints() {
    // An operation that is part of its reader, with which the group has 17 axes.
    check(0x6d0a_6951_611b_ca00, 24);
}
