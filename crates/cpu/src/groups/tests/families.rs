//! Families of programs whose groups are known.

use super::{groups_of, is_all_inline, text_of};
use crate::groups::cost::known_update;
use crate::groups::form::{RowBlock, Storage};
use crate::groups::{group, verify};
use crate::nests::lower::lower;
use crate::nests::tests::function;
use cotangent_core::ops::{Comparison, DotGeneral};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{DType, Dim, Emit, Function, Type, Val};

pub(super) fn f32_of(shape: impl Into<cotangent_core::Shape>) -> Type {
    Type::new(DType::F32, shape)
}

/// A value of one element per row, for each element of `like`.
pub(super) fn rows(cx: &dyn Emit, v: Val, like: Val) -> Val {
    let shape = cx.ty(like).shape.clone();
    let kept: Vec<usize> = (0..cx.ty(v).rank()).collect();
    cx.broadcast_in_dim(v, &shape, &kept)
}

pub(super) fn softmax(cx: &dyn Emit, x: Val) -> Val {
    let last = cx.ty(x).rank() - 1;
    let e = cx.exp(cx.sub(x, rows(cx, cx.reduce_max(x, &[last]), x)));
    cx.div(e, rows(cx, cx.reduce_sum(e, &[last]), x))
}

fn mean(cx: &dyn Emit, x: Val) -> Val {
    let last = cx.ty(x).rank() - 1;
    let sum = cx.reduce_sum(x, &[last]);
    cx.div(sum, cx.extent(&cx.ty(sum), &cx.ty(x).shape[last]))
}

pub(super) fn layer_norm(cx: &dyn Emit, x: Val) -> Val {
    let c = cx.sub(x, rows(cx, mean(cx, x), x));
    let deviation = cx.sqrt(mean(cx, cx.mul(c, c)));
    cx.div(c, rows(cx, deviation, x))
}

/// The gradient of the sum of a function's result times weights.
pub(super) fn weighted_grad(types: &[Type], y: impl Fn(&dyn Emit, &[Val]) -> Val) -> Function {
    let f = function(types, |cx, x| {
        let y = y(cx, &x[1..]);
        let all: Vec<usize> = (0..cx.ty(y).rank()).collect();
        vec![cx.reduce_sum(cx.mul(y, x[0]), &all)]
    });
    let wrt = f.params()[1..].to_vec();
    simplify(&grad(&AdContext::default(), &f, &wrt).unwrap())
}

#[test]
fn softmax_of_short_rows_is_one_group_with_lanes_along_rows() {
    let f = function(&[f32_of([20000, 4])], |cx, x| vec![softmax(cx, x[0])]);
    let want = "g0 [i:20000 | j:4]  lanes i, unrolled j, blocks of 3520 rows   \
                %1 %4 %5 block, %7 whole   reads %x0[i, j]   writes %7[i, j]\n";
    assert_eq!(text_of(&f), want);
}

#[test]
fn softmax_is_one_group_for_known_and_symbolic_rows() {
    let n = Dim::sym("n");
    for shape in [
        vec![Dim::from(1000), 3.into()],
        vec![Dim::from(64), 1000.into()],
        vec![Dim::from(8), 100000.into()],
        vec![n.clone(), 4.into()],
        vec![Dim::from(16), n.clone()],
        vec![n.clone(), Dim::sym("m")],
        vec![2.into(), n.clone(), Dim::sym("m")],
    ] {
        let f = function(&[f32_of(shape)], |cx, x| vec![softmax(cx, x[0])]);
        assert_eq!(groups_of(&f), 1, "{f}");
    }
}

#[test]
fn normalisations_and_sums_of_rows_are_one_group() {
    let n = Dim::sym("n");
    for shape in [
        vec![Dim::from(64), 100.into()],
        vec![n.clone(), 8.into()],
        vec![n, 99.into()],
    ] {
        let x = [f32_of(shape)];
        let f = function(&x, |cx, x| vec![layer_norm(cx, x[0])]);
        assert_eq!(groups_of(&f), 1, "{}", text_of(&f));
        let f = function(&x, |cx, x| {
            let m = cx.reduce_max(x[0], &[1]);
            let e = cx.exp(cx.sub(x[0], rows(cx, m, x[0])));
            vec![cx.add(m, cx.log(cx.reduce_sum(e, &[1])))]
        });
        assert_eq!(groups_of(&f), 1, "{}", text_of(&f));
        let f = function(&x, |cx, x| {
            let squares = cx.reduce_sum(cx.mul(x[0], x[0]), &[1]);
            vec![cx.reduce_sum(x[0], &[1]), squares]
        });
        assert_eq!(groups_of(&f), 1, "{}", text_of(&f));
    }
}

