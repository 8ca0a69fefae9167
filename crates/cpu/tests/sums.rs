//! Accuracy of sums in derivatives: one sum, computed by a reduction and by the transpose of every
//! operation that sums cotangents.
//!
//! The derivative of every form with respect to `w` is the sum of the elements of a list. Its error
//! is at most `(c + log2 n) u Σ|x|`, with `c = 256` for products and convolutions and 1 elsewhere;
//! under `stable` it is the exact sum, rounded once.

mod common;

use cotangent_core::ops::{
    Bounds, Checkpoint, Combine, ConvolutionSpec, Cumulative, DotGeneral, Reduction, Running,
    Sliding, Windows,
};
use cotangent_core::transform::{AdContext, Numerics, Session, grad, hvp, jvp};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Function, Type, Val, Wide};
use std::sync::Arc;

/// A function of the scalar `w`, the list and its length.
type Form = fn(&dyn Emit, Val, Val, usize) -> Val;

fn total(cx: &dyn Emit, x: Val) -> Val {
    let axes: Vec<usize> = (0..cx.ty(x).rank()).collect();
    cx.reduce_sum(x, &axes)
}

fn like(cx: &dyn Emit, x: Val, shape: &[usize]) -> Type {
    Type::new(
        cx.ty(x).dtype,
        shape.iter().map(|&n| Dim::Const(n)).collect::<Vec<_>>(),
    )
}

/// `[w, rest, rest, ..]`.
fn first(cx: &dyn Emit, w: Val, rest: f64, n: usize) -> Val {
    let others = cx.full(&like(cx, w, &[n - 1]), rest);
    cx.concatenate(&[cx.reshape(w, &[Dim::Const(1)]), others], 0)
}

fn broadcast(cx: &dyn Emit, w: Val, n: usize) -> Val {
    cx.broadcast_in_dim(w, &like(cx, w, &[n]).shape, &[])
}

fn scan(cx: &dyn Emit, w: Val, a: Val, n: usize, reverse: bool, checkpoint: Checkpoint) -> Val {
    let step = |cx: &dyn Emit, w: &[Val], c: &[Val], x: &[Val]| {
        (vec![cx.add(c[0], cx.mul(w[0], x[0]))], vec![])
    };
    let zero = cx.full_like(w, 0.0);
    cx.checkpointing(checkpoint)
        .scan(&[w], &[zero], &[a], &Dim::Const(n), reverse, step)
        .0[0]
}

/// A scan whose steps multiply `[[w, 0, 0], ..]` by `[a[t], 0, 0]`, with the products stacked.
fn scan_of_products(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let zeros = |shape: &[usize]| cx.zeros(&like(cx, w, shape));
    let one = [Dim::Const(1), Dim::Const(1)];
    let row = cx.concatenate(&[cx.reshape(w, &one), zeros(&[1, 2])], 1);
    let matrix = cx.concatenate(&[row, zeros(&[2, 3])], 0);
    let column = cx.reshape(a, &[Dim::Const(n), Dim::Const(1)]);
    let rows = cx.concatenate(&[column, zeros(&[n, 2])], 1);
    let step = |cx: &dyn Emit, w: &[Val], _: &[Val], x: &[Val]| {
        let y = cx.dot_general(w[0], x[0], DotGeneral::contract(&[1], &[0]));
        (vec![], vec![y])
    };
    let y = cx
        .scan(&[matrix], &[], &[rows], &Dim::Const(n), false, step)
        .1[0];
    total(cx, y)
}

/// A scan in which `w` is a carry that no step changes.
fn carried(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let step = |cx: &dyn Emit, _: &[Val], c: &[Val], x: &[Val]| {
        (vec![cx.add(c[0], cx.mul(c[1], x[0])), c[1]], vec![])
    };
    cx.scan(
        &[],
        &[cx.full_like(w, 0.0), w],
        &[a],
        &Dim::Const(n),
        false,
        step,
    )
    .0[0]
}

fn element(cx: &dyn Emit, a: Val, i: Val) -> Val {
    cx.reshape(cx.dynamic_slice(a, &[i], &[Dim::Const(1)]), &[])
}

