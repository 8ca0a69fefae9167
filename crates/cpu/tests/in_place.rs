//! Loops and branches in place, against steps over tensors.

mod common;
#[path = "in_place/scatters.rs"]
mod scatters;
#[path = "in_place/steps.rs"]
mod steps;
#[path = "in_place/tables.rs"]
mod tables;

use common::build;
use cotangent_core::check::random::loop_graph;
use cotangent_core::ops::{Binary, Bounds, Comparison, Cumulative, DotGeneral, Running};
use cotangent_core::rewrite::{simplify, with_simple_loops};
use cotangent_core::transform::{AdContext, grad, vjp};
use cotangent_core::{
    Array, C128, Code, DType, Dim, Emit, Env, Function, Scalar, Type, Val, Wide, reference,
};
use cotangent_cpu::plan_text;
use cotangent_cpu::{Executor, Program, Tensor};
use std::sync::Arc;

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

fn numbers(ty: &Type) -> Array {
    let shape = ty.shape.as_const().unwrap();
    let n: usize = shape.iter().product();
    let x = |i: usize| ((i * 37 + 11) % 101) as f64 / 101.0 - 0.4;
    match ty.dtype {
        DType::F64 => Array::from_vec(shape, (0..n).map(x).collect::<Vec<f64>>()).unwrap(),
        d => Scalar::I(0).full(d, shape).unwrap(),
    }
}

/// The programs of a function by steps over tensors, and with loops in place.
fn pair(f: &Function) -> [Program; 2] {
    let f = Arc::new(f.clone());
    let on_tensors = Executor::new().stepwise();
    // A `while` becomes code after its first step.
    let in_place = Executor::new().with_loops_compiled_after(1);
    [on_tensors, in_place].map(|e| e.compile(&f).unwrap())
}

/// Equal bits of both programs, or errors of one code.
fn compare(what: &str, f: &Function, x: &[Array]) {
    let [old, new] = pair(f);
    for run in 1..=2 {
        match (old.run(x), new.run(x)) {
            (Ok(old), Ok(new)) => same(what, f, &old, &new),
            (Err(old), Err(new)) => assert_eq!(old.code(), new.code(), "{what}"),
            (old, new) => panic!("{what}, run {run}: {old:?} and {new:?}\n{f}"),
        }
    }
}

fn same(what: &str, f: &Function, want: &[Array], got: &[Array]) {
    for (want, got) in want.iter().zip(got) {
        assert!(want.same_bits(got), "{what}: {got:?} is not {want:?}\n{f}");
    }
}

/// Whether all operations with regions run in place.
fn is_in_place(f: &Function, x: &[Array]) -> bool {
    let [_, new] = pair(f);
    let x: Vec<Tensor> = x.iter().map(Tensor::from).collect();
    let [own, all] = new.regions_in_place(&x).unwrap();
    own == all && all > 0
}

/// Equal bits of both programs on 1, 2 and 8 threads, of the function and of its gradient, and the
/// loop of the function in place.
fn check(what: &str, f: &Function) {
    let args: Vec<Array> = f.params().iter().map(|&p| numbers(f.ty(p))).collect();
    assert!(is_in_place(f, &args), "{what} runs on tensors");
    let mut all = vec![f.clone()];
    let sum = build(&f.param_types(), |cx, x| {
        let y = cx.inline(f, x);
        let parts = y.iter().map(|&y| {
            let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
            cx.reduce_sum(y, &axes)
        });
        vec![parts.reduce(|a, b| cx.add(a, b)).unwrap()]
    });
    let real = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent());
    let wrt: Vec<Val> = real.collect();
    all.extend(grad(&AdContext::default(), &sum, &wrt).map(|g| simplify(&g)));
    for f in &all {
        compare(what, f, &args);
        let f = Arc::new(f.clone());
        let run = |threads: usize| {
            let executor = Executor::new().with_threads(threads);
            executor.compile(&f).unwrap().run(&args).unwrap()
        };
        let want = run(1);
        for threads in [2, 8] {
            same(what, &f, &want, &run(threads));
        }
    }
}

