//! Random well-typed graphs: they verify, derive, simplify and run, and the runtime agrees with the
//! reference.
#![no_main]

use cotangent::ad::{AdContext, vjp};
use cotangent::check::random::{Case, graph};
use cotangent::rewrite::simplify;
use cotangent::verify::verify;
use cotangent::{Array, Function, reference};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Whether two results differ by at most rounding errors, relative to the largest argument or
/// result and the least precise element type. A result that is zero up to rounding has no digits to
/// compare, and an f64 may be computed from complex numbers of f32. The factor 1e4 allows for
/// intermediate values that are larger by the inverses of two constants like 0.01.
fn is_rounding(got: &[Array], want: &[Array], args: &[Array]) -> bool {
    let numbers = |x: &Array| {
        x.to_c128()
            .into_iter()
            .map(|z| z.norm())
            .filter(|x| x.is_finite())
    };
    let largest = args
        .iter()
        .chain(want)
        .flat_map(numbers)
        .fold(0.0, f64::max);
    let types = args
        .iter()
        .chain(want)
        .map(Array::dtype)
        .filter(|t| t.has_tangent());
    let bound = 1e4 * largest * types.map(|t| t.epsilon()).fold(0.0, f64::max);
    let near = |(a, b): (&Array, &Array)| {
        let close = |(a, b): (cotangent::C128, cotangent::C128)| {
            (a - b).norm() <= bound || (a.is_nan() && b.is_nan())
        };
        a.ty() == b.ty()
            && a.dtype().has_tangent()
            && a.to_c128().into_iter().zip(b.to_c128()).all(close)
    };
    got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(a, b)| a.same_bits(b) || near((a, b)))
}

/// Checks that the runtime and the reference have equal results, or both return an error.
fn agree(f: &Function, args: &[Array]) {
    verify(f).unwrap_or_else(|e| panic!("{e}"));
    let want = reference::run(f, args);
    let got = cotangent::run(&Arc::new(f.clone()), args);
    match (got, want) {
        (Ok(got), Ok(want)) if is_rounding(&got, &want, args) => {}
        (Ok(got), Ok(want)) => {
            cotangent::check::agree(&got, &want, 1e-5).unwrap_or_else(|e| panic!("{e}"))
        }
        (Err(_), Err(_)) => {}
        (got, want) => panic!("runtime {got:?}, reference {want:?}"),
    }
}

fuzz_target!(|choice: (u64, u8)| {
    let Ok(Case { function: f, args }) = graph(choice.0, 2 + usize::from(choice.1 % 40)) else {
        return;
    };
    agree(&f, &args);
    agree(&simplify(&f), &args);
    let wrt: Vec<_> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    let Ok(g) = vjp(&AdContext::default(), &f, &wrt) else {
        return;
    };
    let mut args = args;
    let results = reference::run(&f, &args).expect("ran above");
    args.extend(results.into_iter().filter(|r| r.dtype().has_tangent()));
    agree(&simplify(&g), &args);
});
