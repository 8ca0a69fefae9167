//! Every sample of every operation, alone and between views.

use super::super::build::{PlanStep, StepKind};
use super::memory::parts_of;
use super::{PlannedFunction, layouts};
use crate::nests::tests::function;
use crate::nests::tests::meaning::viewed;
use crate::tensor::Tensor;
use cotangent_core::check::function_of;
use cotangent_core::ops::entries;
use cotangent_core::{Array, DType, Sample, Type, Val};
use std::sync::Arc;

fn samples() -> impl Iterator<Item = Sample> {
    entries().into_iter().flat_map(|e| (e.samples)(e.name))
}

#[test]
fn every_sample_in_every_layout_of_arguments() {
    for s in samples() {
        let pair = PlannedFunction::new(&function_of(&s).unwrap());
        let all: Vec<_> = s.operands.iter().map(layouts).collect();
        for k in 0..3 {
            let x: Vec<_> = all.iter().map(|x| x[k].clone()).collect();
            pair.check(&format!("{:?}, layout {k}", s.op), &x);
        }
    }
}

#[test]
fn every_sample_on_broadcast_arguments() {
    for s in samples().filter(|s| !s.operands.is_empty()) {
        let pair = PlannedFunction::new(&function_of(&s).unwrap());
        let equal = |a: &Array| {
            let x = Tensor::from(a);
            let shape = a.shape().to_vec();
            match x.numel() {
                0 => x,
                _ => {
                    let first = (0..shape.len()).fold(x, |x, k| x.slice(k, 0, 1, 1));
                    let one = first.reshape(&[]).unwrap();
                    one.broadcast(&shape, &[]).unwrap()
                }
            }
        };
        let x: Vec<_> = s.operands.iter().map(equal).collect();
        pair.check(&format!("{:?}, broadcast", s.op), &x);
    }
}

#[test]
fn every_sample_between_views() {
    for s in samples() {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        let x: Vec<_> = s.operands.iter().map(Tensor::from).collect();
        for form in 0..3 {
            let before = function(&types, |cx, x| {
                let x: Vec<Val> = x.iter().map(|&v| viewed(cx, v, form)).collect();
                cx.emit(s.op.clone(), &x).to_vec()
            });
            PlannedFunction::new(&before).check(&format!("{:?} of views {form}", s.op), &x);
            let after = function(&types, |cx, x| {
                let y = cx.emit(s.op.clone(), x).to_vec();
                let known = |v: &Val| cx.ty(*v).shape.as_const().is_some();
                let y = y.into_iter().filter(known);
                y.map(|v| viewed(cx, viewed(cx, v, form), (form + 1) % 3))
                    .collect()
            });
            PlannedFunction::new(&after).check(&format!("views {form} of {:?}", s.op), &x);
        }
    }
}

/// A step with several members: their code shares inputs, and each is finished in its own way.
#[test]
fn a_step_computes_several_values_of_one_space() {
    let ty = Type::new(DType::F32, [50, 300]);
    let folds = function(std::slice::from_ref(&ty), |cx, x| {
        let e = |x| cx.exp(x);
        let sum = cx.reduce_sum(e(x[0]), &[1]);
        vec![
            sum,
            cx.reduce_max(x[0], &[1]),
            cx.reduce_prod(e(x[0]), &[1]),
        ]
    });
    let maps = function(&[ty], |cx, x| {
        let back = cx.reverse(x[0], &[0]);
        vec![cx.exp(cx.add(x[0], back)), cx.mul(x[0], back)]
    });
    for (f, leaves, members) in [(folds, 1, 3), (maps, 2, 2)] {
        let f = Arc::new(f);
        let parts = parts_of(&f);
        let [
            PlanStep {
                kind: StepKind::Code(step),
                ..
            },
        ] = &parts.steps[..]
        else {
            panic!("{} steps", parts.steps.len());
        };
        let [phase] = &step.phases[..] else {
            panic!("{} phases", step.phases.len());
        };
        let code = &phase.code;
        assert_eq!((code.leaves.len(), code.members.len()), (leaves, members));
        let x = Array::from_vec(
            vec![50, 300],
            (0..15_000)
                .map(|i| (i % 97) as f32 / 50.0 - 1.0)
                .collect::<Vec<f32>>(),
        );
        PlannedFunction::new(&f).check("one step", &[Tensor::from(x.unwrap())]);
    }
}