#[test]
fn random_loops_and_their_adjoints() {
    let ad = AdContext::default();
    let seeds = std::env::var("SEEDS").map_or(400, |n| n.parse().expect("a number"));
    for seed in 0..seeds {
        let case = loop_graph(seed).unwrap();
        let (f, args) = (case.function, case.args);
        compare(&format!("loop {seed}"), &f, &args);
        let tangent = |t: &Type| t.dtype.has_tangent();
        let wrt = f.params().iter().copied().filter(|&p| tangent(f.ty(p)));
        if let Ok(g) = vjp(&ad, &f, &wrt.collect::<Vec<_>>()) {
            let y = reference::run(&f, &args).unwrap();
            let cts = y.into_iter().filter(|y| tangent(&y.ty()));
            let args: Vec<Array> = args.iter().cloned().chain(cts).collect();
            compare(&format!("adjoint of loop {seed}"), &simplify(&g), &args);
        }
    }
}

/// `[p0 (y - x), x (p1 - z) - y, x y - p2 z]`.
fn lorenz(cx: &dyn Emit, p: Val, s: Val) -> Val {
    let at = |v: Val, k: usize| cx.index_axis(v, 0, k);
    let (x, y, z) = (at(s, 0), at(s, 1), at(s, 2));
    let rows = [
        cx.mul(at(p, 0), cx.sub(y, x)),
        cx.sub(cx.mul(x, cx.sub(at(p, 1), z)), y),
        cx.sub(cx.mul(x, y), cx.mul(at(p, 2), z)),
    ];
    cx.concatenate(&rows.map(|v| cx.reshape(v, &[1.into()])), 0)
}

#[test]
fn lorenz_steps_slice_and_stack() {
    let f = build(&[f64s(&[3]), f64s(&[3])], |cx, x| {
        let step = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
            let k1 = lorenz(cx, w[0], c[0]);
            let scaled = |v: Val, h: f64| cx.mul(v, cx.full_like(v, h));
            let k2 = lorenz(cx, w[0], cx.add(c[0], scaled(k1, 0.005)));
            (vec![cx.add(c[0], scaled(k2, 0.01))], vec![])
        };
        cx.scan(&x[..1], &x[1..], &[], &50.into(), false, |cx, w, c, _| {
            step(cx, w, c)
        })
        .0
    });
    check("lorenz", &f);
}

#[test]
fn a_shift_register_is_a_concatenation() {
    let types = [f64s(&[8]), f64s(&[8]), f64s(&[60])];
    for reverse in [false, true] {
        let f = build(&types, |cx, x| {
            let y = cx.scan(
                &x[..1],
                &x[1..2],
                &x[2..],
                &60.into(),
                reverse,
                |cx, w, c, row| {
                    let rest = cx.slice_axis(c[0], 0, 1, 8);
                    let n = cx.concatenate(&[rest, cx.reshape(row[0], &[1.into()])], 0);
                    (vec![n], vec![cx.reduce_sum(cx.mul(n, w[0]), &[0])])
                },
            );
            vec![y.0[0], y.1[0]]
        });
        check("shift register", &f);
    }
}

/// A delay line of `n` values: reads one at a position, then writes there.
fn delay_line(n: usize, steps: usize, read_late: bool) -> Arc<Function> {
    let index = Type::scalar(DType::I64);
    let types = [f64s(&[n]), index, f64s(&[steps])];
    build(&types, move |cx, x| {
        let y = cx.scan(
            &[],
            &x[..2],
            &x[2..],
            &steps.into(),
            false,
            |cx, _, c, row| {
                let (buffer, i) = (c[0], c[1]);
                let old = cx.dynamic_slice(buffer, &[i], &[1.into()]);
                let half = cx.mul(old, cx.full_like(old, 0.5));
                let new = cx.add(cx.reshape(row[0], &[1.into()]), half);
                let next = cx.dynamic_update_slice(buffer, new, &[i]);
                // The position is not bounded, so starts are clamped after the end.
                let after = cx.add(i, cx.full_like(i, 1i64));
                let y = match read_late {
                    true => cx.sub(cx.reduce_sum(next, &[0]), cx.reduce_sum(buffer, &[0])),
                    false => cx.reshape(old, &[]),
                };
                (vec![next, after], vec![y])
            },
        );
        vec![y.0[0], y.1[0]]
    })
}

