//! Captures of regions: values that a region uses and that are defined around it.

use crate::ast::Id;
use rustc_hash::FxHashSet;

/// A region being read.
struct OpenRegion {
    /// The first value that it defines.
    first: Id,
    captures: Vec<Id>,
    seen: FxHashSet<Id>,
}

/// The regions being read, the innermost last.
#[derive(Default)]
pub(crate) struct OpenRegions(Vec<OpenRegion>);

impl OpenRegions {
    /// Number of open regions.
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    /// Opens a region whose values are numbered from `first`.
    pub(crate) fn open(&mut self, first: Id) {
        self.0.push(OpenRegion {
            first,
            captures: Vec::new(),
            seen: FxHashSet::default(),
        });
    }

    /// Records a use of a value.
    pub(crate) fn used(&mut self, id: Id) {
        for r in self.0.iter_mut().rev().take_while(|r| r.first > id) {
            if r.seen.insert(id) {
                r.captures.push(id);
            }
        }
    }

    /// Closes the innermost region and returns its captures, in order of first use.
    pub(crate) fn close(&mut self) -> Vec<Id> {
        self.0.pop().map_or_else(Vec::new, |r| r.captures)
    }
}
