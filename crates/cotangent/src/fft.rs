//! Fourier transforms of traced, eager and plain tensors, scaled as in NumPy: the inverse has the
//! factor 1/n.
//!
//! ```
//! use cotangent::{TracedTensor, fft};
//! let x = TracedTensor::from_vec_row_major(vec![5], vec![1.0, 2.0, -1.0, 0.5, 3.0]);
//! let y = fft::irfft(&fft::rfft(&x, 0)?, 5, 0)?.to_tensor()?.to_vec::<f64>()?;
//! assert!((y[4] - 3.0).abs() < 1e-15);
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::axes::{along, over};
use crate::{Axes, Axis, TensorOps};

/// The transform along an axis. A real operand is converted to complex.
#[track_caller]
pub fn fft<T: TensorOps>(x: &T, axis: impl Into<Axis>) -> Result<T, T::Error> {
    along("fft", &[x], axis.into(), |cx, x, axis| cx.fft(x[0], axis))
}

/// The inverse transform along an axis.
#[track_caller]
pub fn ifft<T: TensorOps>(x: &T, axis: impl Into<Axis>) -> Result<T, T::Error> {
    along("ifft", &[x], axis.into(), |cx, x, axis| cx.ifft(x[0], axis))
}

/// The first `n / 2 + 1` elements of the transform of a real tensor along an axis.
#[track_caller]
pub fn rfft<T: TensorOps>(x: &T, axis: impl Into<Axis>) -> Result<T, T::Error> {
    along("rfft", &[x], axis.into(), |cx, x, axis| cx.rfft(x[0], axis))
}

/// The real tensor with `n` elements along an axis of which `x` is the [`rfft`].
#[track_caller]
pub fn irfft<T: TensorOps>(x: &T, n: usize, axis: impl Into<Axis>) -> Result<T, T::Error> {
    along("irfft", &[x], axis.into(), |cx, x, axis| {
        cx.irfft(x[0], n, axis)
    })
}

/// The transform over several axes.
#[track_caller]
pub fn fftn<T: TensorOps>(x: &T, axes: impl Into<Axes>) -> Result<T, T::Error> {
    over("fftn", x, axes.into(), |cx, x, axes| cx.fftn(x, axes))
}

/// The inverse transform over several axes.
#[track_caller]
pub fn ifftn<T: TensorOps>(x: &T, axes: impl Into<Axes>) -> Result<T, T::Error> {
    over("ifftn", x, axes.into(), |cx, x, axes| cx.ifftn(x, axes))
}

/// The transform of a real tensor over several axes: half of the spectrum along the last of them.
#[track_caller]
pub fn rfftn<T: TensorOps>(x: &T, axes: impl Into<Axes>) -> Result<T, T::Error> {
    over("rfftn", x, axes.into(), |cx, x, axes| cx.rfftn(x, axes))
}

/// The inverse of [`rfftn`], with `n` elements along the last of the axes.
#[track_caller]
pub fn irfftn<T: TensorOps>(x: &T, n: usize, axes: impl Into<Axes>) -> Result<T, T::Error> {
    over("irfftn", x, axes.into(), |cx, x, axes| {
        cx.irfftn(x, n, axes)
    })
}