#[test]
fn a_delay_line_updates_its_buffer() {
    for read_late in [false, true] {
        check("delay line", &delay_line(16, 40, read_late));
    }
    // Buffers of more than a tile, and of one element.
    check("large delay line", &delay_line(3000, 40, false));
    check("delay line of one", &delay_line(1, 40, false));
}

#[test]
fn windows_of_matrices_are_read_and_written() {
    let types = [f64s(&[6, 5, 3]), f64s(&[4]), Type::scalar(DType::I32)];
    let f = build(&types, |cx, x| {
        let y = cx.scan(
            &[],
            &[x[0], x[2]],
            &x[1..2],
            &4.into(),
            true,
            |cx, _, c, row| {
                let i = c[1];
                let zero = cx.full_like(i, 0i64);
                let sizes: [Dim; 3] = [2.into(), 2.into(), 3.into()];
                let w = cx.dynamic_slice(c[0], &[i, zero, zero], &sizes);
                let turned = cx.transpose(cx.reverse(w, &[0]), &[1, 0, 2]);
                let next = cx.mul(turned, cx.broadcast_in_dim(row[0], &sizes, &[]));
                let wide = cx.pad_zeros(next, &[0, 1, 0], &[0, 0, 0], &[0, 0, 0]);
                let next = cx.dynamic_update_slice(c[0], wide, &[zero, i, zero]);
                let table = cx.reduce_max(next, &[1]);
                let taken = cx.take(table, cx.reshape(i, &[1.into()]), 0, Bounds::Clip);
                (vec![next, cx.add(i, cx.full_like(i, 1i64))], vec![taken])
            },
        );
        vec![y.0[0], y.1[0]]
    });
    check("windows", &f);
}

#[test]
fn loops_in_loops_branches_and_calls() {
    let types = [f64s(&[3]), f64s(&[12, 3]), Type::scalar(DType::I64)];
    let f = build(&types, |cx, x| {
        let init = [x[0], x[2], x[0]];
        let y = cx.scan(&[], &init, &x[1..2], &12.into(), false, |cx, _, c, row| {
            let inner = cx.scan(&[row[0]], &[c[0]], &[], &9.into(), false, |cx, w, c, _| {
                let back = cx.reverse(c[0], &[0]);
                let next = cx.add(cx.mul(back, cx.full_like(back, 0.4)), w[0]);
                (vec![next], vec![cx.slice_axis(next, 0, 0, 2)])
            });
            let summed = cx.reduce_sum(inner.1[0], &[0]);
            let pair = cx.pad_zeros(summed, &[1], &[0], &[0]);
            let chosen = cx.switch(
                c[1],
                &[inner.0[0], pair],
                &[
                    &|cx: &dyn Emit, x: &[Val]| vec![cx.add(x[0], x[1])],
                    &|cx: &dyn Emit, x: &[Val]| vec![cx.reverse(x[1], &[0])],
                    &|_: &dyn Emit, x: &[Val]| vec![x[0]],
                ],
            )[0];
            let bounded = cx.while_loop(
                &[row[0]],
                &[chosen],
                |cx, _, c| {
                    cx.compare(
                        cx.reduce_sum(c[0], &[0]),
                        Comparison::Gt,
                        cx.full(&f64s(&[]), 0.5),
                    )
                },
                |cx, w, c| vec![cx.sub(cx.mul(c[0], cx.full_like(c[0], 0.5)), cx.mul(w[0], w[0]))],
            )[0];
            // The other two carries exchange and repeat their values.
            let next = cx.sub(cx.full_like(c[1], 2i64), c[1]);
            (vec![c[2], next, bounded], vec![c[0], bounded, bounded])
        });
        [y.0, y.1].concat()
    });
    let args: Vec<Array> = f.params().iter().map(|&p| numbers(f.ty(p))).collect();
    assert!(is_in_place(&f, &args));
    compare("nested", &f, &args);
}

