//! Reductions over axes and cumulative operations along an axis, in the fixed orders of the
//! kernels.

use crate::element::{
    PlainElement, RealElement, compute, compute_exact, for_complex, for_compute,
    for_compute_ordered, for_real, pick,
};
use crate::evaluated::{ResolvedOp, evaluated};
use crate::folds::{Fold, FoldUse, fold_type, with_fold};
use crate::kernel::{Kernel, kernel};
use crate::maps::converted;
use crate::tensor::{Extents, Tensor, copied};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Cumulative, Factors, LinearRecurrence, Op, Reduce, Running};
use cotangent_core::{DType, Result};
use cotangent_kernels::{Number, Ordered, View, cumulative};

pub(crate) mod raw;

/// Kernel that folds over the axes of the operation.
fn folding<T: PlainElement>(r: &Reduce, fold: Fold<T>) -> Kernel {
    let resolved = ResolvedOp::of(&r.clone().into());
    kernel(move |env, [x]| {
        let (axes, keep) = resolved.with(env, |op| match op {
            Op::Reduce(r) => r.axes(x.shape()),
            _ => unreachable!("resolution keeps the operation"),
        });
        if axes.is_empty() {
            return Ok(x);
        }
        let left = |(d, &n): (usize, &usize)| {
            if !axes.contains(&d) {
                Some(n)
            } else {
                keep.then_some(1)
            }
        };
        let shape: Extents = x.shape().iter().enumerate().filter_map(left).collect();
        Tensor::filled(shape, |dst| fold(dst, x.view(), &axes))
    })
}

/// Wraps a kernel that computes in type `to`, for operands and results of type `dtype`.
pub(crate) fn through(dtype: DType, to: DType, inner: Kernel) -> Kernel {
    if dtype == to {
        return inner;
    }
    Box::new(move |env, x| {
        let x = x
            .into_iter()
            .map(|x| converted(x, to))
            .collect::<Result<_>>()?;
        inner(env, x)?
            .into_iter()
            .map(|y| converted(y, dtype))
            .collect()
    })
}

/// The reduction of an operation, for tensors.
struct Folding<'a>(&'a Reduce);

impl FoldUse for Folding<'_> {
    type Output = Kernel;

    fn of<T: PlainElement>(self, fold: Fold<T>) -> Kernel {
        folding(self.0, fold)
    }
}

/// Kernel of a reduction over axes. The maximum of no elements depends on the type. So an empty
/// reduction is evaluated by the reference if the kernel computes in another type.
pub(crate) fn reduce(r: &Reduce, dtype: DType) -> Kernel {
    let to = fold_type(r.op, r.stable, dtype);
    let inner = with_fold(r.op, r.stable, dtype, Folding(r));
    if dtype == to {
        return inner;
    }
    let (many, none) = (through(dtype, to, inner), evaluated(&r.clone().into()));
    Box::new(move |env, x| {
        if x[0].numel() == 0 {
            none(env, x)
        } else {
            many(env, x)
        }
    })
}

