//! Compiled loops against interpreted steps: both instruction sets, both kinds of code, forwards
//! and backwards.

use super::*;
use crate::testing::Random;
use crate::tile::integers::{self, Lane};
use crate::tile::kernels::{self, Arithmetic, Comparison};
use crate::tile::{Builder, TileFloat, TileOp, Value};
use crate::vector::functions::{Binary, Unary};

/// A float, or an integer.
trait Number: Copy {
    fn of(x: f64) -> Self;
    /// Bytes, if this is no NaN.
    fn canonical(self) -> Option<Vec<u8>>;
    fn one(random: &mut Random, isa: Isa) -> TileOp;
    fn two(random: &mut Random, isa: Isa) -> TileOp;
    fn less() -> TileOp;
}

/// Functions of two integers.
fn of_integers<T: Lane, U: Lane>(random: &mut Random, isa: Isa) -> TileOp {
    match random.below(6) {
        0 => kernels::integers::<T>(Arithmetic::Mul),
        1 => kernels::integers::<U>(Arithmetic::Max),
        2 => kernels::integers::<T>(Arithmetic::Xor),
        3 => integers::binary::<T>(integers::IntegerBinary::ShiftLeft, isa),
        4 => integers::binary::<T>(integers::IntegerBinary::ShiftRightArithmetic, isa),
        _ => kernels::integers::<T>(Arithmetic::Add),
    }
}

macro_rules! numbers {
    ($($float:ty, $whole:ty, $unsigned:ty;)*) => {$(
        impl Number for $float {
            fn of(x: f64) -> $float {
                x as $float
            }
            fn canonical(self) -> Option<Vec<u8>> {
                (!self.is_nan()).then(|| self.to_le_bytes().to_vec())
            }
            fn one(random: &mut Random, isa: Isa) -> TileOp {
                let all = [Unary::Sin, Unary::Tanh, Unary::Neg, Unary::Square, Unary::Sqrt];
                <$float as TileFloat>::unary(all[random.below(all.len())], isa)
            }
            fn two(random: &mut Random, isa: Isa) -> TileOp {
                let all = [Binary::Add, Binary::Mul, Binary::Mul, Binary::Sub, Binary::Max, Binary::Div];
                <$float as TileFloat>::binary(all[random.below(all.len())], isa)
            }
            fn less() -> TileOp {
                <$float as TileFloat>::compare(Comparison::Lt)
            }
        }

        impl Number for $whole {
            fn of(x: f64) -> $whole {
                (x * 16.0) as $whole
            }
            fn canonical(self) -> Option<Vec<u8>> {
                Some(self.to_le_bytes().to_vec())
            }
            fn one(random: &mut Random, _: Isa) -> TileOp {
                let all = [integers::IntegerUnary::CountOnes, integers::IntegerUnary::LeadingZeros, integers::IntegerUnary::Abs];
                integers::unary::<$whole>(all[random.below(all.len())])
            }
            fn two(random: &mut Random, isa: Isa) -> TileOp {
                of_integers::<$whole, $unsigned>(random, isa)
            }
            fn less() -> TileOp {
                kernels::compare::<$unsigned>(Comparison::Lt)
            }
        }
    )*};
}

numbers! {
    f32, i32, u32;
    f64, i64, u64;
}

/// A body of random instructions for `consts` constants, `carries` carries and `rows` rows, with
/// `outputs` output rows.
fn random_body<T: Number>(
    random: &mut Random,
    [consts, carries, rows, outputs]: [usize; 4],
    isa: Isa,
) -> Body {
    let (mut b, size) = (Builder::new(), size_of::<T>());
    let mut values: Vec<Value> = (0..consts + carries + rows)
        .map(|_| b.input(size))
        .collect();
    for _ in 0..1 + random.below(24) {
        let x = [0; 3].map(|_| {
            values[values.len() - 1 - random.below(values.len()).min(random.below(values.len()))]
        });
        let mut add = |kernel: TileOp, size, x: &[Value]| {
            // SAFETY: each kernel takes T or booleans, and its operands and result have these
            // types.
            unsafe { b.step(kernel, size, x, 0) }
        };
        let y = match random.below(8) {
            0 | 1 => add(T::one(random, isa), size, &x[..1]),
            2 => {
                let m = add(T::less(), 1, &x[..2]);
                add(kernels::select(size), size, &[m, x[2], x[0]])
            }
            _ => add(T::two(random, isa), size, &x[..2]),
        };
        values.push(y);
    }
    let results: Vec<Value> = (0..carries + outputs)
        .map(|_| values[random.below(values.len())])
        .collect();
    b.finish(&results)
}

