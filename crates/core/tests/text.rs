//! Text tests: files in `tests/graphs`, each a list of cases.
//!
//! ```text
//! // test: fmt            what is done with the source: fmt, derive, error
//! // ==== a name          a case
//! source
//! // ----
//! expected output
//! ```
//! `BLESS=1` rewrites the expected results; review the diff.

use cotangent_core::attr::Attrs;
use cotangent_core::check::random;
use cotangent_core::ops::{Entry, entries};
use cotangent_core::primitive::{Linearized, no_rule};
use cotangent_core::rewrite::simplify;
use cotangent_core::text::{Program, print_function, resolve_wrt};
use cotangent_core::transform::{Lin, Lv, Session, batch, jvp, vjp};
use cotangent_core::{
    AdContext, Arg, Array, Batched, Builder, Code, Cost, DType, Dim, Emit, Env, Function, Op,
    Primitive, Result, Type, Val, reference, verify,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
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
    let test = lines
        .next()
        .and_then(|l| l.strip_prefix("// test: "))
        .expect("a header")
        .trim()
        .to_owned();
    let mut file = File {
        test,
        cases: Vec::new(),
    };
    let mut expected = false;
    for line in lines {
        if let Some(name) = line.strip_prefix("// ==== ") {
            let name = name.trim_end().to_owned();
            file.cases.push(Case {
                name,
                source: String::new(),
                expected: String::new(),
            });
            expected = false;
        } else if line.trim_end() == "// ----" {
            expected = true;
        } else if let Some(case) = file.cases.last_mut() {
            let part = if expected {
                &mut case.expected
            } else {
                &mut case.source
            };
            part.push_str(line);
        }
    }
    file
}

fn canonical(p: &Program) -> String {
    let text = p.to_string();
    let again = Program::parse(&text, None)
        .unwrap_or_else(|e| panic!("what was printed cannot be read: {e}\n{text}"));
    assert_eq!(again.to_string(), text, "printing is not canonical");
    text
}

fn output(test: &str, source: &str) -> String {
    let parsed = Program::parse(source, Some("in.tgraph"));
    let derived = |p: Program| -> Result<Program> { p.derive(&AdContext::default()) };
    match test {
        "fmt" => canonical(&parsed.unwrap_or_else(|e| panic!("{e}\n{source}"))),
        "derive" => canonical(
            &derived(parsed.unwrap())
                .unwrap_or_else(|e| panic!("{e}\n{source}"))
                .only_derived(),
        ),
        "error" => match parsed.and_then(derived) {
            Ok(p) => panic!("no error:\n{p}"),
            Err(e) => format!("{e}\n"),
        },
        other => panic!("unknown test `{other}`"),
    }
}

