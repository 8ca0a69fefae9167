//! Forms of the text: modules, constants, aliases, and limits on nesting and length.

use super::*;
use cotangent_core::Loc;

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
        let text = format!(
            "func.func @main() -> {ty} {{\n %c = stablehlo.constant {value} : {ty}\n return %c : {ty}\n}}"
        );
        reference::run(&main_of(&text), &[]).unwrap().remove(0)
    };
    assert_eq!(
        c(
            "dense<[[1.5, -2.0e+0], [1, 0x4000000000000000]]>",
            "tensor<2x2xf64>"
        )
        .to_f64(),
        [1.5, -2.0, 1.0, 2.0]
    );
    assert_eq!(
        c("dense<\"0x000080BF0000003F\">", "tensor<2xf32>").to_f64(),
        [-1.0, 0.5]
    );
    assert_eq!(c("dense<0x7FC00000>", "tensor<2xf32>").to_f64().len(), 2);
    assert_eq!(c("dense<0x3C00>", "tensor<f16>").to_f64(), [1.0]);
    assert_eq!(
        c("dense<[true, false]>", "tensor<2xi1>")
            .as_slice::<bool>()
            .unwrap(),
        [true, false]
    );
    // One bit per boolean, and one byte.
    let nine = [true, false, true, true, false, false, false, false, true];
    assert_eq!(
        c("dense<\"0x0D01\">", "tensor<9xi1>")
            .as_slice::<bool>()
            .unwrap(),
        nine
    );
    assert_eq!(
        c("dense<\"0x010001010000000001\">", "tensor<9xi1>")
            .as_slice::<bool>()
            .unwrap(),
        nine
    );
    assert_eq!(
        c("dense<[200, 255]>", "tensor<2xui8>").to_f64(),
        [200.0, 255.0]
    );
    assert_eq!(
        c("dense<[-128, 127]>", "tensor<2xi8>").to_f64(),
        [-128.0, 127.0]
    );
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
    let n = small
        .spawn(move || main_of(&chain).eqns().len())
        .unwrap()
        .join()
        .unwrap();
    assert_eq!(n, 99_999);
}

#[test]
fn results_have_kinds_of_memory() {
    let text = "func.func public @main(%x: tensor<f32> {mhlo.memory_kind = \"device\"}) -> (tensor<f32>, tensor<f32> {mhlo.memory_kind = \"pinned_host\"}) {
  return %x, %x : tensor<f32>, tensor<f32>
}";
    let module = read(text, None).unwrap();
    let kinds = &module.signature().memory_kinds;
    assert_eq!(kinds[..], [None, Some("pinned_host".to_owned())]);
}
