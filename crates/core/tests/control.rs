//! Control flow and custom rules: corner cases, derivatives of every order, nesting, batching, linear size.

use cotangent_core::ops::{Call, Comparison};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, batch, grad, hvp, hvp_reverse, jvp, value_and_grad, vjp};
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
    let x: Vec<Val> = types.iter().enumerate().map(|(i, t)| b.param(t.clone(), Some(&format!("x{i}")))).collect();
    let y = f(&b, &x);
    b.finish(&y).unwrap()
}

/// A function of one real number.
fn scalar(f: impl FnOnce(&dyn Emit, Val) -> Val) -> Function {
    build(&[f64s(&[])], |cx, x| vec![f(cx, x[0])])
}

fn run(f: &Function, x: &[Array]) -> Vec<Vec<f64>> {
    let y = reference::run(f, x).unwrap();
    // Whatever is run is also simplified: every derivative in this file keeps its bits.
    let simple = reference::run(&simplify(f), x).unwrap();
    assert!(y.iter().zip(&simple).all(|(a, b)| a.same_bits(b)), "{y:?} {simple:?}");
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
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn like(x: &Array, seed: u64) -> Array {
    Array::from_vec(x.shape(), numbers(x.len(), seed)).unwrap()
}

fn axpy(x: &Array, h: f64, t: &Array) -> Array {
    let v = x.to_f64().iter().zip(t.to_f64()).map(|(x, t)| x + h * t).collect::<Vec<f64>>();
    Array::from_vec(x.shape(), v).unwrap()
}

fn dot(a: &[Vec<f64>], b: &[Array]) -> f64 {
    a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b.to_f64()).map(|(a, b)| a * b).collect::<Vec<_>>()).sum()
}

