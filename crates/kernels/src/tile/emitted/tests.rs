//! Interpreter against compiled code: equal bits for AVX2 and AVX-512, with guard pages after all
//! memory.

use super::*;
use crate::testing::{Guarded, Random};
use crate::tile::kernels::{self, Arithmetic, Comparison};
use crate::tile::{Builder, TileFloat, TileOp, Value};
use crate::vector::functions::{Binary, Unary};

mod apart;
mod casts;
mod columns;
mod complex;
mod kinds;
mod steps;

const LEVELS: [Isa; 2] = [Isa::Avx2, Isa::Avx512];

pub(super) fn levels() -> impl Iterator<Item = Isa> {
    LEVELS
        .into_iter()
        .filter(|l| Isa::available().any(|a| a == *l))
}

/// Types of elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    /// An integer of the given size in bytes.
    Whole(usize),
    F16,
    Bf16,
    F32,
    F64,
    C64,
    C128,
}

impl Type {
    pub(super) fn size(self) -> usize {
        match self {
            Type::Bool => 1,
            Type::Whole(size) => size,
            Type::F16 | Type::Bf16 => 2,
            Type::F32 => 4,
            Type::F64 | Type::C64 => 8,
            Type::C128 => 16,
        }
    }

    /// A random element; special values are frequent.
    pub(super) fn any(self, random: &mut Random) -> Vec<u8> {
        match self {
            Type::Bool => vec![random.below(2) as u8],
            Type::Whole(size) => {
                let bits = 8 * size as u32;
                let x = match random.below(4) {
                    0 => random.below(8) as u64,
                    1 => (1 << random.below(bits as usize)) + random.below(3) as u64 - 1,
                    2 => (random.next() << 33 ^ random.next()) >> random.below(bits as usize),
                    _ => random.next() << 33 ^ random.next(),
                };
                let x = if random.below(3) == 0 { !x } else { x };
                x.to_le_bytes()[..size].to_vec()
            }
            Type::F16 if random.below(2) == 0 => {
                half::f16::from_f32(f32::any(random)).to_le_bytes().to_vec()
            }
            Type::Bf16 if random.below(2) == 0 => half::bf16::from_f32(f32::any(random))
                .to_le_bytes()
                .to_vec(),
            Type::F16 | Type::Bf16 => Type::Whole(2).any(random),
            // Values near the ends of the integer ranges, and between them.
            Type::F32 | Type::F64 if random.below(4) == 0 => {
                let x = (1u64 << random.below(64)) as f64 * [1.0, -1.0][random.below(2)]
                    + random.float();
                if self == Type::F32 {
                    (x as f32).bytes()
                } else {
                    x.bytes()
                }
            }
            Type::F32 => f32::any(random).bytes(),
            Type::F64 => f64::any(random).bytes(),
            Type::C64 | Type::C128 => {
                let part = self.part();
                [part.any(random), part.any(random)].concat()
            }
        }
    }

    pub(super) fn is_complex(self) -> bool {
        matches!(self, Type::C64 | Type::C128)
    }

    /// The part type of a complex number.
    fn part(self) -> Type {
        if self == Type::C64 {
            Type::F32
        } else {
            Type::F64
        }
    }

    /// A float without special properties.
    fn usual(self, random: &mut Random) -> Vec<u8> {
        match self {
            Type::F32 => ((random.float() * 2.0) as f32).bytes(),
            Type::F64 => (random.float() * 2.0).bytes(),
            Type::C64 | Type::C128 => {
                let part = self.part();
                [part.usual(random), part.usual(random)].concat()
            }
            of => of.any(random),
        }
    }

    /// Bits; all NaNs give the same value.
    pub(super) fn bits(self, bytes: &[u8]) -> u128 {
        let bits = |of: Type, bytes: &[u8]| {
            if of == Type::F32 {
                f32::bits(bytes)
            } else {
                f64::bits(bytes)
            }
        };
        match self {
            Type::F16 if half::f16::from_le_bytes([bytes[0], bytes[1]]).is_nan() => 1,
            Type::Bf16 if half::bf16::from_le_bytes([bytes[0], bytes[1]]).is_nan() => 1,
            Type::F32 | Type::F64 => bits(self, bytes).into(),
            Type::C64 | Type::C128 => {
                let (re, im) = bytes.split_at(bytes.len() / 2);
                u128::from(bits(self.part(), re)) << 64 | u128::from(bits(self.part(), im))
            }
            _ => bytes.iter().rev().fold(0, |x, &b| x << 8 | u128::from(b)),
        }
    }
}

