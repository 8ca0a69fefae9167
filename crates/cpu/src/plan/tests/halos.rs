//! Reads that lead around borders, by copies with halos.

use super::grouped::reference_numbers;
use super::memory::resolved;
use super::{PlannedFunction, layouts};
use crate::nests::tests::function;
use crate::plan::laid::LaidStep;
use cotangent_core::{DType, Dim, Emit, Function, Type, Val};
use std::sync::Arc;

/// Parts of an axis behind each other: the range of each, and whether it is reversed.
fn pieces(cx: &dyn Emit, x: Val, axis: usize, parts: &[(usize, usize, bool)]) -> Val {
    let part = |&(from, to, back): &(usize, usize, bool)| match back {
        true => cx.reverse(cx.slice_axis(x, axis, from, to), &[axis]),
        false => cx.slice_axis(x, axis, from, to),
    };
    let all: Vec<Val> = parts.iter().map(part).collect();
    cx.concatenate(&all, axis)
}

fn extent(cx: &dyn Emit, x: Val, axis: usize) -> usize {
    cx.ty(x).shape[axis].as_const().unwrap()
}

fn rolled(cx: &dyn Emit, x: Val, axis: usize, by: usize) -> Val {
    let n = extent(cx, x, axis);
    pieces(cx, x, axis, &[(n - by, n, false), (0, n - by, false)])
}

/// An array with `by` elements more on both sides of each axis.
fn padded(cx: &dyn Emit, x: Val, mode: &str, by: usize) -> Val {
    let rank = cx.ty(x).rank();
    if mode == "zero" {
        let (low, inner) = (vec![by as i64; rank], vec![0; rank]);
        return cx.pad_zeros(x, &low, &low, &inner);
    }
    (0..rank).fold(x, |x, axis| {
        let n = extent(cx, x, axis);
        let ends = match mode {
            "wrap" => [(n - by, n, false), (0, by, false)],
            "reflect" => [(1, 1 + by, true), (n - 1 - by, n - 1, true)],
            "edge" => [(0, 1, false), (n - 1, n, false)],
            _ => unreachable!("a mode"),
        };
        pieces(cx, x, axis, &[ends[0], (0, n, false), ends[1]])
    })
}

/// A sum of all windows of a padded array, with different factors.
fn stencil(cx: &dyn Emit, x: Val, mode: &str) -> Val {
    let (p, shape) = (padded(cx, x, mode, 1), cx.ty(x).shape);
    let mut sum = None;
    for k in 0..3usize.pow(shape.rank() as u32) {
        let start: Vec<Dim> = (0..shape.rank())
            .map(|a| (k / 3usize.pow(a as u32) % 3).into())
            .collect();
        let limit: Vec<Dim> = start
            .iter()
            .zip(&shape[..])
            .map(|(s, n)| s.clone() + n.clone())
            .collect();
        let window = cx.slice(p, &start, &limit, &vec![1; shape.rank()]);
        let term = match cx.ty(x).dtype {
            DType::Bool => window,
            _ => cx.mul(window, cx.full_like(window, (k % 5) as f64 - 1.0)),
        };
        sum = Some(match (sum, cx.ty(x).dtype) {
            (None, _) => term,
            (Some(s), DType::Bool) => cx.xor(s, term),
            (Some(s), _) => cx.add(s, term),
        });
    }
    sum.unwrap()
}

/// The phases of a function that read copies with halos.
fn halos(f: &Function) -> usize {
    let (_, r) = resolved(&Arc::new(f.clone()));
    let phases = r.steps.iter().flat_map(|s| match s {
        LaidStep::Code(l) => &l.phases[..],
        _ => &[],
    });
    phases
        .filter(|p| p.by_copies.as_ref().is_some_and(|c| !c.is_all()))
        .count()
}

#[test]
fn stencils_read_a_copy_with_a_halo() {
    let types = [
        DType::F32,
        DType::F64,
        DType::BF16,
        DType::I32,
        DType::C128,
        DType::Bool,
    ];
    for dtype in types {
        for shape in [&[400][..], &[24, 20], &[6, 7, 8]] {
            for mode in ["zero", "wrap", "reflect", "edge"] {
                let f = function(&[Type::new(dtype, shape)], |cx, x| {
                    vec![stencil(cx, x[0], mode)]
                });
                let what = format!("{dtype} {shape:?} {mode}");
                if shape.len() == 2 {
                    assert_eq!(halos(&f), 1, "{what}");
                }
                let planned = PlannedFunction::new(&f);
                for x in layouts(&reference_numbers(dtype, shape)) {
                    planned.check(&what, &[x]);
                }
            }
        }
    }
}

#[test]
fn rolls_of_several_arrays_and_distances() {
    let shape = [24, 20];
    let ty = Type::new(DType::F64, shape);
    let f = function(&[ty.clone(), ty], |cx, x| {
        let all = [
            (0, 0, 1),
            (0, 0, 23),
            (0, 1, 1),
            (0, 1, 19),
            (1, 1, 7),
            (1, 0, 12),
            (0, 0, 11),
        ];
        let terms = all.iter().map(|&(k, axis, by)| rolled(cx, x[k], axis, by));
        let sum = terms.reduce(|a, b| cx.sub(a, b)).unwrap();
        vec![cx.add(sum, rolled(cx, rolled(cx, x[1], 0, 1), 1, 1))]
    });
    assert_eq!(halos(&f), 1);
    let planned = PlannedFunction::new(&f);
    let x = layouts(&reference_numbers(DType::F64, &shape));
    for (a, b) in x.iter().zip(x.iter().rev()) {
        planned.check("rolls", &[a.clone(), b.clone()]);
    }
}

/// Differences of the components of a field, each rolled along another axis: each component has a
/// copy of its own, as what is around one of them is no part of the next.
#[test]
fn components_of_one_array_have_copies_of_their_own() {
    for shape in [[3, 12, 10, 9], [3, 6, 7, 8]] {
        let f = function(&[Type::new(DType::F32, shape)], |cx, x| {
            let part = |k: usize| cx.index_axis(x[0], 0, k);
            let change = |k: usize, axis: usize| {
                let rolled = rolled(cx, part(k), axis, 1);
                cx.sub(part(k), rolled)
            };
            vec![
                cx.sub(change(2, 1), change(1, 2)),
                cx.sub(change(0, 2), change(2, 0)),
                cx.sub(change(1, 0), change(0, 1)),
            ]
        });
        assert!(halos(&f) > 0, "{shape:?}");
        let planned = PlannedFunction::new(&f);
        for x in layouts(&reference_numbers(DType::F32, &shape)) {
            planned.check(&format!("{shape:?}"), &[x]);
        }
    }
}

/// Beyond the border one read finds the other end and one finds zeros: there is no common copy.
#[test]
fn reads_that_find_different_elements_around_an_array_have_no_copy() {
    let f = function(&[Type::new(DType::F64, [24, 20])], |cx, x| {
        let zeros = cx.pad_zeros(cx.slice_axis(x[0], 1, 0, 19), &[0, 1], &[0, 0], &[0, 0]);
        vec![cx.mul(rolled(cx, x[0], 1, 1), zeros)]
    });
    assert_eq!(halos(&f), 0);
    let planned = PlannedFunction::new(&f);
    for x in layouts(&reference_numbers(DType::F64, &[24, 20])) {
        planned.check("a roll and a shift", &[x]);
    }
}
