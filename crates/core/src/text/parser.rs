//! [`Parser`]: the state of reading a text, which the files of the grammar share.

use super::ast::ProgramItem;
use super::comments::Marks;
use super::cursor::Cursor;
use super::lookup::{LookupResult, NameTable};
use crate::array::Scalar;
use crate::directive::Directive;
use crate::error::{Code, Error, Loc, Result};
use crate::ir::{Attrs, Builder, Function, Session, Val};
use crate::names::{clip, did_you_mean, is_name_char, written};
use crate::shape::{Dim, Type};
use crate::transform::Policy;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// The symbol of an unresolved `?`.
pub(super) const HOLE: &str = "?";

/// Maximum nesting depth of brackets in attributes and extents. It bounds the stack.
const MAX_BRACKET_DEPTH: u32 = 40;

/// The state of the parser.
pub(super) struct Parser<'s> {
    pub c: Cursor<'s>,
    pub table: NameTable<'s>,
    /// Modules so far.
    pub modules: FxHashMap<Arc<str>, Arc<Function>>,
    pub session: Session,
    /// Defined names after `@`, with their locations.
    pub targets: FxHashMap<Arc<str>, Loc>,
    pub items: Vec<ProgramItem>,
    /// Numerics at the head of the text.
    pub head: Option<Policy>,
    /// Numerics that replace those at the head.
    pub over: Policy,
    /// Starts of statements, for the comments between them.
    pub marks: Marks,
    pub brackets: u32,
    pub bodies: u32,
    /// Symbols that start with `?` in the text, and the number of fresh ones in this module.
    pub written: Option<FxHashSet<&'s str>>,
    pub made: u32,
}

/// The function whose statements are being parsed.
pub(super) struct Scope<'s> {
    pub b: Builder,
    pub names: FxHashMap<Cow<'s, str>, (Val, Loc)>,
    /// Its name for error messages: `@m`, or the name of a region.
    pub what: String,
    pub body: bool,
}

/// A parsed operand.
pub(super) enum ParsedOperand {
    /// A value.
    Val(Val),
    /// A number. Its element type depends on the operation and the other operands.
    Num(Box<Scalar>),
    Bool(bool),
}

/// Types after the colon.
#[derive(Clone)]
pub(super) struct Annotation {
    pub operands: Option<Vec<Type>>,
    pub results: Vec<Type>,
    pub loc: Loc,
}

/// One parsed binding, not yet written to the graph.
pub(super) struct Head<'s> {
    pub op: &'s str,
    /// The operation or composite; `None` for arguments.
    pub found: Option<LookupResult<'s>>,
    pub loc: Loc,
    pub operands: SmallVec<[ParsedOperand; 2]>,
    pub attrs: Attrs,
    pub types: Option<Annotation>,
}

/// The names before `=`, with their locations.
pub(super) type ResultNames<'s> = SmallVec<[(Cow<'s, str>, Loc); 1]>;

