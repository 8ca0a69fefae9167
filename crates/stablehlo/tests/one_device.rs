//! Programs for one device: collectives with one participant, host callbacks with unused results,
//! and tokens. Also narrow element types.

use cotangent_core::{Array, Code, reference};
use cotangent_stablehlo::read;

fn run(text: &str, x: &[Array]) -> Vec<Array> {
    let module = read(text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    reference::run(module.main(), x).unwrap()
}

fn collective(attributes: &str, op: &str) -> String {
    format!(
        "module @m attributes {{{attributes}}} {{
  func.func public @main(%x: tensor<4xf64>) -> tensor<4xf64> {{
    {op}
    return %y : tensor<4xf64>
  }}
}}"
    )
}

const ONE: &str = "mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32";
const TWO: &str = "mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32";

/// Every collective, with these groups.
fn collectives(groups: &str) -> Vec<String> {
    let reduction = "({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    })";
    let ty = "(tensor<4xf64>) -> tensor<4xf64>";
    [
        format!("%y = \"stablehlo.all_reduce\"(%x) <{{{groups}}}> {reduction} : {ty}"),
        format!("%y = \"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = 0 : i64, {groups}}}> {reduction} : {ty}"),
        format!("%y = \"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, {groups}}}> : {ty}"),
        format!(
            "%y = \"stablehlo.all_to_all\"(%x) <{{concat_dimension = 0 : i64, split_count = 1 : i64, \
             split_dimension = 0 : i64, {groups}}}> : {ty}"
        ),
        format!("%y = \"stablehlo.collective_broadcast\"(%x) <{{{groups}}}> : {ty}"),
    ]
    .into()
}

#[test]
fn a_collective_of_one_is_the_identity_and_of_two_is_refused() {
    let x = Array::vector(vec![1.0, -2.0, 3.0, 0.5]);
    let single = [
        "replica_groups = dense<0> : tensor<1x1xi64>",
        "replica_groups = dense<[[0]]> : tensor<1x1xi64>",
        "replica_groups = dense<> : tensor<0x0xi64>",
        "replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>",
    ];
    for groups in single {
        for op in collectives(groups) {
            assert_eq!(
                run(&collective(ONE, &op), std::slice::from_ref(&x))[0].to_f64(),
                x.to_f64(),
                "{op}"
            );
        }
    }
    let pair = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
    for (attributes, groups) in [(ONE, pair), (TWO, pair), (TWO, single[0]), (TWO, single[2])] {
        for op in collectives(groups) {
            let e = read(collective(attributes, &op), None).unwrap_err();
            assert_eq!(e.code(), Code::UnknownOperation, "{op}");
            assert!(e.to_string().contains("3:5"), "{e}");
        }
    }
    let permute = |pairs: &str| {
        format!(
            "%y = \"stablehlo.collective_permute\"(%x) <{{source_target_pairs = {pairs}}}> : (tensor<4xf64>) -> tensor<4xf64>"
        )
    };
    let one = |p: &str| run(&collective(ONE, &permute(p)), std::slice::from_ref(&x))[0].to_f64();
    assert_eq!(one("dense<0> : tensor<1x2xi64>"), x.to_f64());
    assert_eq!(one("dense<> : tensor<0x2xi64>"), [0.0; 4]);
    assert!(
        read(
            collective(ONE, &permute("dense<[[0, 1]]> : tensor<1x2xi64>")),
            None
        )
        .is_err()
    );
    for name in ["partition_id", "replica_id"] {
        let op = format!(
            "%p = stablehlo.{name} : tensor<ui32>\n    %q = stablehlo.convert %p : (tensor<ui32>) -> tensor<f64>\n    %b = stablehlo.broadcast_in_dim %q, dims = [] : (tensor<f64>) -> tensor<4xf64>\n    %y = stablehlo.add %x, %b : tensor<4xf64>"
        );
        assert_eq!(
            run(&collective(ONE, &op), std::slice::from_ref(&x))[0].to_f64(),
            x.to_f64()
        );
        assert!(read(collective(TWO, &op), None).is_err());
    }
}

const CALL: &str = "stablehlo.custom_call @xla_ffi_python_cpu_callback";

