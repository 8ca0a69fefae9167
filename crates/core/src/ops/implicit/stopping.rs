//! When an iteration ends, and what it returns.

use crate::ir::{Emit, Val};

/// When an iteration ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stopping {
    /// Size of the last step (for linear systems: of the residual) relative to the norm of all
    /// unknowns together, so what is far smaller than the largest unknown is not resolved; by
    /// default what the element type can resolve.
    pub tolerance: Option<f64>,
    /// Steps; by default 10 000 of a fixed point, 2 000 products of a linear solver, and of
    /// Newton's method 200, not counting those that halve what is to vanish (which so many steps
    /// can do as the type has exponents).
    pub max_steps: Option<usize>,
}

/// What an iteration found.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The values.
    pub x: Vec<Val>,
    /// How far they are from satisfying the equation, `f64` of rank 0.
    pub residual: Val,
    /// Steps made, `i64` of rank 0.
    pub steps: Val,
    /// Whether they are a solution, a boolean of rank 0.
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

    /// The values; running is an error with this message if they are no solution.
    pub fn checked(&self, cx: &dyn Emit, message: &str) -> Vec<Val> {
        cx.require(self.converged, self.residual, &self.x, message)
    }
}
