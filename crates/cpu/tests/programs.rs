//! Whole programs: every size, long chains, the same bits for every layout, stable sums, errors and
//! limits.

mod common;

use common::{build, check, numbers, run};
use cotangent_core::ops::{
    Comparison, Constant, Iota, Qr, Reduce, Reduction, Slogdet, Transpose, TriangularSolve,
};
use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{Array, Code, DType, Dim, Emit, Function, Type, Val, Wide};
use cotangent_cpu::compile;
use std::sync::Arc;

fn vector(dtype: DType) -> Type {
    Type::new(dtype, vec![Dim::sym("n")])
}

fn sum(cx: &dyn Emit, x: Val, axes: &[usize], stable: bool) -> Val {
    cx.op(Reduce::new(Reduction::Sum, axes, stable), &[x])
}

#[test]
fn one_program_serves_every_size() {
    let f = build(&[vector(DType::F32)], |cx, x| {
        let y = cx.mul(cx.sin(x[0]), cx.exp(x[0]));
        let total = sum(cx, y, &[0], false);
        vec![
            y,
            total,
            cx.broadcast_in_dim(total, &cx.ty(x[0]).shape, &[]),
        ]
    });
    let ad = AdContext::default();
    let scalar = build(&[vector(DType::F64)], |cx, x| {
        vec![sum(cx, cx.sin(cx.mul(x[0], x[0])), &[0], false)]
    });
    let g = Arc::new(grad(&ad, &scalar, scalar.params()).unwrap());
    let (f, g) = (compile(&f).unwrap(), compile(&g).unwrap());
    for n in [0, 1, 5, 1000, 1_000_000] {
        let x = numbers(DType::F32, &[n], 3);
        let y = f.run(std::slice::from_ref(&x)).unwrap();
        assert!(y[0].shape() == [n] && y[2].shape() == [n] && y[1].shape().is_empty());
        let x = numbers(DType::F64, &[n], 4);
        let got = g.run(std::slice::from_ref(&x)).unwrap()[0].to_f64();
        let want = x.to_f64().into_iter().map(|x| (x * x).cos() * 2.0 * x);
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-14) && got.len() == n);
    }
}