/// Everything a real function at smooth points must satisfy: finite differences, the adjoint law, second derivatives
/// both ways and against differences of first ones.
fn laws(f: &Function, x: &[Array]) {
    let wrt: Vec<Val> = f.params().iter().copied().filter(|&p| f.ty(p).dtype == DType::F64).collect();
    let pos: Vec<usize> = (0..x.len()).filter(|&i| x[i].dtype() == DType::F64).collect();
    let t: Vec<Array> = pos.iter().enumerate().map(|(k, &i)| like(&x[i], 7 + k as u64)).collect();
    let moved = |h: f64, by: &[Array]| {
        let mut y = x.to_vec();
        for (k, &i) in pos.iter().enumerate() {
            y[i] = axpy(&x[i], h, &by[k]);
        }
        y
    };
    let floats: Vec<usize> = (0..f.results().len()).filter(|&k| f.ty(f.results()[k]).dtype == DType::F64).collect();
    let f = &f.clone().with_results(&floats.iter().map(|&k| f.results()[k]).collect::<Vec<_>>());
    let y = reference::run(f, x).unwrap();
    let ct: Vec<Array> = y.iter().enumerate().map(|(k, y)| like(y, 70 + k as u64)).collect();
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
    // A real scalar is seeded by itself.
    let scalar = y.len() == 1 && y[0].shape().is_empty();
    let scale = if scalar { ct[0].to_f64()[0] } else { 1.0 };
    let args = if scalar { [x, &t].concat() } else { [x, &ct, &t].concat() };
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

/// Batching agrees with a loop, for every choice of mapped arguments; so does the batched gradient, and the gradient
/// of the batched function.
fn batches(f: &Function, x: &[Array], n: usize) {
    let wrt: Vec<Val> = f.params().iter().copied().filter(|&p| f.ty(p).dtype == DType::F64).collect();
    let y = reference::run(f, x).unwrap();
    let back = vjp(&ad(), f, &wrt).unwrap();
    let ct: Vec<Array> = y.iter().filter(|y| y.dtype() == DType::F64).map(|y| like(y, 5)).collect();
    for (f, x) in [(f, x.to_vec()), (&back, [x, &ct].concat())] {
        for m in 1usize..1 << x.len() {
            let mapped: Vec<bool> = (0..x.len()).map(|i| m >> i & 1 == 1).collect();
            let each: Vec<Vec<Array>> = (0..n)
                .map(|k| x.iter().enumerate().map(|(i, x)| if mapped[i] { vary(x, k) } else { x.clone() }).collect())
                .collect();
            let stacked: Vec<Array> = (0..x.len())
                .map(|i| {
                    if mapped[i] { stack(&each.iter().map(|e| e[i].clone()).collect::<Vec<_>>()) } else { x[i].clone() }
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

/// Another value of the same type: integers and booleans change too.
fn vary(x: &Array, k: usize) -> Array {
    match x.dtype() {
        DType::F64 => axpy(x, 0.3 * k as f64, &like(x, 11 + k as u64)),
        DType::Bool => {
            Array::from_vec(x.shape(), x.to_f64().iter().map(|b| (*b != 0.0) ^ (k % 2 == 1)).collect()).unwrap()
        }
        _ => Array::from_vec(x.shape(), x.to_f64().iter().map(|i| *i as i64 + k as i64).collect()).unwrap(),
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

fn function(name: &str, types: &[Type], f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>) -> Arc<Function> {
    Arc::new(build(types, f).renamed(name))
}

fn positive(cx: &dyn Emit, x: Val) -> Val {
    cx.compare(x, Comparison::Gt, cx.full_like(x, 0.0))
}

// Calls and checkpoints.

#[test]
fn call_with_its_own_symbols() {
    let g = function("g", &[Type::new(DType::F64, vec![Dim::sym("k")])], |cx, x| {
        vec![cx.mul(cx.sin(x[0]), x[0]), cx.extent(&f64s(&[]), &Dim::sym("k"))]
    });
    let f = build(&[Type::new(DType::F64, vec![Dim::sym("n")]), f64s(&[4])], |cx, x| {
        let (a, b) = (cx.call(&g, &x[..1]), cx.call(&g, &x[1..]));
        let s = cx.add(cx.reduce_sum(a[0], &[0]), cx.reduce_sum(b[0], &[0]));
        vec![cx.mul(s, cx.mul(a[1], b[1]))]
    });
    for n in [1, 3] {
        laws(&f, &[Array::vector(numbers(n, 1)), Array::vector(numbers(4, 2))]);
    }
    assert_eq!(run(&f, &[Array::vector(Vec::<f64>::new()), Array::vector(vec![0.0; 4])]), [[0.0]]);
    batches(&f, &[Array::vector(numbers(2, 1)), Array::vector(numbers(4, 2))], 3);
}

#[test]
fn a_tower_of_doubling_calls_is_derived_at_once() {
    let mut f = function("f0", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    for k in 1..=40 {
        let inner = f.clone();
        f = function(&format!("f{k}"), &[f64s(&[])], |cx, x| {
            let y = cx.call(&inner, x);
            cx.call(&inner, &y)
        });
    }
    let start = std::time::Instant::now();
    let g = grad(&ad(), &f, f.params()).unwrap();
    grad(&ad(), &g, g.params()).unwrap();
    hvp(&ad(), &f, f.params()).unwrap();
    batch(&ad().session(), &g, &[true], &[true], &Dim::Const(3)).unwrap();
    assert!(f.cost().flops > 1e12);
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
}

#[test]
fn calls_share_and_are_right() {
    let mut f = function("f0", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    let plain = scalar(|cx, x| (0..8).fold(x, |x, _| cx.sin(x)));
    for k in 1..=3 {
        let inner = f.clone();
        f = function(&format!("f{k}"), &[f64s(&[])], |cx, x| {
            let y = cx.call(&inner, x);
            cx.call(&inner, &y)
        });
    }
    laws(&f, &[Array::scalar(0.7)]);
    let (mut a, mut b) = ((*f).clone(), plain);
    for _ in 0..4 {
        close(at(&a, 0.7), at(&b, 0.7), 1e-12);
        (a, b) = (derivative(&a), derivative(&b));
    }
}

/// Equations in a function and its distinct bodies, by operation.
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

#[test]
fn checkpoint_computes_again_and_changes_no_bit() {
    let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.sin(x[0]))];
    let plain = scalar(|cx, x| body(cx, &[x])[0]);
    let check = scalar(|cx, x| cx.checkpoint(&[x], body)[0]);
    // sin(x) is computed again.
    let both = |f: &Function| simplify(&value_and_grad(&ad(), f, f.params()).unwrap());
    assert_eq!((count(&both(&plain), "sin"), count(&both(&check), "sin")), (2, 3));
    assert_eq!(count(&both(&check), "checkpoint"), 2);
    let (mut a, mut b) = (plain, check);
    for order in 0..4 {
        let (x, y) = (at(&a, 1.0), at(&b, 1.0));
        if order < 2 {
            assert_eq!(x.to_bits(), y.to_bits());
        }
        close(x, y, 1e-13);
        if order == 1 {
            close(y, 0.360039, 1e-6);
        }
        (a, b) = (derivative(&a), derivative(&b));
    }
}

#[test]
fn checkpoints_nest() {
    let f = build(&[f64s(&[3]), f64s(&[3])], |cx, x| {
        let y = cx.checkpoint(x, |cx, x| {
            let y = cx.checkpoint(x, |cx, x| vec![cx.mul(cx.sin(x[0]), x[1]), cx.exp(x[1])]);
            vec![cx.cos(cx.mul(y[0], y[1])), cx.full_like(y[0], 3.0)]
        });
        vec![cx.reduce_sum(cx.mul(y[0], y[1]), &[0]), y[1]]
    });
    let x = [Array::vector(numbers(3, 1)), Array::vector(numbers(3, 2))];
    laws(&f, &x);
    batches(&f, &x, 2);
}

#[test]
fn linear_calls() {
    let g = function("g", &[f64s(&[]), f64s(&[])], |cx, x| vec![cx.mul(cx.sin(x[0]), x[1])]);
    assert!(g.linear_in(&[false, true]) && !g.linear_in(&[true, false]) && !g.linear_in(&[true, true]));
    let f = scalar(|cx, x| cx.call(&g, &[cx.full_like(x, 2.0), x])[0]);
    let t = cotangent_core::transform::linear_transpose(&ad(), &f).unwrap();
    close(at(&t, 2.0), 2.0 * 2f64.sin(), 1e-15);
    let f = scalar(|cx, x| cx.call(&g, &[x, x])[0]);
    let e = cotangent_core::transform::linear_transpose(&ad(), &f).unwrap_err();
    assert_eq!(e.code(), Code::NotLinear);
}

// Branches.

#[test]
fn cond_takes_the_gradient_of_the_branch() {
    // Line 92.
    let f = scalar(|cx, x| {
        cx.cond(positive(cx, x), &[x], |cx, x| vec![cx.mul(x[0], x[0])], |cx, x| vec![cx.full_like(x[0], 5.0)])[0]
    });
    let g = derivative(&f);
    assert_eq!((at(&f, 3.0), at(&f, -3.0), at(&g, 3.0), at(&g, -3.0)), (9.0, 5.0, 6.0, 0.0));
    let h = derivative(&g);
    assert_eq!((at(&h, 3.0), at(&h, -3.0)), (2.0, 0.0));
}

#[test]
fn batched_gradient_of_cond_has_no_nan() {
    // Line 93.
    let f = scalar(|cx, x| {
        let no = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.full_like(x[0], 0.0), x[0])];
        cx.cond(positive(cx, x), &[x], |cx, x| vec![cx.sqrt(x[0])], no)[0]
    });
    let g = derivative(&f);
    let (b, _) = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(3)).unwrap();
    assert_eq!(run(&b, &[Array::vector(vec![4.0, 0.0, -1.0])])[0], [0.25, 0.0, 0.0]);
}

#[test]
fn switch_clamps() {
    // Line 94.
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        let by = |c: f64| move |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.full_like(x[0], c), x[0])];
        cx.switch(x[0], &x[1..], &[&by(1.0), &by(2.0), &by(3.0)])
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    for (index, want) in [(-5, 1.0), (0, 1.0), (1, 2.0), (2, 3.0), (9, 3.0)] {
        let x = [Array::scalar(index as i64), Array::scalar(2.0)];
        assert_eq!(run(&f, &x)[0][0], 2.0 * want);
        assert_eq!(run(&g, &x)[0][0], want);
    }
    batches(&f, &[Array::scalar(-1i64), Array::scalar(2.0)], 5);
}

#[test]
fn branches_must_agree() {
    // Line 95.
    let b = Builder::new("f", ad().session());
    let cx: &dyn Emit = &b;
    let x = b.param(f64s(&[]), Some("x"));
    let y = cx.cond(positive(cx, x), &[x], |_, x| vec![x[0], x[0]], |_, x| vec![x[0]]);
    let e = b.finish(&y).unwrap_err();
    assert_eq!(e.code(), Code::BranchMismatch);
    assert_eq!(e.message(), "branch 1 returns (f64[], f64[]) but branch 0 returns f64[]");
}

#[test]
fn branches_with_different_residuals() {
    // Line 96, and results that only one branch moves, in every direction.
    let f = build(&[Type::scalar(DType::Bool), f64s(&[2]), f64s(&[2])], |cx, x| {
        let y = cx.cond(
            x[0],
            &x[1..],
            |cx, x| {
                let e = cx.exp(x[0]);
                vec![cx.mul(cx.sin(cx.mul(e, x[1])), e), x[0]]
            },
            |cx, x| vec![x[1], cx.full_like(x[0], 1.5)],
        );
        vec![y[0], cx.mul(y[1], cx.cos(y[0]))]
    });
    for p in [true, false] {
        let x = [Array::scalar(p), Array::vector(numbers(2, 1)), Array::vector(numbers(2, 2))];
        laws(&f, &x);
        batches(&f, &x, 3);
    }
    // What the untaken branch would save is not computed.
    let g = vjp(&ad(), &f, &f.params()[1..]).unwrap();
    assert!(count(&g, "cond") == 2);
}

#[test]
fn cond_in_cond() {
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.cond(
            positive(cx, x[0]),
            x,
            |cx, x| {
                let p = positive(cx, x[1]);
                cx.cond(p, x, |cx, x| vec![cx.mul(cx.sin(x[0]), x[1])], |cx, x| vec![cx.exp(x[1])])
            },
            |cx, x| vec![cx.checkpoint(x, |cx, x| vec![cx.mul(x[0], cx.mul(x[0], x[1]))])[0]],
        )
    });
    for (a, b) in [(0.5, 0.7), (0.5, -0.7), (-0.5, 0.7)] {
        laws(&f, &[Array::scalar(a), Array::scalar(b)]);
        batches(&f, &[Array::scalar(a), Array::scalar(b)], 4);
    }
}

#[test]
fn nested_bodies_cannot_be_endless() {
    let mut f = function("f", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    let deep = (0..1000).find_map(|_| {
        let b = Builder::new("f", ad().session());
        let x = b.param(f64s(&[]), None);
        let y = b.emit(Call { callee: f.clone(), checkpoint: false }.into(), &[x]);
        match b.finish(&y) {
            Ok(g) => {
                f = Arc::new(g);
                None
            }
            Err(e) => Some(e),
        }
    });
    assert_eq!(deep.unwrap().code(), Code::Limit);
    // The deepest one is still derived on a small stack.
    let f = (*f).clone();
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small.spawn(move || derivative(&derivative(&f))).unwrap().join().unwrap();
}

// Scans.

/// `f` applied `n` times, as one equation after another.
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
    let wrt = |f: &Function| f.params().iter().copied().filter(|&p| f.ty(p).dtype == DType::F64).collect::<Vec<_>>();
    let y: Vec<Array> = reference::run(a, x).unwrap().into_iter().filter(|y| y.dtype() == DType::F64).collect();
    let ct: Vec<Array> = y.iter().enumerate().map(|(k, y)| like(y, 40 + k as u64)).collect();
    let (ga, gb) = (vjp(&ad(), a, &wrt(a)).unwrap(), vjp(&ad(), b, &wrt(b)).unwrap());
    let with_ct = [x, &ct].concat();
    same(&ga, &gb, &with_ct);
    let t: Vec<Array> = with_ct.iter().filter(|x| x.dtype() == DType::F64).map(|x| like(x, 9)).collect();
    let (ja, jb) = (jvp(&ad(), &ga, &wrt(&ga)).unwrap(), jvp(&ad(), &gb, &wrt(&gb)).unwrap());
    same(&ja, &jb, &[&with_ct[..], &t].concat());
    let back = |g: &Function| vjp(&ad(), g, &wrt(g)).unwrap();
    same(
        &back(&ga),
        &back(&gb),
        &[&with_ct[..], &x.iter().filter(|x| x.dtype() == DType::F64).cloned().collect::<Vec<_>>()].concat(),
    );
}

#[test]
fn scan_of_length_zero() {
    // Line 86.
    let f = build(&[f64s(&[]), f64s(&[0])], |cx, x| {
        let (c, ys) = cx.scan(&[], &x[..1], &x[1..], &Dim::Const(0), false, |cx, _, c, x| {
            (vec![cx.mul(c[0], x[0])], vec![cx.sin(c[0])])
        });
        vec![cx.add(c[0], cx.reduce_sum(ys[0], &[0]))]
    });
    let g = grad(&ad(), &f, f.params()).unwrap();
    let y = run(&g, &[Array::scalar(3.0), Array::vector(Vec::<f64>::new())]);
    assert_eq!(y, [vec![1.0], vec![]]);
}

#[test]
fn scan_without_carry() {
    // Line 87.
    let f = build(&[f64s(&[3])], |cx, x| {
        let (_, ys) = cx.scan(&[], &[], x, &Dim::Const(3), false, |cx, _, _, x| (vec![], vec![cx.mul(x[0], x[0])]));
        vec![cx.reduce_sum(ys[0], &[0])]
    });
    assert_eq!(run(&derivative(&f), &[Array::vector(vec![0.0, 1.0, 2.0])])[0], [0.0, 2.0, 4.0]);
}

#[test]
fn scan_that_only_uses_a_constant() {
    // Line 88: w^4.
    let f = scalar(|cx, w| {
        let one = cx.full_like(w, 1.0);
        cx.scan(&[w], &[one], &[], &Dim::Const(4), false, |cx, w, c, _| (vec![cx.mul(c[0], w[0])], vec![])).0[0]
    });
    let g = derivative(&f);
    assert_eq!((at(&f, 2.0), at(&g, 2.0), at(&derivative(&g), 2.0)), (16.0, 32.0, 48.0));
    laws(&f, &[Array::scalar(1.3)]);
}

#[test]
fn a_carry_that_gets_its_tangent_late() {
    // Line 89.
    let f = scalar(|cx, w| {
        let zero = cx.full_like(w, 0.0);
        cx.scan(&[w], &[zero, zero], &[], &Dim::Const(3), false, |cx, w, c, _| (vec![c[1], cx.add(c[1], w[0])], vec![]))
            .0[0]
    });
    assert_eq!((at(&f, 5.0), at(&derivative(&f), 5.0)), (10.0, 2.0));
}

/// A recurrence with a constant that does not change, rows, an integer counter, and everything returned.
fn recurrence(reverse: bool) -> Function {
    build(&[f64s(&[2]), f64s(&[2]), f64s(&[4, 2])], |cx, x| {
        let zero = cx.full(&Type::scalar(DType::I64), 0i64);
        let (c, ys) = cx.scan(&x[..1], &[x[1], zero], &x[2..], &Dim::Const(4), reverse, |cx, w, c, x| {
            let h = cx.tanh(cx.add(cx.mul(cx.sin(w[0]), c[0]), x[0]));
            let scaled = cx.mul(h, cx.broadcast_to(cx.convert(c[1], DType::F64), &cx.ty(h).shape));
            (vec![h, cx.add(c[1], cx.full_like(c[1], 1i64))], vec![scaled, c[1], x[0]])
        });
        [c, ys].concat()
    })
}

#[test]
fn scan_with_everything() {
    // Lines 90 and 91: any result may be the seeded one, integers have none.
    let x =
        [Array::vector(numbers(2, 1)), Array::vector(numbers(2, 2)), Array::from_vec([4, 2], numbers(8, 3)).unwrap()];
    for reverse in [false, true] {
        let f = recurrence(reverse);
        assert_eq!(run(&f, &x)[3], if reverse { [3.0, 2.0, 1.0, 0.0] } else { [0.0, 1.0, 2.0, 3.0] });
        laws(&f, &x);
        batches(&f, &x, 3);
        for only in [0, 2, 4] {
            laws(&f.clone().with_results(&[f.results()[only]]), &x);
        }
        let unrolled = build(&[f64s(&[2]), f64s(&[2]), f64s(&[4, 2])], |cx, x| {
            let row = |i: usize| {
                let pick =
                    cx.constant(Array::from_vec([4, 2], (0..8).map(|k| f64::from(k / 2 == i)).collect()).unwrap());
                cx.reduce_sum(cx.mul(pick, x[2]), &[0])
            };
            let order = |i: usize| if reverse { 3 - i } else { i };
            vec![times(4, x[1], |i, h| cx.tanh(cx.add(cx.mul(cx.sin(x[0]), h), row(order(i)))))]
        });
        agree(&f.clone().with_results(&f.results()[..1]), &unrolled, &x, 1e-12);
    }
}

#[test]
fn scan_saves_what_does_not_change_once() {
    let f = recurrence(false);
    let g = vjp(&ad(), &f.clone().with_results(&f.results()[..1]), &f.params()[..1]).unwrap();
    // cos(w) is computed outside the loop.
    assert!(g.eqns().iter().any(|e| e.op.name() == "cos"));
}

#[test]
fn scan_of_any_length() {
    let n = Dim::sym("n");
    let f = build(&[f64s(&[]), Type::new(DType::F64, vec![n.clone()])], |cx, x| {
        let (c, ys) = cx.scan(&[], &x[..1], &x[1..], &n, false, |cx, _, c, x| {
            (vec![cx.sin(cx.mul(c[0], x[0]))], vec![cx.mul(c[0], c[0])])
        });
        vec![cx.add(c[0], cx.reduce_sum(ys[0], &[0]))]
    });
    for n in [0, 1, 5] {
        let x = [Array::scalar(0.8), Array::vector(numbers(n, 4))];
        laws(&f, &x);
        batches(&f, &x, 2);
    }
    let e = reference::run(&f, &[Array::scalar(0.8)]).unwrap_err();
    assert_eq!(e.code(), Code::Arity);
}

#[test]
fn scans_nest() {
    // A scan in a scan, branches and a checkpoint inside; against the same unrolled.
    let inner = |cx: &dyn Emit, w: Val, c: Val| {
        cx.scan(&[w], &[c], &[], &Dim::Const(3), false, |cx, w, c, _| (vec![cx.sin(cx.mul(c[0], w[0]))], vec![])).0[0]
    };
    let step = |cx: &dyn Emit, w: Val, c: Val| {
        let y = cx.checkpoint(&[w, c], |cx, x| vec![cx.add(cx.exp(x[0]), cx.cos(x[1]))])[0];
        let p = positive(cx, c);
        cx.cond(p, &[w, y], |cx, x| vec![cx.mul(x[0], x[1])], |cx, x| vec![cx.neg(x[1])])[0]
    };
    let looped = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let (c, ys) = cx.scan(&x[..1], &x[1..], &[], &Dim::Const(3), false, |cx, w, c, _| {
            let c = inner(cx, w[0], step(cx, w[0], c[0]));
            (vec![c], vec![cx.mul(c, c)])
        });
        vec![cx.add(c[0], cx.reduce_sum(ys[0], &[0]))]
    });
    let unrolled = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let (mut c, mut s) = (x[1], cx.full_like(x[1], 0.0));
        for _ in 0..3 {
            c = times(3, step(cx, x[0], c), |_, c| cx.sin(cx.mul(c, x[0])));
            s = cx.add(s, cx.mul(c, c));
        }
        vec![cx.add(c, s)]
    });
    for (w, c) in [(0.7, 0.4), (0.7, -0.4), (-0.8, 0.3)] {
        agree(&looped, &unrolled, &[Array::scalar(w), Array::scalar(c)], 1e-12);
        laws(&looped, &[Array::scalar(w), Array::scalar(c)]);
    }
    batches(&looped, &[Array::scalar(0.7), Array::scalar(0.4)], 4);
}

