//! Small modules written for one thing each: forms of the text, and what operations mean.

use cotangent_core::transform::{AdContext, grad, hvp};
use cotangent_core::{Array, C128, Code, Error, Function, Loc, Op, reference};
use cotangent_stablehlo::read;

fn v(x: &[f64]) -> Array {
    Array::vector(x.to_vec())
}

fn main_of(text: &str) -> Function {
    (**read(text, None).unwrap_or_else(|e| panic!("{e}\n{text}")).main()).clone()
}

/// The first result of the main function as numbers.
fn run(text: &str, x: &[Array]) -> Vec<f64> {
    reference::run(&main_of(text), x).unwrap_or_else(|e| panic!("{e}\n{text}"))[0].to_f64()
}

/// One operation on `%x`, with `result` as its type.
fn apply(ty: &str, op: &str, result: &str, x: Array) -> Vec<f64> {
    run(&format!("func.func @main(%x: {ty}) -> {result} {{\n %y = {op}\n return %y : {result}\n}}"), &[x])
}

fn refused(text: &str) -> Error {
    read(text, None).err().unwrap_or_else(|| panic!("this was read:\n{text}"))
}

fn has(f: &Function, is: impl Fn(&Op) -> bool) -> bool {
    f.eqns().iter().any(|e| is(&e.op))
}

