//! What [`memory`] says beforehand is what a run takes: an allocator that counts watches it.

use cotangent_core::ops::{Checkpoint, Scan};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, Session, grad};
use cotangent_core::{Builder, DType, Dim, Emit, Env, Function, Type, Val};
use cotangent_cpu::memory::memory;
use cotangent_cpu::pool::release_memory;
use cotangent_cpu::{Executor, Tensor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(
            ALIVE.fetch_add(layout.size(), Relaxed) + layout.size(),
            Relaxed,
        );
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        ALIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A kernel's own memory (a product packs blocks of its operands), also where buffers that are kept
/// take more than is alive, and the program's lists. Rooms of the pool are powers of two.
const KERNEL_SLACK_BYTES: usize = 1200 << 10;

/// What is predicted too much of small bodies in bodies.
const NESTED_SLACK_BYTES: usize = 32 << 10;

/// The peak that was counted and the one that was predicted, of a run on ones.
fn peaks(f: Function) -> (usize, usize) {
    let f = Arc::new(f);
    let types: Vec<Type> = f.params().iter().map(|&p| f.ty(p).clone()).collect();
    let predicted = memory(&f, &types, &Env::default()).unwrap();
    // One thread: the others would keep memory of their own from the first run in which they take a
    // part, whichever that is.
    let program = Executor::new().with_threads(1).compile(&f).unwrap();
    let ones = |ty: &Type| {
        let shape = ty.shape.as_const().unwrap();
        let n: usize = shape.iter().product();
        let data = (0..n)
            .map(|k| 0.5 + (k % 7) as f32 * 0.1)
            .collect::<Vec<f32>>();
        Tensor::from(cotangent_core::Array::from_vec(shape, data).unwrap())
    };
    let x: Vec<Tensor> = types.iter().map(ones).collect();
    // Code and the threads' own memory are there after the first run; what a thread keeps of its
    // buffers goes with it.
    let run = |x: Vec<Tensor>| program.run_tensors(x).unwrap();
    std::thread::scope(|s| s.spawn(|| drop(run(x.clone()))).join().unwrap());
    // The process keeps large buffers for later runs: a run that takes those allocates nothing.
    release_memory();
    let before = ALIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let y = std::thread::scope(|s| s.spawn(|| run(x.clone())).join().unwrap());
    let peak = PEAK.load(Relaxed) - before;
    release_memory();
    let after = ALIVE.load(Relaxed).saturating_sub(before);
    assert!(
        after <= predicted.results + (4 << 10),
        "results take {after} bytes, {} were predicted",
        predicted.results
    );
    drop(y);
    (peak, predicted.peak)
}

fn function(n: &[usize], build: impl FnOnce(&dyn Emit, Val) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x = b.param(Type::new(DType::F32, n), Some("x"));
    let y = build(&b, x);
    b.finish(&[y]).unwrap()
}

fn gradient(f: &Function) -> Function {
    simplify(&grad(&AdContext::default(), f, f.params()).unwrap())
}

fn layers(cx: &dyn Emit, x: Val, n: usize) -> Val {
    (0..n).fold(x, |x, i| match i % 3 {
        0 => cx.mul(x, cx.full_like(x, 1.01)),
        1 => cx.add(x, cx.full_like(x, 0.01)),
        _ => cx.tanh(x),
    })
}

fn softmax_between_products(cx: &dyn Emit, x: Val) -> Val {
    let scores = cx.softmax(cx.matmul(x, cx.transpose(x, &[1, 0])), 1);
    let y = cx.matmul(scores, x);
    cx.reduce_sum(cx.mul(y, y), &[0, 1])
}

fn rows_of_a_product(cx: &dyn Emit, x: Val) -> Val {
    let some = cx.slice_axis(x, 0, 0usize, 512usize);
    cx.reduce_sum(cx.exp(cx.matmul(x, cx.transpose(some, &[1, 0]))), &[1])
}

/// One at a time: all of it is one test, for there is one count.
#[test]
fn a_run_takes_the_predicted_memory() {
    let loss = |cx: &dyn Emit, x: Val, n| cx.reduce_sum(layers(cx, x, n), &[0]);
    let products = |cx: &dyn Emit, x: Val| (0..6).fold(x, |y, _| cx.matmul(cx.sin(y), x));
    let walk = |cx: &dyn Emit, x: Val| {
        let b = cx.nested("step");
        let row = b.param(Type::new(DType::F32, [256, 256]), None);
        let inner: &dyn Emit = &b;
        let next = inner.tanh(inner.matmul(row, row));
        let body = Arc::new(b.finish(&[next, next]).unwrap());
        let scan = Scan {
            body,
            length: Dim::Const(8),
            reverse: false,
            consts: 0,
            carry: 1,
            checkpoint: Checkpoint::Never,
        };
        cx.emit(scan.into(), &[x])[1]
    };
    // Ten thousand steps on 256 numbers: the residuals of all are 10 MB.
    let steps = |cx: &dyn Emit, x: Val, policy| {
        let step =
            |cx: &dyn Emit, _: &[Val], c: &[Val], _: &[Val]| (vec![cx.tanh(cx.sin(c[0]))], vec![]);
        let c = cx
            .checkpointing(policy)
            .scan(&[], &[x], &[], &Dim::Const(10_000), false, step)
            .0[0];
        cx.reduce_sum(c, &[0])
    };
    let saving = |policy| gradient(&function(&[256], |cx, x| steps(cx, x, policy)));
    let rows: Vec<(&str, Function)> = vec![
        ("steps that save", saving(Checkpoint::Never)),
        ("steps by sqrt", saving(Checkpoint::Sqrt)),
        ("steps by 10 snapshots", saving(Checkpoint::Snapshots(10))),
        ("layers", function(&[200_000], |cx, x| layers(cx, x, 20))),
        (
            "gradient of 200 layers",
            gradient(&function(&[1_000_000], |cx, x| loss(cx, x, 200))),
        ),
        ("products", function(&[500, 500], products)),
        (
            "gradient of products",
            gradient(&function(&[300, 300], |cx, x| {
                cx.reduce_sum(products(cx, x), &[0, 1])
            })),
        ),
        ("attention", function(&[400, 100], softmax_between_products)),
        (
            "gradient of attention",
            gradient(&function(&[400, 100], softmax_between_products)),
        ),
        (
            "rows of a product",
            function(&[4000, 64], rows_of_a_product),
        ),
        (
            "a view",
            function(&[300, 300], |cx, x| cx.transpose(cx.sin(x), &[1, 0])),
        ),
        (
            "an argument",
            function(&[300, 300], |cx, x| cx.slice_axis(x, 0, 10usize, 20usize)),
        ),
        ("scan", function(&[256, 256], walk)),
    ];
    for (name, f) in rows {
        let (counted, predicted) = peaks(f);
        println!("{name}: {counted} counted, {predicted} predicted");
        assert!(
            counted <= predicted + KERNEL_SLACK_BYTES,
            "{name} takes {counted} bytes, {predicted} were predicted"
        );
        assert!(
            predicted <= counted + counted / 4 + NESTED_SLACK_BYTES,
            "{name} takes {counted} bytes, {predicted} were predicted"
        );
        // A carry or residual is 1 KB: two residuals of 10000 steps, of 100 and 100 carries, of 10
        // and 10 carries.
        let most = |n: usize| assert!(predicted <= n << 10, "{name} needs {predicted} bytes");
        match name {
            "steps that save" => assert!(predicted >= 10_000 << 10),
            "steps by sqrt" => most(4 * 100),
            "steps by 10 snapshots" => most(8 * 10),
            // A number for each row of a product of 8 MB, which passes.
            "rows of a product" => most(16),
            _ => {}
        }
        if name == "gradient of 200 layers" {
            assert!(
                counted <= 4_000_000 + (8 << 20),
                "{name} takes {counted} bytes beside its argument"
            );
        }
    }
}