#[test]
fn a_million_operations_on_a_small_stack() {
    let work = || {
        let f = build(&[Type::scalar(DType::F64)], |cx, x| {
            let mut y = x[0];
            for i in 0..1_000_000 {
                y = if i % 2 == 0 {
                    cx.neg(y)
                } else {
                    cx.add(y, x[0])
                };
            }
            vec![y]
        });
        let program = compile(&f).unwrap();
        assert_eq!(
            program.run(&[Array::scalar(3.0)]).unwrap()[0].to_f64(),
            [3.0]
        );
        drop((program, f));
    };
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

/// A program of many operations on views of its arguments.
fn mixture(cx: &dyn Emit, x: Val, y: Val) -> Vec<Val> {
    let z = cx.mul(cx.add(x, y), cx.tanh(x));
    let transposed = cx.op(Transpose { perm: vec![1, 0] }, &[z]);
    vec![
        sum(cx, z, &[0], false),
        sum(cx, z, &[1], false),
        sum(cx, transposed, &[0, 1], false),
        z,
        transposed,
    ]
}

#[test]
fn runs_repeat_to_the_bit_whatever_the_layout() {
    let (shape, transposed) = ([70, 130], [130, 70]);
    let ty = |shape| Type::new(DType::F32, shape);
    let (x, y) = (
        numbers(DType::F32, &shape, 1),
        numbers(DType::F32, &shape, 2),
    );
    let f = build(&[ty(shape), ty(shape)], |cx, x| mixture(cx, x[0], x[1]));
    let perm = || Transpose { perm: vec![1, 0] };
    let through = build(&[ty(transposed), ty(transposed)], |cx, x| {
        mixture(cx, cx.op(perm(), &[x[0]]), cx.op(perm(), &[x[1]]))
    });
    let flip = build(&[ty(shape)], |cx, x| vec![cx.op(perm(), &[x[0]])]);
    let flip = |a: &Array| run(&flip, std::slice::from_ref(a)).remove(0);
    let want = run(&f, &[x.clone(), y.clone()]);
    let views = run(&through, &[flip(&x), flip(&y)]);
    let again = run(&f, &[x, y]);
    for ((a, b), c) in want.iter().zip(&views).zip(&again) {
        assert!(a.same_bits(b) && a.same_bits(c));
    }
}

/// Full and partial blocks of rows, of one matrix and of several, with elements of every size.
#[test]
fn transposed_operands_have_the_bits_of_their_copies() {
    type Body = fn(&dyn Emit, Val, Val) -> Vec<Val>;
    let bodies: [Body; 3] = [
        |cx, x, y| vec![cx.add(x, y), cx.mul(y, y)],
        |cx, x, y| {
            vec![
                cx.select(cx.compare(x, Comparison::Lt, y), x, y),
                cx.convert(y, DType::F64),
            ]
        },
        |cx, x, y| {
            let rows = sum(cx, cx.mul(x, y), &[cx.ty(x).rank() - 1], false);
            vec![cx.mul(
                y,
                cx.broadcast_in_dim(
                    rows,
                    &cx.ty(x).shape,
                    &(0..cx.ty(rows).rank()).collect::<Vec<_>>(),
                ),
            )]
        },
    ];
    let shapes: [&[usize]; 6] = [
        &[64, 64],
        &[257, 48],
        &[16, 300],
        &[3, 40, 33],
        &[2, 5, 17, 16],
        &[5, 600, 1100],
    ];
    for (shape, body) in shapes
        .into_iter()
        .flat_map(|s| bodies.iter().map(move |b| (s, b)))
    {
        let rank = shape.len();
        let perm: Vec<usize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
        let transposed: Vec<usize> = perm.iter().map(|&a| shape[a]).collect();
        for dtype in [DType::F32, DType::F64, DType::BF16, DType::I64] {
            let (x, y) = (numbers(dtype, shape, 1), numbers(dtype, &transposed, 2));
            let across = build(&[x.ty(), y.ty()], |cx, x| {
                body(cx, x[0], cx.transpose(x[1], &perm))
            });
            let plain = build(&[x.ty(), x.ty()], |cx, x| body(cx, x[0], x[1]));
            let flip = build(&[y.ty()], |cx, x| vec![cx.transpose(x[0], &perm)]);
            let copy = run(&flip, std::slice::from_ref(&y)).remove(0);
            let (got, want) = (run(&across, &[x.clone(), y]), run(&plain, &[x, copy]));
            assert!(
                got.iter().zip(&want).all(|(a, b)| a.same_bits(b)),
                "{dtype} {shape:?}"
            );
        }
    }
}

#[test]
fn stable_sums() {
    let total = |x: Array, stable| {
        let f = build(&[x.ty()], |cx, x| vec![sum(cx, x[0], &[0], stable)]);
        run(&f, &[x]).remove(0).to_f64()[0]
    };
    let tenths = Array::vector(vec![0.1f32; 1 << 20]);
    let exact = f64::from(0.1f32) * f64::from(1 << 20);
    assert!((total(tenths, true) / exact - 1.0).abs() < 1e-7);
    let mut cancel = [1e8f32, 1.0, -1e8].repeat(1000);
    cancel.push(1.0);
    assert_eq!(total(Array::vector(cancel), true), 1001.0);
}

#[test]
fn an_operand_may_occur_twice_and_results_may_repeat() {
    let f = build(&[Type::new(DType::F64, [3])], |cx, x| {
        let y = cx.exp(x[0]);
        let z = cx.mul(y, y);
        vec![z, x[0], z, y, x[0]]
    });
    check(&f, &[Array::vector(vec![0.5, -1.0, 2.0])], true);
}

#[test]
fn inputs_and_earlier_results_are_never_overwritten() {
    let f = build(&[vector(DType::F64)], |cx, x| {
        vec![cx.neg(x[0]), cx.neg(cx.exp(x[0]))]
    });
    let program = compile(&f).unwrap();
    let x = Array::vector(vec![1.0, 2.0]);
    let first = program.run(std::slice::from_ref(&x)).unwrap();
    let kept = first[0].to_f64();
    program.run(&first[..1]).unwrap();
    assert!(x.to_f64() == [1.0, 2.0] && first[0].to_f64() == kept);
}

#[test]
fn dead_equations_do_not_run() {
    let huge = Type::new(DType::F64, [1 << 30, 1 << 9]);
    let f = build(&[Type::scalar(DType::F64)], |cx, x| {
        let big = cx.op(
            Iota {
                ty: huge.clone(),
                axis: 0,
            },
            &[],
        );
        let _ = cx.exp(big);
        vec![cx.neg(x[0])]
    });
    assert_eq!(run(&f, &[Array::scalar(1.0)])[0].to_f64(), [-1.0]);
}

/// An operation with several results.
type Results<'a> = &'a dyn Fn(&dyn Emit, Val) -> Vec<Val>;

/// Kernels do not compute unused results; the other results have the same bits.
#[test]
fn unused_results_do_not_change_the_others() {
    let (m, n) = (Dim::Const(40), Dim::Const(20));
    for dtype in [DType::F32, DType::F64, DType::C128] {
        let ty = Type::new(dtype, vec![m.clone(), n.clone()]);
        let x = [numbers(dtype, &[40, 20], 7)];
        let square = |cx: &dyn Emit, x: Val| cx.matmul(cx.matrix_transpose(x), x);
        let kinds: [Results<'_>; 4] = [
            &|cx, x| cx.qr(x).to_vec(),
            &|cx, x| cx.emit(Qr { complete: true }.into(), &[x]).to_vec(),
            &|cx, x| {
                cx.emit(Slogdet { inverse: true }.into(), &[square(cx, x)])
                    .to_vec()
            },
            &|cx, x| cx.sort_by(&[cx.real(x), x], 1, 1, false).to_vec(),
        ];
        for kind in kinds {
            let all = run(
                &build(std::slice::from_ref(&ty), |cx, v| kind(cx, v[0])),
                &x,
            );
            for (k, want) in all.iter().enumerate() {
                let one = build(std::slice::from_ref(&ty), |cx, v| vec![kind(cx, v[0])[k]]);
                assert!(run(&one, &x)[0].same_bits(want), "{dtype} {k}");
            }
        }
    }
}

/// Broadcast right-hand sides give the bits of copied ones.
#[test]
fn systems_with_right_hand_sides_that_are_the_same() {
    for (n, dtype) in [
        (5, DType::F64),
        (40, DType::F64),
        (300, DType::F64),
        (40, DType::F32),
        (20, DType::C128),
    ] {
        let at = |e: usize| {
            if e.is_multiple_of(n + 1) {
                2.0
            } else {
                1.0 / (e + n) as f64
            }
        };
        let a: Vec<f64> = (0..n * n).map(at).collect();
        let a = if dtype.is_complex() {
            Wide::C(a.into_iter().map(Into::into).collect())
        } else {
            Wide::F(a)
        };
        let (a, b) = (a.narrow(dtype, [n, n]).unwrap(), numbers(dtype, &[n], 8));
        for (left, lower) in [(true, true), (true, false), (false, true)] {
            let how = TriangularSolve {
                left,
                lower,
                ..TriangularSolve::default()
            };
            let shape = if left { [n, 30] } else { [30, n] };
            let many = |cx: &dyn Emit, b: Val| {
                cx.broadcast_in_dim(b, &shape.map(Dim::Const), &[usize::from(!left)])
            };
            let one = build(&[a.ty(), b.ty()], |cx, x| {
                vec![cx.op(how, &[x[0], many(cx, x[1])])]
            });
            let copies = run(
                &build(&[b.ty()], |cx, x| vec![many(cx, x[0])]),
                std::slice::from_ref(&b),
            )
            .remove(0);
            let all = build(&[a.ty(), copies.ty()], |cx, x| vec![cx.op(how, x)]);
            let (one, all) = (
                run(&one, &[a.clone(), b.clone()]),
                run(&all, &[a.clone(), copies]),
            );
            assert!(one[0].same_bits(&all[0]), "{n} {dtype} {how:?}");
        }
    }
}

fn message(f: &Arc<Function>, x: &[Array]) -> (Code, String) {
    let e = compile(f).and_then(|p| p.run(x)).unwrap_err();
    (e.code(), e.to_string())
}

#[test]
fn sizes_that_differ_are_named() {
    let open = |s: &str| Type::new(DType::F64, vec![Dim::sym(s)]);
    let f = build(&[open("n"), open("m")], |cx, x| vec![cx.add(x[0], x[1])]);
    let (a, b) = (Array::vector(vec![1.0; 3]), Array::vector(vec![1.0; 4]));
    check(&f, &[a.clone(), a.clone()], true);
    let (code, text) = message(&f, &[a.clone(), b.clone()]);
    assert_eq!(code, Code::ShapeMismatch);
    assert!(
        text.contains("%x0: f64[3]") && text.contains("%x1: f64[4]"),
        "{text}"
    );
    let g = build(&[open("n"), open("n")], |cx, x| vec![cx.add(x[0], x[1])]);
    let (code, text) = message(&g, &[a.clone(), b]);
    assert_eq!(code, Code::ShapeMismatch);
    assert!(
        text.contains("%x1") && text.contains("%x0") && text.contains("f64[3]"),
        "{text}"
    );
    assert_eq!(message(&g, std::slice::from_ref(&a)).0, Code::Arity);
    assert_eq!(
        message(&g, &[a.clone(), Array::scalar(1.0)]).0,
        Code::ShapeMismatch
    );
    assert_eq!(
        message(&g, &[a, Array::vector(vec![1.0f32; 3])]).0,
        Code::ShapeMismatch
    );
}

#[test]
fn absurd_sizes_are_errors() {
    for shape in [
        vec![usize::MAX, 2],
        vec![1 << 62],
        vec![1 << 38],
        vec![1 << 20, 1 << 20, 1 << 20],
    ] {
        let ty = Type::new(DType::F64, shape.as_slice());
        let f = build(&[], |cx, _| {
            vec![cx.exp(cx.op(
                Iota {
                    ty: ty.clone(),
                    axis: 0,
                },
                &[],
            ))]
        });
        assert_eq!(message(&f, &[]).0, Code::Limit, "{shape:?}");
        let g = build(&[], |cx, _| {
            vec![cx.op(Constant::splat(ty.clone(), 1.0.into()), &[])]
        });
        assert_eq!(message(&g, &[]).0, Code::Limit, "{shape:?}");
    }
    // Sizes known only at run time, and a size that exceeds all arguments.
    let f = build(&[vector(DType::F64)], |cx, x| {
        let n = Dim::sym("n");
        let shape = vec![n.clone(), n.clone(), n.clone(), n];
        vec![cx.exp(cx.broadcast_to(x[0], &shape))]
    });
    assert_eq!(run(&f, &[Array::vector(vec![0.0; 3])])[0].len(), 81);
    // A broadcast takes no memory and its elements are computed once, until a result must store all
    // of them.
    assert_eq!(
        message(&f, &[Array::vector(vec![0.0; 1000])]).0,
        Code::Limit
    );
    let g = build(&[], |cx, _| vec![cx.full(&vector(DType::F64), 1.0)]);
    assert_eq!(message(&g, &[]).0, Code::Unbound);
}