#[test]
fn both_forms_of_a_module_mean_the_same() {
    let pretty = "#loc = loc(unknown)
module @m attributes {mhlo.num_replicas = 1 : i32} { // a comment
  func.func public @main(%arg0: tensor<2x3xf64> {jax.arg_info = \"x\"} loc(\"x\")) -> (tensor<2xf64> {jax.result_info = \"\"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64> loc(#loc)
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64> loc(#loc1)
    return %0 : tensor<2xf64>
  } loc(#loc)
} loc(#loc)
#loc1 = loc(callsite(\"f\"(\"a.py\":1:2 to :5) at \"b(\"))
";
    let generic = "\"builtin.module\"() <{sym_name = \"m\"}> ({
  \"func.func\"() <{function_type = (tensor<2x3xf64>) -> tensor<2xf64>, sym_name = \"main\", sym_visibility = \"public\"}> ({
  ^bb0(%a: tensor<2x3xf64>):
    %0 = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<f64>}> : () -> tensor<f64>
    %1 = \"stablehlo.reduce\"(%a, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%b: tensor<f64>, %c: tensor<f64>):
      %2 = \"stablehlo.add\"(%b, %c) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      \"stablehlo.return\"(%2) : (tensor<f64>) -> ()
    }) : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    \"func.return\"(%1) : (tensor<2xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()
";
    let x = Array::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert_eq!(run(pretty, std::slice::from_ref(&x)), [6.0, 15.0]);
    assert_eq!(run(generic, &[x]), [6.0, 15.0]);
}

#[test]
fn constants_in_every_form() {
    let c = |value: &str, ty: &str| {
        let text =
            format!("func.func @main() -> {ty} {{\n %c = stablehlo.constant {value} : {ty}\n return %c : {ty}\n}}");
        reference::run(&main_of(&text), &[]).unwrap().remove(0)
    };
    assert_eq!(
        c("dense<[[1.5, -2.0e+0], [1, 0x4000000000000000]]>", "tensor<2x2xf64>").to_f64(),
        [1.5, -2.0, 1.0, 2.0]
    );
    assert_eq!(c("dense<\"0x000080BF0000003F\">", "tensor<2xf32>").to_f64(), [-1.0, 0.5]);
    assert_eq!(c("dense<0x7FC00000>", "tensor<2xf32>").to_f64().len(), 2);
    assert_eq!(c("dense<0x3C00>", "tensor<f16>").to_f64(), [1.0]);
    assert_eq!(c("dense<[true, false]>", "tensor<2xi1>").as_slice::<bool>().unwrap(), [true, false]);
    // Packed in bits, and one per byte.
    let nine = [true, false, true, true, false, false, false, false, true];
    assert_eq!(c("dense<\"0x0D01\">", "tensor<9xi1>").as_slice::<bool>().unwrap(), nine);
    assert_eq!(c("dense<\"0x010001010000000001\">", "tensor<9xi1>").as_slice::<bool>().unwrap(), nine);
    assert_eq!(c("dense<[200, 255]>", "tensor<2xui8>").to_f64(), [200.0, 255.0]);
    assert_eq!(c("dense<[-128, 127]>", "tensor<2xi8>").to_f64(), [-128.0, 127.0]);
    assert_eq!(c("dense<>", "tensor<0x3xf32>").shape(), [0, 3]);
    let z = c("dense<[(1.0,-2.0), (0.0,3.0)]>", "tensor<2xcomplex<f64>>");
    assert_eq!(z.to_c128(), [C128::new(1.0, -2.0), C128::new(0.0, 3.0)]);
    let z = c("dense<(1.0,2.0)>", "tensor<2xcomplex<f32>>");
    assert_eq!(z.to_c128(), [C128::new(1.0, 2.0); 2]);
    // One rounding, not two.
    assert_eq!(c("dense<0.1>", "tensor<f32>").to_f64(), [f64::from(0.1f32)]);

    let blob = "func.func @main() -> tensor<2xi32> {
  %c = stablehlo.constant dense_resource<w> : tensor<2xi32>
  return %c : tensor<2xi32>
}
{-#
  dialect_resources: { builtin: { w: \"0x0400000007000000FFFFFFFF\" } }
#-}
";
    assert_eq!(run(blob, &[]), [7.0, -1.0]);
    for (value, ty) in [
        ("dense<[1.0, 2.0]>", "tensor<3xf32>"),
        ("dense<[[1, 2], [3]]>", "tensor<2x2xi32>"),
        ("dense<[1, [2]]>", "tensor<2x1xi32>"),
        ("dense<300>", "tensor<i8>"),
        ("dense<1.5>", "tensor<i32>"),
        ("dense<\"0x00\">", "tensor<2xf32>"),
        ("dense<(1.0,2.0)>", "tensor<f32>"),
    ] {
        let e = refused(&format!(
            "func.func @main() -> {ty} {{\n %c = stablehlo.constant {value} : {ty}\n return %c : {ty}\n}}"
        ));
        assert!(matches!(e.loc(), Loc::Text(2, _)), "{e}");
    }
}

#[test]
fn aliases_symbols_and_several_results() {
    let text = "#dims = array<i64: 1, 0>
!m = tensor<2x2xf64>
module {
  func.func private @\"a<b>\"(%x: !m, %y: !m) -> (!m, !m) {
    %0 = \"stablehlo.transpose\"(%x) <{permutation = #dims}> : (!m) -> !m
    return %0, %y : !m, !m
  }
  func.func @main(%x: !m) -> !m {
    %0:2 = call @\"a<b>\"(%x, %x) : (!m, !m) -> (!m, !m)
    %1 = stablehlo.subtract %0#0, %0#1 : !m
    return %1 : !m
  }
}";
    let x = Array::from_vec([2, 2], vec![1.0, 2.0, 3.0, 5.0]).unwrap();
    assert_eq!(run(text, &[x]), [0.0, 1.0, -1.0, 0.0]);
}

#[test]
fn a_clamp_has_bounds_of_rank_zero() {
    let text = "func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  %l = stablehlo.constant dense<-1.0> : tensor<f64>
  %h = stablehlo.constant dense<1.0> : tensor<f64>
  %y = stablehlo.clamp %l, %x, %h : (tensor<f64>, tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}";
    assert_eq!(run(text, &[v(&[-1.5, 0.25, 2.0])]), [-1.0, 0.25, 1.0]);
}

#[test]
fn broadcasts_with_axes_in_any_order() {
    let x = Array::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let op = "stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>";
    assert_eq!(apply("tensor<2x3xf64>", op, "tensor<3x2xf64>", x), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn slices_and_windows() {
    let x = v(&[1.0, 2.0, 4.0, 8.0, 16.0]);
    let t = "tensor<5xf64>";
    let op = "stablehlo.slice %x [1:5:2] : (tensor<5xf64>) -> tensor<2xf64>";
    assert_eq!(apply(t, op, "tensor<2xf64>", x.clone()), [2.0, 8.0]);
    // Long overlapping windows are folded by doubling, short ones offset by offset: the same sums.
    let ones = Array::vector((0..40).map(f64::from).collect());
    for size in [1, 2, 7, 9, 11, 16, 23] {
        let n = 40 - size + 1;
        let text = format!(
            "func.func @main(%x: tensor<40xf64>) -> tensor<{n}xf64> {{
  %0 = stablehlo.constant dense<0.0> : tensor<f64>
  %1 = \"stablehlo.reduce_window\"(%x, %0) <{{window_dimensions = array<i64: {size}>}}> ({{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %2 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }}) : (tensor<40xf64>, tensor<f64>) -> tensor<{n}xf64>
  return %1 : tensor<{n}xf64>
}}"
        );
        let want: Vec<f64> = (0..n).map(|i| (i..i + size).map(|k| k as f64).sum()).collect();
        assert_eq!(run(&text, std::slice::from_ref(&ones)), want, "windows of {size}");
    }
}

#[test]
fn a_reduction_with_any_body_keeps_the_order() {
    // a + 2 b is not commutative; an associative one that is not either: the second.
    for (n, body, want) in [(5, "%b", 16.0), (4, "%a", -1.0)] {
        let text = format!(
            "func.func @main(%x: tensor<{n}xf64>) -> tensor<f64> {{
  %0 = stablehlo.constant dense<-1.0> : tensor<f64>
  %1 = stablehlo.reduce(%x init: %0) across dimensions = [0] : (tensor<{n}xf64>, tensor<f64>) -> tensor<f64>
   reducer(%a: tensor<f64>, %b: tensor<f64>) {{
    stablehlo.return {body} : tensor<f64>
  }}
  return %1 : tensor<f64>
}}"
        );
        assert_eq!(run(&text, &[v(&[1.0, 2.0, 4.0, 8.0, 16.0][..n])]), [want]);
    }
}

