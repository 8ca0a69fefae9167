//! Values of a function that is being written, by index.

use smallvec::SmallVec;
use std::fmt::Debug;

/// A value of the function that is being written: an index, meaningful only to its emitter.
///
/// Programs with debug assertions also know which emitter made it, so that a value of another one
/// is an error there even where the index exists. Values compare by index.
#[derive(Clone, Copy)]
pub struct Val {
    at: u32,
    #[cfg(debug_assertions)]
    owner: u32,
}

impl Val {
    /// What an emitter returns after a failure; every use of it is ignored, the first error is
    /// kept.
    pub const POISON: Val = Val::at(u32::MAX);

    pub(crate) const fn at(at: u32) -> Val {
        Val {
            at,
            #[cfg(debug_assertions)]
            owner: 0,
        }
    }

    /// Position in its function.
    pub fn index(self) -> usize {
        self.at as usize
    }

    /// The value at this position: for emitters outside this crate.
    pub fn from_index(i: usize) -> Val {
        Val::at(u32::try_from(i).expect("fewer than 2^32 values"))
    }

    /// The same position, of no emitter in particular.
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

/// An emitter, as its values know it: a number where debug assertions are on, nothing otherwise.
pub struct Owner {
    #[cfg(debug_assertions)]
    number: u32,
}

impl Default for Owner {
    /// One that no other emitter is.
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
    /// The value of this emitter at this position.
    pub fn val(&self, i: usize) -> Val {
        Val {
            #[cfg(debug_assertions)]
            owner: self.number,
            ..Val::from_index(i)
        }
    }

    /// Whether a value may be this emitter's: one that is known to be another's is not.
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
