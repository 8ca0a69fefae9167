//! The text form of programs: parsing, and canonical printing.
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
//! attribute values. Parsing is one pass; parsing and printing take linear time. Errors contain
//! file, line, column and the line itself.

mod ast;
mod attrs;
mod build;
mod comments;
mod cursor;
mod derive;
mod lookup;
mod parse;
mod parser;
mod print;
mod print_attr;
mod shared;
mod snippet;
mod types;

pub use crate::directive::{Derivative, Directive, resolve_wrt};
pub use crate::names::nearest;
pub use ast::Program;
pub use lookup::{Extensions, alias_of};
pub use print::{print_function, print_type};
pub use snippet::locate;

use crate::error::Result;
use crate::ir::{AdContext, Function, Numerics};
use crate::ops::Entry;
use crate::transform::Policy;
use ast::ProgramItem;
use comments::HEAD;
use lookup::NameTable;
use parser::Parser;
use print::Printing;
use rustc_hash::FxHashSet;
use shared::SharedFunctions;
use std::fmt;
use std::sync::Arc;

impl Program {
    /// Parses a program. `file` is the file name in error messages.
    pub fn parse(source: &str, file: Option<&str>) -> Result<Program> {
        Program::parse_with(source, file, &[])
    }

    /// Parses a program that may also use these operations.
    pub fn parse_with(source: &str, file: Option<&str>, extra: &[Entry]) -> Result<Program> {
        Program::parse_over(source, file, extra, Policy::default())
    }

    /// Parses a program that may also use these operations and opaque types.
    pub fn parse_extended(
        source: &str,
        file: Option<&str>,
        extensions: Extensions<'_>,
    ) -> Result<Program> {
        Program::read(source, file, extensions, Policy::default())
    }

    /// As [`parse_with`](Self::parse_with), with numerics that replace those at the head of the
    /// text.
    pub fn parse_over(
        source: &str,
        file: Option<&str>,
        extra: &[Entry],
        over: Policy,
    ) -> Result<Program> {
        let extensions = Extensions {
            operations: extra,
            types: &[],
        };
        Program::read(source, file, extensions, over)
    }

    fn read(
        source: &str,
        file: Option<&str>,
        extensions: Extensions<'_>,
        over: Policy,
    ) -> Result<Program> {
        let mut p = Parser::new(source, NameTable::new(extensions), over);
        match p.program() {
            Ok(()) => Ok(Program {
                head: if over.is_empty() {
                    p.head
                } else {
                    // `raise` is printed if it is not the default.
                    let all = p.policy().over(Numerics::TGRAPH.into());
                    let raise = all.raise.filter(|raise| !raise);
                    Some(Policy { raise, ..all })
                },
                comments: std::mem::take(&mut p.marks).comments(
                    source,
                    &p.items.iter().map(ProgramItem::name).collect::<Vec<_>>(),
                ),
                items: p.items,
                derived: FxHashSet::default(),
                file: file.map(Into::into),
                source: source.into(),
            }),
            Err(e) => Err(snippet::locate(e, source, file)),
        }
    }

    /// Runs the directives in order. Each is replaced by its simplified module.
    pub fn derive(&self, ad: &AdContext) -> Result<Program> {
        derive::run(self, ad)
    }

    /// The module with this name. If a directive defines it, only this directive and those it
    /// depends on are run. `None` if there is no such name.
    pub fn derive_one(&self, ad: &AdContext, name: &str) -> Result<Option<Arc<Function>>> {
        derive::one(self, ad, name)
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
                ProgramItem::Module(m, public) => p.module(m, *public),
                ProgramItem::Directive(d) => {
                    let first = i > 0 && matches!(self.items[i - 1], ProgramItem::Module(..));
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
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made: Vec<&Arc<Function>> = self.directives().filter_map(|d| d.made.as_ref()).collect();
        let taken = self.directives().map(|d| &*d.target);
        let modules: Vec<(&Function, bool)> =
            self.marked().map(|(m, public)| (&**m, public)).collect();
        let mut p = Printing::new(
            SharedFunctions::new(&modules, &made, taken),
            self.comments.clone(),
        );
        self.items(&mut p);
        // Comments of regions that are not printed move to the statements that hold the regions.
        if let Some(all) = p.spoken.missed() {
            p = p.again(all);
            self.items(&mut p);
        }
        f.write_str(&p.out)
    }
}