#[test]
fn products_folds_and_kernels_in_steps() {
    let types = [f64s(&[4, 4]), f64s(&[4]), f64s(&[10, 4])];
    let f = build(&types, |cx, x| {
        let y = cx.scan(
            &x[..1],
            &x[1..2],
            &x[2..],
            &10.into(),
            false,
            |cx, w, c, row| {
                let h = cx.matmul(w[0], c[0]);
                let turned = cx.matmul(cx.transpose(w[0], &[1, 0]), row[0]);
                let outer = cx.matmul(
                    cx.reshape(h, &[4.into(), 1.into()]),
                    cx.reshape(turned, &[1.into(), 4.into()]),
                );
                let counts = cx.convert(
                    cx.compare(outer, Comparison::Gt, cx.full_like(outer, 0.0)),
                    DType::I32,
                );
                let n = cx.convert(cx.reduce_sum(counts, &[0]), DType::F64);
                let sorted = cx.sort(h, 0, false);
                let next = cx.tanh(cx.add(sorted, cx.mul(n, cx.reduce_prod(outer, &[1]))));
                let running = Cumulative {
                    op: Running::Sum,
                    axis: 0,
                    reverse: false,
                    exclusive: false,
                };
                (vec![next], vec![cx.op(running, &[next])])
            },
        );
        vec![y.0[0], y.1[0]]
    });
    check("products", &f);
}

#[test]
fn errors_of_steps_are_those_of_tensors() {
    let f = build(&[f64s(&[3]), f64s(&[3])], |cx, x| {
        cx.scan(&x[..1], &x[1..], &[], &20.into(), false, |cx, w, c, _| {
            let total = cx.reduce_sum(c[0], &[0]);
            let ok = cx.compare(total, Comparison::Lt, cx.full_like(total, 4.0));
            let part = cx.require(ok, total, &[total], "too large")[0];
            let next = cx.add(
                cx.reverse(c[0], &[0]),
                cx.mul(w[0], cx.broadcast_in_dim(part, &[3.into()], &[])),
            );
            (vec![next], vec![])
        })
        .0
    });
    let x = [Array::vector(vec![0.1; 3]), Array::vector(vec![1.0; 3])];
    let [old, new] = pair(&f).map(|p| p.run(&x).unwrap_err());
    assert_eq!(old.code(), Code::NotConverged);
    assert_eq!(old.to_string(), new.to_string());
}

/// `n` steps of an integer, `x -> x / row + row^2`: a step needs the scalar fallback where the row
/// is large.
fn remainders(n: usize) -> Arc<Function> {
    let i64s = |shape: &[usize]| Type::new(DType::I64, shape);
    build(&[i64s(&[]), i64s(&[n])], |cx, p| {
        let (n, start, rows) = (n.into(), &p[..1], &p[1..]);
        let (y, ys) = cx.scan(&[], start, rows, &n, false, |cx, _, c, row| {
            let y = cx.add(cx.div(c[0], row[0]), cx.mul(row[0], row[0]));
            (vec![y], vec![cx.div(y, row[0])])
        });
        [y, ys].concat()
    })
}

#[test]
fn steps_that_need_the_scalar_fallback() {
    let n = 700;
    let f = remainders(n);
    // Rows by which few, all, every second, and the steps of a range need the fallback.
    let large = |k: usize| (1i64 << 55) + 12_345 * k as i64 + 1;
    let small = |k: usize| k as i64 % 7 + 1;
    let rows: [&dyn Fn(usize) -> bool; 5] = [
        &|k| k % 97 == 5,
        &|_| true,
        &|k| k % 2 == 0,
        &|k| (100..500).contains(&k),
        &|_| false,
    ];
    for rare in rows {
        let row = |k: usize| if rare(k) { large(k) } else { small(k) };
        let rows = Array::from_vec(vec![n], (0..n).map(row).collect::<Vec<i64>>()).unwrap();
        let first = Scalar::I(i128::from(large(3)))
            .full(DType::I64, vec![])
            .unwrap();
        compare("remainders", &f, &[first, rows]);
    }
}