/// A float under test.
pub(super) trait TestNumber: TileFloat + Copy + PartialEq {
    const SIZE: usize;
    const TYPE: Type;
    fn any(random: &mut Random) -> Self;
    /// Bits; all NaNs give the same value.
    fn bits(bytes: &[u8]) -> u64;
    fn bytes(self) -> Vec<u8>;
    /// A comparison of the bits as signed integers.
    fn compare_bits(c: Comparison) -> TileOp;
}

macro_rules! number {
    ($t:ty, $type:expr, $bits:ty, $signed:ty) => {
        impl TestNumber for $t {
            const SIZE: usize = size_of::<$t>();
            const TYPE: Type = $type;
            fn any(random: &mut Random) -> $t {
                let special = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    0.5,
                    2.0,
                    <$t>::NAN,
                    <$t>::INFINITY,
                    <$t>::NEG_INFINITY,
                ];
                let more = [
                    <$t>::MIN_POSITIVE,
                    <$t>::from_bits(1),
                    <$t>::MAX,
                    <$t>::MIN,
                    100.0,
                    -700.0,
                    1e-30,
                    1e22,
                ];
                match random.below(8) {
                    0 => special[random.below(special.len())],
                    1 => more[random.below(more.len())],
                    2 => <$t>::from_bits((random.next() << 33 ^ random.next()) as $bits),
                    3 => (random.float() * 700.0) as $t,
                    _ => (random.float() * 4.0) as $t,
                }
            }
            fn bits(bytes: &[u8]) -> u64 {
                let x = <$t>::from_le_bytes(bytes.try_into().unwrap());
                if x.is_nan() { 1 } else { x.to_bits().into() }
            }
            fn compare_bits(c: Comparison) -> TileOp {
                kernels::compare::<$signed>(c)
            }
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    };
}

number!(f32, Type::F32, u32, i32);
number!(f64, Type::F64, u64, i64);

/// Types of the inputs and of the outputs.
pub(super) type Kinds = [Vec<Type>; 2];