fn argmax(direction: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf64>) -> (tensor<i32>, tensor<f64>) {{
  %c = stablehlo.constant dense<0> : tensor<i32>
  %e = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %0:2 = stablehlo.reduce(%x init: %e), (%i init: %c) across dimensions = [0] : (tensor<4xf64>, tensor<4xi32>, tensor<f64>, tensor<i32>) -> (tensor<f64>, tensor<i32>)
   reducer(%a: tensor<f64>, %b: tensor<f64>) (%j: tensor<i32>, %k: tensor<i32>) {{
    %1 = stablehlo.compare {direction}, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    %5 = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f64>
    %9 = stablehlo.select %7, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f64>, tensor<i32>
  }}
  return %0#1, %0#0 : tensor<i32>, tensor<f64>
}}"
    )
}

#[test]
fn positions_of_extrema_are_recognised() {
    for (direction, at) in [("GT", 1.0), ("LT", 2.0)] {
        let f = main_of(&argmax(direction));
        assert!(has(&f, |op| matches!(op, Op::ArgReduce(_))), "{direction}");
        let y = reference::run(&f, &[v(&[3.0, 5.0, -1.0, 5.0])]).unwrap();
        assert_eq!((y[0].to_f64(), y[1].to_f64()), (vec![at], vec![if at == 1.0 { 5.0 } else { -1.0 }]));
        assert_eq!(reference::run(&f, &[v(&[3.0, f64::NAN, -1.0, f64::NAN])]).unwrap()[0].to_f64(), [1.0]);
    }
    // Another comparison of the indices is another reduction: the last one wins ties.
    let last = argmax("GT").replace("compare LT, %j, %k", "compare GT, %j, %k");
    let f = main_of(&last);
    assert!(!has(&f, |op| matches!(op, Op::ArgReduce(_))));
    assert_eq!(reference::run(&f, &[v(&[3.0, 5.0, -1.0, 5.0])]).unwrap()[0].to_f64(), [3.0]);
}

#[test]
fn sorts_by_recognised_comparators() {
    let sort = |compare: &str| {
        format!(
            "func.func @main(%x: tensor<5xf64>, %y: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xf64>) {{
  %0:2 = \"stablehlo.sort\"(%x, %y) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):
    {compare}
    stablehlo.return %p : tensor<i1>
  }}) : (tensor<5xf64>, tensor<5xi32>) -> (tensor<5xf64>, tensor<5xi32>)
  return %0#1, %0#0 : tensor<5xi32>, tensor<5xf64>
}}"
        )
    };
    let x = v(&[2.0, f64::NAN, -1.0, 2.0, 7.0]);
    let i = Array::vector(vec![10i32, 11, 12, 13, 14]);
    let floats = "(tensor<f64>, tensor<f64>) -> tensor<i1>";
    let ints = "(tensor<i32>, tensor<i32>) -> tensor<i1>";
    let up = sort(&format!("%p = stablehlo.compare LT, %a, %b, TOTALORDER : {floats}"));
    assert_eq!(run(&up, &[x.clone(), i.clone()]), [12.0, 10.0, 13.0, 14.0, 11.0]);
    let down = sort(&format!("%p = stablehlo.compare GT, %a, %b, TOTALORDER : {floats}"));
    assert_eq!(run(&down, &[x.clone(), i.clone()]), [11.0, 14.0, 10.0, 13.0, 12.0]);
    // Ascending in the first key, descending in the second.
    let mixed = sort(&format!(
        "%q = stablehlo.compare LT, %a, %b, TOTALORDER : {floats}
    %r = stablehlo.compare EQ, %a, %b, TOTALORDER : {floats}
    %s = stablehlo.compare LT, %d, %c, SIGNED : {ints}
    %t = stablehlo.and %r, %s : tensor<i1>
    %p = stablehlo.or %q, %t : tensor<i1>"
    ));
    assert_eq!(run(&mixed, &[x.clone(), i.clone()]), [12.0, 13.0, 10.0, 14.0, 11.0]);
    let strange = sort(
        "%z = stablehlo.constant dense<0.0> : tensor<f64>
    %p = stablehlo.compare LT, %a, %z, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>",
    );
    // No key: the comparator is asked about every pair, along lines that are not too long.
    assert_eq!(run(&strange, &[x, i]), [12.0, 10.0, 11.0, 13.0, 14.0]);
    let e = refused(&strange.replace("tensor<5x", "tensor<8193x"));
    assert!(e.code() == Code::UnknownOperation && e.message().contains("along 8193 elements"), "{e}");
}

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
        assert_eq!(run(text, &[Array::scalar(i), Array::scalar(3.0)]), [want], "index {i}");
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
    assert_eq!(run(text, &[Array::scalar(false), Array::scalar(3.0)]), [-3.0]);
}

