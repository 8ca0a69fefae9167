//! Random graphs with their adjoints, the corpus, symbols at several extents, and threads.

use super::{PlannedFunction, layouts};
use crate::nests::tests::meaning::corpus;
use crate::tensor::Tensor;
use cotangent_core::check::random::graph;
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{Type, reference};

#[test]
fn random_graphs_and_their_adjoints_in_every_layout() {
    let ad = AdContext::default();
    let seeds = std::env::var("SEEDS").map_or(300, |n| n.parse().expect("a number"));
    for seed in 0..seeds {
        let case = graph(seed, 4 + seed as usize % 20).unwrap();
        let (f, args) = (case.function, case.args);
        let pair = PlannedFunction::new(&f);
        let all: Vec<_> = args.iter().map(layouts).collect();
        for k in 0..3 {
            let x: Vec<_> = all.iter().map(|x| x[k].clone()).collect();
            pair.check(&format!("graph {seed}, layout {k}"), &x);
        }
        let tangent = |t: &Type| t.dtype.has_tangent();
        let wrt = f.params().iter().copied().filter(|&p| tangent(f.ty(p)));
        if let Ok(g) = vjp(&ad, &f, &wrt.collect::<Vec<_>>()) {
            let y = reference::run(&f, &args).unwrap();
            let cts = y.into_iter().filter(|y| tangent(&y.ty()));
            let x: Vec<Tensor> = args.iter().cloned().chain(cts).map(Tensor::from).collect();
            PlannedFunction::new(&simplify(&g)).check(&format!("adjoint of {seed}"), &x);
        }
    }
}

#[test]
fn programs_of_the_corpus() {
    let (mut count, mut share) = (0, [0, 0]);
    corpus(1 << 16, &mut |name, f, args| {
        let pair = PlannedFunction::new(f);
        let [own, all] = pair.program.plan_share();
        share = [share[0] + own, share[1] + all];
        count += 1;
        pair.check(name, &args.iter().map(Tensor::from).collect::<Vec<_>>());
    });
    assert!(count > 100, "{count} programs");
    assert!(
        share[0] * 10 > share[1] * 6,
        "{share:?} equations without a call"
    );
}
