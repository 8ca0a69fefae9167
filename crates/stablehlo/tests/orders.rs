//! `sort`, `compare` and `top_k` over special numbers of every float type, in both kinds of order
//! and both directions. Also sorts by computed keys, compared with the comparator itself.

use cotangent_core::{Array, DType, bf16, f16, reference};
use cotangent_stablehlo::read;

const FLOATS: [(DType, &str, u32); 4] = [
    (DType::F16, "f16", 16),
    (DType::BF16, "bf16", 16),
    (DType::F32, "f32", 32),
    (DType::F64, "f64", 64),
];

/// Signed zeros, NaN of both signs, infinities, the least subnormal and normal numbers, ones; some
/// twice.
fn special(dtype: DType) -> Vec<u64> {
    let (bits, mantissa) = match dtype {
        DType::F16 => (16, 10),
        DType::BF16 => (16, 7),
        DType::F32 => (32, 23),
        _ => (64, 52),
    };
    let sign = 1u64 << (bits - 1);
    let infinity = sign - (1 << mantissa);
    let one = (infinity >> 1) & !((1 << mantissa) - 1);
    let all = [
        0,
        infinity | 1 << (mantissa - 1),
        1,
        one,
        infinity,
        1 << mantissa,
        infinity - 1,
        one,
        0,
    ];
    all.into_iter().flat_map(|b| [b, b | sign]).collect()
}

fn array(dtype: DType, bits: &[u64]) -> Array {
    match dtype {
        DType::F16 => Array::vector(
            bits.iter()
                .map(|&b| f16::from_bits(b as u16))
                .collect::<Vec<_>>(),
        ),
        DType::BF16 => Array::vector(
            bits.iter()
                .map(|&b| bf16::from_bits(b as u16))
                .collect::<Vec<_>>(),
        ),
        DType::F32 => Array::vector(
            bits.iter()
                .map(|&b| f32::from_bits(b as u32))
                .collect::<Vec<_>>(),
        ),
        _ => Array::vector(bits.iter().map(|&b| f64::from_bits(b)).collect::<Vec<_>>()),
    }
}

/// Rank of an element in total order.
fn rank(bits: u64, width: u32) -> i128 {
    let sign = bits >> (width - 1) != 0;
    let size = i128::from(bits & ((1 << (width - 1)) - 1));
    if sign { -size - 1 } else { size }
}

fn run(text: &str, x: &[Array]) -> Vec<Array> {
    let module = read(text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    reference::run(module.main(), x).unwrap()
}

fn sorting(n: usize, types: &[&str], body: &str) -> String {
    let all: Vec<String> = types.iter().map(|t| format!("tensor<{n}x{t}>")).collect();
    let args: Vec<String> = all
        .iter()
        .enumerate()
        .map(|(k, t)| format!("%x{k}: {t}"))
        .collect();
    let names: Vec<String> = (0..all.len()).map(|k| format!("%x{k}")).collect();
    let block: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(k, t)| format!("%a{k}: tensor<{t}>, %b{k}: tensor<{t}>"))
        .collect();
    let outs: Vec<String> = (0..all.len()).map(|k| format!("%y#{k}")).collect();
    let all = all.join(", ");
    format!(
        "func.func @main({}) -> ({all}) {{
  %y:{} = \"stablehlo.sort\"({}) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0({}):
    {body}
    stablehlo.return %c : tensor<i1>
  }}) : ({all}) -> ({all})
  return {} : {all}
}}",
        args.join(", "),
        types.len(),
        names.join(", "),
        block.join(", "),
        outs.join(", ")
    )
}

fn compared(x: &str, y: &str, direction: &str, kind: &str, t: &str) -> String {
    format!(
        "stablehlo.compare {direction}, {x}, {y}, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>"
    )
}

