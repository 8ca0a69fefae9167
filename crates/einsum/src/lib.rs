//! Einstein's summation: the notation, and the order in which a network of tensors is contracted.
//!
//! ```text
//! "ij,jk->ik"        y[i,k] = Σ_j a[i,j] b[j,k]
//! ```
//! Every index that stands on the left and not on the right is summed over. A product of many
//! factors can be contracted pair by pair in any order, at costs that differ by powers of the
//! extents; [`Network::path`] looks for a cheap one. Nothing here knows tensors: labels, extents
//! and positions go in, positions and labels come out.
//!
//! ```
//! use cotangent_einsum::{Spec, Strategy};
//! let shapes = [vec![Some(10), Some(1000)], vec![Some(1000), Some(1000)], vec![Some(1000), Some(1)]];
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

/// What is wrong with a specification or with shapes.
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