/// A loop that carries results of callbacks for other callbacks only, a branch that prints, and an
/// ordered callback with a token.
fn progress(returned: &str) -> String {
    format!(
        "func.func public @main(%t: !stablehlo.token, %x: tensor<f64>) -> (!stablehlo.token, tensor<f64>) {{
  %c = stablehlo.constant dense<0> : tensor<i32>
  %u = {CALL}(%t, %x) {{has_side_effect = true}} : (!stablehlo.token, tensor<f64>) -> !stablehlo.token
  %bar = {CALL}(%c) {{has_side_effect = true}} : (tensor<i32>) -> tensor<i32>
  %w:4 = stablehlo.while(%i = %c, %y = %x, %b = %bar, %k = %u) : tensor<i32>, tensor<f64>, tensor<i32>, !stablehlo.token
  cond {{
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %next:2 = func.call @step(%y, %b) : (tensor<f64>, tensor<i32>) -> (tensor<f64>, tensor<i32>)
    %q = stablehlo.compare GT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %z = \"stablehlo.if\"(%q) ({{
      {CALL}(%next#1) {{has_side_effect = true}} : (tensor<i32>) -> ()
      stablehlo.return %next#0 : tensor<f64>
    }}, {{
      stablehlo.return %next#0 : tensor<f64>
    }}) : (tensor<i1>) -> tensor<f64>
    stablehlo.return %j, %z, %next#1, %k : tensor<i32>, tensor<f64>, tensor<i32>, !stablehlo.token
  }}
  return %w#3, {returned} : !stablehlo.token, tensor<f64>
}}
func.func private @step(%y: tensor<f64>, %b: tensor<i32>) -> (tensor<f64>, tensor<i32>) {{
  %two = stablehlo.constant dense<2.0> : tensor<f64>
  %z = stablehlo.multiply %y, %two : tensor<f64>
  %d = {CALL}(%b, %z) {{has_side_effect = true}} : (tensor<i32>, tensor<f64>) -> tensor<i32>
  return %z, %d : tensor<f64>, tensor<i32>
}}"
    )
}

#[test]
fn callbacks_that_nobody_reads_are_dropped_and_said_once() {
    let text = progress("%w#1");
    let module = read(&text, None).unwrap();
    assert_eq!(
        reference::run(module.main(), &[Array::scalar(1.5)]).unwrap()[0].to_f64(),
        [12.0]
    );
    let [note] = module.notes() else {
        panic!("{:?}", module.notes())
    };
    assert_eq!(
        note,
        "host callbacks dropped (line 3, and 3 more): their results reach no result of the program"
    );
    // The private function returns the result of a callback, so requesting it by name is an error.
    assert_eq!(
        module.function("step").unwrap_err().code(),
        Code::UnknownOperation
    );
}

#[test]
fn callbacks_that_are_read_are_refused_where_they_stand() {
    // The result is read through the carry of a loop and a conversion.
    let text = progress("%v").replace(
        "  return %w#3",
        "  %v = stablehlo.convert %w#2 : (tensor<i32>) -> tensor<f64>\n  return %w#3",
    );
    let e = read(&text, None).unwrap_err();
    assert_eq!(e.code(), Code::UnknownOperation);
    assert!(e.to_string().contains("its results are read"), "{e}");
    // The result is read through the condition of a branch.
    let text = format!(
        "func.func @main(%x: tensor<f64>) -> tensor<f64> {{
  %p = {CALL}(%x) : (tensor<f64>) -> tensor<i1>
  %y = \"stablehlo.if\"(%p) ({{
    stablehlo.return %x : tensor<f64>
  }}, {{
    stablehlo.return %x : tensor<f64>
  }}) : (tensor<i1>) -> tensor<f64>
  return %y : tensor<f64>
}}"
    );
    assert!(read(&text, None).unwrap_err().to_string().contains("2:3"));
}

