//! Kernels that evaluate operations by the reference.

use crate::checks::resolve;
use crate::element::limit;
use crate::kernel::{Kernel, Operands, Results};
use crate::tensor::Tensor;
use cotangent_core::ops::Op;
use cotangent_core::{Array, Env, Result};
use cotangent_kernels::memory::hold;

/// Kernel that evaluates the operation with the reference implementation.
pub(crate) fn evaluated(op: &Op) -> Kernel {
    let op = ResolvedOp::of(op);
    Box::new(move |env, x: Operands| -> Result<Results> {
        let x = x
            .into_iter()
            .map(Tensor::into_array)
            .collect::<Result<Vec<_>>>()?;
        // The reference computes in 16-byte numbers, one vector per operand and result, and cannot
        // report a failed allocation. So the memory is reserved first.
        let elements = x.iter().map(Array::len).fold(0, usize::saturating_add);
        let _room = hold(elements.saturating_mul(4 * size_of::<i128>())).map_err(limit)?;
        Ok(op
            .with(env, |op| op.eval(&x, env))?
            .into_iter()
            .map(Tensor::from)
            .collect())
    })
}

/// An operation whose attributes may have symbolic dimensions, evaluated in each call.
pub(crate) struct ResolvedOp {
    op: Op,
    open: bool,
}

impl ResolvedOp {
    pub(crate) fn of(op: &Op) -> ResolvedOp {
        let open = std::cell::Cell::new(false);
        op.map_dims(&|d| {
            open.set(open.get() || d.as_const().is_none());
            d.clone()
        });
        ResolvedOp {
            op: op.clone(),
            open: open.get(),
        }
    }

    /// Calls `f` with the operation for the extents in `env`.
    pub(crate) fn with<R>(&self, env: &Env, f: impl FnOnce(&Op) -> R) -> R {
        match self.open {
            true => f(&resolve(&self.op, env)),
            false => f(&self.op),
        }
    }
}
