//! Conversions between all types, and floats of 16 bits.

use super::kinds::alone;
use super::*;
use crate::tile::convert::{Cast, Element, cast};
use crate::tile::halves::{Half, to_odd};
use half::{bf16, f16};

/// The type of elements by their name.
fn of(name: &str) -> Type {
    match name {
        "bool" => Type::Bool,
        "f32" => Type::F32,
        "f64" => Type::F64,
        _ => Type::Whole(name[1..].parse::<usize>().expect("an integer has its width in its name") / 8),
    }
}

fn check<T: Cast<U>, U: Element>([from, to]: [&str; 2]) {
    alone(cast::<T, U>(), &[of(from)], of(to), &format!("{from} to {to}"));
}

macro_rules! pairs {
    ($($t:ident => $($u:ident)*;)*) => { $($(check::<$t, $u>([stringify!($t), stringify!($u)]);)*)* };
}

#[test]
fn conversions_have_code_with_the_interpreters_bits() {
    pairs! {
        i8 => i16 i32 i64 f32 f64;
        u8 => bool i16 i32 i64 f32 f64;
        i16 => i8 i32 i64 f32 f64;
        u16 => bool i32 i64 f32 f64;
        i32 => i8 i16 i64 f32 f64;
        u32 => bool i64 f32 f64;
        i64 => i8 i16 i32 f32 f64;
        u64 => bool f32 f64;
        f32 => bool i8 i16 i32 i64 u8 u16 u32 u64 f64;
        f64 => bool i8 i16 i32 i64 u8 u16 u32 u64 f32;
    }
    alone(<f32 as Float>::of_truth(), &[Type::Bool], Type::F32, "bool to f32");
    alone(<f64 as Float>::of_truth(), &[Type::Bool], Type::F64, "bool to f64");
    alone(to_odd(), &[Type::F64], Type::F32, "f64 to f32, odd");
}

/// Operations on f32 between f16 or bf16, rounded after each.
fn chains<H: Half>(half: Type) {
    alone(H::widen(), &[half], Type::F32, "widen");
    alone(H::narrow(), &[Type::F32], half, "narrow");
    alone(H::round(), &[Type::F32], Type::F32, "round");
    for level in levels() {
        for seed in 0..60 {
            let mut random = Random(seed * 31 + 7);
            let (mut b, mut values) = (Builder::new(), Vec::new());
            let inputs = 1 + random.below(3);
            for k in 0..inputs + 2 {
                let x = if k < inputs { b.input(2) } else { b.constant(&half.any(&mut random)) };
                // SAFETY: the kernel is one of H.
                values.push(unsafe { b.step(H::widen(), 4, &[x], 0) });
            }
            let mut last = values[0];
            for _ in 0..2 + random.below(12) {
                let [x, y] = [(); 2].map(|()| values[random.below(values.len())]);
                let unary = [Unary::Tanh, Unary::Exp, Unary::Sqrt, Unary::Neg][random.below(4)];
                let binary = [Binary::Add, Binary::Mul, Binary::Sub, Binary::Max][random.below(4)];
                // SAFETY: kernels of f32, and of H.
                unsafe {
                    let z = match random.below(3) {
                        0 => b.step(<f32 as Float>::unary(unary, level), 4, &[x], 0),
                        _ => b.step(<f32 as Float>::binary(binary, level), 4, &[x, y], 0),
                    };
                    last = b.step(H::narrow(), 2, &[z], 0);
                    values.push(b.step(H::round(), 4, &[z], 0));
                }
            }
            let (body, kinds) = (b.finish(&[last]), [vec![half; inputs], vec![half]]);
            for n in [9, 100, 900] {
                assert!(compare(&body, &kinds, n, level, &mut random), "a chain of {half:?} has code at {level:?}");
            }
        }
    }
}

#[test]
fn halves_have_code_with_the_interpreters_bits() {
    chains::<f16>(Type::F16);
    chains::<bf16>(Type::Bf16);
}
