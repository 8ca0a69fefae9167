//! A hook ends every kind of long run, soon; programs run again afterwards, and a hook that does
//! not end a run changes no bit.

mod common;

use common::build;
use cotangent_core::ops::{Comparison, DotGeneral, Eigh, Svd};
use cotangent_core::{Array, Code, DType, Dim, Emit, Env, Function, Op, Type, Val};
use cotangent_cpu::{Executor, Hook, Tensor, with_interrupt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time that a run may take after its hook would end it. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(5);

fn vector(n: usize) -> Type {
    Type::new(DType::F64, [n])
}

/// `while |x| is finite`, with a body of one operation on `n` elements.
fn forever(n: usize) -> Arc<Function> {
    build(&[vector(n)], |cx, x| {
        cx.while_loop(
            &[],
            x,
            |cx, _, c| cx.is_finite(cx.reduce_sum(c[0], &[0])),
            |cx, _, c| vec![cx.sin(c[0])],
        )
    })
}

/// A scan of 2^38 steps, which would take hours.
fn endless_scan(n: usize, body_is_elementwise: bool) -> Arc<Function> {
    build(&[vector(n)], |cx, x| {
        let steps = Dim::from(1usize << 38);
        let (c, _) = cx.scan(&[], x, &[], &steps, false, |cx, _, c, _| {
            let y = cx.sin(c[0]);
            let next = match body_is_elementwise {
                true => y,
                false => cx.reverse(y, &[0]),
            };
            (vec![next], vec![])
        });
        c
    })
}

/// A scan whose first step has a loop that does not end.
fn endless_step() -> Arc<Function> {
    build(&[vector(3)], |cx, x| {
        let (c, _) = cx.scan(&[], x, &[], &300.into(), false, |cx, _, c, _| {
            let more = |cx: &dyn Emit, _: &[Val], c: &[Val]| {
                let first = cx.index_axis(c[0], 0, 0);
                cx.compare(first, Comparison::Lt, cx.full_like(first, 2.0))
            };
            let step = |cx: &dyn Emit, _: &[Val], c: &[Val]| vec![cx.reverse(c[0], &[0])];
            (cx.while_loop(&[], c, more, step), vec![])
        });
        c
    })
}

/// A hook that ends a run after this time, and when it first returned true.
fn after(time: Duration) -> (Hook, Arc<AtomicUsize>) {
    let (begin, asked) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let count = asked.clone();
    let hook = move || {
        count.fetch_add(1, Ordering::Relaxed);
        begin.elapsed() > time
    };
    (Arc::new(hook), asked)
}

#[test]
fn a_hook_ends_every_kind_of_loop() {
    let call = |f: &Arc<Function>, n| build(&[vector(n)], |cx, x| cx.call(f, x).to_vec());
    for (name, n, f) in [
        ("a loop over small tensors", 2, forever(2)),
        ("a loop over large tensors", 1 << 16, forever(1 << 16)),
        ("a scan in machine code", 3, endless_scan(3, true)),
        (
            "a scan in machine code on many elements",
            5000,
            endless_scan(5000, true),
        ),
        ("a scan over small tensors", 4, endless_scan(4, false)),
        (
            "a scan over large tensors",
            1 << 16,
            endless_scan(1 << 16, false),
        ),
        ("a loop in a call", 2, call(&forever(2), 2)),
        ("a loop in a step", 3, endless_step()),
    ] {
        for stepwise in [false, true] {
            let (hook, asked) = after(Duration::from_millis(40));
            let executor = Executor::new().with_interrupt(hook);
            let executor = if stepwise {
                executor.stepwise()
            } else {
                executor
            };
            let begin = Instant::now();
            let program = executor.compile(&f).unwrap();
            let e = program.run(&[Array::vector(vec![0.5; n])]).expect_err(name);
            assert_eq!(e.code(), Code::Interrupted, "{name}: {e}");
            assert!(begin.elapsed() < PATIENCE, "{name}: {:?}", begin.elapsed());
            assert!(asked.load(Ordering::Relaxed) > 0);
        }
    }
}

#[test]
fn a_hook_ends_large_kernels() {
    let n = 3000;
    let square = Type::new(DType::F64, [n, n]);
    let data = Array::full([n, n], 0.5).unwrap();
    let product = build(std::slice::from_ref(&square), |cx, x| {
        vec![cx.dot_general(x[0], x[0], DotGeneral::contract(&[1], &[0]))]
    });
    let spectrum = build(std::slice::from_ref(&square), |cx, x| {
        cx.emit(Eigh { vectors: true }.into(), x).to_vec()
    });
    let sorted = build(&[square], |cx, x| vec![cx.sort(x[0], 1, false)]);
    for (name, f) in [
        ("a product", product),
        ("a spectrum", spectrum),
        ("a sort", sorted),
    ] {
        for threads in [1, 2] {
            let executor = Executor::new()
                .with_threads(threads)
                .with_interrupt(Arc::new(|| true));
            let program = executor.compile(&f).unwrap();
            let begin = Instant::now();
            let e = program.run(std::slice::from_ref(&data)).expect_err(name);
            assert_eq!(e.code(), Code::Interrupted, "{name}: {e}");
            assert!(begin.elapsed() < PATIENCE, "{name}: {:?}", begin.elapsed());
        }
    }
}

#[test]
fn a_scope_ends_operations_and_programs_of_any_executor() {
    static STOP: AtomicBool = AtomicBool::new(true);
    let hook: Hook = Arc::new(|| STOP.load(Ordering::Relaxed));
    let program = cotangent_cpu::compile(&forever(2)).unwrap();
    let matrix = Tensor::from(&Array::full([700, 700], 1.0).unwrap());
    let e = with_interrupt(&hook, || program.run(&[Array::vector(vec![0.5; 2])]));
    assert_eq!(e.unwrap_err().code(), Code::Interrupted);
    let op: Op = Svd {
        vectors: true,
        full: false,
    }
    .into();
    let apply =
        || Executor::new().apply(&op, [matrix.clone()].into_iter().collect(), &Env::default());
    assert_eq!(
        with_interrupt(&hook, apply).err().unwrap().code(),
        Code::Interrupted
    );
    STOP.store(false, Ordering::Relaxed);
    assert_eq!(with_interrupt(&hook, apply).unwrap().len(), 3);
}

#[test]
fn a_hook_that_lets_runs_end_changes_no_bit() {
    // Parts of a loop of machine code, forwards and backwards.
    for reverse in [false, true] {
        let steps = 300_000;
        let f = build(&[vector(3), Type::new(DType::F64, [steps, 3])], |cx, x| {
            let n = Dim::from(steps);
            let (c, y) = cx.scan(&[], &x[..1], &x[1..], &n, reverse, |cx, _, c, x| {
                let half = cx.full_like(c[0], 0.5);
                let next = cx.add(cx.mul(half, c[0]), x[0]);
                (vec![next], vec![cx.mul(next, c[0])])
            });
            vec![c[0], y[0]]
        });
        let rows = (0..3 * steps).map(|i| ((i * 37) % 101) as f64).collect();
        let args = [
            Array::vector(vec![1.0, 2.0, 3.0]),
            Array::from_vec([steps, 3], rows).unwrap(),
        ];
        let want = Executor::new().compile(&f).unwrap().run(&args).unwrap();
        let quiet = Executor::new().with_interrupt(Arc::new(|| false));
        let got = quiet.compile(&f).unwrap().run(&args).unwrap();
        assert!(want == got, "reverse: {reverse}");
    }
}

#[test]
fn a_program_runs_again_after_an_interruption() {
    let stop = Arc::new(AtomicBool::new(true));
    let flag = stop.clone();
    let executor = Executor::new().with_interrupt(Arc::new(move || flag.load(Ordering::Relaxed)));
    let n = 1500;
    let f = build(&[Type::new(DType::F64, [n, n])], |cx, x| {
        let y = cx.dot_general(x[0], x[0], DotGeneral::contract(&[1], &[0]));
        vec![cx.dot_general(y, x[0], DotGeneral::contract(&[1], &[0]))]
    });
    let x = Array::full([n, n], 1.0).unwrap();
    let program = executor.compile(&f).unwrap();
    let e = program.run(std::slice::from_ref(&x)).unwrap_err();
    assert_eq!(e.code(), Code::Interrupted);
    stop.store(false, Ordering::Relaxed);
    let y = program.run(&[x]).unwrap();
    assert!(
        y[0].as_slice::<f64>()
            .unwrap()
            .iter()
            .all(|&y| y == (n * n) as f64)
    );
}
