//! Matrix products fused with their consumers, computed by blocks of rows, give the bits of the
//! equations run one by one.

mod common;

use common::products::program;
use common::unfused;
use cotangent_cpu::Executor;
use cotangent_cpu::profile::{StepInfo, steps};

/// For a longer run: `SEEDS=10000 cargo test --release -p cotangent-cpu --test products`.
#[test]
fn products_in_groups_give_the_bits_of_the_equations_alone() {
    let seeds = std::env::var("SEEDS").map_or(200, |n| n.parse().expect("a number"));
    let (mut together, mut several) = (0, 0);
    for seed in 0..seeds {
        let (f, args) = program(seed);
        let products = |equations: &[usize]| {
            equations
                .iter()
                .filter(|&&e| f.eqns()[e].op.name() == "dot_general")
                .count()
        };
        let of = |s: &StepInfo| {
            if s.equations.len() > 1 {
                products(&s.equations)
            } else {
                0
            }
        };
        let most = steps(&f).iter().map(of).max().unwrap_or(0);
        together += usize::from(most > 0);
        several += usize::from(most > 1);
        let want = unfused(&f, &args);
        for threads in [1, 2, 8] {
            let executor = Executor::new().with_threads(threads);
            let steps = executor.clone().stepwise().compile(&f).unwrap();
            let whole = executor.compile(&f).unwrap();
            for got in [steps.run(&args).unwrap(), whole.run(&args).unwrap()] {
                let same = got.iter().zip(&want).all(|(a, b)| a.same_bits(b));
                assert!(
                    same,
                    "{seed}, {threads} threads: {}",
                    cotangent_core::text::print_function(&f)
                );
            }
        }
    }
    assert!(
        together * 3 > seeds && several * 20 > seeds,
        "{together} and {several} of {seeds} programs have such groups"
    );
}