#[test]
fn a_gradient_inside_a_body() {
    // The step of a scan is itself a gradient step; the derivative of the whole goes through it.
    let loss = build(&[f64s(&[]), f64s(&[])], |cx, x| vec![cx.sin(cx.mul(x[0], cx.mul(x[1], x[1])))]);
    let g = grad(&ad(), &loss, &loss.params()[1..]).unwrap();
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.scan(&x[..1], &x[1..], &[], &Dim::Const(3), false, |cx, w, c, _| {
            let step = cx.inline(&g, &[w[0], c[0]])[0];
            (vec![cx.sub(c[0], cx.mul(cx.full_like(step, 0.1), step))], vec![])
        })
        .0
    });
    let unrolled = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        vec![times(3, x[1], |_, c| cx.sub(c, cx.mul(cx.full_like(c, 0.1), cx.inline(&g, &[x[0], c])[0])))]
    });
    agree(&f, &unrolled, &[Array::scalar(0.7), Array::scalar(0.9)], 1e-12);
}

#[test]
fn carries_keep_their_type() {
    let b = Builder::new("f", ad().session());
    let cx: &dyn Emit = &b;
    let x = b.param(f64s(&[2]), None);
    let y = cx.scan(&[], &[x], &[], &Dim::Const(3), false, |cx, _, c, _| (vec![cx.reduce_sum(c[0], &[0])], vec![])).0;
    let e = b.finish(&y).unwrap_err();
    assert_eq!(e.code(), Code::CarryMismatch);
    assert!(e.message().contains("f64[2] but the body returns f64[]"), "{e}");
}

