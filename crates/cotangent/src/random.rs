//! Random numbers as functions of keys, for traced and eager tensors, by JAX's default generator.
//!
//! Keys, bits, integers and uniform numbers are bit-identical to JAX. Functions of them (normal,
//! truncated normal, exponential and Gumbel numbers) may differ from JAX in the last bits.
//!
//! A key is a tensor `u32[2]`. The same key gives the same numbers, on every machine and for every
//! number of threads; for independent numbers, [`split`] it or [`fold_in`] a count. Samples are
//! differentiable in the parameters of their distribution, with the random bits fixed. Keys have no
//! derivative.
//!
//! ```
//! use cotangent::{DType, TracedTensor, closures::grad, random};
//! let key = TracedTensor::from_tensor(random::key(42));
//! let [noise, other] = &random::split(&key, 2)?[..] else { unreachable!() };
//! let z = random::normal(noise, &[1000], DType::F64)?;
//! // The mean of squares of samples with this standard deviation, and its derivative.
//! let loss = |s: TracedTensor| { let x = &s * &z; (&x * &x).mean(&[0]) };
//! let d = grad(loss)(TracedTensor::from_vec_row_major(vec![], vec![3.0]))?.to_tensor()?.to_vec::<f64>()?[0];
//! assert!((d - 6.0).abs() < 0.5);
//! assert_eq!(random::uniform(other, &[2, 3], DType::F32)?.to_tensor()?.shape(), [2, 3]);
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::TensorOps;
use crate::{Code, DType, Dim, Emit, Error, Scalar, Tensor, Type, Val};

/// The key of a seed.
pub fn key(seed: u64) -> Tensor {
    Tensor::from_vec_row_major(vec![2], vec![(seed >> 32) as u32, seed as u32]).expect("two words")
}

fn dims(shape: &[usize]) -> Vec<Dim> {
    shape.iter().map(|&n| n.into()).collect()
}

/// `n` keys that are independent of each other and of this one.
#[track_caller]
pub fn split<T: TensorOps>(key: &T, n: usize) -> Result<Vec<T>, T::Error> {
    // Each key is a separate tensor.
    const MAX_SPLIT_KEYS: usize = 1 << 20;
    T::emit(&[key], |cx, x| {
        if n > MAX_SPLIT_KEYS {
            let text = format!(
                "`split` of a key into {n}: at most {MAX_SPLIT_KEYS}; split in steps, or fold_in a count"
            );
            cx.fail(Error::new(Code::Limit, text).at(cx.loc()));
            return Vec::new();
        }
        let all = cx.random_split(x[0], &dims(&[n]));
        (0..n).map(|k| cx.index_axis(all, 0, k)).collect()
    })
}

/// A key derived from this one and a number, such as the index of a step, a layer or an element.
#[track_caller]
pub fn fold_in<T: TensorOps>(key: &T, number: u32) -> Result<T, T::Error> {
    T::emit_one(&[key], |cx, x| {
        let number = cx.full(&Type::scalar(DType::U32), Scalar::I(number.into()));
        cx.random_fold_in(x[0], number)
    })
}

/// Random bits as an unsigned integer type.
#[track_caller]
pub fn bits<T: TensorOps>(key: &T, shape: &[usize], dtype: DType) -> Result<T, T::Error> {
    T::emit_one(&[key], |cx, x| cx.random_bits(x[0], &dims(shape), dtype))
}

/// Numbers in `[0, 1)`.
#[track_caller]
pub fn uniform<T: TensorOps>(key: &T, shape: &[usize], dtype: DType) -> Result<T, T::Error> {
    T::emit_one(&[key], |cx, x| {
        let bound = |c: f64| cx.full(&Type::scalar(dtype), c);
        cx.random_uniform(x[0], &dims(shape), bound(0.0), bound(1.0))
    })
}

/// Numbers in `[lo, hi)`; the bounds are broadcast to the shape.
#[track_caller]
pub fn uniform_between<T: TensorOps>(
    key: &T,
    shape: &[usize],
    lo: &T,
    hi: &T,
) -> Result<T, T::Error> {
    T::emit_one(&[key, lo, hi], |cx, x| {
        cx.random_uniform(x[0], &dims(shape), x[1], x[2])
    })
}

/// A distribution with a key, a shape and an element type.
type Standard = fn(&dyn Emit, Val, &[Dim], DType) -> Val;

