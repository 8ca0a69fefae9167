//! [`UseCounts`]: how often the source program uses the values of a rewritten one.

use crate::ir::Val;

/// Number of uses in the source of the values that became each value.
#[derive(Default)]
pub(super) struct UseCounts(Vec<usize>);

impl UseCounts {
    /// Notes that a value of the source with `n` uses became this one, unless that is the poison
    /// value of a failed rewrite.
    pub(super) fn add(&mut self, v: Val, n: usize) {
        if v == Val::POISON {
            return;
        }
        self.0.resize(self.0.len().max(v.index() + 1), 0);
        self.0[v.index()] += n;
    }

    /// The uses of a value; 0 if no value of the source became it.
    pub(super) fn of(&self, v: Val) -> usize {
        self.0.get(v.index()).copied().unwrap_or(0)
    }
}
