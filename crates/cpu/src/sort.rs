//! Sorts and positions of extrema.

use crate::convert::convert;
use crate::element::{Plain, for_any, for_ordered};
use crate::kernel::{Kernel, Operands, Results, kernel};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{ArgReduce, Sort};
use cotangent_core::{DType, Env, Result};
use cotangent_kernels::sort::{argsort, ascending, descending, sort, take_along_axis};
use cotangent_kernels::{Ordered, View, reduce as fold};
use smallvec::smallvec;

/// The position of the extremum along an axis.
pub(crate) fn arg_reduce(a: &ArgReduce, dtype: DType) -> Kernel {
    let (min, axis) = (a.min, a.axis);
    let found = for_ordered!(dtype, T => kernel(move |_, [x]| {
        let shape = (0..x.shape().len()).filter(|&d| d != axis).map(|d| x.shape()[d]).collect();
        let find: fn(&mut [i64], View<'_, T>, &[usize]) = if min { fold::argmin } else { fold::argmax };
        Tensor::build::<i64>(shape, |dst| find(dst, x.view(), &[axis]))
    }));
    if a.dtype == DType::I64 {
        return found;
    }
    let convert = convert(DType::I64, a.dtype);
    Box::new(move |env: &Env, x| convert(env, found(env, x)?.into_iter().collect()))
}

/// The permutation that sorts every line by these keys, the first one first: sorted by the last one, then, keeping that
/// order among equals, by the one before.
fn permutation(keys: &[Tensor], axis: usize, down: bool) -> Result<Vec<usize>> {
    let mut order: Option<Vec<usize>> = None;
    for key in keys.iter().rev() {
        order = Some(for_ordered!(key.dtype(), T => by_key::<T>(key, order, axis, down)?));
    }
    Ok(order.expect("the type rule asks for a key"))
}

fn by_key<T: Plain + Ordered>(key: &Tensor, so_far: Option<Vec<usize>>, axis: usize, down: bool) -> Result<Vec<usize>> {
    let mut next = vec![0usize; key.numel()];
    let mut sorted = |key: View<'_, T>| match down {
        true => argsort(&mut next, key, axis, descending),
        false => argsort(&mut next, key, axis, ascending),
    };
    let Some(so_far) = so_far else {
        sorted(key.view());
        return Ok(next);
    };
    let taken = taken::<T>(key, &so_far, axis)?;
    sorted(taken.view());
    let mut order = vec![0usize; next.len()];
    take_along_axis(&mut order, View::dense(&so_far, key.shape()), &next, axis);
    Ok(order)
}

fn taken<T: Plain>(x: &Tensor, positions: &[usize], axis: usize) -> Result<Tensor> {
    Tensor::build::<T>(Extents::from_slice(x.shape()), |dst| take_along_axis(dst, x.view(), positions, axis))
}

/// All operands in the order of the first ones.
pub(crate) fn sorting(s: &Sort, dtype: DType) -> Kernel {
    let Sort { axis, num_keys, descending: down, .. } = *s;
    if s.operands == 1 {
        return for_ordered!(dtype, T => Box::new(move |_, x: Operands| {
            let y = Tensor::build::<T>(x[0].shape().into(), |dst| match down {
                true => sort(dst, x[0].view(), axis, descending),
                false => sort(dst, x[0].view(), axis, ascending),
            })?;
            Ok(smallvec![y])
        }));
    }
    Box::new(move |_, x: Operands| -> Result<Results> {
        let order = permutation(&x[..num_keys], axis, down)?;
        x.iter().map(|x| for_any!(x.dtype(), T => taken::<T>(x, &order, axis))).collect()
    })
}