#[test]
fn high_halves_of_products() {
    fn check<T: cotangent_core::Element + Copy + Into<i128>>(name: &str, values: &[T], bits: u32) {
        let all: Vec<(T, T)> = values
            .iter()
            .flat_map(|&a| values.iter().map(move |&b| (a, b)))
            .collect();
        let n = all.len();
        let ty = format!("tensor<{n}x{name}>");
        let text = format!(
            "func.func @main(%x: {ty}, %y: {ty}) -> {ty} {{\n  %z = chlo.mulhi %x, %y : {ty}, {ty} -> {ty}\n  return %z : {ty}\n}}"
        );
        let x = [
            all.iter().map(|p| p.0).collect::<Vec<_>>(),
            all.iter().map(|p| p.1).collect(),
        ]
        .map(Array::vector);
        let y = run(&text, &x);
        let got = y[0].as_slice::<T>().unwrap();
        for ((a, b), got) in all.iter().zip(got) {
            let (a, b): (i128, i128) = ((*a).into(), (*b).into());
            // Products of unsigned 64-bit numbers do not fit in 127 bits.
            let want = if a > 1 << 62 && b > 1 << 62 {
                ((a as u128 * b as u128) >> bits) as i128
            } else {
                (a * b) >> bits
            };
            assert_eq!((*got).into(), want, "{name} {a} {b}");
        }
    }
    check("i8", &[0i8, 1, -1, 77, i8::MAX, i8::MIN], 8);
    check("ui8", &[0u8, 1, 77, u8::MAX], 8);
    check("i16", &[0i16, 1, -1, 7777, i16::MAX, i16::MIN], 16);
    check("ui16", &[0u16, 1, 7777, u16::MAX], 16);
    check("i32", &[0i32, 1, -1, 77_777_777, i32::MAX, i32::MIN], 32);
    check("ui32", &[0u32, 1, 77_777_777, u32::MAX], 32);
    check(
        "i64",
        &[0i64, 1, -1, 7_777_777_777_777_777, i64::MAX, i64::MIN],
        64,
    );
    check(
        "ui64",
        &[0u64, 1, 1 << 32, 7_777_777_777_777_777, u64::MAX],
        64,
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn numbers_of_few_bits_pass_through_conversions() {
    // Names of formats, and the rounded value of each number. NaN compares equal to NaN.
    let x = [
        0.3,
        -0.3,
        1.75,
        5.0,
        7.75,
        100.0,
        464.0,
        500.0,
        -70000.0,
        f64::NAN,
    ];
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    let formats: [(&str, [f64; 10]); 10] = [
        (
            "f8E4M3FN",
            [0.3125, -0.3125, 1.75, 5.0, 8.0, 96.0, 448.0, nan, nan, nan],
        ),
        (
            "f8E5M2",
            [
                0.3125, -0.3125, 1.75, 5.0, 8.0, 96.0, 448.0, 512.0, -inf, nan,
            ],
        ),
        (
            "f8E4M3",
            [0.3125, -0.3125, 1.75, 5.0, 8.0, 96.0, inf, inf, -inf, nan],
        ),
        (
            "f8E3M4",
            [
                0.296875, -0.296875, 1.75, 5.0, 7.75, inf, inf, inf, -inf, nan,
            ],
        ),
        (
            "f8E4M3FNUZ",
            [0.3125, -0.3125, 1.75, 5.0, 8.0, 96.0, nan, nan, nan, nan],
        ),
        (
            "f8E5M2FNUZ",
            [
                0.3125, -0.3125, 1.75, 5.0, 8.0, 96.0, 448.0, 512.0, nan, nan,
            ],
        ),
        (
            "f8E4M3B11FNUZ",
            [0.3125, -0.3125, 1.75, 5.0, 8.0, nan, nan, nan, nan, nan],
        ),
        (
            "f6E2M3FN",
            [0.25, -0.25, 1.75, 5.0, 7.5, 7.5, 7.5, 7.5, -7.5, 0.0],
        ),
        (
            "f6E3M2FN",
            [
                0.3125, -0.3125, 1.75, 5.0, 8.0, 28.0, 28.0, 28.0, -28.0, 0.0,
            ],
        ),
        (
            "f4E2M1FN",
            [0.5, -0.5, 2.0, 4.0, 6.0, 6.0, 6.0, 6.0, -6.0, 0.0],
        ),
    ];
    for (name, want) in formats {
        let text = format!(
            "func.func @main(%x: tensor<10xf64>) -> (tensor<10xf64>, tensor<10xi1>) {{
  %a = stablehlo.convert %x : (tensor<10xf64>) -> tensor<10x{name}>
  %r = stablehlo.reshape %a : (tensor<10x{name}>) -> tensor<2x5x{name}>
  %b = stablehlo.convert %r : (tensor<2x5x{name}>) -> tensor<2x5xf64>
  %y = stablehlo.reshape %b : (tensor<2x5xf64>) -> tensor<10xf64>
  %c = stablehlo.compare EQ, %a, %a : (tensor<10x{name}>, tensor<10x{name}>) -> tensor<10xi1>
  return %y, %c : tensor<10xf64>, tensor<10xi1>
}}"
        );
        for (y, want) in run(&text, &[Array::vector(x.to_vec())])[0]
            .to_f64()
            .into_iter()
            .zip(want)
        {
            assert!(
                y == want || y.is_nan() && want.is_nan(),
                "{name}: {y} and {want}"
            );
        }
    }
    // Arithmetic is rounded after each operation, constants are rounded to nearest, and bit casts
    // keep the bits.
    let text = "func.func @main() -> (tensor<3xf32>, tensor<3xui8>, tensor<3xf32>) {
  %a = stablehlo.constant dense<[1.1, 17.0, 400.0]> : tensor<3xf8E4M3FN>
  %b = stablehlo.add %a, %a : tensor<3xf8E4M3FN>
  %c = stablehlo.convert %b : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  %d = stablehlo.bitcast_convert %a : (tensor<3xf8E4M3FN>) -> tensor<3xui8>
  %e = stablehlo.constant dense<\"0x387FFF\"> : tensor<3xf8E4M3FN>
  %f = stablehlo.convert %e : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  return %c, %d, %f : tensor<3xf32>, tensor<3xui8>, tensor<3xf32>
}";
    let y = run(text, &[]);
    let sums = y[0].to_f64();
    assert!(
        sums[0] == 2.25 && sums[1] == 32.0 && sums[2].is_nan(),
        "{sums:?}"
    );
    assert_eq!(y[1].to_f64(), [0x39 as f64, 0x58 as f64, 0x7C as f64]);
    let read = y[2].to_f64();
    assert!(
        read[0] == 1.0 && read[1].is_nan() && read[2].is_nan(),
        "{read:?}"
    );
}