#[test]
fn scores_of_attention_and_their_softmax_are_one_group() {
    for rows in [32, 8] {
        let q = f32_of([16, 4, rows, 8]);
        let f = function(&[q.clone(), q], |cx, x| {
            let product = DotGeneral {
                lhs_batch: vec![0, 1],
                rhs_batch: vec![0, 1],
                lhs_contract: vec![3],
                rhs_contract: vec![3],
                ..Default::default()
            };
            vec![softmax(cx, cx.dot_general(x[0], x[1], product))]
        });
        assert_eq!(groups_of(&f), 1, "{}", text_of(&f));
    }
}

fn cross(cx: &dyn Emit, a: Val, b: Val) -> Val {
    let n = cx.ty(a).shape[0].clone();
    let of = |v: Val, k: usize| cx.slice_axis(v, 1, k % 3, k % 3 + 1);
    let part = |k: usize| {
        let left = cx.mul(of(a, k + 1), of(b, k + 2));
        cx.sub(left, cx.mul(of(a, k + 2), of(b, k + 1)))
    };
    let parts = [part(0), part(1), part(2)];
    assert_eq!(cx.ty(parts[0]).shape[..], [n, 1.into()]);
    cx.concatenate(&parts, 1)
}

#[test]
fn a_cross_product_and_its_gradient_are_one_group() {
    let x = f32_of([20000, 3]);
    let f = function(&[x.clone(), x.clone()], |cx, x| vec![cross(cx, x[0], x[1])]);
    assert_eq!(groups_of(&f), 1, "{f}{}", text_of(&f));
    let g = weighted_grad(&[x.clone(), x.clone(), x], |cx, x| cross(cx, x[0], x[1]));
    assert_eq!(groups_of(&g), 1, "{g}{}", text_of(&g));
}

#[test]
fn an_inline_fold_is_unrolled() {
    let f = function(&[f32_of([50000, 3])], |cx, x| {
        let norm = cx.sqrt(cx.reduce_sum(cx.mul(x[0], x[0]), &[1]));
        vec![cx.div(x[0], rows(cx, norm, x[0]))]
    });
    assert_eq!(groups_of(&f), 1, "{}", text_of(&f));
}

#[test]
fn a_transposed_operand_is_read_in_place() {
    let f = function(&[f32_of([300, 300]), f32_of([300, 300])], |cx, x| {
        vec![cx.add(x[0], cx.transpose(x[1], &[1, 0]))]
    });
    let want = "g0 [i:300 j:300]  lanes j, %x1[j, i] transposed   %3 whole   reads %x0[i, j], %x1[j, i]   \
                writes %3[i, j]\n";
    assert_eq!(text_of(&f), want);
}

#[test]
fn bounds_divide_an_axis_into_ranges() {
    let f = function(&[f32_of([1000])], |cx, x| {
        let padded = cx.pad_zeros(x[0], &[1], &[1], &[0]);
        let left = cx.slice_axis(padded, 0, 0, 1000);
        let right = cx.slice_axis(padded, 0, 2, 1002);
        vec![cx.add(left, right)]
    });
    let text = text_of(&f);
    assert!(text.contains("lanes i, split i at 1 999 "), "{text}");
}

#[test]
fn a_value_read_again_much_later_does_not_keep_its_larger_operand() {
    let f = function(&[f32_of([1000, 1000])], |cx, x| {
        // Each step reads a sum of all elements, so no two of them share a group by rows.
        let large = cx.exp(x[0]);
        let zero = cx.full(&cx.ty(large), 0.0);
        let mask = cx.compare(large, Comparison::Gt, zero);
        let mut y = cx.cholesky(large);
        for _ in 0..20 {
            y = cx.cholesky(y);
        }
        vec![cx.select(mask, y, zero)]
    });
    let nests = lower(&f);
    let groups = group(&nests);
    verify(&nests, &groups).unwrap();
    let text = text_of(&f);
    assert!(
        text.contains("apart: a larger operand would stay in memory"),
        "{text}"
    );
}

