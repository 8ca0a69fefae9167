//! Extents as operands: functions with extents as arguments (JAX's export of symbolic dimensions),
//! dynamic windows, pads and slices, and data-dependent extents.

use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{Array, Code, Function, reference};
use cotangent_stablehlo::read;

fn v(x: &[f64]) -> Array {
    Array::vector(x.to_vec())
}

fn main_of(text: &str) -> Function {
    (**read(text, None)
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
        .main())
    .clone()
}

fn run(text: &str, x: &[Array]) -> Array {
    reference::run(&main_of(text), x)
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
        .remove(0)
}

/// A module whose main function passes the extent of its argument to `@f` as an integer.
fn exported(result: &str, body: &str) -> String {
    format!(
        "module {{
  func.func public @main(%x: tensor<?xf64>) -> {result} {{
    %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf64>) -> tensor<i32>
    %n = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %2 = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %n) {{api_version = 2 : i32, has_side_effect = true}} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @f(%n, %x) : (tensor<i64>, tensor<?xf64>) -> {result}
    return %3 : {result}
  }}
  func.func private @f(%n: tensor<i64> {{jax.global_constant = \"n\"}}, %x: tensor<?xf64>) -> {result} {{
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %none = stablehlo.constant dense<0> : tensor<1xi32>
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %i = stablehlo.convert %n : (tensor<i64>) -> tensor<i32>
    %s = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %minus = stablehlo.constant dense<-1> : tensor<1xi32>
    %less = stablehlo.add %s, %minus : tensor<1xi32>
{body}
  }}
  func.func private @plus(%a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {{
    %0 = stablehlo.add %a, %b : tensor<f64>
    return %0 : tensor<f64>
  }}
}}"
    )
}

#[test]
fn a_function_may_be_given_the_extents_that_it_makes() {
    let text = exported(
        "tensor<f64>",
        "    %m = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf64>, tensor<f64>) -> tensor<f64>
    %w = stablehlo.dynamic_broadcast_in_dim %m, %s, dims = [] : (tensor<f64>, tensor<1xi32>) -> tensor<?xf64>
    %k = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf64>
    %p = stablehlo.multiply %w, %x : tensor<?xf64>
    %q = stablehlo.multiply %p, %k : tensor<?xf64>
    %y = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf64>, tensor<f64>) -> tensor<f64>
    return %y : tensor<f64>",
    );
    // The value is (sum x) (sum k x_k), for every length.
    let f = main_of(&text);
    let g = grad(&AdContext::default(), &f, f.params()).unwrap();
    for x in [&[2.0, 3.0, 5.0][..], &[1.0, -1.0, 4.0, 0.5, 2.0]] {
        let (sum, weighted) = (
            x.iter().sum::<f64>(),
            x.iter().enumerate().map(|(k, x)| k as f64 * x).sum::<f64>(),
        );
        assert_eq!(
            reference::run(&f, &[v(x)]).unwrap()[0].to_f64(),
            [sum * weighted]
        );
        let want: Vec<f64> = (0..x.len()).map(|k| weighted + k as f64 * sum).collect();
        assert_eq!(reference::run(&g, &[v(x)]).unwrap()[0].to_f64(), want);
    }
}

#[test]
fn pads_windows_and_slices_at_extents() {
    let x = v(&[1.0, 2.0, 4.0, 8.0]);
    // Padding at the end by the number of elements.
    let padded = exported(
        "tensor<?xf64>",
        "    %y = stablehlo.dynamic_pad %x, %zero, %one, %less, %none : (tensor<?xf64>, tensor<f64>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf64>
    return %y : tensor<?xf64>",
    );
    assert_eq!(
        run(&padded, std::slice::from_ref(&x)).to_f64(),
        [0.0, 1.0, 2.0, 4.0, 8.0, 0.0, 0.0, 0.0]
    );
    // A window over all elements up to each position.
    let window = |padding: &str, size: &str| {
        exported(
            "tensor<?xf64>",
            &format!(
                "    %low = stablehlo.concatenate {padding}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %p = stablehlo.reshape %low : (tensor<2xi32>) -> tensor<1x2xi32>
    %y = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, {size}, %one, %one, %one, %p) {{called_computations = [@plus]}} : (tensor<?xf64>, tensor<f64>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf64>
    return %y : tensor<?xf64>"
            ),
        )
    };
    assert_eq!(
        run(&window("%less, %none", "%s"), std::slice::from_ref(&x)).to_f64(),
        [1.0, 3.0, 7.0, 15.0]
    );
    assert_eq!(
        run(&window("%none, %less", "%s"), std::slice::from_ref(&x)).to_f64(),
        [15.0, 14.0, 12.0, 8.0]
    );
    assert_eq!(
        run(&window("%one, %none", "%one"), std::slice::from_ref(&x)).to_f64(),
        [0.0, 1.0, 2.0, 4.0, 8.0]
    );
    // All but one element, from a data-dependent start that is clamped.
    let slice = exported(
        "tensor<?xf64>",
        "    %far = stablehlo.constant dense<7> : tensor<1xi32>
    %room = stablehlo.subtract %s, %less : tensor<1xi32>
    %at = stablehlo.clamp %none, %far, %room : tensor<1xi32>
    %end = stablehlo.add %at, %less : tensor<1xi32>
    %y = stablehlo.real_dynamic_slice %x, %at, %end, %one : (tensor<?xf64>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf64>
    return %y : tensor<?xf64>",
    );
    assert_eq!(run(&slice, &[x]).to_f64(), [2.0, 4.0, 8.0]);
}

#[test]
fn loops_know_the_extents_around_them() {
    let text = exported(
        "tensor<?xf64>",
        "    %c = stablehlo.constant dense<0> : tensor<i64>
    %k = stablehlo.constant dense<1> : tensor<i64>
    %y:2 = stablehlo.while(%j = %c, %a = %x) : tensor<i64>, tensor<?xf64>
    cond {
      %p = stablehlo.compare LT, %j, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf64>
      %b = stablehlo.add %a, %t : tensor<?xf64>
      %l = stablehlo.add %j, %k : tensor<i64>
      stablehlo.return %l, %b : tensor<i64>, tensor<?xf64>
    }
    return %y#1 : tensor<?xf64>",
    );
    assert_eq!(
        run(&text, &[v(&[5.0, 5.0, 5.0])]).to_f64(),
        [5.0, 8.0, 11.0]
    );
}

#[test]
fn a_number_that_is_found_while_it_runs_is_an_extent() {
    let text = "func.func @main(%x: tensor<f64>) -> tensor<?xi64> {
  %c = stablehlo.constant dense<0> : tensor<i64>
  %y:2 = stablehlo.while(%j = %c, %a = %x) : tensor<i64>, tensor<f64>
  cond {
    %l = stablehlo.constant dense<100.0> : tensor<f64>
    %p = stablehlo.compare LT, %a, %l, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k = stablehlo.constant dense<1> : tensor<i64>
    %b = stablehlo.add %a, %a : tensor<f64>
    %l = stablehlo.add %j, %k : tensor<i64>
    stablehlo.return %l, %b : tensor<i64>, tensor<f64>
  }
  %n = stablehlo.reshape %y#0 : (tensor<i64>) -> tensor<1xi64>
  %z = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
  return %z : tensor<?xi64>
}";
    assert_eq!(run(text, &[Array::scalar(30.0)]).to_f64(), [0.0, 1.0]);
    assert_eq!(run(text, &[Array::scalar(300.0)]).shape(), [0]);
}

