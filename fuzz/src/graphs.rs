//! Random well-typed graphs: they verify, derive, simplify and run, and the runtime agrees with the
//! reference.
#![no_main]

use cotangent::ad::{AdContext, vjp};
use cotangent::check::agree_up_to_rounding;
use cotangent::check::random::{Case, graph};
use cotangent::rewrite::simplify;
use cotangent::verify::verify;
use cotangent::{Array, Function, reference};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Checks that the runtime and the reference have equal results, or both return an error.
fn agree(f: &Function, args: &[Array]) {
    verify(f).unwrap_or_else(|e| panic!("{e}"));
    let want = reference::run(f, args);
    let got = cotangent::run(&Arc::new(f.clone()), args);
    match (got, want) {
        (Ok(got), Ok(want)) => {
            agree_up_to_rounding(f, args, &got, &want, 1e-5).unwrap_or_else(|e| panic!("{e}"))
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
