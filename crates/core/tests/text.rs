//! Text tests: files in `tests/graphs`, each a list of cases.
//!
//! ```text
//! // test: fmt            what is done with the source: fmt, derive, error
//! // ==== a name          a case
//! source
//! // ----
//! expected output
//! ```
//! `BLESS=1` rewrites what is expected; read the diff.

use cotangent_core::check::random;
use cotangent_core::ops::entries;
use cotangent_core::rewrite::simplify;
use cotangent_core::text::{Program, print_function};
use cotangent_core::transform::{Session, jvp, vjp};
use cotangent_core::{AdContext, Array, Builder, DType, Emit, Function, Op, Result, Type, Val, reference, verify};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Case {
    name: String,
    source: String,
    expected: String,
}

struct File {
    test: String,
    cases: Vec<Case>,
}

fn read(path: &Path) -> File {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.split_inclusive('\n');
    let test = lines.next().and_then(|l| l.strip_prefix("// test: ")).expect("a header").trim().to_owned();
    let mut file = File { test, cases: Vec::new() };
    let mut expected = false;
    for line in lines {
        if let Some(name) = line.strip_prefix("// ==== ") {
            let name = name.trim_end().to_owned();
            file.cases.push(Case { name, source: String::new(), expected: String::new() });
            expected = false;
        } else if line.trim_end() == "// ----" {
            expected = true;
        } else if let Some(case) = file.cases.last_mut() {
            let part = if expected { &mut case.expected } else { &mut case.source };
            part.push_str(line);
        }
    }
    file
}

fn canonical(p: &Program) -> String {
    let text = p.to_string();
    let again = Program::parse(&text, None).unwrap_or_else(|e| panic!("what was printed cannot be read: {e}\n{text}"));
    assert_eq!(again.to_string(), text, "printing is not canonical");
    text
}

fn output(test: &str, source: &str) -> String {
    let parsed = Program::parse(source, Some("in.tgraph"));
    let derived = |p: Program| -> Result<Program> { p.derive(&AdContext::default()) };
    match test {
        "fmt" => canonical(&parsed.unwrap_or_else(|e| panic!("{e}\n{source}"))),
        "derive" => canonical(&derived(parsed.unwrap()).unwrap_or_else(|e| panic!("{e}\n{source}")).only_derived()),
        "error" => match parsed.and_then(derived) {
            Ok(p) => panic!("no error:\n{p}"),
            Err(e) => format!("{e}\n"),
        },
        other => panic!("unknown test `{other}`"),
    }
}

fn graphs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "tgraph"));
    files.sort();
    files
}

#[test]
fn graphs_print_what_is_expected() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for path in graphs() {
        let file = read(&path);
        let mut out = format!("// test: {}\n", file.test);
        for case in &file.cases {
            let got = output(&file.test, &case.source);
            if got != case.expected && !bless {
                let _ =
                    writeln!(wrong, "{} `{}`:\n--- want\n{}--- got\n{got}", path.display(), case.name, case.expected);
            }
            let _ = write!(out, "// ==== {}\n{}// ----\n{got}", case.name, case.source);
        }
        if bless {
            std::fs::write(&path, out).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A module that is one operation.
fn module_of(op: &Op, types: &[Type]) -> Function {
    let b = Builder::new("m", Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = b.emit(op.clone(), &x);
    b.finish(&y).unwrap()
}

/// The function read from what it prints; that prints the same.
fn again(f: &Function) -> Arc<Function> {
    let text = print_function(f);
    let p = Program::parse(&text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let g = p.modules().last().unwrap().clone();
    assert_eq!(print_function(&g), text);
    g
}

#[test]
fn every_sample_of_every_operation_round_trips() {
    for entry in entries() {
        for sample in (entry.samples)(entry.name) {
            let types: Vec<Type> = sample.operands.iter().map(Array::ty).collect();
            let f = module_of(&sample.op, &types);
            let g = again(&f);
            verify(&g).unwrap();
            match (reference::run(&f, &sample.operands), reference::run(&g, &sample.operands)) {
                (Ok(a), Ok(b)) => assert!(a.iter().zip(&b).all(|(a, b)| a.same_bits(b)), "{}", print_function(&f)),
                (Err(a), Err(b)) => assert_eq!(a.message(), b.message()),
                (a, b) => panic!("{a:?} {b:?}"),
            }
        }
    }
}

fn chain(n: usize) -> String {
    let mut text = "tgraph.module @chain {\n  %v0 = tgraph.arg : tensor<?xf32>\n".to_owned();
    for i in 0..n {
        let op = ["sin", "tanh", "exp", "neg"][i % 4];
        let _ = writeln!(text, "  %v{} = tgraph.{op} %v{i}", i + 1);
    }
    let _ = writeln!(text, "  %s = tgraph.reduce %v{n} {{op = \"sum\"}}\n  tgraph.return %s : f32\n}}");
    text
}

#[test]
fn a_chain_of_a_million_needs_no_stack() {
    let small = std::thread::Builder::new().stack_size(64 << 10);
    let work = || {
        let p = Program::parse(&chain(1_000_000), None).unwrap();
        let f = p.modules().next().unwrap();
        verify(f).unwrap();
        let text = p.to_string();
        assert_eq!(text.lines().count(), 1_000_005);
        let again = Program::parse(&text, None).unwrap();
        assert_eq!(again.to_string(), text);
    };
    small.spawn(work).unwrap().join().unwrap();
}

#[test]
fn random_graphs_and_their_derivatives_round_trip() {
    let ad = AdContext::default();
    for seed in 0..60 {
        let random::Case { function: f, args } = random::graph(seed, 4 + seed as usize % 20).unwrap();
        let wrt = |f: &Function| -> Vec<Val> {
            f.params().iter().copied().filter(|&p| f.ty(p).dtype.has_tangent()).collect()
        };
        verify(&f).unwrap();
        let g = again(&f);
        let bits = |a: Vec<Array>, b: Vec<Array>| a.iter().zip(&b).all(|(a, b)| a.same_bits(b));
        assert!(bits(reference::run(&f, &args).unwrap(), reference::run(&g, &args).unwrap()));
        let first = vjp(&ad, &f, &wrt(&f)).unwrap();
        let forward = jvp(&ad, &first, &wrt(&first)).unwrap();
        for d in [first.clone(), simplify(&first), simplify(&forward), forward] {
            verify(&d).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", print_function(&d)));
            again(&d);
        }
    }
}

#[test]
fn bodies_that_stand_in_many_places_are_printed_once() {
    let mut f = scalar("f0", |cx, x| cx.sin(x));
    for k in 1..40 {
        let callee = Arc::new(f);
        f = scalar(&format!("f{k}"), |cx, x| {
            let once = cx.call(&callee, &[x])[0];
            cx.call(&callee, &[once])[0]
        });
    }
    let text = print_function(&f);
    assert_eq!(text.matches("tgraph.module").count(), 40);
    let g = again(&f);
    assert_eq!(g.depth(), 39);
    verify(&g).unwrap();
}

/// A function of one number.
fn scalar(name: &str, write: impl FnOnce(&dyn Emit, Val) -> Val) -> Function {
    let b = Builder::new(name, Session::default());
    let x = b.param(Type::scalar(DType::F64), Some("x"));
    let y = write(&b, x);
    b.finish(&[y]).unwrap()
}
