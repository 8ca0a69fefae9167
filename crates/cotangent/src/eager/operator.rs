//! Implementation of operators on eager tensors, and of [`TensorOps`].

use super::error::Error;
use super::tensor::EagerTensor;
use crate::here::here;
use crate::operand::no_sum;
use crate::{Code, EagerRuntime, Emit, Scalar, TensorOps, Val};
use cotangent_core::ops::{Binary, Unary};

impl EagerTensor {
    /// An operator of two tensors, broadcast by NumPy's rule.
    #[track_caller]
    pub(crate) fn operator(&self, op: Binary, y: &EagerTensor) -> EagerTensor {
        EagerTensor::from_result(self.pair(op.def().name, op, y), self.runtime())
    }

    /// An operator of this tensor and a number, which is the first operand if `first` is set.
    #[track_caller]
    pub(crate) fn operator_number(&self, op: Binary, c: Scalar, first: bool) -> EagerTensor {
        EagerTensor::from_result(self.number(op.def().name, op, c, first), self.runtime())
    }

    /// An operator of one tensor.
    #[track_caller]
    pub(crate) fn operator_unary(&self, op: Unary) -> EagerTensor {
        EagerTensor::from_result(self.unary(op), self.runtime())
    }

    /// The sum of an empty iterator, in a runtime of its own.
    #[track_caller]
    pub(crate) fn no_sum() -> EagerTensor {
        EagerTensor::from_result(Err(no_sum().into()), &EagerRuntime::new())
    }
}

impl TensorOps for EagerTensor {
    type Error = Error;

    #[track_caller]
    fn emit(
        x: &[&Self],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Self>, Error> {
        match x.first() {
            Some(first) => first.runtime().write(x, f),
            None => Err(
                crate::Error::new(Code::Arity, "at least one tensor is needed, got none")
                    .at(here())
                    .into(),
            ),
        }
    }
}
