//! Integers of every width and booleans: single operations, and bodies that mix them with floats.

use super::casts::conversions;
use super::*;
use crate::tile::integers;
use crate::tile::kernels::IntegerElement;

/// An integer type under test.
pub(super) struct IntegerCase {
    name: &'static str,
    of: Type,
    compare: fn(Comparison) -> TileOp,
    /// Functions of one and of two integers.
    one: Vec<(String, TileOp)>,
    two: Vec<(String, TileOp)>,
}

/// Methods of integers and booleans under test.
fn row<T: IntegerElement>(name: &'static str, of: Type, invert: TileOp) -> IntegerCase {
    let two = ARITHMETIC
        .iter()
        .map(|&f| (format!("{f:?} of {name}"), kernels::integers::<T>(f)))
        .collect();
    IntegerCase {
        name,
        of,
        compare: kernels::compare::<T>,
        one: vec![(format!("not of {name}"), invert)],
        two,
    }
}

fn whole<T: integers::Lane>(name: &'static str) -> IntegerCase {
    use integers::{IntegerBinary as B, IntegerUnary as U};
    let mut row = row::<T>(name, Type::Whole(size_of::<T>()), kernels::invert::<T>());
    let one = [U::Abs, U::Sign, U::CountOnes, U::LeadingZeros];
    row.one
        .extend(one.map(|f| (format!("{f:?} of {name}"), integers::unary::<T>(f))));
    let two = [
        B::ShiftLeft,
        B::ShiftRightLogical,
        B::ShiftRightArithmetic,
        B::Div,
        B::Rem,
    ];
    row.two.extend(two.map(|f| {
        (
            format!("{f:?} of {name}"),
            integers::binary::<T>(f, Isa::chosen()),
        )
    }));
    row
}

macro_rules! wholes {
    ($($t:ident)*) => { [row::<bool>("bool", Type::Bool, kernels::not()), $(whole::<$t>(stringify!($t))),*] };
}

fn rows() -> [IntegerCase; 9] {
    wholes!(i8 i16 i32 i64 u8 u16 u32 u64)
}

const ARITHMETIC: [Arithmetic; 8] = {
    use Arithmetic::*;
    [Add, Sub, Mul, Max, Min, And, Or, Xor]
};

const COMPARISONS: [Comparison; 4] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
];

/// A single kernel, from elements of one type to another.
pub(super) fn alone(kernel: TileOp, of: &[Type], to: Type, name: &str) {
    for isa in levels() {
        let mut b = Builder::new();
        let x: Vec<Value> = of.iter().map(|t| b.input(t.size())).collect();
        // SAFETY: callers pair kernels with their types.
        let y = unsafe { b.step(kernel, to.size(), &x, 0) };
        let (body, kinds) = (b.finish(&[y]), [of.to_vec(), vec![to]]);
        for n in [0, 1, 7, 16, 33, 64, 130, 999, 2500, 2504] {
            assert!(
                compare(&body, &kinds, n, isa, &mut Random(n as u64)),
                "{name} has code at {isa:?}"
            );
        }
    }
}

#[test]
fn integers_of_every_width_have_code_with_the_interpreters_bits() {
    for r in rows() {
        r.one
            .iter()
            .for_each(|(name, kernel)| alone(*kernel, &[r.of], r.of, name));
        r.two
            .iter()
            .for_each(|(name, kernel)| alone(*kernel, &[r.of; 2], r.of, name));
        for c in COMPARISONS {
            alone(
                (r.compare)(c),
                &[r.of; 2],
                Type::Bool,
                &format!("{c:?} of {}", r.name),
            );
        }
        alone(
            kernels::select(r.of.size()),
            &[Type::Bool, r.of, r.of],
            r.of,
            &format!("select of {}", r.name),
        );
        alone(
            kernels::copy(r.of.size()),
            &[r.of],
            r.of,
            &format!("copy of {}", r.name),
        );
    }
}

/// Divisors of every width: small numbers, neighbours of powers of two, and numbers whose
/// reciprocals need all bits.
const DIVISORS: [i128; 34] = [
    1,
    2,
    3,
    5,
    6,
    7,
    10,
    12,
    25,
    64,
    100,
    125,
    127,
    128,
    129,
    255,
    256,
    641,
    1000,
    10_007,
    32_767,
    32_768,
    65_535,
    65_537,
    6_700_417,
    1_000_000_007,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0001,
    1_000_000_000_039,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fffb,
];

