//! A test over every elementwise operation and element type (a cell). Each cell has vector code and
//! machine code, unless it is listed. It gives the same bits for every instruction set, from both
//! engines and in every lane of a vector. Exact operations give the bits of the reference.

use super::*;
use cotangent_core::ops::{Bitcast, Convert, IntegerPow, ReducePrecision, RoundTo, entries};
use cotangent_core::{Array, Env, Type, Wide};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod instructions;

/// Number of elements of an operand: no multiple of a vector length.
const N: usize = 301;

/// Every elementwise operation of the samples, and attributes that select other code.
fn operations() -> Vec<Op> {
    let samples = entries().into_iter().flat_map(|e| (e.samples)(e.name));
    let mut all: Vec<Op> = samples
        .filter(|s| {
            let types: Vec<DType> = s.operands.iter().map(Array::dtype).collect();
            is_elementwise(&s.op, &types)
        })
        .map(|s| s.op)
        .collect();
    all.extend(
        DType::ALL
            .into_iter()
            .flat_map(|to| [Op::from(Convert { to }), Op::from(Bitcast { to })]),
    );
    all.extend([-17, -3, -2, -1, 0, 1, 2, 5, 16, 40].map(|n| Op::from(IntegerPow { n })));
    let formats = [
        (1, 0),
        (1, 3),
        (4, 0),
        (4, 3),
        (5, 2),
        (5, 10),
        (8, 0),
        (8, 1),
        (8, 7),
        (11, 30),
        (11, 52),
        (20, 60),
    ];
    all.extend(
        formats.map(|(exponent, mantissa)| Op::from(ReducePrecision { exponent, mantissa })),
    );
    all.extend(Format::all().map(|format| Op::from(RoundTo { format })));
    let mut seen = BTreeSet::new();
    all.retain(|op| seen.insert(format!("{op:?}")));
    all
}

/// Operand types of an operation for an element type; `None` if the type rule refuses them.
fn admitted(op: &Op, dtype: DType) -> Option<Vec<Type>> {
    let of = |dtype: DType| Type::new(dtype, [N].as_slice());
    let operands = match op {
        Op::Select(_) => vec![of(DType::Bool), of(dtype), of(dtype)],
        Op::Betainc(_) => vec![of(dtype); 3],
        Op::Binary(_) | Op::Compare(_) | Op::Complex(_) | Op::AtKink(_) | Op::Special(_) => {
            vec![of(dtype); 2]
        }
        Op::Bitcast(b) if b.to.size() != dtype.size() => return None,
        _ => vec![of(dtype)],
    };
    op.infer(&operands).is_ok().then_some(operands)
}

/// An operand of arbitrary bits, numbers of usual size and special values. Operands with different
/// `k` have them at different positions.
fn operand(dtype: DType, k: u64) -> Array {
    let mut state = k + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) ^ (state << 33)
    };
    let step = 7 + 2 * k as usize;
    let corners = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.5,
        2.5,
        -3.5,
        1e-310,
        6e-8,
        65520.0,
    ];
    let mut float = |i: usize| match i % 3 {
        0 => corners[i / 3 * step % corners.len()],
        1 => (next() >> 11) as f64 / (1u64 << 50) as f64 - 4.0,
        _ => match dtype.real() {
            DType::F64 => f64::from_bits(next()),
            DType::F32 => f32::from_bits(next() as u32).into(),
            DType::F16 => f16::from_bits(next() as u16).into(),
            _ => bf16::from_bits(next() as u16).into(),
        },
    };
    let wide = match dtype.kind() {
        Kind::Float => Wide::F((0..N).map(float).collect()),
        Kind::Complex => Wide::C(
            (0..N)
                .map(|i| C128::new(float(i), float(i / 3 * 5 + i % 3)))
                .collect(),
        ),
        Kind::Bool => Wide::I((0..N).map(|_| i128::from(next() >> 60 & 1)).collect()),
        Kind::Int | Kind::Opaque => {
            let ends = dtype.int_range();
            let few = [
                0,
                1,
                -1,
                2,
                3,
                7,
                ends.0,
                ends.1,
                dtype.bits().into(),
                i128::from(dtype.bits()) - 1,
            ];
            Wide::I(
                (0..N)
                    .map(|i| match i % 3 {
                        0 => few[i / 3 * step % few.len()],
                        1 => i128::from(next() as i64 >> 57),
                        _ => i128::from(next()),
                    })
                    .collect(),
            )
        }
    };
    wide.narrow(dtype, [N]).unwrap()
}

