//! Control flow and custom rules: corner cases, derivatives of every order, nesting, batching,
//! linear size.

#[path = "control/branches.rs"]
mod branches;
#[path = "control/calls.rs"]
mod calls;
#[path = "control/checkpoints.rs"]
mod checkpoints;
#[path = "control/custom.rs"]
mod custom;
#[path = "control/nesting.rs"]
mod nesting;
#[path = "control/scans.rs"]
mod scans;
#[path = "control/whiles.rs"]
mod whiles;

use cotangent_core::ops::{Call, Checkpoint, Comparison, DotGeneral};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{
    AdContext, Direction, batch, grad, hessian, hvp, hvp_reverse, jacobian, jvp, value_and_grad,
    vjp,
};
use cotangent_core::{Array, Builder, Code, DType, Dim, Emit, Function, Type, Val, reference};
use std::sync::Arc;

fn ad() -> AdContext {
    AdContext::default()
}

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

fn build(types: &[Type], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Function {
    let b = Builder::new("f", ad().session());
    let x: Vec<Val> = types
        .iter()
        .enumerate()
        .map(|(i, t)| b.param(t.clone(), Some(&format!("x{i}"))))
        .collect();
    let y = f(&b, &x);
    b.finish(&y).unwrap()
}

/// A function of one real number.
fn scalar(f: impl FnOnce(&dyn Emit, Val) -> Val) -> Function {
    build(&[f64s(&[])], |cx, x| vec![f(cx, x[0])])
}

fn run(f: &Function, x: &[Array]) -> Vec<Vec<f64>> {
    let y = reference::run(f, x).unwrap();
    // Every function is also simplified: the bits of its results do not change.
    let simple = reference::run(&simplify(f), x).unwrap();
    assert!(
        y.iter().zip(&simple).all(|(a, b)| a.same_bits(b)),
        "{y:?} {simple:?}"
    );
    y.iter().map(Array::to_f64).collect()
}

fn at(f: &Function, x: f64) -> f64 {
    run(f, &[Array::scalar(x)])[0][0]
}

fn derivative(f: &Function) -> Function {
    grad(&ad(), f, f.params()).unwrap()
}

fn close(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

/// Numbers without a pattern.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        s = s
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (s >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn like(x: &Array, seed: u64) -> Array {
    Array::from_vec(x.shape(), numbers(x.len(), seed)).unwrap()
}

fn axpy(x: &Array, h: f64, t: &Array) -> Array {
    let v = x
        .to_f64()
        .iter()
        .zip(t.to_f64())
        .map(|(x, t)| x + h * t)
        .collect::<Vec<f64>>();
    Array::from_vec(x.shape(), v).unwrap()
}

fn dot(a: &[Vec<f64>], b: &[Array]) -> f64 {
    a.iter()
        .zip(b)
        .flat_map(|(a, b)| {
            a.iter()
                .zip(b.to_f64())
                .map(|(a, b)| a * b)
                .collect::<Vec<_>>()
        })
        .sum()
}

/// Checks the laws of a real function at smooth points: finite differences, the adjoint law, second
/// derivatives in both modes and against differences of first ones.
fn laws(f: &Function, x: &[Array]) {
    let wrt: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype == DType::F64)
        .collect();
    let pos: Vec<usize> = (0..x.len())
        .filter(|&i| x[i].dtype() == DType::F64)
        .collect();
    let t: Vec<Array> = pos
        .iter()
        .enumerate()
        .map(|(k, &i)| like(&x[i], 7 + k as u64))
        .collect();
    let moved = |h: f64, by: &[Array]| {
        let mut y = x.to_vec();
        for (k, &i) in pos.iter().enumerate() {
            y[i] = axpy(&x[i], h, &by[k]);
        }
        y
    };
    let floats: Vec<usize> = (0..f.results().len())
        .filter(|&k| f.ty(f.results()[k]).dtype == DType::F64)
        .collect();
    let f = &f
        .clone()
        .with_results(&floats.iter().map(|&k| f.results()[k]).collect::<Vec<_>>());
    let y = reference::run(f, x).unwrap();
    let ct: Vec<Array> = y
        .iter()
        .enumerate()
        .map(|(k, y)| like(y, 70 + k as u64))
        .collect();
    let j = jvp(&ad(), f, &wrt).unwrap();
    let back = vjp(&ad(), f, &wrt).unwrap();
    let jt = run(&j, &[x, &t].concat())[y.len()..].to_vec();
    let h = 1e-6;
    let (hi, lo) = (run(f, &moved(h, &t)), run(f, &moved(-h, &t)));
    for k in 0..y.len() {
        for i in 0..jt[k].len() {
            close(jt[k][i], (hi[k][i] - lo[k][i]) / (2.0 * h), 1e-6);
        }
    }
    let g = run(&back, &[x, &ct].concat());
    close(dot(&g, &t), dot(&jt, &ct), 1e-11);
    let seeded = |by: f64| run(&back, &[moved(by, &t), ct.clone()].concat());
    let (hi, lo) = (seeded(h), seeded(-h));
    // A real scalar is seeded with 1.
    let scalar = y.len() == 1 && y[0].shape().is_empty();
    let scale = if scalar { ct[0].to_f64()[0] } else { 1.0 };
    let args = if scalar {
        [x, &t].concat()
    } else {
        [x, &ct, &t].concat()
    };
    let a = run(&hvp(&ad(), f, &wrt).unwrap(), &args);
    let args = if scalar { args } else { [x, &t, &ct].concat() };
    let b = run(&hvp_reverse(&ad(), f, &wrt).unwrap(), &args);
    for k in 0..a.len() {
        for i in 0..a[k].len() {
            close(a[k][i], b[k][i], 1e-11);
            close(scale * a[k][i], (hi[k][i] - lo[k][i]) / (2.0 * h), 2e-6);
        }
    }
}

/// Compares batching with a loop, for every choice of mapped arguments. Also for the batched
/// gradient and the gradient of the batched function.
fn batches(f: &Function, x: &[Array], n: usize) {
    let wrt: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype == DType::F64)
        .collect();
    let y = reference::run(f, x).unwrap();
    let back = vjp(&ad(), f, &wrt).unwrap();
    let ct: Vec<Array> = y
        .iter()
        .filter(|y| y.dtype() == DType::F64)
        .map(|y| like(y, 5))
        .collect();
    for (f, x) in [(f, x.to_vec()), (&back, [x, &ct].concat())] {
        for m in 1usize..1 << x.len() {
            let mapped: Vec<bool> = (0..x.len()).map(|i| m >> i & 1 == 1).collect();
            let each: Vec<Vec<Array>> = (0..n)
                .map(|k| {
                    x.iter()
                        .enumerate()
                        .map(|(i, x)| if mapped[i] { vary(x, k) } else { x.clone() })
                        .collect()
                })
                .collect();
            let stacked: Vec<Array> = (0..x.len())
                .map(|i| {
                    if mapped[i] {
                        stack(&each.iter().map(|e| e[i].clone()).collect::<Vec<_>>())
                    } else {
                        x[i].clone()
                    }
                })
                .collect();
            let size = Dim::Const(n);
            let force = vec![true; f.results().len()];
            let (b, _) = batch(&ad().session(), f, &mapped, &force, &size).unwrap();
            let got = run(&b, &stacked);
            let want: Vec<Vec<Vec<f64>>> = each.iter().map(|x| run(f, x)).collect();
            for (r, got) in got.iter().enumerate() {
                let want: Vec<f64> = want.iter().flat_map(|w| w[r].clone()).collect();
                assert_eq!(got.len(), want.len());
                for (g, w) in got.iter().zip(want) {
                    close(*g, w, 1e-12);
                }
            }
        }
    }
}

/// Another value of the same type, also for integers and booleans.
fn vary(x: &Array, k: usize) -> Array {
    match x.dtype() {
        DType::F64 => axpy(x, 0.3 * k as f64, &like(x, 11 + k as u64)),
        DType::Bool => Array::from_vec(
            x.shape(),
            x.to_f64()
                .iter()
                .map(|b| (*b != 0.0) ^ (k % 2 == 1))
                .collect(),
        )
        .unwrap(),
        _ => Array::from_vec(
            x.shape(),
            x.to_f64().iter().map(|i| *i as i64 + k as i64).collect(),
        )
        .unwrap(),
    }
}

fn stack(x: &[Array]) -> Array {
    let shape = [&[x.len()], x[0].shape()].concat();
    let v: Vec<f64> = x.iter().flat_map(Array::to_f64).collect();
    match x[0].dtype() {
        DType::F64 => Array::from_vec(shape, v).unwrap(),
        DType::Bool => Array::from_vec(shape, v.iter().map(|b| *b != 0.0).collect()).unwrap(),
        _ => Array::from_vec(shape, v.iter().map(|i| *i as i64).collect()).unwrap(),
    }
}

fn function(
    name: &str,
    types: &[Type],
    f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Arc<Function> {
    Arc::new(build(types, f).renamed(name))
}

fn positive(cx: &dyn Emit, x: Val) -> Val {
    cx.compare(x, Comparison::Gt, cx.full_like(x, 0.0))
}

/// Number of equations with this operation in a function and its distinct regions.
fn count(f: &Function, name: &str) -> usize {
    fn walk(f: &Function, name: &str, seen: &mut Vec<*const Function>) -> usize {
        let mut n = 0;
        for e in f.eqns() {
            n += usize::from(name.is_empty() || e.op.name() == name);
            for r in e.op.regions() {
                if !seen.contains(&Arc::as_ptr(r)) {
                    seen.push(Arc::as_ptr(r));
                    n += walk(r, name, seen);
                }
            }
        }
        n
    }
    walk(f, name, &mut Vec::new())
}

/// `f` applied `n` times, unrolled.
fn times(n: usize, x: Val, f: impl Fn(usize, Val) -> Val) -> Val {
    (0..n).fold(x, |x, i| f(i, x))
}

/// Two functions of the same arguments agree, with their first and second derivatives.
fn agree(a: &Function, b: &Function, x: &[Array], tol: f64) {
    let same = |a: &Function, b: &Function, x: &[Array]| {
        let (a, b) = (run(a, x), run(b, x));
        for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
            close(*a, *b, tol);
        }
    };
    same(a, b, x);
    let wrt = |f: &Function| {
        f.params()
            .iter()
            .copied()
            .filter(|&p| f.ty(p).dtype == DType::F64)
            .collect::<Vec<_>>()
    };
    let y: Vec<Array> = reference::run(a, x)
        .unwrap()
        .into_iter()
        .filter(|y| y.dtype() == DType::F64)
        .collect();
    let ct: Vec<Array> = y
        .iter()
        .enumerate()
        .map(|(k, y)| like(y, 40 + k as u64))
        .collect();
    let (ga, gb) = (
        vjp(&ad(), a, &wrt(a)).unwrap(),
        vjp(&ad(), b, &wrt(b)).unwrap(),
    );
    let with_ct = [x, &ct].concat();
    same(&ga, &gb, &with_ct);
    let t: Vec<Array> = with_ct
        .iter()
        .filter(|x| x.dtype() == DType::F64)
        .map(|x| like(x, 9))
        .collect();
    let (ja, jb) = (
        jvp(&ad(), &ga, &wrt(&ga)).unwrap(),
        jvp(&ad(), &gb, &wrt(&gb)).unwrap(),
    );
    same(&ja, &jb, &[&with_ct[..], &t].concat());
    let back = |g: &Function| vjp(&ad(), g, &wrt(g)).unwrap();
    same(
        &back(&ga),
        &back(&gb),
        &[
            &with_ct[..],
            &x.iter()
                .filter(|x| x.dtype() == DType::F64)
                .cloned()
                .collect::<Vec<_>>(),
        ]
        .concat(),
    );
}

/// A recurrence with a loop constant, rows and an integer counter, which returns all carries and
/// stacked results.
fn recurrence(reverse: bool) -> Function {
    build(&[f64s(&[2]), f64s(&[2]), f64s(&[4, 2])], |cx, x| {
        let zero = cx.full(&Type::scalar(DType::I64), 0i64);
        let (c, ys) = cx.scan(
            &x[..1],
            &[x[1], zero],
            &x[2..],
            &Dim::Const(4),
            reverse,
            |cx, w, c, x| {
                let h = cx.tanh(cx.add(cx.mul(cx.sin(w[0]), c[0]), x[0]));
                let scaled = cx.mul(
                    h,
                    cx.broadcast_to(cx.convert(c[1], DType::F64), &cx.ty(h).shape),
                );
                (
                    vec![h, cx.add(c[1], cx.full_like(c[1], 1i64))],
                    vec![scaled, c[1], x[0]],
                )
            },
        );
        [c, ys].concat()
    })
}

/// `c *= x`, `n` times.
fn power() -> Function {
    build(
        &[Type::scalar(DType::I64), f64s(&[]), f64s(&[])],
        |cx, x| {
            let zero = cx.full(&Type::scalar(DType::I64), 0i64);
            let y = cx.while_loop(
                &x[..2],
                &[zero, x[2]],
                |cx, w, c| cx.compare(c[0], Comparison::Lt, w[0]),
                |cx, w, c| vec![cx.add(c[0], cx.full_like(c[0], 1i64)), cx.mul(c[1], w[1])],
            );
            vec![y[1]]
        },
    )
}