#[test]
fn integers_of_few_bits_wrap_and_floats_stop_at_the_ends() {
    let x: Vec<i32> = vec![-300, -17, -9, -8, -1, 0, 1, 2, 7, 8, 15, 16, 255, 300];
    let n = x.len();
    for (name, bits, signed) in [
        ("i4", 4, true),
        ("ui4", 4, false),
        ("i2", 2, true),
        ("ui2", 2, false),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<{n}xi32>, %f: tensor<{n}xf32>) -> (tensor<{n}xi32>, tensor<{n}xi32>, tensor<{n}xi32>) {{
  %a = stablehlo.convert %x : (tensor<{n}xi32>) -> tensor<{n}x{name}>
  %b = stablehlo.convert %f : (tensor<{n}xf32>) -> tensor<{n}x{name}>
  %s = stablehlo.add %a, %a : tensor<{n}x{name}>
  %p = stablehlo.convert %a : (tensor<{n}x{name}>) -> tensor<{n}xi32>
  %q = stablehlo.convert %b : (tensor<{n}x{name}>) -> tensor<{n}xi32>
  %r = stablehlo.convert %s : (tensor<{n}x{name}>) -> tensor<{n}xi32>
  return %p, %q, %r : tensor<{n}xi32>, tensor<{n}xi32>, tensor<{n}xi32>
}}"
        );
        let f = x.iter().map(|&i| i as f32).collect::<Vec<_>>();
        let y = run(&text, &[Array::vector(x.clone()), Array::vector(f)]);
        let wrap = |i: i32| {
            let low = i & ((1 << bits) - 1);
            if signed && low >> (bits - 1) != 0 {
                low - (1 << bits)
            } else {
                low
            }
        };
        let (least, most) = if signed {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        };
        for (k, &i) in x.iter().enumerate() {
            let got = [0, 1, 2].map(|r| y[r].to_f64()[k] as i32);
            assert_eq!(
                got,
                [wrap(i), i.clamp(least, most), wrap(2 * wrap(i))],
                "{name} {i}"
            );
        }
    }
}