// While loops.

/// `c *= x`, `n` times.
fn power() -> Function {
    build(&[Type::scalar(DType::I64), f64s(&[]), f64s(&[])], |cx, x| {
        let zero = cx.full(&Type::scalar(DType::I64), 0i64);
        let y = cx.while_loop(
            &x[..2],
            &[zero, x[2]],
            |cx, w, c| cx.compare(c[0], Comparison::Lt, w[0]),
            |cx, w, c| vec![cx.add(c[0], cx.full_like(c[0], 1i64)), cx.mul(c[1], w[1])],
        );
        vec![y[1]]
    })
}

#[test]
fn while_forward_and_backward() {
    // Lines 81 and 82: x^(n+1).
    let f = power();
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| cx.inline(&f, &[x[0], x[1], x[1]]));
    let j = jvp(&ad(), &f, &f.params()[1..]).unwrap();
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    let h = grad(&ad(), &g, &g.params()[1..]).unwrap();
    for (n, want) in [(2i64, (8.0, 12.0, 12.0)), (0, (2.0, 1.0, 0.0)), (-3, (2.0, 1.0, 0.0))] {
        let n = Array::scalar(n);
        assert_eq!(run(&j, &[n.clone(), Array::scalar(2.0), Array::scalar(1.0)]), [vec![want.0], vec![want.1]]);
        assert_eq!(run(&g, &[n.clone(), Array::scalar(2.0)])[0], [want.1]);
        assert_eq!(run(&h, &[n.clone(), Array::scalar(2.0)])[0], [want.2]);
    }
    // The constant of a loop that does not run has gradient zero.
    let g = vjp(&ad(), &power(), &power().params()[1..]).unwrap();
    let x = [Array::scalar(0i64), Array::scalar(3.0), Array::scalar(2.0), Array::scalar(1.0)];
    assert_eq!(run(&g, &x), [[0.0], [1.0]]);
}

