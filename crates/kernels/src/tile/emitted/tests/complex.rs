//! Complex numbers of both widths: single operations, and bodies that mix them with floats and
//! booleans.

use super::*;
use crate::tile::complex as simple;
use crate::tile::convert::cast;
use crate::vector::complex as vector;
use num_complex::{Complex, Complex32, Complex64};

/// A kernel under test, with its parameter.
struct Case {
    name: String,
    kernel: TileOp,
    data: usize,
    of: Vec<Type>,
    to: Type,
}

/// Operations on complex numbers with parts of a type.
#[expect(clippy::too_many_lines, reason = "a list of instructions")]
fn cases<P>(isa: Isa, [part, whole]: [Type; 2]) -> Vec<Case>
where
    P: TestNumber + simple::ComplexFloat,
    Complex<P>: crate::element::Number + PartialEq,
{
    // The fallback for rare lanes may be any function.
    let scalar1 = |z: Complex64| z * z + 0.25;
    let scalar2 = |z: Complex64, w: Complex64| z - w * 3.0;
    let mut all = Vec::new();
    let mut add = |name: String, (kernel, data): (TileOp, usize), of: &[Type], to: Type| {
        all.push(Case {
            name: format!("{name} of {whole:?}"),
            kernel,
            data,
            of: of.to_vec(),
            to,
        });
    };
    use simple::{ComplexBinary as B, ComplexUnary as U};
    for f in [U::Neg, U::Conj, U::OneMinusSquare] {
        add(
            format!("{f:?}"),
            (simple::unary::<P>(f), 0),
            &[whole],
            whole,
        );
    }
    for f in [U::Real, U::Imag] {
        add(format!("{f:?}"), (simple::unary::<P>(f), 0), &[whole], part);
    }
    for f in [U::IsFinite, U::IsNan] {
        add(
            format!("{f:?}"),
            (simple::unary::<P>(f), 0),
            &[whole],
            Type::Bool,
        );
    }
    for f in [B::Sub, B::Mul, B::MulStrongZero] {
        add(
            format!("{f:?}"),
            (simple::binary::<P>(f), 0),
            &[whole; 2],
            whole,
        );
    }
    add(
        "sum".into(),
        (kernels::complex_add::<Complex<P>>(), 0),
        &[whole; 2],
        whole,
    );
    add(
        "parts".into(),
        (kernels::complex::<P>(), 0),
        &[part; 2],
        whole,
    );
    for f in [true, false] {
        add(
            format!("equal: {f}"),
            (kernels::complex_equal::<Complex<P>>(f), 0),
            &[whole; 2],
            Type::Bool,
        );
    }
    add(
        "select".into(),
        (kernels::select(whole.size()), 0),
        &[Type::Bool, whole, whole],
        whole,
    );
    add(
        "copy".into(),
        (kernels::copy(whole.size()), 0),
        &[whole],
        whole,
    );
    use vector::{ComplexFunction as F, ComplexFunction2 as G};
    let functions = [
        F::Sign,
        F::Sqrt,
        F::Rsqrt,
        F::Exp,
        F::Exp2,
        F::Expm1,
        F::Log,
        F::Log2,
        F::Log1p,
        F::Sin,
        F::Cos,
    ];
    let more = [
        F::Tan,
        F::Sinh,
        F::Cosh,
        F::Tanh,
        F::Logistic,
        F::SechSquare,
    ];
    for f in functions.into_iter().chain(more) {
        add(
            format!("{f:?}"),
            f.kernel::<P>(isa, scalar1),
            &[whole],
            whole,
        );
    }
    for f in [G::Div, G::DivStrongZero, G::Pow, G::Xlogy] {
        add(
            format!("{f:?}"),
            f.kernel::<P>(isa, scalar2),
            &[whole; 2],
            whole,
        );
    }
    add(
        "magnitude".into(),
        (vector::absolute::<P>(isa), 0),
        &[whole],
        part,
    );
    for n in [0, 1, 2, 5, 40] {
        add(
            format!("power {n}"),
            (vector::power::<P>(isa), n),
            &[whole],
            whole,
        );
    }
    add(
        "product of parts".into(),
        (P::binary(Binary::Mul, isa), 0),
        &[part; 2],
        part,
    );
    add(
        "difference of parts".into(),
        (P::binary(Binary::Sub, isa), 0),
        &[part; 2],
        part,
    );
    add(
        "order of parts".into(),
        (P::compare(Comparison::Lt), 0),
        &[part; 2],
        Type::Bool,
    );
    all
}