/// An operation on two integers of `bits` bits, signed or unsigned: a model that uses no wider
/// element type.
fn model(op: &str, a: i64, b: i64, bits: u32, signed: bool) -> i64 {
    let code = |v: i64| v & ((1 << bits) - 1);
    let shift = code(b);
    let most = i64::from(bits);
    let y = match op {
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "divide" if b == 0 => -1,
        "divide" => a / b,
        "remainder" if b == 0 => a,
        "remainder" => a % b,
        "maximum" => a.max(b),
        "minimum" => a.min(b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "shift_left" if shift >= most => 0,
        "shift_left" => a << shift,
        "shift_right_logical" if shift >= most => 0,
        "shift_right_logical" => code(a) >> shift,
        // The highest bit is replicated, also for unsigned types.
        "shift_right_arithmetic" => {
            ((code(a) << (64 - bits)) >> (64 - bits)) >> shift.min(most - 1)
        }
        "mulhi" => (a * b) >> bits,
        "not" => !a,
        "negate" => -a,
        "abs" => a.abs(),
        "sign" => a.signum(),
        "popcnt" => i64::from(code(a).count_ones()),
        "count_leading_zeros" => i64::from(code(a).leading_zeros()) - (64 - most),
        _ => unreachable!("{op}"),
    };
    if signed && code(y) >> (bits - 1) != 0 {
        code(y) - (1 << bits)
    } else {
        code(y)
    }
}

#[test]
fn arithmetic_of_few_bits_is_that_of_these_bits() {
    let two = [
        "add",
        "subtract",
        "multiply",
        "divide",
        "remainder",
        "maximum",
        "minimum",
        "and",
        "or",
        "xor",
        "shift_left",
        "shift_right_logical",
        "shift_right_arithmetic",
        "mulhi",
    ];
    let one = [
        "not",
        "negate",
        "abs",
        "sign",
        "popcnt",
        "count_leading_zeros",
    ];
    let mut bad = Vec::new();
    for (name, bits, signed) in [
        ("i4", 4, true),
        ("ui4", 4, false),
        ("i2", 2, true),
        ("ui2", 2, false),
    ] {
        let all: Vec<i64> = if signed {
            -(1 << (bits - 1))..1 << (bits - 1)
        } else {
            0..1 << bits
        }
        .collect();
        let (x, y): (Vec<i64>, Vec<i64>) = all
            .iter()
            .flat_map(|&a| all.iter().map(move |&b| (a, b)))
            .unzip();
        let array = |v: &[i64]| match signed {
            true => Array::vector(v.iter().map(|&i| i as i8).collect::<Vec<_>>()),
            false => Array::vector(v.iter().map(|&i| i as u8).collect::<Vec<_>>()),
        };
        let ty = format!("tensor<{}x{name}>", x.len());
        for op in two.iter().chain(&one) {
            if !signed && matches!(*op, "negate" | "abs" | "sign") {
                continue;
            }
            let line = match *op {
                "mulhi" => format!("chlo.mulhi %x, %y : {ty}, {ty} -> {ty}"),
                op if one.contains(&op) => format!("stablehlo.{op} %x : {ty}"),
                op => format!("stablehlo.{op} %x, %y : {ty}"),
            };
            let text = format!(
                "func.func @main(%x: {ty}, %y: {ty}) -> {ty} {{\n  %z = {line}\n  return %z : {ty}\n}}"
            );
            let got = run(&text, &[array(&x), array(&y)])[0].to_f64();
            for (k, got) in got.into_iter().enumerate() {
                let want = model(op, x[k], y[k], bits, signed);
                if got != want as f64 {
                    bad.push(format!(
                        "{name} {op}({}, {}) = {got}, not {want}",
                        x[k], y[k]
                    ));
                }
            }
        }
    }
    assert!(
        bad.is_empty(),
        "{} wrong: {:?}",
        bad.len(),
        &bad[..bad.len().min(20)]
    );
}

#[test]
fn bits_are_read_in_groups_of_any_size() {
    let bytes: Vec<u8> = (0..=255).collect();
    let narrow = [
        ("i2", 2),
        ("ui2", 2),
        ("i4", 4),
        ("ui4", 4),
        ("f4E2M1FN", 4),
        ("f8E4M3B11FNUZ", 8),
        ("f8E8M0FNU", 8),
    ];
    for (name, bits) in narrow {
        let parts = if bits == 8 {
            String::new()
        } else {
            format!("{}x", 8 / bits)
        };
        let few = format!("tensor<256x{parts}{name}>");
        let integer = format!("tensor<256x{parts}ui{bits}>");
        let text = format!(
            "func.func @main(%x: tensor<256xui8>) -> (tensor<256xui8>, {integer}, tensor<128xui16>) {{
  %a = stablehlo.bitcast_convert %x : (tensor<256xui8>) -> {few}
  %b = stablehlo.bitcast_convert %a : ({few}) -> tensor<256xui8>
  %c = stablehlo.bitcast_convert %a : ({few}) -> {integer}
  %d = stablehlo.reshape %a : ({few}) -> tensor<128x{}x{name}>
  %e = stablehlo.bitcast_convert %d : (tensor<128x{}x{name}>) -> tensor<128xui16>
  return %b, %c, %e : tensor<256xui8>, {integer}, tensor<128xui16>
}}",
            16 / bits,
            16 / bits
        );
        let y = run(&text, &[Array::vector(bytes.clone())]);
        assert_eq!(
            y[0].to_f64(),
            bytes.iter().map(|&b| f64::from(b)).collect::<Vec<_>>(),
            "{name}"
        );
        let parts = |b: u8| {
            (0..8 / bits).map(move |k| f64::from((b >> (bits * k)) & ((1u16 << bits) - 1) as u8))
        };
        assert_eq!(
            y[1].to_f64(),
            bytes.iter().flat_map(|&b| parts(b)).collect::<Vec<_>>(),
            "{name}"
        );
        let pairs: Vec<f64> = bytes
            .chunks(2)
            .map(|p| f64::from(u16::from_le_bytes([p[0], p[1]])))
            .collect();
        assert_eq!(y[2].to_f64(), pairs, "{name}");
    }
}

