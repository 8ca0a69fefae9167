//! [`TraceVector`]: a tracing vector type. It computes nothing and records each operation.
//!
//! A function that is generic over [`V`] runs on it once, and the recorded operations are the trace
//! of the function. So one definition serves both the interpreter and the code generator. The trace
//! under construction is thread-local, because a vector value has no reference to it.

use super::recorder::{self, with};
use super::trace::{BinaryInst, IntegerInst, ShiftDirection, Trace, TraceId, UnaryInst, predicate};
use crate::vector::gradual::product;
use crate::vector::{V, VectorFloat};
use std::marker::PhantomData;

/// Builder of the trace under construction on this thread.
pub(crate) struct TraceBuilder;

impl TraceBuilder {
    /// Starts a trace for AVX-512 (`wide`) or AVX2, with elements of at most `widest` bytes.
    pub(crate) fn start(wide: bool, widest: usize) -> TraceBuilder {
        with(|p| p.start(wide, widest));
        TraceBuilder
    }

    /// The next input, with elements of `size` bytes.
    pub(crate) fn input(&self, size: usize) -> TraceId {
        with(|p| p.input(size))
    }

    /// A broadcast scalar.
    pub(crate) fn constant(&self, bytes: &[u8]) -> TraceId {
        match bytes.len() {
            size @ (1 | 2 | 4 | 8) => {
                let mut all = [0; 8];
                all[..size].copy_from_slice(bytes);
                with(|p| p.constant(u64::from_le_bytes(all), size))
            }
            16 => {
                let [re, im] = [&bytes[..8], &bytes[8..]].map(|part| self.constant(part));
                with(|p| p.pair([re, im]))
            }
            _ => with(Trace::fail),
        }
    }

    /// If `y` is a product of two of the operands `x`, returns the product of [`product`]. Returns
    /// any other value unchanged.
    pub(crate) fn gradual(&self, y: TraceId, x: &[TraceId]) -> TraceId {
        match with(|p| p.factors(y)) {
            Some((a, b, size)) if x.contains(&a) && x.contains(&b) => match size {
                4 => product(TraceVector::<f32>::of(a), TraceVector::of(b)).0,
                _ => product(TraceVector::<f64>::of(a), TraceVector::of(b)).0,
            },
            _ => y,
        }
    }

    /// Finishes the trace with these results, given with their element sizes in bytes.
    pub(crate) fn finish(self, outputs: &[(TraceId, usize)]) -> Trace {
        with(|p| p.finish(outputs));
        with(std::mem::take)
    }
}

/// Records a condition under which the element needs the scalar fallback.
#[inline(never)]
pub(crate) fn rare(m: TraceMask) {
    with(|p| p.rare.push(m.0));
}

/// A tracing vector of floats.
#[derive(Clone, Copy)]
pub(crate) struct TraceVector<E>(pub(crate) TraceId, PhantomData<E>);

/// A tracing vector of booleans.
#[derive(Clone, Copy)]
pub(crate) struct TraceMask(pub(crate) TraceId);

impl<E: VectorFloat> TraceVector<E> {
    /// An operand of an instruction on `E`.
    pub(crate) fn of(x: TraceId) -> Self {
        TraceVector(recorder::operand(x, size_of::<E>()), PhantomData)
    }

    fn one(self, f: UnaryInst) -> Self {
        TraceVector(recorder::one(f, self.0), PhantomData)
    }

    fn two(self, f: BinaryInst, b: Self) -> Self {
        TraceVector(recorder::two(f, self.0, b.0), PhantomData)
    }

    fn compare(self, p: u8, b: Self) -> TraceMask {
        TraceMask(recorder::compare(p, self.0, b.0))
    }
}

/// A shift by the width of the fraction.
fn fraction<E>(way: ShiftDirection) -> UnaryInst {
    let size = size_of::<E>() as u8;
    UnaryInst::Shift(way, if size == 8 { 52 } else { 23 }, size)
}

impl<E: VectorFloat> V for TraceVector<E> {
    type E = E;
    type M = TraceMask;
    const N: usize = 1;

    unsafe fn load(_: *const E) -> Self {
        unreachable!("a function on vectors reads no memory")
    }
    unsafe fn store(self, _: *mut E) {
        unreachable!("a function on vectors writes no memory")
    }
    fn any(_: TraceMask) -> bool {
        unreachable!("a function on vectors does not branch")
    }
    fn may_hold(_: TraceMask) -> bool {
        true
    }
    fn splat(x: E) -> Self {
        TraceVector(
            recorder::constant(x.bits(), size_of::<E>() == 8),
            PhantomData,
        )
    }
    fn add(self, b: Self) -> Self {
        self.two(BinaryInst::Add, b)
    }
    fn sub(self, b: Self) -> Self {
        self.two(BinaryInst::Sub, b)
    }
    fn mul(self, b: Self) -> Self {
        self.two(BinaryInst::Mul, b)
    }
    fn div(self, b: Self) -> Self {
        self.two(BinaryInst::Div, b)
    }
    fn sqrt(self) -> Self {
        self.one(UnaryInst::Sqrt)
    }
    fn fma(self, b: Self, c: Self) -> Self {
        TraceVector(recorder::fma(self.0, b.0, c.0), PhantomData)
    }
    fn scale(self, n: Self) -> Self {
        if recorder::is_wide() {
            self.two(BinaryInst::Scale, n)
        } else {
            crate::vector::scale(self, n)
        }
    }
    fn round(self) -> Self {
        self.one(UnaryInst::Round(0))
    }
    fn floor(self) -> Self {
        self.one(UnaryInst::Round(1))
    }
    fn ceil(self) -> Self {
        self.one(UnaryInst::Round(2))
    }
    fn trunc(self) -> Self {
        self.one(UnaryInst::Round(3))
    }
    fn and(self, b: Self) -> Self {
        self.two(BinaryInst::And, b)
    }
    fn or(self, b: Self) -> Self {
        self.two(BinaryInst::Or, b)
    }
    fn xor(self, b: Self) -> Self {
        self.two(BinaryInst::Xor, b)
    }
    fn bits_add(self, b: Self) -> Self {
        self.two(
            BinaryInst::Integer(IntegerInst::Add, size_of::<E>() as u8),
            b,
        )
    }
    fn bits_sub(self, b: Self) -> Self {
        self.two(
            BinaryInst::Integer(IntegerInst::Sub, size_of::<E>() as u8),
            b,
        )
    }
    fn to_exponent(self) -> Self {
        self.one(fraction::<E>(ShiftDirection::Left))
    }
    fn exponent_bits(self) -> Self {
        self.one(fraction::<E>(ShiftDirection::Right))
    }
    fn lt(self, b: Self) -> TraceMask {
        self.compare(predicate::LT, b)
    }
    fn le(self, b: Self) -> TraceMask {
        self.compare(predicate::LE, b)
    }
    fn eq(self, b: Self) -> TraceMask {
        self.compare(predicate::EQ, b)
    }
    fn both(a: TraceMask, b: TraceMask) -> TraceMask {
        TraceMask(recorder::both(a.0, b.0))
    }
    fn either(a: TraceMask, b: TraceMask) -> TraceMask {
        TraceMask(recorder::either(a.0, b.0))
    }
    fn not(a: TraceMask) -> TraceMask {
        TraceMask(recorder::not(a.0))
    }
    fn select(m: TraceMask, a: Self, b: Self) -> Self {
        TraceVector(recorder::select(m.0, a.0, b.0), PhantomData)
    }
}
