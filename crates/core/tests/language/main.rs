//! Promises of the text form about operands, equations, random numbers and extents, and the texts
//! of the guide.

mod equations;
mod guide;

use cotangent_core::check::Rng;
use cotangent_core::ops::entries;
use cotangent_core::text::{Program, print_function};
use cotangent_core::transform::{AdContext, Session};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Function, Scalar, Type, Val, reference};
use std::sync::Arc;

fn program(text: &str) -> Program {
    let p = Program::parse(text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let p = p
        .derive(&AdContext::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    // Tests run the program that was printed and parsed again.
    let printed = p.to_string();
    Program::parse(&printed, None).unwrap_or_else(|e| panic!("{e}\n{printed}"))
}

/// The module of one statement `%y = ...` over these arguments.
fn statement(args: &[(&str, &str)], line: &str) -> String {
    let args: String = args
        .iter()
        .map(|(name, ty)| format!("  %{name} = tgraph.arg : {ty}\n"))
        .collect();
    format!("tgraph.module @m {{\n{args}  %y = {line}\n  tgraph.return %y\n}}\n")
}

fn run(p: &Program, name: &str, x: &[Array]) -> Array {
    let f = p.module(name).unwrap_or_else(|| panic!("no @{name}"));
    reference::run(f, x)
        .unwrap_or_else(|e| panic!("{e}\n{f}"))
        .remove(0)
}

fn value(args: &[(&str, &str)], line: &str, x: &[Array]) -> Array {
    run(&program(&statement(args, line)), "m", x)
}

fn refused(text: &str, what: &str) {
    let e = Program::parse(text, None)
        .and_then(|p| p.derive(&AdContext::default()))
        .map(|p| p.to_string());
    let e = e.expect_err(text).to_string();
    assert!(e.contains(what), "{e}");
}

fn near(got: &Array, want: &[f64], tolerance: f64) {
    let got = got.to_f64();
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * b.abs().max(1.0);
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(close),
        "{got:?}, not {want:?}"
    );
}

/// A number as a literal of an element type.
fn literal(d: DType, n: i128) -> String {
    match d {
        DType::Bool => (n & 1 == 1).to_string(),
        _ if d.has_tangent() => format!("{n}.0"),
        _ => n.to_string(),
    }
}

/// Writes every operand of every sample that may be a literal as one, and compares the bits of
/// results. `off` is added to the literal. Returns the number of operands, and the differences.
fn numbers_as_operands(off: i128) -> (usize, Vec<String>) {
    let (mut tried, mut wrong) = (0, Vec::new());
    for entry in entries() {
        for sample in (entry.samples)(entry.name) {
            let types: Vec<Type> = sample.operands.iter().map(Array::ty).collect();
            let elementwise = sample.op.is_elementwise(&types);
            for k in 0..sample.operands.len() {
                let a = &sample.operands[k];
                // A literal replaces a scalar operand, or one whose shape another operand has.
                let shaped = sample
                    .operands
                    .iter()
                    .enumerate()
                    .any(|(i, o)| i != k && o.shape() == a.shape());
                if !(a.shape().is_empty() || elementwise && shaped) {
                    continue;
                }
                let written = literal(a.dtype(), 1 + off);
                let Ok(splat) = Scalar::I(1).full(a.dtype(), a.shape().to_vec()) else {
                    continue;
                };
                let mut args = sample.operands.clone();
                args[k] = splat;
                let b = Builder::new("m", Session::default());
                let named = |(i, a): (usize, &Array)| b.param(a.ty(), Some(&format!("p{i}")));
                let x: Vec<Val> = sample.operands.iter().enumerate().map(named).collect();
                let y = b.emit(sample.op.clone(), &x);
                let Ok(f) = b.finish(&y) else { continue };
                let Ok(want) = reference::run(&f, &args) else {
                    continue;
                };
                let text = print_function(&f);
                // A single literal operand has the element type of the result.
                if args.len() == 1 && f.result_types()[0].dtype != a.dtype() {
                    continue;
                }
                // The statement of the operation is the last one that is not nested. It begins with
                // its operands.
                let (head, line) = text.split_at(text.rfind("\n  %").unwrap_or(0));
                let ends = [",", " "].map(|end| (format!("%p{k}{end}"), format!("{written}{end}")));
                let Some((name, number)) = ends.iter().find(|(name, _)| line.contains(name)) else {
                    continue;
                };
                let line = line.replacen(name, number, 1);
                tried += 1;
                let read = Program::parse(&format!("{head}{line}"), None);
                let got =
                    read.and_then(|p| reference::run(p.modules().last().expect("a module"), &args));
                match got {
                    Ok(got)
                        if got.len() == want.len()
                            && got.iter().zip(&want).all(|(a, b)| a.same_bits(b)) => {}
                    Ok(got) => wrong.push(format!("{got:?}, not {want:?}\n{head}{line}")),
                    Err(e) => wrong.push(format!("{e}\n{head}{line}")),
                }
            }
        }
    }
    (tried, wrong)
}

#[test]
fn numbers_stand_where_values_do() {
    let (tried, wrong) = numbers_as_operands(0);
    println!("{tried} operands written as numbers");
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(tried > 500, "{tried}");
    // The law fails for another number.
    let (_, wrong) = numbers_as_operands(1);
    assert!(wrong.len() > tried / 4, "{} of {tried}", wrong.len());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn numbers_in_composites() {
    let v = [("x", "tensor<?xf64>")];
    let x = [Array::vector(vec![-1.0, 0.0, 2.5])];
    let of = |f: fn(f64) -> f64| x[0].to_f64().into_iter().map(f).collect::<Vec<_>>();
    near(
        &value(&v, "tgraph.logaddexp %x, 0.0", &x),
        &of(|x| x.exp().ln_1p()),
        1e-15,
    );
    near(
        &value(&v, "tgraph.logaddexp 0, %x", &x),
        &of(|x| x.exp().ln_1p()),
        1e-15,
    );
    near(
        &value(&v, "tgraph.fma %x, 2.0, 1.0", &x),
        &of(|x| 2.0 * x + 1.0),
        0.0,
    );
    near(
        &value(&v, "tgraph.fma 2, %x, 1", &x),
        &of(|x| 2.0 * x + 1.0),
        0.0,
    );
    near(
        &value(&v, "tgraph.clip %x, 0.0, 1", &x),
        &[0.0, 0.0, 1.0],
        0.0,
    );
    near(&value(&v, "tgraph.zeros_like %x", &x), &[0.0; 3], 0.0);
    near(&value(&v, "tgraph.ones_like %x", &x), &[1.0; 3], 0.0);
    near(
        &value(&v, "tgraph.full_like %x {value = 2.5}", &x),
        &[2.5; 3],
        0.0,
    );
    near(
        &value(&v, "tgraph.full_like %x {value = 3} : tensor<?xf64>", &x),
        &[3.0; 3],
        0.0,
    );
    let whole = value(&v, "tgraph.full_like %x {value = 3, dtype = i32}", &x);
    assert_eq!((whole.dtype(), whole.to_f64()), (DType::I32, vec![3.0; 3]));
    let truth = value(&v, "tgraph.full_like %x {value = true, dtype = i1}", &x);
    assert_eq!((truth.dtype(), truth.to_f64()), (DType::Bool, vec![1.0; 3]));
    refused(
        &statement(&[("x", "i32")], "tgraph.full_like %x {value = 0.5}"),
        "0.5 is not a number of type i32",
    );
    refused(
        &statement(&v, "tgraph.full_like %x"),
        "the attribute `value`",
    );
    near(
        &value(&v, "tgraph.select true, %x, 0.0", &x),
        &x[0].to_f64(),
        0.0,
    );
    near(
        &value(&[], "tgraph.select false, 1.0, 2.0 : f32", &[]),
        &[2.0],
        0.0,
    );
    near(&value(&[], "tgraph.and true, false", &[]), &[0.0], 0.0);
    near(
        &value(&[], "tgraph.linspace 0.0, 1.0 {num = 5}", &[]),
        &[0.0, 0.25, 0.5, 0.75, 1.0],
        0.0,
    );
    near(
        &value(&[], "tgraph.linspace 0, 4 {num = 3}", &[]),
        &[0.0, 2.0, 4.0],
        0.0,
    );
    let single = value(&[], "tgraph.linspace 0, 1 {num = 3, dtype = f32}", &[]);
    assert_eq!(
        (single.dtype(), single.to_f64()),
        (DType::F32, vec![0.0, 0.5, 1.0])
    );
    let single = value(
        &[("a", "f32")],
        "tgraph.linspace %a, 1.0 {num = 2}",
        &[Array::scalar(0.5f32)],
    );
    assert_eq!(
        (single.dtype(), single.to_f64()),
        (DType::F32, vec![0.5, 1.0])
    );
    near(
        &value(&[], "tgraph.one_hot 2 {depth = 4}", &[]),
        &[0.0, 0.0, 1.0, 0.0],
        0.0,
    );
    near(
        &value(&v, "tgraph.dynamic_slice %x, 1 {sizes = [2]}", &x),
        &[0.0, 2.5],
        0.0,
    );
    let update = "tgraph.dynamic_update_slice %x, %u, 1";
    let args = [("x", "tensor<3xf64>"), ("u", "tensor<1xf64>")];
    near(
        &value(&args, update, &[x[0].clone(), Array::vector(vec![9.0])]),
        &[-1.0, 9.0, 2.5],
        0.0,
    );
    // Parameters of regions and modules determine the type of a literal.
    let scan = "tgraph.scan 0, %x {carry = 1} body(%c: i64, %x: f64) {\n %d = tgraph.add %c, 1\n tgraph.return %d\n}";
    assert_eq!(value(&[("x", "tensor<3xf64>")], scan, &x).to_f64(), [3.0]);
    let call = "tgraph.module @f {\n %k = tgraph.arg : i32\n %x = tgraph.arg : f64\n %s = tgraph.select true, %x, 0\n \
                tgraph.return %s\n}\ntgraph.module @m {\n %y = tgraph.call @f 3, 2.5\n tgraph.return %y\n}\n";
    near(&run(&program(call), "m", &[]), &[2.5], 0.0);
    refused(
        &statement(&v, "tgraph.add %x, true"),
        "true is not a number of type f64",
    );
    refused(
        &statement(&[], "tgraph.add 1.0, 2.0"),
        "a number among the operands of `tgraph.add` needs an operand of known type",
    );
    refused(
        &statement(&v, "tgraph.dynamic_slice %x, 1.5 {sizes = [2]}"),
        "1.5 is not a number of type i64",
    );
}

#[test]
fn sums_are_compensated_where_the_text_says_so() {
    let x = [Array::vector(vec![1e8f32, 1.0, -1e8, 1.0])];
    let v = [("x", "tensor<?xf32>")];
    assert_eq!(
        value(&v, "tgraph.reduce %x {op = \"sum\", stable = true}", &x).to_f64(),
        [2.0]
    );
    assert_eq!(
        value(&v, "tgraph.reduce %x {op = mean, stable = true}", &x).to_f64(),
        [0.5]
    );
    assert_eq!(
        value(&v, "tgraph.reduce_sum %x {axes = [0], stable = true}", &x).to_f64(),
        [2.0]
    );
    assert_eq!(
        value(&v, "tgraph.reduce %x {op = max, stable = false}", &x).to_f64(),
        [1e8]
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn random_operations_are_those_of_the_builder() {
    use DType::{F32, F64, I32, U8, U32};
    type Write = fn(&dyn Emit, Val) -> Val;
    fn number(cx: &dyn Emit, d: DType, c: f64) -> Val {
        cx.full(&Type::scalar(d), c)
    }
    let cases: [(&str, Write); 17] = [
        ("tgraph.random_split %key {n = 3}", |cx, k| {
            cx.random_split(k, &[3.into()])
        }),
        ("tgraph.random_split %key : tensor<3x2xu32>", |cx, k| {
            cx.random_split(k, &[3.into()])
        }),
        ("tgraph.random_fold_in %key, 7", |cx, k| {
            cx.random_fold_in(k, number(cx, U32, 7.0))
        }),
        (
            "tgraph.random_bits %key {shape = [3], dtype = u8}",
            |cx, k| cx.random_bits(k, &[3.into()], U8),
        ),
        (
            "tgraph.random_uniform %key {shape = [3], dtype = f32}",
            |cx, k| cx.random_uniform(k, &[3.into()], number(cx, F32, 0.0), number(cx, F32, 1.0)),
        ),
        (
            "tgraph.random_uniform %key, -1.0, 2 : tensor<3xf64>",
            |cx, k| cx.random_uniform(k, &[3.into()], number(cx, F64, -1.0), number(cx, F64, 2.0)),
        ),
        (
            "tgraph.uniform %key, -1.0, 2 {shape = [3], dtype = f64}",
            |cx, k| cx.random_uniform(k, &[3.into()], number(cx, F64, -1.0), number(cx, F64, 2.0)),
        ),
        ("tgraph.random_normal %key : tensor<2x3xf32>", |cx, k| {
            cx.random_normal(k, &[2.into(), 3.into()], F32)
        }),
        (
            "tgraph.random_exponential %key {shape = [4], dtype = f64}",
            |cx, k| cx.random_exponential(k, &[4.into()], F64),
        ),
        (
            "tgraph.random_gumbel %key {shape = [4], dtype = f64}",
            |cx, k| cx.random_gumbel(k, &[4.into()], F64),
        ),
        (
            "tgraph.random_truncated_normal %key, -1.0, 1.0 {shape = [4], dtype = f64}",
            |cx, k| {
                cx.random_truncated_normal(
                    k,
                    &[4.into()],
                    number(cx, F64, -1.0),
                    number(cx, F64, 1.0),
                )
            },
        ),
        (
            "tgraph.random_bernoulli %key, 0.5 {shape = [8]}",
            |cx, k| cx.random_bernoulli(k, &[8.into()], number(cx, F32, 0.5)),
        ),
        (
            "tgraph.random_bernoulli %key, 0.5 : tensor<8xi1>",
            |cx, k| cx.random_bernoulli(k, &[8.into()], number(cx, F32, 0.5)),
        ),
        (
            "tgraph.random_int %key, 0, 10 {shape = [5], dtype = i32}",
            |cx, k| cx.random_int(k, &[5.into()], number(cx, I32, 0.0), number(cx, I32, 10.0)),
        ),
        ("tgraph.random_categorical %key, %x", |cx, k| {
            cx.random_categorical(k, cx.iota(&Type::new(F64, [4]), 0), 0)
        }),
        ("tgraph.random_permutation %key, %x", |cx, k| {
            cx.random_permutation(k, cx.iota(&Type::new(F64, [4]), 0), 0)
        }),
        ("tgraph.random_dropout %key, %x {rate = 0.5}", |cx, k| {
            cx.random_dropout(k, cx.iota(&Type::new(F64, [4]), 0), 0.5)
        }),
    ];
    let x = Array::vector(vec![0.0, 1.0, 2.0, 3.0]);
    for (line, write) in cases {
        let text = statement(&[("key", "tensor<2xu32>"), ("x", "tensor<4xf64>")], line);
        let b = Builder::new("f", Session::default());
        let key = b.param(Type::new(U32, [2]), None);
        let y = write(&b, key);
        let f = b.finish(&[y]).unwrap();
        let key = Array::vector(vec![0u32, 42]);
        let want = reference::run(&f, std::slice::from_ref(&key))
            .unwrap()
            .remove(0);
        let got = run(&program(&text), "m", &[key, x.clone()]);
        assert!(got.same_bits(&want), "{line}: {got:?}, not {want:?}");
    }
    let key = value(&[], "tgraph.random_key {seed = 4294967298}", &[]);
    assert_eq!((key.dtype(), key.to_f64()), (U32, vec![1.0, 2.0]));
    // Parameters of distributions have derivatives.
    let text = "tgraph.module @m {\n  %key = tgraph.arg : tensor<2xu32>\n  %s = tgraph.arg : f64\n  \
                %z = tgraph.random_normal %key : tensor<5xf64>\n  %y = tgraph.mul %z, %s\n  \
                %l = tgraph.reduce %y {op = sum}\n  tgraph.return %l\n}\ntgraph.adjoint @m wrt(%s) -> @g\n";
    let (p, key) = (program(text), Array::vector(vec![0u32, 1]));
    let at = |s: f64| [key.clone(), Array::scalar(s)];
    near(
        &run(&p, "g", &at(3.0)),
        &run(&p, "m", &at(1.0)).to_f64(),
        1e-14,
    );
    let v = [("key", "tensor<2xu32>")];
    refused(
        &statement(&v, "tgraph.random_normal %key {dtype = f32}"),
        "needs a shape",
    );
    refused(
        &statement(&v, "tgraph.random_normal %key {shape = [2]}"),
        "needs an element type",
    );
    refused(
        &statement(&[("x", "f64")], "tgraph.random_normal %x : tensor<3xf64>"),
        "a random key is u32[2]",
    );
}

/// An extent over these symbols.
fn extent(rng: &mut Rng, names: &[&str], depth: usize) -> Dim {
    let smaller = |rng: &mut Rng| extent(rng, names, depth - 1);
    match rng.below(if depth == 0 { 2 } else { 8 }) {
        0 | 1 => Dim::sym(names[rng.below(names.len())]),
        2 => smaller(rng) + Dim::from(rng.below(5)),
        3 => smaller(rng) - smaller(rng),
        4 => smaller(rng) * smaller(rng),
        5 => smaller(rng) * Dim::from(2 + rng.below(3)),
        6 => smaller(rng).floor_div(1 + rng.below(4)),
        _ => smaller(rng).affine(1 - 2 * rng.below(2) as i64, rng.below(7) as i64 - 3),
    }
}

/// Names of extents: plain, reserved, and with special characters.
const NAMES: &[&str] = &[
    "n", "m", "batch", "x", "max", "floordiv", "true", "false", "inf", "nan", "dense", "complex",
    "f32", "i1", "e5", "_", "$", "n.1", ".5", ".n", "0", "0x1f", "5e3", "1n", "?0", "?n", "?true",
    "?inf", "?x", "?.5", "?", "??", "?-1", "n-1", "a b", "", "\"", "\\", "(", "n*m", "->", "é",
    "²", "٣", "tgraph.x", "%n", "@n", "a,b", "]", "}", "//", "\n", "\t", "\u{7f}", "💧", "-n", "+",
    "x1", "tensor", "true-1", "return",
];

/// Every extent in a type, an attribute, a list and a constant is parsed as it was printed.
#[test]
fn extents_of_any_name_are_read_as_they_are_printed() {
    let mut rng = Rng::new(3);
    for round in 0..2000 {
        let names: Vec<&str> = (0..1 + rng.below(3))
            .map(|_| NAMES[rng.below(NAMES.len())])
            .collect();
        let names: &[&str] = if round < NAMES.len() {
            &NAMES[round..=round]
        } else {
            &names
        };
        // In a type, a lone `?` is an unspecified extent, so it is left out.
        let names: Vec<&str> = names
            .iter()
            .map(|n| if *n == "?" { "?q" } else { n })
            .collect();
        let d = if round < NAMES.len() {
            Dim::sym(names[0])
        } else {
            extent(&mut rng, &names, 3)
        };
        let b = Builder::new("m", Session::default());
        let cx: &dyn Emit = &b;
        for n in &names {
            b.param(Type::new(DType::F32, vec![Dim::sym(n)]), None);
        }
        let x = b.param(Type::new(DType::F32, vec![d.clone()]), None);
        let one = cx.full(&Type::scalar(DType::F64), 1.0);
        let y = cx.broadcast_in_dim(one, &[d.clone(), 2.into(), d.clone()], &[]);
        let z = cx.iota(&Type::new(DType::I64, vec![d.clone()]), 0);
        let size = cx.extent(&Type::scalar(DType::I64), &d);
        let f = match b.finish(&[x, y, z, size]) {
            Ok(f) => f,
            Err(e) => panic!("{names:?} {d}: {e}"),
        };
        let text = print_function(&f);
        let p =
            Program::parse(&text, None).unwrap_or_else(|e| panic!("{names:?} {d:?}: {e}\n{text}"));
        let g: &Arc<Function> = p.modules().last().unwrap();
        assert_eq!(print_function(g), text, "{names:?}");
        if names.iter().all(|n| !n.starts_with('?')) {
            assert_eq!(g.result_types(), f.result_types(), "{names:?}\n{text}");
        }
    }
}
