//! The memory of loops in user programs does not grow: with equal and with changing shapes, with
//! eager tensors, traced tensors and closures.
//!
//! Resident memory is read before and after the second half of each loop: it may grow by 64 bytes a
//! step, and by a fixed amount for pages of the allocator. There is only one test, because
//! concurrent tests of this process would be counted.

#![cfg(target_os = "linux")]

use cotangent::ad::{AdContext, BackwardOptions, EagerRuntime, TracedTensorAdExt, no_grad};
use cotangent::{
    CpuBackend, DType, Error, GraphCompiler, GraphExecutor, Result, Tensor, TracedTensor, closures,
    einsum::EagerEinsumExt,
};
use std::sync::Arc;

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or(0)
        * 4096
}

/// Growth that is ignored, in bytes.
const PAGES: u64 = 512 << 10;

type Loop = (&'static str, usize, Box<dyn FnMut(usize)>);

/// A loop of `n` steps.
fn steps(name: &'static str, n: usize, step: impl FnMut(usize) + 'static) -> Loop {
    (name, n, Box::new(step))
}

/// `n` for a loop over equal shapes, one of 64 others for one over changing shapes.
fn vector(i: usize, changing: bool) -> Tensor {
    Tensor::full(
        DType::F64,
        [if changing { 100 + i % 64 } else { 100 }],
        1e-3 * (i % 10) as f64,
    )
    .unwrap()
}

#[expect(clippy::too_many_lines, reason = "a list of loops")]
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
            w.mul(&x)
                .unwrap()
                .tanh()
                .unwrap()
                .sum(..)
                .unwrap()
                .backward()
                .unwrap();
            let g = w.grad().unwrap().unwrap().item::<f64>().unwrap();
            no_grad(|| w.update(|w: &mut [f64]| w[0] -= 1e-6 * g)).unwrap();
            w.clear_grad().unwrap();
        }),
        steps(
            "fresh variables",
            6000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                x.powi(3).unwrap().sum(..).unwrap().backward().unwrap();
            }),
        ),
        steps(
            "fresh variables, with a graph",
            4000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                x.powi(3)
                    .unwrap()
                    .sum(..)
                    .unwrap()
                    .backward_with(BackwardOptions::create_graph())
                    .unwrap();
            }),
        ),
        steps(
            "fresh variables, with a graph, twice",
            3000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let y = x.powi(3).unwrap().sum(..).unwrap();
                (0..2)
                    .for_each(|_| drop(y.backward_with(BackwardOptions::create_graph()).unwrap()));
                x.grad_tensor()
                    .unwrap()
                    .unwrap()
                    .sum(..)
                    .unwrap()
                    .backward()
                    .unwrap();
            }),
        ),
        steps(
            "second derivatives",
            3000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let y = x.sin().unwrap().sum(..).unwrap();
                let g = y
                    .grad_of(&[&x], BackwardOptions::create_graph())
                    .unwrap()
                    .remove(0);
                g.sum(..)
                    .unwrap()
                    .grad_of(&[&x], BackwardOptions::keep_graph())
                    .unwrap();
            }),
        ),
        steps(
            "second derivatives at kinks",
            2000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let y = x.abs().unwrap().square().unwrap().sum(..).unwrap();
                let g = y
                    .grad_of(&[&x], BackwardOptions::create_graph())
                    .unwrap()
                    .remove(0);
                g.sum(..)
                    .unwrap()
                    .grad_of(&[&x], BackwardOptions::create_graph())
                    .unwrap();
                y.jvp(&x, &x.detach())
                    .unwrap()
                    .backward_with(BackwardOptions::create_graph())
                    .unwrap();
            }),
        ),
        steps(
            "a hook that holds its variable, removed",
            6000,
            of(|rt, x| {
                let x = rt.variable_from(x).unwrap();
                let held = x.clone();
                let hook = x
                    .register_hook(move |g| held.tracks_grad().then(|| g.clone()))
                    .unwrap();
                x.exp().unwrap().sum(..).unwrap().backward().unwrap();
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
                    .write(&[&x], |cx, x| {
                        cx.fori(0i64, 3i64, &[], &x[..1], |cx, _, _, c| vec![cx.sin(c[0])])
                    })
                    .unwrap();
                y[0].sum(..).unwrap().backward().unwrap();
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
            let rt = EagerRuntime::with_cpu_backend_and_ad_context(
                CpuBackend::new(),
                &AdContext::default(),
            );
            let x = rt.variable_from(vector(i, changing)).unwrap();
            x.exp().unwrap().sum(..).unwrap().backward().unwrap();
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
    let square = |x: TracedTensor| (&x * &x).sum(..);
    let jitted = closures::jit(move |x: TracedTensor| square(x).exp());
    let graded = closures::jit(closures::grad(square));
    let ever_new = closures::jit(|x: TracedTensor| x.exp().sum(..));
    vec![
        steps(
            "fresh traces, one compiler",
            1500,
            compiled(|x| (x * x).sum(..).exp()),
        ),
        steps(
            "fresh gradients, one compiler",
            800,
            compiled(|x| (x * x).sum(..).grad(x).unwrap()),
        ),
        steps("fresh traces, a compiler each", 300, move |i| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            (&x * &x).sum(..).grad(&x).unwrap().to_tensor().unwrap();
        }),
        steps("a compiled closure", 6000, move |i| {
            drop(jitted(TracedTensor::from_tensor(vector(i, changing))).unwrap())
        }),
        steps("a compiled gradient", 4000, move |i| {
            drop(graded(TracedTensor::from_tensor(vector(i, changing))).unwrap())
        }),
        steps("a compiled closure, ever new shapes", 2000, move |i| {
            drop(
                ever_new(TracedTensor::from_tensor(
                    Tensor::full(DType::F64, [i + 1], 0.5).unwrap(),
                ))
                .unwrap(),
            );
        }),
        steps("a gradient of a closure", 300, move |i| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            closures::grad(square)(x).unwrap().to_tensor().unwrap();
        }),
        steps("a loop of a closure", 200, move |i| {
            let x = TracedTensor::from_tensor(vector(i, changing));
            closures::fori_loop(0, 3, |_, c: TracedTensor| c.sin(), x)
                .unwrap()
                .to_tensor()
                .unwrap();
        }),
    ]
}

