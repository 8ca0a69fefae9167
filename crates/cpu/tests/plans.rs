//! The plans of forty programs, as text: which computations are one step, which values have memory,
//! and which operations are calls. `BLESS=1` writes the files of `tests/plans`.

mod common;

use common::build;
use cotangent_core::ops::{Bounds, Comparison, Reduction, Sliding};
use cotangent_core::rewrite::{simplify, with_simple_loops};
use cotangent_core::transform::{AdContext, Session, batch, grad};
use cotangent_core::{DType, Dim, Emit, Env, Function, Type, Val};
use cotangent_cpu::plan_text;
use std::path::Path;
use std::sync::Arc;

fn f32s(shape: &[usize]) -> Type {
    Type::new(DType::F32, shape)
}

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

fn i64s(shape: &[usize]) -> Type {
    Type::new(DType::I64, shape)
}

/// The gradient of the sum of the first result by these parameters.
fn gradient(f: &Function, wrt: &[usize]) -> Arc<Function> {
    let sum = build(&f.param_types(), |cx, x| {
        let y = cx.inline(f, x)[0];
        let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
        vec![cx.reduce_sum(y, &axes)]
    });
    let wrt: Vec<Val> = wrt.iter().map(|&k| sum.params()[k]).collect();
    let g = grad(&AdContext::default(), &sum, &wrt).unwrap();
    Arc::new(simplify(&g))
}

/// Rows and elements of activations.
const ROWS: usize = 2000;

fn rows_of_activations() -> Vec<(&'static str, Arc<Function>)> {
    let rows = f32s(&[ROWS, 64]);
    let of = |f: &dyn Fn(&dyn Emit, Val) -> Val| {
        build(std::slice::from_ref(&rows), |cx, x| vec![f(cx, x[0])])
    };
    let softmax = of(&|cx, x| cx.softmax(x, 1));
    let norm = of(&|cx, x| cx.layer_norm(x, None, None, &[1], 1e-5));
    let logsumexp = of(&|cx, x| cx.logsumexp(x, &[1]));
    let gelu = of(&|cx, x| cx.gelu(x));
    let columns = of(&|cx, x| cx.reduce_sum(cx.exp(x), &[0]));
    let centered = of(&|cx, x| {
        let mean = cx.mean(x, &[0]);
        let shape = cx.ty(x).shape;
        cx.sub(x, cx.broadcast_in_dim(mean, &shape, &[1]))
    });
    let narrow = build(&[f32s(&[20 * ROWS, 4])], |cx, x| vec![cx.softmax(x[0], 1)]);
    let symbolic = Type::new(DType::F32, vec![Dim::sym("n"), Dim::Const(64)]);
    let symbolic = build(&[symbolic], |cx, x| vec![cx.softmax(x[0], 1)]);
    vec![
        ("softmax_gradient", gradient(&softmax, &[0])),
        ("softmax", softmax),
        ("layer_norm_gradient", gradient(&norm, &[0])),
        ("layer_norm", norm),
        ("logsumexp", logsumexp),
        ("gelu_gradient", gradient(&gelu, &[0])),
        ("sum_of_columns", columns),
        ("centered_columns", centered),
        ("softmax_of_short_rows", narrow),
        ("softmax_of_symbolic_rows", symbolic),
    ]
}

