//! Lists that nests share. A list is one pointer, so that nests and accesses are small.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A shared list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shared<T>(Arc<Vec<T>>);

impl<T> Shared<T> {
    /// The address at which it is stored. Equal lists of the nests of a function have one address.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Shared<T> {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(all: Vec<T>) -> Shared<T> {
        Shared(Arc::new(all))
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Shared<T> {
        Shared(Arc::new(all.into_iter().collect()))
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        Arc::<Vec<T>>::make_mut(&mut self.0)
    }
}