/// `c = c * x[row]; y[row] = c` for a counter from `lo` while `compare`, by `step`.
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
        ("LE", 4, 1, 1, "%r = stablehlo.subtract %five, %i : tensor<i64>"),
        ("GT", 1, 5, -1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        ("LT", 0, 3, 1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        ("LT", 3, 0, 2, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
        // Rows out of bounds are clamped: not a scan over them.
        ("LT", 8, 3, 1, "%r = stablehlo.add %i, %i0 : tensor<i64>"),
    ];
    for (compare, bound, lo, step, row) in cases {
        let row = format!("%i0 = stablehlo.constant dense<0> : tensor<i64>\n    {row}");
        let f = main_of(&counted(compare, bound, lo, step, &row));
        assert!(has(&f, |op| matches!(op, Op::Scan(_))), "{compare} {bound} {lo} {step}");
        assert!(!has(&f, |op| matches!(op, Op::While(_))), "{compare} {bound} {lo} {step}");
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
    // Without a constant step it is a while, and right.
    let row = "%r = stablehlo.add %i, %five : tensor<i64>";
    let odd = counted("LT", 6, 1, 1, row).replace("%6 = stablehlo.add %i, %s", "%6 = stablehlo.add %i, %i");
    assert!(has(&main_of(&odd), |op| matches!(op, Op::While(_))));
}

#[test]
fn a_loop_is_differentiated_like_its_scan() {
    let row = "%i0 = stablehlo.constant dense<0> : tensor<i64>\n %r = stablehlo.add %i, %i0 : tensor<i64>";
    let text = counted("LT", 6, 0, 1, row)
        .replace("-> (tensor<6xf64>, tensor<f64>, tensor<i64>)", "-> tensor<f64>")
        .replace("return %0#3, %0#2, %0#0 : tensor<6xf64>, tensor<f64>, tensor<i64>", "return %0#2 : tensor<f64>");
    let f = main_of(&text);
    let x = [2.0, 3.0, 5.0, 0.5, 7.0, 11.0];
    let product: f64 = x.iter().product();
    let g = grad(&AdContext::default(), &f, &f.params()[..1]).unwrap();
    let y = reference::run(&g, &[v(&x), Array::scalar(1.0)]).unwrap();
    for (g, x) in y[0].to_f64().iter().zip(x) {
        assert!((g - product / x).abs() < 1e-9 * product, "{g} {x}");
    }
    let h = hvp(&AdContext::default(), &f, &f.params()[..1]).unwrap();
    let y = reference::run(&h, &[v(&x), Array::scalar(1.0), v(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])]).unwrap();
    assert_eq!(y[0].to_f64()[0], 0.0);
    assert!((y[0].to_f64()[1] - product / 6.0).abs() < 1e-9 * product);
}

#[test]
fn a_mantissa_has_the_derivative_of_a_scaled_number() {
    // frexp: the exponent's bits are replaced.
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %m = stablehlo.constant dense<-2139095041> : tensor<i32>
  %e = stablehlo.constant dense<1056964608> : tensor<i32>
  %0 = stablehlo.bitcast_convert %x : (tensor<f32>) -> tensor<i32>
  %1 = stablehlo.and %0, %m : tensor<i32>
  %2 = stablehlo.or %1, %e : tensor<i32>
  %3 = stablehlo.bitcast_convert %2 : (tensor<i32>) -> tensor<f32>
  return %3 : tensor<f32>
}";
    assert_eq!(run(text, &[Array::scalar(-10f32)]), [-0.625]);
    let f = main_of(text);
    let g = grad(&AdContext::default(), &f, f.params()).unwrap();
    assert_eq!(reference::run(&g, &[Array::scalar(-10f32)]).unwrap()[0].to_f64(), [0.0625]);
}

