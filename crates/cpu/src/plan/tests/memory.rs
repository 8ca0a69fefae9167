//! Arguments that are given up, and what may not be written over.

use super::super::build::{Home, Kernels, PlanParts, StepKind, build};
use super::super::laid::Resolved;
use super::super::resolve::Extent;
use super::super::verify::verify;
use super::{PlannedFunction, one_by_one};
use crate::compiler::Compiler;
use crate::executor::Executor;
use crate::lower::{LOWERING, lower};
use crate::nests::lower::Role;
use crate::nests::tests::function;
use crate::tensor::{Strides, Tensor, row_major};
use cotangent_core::{Array, DType, Env, Function, Type};
use std::sync::Arc;

fn count(n: usize) -> Array {
    Array::vector((0..n).map(|i| i as f64).collect::<Vec<f64>>())
}

#[test]
fn a_result_is_written_over_an_argument_that_was_given_up() {
    let f = Arc::new(function(&[Type::new(DType::F64, [100])], |cx, x| {
        vec![cx.exp(cx.sin(x[0]))]
    }));
    let program = Executor::new().stepwise().compile(&f).unwrap();
    let want = program.run(&[count(100)]).unwrap();
    let x = Tensor::from(count(100));
    let (at, kept) = (x.first_ptr(), x.clone());
    let y = program.run_tensors([x]).unwrap().remove(0);
    assert!(y.first_ptr() != at, "the caller still has the argument");
    assert!(y.into_array().unwrap().same_bits(&want[0]));
    let y = program.run_tensors([kept]).unwrap().remove(0);
    assert_eq!(y.first_ptr(), at);
    assert!(y.into_array().unwrap().same_bits(&want[0]));
}

#[test]
fn a_value_that_is_read_elsewhere_is_not_written_over() {
    let f = function(&[Type::new(DType::F64, [1000])], |cx, x| {
        let y = cx.exp(x[0]);
        let z = cx.sin(cx.add(y, cx.reverse(y, &[0])));
        vec![
            cx.add(z, cx.reverse(x[0], &[0])),
            cx.add(x[0], cx.reverse(x[0], &[0])),
        ]
    });
    let want = one_by_one(&f, &[Tensor::from(count(1000))]).unwrap();
    // The argument of the program is not shared.
    let program = PlannedFunction::new(&f).program;
    let got = program.run_tensors([Tensor::from(count(1000))]).unwrap();
    for (want, got) in want.iter().zip(got) {
        assert!(want.same_bits(&got.into_array().unwrap()));
    }
}

/// The parts of the plan of a function.
pub(super) fn parts_of(f: &Arc<Function>) -> PlanParts {
    let executor = Executor::new();
    let cx = Compiler::new(&executor, &LOWERING);
    let kernels = Kernels {
        role: Role::Whole,
        lower: &|op, types, used| lower(&cx, op, types, used),
        nested: &|_| Ok(None),
        product: &|_, _| None,
        raw: |_, _, _| None,
        extension: &|_| false,
    };
    build(f, &kernels).unwrap().unwrap()
}

/// The parts of a plan at known extents, for row-major arguments.
pub(super) fn resolved(f: &Arc<Function>) -> (PlanParts, Resolved) {
    let (parts, env) = (parts_of(f), Env::default());
    let shapes = f
        .params()
        .iter()
        .map(|&p| f.ty(p).shape.eval(&env).unwrap());
    let arguments: Vec<Strides> = shapes.map(|s| row_major(&s)).collect();
    let extent = Extent {
        f,
        env: &env,
        arguments: &arguments,
        by_rows: true,
    };
    let resolved = extent.resolve(&parts, 0).unwrap();
    (parts, resolved)
}

#[test]
fn wrong_plans_are_refused() {
    let n = 100_000;
    let f = Arc::new(function(&[Type::new(DType::F64, [n])], |cx, x| {
        let both = |y| cx.add(y, cx.reverse(y, &[0]));
        vec![both(cx.sin(both(cx.exp(both(x[0])))))]
    }));
    let (mut parts, mut r) = resolved(&f);
    let arena: Vec<usize> = (0..parts.places.len())
        .filter(|&p| matches!(parts.places[p].home, Home::Arena | Home::Block))
        .collect();
    let text = crate::plan_text(&f, &Env::default()).unwrap();
    assert_eq!((arena.len(), r.arena), (2, 2 * 8 * n), "{text}");
    let steps = parts.segments[0].steps.clone();
    verify(&parts, steps.clone(), &r).unwrap();
    let message = |parts: &PlanParts, r: &Resolved| {
        verify(parts, steps.clone(), r)
            .unwrap_err()
            .message()
            .to_owned()
    };
    let second = r.offsets[arena[1]];
    r.offsets[arena[1]] = r.offsets[arena[0]] + 64;
    assert!(message(&parts, &r).contains("memory of a live value"));
    r.offsets[arena[1]] = second + 64;
    assert!(message(&parts, &r).contains("bytes of"));
    r.offsets[arena[1]] = second;
    let StepKind::Code(step) = &mut parts.steps[0].kind else {
        panic!("a step of code");
    };
    assert!(step.phases.len() > 1, "{text}");
    step.phases.swap(0, 1);
    assert!(message(&parts, &r).contains("a place that is not written"));
}