#[test]
fn divisions_by_constants_have_code_with_the_interpreters_bits() {
    for r in rows().into_iter().skip(1) {
        let size = r.of.size();
        let named = |f: &str| {
            let name = format!("{f} of {}", r.name);
            r.two.iter().find(|(n, _)| *n == name).expect("a row").1
        };
        let [add, mul, div, rem] = ["Add", "Mul", "Div", "Rem"].map(named);
        let mut divisors: Vec<Vec<u8>> = DIVISORS
            .iter()
            .flat_map(|&c| [c, -c])
            .map(|c| c.to_le_bytes()[..size].to_vec())
            .filter(|c| c.iter().any(|&byte| byte != 0))
            .collect();
        divisors.sort_unstable();
        divisors.dedup();
        for (c, isa) in divisors
            .iter()
            .flat_map(|c| levels().map(move |isa| (c, isa)))
        {
            let mut b = Builder::new();
            let (x, d) = (b.input(size), b.input(size));
            let by = b.constant(c);
            // SAFETY: the kernels are those of the type.
            let y = unsafe {
                // Multiples of the divisor, and neighbours of them.
                let multiple = b.step(mul, size, &[x, by], 0);
                let one = b.constant(&1i128.to_le_bytes()[..size]);
                let above = b.step(add, size, &[multiple, one], 0);
                let minus = b.constant(&(-1i128).to_le_bytes()[..size]);
                let below = b.step(add, size, &[multiple, minus], 0);
                let all = [d, multiple, above, below];
                all.map(|a| [div, rem].map(|f| b.step(f, size, &[a, by], 0)))
            };
            let body = b.finish(y.as_flattened());
            let kinds = [vec![r.of; 2], vec![r.of; 8]];
            for n in [33, 999] {
                assert!(
                    compare(&body, &kinds, n, isa, &mut Random(n as u64)),
                    "division of {} by {c:?} has code at {isa:?}",
                    r.name
                );
            }
        }
    }
}

/// Values of some types, by type.
struct Values(Vec<(Type, Value)>);

impl Values {
    /// A value of a type; late ones are more frequent.
    fn pick(&self, of: Type, random: &mut Random) -> Option<Value> {
        let all: Vec<Value> = self.0.iter().filter(|v| v.0 == of).map(|v| v.1).collect();
        let back = random
            .below(all.len().max(1))
            .min(random.below(all.len().max(1)));
        all.iter().rev().nth(back).copied()
    }
}

/// A body of random instructions and conversions on a few types. Booleans of one type select
/// between values of another.
fn mixed_body(random: &mut Random, steps: usize, isa: Isa) -> (Body, Kinds) {
    let (mut b, mut values, rows) = (Builder::new(), Values(Vec::new()), rows());
    let casts = conversions();
    let mut types: Vec<usize> = (0..1 + random.below(4))
        .map(|_| random.below(rows.len() + 2))
        .collect();
    let of = |k: usize| rows.get(k).map_or([Type::F32, Type::F64][k % 2], |r| r.of);
    let mut inputs = Vec::new();
    for &k in types.iter().chain(&types) {
        let value = match random.below(4) {
            0 => b.constant(&of(k).any(random)),
            _ => {
                inputs.push(of(k));
                b.input(of(k).size())
            }
        };
        values.0.push((of(k), value));
    }
    for _ in 0..steps {
        let k = types[random.below(types.len())];
        let from = of(k);
        let [x, y] = [(); 2].map(|()| {
            values
                .pick(from, random)
                .expect("every type has an operand")
        });
        let (kernel, to, operands) = match (rows.get(k), random.below(5)) {
            (_, 4) => {
                let cast = &casts[random.below(casts.len())];
                let Some(x) = values.pick(cast.of, random) else {
                    continue;
                };
                types.extend((0..rows.len() + 2).find(|&k| of(k) == cast.to));
                (cast.kernel, cast.to, vec![x])
            }
            (_, 3) => match values.pick(Type::Bool, random) {
                Some(m) => (kernels::select(from.size()), from, vec![m, x, y]),
                None => continue,
            },
            (Some(r), 2) => (
                (r.compare)(COMPARISONS[random.below(4)]),
                Type::Bool,
                vec![x, y],
            ),
            (Some(r), 1) if random.below(3) == 0 => {
                (r.one[random.below(r.one.len())].1, from, vec![x])
            }
            (Some(r), _) => (r.two[random.below(r.two.len())].1, from, vec![x, y]),
            (None, f) => {
                let binary = [Binary::Add, Binary::Mul][f % 2];
                let less = f == 2;
                match from {
                    Type::F32 if less => (
                        <f32 as TileFloat>::compare(Comparison::Lt),
                        Type::Bool,
                        vec![x, y],
                    ),
                    Type::F32 => (<f32 as TileFloat>::binary(binary, isa), from, vec![x, y]),
                    _ if less => (
                        <f64 as TileFloat>::compare(Comparison::Lt),
                        Type::Bool,
                        vec![x, y],
                    ),
                    _ => (<f64 as TileFloat>::binary(binary, isa), from, vec![x, y]),
                }
            }
        };
        // SAFETY: each kernel is one of the types of its operands.
        values
            .0
            .push((to, unsafe { b.step(kernel, to.size(), &operands, 0) }));
    }
    let results: Vec<(Type, Value)> = (0..1 + random.below(3))
        .map(|k| values.0[values.0.len().saturating_sub(1 + k)])
        .collect();
    let outputs = results.iter().map(|r| r.0).collect();
    (
        b.finish(&results.iter().map(|r| r.1).collect::<Vec<_>>()),
        [inputs, outputs],
    )
}

#[test]
fn bodies_of_several_widths_give_the_interpreters_bits() {
    for isa in levels() {
        for seed in 0..600 {
            let mut random = Random(seed * 6007 + 5);
            let steps = 2 + random.below(30);
            let (body, kinds) = mixed_body(&mut random, steps, isa);
            for _ in 0..3 {
                let n = [40, 300, 2000][random.below(3)];
                let n = random.below(n);
                assert!(
                    compare(&body, &kinds, n, isa, &mut random),
                    "seed {seed} has code at {isa:?}"
                );
            }
        }
    }
}