fn standard<T: TensorOps>(
    key: &T,
    shape: &[usize],
    dtype: DType,
    f: Standard,
) -> Result<T, T::Error> {
    T::emit_one(&[key], |cx, x| f(cx, x[0], &dims(shape), dtype))
}

/// Normal numbers with mean 0 and variance 1; complex ones have half of it in each part.
#[track_caller]
pub fn normal<T: TensorOps>(key: &T, shape: &[usize], dtype: DType) -> Result<T, T::Error> {
    standard(key, shape, dtype, |cx, key, shape, dtype| {
        cx.random_normal(key, shape, dtype)
    })
}

/// Exponentially distributed numbers with mean 1.
#[track_caller]
pub fn exponential<T: TensorOps>(key: &T, shape: &[usize], dtype: DType) -> Result<T, T::Error> {
    standard(key, shape, dtype, |cx, key, shape, dtype| {
        cx.random_exponential(key, shape, dtype)
    })
}

/// Numbers of the standard Gumbel distribution.
#[track_caller]
pub fn gumbel<T: TensorOps>(key: &T, shape: &[usize], dtype: DType) -> Result<T, T::Error> {
    standard(key, shape, dtype, |cx, key, shape, dtype| {
        cx.random_gumbel(key, shape, dtype)
    })
}

/// Normal numbers with mean 0 and variance 1, truncated to the interval from `lo` to `hi`.
#[track_caller]
pub fn truncated_normal<T: TensorOps>(
    key: &T,
    shape: &[usize],
    lo: &T,
    hi: &T,
) -> Result<T, T::Error> {
    T::emit_one(&[key, lo, hi], |cx, x| {
        cx.random_truncated_normal(x[0], &dims(shape), x[1], x[2])
    })
}

/// True with probability `p`, which is broadcast to the shape.
#[track_caller]
pub fn bernoulli<T: TensorOps>(key: &T, shape: &[usize], p: &T) -> Result<T, T::Error> {
    T::emit_one(&[key, p], |cx, x| {
        cx.random_bernoulli(x[0], &dims(shape), x[1])
    })
}

/// Classes along an axis of `logits`, which is removed, with probabilities `softmax(logits)`.
#[track_caller]
pub fn categorical<T: TensorOps>(key: &T, logits: &T, axis: usize) -> Result<T, T::Error> {
    T::emit_one(&[key, logits], |cx, x| {
        cx.random_categorical(x[0], x[1], axis)
    })
}

/// Integers in `[lo, hi)` of this type. An error if a bound is out of the type's range.
#[track_caller]
pub fn randint<T: TensorOps>(
    key: &T,
    shape: &[usize],
    lo: i64,
    hi: i64,
    dtype: DType,
) -> Result<T, T::Error> {
    T::emit_one(&[key], |cx, x| {
        // Integers of fewer bits are drawn in a wider type, in which the exclusive bound is
        // representable.
        let narrow = dtype.is_int() && dtype.bits() < 32;
        let drawn = if narrow { DType::I32 } else { dtype };
        if dtype.is_int() {
            let (least, most) = dtype.int_range();
            if i128::from(lo) < least || i128::from(hi) > most + i128::from(narrow) {
                let text = format!(
                    "`randint` from {lo} to {hi}: not all of these are numbers of type {dtype}"
                );
                cx.fail(Error::new(Code::DTypeMismatch, text).at(cx.loc()));
                return Val::POISON;
            }
        }
        let bound = |n: i64| cx.full(&Type::scalar(drawn), n);
        cx.convert(
            cx.random_int(x[0], &dims(shape), bound(lo), bound(hi)),
            dtype,
        )
    })
}

/// The slices of `x` along an axis, in random order.
#[track_caller]
pub fn permutation<T: TensorOps>(key: &T, x: &T, axis: usize) -> Result<T, T::Error> {
    T::emit_one(&[key, x], |cx, v| cx.random_permutation(v[0], v[1], axis))
}

/// `x / (1 - rate)`, or 0 with probability `rate` (between 0 and 1), independently for each
/// element.
#[track_caller]
pub fn dropout<T: TensorOps>(key: &T, x: &T, rate: f64) -> Result<T, T::Error> {
    T::emit_one(&[key, x], |cx, v| cx.random_dropout(v[0], v[1], rate))
}