#[test]
fn sorts_in_total_order() {
    for (dtype, t, width) in FLOATS {
        let bits = special(dtype);
        let n = bits.len();
        let places = Array::vector((0..n as i32).collect::<Vec<_>>());
        for (direction, down, swapped) in [
            ("LT", false, false),
            ("GT", true, false),
            ("GT", false, true),
            ("LE", false, false),
        ] {
            let (x, y) = if swapped {
                ("%b0", "%a0")
            } else {
                ("%a0", "%b0")
            };
            let body = format!("%c = {}", compared(x, y, direction, "TOTALORDER", t));
            let y = run(
                &sorting(n, &[t, "i32"], &body),
                &[array(dtype, &bits), places.clone()],
            );
            let mut want: Vec<usize> = (0..n).collect();
            want.sort_by_key(|&k| {
                if down {
                    -rank(bits[k], width)
                } else {
                    rank(bits[k], width)
                }
            });
            let got: Vec<usize> = y[1].to_f64().iter().map(|&k| k as usize).collect();
            assert_eq!(got, want, "{t} {direction}");
        }
    }
}

/// The numeric order: zeros are equal. NaN of either sign comes last in ascending order and first
/// in descending order.
#[test]
fn sorts_in_the_order_of_numbers() {
    for (dtype, t, width) in FLOATS {
        let bits = special(dtype);
        let values = array(dtype, &bits).to_f64();
        let n = bits.len();
        let places = Array::vector((0..n as i32).collect::<Vec<_>>());
        // JAX's form: total order, after zeros and NaN are replaced by one representative each.
        let alike = |v: &str, to: &str| {
            format!(
                "%z{v} = stablehlo.constant dense<0.0> : tensor<{t}>
    %e{v} = {}
    %s{v} = stablehlo.select %e{v}, %z{v}, %{v} : tensor<i1>, tensor<{t}>
    %n{v} = {}
    %q{v} = stablehlo.constant dense<0x{}> : tensor<{t}>
    %{to} = stablehlo.select %n{v}, %q{v}, %s{v} : tensor<i1>, tensor<{t}>",
                compared(&format!("%{v}"), &format!("%z{v}"), "EQ", "FLOAT", t),
                compared(&format!("%{v}"), &format!("%{v}"), "NE", "FLOAT", t),
                match width {
                    16 if t == "f16" => "7E00",
                    16 => "7FC0",
                    32 => "7FC00000",
                    _ => "7FF8000000000000",
                }
            )
        };
        for (direction, down) in [("LT", false), ("GT", true)] {
            let plain = format!("%c = {}", compared("%a0", "%b0", direction, "FLOAT", t));
            let jax = format!(
                "{}\n    {}\n    %c = {}",
                alike("a0", "p"),
                alike("b0", "r"),
                compared("%p", "%r", direction, "TOTALORDER", t)
            );
            let key = |k: usize| {
                if values[k].is_nan() {
                    f64::INFINITY
                } else {
                    values[k]
                }
            };
            let mut want: Vec<usize> = (0..n).collect();
            want.sort_by(|&i, &j| {
                let (a, b) = (values[i].is_nan(), values[j].is_nan());
                let o = a.cmp(&b).then(key(i).partial_cmp(&key(j)).unwrap());
                if down { o.reverse() } else { o }
            });
            for body in [plain, jax] {
                let y = run(
                    &sorting(n, &[t, "i32"], &body),
                    &[array(dtype, &bits), places.clone()],
                );
                let got: Vec<usize> = y[1].to_f64().iter().map(|&k| k as usize).collect();
                assert_eq!(got, want, "{t} {direction} {body}");
            }
        }
    }
}

#[test]
fn compares_in_total_order() {
    for (dtype, t, width) in FLOATS {
        let bits = special(dtype);
        let n = bits.len();
        let first: Vec<u64> = (0..n * n).map(|k| bits[k / n]).collect();
        let second: Vec<u64> = (0..n * n).map(|k| bits[k % n]).collect();
        let ty = format!("tensor<{}x{t}>", n * n);
        for (direction, holds) in [
            ("LT", [true, false, false]),
            ("LE", [true, true, false]),
            ("EQ", [false, true, false]),
            ("NE", [true, false, true]),
            ("GE", [false, true, true]),
            ("GT", [false, false, true]),
        ] {
            let text = format!(
                "func.func @main(%x: {ty}, %y: {ty}) -> tensor<{m}xi1> {{
  %c = stablehlo.compare {direction}, %x, %y, TOTALORDER : ({ty}, {ty}) -> tensor<{m}xi1>
  return %c : tensor<{m}xi1>
}}",
                m = n * n
            );
            let y = run(&text, &[array(dtype, &first), array(dtype, &second)])[0].to_f64();
            for k in 0..n * n {
                let o = rank(first[k], width).cmp(&rank(second[k], width)) as i8 + 1;
                assert_eq!(
                    y[k] != 0.0,
                    holds[o as usize],
                    "{t} {direction} {:x} {:x}",
                    first[k],
                    second[k]
                );
            }
        }
    }
}

