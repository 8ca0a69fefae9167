//! Methods of a runtime that create tensors: constants, variables, and results of operations.

use super::apply::tracked;
use super::error::Result;
use super::exec::{Exec, ExecSlot, ExecSlots, unknown};
use super::runtime::EagerRuntime;
use super::tensor::EagerTensor;
use crate::here::here;
use crate::tensor::Tensor;
use cotangent_core::{Emit, Env, Op, Val};
use std::sync::Arc;

impl EagerRuntime {
    /// A tensor of this runtime that tracks no gradient.
    pub fn constant_from(self: &Arc<Self>, tensor: impl Into<Tensor>) -> Result<EagerTensor> {
        EagerTensor::from_tensor_in(tensor, self)
    }

    /// A variable of this runtime: gradients with respect to it are tracked.
    pub fn variable_from(self: &Arc<Self>, tensor: impl Into<Tensor>) -> Result<EagerTensor> {
        EagerTensor::requires_grad_in(tensor, self)
    }

    /// Applies an operation, built-in or extension. Returns a tensor per result.
    #[track_caller]
    pub fn apply(
        self: &Arc<Self>,
        op: impl Into<Op>,
        operands: &[&EagerTensor],
    ) -> Result<Vec<EagerTensor>> {
        let op = op.into();
        self.write(operands, |cx, x| cx.emit(op, x).to_vec())
    }

    /// Runs the operations that `f` emits, one by one, and records them if operands are tracked.
    /// `f` may use every composite of the core.
    #[track_caller]
    pub fn write(
        self: &Arc<Self>,
        operands: &[&EagerTensor],
        f: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
    ) -> Result<Vec<EagerTensor>> {
        let mut values = ExecSlots::with_capacity(operands.len());
        for x in operands {
            x.belongs_to(self)?;
            values.push(ExecSlot::new(x.value()?.clone()));
        }
        let exec = Exec::new(self, tracked, values, Env::default());
        let loc = here();
        exec.set_loc(loc);
        let y = f(&exec, &exec.initial_values());
        if let Some(e) = exec.take_error() {
            return Err(e.at(loc).into());
        }
        let value = |&v: &Val| match exec.get(v) {
            Some(value) => Ok(EagerTensor::from_value(value, self)),
            None => Err(unknown(v).at(loc).into()),
        };
        y.iter().map(value).collect()
    }
}
