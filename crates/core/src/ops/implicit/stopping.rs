//! Stopping criteria of iterations, and their results.

use crate::ir::{Emit, Val};

/// Stopping criteria of iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stopping {
    /// Size of the last step (for linear systems: of the residual) relative to the norm of all
    /// unknowns together. Unknowns far smaller than the largest one are not resolved. Default: the
    /// resolution of the element type.
    pub tolerance: Option<f64>,
    /// Maximum number of steps. Defaults: 10 000 for a fixed point, 2 000 products for a linear
    /// solver, 200 for Newton's method. Newton steps that at least halve the residual are not
    /// counted; the exponent range of the type bounds their number.
    pub max_steps: Option<usize>,
    /// Whether values are returned although the iteration did not converge. False by default:
    /// execution returns an error.
    pub accept_unconverged: bool,
}

/// The result of an iteration.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The values.
    pub x: Vec<Val>,
    /// Norm of the residual of the equation, a scalar `f64`.
    pub residual: Val,
    /// Number of steps, a scalar `i64`.
    pub steps: Val,
    /// Whether the iteration converged, a scalar boolean.
    pub converged: Val,
}

impl Solution {
    pub(super) fn values(&self) -> Vec<Val> {
        [&self.x[..], &[self.residual, self.steps, self.converged]].concat()
    }

    pub(super) fn of(mut values: Vec<Val>) -> Solution {
        values.resize(values.len().max(3), Val::POISON);
        let rest = values.split_off(values.len() - 3);
        Solution {
            x: values,
            residual: rest[0],
            steps: rest[1],
            converged: rest[2],
        }
    }

    /// The values. Execution returns an error with this message if the iteration did not converge.
    pub fn checked(&self, cx: &dyn Emit, message: &str) -> Vec<Val> {
        cx.require(self.converged, self.residual, &self.x, message)
    }

    /// As [`checked`](Self::checked), unless `stop` accepts values without convergence.
    pub fn checked_unless_accepted(
        &self,
        cx: &dyn Emit,
        stop: Stopping,
        message: &str,
    ) -> Vec<Val> {
        match stop.accept_unconverged {
            true => self.x.clone(),
            false => self.checked(cx, message),
        }
    }
}