#[test]
fn a_loop_of_unknown_length_stacks_what_its_adjoint_reads() {
    // Euler steps of a pendulum until the time is over: 0, 1, and 300 steps.
    let f = build(&[f64s(&[2]), f64s(&[])], |cx, p| {
        let number = |cx: &dyn Emit, x: f64| cx.full(&f64s(&[]), x);
        let more = |cx: &dyn Emit, end: &[Val], c: &[Val]| cx.compare(c[1], Comparison::Lt, end[0]);
        let y = cx.while_loop(&p[1..], &[p[0], number(cx, 0.0)], more, |cx, _, c| {
            let [angle, speed] = [0, 1].map(|k| cx.index_axis(c[0], 0, k));
            let step = number(cx, 1.0 / 64.0);
            let angle = cx.add(angle, cx.mul(step, speed));
            let speed = cx.sub(speed, cx.mul(step, cx.sin(angle)));
            let both = [angle, speed].map(|v| cx.reshape(v, &[1.into()]));
            vec![cx.concatenate(&both, 0), cx.add(c[1], step)]
        });
        vec![cx.reduce_sum(y[0], &[0])]
    });
    let g = grad(&AdContext::default(), &f, &[f.params()[0]]).unwrap();
    let g = simplify(&g);
    let first = Array::from_vec(vec![2], vec![0.7, -0.2]).unwrap();
    for end in [0.0, 0.01, 4.68] {
        let args = [first.clone(), Array::scalar(end)];
        compare("pendulum", &f, &args);
        compare("gradient of a pendulum", &g, &args);
        // With the default number of steps before a loop is code.
        let program = Executor::new().compile(&Arc::new(g.clone())).unwrap();
        let want = pair(&g)[0].run(&args).unwrap();
        for _ in 0..3 {
            same("a few runs", &g, &want, &program.run(&args).unwrap());
        }
    }
    let text = cotangent_cpu::plan_text(&Arc::new(g), &Env::default()).unwrap();
    let is_code = |l: &&str| l.contains("call while") && l.contains("code of");
    assert!(text.lines().any(|l| is_code(&l)), "{text}");
}

/// Carries of many elements, some of which a step changes where they are.
#[test]
fn carries_of_many_elements_are_changed_where_nothing_else_reads_them() {
    let square = f64s(&[100, 101]);
    type Step = fn(&dyn Emit, &[Val]) -> Vec<Val>;
    let bodies: [(&str, Step); 5] = [
        ("a sum", |cx, c| vec![cx.add(c[0], cx.sin(c[1])), c[1]]),
        ("a reversed carry", |cx, c| {
            vec![cx.add(c[0], cx.reverse(c[0], &[0])), c[1]]
        }),
        ("carries that change places", |cx, c| {
            vec![cx.cos(c[1]), cx.mul(c[0], c[1])]
        }),
        ("a carry that the other one reads", |cx, c| {
            vec![
                cx.sin(c[0]),
                cx.add(c[1], cx.transpose(cx.transpose(c[0], &[1, 0]), &[1, 0])),
            ]
        }),
        ("a carry that is read after it changed", |cx, c| {
            let next = cx.sin(c[0]);
            vec![next, cx.add(cx.reverse(next, &[1]), cx.reverse(c[0], &[0]))]
        }),
    ];
    for (what, body) in bodies {
        for steps in [1, 9, 20] {
            let f = build(&[square.clone(), square.clone()], |cx, x| {
                cx.scan(&[], x, &[], &Dim::Const(steps), false, |cx, _, c, _| {
                    (body(cx, c), vec![])
                })
                .0
            });
            let x = [numbers(&square), numbers(&square)];
            compare(&format!("{what}, {steps} steps"), &f, &x);
        }
    }
}

