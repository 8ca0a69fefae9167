//! Sorting, and positions of extrema (argmin, argmax).

use crate::element::{PlainElement, compute, for_compute_ordered, for_size, limit, pick};
use crate::kernel::{Kernel, Operands, Results, UsedResults, kernel};
use crate::maps::converted;
use crate::tensor::{Extents, Tensor, row_major, volume};
use crate::tuning::AXIS_ELEMENTS_PER_SELECTED;
use cotangent_core::ops::{ArgReduce, Sort};
use cotangent_core::{DType, Result};
use cotangent_kernels::memory::zeros;
use cotangent_kernels::sort::{argsort, argsort_first, take_along_axis, take_first};
use cotangent_kernels::{Index, Ordered, View, reduce as fold};

/// Runs a block for a type that the kernels can order.
macro_rules! ordered {
    ($dtype:expr, $T:ident => $body:expr) => {
        pick!($dtype, $T => $body;
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64)
    };
}

pub(crate) mod raw;

/// Kernel for the position of the extremum along an axis.
pub(crate) fn arg_reduce(a: &ArgReduce, dtype: DType) -> Kernel {
    let from = match dtype {
        DType::Bool => DType::U8,
        DType::F16 | DType::BF16 => DType::F32,
        _ => dtype,
    };
    ordered!(from, T => match a.dtype {
        DType::I32 => positions::<T, i32>(*a),
        _ => positions::<T, i64>(*a),
    })
}

/// [`arg_reduce`] for element type `T` and position type `I`.
fn positions<T: PlainElement + Ordered<Acc = T>, I: PlainElement + Index>(a: ArgReduce) -> Kernel {
    let ArgReduce { min, axis, dtype } = a;
    kernel(move |_, [x]| {
        let x = converted(x, T::DTYPE)?;
        let shape = (0..x.shape().len())
            .filter(|&d| d != axis)
            .map(|d| x.shape()[d])
            .collect();
        let find: fn(&mut [I], View<'_, T>, &[usize]) =
            if min { fold::argmin } else { fold::argmax };
        converted(
            Tensor::build::<I, _>(shape, |dst| find(dst, x.view(), &[axis]))?,
            dtype,
        )
    })
}

/// Permutation that sorts along `axis` by the keys lexicographically, `keys[0]` first. It sorts by
/// the last key, then stably by each earlier one.
fn permutation(keys: &[Tensor], axis: usize, down: bool) -> Result<Vec<usize>> {
    let mut order: Option<Vec<usize>> = None;
    for key in keys.iter().rev() {
        let key = converted(key.clone(), compute(key.dtype()))?;
        let key = match &order {
            Some(order) => permuted(&key, order, axis)?,
            None => key,
        };
        let mut next = zeros::<usize>(key.numel()).map_err(limit)?;
        for_compute_ordered!(key.dtype(), T => argsort::<T>(&mut next, key.view(), axis, down))
            .map_err(limit)?;
        order = Some(match order {
            Some(before) => {
                let mut order = zeros::<usize>(next.len()).map_err(limit)?;
                take_along_axis(&mut order, View::dense(&before, key.shape()), &next, axis)
                    .map_err(limit)?;
                order
            }
            None => next,
        });
    }
    Ok(order.expect("the type rule requires a key"))
}

fn permuted(x: &Tensor, positions: &[usize], axis: usize) -> Result<Tensor> {
    let shape = Extents::from_slice(x.shape());
    for_size!(x.dtype(), W => {
        Tensor::filled_bits::<W, _>(x.dtype(), shape, |dst| take_along_axis(dst, x.bits(), positions, axis))
    })
}

/// The first `kept` elements along the axis, ordered by a key. The results have the full extent;
/// elements after the first `kept` are unspecified.
fn first(x: Operands, s: Sort, used: UsedResults, kept: usize) -> Result<Results> {
    let Sort {
        axis,
        descending: down,
        ..
    } = s;
    let from = match x[0].dtype() {
        DType::Bool => DType::U8,
        DType::F16 | DType::BF16 => DType::F32,
        dtype => dtype,
    };
    let (key, mut shape) = (
        converted(x[0].clone(), from)?,
        Extents::from_slice(x[0].shape()),
    );
    let whole = shape.clone();
    shape[axis] = kept;
    let mut order = zeros::<usize>(volume(&shape)?).map_err(limit)?;
    ordered!(from, T => argsort_first::<T>(&mut order, key.view(), axis, kept, down))
        .map_err(limit)?;
    let strides = row_major(&shape);
    // Buffer length that keeps every index of the full extent in bounds.
    let reach = whole
        .iter()
        .zip(&strides)
        .map(|(n, &s)| (n - 1) * s as usize)
        .sum::<usize>()
        + 1;
    let permuted = |x: &Tensor| -> Result<Tensor> {
        let y = for_size!(x.dtype(), W => Tensor::build_bits::<W, _>(x.dtype(), Extents::from_slice(&[reach]), |dst| {
            take_first(&mut dst[..order.len()], x.bits(), &order, axis, kept)
        }))?;
        Ok(y.strided(&whole, &strides))
    };
    x.into_iter()
        .enumerate()
        .map(|(k, x)| if used.has(k) { permuted(&x) } else { Ok(x) })
        .collect()
}

/// Whether so few elements are read along an axis of this extent that they are selected.
fn selects(used: UsedResults, extent: usize) -> bool {
    used.first() > 0 && used.first() <= extent / AXIS_ELEMENTS_PER_SELECTED
}

/// Kernel that sorts the operands whose results are read by the first `num_keys` operands.
pub(crate) fn sorting(s: &Sort, used: UsedResults) -> Kernel {
    let s = *s;
    let Sort {
        axis,
        num_keys,
        descending: down,
        ..
    } = s;
    Box::new(move |_, x: Operands| -> Result<Results> {
        if num_keys == 1 && selects(used, x[0].shape()[axis]) && x[0].numel() > 0 {
            return first(x, s, used, used.first());
        }
        let order = permutation(&x[..num_keys], axis, down)?;
        x.into_iter()
            .enumerate()
            .map(|(k, x)| {
                if used.has(k) {
                    permuted(&x, &order, axis)
                } else {
                    Ok(x)
                }
            })
            .collect()
    })
}