fn fori(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let end = cx.full(&Type::scalar(DType::I64), n as i64);
    let step = |cx: &dyn Emit, x: &[Val], i: Val, c: &[Val]| {
        vec![cx.add(c[0], cx.mul(x[0], element(cx, x[1], i)))]
    };
    cx.fori(0, end, &[w, a], &[cx.full_like(w, 0.0)], step)[0]
}

/// A loop without captures, as in StableHLO.
fn carried_while(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let i64s = Type::scalar(DType::I64);
    let init = [cx.full(&i64s, 0i64), cx.full_like(w, 0.0), w, a];
    let end = n as i64;
    let y = cx.while_loop(
        &[],
        &init,
        |cx, _, c| {
            cx.compare(
                c[0],
                cotangent_core::ops::Comparison::Lt,
                cx.full_like(c[0], end),
            )
        },
        |cx, _, c| {
            let next = cx.add(c[0], cx.full_like(c[0], 1i64));
            vec![
                next,
                cx.add(c[1], cx.mul(c[2], element(cx, c[3], c[0]))),
                c[2],
                c[3],
            ]
        },
    );
    y[1]
}

fn gather(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let table = first(cx, w, 2.0, 3);
    let at = cx.full(&Type::new(DType::I32, [n]), 0i64);
    total(cx, cx.mul(cx.take(table, at, 0, Bounds::Drop), a))
}

/// Gathers rows of a table, like an embedding.
fn rows(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let table = cx.broadcast_in_dim(first(cx, w, 2.0, 3), &like(cx, w, &[3, 2]).shape, &[0]);
    let at = cx.full(&Type::new(DType::I32, [n]), 0i64);
    let weights = cx.pad(
        cx.reshape(a, &[Dim::Const(n), Dim::Const(1)]),
        cx.full_like(w, 0.0),
        &[0, 0],
        &[0, 1],
        &[0, 0],
    );
    total(cx, cx.mul(cx.take(table, at, 0, Bounds::Drop), weights))
}

fn matmul(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let column = cx.reshape(a, &[Dim::Const(n), Dim::Const(1)]);
    total(
        cx,
        cx.matmul(column, cx.reshape(w, &[Dim::Const(1), Dim::Const(1)])),
    )
}

fn batched_matmul(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let column = cx.reshape(a, &[Dim::Const(1), Dim::Const(n), Dim::Const(1)]);
    let both = cx.concatenate(&[column, cx.full_like(column, 0.5)], 0);
    let w = cx.reshape(w, &[Dim::Const(1), Dim::Const(1), Dim::Const(1)]);
    let y = cx.matmul(both, cx.concatenate(&[w, cx.full_like(w, 3.0)], 0));
    total(
        cx,
        cx.slice(
            y,
            &[0, 0, 0].map(Dim::Const),
            &[1, n, 1].map(Dim::Const),
            &[1, 1, 1],
        ),
    )
}

fn convolution(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let image = cx.reshape(a, &[1, 1, n].map(Dim::Const));
    total(
        cx,
        cx.convolution(
            image,
            cx.reshape(w, &[1, 1, 1].map(Dim::Const)),
            &ConvolutionSpec::default(),
        ),
    )
}

/// A convolution with a kernel of two elements and five output channels, of which the first
/// contributes.
fn wide_convolution(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let image = cx.reshape(a, &[1, 1, n].map(Dim::Const));
    let kernel = cx.reshape(first(cx, w, 0.0, 10), &[5, 1, 2].map(Dim::Const));
    let spec = ConvolutionSpec {
        padding: vec![(0, 1)],
        ..ConvolutionSpec::default()
    };
    total(cx, cx.convolution(image, kernel, &spec))
}

/// A derivative with respect to the image of a convolution: one element under a long kernel.
fn under_a_kernel(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let image = cx.reshape(w, &[1, 1, 1].map(Dim::Const));
    let kernel = cx.reshape(a, &[1, 1, n].map(Dim::Const));
    let high = n as i64 - 1;
    let spec = ConvolutionSpec {
        padding: vec![(high, high)],
        ..ConvolutionSpec::default()
    };
    total(cx, cx.convolution(image, kernel, &spec))
}

