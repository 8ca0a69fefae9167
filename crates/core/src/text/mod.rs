//! The text form: programs as people write them, and the one canonical way they are printed.
//!
//! ```
//! use cotangent_core::{AdContext, text::Program};
//! let source = "
//!     tgraph.module @m {
//!       %x = tgraph.arg : tensor<?xf32>
//!       %y = tgraph.sin %x
//!       %z = tgraph.reduce %y {op = sum}
//!       tgraph.return %z
//!     }
//!     tgraph.adjoint @m wrt(%x) -> @m_grad";
//! let program = Program::parse(source, None).unwrap();
//! let derived = program.derive(&AdContext::default()).unwrap();
//! assert!(derived.module("m_grad").unwrap().eqns().iter().any(|e| e.op.name() == "cos"));
//! // Printing is canonical: reading it and printing again changes nothing.
//! let text = program.to_string();
//! assert_eq!(Program::parse(&text, None).unwrap().to_string(), text);
//! ```
//!
//! `parse` holds the grammar of statements, `types` that of types and extents, `attrs` that of
//! attribute values. Reading is one pass and linear; printing is linear. Errors carry file, line,
//! column and the line itself.

mod attrs;
mod build;
mod comments;
mod cursor;
mod derive;
mod lookup;
mod parse;
mod print;
mod print_attr;
mod shared;
mod snippet;
mod types;

pub use crate::directive::{Derivative, Directive, resolve_wrt};
pub use crate::names::nearest;
pub use print::{print_function, print_type};
pub use snippet::locate;

use crate::bail;
use crate::error::{Error, Result};
use crate::graph::Function;
use crate::names::written;
use crate::ops::Entry;
use crate::transform::{AdContext, Numerics, Policy};
use comments::{Comments, HEAD};
use lookup::Table;
use parse::Parser;
use print::Printing;
use rustc_hash::FxHashSet;
use shared::Shared;
use std::fmt;
use std::sync::Arc;

/// A module or a directive, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A module, and whether it is for others, not only for the modules below it.
    Module(Arc<Function>, bool),
    Directive(Directive),
}

impl Item {
    /// The name that it defines.
    fn name(&self) -> &str {
        match self {
            Item::Module(f, _) => &f.name,
            Item::Directive(d) => &d.target,
        }
    }
}

/// Modules and directives.
#[derive(Clone, Debug, Default)]
pub struct Program {
    items: Vec<Item>,
    /// Numerics at the head.
    head: Option<Policy>,
    /// Names of modules that directives made.
    derived: FxHashSet<Arc<str>>,
    file: Option<Arc<str>>,
    source: Arc<str>,
    comments: Option<Arc<Comments>>,
}

impl Program {
    /// Reads a program. `file` is the name that messages show.
    pub fn parse(source: &str, file: Option<&str>) -> Result<Program> {
        Program::parse_with(source, file, &[])
    }

    /// Reads a program that may use these operations too.
    pub fn parse_with(source: &str, file: Option<&str>, extra: &[Entry]) -> Result<Program> {
        Program::parse_over(source, file, extra, Policy::default())
    }

    /// As [`parse_with`](Self::parse_with), with choices of numerics that replace those at the head
    /// of the text.
    pub fn parse_over(
        source: &str,
        file: Option<&str>,
        extra: &[Entry],
        over: Policy,
    ) -> Result<Program> {
        let mut p = Parser::new(source, Table::new(extra), over);
        match p.program() {
            Ok(()) => Ok(Program {
                head: if over.is_empty() {
                    p.head
                } else {
                    Some(p.numerics().into())
                },
                comments: std::mem::take(&mut p.marks)
                    .comments(source, &p.items.iter().map(Item::name).collect::<Vec<_>>()),
                items: p.items,
                derived: FxHashSet::default(),
                file: file.map(Into::into),
                source: source.into(),
            }),
            Err(e) => Err(snippet::locate(e, source, file)),
        }
    }

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

    /// Runs the directives in order: each is replaced by the module that it makes, simplified.
    pub fn derive(&self, ad: &AdContext) -> Result<Program> {
        derive::run(self, ad)
    }

    /// The module of this name. If a directive makes it, it is derived, and so is what it is made
    /// of, but nothing else; `None` if nothing has that name.
    pub fn derive_one(&self, ad: &AdContext, name: &str) -> Result<Option<Arc<Function>>> {
        derive::one(self, ad, name)
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

    /// The canonical text.
    pub fn print(&self) -> String {
        self.to_string()
    }

    fn items(&self, p: &mut Printing) {
        if let Some(head) = self.head {
            p.spoken.above(&mut p.out, HEAD);
            p.out.push_str(&format!("tgraph.numerics {{{head}}}"));
            p.spoken.behind(&mut p.out, HEAD);
            p.out.push('\n');
        }
        for (i, item) in self.items.iter().enumerate() {
            match item {
                Item::Module(m, public) => p.module(m, *public),
                Item::Directive(d) => {
                    let first = i > 0 && matches!(self.items[i - 1], Item::Module(..));
                    p.out.push_str(if first { "\n" } else { "" });
                    p.spoken.above(&mut p.out, &d.target);
                    p.out.push_str(&d.to_string());
                    p.spoken.behind(&mut p.out, &d.target);
                    p.out.push('\n');
                }
            }
        }
        p.spoken.end(&mut p.out);
    }

    /// Adds the file and the line of the text to an error whose place is in this program.
    pub fn locate(&self, e: Error) -> Error {
        snippet::locate(e, &self.source, self.file.as_deref())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made: Vec<&Arc<Function>> = self.directives().filter_map(|d| d.made.as_ref()).collect();
        let taken = self.directives().map(|d| &*d.target);
        let modules: Vec<(&Function, bool)> =
            self.marked().map(|(m, public)| (&**m, public)).collect();
        let mut p = Printing::new(Shared::new(&modules, &made, taken), self.comments.clone());
        self.items(&mut p);
        // Comments of bodies that are not printed go to where these would stand.
        if let Some(all) = p.spoken.missed() {
            p = p.again(all);
            self.items(&mut p);
        }
        f.write_str(&p.out)
    }
}