/// Whether the result has the bits of the reference: at most one rounding.
fn is_exact(op: &Op, dtype: DType) -> bool {
    use Unary as U;
    let whole = matches!(dtype.kind(), Kind::Int | Kind::Bool);
    match op {
        Op::Unary(
            U::Floor
            | U::Ceil
            | U::Trunc
            | U::RoundHalfEven
            | U::RoundHalfAway
            | U::IsNan
            | U::IsFinite,
        ) => true,
        Op::Unary(U::Neg | U::Conj | U::Real | U::Imag | U::StopGradient) => true,
        Op::Unary(U::Abs | U::Sign | U::Sqrt) => !dtype.is_complex(),
        Op::Unary(_) => whole,
        Op::Binary(
            Binary::Add | Binary::Sub | Binary::Max | Binary::Min | Binary::Mul | Binary::Div,
        ) => true,
        Op::Binary(Binary::MulStrongZero | Binary::DivStrongZero) => true,
        Op::Binary(_) | Op::IntegerPow(_) => whole,
        Op::Special(_) | Op::Betainc(_) | Op::Polygamma(_) | Op::BesselIe(_) => false,
        _ => true,
    }
}

/// Operations that call a scalar function per element on complex numbers, and the reasons.
const BY_ELEMENT: &[(&str, &str)] = &[
    ("asin", "many cuts"),
    ("acos", "many cuts"),
    ("atan", "many cuts"),
    ("asinh", "many cuts"),
    ("acosh", "many cuts"),
    ("atanh", "many cuts"),
    ("cbrt", "rare"),
];

/// Way to run a body: the chosen engine, or machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Chosen,
    Code,
}

/// Operations without machine code, their types, and the reasons.
const INTERPRETED: &[(&str, &str, &str)] = &[
    ("acos", COMPLEX, "by element"),
    ("acosh", COMPLEX, "by element"),
    ("asin", COMPLEX, "by element"),
    ("asinh", COMPLEX, "by element"),
    ("atan", COMPLEX, "by element"),
    ("atanh", COMPLEX, "by element"),
    ("bessel_ie", FLOATS, "loops over lanes"),
    ("betainc", FLOATS, "loops over lanes"),
    ("cbrt", COMPLEX, "by element"),
    ("digamma", FLOATS, "calls"),
    ("gamma_density", FLOATS, "loops over lanes"),
    ("igamma", FLOATS, "loops over lanes"),
    ("igammac", FLOATS, "loops over lanes"),
    ("integer_pow", INTEGERS, "loops over lanes"),
    ("lgamma", FLOATS, "calls"),
    ("polygamma", FLOATS, "loops over lanes"),
    ("pow", INTEGERS, "loops over lanes"),
    ("reduce_precision", FLOATS, "its formats are data"),
    ("round_to", FLOATS, "its formats are data"),
    ("zeta", FLOATS, "loops over lanes"),
];
const COMPLEX: &str = "c64 c128";
const FLOATS: &str = "f16 bf16 f32 f64";
const INTEGERS: &str = "i8 i16 i32 i64 u8 u16 u32 u64";

/// Results of a body by the engine that a first run uses and, if there is any, by machine code; and
/// the number of scalar instructions.
fn run(op: &Op, x: &[Array], isa: Isa) -> (Vec<Array>, usize) {
    run_watched(op, x, isa, &mut |_, run| _ = run())
}