#[test]
fn a_mask_that_is_read_much_later_is_computed_with_the_value() {
    let f = function(&[f32_of([64, 64])], |cx, x| {
        let zero = cx.full(&cx.ty(x[0]), 0.0);
        let large = cx.exp(x[0]);
        let mask = cx.compare(large, Comparison::Gt, zero);
        let mut y = cx.maximum(large, zero);
        for _ in 0..20 {
            y = cx.cholesky(y);
        }
        vec![cx.select(mask, y, zero)]
    });
    let text = text_of(&f);
    assert!(text.contains("%2 block, %3 %4 whole"), "{text}");
}

#[test]
fn long_rows_run_phase_after_phase() {
    let f = function(&[f32_of([8, 1_000_000])], |cx, x| {
        vec![layer_norm(cx, x[0])]
    });
    let nests = lower(&f);
    let groups = group(&nests);
    assert_eq!(groups.len(), 1, "{}", text_of(&f));
    assert_eq!(
        groups[0].schedule.block,
        RowBlock::Phases,
        "{}",
        text_of(&f)
    );
    assert!(!is_all_inline(&groups[0]));
    assert!(groups[0].members.iter().any(|m| m.at == Storage::Block));
}

#[test]
fn a_part_of_a_vector_is_lanes_where_elements_are_unrolled() {
    // Lengths of vectors of three between neighbours of a grid whose rows fill no vector.
    let f = function(&[f32_of([13, 12, 3])], |cx, x| {
        let [low, high] = [[0, 0, 0], [1, 0, 0]];
        let [a, b] = [(low, [12, 12, 3]), (high, [13, 12, 3])].map(|(start, limit)| {
            let [start, limit] = [start, limit].map(|x| x.map(Dim::from));
            cx.slice(x[0], &start, &limit, &[1; 3])
        });
        let d = cx.sub(b, a);
        let n = cx.sqrt(cx.reduce_sum(cx.mul(d, d), &[2]));
        vec![cx.mul(d, rows(cx, n, d))]
    });
    let text = text_of(&f);
    assert!(text.contains("lanes j, unrolled k"), "{text}");
}

#[test]
fn an_update_of_a_small_window_does_not_cut_loops() {
    let types = [f32_of([40, 40]), f32_of([40, 40]), f32_of([1, 1])];
    let f = function(&types, |cx, x| {
        let i32_of = |k: i64| cx.full(&Type::scalar(DType::I32), k);
        let y = cx.mul(x[0], x[1]);
        let z = cx.dynamic_update_slice(y, x[2], &[i32_of(20), i32_of(7)]);
        vec![cx.exp(cx.add(z, x[1])), cx.mul(z, x[0])]
    });
    let g = simplify(&f);
    let nests = lower(&g);
    let groups = group(&nests);
    let mut members = groups.iter().flat_map(|g| &g.members);
    let update = members.find(|m| known_update(&nests.nests[m.nest as usize]).is_some());
    assert_eq!(
        update.map(|m| m.at),
        Some(Storage::Block),
        "{}",
        text_of(&g)
    );
}

#[test]
fn folds_choose_from_few_elements() {
    // A matrix of blocks, of which each has three columns.
    let types = [f32_of([24, 3]), f32_of([24, 3]), f32_of([24, 6])];
    let f = function(&types, |cx, x| {
        let column = |v: Val, k: usize| {
            let [start, limit] = [[0, k], [24, k + 1]].map(|x| x.map(Dim::from));
            cx.slice(v, &start, &limit, &[1, 1])
        };
        let block = |v: Val| {
            let columns = [2, 0, 1].map(|k| cx.neg(column(v, k)));
            let row = cx.concatenate(&columns, 1);
            let all =
                [row, v, cx.exp(row)].map(|v| cx.reshape(v, &[24.into(), 1.into(), 3.into()]));
            cx.concatenate(&all, 1)
        };
        let all = cx.concatenate(&[block(x[0]), block(x[1])], 2);
        let y = cx.broadcast_in_dim(x[2], &[24, 3, 6].map(Dim::from), &[0, 2]);
        vec![cx.reduce_sum(cx.mul(all, y), &[2])]
    });
    let nests = lower(&f);
    let groups = group(&nests);
    let stored = |m: &&crate::groups::form::Member| m.at != Storage::Inline;
    let stored = groups
        .iter()
        .flat_map(|g| &g.members)
        .filter(stored)
        .count();
    assert!(stored >= 3, "{}", text_of(&f));
}