/// A body of random instructions.
fn random_body<T: TestNumber>(
    random: &mut Random,
    steps: usize,
    functions: bool,
    isa: Isa,
) -> (Body, Kinds) {
    let mut b = Builder::new();
    let truths_in_memory = random.below(2) == 0;
    let (mut numbers, mut truths, mut inputs) =
        (Vec::<Value>::new(), Vec::<Value>::new(), Vec::new());
    let most = if random.below(8) == 0 { 14 } else { 4 };
    for k in 0..1 + random.below(most) {
        let truth = k > 0 && truths_in_memory && random.below(4) == 0;
        let v = b.input(if truth { 1 } else { T::SIZE });
        inputs.push(if truth { Type::Bool } else { T::TYPE });
        if truth { &mut truths } else { &mut numbers }.push(v);
    }
    for _ in 0..random.below(3) {
        numbers.push(b.constant(&T::any(random).bytes()));
    }
    let given = numbers.clone();
    for _ in 0..steps {
        let pick = |of: &[Value], random: &mut Random| {
            // Late values are more frequent, so that chains are long.
            let back = random.below(of.len()).min(random.below(of.len()));
            of[of.len() - 1 - back]
        };
        let x = [0; 3].map(|_| pick(&numbers, random));
        let mut add = |kernel: TileOp, size, x: &[Value]| {
            // SAFETY: each kernel takes T or booleans, and its operands and result have these
            // types.
            unsafe { b.step(kernel, size, x, 0) }
        };
        let (unary, binary) = if functions {
            (Unary::ALL, Binary::ALL)
        } else {
            (&CHEAP[..], &PLAIN[..])
        };
        match random.below(10) {
            0..3 => {
                let f = unary[random.below(unary.len())];
                numbers.push(add(T::unary(f, isa), T::SIZE, &x[..1]));
            }
            3..6 => {
                let f = binary[random.below(binary.len())];
                numbers.push(add(T::binary(f, isa), T::SIZE, &x[..2]));
            }
            6 | 7 => {
                let c = COMPARISONS[random.below(4)];
                truths.push(match random.below(3) {
                    0 => add(T::compare_bits(c), 1, &[0; 2].map(|_| pick(&given, random))),
                    _ => add(T::compare(c), 1, &x[..2]),
                });
            }
            _ if truths.is_empty() => {}
            8 => {
                let m = pick(&truths, random);
                numbers.push(match random.below(4) {
                    0 => add(T::of_truth(), T::SIZE, &[m]),
                    _ => add(kernels::select(T::SIZE), T::SIZE, &[m, x[0], x[1]]),
                });
            }
            _ => {
                let [p, q] = [0; 2].map(|_| pick(&truths, random));
                let f = [Arithmetic::And, Arithmetic::Or, Arithmetic::Xor][random.below(3)];
                truths.push(match random.below(3) {
                    0 => add(kernels::not(), 1, &[p]),
                    _ => add(kernels::integers::<bool>(f), 1, &[p, q]),
                });
            }
        }
    }
    let (mut results, mut outputs) = (vec![*numbers.last().unwrap()], vec![T::TYPE]);
    for _ in 0..random.below(3) {
        match random.below(3) {
            0 if truths_in_memory
                && truths.len() > inputs.iter().filter(|t| **t == Type::Bool).count() =>
            {
                results.push(*truths.last().unwrap());
                truths.pop();
                outputs.push(Type::Bool);
            }
            _ => {
                results.push(numbers[random.below(numbers.len())]);
                outputs.push(T::TYPE);
            }
        }
    }
    (b.finish(&results), [inputs, outputs])
}

const COMPARISONS: [Comparison; 4] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
];

/// Functions whose bits are the same in both engines. Bits of computed NaNs are not.
const CHEAP: [Unary; 6] = [
    Unary::Neg,
    Unary::Abs,
    Unary::Floor,
    Unary::Sqrt,
    Unary::Square,
    Unary::Sign,
];
const PLAIN: [Binary; 9] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Max,
    Binary::Min,
    Binary::MulStrongZero,
    Binary::DivStrongZero,
    Binary::AddError,
];

/// Number of elements of an input, and its strides.
fn random_layout([p, q, r]: [usize; 3], random: &mut Random) -> (usize, [usize; 3]) {
    match random.below(12) {
        0 => (1, [0, 0, 0]),
        1 => (r, [0, 0, 1]),
        2 => (q, [0, 1, 0]),
        3 => (p * q, [q, 1, 0]),
        4 => (p, [1, 0, 0]),
        5 => (q * r, [0, r, 1]),
        6 => (p * r, [r, 0, 1]),
        7 if random.below(4) == 0 => (q * r, [0, 1, q]),
        _ => (p * q * r, [q * r, r, 1]),
    }
}

