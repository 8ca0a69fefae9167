//! The executor limits the number of threads of a run, and the number does not change the bits.

use cotangent_core::ops::{Eig, Eigh, Lu, Svd};
use cotangent_core::primitive::callback;
use cotangent_core::{Array, DType, Env, Op, Type};
use cotangent_cpu::{Executor, Tensor};
use cotangent_kernels::parallel::threads;

mod common;

/// An extension operation that returns the number of threads available to it.
fn count_threads() -> Op {
    let eval = |_: &[Array]| Ok(vec![Array::scalar(threads() as f64)]);
    callback("threads", |x| Ok(x.to_vec()), eval)
}

#[test]
fn a_limit_holds_in_programs_and_operations() {
    let op = count_threads();
    let f = common::build(&[Type::scalar(DType::F64)], |cx, x| {
        cx.emit(op.clone(), x).to_vec()
    });
    for n in [1, 3] {
        let executor = Executor::new().with_threads(n);
        assert_eq!(executor.threads(), Some(n));
        assert_eq!(
            executor
                .compile(&f)
                .unwrap()
                .run(&[Array::scalar(0.0)])
                .unwrap()[0]
                .to_f64(),
            [n as f64]
        );
        let x = [Tensor::from(&Array::scalar(0.0))].into_iter().collect();
        let y = executor
            .apply(&op, x, &Env::default())
            .unwrap()
            .remove(0)
            .into_array()
            .unwrap();
        assert_eq!(y.to_f64(), [n as f64]);
    }
    let free = Executor::new()
        .compile(&f)
        .unwrap()
        .run(&[Array::scalar(0.0)])
        .unwrap();
    assert_eq!(free[0].to_f64(), [threads() as f64]);
}

/// The matrices of a batch are divided among threads.
#[test]
fn batches_of_factorisations_are_the_same_on_any_number_of_threads() {
    let ops: [Op; 4] = [
        Lu.into(),
        Eigh { vectors: true }.into(),
        Svd {
            vectors: true,
            full: true,
        }
        .into(),
        Eig::default().into(),
    ];
    for op in ops {
        for dtype in [DType::F64, DType::C64] {
            let x = [common::numbers(dtype, &[200, 7, 7], 5)];
            let f = common::single(&op, &x);
            let run = |n| {
                Executor::new()
                    .with_threads(n)
                    .compile(&f)
                    .unwrap()
                    .run(&x)
                    .unwrap()
            };
            let alone = run(1);
            assert!(run(2) == alone && run(8) == alone, "{op:?} of {dtype}");
        }
    }
}
