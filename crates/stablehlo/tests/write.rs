//! Round trips through the writer and the reader preserve results: every operation on its samples,
//! functions, loops, symbolic extents.

use cotangent_core::check::Rng;
use cotangent_core::ops::entries;
use cotangent_core::{
    AdContext, Array, Builder, DType, Dim, Emit, Function, MAX_DEPTH, Result, Sample, Type, Val,
    Wide, reference, rewrite, text, transform,
};
use cotangent_stablehlo::{read, write};
use std::sync::Arc;

/// The operation of a sample as a function.
fn function(s: &Sample) -> Result<Arc<Function>> {
    let b = Builder::new("main", Default::default());
    let x: Vec<Val> = s.operands.iter().map(|a| b.param(a.ty(), None)).collect();
    let y = b.emit(s.op.clone(), &x);
    Ok(Arc::new(b.finish(&y)?))
}

/// The operation of a sample in both branches of a conditional, after constants that it may share.
fn in_branches(s: &Sample) -> Result<Arc<Function>> {
    let b = Builder::new("main", Default::default());
    let p = b.param(Type::scalar(DType::Bool), None);
    let x: Vec<Val> = s.operands.iter().map(|a| b.param(a.ty(), None)).collect();
    let cx: &dyn Emit = &b;
    let mut y: Vec<Val> = [DType::F64, DType::F32, DType::I64, DType::I32, DType::C128]
        .iter()
        .flat_map(|&d| [0i64, 1].map(|n| cx.full(&Type::scalar(d), n)))
        .collect();
    let op = |cx: &dyn Emit, x: &[Val]| cx.emit(s.op.clone(), x).to_vec();
    y.extend(cx.cond(p, &x, op, op));
    Ok(Arc::new(b.finish(&y)?))
}

/// A message if two arrays differ by more than rounding.
fn differ(a: &Array, b: &Array) -> Option<String> {
    if a.ty() != b.ty() {
        return Some(format!("{} and {}", a.ty(), b.ty()));
    }
    if let (Wide::I(x), Wide::I(y)) = (a.wide(), b.wide()) {
        return (x != y).then(|| format!("{x:?} and {y:?}"));
    }
    let (x, y) = (a.to_c128(), b.to_c128());
    let scale = x
        .iter()
        .map(|z| z.norm())
        .filter(|n| n.is_finite())
        .fold(1.0, f64::max);
    let near = |p: f64, q: f64| {
        p == q || (p.is_nan() && q.is_nan()) || (p - q).abs() <= 256.0 * a.dtype().epsilon() * scale
    };
    let bad = x
        .iter()
        .zip(&y)
        .find(|(p, q)| !near(p.re, q.re) || !near(p.im, q.im));
    bad.map(|(p, q)| format!("{p} and {q}"))
}

/// A message if a function and its text have different results for these arguments.
fn round_trip(f: &Arc<Function>, args: &[Array]) -> Option<String> {
    let text = match write(std::slice::from_ref(f)) {
        Ok(t) => t,
        Err(e) => return Some(format!("not written: {e}")),
    };
    let back = match read(&text, None) {
        Ok(m) => m.main().clone(),
        Err(e) => return Some(format!("not read: {e}\n{text}")),
    };
    let (y, z) = (reference::run(f, args).ok()?, reference::run(&back, args));
    match z {
        Err(e) => Some(format!("not run: {e}\n{text}")),
        Ok(z) => y
            .iter()
            .zip(&z)
            .find_map(|(a, b)| differ(a, b))
            .map(|e| format!("{e}\n{text}")),
    }
}

/// Operations that neither StableHLO nor chlo has. JAX writes them as loops.
const NONE: &[&str] = &[
    "bessel_ie",
    "betainc",
    "igamma",
    "igammac",
    "gamma_density",
    "zeta",
];

