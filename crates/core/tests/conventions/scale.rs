//! Lines 134 to 139: a million operations on a small stack, wide fan-out, sharing.

use super::extensions::Multiples;
use super::*;
use cotangent_core::rewrite::simplify;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Runs on a thread with a stack of 64 KiB: nothing may recurse over the graph.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 << 10).spawn(f).unwrap().join().unwrap();
}

/// Counts what is printed to it.
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
        drop((f, g, small));
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
fn l137_two_doubling_chains_are_merged_at_once() {
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
    same(&flat(run(&jvp(&ad(), &f, f.params()).unwrap(), &at([3.0, 2.0]))), &[3.0 * sum, 2.0 * sum]);
}
