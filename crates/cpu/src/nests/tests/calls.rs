//! The calls that remain: equations of the samples that are no map, fold or view.

use crate::nests::lower::lower;
use crate::nests::nest::What;
use cotangent_core::check::function_of;
use cotangent_core::ops::entries;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Equations of the samples, and those of them that are calls, by reason and operation.
fn table() -> String {
    let (mut all, mut calls) = (0, 0);
    let mut by_reason: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for s in entries().into_iter().flat_map(|e| (e.samples)(e.name)) {
        let f = function_of(&s).unwrap();
        all += f.eqns().len();
        for n in lower(&f).nests {
            if let What::Call(c) = n.what {
                calls += 1;
                let by_name = by_reason.entry(c.why.text()).or_default();
                *by_name.entry(c.op.name().to_owned()).or_default() += 1;
            }
        }
    }
    let mut out = format!("{all} equations of samples, {calls} calls\n");
    for (reason, by_name) in by_reason {
        let _ = writeln!(out, "\n{reason}: {}", by_name.values().sum::<usize>());
        for (name, n) in by_name {
            let _ = writeln!(out, "  {name} {n}");
        }
    }
    out
}

/// `BLESS=1` writes the table.
#[test]
fn calls_of_the_samples_by_reason() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/nests/tests/calls.txt");
    let now = table();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(now, want, "BLESS=1 writes {}", path.display());
}