fn cumulative(cx: &dyn Emit, w: Val, a: Val, n: usize, op: Running, rest: f64) -> Val {
    total(
        cx,
        cx.mul(cx.op(Cumulative::new(op, 0), &[first(cx, w, rest, n)]), a),
    )
}

fn windows(cx: &dyn Emit, w: Val, a: Val, n: usize, op: Reduction, rest: f64) -> Val {
    let sliding = Sliding {
        low: vec![n as i64 - 1],
        ..Sliding::plain(1)
    };
    total(
        cx,
        cx.mul(
            cx.reduce_window(op, first(cx, w, rest, n), &[Dim::Const(n)], &sliding, &[0]),
            a,
        ),
    )
}

fn segments(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let at = cx.full(&Type::new(DType::I32, [n]), 1i64);
    let y = cx.put(
        Combine::Add,
        cx.full(&like(cx, w, &[3]), 0.0),
        at,
        a,
        0,
        Bounds::Drop,
    );
    cx.mul(
        w,
        cx.reshape(cx.slice(y, &[Dim::Const(1)], &[Dim::Const(2)], &[1]), &[]),
    )
}

/// A scatter-max into one element, whose cotangent is summed over the updates that it was compared
/// with.
fn extreme_at_a_place(cx: &dyn Emit, w: Val, a: Val, n: usize) -> Val {
    let at = cx.full(&Type::new(DType::I32, [n]), 0i64);
    let table = cx.reshape(w, &[Dim::Const(1)]);
    let y = cx.put(
        Combine::Max,
        table,
        at,
        cx.full(&like(cx, w, &[n]), -9.0),
        0,
        Bounds::Drop,
    );
    total(cx, cx.mul(broadcast(cx, cx.reshape(y, &[]), n), a))
}

/// Forms: name, `c`, whether they take `n²` operations, and function.
const FORMS: &[(&str, f64, bool, Form)] = &[
    ("reduction", 1.0, false, |cx, w, a, _| {
        cx.mul(w, total(cx, a))
    }),
    ("broadcast", 1.0, false, |cx, w, a, n| {
        total(cx, cx.mul(broadcast(cx, w, n), a))
    }),
    ("scan", 1.0, false, |cx, w, a, n| {
        scan(cx, w, a, n, false, Checkpoint::Never)
    }),
    ("reverse scan", 1.0, false, |cx, w, a, n| {
        scan(cx, w, a, n, true, Checkpoint::Never)
    }),
    ("scan of products", 256.0, false, scan_of_products),
    ("carried", 1.0, false, carried),
    ("fori", 1.0, false, fori),
    ("carried while", 1.0, false, carried_while),
    ("gather", 1.0, false, gather),
    ("rows", 1.0, false, rows),
    ("matmul", 256.0, false, matmul),
    ("batched matmul", 256.0, false, batched_matmul),
    ("convolution", 256.0, false, convolution),
    ("wide convolution", 256.0, false, wide_convolution),
    ("under a kernel", 256.0, true, under_a_kernel),
    ("cumsum", 1.0, false, |cx, w, a, n| {
        cumulative(cx, w, a, n, Running::Sum, 0.0)
    }),
    ("cummax", 1.0, false, |cx, w, a, n| {
        cumulative(cx, w, a, n, Running::Max, -9.0)
    }),
    ("cumprod", 1.0, false, |cx, w, a, n| {
        cumulative(cx, w, a, n, Running::Prod, 1.0)
    }),
    ("window sums", 1.0, true, |cx, w, a, n| {
        windows(cx, w, a, n, Reduction::Sum, 0.0)
    }),
    ("window maxima", 1.0, true, |cx, w, a, n| {
        windows(cx, w, a, n, Reduction::Max, -9.0)
    }),
    ("segments", 1.0, false, segments),
    ("scatter extrema", 1.0, false, extreme_at_a_place),
];

fn unit(dtype: DType) -> f64 {
    0.5f64.powi(match dtype {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        _ => 53,
    })
}