fn graphs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
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
                let _ = writeln!(
                    wrong,
                    "{} `{}`:\n--- want\n{}--- got\n{got}",
                    path.display(),
                    case.name,
                    case.expected
                );
            }
            let _ = write!(out, "// ==== {}\n{}// ----\n{got}", case.name, case.source);
        }
        if bless {
            std::fs::write(&path, out).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A module with one operation.
fn module_of(op: &Op, types: &[Type]) -> Function {
    let b = Builder::new("m", Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = b.emit(op.clone(), &x);
    b.finish(&y).unwrap()
}

/// Prints and parses a function, and checks that it prints as the same text.
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
            match (
                reference::run(&f, &sample.operands),
                reference::run(&g, &sample.operands),
            ) {
                (Ok(a), Ok(b)) => assert!(
                    a.iter().zip(&b).all(|(a, b)| a.same_bits(b)),
                    "{}",
                    print_function(&f)
                ),
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
    let _ = writeln!(
        text,
        "  %s = tgraph.reduce %v{n} {{op = \"sum\"}}\n  tgraph.return %s : f32\n}}"
    );
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
        let random::Case { function: f, args } =
            random::graph(seed, 4 + seed as usize % 20).unwrap();
        let wrt = |f: &Function| -> Vec<Val> {
            f.params()
                .iter()
                .copied()
                .filter(|&p| f.ty(p).dtype.has_tangent())
                .collect()
        };
        verify(&f).unwrap();
        let g = again(&f);
        let bits = |a: Vec<Array>, b: Vec<Array>| a.iter().zip(&b).all(|(a, b)| a.same_bits(b));
        assert!(bits(
            reference::run(&f, &args).unwrap(),
            reference::run(&g, &args).unwrap()
        ));
        // Functions with integer and boolean results only have no derivative.
        if !f.result_types().iter().any(|t| t.dtype.has_tangent()) {
            continue;
        }
        let first = vjp(&ad, &f, &wrt(&f)).unwrap();
        let forward = jvp(&ad, &first, &wrt(&first)).unwrap();
        for d in [first.clone(), simplify(&first), simplify(&forward), forward] {
            verify(&d).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", print_function(&d)));
            again(&d);
        }
    }
}

#[test]
fn shared_regions_are_printed_once() {
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

/// An operation of another crate, without derivative.
#[derive(Debug)]
struct Median {
    window: usize,
}

impl Primitive for Median {
    fn name(&self) -> &str {
        "img.median"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with("window", self.window)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        Ok(vec![x[0].clone()])
    }

    fn linearize(&self, _: &Lin<'_>, _: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Err(no_rule(self, "linearize"))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

fn median() -> Entry {
    Entry {
        name: "img.median",
        doc: "The median over a window.",
        parse: |s| {
            Ok(Op::extension(Median {
                window: s.attrs.get("window")?,
            }))
        },
        samples: |_| Vec::new(),
    }
}

#[test]
fn operations_of_other_crates_are_read_and_printed() {
    let text = "tgraph.module @m {\n  %x = tgraph.arg : tensor<?xf32>\n  \
                %y = tgraph.img.median %x {window = 3} : tensor<?xf32>\n  tgraph.return %y : tensor<?xf32>\n}\n";
    let p = Program::parse_with(text, None, &[median()]).unwrap();
    assert_eq!(p.to_string(), text);
    assert!(Program::parse(text, None).is_err());
}

#[test]
fn a_missing_batch_rule_names_what_helps() {
    let text = "tgraph.module @m {\n  %x = tgraph.arg : tensor<?xf32>\n  \
                %y = tgraph.img.median %x {window = 3} : tensor<?xf32>\n  tgraph.return %y : tensor<?xf32>\n}\n";
    let p = Program::parse_with(text, None, &[median()]).unwrap();
    let f = p.module("m").unwrap();
    let e = batch(&Session::default(), f, &[true], &[], &Dim::Const(2)).unwrap_err();
    assert_eq!(e.code(), Code::NoRule);
    assert_eq!(
        e.message(),
        "operation `img.median` has no batch rule; add one to its Primitive, or replace `vmap` by `map` (in text \
         `scan`), which needs none"
    );
    // The loop that replaces it.
    let mapped = "tgraph.module @all {\n  %x = tgraph.arg : tensor<2x3xf32>\n  %y = tgraph.scan %x {length = 2, carry = 0} \
                  body(%x: tensor<3xf32>) {\n    %y = tgraph.img.median %x {window = 3} : tensor<3xf32>\n    \
                  tgraph.return %y\n  }\n  tgraph.return %y\n}\n";
    let p = Program::parse_with(mapped, None, &[median()]).unwrap();
    let x = Array::from_vec([2, 3], vec![1.0f32; 6]).unwrap();
    assert_eq!(
        reference::run(p.module("all").unwrap(), &[x]).unwrap()[0].shape(),
        [2, 3]
    );
}

#[test]
fn a_missing_rule_is_an_error_only_on_an_active_path() {
    let text = "tgraph.module @m {
  %x = tgraph.arg : tensor<?xf32>
  %w = tgraph.arg : tensor<?xf32>
  %s = tgraph.sin %x
  %y = tgraph.img.median %s {window = 3}
  %z = tgraph.mul %y, %w
  %l = tgraph.reduce %z {op = sum}
  tgraph.return %l
}
";
    let derive = |directive: &str| {
        let p = Program::parse_with(&format!("{text}{directive}"), Some("a.tgraph"), &[median()])
            .unwrap();
        p.derive(&AdContext::default())
    };
    derive("tgraph.adjoint @m wrt(%w) -> @g").unwrap();
    derive("tgraph.adjoint @m wrt(%y) -> @g").unwrap();
    let e = derive("tgraph.adjoint @m wrt(%x) -> @g")
        .unwrap_err()
        .to_string();
    let want = "a.tgraph:5:8: operation `img.median` has no linearize rule; add one to its Primitive, wrap the call in \
                custom_vjp, or stop_gradient its input [NoRule]\n  \
                5 |   %y = tgraph.img.median %s {window = 3}\n    |        ^^^^^^^^^^^^^^^^^\n  \
                while deriving (linearize); path from wrt: %x -> sin -> img.median\n  \
                while running `tgraph.adjoint @m wrt(%x) -> @g`";
    assert_eq!(e, want);
}

const SUM_OF_SIN: &str = "tgraph.module @m {
  %x = tgraph.arg : tensor<?xf64>
  %y = tgraph.sin %x
  %z = tgraph.reduce %y {op = sum}
  tgraph.return %z
}
tgraph.adjoint @m wrt(%x) -> @g
tgraph.hvp @m wrt(%x) dir(%v) -> @h
tgraph.hvp @m wrt(%x) dir(%x) -> @hx
tgraph.jvp @g wrt(%x) dir(%v) -> @t
";

#[test]
fn one_derived_program_serves_every_size() {
    let p = Program::parse(SUM_OF_SIN, None)
        .unwrap()
        .derive(&AdContext::default())
        .unwrap();
    let run = |name: &str, args: &[Array]| reference::run(p.module(name).unwrap(), args).unwrap();
    for n in [0, 1, 5, 1000] {
        let x: Vec<f64> = (0..n).map(|i| 0.1 + 0.01 * i as f64).collect();
        let (x, v) = (
            Array::vector(x.clone()),
            Array::vector(x.iter().map(|x| 2.0 - x).collect::<Vec<_>>()),
        );
        let want = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            x.to_f64()
                .into_iter()
                .zip(v.to_f64())
                .map(|(x, v)| f(x, v))
                .collect()
        };
        let close = |a: &Array, b: Vec<f64>| {
            a.to_f64()
                .iter()
                .zip(&b)
                .all(|(a, b)| (a - b).abs() < 1e-14)
        };
        assert!(close(&run("g", from_ref(&x))[0], want(&|x, _| x.cos())));
        assert!(close(
            &run("h", &[x.clone(), v.clone()])[0],
            want(&|x, v| -x.sin() * v)
        ));
        assert!(close(
            &run("hx", from_ref(&x))[0],
            want(&|x, _| -x.sin() * x)
        ));
        let t = run("t", &[x.clone(), v.clone()]);
        assert!(close(&t[0], want(&|x, _| x.cos())) && close(&t[1], want(&|x, v| -x.sin() * v)));
    }
    let e = reference::run(
        p.module("h").unwrap(),
        &[Array::vector(vec![1.0, 2.0]), Array::vector(vec![1.0])],
    );
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("%v") && e.contains("%x") && e.contains("f64[1]") && e.contains("f64[2]"),
        "{e}"
    );
}

