//! [`Buffer`]: the elements of arrays in shared memory: a vector, or memory that another owner
//! keeps.
//!
//! An owner is a value of the safe trait [`Elements`]. Its memory is only read. The number of
//! elements is asked once, and an owner that later has fewer is a panic, so code that checked
//! bounds before need not check them again.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The owner of elements in memory, for example of an array of another library. It must always
/// return the same elements.
///
/// ```
/// use cotangent_core::array::{Buffer, Elements};
/// struct Page(Box<[f32; 4]>);
/// impl Elements<f32> for Page {
///     fn elements(&self) -> &[f32] {
///         &self.0[..]
///     }
/// }
/// let b = Buffer::of_owner(Page(Box::new([1.0, 2.0, 3.0, 4.0])));
/// assert_eq!(b[1..3], [2.0, 3.0]);
/// assert!(b.as_vec().is_none());
/// ```
pub trait Elements<T>: Send + Sync {
    /// The elements.
    fn elements(&self) -> &[T];

    /// The owner's own value, for code that knows its type. None by default.
    fn owner(&self) -> Option<&dyn Any> {
        None
    }
}

/// Elements in shared memory. A clone shares it, and the last one releases it.
pub struct Buffer<T>(Arc<Memory<T>>);

enum Memory<T> {
    Vector(Vec<T>),
    Foreign {
        len: usize,
        owner: Box<dyn Elements<T>>,
    },
}

impl<T> Clone for Buffer<T> {
    #[inline]
    fn clone(&self) -> Buffer<T> {
        Buffer(self.0.clone())
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    #[inline]
    fn from(v: Vec<T>) -> Buffer<T> {
        Buffer(Arc::new(Memory::Vector(v)))
    }
}

impl<T> Buffer<T> {
    /// The memory of another owner, which lives as long as the last clone.
    pub fn of_owner(owner: impl Elements<T> + 'static) -> Buffer<T> {
        let len = owner.elements().len();
        let owner = Box::new(owner);
        Buffer(Arc::new(Memory::Foreign { len, owner }))
    }

    /// The vector; `None` for the memory of another owner.
    #[inline]
    pub fn as_vec(&self) -> Option<&Vec<T>> {
        match &*self.0 {
            Memory::Vector(v) => Some(v),
            Memory::Foreign { .. } => None,
        }
    }

    /// The value of [`Elements::owner`]; `None` for a vector.
    pub fn owner(&self) -> Option<&dyn Any> {
        match &*self.0 {
            Memory::Vector(_) => None,
            Memory::Foreign { owner, .. } => owner.owner(),
        }
    }

    /// The vector for writing; `None` if it is shared, or the memory of another owner.
    #[inline]
    pub fn exclusive(&mut self) -> Option<&mut Vec<T>> {
        match Arc::get_mut(&mut self.0)? {
            Memory::Vector(v) => Some(v),
            Memory::Foreign { .. } => None,
        }
    }

    /// Whether another buffer shares the memory.
    #[inline]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether both are the same memory.
    pub(crate) fn is(&self, other: &Buffer<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Clone> Buffer<T> {
    /// The elements as a vector: a copy if they are shared, or the memory of another owner.
    pub fn into_vec(mut self) -> Vec<T> {
        match self.exclusive() {
            Some(v) => std::mem::take(v),
            None => self.to_vec(),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        #[cold]
        fn foreign<T>(owner: &dyn Elements<T>, len: usize) -> &[T] {
            let all = owner.elements();
            assert!(all.len() >= len, "an owner has fewer elements than before");
            &all[..len]
        }
        match &*self.0 {
            Memory::Vector(v) => v,
            Memory::Foreign { len, owner } => foreign(&**owner, *len),
        }
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Buffer<T>) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
