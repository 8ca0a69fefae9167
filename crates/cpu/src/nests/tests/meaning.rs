//! Nests compute what their function does: with the reference's arithmetic the bits of the
//! reference, with the runtime's kernels the bits of the runtime.

use super::interpreter::{holds, interpret};
use crate::checks::resolve;
use crate::executor::Executor;
use crate::nests::lower::lower;
use crate::nests::verify::verify;
use crate::tensor::Tensor;
use cotangent_core::check::random::graph;
use cotangent_core::check::{function_of, points};
use cotangent_core::ops::{Bounds, Op, Windows, entries};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{
    Array, DType, Dim, Emit, Env, Function, Result, Sample, Type, Val, reference,
};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn samples() -> impl Iterator<Item = Sample> {
    entries().into_iter().flat_map(|e| (e.samples)(e.name))
}

pub(crate) fn by_reference(op: &Op, x: &[Array], env: &Env) -> Result<Vec<Array>> {
    let op = resolve(op, env);
    op.infer(&x.iter().map(Array::ty).collect::<Vec<_>>())?;
    op.eval(x, env)
}

/// The kernels of eager operations.
pub(crate) fn by_kernels(op: &Op, x: &[Array], env: &Env) -> Result<Vec<Array>> {
    let x = x.iter().map(Tensor::from).collect();
    let y = Executor::new().apply(op, x, env)?;
    y.into_iter().map(Tensor::into_array).collect()
}

fn same(what: &str, nests: &str, got: &[Array], want: &[Array]) {
    for (got, want) in got.iter().zip(want) {
        assert!(
            got.same_bits(want),
            "{what}: {got:?} is not {want:?}\n{nests}"
        );
    }
}

/// Verifies the nests of a function, and compares them with the reference. If `runs`, compares them
/// with the runtime, too. Returns whether the reference has results.
fn check(what: &str, f: &Function, args: &[Array], runs: bool) -> bool {
    let nests = lower(f);
    let text = format!("{f}{nests}");
    let conditions = verify(&nests).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    let Ok(want) = reference::run(f, args) else {
        return false;
    };
    let (got, env) =
        interpret(&nests, args, &by_reference).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    same(what, &text, &got, &want);
    for c in &conditions {
        assert!(holds(c, &env), "{what}: {c} at {env:?}\n{text}");
    }
    if runs {
        let program = crate::compile(&Arc::new(f.clone())).unwrap();
        let want = program.run(args).unwrap_or_else(|e| panic!("{what}: {e}"));
        let (got, _) = interpret(&nests, args, &by_kernels).unwrap();
        same(&format!("{what}, by kernels"), &text, &got, &want);
    }
    true
}

#[test]
fn every_sample() {
    for s in samples() {
        let f = function_of(&s).unwrap();
        assert!(check(&format!("{:?}", s.op), &f, &s.operands, true));
    }
}

/// Number of the forms of [`viewed`].
pub(crate) const FORMS: usize = 3;

/// Forms of a value that are made of views and hold the same elements.
pub(crate) fn viewed(cx: &dyn Emit, v: Val, form: usize) -> Val {
    let ty = cx.ty(v);
    let (rank, shape) = (ty.rank(), ty.shape.as_const().unwrap());
    let axes: Vec<usize> = (0..rank).collect();
    match form {
        0 => {
            let perm: Vec<usize> = axes.iter().rev().copied().collect();
            let flat = cx.reshape(
                cx.transpose(v, &perm),
                &[shape.iter().product::<usize>().into()],
            );
            let back = cx.reshape(
                flat,
                &perm.iter().map(|&k| shape[k].into()).collect::<Vec<_>>(),
            );
            cx.transpose(back, &perm)
        }
        1 => {
            let (ones, steps) = (vec![1i64; rank], vec![1usize; rank]);
            let wide = cx.pad_zeros(v, &ones, &ones, &steps);
            let limit = shape.iter().map(|&n| (2 * n + 1).into()).collect();
            let slice = cotangent_core::ops::Slice {
                start: vec![1.into(); rank],
                limit,
                stride: vec![2; rank],
            };
            cx.op(slice, &[wide])
        }
        _ if rank > 0 => {
            let twice = cx.concatenate(&[v, cx.reverse(v, &axes)], rank - 1);
            let n = shape[rank - 1];
            let second = cx.slice_axis(twice, rank - 1, n, 2 * n);
            cx.reverse(second, &axes)
        }
        _ => {
            let row = cx.broadcast_in_dim(v, &[3.into()], &[]);
            cx.reshape(cx.slice_axis(row, 0, 1, 2), &[])
        }
    }
}

#[test]
fn every_sample_of_views_of_operands() {
    for s in samples().filter(|s| !s.operands.is_empty()) {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        for form in 0..FORMS {
            let f = super::function(&types, |cx, x| {
                let x: Vec<Val> = x.iter().map(|&v| viewed(cx, v, form)).collect();
                cx.emit(s.op.clone(), &x).to_vec()
            });
            assert!(check(
                &format!("{:?}, form {form}", s.op),
                &f,
                &s.operands,
                false
            ));
        }
    }
}

