//! Sliding windows over traced and eager tensors: convolutions and pooling.
//!
//! ```
//! use cotangent::{TracedTensor, ops::{ConvolutionSpec, Reduction}, windows};
//! // One image with one feature, one kernel.
//! let x = TracedTensor::from_vec_row_major(vec![1, 1, 4], vec![1.0, 2.0, 4.0, 8.0]);
//! let w = TracedTensor::from_vec_row_major(vec![1, 1, 2], vec![-1.0, 1.0]);
//! let y = windows::convolution(&x, &w, &ConvolutionSpec::default())?;
//! assert_eq!(y.to_tensor()?.to_vec::<f64>()?, [1.0, 2.0, 4.0]);
//! let pooled = windows::reduce_window(&x, Reduction::Max, &[1, 1, 2], &[1, 1, 2], &[])?;
//! assert_eq!(pooled.to_tensor()?.to_vec::<f64>()?, [2.0, 8.0]);
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::TensorOps;
use crate::ops::{ConvolutionSpec, Reduction, Sliding};
use crate::{Code, Dim, Error, Val};

/// The convolution of `x[b, f, ..]` with kernels `w[o, f, ..]`: `y[b, o, ..]`.
#[track_caller]
pub fn convolution<T: TensorOps>(x: &T, w: &T, spec: &ConvolutionSpec) -> Result<T, T::Error> {
    T::emit_one(&[x, w], |cx, v| cx.convolution(v[0], v[1], spec))
}

/// A reduction over windows of `size` elements with steps of `stride`, per axis of `x`. `padding`
/// (none if it is empty) adds neutral elements.
#[track_caller]
pub fn reduce_window<T: TensorOps>(
    x: &T,
    op: Reduction,
    size: &[usize],
    stride: &[usize],
    padding: &[(usize, usize)],
) -> Result<T, T::Error> {
    T::emit_one(&[x], |cx, v| {
        let rank = cx.ty(v[0]).rank();
        let padding = if padding.is_empty() {
            vec![(0, 0); rank]
        } else {
            padding.to_vec()
        };
        if [size.len(), stride.len(), padding.len()] != [rank; 3] {
            let text = format!(
                "windows {size:?} by {stride:?}, padding {padding:?}: {} needs {rank} each",
                cx.ty(v[0])
            );
            cx.fail(Error::new(Code::Attribute, text).at(cx.loc()));
            return Val::POISON;
        }
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let sliding = Sliding {
            stride: stride.iter().map(|&s| number(s)).collect(),
            low: padding.iter().map(|p| number(p.0)).collect(),
            ..Sliding::plain(rank)
        };
        let window: Vec<Dim> = size.iter().map(|&n| n.into()).collect();
        cx.reduce_window(
            op,
            v[0],
            &window,
            &sliding,
            &padding.iter().map(|p| number(p.1)).collect::<Vec<_>>(),
        )
    })
}