#[test]
fn every_operation_is_written_and_read() {
    let mut bad = Vec::new();
    let mut seen = 0;
    for e in &entries() {
        for (k, s) in (e.samples)(e.name).iter().enumerate() {
            let Ok(f) = function(s) else { continue };
            if f.pending() {
                continue;
            }
            seen += 1;
            let inside: Vec<Array> = [Array::scalar(true)]
                .iter()
                .chain(&s.operands)
                .cloned()
                .collect();
            let branches = in_branches(s).ok().and_then(|f| round_trip(&f, &inside));
            for why in [round_trip(&f, &s.operands), branches]
                .into_iter()
                .flatten()
            {
                if !(NONE.contains(&e.name) && why.contains("has no StableHLO form")) {
                    bad.push(format!("{} #{k}: {why}", e.name));
                }
            }
        }
    }
    assert!(seen > 200, "there are samples");
    let only = std::env::var("ONLY").unwrap_or_default();
    bad.retain(|b| b.contains(&only));
    let lines: Vec<&str> = bad
        .iter()
        .map(|b| {
            if only.is_empty() {
                b.lines().next().unwrap_or("")
            } else {
                b
            }
        })
        .collect();
    assert!(
        bad.is_empty(),
        "{} of {seen}:\n{}",
        bad.len(),
        lines.join("\n")
    );
}

/// The results of a function and of its forward and reverse derivatives. `None` for a derivative
/// that does not exist.
fn answers(f: &Function, args: &[Array]) -> Result<Vec<Option<Vec<Array>>>> {
    let ad = AdContext::default();
    let y = reference::run(f, args)?;
    let wrt: Vec<Val> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    let derived = |derive: &dyn Fn() -> Result<Function>, with: Vec<Array>| {
        let g = derive().ok()?;
        reference::run(&g, &[args, &with].concat()).ok()
    };
    let mut rng = Rng::new(3);
    let tangents: Vec<Array> = wrt
        .iter()
        .map(|&v| rng.array(f.ty(v), &<_>::default()))
        .collect::<Result<_>>()?;
    let results = y.iter().filter(|a| a.dtype().has_tangent());
    let cotangents: Vec<Array> = results
        .map(|a| rng.array(&a.ty(), &<_>::default()))
        .collect::<Result<_>>()?;
    Ok(vec![
        Some(y),
        derived(&|| transform::jvp(&ad, f, &wrt), tangents),
        derived(&|| transform::vjp(&ad, f, &wrt), cotangents),
    ])
}

#[test]
fn what_is_read_again_has_the_bits_and_the_derivatives_that_it_had() {
    let mut bad = Vec::new();
    let mut seen = 0;
    for e in &entries() {
        for (k, s) in (e.samples)(e.name).iter().enumerate() {
            let Ok(f) = function(s) else { continue };
            let Ok(text) = write(std::slice::from_ref(&f)) else {
                continue;
            };
            if f.pending() {
                continue;
            }
            let back = read(&text, None).unwrap().main().clone();
            let (want, got) = (
                answers(&f, &s.operands).unwrap(),
                answers(&back, &s.operands).unwrap(),
            );
            seen += 1;
            // A `scan` is written as a `while`, whose adjoint adds the contributions of steps in
            // another order.
            let exact = !matches!(e.name, "scan" | "while");
            let equal =
                |(a, b): (&Array, &Array)| a.same_bits(b) || !exact && differ(a, b).is_none();
            let same = |a: &[Array], b: &[Array]| a.len() == b.len() && a.iter().zip(b).all(equal);
            for (what, (want, got)) in ["value", "jvp", "vjp"].iter().zip(want.iter().zip(&got)) {
                match (want, got) {
                    (Some(a), Some(b)) if same(a, b) => {}
                    (None, None) => {}
                    _ => bad.push(format!("{} #{k} {what}", e.name)),
                }
            }
        }
    }
    assert!(seen > 200, "there are samples");
    assert!(
        bad.is_empty(),
        "{} of {seen}:\n{}",
        bad.len(),
        bad.join("\n")
    );
}

