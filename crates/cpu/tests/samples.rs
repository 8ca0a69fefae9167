//! The runtime against the reference, on every sample of every operation, with dense operands and
//! with views.

mod common;

use common::{build, check, exact, single};
use cotangent_core::ops::{Transpose, entries};
use cotangent_core::{Array, DType, Emit, Sample, Type, Val, reference};

fn samples() -> impl Iterator<Item = Sample> {
    entries().into_iter().flat_map(|e| (e.samples)(e.name))
}

#[test]
fn every_sample() {
    for s in samples() {
        check(&single(&s.op, &s.operands), &s.operands, exact(&s.op));
    }
}

/// The array whose transpose is `a`.
fn transposed(a: &Array) -> Array {
    let perm: Vec<usize> = (0..a.shape().len()).rev().collect();
    let a = std::slice::from_ref(a);
    reference::run(&single(&Transpose { perm }.into(), a), a)
        .unwrap()
        .remove(0)
}

#[test]
fn every_sample_on_transposed_operands() {
    for s in samples().filter(|s| s.operands.iter().any(|x| x.shape().len() > 1)) {
        let x: Vec<Array> = s.operands.iter().map(transposed).collect();
        let types: Vec<Type> = x.iter().map(Array::ty).collect();
        let f = build(&types, |cx, x| {
            let back = |&v| {
                let perm = (0..cx.ty(v).rank()).rev().collect();
                cx.op(Transpose { perm }, &[v])
            };
            cx.emit(s.op.clone(), &x.iter().map(back).collect::<Vec<_>>())
                .to_vec()
        });
        check(&f, &x, exact(&s.op));
    }
}

/// An operand whose last use is the operation may be overwritten; a live operand must not be.
#[test]
fn every_sample_on_dead_and_live_operands() {
    for s in samples().filter(|s| !s.operands.is_empty()) {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        for lives in [false, true] {
            let f = build(&types, |cx, x| {
                let x: Vec<Val> = x.iter().map(|&v| fresh(cx, v)).collect();
                let mut y = cx.emit(s.op.clone(), &x).to_vec();
                y.extend(x.iter().filter(|_| lives));
                y
            });
            check(&f, &s.operands, exact(&s.op));
        }
    }
}

/// The same elements in a separate buffer.
fn fresh(cx: &dyn Emit, v: Val) -> Val {
    if cx.ty(v).dtype == DType::Bool {
        cx.mul(v, v)
    } else {
        cx.sub(v, cx.zeros(&cx.ty(v)))
    }
}
