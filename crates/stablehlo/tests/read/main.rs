//! Small modules that test one feature each: forms of the text, and the meaning of operations.

mod control;
mod forms;
mod mistakes;

use cotangent_core::transform::{AdContext, grad};
use cotangent_core::{Array, C128, Code, Error, Function, Op, reference};
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

/// The first result of the main function as numbers.
fn run(text: &str, x: &[Array]) -> Vec<f64> {
    reference::run(&main_of(text), x).unwrap_or_else(|e| panic!("{e}\n{text}"))[0].to_f64()
}

/// One operation on `%x`, with `result` as its type.
fn apply(ty: &str, op: &str, result: &str, x: Array) -> Vec<f64> {
    run(
        &format!("func.func @main(%x: {ty}) -> {result} {{\n %y = {op}\n return %y : {result}\n}}"),
        &[x],
    )
}

fn refused(text: &str) -> Error {
    read(text, None)
        .err()
        .unwrap_or_else(|| panic!("this was read:\n{text}"))
}

fn has(f: &Function, is: impl Fn(&Op) -> bool) -> bool {
    f.eqns().iter().any(|e| is(&e.op))
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
    assert_eq!(
        apply("tensor<2x3xf64>", op, "tensor<3x2xf64>", x),
        [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    );
}

#[test]
fn slices_and_windows() {
    let x = v(&[1.0, 2.0, 4.0, 8.0, 16.0]);
    let t = "tensor<5xf64>";
    let op = "stablehlo.slice %x [1:5:2] : (tensor<5xf64>) -> tensor<2xf64>";
    assert_eq!(apply(t, op, "tensor<2xf64>", x.clone()), [2.0, 8.0]);
    // Long overlapping windows are folded by doubling, short ones per offset. The sums are equal.
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
        let want: Vec<f64> = (0..n)
            .map(|i| (i..i + size).map(|k| k as f64).sum())
            .collect();
        assert_eq!(
            run(&text, std::slice::from_ref(&ones)),
            want,
            "windows of {size}"
        );
    }
}

#[test]
fn windows_of_several_operands_start_with_the_initial_value_once() {
    // Holes and padding of a window are no elements of it, as for one operand.
    let window = "window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>, \
                  base_dilations = array<i64: 2, 3>, padding = dense<[[0, 3], [0, 0]]> : tensor<2x2xi64>";
    let (x, y) = ("tensor<4x2xf64>", "tensor<5x4xf64>");
    let text = format!(
        "func.func @main(%x: {x}) -> ({y}, {y}, {y}) {{
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = \"stablehlo.reduce_window\"(%x, %one) <{{{window}}}> ({{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %2 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }}) : ({x}, tensor<f64>) -> {y}
  %1:2 = \"stablehlo.reduce_window\"(%x, %x, %one, %one) <{{{window}}}> ({{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
    %2 = stablehlo.add %a, %c : tensor<f64>
    %3 = stablehlo.multiply %b, %d : tensor<f64>
    stablehlo.return %2, %3 : tensor<f64>, tensor<f64>
  }}) : ({x}, {x}, tensor<f64>, tensor<f64>) -> ({y}, {y})
  return %0, %1#0, %1#1 : {y}, {y}, {y}
}}"
    );
    let x: Vec<f64> = (2..10).map(f64::from).collect();
    let argument = Array::from_vec([4, 2], x.clone()).unwrap();
    let all = reference::run(&main_of(&text), &[argument]).unwrap();
    let [sum, first, product] = [0, 1, 2].map(|k| all[k].to_f64());
    assert_eq!(sum, first);
    let mut want = vec![1.0; 20];
    for (k, x) in x.into_iter().enumerate() {
        want[k / 2 * 4 + k % 2 * 3] = x;
    }
    assert_eq!(product, want);
    let plus_one = |w: f64| if w == 1.0 { w } else { w + 1.0 };
    assert_eq!(sum, want.into_iter().map(plus_one).collect::<Vec<_>>());
}

#[test]
fn a_reduction_with_any_body_keeps_the_order() {
    // Bodies that return one of their operands are associative, but not commutative.
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
        assert_eq!(
            (y[0].to_f64(), y[1].to_f64()),
            (vec![at], vec![if at == 1.0 { 5.0 } else { -1.0 }])
        );
        assert_eq!(
            reference::run(&f, &[v(&[3.0, f64::NAN, -1.0, f64::NAN])]).unwrap()[0].to_f64(),
            [1.0]
        );
    }
    // Another comparison of the indices is another reduction: ties select the last element.
    let last = argmax("GT").replace("compare LT, %j, %k", "compare GT, %j, %k");
    let f = main_of(&last);
    assert!(!has(&f, |op| matches!(op, Op::ArgReduce(_))));
    assert_eq!(
        reference::run(&f, &[v(&[3.0, 5.0, -1.0, 5.0])]).unwrap()[0].to_f64(),
        [3.0]
    );
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
    let up = sort(&format!(
        "%p = stablehlo.compare LT, %a, %b, TOTALORDER : {floats}"
    ));
    assert_eq!(
        run(&up, &[x.clone(), i.clone()]),
        [12.0, 10.0, 13.0, 14.0, 11.0]
    );
    let down = sort(&format!(
        "%p = stablehlo.compare GT, %a, %b, TOTALORDER : {floats}"
    ));
    assert_eq!(
        run(&down, &[x.clone(), i.clone()]),
        [11.0, 14.0, 10.0, 13.0, 12.0]
    );
    // Ascending in the first key, descending in the second.
    let mixed = sort(&format!(
        "%q = stablehlo.compare LT, %a, %b, TOTALORDER : {floats}
    %r = stablehlo.compare EQ, %a, %b, TOTALORDER : {floats}
    %s = stablehlo.compare LT, %d, %c, SIGNED : {ints}
    %t = stablehlo.and %r, %s : tensor<i1>
    %p = stablehlo.or %q, %t : tensor<i1>"
    ));
    assert_eq!(
        run(&mixed, &[x.clone(), i.clone()]),
        [12.0, 13.0, 10.0, 14.0, 11.0]
    );
    let strange = sort(
        "%z = stablehlo.constant dense<0.0> : tensor<f64>
    %p = stablehlo.compare LT, %a, %z, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>",
    );
    // Without keys, the comparator is applied to every pair, up to a maximum extent.
    assert_eq!(run(&strange, &[x, i]), [12.0, 10.0, 11.0, 13.0, 14.0]);
    let e = refused(&strange.replace("tensor<5x", "tensor<8193x"));
    assert!(
        e.code() == Code::UnknownOperation && e.message().contains("along 8193 elements"),
        "{e}"
    );
}