fn views() -> Vec<(&'static str, Arc<Function>)> {
    let image = f32s(&[300, 400]);
    let one = |f: &dyn Fn(&dyn Emit, Val) -> Val| {
        build(std::slice::from_ref(&image), |cx, x| vec![f(cx, x[0])])
    };
    let inner = |cx: &dyn Emit, x: Val, k: [usize; 2]| {
        let rows = cx.slice_axis(x, 0, k[0], k[0] + 298);
        cx.slice_axis(rows, 1, k[1], k[1] + 398)
    };
    let stencil = one(&|cx, x| {
        let around = [[0, 1], [2, 1], [1, 0], [1, 2]].map(|k| inner(cx, x, k));
        let sum = around.into_iter().reduce(|a, b| cx.add(a, b)).unwrap();
        cx.sub(sum, cx.mul(cx.full_like(sum, 4.0), inner(cx, x, [1, 1])))
    });
    let roll = one(&|cx, x| cx.sub(cx.roll(x, 1, 0), cx.roll(x, 1, 1)));
    let stacked = one(&|cx, x| {
        let parts = [cx.sin(x), cx.cos(x), x];
        cx.exp(cx.concatenate(&parts, 1))
    });
    let padded = one(&|cx, x| {
        let zero = cx.full(&f32s(&[]), 0.0);
        cx.exp(cx.pad(x, zero, &[2, 1], &[1, 2], &[0, 0]))
    });
    let transposed = one(&|cx, x| {
        let y = cx.transpose(x, &[1, 0]);
        cx.tanh(cx.add(y, cx.reverse(y, &[1])))
    });
    let outer = build(&[f32s(&[1000]), f32s(&[1000])], |cx, x| {
        let shape = [Dim::Const(1000), Dim::Const(1000)];
        let (a, b) = (
            cx.broadcast_in_dim(x[0], &shape, &[0]),
            cx.broadcast_in_dim(x[1], &shape, &[1]),
        );
        vec![cx.reduce_sum(cx.tanh(cx.mul(a, b)), &[0])]
    });
    let distances = build(&[f32s(&[500, 3]), f32s(&[400, 3])], |cx, x| {
        let shape = [500, 400, 3].map(Dim::Const);
        let (a, b) = (
            cx.broadcast_in_dim(x[0], &shape, &[0, 2]),
            cx.broadcast_in_dim(x[1], &shape, &[1, 2]),
        );
        vec![cx.reduce_sum(cx.square(cx.sub(a, b)), &[2])]
    });
    let numbers = build(&[f64s(&[40])], |cx, x| {
        let at = |k: usize| cx.index_axis(x[0], 0, k);
        let terms = (0..20).map(|k| cx.mul(at(k), cx.sin(at(39 - k))));
        vec![terms.reduce(|a, b| cx.add(a, b)).unwrap()]
    });
    vec![
        ("stencil_gradient", gradient(&stencil, &[0])),
        ("stencil", stencil),
        ("roll_gradient", gradient(&roll, &[0])),
        ("concatenated", stacked),
        ("padded", padded),
        ("transposed_and_reversed", transposed),
        ("outer_sum_gradient", gradient(&outer, &[0])),
        ("outer_sum", outer),
        ("distances_gradient", gradient(&distances, &[0])),
        ("numbers_of_a_vector_gradient", gradient(&numbers, &[0])),
    ]
}

