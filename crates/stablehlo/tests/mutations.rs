//! Damaged texts: with parts cut, doubled, moved or exchanged, reading returns a module or an error
//! with a position, and never panics. The texts include the corpus.

use cotangent_core::{Code, Loc};
use cotangent_stablehlo::read;
use std::path::Path;

const TEXT: &str = r##"#loc = loc(unknown)
#d = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
module @jit_f attributes {mhlo.num_partitions = 1 : i32, a = [1 : i64, "x", #d, {b}]} {
  func.func public @main(%arg0: tensor<5x2xf64> {jax.arg_info = "x"} loc("x"), %arg1: tensor<3x1xi32>) -> (tensor<2xf64> {jax.result_info = "r"}, tensor<f64>) {
    %cst = stablehlo.constant dense<[[1.0, 2.0], [-3.5e-1, 0x7FF8000000000000]]> : tensor<2x2xf64> loc(#loc)
    %cst_0 = stablehlo.constant dense<"0x000000000000F03F0000000000000040"> : tensor<2xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #d, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf64>, tensor<3x1xi32>) -> tensor<2x3xf64>
    %1 = stablehlo.dot_general %0, %cst, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %2:2 = stablehlo.while(%i = %c, %x = %cst_0) : tensor<i64>, tensor<2xf64>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i64>
      %9 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %n = stablehlo.constant dense<1> : tensor<i64>
      %z = stablehlo.constant dense<0> : tensor<i64>
      %9 = stablehlo.dynamic_slice %arg0, %i, %z, sizes = [1, 2] : (tensor<5x2xf64>, tensor<i64>, tensor<i64>) -> tensor<1x2xf64>
      %10 = stablehlo.reshape %9 : (tensor<1x2xf64>) -> tensor<2xf64>
      %11 = func.call @g(%x, %10) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %12 = stablehlo.add %i, %n : tensor<i64>
      stablehlo.return %12, %11 : tensor<i64>, tensor<2xf64>
    }
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %3 = stablehlo.reduce(%1 init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %4 = "stablehlo.sort"(%2#1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %9 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<2xf64>) -> tensor<2xf64>
    %5 = stablehlo.slice %4 [0:2:1] : (tensor<2xf64>) -> tensor<2xf64>
    %6 = stablehlo.reshape %5 : (tensor<2xf64>) -> tensor<1x1x2xf64>
    %7 = stablehlo.convolution(%6, %6) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 0]]} {feature_group_count = 1 : i64} : (tensor<1x1x2xf64>, tensor<1x1x2xf64>) -> tensor<1x1x2xf64>
    %8 = stablehlo.pad %5, %3, low = [1], high = [-1], interior = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
    return %8, %3 : tensor<2xf64>, tensor<f64>
  } loc(#loc)
  func.func private @g(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
    %0 = stablehlo.multiply %x, %y : tensor<2xf64>
    return %0 : tensor<2xf64>
  }
}
"##;

/// A text with collectives and tokens of one device, narrow element types, LAPACK routines, and
/// comparators that compute keys.
const SECOND: &str = r##"module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%t: !stablehlo.token, %x: tensor<4xf64>, %a: tensor<2x2xf64>, %q: tensor<4xf8E4M3FN>) -> (!stablehlo.token, tensor<4xf64>, tensor<2x2xf64>) {
    %u = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf64>) -> !stablehlo.token
    %b = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true} : (tensor<4xf64>) -> tensor<i32>
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f64>, %r: tensor<f64>):
      %9 = stablehlo.add %l, %r : tensor<f64>
      stablehlo.return %9 : tensor<f64>
    }) : (tensor<4xf64>) -> tensor<4xf64>
    %1 = "stablehlo.collective_permute"(%0) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<4xf64>) -> tensor<4xf64>
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = chlo.mulhi %2, %2 : tensor<ui32>, tensor<ui32> -> tensor<ui32>
    %4 = "stablehlo.sort"(%1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<f64>, %r: tensor<f64>):
      %7 = stablehlo.abs %l : tensor<f64>
      %8 = stablehlo.abs %r : tensor<f64>
      %9 = stablehlo.compare GT, %7, %8, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<4xf64>) -> tensor<4xf64>
    %v, %i = chlo.top_k(%4, k = 4) : tensor<4xf64> -> (tensor<4xf64>, tensor<4xi32>)
    %c = stablehlo.constant dense<[1.5, 0x7F, -2.0, 448.0]> : tensor<4xf8E4M3FN>
    %d = stablehlo.add %q, %c : tensor<4xf8E4M3FN>
    %e = stablehlo.convert %d : (tensor<4xf8E4M3FN>) -> tensor<4xf64>
    %f = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xi4>
    %g = stablehlo.convert %f : (tensor<4xi4>) -> tensor<4xf64>
    %h:6 = stablehlo.custom_call @lapack_dgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>, tensor<i32>)
    %j:5 = stablehlo.custom_call @lapack_dgeev_ffi(%h#0) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 78 : ui8}} : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
    %k = stablehlo.real %j#2 : (tensor<2x2xcomplex<f64>>) -> tensor<2x2xf64>
    %rows = stablehlo.constant dense<[0, 1, 4]> : tensor<3xi32>
    %columns = stablehlo.constant dense<[0, 1, 0, 3]> : tensor<4xi32>
    %m = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%v, %rows, %columns, %g) : (tensor<4xf64>, tensor<3xi32>, tensor<4xi32>, tensor<4xf64>) -> tensor<2xf64>
    %n = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
    %o = stablehlo.add %n, %k : tensor<2x2xf64>
    return %u, %e, %o : !stablehlo.token, tensor<4xf64>, tensor<2x2xf64>
  }
}
"##;

