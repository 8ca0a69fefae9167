//! Programs that differ from a pattern in one place: no rule applies.

use crate::{ops, program, unraised};
use cotangent_core::rewrite::raise;

/// A program, and replacements in its text.
type NearMiss = (&'static str, &'static [(&'static str, &'static str)]);

const NEAR_MISSES: &[NearMiss] = &[
    (
        "logistic float64",
        &[(
            "%cst = stablehlo.constant dense<1.0",
            "%cst = stablehlo.constant dense<1.5",
        )],
    ),
    (
        "logistic float64",
        &[(
            "%cst_0 = stablehlo.constant dense<1.0",
            "%cst_0 = stablehlo.constant dense<2.0",
        )],
    ),
    ("logistic float64", &[("stablehlo.negate", "stablehlo.abs")]),
    (
        "logistic float64",
        &[("stablehlo.add %2, %1", "stablehlo.subtract %2, %1")],
    ),
    // Something else uses the exponential.
    (
        "logistic float64",
        &[("stablehlo.divide %4, %3", "stablehlo.divide %1, %3")],
    ),
    (
        "logistic float64",
        &[(
            "%5 = stablehlo.divide %4, %3 : tensor<2x3xf64>",
            "%6 = stablehlo.divide %4, %3 : tensor<2x3xf64>\n%5 = stablehlo.multiply %6, %1 : tensor<2x3xf64>",
        )],
    ),
    // Another element type.
    (
        "logistic float64",
        &[
            ("xf64", "xcomplex<f64>"),
            ("tensor<f64>", "tensor<complex<f64>>"),
            ("dense<1.000000e+00>", "dense<(1.0, 0.0)>"),
        ],
    ),
    (
        "softplus float64",
        &[("stablehlo.maximum %arg0, %0", "stablehlo.minimum %arg0, %0")],
    ),
    (
        "softplus float64",
        &[
            ("dense<0.0", "dense<1.0"),
            (
                "stablehlo.maximum %arg0, %0",
                "stablehlo.maximum %arg0, %arg0",
            ),
        ],
    ),
    (
        "softplus float64",
        &[("stablehlo.add %arg0, %5", "stablehlo.multiply %arg0, %5")],
    ),
    ("softplus float64", &[("compare NE", "compare EQ")]),
    (
        "logaddexp float64",
        &[("stablehlo.negate", "stablehlo.sine")],
    ),
    (
        "logaddexp float64",
        &[(
            "stablehlo.maximum %arg0, %arg1",
            "stablehlo.maximum %arg0, %arg0",
        )],
    ),
    (
        "logaddexp float64",
        &[("stablehlo.exponential", "stablehlo.exponential_minus_one")],
    ),
    // The maximum is along the other axis.
    (
        "softmax square",
        &[(
            "applies stablehlo.maximum across dimensions = [1]",
            "applies stablehlo.maximum across dimensions = [0]",
        )],
    ),
    (
        "softmax square",
        &[(
            "applies stablehlo.add across dimensions = [1]",
            "applies stablehlo.add across dimensions = [0]",
        )],
    ),
    (
        "softmax square",
        &[
            (
                "%8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf64>) -> tensor<3x1xf64>",
                "%8 = stablehlo.reshape %7 : (tensor<3xf64>) -> tensor<1x3xf64>",
            ),
            (
                "stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x1xf64>)",
                "stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x3xf64>)",
            ),
        ],
    ),
    (
        "softmax square",
        &[("stablehlo.divide %6, %9", "stablehlo.divide %5, %9")],
    ),
    (
        "softmax square",
        &[(
            "%cst_1 = stablehlo.constant dense<0.0",
            "%cst_1 = stablehlo.constant dense<1.0",
        )],
    ),
    (
        "softmax square",
        &[("stablehlo.maximum %1, %0", "stablehlo.minimum %1, %0")],
    ),
    (
        "softmax square",
        &[(
            "%cst_0 = stablehlo.constant dense<0xFFF0000000000000>",
            "%cst_0 = stablehlo.constant dense<5.0>",
        )],
    ),
    (
        "log_softmax square",
        &[(
            "applies stablehlo.maximum across dimensions = [1]",
            "applies stablehlo.maximum across dimensions = [0]",
        )],
    ),
    (
        "log_softmax square",
        &[("stablehlo.log %8", "stablehlo.log_plus_one %8")],
    ),
    (
        "log_softmax square",
        &[(
            "stablehlo.subtract %5, %10",
            "stablehlo.subtract %arg0, %10",
        )],
    ),
    (
        "log_softmax square",
        &[("stablehlo.subtract %5, %10", "stablehlo.subtract %10, %5")],
    ),
    (
        "logsumexp square",
        &[(
            "applies stablehlo.maximum across dimensions = [1]",
            "applies stablehlo.maximum across dimensions = [0]",
        )],
    ),
    (
        "logsumexp square",
        &[("stablehlo.add %12, %5", "stablehlo.add %12, %2")],
    ),
    (
        "logsumexp square",
        &[("stablehlo.add %12, %5", "stablehlo.subtract %12, %5")],
    ),
    (
        "logsumexp square",
        &[("stablehlo.abs %10", "stablehlo.sqrt %10")],
    ),
    (
        "logsumexp square",
        &[(
            "%cst_1 = stablehlo.constant dense<0.0",
            "%cst_1 = stablehlo.constant dense<1.0",
        )],
    ),
    (
        "gelu_tanh float64",
        &[("dense<4.471500e-02>", "dense<4.471600e-02>")],
    ),
    (
        "gelu_tanh float64",
        &[("dense<0.797884560802865", "dense<0.797884570802865")],
    ),
    (
        "gelu_tanh float64",
        &[("dense<5.000000e-01>", "dense<2.500000e-01>")],
    ),
    (
        "gelu_tanh float64",
        &[("dense<1.000000e+00>", "dense<2.000000e+00>")],
    ),
    (
        "gelu_tanh float64",
        &[("stablehlo.multiply %0, %arg0", "stablehlo.multiply %0, %0")],
    ),
    (
        "gelu_tanh float64",
        &[(
            "stablehlo.multiply %arg0, %11",
            "stablehlo.multiply %7, %11",
        )],
    ),
    (
        "gelu float64",
        &[("dense<0.70710678118654", "dense<0.70710679118654")],
    ),
    ("gelu float64", &[("stablehlo.negate", "stablehlo.abs")]),
    ("gelu float64", &[("chlo.erfc", "chlo.erf")]),
    (
        "gelu_erf float64",
        &[("dense<1.000000e+00>", "dense<-1.000000e+00>")],
    ),
    ("gelu_erf float64", &[("chlo.erf", "stablehlo.tanh")]),
];

#[test]
fn no_rule_applies_to_a_program_that_differs_in_one_place() {
    for (name, changes) in NEAR_MISSES {
        let text = changes
            .iter()
            .fold(program(name).to_owned(), |text, (from, to)| {
                assert!(text.contains(from), "{name}: {from}\n{text}");
                text.replace(from, to)
            });
        let f = unraised(&text);
        assert_eq!(ops(&raise(&f)), ops(&f), "{name}: {changes:?}");
    }
}

#[test]
fn a_rule_needs_the_exponential_for_itself() {
    // A second result of the function.
    let text = program("softmax float64")
        .replace(
            "-> (tensor<2x3xf64> {jax.result_info = \"result\"})",
            "-> (tensor<2x3xf64>, tensor<2x3xf64>)",
        )
        .replace(
            "return %10 : tensor<2x3xf64>",
            "return %10, %6 : tensor<2x3xf64>, tensor<2x3xf64>",
        );
    let f = unraised(&text);
    assert_eq!(f.results().len(), 2);
    assert_eq!(ops(&raise(&f)), ops(&f));
}
