//! Raising of programs as JAX prints them: rules apply to them and to no similar program, results
//! agree with those of the program read operation by operation, and values and derivatives at
//! extremes are JAX's.

mod near_misses;

use cotangent_core::rewrite::{raise, simplify};
use cotangent_core::transform::{AdContext, vjp};
use cotangent_core::{Array, Builder, DType, Emit, Function, Type, Val, Wide, reference, verify};
use cotangent_stablehlo::{read, read_unraised};

/// The text of a program of `programs.mlir`.
fn program(name: &str) -> &'static str {
    let all = include_str!("programs.mlir");
    let header = format!("// program {name}\n");
    let start = all
        .find(&header)
        .unwrap_or_else(|| panic!("no program {name}"))
        + header.len();
    all[start..].split("// program ").next().unwrap()
}

fn programs() -> impl Iterator<Item = &'static str> {
    let all = include_str!("programs.mlir").lines();
    all.filter_map(|l| l.strip_prefix("// program "))
}

fn unraised(text: &str) -> Function {
    let read = read_unraised(text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (**read.main()).clone()
}

fn ops(f: &Function) -> Vec<String> {
    f.eqns().iter().map(|e| e.op.name().to_string()).collect()
}

/// The program that `write` writes for operands of the types of `f`.
fn direct(f: &Function, write: fn(&dyn Emit, &[Val]) -> Val) -> Function {
    let b = Builder::new("f", Default::default());
    let x: Vec<Val> = f
        .param_types()
        .into_iter()
        .map(|t| b.param(t, None))
        .collect();
    let y = write(&b, &x);
    b.finish(&[y]).unwrap()
}

fn log_sigmoid(cx: &dyn Emit, x: Val) -> Val {
    let zero = cx.full_like(x, 0.0);
    let negative = cx.compare(x, cotangent_core::ops::Comparison::Lt, zero);
    let exponent = cx.select(negative, x, cx.neg(x));
    let least = cx.select(negative, x, zero);
    cx.sub(least, cx.log1p(cx.exp(exponent)))
}

/// The operation or composite of each program: the first word of its name, and the axis.
fn target(name: &str) -> fn(&dyn Emit, &[Val]) -> Val {
    match name {
        "softmax axis0" => |cx, x| cx.softmax(x[0], 0),
        "softmax batch" => |cx, x| cx.softmax(x[0], 2),
        "log_softmax axis1" => |cx, x| cx.log_softmax(x[0], 1),
        "logsumexp all" => |cx, x| cx.logsumexp(x[0], &[0, 1]),
        "logsumexp keep" => |cx, x| {
            let shape = [1usize.into(), cx.ty(x[0]).shape[1].clone()];
            cx.reshape(cx.logsumexp(x[0], &[0]), &shape)
        },
        // The composite would be of another type than the printed negation of a rounded value.
        "log_sigmoid bfloat16" => |cx, x| cx.neg(cx.softplus(cx.neg(x[0]))),
        _ => match name.split(' ').next().unwrap() {
            "logistic" => |cx, x| cx.logistic(x[0]),
            "silu" => |cx, x| cx.silu(x[0]),
            "softplus" => |cx, x| cx.softplus(x[0]),
            "log_sigmoid" => |cx, x| log_sigmoid(cx, x[0]),
            "logaddexp" => |cx, x| cx.logaddexp(x[0], x[1]),
            "gelu" | "gelu_erf" => |cx, x| cx.gelu(x[0]),
            "gelu_tanh" => |cx, x| cx.gelu_tanh(x[0]),
            "softmax" => |cx, x| cx.softmax(x[0], 1),
            "log_softmax" => |cx, x| cx.log_softmax(x[0], 1),
            "logsumexp" => |cx, x| cx.logsumexp(x[0], &[1]),
            other => panic!("no target for {other}"),
        },
    }
}

/// Programs that are one function and nothing else.
fn single_functions() -> Vec<&'static str> {
    let mut others = vec!["grad", "two axes", "written out"];
    // Exported programs hold rational functions instead of `erf` and `erfc`.
    others.extend(["gelu symbolic", "gelu_erf symbolic"]);
    programs()
        .filter(|n| !others.iter().any(|o| n.ends_with(o)))
        .collect()
}

#[test]
fn each_function_that_jax_prints_becomes_its_operation() {
    for name in single_functions() {
        let f = unraised(program(name));
        let g = raise(&f);
        verify(&g).unwrap();
        assert_eq!(
            ops(&simplify(&g)),
            ops(&simplify(&direct(&f, target(name)))),
            "{name}: {g:?}"
        );
        assert_eq!(ops(&raise(&g)), ops(&g), "{name}: raised twice");
        let by_reader = read(program(name), None).unwrap();
        assert_eq!(ops(by_reader.main()), ops(&g), "{name}: read");
    }
}

