//! Fourier transforms of traced and eager tensors, scaled as in NumPy: the inverse has the factor
//! 1/n.
//!
//! ```
//! use cotangent::{TracedTensor, fft};
//! let x = TracedTensor::from_vec_row_major(vec![5], vec![1.0, 2.0, -1.0, 0.5, 3.0]);
//! let y = fft::irfft(&fft::rfft(&x, 0)?, 5, 0)?.to_tensor()?.to_vec::<f64>()?;
//! assert!((y[4] - 3.0).abs() < 1e-15);
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::write::Write;

/// The transform along an axis. A real operand is converted to complex.
#[track_caller]
pub fn fft<T: Write>(x: &T, axis: usize) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.fft(x[0], axis))
}

/// The inverse transform along an axis.
#[track_caller]
pub fn ifft<T: Write>(x: &T, axis: usize) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.ifft(x[0], axis))
}

/// The first `n / 2 + 1` elements of the transform of a real tensor along an axis.
#[track_caller]
pub fn rfft<T: Write>(x: &T, axis: usize) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.rfft(x[0], axis))
}

/// The real tensor with `n` elements along an axis of which `x` is the [`rfft`].
#[track_caller]
pub fn irfft<T: Write>(x: &T, n: usize, axis: usize) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.irfft(x[0], n, axis))
}

/// The transform over several axes.
#[track_caller]
pub fn fftn<T: Write>(x: &T, axes: &[usize]) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.fftn(x[0], axes))
}

/// The inverse transform over several axes.
#[track_caller]
pub fn ifftn<T: Write>(x: &T, axes: &[usize]) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.ifftn(x[0], axes))
}

/// The transform of a real tensor over several axes: half of the spectrum along the last of them.
#[track_caller]
pub fn rfftn<T: Write>(x: &T, axes: &[usize]) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.rfftn(x[0], axes))
}

/// The inverse of [`rfftn`], with `n` elements along the last of the axes.
#[track_caller]
pub fn irfftn<T: Write>(x: &T, n: usize, axes: &[usize]) -> Result<T, T::Error> {
    T::write_one(&[x], |cx, x| cx.irfftn(x[0], n, axes))
}
