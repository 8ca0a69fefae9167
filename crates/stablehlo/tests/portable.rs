//! Programs for every XLA target: no custom call and no `chlo`, the results of the kernels, and the
//! accuracy of factorisations.

use cotangent_core::check::Rng;
use cotangent_core::ops::{Comparison, Eig, Schur, entries};
use cotangent_core::{
    AdContext, Array, Builder, C128, Code, DType, Dim, Emit, Function, Loc, Op, Sample, Type, Val,
    Wide, transform,
};
use cotangent_stablehlo::{Mesh, Sharding, Target, WriteOptions, portable, read, write_as};
use std::fs;
use std::path::Path;
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

/// Elements of an array as complex numbers.
fn elements(a: &Array) -> Vec<C128> {
    a.to_c128()
}

/// The first element that differs: by more than 512 epsilons of the largest finite element, or NaN
/// or infinite in one of the arrays only. `special` elements are not compared.
fn difference(a: &Array, b: &Array, special: &dyn Fn(usize) -> bool) -> Option<String> {
    if a.ty() != b.ty() {
        return Some(format!("{} and {}", a.ty(), b.ty()));
    }
    if let (Wide::I(x), Wide::I(y)) = (a.wide(), b.wide()) {
        return (x != y).then(|| format!("{x:?} and {y:?}"));
    }
    let (x, y) = (elements(a), elements(b));
    let parts = x.iter().flat_map(|z| [z.re.abs(), z.im.abs()]);
    let finite = parts.filter(|v| v.is_finite());
    let scale = finite.fold(f64::MIN_POSITIVE, f64::max) * a.dtype().epsilon();
    let near =
        |p: f64, q: f64| p == q || (p.is_nan() && q.is_nan()) || (p - q).abs() <= 512.0 * scale;
    let all = x.iter().zip(&y).enumerate();
    let mut bad = all.filter(|(k, (p, q))| !(special(*k) || near(p.re, q.re) && near(p.im, q.im)));
    bad.next()
        .map(|(k, (p, q))| format!("element {k}: {p} and {q}"))
}

/// Functions whose elements with an infinite or NaN operand are not compared: they are those of
/// formulas for finite numbers, while ours follow Annex G of C17.
const FINITE: &[&str] = &[
    "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
];

/// At least the number of steps of loops of samples and of the corpus.
const BOUND: usize = 4096;

