//! [`BackwardOptions`]: options of a reverse pass.

/// Options of a reverse pass.
///
/// ```
/// use cotangent::ad::{BackwardOptions, EagerRuntime};
/// let x = EagerRuntime::new().variable_from(cotangent::Tensor::scalar(2.0))?;
/// let y = x.powi(3)?;
/// // The gradient is also recorded, so it can be differentiated again.
/// let g = y.grad_of(&[&x], BackwardOptions::create_graph())?.remove(0);
/// let h = g.grad_of(&[&x], BackwardOptions::keep_graph())?.remove(0);
/// assert_eq!((g.item::<f64>()?, h.item::<f64>()?), (12.0, 12.0));
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackwardOptions {
    /// Whether saved tensors are kept, so that another pass may follow: the default. They are then
    /// released with the last tensor that was computed from them.
    pub keep_graph: bool,
    /// Whether the gradients are tracked, so that they can be differentiated. Implies `keep_graph`.
    pub create_graph: bool,
}

impl Default for BackwardOptions {
    fn default() -> BackwardOptions {
        BackwardOptions::keep_graph()
    }
}

impl BackwardOptions {
    /// Options that keep the saved tensors, as the default ones do.
    pub fn keep_graph() -> BackwardOptions {
        BackwardOptions {
            keep_graph: true,
            create_graph: false,
        }
    }

    /// Options that release the saved tensors of an operation as soon as its cotangents are pulled
    /// back: the least memory. Another pass through one of these operations is an error.
    pub fn free_graph() -> BackwardOptions {
        BackwardOptions {
            keep_graph: false,
            create_graph: false,
        }
    }

    /// Options with tracked gradients.
    pub fn create_graph() -> BackwardOptions {
        BackwardOptions {
            keep_graph: true,
            create_graph: true,
        }
    }
}