/// Runs a body by both engines over about `n` elements of random inputs with random layouts, and
/// compares. Returns whether the body could be compiled.
pub(super) fn compare(body: &Body, kinds: &Kinds, n: usize, isa: Isa, random: &mut Random) -> bool {
    let (p, q) = ([1, 1, 2, 3][random.below(4)], [1, 1, 4, 5][random.below(4)]);
    let r = n / (p * q);
    let (shape, n) = ([p, q, r], p * q * r);
    let (mut memory, mut first, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    // Complex functions have many lanes that need the scalar fallback, and the elements after one
    // are interpreted.
    let usual = kinds.iter().flatten().any(|t| t.is_complex()) && random.below(3) > 0;
    for &of in &kinds[0] {
        let (count, stride) = random_layout(shape, random);
        let bytes = count * of.size();
        let guarded = Guarded::new(bytes.max(1));
        let at = guarded.bytes(bytes, random.below(3) > 0);
        for i in 0..count {
            let x = if usual {
                of.usual(random)
            } else {
                of.any(random)
            };
            // SAFETY: the memory has room for `count` elements.
            unsafe { std::ptr::copy_nonoverlapping(x.as_ptr(), at.add(i * of.size()), x.len()) };
        }
        memory.push(guarded);
        first.push(at);
        strides.push(stride.map(|s| s as isize));
    }
    let sources: Vec<*const u8> = first.iter().map(|x| x.cast_const()).collect();
    let apart = apart::random_rows(shape, random);
    // Prefetched addresses are in memory that may not be read.
    let mut laid = body
        .lay(&shape, strides.iter().map(|s| &s[..]), &apart, isa)
        .reading_ahead(0..random.below(3));
    laid.stream(0..random.below(4));
    let from = random.below(n + 1) / 2;
    let range = from..n - random.below(n - from + 1) / 2;
    let count = range.len();
    if count == 0 {
        return body.compile(isa, laid.flags).is_some();
    }
    let mut want: Vec<Vec<u8>> = kinds[1]
        .iter()
        .map(|t| vec![0xaa; count * t.size()])
        .collect();
    let places: Vec<*mut u8> = want.iter_mut().map(|w| w.as_mut_ptr()).collect();
    // SAFETY: inputs and outputs have the sizes of the shape and of the range.
    unsafe { body.interpret(&laid.layouts, range.clone(), &sources, &places) };
    let dense = steps::dense([q, r], range.clone(), &kinds[0], &sources, &strides);
    steps::compare_steps(body, kinds, isa, &dense, &want);
    // Outputs in separate buffers, or one over an input.
    let (mut outputs, mut over) = (Vec::new(), false);
    // The position of an element of an output that is in a larger array.
    let position = |i: usize| match &laid.apart {
        Some(nest) => nest.offset(range.start + i) as usize,
        None => i,
    };
    let room = position(count - 1) + 1;
    for (k, &of) in kinds[1].iter().enumerate() {
        let may = |i: &usize| {
            laid.apart.is_none()
                && matches!(laid.layouts[*i], ViewLayout::Dense)
                && kinds[0][*i] == of
                && body.may_overwrite(k, *i)
                && n > 1
        };
        match (0..first.len()).find(may) {
            Some(i) if !over => {
                over = true;
                outputs.push(first[i].wrapping_add(range.start * of.size()));
            }
            _ => {
                let guarded = Guarded::new((room * of.size()).max(1));
                let at = guarded.bytes(room * of.size(), random.below(3) > 0);
                // SAFETY: the memory has room for the elements.
                unsafe { at.write_bytes(0xaa, room * of.size()) };
                outputs.push(at);
                memory.push(guarded);
            }
        }
    }
    // SAFETY: inputs and outputs have these sizes; an output is equal to an input only where the
    // body allows it.
    if !unsafe { body.run_code(isa, &laid, range.clone(), &sources, &outputs) } {
        return false;
    }
    let what = format!("{range:?} at {isa:?}");
    let places: Vec<usize> = (0..count).map(position).collect();
    for (k, &of) in kinds[1].iter().enumerate() {
        // SAFETY: the output has these elements.
        let got = unsafe { std::slice::from_raw_parts(outputs[k], room * of.size()) };
        apart::compare_output(of, got, &want[k], &places, &format!("output {k} of {what}"));
    }
    true
}

fn fuzz<T: TestNumber>(seeds: Range<u64>, functions: bool) {
    for isa in levels() {
        let (mut emitted, mut all) = (0, 0);
        for seed in seeds.clone() {
            let mut random = Random(seed * 7919 + 1);
            let steps = 1 + random.below(if functions { 12 } else { 60 });
            let (body, kinds) = random_body::<T>(&mut random, steps, functions, isa);
            for _ in 0..4 {
                let most = [40, 400, 400, 2000][random.below(4)];
                let n = random.below(most);
                all += 1;
                emitted += usize::from(compare(&body, &kinds, n, isa, &mut random));
            }
        }
        assert!(emitted * 4 > all * 3, "{emitted} of {all} at {isa:?}");
    }
}

#[test]
fn cheap_bodies_give_the_interpreters_bits() {
    fuzz::<f32>(0..150, false);
    fuzz::<f64>(150..300, false);
}

#[test]
fn functions_in_bodies_give_the_interpreters_bits() {
    fuzz::<f32>(300..400, true);
    fuzz::<f64>(400..500, true);
}

/// A single instruction over many values.
fn alone<T: TestNumber>(kernel: impl Fn(Isa) -> TileOp, arity: usize, name: &str) {
    for isa in levels() {
        let mut b = Builder::new();
        let x: Vec<Value> = (0..arity).map(|_| b.input(T::SIZE)).collect();
        // SAFETY: the kernel is one of T.
        let y = unsafe { b.step(kernel(isa), T::SIZE, &x, 0) };
        let body = b.finish(&[y]);
        let kinds = [vec![T::TYPE; arity], vec![T::TYPE]];
        for n in [0, 1, 7, 16, 33, 64, 999, 2500, 2504] {
            assert!(
                compare(&body, &kinds, n, isa, &mut Random(n as u64)),
                "{name} has code"
            );
        }
    }
}

#[test]
fn every_function_has_code_with_the_interpreters_bits() {
    for &f in Unary::ALL {
        alone::<f32>(|l| <f32 as TileFloat>::unary(f, l), 1, &format!("{f:?}"));
        alone::<f64>(|l| <f64 as TileFloat>::unary(f, l), 1, &format!("{f:?}"));
    }
    for &f in Binary::ALL {
        alone::<f32>(|l| <f32 as TileFloat>::binary(f, l), 2, &format!("{f:?}"));
        alone::<f64>(|l| <f64 as TileFloat>::binary(f, l), 2, &format!("{f:?}"));
    }
}

/// Empty rows, where one operand is a broadcast scalar.
#[test]
fn nothing_is_done_for_no_elements() {
    for isa in levels() {
        let mut b = Builder::new();
        let (x, y) = (b.input(8), b.input(8));
        // SAFETY: the kernel is one of f64.
        let z = unsafe { b.step(<f64 as TileFloat>::binary(Binary::Add, isa), 8, &[x, y], 0) };
        let body = b.finish(&[z]);
        for shape in [[2, 0, 3], [2, 3, 0], [0, 2, 3]] {
            let laid = body.lay(
                &shape,
                [[0, 1, 0], [1, 0, 0]].iter().map(|s| &s[..]),
                &[],
                isa,
            );
            let (numbers, mut out) = ([1.0f64; 3], [7.0f64]);
            let x = [numbers.as_ptr().cast::<u8>(); 2];
            // SAFETY: there is nothing to read or to write.
            unsafe { body.run(&laid, 0..0, &x, &[out.as_mut_ptr().cast()]) };
            assert_eq!(out, [7.0]);
        }
    }
}

#[test]
fn whole_comparisons_give_the_interpreters_bits() {
    fn of<T: TestNumber>(c: Comparison) {
        for isa in levels() {
            let mut b = Builder::new();
            let (x, y) = (b.input(T::SIZE), b.input(T::SIZE));
            // SAFETY: each kernel takes T or booleans, and its operands and result have these
            // types.
            let z = unsafe {
                let (m, same) = (
                    b.step(T::compare_bits(c), 1, &[x, y], 0),
                    b.step(T::compare_bits(c), 1, &[x, x], 0),
                );
                let z = b.step(kernels::select(T::SIZE), T::SIZE, &[m, x, y], 0);
                let of_truth = b.step(T::of_truth(), T::SIZE, &[same], 0);
                b.step(T::binary(Binary::Add, isa), T::SIZE, &[z, of_truth], 0)
            };
            let body = b.finish(&[z]);
            for n in [1, 7, 64, 2504] {
                let kinds = [vec![T::TYPE; 2], vec![T::TYPE]];
                assert!(
                    compare(&body, &kinds, n, isa, &mut Random(n as u64)),
                    "{c:?} has code"
                );
            }
        }
    }
    for c in [
        Comparison::Eq,
        Comparison::Ne,
        Comparison::Lt,
        Comparison::Le,
    ] {
        of::<f32>(c);
        of::<f64>(c);
    }
}

/// More live values than registers, masks included.
fn crowded<T: TestNumber>(alive: usize) {
    for isa in levels() {
        let mut b = Builder::new();
        let (x, z) = (b.input(T::SIZE), b.input(T::SIZE));
        // SAFETY: each kernel is one of T, and so are its operands.
        let mut step = |kernel: TileOp, size, x: &[Value]| unsafe { b.step(kernel, size, x, 0) };
        let binary = |f| T::binary(f, isa);
        let (mut numbers, mut masks) = (vec![x], Vec::new());
        for k in 0..alive {
            let v = numbers[k];
            let y = step(
                binary([Binary::Add, Binary::Mul, Binary::Sub][k % 3]),
                T::SIZE,
                &[v, z],
            );
            masks.push(step(T::compare(Comparison::Lt), 1, &[v, y]));
            numbers.push(y);
        }
        let mut y = z;
        for k in 0..alive {
            let w = step(binary(Binary::Mul), T::SIZE, &[numbers[k], y]);
            y = step(
                kernels::select(T::SIZE),
                T::SIZE,
                &[masks[k], w, numbers[alive - 1 - k]],
            );
        }
        let body = b.finish(&[y]);
        let kinds = [vec![T::TYPE; 2], vec![T::TYPE]];
        for n in [1, 50, 333] {
            assert!(compare(&body, &kinds, n, isa, &mut Random(n as u64)));
        }
    }
}

#[test]
fn what_finds_no_register_is_spilled() {
    for alive in [5, 12, 20, 40, 90] {
        crowded::<f32>(alive);
        crowded::<f64>(alive);
    }
    // A body whose frame would be too large for a stack is interpreted.
    let mut random = Random(3);
    let mut b = Builder::new();
    let x = b.input(4);
    // SAFETY: kernels of f32 on f32.
    let mut step = |f: Binary, x: &[Value]| unsafe {
        b.step(<f32 as TileFloat>::binary(f, Isa::Avx2), 4, x, 0)
    };
    let many: Vec<Value> = (0..500).fold(vec![x], |mut v, _| {
        v.push(step(Binary::Add, &[v[v.len() - 1], x]));
        v
    });
    let y = many
        .iter()
        .rev()
        .fold(x, |y, &v| step(Binary::Mul, &[y, v]));
    let body = b.finish(&[y]);
    assert!(!levels().any(|l| compare(
        &body,
        &[vec![Type::F32], vec![Type::F32]],
        9,
        l,
        &mut random
    )));
}

#[test]
fn a_body_that_cannot_be_written_down_has_no_code() {
    let mut b = Builder::new();
    let x = b.input(4);
    let opaque = kernels::map::<f32, f32, DoubleDouble>();
    // SAFETY: a kernel of f32.
    let y = unsafe { b.step(opaque, 4, &[x], 0) };
    assert!(b.finish(&[y]).trace(true, false).is_none());

    struct DoubleDouble;
    impl kernels::Map<f32, f32> for DoubleDouble {
        fn f(a: f32) -> f32 {
            a + a
        }
    }
}

fn chain() -> Body {
    let mut b = Builder::new();
    let x = b.input(8);
    let isa = Isa::chosen();
    // SAFETY: kernels of f64.
    let y = [Unary::Exp, Unary::Log1p, Unary::Sin]
        .iter()
        .fold(x, |y, &f| unsafe {
            b.step(<f64 as TileFloat>::unary(f, isa), 8, &[y], 0)
        });
    b.finish(&[y])
}

/// Without memory for code, bodies are interpreted: the process may open no more files.
#[test]
fn where_code_is_refused_bodies_are_interpreted() {
    const CHILD: &str = "EMITTER_REFUSED";
    if std::env::var(CHILD).is_err() {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "tile::emitted::tests::where_code_is_refused_bodies_are_interpreted",
            "--nocapture",
        ]);
        let out = child
            .env(CHILD, "1")
            .env("COTANGENT_ENGINE", "emitter")
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        return;
    }
    // SAFETY: the call changes a limit of this process only.
    unsafe {
        let limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
    let (body, x) = (chain(), (0..1000).map(f64::from).collect::<Vec<_>>());
    let (mut y, mut z) = (vec![0f64; x.len()], vec![0f64; x.len()]);
    let (source, laid) = (
        [x.as_ptr().cast()],
        body.laid(&[1000], [&[1][..]].into_iter()),
    );
    for _ in 0..2 {
        // SAFETY: the slices have a thousand elements.
        unsafe { body.run(&laid, 0..1000, &source, &[y.as_mut_ptr().cast()]) };
    }
    assert!(
        body.emitted.first.get().is_some_and(|v| v.code.is_none()),
        "code was wanted and refused"
    );
    // SAFETY: the slices have a thousand elements.
    unsafe { body.interpret(&laid.layouts, 0..1000, &source, &[z.as_mut_ptr().cast()]) };
    assert!(y.iter().zip(&z).all(|(y, z)| y.to_bits() == z.to_bits()));
}