/// Operations that are refused, with a word of the error.
const REFUSED: &[(&str, &str)] = &[
    ("eig", "CPU runtime"),
    ("schur", "CPU runtime"),
    ("count", "depends on data"),
];

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
        bound: Some(BOUND),
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
        let Ok(g) = portable(&f, Some(BOUND)) else {
            return;
        };
        let args = arguments(s, &f);
        let Ok(want) = cotangent::run(&f, &args) else {
            return;
        };
        seen += 1;
        let operands: Vec<Vec<C128>> = s.operands.iter().map(elements).collect();
        let special = |k: usize| {
            let infinite = |x: &Vec<C128>| x.get(k).is_some_and(|z| !z.is_finite());
            FINITE.contains(&name) && operands.iter().any(infinite)
        };
        let why = match cotangent::run(&Arc::new(g), &args) {
            Ok(got) => (want.iter().zip(&got)).find_map(|(a, b)| difference(a, b, &special)),
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

/// `x` doubled until it exceeds 100, in `f64`.
fn doubling() -> Function {
    let b = Builder::new("main", Default::default());
    b.set_loc(Loc::Text(12, 3));
    let x = b.param(Type::scalar(DType::F64), Some("x"));
    let cx: &dyn Emit = &b;
    let y = cx.while_loop(
        &[],
        &[x],
        |cx, _, c| cx.compare(c[0], Comparison::Lt, cx.full_like(c[0], 100.0)),
        |cx, _, c| vec![cx.mul(c[0], cx.full_like(c[0], 2.0))],
    );
    b.finish(&y).unwrap()
}

#[test]
fn a_derivative_of_a_while_loop_needs_a_bound() {
    let f = Arc::new(reverse(&doubling()).unwrap());
    let e = portable(&f, None).unwrap_err().to_string();
    assert!(
        e.contains("`while`") && e.contains("bound") && e.contains("12:3"),
        "{e}"
    );
    let run = |bound: usize| {
        let g = Arc::new(portable(&f, Some(bound)).unwrap());
        cotangent::run(&g, &[Array::scalar(1.5), Array::scalar(1.0)]).unwrap()[0].to_f64()[0]
    };
    // Seven steps.
    assert_eq!([run(7), run(100)], [128.0, 128.0]);
    let values = portable(&doubling(), None).unwrap();
    let y = cotangent::run(&Arc::new(values), &[Array::scalar(1.5)]).unwrap();
    assert_eq!(y[0].to_f64(), [192.0]);
}

#[test]
fn loops_have_bounds_of_their_own() {
    let text = r#"tgraph.module @f {
  %x = tgraph.arg : f64
  %y = tgraph.while %x {bound = 9} cond(%c: f64) {
    %more = tgraph.lt %c, 100.0
    tgraph.return %more
  } body(%c: f64) {
    %d = tgraph.mul %c, 2.0
    tgraph.return %d
  }
  %z = tgraph.while %y {bound = 2} cond(%c: f64) {
    %more = tgraph.lt %c, 1000.0
    tgraph.return %more
  } body(%c: f64) {
    %d = tgraph.mul %c, 3.0
    tgraph.return %d
  }
  tgraph.return %z : f64
}"#;
    let program = cotangent_core::text::Program::parse(text, None).unwrap();
    let f = program.modules().last().unwrap();
    let printed = cotangent_core::text::print_function(f);
    assert!(
        printed.contains("bound = 9") && printed.contains("bound = 2"),
        "{printed}"
    );
    let g = reverse(f).unwrap();
    // The bounds are those of the loops: the option is for loops without one.
    for option in [None, Some(1)] {
        let h = Arc::new(portable(&g, option).unwrap());
        let at = |x: f64| {
            let y = cotangent::run(&h, &[Array::scalar(x), Array::scalar(1.0)]).unwrap();
            y[0].to_f64()[0]
        };
        // Seven steps and two.
        assert_eq!(at(1.5), 128.0 * 9.0);
        // Ten steps: the derivative of nine would be finite.
        assert!(at(0.1).is_nan());
    }
    let w = write_as(
        &[Arc::new(g)],
        &WriteOptions {
            target: Target::Portable,
            ..WriteOptions::default()
        },
    );
    assert!(w.unwrap().contains("tensor<9x"));
}

#[test]
fn a_division_is_written_where_a_mesh_is_given() {
    let b = Builder::new("main", Default::default());
    let x = b.param(Type::new(DType::F32, [8, 3]), Some("x"));
    let cx: &dyn Emit = &b;
    let both = Some(vec!["data".to_owned(), "model".to_owned()]);
    let y = cx.exp(cx.shard(x, &[both, None]));
    let f = Arc::new(b.finish(&[y]).unwrap());
    let text = |sharding: Option<&Sharding>| {
        let options = WriteOptions {
            target: Target::Portable,
            sharding,
            ..WriteOptions::default()
        };
        write_as(std::slice::from_ref(&f), &options)
    };
    assert!(!text(None).unwrap().contains("sdy"));
    let mesh = |n| Mesh::new(&[("data", n), ("model", 2)]).unwrap();
    let of = |mesh: &Mesh| Sharding::of(&f, mesh, &[], &[]).unwrap();
    let divided = text(Some(&of(&mesh(4)))).unwrap();
    let line = r#"sdy.sharding_constraint %x <@mesh, [{"data", "model"}, {?}]> : tensor<8x3xf32>"#;
    assert!(divided.contains(line), "{divided}");
    // It is read as a program of one device.
    assert_eq!(read(&divided, None).unwrap().main().eqns().len(), 1);
    let e = text(Some(&of(&mesh(3)))).unwrap_err().to_string();
    assert!(
        e.contains("8 elements do not divide among 6 devices"),
        "{e}"
    );
}

