//! Reductions over axes, by the kernels' fixed trees.

use crate::element::{Plain, for_any};
use crate::kernel::{Kernel, kernel};
use crate::lower::{Settled, evaluated};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{Op, Reduce, Reduction};
use cotangent_core::{DType, Result};
use cotangent_kernels::View;

/// What is left of `shape` without `axes`, and with them as extents of 1.
fn kept(shape: &[usize], axes: &[usize]) -> (Extents, Extents) {
    let gone = (0..shape.len()).filter(|d| !axes.contains(d)).map(|d| shape[d]).collect();
    let ones = (0..shape.len()).map(|d| if axes.contains(&d) { 1 } else { shape[d] }).collect();
    (gone, ones)
}

/// A reduction of a view over axes into a row-major slice.
type Fold<T> = fn(&mut [T], View<'_, T>, &[usize]);

fn folded<T: Plain>(x: &Tensor, axes: &[usize], keep: bool, fold: Fold<T>) -> Result<Tensor> {
    let (gone, ones) = kept(x.shape(), axes);
    Tensor::build(if keep { ones } else { gone }, |dst| fold(dst, x.view(), axes))
}

/// A reduction.
pub(crate) fn reduce(r: &Reduce, dtype: DType) -> Kernel {
    let (stable, settled) = (r.stable, Settled::of(&r.clone().into()));
    match r.op {
        Reduction::Sum => for_any!(dtype, T => {
            let fold: Fold<T> = match stable {
                true => |dst, x, axes| cotangent_kernels::reduce::sum(dst, x, axes, true),
                false => |dst, x, axes| cotangent_kernels::reduce::sum(dst, x, axes, false),
            };
            kernel(move |env, [x]| {
                let (axes, keep) = settled.with(env, |op| match op {
                    Op::Reduce(r) => r.axes(x.shape()),
                    _ => unreachable!("settling keeps the operation"),
                });
                if axes.is_empty() { Ok(x) } else { folded(&x, &axes, keep, fold) }
            })
        }),
        #[allow(unreachable_patterns)]
        _ => evaluated(&r.clone().into()),
    }
}
