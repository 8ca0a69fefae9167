//! Kernels without operands: constants and iota.

use crate::element::{
    ComplexElement, IntegerElement, RealElement, for_complex, for_integer_or_bool, for_real,
};
use crate::kernel::{Kernel, Sizes, kernel};
use crate::tensor::Tensor;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Constant, Iota, Value};
use cotangent_core::{C128, Env, Result, Scalar};
use smallvec::smallvec;

/// Kernel of a constant. A splat is stored as one element and broadcast; everything known at
/// compile time is prepared at compile time.
pub(crate) fn constant(c: &Constant) -> Result<Kernel> {
    let (dtype, shape) = (c.ty.dtype, Sizes::of(&c.ty.shape));
    let one = match &c.value {
        Value::Splat(s) => Tensor::from(s.array(dtype)),
        Value::Dense(a) => Tensor::from(a),
        Value::Extent(d) => {
            let d = d.clone();
            return Ok(kernel(move |env, []| {
                let extent = Scalar::I(d.eval(env)? as i128);
                Tensor::from(extent.array(dtype)).broadcast(&shape.at(env)?, &[])
            }));
        }
    };
    if matches!(c.value, Value::Splat(_)) && matches!(shape, Sizes::Open(_)) {
        return Ok(kernel(move |env, []| {
            one.clone().broadcast(&shape.at(env)?, &[])
        }));
    }
    let value = match c.value {
        Value::Splat(_) => one.broadcast(&shape.at(&Env::default())?, &[])?,
        _ => one,
    };
    Ok(kernel(move |_, []| Ok(value.clone())))
}

/// Kernel of the index along one axis: computed once and broadcast along the others.
pub(crate) fn iota(i: &Iota) -> Kernel {
    let (shape, dtype, axis) = (Sizes::of(&i.ty.shape), i.ty.dtype, i.axis);
    macro_rules! count {
        ($T:ident, $of:expr) => {
            |n| {
                Tensor::build::<$T, _>(smallvec![n], |dst| {
                    (0..).zip(dst).for_each(|(i, y): (usize, _)| *y = $of(i))
                })
            }
        };
    }
    let line: fn(usize) -> Result<Tensor> = match dtype.kind() {
        Kind::Float => for_real!(dtype, T => count!(T, |i| T::of(i as f64))),
        Kind::Complex => for_complex!(dtype, T => count!(T, |i| T::of(C128::new(i as f64, 0.0)))),
        Kind::Int | Kind::Bool | Kind::Opaque => {
            for_integer_or_bool!(dtype, T => count!(T, |i| T::of(i as i128)))
        }
    };
    kernel(move |env, []| {
        let shape = shape.at(env)?;
        line(shape[axis])?.broadcast(&shape, &[axis])
    })
}
