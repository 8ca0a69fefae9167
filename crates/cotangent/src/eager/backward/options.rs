//! [`BackwardOptions`]: how a reverse pass treats the tape.

/// How a reverse pass treats the tape.
///
/// ```
/// use cotangent::ad::{BackwardOptions, EagerRuntime};
/// let x = EagerRuntime::new().variable_from(cotangent::Tensor::scalar(2.0))?;
/// let y = x.powi(3)?;
/// // The gradient is recorded, too: it can be differentiated again.
/// let g = y.grad_of(&[&x], BackwardOptions::create_graph())?.remove(0);
/// let h = g.grad_of(&[&x], BackwardOptions::keep_graph())?.remove(0);
/// assert_eq!((g.item::<f64>()?, h.item::<f64>()?), (12.0, 12.0));
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackwardOptions {
    /// Saved values stay, so another pass may follow.
    pub keep_graph: bool,
    /// The gradients are tracked themselves, so they can be differentiated. Keeps the graph.
    pub create_graph: bool,
}

impl BackwardOptions {
    /// Saved values stay.
    pub fn keep_graph() -> BackwardOptions {
        BackwardOptions {
            keep_graph: true,
            create_graph: false,
        }
    }

    /// The gradients are tracked.
    pub fn create_graph() -> BackwardOptions {
        BackwardOptions {
            keep_graph: true,
            create_graph: true,
        }
    }
}