/// A tile of transposed rows has whole rows, as many as a square has; rows that are too long are
/// packed as others.
#[test]
fn tiles_have_whole_rows_of_squares() {
    let body = chain();
    for (len, tile) in [(20, 160), (100, 800), (256, 2048), (257, 256), (5000, 256)] {
        let laid = body.laid(&[600, len], [&[1, 600][..]].into_iter());
        assert_eq!(body.tile_elements(&laid), tile, "rows of {len}");
        assert_eq!(laid.squares.is_some(), len <= 256, "rows of {len}");
    }
}

/// A body is first interpreted, then compiled. There is one variant for each set of broadcast
/// scalars, and threads share the variants.
#[test]
fn code_is_made_for_the_second_run() {
    if !Isa::chosen().has_avx2() || Engine::chosen() != Engine::Both {
        return;
    }
    let (body, x) = (chain(), [0.5f64; 100]);
    let run = |strides: &[isize]| {
        let mut y = [0.0f64; 100];
        let laid = body.laid(&[100], [strides].into_iter());
        // SAFETY: the arrays have a hundred elements.
        unsafe {
            body.run(
                &laid,
                0..100,
                &[x.as_ptr().cast()],
                &[y.as_mut_ptr().cast()],
            )
        };
        y
    };
    let first = run(&[1]);
    assert!(body.emitted.first.get().is_none());
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for strides in [[1], [0]] {
                    assert_eq!(run(&strides), first);
                }
            });
        }
    });
    let variant = body.emitted.first.get().expect("it ran again");
    assert!(
        variant.code.is_some()
            && variant
                .next
                .get()
                .is_some_and(|v| v.code.is_some() && v.next.get().is_none())
    );
}

