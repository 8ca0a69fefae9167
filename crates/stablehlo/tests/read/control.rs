//! Branches and loops.

use super::*;
use cotangent_core::transform::hvp;

#[test]
fn a_case_out_of_range_takes_the_last_branch() {
    let text = "func.func @main(%i: tensor<i32>, %x: tensor<f64>) -> tensor<f64> {
  %0 = \"stablehlo.case\"(%i) ({
    stablehlo.return %x : tensor<f64>
  }, {
    %1 = stablehlo.negate %x : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<i32>) -> tensor<f64>
  return %0 : tensor<f64>
}";
    for (i, want) in [(0i32, 3.0), (1, -3.0), (2, -3.0), (-1, -3.0)] {
        assert_eq!(
            run(text, &[Array::scalar(i), Array::scalar(3.0)]),
            [want],
            "index {i}"
        );
    }
    let text = "func.func @main(%p: tensor<i1>, %x: tensor<f64>) -> tensor<f64> {
  %0 = \"stablehlo.if\"(%p) ({
    stablehlo.return %x : tensor<f64>
  }, {
    %1 = stablehlo.negate %x : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<i1>) -> tensor<f64>
  return %0 : tensor<f64>
}";
    assert_eq!(run(text, &[Array::scalar(true), Array::scalar(3.0)]), [3.0]);
    assert_eq!(
        run(text, &[Array::scalar(false), Array::scalar(3.0)]),
        [-3.0]
    );
}

/// A loop `c = c * x[row]; y[row] = c` with a counter from `lo`, while `compare`, by `step`.
fn counted(compare: &str, bound: i64, lo: i64, step: i64, row: &str) -> String {
    format!(
        "func.func @main(%x: tensor<6xf64>, %c0: tensor<f64>) -> (tensor<6xf64>, tensor<f64>, tensor<i64>) {{
  %lo = stablehlo.constant dense<{lo}> : tensor<i64>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %y0 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f64>) -> tensor<6xf64>
  %0:4 = stablehlo.while(%i = %lo, %w = %x, %c = %c0, %y = %y0) : tensor<i64>, tensor<6xf64>, tensor<f64>, tensor<6xf64>
  cond {{
    %hi = stablehlo.constant dense<{bound}> : tensor<i64>
    %1 = stablehlo.compare {compare}, %i, %hi, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %five = stablehlo.constant dense<5> : tensor<i64>
    {row}
    %1 = stablehlo.dynamic_slice %w, %r, sizes = [1] : (tensor<6xf64>, tensor<i64>) -> tensor<1xf64>
    %2 = stablehlo.reshape %1 : (tensor<1xf64>) -> tensor<f64>
    %3 = stablehlo.multiply %c, %2 : tensor<f64>
    %4 = stablehlo.reshape %3 : (tensor<f64>) -> tensor<1xf64>
    %5 = stablehlo.dynamic_update_slice %y, %4, %r : (tensor<6xf64>, tensor<1xf64>, tensor<i64>) -> tensor<6xf64>
    %s = stablehlo.constant dense<{step}> : tensor<i64>
    %6 = stablehlo.add %i, %s : tensor<i64>
    stablehlo.return %6, %w, %3, %5 : tensor<i64>, tensor<6xf64>, tensor<f64>, tensor<6xf64>
  }}
  return %0#3, %0#2, %0#0 : tensor<6xf64>, tensor<f64>, tensor<i64>
}}"
    )
}

#[test]
fn loops_that_count_become_scans() {
    let x = [2.0, 3.0, 5.0, 0.5, 7.0, 11.0];
    let cases = [
        ("LT", 6, 0, 1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        ("LT", 5, 2, 1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        (
            "LE",
            4,
            1,
            1,
            "%r = stablehlo.subtract %five, %i : tensor<i64>",
        ),
        ("GT", 1, 5, -1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        ("LT", 0, 3, 1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        ("LT", 3, 0, 2, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        // Rows out of bounds are clamped, so the loop is no scan over them.
        ("LT", 8, 3, 1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
    ];
    for (compare, bound, lo, step, row) in cases {
        let row = format!("%i0 = stablehlo.constant dense<0> : tensor<i64>\n    {row}");
        let f = main_of(&counted(compare, bound, lo, step, &row));
        assert!(
            has(&f, |op| matches!(op, Op::Scan(_))),
            "{compare} {bound} {lo} {step}"
        );
        assert!(
            !has(&f, |op| matches!(op, Op::While(_))),
            "{compare} {bound} {lo} {step}"
        );
        let (mut i, mut c, mut y) = (lo, 1.5, [0.0; 6]);
        while match compare {
            "LT" => i < bound,
            "LE" => i <= bound,
            _ => i > bound,
        } {
            let r = if row.contains("five, %i") { 5 - i } else { i }.clamp(0, 5) as usize;
            c *= x[r];
            y[r] = c;
            i += step;
        }
        let got = reference::run(&f, &[v(&x), Array::scalar(1.5)]).unwrap();
        assert_eq!(got[0].to_f64(), y, "{compare} {bound} {lo} {step}");
        assert_eq!(got[1].to_f64(), [c]);
        assert_eq!(got[2].to_f64(), [i as f64]);
    }
    // Without a constant step it stays a `while`, with correct results.
    let row = "%r = stablehlo.add %i, %five : tensor<i64>";
    let odd = counted("LT", 6, 1, 1, row)
        .replace("%6 = stablehlo.add %i, %s", "%6 = stablehlo.add %i, %i");
    assert!(has(&main_of(&odd), |op| matches!(op, Op::While(_))));
}

#[test]
fn a_loop_is_differentiated_like_its_scan() {
    let row = "%i0 = stablehlo.constant dense<0> : tensor<i64>\n %r = stablehlo.add %i, %i0 : tensor<i64>";
    let text = counted("LT", 6, 0, 1, row)
        .replace(
            "-> (tensor<6xf64>, tensor<f64>, tensor<i64>)",
            "-> tensor<f64>",
        )
        .replace(
            "return %0#3, %0#2, %0#0 : tensor<6xf64>, tensor<f64>, tensor<i64>",
            "return %0#2 : tensor<f64>",
        );
    let f = main_of(&text);
    let x = [2.0, 3.0, 5.0, 0.5, 7.0, 11.0];
    let product: f64 = x.iter().product();
    let g = grad(&AdContext::default(), &f, &f.params()[..1]).unwrap();
    let y = reference::run(&g, &[v(&x), Array::scalar(1.0)]).unwrap();
    for (g, x) in y[0].to_f64().iter().zip(x) {
        assert!((g - product / x).abs() < 1e-9 * product, "{g} {x}");
    }
    let h = hvp(&AdContext::default(), &f, &f.params()[..1]).unwrap();
    let y = reference::run(
        &h,
        &[
            v(&x),
            Array::scalar(1.0),
            v(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ],
    )
    .unwrap();
    assert_eq!(y[0].to_f64()[0], 0.0);
    assert!((y[0].to_f64()[1] - product / 6.0).abs() < 1e-9 * product);
}
