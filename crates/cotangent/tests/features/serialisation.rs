//! `Serialize` and `Deserialize`: JSON (human-readable) and postcard (binary).

use crate::numbers;
use cotangent::ad::Numerics;
use cotangent::tensor::Order;
use cotangent::{
    Array, C64, C128, DType, Program, Result, Tensor, TypedTensor, bf16, f16, for_dtype,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

const SHAPES: [&[usize]; 6] = [&[], &[4], &[2, 3], &[0], &[2, 0, 3], &[1, 3, 1, 2]];

fn from_json(text: &str) -> std::result::Result<Tensor, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

fn through_json(t: &Tensor) -> Tensor {
    let text = serde_json::to_string(t).unwrap();
    let back = from_json(&text).expect(&text);
    // A tree of values has its fields in another order, `data` first.
    let tree = serde_json::to_value(t).unwrap();
    assert!(
        serde_json::from_value::<Tensor>(tree)
            .expect(&text)
            .same_bits(&back),
        "{text}"
    );
    back
}

fn through_bytes(t: &Tensor) -> Tensor {
    postcard::from_bytes(&postcard::to_allocvec(t).unwrap()).unwrap()
}

#[test]
fn every_element_type_survives_both_formats() -> Result<()> {
    for dtype in DType::ALL {
        for shape in SHAPES {
            let t = Tensor::from(numbers(dtype, shape));
            for back in [through_json(&t), through_bytes(&t)] {
                assert!(back.same_bits(&t), "{dtype} {shape:?}");
                assert_eq!(back.shape(), shape);
                assert_eq!(back.order(), Order::RowMajor);
            }
        }
    }
    Ok(())
}

#[test]
fn order_and_strides_are_no_part_of_the_value() -> Result<()> {
    let t = Tensor::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let text = serde_json::to_string(&t).unwrap();
    let bytes = postcard::to_allocvec(&t).unwrap();
    let columns = t.to_order(Order::ColumnMajor)?;
    let twice_reversed = t.flip(0)?.contiguous()?.flip(0)?;
    let wide = Tensor::from_vec_row_major(
        [2, 6],
        vec![1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0, 0.0],
    )?;
    for view in [
        columns,
        twice_reversed,
        t.t()?.t()?,
        wide.slice_step(1, 0..6, 2)?,
    ] {
        assert_eq!(serde_json::to_string(&view).unwrap(), text);
        assert_eq!(postcard::to_allocvec(&view).unwrap(), bytes);
    }
    let repeated = Tensor::scalar(true).broadcast_to([3])?;
    assert_eq!(
        serde_json::to_string(&repeated).unwrap(),
        r#"{"dtype":"i1","shape":[3],"data":[true,true,true]}"#
    );
    Ok(())
}

#[test]
fn extreme_numbers_survive_json() -> Result<()> {
    let integers = [
        Tensor::vector(vec![i64::MIN, -1, 0, i64::MAX]),
        Tensor::vector(vec![u64::MAX, 0, 1 << 53, (1 << 53) + 1]),
        Tensor::vector(vec![i8::MIN, i8::MAX]),
    ];
    let floats = [
        Tensor::vector(vec![
            0.1,
            -0.0,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            1.0 / 3.0,
        ]),
        Tensor::vector(vec![0.1f32, -0.0, 1e-45, f32::MAX, 16_777_216.0, 1.0 / 3.0]),
        Tensor::vector([0.1, -0.0, 6e-8, 65504.0].map(f16::from_f64).to_vec()),
        Tensor::vector([0.1, -0.0, 1e-40, 3.38e38].map(bf16::from_f64).to_vec()),
        Tensor::vector(vec![C64::new(0.1, -0.0), C64::new(f32::MAX, 1e-45)]),
        Tensor::vector(vec![C128::new(0.1, -0.0), C128::new(f64::MAX, 5e-324)]),
    ];
    for t in integers.iter().chain(&floats) {
        assert!(through_json(t).same_bits(t), "{t}");
        assert!(through_bytes(t).same_bits(t), "{t}");
    }
    Ok(())
}

#[test]
fn numbers_that_are_not_finite_are_strings_in_json_and_bits_in_bytes() -> Result<()> {
    let payload = f64::from_bits(0xfff8_0000_0000_beef);
    let t = Tensor::vector(vec![f64::INFINITY, f64::NEG_INFINITY, payload]);
    let text = r#"{"dtype":"f64","shape":[3],"data":["inf","-inf","NaN"]}"#;
    assert_eq!(serde_json::to_string(&t).unwrap(), text);
    assert!(
        through_json(&t).same_bits(&t),
        "any NaN equals any other here"
    );
    let bits = through_bytes(&t).to_vec::<f64>()?[2].to_bits();
    assert_eq!(bits, payload.to_bits());
    for dtype in DType::ALL.into_iter().filter(|d| d.has_tangent()) {
        let wide = cotangent::Scalar::F(f64::NEG_INFINITY).cast(dtype);
        let t = Tensor::full(dtype, [2], wide)?;
        assert!(through_json(&t).same_bits(&t), "{dtype}");
        assert!(through_bytes(&t).same_bits(&t), "{dtype}");
    }
    let z = Tensor::scalar(C64::new(f32::NAN, f32::INFINITY));
    let text = r#"{"dtype":"c64","shape":[],"data":[["NaN","inf"]]}"#;
    assert_eq!(serde_json::to_string(&z).unwrap(), text);
    assert!(through_json(&z).same_bits(&z));
    Ok(())
}

#[test]
fn json_of_other_writers_is_read() -> Result<()> {
    let t =
        from_json(r#"{"comment": {"by": [1]}, "data": [1, 2.5], "shape": [2], "dtype": "f32"}"#);
    assert_eq!(t.unwrap().to_vec::<f32>()?, [1.0, 2.5]);
    let t = from_json(r#"{"dtype": "bool", "shape": [], "data": [true]}"#).unwrap();
    assert!(t.item::<bool>()?);
    let t = from_json(r#"{"dtype": "c128", "shape": [2], "data": [[1, "inf"], 3]}"#).unwrap();
    let want = [C128::new(1.0, f64::INFINITY), C128::new(3.0, 0.0)];
    assert_eq!(t.to_vec::<C128>()?, want);
    // Fields by position, as formats without names write them.
    let t = from_json(r#"["f16", [1], [0.1]]"#).unwrap();
    assert_eq!(t.item::<f16>()?, f16::from_f64(0.1));
    Ok(())
}

#[test]
fn malformed_json_is_an_error_that_names_the_fault() {
    let shape =
        |shape: &str, data: &str| format!(r#"{{"dtype":"f64","shape":{shape},"data":{data}}}"#);
    let data = |dtype: &str, x: &str| format!(r#"{{"dtype":"{dtype}","shape":[1],"data":[{x}]}}"#);
    let cases = [
        (shape("[2]", "[1.0]"), "do not fill"),
        (
            shape("[18446744073709551615, 18446744073709551615]", "[1.0]"),
            "do not fill",
        ),
        (shape("[4294967296, 4294967296]", "[]"), "do not fill"),
        (shape("[9223372036854775807]", "[1.0]"), "do not fill"),
        (shape("[]", "[]"), "do not fill"),
        (shape("[-1]", "[1.0]"), "invalid value"),
        (shape("[1e30]", "[1.0]"), "invalid type"),
        (shape("3", "[1.0]"), "invalid type"),
        (shape("[1]", "1.0"), "a list of numbers"),
        (shape("[1]", "\"AAAAAAAA\""), "a list of numbers"),
        (shape("[1]", "[null]"), "a number"),
        (shape("[1]", "[\"nan\"]"), "\\\"NaN\\\""),
        (shape("[1]", "[{}]"), "a number"),
        (data("f99", "1"), "no element type `f99`"),
        (data("i8", "128"), "not a number of type i8"),
        (data("i8", "1.0"), "not a number of type i8"),
        (data("u8", "-1"), "not a number of type u8"),
        (
            data("i64", "9223372036854775808"),
            "not a number of type i64",
        ),
        (data("i32", "true"), "not a number of type i32"),
        (data("i1", "1"), "not a number of type i1"),
        (data("f64", "true"), "not a number of type f64"),
        (data("f32", "1e39"), "not a number of type f32"),
        (data("f16", "65520"), "not a number of type f16"),
        (data("f64", "[1.0, 2.0]"), "not a number of type f64"),
        (data("c64", "[1.0]"), "a pair of two numbers"),
        (data("c64", "[1.0, 2.0, 3.0]"), "a pair of two numbers"),
        (data("c64", "[[1.0, 2.0], 3.0]"), "a number"),
        (data("c64", "[true, 1.0]"), "a pair of two numbers"),
        (
            r#"{"shape":[1],"data":[1]}"#.into(),
            "missing field `dtype`",
        ),
        (
            r#"{"dtype":"f64","data":[1]}"#.into(),
            "missing field `shape`",
        ),
        (
            r#"{"dtype":"f64","shape":[1]}"#.into(),
            "missing field `data`",
        ),
        (
            r#"{"dtype":"f64","dtype":"f64"}"#.into(),
            "duplicate field `dtype`",
        ),
        (
            r#"{"data":[1],"data":[1]}"#.into(),
            "duplicate field `data`",
        ),
        (r#"["f64", [1]]"#.into(), "invalid length 2"),
        ("3".into(), "a tensor of the fields"),
    ];
    for (text, want) in cases {
        let e = from_json(&text).expect_err(&text);
        assert!(
            e.contains(want) || e.contains(&want.replace("\\\"", "\"")),
            "{text}: {e}"
        );
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(from_json(&shape("[1]", &deep)).is_err());
}

#[test]
fn shapes_without_elements_may_have_any_other_extents() -> Result<()> {
    let text = r#"{"dtype":"f64","shape":[18446744073709551615,0,18446744073709551615],"data":[]}"#;
    let t = from_json(text).unwrap();
    assert_eq!((t.shape(), t.len()), (&[usize::MAX, 0, usize::MAX][..], 0));
    assert_eq!(through_bytes(&t).shape(), t.shape());
    assert_eq!(t.t()?.to_vec::<f64>()?, [0.0; 0]);
    Ok(())
}

/// A tensor as a binary format sees it, to write what no tensor writes.
#[derive(Serialize)]
struct Fields<'a>(&'a str, Vec<u64>, #[serde(serialize_with = "raw")] Vec<u8>);

fn raw<S: serde::Serializer>(bytes: &[u8], s: S) -> std::result::Result<S::Ok, S::Error> {
    s.serialize_bytes(bytes)
}

#[test]
fn malformed_bytes_are_errors() {
    let read = |dtype: &str, shape: &[u64], data: &[u8]| {
        let fields = Fields(dtype, shape.to_vec(), data.to_vec());
        postcard::from_bytes::<Tensor>(&postcard::to_allocvec(&fields).unwrap())
    };
    assert_eq!(
        read("i16", &[2], &[1, 0, 2, 1]).unwrap(),
        Tensor::vector(vec![1i16, 258])
    );
    for (dtype, shape, data) in [
        ("i16", &[2][..], &[1, 0, 2][..]),
        ("i16", &[3], &[1, 0, 2, 0]),
        ("i16", &[1 << 63, 2], &[]),
        ("c128", &[u64::MAX, u64::MAX], &[0; 16]),
        ("i1", &[1], &[2]),
        ("f128", &[1], &[0; 16]),
    ] {
        assert!(read(dtype, shape, data).is_err(), "{dtype} {shape:?}");
    }
    // Every truncation, and lengths that the input does not have.
    let whole = postcard::to_allocvec(&Tensor::vector(vec![1.0f64, 2.0])).unwrap();
    for n in 0..whole.len() {
        assert!(
            postcard::from_bytes::<Tensor>(&whole[..n]).is_err(),
            "{n} bytes"
        );
    }
    let long = [3, b'f', b'6', b'4', 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1];
    assert!(postcard::from_bytes::<Tensor>(&long).is_err());
}

#[test]
fn a_tensor_is_a_field_of_other_types() -> Result<()> {
    #[derive(Serialize, Deserialize)]
    struct Model {
        name: String,
        #[serde(flatten)]
        weights: Tensor,
    }
    let weights = Tensor::vector(vec![0.5f32, 2.0]);
    let name = "layer".to_owned();
    let tree = serde_json::to_value(Model { name, weights }).unwrap();
    assert_eq!(
        tree,
        json!({"name": "layer", "dtype": "f32", "shape": [2], "data": [0.5, 2.0]})
    );
    let model: Model = serde_json::from_value(tree).unwrap();
    assert_eq!(
        (&*model.name, model.weights.to_vec::<f32>()?),
        ("layer", vec![0.5, 2.0])
    );
    Ok(())
}

#[test]
fn typed_tensors_have_the_same_form() -> Result<()> {
    for dtype in DType::ALL {
        let t = Tensor::from(numbers(dtype, &[2, 2]));
        for_dtype!(dtype, T => {
            let typed = TypedTensor::<T>::new(&t)?;
            let text = serde_json::to_string(&typed).unwrap();
            assert_eq!(text, serde_json::to_string(&t).unwrap());
            assert!(serde_json::from_str::<TypedTensor<T>>(&text).unwrap().same_bits(&t));
        });
    }
    let text = serde_json::to_string(&Tensor::scalar(1i32)).unwrap();
    assert!(serde_json::from_str::<TypedTensor<i64>>(&text).is_err());
    Ok(())
}

/// Heron's root of `a`, found by a loop, plus the guarded root of `x`, whose slope at 0 is 0 only
/// with strong zeros.
const GUARDED: &str = r#"
tgraph.numerics {zero_division = "ieee", strong_zero = true}
tgraph.module @roots {
  %a = tgraph.arg : f64
  %x = tgraph.arg : f64
  %far = tgraph.constant {value = inf} : f64
  %last, %root = tgraph.while %a, %far, %a {body_consts = 1} cond(%old: f64, %new: f64) {
    %d = tgraph.sub %old, %new : f64
    %size = tgraph.abs %d : f64
    %small = tgraph.constant {value = 1e-12} : f64
    %more = tgraph.gt %size, %small : i1
    tgraph.return %more : i1
  } body(%b: f64, %old: f64, %new: f64) {
    %q = tgraph.div %b, %new : f64
    %s = tgraph.add %new, %q : f64
    %half = tgraph.constant {value = 0.5} : f64
    %next = tgraph.mul %s, %half : f64
    tgraph.return %new, %next : f64, f64
  } : f64, f64
  %zero = tgraph.constant {value = 0.0} : f64
  %good = tgraph.gt %x, %zero : i1
  %steep = tgraph.sqrt %x : f64
  %guarded = tgraph.select %good, %steep, %zero : f64
  %y = tgraph.add %root, %guarded : f64
  tgraph.return %y : f64
}
tgraph.adjoint @roots wrt(%a, %x) -> @slopes
"#;

/// The value of the main function, its gradient by the directive, and its gradient in the
/// program's own context.
fn evaluated(program: &Program) -> Result<[Vec<Array>; 3]> {
    let at = [Array::scalar(2.0), Array::scalar(0.0)];
    let value = program.run(&at)?;
    let derived = cotangent::run(&program.function("slopes")?, &at)?;
    let (context, main) = (program.context()?, program.main());
    let gradient = cotangent::ad::grad(&context, main, main.params())?;
    Ok([value, derived, cotangent::run(&gradient.into(), &at)?])
}

#[test]
fn a_program_keeps_its_loop_its_names_and_its_numerics() -> Result<()> {
    let program = Program::from_tgraph(GUARDED)?;
    let [value, derived, gradient] = evaluated(&program)?;
    assert!((value[0].to_f64()[0] - 2f64.sqrt()).abs() < 1e-15);
    for g in [&derived, &gradient] {
        let slopes = [g[0].to_f64()[0], g[1].to_f64()[0]];
        assert!((slopes[0] - 0.5 / 2f64.sqrt()).abs() < 1e-12, "{slopes:?}");
        assert_eq!(slopes[1], 0.0, "zeros are strong");
    }
    let plain = program.clone().with_numerics(Numerics::default());
    let slope = evaluated(&plain)?[2][1].to_f64()[0];
    assert!(
        slope.is_nan(),
        "without strong zeros the guard does not hold"
    );

    let text = serde_json::to_string(&program).unwrap();
    let bytes = postcard::to_allocvec(&program).unwrap();
    for back in [
        serde_json::from_str::<Program>(&text).unwrap(),
        postcard::from_bytes::<Program>(&bytes).unwrap(),
    ] {
        assert_eq!(back.numerics(), program.numerics());
        assert!(back.numerics().strong_zero);
        assert_eq!(back.names().collect::<Vec<_>>(), ["roots", "slopes"]);
        assert_eq!(&*back.main().name, "roots");
        for (a, b) in evaluated(&program)?.iter().zip(&evaluated(&back)?) {
            assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(b)));
        }
        assert_eq!(
            back.to_tgraph()?,
            program.to_tgraph()?,
            "a second round trip changes nothing"
        );
        assert!(
            back.to_tgraph()?.contains("%guarded"),
            "values keep their names"
        );
    }
    Ok(())
}

#[test]
fn a_program_from_stablehlo_keeps_its_numerics() -> Result<()> {
    let program = Program::from_stablehlo(
        "func.func @main(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
           %0 = stablehlo.multiply %x, %y : tensor<f64>
           return %0 : tensor<f64>
         }",
    )?;
    let text = serde_json::to_string(&program).unwrap();
    let back: Program = serde_json::from_str(&text).unwrap();
    assert_eq!(back.numerics(), program.numerics());
    let at = [Array::scalar(3.0), Array::scalar(4.0)];
    assert_eq!(back.run(&at)?[0], Array::scalar(12.0));
    Ok(())
}

#[test]
fn a_malformed_program_is_an_error() {
    for text in [
        "3",
        "\"\"",
        "\"tgraph.module @m {\"",
        "\"func.func @main()\"",
        "[]",
    ] {
        assert!(serde_json::from_str::<Program>(text).is_err(), "{text}");
    }
}
