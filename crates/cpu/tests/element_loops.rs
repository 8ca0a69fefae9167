//! Scans that run as one compiled loop give the bits of their steps run one by one, forwards,
//! backwards and in gradients.

mod common;

use common::{build, run};
use cotangent_core::ops::{Comparison, DotGeneral};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{Array, DType, Dim, Env, Function, Type, Val};
use cotangent_cpu::Executor;
use std::sync::Arc;

/// A scan of `steps` steps `y <- a y + b sin y + x` on values of type `ty`, which also stacks
/// results.
fn sines(ty: &Type, steps: usize, reverse: bool) -> Arc<Function> {
    let n = Dim::from(steps);
    let stack = Type::new(ty.dtype, [vec![n.clone()], ty.shape.to_vec()].concat());
    build(&[ty.clone(), ty.clone(), ty.clone(), stack], |cx, x| {
        let (c, y) = cx.scan(&x[..2], &x[2..3], &x[3..], &n, reverse, |cx, w, c, x| {
            let y = cx.add(cx.mul(w[0], c[0]), cx.mul(w[1], cx.sin(c[0])));
            let half = cx.full_like(y, 0.5);
            (vec![cx.add(y, x[0])], vec![c[0], cx.mul(half, y)])
        });
        vec![c[0], y[0], y[1]]
    })
}

fn numbers(ty: &Type, scale: f64, seed: usize) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let n: usize = shape.iter().product();
    let x = |i: usize| ((i * 37 + seed * 11) % 101) as f64 / 50.5 * scale - 0.3 * scale;
    match ty.dtype {
        DType::F32 => Array::from_vec(shape, (0..n).map(|i| x(i) as f32).collect()).unwrap(),
        DType::F64 => Array::from_vec(shape, (0..n).map(x).collect()).unwrap(),
        _ => Array::from_vec(
            shape,
            (0..n)
                .map(|i| cotangent_core::C64::new(x(i) as f32, 0.1))
                .collect(),
        )
        .unwrap(),
    }
}

fn arguments(f: &Function, scale: f64) -> Vec<Array> {
    f.params()
        .iter()
        .enumerate()
        .map(|(k, &p)| numbers(f.ty(p), scale, k))
        .collect()
}

#[test]
fn the_bits_of_steps_for_every_length_and_type() {
    for dtype in [DType::F32, DType::F64, DType::C64] {
        for shape in [&[][..], &[1], &[3], &[2, 8], &[37], &[150]] {
            let ty = Type::new(
                dtype,
                shape.iter().map(|&n| Dim::from(n)).collect::<Vec<_>>(),
            );
            for steps in [0, 1, 2, 31, 32, 33, 200] {
                for reverse in [false, true] {
                    let f = sines(&ty, steps, reverse);
                    run(&f, &arguments(&f, 1.0));
                }
            }
        }
    }
}

#[test]
fn steps_with_angles_that_no_vector_way_takes() {
    for dtype in [DType::F32, DType::F64] {
        let ty = Type::new(dtype, vec![Dim::from(5)]);
        let f = sines(&ty, 100, false);
        for scale in [1e5, 1e12, 1e30] {
            run(&f, &arguments(&f, scale));
        }
    }
}

/// The sum of the last carry after decaying steps, whose derivatives become subnormal and then
/// zero.
fn decay(dtype: DType, steps: usize) -> Arc<Function> {
    let ty = Type::scalar(dtype);
    build(&[ty.clone(), ty.clone(), ty], |cx, x| {
        let n = Dim::from(steps);
        cx.scan(&x[..2], &x[2..], &[], &n, false, |cx, w, c, _| {
            (
                vec![cx.add(cx.mul(w[0], c[0]), cx.mul(w[1], cx.sin(c[0])))],
                vec![],
            )
        })
        .0
    })
}

#[test]
fn gradients_that_decay_through_all_subnormal_numbers() {
    for (dtype, steps) in [(DType::F32, 1500), (DType::F64, 6000)] {
        let f = decay(dtype, steps);
        let wrt: Vec<Val> = f.params().to_vec();
        let g = grad(&AdContext::default(), &f, &wrt).unwrap();
        let number = |x: f64| match dtype {
            DType::F32 => Array::scalar(x as f32),
            _ => Array::scalar(x),
        };
        for (a, b) in [(0.9, 0.3), (0.7, 0.1), (0.5, -0.2)] {
            let args = [number(a), number(b), number(0.5)];
            let plain = run(&Arc::new(g.clone()), &args);
            let simple = run(&Arc::new(simplify(&g)), &args);
            assert!(plain.iter().zip(&simple).all(|(a, b)| a.same_bits(b)));
        }
    }
}

