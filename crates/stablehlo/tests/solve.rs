//! `jnp.linalg.solve`, `slogdet` and `cholesky` in JAX's text are recognised as operations. Similar
//! texts are lowered operation by operation.

use cotangent_core::check::{Options, check_function};
use cotangent_core::rewrite::simplify;
use cotangent_core::transform::AdContext;
use cotangent_core::{Array, Function, reference};
use cotangent_stablehlo::read;
use std::slice::from_ref;

/// A benchmark program, as printed by JAX.
fn workload(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/workloads.mlir");
    let all = std::fs::read_to_string(path).unwrap();
    let start = all.find(&format!("// workload {name} ")).unwrap();
    let text = &all[start..];
    let end = text[1..].find("// workload").map_or(text.len(), |k| k + 1);
    text[text.find('\n').unwrap()..end].to_owned()
}

/// A benchmark program with extents of 4 instead of 32.
fn small(name: &str) -> String {
    workload(name)
        .replace("i32", "int")
        .replace("32", "4")
        .replace("int", "i32")
}

fn array(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec(
        shape,
        (0..n)
            .map(|k| ((k * k * 37 + 11 * k + 5) % 23) as f64 / 7.0 - 1.5)
            .collect(),
    )
    .unwrap()
}

/// Systems of 4 unknowns: with a vector, with a matrix, and a batch of three.
fn systems() -> [(String, Vec<Array>); 3] {
    let (vector, matrix) = (small("g_solve_vjp_32"), small("g_solvemat_vjp_32"));
    let batch = workload("g_batch1000x8_solve_vjp").replace("1000", "3");
    [
        (vector, vec![array(&[4, 4]), array(&[4])]),
        (matrix, vec![array(&[4, 4]), array(&[4, 4])]),
        (batch, vec![array(&[3, 8, 8]), array(&[3, 8, 1])]),
    ]
}

fn main_of(text: &str) -> Function {
    simplify(
        read(text, None)
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
            .main(),
    )
}

fn count(f: &Function, name: &str) -> usize {
    f.eqns().iter().filter(|e| e.op.name() == name).count()
}

fn agree(f: &Function, g: &Function, x: &[Array]) {
    let (a, b) = (reference::run(f, x).unwrap(), reference::run(g, x).unwrap());
    for (a, b) in a
        .iter()
        .zip(&b)
        .flat_map(|(a, b)| a.to_f64().into_iter().zip(b.to_f64()))
    {
        assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{a} and {b}");
    }
}

