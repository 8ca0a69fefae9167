//! Values of a function under construction, by index.

use smallvec::SmallVec;
use std::fmt::Debug;

/// A value of a function under construction: an index that only its emitter can interpret.
///
/// With debug assertions it also identifies its emitter, so that a value of another emitter is an
/// error even if the index exists. Values compare by index.
#[derive(Clone, Copy)]
pub struct Val {
    at: u32,
    #[cfg(debug_assertions)]
    owner: u32,
}

impl Val {
    /// The value that an emitter returns after a failure. Uses of it are ignored; the first error
    /// is kept.
    pub const POISON: Val = Val::at(u32::MAX);

    pub(crate) const fn at(at: u32) -> Val {
        Val {
            at,
            #[cfg(debug_assertions)]
            owner: 0,
        }
    }

    /// Index in its function.
    pub fn index(self) -> usize {
        self.at as usize
    }

    /// The value with this index, for emitters outside this crate.
    pub fn from_index(i: usize) -> Val {
        Val::at(u32::try_from(i).expect("fewer than 2^32 values"))
    }

    /// The value with the same index and no emitter.
    pub(crate) fn of_any(self) -> Val {
        Val::at(self.at)
    }
}

impl PartialEq for Val {
    fn eq(&self, o: &Val) -> bool {
        self.at == o.at
    }
}

impl Eq for Val {}

impl std::hash::Hash for Val {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        self.at.hash(h);
    }
}

impl PartialOrd for Val {
    fn partial_cmp(&self, o: &Val) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}

impl Ord for Val {
    fn cmp(&self, o: &Val) -> std::cmp::Ordering {
        self.at.cmp(&o.at)
    }
}

impl Debug for Val {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Val({})", self.at)
    }
}

/// The identity of an emitter: a number with debug assertions, zero-sized otherwise.
pub struct Owner {
    #[cfg(debug_assertions)]
    number: u32,
}

impl Default for Owner {
    /// A new identity.
    fn default() -> Owner {
        Owner {
            #[cfg(debug_assertions)]
            number: {
                static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
                NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
                    .max(1)
            },
        }
    }
}

impl Owner {
    /// The value of this emitter with this index.
    pub fn val(&self, i: usize) -> Val {
        Val {
            #[cfg(debug_assertions)]
            owner: self.number,
            ..Val::from_index(i)
        }
    }

    /// Whether a value may belong to this emitter. False only if it is known to belong to another
    /// one.
    pub fn may_own(&self, v: Val) -> bool {
        #[cfg(debug_assertions)]
        return v.owner == 0 || v.owner == self.number;
        #[cfg(not(debug_assertions))]
        {
            let _ = v;
            true
        }
    }
}

/// The results of one operation.
pub type Vals = SmallVec<[Val; 2]>;
