//! Constants of loops in their steps: numbers, and values that are given twice.

use super::{build, names, real, scan_of, simple};
use cotangent_core::ops::{Binary, Bounds};
use cotangent_core::{Array, DType, Op, Type};

#[test]
fn a_value_that_is_given_twice_is_one_parameter() {
    let f = build(&[real(), real()], |cx, x| {
        let given = [x[0], x[1], x[0]];
        cx.scan(&given, &x[1..], &[], &20.into(), false, |cx, w, c, _| {
            let y = cx.mul(cx.add(w[0], c[0]), cx.sub(w[2], c[0]));
            (vec![cx.sin(cx.mul(y, w[1]))], vec![])
        })
        .0
    });
    let g = simple(&f, &[Array::scalar(0.3), Array::scalar(1.3)]);
    assert_eq!(scan_of(&g).0, [2, 1, 0, 0], "{g}");
}

/// Numbers before the outermost of three loops, all of which pass them on.
#[test]
fn numbers_are_part_of_the_steps_of_inner_loops() {
    let ty = Type::new(DType::F64, [4]);
    let index = Type::new(DType::I32, [1]);
    let f = build(std::slice::from_ref(&ty), |cx, x| {
        let truth = cx.full(&Type::scalar(DType::Bool), 1.0);
        let truths = cx.broadcast_in_dim(truth, &[3.into()], &[]);
        let (two, one) = (cx.full(&ty, 2.0), cx.full(&index, 1.0));
        let steps = 20.into();
        let consts = [truths, two, one];
        let outer = cx.scan(&consts, x, &[], &steps, false, |cx, w, c, _| {
            let middle = cx.scan(w, c, &[], &steps, false, |cx, w, c, _| {
                let inner = cx.scan(w, c, &[], &steps, false, |cx, w, c, _| {
                    let sines = cx.sin(cx.op(Binary::MulStrongZero, &[w[1], c[0]]));
                    let taken = cx.take(sines, w[2], 0, Bounds::Drop);
                    let taken = cx.reshape(taken, &[]);
                    let three = cx.broadcast_in_dim(taken, &[3.into()], &[]);
                    let zeros = cx.full(&Type::new(DType::F64, [3]), 0.0);
                    let chosen = cx.select(w[0], three, zeros);
                    let next = cx.pad(chosen, cx.full(&real(), 0.0), &[0], &[1], &[0]);
                    (vec![cx.add(next, sines)], vec![])
                });
                (inner.0, vec![])
            });
            (middle.0, vec![])
        });
        outer.0
    });
    let g = simple(&f, &[Array::vector(vec![0.3, -0.0, 2.0, 1.0])]);
    let mut all = (g.clone(), vec![]);
    while let Some(Op::Scan(s)) = all
        .0
        .eqns()
        .iter()
        .map(|e| &e.op)
        .find(|op| matches!(op, Op::Scan(_)))
    {
        assert_eq!(s.consts, 0, "{g}");
        let body = s.body.clone();
        all = (body.clone(), names(&body));
    }
    for name in ["select", "gather", "mul_strong_zero"] {
        assert!(!all.1.iter().any(|n| n == name), "{name}\n{g}");
    }
}