/// The elements; all NaNs give the same bits.
fn canonical<T: Number>(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    // SAFETY: a part has the bytes of an element.
    bytes
        .chunks(size_of::<T>())
        .map(|x| unsafe { x.as_ptr().cast::<T>().read_unaligned() }.canonical())
        .collect()
}

fn compare<T: Number>() -> usize {
    let (mut random, mut ran, size) = (Random(7), 0, size_of::<T>());
    for round in 0..400 {
        let isa = [Isa::Avx2, Isa::Avx512][round % 2];
        if !Isa::available().any(|l| l == isa) {
            continue;
        }
        let [consts, more, rows, outputs] = [4, 3, 4, 3].map(|n| random.below(n));
        let carries = 1 + more;
        let counts = [consts, carries, rows, outputs];
        let body = random_body::<T>(&mut random, counts, isa);
        let mut loops = VectorLoop {
            isa,
            ..VectorLoop::new(body, consts, carries)
        };
        let n = [1, 1, 2, 3, 7, 8, 16, 21, 40, 75][random.below(10)];
        let first = loops.lanes(n);
        if loops.code(first, 1, false).is_none() || loops.code(first, 1, true).is_none() {
            continue;
        }
        ran += 1;
        let (steps, back) = (1 + random.below(90), random.below(2) == 0);
        let mut number = || {
            let x = [
                random.float(),
                random.float() * 1e-30 * 1e-15,
                random.float() * 1e9,
                random.float() * 3.0,
            ];
            T::of(x[random.below(20).min(3)])
        };
        let mut memory = |count: usize| -> Vec<u8> {
            let bytes = |x: T| {
                // SAFETY: a number is bytes without padding.
                unsafe { std::slice::from_raw_parts((&raw const x).cast::<u8>(), size).to_vec() }
            };
            (0..count).flat_map(|_| bytes(number())).collect()
        };
        let inputs: Vec<Vec<u8>> = (0..consts + carries + rows)
            .map(|k| memory(n * if k < consts + carries { 1 } else { steps }))
            .collect();
        let outputs = || -> Vec<Vec<u8>> {
            (0..carries + outputs)
                .map(|k| vec![0xaa; size * n * if k < carries { 1 } else { steps }])
                .collect()
        };
        // The reference: step by step, a few elements at a time.
        let mut want = outputs();
        let mut now = inputs.clone();
        for step in 0..steps {
            let row = if back { steps - 1 - step } else { step };
            for start in (0..n).step_by(5) {
                let at = |x: *mut u8, row: usize| x.wrapping_add((row * n + start) * size);
                let from = now.iter_mut().enumerate();
                let mut table: Vec<*mut u8> = from
                    .map(|(k, x)| at(x.as_mut_ptr(), if k < consts + carries { 0 } else { row }))
                    .collect();
                let to = want.iter_mut().enumerate();
                table
                    .extend(to.map(|(k, y)| at(y.as_mut_ptr(), if k < carries { 0 } else { row })));
                // SAFETY: all addresses are inside allocated memory.
                unsafe { loops.interpret(&table, 5.min(n - start)) };
            }
            now[consts..consts + carries].clone_from_slice(&want[..carries]);
        }
        for gradual in [false, true] {
            let mut got = outputs();
            let from: Vec<*const u8> = inputs.iter().map(|x| x.as_ptr()).collect();
            let to: Vec<*mut u8> = got.iter_mut().map(|y| y.as_mut_ptr()).collect();
            // SAFETY: all addresses are inside allocated memory.
            unsafe { loops.run(n, steps, back, &from, &to) };
            for (got, want) in got.iter().zip(&want) {
                let same = canonical::<T>(got) == canonical::<T>(want);
                assert!(
                    same,
                    "round {round}, {isa:?}, {counts:?}, {n} by {steps}, {back}, {gradual}"
                );
            }
            let all = loops.code.iter_mut().flatten();
            all.for_each(|code| code.swap(0, 1));
        }
    }
    ran
}

#[test]
fn code_gives_the_bits_of_steps() {
    if Isa::available().any(|l| l == Isa::Avx2) {
        assert!(compare::<f32>() > 100);
        assert!(compare::<f64>() > 100);
        assert!(compare::<i32>() > 100);
        assert!(compare::<i64>() > 100);
    }
}