#[test]
fn products_that_leave_out_zeros_have_numbers_beside_infinities() {
    let product = || DotGeneral {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![1],
        rhs_contract: vec![0],
        stable: false,
        strong_zero: true,
    };
    for dtype in [DType::F64, DType::F32, DType::BF16, DType::C128] {
        let ty = |shape: &[usize]| Type::new(dtype, shape);
        let f = build(&[ty(&[4, 3]), ty(&[40, 2, 4])], |cx, x| {
            let n = 40.into();
            let first = [cx.zeros(&ty(&[2, 3]))];
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], row: &[Val]| {
                let y = cx.op(product(), &[row[0], w[0]]);
                (vec![cx.add(c[0], y)], vec![y])
            };
            let y = cx.scan(&x[..1], &first, &x[1..], &n, false, step);
            vec![y.0[0], y.1[0]]
        });
        // A zero meets an infinity in the steps 3, 6, ..; others have a NaN of their own.
        let factor = |k: usize| match k % 24 {
            0 => 0.0,
            _ if k > 200 && k % 50 == 3 => f64::NAN,
            k => k as f64 - 11.5,
        };
        let other = |k: usize| {
            if k == 1 {
                f64::INFINITY
            } else {
                0.5 + k as f64
            }
        };
        let args = [(12, other as fn(usize) -> f64), (320, factor)];
        let args: Vec<Array> = std::iter::zip(f.params(), args)
            .map(|(&p, (n, x))| {
                let to = build(&[f64s(&[n])], |cx, x| {
                    let y = cx.convert(x[0], dtype);
                    vec![cx.reshape(y, &f.ty(p).shape)]
                });
                let x = Array::vector((0..n).map(x).collect::<Vec<f64>>());
                reference::run(&to, &[x]).unwrap().remove(0)
            })
            .collect();
        compare("products without zeros", &f, &args);
    }
}

#[test]
fn inner_loops_read_carries_at_computed_places() {
    let i64s = |shape: &[usize]| Type::new(DType::I64, shape);
    let types = [f64s(&[8]), i64s(&[20, 5])];
    let f = build(&types, |cx, x| {
        let step = |cx: &dyn Emit, _: &[Val], c: &[Val], row: &[Val]| {
            let inner = |cx: &dyn Emit, _: &[Val], c: &[Val], at: &[Val]| {
                let next = cx.add(at[0], cx.full(&i64s(&[]), 3i64));
                let value = cx.dynamic_index_axis(c[0], 0, next);
                let half = cx.mul(value, cx.full_like(value, 0.5));
                let y = cx.dynamic_update_index_axis(c[0], cx.sin(half), 0, at[0]);
                (vec![y], vec![half])
            };
            let y = cx.scan(&[], c, row, &5.into(), false, inner);
            (y.0, y.1)
        };
        let y = cx.scan(&[], &x[..1], &x[1..], &20.into(), false, step);
        vec![y.0[0], y.1[0]]
    });
    let at = (0..100)
        .map(|k| (k * 7 % 11 - 1) as i64)
        .collect::<Vec<i64>>();
    let args = [
        numbers(&f64s(&[8])),
        Array::from_vec(vec![20, 5], at).unwrap(),
    ];
    compare("inner loops", &f, &args);
    assert!(is_in_place(&f, &args));
}

