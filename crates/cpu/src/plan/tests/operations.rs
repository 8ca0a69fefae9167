//! Every sample of every operation, alone and between views.

use super::{Pair, layouts};
use crate::nests::tests::function;
use crate::nests::tests::meaning::viewed;
use cotangent_core::check::function_of;
use cotangent_core::ops::entries;
use cotangent_core::{Array, Sample, Type, Val};

fn samples() -> impl Iterator<Item = Sample> {
    entries().into_iter().flat_map(|e| (e.samples)(e.name))
}

#[test]
fn every_sample_in_every_layout_of_arguments() {
    for s in samples() {
        let pair = Pair::new(&function_of(&s).unwrap());
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
        let pair = Pair::new(&function_of(&s).unwrap());
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
            Pair::new(&before).check(&format!("{:?} of views {form}", s.op), &x);
            let after = function(&types, |cx, x| {
                let y = cx.emit(s.op.clone(), x).to_vec();
                let known = |v: &Val| cx.ty(*v).shape.as_const().is_some();
                let y = y.into_iter().filter(known);
                y.map(|v| viewed(cx, viewed(cx, v, form), (form + 1) % 3))
                    .collect()
            });
            Pair::new(&after).check(&format!("views {form} of {:?}", s.op), &x);
        }
    }
}