#[test]
fn extents_that_are_not_constants_are_refused() {
    let b = Builder::new("main", Default::default());
    let x = b.param(Type::new(DType::F64, vec![Dim::sym("n")]), Some("x"));
    let y = (&b as &dyn Emit).sin(x);
    let e = portable(&b.finish(&[y]).unwrap(), None).unwrap_err();
    assert_eq!(e.code(), Code::Unsupported);
    let e = e.to_string();
    assert!(e.contains("`n`") && e.contains("%x"), "{e}");
}

#[test]
fn factorisations_without_a_form_are_not_supported() {
    for op in [Op::from(Eig::default()), Op::from(Schur)] {
        let b = Builder::new("main", Default::default());
        let x = b.param(Type::new(DType::F64, [3, 3]), Some("x"));
        let y = (&b as &dyn Emit).emit(op, &[x]);
        let e = portable(&b.finish(&y).unwrap(), None).unwrap_err();
        assert_eq!(e.code(), Code::Unsupported, "{e}");
        assert!(e.message().contains("`eigh`"), "{e}");
    }
}

#[test]
fn equations_have_the_locations_of_the_program() {
    let options = WriteOptions {
        target: Target::Portable,
        file: Some("doubling.tgraph"),
        ..Default::default()
    };
    let f = Arc::new(doubling());
    let text = write_as(std::slice::from_ref(&f), &options).unwrap();
    let loop_end = "} loc(\"doubling.tgraph\":12:3)";
    assert!(text.contains(loop_end), "{text}");
    let back = read(&text, None).unwrap();
    let args = [Array::scalar(1.5)];
    let run = |f: &Arc<Function>| cotangent::run(f, &args).unwrap()[0].to_f64();
    assert_eq!(run(back.main()), run(&f));
}

/// Every sample and every case of the corpus, with its name, arguments and what it is: the value or
/// the reverse derivative.
fn each_program(mut look: impl FnMut(String, Arc<Function>, Vec<Array>)) {
    each_sample(|name, k, what, s, f| {
        let args = arguments(s, &f);
        look(format!("{name}.{k}.{what}"), f, args);
    });
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut cases: Vec<_> = fs::read_dir(corpus)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.join("module.mlir").exists())
        .collect();
    cases.sort();
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(case.join("module.mlir")).unwrap();
        let f = read(&text, None).unwrap().main().clone();
        let data = cotangent::npz::read(case.join("data.npz")).unwrap();
        let named = |n: String| data.iter().find(|a| a.0 == n).map(|a| a.1.clone());
        let x: Vec<Array> = (0..f.params().len())
            .map_while(|i| named(format!("in_{i}")))
            .collect();
        let sample = Sample::rough(cotangent_core::ops::Unary::Neg, x);
        if let Some(g) = reverse(&f) {
            let args = arguments(&sample, &g);
            look(format!("corpus.{name}.vjp"), Arc::new(g), args);
        }
        look(format!("corpus.{name}.value"), f, sample.operands);
    }
}

/// Writes `NAME.mlir`, and `NAME.npz` with arguments and results of our CPU runtime, into the
/// folder `COTANGENT_PORTABLE`; programs that are refused as `NAME.refused`. `tests/portable.py`
/// compiles them.
#[test]
#[ignore = "writes the files that tests/portable.py reads"]
fn programs_are_written_for_xla() {
    let folder = std::env::var("COTANGENT_PORTABLE").expect("COTANGENT_PORTABLE is a folder");
    let folder = Path::new(&folder);
    let options = WriteOptions {
        target: Target::Portable,
        bound: Some(BOUND),
        ..Default::default()
    };
    each_program(|name, f, args| {
        let Ok(results) = cotangent::run(&f, &args) else {
            return;
        };
        match write_as(std::slice::from_ref(&f), &options) {
            Err(e) => fs::write(folder.join(format!("{name}.refused")), e.to_string()).unwrap(),
            Ok(text) => {
                fs::write(folder.join(format!("{name}.mlir")), text).unwrap();
                let named = |word: &str, all: Vec<Array>| {
                    let each = all.into_iter().enumerate();
                    each.map(|(k, a)| (format!("{word}_{k}"), a))
                        .collect::<Vec<_>>()
                };
                let all = [named("in", args), named("out", results)].concat();
                cotangent::npz::write(folder.join(format!("{name}.npz")), &all).unwrap();
            }
        }
    });
}
