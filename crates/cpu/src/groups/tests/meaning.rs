//! Groups compute what their function does, with the reference's arithmetic and its bits, in blocks
//! of every number of rows.

use super::families::{f32_of, layer_norm, rows, softmax, weighted_grad};
use super::interpreter::{BlockRows, interpret};
use crate::groups::form::Storage;
use crate::groups::schedule::{Scheduled, schedule};
use crate::groups::{group, shown, verify};
use crate::nests::lower::lower;
use crate::nests::tests::function;
use crate::nests::tests::interpreter;
use crate::nests::tests::meaning::{
    FORMS, MAX_INTERPRETED, by_kernels, by_reference, corpus, random_graphs, samples, viewed,
};
use cotangent_core::check::function_of;
use cotangent_core::ops::Bounds;
use cotangent_core::{Array, DType, Dim, Emit, Function, Type, Val, reference};
use std::sync::Arc;

const ALL: &[BlockRows] = &[
    BlockRows::All,
    BlockRows::Of(1),
    BlockRows::Of(2),
    BlockRows::Of(3),
];

/// Verifies the groups of a function, also with the schedules for the extents of a run, and with
/// every kept value in a buffer. Compares results with the reference. Returns whether the reference
/// has results.
fn check(what: &str, f: &Function, args: &[Array], blocks: &[BlockRows]) -> bool {
    let nests = lower(f);
    let mut groups = group(&nests);
    let text = format!("{f}{nests}{}", shown(&nests, &groups));
    verify(&nests, &groups).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
    let Ok(want) = reference::run(f, args) else {
        return false;
    };
    for &rows in blocks {
        let run = interpret(&nests, &groups, args, rows, &by_reference);
        let (got, env) = run.unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        for (got, want) in got.iter().zip(&want) {
            let same = got.same_bits(want);
            assert!(same, "{what}, {rows:?}: {got:?} is not {want:?}\n{text}");
        }
        for g in &mut groups {
            let parts = Scheduled {
                nests: &nests,
                space: &g.space,
                members: &g.members,
                reads: &g.reads,
                writes: &g.writes,
            };
            g.schedule = schedule(&parts, &env);
        }
    }
    for m in groups.iter_mut().flat_map(|g| &mut g.members) {
        if m.at == Storage::Block {
            m.at = Storage::Whole;
        }
    }
    let (got, _) = interpret(&nests, &groups, args, BlockRows::Of(2), &by_reference).unwrap();
    assert!(
        got.iter().zip(&want).all(|(got, want)| got.same_bits(want)),
        "{what}\n{text}"
    );
    true
}

#[test]
fn every_sample() {
    for s in samples() {
        let f = function_of(&s).unwrap();
        assert!(check(&format!("{:?}", s.op), &f, &s.operands, ALL));
    }
}

#[test]
fn every_sample_of_views_of_operands() {
    for s in samples().filter(|s| !s.operands.is_empty()) {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        for form in 0..FORMS {
            let f = function(&types, |cx, x| {
                let x: Vec<Val> = x.iter().map(|&v| viewed(cx, v, form)).collect();
                cx.emit(s.op.clone(), &x).to_vec()
            });
            let what = format!("{:?}, form {form}", s.op);
            assert!(check(&what, &f, &s.operands, &[BlockRows::Of(2)]));
        }
    }
}

/// Elementwise operations on operands and results, with views between, so that groups have more
/// than one member.
#[test]
fn every_sample_between_elementwise_operations_and_views() {
    for s in samples() {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        for form in 0..FORMS {
            let f = function(&types, |cx, x| {
                let y = cx.emit(s.op.clone(), x).to_vec();
                let known = |v: &Val| cx.ty(*v).shape.as_const().is_some();
                let twice = |v: Val| match cx.ty(v).dtype.is_float() {
                    true => cx.mul(cx.abs(v), v),
                    false => v,
                };
                let y = y.into_iter().filter(known).map(|v| {
                    let v = twice(v);
                    let w = twice(viewed(cx, v, form));
                    twice(viewed(cx, w, (form + 1) % FORMS))
                });
                y.collect()
            });
            check(
                &format!("{:?}, form {form}", s.op),
                &f,
                &s.operands,
                &[BlockRows::Of(2)],
            );
        }
    }
}