#[test]
fn the_greatest_come_first_in_total_order() {
    for (dtype, t, width) in FLOATS {
        let bits = special(dtype);
        let n = bits.len();
        let text = format!(
            "func.func @main(%x: tensor<{n}x{t}>) -> (tensor<7x{t}>, tensor<7xi32>) {{
  %v, %i = chlo.top_k(%x, k = 7) : tensor<{n}x{t}> -> (tensor<7x{t}>, tensor<7xi32>)
  return %v, %i : tensor<7x{t}>, tensor<7xi32>
}}"
        );
        let y = run(&text, &[array(dtype, &bits)]);
        let mut want: Vec<usize> = (0..n).collect();
        want.sort_by_key(|&k| -rank(bits[k], width));
        let got: Vec<usize> = y[1].to_f64().iter().map(|&k| k as usize).collect();
        assert_eq!(got, want[..7], "{t}");
    }
}

/// Comparators with computed keys: one, several, and a comparator without keys.
#[test]
fn sorts_by_what_a_comparator_computes() {
    let x = [3.0, -1.0, 0.5, -2.0, 1.0, 2.0, -0.5, -3.0, 1.5];
    let n = x.len();
    let places = Array::vector((0..n as i32).collect::<Vec<_>>());
    let less = |x: &str, y: &str| format!("%c = {}", compared(x, y, "LT", "FLOAT", "f64"));
    let each = |write: &str| {
        ["a", "b"]
            .map(|s| write.replace("{v}", &format!("%{s}0")).replace("{n}", s))
            .join("\n    ")
    };
    let by = |key: &dyn Fn(f64) -> f64| {
        let mut want: Vec<usize> = (0..n).collect();
        want.sort_by(|&i, &j| key(x[i]).partial_cmp(&key(x[j])).unwrap());
        want
    };
    let abs = each("%{n}key = stablehlo.abs {v} : tensor<f64>");
    let negated = each("%{n}key = stablehlo.negate {v} : tensor<f64>");
    let bent = each(
        "%{n}k = stablehlo.constant dense<1.0> : tensor<f64>
    %{n}m = stablehlo.subtract {v}, %{n}k : tensor<f64>
    %{n}key = stablehlo.multiply %{n}m, %{n}m : tensor<f64>",
    );
    // The sign of the difference of both sides: an ordinary comparison, but not by a key of each
    // side.
    let mixed = "%d = stablehlo.subtract %a0, %b0 : tensor<f64>
    %z = stablehlo.constant dense<0.0> : tensor<f64>
    %c = stablehlo.compare GT, %d, %z, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>";
    let cases: [(String, Vec<usize>); 5] = [
        (
            format!("{abs}\n    {}", less("%akey", "%bkey")),
            by(&f64::abs),
        ),
        (
            format!("{negated}\n    {}", less("%akey", "%bkey")),
            by(&|x| -x),
        ),
        (
            format!("{abs}\n    {}", less("%bkey", "%akey")),
            by(&|x| -x.abs()),
        ),
        (
            format!("{bent}\n    {}", less("%akey", "%bkey")),
            by(&|x| (x - 1.0) * (x - 1.0)),
        ),
        (mixed.into(), by(&|x| -x)),
    ];
    for (body, want) in cases {
        let y = run(
            &sorting(n, &["f64", "i32"], &body),
            &[Array::vector(x.to_vec()), places.clone()],
        );
        let got: Vec<usize> = y[1].to_f64().iter().map(|&k| k as usize).collect();
        assert_eq!(got, want, "{body}");
        let moved: Vec<f64> = want.iter().map(|&k| x[k]).collect();
        assert_eq!(y[0].to_f64(), moved);
    }
    // A key sorts axes of any extent, also if each side has its own constants.
    let long = sorting(
        1 << 14,
        &["f64", "i32"],
        &format!("{bent}\n    {}", less("%akey", "%bkey")),
    );
    assert!(read(&long, None).is_ok(), "{long}");
}