/// A pseudorandom number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Start and end of a random part of a text, at character boundaries.
fn piece(text: &str, r: &mut Random, longest: usize) -> (usize, usize) {
    let whole = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = whole(r.below(text.len() + 1));
    (
        from,
        whole((from + r.below(longest)).min(text.len())).max(from),
    )
}

fn damage(text: &str, r: &mut Random) -> String {
    const BITS: [&str; 24] = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        ",",
        ":",
        "=",
        "->",
        "\"",
        "%",
        "#",
        "^bb0",
        "dense<",
        "tensor<",
        "-1",
        "99999999999999999999",
        "x",
        "?",
        "loc(",
        "0x",
    ];
    let mut out = text.to_owned();
    for _ in 0..=r.below(3) {
        let (a, b) = piece(&out, r, 30);
        let (c, d) = piece(&out, r, 60);
        match r.below(5) {
            0 => out.replace_range(a..b, ""),
            1 => out.insert_str(a, BITS[r.below(BITS.len())]),
            2 => {
                let copy = out[c..d].to_owned();
                out.replace_range(a..b, &copy);
            }
            3 => {
                let copy = out[c..d].to_owned();
                out.insert_str(a, &copy);
            }
            _ => out.truncate(a),
        }
    }
    out
}

/// The number of damaged texts: `n` times the variable `MUTATIONS`.
fn times(n: usize) -> usize {
    n * std::env::var("MUTATIONS")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(1)
}

/// Replaces a number by another one, including extreme ones.
fn renumber(text: &str, r: &mut Random) -> String {
    const NUMBERS: [&str; 12] = [
        "0",
        "1",
        "2",
        "3",
        "7",
        "-1",
        "-2",
        "65",
        "1000000007",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
    ];
    let digits: Vec<usize> = text
        .char_indices()
        .filter(|(_, c)| c.is_ascii_digit())
        .map(|(i, _)| i)
        .collect();
    let mut out = text.to_owned();
    if let Some(&at) = digits.get(r.below(digits.len())) {
        let n = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        out.replace_range(at..at + n, NUMBERS[r.below(NUMBERS.len())]);
    }
    out
}