#[test]
fn complex_numbers_are_sorted_by_their_parts() {
    let parts = |v: &str, k: usize| {
        format!(
            "%{k} = stablehlo.real {v} : (tensor<complex<f64>>) -> tensor<f64>
    %{} = stablehlo.imag {v} : (tensor<complex<f64>>) -> tensor<f64>",
            k + 1
        )
    };
    let compare = |c: &str, a: usize, b: usize, order: &str| {
        format!("stablehlo.compare {c}, %{a}, %{b}, {order} : (tensor<f64>, tensor<f64>) -> tensor<i1>")
    };
    let text = format!(
        "func.func @main(%x: tensor<3xcomplex<f64>>) -> tensor<3xf64> {{
  %s = \"stablehlo.sort\"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<complex<f64>>, %b: tensor<complex<f64>>):
    {}
    {}
    %p = {}
    %q = {}
    %r = {}
    %t = stablehlo.and %q, %r : tensor<i1>
    %u = stablehlo.or %p, %t : tensor<i1>
    stablehlo.return %u : tensor<i1>
  }}) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  %i = stablehlo.imag %s : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  return %i : tensor<3xf64>
}}",
        parts("%a", 1),
        parts("%b", 3),
        compare("LT", 1, 3, "TOTALORDER"),
        compare("EQ", 1, 3, "FLOAT"),
        compare("LT", 2, 4, "TOTALORDER"),
    );
    let z = |re: f64, im: f64| cotangent_core::C128::new(re, im);
    assert_eq!(run(&text, &[Array::vector(vec![z(1.0, 5.0), z(0.0, 7.0), z(1.0, -2.0)])]), [7.0, -2.0, 5.0]);
}

#[test]
fn a_scatter_may_have_any_body() {
    let text = "func.func @main(%x: tensor<3xf64>, %i: tensor<4x1xi32>, %u: tensor<4xf64>) -> tensor<3xf64> {
  %k = stablehlo.constant dense<2.0> : tensor<f64>
  %0 = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.multiply %a, %k : tensor<f64>
    %2 = stablehlo.add %1, %b : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }) : (tensor<3xf64>, tensor<4x1xi32>, tensor<4xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}";
    let i = Array::from_vec([4, 1], vec![1i32, 0, 1, 7]).unwrap();
    // 2 (2 * 20 + 1) + 100
    assert_eq!(run(text, &[v(&[10.0, 20.0, 30.0]), i, v(&[1.0, 5.0, 100.0, 1.0])]), [25.0, 182.0, 30.0]);
}

