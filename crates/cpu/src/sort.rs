//! Sorts and positions of extrema.

use crate::convert::converted;
use crate::element::{compute, for_compute_ordered, for_size, limit};
use crate::kernel::{Kernel, Operands, Results, Used, kernel};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{ArgReduce, Sort};
use cotangent_core::{DType, Result};
use cotangent_kernels::memory::zeros;
use cotangent_kernels::sort::{argsort, take_along_axis};
use cotangent_kernels::{View, reduce as fold};

/// The position of the extremum along an axis.
pub(crate) fn arg_reduce(a: &ArgReduce, dtype: DType) -> Kernel {
    let (min, axis, from, to) = (a.min, a.axis, compute(dtype), a.dtype);
    for_compute_ordered!(from, T => kernel(move |_, [x]| {
        let x = converted(x, from)?;
        let shape = (0..x.shape().len()).filter(|&d| d != axis).map(|d| x.shape()[d]).collect();
        let find: fn(&mut [i64], View<'_, T>, &[usize]) = if min { fold::argmin } else { fold::argmax };
        converted(Tensor::build::<i64, _>(shape, |dst| find(dst, x.view(), &[axis]))?, to)
    }))
}

/// The permutation that sorts every line by these keys, the first one first: sorted by the last one, then, keeping that
/// order among equals, by the one before.
fn permutation(keys: &[Tensor], axis: usize, down: bool) -> Result<Vec<usize>> {
    let mut order: Option<Vec<usize>> = None;
    for key in keys.iter().rev() {
        let key = converted(key.clone(), compute(key.dtype()))?;
        let key = match &order {
            Some(order) => taken(&key, order, axis)?,
            None => key,
        };
        let mut next = zeros::<usize>(key.numel()).map_err(limit)?;
        for_compute_ordered!(key.dtype(), T => argsort::<T>(&mut next, key.view(), axis, down)).map_err(limit)?;
        order = Some(match order {
            Some(before) => {
                let mut order = zeros::<usize>(next.len()).map_err(limit)?;
                take_along_axis(&mut order, View::dense(&before, key.shape()), &next, axis).map_err(limit)?;
                order
            }
            None => next,
        });
    }
    Ok(order.expect("the type rule asks for a key"))
}

fn taken(x: &Tensor, positions: &[usize], axis: usize) -> Result<Tensor> {
    let shape = Extents::from_slice(x.shape());
    for_size!(x.dtype(), W => {
        Tensor::filled_bits::<W, _>(x.dtype(), shape, |dst| take_along_axis(dst, x.bits(), positions, axis))
    })
}

/// All operands, those that are read, in the order of the first ones.
pub(crate) fn sorting(s: &Sort, used: Used) -> Kernel {
    let Sort { axis, num_keys, descending: down, .. } = *s;
    Box::new(move |_, x: Operands| -> Result<Results> {
        let order = permutation(&x[..num_keys], axis, down)?;
        x.into_iter().enumerate().map(|(k, x)| if used.has(k) { taken(&x, &order, axis) } else { Ok(x) }).collect()
    })
}
