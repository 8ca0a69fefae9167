//! The number of groups of the benchmarks' programs.

use super::count;
use crate::groups::{group, verify};
use crate::nests::lower::lower;
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, grad, hessian, hvp};
use cotangent_core::{Function, Val};
use std::fmt::Write;
use std::path::Path;

/// The programs of the benchmarks, each with its derivative.
fn programs(visit: &mut dyn FnMut(&str, Function)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/workloads.mlir");
    let path = std::env::var("WORKLOADS").map_or(path, Into::into);
    let text = std::fs::read_to_string(path).unwrap();
    for part in text.split("// workload ").skip(1) {
        let (head, text) = part.split_once('\n').unwrap();
        let words: Vec<&str> = head.split(' ').collect();
        let module = cotangent_stablehlo::read(text, None).unwrap();
        let f = module.main();
        let numbers = words[2].split(',').filter_map(|i| i.parse::<usize>().ok());
        let wrt: Vec<Val> = numbers.map(|i| f.params()[i]).collect();
        let ad = AdContext::default();
        let derived = match words[1] {
            "first_gradient" => continue,
            "value" => (**f).clone(),
            "hvp" => hvp(&ad, f, &wrt).unwrap(),
            "hessian" => hessian(&ad, f, &wrt).unwrap(),
            _ => grad(&ad, f, &wrt).unwrap(),
        };
        visit(words[0], simplify(&derived));
    }
}

/// `BLESS=1` writes the table.
#[test]
fn programs_have_the_known_number_of_groups() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/groups/tests/programs.txt");
    let (mut now, mut all) = (String::from("program groups\n"), 0);
    programs(&mut |name, f| {
        let nests = lower(&f);
        let groups = group(&nests);
        verify(&nests, &groups).unwrap_or_else(|e| panic!("{name}: {e}\n{nests}"));
        let own = count(&nests, &groups);
        let _ = writeln!(now, "{name} {own}");
        all += own;
        if std::env::var("SHOW").is_ok_and(|n| n == name) {
            println!("{f}{nests}{}", crate::groups::shown(&nests, &groups));
        }
    });
    let _ = writeln!(now, "all {all}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, want, "BLESS=1 writes {}", path.display());
}
