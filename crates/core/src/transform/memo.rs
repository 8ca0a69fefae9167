//! [`FnKey`]: regions as keys of memoized transforms.

use crate::ir::Function;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A function by identity. Keeps it alive so that the address is not reused.
#[derive(Clone)]
pub(super) struct FnKey(pub Arc<Function>);

impl PartialEq for FnKey {
    fn eq(&self, o: &FnKey) -> bool {
        Arc::ptr_eq(&self.0, &o.0)
    }
}

impl Eq for FnKey {}

impl Hash for FnKey {
    fn hash<H: Hasher>(&self, h: &mut H) {
        Arc::as_ptr(&self.0).hash(h);
    }
}
