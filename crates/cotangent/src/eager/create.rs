//! Methods of a runtime that create tensors: constants, variables, and results of operations.

use super::apply::tracked;
use super::error::Result;
use super::exec::{Exec, ExecSlot, ExecSlots, unknown};
use super::runtime::EagerRuntime;
use super::tensor::EagerTensor;
use crate::Axis;
use crate::here::{AtCaller, here};
use crate::tensor::Tensor;
use crate::tensor_ops::{EmitFn, once};
use cotangent_core::{DType, Element, Emit, Env, Op, Scalar, Val};
use std::sync::Arc;

impl EagerRuntime {
    /// A tensor of this runtime that tracks no gradient.
    #[track_caller]
    pub fn constant_from(self: &Arc<Self>, tensor: impl Into<Tensor>) -> Result<EagerTensor> {
        EagerTensor::from_tensor_in(tensor, self)
    }

    /// A variable of this runtime: gradients with respect to it are tracked.
    #[track_caller]
    pub fn variable_from(self: &Arc<Self>, tensor: impl Into<Tensor>) -> Result<EagerTensor> {
        EagerTensor::requires_grad_in(tensor, self)
    }

    /// A constant of elements in row-major order (the last axis fastest).
    #[track_caller]
    pub fn from_vec_row_major<T: Element>(
        self: &Arc<Self>,
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::from_vec_row_major(shape, data)?, self)
    }

    /// A constant of elements in column-major order (the first axis fastest).
    #[track_caller]
    pub fn from_vec_col_major<T: Element>(
        self: &Arc<Self>,
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::from_vec_col_major(shape, data)?, self)
    }

    /// A constant vector.
    #[track_caller]
    pub fn vector<T: Element>(self: &Arc<Self>, data: Vec<T>) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::vector(data), self)
    }

    /// A constant scalar.
    #[track_caller]
    pub fn scalar<T: Element>(self: &Arc<Self>, value: T) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::scalar(value), self)
    }

    /// A constant of zeros (false for booleans).
    #[track_caller]
    pub fn zeros(
        self: &Arc<Self>,
        dtype: DType,
        shape: impl Into<Vec<usize>>,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::zeros(dtype, shape)?, self)
    }

    /// A constant of ones (true for booleans).
    #[track_caller]
    pub fn ones(
        self: &Arc<Self>,
        dtype: DType,
        shape: impl Into<Vec<usize>>,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::ones(dtype, shape)?, self)
    }

    /// A constant with one value in every element.
    #[track_caller]
    pub fn full(
        self: &Arc<Self>,
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        value: impl Into<Scalar>,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::full(dtype, shape, value)?, self)
    }

    /// The `n` by `n` identity matrix.
    #[track_caller]
    pub fn eye(self: &Arc<Self>, dtype: DType, n: usize) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::eye(dtype, n)?, self)
    }

    /// The vector `start, start + step, ..` below `stop` (above it for a negative step).
    #[track_caller]
    pub fn arange(
        self: &Arc<Self>,
        dtype: DType,
        start: f64,
        stop: f64,
        step: f64,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::arange(dtype, start, stop, step)?, self)
    }

    /// The index of each element along an axis.
    #[track_caller]
    pub fn iota(
        self: &Arc<Self>,
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        axis: impl Into<Axis>,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::iota(dtype, shape, axis)?, self)
    }

    /// `num` evenly spaced numbers, both ends included.
    #[track_caller]
    pub fn linspace(
        self: &Arc<Self>,
        dtype: DType,
        start: f64,
        stop: f64,
        num: usize,
    ) -> Result<EagerTensor> {
        EagerTensor::created(Tensor::linspace(dtype, start, stop, num)?, self)
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
        self.run_emitted(operands, &mut once(f))
    }

    #[track_caller]
    fn run_emitted(
        self: &Arc<Self>,
        operands: &[&EagerTensor],
        f: &mut EmitFn<'_>,
    ) -> Result<Vec<EagerTensor>> {
        let mut values = ExecSlots::with_capacity(operands.len());
        for x in operands {
            x.belongs_to(self).at_caller()?;
            values.push(ExecSlot::new(x.value()?.clone()));
        }
        let exec = Exec::new(self, tracked, values, Env::default());
        let loc = here();
        exec.set_loc(loc);
        let y = f(&exec, &exec.initial_values());
        if let Some(e) = exec.take_error_of(operands.len()) {
            return Err(e.at(loc).into());
        }
        let value = |&v: &Val| match exec.get(v) {
            Some(value) => Ok(EagerTensor::from_value(value, self)),
            None => Err(unknown(v).at(loc).into()),
        };
        y.iter().map(value).collect()
    }
}