/// A conversion through a narrow type has the derivative of the identity.
#[test]
fn conversions_to_few_bits_pass_derivatives_on() {
    let text = "func.func @main(%x: tensor<3xf32>) -> tensor<f32> {
  %a = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  %b = stablehlo.convert %a : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
  %c = stablehlo.multiply %b, %b : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}";
    let f = read(text, None).unwrap().main().clone();
    let g = cotangent_core::transform::grad(&cotangent_core::AdContext::default(), &f, f.params())
        .unwrap();
    let y = reference::run(&g, &[Array::vector(vec![0.3f32, 1.0, 5.2])]).unwrap();
    assert_eq!(y.last().unwrap().to_f64(), [0.625, 2.0, 10.0]);
}

#[test]
fn sparse_rows_are_multiplied_and_padding_is_not_read() {
    for (shape, values) in [("2", vec![1.0, 10.0]), ("2x2", vec![1.0, 2.0, 10.0, 20.0])] {
        let result = shape.replacen('2', "3", 1);
        let text = format!(
            "func.func @main(%d: tensor<4xf64>, %x: tensor<{shape}xf64>) -> tensor<{result}xf64> {{
  %r = stablehlo.constant dense<[0, 1, 1, 3]> : tensor<4xi32>
  %c = stablehlo.constant dense<[0, 1, 0, 2]> : tensor<4xi32>
  %y = stablehlo.custom_call @cpu_csr_sparse_dense_ffi(%d, %r, %c, %x) : (tensor<4xf64>, tensor<4xi32>, tensor<4xi32>, tensor<{shape}xf64>) -> tensor<{result}xf64>
  return %y : tensor<{result}xf64>
}}"
        );
        let x = if shape == "2" {
            Array::vector(values)
        } else {
            Array::from_vec([2, 2], values).unwrap()
        };
        let y = run(&text, &[Array::vector(vec![2.0, 3.0, 5.0, 7.0]), x])[0].to_f64();
        match y.len() {
            3 => assert_eq!(y, [2.0, 0.0, 35.0]),
            _ => assert_eq!(y, [2.0, 4.0, 0.0, 0.0, 35.0, 70.0]),
        }
    }
}