fn all_cases(isa: Isa) -> Vec<Case> {
    let mut all = cases::<f32>(isa, [Type::F32, Type::C64]);
    all.extend(cases::<f64>(isa, [Type::F64, Type::C128]));
    let casts = [
        (cast::<f32, Complex32>(), Type::F32, Type::C64),
        (cast::<f64, Complex64>(), Type::F64, Type::C128),
        (cast::<Complex32, f32>(), Type::C64, Type::F32),
        (cast::<Complex64, f64>(), Type::C128, Type::F64),
        (cast::<Complex32, bool>(), Type::C64, Type::Bool),
        (cast::<Complex64, bool>(), Type::C128, Type::Bool),
        (cast::<Complex32, Complex64>(), Type::C64, Type::C128),
        (cast::<Complex64, Complex32>(), Type::C128, Type::C64),
        (cast::<f32, f64>(), Type::F32, Type::F64),
        (cast::<f64, f32>(), Type::F64, Type::F32),
        // The same bits.
        (kernels::copy(8), Type::F64, Type::C64),
        (kernels::copy(8), Type::C64, Type::Whole(8)),
        (kernels::copy(8), Type::Whole(8), Type::C64),
    ];
    let case = |(kernel, of, to)| Case {
        name: format!("{of:?} to {to:?}"),
        kernel,
        data: 0,
        of: vec![of],
        to,
    };
    all.extend(casts.map(case));
    all
}

#[test]
fn complex_operations_have_code_with_the_interpreters_bits() {
    for isa in levels() {
        for case in all_cases(isa) {
            let mut b = Builder::new();
            let x: Vec<Value> = case.of.iter().map(|t| b.input(t.size())).collect();
            // SAFETY: the kernel is one of these types, and `data` is its parameter.
            let y = unsafe { b.step(case.kernel, case.to.size(), &x, case.data) };
            let (body, kinds) = (b.finish(&[y]), [case.of.clone(), vec![case.to]]);
            for (seed, n) in [0, 1, 3, 4, 7, 16, 33, 64, 130, 999, 2500, 2504]
                .into_iter()
                .enumerate()
            {
                let mut random = Random(seed as u64);
                assert!(
                    compare(&body, &kinds, n, isa, &mut random),
                    "{} has code at {isa:?}",
                    case.name
                );
            }
        }
    }
}

/// A body of random operations on values of every type.
fn random_body(random: &mut Random, steps: usize, functions: bool, isa: Isa) -> (Body, Kinds) {
    let (mut b, mut values, mut inputs) = (Builder::new(), Vec::<(Type, Value)>::new(), Vec::new());
    let types = [Type::C64, Type::C128, Type::F32, Type::F64, Type::Bool];
    for k in 0..2 + random.below(5) {
        let of = types[if k == 0 {
            random.below(2)
        } else {
            random.below(types.len())
        }];
        let value = match random.below(4) {
            0 => b.constant(&of.usual(random)),
            _ => {
                inputs.push(of);
                b.input(of.size())
            }
        };
        values.push((of, value));
    }
    let cases = all_cases(isa);
    let is_long = |c: &Case| c.data > 40 || c.name.starts_with("power 40");
    let mut left = steps;
    while left > 0 {
        let case = &cases[random.below(cases.len())];
        if !functions && is_long(case) {
            continue;
        }
        let pick = |of: &Type| {
            let all: Vec<Value> = values.iter().filter(|v| v.0 == *of).map(|v| v.1).collect();
            let back = random
                .below(all.len().max(1))
                .min(random.below(all.len().max(1)));
            all.iter().rev().nth(back).copied()
        };
        let Some(x) = case.of.iter().map(pick).collect::<Option<Vec<Value>>>() else {
            continue;
        };
        // SAFETY: each kernel is one of the types of its operands, and `data` is its parameter.
        values.push((case.to, unsafe {
            b.step(case.kernel, case.to.size(), &x, case.data)
        }));
        left -= 1;
    }
    let mut results: Vec<(Type, Value)> = vec![values[values.len() - 1]];
    results.extend((0..random.below(3)).map(|_| values[random.below(values.len())]));
    let outputs = results.iter().map(|r| r.0).collect();
    (
        b.finish(&results.iter().map(|r| r.1).collect::<Vec<_>>()),
        [inputs, outputs],
    )
}

#[test]
fn bodies_with_complex_numbers_give_the_interpreters_bits() {
    for isa in levels() {
        let (mut emitted, mut all) = (0, 0);
        for seed in 0..500 {
            let mut random = Random(seed * 5003 + 11);
            let functions = seed % 3 == 0;
            let steps = 1 + random.below(if functions { 8 } else { 40 });
            let (body, kinds) = random_body(&mut random, steps, functions, isa);
            for _ in 0..4 {
                let most = [40, 400, 2000][random.below(3)];
                let n = random.below(most);
                all += 1;
                emitted += usize::from(compare(&body, &kinds, n, isa, &mut random));
            }
        }
        assert!(emitted * 20 > all * 19, "{emitted} of {all} at {isa:?}");
    }
}
