//! [`ContextId`]: the identity of a runtime.

use cotangent_core::tape::next_id;
use std::fmt;

/// The identity of an eager runtime: equal for tensors of one runtime alone.
///
/// ```
/// use cotangent::ad::{ContextId, EagerRuntime};
/// let (a, b) = (EagerRuntime::new(), EagerRuntime::new());
/// let id: ContextId = a.scalar(1.0)?.ctx_id();
/// assert!(id == a.id() && id != b.id());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContextId(u64);

impl ContextId {
    /// An identity that no other call gets.
    pub(super) fn fresh() -> ContextId {
        ContextId(next_id())
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Debug for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