#[test]
fn while_whose_trips_depend_on_the_argument() {
    // Line 83: the derivative of the taken path.
    let f = scalar(|cx, x| {
        let small = |cx: &dyn Emit, _: &[Val], c: &[Val]| cx.compare(c[0], Comparison::Lt, cx.full_like(c[0], 10.0));
        cx.while_loop(&[], &[x], small, |cx, _, c| vec![cx.mul(c[0], c[0])])[0]
    });
    for (x, n) in [(1.5, 3), (3.0, 2), (11.0, 0)] {
        laws(&f, &[Array::scalar(x)]);
        let p = 2f64.powi(n);
        close(at(&derivative(&f), x), p * x.powf(p - 1.0), 1e-13);
    }
    batches(&f, &[Array::scalar(1.5)], 4);
}

#[test]
fn fori_with_bounds_known_now_or_later() {
    // Line 84.
    let body = |cx: &dyn Emit, w: &[Val], i: Val, c: &[Val]| {
        let i = cx.convert(i, DType::F64);
        vec![cx.add(cx.mul(c[0], w[0]), cx.sin(i))]
    };
    let known = build(&[f64s(&[]), f64s(&[])], |cx, x| cx.fori(2, 5, &x[..1], &x[1..], body));
    let later = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let hi = cx.full(&Type::scalar(DType::I64), 5i64);
        cx.fori(2, hi, &x[..1], &x[1..], body)
    });
    agree(&known, &later, &[Array::scalar(0.7), Array::scalar(1.2)], 1e-14);
    assert_eq!((count(&known, "while"), count(&later, "scan")), (0, 0));
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        cx.fori(0, x[0], &x[1..], &x[1..], |cx, w, _, c| vec![cx.mul(c[0], w[0])])
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    assert_eq!(run(&g, &[Array::scalar(2i64), Array::scalar(2.0)])[0], [12.0]);
}

#[test]
fn while_in_scan_against_unrolled() {
    // Line 85, and a while in a while, two of them side by side.
    let trips = |cx: &dyn Emit, n: i64, w: &[Val], c: Val, f: &dyn Fn(&dyn Emit, Val, Val) -> Val| {
        let hi = cx.full(&Type::scalar(DType::I64), n);
        cx.fori(0, hi, w, &[c], |cx, w, _, c| vec![f(cx, w[0], c[0])])[0]
    };
    let a = |cx: &dyn Emit, w: Val, c: Val| cx.sin(cx.mul(c, w));
    let b = |cx: &dyn Emit, w: Val, c: Val| cx.add(cx.cos(c), w);
    let looped = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.scan(&x[..1], &x[1..], &[], &Dim::Const(2), false, |cx, w, c, _| {
            let c = trips(cx, 3, w, c[0], &a);
            let c = trips(cx, 2, w, c, &|cx, w, c| {
                let c = trips(cx, 2, &[w], c, &b);
                trips(cx, 3, &[w], c, &a)
            });
            (vec![c], vec![])
        })
        .0
    });
    let unrolled = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let w = x[0];
        vec![times(2, x[1], |_, c| {
            let c = times(3, c, |_, c| a(cx, w, c));
            times(2, c, |_, c| times(3, times(2, c, |_, c| b(cx, w, c)), |_, c| a(cx, w, c)))
        })]
    });
    let x = [Array::scalar(0.7), Array::scalar(0.4)];
    agree(&looped, &unrolled, &x, 1e-12);
    laws(&looped, &x);
    batches(&looped, &x, 3);
    // To third order, too.
    let third = |f: &Function| {
        let g = grad(&ad(), f, &f.params()[1..]).unwrap();
        let h = grad(&ad(), &g, &g.params()[1..]).unwrap();
        run(&grad(&ad(), &h, &h.params()[..1]).unwrap(), &x)[0][0]
    };
    close(third(&looped), third(&unrolled), 1e-11);
}

