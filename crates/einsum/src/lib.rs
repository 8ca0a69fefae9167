//! Einstein summation: the notation, and the contraction order of a tensor network.
//!
//! ```text
//! "ij,jk->ik"        y[i,k] = Σ_j a[i,j] b[j,k]
//! ```
//! Every index that occurs on the left only is summed over. A product of many factors can be
//! contracted pairwise in any order. The costs of orders differ by powers of the extents;
//! [`Network::path`] searches for a cheap one. The crate does not depend on a tensor type: its
//! inputs are labels and extents, its outputs positions and labels.
//!
//! ```
//! use cotangent_einsum::{Spec, Strategy};
//! let shapes = [[10, 1000], [1000, 1000], [1000, 1]].map(|s| s.map(Some).to_vec());
//! let (network, extents) = Spec::parse("ij,jk,kl->il")?.network(&[2, 2, 2])?.bind(&shapes)?;
//! let path = network.path(&extents, Strategy::Auto)?;
//! assert_eq!(path.steps[0].operands, [1, 2]); // the vector first
//! assert!(path.flops < path.naive_flops / 10.0);
//! # Ok::<(), cotangent_einsum::Error>(())
//! ```

mod order;
mod path;
mod set;
mod spec;

pub use order::Strategy;
pub use path::{ContractionStep, Path};
pub use spec::{Extents, Label, Member, Network, Spec};

use std::fmt;

/// An invalid specification, or shapes that do not fit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub(crate) String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Result with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
