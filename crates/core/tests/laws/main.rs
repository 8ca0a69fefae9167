//! Every law on every sample of every operation and composite, in every float and complex type that
//! it accepts.
//!
//! One of them: `OP=name cargo test -p cotangent-core --test laws`.

mod spellings;

use cotangent_core::check::{check_op, is_elementwise, retype};
use cotangent_core::ops::{Call, Composite, Entry, composites, entries};
use cotangent_core::primitive::OpClass;
use cotangent_core::transform::Numerics;
use cotangent_core::{AdContext, Array, DType, Env, Sample, Type};
use spellings::{CompositeSample, of_composite};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Samples in their own types and in all other types that the operation accepts.
fn in_every_type(own: Vec<Sample>) -> Vec<Sample> {
    let key = |s: &Sample| {
        format!(
            "{} {:?} {:?}",
            s.op.name(),
            s.op.attrs(),
            s.operands.iter().map(Array::ty).collect::<Vec<_>>()
        )
    };
    let mut seen: Vec<String> = own.iter().map(key).collect();
    let mut all = own.clone();
    for s in &own {
        for to in DType::ALL.into_iter().filter(|d| d.has_tangent()) {
            if let Some(s) = retype(s, to).filter(|s| !seen.contains(&key(s))) {
                seen.push(key(&s));
                all.push(s);
            }
        }
    }
    all
}

/// The laws that this sample violates.
fn failures(ad: &AdContext, sample: &Sample) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| check_op(ad, sample))) {
        Ok(Ok(())) => None,
        Ok(Err(e)) => Some(e.to_string()),
        Err(_) => Some(format!(
            "`{}` on {:?} panics",
            sample.op.name(),
            sample.operands
        )),
    }
}

/// Checks the laws on the samples of each name, on two threads.
fn assert_laws(
    ad: &AdContext,
    names: Vec<&'static str>,
    samples: impl Fn(&'static str) -> Vec<Sample> + Sync,
) {
    let only = std::env::var("OP").ok();
    if let Some(name) = &only {
        let known =
            entries().iter().any(|e| e.name == name) || composites().iter().any(|c| c.name == name);
        assert!(known, "OP={name} is no operation or composite");
    }
    let work: Vec<_> = names
        .into_iter()
        .filter(|n| only.as_deref().is_none_or(|o| o == *n))
        .collect();
    let (next, found) = (Mutex::new(work.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(name) = next.lock().unwrap().next() else {
                        break;
                    };
                    let cases = samples(name);
                    if cases.is_empty() {
                        found
                            .lock()
                            .unwrap()
                            .push(format!("`{name}` has no samples"));
                    }
                    let broken: Vec<String> = cases
                        .iter()
                        .filter_map(|s| failures(ad, s))
                        .map(|f| format!("{name}: {f}"))
                        .collect();
                    found.lock().unwrap().extend(broken);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(
        found.is_empty(),
        "{} samples break laws:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn every_operation_keeps_every_law() {
    let all: Vec<Entry> = entries();
    let find = |name: &str| {
        all.iter()
            .find(|e| e.name == name)
            .expect("a name of the list")
    };
    let names: Vec<&str> = all.iter().map(|e| e.name).collect();
    assert_laws(&AdContext::default(), names.clone(), |name| {
        in_every_type((find(name).samples)(name))
    });
    // Other numerics are checked at smooth points only, where zero times infinity and divisions by
    // zero do not occur.
    let smooth = |name| {
        (find(name).samples)(name)
            .into_iter()
            .filter(|s| s.smooth)
            .collect()
    };
    for numerics in [
        Numerics {
            strong_zero: true,
            ..Numerics::default()
        },
        Numerics {
            stable: true,
            ..Numerics::default()
        },
        Numerics {
            zero_division_nan: true,
            ..Numerics::default()
        },
    ] {
        let ad = AdContext::builder()
            .with_numerics(numerics)
            .build()
            .unwrap();
        let names = names
            .iter()
            .copied()
            .filter(|n| (find(n).samples)(n).iter().any(|s| s.smooth))
            .collect();
        assert_laws(&ad, names, smooth);
    }
}

/// The composite as a call, for all operand types and attributes that it accepts.
fn calls(c: &Composite) -> Vec<Sample> {
    let call = |s: CompositeSample| {
        let types: Vec<Type> = s.operands.iter().map(Array::ty).collect();
        let callee = Arc::new(s.function);
        callee.apply_types(&types).ok()?;
        let op = Call {
            callee,
            checkpoint: false,
        };
        // The derivative of `nextafter` is zero by definition, not a limit.
        Some(Sample {
            smooth: c.name != "nextafter",
            ..Sample::new(op, s.operands)
        })
    };
    of_composite(c).into_iter().filter_map(call).collect()
}

#[test]
fn every_composite_keeps_every_law() {
    let find = |name: &str| {
        composites()
            .iter()
            .find(|c| c.name == name)
            .expect("a name of the table")
    };
    let names = composites().iter().map(|c| c.name).collect();
    assert_laws(&AdContext::default(), names, |name| {
        in_every_type(calls(find(name)))
    });
}

/// Operations without regions whose samples all act on single elements, but whose class is another.
#[test]
fn operations_that_act_on_single_elements_say_so() {
    let mut missing = Vec::new();
    for entry in entries() {
        let acts = |s: &Sample| {
            let y = s.op.eval(&s.operands, &Env::default()).ok()?;
            let types: Vec<DType> = s.operands.iter().map(Array::dtype).collect();
            let known = s.op.class(&types) != OpClass::Other || !s.op.regions().is_empty();
            let many = y.first().is_some_and(|y| y.len() > 1);
            is_elementwise(&s.op, &s.operands, &y)
                .unwrap()
                .filter(|_| many && !known)
        };
        let found: Vec<bool> = (entry.samples)(entry.name)
            .iter()
            .filter_map(acts)
            .collect();
        if !found.is_empty() && found.iter().all(|&acts| acts) {
            missing.push(entry.name);
        }
    }
    assert_eq!(missing, [] as [&str; 0]);
}
