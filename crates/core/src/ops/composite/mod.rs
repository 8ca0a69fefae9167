//! Composites: named functions that are written with operations, not operations themselves.
//!
//! They have no rules of their own: what they are made of is differentiated. Each is written so
//! that this is right and stable to every order, which takes more than a stable value:
//!
//! - a function with two forms chooses by `select` between forms that are both analytic, so both
//!   have all derivatives (`|x|` would have slope 0 at 0, and lose the curvature there);
//! - a shift that only keeps numbers in range goes through `stop_gradient`: its derivative is zero
//!   in exact arithmetic;
//! - where one side of a `select` is singular its argument is replaced there first (double-where).
//!
//! Sixteen-bit floats are computed in `f32` and rounded once.

mod elementary;
mod entry;
mod fourier;
mod implicit;
mod matrices;
mod nn;
mod products;
mod random;
mod samplers;
mod spectral;
mod statistics;

pub use entry::Composite;
pub use matrices::MatrixNorm;

use std::sync::LazyLock;

/// Every composite.
pub fn composites() -> &'static [Composite] {
    static ALL: LazyLock<Vec<Composite>> = LazyLock::new(|| {
        [
            statistics::TABLE,
            nn::TABLE,
            products::TABLE,
            elementary::TABLE,
            fourier::TABLE,
            matrices::TABLE,
            spectral::TABLE,
            samplers::TABLE,
        ]
        .concat()
    });
    &ALL
}

/// Composites of a module, which stands before their operands: `tgraph.root @f %x`. Some have the
/// name of an operation that takes no module.
pub fn applied() -> &'static [Composite] {
    implicit::TABLE
}
