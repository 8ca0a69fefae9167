//! Kernels of operations with sliding windows: convolutions, window reductions and window
//! selections.

use crate::element::{
    PlainElement, compute, compute_exact, for_compute, for_compute_ordered, for_number, pick,
};
use crate::kernel::{Kernel, kernel};
use crate::maps::converted;
use crate::reduce::through;
use crate::tensor::{Extents, Tensor, copied, row_major};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Convolution, ReduceWindow, Reduction, SelectWindow, Sliding};
use cotangent_core::{DType, Dim, Env, Result, Scalar};
use cotangent_kernels::convolution::{
    Channels, convolve, convolve_compensated, convolve_leave_out_zeros,
};
use cotangent_kernels::double_double::Compensated;
use cotangent_kernels::sliding::Axis;
use cotangent_kernels::window::{self, Terms};
use cotangent_kernels::{Number, Ordered, View};
use smallvec::smallvec;

/// Maximum number of terms of a window that is a fold of a nest. Kernels go over larger ones axis
/// by axis.
const MAX_FOLDED_WINDOW: usize = 32;

/// Window geometry along every spatial axis. Spatial axes are the last axes of the operand and of
/// the window.
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

/// Kernel of a convolution.
pub(crate) fn convolution(op: &Convolution, dtype: DType) -> Kernel {
    let op = op.clone();
    let to = match dtype.kind() {
        Kind::Float if op.stable => compute_exact(dtype),
        Kind::Float => compute(dtype),
        _ => dtype,
    };
    let inner = for_number!(to, T => kernel(move |env, [x, w]| {
        let (x, w) = (with_planes(x)?, w.into_dense()?);
        let (s, t) = (x.shape(), w.shape());
        let counts = at(&op.extents, env)?;
        let axes = axes(&op.sliding, s, t, &counts);
        // The result has groups and batch in the memory order of the operand. So operands and
        // results with a merged group and batch axis are not copied.
        let [by_group, by_batch] = [0, 1].map(|axis| x.strides()[axis].unsigned_abs());
        let batch_first = s[0] > 1 && s[1] > 1 && by_batch > by_group;
        let channels = Channels { groups: s[0], batch: s[1], features: s[2], outputs: t[1], batch_first };
        let mut shape: Extents = if batch_first { smallvec![s[1], s[0], t[1]] } else { smallvec![s[0], s[1], t[1]] };
        shape.extend_from_slice(&counts);
        let run = if op.stable { convolve_compensated::<T> } else { convolve::<T> };
        let (planes, steps) = (channels.operand(s[3..].iter().product()), x.strides());
        let steps = [steps[0], steps[1], steps[2], 1];
        let x = View::new(x.view().data(), x.offset(), &planes, &steps);
        let w = w.view().data();
        let y = Tensor::filled(shape, |y| {
            run(y, x, w, channels, &axes)?;
            if op.strong_zero { convolve_leave_out_zeros(y, x, w, channels, &axes) } else { Ok(()) }
        })?;
        let order: Extents = if batch_first { smallvec![1, 0] } else { smallvec![0, 1] };
        let order: Extents = order.into_iter().chain(2..y.shape().len()).collect();
        Ok(y.transpose(&order))
    }));
    through(dtype, to, inner)
}

/// The operand of a convolution with row-major spatial axes; leading axes may be strided.
fn with_planes(x: Tensor) -> Result<Tensor> {
    let (shape, strides) = (x.shape(), x.strides());
    let adjacent =
        (3..shape.len()).all(|axis| shape[axis] == 1 || strides[axis] == row_major(shape)[axis]);
    if adjacent && x.numel() > 0 {
        Ok(x)
    } else {
        x.into_dense()
    }
}

/// The result of a reduction over no elements.
pub(crate) fn empty_reduction(op: Reduction, dtype: DType) -> Scalar {
    let least_and_greatest = || match dtype.kind() {
        Kind::Float => (Scalar::F(f64::NEG_INFINITY), Scalar::F(f64::INFINITY)),
        _ => (
            Scalar::I(dtype.int_range().0),
            Scalar::I(dtype.int_range().1),
        ),
    };
    match op {
        Reduction::Sum | Reduction::Or | Reduction::Xor | Reduction::Any => Scalar::I(0),
        Reduction::Prod | Reduction::All => Scalar::I(1),
        Reduction::Max => least_and_greatest().0,
        Reduction::Min => least_and_greatest().1,
        Reduction::And => Scalar::I(-1),
    }
}

