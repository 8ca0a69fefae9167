//! Every law on every sample of every operation, in every float and complex type that it accepts.

use cotangent_core::check::{check_op, retype};
use cotangent_core::ops::{Entry, entries};
use cotangent_core::{AdContext, DType, Sample};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// The samples of an operation, each in its own types and in the others that the operation accepts.
fn cases(entry: &Entry) -> Vec<Sample> {
    let own = (entry.samples)(entry.name);
    let has = |s: &Sample| s.operands.iter().map(|x| x.ty()).collect::<Vec<_>>();
    let mut seen: Vec<_> =
        own.iter().map(|s| (s.op.name().to_owned(), format!("{:?}", s.op.attrs()), has(s))).collect();
    let mut all = own.clone();
    for s in &own {
        for to in DType::ALL.into_iter().filter(|d| d.has_tangent()) {
            if let Some(s) = retype(s, to) {
                let key = (s.op.name().to_owned(), format!("{:?}", s.op.attrs()), has(&s));
                if !seen.contains(&key) {
                    seen.push(key);
                    all.push(s);
                }
            }
        }
    }
    all
}

/// The laws that this sample breaks.
fn failures(sample: &Sample) -> Option<String> {
    let ad = AdContext::default();
    match catch_unwind(AssertUnwindSafe(|| check_op(&ad, sample))) {
        Ok(Ok(())) => None,
        Ok(Err(e)) => Some(e.to_string()),
        Err(_) => Some(format!("`{}` on {:?} panics", sample.op.name(), sample.operands)),
    }
}

#[test]
fn every_operation_keeps_every_law() {
    let only = std::env::var("OP").ok();
    let work: Vec<Entry> = entries().into_iter().filter(|e| only.as_deref().is_none_or(|o| o == e.name)).collect();
    let (next, found) = (Mutex::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let i = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some(entry) = work.get(i) else { break };
                    let cases = cases(entry);
                    if cases.is_empty() {
                        found.lock().unwrap().push(format!("`{}` has no samples", entry.name));
                    }
                    found.lock().unwrap().extend(cases.iter().filter_map(failures));
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} samples break laws:\n{}", found.len(), found.join("\n"));
}