/// Programs of arrays of n rows and m columns, whose groups are formed before a run decides these.
#[test]
fn symbolic_programs_at_several_extents() {
    type Program = fn(&dyn Emit, &[Val]) -> Val;
    let programs: [Program; 5] = [
        |cx, x| softmax(cx, x[0]),
        |cx, x| layer_norm(cx, cx.add(x[0], x[1])),
        |cx, x| {
            let m = cx.reduce_max(x[0], &[1]);
            let e = cx.exp(cx.sub(x[0], rows(cx, m, x[0])));
            cx.add(m, cx.log(cx.reduce_sum(e, &[1])))
        },
        |cx, x| {
            // The same rows, shifted by one.
            let padded = cx.pad_zeros(cx.exp(x[0]), &[1, 0], &[1, 0], &[0, 0]);
            let n = cx.ty(x[0]).shape[0].clone();
            cx.mul(cx.slice_axis(padded, 0, 2, n + 2.into()), x[1])
        },
        |cx, x| cx.mul(softmax(cx, x[0]), cx.reverse(softmax(cx, x[1]), &[0])),
    ];
    let x = f32_of(vec![Dim::sym("n"), Dim::sym("m")]);
    let mut count = 0;
    for program in programs {
        let value = function(&[x.clone(), x.clone()], |cx, x| vec![program(cx, x)]);
        let weights = value.result_types().remove(0);
        let gradient = weighted_grad(&[weights, x.clone(), x.clone()], program);
        for [n, m] in [
            [0, 3],
            [3, 0],
            [1, 1],
            [1, 5],
            [2, 3],
            [5, 1],
            [4, 40],
            [70, 2],
        ] {
            let array = |first: usize, shape: &[usize]| {
                let len: usize = shape.iter().product();
                let all = (0..len).map(|i| ((i * 7 + first) % 11) as f32 * 0.25 - 1.0);
                Array::vector(all.collect())
                    .reshape(shape.to_vec())
                    .unwrap()
            };
            let args = [array(0, &[n, m]), array(3, &[n, m])];
            count += usize::from(check("value", &value, &args, ALL));
            let of = [n, m];
            let weights = array(5, &of[..value.result_types()[0].rank()]);
            let args = [&[weights], &args[..]].concat();
            count += usize::from(check("gradient", &gradient, &args, ALL));
        }
    }
    assert!(count > 60, "{count} runs");
}

/// A program of elementwise operations, of sums over rows and over columns, which are read again
/// and divide it into groups, and of rows at indices, which are the last operand.
fn sums_of_rows_and_columns(cx: &dyn Emit, x: &[Val], seed: usize) -> Vec<Val> {
    let mut state = seed * 2 + 1;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % n
    };
    let (mut all, indices) = (x[..2].to_vec(), x[2]);
    for _ in 0..6 + below(8) {
        let recent = all.len() - 1 - below(all.len().min(3));
        let (v, w) = (all[recent], all[below(all.len())]);
        let axis = below(2);
        let y = match below(7) {
            6 => cx.take(v, indices, 0, Bounds::Clip),
            0 => cx.sub(v, w),
            1 => cx.mul(v, cx.add(v, w)),
            2 => cx.abs(v),
            3 => cx.maximum(v, w),
            _ => {
                let sum = cx.reduce_sum(v, &[axis]);
                let like = cx.broadcast_in_dim(sum, &cx.ty(v).shape, &[1 - axis]);
                cx.sub(v, cx.mul(like, w))
            }
        };
        all.push(y);
    }
    let last = all[all.len() - 1];
    vec![cx.reduce_sum(last, &[0]), cx.reduce_sum(last, &[1])]
}

/// Arrays of unknown extents count as large, so that maps are computed by several groups.
#[test]
fn maps_in_several_groups() {
    let x = f32_of(vec![Dim::sym("n"), Dim::sym("m")]);
    let indices = Type::new(DType::I32, vec![Dim::sym("n")]);
    let mut shared = 0;
    for seed in 0..200 {
        let f = function(&[x.clone(), x.clone(), indices.clone()], |cx, x| {
            sums_of_rows_and_columns(cx, x, seed)
        });
        let nests = lower(&f);
        let members: usize = group(&nests).iter().map(|g| g.members.len()).sum();
        shared += members - nests.nests.len();
        for [n, m] in [[3, 4], [1, 5], [17, 2], [40, 33]] {
            let array = |first: usize| {
                let all = (0..n * m).map(|i| ((i * 5 + first) % 7) as f32 * 0.25 - 0.75);
                Array::vector(all.collect()).reshape(vec![n, m]).unwrap()
            };
            let rows = (0..n).map(|i| ((i * 7 + seed) % n) as i32);
            let args = [
                array(0),
                array(3),
                Array::vector(rows.collect::<Vec<i32>>()),
            ];
            assert!(check(&format!("seed {seed}"), &f, &args, ALL));
            let program = crate::compile(&Arc::new(f.clone())).unwrap();
            let got = program.run(&args).unwrap();
            let (want, _) = interpreter::interpret(&nests, &args, &by_kernels).unwrap();
            let same = got.iter().zip(&want).all(|(got, want)| got.same_bits(want));
            assert!(same, "seed {seed}, {n} x {m}: {got:?} is not {want:?}\n{f}");
        }
    }
    assert!(shared > 100, "{shared} maps in several groups");
}

#[test]
fn random_graphs_and_their_adjoints_in_groups() {
    random_graphs(&mut |what, f, args| {
        check(what, f, args, ALL);
    });
}

#[test]
fn every_program_of_the_corpus_in_groups() {
    let mut count = 0;
    corpus(MAX_INTERPRETED, &mut |name, f, args| {
        count += usize::from(check(name, f, args, &[BlockRows::All, BlockRows::Of(3)]));
    });
    assert!(count > 100, "{count} programs");
}