/// Kernel of a reduction over windows.
pub(crate) fn reduce_window(op: &ReduceWindow, dtype: DType) -> Kernel {
    use Reduction::*;
    let to = compute(dtype);
    let none = empty_reduction(op.op, dtype);
    let inner = match op.op {
        Sum if is_tree(op) => for_compute!(to, T => tree_sums::<T>(op)),
        Sum => for_compute!(to, T => summing::<T>(op, none)),
        Prod => {
            for_compute!(to, T => folding::<T, _>(op, none, Number::widen, Number::times, T::narrow))
        }
        Max | Any => {
            for_compute_ordered!(to, T => folding::<T, T>(op, none, |x| x, Ordered::maximum, |x| x))
        }
        Min | All => {
            for_compute_ordered!(to, T => folding::<T, T>(op, none, |x| x, Ordered::minimum, |x| x))
        }
        And => {
            pick!(to, T => folding::<T, T>(op, none, |x| x, |a, b| a & b, |x| x); I64 i64, U64 u64)
        }
        Or => {
            pick!(to, T => folding::<T, T>(op, none, |x| x, |a, b| a | b, |x| x); I64 i64, U64 u64)
        }
        Xor => {
            pick!(to, T => folding::<T, T>(op, none, |x| x, |a, b| a ^ b, |x| x); I64 i64, U64 u64)
        }
    };
    through(dtype, to, inner)
}

/// Extents of windows that are numbers, of which the product with `others` is at least 1 and at
/// most [`MAX_FOLDED_WINDOW`].
pub(crate) fn small_window(window: &[Dim], others: usize) -> Option<Vec<usize>> {
    let extents: Vec<usize> = window.iter().map(Dim::as_const).collect::<Option<_>>()?;
    let terms = extents.iter().try_fold(others, |n, &k| n.checked_mul(k))?;
    (1..=MAX_FOLDED_WINDOW).contains(&terms).then_some(extents)
}

/// Whether the elements of each window are summed in the order of a reduction: they are few, and no
/// elements are inserted in the operand. It decides the bits of a sum.
pub(crate) fn is_tree(op: &ReduceWindow) -> bool {
    let dense = op.sliding.x_dilation.iter().all(|d| d.abs() == 1);
    dense && small_window(&op.window, 1).is_some()
}

/// Kernel of sums over windows of few elements, in the order of a reduction.
fn tree_sums<T: PlainElement>(op: &ReduceWindow) -> Kernel {
    let op = op.clone();
    kernel(move |env, [x]| {
        let x = x.into_dense()?;
        let (size, counts) = (at(&op.window, env)?, at(&op.extents, env)?);
        let axes = axes(&op.sliding, x.shape(), &size, &counts);
        Tensor::filled::<T, _>(counts, |y| {
            window::sum_in_tree_order(y, x.view().data(), &axes)
        })
    })
}

/// Kernel of sums over windows: plain for windows of at most [`window::PLAIN`] elements, else
/// compensated.
fn summing<T: PlainElement>(op: &ReduceWindow, none: Scalar) -> Kernel {
    let few = folding::<T, _>(op, none, Number::widen, Number::plus, T::narrow);
    let lift = |x: T| T::Compensated::of(x.wide());
    let many = folding::<T, _>(op, none, lift, T::Compensated::plus, |s| {
        T::from_wide(s.round())
    });
    let window = op.window.clone();
    Box::new(move |env, x| {
        let size: usize = at(&window, env)?.iter().product();
        if size <= window::PLAIN {
            few(env, x)
        } else {
            many(env, x)
        }
    })
}

fn folding<T: PlainElement, A: Copy + Send + Sync + 'static>(
    op: &ReduceWindow,
    none: Scalar,
    lift: impl Fn(T) -> A + Copy + Send + Sync + 'static,
    fold: impl Fn(A, A) -> A + Copy + Send + Sync + 'static,
    lower: impl Fn(A) -> T + Copy + Send + Sync + 'static,
) -> Kernel {
    let op = op.clone();
    let none = none.array(T::DTYPE).as_slice::<T>().expect("of this type")[0];
    kernel(move |env, [x]| {
        let x = x.into_dense()?;
        let (size, counts) = (at(&op.window, env)?, at(&op.extents, env)?);
        let axes = axes(&op.sliding, x.shape(), &size, &counts);
        Tensor::filled::<T, _>(counts, |y| {
            window::reduce(y, x.view().data(), &axes, lift(none), lift, fold, lower)
        })
    })
}

/// Kernel of a sum at the selected elements of windows.
pub(crate) fn select_window(op: &SelectWindow, dtype: DType, of: DType) -> Kernel {
    let (op, to, sums) = (op.clone(), compute(dtype), compute(of));
    kernel(move |env, [x, y, t]| {
        let [x, y] = [
            converted(x, to)?.into_dense()?,
            converted(y, to)?.into_dense()?,
        ];
        // Ties are counted by a broadcast operand, of which one element suffices.
        let same = t.numel() > 0 && t.strides().iter().all(|&s| s == 0);
        let t = converted(if same { t.narrowed(|_| true) } else { t }, sums)?.into_dense()?;
        let axes = axes(&op.sliding, x.shape(), &at(&op.window, env)?, y.shape());
        let like = if op.gather { &y } else { &x };
        let select =
            for_compute!(to, T => window::equal(x.view::<T>().data(), y.view::<T>().data()));
        let r = for_compute!(sums, T => Tensor::filled::<T, _>(copied(like.shape()), |r| {
            let each = t.view::<T>().data();
            let terms = if same { Terms::Same(each[0]) } else { Terms::Each(each) };
            window::select(r, terms, &axes, [op.gather, op.first], &*select)
        }))?;
        converted(r, of)
    })
}