#[test]
fn batched_while_waits() {
    // Line 97.
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        cx.fori(0, x[0], &[], &x[1..], |cx, _, _, c| vec![cx.mul(c[0], cx.full_like(c[0], 2.0))])
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    let n = Array::vector(vec![0i64, 3, 1]);
    let b = |f: &Function| batch(&ad().session(), f, &[true, false], &[true], &Dim::Const(3)).unwrap().0;
    assert_eq!(run(&b(&f), &[n.clone(), Array::scalar(1.0)])[0], [1.0, 8.0, 2.0]);
    assert_eq!(run(&b(&g), &[n.clone(), Array::scalar(1.0)])[0], [1.0, 8.0, 2.0]);
    let back = vjp(&ad(), &b(&f), &b(&f).params()[1..]).unwrap();
    assert_eq!(run(&back, &[n, Array::scalar(1.0), Array::vector(vec![1.0, 10.0, 100.0])])[0], [1.0 + 80.0 + 200.0]);
    batches(&power(), &[Array::scalar(1i64), Array::scalar(0.7), Array::scalar(1.3)], 4);
    // The root of an element that is done is not taken again: no NaN.
    let f = scalar(|cx, x| {
        let large = |cx: &dyn Emit, _: &[Val], c: &[Val]| cx.compare(c[0], Comparison::Gt, cx.full_like(c[0], 0.0));
        let one = cx.full_like(x, 1.0);
        cx.while_loop(&[one], &[x], large, |cx, w, c| vec![cx.sub(cx.sqrt(c[0]), cx.add(w[0], w[0]))])[0]
    });
    let g = derivative(&f);
    let x = [4.0, 0.0, -1.0, 30.0];
    let (b, _) = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(4)).unwrap();
    let want: Vec<f64> = x.iter().map(|&x| at(&g, x)).collect();
    assert_eq!(run(&b, &[Array::vector(x.to_vec())])[0], want);
}

#[test]
fn while_keeps_its_history() {
    // The saving form, written by hand: results of a length that is decided when it runs, and their derivatives.
    let cond = function("cond", &[f64s(&[])], |cx, x| vec![cx.compare(x[0], Comparison::Lt, cx.full_like(x[0], 9.0))]);
    let body = function("body", &[f64s(&[]), f64s(&[])], |cx, x| vec![cx.add(cx.mul(x[1], x[0]), x[1]), cx.sin(x[1])]);
    let op = cotangent_core::ops::While { cond, body, cond_consts: 0, body_consts: 1, saves: Some("k".into()) };
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let y = cx.emit(op.clone().into(), x);
        let again = cx.scan(&[], &[y[0]], &[y[1]], &cx.ty(y[2]).shape[0].clone(), true, |cx, _, c, x| {
            (vec![cx.mul(cx.cos(c[0]), x[0])], vec![])
        });
        let k = cx.extent(&f64s(&[]), &Dim::sym("k"));
        vec![cx.add(again.0[0], cx.mul(k, cx.reduce_sum(y[1], &[0])))]
    });
    for c in [0.5, 1.5, 20.0] {
        laws(&f, &[Array::scalar(1.3), Array::scalar(c)]);
        // Used twice in one function, and inside a body, its name is taken: it gets another.
        let twice = build(&[f64s(&[]), f64s(&[])], |cx, x| {
            let y = cx.inline(&f, x)[0];
            let z = cx.inline(&f, &[x[0], cx.add(cx.sin(y), x[1])])[0];
            let p = positive(cx, z);
            cx.cond(p, &[x[0], z], |cx, x| cx.inline(&f, x), |cx, x| vec![cx.inline(&f, &[x[0], cx.neg(x[1])])[0]])
        });
        laws(&twice, &[Array::scalar(1.3), Array::scalar(c)]);
    }
    let b = Builder::new("f", ad().session());
    let x = b.param(f64s(&[]), None);
    b.emit(op.clone().into(), &[x, x]);
    b.emit(op.into(), &[x, x]);
    assert_eq!(b.finish(&[x]).unwrap_err().code(), Code::Invalid);
}

#[test]
fn nesting_is_linear() {
    // Line 138: scan, cond, checkpoint, while in each other. The number of equations grows by as much per level.
    let size = |depth: usize| {
        let mut f = function("f", &[f64s(&[]), f64s(&[])], |cx, x| vec![cx.sin(cx.mul(x[0], x[1]))]);
        for k in 0..depth {
            let inner = f.clone();
            f = function("f", &[f64s(&[]), f64s(&[])], |cx, x| match k % 4 {
                0 => {
                    cx.scan(&x[..1], &x[1..], &[], &Dim::Const(2), false, |cx, w, c, _| {
                        (cx.call(&inner, &[w[0], c[0]]), vec![])
                    })
                    .0
                }
                1 => cx.cond(positive(cx, x[0]), x, |cx, x| cx.call(&inner, x), |_, x| vec![x[1]]),
                2 => cx.checkpoint(x, |cx, x| cx.call(&inner, x)),
                _ => {
                    let two = cx.full(&Type::scalar(DType::I64), 2i64);
                    cx.fori(0, two, &x[..1], &x[1..], |cx, w, _, c| cx.call(&inner, &[w[0], c[0]]))
                }
            });
        }
        let start = std::time::Instant::now();
        let g = grad(&ad(), &f, f.params().get(..1).unwrap()).unwrap();
        let h = hvp(&ad(), &f, &f.params()[..1]).unwrap();
        assert!(start.elapsed().as_secs_f64() < 5.0, "{depth}: {:?}", start.elapsed());
        if depth <= 6 {
            laws(&f, &[Array::scalar(0.7), Array::scalar(0.9)]);
        }
        (count(&g, ""), count(&h, ""))
    };
    let sizes: Vec<(usize, usize)> = [4, 8, 12].into_iter().map(size).collect();
    println!("{sizes:?}");
    let per = |a: usize, b: usize| b - a;
    assert!(per(sizes[1].0, sizes[2].0) < 2 * per(sizes[0].0, sizes[1].0), "{sizes:?}");
    assert!(per(sizes[1].1, sizes[2].1) < 2 * per(sizes[0].1, sizes[1].1), "{sizes:?}");
}

