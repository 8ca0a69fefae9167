//! Conversions between all types, 16-bit floats included.

use super::kinds::alone;
use super::*;
use crate::tile::convert::{Cast, Element, cast};
use crate::tile::halves::{Half, to_odd};
use half::{bf16, f16};

/// A conversion under test.
pub(super) struct Conversion {
    name: String,
    pub(super) of: Type,
    pub(super) to: Type,
    pub(super) kernel: TileOp,
}

/// The type of elements by their name.
fn of(name: &str) -> Type {
    match name {
        "bool" => Type::Bool,
        "f32" => Type::F32,
        "f64" => Type::F64,
        _ => Type::Whole(
            name[1..]
                .parse::<usize>()
                .expect("an integer has its width in its name")
                / 8,
        ),
    }
}

fn pair<T: Cast<U>, U: Element>([from, to]: [&str; 2]) -> Conversion {
    Conversion {
        name: format!("{from} to {to}"),
        of: of(from),
        to: of(to),
        kernel: cast::<T, U>(),
    }
}

macro_rules! pairs {
    ($($t:ident => $($u:ident)*;)*) => { vec![$($(pair::<$t, $u>([stringify!($t), stringify!($u)])),*),*] };
}

/// All conversions, including those of booleans that are read as bytes and those of 16-bit floats.
pub(super) fn conversions() -> Vec<Conversion> {
    let mut all = pairs! {
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
    };
    let mut more = |of: Type, to: Type, kernel: TileOp| {
        all.push(Conversion {
            name: format!("{of:?} to {to:?}"),
            of,
            to,
            kernel,
        });
    };
    more(Type::Bool, Type::F32, <f32 as TileFloat>::of_truth());
    more(Type::Bool, Type::F64, <f64 as TileFloat>::of_truth());
    more(Type::Bool, Type::Whole(1), kernels::copy(1));
    more(Type::Bool, Type::Whole(2), cast::<u8, i16>());
    more(Type::Bool, Type::Whole(4), cast::<u8, i32>());
    more(Type::Bool, Type::Whole(8), cast::<u8, i64>());
    more(Type::F64, Type::F32, to_odd());
    for (half, [widen, narrow, round]) in [
        (Type::F16, [f16::widen(), f16::narrow(), f16::round()]),
        (Type::Bf16, [bf16::widen(), bf16::narrow(), bf16::round()]),
    ] {
        more(half, Type::F32, widen);
        more(Type::F32, half, narrow);
        more(Type::F32, Type::F32, round);
    }
    all
}

#[test]
fn conversions_have_code_with_the_interpreters_bits() {
    conversions()
        .iter()
        .for_each(|c| alone(c.kernel, &[c.of], c.to, &c.name));
}

/// Operations on f32 between f16 or bf16, rounded after each.
fn chains<H: Half>(half: Type) {
    for isa in levels() {
        for seed in 0..60 {
            let mut random = Random(seed * 31 + 7);
            let (mut b, mut values) = (Builder::new(), Vec::new());
            let inputs = 1 + random.below(3);
            for k in 0..inputs + 2 {
                let x = if k < inputs {
                    b.input(2)
                } else {
                    b.constant(&half.any(&mut random))
                };
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
                        0 => b.step(<f32 as TileFloat>::unary(unary, isa), 4, &[x], 0),
                        _ => b.step(<f32 as TileFloat>::binary(binary, isa), 4, &[x, y], 0),
                    };
                    last = b.step(H::narrow(), 2, &[z], 0);
                    values.push(b.step(H::round(), 4, &[z], 0));
                }
            }
            let (body, kinds) = (b.finish(&[last]), [vec![half; inputs], vec![half]]);
            for n in [9, 100, 900] {
                assert!(
                    compare(&body, &kinds, n, isa, &mut random),
                    "a chain of {half:?} has code at {isa:?}"
                );
            }
        }
    }
}

#[test]
fn halves_have_code_with_the_interpreters_bits() {
    chains::<f16>(Type::F16);
    chains::<bf16>(Type::Bf16);
}
