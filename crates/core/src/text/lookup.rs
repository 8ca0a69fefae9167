//! Operations by name: the list, extensions, composites and other words for them.

use super::names::{ALIASES, nearest};
use crate::ops::{Composite, Entry, applied, composites, entries};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What a name after `tgraph.` stands for.
#[derive(Clone, Copy)]
pub(super) enum Found<'e> {
    /// An operation.
    Op(&'e Entry),
    /// A function that writes operations.
    Composite(&'e Composite),
}

struct Known {
    entries: Vec<Entry>,
    by_name: FxHashMap<&'static str, Row>,
}

#[derive(Clone, Copy)]
enum Row {
    Op(usize),
    Composite(&'static Composite),
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let entries = entries();
        let mut by_name = FxHashMap::default();
        for c in applied().iter().chain(composites()) {
            by_name.insert(c.name, Row::Composite(c));
        }
        for (i, e) in entries.iter().enumerate() {
            by_name.insert(e.name, Row::Op(i));
        }
        for (alias, name) in ALIASES {
            if let (Some(&row), false) = (by_name.get(name), by_name.contains_key(alias)) {
                by_name.insert(alias, row);
            }
        }
        Known { entries, by_name }
    })
}

/// The operations that a text may use.
#[derive(Clone, Copy)]
pub(super) struct Table<'e> {
    extra: &'e [Entry],
}

impl<'e> Table<'e> {
    /// Ours, and these.
    pub fn new(extra: &'e [Entry]) -> Table<'e> {
        Table { extra }
    }

    /// What this name stands for.
    pub fn find(&self, name: &str) -> Option<Found<'e>> {
        let known = known();
        match known.by_name.get(name) {
            Some(&Row::Op(i)) => Some(Found::Op(&known.entries[i])),
            Some(&Row::Composite(c)) => Some(Found::Composite(c)),
            None => self.extra.iter().find(|e| e.name == name).map(Found::Op),
        }
    }

    /// What this name stands for behind which a module is written.
    pub fn find_applied(&self, name: &str) -> Option<Found<'e>> {
        applied()
            .iter()
            .find(|c| c.name == name)
            .map(Found::Composite)
            .or_else(|| self.find(name))
    }

    /// Whether there is such an operation.
    pub fn knows(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The operation that is most like this name. Names that print are preferred to other words for
    /// them.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let words = ["arg", "tangent", "return"].into_iter();
        let ours = known().entries.iter().map(|e| e.name);
        let composed = composites().iter().chain(applied()).map(|c| c.name);
        let all = ours
            .chain(composed)
            .chain(self.extra.iter().map(|e| e.name))
            .chain(words);
        nearest(name, all.chain(ALIASES.iter().map(|a| a.0))).map(str::to_owned)
    }
}