#[test]
fn every_sample_as_operand_of_views() {
    for s in samples() {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        for form in 0..FORMS {
            let f = super::function(&types, |cx, x| {
                let y = cx.emit(s.op.clone(), x).to_vec();
                let known = |v: &Val| cx.ty(*v).shape.as_const().is_some();
                let y = y.into_iter().filter(known);
                y.map(|v| viewed(cx, viewed(cx, v, form), (form + 1) % FORMS))
                    .collect()
            });
            check(&format!("{:?}, form {form}", s.op), &f, &s.operands, false);
        }
    }
}

/// Positions of an axis of symbolic extent are read through quotients by a symbol, with offsets
/// and steps.
#[test]
fn flattened_pieces_of_symbolic_rows() {
    let n = Dim::sym("n");
    let ty = Type::new(DType::F64, vec![4.into(), n.clone()]);
    for pieces in 1..4 {
        for stride in 1..4 {
            let f = super::function(std::slice::from_ref(&ty), |cx, x| {
                let all = cx.concatenate(&vec![x[0]; pieces], 0);
                let some = cotangent_core::ops::Slice {
                    start: vec![1.into(), 0.into()],
                    limit: vec![(4 * pieces).into(), n.clone()],
                    stride: vec![stride, 1],
                };
                let some = cx.op(some, &[all]);
                let rows = cx.ty(some).shape[0].as_const().unwrap();
                let flat = |v| cx.reshape(v, &[Dim::from(rows) * n.clone()]);
                let back = cx.reverse(some, &[0]);
                let twice = cx.concatenate(&[flat(some), flat(some)], 0);
                vec![cx.sin(flat(some)), cx.sin(flat(back)), cx.sin(twice)]
            });
            for n in [0, 1, 5] {
                let x = (0..4 * n).map(|k| k as f64).collect();
                let x = Array::from_vec([4, n], x).unwrap();
                check(&format!("{pieces} pieces by {stride}"), &f, &[x], true);
            }
        }
    }
}

/// Copies behind each other, of rows of symbolic extents: the bounds of a copy are ordered only
/// where no extent is 0.
#[test]
fn joined_pieces_of_symbolic_rows() {
    let (n, m) = (Dim::sym("n"), Dim::sym("m"));
    let params = [
        Type::new(DType::F64, vec![2.into(), 3.into(), n.clone()]),
        Type::new(DType::F64, vec![2.into(), m.clone()]),
    ];
    // 0: the rows of `n`; 1: those of `m`.
    let orders: [&[usize]; 7] = [
        &[0, 0],
        &[0, 0, 0],
        &[0, 0, 0, 0, 0],
        &[1, 0, 0],
        &[0, 1, 0],
        &[0, 0, 1],
        &[1, 0, 1, 0, 1],
    ];
    for order in orders {
        let f = super::function(&params, |cx, x| {
            let long = cx.exp(cx.concatenate(&[x[0]; 3], 2));
            let flat = cx.reshape(long, &[2.into(), Dim::from(9) * n.clone()]);
            let pieces: Vec<Val> = order.iter().map(|&k| [flat, x[1]][k]).collect();
            let joined = cx.concatenate(&pieces, 1);
            vec![joined, cx.sin(cx.reverse(joined, &[1]))]
        });
        for [n, m] in [[0, 0], [0, 2], [1, 0], [2, 3]] {
            let numbers = |shape: Vec<usize>| {
                let x = (0..shape.iter().product()).map(|k| k as f64).collect();
                Array::from_vec(shape, x).unwrap()
            };
            let args = [numbers(vec![2, 3, n]), numbers(vec![2, m])];
            check(&format!("{order:?}, n = {n}, m = {m}"), &f, &args, true);
        }
    }
}

/// Clamped indices into rows that may be none: the error of the reference if there are indices, and
/// no row if there are none, also as a piece of a concatenation.
#[test]
fn rows_of_a_symbolic_extent_that_is_0() {
    let (n, m) = (Dim::sym("n"), Dim::sym("m"));
    for rows in [n, Dim::from(0)] {
        let params = [
            Type::new(DType::F64, vec![rows, 2.into()]),
            Type::new(DType::I32, vec![m.clone()]),
            Type::new(DType::F64, vec![3.into(), 2.into()]),
        ];
        let f = super::function(&params, |cx, x| {
            let taken = cx.take(x[0], x[1], 0, Bounds::Clip);
            let joined = cx.concatenate(&[taken, x[2], taken], 0);
            vec![cx.exp(taken), cx.sin(cx.reverse(joined, &[0]))]
        });
        let program = crate::compile(&Arc::new(f.clone())).unwrap();
        for [n, m] in [[0, 0], [0, 1], [0, 3], [2, 0], [2, 3]] {
            let what = format!("n = {n}, m = {m}");
            let numbers = |n: usize| (0..2 * n).map(|k| k as f64).collect();
            let args = [
                Array::from_vec(vec![n, 2], numbers(n)).unwrap(),
                Array::from_vec(vec![m], vec![-1, 7, 0][..m].to_vec()).unwrap(),
                Array::from_vec(vec![3, 2], numbers(3)).unwrap(),
            ];
            match reference::run(&f, &args) {
                Ok(_) => assert!(check(&what, &f, &args, true)),
                Err(want) => {
                    let got = program.run(&args).unwrap_err();
                    assert_eq!((got.code(), got.message()), (want.code(), want.message()));
                }
            }
        }
    }
}