fn products_and_calls() -> Vec<(&'static str, Arc<Function>)> {
    let mlp = [f32s(&[256, 64]), f32s(&[64, 128]), f32s(&[128])];
    let mlp = build(&mlp, |cx, x| {
        let h = cx.matmul(x[0], x[1]);
        let shape = cx.ty(h).shape;
        vec![cx.tanh(cx.add(h, cx.broadcast_in_dim(x[2], &shape, &[1])))]
    });
    let small = build(&[f64s(&[1000, 3, 3]), f64s(&[1000, 3, 3])], |cx, x| {
        vec![cx.matmul(x[0], cx.matmul(x[1], x[0]))]
    });
    let factor = build(&[f64s(&[500, 4, 4])], |cx, x| vec![cx.cholesky(x[0])]);
    let det = build(&[f64s(&[500, 3, 3])], |cx, x| vec![cx.det(x[0])]);
    let rows = build(&[f32s(&[1000, 16]), i64s(&[5000])], |cx, x| {
        vec![cx.take(x[0], x[1], 0, Bounds::Clip)]
    });
    let loss = build(&[f32s(&[64, 1000]), i64s(&[64])], |cx, x| {
        vec![cx.cross_entropy(x[0], x[1], 1)]
    });
    let top = build(&[f32s(&[100, 1000])], |cx, x| {
        let (values, _) = cx.top_k(x[0], 1, &Dim::Const(10));
        vec![values]
    });
    let pool = build(&[f32s(&[8, 64, 64])], |cx, x| {
        let window = [1, 2, 2].map(Dim::Const);
        let sliding = Sliding {
            stride: vec![1, 2, 2],
            ..Sliding::plain(3)
        };
        vec![cx.reduce_window(Reduction::Max, cx.tanh(x[0]), &window, &sliding, &[0, 0, 0])]
    });
    let bits = build(&[i64s(&[1000])], |cx, x| {
        let y = cx.mul(x[0], cx.full_like(x[0], 0x9E37));
        vec![cx.xor(y, cx.shift_right_logical(y, cx.full_like(y, 7)))]
    });
    let waves = build(&[f32s(&[64, 256])], |cx, x| {
        let y = cx.fft(cx.complex(x[0], cx.sin(x[0])), 1);
        vec![cx.square(cx.real(y))]
    });
    vec![
        ("layer_gradient", gradient(&mlp, &[1, 2])),
        ("layer", mlp),
        ("batch_of_small_products", small),
        ("batch_of_small_factors", factor),
        ("determinants_gradient", gradient(&det, &[0])),
        ("rows_of_a_table_gradient", gradient(&rows, &[0])),
        ("cross_entropy_gradient", gradient(&loss, &[0])),
        ("top_k", top),
        ("pooled", pool),
        ("integers", bits),
        ("spectrum", waves),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of programs")]
fn loops() -> Vec<(&'static str, Arc<Function>)> {
    let number = |cx: &dyn Emit, x: f64| cx.full(&f64s(&[]), x);
    let attractor = build(&[f64s(&[3])], |cx, x| {
        let y = cx.scan(&[], &[x[0]], &[], &Dim::Const(500), false, |cx, _, c, _| {
            let [a, b, d] = [0, 1, 2].map(|k| cx.index_axis(c[0], 0, k));
            let da = cx.mul(number(cx, 10.0), cx.sub(b, a));
            let db = cx.sub(cx.mul(a, cx.sub(number(cx, 28.0), d)), b);
            let dd = cx.sub(cx.mul(a, b), cx.mul(number(cx, 8.0 / 3.0), d));
            let parts = [da, db, dd].map(|v| cx.reshape(v, &[Dim::Const(1)]));
            let step = cx.concatenate(&parts, 0);
            let next = cx.add(c[0], cx.mul(step, cx.full_like(step, 0.01)));
            (vec![next], vec![next])
        });
        y.1
    });
    let cell = build(
        &[f32s(&[64]), f32s(&[64, 64]), f32s(&[100, 64])],
        |cx, x| {
            let y = cx.scan(
                &[x[1]],
                &[x[0]],
                &[x[2]],
                &Dim::Const(100),
                false,
                |cx, w, h, x| {
                    let h = cx.tanh(cx.add(cx.matmul(h[0], w[0]), x[0]));
                    (vec![h], vec![h])
                },
            );
            y.1
        },
    );
    let decay = build(&[f32s(&[4096])], |cx, x| {
        let y = cx.scan(&[], &[x[0]], &[], &Dim::Const(100), false, |cx, _, c, _| {
            let step = cx.mul(cx.sin(c[0]), cx.full_like(c[0], 0.01));
            (vec![cx.sub(c[0], step)], vec![])
        });
        y.0
    });
    let newton = build(&[f64s(&[])], |cx, x| {
        let more = |cx: &dyn Emit, _: &[Val], c: &[Val]| {
            let error = cx.abs(cx.sub(cx.square(c[0]), number(cx, 2.0)));
            cx.compare(error, Comparison::Gt, number(cx, 1e-12))
        };
        cx.while_loop(&[], &[x[0]], more, |cx, _, c| {
            let half = cx.add(c[0], cx.div(number(cx, 2.0), c[0]));
            vec![cx.mul(half, number(cx, 0.5))]
        })
    });
    let filled = build(&[f64s(&[100])], |cx, x| {
        let y = cx.scan(
            &[x[0]],
            &[x[0]],
            &[],
            &Dim::Const(90),
            false,
            |cx, k, c, _| {
                let first = cx.slice_axis(c[0], 0, 1, 100);
                let last = cx.slice_axis(k[0], 0, 0, 1);
                (vec![cx.concatenate(&[first, last], 0)], vec![])
            },
        );
        y.0
    });
    let branch = build(&[f32s(&[1000]), Type::scalar(DType::Bool)], |cx, x| {
        cx.cond(
            x[1],
            &[x[0]],
            |cx, x| vec![cx.sin(x[0])],
            |cx, x| vec![cx.neg(x[0])],
        )
    });
    let eight = Dim::Const(8);
    let (many, _) = batch(&Session::default(), &newton, &[true], &[true], &eight).unwrap();
    vec![
        ("attractor_gradient", gradient(&attractor, &[0])),
        ("attractor", attractor),
        ("recurrent_cell_gradient", gradient(&cell, &[1])),
        ("recurrent_cell", cell),
        ("recurrence_of_elements", decay),
        ("newton", newton),
        ("newton_for_each_of_a_batch", Arc::new(many)),
        ("shift_register", filled),
        ("branch_gradient", gradient(&branch, &[0])),
    ]
}

#[test]
fn plans_are_the_known_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let parts = [
        rows_of_activations(),
        views(),
        products_and_calls(),
        loops(),
    ];
    let (mut all, mut other) = (0, Vec::new());
    for (name, f) in parts.into_iter().flatten() {
        all += 1;
        let mut env = Env::default();
        env.insert("n".into(), ROWS);
        let f = with_simple_loops(&f);
        // Whether a loop is machine code depends on the processor.
        let plan = plan_text(&f, &env).unwrap();
        let plan = plan
            .lines()
            .map(|l| l.split_once(": loop, ").map_or(l, |l| l.0));
        let now = format!("{f}\n{}\n", plan.collect::<Vec<_>>().join("\n"));
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != now {
            other.push(format!("{name}:\n{now}"));
        }
    }
    assert_eq!(all, 40);
    assert!(other.is_empty(), "BLESS=1 writes\n{}", other.join("\n"));
}