/// Loops in the steps of a loop: their first values come from the step, their rows are in its rows
/// or computed by it, and they leave early or late. `kind` chooses what the inner steps do.
fn inner_loops(kind: usize, n: usize, dtype: DType) -> Arc<Function> {
    let number = Type::scalar(DType::I64);
    let types = [
        Type::new(dtype, [n]),
        Type::new(DType::I64, [30, 2]),
        f64s(&[30, 70]),
    ];
    build(&types, move |cx, x| {
        let y = cx.scan(
            &[],
            &x[..1],
            &x[1..],
            &30.into(),
            kind % 2 == 1,
            |cx, _, c, row| {
                let at = |k: usize| cx.index_axis(row[0], 0, k);
                let (first, limit) = (at(0), at(1));
                let weights = cx.convert(row[1], dtype);
                // A loop with rows and stacks, whose rows are computed by the step.
                let doubled = cx.add(weights, weights);
                let rows = [weights, doubled];
                let (sums, stacked) = cx.scan(
                    &[],
                    &[cx.index_axis(c[0], 0, 0)],
                    &rows,
                    &70.into(),
                    kind % 3 == 1,
                    |cx, _, c, row| {
                        let next = cx.add(cx.mul(c[0], cx.full_like(c[0], 3i64)), row[0]);
                        (vec![next], vec![cx.sub(next, row[1])])
                    },
                );
                let value = cx.add(sums[0], cx.reduce_max(stacked[0], &[0]));
                // A loop that moves elements until it finds one, or reaches the limit.
                let more = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                    let own = cx.dynamic_index_axis(c[0], 0, c[1]);
                    let differs = cx.compare(own, Comparison::Ne, w[0]);
                    cx.and(differs, cx.compare(c[1], Comparison::Lt, w[1]))
                };
                let step = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                    let one = cx.full(&number, 1i64);
                    let next = cx.dynamic_index_axis(c[0], 0, cx.add(c[1], one));
                    let moved = cx.dynamic_update_index_axis(c[0], next, 0, c[1]);
                    // Another loop in it.
                    let count = cx.while_loop(
                        &[w[1]],
                        &[c[1], c[2]],
                        |cx, w, c| cx.compare(c[0], Comparison::Lt, w[0]),
                        |cx, _, c| {
                            let two = cx.full(&number, 2i64);
                            let more = cx.add(c[1], cx.convert(c[0], dtype));
                            vec![cx.add(c[0], two), more]
                        },
                    );
                    vec![moved, cx.add(c[1], one), count[1]]
                };
                let found = cx.while_loop(&[value, limit], &[c[0], first, value], more, step);
                let y = match kind {
                    0 | 1 => cx.dynamic_update_index_axis(found[0], value, 0, first),
                    2 => cx.add(found[0], cx.broadcast_in_dim(found[2], &[n.into()], &[])),
                    _ => {
                        cx.dynamic_update_index_axis(found[0], cx.index_axis(c[0], 0, 0), 0, limit)
                    }
                };
                (vec![y], vec![found[2], cx.convert(found[1], dtype)])
            },
        );
        [y.0, y.1].concat()
    })
}

#[test]
fn loops_in_steps_have_the_bits_of_tensors() {
    for dtype in [DType::F64, DType::F32, DType::I32, DType::U8, DType::BF16] {
        for kind in 0..4 {
            for n in [1, 5, 200] {
                let f = inner_loops(kind, n, dtype);
                let whole = |shape: [usize; 2], k: i64| {
                    let x = (0..shape[0] * shape[1]).map(|i| (i as i64 * 37 + 11) % k - 2);
                    Array::from_vec(shape.to_vec(), x.collect::<Vec<i64>>()).unwrap()
                };
                let counts = (0..n).map(|i| (i * 7 % 5) as i64).collect::<Vec<i64>>();
                let to = |dtype: DType, x: Array| {
                    let f = build(&[x.ty()], |cx, x| vec![cx.convert(x[0], dtype)]);
                    reference::run(&f, &[x]).unwrap().remove(0)
                };
                let args = [
                    to(dtype, Array::vector(counts)),
                    whole([30, 2], n as i64 + 4),
                    to(DType::F64, whole([30, 70], 9)),
                ];
                compare(&format!("{dtype} {kind} {n}"), &f, &args);
                let plan = plan_text(&f, &Env::default()).unwrap();
                assert!(plan.contains("loop, code of"), "{dtype} {kind} {n}: {plan}");
            }
        }
    }
}