#[test]
fn a_mantissa_has_the_derivative_of_a_scaled_number() {
    // `frexp`: the exponent bits are replaced.
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
    assert_eq!(
        reference::run(&g, &[Array::scalar(-10f32)]).unwrap()[0].to_f64(),
        [0.0625]
    );
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
        format!(
            "stablehlo.compare {c}, %{a}, %{b}, {order} : (tensor<f64>, tensor<f64>) -> tensor<i1>"
        )
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
    assert_eq!(
        run(
            &text,
            &[Array::vector(vec![z(1.0, 5.0), z(0.0, 7.0), z(1.0, -2.0)])]
        ),
        [7.0, -2.0, 5.0]
    );
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
    assert_eq!(
        run(
            text,
            &[v(&[10.0, 20.0, 30.0]), i, v(&[1.0, 5.0, 100.0, 1.0])]
        ),
        [25.0, 182.0, 30.0]
    );
}

#[test]
fn total_order_tells_zeros_apart_and_puts_nan_last() {
    let text =
        "func.func @main(%x: tensor<5xf64>, %y: tensor<5xf64>) -> (tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %1 = stablehlo.compare EQ, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  return %0, %1 : tensor<5xi1>, tensor<5xi1>
}";
    let nan = f64::NAN;
    let y = reference::run(
        &main_of(text),
        &[
            v(&[-0.0, 0.0, 1.0, nan, nan]),
            v(&[0.0, -0.0, nan, 1.0, nan]),
        ],
    )
    .unwrap();
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
    assert_eq!(
        run(text, &[v(&[0.0; 3]), y]),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
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
            if i == 0 {
                "main".into()
            } else {
                format!("f{}", i - 1)
            },
        );
    }
    text += "func.func private @f19(%x: tensor<f64>) -> tensor<f64> {\n %0 = stablehlo.sine %x : tensor<f64>\n return %0 : tensor<f64>\n}\n}";
    let module = read(&text, None).unwrap();
    assert!(
        module
            .names()
            .all(|n| module.function(n).unwrap().eqns().len() <= 64)
    );
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
    let y = apply(
        "tensor<2xf64>",
        "stablehlo.reduce_precision %x, format = e8m3",
        "tensor<2xf64>",
        v(&[3.2, 1e300]),
    );
    assert_eq!(y, [3.25, f64::INFINITY]);
    let x = Array::vector(vec![1u32, 0]);
    let y = apply(
        "tensor<2xui32>",
        "stablehlo.bitcast_convert %x : (tensor<2xui32>) -> tensor<ui64>",
        "tensor<ui64>",
        x,
    );
    assert_eq!(y, [1.0]);
    let y = apply(
        "tensor<2xi16>",
        "stablehlo.count_leading_zeros %x",
        "tensor<2xi16>",
        Array::vector(vec![1i16, -1]),
    );
    assert_eq!(y, [15.0, 0.0]);
    let y = apply(
        "tensor<1xf64>",
        "chlo.bessel_i1e %x : tensor<1xf64> -> tensor<1xf64>",
        "tensor<1xf64>",
        v(&[0.0]),
    );
    assert_eq!(y, [0.0]);
}

#[test]
fn random_bits_are_those_of_xla() {
    let text = "func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>) {
  %a, %b = stablehlo.rng_bit_generator %s, algorithm = ALGORITHM : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  return %a, %b : tensor<2xui64>, tensor<5xui32>
}";
    let cases = [
        (
            "THREE_FRY",
            1u64,
            [2968789339u32, 3784990900, 188576916, 2901984476, 2862930057],
        ),
        (
            "DEFAULT",
            0,
            [172511636, 1103493126, 3598856174, 948282324, 1105943027],
        ),
    ];
    for (algorithm, next, bits) in cases {
        let start = Array::vector(vec![0x0123456789abcdefu64, 0xfffffffffffffffe]);
        let f = main_of(&text.replace("ALGORITHM", algorithm));
        let y = reference::run(&f, &[start]).unwrap();
        assert_eq!(
            y[0].as_slice::<u64>().unwrap(),
            [0x0123456789abcdef, next],
            "{algorithm}"
        );
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
