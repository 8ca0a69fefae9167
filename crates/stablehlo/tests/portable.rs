//! Programs for every XLA target: no custom call and no `chlo`, the results of the kernels, and the
//! accuracy of factorisations.

use cotangent_core::check::Rng;
use cotangent_core::ops::entries;
use cotangent_core::{AdContext, Array, Builder, Emit, Function, Sample, Val, Wide, transform};
use cotangent_stablehlo::{Target, WriteOptions, portable, write_as};
use std::sync::Arc;

/// The operation of a sample as a function.
fn function(s: &Sample) -> Option<Function> {
    let b = Builder::new("main", Default::default());
    let x: Vec<Val> = s.operands.iter().map(|a| b.param(a.ty(), None)).collect();
    let y = b.emit(s.op.clone(), &x);
    b.finish(&y).ok().filter(|f| !f.pending())
}

/// The reverse derivative in all parameters that have one.
fn reverse(f: &Function) -> Option<Function> {
    let wrt: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    if wrt.is_empty() {
        return None;
    }
    transform::vjp(&AdContext::default(), f, &wrt).ok()
}

/// Arguments: the operands of a sample, then random cotangents.
fn arguments(s: &Sample, f: &Function) -> Vec<Array> {
    let mut rng = Rng::new(7);
    let rest = f.params()[s.operands.len()..].iter();
    let rest = rest.map(|&p| {
        let one = rng.array(f.ty(p), &Default::default());
        one.expect("samples have constant extents")
    });
    s.operands.iter().cloned().chain(rest).collect()
}

/// The largest difference of finite elements, in epsilons of the largest finite element of the
/// array, or infinity for integers and elements of which one is NaN or infinite.
fn distance(a: &Array, b: &Array) -> f64 {
    if a.ty() != b.ty() {
        return f64::INFINITY;
    }
    if let (Wide::I(x), Wide::I(y)) = (a.wide(), b.wide()) {
        return if x == y { 0.0 } else { f64::INFINITY };
    }
    let parts = |a: &Array| -> Vec<f64> {
        let z = a.to_c128();
        z.iter().flat_map(|z| [z.re, z.im]).collect()
    };
    let (x, y) = (parts(a), parts(b));
    let finite = x.iter().map(|v| v.abs()).filter(|v| v.is_finite());
    let scale = finite.fold(f64::MIN_POSITIVE, f64::max) * a.dtype().epsilon();
    let each = x
        .iter()
        .zip(&y)
        .map(|(p, q)| match p.is_finite() && q.is_finite() {
            true => (p - q).abs() / scale,
            false if p == q || (p.is_nan() && q.is_nan()) => 0.0,
            false => f64::INFINITY,
        });
    each.fold(0.0, f64::max)
}

/// Operations that are refused, with a word of the error.
const REFUSED: &[(&str, &str)] = &[("eig", "CPU runtime"), ("schur", "CPU runtime")];

/// Calls `look` with the name, the number and the sample's function or its reverse derivative.
fn each_sample(mut look: impl FnMut(&str, usize, &str, &Sample, Arc<Function>)) {
    let only = std::env::var("ONLY").unwrap_or_default();
    for e in entries().iter().filter(|e| e.name.contains(&only)) {
        for (k, s) in (e.samples)(e.name).iter().enumerate() {
            let Some(f) = function(s) else { continue };
            let derivative = reverse(&f);
            look(e.name, k, "value", s, Arc::new(f));
            if let Some(g) = derivative {
                look(e.name, k, "vjp", s, Arc::new(g));
            }
        }
    }
}

#[test]
fn programs_for_every_target_have_no_custom_call_and_no_chlo() {
    let options = WriteOptions {
        target: Target::Portable,
        ..Default::default()
    };
    let (mut bad, mut seen) = (Vec::new(), 0);
    each_sample(|name, k, what, _, f| {
        seen += 1;
        let refused = REFUSED.iter().find(|r| r.0 == name);
        match (write_as(&[f], &options), refused) {
            (Ok(text), None) => {
                for word in ["custom_call", "chlo.", "composite"] {
                    if text.contains(word) {
                        bad.push(format!("{name} #{k} {what}: {word}"));
                    }
                }
            }
            (Err(e), Some(r)) if e.to_string().contains(r.1) => {}
            // An empty matrix has eigenvalues: none.
            (Ok(_), Some(_)) => {}
            (Err(e), _) => bad.push(format!("{name} #{k} {what}: {e}")),
        }
    });
    assert!(seen > 2000, "{seen} programs");
    assert!(
        bad.is_empty(),
        "{} of {seen}:\n{}",
        bad.len(),
        bad.join("\n")
    );
}

#[test]
fn programs_for_every_target_have_the_results_of_the_kernels() {
    let (mut bad, mut seen) = (Vec::new(), 0);
    each_sample(|name, k, what, s, f| {
        let Ok(g) = portable(&f) else { return };
        let args = arguments(s, &f);
        let Ok(want) = cotangent::run(&f, &args) else {
            return;
        };
        seen += 1;
        let why = match cotangent::run(&Arc::new(g), &args) {
            Ok(got) => {
                let far = want.iter().zip(&got).map(|(a, b)| distance(a, b));
                let far = far.fold(0.0, f64::max);
                (far > 512.0).then(|| format!("{far:.0} eps"))
            }
            Err(e) => Some(e.to_string()),
        };
        bad.extend(why.map(|why| format!("{name} #{k} {what}: {why}")));
    });
    assert!(seen > 1500, "{seen} programs");
    assert!(
        bad.is_empty(),
        "{} of {seen}:\n{}",
        bad.len(),
        bad.join("\n")
    );
}