/// Each of 40 functions calls the next one twice, and the last one needs its argument as an extent.
/// The limit on expanded operations applies.
#[test]
fn functions_that_need_extents_are_not_written_without_end() {
    let mut text = String::from(
        "func.func @main(%x: tensor<?xf64>) -> tensor<?xf64> {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf64>) -> tensor<i32>
  %1 = call @f0(%0) : (tensor<i32>) -> tensor<?xf64>
  return %1 : tensor<?xf64>
}
",
    );
    for k in 0..40 {
        text += &format!(
            "func.func private @f{k}(%n: tensor<i32>) -> tensor<?xf64> {{
  %0 = call @f{next}(%n) : (tensor<i32>) -> tensor<?xf64>
  %1 = call @f{next}(%n) : (tensor<i32>) -> tensor<?xf64>
  %2 = stablehlo.add %0, %1 : tensor<?xf64>
  return %2 : tensor<?xf64>
}}
",
            next = k + 1
        );
    }
    text += "func.func private @f40(%n: tensor<i32>) -> tensor<?xf64> {
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi32>) -> tensor<?xf64>
  return %1 : tensor<?xf64>
}
";
    assert_eq!(read(&text, None).unwrap_err().code(), Code::Limit);
}

#[test]
fn an_extent_with_a_bound_is_an_unknown_extent() {
    for bound in ["bounds<3>", "type_extensions<bounds = [3]>"] {
        let ty = format!("tensor<?xf64, #stablehlo.{bound}>");
        let text = format!(
            "func.func @main(%x: {ty}) -> {ty} {{
  %y = stablehlo.add %x, %x : {ty}
  return %y : {ty}
}}"
        );
        let f = main_of(&text);
        assert!(f.ty(f.params()[0]).shape[0].as_const().is_none());
        assert_eq!(run(&text, &[v(&[1.0, 2.5])]), v(&[2.0, 5.0]));
    }
}

#[test]
fn extents_that_are_asserted_to_be_equal_are_one_symbol() {
    let text = |assertion: &str| {
        format!(
            "module {{
  func.func public @main(%x: tensor<?x4xf64>, %y: tensor<?x4xf64>) -> tensor<?x4xf64> {{
    %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf64>) -> tensor<i32>
    %n = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x4xf64>) -> tensor<i32>
    %m = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare {assertion}, %m, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %m, %n) {{api_version = 2 : i32, has_side_effect = true}} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %z = stablehlo.multiply %x, %y : tensor<?x4xf64>
    return %z : tensor<?x4xf64>
  }}
}}"
        )
    };
    let x = |rows: usize| {
        let data = (0..4 * rows).map(|k| k as f64 + 1.0).collect();
        Array::from_vec([rows, 4], data).unwrap()
    };
    let f = main_of(&text("EQ"));
    let [a, b] = [0, 1].map(|k| f.param_types()[k].shape[0].clone());
    assert_eq!(a, b);
    let squares = reference::run(&f, &[x(3), x(3)]).unwrap()[0].to_f64();
    assert_eq!(squares[11], 144.0);
    for rows in [1, 2] {
        let e = reference::run(&f, &[x(rows), x(3)]).unwrap_err();
        assert_eq!(e.code(), Code::ShapeMismatch, "{e}");
    }
    // Other assertions say nothing about it.
    let f = main_of(&text("GE"));
    assert_ne!(f.param_types()[0].shape[0], f.param_types()[1].shape[0]);
}
