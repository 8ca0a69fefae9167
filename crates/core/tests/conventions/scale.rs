//! Lines 134 to 139: a million operations on a small stack, wide fan-out, sharing.

use super::extensions::Multiples;
use super::*;
use cotangent_core::rewrite::simplify;
use cotangent_core::text::{Program, print_function};
use cotangent_core::transform::batch;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Runs on a thread with a stack of 64 KiB, on which recursion over the graph overflows.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(f)
        .unwrap()
        .join()
        .unwrap();
}

/// A writer that counts bytes.
struct Count(usize);

impl Write for Count {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.0 += s.len();
        Ok(())
    }
}

#[test]
fn l134_a_chain_of_a_million_operations() {
    const N: usize = 1_000_000;
    on_a_small_stack(|| {
        let f = scalars(|cx, [x]| (0..N / 2).fold(x, |y, _| cx.neg(cx.add(y, x))));
        assert_eq!(f.eqns().len(), N);
        let g = grad(&ad(), &f, f.params()).unwrap();
        same(&flat(run(&f, &at([2.0]))), &[2.0]);
        same(&flat(run(&g, &at([2.0]))), &[1.0]);
        let mut printed = Count(0);
        write!(printed, "{f:?}").unwrap();
        assert!(printed.0 > N);
        let small = simplify(&g);
        assert!(print_function(&g).len() > 20 * N);
        drop((f, g, small));
    });
}

#[test]
fn l134_everything_else_on_a_small_stack() {
    on_a_small_stack(|| {
        let f = scalars(|cx, [x]| (0..50_000).fold(x, |y, _| cx.sin(cx.mul(y, x))));
        let read = Program::parse(&print_function(&f), None).unwrap();
        assert_eq!(read.module("f").unwrap().eqns().len(), f.eqns().len());
        let h = hvp(&ad(), &f, f.params()).unwrap();
        let (many, _) = batch(&ad().session(), &h, &[true, false], &[true], &2.into()).unwrap();
        let y = run(&many, &[vector(&[0.5, 0.5]), Array::scalar(1.0)]);
        assert!(y[0].to_f64()[0] == y[0].to_f64()[1]);
        drop((read, h, many));
    });
}

#[test]
fn l136_a_hundred_thousand_uses_of_one_value() {
    const N: usize = 100_000;
    let f = scalars(|cx, [x]| {
        let y = cx.exp(x);
        (0..N).fold(cx.full_like(x, 0.0), |s, _| cx.add(s, y))
    });
    let start = Instant::now();
    let g = grad(&ad(), &f, f.params()).unwrap();
    assert!(g.eqns().len() < 3 * N + 10);
    close(&flat(run(&g, &at([0.0]))), &[N as f64]);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn l137_two_doubling_chains_are_merged_in_one_pass() {
    let f = scalars(|cx, [x]| {
        let chain = || (0..60).fold(x, |y, _| cx.add(y, y));
        let (a, b) = (chain(), chain());
        cx.sub(a, b)
    });
    let small = simplify(&f);
    assert_eq!(small.eqns().len(), 61);
    same(&flat(run(&small, &at([1.0]))), &[0.0]);
}

#[test]
fn l139_an_operation_with_a_thousand_results() {
    const N: usize = 1000;
    let f = scalars(|cx, [x]| {
        let y = cx.emit(Op::extension(Multiples(N)), &[x]);
        y.into_iter().reduce(|a, b| cx.add(a, b)).unwrap()
    });
    let sum = (N * (N + 1) / 2) as f64;
    let g = grad(&ad(), &f, f.params()).unwrap();
    same(&flat(run(&g, &at([3.0]))), &[sum]);
    same(
        &flat(run(&jvp(&ad(), &f, f.params()).unwrap(), &at([3.0, 2.0]))),
        &[3.0 * sum, 2.0 * sum],
    );
}

/// A region of this nesting depth. Each level uses the one below twice.
fn nested(cx: &dyn Emit, x: Val, depth: usize) -> Val {
    if depth == 0 {
        return cx.sin(x);
    }
    match depth % 3 {
        0 => cx.checkpoint(&[x], |cx, x| vec![nested(cx, x[0], depth - 1)])[0],
        1 => {
            let body = |cx: &dyn Emit, _: &[Val], c: &[Val], _: &[Val]| {
                (vec![nested(cx, c[0], depth - 1)], vec![])
            };
            cx.scan(&[], &[x], &[], &2.into(), false, body).0[0]
        }
        _ => {
            let index = cx.convert(
                cx.compare(x, Comparison::Gt, cx.full_like(x, 0.0)),
                DType::I32,
            );
            cx.switch(
                index,
                &[x],
                &[&|cx, x| vec![cx.neg(x[0])], &|cx, x| {
                    vec![nested(cx, x[0], depth - 1)]
                }],
            )[0]
        }
    }
}

/// Number of equations, including those of distinct regions.
fn size(f: &Function, seen: &mut Vec<*const Function>) -> usize {
    let mut n = f.eqns().len();
    for r in f.eqns().iter().flat_map(|e| e.op.regions()) {
        if !seen.contains(&std::sync::Arc::as_ptr(r)) {
            seen.push(std::sync::Arc::as_ptr(r));
            n += size(r, seen);
        }
    }
    n
}

#[test]
fn l138_bodies_nested_ten_deep() {
    // Levels 1, 4, 7 and 10 are loops of two steps: sin is applied sixteen times.
    let turns = |depth: usize| 1 << depth.div_ceil(3);
    let slope = |x: f64, n: usize| {
        (0..n)
            .fold((x, 1.0), |(y, d): (f64, f64), _| (y.sin(), d * y.cos()))
            .1
    };
    let mut sizes = Vec::new();
    for depth in [4, 7, 10] {
        let f = scalars(|cx, [x]| nested(cx, x, depth));
        let g = grad(&ad(), &f, f.params()).unwrap();
        let h = grad(&ad(), &g, g.params()).unwrap();
        close(&flat(run(&g, &at([0.7]))), &[slope(0.7, turns(depth))]);
        run(&h, &at([0.7]));
        sizes.push((size(&g, &mut Vec::new()), size(&h, &mut Vec::new())));
    }
    // Three more levels add the same number of equations each time: growth is linear.
    let linear = |a: usize, b: usize, c: usize| c - b <= 2 * (b - a) + 20;
    assert!(
        linear(sizes[0].0, sizes[1].0, sizes[2].0) && linear(sizes[0].1, sizes[1].1, sizes[2].1),
        "{sizes:?}"
    );
}
