//! Methods of traced tensors on operations as values.

use super::TracedTensor;
use super::record::{record, record_one};
use crate::here::here;
use crate::{Code, Error, Op, Result};

impl TracedTensor {
    /// Applies any operation, an extension included: a tensor per result.
    #[track_caller]
    pub fn apply(op: impl Into<Op>, operands: &[&TracedTensor]) -> Result<Vec<TracedTensor>> {
        record(here(), operands, |cx, x| cx.emit(op.into(), x).to_vec())
    }

    /// Applies an operation with one result. An error is stored in the result.
    ///
    /// ```
    /// use cotangent::{TracedTensor, closures::grad, primitive::elementwise};
    /// let cube = elementwise("cube", |x| x * x * x, |cx, x, _| cx.scale_by(3.0, cx.square(x)));
    /// let f = |x: TracedTensor| TracedTensor::apply_one(cube.clone(), &[&x]);
    /// assert_eq!(grad(f)(TracedTensor::scalar(2.0))?.item::<f64>()?, 12.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    pub fn apply_one(op: impl Into<Op>, operands: &[&TracedTensor]) -> TracedTensor {
        let op = op.into();
        match op.results() {
            1 => record_one(here(), operands, |cx, x| cx.op(op, x)),
            n => TracedTensor::failed(
                Error::new(
                    Code::Arity,
                    format!("`{}` has {n} results; use apply", op.name()),
                )
                .at(here()),
            ),
        }
    }
}