#[test]
fn total_order_tells_zeros_apart_and_puts_nan_last() {
    let text = "func.func @main(%x: tensor<5xf64>, %y: tensor<5xf64>) -> (tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %1 = stablehlo.compare EQ, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  return %0, %1 : tensor<5xi1>, tensor<5xi1>
}";
    let nan = f64::NAN;
    let y = reference::run(&main_of(text), &[v(&[-0.0, 0.0, 1.0, nan, nan]), v(&[0.0, -0.0, nan, 1.0, nan])]).unwrap();
    assert_eq!(y[0].to_f64(), [1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(y[1].to_f64(), [0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_window_that_does_not_fit_is_not_written() {
    let text = "func.func @main(%x: tensor<4xf64>, %i: tensor<3x1xi32>, %u: tensor<3x2xf64>) -> tensor<4xf64> {
  %0 = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.add %b, %a : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<4xf64>, tensor<3x1xi32>, tensor<3x2xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}";
    let i = Array::from_vec([3, 1], vec![1i32, 3, -1]).unwrap();
    let u = Array::from_vec([3, 2], vec![1.0, 2.0, 10.0, 20.0, 100.0, 200.0]).unwrap();
    assert_eq!(run(text, &[v(&[0.0; 4]), i, u]), [0.0, 1.0, 2.0, 0.0]);
}

#[test]
fn dynamic_extents_are_symbols() {
    let text = "func.func @main(%x: tensor<?xf64>, %y: tensor<?x?xf64>) -> tensor<?xf64> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf64>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xf64>) -> tensor<i32>
  %p = stablehlo.multiply %n, %m : tensor<i32>
  %q = stablehlo.reshape %p : (tensor<i32>) -> tensor<1xi32>
  %e = stablehlo.constant dense<1.0> : tensor<f64>
  %o = stablehlo.dynamic_broadcast_in_dim %e, %q, dims = [] : (tensor<f64>, tensor<1xi32>) -> tensor<?xf64>
  %i = stablehlo.dynamic_iota %q, dim = 0 : (tensor<1xi32>) -> tensor<?xf64>
  %s = stablehlo.add %o, %i : tensor<?xf64>
  return %s : tensor<?xf64>
}";
    let y = Array::from_vec([1, 2], vec![0.0, 0.0]).unwrap();
    assert_eq!(run(text, &[v(&[0.0; 3]), y]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn what_says_where_values_live_changes_nothing() {
    let text = "module @m attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <[\"x\"=1]> {stablehlo.mesh = {axes = [{name = \"x\", size = 1 : i64}]}}
  func.func @main(%x: tensor<2xf64> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>, mhlo.sharding = \"{replicated}\"}) -> tensor<2xf64> {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = \"\", mhlo.sharding = \"{devices=[1]0}\"} : (tensor<2xf64>) -> tensor<2xf64>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<2xf64>
    %2 = stablehlo.optimization_barrier %1 : tensor<2xf64>
    %3 = stablehlo.composite \"my.double\" %2 {composite_attributes = {a = 1 : i64}, decomposition = @double, version = 1 : i32} : (tensor<2xf64>) -> tensor<2xf64>
    return %3 : tensor<2xf64>
  }
  func.func private @double(%x: tensor<2xf64>) -> tensor<2xf64> {
    %0 = stablehlo.add %x, %x : tensor<2xf64>
    return %0 : tensor<2xf64>
  }
}";
    assert_eq!(run(text, &[v(&[1.0, 2.0])]), [2.0, 4.0]);
}

#[test]
fn what_is_not_supported_is_named_where_it_is_reached() {
    let text = |op: &str| {
        format!(
            "module {{
  func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {{
    %0 = call @f(%x) : (tensor<2xf64>) -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }}
  func.func private @f(%x: tensor<2xf64>) -> tensor<2xf64> {{
    %0 = {op} : (tensor<2xf64>) -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }}
}}"
        )
    };
    for (op, name) in [
        ("stablehlo.frobnicate %x, depth = 3", "stablehlo.frobnicate"),
        ("stablehlo.custom_call @some_library(%x) {api_version = 4 : i32}", "@some_library"),
        ("mine.op %x <@a, [1]> {k}", "mine.op"),
    ] {
        let e = refused(&text(op));
        assert_eq!((e.code(), e.loc()), (Code::UnknownOperation, Loc::Text(7, 5)), "{e}");
        assert!(e.message().contains(name), "{e}");
    }
    // Not reached: no error until it is asked for.
    let unused = text("stablehlo.frobnicate %x").replace("call @f(%x)", "stablehlo.sine %x");
    let module = read(&unused, None).unwrap();
    assert_eq!(module.function("f").unwrap_err().code(), Code::UnknownOperation);
    assert_eq!(module.function("g").unwrap_err().code(), Code::UnknownName);
}

#[test]
fn mistakes_carry_their_place() {
    let line = |body: &str| format!("func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {{\n{body}\n}}");
    let done = "return %x : tensor<2xf64>";
    for (text, code, at) in [
        (line(&format!("%0 = stablehlo.sine %y : tensor<2xf64>\n{done}")), Code::UnknownName, (2, 21)),
        (line(&format!("%x = stablehlo.sine %x : tensor<2xf64>\n{done}")), Code::DuplicateName, (2, 1)),
        (line(&format!("%0 = stablehlo.sine %x : tensor<3xf64>\n{done}")), Code::ShapeMismatch, (2, 1)),
        (line(&format!("%0 = stablehlo.add %x : tensor<2xf64>\n{done}")), Code::Arity, (2, 1)),
        (line(&format!("%0 = stablehlo.sine %x : tensor<2xf8E4M3FN>\n{done}")), Code::ShapeMismatch, (2, 1)),
        (
            line(&format!(
                "%0 = stablehlo.sine %x : tensor<2xf80>\n%1 = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xf80>\n{done}"
            )),
            Code::UnknownDType,
            (3, 1),
        ),
        (
            line(&format!("%0:2 = call @main(%x) : (tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)\n{done}")),
            Code::Invalid,
            (2, 1),
        ),
        (line("%0 = stablehlo.sine %x : tensor<2xf64>"), Code::Syntax, (2, 1)),
        (line(""), Code::Syntax, (1, 53)),
        (
            line("^bb1(%a: tensor<f64>):\nreturn %a : tensor<f64>").replace("%x: tensor<2xf64>", ""),
            Code::ShapeMismatch,
            (1, 1),
        ),
        ("func.func @main(%x: tensor<2xf64) {".into(), Code::Syntax, (1, 28)),
        ("module { func.func @f() { return } func.func @f() { return } }".into(), Code::DuplicateName, (1, 36)),
        ("hello".into(), Code::Syntax, (1, 1)),
        ("module @m {".into(), Code::Syntax, (1, 12)),
        ("module {} \"".into(), Code::Syntax, (1, 11)),
    ] {
        let e = refused(&text);
        assert_eq!((e.code(), e.loc()), (code, Loc::Text(at.0, at.1)), "{e}\n{text}");
    }
    assert_eq!(refused("").code(), Code::Input);
    let e = read("module {", Some("m.mlir")).unwrap_err().to_string();
    assert!(e.starts_with("m.mlir:1:9: expected"), "{e}");
}

#[test]
fn depth_is_limited_and_length_is_not() {
    let deep = format!(
        "func.func @main() {{ \"a.b\"() {{x = {}1{}}} : () -> () return }}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert_eq!(refused(&deep).code(), Code::Limit);
    let nested = format!("func.func @main() {{ {} ", "\"a.b\"() ({ ".repeat(10_000));
    assert_eq!(refused(&nested).code(), Code::Limit);
    let modules = "module { ".repeat(10_000);
    assert_eq!(refused(&modules).code(), Code::Limit);
    let mut chain = String::from("func.func @main(%0: tensor<f64>) -> tensor<f64> {\n");
    for i in 1..100_000 {
        chain += &format!("%{i} = stablehlo.sine %{} : tensor<f64>\n", i - 1);
    }
    chain += "return %99999 : tensor<f64>\n}";
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let n = small.spawn(move || main_of(&chain).eqns().len()).unwrap().join().unwrap();
    assert_eq!(n, 99_999);
}

#[test]
fn calls_do_not_multiply_what_they_call() {
    // Every function calls the next one twice.
    let mut text = String::from("module {\n");
    for i in 0..20 {
        text += &format!(
            "func.func {} @{}(%x: tensor<f64>) -> tensor<f64> {{
  %0 = call @f{i}(%x) : (tensor<f64>) -> tensor<f64>
  %1 = call @f{i}(%0) : (tensor<f64>) -> tensor<f64>
  return %1 : tensor<f64>
}}\n",
            if i == 0 { "public" } else { "private" },
            if i == 0 { "main".into() } else { format!("f{}", i - 1) },
        );
    }
    text += "func.func private @f19(%x: tensor<f64>) -> tensor<f64> {\n %0 = stablehlo.sine %x : tensor<f64>\n return %0 : tensor<f64>\n}\n}";
    let module = read(&text, None).unwrap();
    assert!(module.names().all(|n| module.function(n).unwrap().eqns().len() <= 64));
}

#[test]
fn transforms_bits_and_special_functions() {
    let y = apply(
        "tensor<4xf64>",
        "stablehlo.fft %x, type = RFFT, length = [4]",
        "tensor<3xcomplex<f64>>",
        v(&[1.0, 2.0, 3.0, 5.0]),
    );
    assert_eq!(y, [11.0, -2.0, -3.0]);
    let y = apply("tensor<2xf64>", "stablehlo.reduce_precision %x, format = e8m3", "tensor<2xf64>", v(&[3.2, 1e300]));
    assert_eq!(y, [3.25, f64::INFINITY]);
    let x = Array::vector(vec![1u32, 0]);
    let y =
        apply("tensor<2xui32>", "stablehlo.bitcast_convert %x : (tensor<2xui32>) -> tensor<ui64>", "tensor<ui64>", x);
    assert_eq!(y, [1.0]);
    let y = apply("tensor<2xi16>", "stablehlo.count_leading_zeros %x", "tensor<2xi16>", Array::vector(vec![1i16, -1]));
    assert_eq!(y, [15.0, 0.0]);
    let y = apply("tensor<1xf64>", "chlo.bessel_i1e %x : tensor<1xf64> -> tensor<1xf64>", "tensor<1xf64>", v(&[0.0]));
    assert_eq!(y, [0.0]);
}

#[test]
fn random_bits_are_those_of_xla() {
    let text = "func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) {
  %a, %b = stablehlo.rng_bit_generator %s, algorithm = ALGORITHM : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  return %a, %b : tensor<2xui64>, tensor<5xui32>
}";
    let cases = [
        ("THREE_FRY", 1u64, [2968789339u32, 3784990900, 188576916, 2901984476, 2862930057]),
        ("DEFAULT", 0, [172511636, 1103493126, 3598856174, 948282324, 1105943027]),
    ];
    for (algorithm, next, bits) in cases {
        let start = Array::vector(vec![0x0123456789abcdefu64, 0xfffffffffffffffe]);
        let f = main_of(&text.replace("ALGORITHM", algorithm));
        let y = reference::run(&f, &[start]).unwrap();
        assert_eq!(y[0].as_slice::<u64>().unwrap(), [0x0123456789abcdef, next], "{algorithm}");
        assert_eq!(y[1].as_slice::<u32>().unwrap(), bits, "{algorithm}");
    }
}