#[test]
fn a_system_is_one_operation() {
    for (text, x) in systems() {
        let f = main_of(&text);
        assert_eq!(
            (count(&f, "solve"), count(&f, "lu"), count(&f, "scan")),
            (1, 0, 0),
            "{f:?}"
        );
        let report = check_function(&AdContext::default(), &f, &x, &Options::default()).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn what_only_looks_like_it_is_read_as_it_is() {
    for (text, x) in systems() {
        let f = main_of(&text);
        // The same permutation, in a form that is not recognised.
        let (from, to) = ("_lu_solve(%8, %10#3,", "_lu_solve(%8, %other,");
        let ty = if text.contains("3x8x") {
            "3x8xi32"
        } else {
            "4xi32"
        };
        let line = text[..text.find(from).unwrap()].rfind('\n').unwrap();
        let again = format!(
            "\n    %twice = stablehlo.add %10#3, %10#3 : tensor<{ty}>\n    %other = stablehlo.subtract %twice, %10#3 : tensor<{ty}>"
        );
        let slow = [&text[..line], &again, &text[line..].replacen(from, to, 1)].concat();
        let g = main_of(&slow);
        assert_eq!(
            (count(&g, "solve"), count(&g, "lu"), count(&g, "scan")),
            (0, 1, 0)
        );
        agree(&f, &g, &x);
        // Other loops, other conditions, other sides.
        for (from, to) in [
            ("compare GE", "compare GT"),
            (
                "side = 76 : ui8, trans_x = 78",
                "side = 76 : ui8, trans_x = 84",
            ),
            ("diag = 85", "diag = 78"),
            ("diag = 78", "diag = 85"),
        ] {
            let other = text.replacen(from, to, 1);
            assert_ne!(text, other, "{from}");
            assert_eq!(count(&main_of(&other), "solve"), 0, "{from}");
        }
        let ends = [
            ("dense<4> : tensor<i64>", "dense<3> : tensor<i64>"),
            ("dense<8> : tensor<i64>", "dense<7> : tensor<i64>"),
        ];
        let loops = ends.into_iter().chain([
            ("compare LT, %6,", "compare GT, %6,"),
            ("compare LT, %7,", "compare GT, %7,"),
        ]);
        for (from, to) in loops.filter(|(from, _)| text.contains(from)) {
            let g = main_of(&text.replace(from, to));
            assert_eq!((count(&g, "solve"), count(&g, "scan")), (0, 1), "{from}");
        }
    }
}

#[test]
fn a_permutation_is_a_result_of_the_factorisation() {
    for name in ["cc_lu", "cc_det", "cc_slogdet"] {
        let path = format!(
            "{}/../../tests/corpus/{name}/module.mlir",
            env!("CARGO_MANIFEST_DIR")
        );
        let f = main_of(&std::fs::read_to_string(path).unwrap());
        assert_eq!(
            (count(&f, "lu"), count(&f, "scan"), count(&f, "while")),
            (1, 0, 0),
            "{name}"
        );
    }
}

#[test]
fn a_determinant_is_one_operation() {
    let text = small("g_logdet_vjp_32");
    let f = main_of(&text);
    let counts =
        |f: &Function| ["slogdet", "lu", "gather", "switch", "scan"].map(|name| count(f, name));
    assert_eq!(counts(&f), [1, 0, 0, 0, 0], "{f:?}");
    let report = check_function(
        &AdContext::default(),
        &f,
        &[array(&[4, 4])],
        &Options::default(),
    )
    .unwrap();
    assert!(report.passed(), "{report}");
    let singular = Array::from_vec([4, 4], vec![1.0; 16]).unwrap();
    assert_eq!(
        reference::run(&f, &[singular]).unwrap()[0].to_f64(),
        [f64::NEG_INFINITY]
    );
    // Another function of the diagonal, and elements other than the diagonal.
    for (from, to) in [
        ("stablehlo.abs %11", "stablehlo.negate %11"),
        ("stablehlo.log %15", "stablehlo.log_plus_one %15"),
        ("compare LT, %8, %10", "compare GT, %8, %10"),
    ] {
        let other = text.replacen(from, to, 1);
        assert_ne!(text, other, "{from}");
        let g = main_of(&other);
        assert_eq!((count(&g, "lu"), count(&g, "gather")), (1, 1), "{from}");
    }
    // A factorisation that fails for every matrix is NaN, and is not computed.
    let failing = text.replacen("compare GE, %0#2", "compare GT, %0#2", 1);
    assert_ne!(text, failing);
    let g = main_of(&failing);
    assert_eq!((count(&g, "lu"), count(&g, "slogdet")), (0, 0));
    let x = [array(&[4, 4])];
    assert!(reference::run(&g, &x).unwrap()[0].has_nan());
}

#[test]
fn what_is_symmetrized_twice_is_symmetrized_once() {
    let text = small("g_chol_fwd_32");
    let (x, f) = (array(&[4, 4]), main_of(&text));
    let positive: Vec<f64> = (0..16)
        .map(|k| x.to_f64()[k] * 0.1 + if k % 5 == 0 { 3.0 } else { 0.0 })
        .collect();
    let positive = Array::from_vec([4, 4], positive).unwrap();
    assert_eq!(
        (
            count(&f, "cholesky"),
            count(&f, "transpose"),
            count(&f, "add")
        ),
        (1, 0, 1),
        "{f:?}"
    );
    let report = check_function(
        &AdContext::default(),
        &f,
        from_ref(&positive),
        &Options::default(),
    )
    .unwrap();
    assert!(report.passed(), "{report}");
    // The lower triangle of another matrix: the factor of twice the matrix is larger by the square
    // root of two.
    for (from, to) in [
        ("stablehlo.add %arg0, %0", "stablehlo.add %0, %0"),
        ("dense<2.000000e+00>", "dense<1.000000e+00>"),
    ] {
        let g = main_of(&text.replacen(from, to, 1));
        assert!(count(&g, "transpose") > 0, "{from}");
    }
    let g = main_of(&text.replacen("dense<2.000000e+00>", "dense<1.000000e+00>", 1));
    let (once, twice) = (
        reference::run(&f, from_ref(&positive)).unwrap(),
        reference::run(&g, from_ref(&positive)).unwrap(),
    );
    for (a, b) in once[0].to_f64().iter().zip(twice[0].to_f64()) {
        assert!((a * 2f64.sqrt() - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn a_choice_that_is_made_is_no_branch() {
    let text = "func.func public @main(%x: tensor<f64>) -> tensor<f64> {
        %c = stablehlo.constant dense<CHOICE> : tensor<i32>
        %y = \"stablehlo.case\"(%c) ({
            %a = stablehlo.sine %x : tensor<f64>
            stablehlo.return %a : tensor<f64>
        }, {
            %b = stablehlo.cosine %x : tensor<f64>
            stablehlo.return %b : tensor<f64>
        }) : (tensor<i32>) -> tensor<f64>
        return %y : tensor<f64>
    }";
    // An index out of range selects the last branch.
    for (choice, name) in [("0", "sin"), ("1", "cos"), ("2", "cos"), ("-1", "cos")] {
        let f = main_of(&text.replace("CHOICE", choice));
        assert_eq!((f.eqns().len(), count(&f, name)), (1, 1), "{choice}");
    }
}
