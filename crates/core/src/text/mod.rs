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
//! `parse` holds the grammar of statements, `types` that of types and extents, `attrs` that of attribute values.
//! Reading is one pass and linear; printing is linear. Errors carry file, line, column and the line itself.

mod attrs;
mod build;
mod cursor;
mod derive;
mod lookup;
mod names;
mod parse;
mod print;
mod print_attr;
mod shared;
mod snippet;
mod types;

pub use derive::resolve_wrt;
pub use names::nearest;
pub use print::{print_function, print_type};
pub use snippet::locate;

pub(crate) use cursor::is_name;
pub(crate) use names::{quoted, written as written_name};

use crate::bail;
use crate::error::{Error, Loc, Result};
use crate::graph::Function;
use crate::ops::Entry;
use crate::transform::{AdContext, Numerics};
use lookup::Table;
use names::written;
use parse::Parser;
use print::Printing;
use rustc_hash::FxHashSet;
use shared::Shared;
use std::fmt;
use std::sync::Arc;

/// What a directive derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// The gradient of a real scalar, else cotangents for cotangents.
    Adjoint,
    /// Results and their tangents.
    Jvp,
    /// The product of the Hessian with a direction.
    Hvp,
}

impl Derivative {
    /// Its word in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Derivative::Adjoint => "adjoint",
            Derivative::Jvp => "jvp",
            Derivative::Hvp => "hvp",
        }
    }
}

/// `tgraph.adjoint @of wrt(%x) -> @target`.
#[derive(Clone, Debug)]
pub struct Directive {
    /// What is derived.
    pub derivative: Derivative,
    /// The module that is differentiated.
    pub of: Arc<str>,
    /// Values to differentiate with respect to, by name.
    pub wrt: Vec<String>,
    /// Directions by name, of `jvp` and `hvp`: one per `wrt` value, or none.
    pub dir: Vec<String>,
    /// The name of the derived module.
    pub target: Arc<str>,
    /// Arithmetic of the derivative. In the text form the adjoint of a division by zero is NaN unless it says
    /// `zero_division = "ieee"`.
    pub numerics: Numerics,
    /// Where it was written.
    pub loc: Loc,
    /// The module, if one below calls it: then it was derived when the text was read.
    pub(crate) made: Option<Arc<Function>>,
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names.iter().map(|n| format!("%{}", written(n))).collect::<Vec<_>>().join(", ");
        write!(f, "tgraph.{} @{} wrt({})", self.derivative.name(), written(&self.of), list(&self.wrt))?;
        if !self.dir.is_empty() {
            write!(f, " dir({})", list(&self.dir))?;
        }
        let n = self.numerics;
        let words = [
            (!n.zero_division_nan, "zero_division = \"ieee\""),
            (n.stable, "stable = true"),
            (n.strong_zero, "strong_zero = true"),
        ];
        let words: Vec<&str> = words.into_iter().filter(|w| w.0).map(|w| w.1).collect();
        if !words.is_empty() {
            write!(f, " {{{}}}", words.join(", "))?;
        }
        write!(f, " -> @{}", written(&self.target))
    }
}

/// A module or a directive, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Module(Arc<Function>),
    Directive(Directive),
}

impl Item {
    /// The name that it defines.
    fn name(&self) -> &str {
        match self {
            Item::Module(f) => &f.name,
            Item::Directive(d) => &d.target,
        }
    }
}

/// Modules and directives.
#[derive(Clone, Debug, Default)]
pub struct Program {
    items: Vec<Item>,
    /// Names of modules that directives made.
    derived: FxHashSet<Arc<str>>,
    file: Option<Arc<str>>,
    source: Arc<str>,
}

impl Program {
    /// Reads a program. `file` is the name that messages show.
    pub fn parse(source: &str, file: Option<&str>) -> Result<Program> {
        Program::parse_with(source, file, &[])
    }

    /// Reads a program that may use these operations too.
    pub fn parse_with(source: &str, file: Option<&str>, extra: &[Entry]) -> Result<Program> {
        let mut p = Parser::new(source, Table::new(extra));
        match p.program() {
            Ok(()) => Ok(Program {
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
        let items: Vec<Item> = modules.into_iter().map(Item::Module).collect();
        let mut seen = FxHashSet::default();
        if let Some(twice) = items.iter().find(|i| !seen.insert(i.name())) {
            bail!(DuplicateName, "two modules are called `@{}`", written(twice.name()));
        }
        Ok(Program { items, ..Program::default() })
    }

    /// The modules in order.
    pub fn modules(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.items.iter().filter_map(|i| match i {
            Item::Module(f) => Some(f),
            Item::Directive(_) => None,
        })
    }

    /// The directives in order.
    pub fn directives(&self) -> impl Iterator<Item = &Directive> {
        self.items.iter().filter_map(|i| match i {
            Item::Directive(d) => Some(d),
            Item::Module(_) => None,
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

    /// The modules that directives made, as a program of their own.
    pub fn only_derived(&self) -> Program {
        let made = |i: &&Item| matches!(i, Item::Module(f) if self.derived.contains(&f.name));
        Program { items: self.items.iter().filter(made).cloned().collect(), ..self.clone() }
    }

    /// The canonical text.
    pub fn print(&self) -> String {
        self.to_string()
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
        let modules: Vec<&Function> = self.modules().map(|m| &**m).collect();
        let mut p = Printing::new(Shared::new(&modules, &made, taken));
        for (i, item) in self.items.iter().enumerate() {
            match item {
                Item::Module(m) => p.module(m),
                Item::Directive(d) => {
                    let first = i > 0 && matches!(self.items[i - 1], Item::Module(_));
                    p.out.push_str(if first { "\n" } else { "" });
                    p.out.push_str(&d.to_string());
                    p.out.push('\n');
                }
            }
        }
        f.write_str(&p.out)
    }
}
