//! [`Options`] of a check.

use crate::array::Array;
use crate::error::Result;
use crate::ir::{Function, Val};
use crate::reference;
use std::sync::Arc;

/// A function that evaluates a function at its arguments.
type EvaluateFn = dyn Fn(&Function, &[Array]) -> Result<Vec<Array>> + Send + Sync;

/// The evaluation of functions in a check: by the reference, operation by operation, if it is not
/// another one. A runtime is faster where arrays are large.
#[derive(Clone)]
pub struct Evaluator(Arc<EvaluateFn>);

impl Evaluator {
    /// An evaluation by this function, which is called many times with the same function.
    pub fn new(
        run: impl Fn(&Function, &[Array]) -> Result<Vec<Array>> + Send + Sync + 'static,
    ) -> Evaluator {
        Evaluator(Arc::new(run))
    }

    pub(super) fn run(&self, f: &Function, args: &[Array]) -> Result<Vec<Array>> {
        (self.0)(f, args)
    }
}

impl Default for Evaluator {
    fn default() -> Evaluator {
        Evaluator::new(reference::run)
    }
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Evaluator")
    }
}

/// Laws to check, and tolerances.
#[derive(Clone, Debug)]
pub struct Options {
    /// Values to differentiate with respect to, arguments or not; every argument that has a tangent
    /// if `None`.
    pub wrt: Option<Vec<Val>>,
    /// Random directions per law.
    pub directions: usize,
    /// Accepted relative error, in addition to the estimated error of the differences.
    pub tolerance: f64,
    /// Whether second derivatives are checked too.
    pub second_order: bool,
    /// Whether third derivatives are checked, if second ones are.
    pub third_order: bool,
    /// Seed of the random directions.
    pub seed: u64,
    /// The evaluation of the function and of its derivatives.
    pub evaluator: Evaluator,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            wrt: None,
            directions: 2,
            tolerance: 1e-6,
            second_order: true,
            third_order: true,
            seed: 1,
            evaluator: Evaluator::default(),
        }
    }
}