impl<'s> Parser<'s> {
    pub(super) fn new(src: &'s str, table: NameTable<'s>, over: Policy) -> Parser<'s> {
        Parser {
            c: Cursor::new(src),
            table,
            modules: FxHashMap::default(),
            session: Session::default(),
            targets: FxHashMap::default(),
            items: Vec::new(),
            head: None,
            over,
            marks: Marks::new(src),
            brackets: 0,
            bodies: 0,
            written: None,
            made: 0,
        }
    }

    /// Runs `f` one bracket deeper.
    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.brackets == MAX_BRACKET_DEPTH {
            return Err(self.c.error(
                Code::Limit,
                format!("brackets nest deeper than {MAX_BRACKET_DEPTH} levels"),
            ));
        }
        self.brackets += 1;
        let r = f(self);
        self.brackets -= 1;
        r
    }

    /// Parses a name after `@`.
    pub(super) fn at_name(&mut self, what: &str) -> Result<Arc<str>> {
        self.c.expect(b'@', &format!("and {what}"))?;
        Ok(self.c.name(what)?.into())
    }

    /// Parses a new name of a module.
    pub(super) fn new_target(&mut self, loc: Loc) -> Result<Arc<str>> {
        let name = self.at_name("the name of a module")?;
        if let Some(first) = self.targets.get(&name) {
            let text = format!(
                "the module name `@{}` is taken: it was defined at {first}",
                written(&name)
            );
            return Err(Error::new(Code::DuplicateName, text).at(loc));
        }
        self.targets.insert(name.clone(), loc);
        Ok(name)
    }

    /// The module with this name, defined above.
    pub(super) fn module_named(&self, name: &str) -> Option<&Arc<Function>> {
        self.modules.get(name)
    }

    /// Whether this is a module of the text, not a region.
    pub(super) fn is_module(&self, f: &Arc<Function>) -> bool {
        self.modules.get(&f.name).is_some_and(|m| Arc::ptr_eq(m, f))
    }

    /// Whether a directive or a module above has this name.
    pub(super) fn known_target(&self, name: &str) -> bool {
        self.targets.contains_key(name)
    }

    /// The error for an unknown module name.
    pub(super) fn unknown_module(&self, name: &str, loc: Loc) -> Error {
        let hint = did_you_mean(name, "@", self.targets.keys().map(|n| &**n));
        let known = self
            .items
            .iter()
            .map(|i| format!("@{}", written(i.name())))
            .collect::<Vec<_>>()
            .join(", ");
        let known = if known.is_empty() {
            "none".into()
        } else {
            known
        };
        Error::new(
            Code::UnknownName,
            format!("there is no module `@{}` above{hint}", clip(name)),
        )
        .at(loc)
        .note(format!("modules above: {known}"))
    }

    /// Defines the name of a value in this scope.
    pub(super) fn define(
        &mut self,
        scope: &mut Scope<'s>,
        name: Cow<'s, str>,
        at: Loc,
        v: Val,
    ) -> Result<()> {
        if let Some((_, first)) = scope.names.get(&*name) {
            let text = format!(
                "`%{}` is defined twice in {}: first at {first}",
                clip(&name),
                scope.what
            );
            return Err(Error::new(Code::DuplicateName, text).at(at));
        }
        // An unnamed value at position 7 prints as `%7`.
        if name.parse() != Ok(v.index()) || name.starts_with('0') && name.len() > 1 {
            scope.b.set_name(v, &*name);
        }
        scope.names.insert(name, (v, at));
        Ok(())
    }

    /// Fresh symbols for the `?` of a type.
    pub(super) fn fill(&mut self, ty: &Type) -> Type {
        let hole = |d: &Dim| d.as_sym().is_some_and(|s| &**s == HOLE);
        if !ty.shape.iter().any(hole) {
            return ty.clone();
        }
        let dims: Vec<Dim> = ty
            .shape
            .iter()
            .map(|d| if hole(d) { self.fresh() } else { d.clone() })
            .collect();
        ty.with_shape(dims)
    }

    /// A fresh symbol `?a`, `?b`, .., without the letter `x` and symbols of the text.
    fn fresh(&mut self) -> Dim {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwyz";
        let src = self.c.src();
        let written = self.written.get_or_insert_with(|| {
            let ends = |s: &str| {
                s.find(|c: char| c == 'x' || !is_name_char(c))
                    .unwrap_or(s.len())
            };
            src.match_indices('?')
                .map(|(i, _)| &src[i..i + 1 + ends(&src[i + 1..])])
                .collect()
        });
        loop {
            let (mut n, mut name) = (self.made as usize, String::new());
            self.made += 1;
            loop {
                name.insert(0, LETTERS[n % LETTERS.len()] as char);
                n /= LETTERS.len();
                if n == 0 {
                    break;
                }
                n -= 1;
            }
            name.insert(0, '?');
            if !written.contains(&*name) {
                return Dim::sym(&name);
            }
        }
    }

    /// Choices for directives: those that replace the head's, else those of the head.
    pub(super) fn policy(&self) -> Policy {
        self.over.over(self.head.unwrap_or_default())
    }

    /// Adds a directive to the program.
    pub(super) fn add_directive(&mut self, d: Directive) {
        self.items.push(ProgramItem::Directive(d));
    }
}

/// Whether two types certainly differ. `?` matches any extent.
pub(super) fn differs(have: &Type, want: &Type) -> bool {
    let open = |d: &Dim| d.as_sym().is_some_and(|s| &**s == HOLE);
    have.dtype != want.dtype
        || have.rank() != want.rank()
        || have
            .shape
            .iter()
            .zip(want.shape.iter())
            .any(|(a, b)| !open(b) && a.same(b) == Some(false))
}

/// A type as printed in error messages.
pub(super) fn spelled(ty: &Type) -> String {
    ty.to_string()
}