fn array(dtype: DType, x: Vec<f64>) -> Array {
    let n = x.len();
    Wide::F(x).narrow(dtype, [n]).unwrap()
}

/// Sum of numbers in twice the precision of f64, and sum of their absolute values.
fn exact(x: &[f64]) -> (f64, f64) {
    let (mut sum, mut rest) = (0.0f64, 0.0);
    for &x in x {
        rest += cotangent_core::math::add_error(sum, x);
        sum += x;
    }
    (sum + rest, x.iter().map(|x| x.abs()).sum())
}

fn lists(dtype: DType, n: usize) -> Vec<Array> {
    let u = unit(dtype);
    let scattered = |k: usize| {
        ((k * 7919 % 1009) as f64 / 1009.0 - 0.3) * if k.is_multiple_of(3) { 4.0 } else { 0.01 }
    };
    // Terms below half a unit in the last place of the first element are lost in a naive sum.
    let lost = |k: usize| if k == 0 { 1.0 } else { u };
    let late = |k: usize| if k + 1 == n { 1.0 } else { u * 0.75 };
    vec![
        array(dtype, vec![0.1; n]),
        array(dtype, (0..n).map(scattered).collect()),
        array(dtype, (0..n).map(lost).collect()),
        array(dtype, (0..n).map(late).collect()),
    ]
}

/// Error of a sum in units of `u Σ|x|`; at most `c + log2 n` are allowed.
fn units(got: f64, list: &Array) -> f64 {
    let (sum, size) = exact(&list.to_f64());
    (got - sum).abs() / (unit(list.dtype()) * size)
}

fn derived(form: Form, list: &Array, stable: bool, second: bool) -> Arc<Function> {
    let ad = AdContext::builder()
        .with_numerics(Numerics {
            stable,
            ..Numerics::default()
        })
        .build()
        .unwrap();
    let b = Builder::new("f", ad.session());
    let (w, a) = (
        b.param(Type::scalar(list.dtype()), None),
        b.param(list.ty(), None),
    );
    let n = list.shape()[0];
    let cx: &dyn Emit = &b;
    let y = if second {
        form(cx, cx.scale_by(0.5, cx.mul(w, w)), a, n)
    } else {
        form(cx, w, a, n)
    };
    let f = b.finish(&[y]).unwrap();
    Arc::new(
        if second {
            hvp(&ad, &f, &[w])
        } else {
            grad(&ad, &f, &[w])
        }
        .unwrap(),
    )
}

fn sum_of(form: Form, list: &Array, stable: bool) -> f64 {
    let w = array(list.dtype(), vec![1.0]).reshape([]).unwrap();
    common::run(&derived(form, list, stable, false), &[w, list.clone()])[0].to_f64()[0]
}

const TYPES: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

