//! Functions of a module being written, and their names.

use cotangent_core::Function;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A function of the module.
#[derive(Clone)]
pub(super) struct WrittenFunction {
    pub(super) f: Arc<Function>,
    pub(super) name: String,
    pub(super) public: bool,
    /// Whether it is the decomposition of a composite. Its single operation is then decomposed.
    pub(super) expands: bool,
}

/// Functions of a module being written, and their unique names.
#[derive(Default)]
pub(super) struct FunctionNames {
    pub(super) all: Vec<WrittenFunction>,
    taken: FxHashSet<String>,
    by_place: FxHashMap<*const Function, usize>,
    /// Indices of decompositions, by the text of their operation.
    by_text: FxHashMap<String, usize>,
}

impl FunctionNames {
    /// The name of a function. It is added if it is new.
    pub(super) fn add(&mut self, f: &Arc<Function>, preferred: &str, public: bool) -> String {
        if let Some(&k) = self.by_place.get(&Arc::as_ptr(f)) {
            return self.all[k].name.clone();
        }
        self.by_place.insert(Arc::as_ptr(f), self.all.len());
        self.push(f.clone(), preferred, public, false)
    }

    /// The name of the decomposition of the operation with this text. It is added if it is new.
    pub(super) fn decomposition(
        &mut self,
        f: Arc<Function>,
        preferred: &str,
        text: &str,
    ) -> String {
        if let Some(&k) = self.by_text.get(text) {
            return self.all[k].name.clone();
        }
        self.by_text.insert(text.to_owned(), self.all.len());
        self.push(f, preferred, false, true)
    }

    fn push(&mut self, f: Arc<Function>, preferred: &str, public: bool, expands: bool) -> String {
        let mut name = preferred.to_owned();
        for k in 0.. {
            if !self.taken.contains(&name) {
                break;
            }
            name = format!("{preferred}_{k}");
        }
        self.taken.insert(name.clone());
        self.all.push(WrittenFunction {
            f,
            name: name.clone(),
            public,
            expands,
        });
        name
    }
}

/// A name after `@`, quoted if necessary.
pub(super) fn symbol(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let bare =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(plain);
    if bare {
        name.into()
    } else {
        format!("{name:?}")
    }
}
