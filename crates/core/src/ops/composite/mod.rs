//! Composites: named functions written with operations.
//!
//! They have no rules: their operations are differentiated. Each is written so that derivatives of
//! every order are correct and stable, which requires more than a stable value:
//!
//! - a function with two forms selects between two analytic forms, which have all derivatives
//!   (`|x|` would have slope 0 at 0, and the curvature would be lost);
//! - a shift that only prevents overflow is wrapped in `stop_gradient`: its derivative is zero in
//!   exact arithmetic;
//! - where one side of a `select` is singular, its argument is replaced there first (double-where).
//!
//! Functions of 16-bit floats are computed in `f32` and rounded once.

mod elementary;
mod entry;
mod fourier;
mod implicit;
mod matrices;
mod nn;
mod numbers;
mod products;
mod random;
mod rearranged;
mod samplers;
mod spectral;
mod statistics;

pub use entry::{Composite, CompositeFn};
pub use matrices::MatrixNorm;
pub use nn::LossReduction;

use std::sync::LazyLock;

/// Every composite.
pub fn composites() -> &'static [Composite] {
    static ALL: LazyLock<Vec<Composite>> = LazyLock::new(|| {
        [
            statistics::STATISTICS,
            nn::NN,
            products::PRODUCTS,
            elementary::ELEMENTARY,
            numbers::NUMBERS,
            rearranged::REARRANGED,
            fourier::FOURIER,
            matrices::MATRICES,
            spectral::SPECTRAL,
            samplers::SAMPLERS,
        ]
        .concat()
    });
    &ALL
}

/// Composites with a module before their operands: `tgraph.root @f %x`. Some have the name of an
/// operation without a module.
pub fn applied() -> &'static [Composite] {
    implicit::IMPLICIT
}
