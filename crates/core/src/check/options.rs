//! [`Options`] of a check.

use crate::ir::Val;

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
        }
    }
}