/// Like [`run`], but calls `watch` with each engine and a closure that runs the body. The closure
/// returns whether the engine exists.
fn run_watched(
    op: &Op,
    x: &[Array],
    isa: Isa,
    watch: &mut dyn FnMut(Engine, &mut dyn FnMut() -> bool),
) -> (Vec<Array>, usize) {
    let (mut lowering, n) = (Lowering::at(isa), x[0].len());
    let typed: Vec<Typed> = x.iter().map(|x| lowering.input(x.dtype())).collect();
    let (y, dtype) = lowering.emit(op, &typed);
    let by_element = lowering.by_element;
    let (body, _) = lowering.finish(&[y]);
    let x: Vec<crate::Tensor> = x.iter().map(crate::Tensor::from).collect();
    let laid = body.laid(&[n], x.iter().map(|x| x.strides()));
    let inputs: Vec<*const u8> = x
        .iter()
        .map(|x| crate::element::for_any!(x.dtype(), T => x.as_slice::<T>().unwrap().as_ptr().cast()))
        .collect();
    let by = |engine: Engine| {
        let mut ran = true;
        let y = crate::element::for_any!(dtype, T => crate::Tensor::build::<T, _>([n].as_slice().into(), |y| {
            let y = [y.as_mut_ptr().cast::<u8>()];
            watch(engine, &mut || {
                // SAFETY: inputs and output are slices of `n` elements of the body's types.
                unsafe {
                    match engine {
                        Engine::Code => ran = body.run_code(isa, &laid, 0..n, &inputs, &y),
                        Engine::Chosen => body.run(&laid, 0..n, &inputs, &y),
                    }
                }
                ran
            });
        }));
        ran.then(|| y.unwrap().into_array().unwrap())
    };
    (
        [Engine::Chosen, Engine::Code]
            .into_iter()
            .filter_map(by)
            .collect(),
        by_element,
    )
}

#[test]
fn every_operation_has_vector_code_on_every_type_with_the_same_bits_everywhere() {
    let (mut cells, mut wrong, mut slow) = (0, Vec::new(), BTreeSet::new());
    let mut interpreted = BTreeMap::<String, BTreeSet<DType>>::new();
    for op in operations() {
        for dtype in DType::ALL {
            let Some(types) = admitted(&op, dtype) else {
                continue;
            };
            let x: Vec<Array> = types
                .iter()
                .zip(0..)
                .map(|(t, k)| operand(t.dtype, k))
                .collect();
            assert!(
                is_elementwise(&op, &types.iter().map(|t| t.dtype).collect::<Vec<_>>()),
                "{op:?} on {dtype} has no instructions"
            );
            let want =
                is_exact(&op, dtype).then(|| op.eval(&x, &Env::default()).unwrap().remove(0));
            let mut first: Option<Array> = None;
            for isa in Isa::available() {
                let (runs, by_element) = run(&op, &x, isa);
                cells += runs.len();
                if runs.len() < 2 && isa.has_avx2() {
                    interpreted
                        .entry(op.name().to_string())
                        .or_default()
                        .insert(dtype);
                }
                if by_element > 0 {
                    slow.insert((op.name().to_string(), dtype.is_complex()));
                }
                for y in runs {
                    let want = want.as_ref().or(first.as_ref()).unwrap_or(&y);
                    if !y.same_bits(want) {
                        wrong.push(format!(
                            "{op:?} on {dtype} at {isa:?}: {}",
                            difference(&x, &y, want)
                        ));
                    }
                    first.get_or_insert(y);
                }
            }
        }
    }
    let named: BTreeSet<(String, bool)> = BY_ELEMENT
        .iter()
        .map(|(name, _)| (name.to_string(), true))
        .collect();
    assert_eq!(slow, named, "an element at a time");
    let all = |types: &BTreeSet<DType>| {
        types
            .iter()
            .map(DType::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let interpreted: Vec<(String, String)> = interpreted
        .into_iter()
        .map(|(name, of)| (name, all(&of)))
        .collect();
    let named: Vec<(String, String)> = INTERPRETED
        .iter()
        .map(|r| (r.0.to_string(), r.1.to_string()))
        .collect();
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) && Isa::available().any(Isa::has_avx2)
    {
        assert_eq!(interpreted, named, "no machine code");
    }
    println!("{cells} cells");
    assert!(
        wrong.is_empty(),
        "{} of {cells} cells:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Describes the first element that differs.
fn difference(x: &[Array], y: &Array, want: &Array) -> String {
    let at = |a: &Array, i: usize| match a.wide() {
        Wide::F(v) => format!("{:e}", v[i]),
        Wide::C(v) => format!("{:e}", v[i]),
        Wide::I(v) => v[i].to_string(),
    };
    let i = (0..N).find(|&i| at(y, i) != at(want, i)).unwrap_or(0);
    let x: Vec<String> = x.iter().map(|x| at(x, i)).collect();
    format!(
        "element {i} of ({}) is {}, not {}",
        x.join(", "),
        at(y, i),
        at(want, i)
    )
}