#[test]
fn errors_grow_as_the_logarithm_of_the_number_of_terms() {
    let mut wrong = Vec::new();
    for dtype in TYPES {
        for (k, &(name, c, square, form)) in FORMS.iter().enumerate() {
            let n = if square {
                300
            } else if c > 1.0 {
                20_000
            } else {
                5000
            };
            for (l, list) in lists(dtype, n)
                .iter()
                .enumerate()
                .filter(|(l, _)| (l + k) % 2 == 0 || dtype == DType::F32)
            {
                let e = units(sum_of(form, list, false), list);
                if e > c + (n as f64).log2() {
                    wrong.push(format!(
                        "{name} of list {l} in {dtype}: {e:.1} units of {n} terms"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A million terms in single precision, where errors of second order matter.
#[test]
fn a_million_terms_lose_nothing() {
    for name in [
        "scan",
        "scan of products",
        "gather",
        "matmul",
        "convolution",
    ] {
        let (_, c, _, form) = FORMS.iter().find(|f| f.0 == name).unwrap();
        let n = 1 << 20;
        let list = array(DType::F32, vec![0.1; n]);
        let e = units(sum_of(*form, &list, false), &list);
        assert!(e <= c + (n as f64).log2(), "{name}: {e}");
    }
}

#[test]
fn stable_sums_of_lists_that_cancel_are_exact() {
    let mut wrong = Vec::new();
    for (dtype, big) in [
        (DType::F32, 1e8),
        (DType::F64, 1e17),
        (DType::F16, 4096.0),
        (DType::BF16, 1024.0),
    ] {
        let mut list = [big, 1.0, -big].repeat(300);
        list.push(1.0);
        let (long, short) = (
            array(dtype, list),
            array(dtype, [big, 1.0, -big].repeat(60)),
        );
        for &(name, _, square, form) in FORMS {
            let list = if square { &short } else { &long };
            let want = array(dtype, vec![exact(&list.to_f64()).0]).to_f64()[0];
            let got = sum_of(form, list, true);
            if got != want {
                wrong.push(format!("{name} in {dtype}: {got} is not {want}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A form of the sum of all elements of a vector.
type SumForm = fn(&dyn Emit, Val) -> Val;

/// Sums of the primal program are plain; sums of its tangents are stable.
#[test]
fn stable_tangents_of_plain_sums_are_exact() {
    let ad = AdContext::builder()
        .with_numerics(Numerics {
            stable: true,
            ..Numerics::default()
        })
        .build()
        .unwrap();
    let sums: [(&str, SumForm); 4] = [
        ("reduce_sum", total),
        ("sum_to", |cx, x| {
            total(cx, cx.sum_to(x, &like(cx, x, &[1]).shape))
        }),
        ("dot_general", |cx, x| {
            cx.dot_general(x, cx.full_like(x, 1.0), DotGeneral::contract(&[0], &[0]))
        }),
        ("scatter", |cx, x| {
            let into = cx.full(&like(cx, x, &[1]), 0.0);
            let all = cx.full(&cx.ty(x).with_dtype(DType::I64), 0i64);
            total(
                cx,
                cx.scatter(
                    Combine::Add,
                    &Windows::parts(1, 0, 1),
                    Bounds::Drop,
                    into,
                    all,
                    x,
                ),
            )
        }),
    ];
    for (dtype, big) in [
        (DType::F32, 1e8),
        (DType::F64, 1e17),
        (DType::F16, 4096.0),
        (DType::BF16, 1024.0),
    ] {
        let mut list = [big, 1.0, -big].repeat(300);
        list.push(1.0);
        let list = array(dtype, list);
        for (name, sum) in sums {
            let b = Builder::new("f", Session::default());
            let x = b.param(list.ty(), None);
            let y = sum(&b, x);
            let f = b.finish(&[y]).unwrap();
            let tangent = jvp(&ad, &f, &[x]).unwrap();
            let y = common::run(&Arc::new(tangent), &[list.clone(), list.clone()]);
            let want = array(dtype, vec![301.0]).to_f64()[0];
            assert_eq!(y[1].to_f64()[0], want, "{name} in {dtype}");
        }
    }
}

/// Forward over reverse: the tangent of a sum is a sum with the same error bound.
#[test]
fn second_derivatives_are_summed_alike() {
    let mut wrong = Vec::new();
    for &(name, c, _, form) in FORMS
        .iter()
        .filter(|f| !f.2 && !["cummax", "scatter extrema"].contains(&f.0))
    {
        let n = 3000;
        for list in lists(DType::F32, n) {
            let (w, t) = (Array::scalar(1.0f32), Array::scalar(1.0f32));
            // d²/dw² of Σ a w² / 2; the form is linear in w.
            let y = common::run(&derived(form, &list, false, true), &[w, list.clone(), t]);
            let e = units(y[0].to_f64()[0], &list);
            if e > c + (n as f64).log2() + 2.0 {
                wrong.push(format!("{name}: {e:.1} units"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A sequential sum exceeds the bound for every type, so the tests above can fail.
#[test]
fn a_sum_one_by_one_is_found() {
    for dtype in TYPES {
        let n = 5000;
        let far = lists(dtype, n).iter().any(|list| {
            let round = |x: f64| array(dtype, vec![x]).to_f64()[0];
            let sum = list.to_f64().into_iter().fold(0.0, |s, x| round(s + x));
            units(sum, list) > 1.0 + (n as f64).log2()
        });
        assert!(far, "{dtype}");
    }
}