#[test]
fn rules_do_not_compute_again_what_a_gradient_uses() {
    for (name, raised) in [
        ("softmax grad", None),
        ("logsumexp grad", None),
        ("gelu_tanh grad", None),
        ("softmax two axes", None),
        // The value would be finite where the program's is infinite.
        ("softplus written out", None),
        ("logistic grad", Some("logistic")),
        ("softplus grad", Some("log1p")),
        ("logaddexp grad", Some("log1p")),
    ] {
        let f = unraised(program(name));
        let g = raise(&f);
        assert_eq!(ops(&f) != ops(&g), raised.is_some(), "{name}");
        let functions = ["exp", "log", "log1p", "tanh", "logistic"];
        let count = |f: &Function| {
            let all = ops(&simplify(f));
            all.iter()
                .filter(|o| functions.contains(&o.as_str()))
                .count()
        };
        assert!(count(&g) <= count(&f), "{name}: {:?}", ops(&simplify(&g)));
        assert!(
            raised.is_none_or(|op| ops(&g).iter().any(|o| o == op)),
            "{name}"
        );
    }
}

/// Numbers of a type, different for each seed, from -3 to 3.
fn operand(ty: &Type, seed: u64) -> Array {
    // Symbolic extents are 4.
    let shape: Vec<usize> = ty.shape.iter().map(|d| d.as_const().unwrap_or(4)).collect();
    let n: usize = shape.iter().product();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64 * 6.0 - 3.0
    };
    let wide = Wide::F((0..n).map(next).collect());
    wide.narrow(ty.dtype, shape).unwrap()
}

fn assert_close(name: &str, got: &[Array], want: &[Array], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{name}");
    for (a, b) in got.iter().zip(want) {
        assert_eq!(a.shape(), b.shape(), "{name}");
        for (a, b) in a.to_c128().into_iter().zip(b.to_c128()) {
            for (a, b) in [(a.re, b.re), (a.im, b.im)] {
                let near = (a - b).abs() <= tolerance * (1.0 + b.abs());
                assert!(
                    near || a == b || (a.is_nan() && b.is_nan()),
                    "{name}: {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn raised_programs_agree_with_the_unraised_in_values_and_gradients() {
    for name in programs() {
        let f = unraised(program(name));
        let g = raise(&f);
        let ad = AdContext::default();
        for seed in 0..5 {
            let types = f.param_types();
            let x: Vec<Array> = types
                .iter()
                .zip(0..)
                .map(|(t, k)| operand(t, 7 * seed + k))
                .collect();
            let eps = x[0].dtype().epsilon();
            let run = |f: &Function, x: &[Array]| reference::run(f, x).unwrap();
            let y = run(&f, &x);
            assert_close(name, &run(&g, &x), &y, 20.0 * eps);
            if x[0].dtype() == DType::BF16 {
                continue;
            }
            let all = |f: &Function, x: &[Array]| {
                let back = vjp(&ad, f, f.params()).unwrap();
                let seeds = y.iter().map(|y| operand(&y.ty(), 99));
                run(&back, &x.iter().cloned().chain(seeds).collect::<Vec<_>>())
            };
            assert_close(name, &all(&g, &x), &all(&f, &x), 100.0 * eps);
        }
    }
}

fn list(text: &str) -> Vec<f64> {
    let number = |t: &str| t.parse().unwrap_or_else(|_| panic!("{t}"));
    text.split_whitespace().map(number).collect()
}

#[test]
fn values_and_gradients_at_extremes_are_those_of_jax() {
    let ad = AdContext::default();
    let lines = include_str!("extremes.txt").lines();
    for line in lines.filter(|l| !l.starts_with('#')) {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [name, x, value, gradients] = parts[..] else {
            panic!("{line}")
        };
        let f = read(program(name), None).unwrap();
        let f = f.main();
        let x: Vec<Array> = x
            .split(" , ")
            .map(|x| Array::from_vec([2, 3], list(x)).unwrap())
            .collect();
        let y = reference::run(f, &x).unwrap();
        let agree = |what: &str, got: Vec<f64>, want: Vec<f64>| {
            for (k, (a, b)) in got.iter().zip(&want).enumerate() {
                // Where JAX gives NaN the limit may exist.
                let same = b.is_nan() || a == b || (a - b).abs() <= 1e-12 * (1.0 + b.abs());
                assert!(same, "{name}, {what} {k}: {a}, expected {b}");
            }
        };
        agree("value", y[0].to_f64(), list(value));
        let weights = (1..=y[0].len()).map(|i| i as f64).collect();
        let back = vjp(&ad, f, f.params()).unwrap();
        let operands: Vec<Array> = x
            .into_iter()
            .chain([Array::from_vec(y[0].shape(), weights).unwrap()])
            .collect();
        let all = reference::run(&back, &operands).unwrap();
        for (got, want) in all.iter().zip(gradients.split(" , ")) {
            agree("gradient", got.to_f64(), list(want));
        }
    }
}

#[test]
fn the_program_as_printed_has_no_derivative_at_extremes() {
    // The reason for raising: as printed, the derivative of the logistic function is inf / inf.
    let f = unraised(program("logistic float64"));
    let gradient = |f: &Function| {
        let back = vjp(&AdContext::default(), f, f.params()).unwrap();
        let x = Array::from_vec([2, 3], vec![-1000.0; 6]).unwrap();
        let one = Array::from_vec([2, 3], vec![1.0; 6]).unwrap();
        reference::run(&back, &[x, one]).unwrap()[0].to_f64()[0]
    };
    assert!(gradient(&f).is_nan());
    assert_eq!(gradient(&raise(&f)), 0.0);
}