/// All functions of closures, called repeatedly on new tensors.
#[expect(clippy::too_many_lines, reason = "a list of loops")]
fn of_closures(changing: bool) -> Vec<Loop> {
    type T = TracedTensor;
    let of = |f: fn(T) -> Result<T>| {
        move |i: usize| {
            let n = if changing { 2 + i % 5 } else { 3 };
            let x = TracedTensor::from_tensor(Tensor::full(DType::F64, [n], 0.5).unwrap());
            drop(f(x).unwrap().to_tensor().unwrap());
        }
    };
    vec![
        steps(
            "root",
            2000,
            of(|a| {
                closures::grad(|a: T| {
                    Ok::<_, Error>(closures::root(|x: T| &x * &x - &a, a.clone())?.sum(..))
                })(a)
            }),
        ),
        steps(
            "fixed_point",
            2000,
            of(|a| closures::fixed_point(|x: T| &x * 0.5 + &a, a.clone())),
        ),
        steps(
            "argmin",
            2000,
            of(|a| closures::argmin(|x: T| (&x - &a).square().sum(..), &a * 2.0)),
        ),
        steps(
            "linear_solve",
            2000,
            of(|a| closures::linear_solve(|x: T| x * 2.0, a, closures::Solver::Gmres)),
        ),
        steps("vmap", 2000, of(|x| closures::vmap(|x: T| x.sin())(x))),
        steps(
            "jacobian",
            2000,
            of(|x| closures::jacobian(|x: T| x.sin())(x)),
        ),
        steps(
            "hvp",
            2000,
            of(|x| closures::hvp(|x: T| x.sin().sum(..))(x.clone(), x)),
        ),
        steps(
            "scan",
            2000,
            of(|x| {
                closures::grad(|x: T| {
                    Ok::<_, Error>(closures::scan(|c: T, x: T| (&c * &x, ()), T::scalar(2.0), x)?.0)
                })(x)
            }),
        ),
        steps(
            "while_loop",
            2000,
            of(|x| closures::while_loop(|c: T| c.sum(..).less(&T::scalar(9.0)), |c: T| c * 2.0, x)),
        ),
        steps(
            "cond",
            2000,
            of(|x| closures::cond(&T::scalar(true), x, |x: T| x.sin(), |x: T| x)),
        ),
        steps(
            "checkpoint",
            2000,
            of(|x| {
                closures::grad(|x: T| {
                    Ok::<_, Error>(closures::checkpoint(|x: T| x.sin())(x)?.sum(..))
                })(x)
            }),
        ),
        steps(
            "custom_vjp",
            2000,
            of(|x| {
                let sin = closures::custom_vjp(
                    |x: T| x.sin(),
                    |x: T| (x.sin(), x),
                    |x: T, ct: T| ct * x.cos(),
                );
                closures::grad(|x: T| Ok::<_, Error>(sin(x)?.sum(..)))(x)
            }),
        ),
        steps(
            "jit, made anew",
            2000,
            of(|x| closures::jit(|x: T| x.sin())(x)),
        ),
    ]
}

#[test]
fn loops_have_flat_memory() {
    let mut wrong = Vec::new();
    for changing in [false, true] {
        for (name, n, mut step) in eager(changing)
            .into_iter()
            .chain(traced(changing))
            .chain(of_closures(changing))
        {
            (0..n / 2).for_each(&mut step);
            let before = resident();
            (n / 2..n).for_each(&mut step);
            let grown = resident().saturating_sub(before);
            if grown > PAGES + 64 * (n as u64 / 2) {
                let shapes = if changing { "changing" } else { "equal" };
                wrong.push(format!(
                    "{name}, {shapes} shapes: {} bytes a step",
                    grown / (n as u64 / 2)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