/// A cumulative operation on a view along an axis, forwards or backwards, into a row-major slice.
type Scan<T> = fn(&mut [T], View<'_, T>, usize, bool);

/// Kernel of a cumulative operation.
fn running<T: PlainElement>(c: Cumulative, identity: T, scan: Scan<T>) -> Kernel {
    let run = into_slice(c, identity, scan);
    kernel(move |_, [x]| Tensor::filled(copied(x.shape()), |dst| run(dst, x.view())))
}

/// A cumulative operation into a row-major slice. An exclusive one is the inclusive one, shifted by
/// one.
fn into_slice<T: PlainElement>(
    c: Cumulative,
    identity: T,
    scan: Scan<T>,
) -> impl Fn(&mut [T], View<'_, T>) + Send + Sync + 'static {
    move |dst, x| {
        scan(dst, x, c.axis, c.reverse);
        if c.exclusive {
            cumulative::exclude(dst, x.shape(), c.axis, c.reverse, identity);
        }
    }
}

/// Cumulative `log(sum(exp))`. The state is the largest element and the sum of exponentials
/// relative to it.
fn log_sum_exp<T: RealElement>(dst: &mut [T], src: View<'_, T>, axis: usize, reverse: bool) {
    let step = |(m, s): (f64, f64), x: f64| {
        let to = Ordered::maximum(m, x);
        let term = |y: f64| if y == to { 1.0 } else { libm::exp(y - to) };
        (
            to,
            if s == 0.0 {
                term(x)
            } else {
                s * term(m) + term(x)
            },
        )
    };
    let lift = |x: T, _| step((f64::NEG_INFINITY, 0.0), x.to());
    cumulative::scan(
        dst,
        src,
        axis,
        reverse,
        lift,
        |a, b| step(a, b.0),
        |(m, s)| T::of(m + libm::log(s)),
    );
}

/// Kernel of a cumulative operation along an axis. If it is exclusive, its first result is the
/// identity.
pub(crate) fn cumulative(c: &Cumulative, dtype: DType) -> Kernel {
    let c = *c;
    let (exact, to) = (compute_exact(dtype), compute(dtype));
    // The identity of a maximum or minimum depends on the type.
    if c.exclusive && to != dtype && matches!(c.op, Running::Max | Running::Min) {
        return evaluated(&c.into());
    }
    match (c.op, dtype) {
        (Running::Sum | Running::Max, DType::Bool) => {
            through(dtype, to, running::<u64>(c, 0, cumulative::cummax))
        }
        (Running::Prod | Running::Min, DType::Bool) => {
            through(dtype, to, running::<u64>(c, 1, cumulative::cummin))
        }
        (Running::Sum, _) if dtype.kind() == Kind::Float => {
            let kernel = pick!(exact, T => running::<T>(c, T::default(), cumulative::cumsum_reals); F32 f32, F64 f64);
            through(dtype, exact, kernel)
        }
        (Running::Sum, _) => through(
            dtype,
            exact,
            for_compute!(exact, T => running::<T>(c, T::default(), cumulative::cumsum)),
        ),
        (Running::Prod, _) => through(
            dtype,
            exact,
            for_compute!(exact, T => running::<T>(c, <T as Number>::ONE, cumulative::cumprod)),
        ),
        (Running::Max, _) => {
            let kernel = for_compute_ordered!(to, T => running::<T>(c, <T as Ordered>::LOWEST, cumulative::cummax));
            through(dtype, to, kernel)
        }
        (Running::Min, _) => {
            let kernel = for_compute_ordered!(to, T => running::<T>(c, <T as Ordered>::HIGHEST, cumulative::cummin));
            through(dtype, to, kernel)
        }
        (Running::LogSumExp, _) => {
            let kernel = pick!(exact, T => running::<T>(c, <T as Ordered>::LOWEST, log_sum_exp); F32 f32, F64 f64);
            through(dtype, exact, kernel)
        }
    }
}

/// The recurrence as the kernel takes it.
fn form(r: &LinearRecurrence) -> cumulative::Recurrence {
    cumulative::Recurrence {
        axis: r.axis,
        reverse: r.reverse,
        exclusive: r.exclusive,
        strong: r.factors != Factors::Any,
    }
}

/// Kernel of `y[k] = a[k] y[k-1] + b[k]` along an axis.
fn recurrence<T: PlainElement>(r: LinearRecurrence) -> Kernel {
    let how = form(&r);
    kernel(move |_, [a, b]| {
        Tensor::build::<T, _>(copied(a.shape()), |dst| {
            cumulative::recurrence(dst, [a.view(), b.view()], how);
        })
    })
}

/// Kernel of a linear recurrence for an element type.
pub(crate) fn linear_recurrence(r: &LinearRecurrence, dtype: DType) -> Kernel {
    match dtype.kind() {
        Kind::Complex => for_complex!(dtype, T => recurrence::<T>(*r)),
        _ => for_real!(dtype, T => recurrence::<T>(*r)),
    }
}
