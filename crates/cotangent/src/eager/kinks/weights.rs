//! The nodes that the weights of derivatives at kinks were found by.

use std::sync::{Arc, OnceLock};

/// The nodes, by number, of the values that weights were found by.
pub(in crate::eager) type WeightNodes = Arc<[u64]>;

/// The kinks that a node depends on.
#[derive(Default)]
pub(in crate::eager) struct KinkWeights {
    /// The nodes by which its weights were found, if it is a derivative at a kink.
    pub weights: OnceLock<WeightNodes>,
    /// The nodes by which those of its operands were found that are not in the tape themselves, and
    /// whether it mixes these with others.
    pub operands: OnceLock<(WeightNodes, bool)>,
}