/// A window begins at index 0 of an axis that is not indexed, which a run finds to have none.
#[test]
fn rows_that_are_not_indexed_and_are_none() {
    let rows = Windows {
        window: vec![1],
        collapsed: vec![0],
        axes: vec![1],
        vector: 1,
        ..Windows::default()
    };
    let params = [
        Type::new(DType::F64, vec![Dim::sym("n"), 2.into()]),
        Type::new(DType::I32, [3, 1]),
    ];
    let f = super::function(&params, |cx, x| {
        let y = cx.gather(&rows, &[1.into(), 1.into()], Bounds::Clip, x[0], x[1]);
        vec![cx.exp(y)]
    });
    let program = crate::compile(&Arc::new(f.clone())).unwrap();
    let indices = Array::from_vec(vec![3, 1], vec![0i32, 1, 5]).unwrap();
    let x = |n: usize| Array::from_vec(vec![n, 2], vec![0.5; 2 * n]).unwrap();
    assert!(check("two rows", &f, &[x(2), indices.clone()], true));
    let want = reference::run(&f, &[x(0), indices.clone()]).unwrap_err();
    let got = program.run(&[x(0), indices]).unwrap_err();
    assert_eq!((got.code(), got.message()), (want.code(), want.message()));
}

/// Random graphs and their adjoints, with arguments. `SEEDS` is the number of graphs.
pub(crate) fn random_graphs(visit: &mut dyn FnMut(&str, &Function, &[Array])) {
    let ad = AdContext::default();
    let seeds = std::env::var("SEEDS").map_or(300, |n| n.parse().expect("a number"));
    for seed in 0..seeds {
        let case = graph(seed, 4 + seed as usize % 20).unwrap();
        let (f, args) = (case.function, case.args);
        let tangent = |t: &Type| t.dtype.has_tangent();
        let wrt = f.params().iter().copied().filter(|&p| tangent(f.ty(p)));
        if let Ok(g) = vjp(&ad, &f, &wrt.collect::<Vec<_>>()) {
            let y = reference::run(&f, &args).unwrap();
            let cts = y.into_iter().filter(|y| tangent(&y.ty()));
            let args: Vec<Array> = args.iter().cloned().chain(cts).collect();
            visit(&format!("adjoint of {seed}"), &simplify(&g), &args);
        }
        visit(&format!("graph {seed}"), &f, &args);
    }
}

#[test]
fn random_graphs_and_their_adjoints() {
    random_graphs(&mut |what, f, args| {
        check(what, f, args, true);
    });
}

/// Maximum number of argument elements of a program that an interpreter runs.
pub(crate) const MAX_INTERPRETED: usize = 1023;

/// The programs of the corpus whose arguments have at most `elements` elements, with arguments.
pub(crate) fn corpus(elements: usize, visit: &mut dyn FnMut(&str, &Function, &[Array])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    for folder in std::fs::read_dir(corpus).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(text) = std::fs::read_to_string(folder.join("module.mlir")) else {
            continue;
        };
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let module = cotangent_stablehlo::read(&text, None).unwrap();
        let f = simplify(module.main());
        for args in points(&f).take(1) {
            let args = args.unwrap();
            if args.iter().map(Array::len).sum::<usize>() <= elements {
                visit(&name, &f, &args);
            }
        }
    }
}

#[test]
fn every_program_of_the_corpus() {
    let mut count = 0;
    corpus(MAX_INTERPRETED, &mut |name, f, args| {
        count += usize::from(check(name, f, args, false));
    });
    assert!(count > 100, "{count} programs");
}

#[test]
fn of_a_map_whose_small_part_is_a_result_the_part_alone_is_computed() {
    let ty = Type::new(DType::F32, [40, 30]);
    let part = |cx: &dyn Emit, x: Val, high: usize| {
        let [start, limit] = [[3, 1], [4, high]].map(|x| x.map(Dim::from));
        cx.slice(x, &start, &limit, &[1, 2])
    };
    // A sum, of which nothing else is read; of which all is a result, too; and an argument.
    for kind in 0..3 {
        let f = super::function(&[ty.clone(), ty.clone()], |cx, x| {
            let sum = cx.add(x[0], x[1]);
            match kind {
                0 => vec![part(cx, sum, 9)],
                1 => vec![part(cx, sum, 9), sum],
                _ => vec![part(cx, x[0], 9)],
            }
        });
        let nests = lower(&f);
        assert_eq!(nests.results[0].mentions(f.results()[0]), kind == 0);
        let args = points(&f).next().unwrap().unwrap();
        assert!(check("a part", &f, &args, true));
    }
}