#[test]
fn derived_modules_are_derived_again() {
    let text =
        "tgraph.module @m {\n %x = tgraph.arg : f64\n %y = tgraph.sin %x\n tgraph.return %y\n}
tgraph.adjoint @m wrt(%x) -> @d1
tgraph.adjoint @d1 wrt(%x) -> @d2
tgraph.adjoint @d2 wrt(%x) -> @d3";
    let p = Program::parse(text, None)
        .unwrap()
        .derive(&AdContext::default())
        .unwrap();
    let y =
        reference::run(p.module("d3").unwrap(), &[Array::scalar(0.5f64)]).unwrap()[0].to_f64()[0];
    assert!((y + 0.5f64.cos()).abs() < 1e-15);
    assert_eq!(p.only_derived().modules().count(), 3);
    // Also from text.
    let again = Program::parse(&p.to_string(), None).unwrap();
    assert_eq!(again.to_string(), p.to_string());
}

#[test]
fn division_by_zero_is_nan_in_text_unless_ieee_is_set() {
    let module = "tgraph.module @m {\n %x, %y = tgraph.arg, tgraph.arg : f64\n %z = tgraph.div %x, %y\n tgraph.return %z\n}\n";
    let grad = |attrs: &str| {
        let p = Program::parse(
            &format!("{module}tgraph.adjoint @m wrt(%x) {attrs} -> @g"),
            None,
        )
        .unwrap();
        let p = p.derive(&AdContext::default()).unwrap();
        reference::run(
            p.module("g").unwrap(),
            &[Array::scalar(1.0f64), Array::scalar(0.0)],
        )
        .unwrap()[0]
            .to_f64()[0]
    };
    assert!(grad("").is_nan());
    assert!(grad("{zero_division = nan}").is_nan());
    assert_eq!(grad("{zero_division = \"ieee\"}"), f64::INFINITY);
}

#[test]
fn values_are_found_by_name_and_by_position() {
    let p = Program::parse(
        "tgraph.module @m { %a, %b = tgraph.arg, tgraph.arg : f32 %h = tgraph.add %a, %b tgraph.return %h }",
        None,
    );
    let p = p.unwrap();
    let f = p.module("m").unwrap();
    let at =
        |text: &str| resolve_wrt(f, text).map(|v| v.iter().map(|v| v.index()).collect::<Vec<_>>());
    assert_eq!(at("a,h").unwrap(), [0, 2]);
    assert_eq!(at(" %b , 0").unwrap(), [1, 0]);
    let e = at("w").unwrap_err().to_string();
    assert_eq!(
        e,
        "`@m` has no value `%w` [UnknownName]\n  arguments of @m: %a : f32[], %b : f32[]"
    );
    assert_eq!(at("2").unwrap_err().message(), "`@m` has no argument 2");
}