// Custom rules.

#[test]
fn custom_jvp_is_believed() {
    // Line 98: x², with the derivative 100 x.
    let f = scalar(|cx, x| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[0])];
        cx.custom_jvp(&[x], body, |cx, x, _, t| vec![t[0].map(|t| cx.mul(cx.mul(cx.full_like(t, 100.0), t), x[0]))])[0]
    });
    let (g, h) = (derivative(&f), derivative(&derivative(&f)));
    assert_eq!((at(&f, 3.0), at(&g, 3.0), at(&h, 3.0), at(&derivative(&h), 3.0)), (9.0, 300.0, 100.0, 0.0));
    let j = jvp(&ad(), &f, f.params()).unwrap();
    assert_eq!(run(&j, &[Array::scalar(3.0), Array::scalar(2.0)]), [[9.0], [600.0]]);
    // The value, derived again, has the same derivative.
    let y =
        run(&jvp(&ad(), &j, &j.params()[..1]).unwrap(), &[Array::scalar(3.0), Array::scalar(2.0), Array::scalar(1.0)]);
    assert_eq!(y, [[9.0], [600.0], [300.0], [200.0]]);
    let b = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(2)).unwrap().0;
    assert_eq!(run(&b, &[Array::vector(vec![3.0, 4.0])])[0], [300.0, 400.0]);
}

#[test]
fn custom_jvp_must_be_linear() {
    let square = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[0])];
    let f = scalar(|cx, x| cx.custom_jvp(&[x], square, |cx, _, _, t| vec![t[0].map(|t| cx.mul(t, t))])[0]);
    let e = grad(&ad(), &f, f.params()).unwrap_err();
    assert_eq!(e.code(), Code::NotLinear);
    assert!(e.message().starts_with("the rule of `custom_jvp`, `rule`, is not linear in the tangents: `mul`"), "{e}");
    let f = scalar(|cx, x| cx.custom_jvp(&[x], square, |_, x, _, _| vec![Some(x[0])])[0]);
    assert_eq!(grad(&ad(), &f, f.params()).unwrap_err().code(), Code::NotLinear);
    let b = Builder::new("f", ad().session());
    let x = b.param(f64s(&[]), None);
    let y =
        (&b as &dyn Emit).custom_jvp(&[x], square, |cx, x, _, _| vec![Some(cx.broadcast_to(x[0], &[Dim::Const(3)]))]);
    let e = b.finish(&y).unwrap_err();
    assert_eq!(
        (e.code(), e.message()),
        (Code::RuleType, "rule of `custom_jvp` returns f64[3] where it needs f64[] (number 0)")
    );
}

/// sin x, with the derivative 10 cos x.
fn ten_cos(cx: &dyn Emit, x: Val) -> Val {
    let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(x[0])];
    cx.custom_vjp(
        &[x],
        body,
        |cx, x| (body(cx, x), vec![x[0]]),
        |cx, r, ct| vec![ct[0].map(|ct| cx.mul(cx.mul(cx.full_like(ct, 10.0), cx.cos(r[0])), ct))],
    )[0]
}

#[test]
fn custom_vjp_is_believed_both_ways() {
    // Line 99.
    let f = scalar(ten_cos);
    let g = derivative(&f);
    close(at(&f, 1.0), 1f64.sin(), 1e-15);
    close(at(&g, 1.0), 5.40302, 1e-5);
    close(at(&derivative(&g), 1.0), -8.41471, 1e-5);
    let j = jvp(&ad(), &f, f.params()).unwrap();
    close(run(&j, &[Array::scalar(1.0), Array::scalar(1.0)])[1][0], 5.40302, 1e-5);
    assert!(!j.pending());
    for h in [hvp(&ad(), &f, f.params()).unwrap(), hvp_reverse(&ad(), &f, f.params()).unwrap()] {
        close(run(&h, &[Array::scalar(1.0), Array::scalar(1.0)])[0][0], -8.41471, 1e-5);
    }
}

#[test]
fn custom_vjp_that_clips_has_no_forward_derivative() {
    let f = scalar(|cx, x| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[0])];
        let clip = |cx: &dyn Emit, r: &[Val], ct: &[Option<Val>]| {
            vec![ct[0].map(|ct| cx.minimum(cx.mul(cx.add(r[0], r[0]), ct), cx.full_like(ct, 1.0)))]
        };
        cx.custom_vjp(&[x], body, |cx, x| (body(cx, x), vec![x[0]]), clip)[0]
    });
    let g = derivative(&f);
    assert_eq!((at(&g, 0.25), at(&g, 3.0)), (0.5, 1.0));
    let e = jvp(&ad(), &f, f.params()).unwrap_err();
    assert_eq!(e.code(), Code::CustomVjpForward);
    assert!(e.message().contains("`bwd`, is not linear in the cotangents: `min`"), "{e}");
    // Also in a body; reverse mode goes on.
    let looped =
        scalar(|cx, x| cx.scan(&[], &[x], &[], &Dim::Const(2), false, |cx, _, c, _| (cx.inline(&f, c), vec![])).0[0]);
    assert_eq!(jvp(&ad(), &looped, looped.params()).unwrap_err().code(), Code::CustomVjpForward);
    assert_eq!(at(&derivative(&looped), 0.25), 0.25 * 0.25);
    close(run(&hvp(&ad(), &f, f.params()).unwrap(), &[Array::scalar(0.25), Array::scalar(1.0)])[0][0], 2.0, 1e-15);
}

