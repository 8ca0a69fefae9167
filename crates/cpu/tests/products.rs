//! Matrix products fused with their consumers, computed by blocks of rows, give the bits of the
//! equations run one by one.

mod common;

use common::products::program;
use common::{build, run, unfused};
use cotangent_core::ops::DotGeneral;
use cotangent_core::{Array, DType, Emit, Type, Val, Wide};
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

/// In the steps of a loop they are products of f32 ([`with_simple_loops`]).
///
/// [`with_simple_loops`]: cotangent_core::rewrite::with_simple_loops
#[test]
fn products_of_16_bit_floats_in_loops_give_the_bits_of_the_products_alone() {
    const STEPS: usize = 20;
    let batch = |axes: &[usize]| axes.to_vec();
    for dtype in [DType::F16, DType::BF16] {
        for k in [1, 3, 17, 40, 300] {
            // The state, the constant, and whether they have a batch axis.
            let shapes: [(&[usize], &[usize], bool); 4] = [
                (&[k], &[k, k], false),
                (&[3, k], &[k, k], false),
                (&[k, k], &[k, k], false),
                (&[2, 3, k], &[2, k, k], true),
            ];
            for (state, constant, batched) in shapes {
                for strong_zero in [false, true] {
                    let d = DotGeneral {
                        lhs_batch: batch(&[0][..usize::from(batched)]),
                        rhs_batch: batch(&[0][..usize::from(batched)]),
                        lhs_contract: vec![state.len() - 1],
                        rhs_contract: vec![constant.len() - 2],
                        strong_zero,
                        ..DotGeneral::default()
                    };
                    let types = [Type::new(dtype, constant), Type::new(dtype, state)];
                    let step = |cx: &dyn Emit, w: Val, x: Val| cx.dot_general(x, w, d.clone());
                    let looped = build(&types, |cx, x| {
                        let n = STEPS.into();
                        cx.scan(&x[..1], &x[1..], &[], &n, false, |cx, w, c, _| {
                            (vec![step(cx, w[0], c[0])], vec![c[0]])
                        })
                        .1
                    });
                    let each = build(&types, |cx, x| {
                        let mut states = vec![x[1]];
                        while states.len() < STEPS {
                            states.push(step(cx, x[0], states[states.len() - 1]));
                        }
                        let one = |&v: &Val| {
                            let rows = [&[1], state].concat();
                            cx.reshape(v, &rows.into_iter().map(Into::into).collect::<Vec<_>>())
                        };
                        let rows: Vec<Val> = states.iter().map(one).collect();
                        vec![cx.concatenate(&rows, 0)]
                    });
                    for special in [false, true] {
                        let args = types.clone().map(|ty| numbers(&ty, special));
                        let (got, want) = (run(&looped, &args), unfused(&each, &args));
                        assert!(
                            got[0].same_bits(&want[0]),
                            "{types:?} {strong_zero} {special}"
                        );
                    }
                }
            }
        }
    }
}

/// Numbers about `1 / sqrt(extent)`; some are zero, infinite or NaN if `special`.
fn numbers(ty: &Type, special: bool) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let (n, last) = (shape.iter().product::<usize>(), shape[shape.len() - 1]);
    let of = |i: usize| match i % 97 {
        5 if special => f64::INFINITY,
        11 if special => f64::NAN,
        k if special && k % 3 == 0 => -0.0,
        _ => (i as f64 * 0.7).sin() * 2.0 / (last as f64).sqrt(),
    };
    let wide = Wide::F((0..n).map(of).collect());
    wide.narrow(ty.dtype, shape).unwrap()
}