/// A choice between an array and the same array with other windows is made in the windows.
#[test]
fn updates_under_a_condition() {
    let types = [f64s(&[6, 5]), Type::new(DType::I64, [40, 2])];
    for kind in 0..4 {
        let f = build(&types, |cx, x| {
            let y = cx.scan(&[], &x[..1], &x[1..], &40.into(), false, |cx, _, c, row| {
                let start = [0, 1].map(|k| cx.index_axis(row[0], 0, k));
                let zero = cx.full_like(start[0], 0i64);
                let which = cx.compare(start[0], Comparison::Lt, start[1]);
                let window = cx.dynamic_slice(c[0], &start, &[2.into(), 2.into()]);
                let new = cx.add(window, cx.full_like(window, 1i64));
                let mut y = cx.dynamic_update_slice(c[0], new, &start);
                if kind >= 2 {
                    let row = cx.slice_axis(y, 0, 0, 1);
                    y = cx.dynamic_update_slice(y, row, &[start[1], zero]);
                }
                let next = match kind % 2 {
                    0 => cx.select(which, y, c[0]),
                    _ => {
                        let all = cx.broadcast_in_dim(which, &cx.ty(y).shape, &[]);
                        cx.select(all, c[0], y)
                    }
                };
                (vec![next], vec![cx.reduce_sum(next, &[0, 1])])
            });
            [y.0, y.1].concat()
        });
        let at = (0..80)
            .map(|k| (k * 7 % 11 - 2) as i64)
            .collect::<Vec<i64>>();
        let args = [
            numbers(&types[0]),
            Array::from_vec(vec![40, 2], at).unwrap(),
        ];
        compare(&format!("choice {kind}"), &f, &args);
        let f = with_simple_loops(&f);
        let scan = f.eqns().iter().find(|e| e.op.name() == "scan").unwrap();
        let body = scan.op.regions()[0].clone();
        let selects = body.eqns().iter().filter(|e| e.op.name() == "select");
        let whole =
            selects.filter(|e| body.ty(e.results().next().unwrap()).shape == f64s(&[6, 5]).shape);
        assert_eq!(whole.count(), 0, "{f}");
    }
}

/// Steps of ten operations on neighbours, which run as compiled bodies if there are enough
/// elements: about the sizes of vectors, on every type.
#[test]
fn bodies_of_steps_have_the_bits_of_tensors() {
    let dtypes = [
        DType::F32,
        DType::F64,
        DType::F16,
        DType::BF16,
        DType::C64,
        DType::C128,
        DType::I8,
        DType::U16,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
    ];
    for dtype in dtypes {
        for n in [3usize, 31, 64, 65, 257, 500] {
            let ty = Type::new(dtype, [n]);
            let f = build(&[ty.clone(), ty.clone()], |cx, x| {
                let steps = 30.into();
                let (y, rows) = cx.scan(&x[..1], &x[1..], &[], &steps, false, |cx, w, c, _| {
                    let part =
                        |from: usize, to: usize| cx.slice(c[0], &[from.into()], &[to.into()], &[1]);
                    let rolled = cx.concatenate(&[part(1, n), part(0, 1)], 0);
                    let three = cx.full_like(c[0], 3.0);
                    let a = cx.sub(cx.mul(rolled, three), w[0]);
                    let b = cx.add(cx.mul(c[0], w[0]), rolled);
                    let equal = cx.compare(a, Comparison::Eq, b);
                    let odd = match cx.ty(a).dtype.is_int() {
                        true => cx.op(Binary::Rem, &[a, cx.full_like(a, 7.0)]),
                        false => cx.tanh(a),
                    };
                    let y = cx.select(equal, a, cx.add(odd, cx.div(b, cx.add(three, three))));
                    (vec![y], vec![equal])
                });
                [y, rows].concat()
            });
            let of = |k: usize| {
                let x = |i: usize| match (k + i * 37 + 11) % 101 {
                    5 if i % 2 == 1 => f64::NAN,
                    17 => f64::INFINITY,
                    23 => -0.0,
                    m => m as f64 / 25.0 - 1.3,
                };
                let whole = |i: usize| ((k + i) as i128 * 0x9e37_79b9_7f4a) >> (i % 40);
                let int = |i| match Scalar::I(whole(i)).cast(dtype) {
                    Scalar::I(i) => i,
                    other => unreachable!("{other:?} is no integer"),
                };
                let wide = match dtype {
                    d if d.is_complex() => {
                        Wide::C((0..n).map(|i| C128::new(x(i), x(i + 3))).collect())
                    }
                    d if d.is_float() => Wide::F((0..n).map(x).collect()),
                    _ => Wide::I((0..n).map(int).collect()),
                };
                wide.narrow(dtype, [n]).unwrap()
            };
            let args = [of(1), of(2)];
            assert!(is_in_place(&f, &args), "{dtype} {n}");
            compare(&format!("{n} of {dtype}"), &f, &args);
        }
    }
}
