//! The nodes of the values that weights of derivatives at kinks were computed from.

use std::sync::{Arc, OnceLock};

/// The ids of nodes whose values weights were computed from.
pub(in crate::eager) type WeightNodes = Arc<[u64]>;

/// The kinks that a node's value depends on.
#[derive(Default)]
pub(in crate::eager) struct KinkWeights {
    /// The nodes that its weights were computed from, if it is a derivative at a kink.
    pub weights: OnceLock<WeightNodes>,
    /// The nodes that the weights of its untracked operands were computed from, and whether the
    /// operation is nonlinear in them together with others.
    pub operands: OnceLock<(WeightNodes, bool)>,
}