#[test]
fn the_cotangent_of_a_pooled_maximum_goes_to_the_first() {
    let text = "func.func @main(%x: tensor<5xf64>, %s: tensor<2xf64>) -> tensor<5xf64> {
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %y = \"stablehlo.select_and_scatter\"(%x, %s, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<5xf64>, tensor<2xf64>, tensor<f64>) -> tensor<5xf64>
  return %y : tensor<5xf64>
}";
    let y = run(text, &[v(&[1.0, 4.0, 4.0, 0.0, 4.0]), v(&[10.0, 20.0])]);
    assert_eq!(y, [0.0, 10.0, 20.0, 0.0, 0.0]);
    assert!(has(&main_of(text), |op| matches!(op, Op::SelectWindow(_))));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let choice = "%i = stablehlo.constant dense<0> : tensor<i32>\n ";
    let truth = "%p = stablehlo.constant dense<true> : tensor<i1>\n ";
    let reduced = ": (tensor<4xf64>, tensor<f64>) -> tensor<f64>";
    for (body, code, line, says) in [
        (
            format!("%y = \"stablehlo.reduce\"(%x, %c) <{{dimensions = array<i64: 0>}}> {reduced}"),
            Code::Arity,
            3,
            "`stablehlo.reduce` needs a body",
        ),
        (
            "%y = \"stablehlo.reduce\"(%x) <{dimensions = array<i64: 0>}> : (tensor<4xf64>) -> tensor<f64>".into(),
            Code::Arity,
            3,
            "takes operands and as many initial values",
        ),
        (
            format!("%y = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [3] {reduced}"),
            Code::Attribute,
            3,
            "`dimensions` must be different axes of the operand",
        ),
        (
            format!("%y = stablehlo.reduce(%x init: %c) applies stablehlo.atan2 across dimensions = [0] {reduced}"),
            Code::UnknownOperation,
            3,
            "that applies `atan2` is not supported",
        ),
        (
            format!("{truth}%y = \"stablehlo.if\"(%p) ({{ stablehlo.return %c : tensor<f64> }}) : (tensor<i1>) -> tensor<f64>"),
            Code::Arity,
            4,
            "`stablehlo.if` has two branches, not 1",
        ),
        (
            format!("{choice}%y = \"stablehlo.case\"(%i) : (tensor<i32>) -> tensor<f64>"),
            Code::Arity,
            4,
            "`stablehlo.case` needs at least one branch",
        ),
        (
            format!("{choice}%y = \"stablehlo.case\"(%i) ({{\n ^bb0(%a: tensor<f64>):\n stablehlo.return %a : tensor<f64>\n }}) : (tensor<i32>) -> tensor<f64>"),
            Code::Arity,
            4,
            "a branch takes no arguments, this one has 1",
        ),
        (
            "%y = \"stablehlo.while\"(%c) ({\n ^bb0(%a: tensor<f64>):\n stablehlo.return %a : tensor<f64>\n }) : (tensor<f64>) -> tensor<f64>".into(),
            Code::Arity,
            3,
            "`stablehlo.while` has a condition and a body",
        ),
        (
            "%y = stablehlo.cholesky %x : tensor<4xf64>".into(),
            Code::ShapeMismatch,
            3,
            "`stablehlo.cholesky` takes matrices, got f64[4]",
        ),
        // A token is a value without elements, so that loops and branches can carry it; it is no number.
        ("%t = stablehlo.create_token : !stablehlo.token\n %y = stablehlo.sine %t : tensor<f64>".into(), Code::DTypeMismatch, 4, "`sin` is not defined on i1"),
        ("%y = func.call @f(%c) : (tensor<f64>) -> tensor<f64>".into(), Code::UnknownName, 3, "no function `@f`"),
        (
            "%y = func.call @main(%c, %c) : (tensor<f64>, tensor<f64>) -> tensor<f64>".into(),
            Code::Invalid,
            3,
            "`@main` calls itself",
        ),
        ("%y = stablehlo.sine %x : tensor<4xf64>".into(), Code::ShapeMismatch, 1, "`main` returns f64[4], the text says f64[]"),
        (
            "%y = stablehlo.custom_call @frobnicate(%c) : (tensor<f64>) -> tensor<f64>".into(),
            Code::UnknownOperation,
            3,
            "the custom call `@frobnicate` is not supported",
        ),
        (
            format!("{truth}%y = \"stablehlo.if\"(%p) ({{\n %a = stablehlo.sine %c : tensor<f64>\n }}, {{\n stablehlo.return %c : tensor<f64>\n }}) : (tensor<i1>) -> tensor<f64>"),
            Code::Syntax,
            5,
            "a region without `return`",
        ),
    ] {
        let e = refused(&format!(
            "func.func @main(%x: tensor<4xf64>) -> tensor<f64> {{\n %c = stablehlo.constant dense<0.0> : tensor<f64>\n {body}\n return %y : tensor<f64>\n}}"
        ));
        assert!(e.code() == code && e.to_string().contains(says), "{body}\nsays {e}");
        assert!(matches!(e.loc(), Loc::Text(l, _) if l == line), "{body}\nsays {e}");
    }
}
