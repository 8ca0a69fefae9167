//! Random numbers as pure functions of keys: threefry2x32 written with integer operations, and
//! distributions.
//!
//! A key is `u32[2]`. Every element of a result encrypts its own position, so it depends only on
//! the key and the position. Keys, bits and samples are those of JAX's default generator
//! (threefry2x32, partitionable); floating-point functions of them may differ in the last places.
//! Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
//!
//! Derivatives go through the parameters of a distribution, at fixed bits; keys have none.

use crate::array::{Array, Scalar};
use crate::dtype::DType;
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::Comparison;
use crate::shape::{Dim, Type};
use std::f64::consts::SQRT_2;

/// Rotation counts, in bits, of the first word in each round of a group of four.
const ROTATIONS: [[i128; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

impl dyn Emit + '_ {
    /// A constant integer of the type of `x`.
    fn int(&self, x: Val, n: i128) -> Val {
        self.full_like(x, Scalar::I(n))
    }

    /// The key of a seed.
    pub fn random_key(&self, seed: u64) -> Val {
        self.constant(Array::vector(vec![(seed >> 32) as u32, seed as u32]))
    }

    /// Twenty rounds of threefry on pairs of words, elementwise.
    pub fn threefry2x32(&self, key: [Val; 2], x: [Val; 2]) -> [Val; 2] {
        let ks = [
            key[0],
            key[1],
            self.xor(self.xor(key[0], key[1]), self.int(key[0], 0x1BD1_1BDA)),
        ];
        let mut x = [self.add(x[0], ks[0]), self.add(x[1], ks[1])];
        for group in 0..5 {
            for by in ROTATIONS[group % 2] {
                x[0] = self.add(x[0], x[1]);
                let turned = self.or(
                    self.shift_left(x[1], self.int(x[1], by)),
                    self.shift_right_logical(x[1], self.int(x[1], 32 - by)),
                );
                x[1] = self.xor(x[0], turned);
            }
            x[0] = self.add(x[0], ks[(group + 1) % 3]);
            let count = self.int(x[1], group as i128 + 1);
            x[1] = self.add(self.add(x[1], ks[(group + 2) % 3]), count);
        }
        x
    }

    /// The two words of a key, broadcast to a shape. An error if it is not a key.
    fn key_words(&self, key: Val, shape: &[Dim]) -> Option<[Val; 2]> {
        let ty = self.ty(key);
        if self.failed() {
            return None;
        }
        if ty.dtype != DType::U32
            || ty.rank() != 1
            || ty.shape[0].same(&Dim::Const(2)) == Some(false)
        {
            let text = format!("a random key is u32[2], got {ty}; make one with `random_key`");
            self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
            return None;
        }
        Some([0, 1].map(|k| self.broadcast_in_dim(self.index_axis(key, 0, k), shape, &[])))
    }

    /// The encrypted position of every element, two words each.
    fn random_words(&self, key: Val, shape: &[Dim]) -> Option<[Val; 2]> {
        let words = self.key_words(key, shape)?;
        let n = shape.iter().fold(Dim::Const(1), |n, d| n * d.clone());
        let index = self.iota(&Type::new(DType::U64, vec![n]), 0);
        let high = self.shift_right_logical(index, self.int(index, 32));
        let counts =
            [high, index].map(|c| self.reshape(self.convert(self.low_word(c), DType::U32), shape));
        Some(self.threefry2x32(words, counts))
    }

    /// The lower 32 bits of a 64-bit word.
    fn low_word(&self, x: Val) -> Val {
        self.and(x, self.int(x, u32::MAX.into()))
    }

    /// Keys that are independent of each other and of `key`: `u32[shape.., 2]`.
    pub fn random_split(&self, key: Val, shape: &[Dim]) -> Val {
        match self.random_words(key, shape) {
            Some(words) => self.stack(&words, shape.len()),
            None => Val::POISON,
        }
    }

    /// `N` keys of `random_split`, as separate values.
    pub fn random_keys<const N: usize>(&self, key: Val) -> [Val; N] {
        let all = self.random_split(key, &[Dim::Const(N)]);
        std::array::from_fn(|k| self.index_axis(all, 0, k))
    }

    /// A key derived from `key` and a number (`u32[]`).
    pub fn random_fold_in(&self, key: Val, data: Val) -> Val {
        match self.key_words(key, &[]) {
            Some(words) => self.stack(&self.threefry2x32(words, [self.int(data, 0), data]), 0),
            None => Val::POISON,
        }
    }

    /// Random bits as an unsigned integer type.
    pub fn random_bits(&self, key: Val, shape: &[Dim], dtype: DType) -> Val {
        let narrow = (dtype.is_int() || dtype == DType::Bool) && dtype.bits() < 64;
        if !narrow && dtype != DType::U64 {
            let text = format!("random bits are of an unsigned integer type, not {dtype}");
            self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
            return Val::POISON;
        }
        let Some([a, b]) = self.random_words(key, shape) else {
            return Val::POISON;
        };
        if dtype != DType::U64 {
            let bits = self.xor(a, b);
            // The low bits of each word.
            let mask = if dtype == DType::U32 {
                bits
            } else {
                self.and(bits, self.int(bits, (1 << dtype.bits()) - 1))
            };
            return self.convert(mask, dtype);
        }
        let high = self.convert(a, dtype);
        self.or(
            self.shift_left(high, self.int(high, 32)),
            self.convert(b, dtype),
        )
    }

    /// Uniform numbers of a float type in `[lo, hi)`; the bounds are broadcast to the shape.
    pub fn random_uniform(&self, key: Val, shape: &[Dim], lo: Val, hi: Val) -> Val {
        let dtype = self.ty(lo).dtype;
        // Integer type and number of mantissa bits, and the bit pattern of 1.
        let (bits, mantissa, word, one) = match dtype {
            DType::F16 => (DType::U16, 10, DType::U16, 0x3C00),
            DType::BF16 => (DType::U8, 7, DType::U16, 0x3F80),
            DType::F32 => (DType::U32, 23, DType::U32, 0x3F80_0000),
            DType::F64 => (DType::U64, 52, DType::U64, 0x3FF0_0000_0000_0000i128),
            _ => {
                let text =
                    format!("random numbers between bounds of type {dtype}: they must be floats");
                self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
                return Val::POISON;
            }
        };
        let random = self.convert(self.random_bits(key, shape, bits), word);
        if self.failed() {
            return Val::POISON;
        }
        let kept =
            self.shift_right_logical(random, self.int(random, i128::from(bits.bits()) - mantissa));
        // A random mantissa with the exponent of 1, minus 1.
        let unit = self.bitcast(self.or(kept, self.int(kept, one)), dtype);
        let unit = self.sub(unit, self.full_like(unit, 1.0));
        let (lo, hi) = (self.broadcast_to(lo, shape), self.broadcast_to(hi, shape));
        self.maximum(lo, self.add(self.mul(unit, self.sub(hi, lo)), lo))
    }

    fn random_unit(&self, key: Val, shape: &[Dim], dtype: DType, lo: f64, hi: f64) -> Val {
        let scalar = |c: f64| self.full(&Type::scalar(dtype), c);
        self.random_uniform(key, shape, scalar(lo), scalar(hi))
    }

    /// Normal numbers with mean 0 and variance 1. Each part of a complex number has variance 1/2.
    pub fn random_normal(&self, key: Val, shape: &[Dim], dtype: DType) -> Val {
        if dtype.is_complex() {
            let parts = self
                .random_keys::<2>(key)
                .map(|k| self.random_normal(k, shape, dtype.real()));
            let z = self.complex(parts[0], parts[1]);
            return self.div(z, self.full_like(z, SQRT_2));
        }
        let least = -1.0 + dtype.epsilon() * 0.5;
        self.scale_by(
            SQRT_2,
            self.erf_inv(self.random_unit(key, shape, dtype, least, 1.0)),
        )
    }

    /// Normal numbers with mean 0 and variance 1, truncated to `lo` and `hi`.
    pub fn random_truncated_normal(&self, key: Val, shape: &[Dim], lo: Val, hi: Val) -> Val {
        let [a, b] = [lo, hi].map(|v| self.erf(self.div(v, self.full_like(v, SQRT_2))));
        let y = self.scale_by(SQRT_2, self.erf_inv(self.random_uniform(key, shape, a, b)));
        let end = |v: Val, toward: f64| {
            let v = self.next_after(v, self.full_like(v, toward));
            self.broadcast_to(v, shape)
        };
        let (lo, hi) = (end(lo, f64::INFINITY), end(hi, f64::NEG_INFINITY));
        self.clamp(lo, y, hi)
    }

    /// True with probability `p`, which is broadcast to the shape.
    pub fn random_bernoulli(&self, key: Val, shape: &[Dim], p: Val) -> Val {
        let u = self.random_unit(key, shape, self.ty(p).dtype, 0.0, 1.0);
        self.compare(u, Comparison::Lt, self.broadcast_to(p, shape))
    }

    /// Exponentially distributed numbers with mean 1.
    pub fn random_exponential(&self, key: Val, shape: &[Dim], dtype: DType) -> Val {
        self.neg(self.log1p(self.neg(self.random_unit(key, shape, dtype, 0.0, 1.0))))
    }

    /// Numbers of the standard Gumbel distribution.
    pub fn random_gumbel(&self, key: Val, shape: &[Dim], dtype: DType) -> Val {
        let tiny = match dtype {
            DType::F16 => 2f64.powi(-14),
            DType::F64 => f64::MIN_POSITIVE,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        let u = self.random_unit(key, shape, dtype, tiny, 1.0);
        self.neg(self.log(self.neg(self.log(u))))
    }

    /// Random classes along `axis` of `logits`, which is removed, with probability
    /// `softmax(logits)`.
    pub fn random_categorical(&self, key: Val, logits: Val, axis: usize) -> Val {
        let ty = self.ty(logits);
        let noise = self.random_gumbel(key, &ty.shape, ty.dtype);
        self.argmax(self.add(noise, logits), axis)
    }

    /// Integers in `[lo, hi)`, or `lo` if that is empty. The bounds are scalars of the type of the
    /// result.
    pub fn random_int(&self, key: Val, shape: &[Dim], lo: Val, hi: Val) -> Val {
        let ty = self.ty(lo);
        let Some(word) = unsigned(ty.dtype) else {
            let text = format!(
                "random integers between {ty} and {}: they must be integers",
                self.ty(hi)
            );
            self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
            return Val::POISON;
        };
        if word.bits() < 32 {
            // Remainders of 8- and 16-bit words are not uniform enough.
            let [lo, hi] = [lo, hi].map(|v| self.convert(v, DType::I32));
            return self.convert(self.random_int(key, shape, lo, hi), ty.dtype);
        }
        let [high, low] = self
            .random_keys::<2>(key)
            .map(|k| self.random_bits(k, shape, word));
        let span = self.bitcast(self.sub(hi, lo), word);
        let span = self.select(
            self.compare(hi, Comparison::Le, lo),
            self.int(span, 1),
            span,
        );
        // 2^bits modulo the span, in two steps.
        let half = self.rem(self.int(span, 1 << (word.bits() / 2)), span);
        let step = self.rem(self.mul(half, half), span);
        let [span, step] = [span, step].map(|v| self.broadcast_in_dim(v, shape, &[]));
        let offset = self.add(self.mul(self.rem(high, span), step), self.rem(low, span));
        let offset = self.bitcast(self.rem(offset, span), ty.dtype);
        self.add(self.broadcast_in_dim(lo, shape, &[]), offset)
    }

    /// `x` with its slices along an axis in random order.
    pub fn random_permutation(&self, key: Val, x: Val, axis: usize) -> Val {
        let ty = self.ty(x);
        let Some(n) = ty.shape.get(axis) else {
            self.fail(
                Error::new(
                    Code::Attribute,
                    format!("a permutation along axis {axis} of {ty}"),
                )
                .at(self.loc()),
            );
            return Val::POISON;
        };
        let Some(count) = n.as_const() else {
            let text = format!(
                "a permutation of {n} slices: their number must be a constant, because the number of operations depends on it"
            );
            self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
            return Val::POISON;
        };
        // Sorts by random keys, repeatedly, so that ties of keys have a negligible effect.
        let rounds = (3.0 * (count.max(1) as f64).ln() / f64::from(u32::MAX).ln()).ceil() as usize;
        let line = if ty.rank() == 1 {
            x
        } else {
            self.iota(&Type::new(DType::I32, vec![n.clone()]), 0)
        };
        let (mut key, mut order) = (key, line);
        for _ in 0..rounds {
            let [next, sub] = self.random_keys::<2>(key);
            key = next;
            let by = self.random_bits(sub, std::slice::from_ref(n), DType::U32);
            order = match self.sort_by(&[by, order], 0, 1, false)[..] {
                [_, sorted] => sorted,
                _ => Val::POISON,
            };
        }
        if ty.rank() == 1 {
            order
        } else {
            self.take(x, order, axis, crate::ops::Bounds::Clip)
        }
    }

    /// `x / (1 - rate)`, or 0 with probability `rate`, independently for each element.
    pub fn random_dropout(&self, key: Val, x: Val, rate: f64) -> Val {
        let ty = self.ty(x);
        if !(0.0..=1.0).contains(&rate) {
            let text = format!("`dropout` of {ty} at the rate {rate}: a rate is between 0 and 1");
            self.fail(Error::new(Code::Attribute, text).at(self.loc()));
            return Val::POISON;
        }
        if rate == 0.0 {
            return x;
        }
        let p = self.full(
            &Type::scalar(if ty.dtype.is_complex() {
                ty.dtype.real()
            } else {
                ty.dtype
            }),
            1.0 - rate,
        );
        let keep = self.random_bernoulli(key, &ty.shape, p);
        let zero = self.full_like(x, 0.0);
        if rate >= 1.0 {
            return zero;
        }
        self.select(keep, self.div(x, self.full_like(x, 1.0 - rate)), zero)
    }

    /// Random bits and the next state of XLA's counter-based generators, for a state of 64-bit
    /// words whose first one is the key.
    pub fn rng_bit_generator(
        &self,
        philox: bool,
        state: Val,
        shape: &[usize],
        dtype: DType,
    ) -> (Val, Val) {
        let ty = self.ty(state);
        let words = ty.shape.first().and_then(Dim::as_const).unwrap_or(0);
        let Some(word) = unsigned(dtype).or(match dtype {
            DType::F32 => Some(DType::U32),
            DType::F64 => Some(DType::U64),
            _ => None,
        }) else {
            self.fail(
                Error::new(Code::DTypeMismatch, format!("random bits of type {dtype}"))
                    .at(self.loc()),
            );
            return (Val::POISON, Val::POISON);
        };
        if ty.dtype != DType::U64 || ty.rank() != 1 || !(words == 2 || (philox && words == 3)) {
            let text = format!(
                "the state of a random generator is u64[2] (or u64[3] for philox), got {ty}"
            );
            self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
            return (Val::POISON, Val::POISON);
        }
        let (state, bits) = if philox {
            self.philox(state, words, shape, word)
        } else {
            self.threefry(state, shape, word)
        };
        (state, self.bitcast(bits, dtype))
    }

    /// The lower and the upper half of 64-bit words.
    fn halves(&self, x: Val) -> [Val; 2] {
        let high = self.shift_right_logical(x, self.int(x, 32));
        [self.low_word(x), high].map(|v| self.convert(v, DType::U32))
    }

    fn whole(&self, low: Val, high: Val) -> Val {
        let [low, high] = [low, high].map(|v| self.convert(v, DType::U64));
        self.or(low, self.shift_left(high, self.int(high, 32)))
    }

    /// `n` counters from a word of the state.
    fn counters(&self, first: Val, n: usize) -> Val {
        let line = [Dim::Const(n)];
        let index = self.iota(&Type::new(DType::U64, line.to_vec()), 0);
        self.add(self.broadcast_in_dim(first, &line, &[]), index)
    }

    fn threefry(&self, state: Val, shape: &[usize], word: DType) -> (Val, Val) {
        let (key, first) = (self.index_axis(state, 0, 0), self.index_axis(state, 0, 1));
        // Below 64 bits both words of a block are used, concatenated along one axis: the first of
        // even extent, else the longest.
        let even = shape.iter().position(|n| n % 2 == 0);
        let longest = (0..shape.len()).rev().max_by_key(|&a| shape[a]);
        let axis = if word == DType::U64 {
            None
        } else {
            even.or(longest)
        };
        let mut blocks: Vec<usize> = shape.to_vec();
        if let Some(a) = axis {
            blocks[a] = blocks[a].div_ceil(2);
        }
        let n = blocks.iter().product();
        let counters = self.counters(first, n);
        let key_words = self
            .halves(key)
            .map(|k| self.broadcast_in_dim(k, &[Dim::Const(n)], &[]));
        let dims = |v: &[usize]| v.iter().map(|&d| Dim::Const(d)).collect::<Vec<_>>();
        let words = self
            .threefry2x32(key_words, self.halves(counters))
            .map(|w| self.reshape(w, &dims(&blocks)));
        let bits = match axis {
            None if word == DType::U64 => self.whole(words[0], words[1]),
            None => words[0],
            Some(a) => {
                let pairs = self.stack(&words, a + 1);
                blocks[a] *= 2;
                let y = self.reshape(pairs, &dims(&blocks));
                self.slice_axis(y, a, 0, shape[a])
            }
        };
        let next = self.add(first, self.int(first, n as i128));
        (self.stack(&[key, next], 0), self.narrowed(bits, word))
    }

    /// 32-bit words truncated to their low bits.
    fn narrowed(&self, bits: Val, word: DType) -> Val {
        match word.bits() {
            n if n < 32 => self.convert(self.and(bits, self.int(bits, (1 << n) - 1)), word),
            _ => bits,
        }
    }

    /// Ten rounds of philox4x32.
    fn philox4x32(&self, mut key: [Val; 2], mut x: [Val; 4]) -> [Val; 4] {
        let product = |x: Val, by: i128| {
            let wide = self.convert(x, DType::U64);
            self.halves(self.mul(wide, self.int(wide, by)))
        };
        for round in 0..10 {
            if round > 0 {
                key = [
                    self.add(key[0], self.int(key[0], 0x9E37_79B9)),
                    self.add(key[1], self.int(key[1], 0xBB67_AE85)),
                ];
            }
            let ([low0, high0], [low1, high1]) =
                (product(x[0], 0xD251_1F53), product(x[2], 0xCD9E_8D57));
            x = [
                self.xor(self.xor(high1, x[1]), key[0]),
                low1,
                self.xor(self.xor(high0, x[3]), key[1]),
                low0,
            ];
        }
        x
    }

    fn philox(&self, state: Val, words: usize, shape: &[usize], word: DType) -> (Val, Val) {
        let at = |k: usize| self.index_axis(state, 0, k);
        // The counter has 128 bits. In a short state the key is its upper half.
        let (key, low, high) = if words == 3 {
            (at(0), at(1), at(2))
        } else {
            (at(0), at(1), at(0))
        };
        let count: usize = shape.iter().product();
        let per_block = if word == DType::U64 { 2 } else { 4 };
        let n = count.div_ceil(per_block);
        let line = [Dim::Const(n)];
        let carried = |sum: Val, before: Val, high: Val| {
            let carry = self.convert(self.compare(sum, Comparison::Lt, before), DType::U64);
            self.add(high, carry)
        };
        let all = |v: Val| self.broadcast_in_dim(v, &line, &[]);
        let lows = self.counters(low, n);
        let highs = carried(lows, all(low), all(high));
        let ([a, b], [c, d]) = (self.halves(lows), self.halves(highs));
        let x = self.philox4x32(self.halves(key).map(all), [a, b, c, d]);
        let blocks = match word {
            DType::U64 => self.stack(&[self.whole(x[0], x[1]), self.whole(x[2], x[3])], 1),
            _ => self.stack(&x, 1),
        };
        let flat = self.reshape(blocks, &[Dim::Const(n * per_block)]);
        let shape: Vec<Dim> = shape.iter().map(|&d| Dim::Const(d)).collect();
        let bits = self.reshape(self.slice_axis(flat, 0, 0, count), &shape);
        let next = self.add(low, self.int(low, n as i128));
        let next_high = carried(next, low, high);
        let state = if words == 3 {
            vec![key, next, next_high]
        } else {
            vec![key, next]
        };
        (self.stack(&state, 0), self.narrowed(bits, word))
    }
}

/// The unsigned integer type with the same number of bits.
fn unsigned(d: DType) -> Option<DType> {
    Some(match d {
        DType::I8 | DType::U8 => DType::U8,
        DType::I16 | DType::U16 => DType::U16,
        DType::I32 | DType::U32 => DType::U32,
        DType::I64 | DType::U64 => DType::U64,
        _ => return None,
    })
}
