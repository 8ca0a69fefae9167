//! Fourier transforms along an axis. Evenly strided operands are read in place.

use crate::kernel::{Kernel, kernel};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{Fft, FftKind};
use cotangent_core::{C64, C128, DType, Env, Result};
use cotangent_kernels::View;
use cotangent_kernels::fourier::{Fourier, is_long};

/// Kernel of a transform for operands of type `dtype`.
pub(crate) fn fft(op: &Fft, rank: usize, dtype: DType) -> Kernel {
    let op = op.clone();
    macro_rules! transforming {
        ($real:ty, $complex:ty) => {
            along(op, rank, |op, n, x| {
                let ([outer, points, inner], strides) = lines(&x, op.axis);
                let (extents, mut shape) = ([outer, points, inner], Extents::from_slice(x.shape()));
                macro_rules! view {
                    ($t:ty) => {{
                        let all = x.view::<$t>();
                        View::new(all.data(), all.offset(), &extents, &strides)
                    }};
                }
                match op.kind {
                    FftKind::Forward | FftKind::Adjoint => {
                        Tensor::filled::<$complex, _>(shape, |y| {
                            <$real>::complex(y, view!($complex), op.kind == FftKind::Adjoint)
                        })
                    }
                    FftKind::Real => {
                        shape[op.axis] = points / 2 + 1;
                        Tensor::filled::<$complex, _>(shape, |y| <$real>::real(y, view!($real)))
                    }
                    FftKind::RealAdjoint => {
                        shape[op.axis] = n;
                        Tensor::filled::<$real, _>(shape, |y| {
                            <$real>::real_adjoint(y, view!($complex), n)
                        })
                    }
                }
            })
        };
    }
    match dtype {
        DType::F32 | DType::C64 => transforming!(f32, C64),
        _ => transforming!(f64, C128),
    }
}

/// Kernel that calls `f` with the transform length and an operand whose leading axes and trailing
/// axes each have a single stride. For long transforms the axis is moved to the end, and back in
/// the result.
fn along(
    op: Fft,
    rank: usize,
    f: impl Fn(&Fft, usize, Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Kernel {
    let last = Fft {
        axis: rank - 1,
        ..op.clone()
    };
    let mut perm: Vec<usize> = (0..rank).filter(|&a| a != op.axis).collect();
    perm.push(op.axis);
    let mut back: Vec<usize> = (0..rank - 1).collect();
    back.insert(op.axis, rank - 1);
    kernel(move |env: &Env, [x]| {
        let n = match op.kind {
            FftKind::RealAdjoint => op.length.eval(env)?,
            _ => x.shape()[op.axis],
        };
        if is_long(n) && op.axis + 1 < rank {
            return Ok(f(&last, n, x.transpose(&perm).into_packed()?)?.transpose(&back));
        }
        let even = evenly(&x, 0..op.axis).is_some() && evenly(&x, op.axis + 1..rank).is_some();
        f(&op, n, if even { x } else { x.into_packed()? })
    })
}

/// Extents and strides of an operand viewed as `[outer, points, inner]`, where `points` is the
/// transformed axis.
fn lines(x: &Tensor, axis: usize) -> ([usize; 3], [isize; 3]) {
    let groups = [0..axis, axis..axis + 1, axis + 1..x.shape().len()];
    let extents = groups.clone().map(|axes| x.shape()[axes].iter().product());
    (
        extents,
        groups.map(|axes| evenly(x, axes).expect("the axes are evenly spaced")),
    )
}

/// Stride between consecutive elements along some axes, if it is constant.
fn evenly(x: &Tensor, axes: std::ops::Range<usize>) -> Option<isize> {
    let mut step = None;
    for (&n, &stride) in x.shape()[axes.clone()]
        .iter()
        .zip(&x.strides()[axes])
        .rev()
        .filter(|a| *a.0 != 1)
    {
        match step {
            None => step = Some((stride, stride.wrapping_mul(n as isize))),
            Some((_, next)) if next == stride => {
                step = step.map(|s| (s.0, stride.wrapping_mul(n as isize)))
            }
            _ => return None,
        }
    }
    Some(step.map_or(0, |s| s.0))
}
