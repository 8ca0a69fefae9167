//! Plain tensors as constants of the runtime of a backend, and results as plain tensors.

use crate::operand::Operand;
use crate::{
    CpuBackend, EagerRuntime, EagerTensor, Emit, Result, Scalar, Tensor, TensorOps, Val, ad,
};
use std::sync::Arc;

/// The constants of the runtime of a backend.
pub(super) struct Constants(Arc<EagerRuntime>);

/// A constant, or a number.
pub(super) enum ConstantOperand {
    Tensor(EagerTensor),
    Number(Scalar),
}

impl<'a> From<&'a ConstantOperand> for Operand<'a, EagerTensor> {
    fn from(x: &'a ConstantOperand) -> Self {
        match x {
            ConstantOperand::Tensor(t) => Operand::Tensor(t),
            ConstantOperand::Number(c) => Operand::Number(*c),
        }
    }
}

impl Constants {
    pub(super) fn of(backend: &CpuBackend) -> Constants {
        Constants(backend.plain().clone())
    }

    /// The constants of a runtime of its own.
    pub(super) fn on(rt: Arc<EagerRuntime>) -> Constants {
        Constants(rt)
    }

    pub(super) fn tensor(&self, t: &Tensor) -> EagerTensor {
        EagerTensor::constant(t.clone(), &self.0)
    }

    pub(super) fn tensors(&self, t: &[&Tensor]) -> Vec<EagerTensor> {
        t.iter().map(|t| self.tensor(t)).collect()
    }

    pub(super) fn operand(&self, x: Operand<'_, Tensor>) -> ConstantOperand {
        match x {
            Operand::Tensor(t) => ConstantOperand::Tensor(self.tensor(t)),
            Operand::Number(c) => ConstantOperand::Number(c),
        }
    }

    /// The results that `f` emits for these operands.
    #[track_caller]
    pub(super) fn emit(
        &self,
        x: &[&Tensor],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<Tensor>> {
        EagerTensor::emit(&references(&self.tensors(x)), f).plain()
    }
}

/// References to each tensor of a list.
pub(super) fn references(t: &[EagerTensor]) -> Vec<&EagerTensor> {
    t.iter().collect()
}

/// Results of an operation as plain tensors.
pub(super) trait ToPlain {
    type Plain;

    #[track_caller]
    fn plain(self) -> Result<Self::Plain>;
}

impl ToPlain for EagerTensor {
    type Plain = Tensor;

    #[track_caller]
    fn plain(self) -> Result<Tensor> {
        Ok(self.to_tensor()?)
    }
}

impl ToPlain for (EagerTensor, EagerTensor) {
    type Plain = (Tensor, Tensor);

    #[track_caller]
    fn plain(self) -> Result<(Tensor, Tensor)> {
        Ok((self.0.plain()?, self.1.plain()?))
    }
}

impl ToPlain for (EagerTensor, EagerTensor, EagerTensor) {
    type Plain = (Tensor, Tensor, Tensor);

    #[track_caller]
    fn plain(self) -> Result<(Tensor, Tensor, Tensor)> {
        Ok((self.0.plain()?, self.1.plain()?, self.2.plain()?))
    }
}

impl ToPlain for Vec<EagerTensor> {
    type Plain = Vec<Tensor>;

    #[track_caller]
    fn plain(self) -> Result<Vec<Tensor>> {
        self.into_iter().map(ToPlain::plain).collect()
    }
}

impl<T: ToPlain> ToPlain for ad::Result<T> {
    type Plain = T::Plain;

    #[track_caller]
    fn plain(self) -> Result<T::Plain> {
        self?.plain()
    }
}