#[test]
fn custom_vjp_of_the_wrong_type() {
    // Line 100.
    let product = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[1])];
    let make = |cx: &dyn Emit, x: &[Val], wrong: bool| {
        cx.custom_vjp(
            x,
            product,
            |cx, x| (product(cx, x), x.to_vec()),
            |cx, r, ct| {
                let a = ct[0].map(|ct| cx.mul(ct, r[1]));
                vec![if wrong { a.map(|a| cx.broadcast_to(a, &[Dim::Const(3)])) } else { a }, None]
            },
        )
    };
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| make(cx, x, false));
    let g = grad(&ad(), &f, f.params()).unwrap();
    assert_eq!(run(&g, &[Array::scalar(2.0), Array::scalar(3.0)]), [[3.0], [0.0]]);
    let b = Builder::new("f", ad().session());
    let x = [b.param(f64s(&[]), None), b.param(f64s(&[]), None)];
    let y = make(&b, &x, true);
    let e = b.finish(&y).unwrap_err();
    assert_eq!(
        (e.code(), e.message()),
        (Code::RuleType, "bwd of `custom_vjp` returns f64[3] where it needs f64[] (number 0)")
    );
}

#[test]
fn custom_rules_inside_everything() {
    // Line 101: the same as the function written out, in a scan, a while, a branch, a checkpoint, batched.
    let custom = |cx: &dyn Emit, w: Val, c: Val| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.mul(x[0], x[1]))];
        let c = cx.custom_vjp(
            &[w, c],
            body,
            |cx, x| (body(cx, x), vec![x[0], x[1], cx.mul(x[0], x[1])]),
            |cx, r, ct| {
                let d = ct[0].map(|ct| cx.mul(cx.cos(r[2]), ct));
                vec![d.map(|d| cx.mul(d, r[1])), d.map(|d| cx.mul(d, r[0]))]
            },
        )[0];
        cx.custom_jvp(&[c], |cx, x| vec![cx.exp(x[0])], |cx, _, y, t| vec![t[0].map(|t| cx.mul(y[0], t))])[0]
    };
    let plain = |cx: &dyn Emit, w: Val, c: Val| cx.exp(cx.sin(cx.mul(w, c)));
    type Step = dyn Fn(&dyn Emit, Val, Val) -> Val;
    let make = |step: &Step| {
        build(&[f64s(&[2]), f64s(&[2])], |cx, x| {
            let three = cx.full(&Type::scalar(DType::I64), 3i64);
            let (c, ys) = cx.scan(&x[..1], &x[1..], &[], &Dim::Const(2), false, |cx, w, c, _| {
                let c = cx.checkpoint(&[w[0], c[0]], |cx, x| vec![step(cx, x[0], x[1])])[0];
                (vec![c], vec![cx.tanh(c)])
            });
            let c = cx.fori(0, three, &x[..1], &c, |cx, w, _, c| vec![step(cx, w[0], c[0])])[0];
            let p = positive(cx, cx.reduce_sum(c, &[0]));
            let y = cx.cond(p, &[x[0], c], |cx, x| vec![step(cx, x[0], x[1])], |_, x| vec![x[1]])[0];
            vec![cx.reduce_sum(y, &[0]), ys[0]]
        })
    };
    let (a, b) = (make(&custom), make(&plain));
    let x = [Array::vector(numbers(2, 1)), Array::vector(numbers(2, 2))];
    agree(&a, &b, &x, 1e-12);
    laws(&a, &x);
    batches(&a, &x, 3);
}

#[test]
fn batched_custom_vjp_sums_what_is_shared() {
    let step = |cx: &dyn Emit, x: &[Val]| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], cx.sin(x[1]))];
        cx.custom_vjp(
            x,
            body,
            |cx, x| (body(cx, x), x.to_vec()),
            |cx, r, ct| {
                vec![ct[0].map(|ct| cx.mul(ct, cx.sin(r[1]))), ct[0].map(|ct| cx.mul(ct, cx.mul(r[0], cx.cos(r[1]))))]
            },
        )
    };
    let f = build(&[f64s(&[]), f64s(&[])], step);
    batches(&f, &[Array::scalar(0.7), Array::scalar(0.4)], 3);
    let size = Dim::Const(3);
    let b = batch(&ad().session(), &f, &[false, true], &[true], &size).unwrap().0;
    let g = vjp(&ad(), &b, b.params()).unwrap();
    let (x, ct) = ([0.1, 0.2, 0.3], [1.0, 10.0, 100.0]);
    let y = run(&g, &[Array::scalar(0.7), Array::vector(x.to_vec()), Array::vector(ct.to_vec())]);
    close(y[0][0], (0..3).map(|i| ct[i] * f64::sin(x[i])).sum(), 1e-14);
    close(y[1][2], 100.0 * 0.7 * f64::cos(0.3), 1e-14);
    laws(&b, &[Array::scalar(0.7), Array::vector(x.to_vec())]);
}

// Rewrites.

#[test]
fn unused_results_of_loops_and_branches_go() {
    let f = recurrence(false);
    let only = simplify(&f.clone().with_results(&f.results()[..1]));
    let scan = only.eqns().iter().find(|e| e.op.name() == "scan").unwrap();
    assert_eq!((scan.op.results(), count(&only, "convert")), (2, 0));
    // A while whose history is not needed does not save it, unless its length is.
    let f = power();
    let back = vjp(&ad(), &f, &f.params()[1..]).unwrap();
    let saving = |f: &Function| {
        let saves = |e: &cotangent_core::graph::Eqn| matches!(&e.op, cotangent_core::Op::While(w) if w.saves.is_some());
        f.eqns().iter().filter(|e| saves(e)).count()
    };
    assert_eq!(saving(&simplify(&back)), 1);
    let lin = value_and_grad(&ad(), &f, &f.params()[1..]).unwrap();
    assert_eq!(saving(&simplify(&lin.clone().with_results(&lin.results()[..1]))), 0);
    // Simplified programs mean the same.
    let x = [Array::scalar(3i64), Array::scalar(0.7), Array::scalar(1.2), Array::scalar(0.5)];
    assert_eq!(run(&simplify(&back), &x), run(&back, &x));
    let mut g = simplify(&back);
    for _ in 0..2 {
        let wrt: Vec<Val> = g.params()[1..3].to_vec();
        g = simplify(&vjp(&ad(), &g.clone().with_results(&g.results()[..1]), &wrt).unwrap());
    }
}
