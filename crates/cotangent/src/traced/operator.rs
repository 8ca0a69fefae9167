//! Implementation of operators on traced tensors.

use super::TracedTensor;
use super::record::record_one;
use crate::Scalar;
use crate::here::here;
use crate::methods::aligned;
use crate::operand::no_sum;
use crate::ops::{Binary, Unary};

impl TracedTensor {
    /// An operator of two tensors, broadcast by NumPy's rule.
    #[track_caller]
    pub(crate) fn operator(&self, op: Binary, y: &TracedTensor) -> TracedTensor {
        record_one(here(), &[self, y], |cx, x| {
            let (x, y) = aligned(cx, op.def().name, x[0], x[1]);
            cx.op(op, &[x, y])
        })
    }

    /// An operator of this tensor and a number, which is the first operand if `first` is set.
    #[track_caller]
    pub(crate) fn operator_number(&self, op: Binary, c: Scalar, first: bool) -> TracedTensor {
        record_one(here(), &[self], |cx, x| {
            let c = cx.number_for(op.def().name, x[0], c);
            cx.op(op, &if first { [c, x[0]] } else { [x[0], c] })
        })
    }

    /// An operator of one tensor.
    #[track_caller]
    pub(crate) fn operator_unary(&self, op: Unary) -> TracedTensor {
        record_one(here(), &[self], |cx, x| cx.op(op, x))
    }

    /// The sum of an empty iterator.
    #[track_caller]
    pub(crate) fn no_sum() -> TracedTensor {
        TracedTensor::failed(no_sum())
    }
}
