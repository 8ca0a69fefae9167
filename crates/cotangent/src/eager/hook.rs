//! Hooks: functions that receive the cotangents of a tensor in every reverse pass, until they are
//! removed.

use super::ids::next_id;
use super::tape::{Hook, HookFn, Hooks, Node};
use super::turns::lock;
use crate::tensor::Given;
use std::sync::{Arc, Weak};

impl Node {
    /// Adds a hook. Returns the handle that removes it.
    pub(super) fn add_hook(&self, slot: u32, given: Given, call: HookFn) -> HookHandle {
        add(self.hooks.get_or_init(Arc::default), slot, given, call)
    }
}

/// Adds a hook. Returns the handle that removes it.
fn add(hooks: &Arc<Hooks>, slot: u32, given: Given, call: HookFn) -> HookHandle {
    let id = next_id();
    lock(hooks).push(Hook {
        id,
        slot,
        given,
        call,
    });
    HookHandle {
        hooks: Arc::downgrade(hooks),
        id,
    }
}

/// A hook that was [registered](super::EagerTensor::register_hook), and can be removed. Dropping
/// the handle does not remove the hook.
///
/// ```
/// use cotangent::{EagerRuntime, Tensor};
/// let x = EagerRuntime::new().variable_from(Tensor::scalar(2.0))?;
/// let doubled = x.register_hook(|g| Some(g * 2.0))?;
/// x.square()?.backward()?;
/// assert!(doubled.remove());
/// x.square()?.backward()?;
/// assert_eq!(x.grad()?.unwrap().item::<f64>()?, 8.0 + 4.0);
/// // It was removed before.
/// assert!(!doubled.remove());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone)]
pub struct HookHandle {
    hooks: Weak<Hooks>,
    id: u64,
}

impl HookHandle {
    /// Removes the hook and drops its closure. Returns whether it was present.
    pub fn remove(&self) -> bool {
        let Some(hooks) = self.hooks.upgrade() else {
            return false;
        };
        let found = {
            let mut hooks = lock(&hooks);
            hooks
                .iter()
                .position(|h| h.id == self.id)
                .map(|k| hooks.remove(k))
        };
        found.is_some()
    }
}

impl std::fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HookHandle #{}", self.id)
    }
}
