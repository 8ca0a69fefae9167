//! Operations with sliding windows: convolutions, and reductions and selections over windows.

use crate::convert::convert;
use crate::element::{Plain, for_any, for_ordered, for_whole, pick};
use crate::kernel::{Kernel, kernel, operands};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{Convolution, ReduceWindow, Reduction, SelectWindow, Sliding};
use cotangent_core::{DType, Dim, Env, Result};
use cotangent_kernels::convolution::{Channels, convolve};
use cotangent_kernels::sliding::Axis;
use cotangent_kernels::{Number, window};
use smallvec::smallvec;

/// The windows along every axis; axes of the operand, the window and the result are taken from their ends.
fn axes(s: &Sliding, x: &[usize], window: &[usize], counts: &[usize]) -> Vec<Axis> {
    (0..s.axes())
        .map(|k| {
            let sign = s.x_dilation[k].signum();
            Axis {
                len: x[x.len() - s.axes() + k],
                window: window[window.len() - s.axes() + k],
                count: counts[k],
                stride: sign * s.stride[k],
                dilation: sign * s.dilation[k],
                x_dilation: sign * s.x_dilation[k],
                low: sign * s.low[k],
            }
        })
        .collect()
}

fn at(dims: &[Dim], env: &Env) -> Result<Extents> {
    dims.iter().map(|d| d.eval(env)).collect()
}

/// A convolution; sixteen-bit floats are summed in `f32` and rounded once.
pub(crate) fn convolution(op: &Convolution, dtype: DType) -> Kernel {
    if matches!(dtype, DType::F16 | DType::BF16) {
        let (up, run, down) = (convert(dtype, DType::F32), convolution(op, DType::F32), convert(DType::F32, dtype));
        return Box::new(move |env, x| {
            let [x, w] = operands(x);
            let wide = smallvec![up(env, smallvec![x])?.remove(0), up(env, smallvec![w])?.remove(0)];
            let y = run(env, wide)?.remove(0);
            down(env, smallvec![y])
        });
    }
    let op = op.clone();
    for_any!(dtype, T => kernel(move |env, [x, w]| {
        let (x, w) = (x.into_dense()?, w.into_dense()?);
        let (s, t) = (x.shape(), w.shape());
        let counts = at(&op.extents, env)?;
        let axes = axes(&op.sliding, s, t, &counts);
        let channels = Channels { groups: s[0], batch: s[1], features: s[2], outputs: t[1] };
        let mut shape: Extents = smallvec![s[0], s[1], t[1]];
        shape.extend_from_slice(&counts);
        Tensor::build(shape, |y| convolve::<T>(y, x.view().data(), w.view().data(), channels, &axes))
    }))
}

macro_rules! for_int {
    ($dtype:expr, $T:ident => $body:expr) => {
        pick!($dtype, $T => $body; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}

/// A reduction over windows.
pub(crate) fn reduce_window(op: &ReduceWindow, dtype: DType) -> Kernel {
    match op.op {
        Reduction::Sum => for_any!(dtype, T => folding::<T>(op, window::sum)),
        Reduction::Prod => for_any!(dtype, T => folding::<T>(op, window::prod)),
        Reduction::Max => for_ordered!(dtype, T => folding::<T>(op, window::max)),
        Reduction::Min => for_ordered!(dtype, T => folding::<T>(op, window::min)),
        Reduction::Any => folding(op, window::max::<bool>),
        Reduction::All => folding(op, window::min::<bool>),
        Reduction::And => for_int!(dtype, T => folding::<T>(op, |y, x, a| bits(y, x, a, !0, |a, b| a & b))),
        Reduction::Or => for_int!(dtype, T => folding::<T>(op, |y, x, a| bits(y, x, a, 0, |a, b| a | b))),
        Reduction::Xor => for_whole!(dtype, T => folding::<T>(op, |y, x, a| bits(y, x, a, T::default(), |a, b| a ^ b))),
    }
}

fn bits<T: Copy>(y: &mut [T], x: &[T], axes: &[Axis], of_none: T, fold: fn(T, T) -> T) {
    window::reduce(y, x, axes, of_none, |x| x, fold, |x| x);
}

fn folding<T: Plain>(op: &ReduceWindow, fold: fn(&mut [T], &[T], &[Axis])) -> Kernel {
    let op = op.clone();
    kernel(move |env, [x]| {
        let x = x.into_dense()?;
        let (size, counts) = (at(&op.window, env)?, at(&op.extents, env)?);
        let axes = axes(&op.sliding, x.shape(), &size, &counts);
        Tensor::build::<T>(counts, |y| fold(y, x.view().data(), &axes))
    })
}

/// A sum at selected elements, in the accumulator's type.
pub(crate) fn select_window(op: &SelectWindow, dtype: DType, of: DType) -> Kernel {
    let op = op.clone();
    kernel(move |env, [x, y, t]| {
        let (x, y, t) = (x.into_dense()?, y.into_dense()?, t.into_dense()?);
        let axes = axes(&op.sliding, x.shape(), &at(&op.window, env)?, y.shape());
        let like = if op.gather { &y } else { &x };
        // From where, to where: about as many as there are windows.
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let mut add = |i: usize, p: usize| pairs.push(if op.gather { (i, p) } else { (p, i) });
        for_any!(dtype, T => {
            window::select(x.view::<T>().data(), y.view::<T>().data(), &axes, op.first, &mut add)
        });
        for_any!(of, T => {
            let from = t.view::<T>().data();
            let mut sum = vec![<<T as Number>::Acc as Number>::ZERO; like.numel()];
            pairs.into_iter().for_each(|(i, to)| sum[to] = sum[to].plus(from[i].widen()));
            Tensor::build::<T>(like.shape().into(), |r| r.iter_mut().zip(sum).for_each(|(r, s)| *r = T::narrow(s)))
        })
    })
}