/// Ranges of the names of values, or of types.
fn words(text: &str, start: &str) -> Vec<std::ops::Range<usize>> {
    let ends = |rest: &str| match start {
        "%" => rest[1..]
            .find(|c: char| !(c.is_alphanumeric() || "_#".contains(c)))
            .map(|n| n + 1),
        _ => rest.find('>').map(|n| n + 1),
    };
    text.match_indices(start)
        .filter_map(|(at, _)| Some(at..at + ends(&text[at..])?))
        .collect()
}

/// Replaces a value by another, or a type by another. The syntax stays valid.
fn exchange(text: &str, r: &mut Random) -> String {
    let mut out = text.to_owned();
    for _ in 0..=r.below(2) {
        let all = words(&out, ["%", "%", "tensor<"][r.below(3)]);
        let (Some(from), Some(to)) = (all.get(r.below(all.len())), all.get(r.below(all.len())))
        else {
            continue;
        };
        let copy = out[from.clone()].to_owned();
        out.replace_range(to.clone(), &copy);
    }
    out
}

fn check(text: &str) {
    if let Err(e) = read(text, None) {
        assert!(
            e.loc() != Loc::None || e.code() == Code::Input,
            "{e} has no place:\n{text}"
        );
    }
}

#[test]
fn damaged_texts_are_errors_with_a_place() {
    read(TEXT, None).unwrap();
    let mut r = Random(7);
    for _ in 0..times(3_000) {
        check(&damage(TEXT, &mut r));
        check(&renumber(TEXT, &mut r));
        check(&exchange(TEXT, &mut r));
    }
    // Truncated at every position.
    for at in (0..TEXT.len()).filter(|&at| TEXT.is_char_boundary(at)) {
        check(&TEXT[..at]);
    }
}

#[test]
fn damaged_texts_of_one_device_are_errors_with_a_place() {
    read(SECOND, None).unwrap();
    let mut r = Random(5);
    for _ in 0..times(2_000) {
        check(&damage(SECOND, &mut r));
        check(&renumber(SECOND, &mut r));
        check(&exchange(SECOND, &mut r));
    }
}

#[test]
fn damaged_texts_of_the_corpus_are_errors_with_a_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut r = Random(11);
    for folder in std::fs::read_dir(root).unwrap() {
        let Ok(text) = std::fs::read_to_string(folder.unwrap().path().join("module.mlir")) else {
            continue;
        };
        for _ in 0..times(20) {
            check(&damage(&text, &mut r));
            check(&renumber(&text, &mut r));
            check(&exchange(&text, &mut r));
        }
    }
}

/// The body of an elementwise operation takes and returns scalars.
#[test]
fn bodies_take_and_return_scalars() {
    let program = |(op, types): (&str, &str), element: &str, result: &str| {
        format!(
            "func.func @main(%x: tensor<4xf64>, %i: tensor<f64>, %k: tensor<1x1xi32>, %u: tensor<1xf64>) -> tensor<f64> {{
               %y = {op} ({{
               ^bb0(%a: tensor<{element}f64>, %b: tensor<{element}f64>):
                 %c = stablehlo.add %a, %b : tensor<{element}f64>
                 stablehlo.return %{result} : tensor<f64>
               }}) : {types}
               return %i : tensor<f64>
             }}"
        )
    };
    let ops = [
        (
            r#""stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}>"#,
            "(tensor<4xf64>, tensor<f64>) -> tensor<f64>",
        ),
        (
            r#""stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3>}>"#,
            "(tensor<4xf64>, tensor<f64>) -> tensor<2xf64>",
        ),
        (
            r#""stablehlo.scatter"(%x, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>"#,
            "(tensor<4xf64>, tensor<1x1xi32>, tensor<1xf64>) -> tensor<4xf64>",
        ),
    ];
    for op in ops {
        read(program(op, "", "c"), None).unwrap_or_else(|e| panic!("{op:?}: {e}"));
        for (element, result) in [("", "x"), ("2x", "c"), ("4x", "x"), ("4x", "i")] {
            let e = read(program(op, element, result), None).expect_err(op.0);
            assert_eq!(e.code(), Code::ShapeMismatch, "{e}");
            assert!(e.to_string().contains("works on single elements"), "{e}");
        }
    }
}