/// An operation with `stable = true` keeps it in a round trip, and so do its derivatives.
#[test]
fn stable_sums_stay_stable() {
    let mut seen = std::collections::BTreeSet::new();
    for e in &entries() {
        for s in (e.samples)(e.name) {
            let Ok(f) = function(&s) else { continue };
            let text = text::print_function(&f);
            let call = format!("tgraph.{} ", e.name);
            let Some(line) = text.lines().find(|l| l.contains(&call)) else {
                continue;
            };
            let stable = match line.split_once('{') {
                _ if line.contains("stable") => line.replace("stable = false", "stable = true"),
                Some((head, tail)) => format!("{head}{{stable = true, {tail}"),
                None => line.replacen(" : ", " {stable = true} : ", 1),
            };
            let Ok(program) = text::Program::parse(&text.replace(line, &stable), None) else {
                continue;
            };
            let f = program.modules().last().expect("a module").clone();
            // A product without contracted axes is elementwise.
            if !text::print_function(&rewrite::simplify(&f)).contains("stable = true") {
                continue;
            }
            let back = read(write(std::slice::from_ref(&f)).unwrap(), None)
                .unwrap()
                .main()
                .clone();
            assert!(
                text::print_function(&back).contains("stable = true"),
                "{text}"
            );
            assert_eq!(round_trip(&f, &s.operands), None);
            seen.insert(e.name);
        }
    }
    assert!(
        seen.contains("dot_general") && seen.contains("convolution") && seen.contains("reduce_sum"),
        "{seen:?}"
    );
}

/// Bodies at the maximum nesting depth of graphs are written and read, on a thread with a small
/// stack.
#[test]
fn bodies_may_nest_as_deep_as_graphs_do() {
    fn nested(cx: &dyn Emit, p: Val, x: Val, depth: u32) -> Val {
        if depth == 0 {
            return cx.sin(x);
        }
        let on = |cx: &dyn Emit, v: &[Val]| vec![nested(cx, v[0], v[1], depth - 1)];
        cx.cond(p, &[p, x], on, |_: &dyn Emit, v: &[Val]| vec![v[1]])[0]
    }
    let b = Builder::new("main", Default::default());
    let p = b.param(Type::scalar(DType::Bool), None);
    let x = b.param(Type::scalar(DType::F64), None);
    let y = nested(&b, p, x, MAX_DEPTH - 1);
    let f = Arc::new(b.finish(&[y]).unwrap());
    for on in [true, false] {
        assert_eq!(
            round_trip(&f, &[Array::scalar(on), Array::scalar(0.5)]),
            None
        );
    }
}

/// The first module of a text.
fn module(source: &str) -> Arc<Function> {
    text::Program::parse(source, None)
        .unwrap()
        .modules()
        .last()
        .unwrap()
        .clone()
}

#[test]
fn loops_calls_and_branches() {
    let f = module(
        "tgraph.module @square {
  %x = tgraph.arg : f64
  %y = tgraph.mul %x, %x : f64
  tgraph.return %y : f64
}
tgraph.module @m {
  %c = tgraph.arg : f64
  %xs = tgraph.arg : tensor<4xf64>
  %a, %ys = tgraph.scan %c, %xs {length = 4, carry = 1, reverse = true} body(%c: f64, %x: f64) {
    %p = tgraph.mul %c, %x : f64
    %q = tgraph.call %p {callee = @square} : f64
    tgraph.return %p, %q : f64, f64
  } : f64, tensor<4xf64>
  tgraph.return %a, %ys : f64, tensor<4xf64>
}",
    );
    let args = [Array::scalar(1.5), Array::vector(vec![1.0, 2.0, 0.5, 3.0])];
    assert_eq!(round_trip(&f, &args), None);
    let text = write(std::slice::from_ref(&f)).unwrap();
    assert!(
        text.contains("func.func private @square") && text.contains("stablehlo.while"),
        "{text}"
    );
    // The loop is recognised as a scan.
    let back = read(&text, None).unwrap();
    assert!(
        back.main().eqns().iter().any(|e| e.op.name() == "scan"),
        "{:?}",
        back.main()
    );
}

#[test]
fn symbolic_extents_are_question_marks() {
    let f = module(
        "tgraph.module @m {
  %x = tgraph.arg : tensor<nx2xf64>
  %s = tgraph.reduce %x {op = sum, axes = [1]} : tensor<nxf64>
  %r = tgraph.broadcast_in_dim %s {shape = [3, n], dims = [1]} : tensor<3xnxf64>
  %f = tgraph.reshape %r {shape = [3*n]} : tensor<?xf64>
  %n = tgraph.constant {value = n} : f64
  %z = tgraph.constant {value = 2.0} : tensor<nxf64>
  tgraph.return %f, %n, %z
}",
    );
    for n in [0, 1, 4] {
        let x = Array::from_vec([n, 2], (0..2 * n).map(|k| k as f64).collect()).unwrap();
        assert_eq!(round_trip(&f, &[x]), None);
    }
    // A window whose extent is known at run time.
    let f = module(
        "tgraph.module @m {
  %x = tgraph.arg : tensor<nxf64>
  %i = tgraph.arg : tensor<1xi64>
  %y = tgraph.gather %x, %i {offset_dims = [0], collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 0, slice_sizes = [n-1]} : tensor<(n-1)xf64>
  tgraph.return %y
}",
    );
    for (n, start) in [(1, 0), (2, 1), (5, 0), (5, 1)] {
        let x = Array::vector((0..n).map(f64::from).collect());
        assert_eq!(
            round_trip(&f, &[x, Array::vector(vec![start as i64])]),
            None
        );
    }
}