#[test]
fn extrema_of_complex_numbers_go_by_real_and_imaginary_part() {
    let z = |v: &[(f64, f64)]| {
        Array::vector(
            v.iter()
                .map(|&(a, b)| cotangent_core::C128::new(a, b))
                .collect::<Vec<_>>(),
        )
    };
    let x = z(&[(1.0, 2.0), (1.0, 3.0), (2.0, 0.0), (1.0, 1.0)]);
    let y = z(&[(1.0, 1.0), (1.0, 4.0), (1.0, 9.0), (1.0, 1.0)]);
    let ty = "tensor<4xcomplex<f64>>";
    for (name, want) in [
        ("maximum", [(1.0, 2.0), (1.0, 4.0), (2.0, 0.0), (1.0, 1.0)]),
        ("minimum", [(1.0, 1.0), (1.0, 3.0), (1.0, 9.0), (1.0, 1.0)]),
    ] {
        let text = format!(
            "func.func @main(%x: {ty}, %y: {ty}) -> {ty} {{\n  %z = stablehlo.{name} %x, %y : {ty}\n  return %z : {ty}\n}}"
        );
        let got: Vec<(f64, f64)> = run(&text, &[x.clone(), y.clone()])[0]
            .to_c128()
            .iter()
            .map(|z| (z.re, z.im))
            .collect();
        assert_eq!(got, want, "{name}");
    }
}

/// Lists of axes whose order is irrelevant.
#[test]
fn axes_may_stand_in_any_order() {
    let x = Array::from_vec([2, 3, 2], (0..12).map(f64::from).collect()).unwrap();
    for (dims, want) in [
        ("[2, 0]", [14.0, 22.0, 30.0]),
        ("[0, 2]", [14.0, 22.0, 30.0]),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<2x3x2xf64>) -> tensor<3xf64> {{
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = {dims} : (tensor<2x3x2xf64>, tensor<f64>) -> tensor<3xf64>
  return %s : tensor<3xf64>
}}"
        );
        assert_eq!(run(&text, std::slice::from_ref(&x))[0].to_f64(), want);
    }
    let twice = "func.func @main(%x: tensor<2x3x2xf64>) -> tensor<3xf64> {
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 0] : (tensor<2x3x2xf64>, tensor<f64>) -> tensor<3xf64>
  return %s : tensor<3xf64>
}";
    assert!(read(twice, None).is_err());
    let turned = "func.func @main(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %y = stablehlo.reverse %x, dims = [2, 0] : tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}";
    assert_eq!(run(turned, &[x])[0].to_f64()[0], 7.0);
}

/// `select_and_scatter` with a general body: each element is combined with the sources of all
/// windows that selected it.
#[test]
fn chosen_elements_are_combined_by_any_body() {
    let text = |body: &str| {
        format!(
            "func.func @main(%x: tensor<5xf64>, %s: tensor<2xf64>, %i: tensor<f64>) -> tensor<5xf64> {{
  %y = \"stablehlo.select_and_scatter\"(%x, %s, %i) <{{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}}> ({{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.{body} %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }}) : (tensor<5xf64>, tensor<2xf64>, tensor<f64>) -> tensor<5xf64>
  return %y : tensor<5xf64>
}}"
        )
    };
    // Both windows select the middle element.
    let x = [
        Array::vector(vec![0.0, 1.0, 9.0, 2.0, 3.0]),
        Array::vector(vec![5.0, 7.0]),
        Array::scalar(2.0),
    ];
    for (body, want) in [
        ("add", 14.0),
        ("multiply", 70.0),
        ("maximum", 7.0),
        ("subtract", -10.0),
        ("divide", 2.0 / 35.0),
    ] {
        let y = run(&text(body), &x)[0].to_f64();
        assert!((y[2] - want).abs() < 1e-15, "{body}: {y:?}");
        assert_eq!([y[0], y[1], y[3], y[4]], [2.0; 4], "{body}");
    }
}
