//! Programs on memory of the caller, and tensors on memory of another owner.

mod common;

use common::build;
use cotangent_core::array::{Buffer, Elements};
use cotangent_core::ops::DotGeneral;
use cotangent_core::{Array, Code, DType, Data, Dim, Element, Function, Type};
use cotangent_cpu::{Executor, Program, Raw, RawMut, Tensor};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory of another library, which counts its owners.
struct Page {
    elements: Box<[f64]>,
    alive: Arc<AtomicUsize>,
}

impl Elements<f64> for Page {
    fn elements(&self) -> &[f64] {
        &self.elements
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

fn page(x: &[f64]) -> (Data, Arc<AtomicUsize>) {
    let alive = Arc::new(AtomicUsize::new(1));
    let page = Page {
        elements: x.into(),
        alive: alive.clone(),
    };
    (f64::share(Buffer::of_owner(page)), alive)
}

#[test]
fn memory_of_another_owner_lives_as_long_as_its_tensors() {
    let x: Vec<f64> = (0..6).map(f64::from).collect();
    let (data, alive) = page(&x);
    let t = Tensor::from_parts(data, 0, &[2, 3], &[3, 1]).unwrap();
    let at = t.as_ptr();
    let column = t.clone().slice(1, 1, 1, 1);
    drop(t);
    assert_eq!(alive.load(Ordering::Relaxed), 1);
    assert_eq!(column.as_ptr(), at.wrapping_add(8));
    // A result that is a view of an operand shares the memory.
    let transpose = build(&[Type::new(DType::F64, [2, 1])], |cx, x| {
        vec![cx.transpose(x[0], &[1, 0])]
    });
    let program = Executor::new().stepwise().compile(&transpose).unwrap();
    let y = program.run_tensors([column]).unwrap();
    assert_eq!(y[0].as_ptr(), at.wrapping_add(8));
    assert_eq!(alive.load(Ordering::Relaxed), 1);
    assert_eq!(y[0].clone().into_array().unwrap().to_f64(), [1.0, 4.0]);
    drop(y);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn memory_of_another_owner_is_never_written() {
    for n in [3, 200_000] {
        let x = vec![2.0; n];
        let (data, alive) = page(&x);
        let kept = data.clone();
        // The operand has its last use here: its own memory would be written.
        let f = build(&[Type::new(DType::F64, [n])], |cx, x| {
            vec![cx.mul(cx.sin(x[0]), x[0])]
        });
        for executor in [Executor::new(), Executor::new().stepwise()] {
            let t = Tensor::from_parts(kept.clone(), 0, &[n], &[1]).unwrap();
            let y = executor.compile(&f).unwrap().run_tensors([t]).unwrap();
            assert_ne!(y[0].as_slice::<f64>().unwrap()[0], 2.0);
        }
        assert_eq!(f64::slice(&data).unwrap(), x);
        assert_eq!(f64::take(kept).unwrap(), x);
        drop(data);
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn views_outside_of_their_buffer_are_refused() {
    let data = f64::wrap(vec![0.0; 6]);
    let of = |offset, shape: &[usize], strides: &[isize]| {
        Tensor::from_parts(data.clone(), offset, shape, strides)
    };
    for (offset, shape, strides) in [
        (0, &[6][..], &[1][..]),
        (5, &[6], &[-1]),
        (0, &[4, 4], &[1, 0]),
        (1, &[2, 2], &[3, 1]),
        (6, &[0], &[1]),
        (99, &[3, 0], &[isize::MAX, 7]),
        (5, &[1, 1], &[isize::MAX, isize::MIN]),
        (5, &[], &[]),
        (0, &[1 << 40], &[0]),
    ] {
        assert!(
            of(offset, shape, strides).is_ok(),
            "{offset} {shape:?} {strides:?}"
        );
    }
    for (offset, shape, strides, code) in [
        (0, &[7][..], &[1][..], Code::OutOfBounds),
        (1, &[6], &[1], Code::OutOfBounds),
        (4, &[6], &[-1], Code::OutOfBounds),
        (6, &[], &[], Code::OutOfBounds),
        (0, &[3, 3], &[2, 1], Code::OutOfBounds),
        (0, &[2, 2], &[isize::MAX, isize::MAX], Code::OutOfBounds),
        (0, &[3], &[isize::MIN], Code::OutOfBounds),
        (usize::MAX, &[2], &[1], Code::OutOfBounds),
        (0, &[2], &[], Code::Input),
        (0, &[1 << 41], &[0], Code::Limit),
    ] {
        let e = of(offset, shape, strides).expect_err("a view outside");
        assert_eq!(e.code(), code, "{offset} {shape:?} {strides:?}: {e}");
    }
}

#[test]
#[should_panic(expected = "fewer elements")]
fn an_owner_that_loses_elements_is_a_panic() {
    struct Shrinks(AtomicUsize, [f64; 4]);
    impl Elements<f64> for Shrinks {
        fn elements(&self) -> &[f64] {
            &self.1[..self.0.fetch_sub(1, Ordering::Relaxed)]
        }
    }
    let b = Buffer::of_owner(Shrinks(AtomicUsize::new(4), [0.0; 4]));
    let _ = b.len();
}

/// Runs a program on memory, with results in memory.
fn run_into(program: &Program, x: &[Raw<'_>], y: &mut [f64], shape: &[usize]) -> Result<(), Code> {
    let dtype = DType::F64;
    let data = y.as_mut_ptr().cast();
    // SAFETY: operands are arrays of the tests, which live. The result has the elements of `shape`
    // and overlaps nothing.
    unsafe { program.run_into(x, &mut [RawMut { dtype, data, shape }]) }.map_err(|e| e.code())
}

fn raw<'a>(x: &'a [f64], shape: &'a [usize], strides: &'a [isize]) -> Raw<'a> {
    Raw {
        dtype: DType::F64,
        data: x.as_ptr().cast(),
        shape,
        strides,
    }
}

fn product(n: usize) -> Arc<Function> {
    let square = Type::new(DType::F64, [n, n]);
    build(&[square.clone(), square], |cx, x| {
        vec![cx.dot_general(x[0], x[1], DotGeneral::contract(&[1], &[0]))]
    })
}

#[test]
fn programs_run_on_memory_of_the_caller_with_the_same_bits() {
    for n in [2, 60] {
        let x: Vec<f64> = (0..n * n).map(|i| (i as f64 * 0.7).sin()).collect();
        let (shape, across) = ([n, n], [1, n as isize]);
        let f = product(n);
        for executor in [Executor::new(), Executor::new().stepwise()] {
            let program = executor.compile(&f).unwrap();
            for strides in [&[][..], &across] {
                let t = |strides: &[isize]| match strides {
                    [] => Tensor::from_parts(f64::wrap(x.clone()), 0, &shape, &[n as isize, 1]),
                    _ => Tensor::from_parts(f64::wrap(x.clone()), 0, &shape, strides),
                };
                let want = program
                    .run_tensors([t(&[]).unwrap(), t(strides).unwrap()])
                    .unwrap();
                let want = want[0].clone().into_array().unwrap().to_f64();
                let mut got = vec![f64::NAN; n * n];
                let args = [raw(&x, &shape, &[]), raw(&x, &shape, strides)];
                run_into(&program, &args, &mut got, &shape).unwrap();
                assert!(got == want, "{n} {strides:?}");
                let mut results = Vec::new();
                // SAFETY: operands are arrays of the tests, which live.
                let done = unsafe { program.run_raw(&args, |y| results.push(y)) };
                assert_eq!(done.is_some(), program.is_direct() && strides.is_empty());
                for y in results {
                    assert!(y.into_array().unwrap().to_f64() == want, "{n}");
                }
            }
        }
    }
}

#[test]
fn one_program_runs_on_memory_of_every_size_and_views_are_copied() {
    let n = Dim::sym("n");
    let f = build(&[Type::new(DType::F64, vec![n])], |cx, x| {
        vec![cx.reverse(x[0], &[0])]
    });
    let program = cotangent_cpu::compile(&f).unwrap();
    for n in [0, 1, 5, 100_000] {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let mut y = vec![f64::NAN; n];
        run_into(&program, &[raw(&x, &[n], &[])], &mut y, &[n]).unwrap();
        assert!(y.iter().eq(x.iter().rev()), "{n}");
    }
    // A stride of zero, and a negative one from the last element on.
    let mut y = [0.0; 3];
    run_into(&program, &[raw(&[7.0], &[3], &[0])], &mut y, &[3]).unwrap();
    assert_eq!(y, [7.0; 3]);
    let x = [1.0, 2.0, 3.0];
    let last = Raw {
        data: x[2..].as_ptr().cast(),
        ..raw(&x, &[3], &[-1])
    };
    run_into(&program, &[last], &mut y, &[3]).unwrap();
    assert_eq!(y, [1.0, 2.0, 3.0]);
}

#[test]
fn memory_that_does_not_fit_is_an_error() {
    let program = cotangent_cpu::compile(&product(2)).unwrap();
    let (x, mut y) = ([1.0; 8], [0.0; 8]);
    let two = raw(&x, &[2, 2], &[]);
    let mut run = |args: &[Raw<'_>], shape: &[usize]| run_into(&program, args, &mut y, shape);
    assert_eq!(run(&[two, two], &[2, 2]), Ok(()));
    assert!(run(&[two], &[2, 2]).is_err());
    assert_eq!(
        run(&[two, raw(&x, &[2, 3], &[])], &[2, 2]),
        Err(Code::ShapeMismatch)
    );
    assert_eq!(run(&[two, two], &[4]), Err(Code::ShapeMismatch));
    let odd = Raw {
        data: two.data.wrapping_add(1),
        ..two
    };
    assert_eq!(run(&[two, odd], &[2, 2]), Err(Code::Input));
    let wrong = Raw {
        dtype: DType::I64,
        ..two
    };
    assert_eq!(run(&[two, wrong], &[2, 2]), Err(Code::ShapeMismatch));
    // SAFETY: the operands live, and there are no results.
    let none = unsafe { program.run_into(&[two, two], &mut []) };
    assert_eq!(none.unwrap_err().code(), Code::Arity);
    assert_eq!(
        program
            .run(&[
                Array::zeros(DType::F64, [2, 2]).unwrap(),
                Array::zeros(DType::F64, [2, 2]).unwrap()
            ])
            .unwrap()
            .len(),
        1
    );
}

/// Small values in a loop: the program runs in place, and may run long, so that it is not direct.
#[test]
fn a_loop_of_small_values_runs_in_place() {
    let types = [Type::new(DType::F64, [3]), Type::new(DType::F64, [50, 3])];
    let f = build(&types, |cx, x| {
        let (c, y) = cx.scan(&[], &x[..1], &x[1..], &50.into(), false, |cx, _, c, row| {
            let next = cx.sin(cx.add(c[0], row[0]));
            (vec![next], vec![cx.mul(next, c[0])])
        });
        vec![cx.reduce_sum(y[0], &[0]), c[0]]
    });
    let program = Executor::new().compile(&f).unwrap();
    assert!(!program.is_direct());
    let x = [0.5, -1.0, 2.0];
    let rows: Vec<f64> = (0..150).map(|k| f64::from(k % 11) / 4.0).collect();
    let args = [
        Array::vector(x.to_vec()),
        Array::from_vec([50, 3], rows.clone()).unwrap(),
    ];
    let want = Executor::new()
        .stepwise()
        .compile(&f)
        .unwrap()
        .run(&args)
        .unwrap();
    let args = [raw(&x, &[3], &[]), raw(&rows, &[50, 3], &[])];
    for _ in 0..2 {
        let mut y = [[f64::NAN; 3]; 2];
        let mut results = y.each_mut().map(|y| RawMut {
            dtype: DType::F64,
            data: y.as_mut_ptr().cast(),
            shape: &[3],
        });
        // SAFETY: operands and results are arrays of the test, which live and do not overlap.
        unsafe { program.run_into(&args, &mut results).unwrap() };
        for (y, want) in y.iter().zip(&want) {
            assert_eq!(&y[..], want.as_slice::<f64>().unwrap());
        }
    }
    // SAFETY: operands are arrays of the test, which live.
    assert!(unsafe { program.run_raw(&args, |_| {}) }.is_none());
}
