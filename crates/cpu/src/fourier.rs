//! Fourier transforms along an axis: the axis is moved to the end, and every line transformed.

use crate::kernel::{Kernel, kernel};
use crate::tensor::{Extents, Tensor};
use cotangent_core::ops::{Fft, FftKind};
use cotangent_core::{C64, C128, DType};
use cotangent_kernels::copy::copy_into;
use cotangent_kernels::fourier::Transforms;

/// A transform of an operand of this type.
pub(crate) fn fft(op: &Fft, rank: usize, dtype: DType) -> Kernel {
    let op = op.clone();
    let mut perm: Vec<usize> = (0..rank).filter(|&a| a != op.axis).collect();
    perm.push(op.axis);
    let mut back: Vec<usize> = (0..rank - 1).collect();
    back.insert(op.axis, rank - 1);
    macro_rules! transforming {
        ($real:ty, $complex:ty) => {{
            let with = Transforms::<$real>::default();
            kernel(move |env, [x]| {
                let x = x.transpose(&perm);
                let (mut shape, last) = (Extents::from_slice(x.shape()), rank - 1);
                let y = match op.kind {
                    FftKind::Forward | FftKind::Adjoint => Tensor::build::<$complex, _>(shape, |y| {
                        copy_into(y, x.view());
                        with.complex(y, x.shape()[last], op.kind == FftKind::Adjoint)
                    })?,
                    FftKind::Real => {
                        let (n, x) = (shape[last], x.into_dense()?);
                        shape[last] = n / 2 + 1;
                        Tensor::build::<$complex, _>(shape, |y| with.real(y, x.view::<$real>().data(), n))?
                    }
                    FftKind::RealAdjoint => {
                        let (n, x) = (op.length.eval(env)?, x.into_dense()?);
                        shape[last] = n;
                        Tensor::build::<$real, _>(shape, |y| with.real_adjoint(y, x.view::<$complex>().data(), n))?
                    }
                };
                Ok(y.transpose(&back))
            })
        }};
    }
    match dtype {
        DType::F32 | DType::C64 => transforming!(f32, C64),
        _ => transforming!(f64, C128),
    }
}
