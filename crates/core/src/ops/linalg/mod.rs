//! Linear algebra: factorizations of matrices in the last two axes. Leading axes are batch axes.
//!
//! Element types are `f32 f64 c64 c128`. Results are normalized to be unique: `cholesky` has a
//! positive diagonal, `R` of `qr` a real one, and one component of every eigenvector or pair of
//! singular vectors is real and positive ([`spectrum`]). So results are functions of their
//! operands, and derivatives are those of the returned values.
//!
//! Reference evaluations compute in `c128`, by textbook algorithms ([`matrix`]).

mod cholesky;
mod count;
mod det;
mod eig;
mod eigh;
mod francis;
mod lu;
pub(crate) mod matrix;
mod qr;
mod reflectors;
mod schur;
mod solve;
mod spectral;
mod spectrum;
mod support;
mod svd;
mod triangular_solve;
mod vector;

pub use cholesky::Cholesky;
pub use count::Count;
pub use det::{Det, Slogdet};
pub use eig::{Eig, Order as EigOrder, order as eig_order};
pub use eigh::Eigh;
pub use lu::Lu;
pub use qr::Qr;
pub use reflectors::{Reflectors, apply_reflectors, product_of_reflectors};
pub use schur::Schur;
pub use solve::Solve;
pub use spectral::Spectral;
pub(crate) use spectral::pairs;
pub use spectrum::ANCHOR;
pub use svd::Svd;
pub use triangular_solve::{TriangularSolve, Turn};
pub(crate) use vector::of_vector as solve_of_vector;

use super::entry::Entry;

pub(super) fn entries() -> Vec<Entry> {
    [
        cholesky::entries(),
        triangular_solve::entries(),
        lu::entries(),
        solve::entries(),
        det::entries(),
        qr::entries(),
        eigh::entries(),
        svd::entries(),
        eig::entries(),
        schur::entries(),
        spectral::entries(),
        count::entries(),
    ]
    .concat()
}