#[test]
fn carries_that_are_passed_on_and_swapped() {
    let ty = Type::scalar(DType::F64);
    let n = Dim::from(50);
    // Fibonacci numbers, a swap of carries, and a constant that replaces a carry.
    let passed = build(&[ty.clone(), ty.clone()], |cx, x| {
        cx.scan(&[], x, &[], &n, false, |cx, _, c, _| {
            (vec![c[1], cx.add(c[0], c[1])], vec![c[0]])
        })
        .0
    });
    let exchanged = build(&[ty.clone(), ty.clone()], |cx, x| {
        cx.scan(&[], x, &[], &n, false, |cx, _, c, _| {
            (vec![c[1], c[0]], vec![cx.add(c[0], c[1])])
        })
        .0
    });
    let replaced = build(&[ty.clone(), ty.clone()], |cx, x| {
        cx.scan(&x[..1], x, &[], &n, true, |cx, w, c, _| {
            (
                vec![w[0], cx.full_like(c[1], 3.0)],
                vec![cx.mul(c[0], c[1])],
            )
        })
        .0
    });
    let args = [Array::scalar(1.0), Array::scalar(2.0)];
    assert_eq!(run(&passed, &args)[0].to_f64(), [32951280099.0]);
    run(&exchanged, &args);
    run(&replaced, &args);
}

/// How the loop of a function runs.
fn how(f: &Arc<Function>) -> String {
    let text = cotangent_cpu::plan_text(f, &Env::default()).unwrap();
    let (_, how) = text.split_once(": loop, ").expect("a loop");
    how.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn numbers_positions_and_rows_of_every_layout() {
    for n in [1usize, 2, 9, 16, 40, 150] {
        let row = Type::new(DType::F64, vec![Dim::from(n)]);
        let f = build(&[row.clone(), Type::new(DType::F64, [3]), row], |cx, x| {
            let steps = Dim::from(40);
            let wide = Type::new(DType::F64, [40, n]);
            let rows = cx.broadcast_in_dim(x[2], &wide.shape, &[1]);
            let (c, y) = cx.scan(
                &x[1..2],
                &[x[0], x[2]],
                &[rows],
                &steps,
                true,
                |cx, w, c, x| {
                    // One number of a constant, positions, rows, and a carry that is a row.
                    let number = cx.slice_axis(w[0], 0, 1, 2);
                    let number = cx.broadcast_in_dim(number, &[Dim::from(n)], &[0]);
                    let position = cx.iota(&Type::new(DType::F64, [n]), 0);
                    let y = cx.add(cx.mul(c[0], number), cx.mul(position, x[0]));
                    (vec![cx.sin(y), x[0]], vec![c[1], y])
                },
            );
            [c, y].concat()
        });
        let args: Vec<Array> = (f.params().iter().enumerate())
            .map(|(k, &p)| numbers(f.ty(p), 1.0, k))
            .collect();
        run(&f, &args);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(how(&f), "one loop of code for each element", "{n}");
        }
    }
}

#[test]
fn loops_in_loops() {
    for n in [4, 64] {
        let (ty, number) = (
            Type::new(DType::F64, vec![Dim::from(n)]),
            Type::scalar(DType::F64),
        );
        let f = build(&[ty.clone(), ty.clone(), number], |cx, x| {
            let steps = Dim::from(40);
            cx.scan(&x[..1], &x[1..], &[], &steps, false, |cx, w, c, _| {
                let inner = cx.scan(w, &c[..1], &[], &steps, true, |cx, w, c, _| {
                    (vec![cx.mul(w[0], cx.tanh(c[0]))], vec![c[0]])
                });
                // Steps of single numbers, which code takes less time for than kernels.
                let mut y = c[1];
                for k in 0..12 {
                    y = cx.add(cx.mul(y, cx.full_like(y, 0.5)), cx.full_like(y, k as f64));
                }
                let first = cx.slice_axis(inner.1[0], 0, 3, 4);
                let first = cx.reduce_max(first, &[0, 1]);
                (vec![inner.0[0], cx.add(y, first)], vec![])
            })
            .0
        });
        run(&f, &arguments(&f, 1.0));
        if cfg!(target_arch = "x86_64") {
            let called = how(&f).contains("the kernel of `scan`");
            assert_eq!(called, n == 64, "{}", how(&f));
        }
    }
}