#[test]
fn constants_keep_their_bits() {
    let nan = f64::from_bits(0x7ff8_0000_0000_0001);
    for a in [
        Array::vector(vec![0.1, -0.0, 1e300, 5e-324, f64::INFINITY, nan]),
        Array::vector(vec![0.1f32, 1e-40, -1e38, f32::NEG_INFINITY]),
        Array::vector((0..100).map(|k| (k as f32).sqrt()).collect::<Vec<f32>>()),
        Array::vector((0..100).map(|k| k as f64 / 3.0).collect::<Vec<f64>>()),
        Array::vector(vec![u64::MAX, 0]),
        Array::vector((0..70).map(|k| k - 35).collect::<Vec<i8>>()),
        Array::vector((0..70).map(|k| k % 3 == 0).collect::<Vec<bool>>()),
        Array::from_vec([0, 3], Vec::<f32>::new()).unwrap(),
    ] {
        let b = Builder::new("main", Default::default());
        let cx: &dyn Emit = &b;
        let v = cx.constant(a.clone());
        let f = Arc::new(b.finish(&[v]).unwrap());
        let back = read(write(&[f]).unwrap(), None).unwrap();
        let y = reference::run(back.main(), &[]).unwrap();
        assert!(y[0].same_bits(&a), "{a:?} came back as {:?}", y[0]);
    }
}

#[test]
fn names_are_kept_or_made() {
    let b = Builder::new("odd name", Default::default());
    let x = b.param(Type::new(DType::F32, vec![Dim::Const(2)]), Some("x"));
    let y = b.param(Type::new(DType::F32, vec![Dim::Const(2)]), Some("x.1"));
    let cx: &dyn Emit = &b;
    let z = cx.add(x, y);
    let f = Arc::new(b.finish(&[z]).unwrap());
    let text = write(std::slice::from_ref(&f)).unwrap();
    assert!(
        text.contains("module @\"odd name\"") && text.contains("@main(%x: tensor<2xf32>, %arg1:"),
        "{text}"
    );
    let two = write(&[f.clone(), Arc::new((*f).clone().renamed("main"))]).unwrap();
    assert!(
        two.contains("@\"odd name\"(") && two.contains("@main("),
        "{two}"
    );
    assert_eq!(read(&two, None).unwrap().names().count(), 2);
}

#[test]
fn loops_and_their_derivatives_both_ways() {
    let f = module(
        "tgraph.module @m {
  %x = tgraph.arg : f64
  %y = tgraph.while %x cond(%c: f64) {
    %k = tgraph.constant {value = 100.0} : f64
    %p = tgraph.lt %c, %k : i1
    tgraph.return %p : i1
  } body(%c: f64) {
    %d = tgraph.mul %c, %c : f64
    tgraph.return %d : f64
  } : f64
  tgraph.return %y : f64
}",
    );
    assert_eq!(round_trip(&f, &[Array::scalar(1.5)]), None);
    let context = cotangent_core::AdContext::default();
    let forward = cotangent_core::transform::jvp(&context, &f, f.params()).unwrap();
    assert_eq!(
        round_trip(
            &Arc::new(forward),
            &[Array::scalar(1.5), Array::scalar(1.0)]
        ),
        None
    );
    let gradient = cotangent_core::transform::grad(&context, &f, f.params()).unwrap();
    for x in [1.5, 200.0] {
        assert_eq!(
            round_trip(&Arc::new(gradient.clone()), &[Array::scalar(x)]),
            None
        );
    }
}
