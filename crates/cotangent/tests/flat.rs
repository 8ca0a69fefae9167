//! Loops that users write have flat memory: with equal and with changing shapes, eager, traced and in closures.
//!
//! Resident memory is read before and after the second half of each loop: it may grow by 64 bytes a step, and by what pages
//! of the allocator come and go. One test, as every loop of this process would count.

#![cfg(target_os = "linux")]

use cotangent::ad::{AdContext, BackwardOptions, EagerRuntime, TracedTensorAdExt, no_grad};
use cotangent::{
    CpuBackend, DType, GraphCompiler, GraphExecutor, Tensor, TracedTensor, closures, einsum::EagerEinsumExt,
};
use std::sync::Arc;

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Growth that says nothing.
const PAGES: u64 = 512 << 10;

type Loop = (&'static str, usize, Box<dyn FnMut(usize)>);

/// A loop that takes so many steps.
fn steps(name: &'static str, n: usize, step: impl FnMut(usize) + 'static) -> Loop {
    (name, n, Box::new(step))
}

/// `n` for a loop over equal shapes, one of 64 others for one over changing shapes.
fn vector(i: usize, changing: bool) -> Tensor {
    Tensor::full(DType::F64, [if changing { 100 + i % 64 } else { 100 }], 1e-3 * (i % 10) as f64).unwrap()
}

fn eager(changing: bool) -> Vec<Loop> {
    let rt = EagerRuntime::new();
    let mut w = rt.variable_from(Tensor::scalar(0.5)).unwrap();
    let of = |f: fn(&Arc<EagerRuntime>, Tensor)| {
        let rt = EagerRuntime::new();
        move |i: usize| f(&rt, vector(i, changing))
    };
    vec![
        steps("a step of training", 6000, move |i| {
            let x = rt.constant_from(vector(i, changing)).unwrap();
            w.mul(&x).unwrap().tanh().unwrap().sum().unwrap().backward().unwrap();
            let g = w.grad().unwrap().unwrap().item::<f64>().unwrap();
            no_grad(|| w.update(|w: &mut [f64]| w[0] -= 1e-6 * g)).unwrap();
            w.clear_grad().unwrap();
        }),
        steps(
            "fresh variables",
            6000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                x.powi(3).unwrap().sum().unwrap().backward().unwrap();
            }),
        ),
        steps(
            "fresh variables, with a graph",
            4000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                x.powi(3).unwrap().sum().unwrap().backward_with(BackwardOptions::create_graph()).unwrap();
            }),
        ),
        steps(
            "fresh variables, with a graph, twice",
            3000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let y = x.powi(3).unwrap().sum().unwrap();
                (0..2).for_each(|_| drop(y.backward_with(BackwardOptions::create_graph()).unwrap()));
                x.grad_tensor().unwrap().unwrap().sum().unwrap().backward().unwrap();
            }),
        ),
        steps(
            "second derivatives",
            3000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let y = x.sin().unwrap().sum().unwrap();
                let g = y.grad_of(&[&x], BackwardOptions::create_graph()).unwrap().remove(0);
                g.sum().unwrap().grad_of(&[&x], BackwardOptions::keep_graph()).unwrap();
            }),
        ),
        steps(
            "a hook that holds its variable, removed",
            6000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let held = x.clone();
                let hook = x.register_hook(move |g| held.tracks_grad().then(|| g.clone())).unwrap();
                x.exp().unwrap().sum().unwrap().backward().unwrap();
                assert!(hook.remove());
            }),
        ),
        steps("hooks of one variable, removed", 6000, {
            let rt = EagerRuntime::new();
            let x = rt.variable_from(Tensor::scalar(1.0)).unwrap();
            move |_| {
                let held = x.clone();
                let hook = x.register_hook(move |_| held.exp().ok().and(None)).unwrap();
                x.exp().unwrap().backward().unwrap();
                hook.remove();
            }
        }),
        steps(
            "loops inside an operation",
            400,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let y = rt
                    .write(&[&x], |cx, x| cx.fori(0i64, 3i64, &[], &x[..1], |cx, _, _, c| vec![cx.sin(c[0])]))
                    .unwrap();
                y[0].sum().unwrap().backward().unwrap();
            }),
        ),
        steps(
            "einsum",
            3000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                [&x, &x, &x].einsum("i,i,i->").unwrap().backward().unwrap();
            }),
        ),
        steps("runtimes", 2000, move |i| {
            let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &AdContext::default());
            let x = rt.variable_from(vector(i, changing)).unwrap();
            x.exp().unwrap().sum().unwrap().backward().unwrap();
        }),
    ]
}

fn traced(changing: bool) -> Vec<Loop> {
    let compiled = |f: fn(&TracedTensor) -> TracedTensor| {
        let (compiler, executor) = (GraphCompiler::new(), GraphExecutor::default());
        move |i: usize| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            executor.run(&compiler.compile(&f(&x)).unwrap()).unwrap();
        }
    };
    let square = |x: TracedTensor| (&x * &x).sum();
    let jitted = closures::jit(move |x: TracedTensor| square(x).exp());
    let graded = closures::jit(closures::grad(square));
    let ever_new = closures::jit(|x: TracedTensor| x.exp().sum());
    vec![
        steps("fresh traces, one compiler", 1500, compiled(|x| (x * x).sum().exp())),
        steps("fresh gradients, one compiler", 800, compiled(|x| (x * x).sum().grad(x).unwrap())),
        steps("fresh traces, a compiler each", 300, move |i| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            (&x * &x).sum().grad(&x).unwrap().to_tensor().unwrap();
        }),
        steps("a compiled closure", 6000, move |i| {
            drop(jitted(TracedTensor::from_tensor(vector(i, changing))).unwrap())
        }),
        steps("a compiled gradient", 4000, move |i| {
            drop(graded(TracedTensor::from_tensor(vector(i, changing))).unwrap())
        }),
        steps("a compiled closure, ever new shapes", 2000, move |i| {
            drop(ever_new(TracedTensor::from_tensor(Tensor::full(DType::F64, [i + 1], 0.5).unwrap())).unwrap());
        }),
        steps("a gradient of a closure", 300, move |i| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            closures::grad(square)(x).unwrap().to_tensor().unwrap();
        }),
        steps("a loop of a closure", 200, move |i| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            closures::fori_loop(0, 3, |_, c: TracedTensor| c.sin(), x).unwrap().to_tensor().unwrap();
        }),
    ]
}

#[test]
fn loops_have_flat_memory() {
    let mut wrong = Vec::new();
    for changing in [false, true] {
        for (name, n, mut step) in eager(changing).into_iter().chain(traced(changing)) {
            (0..n / 2).for_each(&mut step);
            let before = resident();
            (n / 2..n).for_each(&mut step);
            let grown = resident().saturating_sub(before);
            if grown > PAGES + 64 * (n as u64 / 2) {
                let shapes = if changing { "changing" } else { "equal" };
                wrong.push(format!("{name}, {shapes} shapes: {} bytes a step", grown / (n as u64 / 2)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