/// Steps `h <- h + tanh(h W + b) V` on vectors of `n` elements; each step adds a row of an input.
fn field(dtype: DType, n: usize, steps: usize, reverse: bool) -> Arc<Function> {
    let of = |shape: &[usize]| {
        Type::new(
            dtype,
            shape.iter().map(|&n| Dim::from(n)).collect::<Vec<_>>(),
        )
    };
    let types = [
        of(&[n, n]),
        of(&[n]),
        of(&[n, n]),
        of(&[n]),
        of(&[steps, n]),
    ];
    build(&types, |cx, x| {
        let over = |k: usize| DotGeneral {
            lhs_contract: vec![0],
            rhs_contract: vec![k],
            ..DotGeneral::default()
        };
        let (c, y) = cx.scan(
            &x[..3],
            &x[3..4],
            &x[4..],
            &Dim::from(steps),
            reverse,
            |cx, w, c, x| {
                let z = cx.tanh(cx.add(cx.dot_general(c[0], w[0], over(0)), w[1]));
                let h = cx.add(c[0], cx.dot_general(z, w[2], over(1)));
                (vec![cx.add(h, x[0])], vec![z])
            },
        );
        let square = DotGeneral {
            lhs_contract: vec![0],
            rhs_contract: vec![0],
            ..DotGeneral::default()
        };
        vec![cx.dot_general(c[0], c[0], square), y[0]]
    })
}

#[test]
fn steps_with_products_and_their_gradients() {
    for (dtype, n) in [
        (DType::F32, 1),
        (DType::F64, 5),
        (DType::F32, 64),
        (DType::F64, 40),
        (DType::F32, 200),
    ] {
        for (steps, reverse) in [(0, false), (1, false), (7, true)] {
            let f = field(dtype, n, steps, reverse);
            let scale = 1.0 / n as f64;
            run(&f, &arguments(&f, scale));
            let loss = Arc::new((*f).clone().with_results(&f.results()[..1]));
            let g = grad(&AdContext::default(), &loss, loss.params()).unwrap();
            let (plain, simple) = (Arc::new(g.clone()), Arc::new(simplify(&g)));
            let args = arguments(&f, scale);
            let (a, b) = (run(&plain, &args), run(&simple, &args));
            assert!(
                a.iter().zip(&b).all(|(a, b)| a.same_bits(b)),
                "{n} by {steps}"
            );
        }
    }
}

/// Halves a vector until its product with itself is below a bound, and multiplies the vectors of
/// all steps.
fn halving(dtype: DType, n: usize) -> Arc<Function> {
    let (ty, bound) = (Type::new(dtype, vec![Dim::from(n)]), Type::scalar(dtype));
    build(&[bound, ty.clone(), ty], |cx, x| {
        let square = DotGeneral {
            lhs_contract: vec![0],
            rhs_contract: vec![0],
            ..DotGeneral::default()
        };
        let y = cx.while_loop(
            &x[..1],
            &x[1..],
            |cx, w, c| cx.compare(cx.dot_general(c[0], c[0], square), Comparison::Gt, w[0]),
            |cx, _, c| {
                vec![
                    cx.mul(c[0], cx.full_like(c[0], 0.5)),
                    cx.mul(c[0], cx.sin(c[1])),
                ]
            },
        );
        vec![cx.dot_general(
            y[1],
            y[1],
            DotGeneral {
                lhs_contract: vec![0],
                rhs_contract: vec![0],
                ..DotGeneral::default()
            },
        )]
    })
}

#[test]
fn loops_until_a_condition_fails_and_their_gradients() {
    for dtype in [DType::F32, DType::F64] {
        for n in [1, 3, 50, 600] {
            let f = halving(dtype, n);
            let g = Arc::new(grad(&AdContext::default(), &f, f.params()).unwrap());
            for bound in [1e30, 1.0, 1e-6] {
                let mut args = arguments(&f, 3.0);
                args[0] = numbers(&Type::scalar(dtype), -bound / 0.3, 0);
                run(&f, &args);
                run(&g, &args);
            }
        }
    }
}

#[test]
fn threads_share_elements_and_change_no_bit() {
    let ty = Type::new(DType::F32, vec![Dim::from(20_011)]);
    let f = sines(&ty, 40, false);
    let args = arguments(&f, 1.0);
    let of = |threads: usize| {
        let program = Executor::new().with_threads(threads).compile(&f).unwrap();
        program.run(&args).unwrap()
    };
    let one = of(1);
    for threads in [2, 5] {
        let same = one.iter().zip(of(threads)).all(|(a, b)| a.same_bits(&b));
        assert!(same, "{threads} threads");
    }
}