#[test]
fn a_chosen_result_is_written_where_the_choice_was() {
    let mut b = Builder::new();
    let (h, x) = (b.input(1), b.input(8));
    let isa = Isa::chosen();
    let add = <f64 as TileFloat>::binary(Binary::Add, isa);
    // SAFETY: kernels of f64 and of a boolean.
    let (twice, chosen, other) = unsafe {
        let twice = b.step(add, 8, &[x, x], 0);
        let late = b.step(add, 8, &[twice, x], 0);
        let chosen = b.step(kernels::select(8), 8, &[h, twice, late], 0);
        let other = b.step(add, 8, &[chosen, late], 0);
        (twice, chosen, other)
    };
    let (decided, inputs) = b.choosing(&[chosen, other], &[(chosen, twice)].into_iter().collect());
    let whole = b.finish(&[chosen, other]);
    assert_eq!((whole.steps(), decided.steps()), (4, 4));
    assert_eq!(inputs, [1]);
    // The value `late` reads `x` after the chosen one is known and before the choice.
    for k in 0..2 {
        assert!(!whole.may_overwrite(k, 1) || decided.may_overwrite(k, 0));
    }
    assert!(whole.may_overwrite(0, 1));
    let x = [1.0f64, -3.0, 0.5];
    let mut y = [[0.0f64; 3]; 2];
    let laid = decided.laid(&[3], [&[1isize][..]].into_iter());
    let to = y.each_mut().map(|y| y.as_mut_ptr().cast::<u8>());
    // SAFETY: the input and the outputs have three numbers each.
    unsafe { decided.run(&laid, 0..3, &[x.as_ptr().cast()], &to) };
    assert_eq!(y, [x.map(|x| 2.0 * x), x.map(|x| 5.0 * x)]);
}
