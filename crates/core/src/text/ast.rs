//! [`Program`]: what a text holds, in its order.

use super::comments::Comments;
use super::snippet;
use crate::bail;
use crate::directive::Directive;
use crate::error::{Error, Result};
use crate::ir::{Function, Numerics};
use crate::names::written;
use crate::transform::Policy;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A module or a directive, in the order of the text.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A module, and whether it is for others, not only for the modules below it.
    Module(Arc<Function>, bool),
    Directive(Directive),
}

impl Item {
    /// The name that it defines.
    pub(super) fn name(&self) -> &str {
        match self {
            Item::Module(f, _) => &f.name,
            Item::Directive(d) => &d.target,
        }
    }
}

/// Modules and directives.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(super) items: Vec<Item>,
    /// Numerics at the head.
    pub(super) head: Option<Policy>,
    /// Names of modules that directives made.
    pub(super) derived: FxHashSet<Arc<str>>,
    pub(super) file: Option<Arc<str>>,
    pub(super) source: Arc<str>,
    pub(super) comments: Option<Arc<Comments>>,
}

impl Program {
    /// A program of these modules; an error if two have one name.
    pub fn from_modules(modules: impl IntoIterator<Item = Arc<Function>>) -> Result<Program> {
        let items: Vec<Item> = modules.into_iter().map(|m| Item::Module(m, true)).collect();
        let mut seen = FxHashSet::default();
        if let Some(twice) = items.iter().find(|i| !seen.insert(i.name())) {
            bail!(
                DuplicateName,
                "two modules are called `@{}`",
                written(twice.name())
            );
        }
        Ok(Program {
            items,
            ..Program::default()
        })
    }

    /// The modules in order.
    pub fn modules(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.marked().map(|m| m.0)
    }

    /// The module that is meant where none is named: the public one called `main`; if there is
    /// none, the first public one, or the first.
    pub fn main(&self) -> Option<&Arc<Function>> {
        let public = || self.marked().filter(|m| m.1).map(|m| m.0);
        public()
            .find(|m| &*m.name == "main")
            .or_else(|| public().next())
            .or_else(|| self.modules().next())
    }

    /// The modules in order, and whether each is for others: not `private`, as those are that stand
    /// in several places.
    pub fn marked(&self) -> impl Iterator<Item = (&Arc<Function>, bool)> {
        self.items.iter().filter_map(|i| match i {
            Item::Module(f, public) => Some((f, *public)),
            Item::Directive(_) => None,
        })
    }

    /// Arithmetic of derivatives that do not choose their own: what the head of the text says, else
    /// [`Numerics::TGRAPH`].
    pub fn numerics(&self) -> Numerics {
        self.head.unwrap_or_default().or(Numerics::TGRAPH)
    }

    /// The program with these numerics at its head. Modules that directives made are there already,
    /// and stay.
    pub fn with_numerics(self, numerics: Numerics) -> Program {
        Program {
            head: (numerics != Numerics::TGRAPH).then(|| numerics.into()),
            ..self
        }
    }

    /// The directives in order.
    pub fn directives(&self) -> impl Iterator<Item = &Directive> {
        self.items.iter().filter_map(|i| match i {
            Item::Directive(d) => Some(d),
            Item::Module(..) => None,
        })
    }

    /// The module of this name (without `@`).
    pub fn module(&self, name: &str) -> Option<&Arc<Function>> {
        self.modules().find(|m| *m.name == *name)
    }

    /// The names of modules in order, those that directives make among them, and whether each is
    /// for others.
    pub fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.items
            .iter()
            .map(|i| (i.name(), !matches!(i, Item::Module(_, false))))
    }

    /// The modules that directives made, as a program of their own.
    pub fn only_derived(&self) -> Program {
        let made = |i: &&Item| matches!(i, Item::Module(f, _) if self.derived.contains(&f.name));
        Program {
            items: self.items.iter().filter(made).cloned().collect(),
            comments: None,
            ..self.clone()
        }
    }

    /// Adds the file and the line of the text to an error whose place is in this program.
    pub fn locate(&self, e: Error) -> Error {
        snippet::locate(e, &self.source, self.file.as_deref())
    }
}
