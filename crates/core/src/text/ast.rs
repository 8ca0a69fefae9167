//! [`Program`]: modules and directives, in the order of the text.

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
pub(super) enum ProgramItem {
    /// A module, and whether it is public: not only for the modules below it.
    Module(Arc<Function>, bool),
    Directive(Directive),
}

impl ProgramItem {
    /// The name that it defines.
    pub(super) fn name(&self) -> &str {
        match self {
            ProgramItem::Module(f, _) => &f.name,
            ProgramItem::Directive(d) => &d.target,
        }
    }
}

/// Modules and directives.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(super) items: Vec<ProgramItem>,
    /// Numerics at the head.
    pub(super) head: Option<Policy>,
    /// Names of modules derived by directives.
    pub(super) derived: FxHashSet<Arc<str>>,
    pub(super) file: Option<Arc<str>>,
    pub(super) source: Arc<str>,
    pub(super) comments: Option<Arc<Comments>>,
}

impl Program {
    /// A program of these modules. Returns an error if two have the same name.
    pub fn from_modules(modules: impl IntoIterator<Item = Arc<Function>>) -> Result<Program> {
        let items: Vec<ProgramItem> = modules
            .into_iter()
            .map(|m| ProgramItem::Module(m, true))
            .collect();
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

    /// The default module: the public one called `main`, else the first public one, else the first
    /// one.
    pub fn main(&self) -> Option<&Arc<Function>> {
        let public = || self.marked().filter(|m| m.1).map(|m| m.0);
        public()
            .find(|m| &*m.name == "main")
            .or_else(|| public().next())
            .or_else(|| self.modules().next())
    }

    /// The modules in order, and whether each is public. Shared regions are printed as `private`
    /// modules.
    pub fn marked(&self) -> impl Iterator<Item = (&Arc<Function>, bool)> {
        self.items.iter().filter_map(|i| match i {
            ProgramItem::Module(f, public) => Some((f, *public)),
            ProgramItem::Directive(_) => None,
        })
    }

    /// Default numerics of derivatives: those at the head of the text, else [`Numerics::TGRAPH`].
    pub fn numerics(&self) -> Numerics {
        self.head.unwrap_or_default().or(Numerics::TGRAPH)
    }

    /// Whether directives without a choice of their own derive from numerically stable forms
    /// ([`raise_for_derivatives`](crate::rewrite::raise_for_derivatives)).
    pub fn raises(&self) -> bool {
        self.head.and_then(|h| h.raise).unwrap_or(true)
    }

    /// The program with these numerics at its head. Modules that were derived during parsing do not
    /// change.
    pub fn with_numerics(self, numerics: Numerics) -> Program {
        let numerics = match numerics == Numerics::TGRAPH {
            true => Policy::default(),
            false => numerics.into(),
        };
        let head = Policy {
            raise: self.head.and_then(|h| h.raise),
            ..numerics
        };
        Program {
            head: (!head.is_empty()).then_some(head),
            ..self
        }
    }

    /// The directives in order.
    pub fn directives(&self) -> impl Iterator<Item = &Directive> {
        self.items.iter().filter_map(|i| match i {
            ProgramItem::Directive(d) => Some(d),
            ProgramItem::Module(..) => None,
        })
    }

    /// The module of this name (without `@`).
    pub fn module(&self, name: &str) -> Option<&Arc<Function>> {
        self.modules().find(|m| *m.name == *name)
    }

    /// The names of modules in order, including those of directives, and whether each is public.
    pub fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.items
            .iter()
            .map(|i| (i.name(), !matches!(i, ProgramItem::Module(_, false))))
    }

    /// A program of the modules that directives derived.
    pub fn only_derived(&self) -> Program {
        let made = |i: &&ProgramItem| matches!(i, ProgramItem::Module(f, _) if self.derived.contains(&f.name));
        Program {
            items: self.items.iter().filter(made).cloned().collect(),
            comments: None,
            ..self.clone()
        }
    }

    /// Adds the file and the line of the text to an error whose location is in this program.
    pub fn locate(&self, e: Error) -> Error {
        snippet::locate(e, &self.source, self.file.as_deref())
    }
}
