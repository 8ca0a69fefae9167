//! Sizes of nests and groups grow linearly with the number of equations.

use crate::groups::group;
use crate::nests::access::{Read, Source};
use crate::nests::lower::lower;
use crate::nests::nest::{ExprNode, ExprOp, Nest, Nests};
use crate::nests::tests::function;
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{DType, Function, Type, Val};
use std::time::Instant;

fn vector(n: usize) -> Type {
    Type::new(DType::F32, [n])
}

/// `x = sin(x) * w`, so often.
fn chain(n: usize) -> Function {
    function(&[vector(8), vector(8)], |cx, x| {
        let mut y = x[0];
        for k in 0..n {
            y = if k % 2 == 0 {
                cx.sin(y)
            } else {
                cx.mul(y, x[1])
            };
        }
        vec![y]
    })
}

/// Each value is the product of the two before it, so no equation is part of another's expression.
fn ladder(n: usize) -> Function {
    function(&[vector(8), vector(8)], |cx, x| {
        let (mut a, mut b) = (x[0], x[1]);
        for _ in 0..n {
            (a, b) = (b, cx.mul(a, b));
        }
        vec![b]
    })
}

/// Functions of one value, each of which is a result.
fn wide(n: usize) -> Function {
    function(&[vector(8)], |cx, x| {
        let scaled = |k: usize| cx.scale_by(1.0 + k as f64, x[0]);
        (0..n).map(|k| cx.sin(scaled(k))).collect()
    })
}

/// The gradient of a sum of functions of `p[i]` for each `i`.
fn elements(n: usize) -> Function {
    let f = function(&[vector(n)], |cx, x| {
        let part = |k: usize| cx.reshape(cx.slice_axis(x[0], 0, k, k + 1), &[]);
        let all: Vec<Val> = (0..n).map(|k| cx.sin(part(k))).collect();
        vec![all.into_iter().reduce(|a, b| cx.add(a, b)).unwrap()]
    });
    let wrt = f.params().to_vec();
    simplify(&grad(&AdContext::default(), &f, &wrt).unwrap())
}

/// Bytes of a read beyond those in its operation. Shared indices are not its own.
fn own(r: &Read) -> usize {
    fn source(s: &Source) -> usize {
        match s {
            Source::Number(s) => size_of_val(&**s),
            Source::Element(_) => 0,
            Source::Choice(c) => size_of_val(&**c) + source(&c.inside) + source(&c.outside),
        }
    }
    let starts: usize = r.starts.iter().map(|s| size_of_val(s) + own(&s.read)).sum();
    source(&r.source) + starts
}

fn bytes(nests: &Nests<'_>) -> usize {
    let node = |n: &ExprNode| match &n.op {
        ExprOp::Read(r) => own(r),
        ExprOp::Number(s) => size_of_val(&**s),
        ExprOp::Index(_) | ExprOp::Extent(_) | ExprOp::Apply { .. } => 0,
    };
    let expr = |n: &Nest| {
        n.what.expr().map_or(0, |e| {
            let nodes: usize = e.nodes.iter().map(node).sum();
            e.nodes.capacity() * size_of::<ExprNode>() + nodes
        })
    };
    let all: usize = nests.nests.iter().map(expr).sum();
    all + nests.nests.len() * size_of::<Nest>()
}

#[test]
fn an_elementwise_equation_takes_at_most_200_bytes() {
    for (name, program) in [
        ("chain", chain as fn(usize) -> Function),
        ("ladder", ladder),
    ] {
        for n in [100, 1000, 10000] {
            let f = program(n);
            let nests = lower(&f);
            let each = bytes(&nests) / n;
            assert!(each <= 200, "{each} bytes an equation of a {name} of {n}");
        }
    }
}

#[test]
fn groups_grow_with_the_number_of_equations() {
    let sizes = |f: &Function| {
        let nests = lower(f);
        let groups = group(&nests);
        let members: usize = groups.iter().map(|g| g.members.len()).sum();
        let accesses: usize = groups.iter().map(|g| g.reads.len() + g.writes.len()).sum();
        [bytes(&nests), groups.len(), members, accesses]
    };
    for program in [chain as fn(usize) -> Function, ladder, wide, elements] {
        let (small, large) = (sizes(&program(1000)), sizes(&program(4000)));
        for (small, large) in small.into_iter().zip(large) {
            assert!(
                large <= 4 * small + 1024,
                "{small} of 1,000 and {large} of 4,000"
            );
        }
    }
}

/// The greatest memory of the process so far, in MB; 0 where the system does not report it.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<usize>().ok());
    kb.unwrap_or(0) / 1024
}

/// `cargo test --release -p cotangent-cpu time_and_peak -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn time_and_peak_of_long_programs() {
    let measure = |name: &str, n: usize, f: Function| {
        let (before, start) = (peak(), Instant::now());
        let nests = lower(&f);
        let lowered = start.elapsed();
        let groups = group(&nests);
        let all = start.elapsed();
        println!(
            "{name} {n}: lower {:.1} ms, group {:.1} ms, {} nests, {} groups, peak {} MB, before {before} MB",
            lowered.as_secs_f64() * 1e3,
            (all - lowered).as_secs_f64() * 1e3,
            nests.nests.len(),
            groups.len(),
            peak(),
        );
    };
    measure("elements", 1000, elements(1000));
    for n in [10_000, 100_000, 1_000_000] {
        measure("chain", n, chain(n));
        measure("ladder", n, ladder(n));
        measure("wide", n / 4, wide(n / 4));
    }
}
