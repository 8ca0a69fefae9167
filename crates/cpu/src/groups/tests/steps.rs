//! The number of groups of the benchmarks' programs, next to the steps of the plan that runs.

use super::count;
use crate::fuse::{Node, plan};
use crate::groups::{group, verify};
use crate::nests::lower::lower;
use cotangent_core::ops::Op;
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::{AdContext, grad, hessian, hvp};
use cotangent_core::{Function, Val};
use std::fmt::Write;
use std::path::Path;

/// Steps of the plan that runs, without constants. Products are steps of their own, as they are
/// groups of their own.
fn steps(f: &Function) -> usize {
    let live = f.needed(None);
    let nodes = plan(f, |e| e.results().any(|r| live[r.index()]), false);
    let runs = |n: &&Node| match n {
        Node::Single(i) => !matches!(f.eqns()[*i].op, Op::Constant(_)),
        Node::Group(_) => true,
    };
    nodes.iter().filter(runs).count()
}

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
fn programs_have_no_more_groups_than_steps() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/groups/tests/steps.txt");
    let mut now = String::from("program groups steps\n");
    let (mut groups_of_all, mut steps_of_all, mut more) = (0, 0, Vec::new());
    programs(&mut |name, f| {
        let nests = lower(&f);
        let groups = group(&nests);
        verify(&nests, &groups).unwrap_or_else(|e| panic!("{name}: {e}\n{nests}"));
        let (own, old) = (count(&nests, &groups), steps(&f));
        let _ = writeln!(now, "{name} {own} {old}");
        groups_of_all += own;
        steps_of_all += old;
        if std::env::var("SHOW").is_ok_and(|n| n == name) {
            println!("{f}{nests}{}", crate::groups::shown(&nests, &groups));
        }
        if own > old {
            more.push(format!("{name} {own} {old}"));
        }
    });
    let _ = writeln!(now, "all {groups_of_all} {steps_of_all}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    assert!(
        more.is_empty(),
        "more groups than steps:\n{}",
        more.join("\n")
    );
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, want, "BLESS=1 writes {}", path.display());
}
