//! Every sample of every operation, alone and between views.

use super::super::build::{PlanStep, StepKind};
use super::super::code::code;
use super::super::run::Runs;
use super::memory::parts_of;
use super::{RuntimePair, layouts, same};
use crate::kernel::Operands;
use crate::nests::lower::lower;
use crate::nests::tests::function;
use crate::nests::tests::meaning::viewed;
use cotangent_core::check::function_of;
use cotangent_core::ops::entries;
use cotangent_core::{Array, DType, Env, Sample, Type, Val};
use std::borrow::Cow;
use std::sync::Arc;

fn samples() -> impl Iterator<Item = Sample> {
    entries().into_iter().flat_map(|e| (e.samples)(e.name))
}

#[test]
fn every_sample_in_every_layout_of_arguments() {
    for s in samples() {
        let pair = RuntimePair::new(&function_of(&s).unwrap());
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
        let pair = RuntimePair::new(&function_of(&s).unwrap());
        let equal = |a: &Array| {
            let x = crate::tensor::Tensor::from(a);
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
        let x: Vec<_> = s.operands.iter().map(crate::tensor::Tensor::from).collect();
        for form in 0..3 {
            let before = function(&types, |cx, x| {
                let x: Vec<Val> = x.iter().map(|&v| viewed(cx, v, form)).collect();
                cx.emit(s.op.clone(), &x).to_vec()
            });
            RuntimePair::new(&before).check(&format!("{:?} of views {form}", s.op), &x);
            let after = function(&types, |cx, x| {
                let y = cx.emit(s.op.clone(), x).to_vec();
                let known = |v: &Val| cx.ty(*v).shape.as_const().is_some();
                let y = y.into_iter().filter(known);
                y.map(|v| viewed(cx, viewed(cx, v, form), (form + 1) % 3))
                    .collect()
            });
            RuntimePair::new(&after).check(&format!("views {form} of {:?}", s.op), &x);
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
    for (f, leaves) in [(folds, 1), (maps, 2)] {
        let f = Arc::new(f);
        let nests = lower(&f);
        let whats: Vec<_> = nests.nests.iter().map(|n| &n.what).collect();
        let code = code(&nests.nests[0].space, &whats, &|_| false).unwrap();
        assert_eq!(
            (code.leaves.len(), code.members.len()),
            (leaves, whats.len())
        );
        let mut parts = parts_of(&f);
        let outputs = nests
            .nests
            .iter()
            .map(|n| parts.place_of[&n.value])
            .collect();
        parts.steps = vec![PlanStep {
            eqn: 0,
            kind: StepKind::Code {
                code: Box::new(code),
                outputs,
                over: Vec::new(),
            },
            dead: Vec::new(),
        }];
        parts.segments[0].steps = 0..1;
        for p in &mut parts.places {
            p.def = p.def.map(|_| 0);
        }
        let x = Array::from_vec(
            vec![50, 300],
            (0..15_000)
                .map(|i| (i % 97) as f32 / 50.0 - 1.0)
                .collect::<Vec<f32>>(),
        );
        let x = crate::tensor::Tensor::from(x.unwrap());
        let env = Env::default();
        let inputs = Operands::from_iter([x.clone()]);
        let got = Runs::default().run(&parts, &f, inputs, Cow::Borrowed(&env));
        let got: Vec<Array> = got
            .unwrap()
            .into_iter()
            .map(|y| y.into_array().unwrap())
            .collect();
        let want = RuntimePair::new(&f)
            .old
            .run(&[x.into_array().unwrap()])
            .unwrap();
        same("one step", &want, &got, || f.to_string());
    }
}
