//! Modules and statements.
//!
//! ```text
//! program   := ["tgraph.numerics" "{" attributes "}"] (module | directive)*
//! module    := "tgraph.module" ["private"] "@" name "{" statement* return "}"
//! statement := [names "="] binding ("," binding)*
//! binding   := "tgraph." op ["@" name] (operand ",")* ["{" attributes "}"] region* [":" types]
//! region    := name (block | "@" name) | name "[" (block | "@" name),* "]"
//! block     := "(" (value ":" type),* ")" "{" statement* return "}"
//! return    := "tgraph.return" (operand ",")* [":" types]
//! types     := type,* | type,* "->" type,*          (results; operands, then results; parentheses are allowed)
//! ```
//! One pass. Nothing recurses over statements; regions and brackets nest up to a limit.

use super::build::Names;
use super::comments::Marks;
use super::cursor::Cursor;
use super::lookup::{Found, Table};
use super::types::HOLE;
use super::{Directive, Item};
use crate::array::Scalar;
use crate::attr::{Attr, Attrs};
use crate::directive::derive;
use crate::emit::Emit;
use crate::error::{Code, Error, Loc, Result};
use crate::graph::{Builder, Function, MAX_DEPTH};
use crate::names::{clip, count, did_you_mean, written};
use crate::primitive::Val;
use crate::shape::{Dim, Type};
use crate::transform::{AdContext, Numerics, Policy, Session};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// How deep brackets nest in attributes and extents.
const MAX_BRACKETS: u32 = 40;

/// A program being read.
pub(super) struct Parser<'s> {
    pub c: Cursor<'s>,
    pub table: Table<'s>,
    /// Modules so far.
    modules: FxHashMap<Arc<str>, Arc<Function>>,
    pub session: Session,
    /// Every name after `@` that is taken, with its place.
    targets: FxHashMap<Arc<str>, Loc>,
    pub items: Vec<Item>,
    /// Numerics at the head of the text.
    pub head: Option<Policy>,
    /// Choices that replace those at the head.
    over: Policy,
    /// Where statements start, for the comments between them.
    pub marks: Marks,
    brackets: u32,
    bodies: u32,
    /// Names of `?` symbols: those written in the text, and how many were made in this module.
    written: Option<FxHashSet<&'s str>>,
    made: u32,
}

/// The function whose statements are being read.
pub(super) struct Scope<'s> {
    pub b: Builder,
    names: FxHashMap<Cow<'s, str>, (Val, Loc)>,
    /// What it is, for messages: `@m`, or the name of a body.
    what: String,
    body: bool,
}

/// An operand as it is written.
pub(super) enum Operand {
    /// A value.
    Val(Val),
    /// A number, or a boolean: what its element type is depends on the operation and the other
    /// operands.
    Num(Box<Scalar>),
    Bool(bool),
}

/// What stands after the colon.
#[derive(Clone)]
pub(super) struct Annotation {
    pub operands: Option<Vec<Type>>,
    pub results: Vec<Type>,
    pub loc: Loc,
}

/// One binding, read but not yet written to the graph.
pub(super) struct Head<'s> {
    pub op: &'s str,
    /// What it stands for; nothing for arguments.
    pub found: Option<Found<'s>>,
    pub loc: Loc,
    pub operands: SmallVec<[Operand; 2]>,
    pub attrs: Attrs,
    pub types: Option<Annotation>,
}

impl<'s> Parser<'s> {
    pub fn new(src: &'s str, table: Table<'s>, over: Policy) -> Parser<'s> {
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
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.brackets == MAX_BRACKETS {
            return Err(self.c.error(
                Code::Limit,
                format!("brackets nest deeper than {MAX_BRACKETS} levels"),
            ));
        }
        self.brackets += 1;
        let r = f(self);
        self.brackets -= 1;
        r
    }

    /// The whole text.
    pub fn program(&mut self) -> Result<()> {
        while !self.c.at_end() {
            let loc = self.c.here();
            let mut start = self.c.clone();
            let word = self.c.word();
            let name = word.strip_prefix("tgraph.").unwrap_or(word);
            self.marks.item(&mut start, name == "numerics");
            match name {
                "module" => self.module()?,
                "adjoint" | "jvp" | "hvp" => self.directive(name, loc)?,
                "numerics" => self.head_numerics(loc)?,
                "" => {
                    let found = self.c.found();
                    let text = format!("expected `tgraph.module` or a directive, found {found}");
                    return Err(self.c.error(Code::Syntax, text));
                }
                _ => {
                    let hint = did_you_mean(
                        name,
                        "tgraph.",
                        ["module", "adjoint", "jvp", "hvp", "numerics"],
                    );
                    let text = format!(
                        "expected `tgraph.module` or a directive, found `{}`{hint}",
                        clip(word)
                    );
                    return Err(Error::new(Code::Syntax, text)
                        .at(loc)
                        .note("directives: tgraph.adjoint, tgraph.jvp, tgraph.hvp"));
                }
            }
        }
        Ok(())
    }

    /// A name after `@`.
    pub fn at_name(&mut self, what: &str) -> Result<Arc<str>> {
        self.c.expect(b'@', &format!("and {what}"))?;
        Ok(self.c.name(what)?.into())
    }

    /// Takes a new name for a module.
    pub fn new_target(&mut self, loc: Loc) -> Result<Arc<str>> {
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

    fn module(&mut self) -> Result<()> {
        let loc = self.c.here();
        let public = !self.c.eat_word("private");
        let name = self.new_target(loc)?;
        self.c.expect(b'{', "and the statements of the module")?;
        self.marks.open(&self.c);
        self.made = 0;
        let b = Builder::new(&name, self.session.clone());
        let mut scope = Scope {
            b,
            names: FxHashMap::default(),
            what: format!("@{}", written(&name)),
            body: false,
        };
        let results = self.statements(&mut scope, loc)?;
        let f = Arc::new(scope.b.finish(&results)?);
        self.marks.made(&f);
        self.modules.insert(name, f.clone());
        self.items.push(Item::Module(f, public));
        Ok(())
    }

    /// The module of this name, defined above.
    pub fn module_named(&self, name: &str) -> Option<&Arc<Function>> {
        self.modules.get(name)
    }

    /// Whether this is a module of the text, not a body written out.
    pub fn is_module(&self, f: &Arc<Function>) -> bool {
        self.modules.get(&f.name).is_some_and(|m| Arc::ptr_eq(m, f))
    }

    /// Whether a directive or a module above has this name.
    pub fn known_target(&self, name: &str) -> bool {
        self.targets.contains_key(name)
    }

    /// The error of a module name that is not known here.
    pub fn unknown_module(&self, name: &str, loc: Loc) -> Error {
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

    /// `@name` of a module above.
    pub fn module_here(&mut self) -> Result<Arc<Function>> {
        let loc = self.c.here();
        let name = self.at_name("the name of a module")?;
        if let Some(f) = self.modules.get(&name) {
            return Ok(f.clone());
        }
        if !self.targets.contains_key(&name) {
            return Err(self.unknown_module(&name, loc));
        }
        match self.made(&name).map_err(|e| {
            e.at(loc)
                .note(format!("while deriving `@{}`", written(&name)))
        })? {
            Some(f) => Ok(f),
            None => {
                let text = format!("`@{name}` cannot call itself; use `while` or `scan` to repeat");
                Err(Error::new(Code::UnknownName, text).at(loc))
            }
        }
    }

    /// The module that a directive above makes, derived now because it is called. Rules are the
    /// operations' own.
    fn made(&mut self, name: &str) -> Result<Option<Arc<Function>>> {
        // From the module called back to one that is there; then forward again.
        let mut chain: Vec<usize> = Vec::new();
        let mut at = name.to_owned();
        let mut f = loop {
            if let Some(f) = self.modules.get(&*at) {
                break f.clone();
            }
            let Some(i) = self.items.iter().position(|i| *i.name() == *at) else {
                return Ok(None);
            };
            let Item::Directive(d) = &self.items[i] else {
                return Ok(None);
            };
            at = d.of.to_string();
            chain.push(i);
        };
        let around = self.numerics();
        for i in chain.into_iter().rev() {
            let Item::Directive(d) = &mut self.items[i] else {
                unreachable!("the chain holds directives")
            };
            f = Arc::new(derive(d, &f, around, &AdContext::default())?);
            d.made = Some(f.clone());
            self.modules.insert(d.target.clone(), f.clone());
        }
        Ok(Some(f))
    }

    /// Statements up to and with the closing brace; the values that are returned.
    fn statements(&mut self, scope: &mut Scope<'s>, open: Loc) -> Result<Vec<Val>> {
        loop {
            let loc = self.c.here();
            match self.c.byte() {
                b'%' => {
                    let mark = self.marks.statement(&mut self.c, scope.b.values());
                    self.assignment(scope)?;
                    self.marks.end_of_statement(mark, scope.b.values());
                }
                b'}' => {
                    let text = format!("{} has no `tgraph.return` before its `}}`", scope.what);
                    return Err(Error::new(Code::Syntax, text).at(loc));
                }
                0 if self.c.at_end() => {
                    let text = format!(
                        "{} is not closed: `tgraph.return` and `}}` are missing",
                        scope.what
                    );
                    return Err(Error::new(Code::Syntax, text).at(open));
                }
                _ => {
                    let before = self.c.clone();
                    let word = self.c.word();
                    if word.is_empty() {
                        let found = self.c.found();
                        return Err(self
                            .c
                            .error(Code::Syntax, format!("expected a statement, found {found}")));
                    }
                    if word == "tgraph.return" || word == "return" {
                        self.marks.returns(&mut before.clone());
                        return self.returned(scope);
                    }
                    self.c = before;
                    let mark = self.marks.statement(&mut self.c, scope.b.values());
                    let head = self.head(scope)?;
                    self.bindings(scope, &mut Names::new(), &mut [head])?;
                    self.marks.end_of_statement(mark, scope.b.values());
                }
            }
        }
    }

    /// Operands and types of a return, and the closing brace.
    fn returned(&mut self, scope: &mut Scope<'s>) -> Result<Vec<Val>> {
        let loc = self.c.here();
        let mut results = Vec::new();
        if self.c.peek() == b'%' {
            loop {
                results.push(self.operand_val(scope)?);
                if !self.c.eat(b',') {
                    break;
                }
            }
        }
        if self.c.eat(b':') {
            let t = self.types()?;
            if t.results.len() != results.len() {
                let (values, types) = (
                    count(results.len(), "value"),
                    count(t.results.len(), "type"),
                );
                let text = format!("{values} returned, {types} given");
                return Err(Error::new(Code::Arity, text).at(t.loc));
            }
            for (&v, want) in results.iter().zip(&t.results) {
                let have = scope.b.ty(v);
                if differs(&have, want) {
                    let text = format!(
                        "this value has type {have}, the text says {}",
                        spelled(want)
                    );
                    return Err(Error::new(Code::ShapeMismatch, text).at(loc));
                }
            }
        }
        self.marks.close(&mut self.c);
        if !self.c.eat(b'}') {
            let found = self.c.found();
            let text = format!(
                "`tgraph.return` ends {}: expected `}}` after it, found {found}",
                scope.what
            );
            return Err(self.c.error(Code::Syntax, text));
        }
        Ok(results)
    }

    /// `%a, %b = ...`
    fn assignment(&mut self, scope: &mut Scope<'s>) -> Result<()> {
        let mut names = Names::new();
        loop {
            let at = self.c.here();
            self.c.expect(b'%', "and the name of a value")?;
            names.push((self.c.name("the name of a value")?, at));
            if !self.c.eat(b',') {
                break;
            }
        }
        self.c.expect(b'=', "after the names of results")?;
        let mut heads = [self.head(scope)?];
        if self.c.peek() != b',' {
            return self.bindings(scope, &mut names, &mut heads);
        }
        let mut heads = Vec::from(heads);
        while self.c.eat(b',') {
            heads.push(self.head(scope)?);
        }
        self.bindings(scope, &mut names, &mut heads)
    }

    /// An operation with operands, attributes, bodies and types.
    fn head(&mut self, scope: &mut Scope<'s>) -> Result<Head<'s>> {
        let loc = self.c.here();
        let word = self.c.word();
        let Some(op) = word.strip_prefix("tgraph.") else {
            let found = if word.is_empty() {
                self.c.found()
            } else {
                format!("`{}`", clip(word))
            };
            let hint = if self.table.knows(word) {
                format!("; write `tgraph.{word}`")
            } else {
                String::new()
            };
            let text = format!("expected an operation such as `tgraph.add`, found {found}{hint}");
            return Err(Error::new(Code::Syntax, text).at(loc));
        };
        let found = self.table.find(op);
        if found.is_none() && !matches!(op, "arg" | "tangent") {
            return Err(self.unknown_op(op, loc));
        }
        let mut head = Head {
            op,
            found,
            loc,
            operands: SmallVec::new(),
            attrs: Attrs::default(),
            types: None,
        };
        let callee = if self.c.peek() == b'@' {
            Some(self.module_here()?)
        } else {
            None
        };
        let line = self.c.line();
        if callee.is_some() {
            head.found = self.table.find_applied(op);
            self.c.eat(b',');
        }
        while self.at_operand() {
            if head.operands.is_empty() && self.c.line() != line && self.assignment_ahead() {
                break;
            }
            head.operands.push(self.operand(scope)?);
            // A comma may also go on to another binding of this line.
            let before = self.c.clone();
            if !self.c.eat(b',') {
                break;
            }
            if !self.at_operand() {
                self.c = before;
                break;
            }
        }
        head.attrs = self.attrs()?;
        if let Some(f) = callee {
            head.attrs.0.insert(0, ("callee".into(), Attr::Fn(f)));
        }
        self.regions(scope, &mut head)?;
        if self.c.eat(b':') {
            head.types = Some(self.types()?);
        }
        Ok(head)
    }

    /// Whether names and `=` are next: another statement, not operands.
    fn assignment_ahead(&self) -> bool {
        let mut c = self.c.clone();
        while c.eat(b'%') && c.name("").is_ok() {
            if !c.eat(b',') {
                return c.eat(b'=');
            }
        }
        false
    }

    /// Whether an operand is next: a value, a number, `true` or `false`.
    fn at_operand(&mut self) -> bool {
        self.c.peek() == b'%' || self.c.at_number() || self.c.clone().boolean().is_some()
    }

    fn operand(&mut self, scope: &Scope<'s>) -> Result<Operand> {
        if self.c.byte() == b'%' {
            return self.operand_val(scope).map(Operand::Val);
        }
        if let Some(b) = self.c.boolean() {
            return Ok(Operand::Bool(b));
        }
        self.c.number().map(|n| Operand::Num(Box::new(n)))
    }

    /// A value that was defined above.
    fn operand_val(&mut self, scope: &Scope<'s>) -> Result<Val> {
        let loc = self.c.here();
        self.c.expect(b'%', "and the name of a value")?;
        let name = self.c.name("the name of a value")?;
        if let Some(&(v, _)) = scope.names.get(&*name) {
            return Ok(v);
        }
        let hint = did_you_mean(&name, "%", scope.names.keys().map(|n| &**n));
        let text = format!(
            "`%{}` is not defined above in {}{hint}",
            clip(&name),
            scope.what
        );
        let e = Error::new(Code::UnknownName, text).at(loc);
        Err(if scope.body {
            e.note("a body is closed: what it uses must be an operand of its operation")
        } else {
            e
        })
    }

    /// Types after the colon.
    fn types(&mut self) -> Result<Annotation> {
        let loc = self.c.here();
        let first = self.type_list()?;
        if !self.c.eat_str("->") {
            return Ok(Annotation {
                operands: None,
                results: first,
                loc,
            });
        }
        let loc = self.c.here();
        Ok(Annotation {
            operands: Some(first),
            results: self.type_list()?,
            loc,
        })
    }

    fn type_list(&mut self) -> Result<Vec<Type>> {
        let parenthesis = self.c.eat(b'(');
        let mut out = Vec::with_capacity(1);
        if parenthesis && self.c.eat(b')') {
            return Ok(out);
        }
        loop {
            out.push(self.ty()?);
            let before = self.c.clone();
            if !self.c.eat(b',') {
                break;
            }
            // A comma may also go on to another binding of this line.
            if self.c.looking_at("tgraph.") {
                self.c = before;
                break;
            }
        }
        if parenthesis {
            self.c.expect(b')', "after the types")?;
        }
        Ok(out)
    }

    /// Named bodies after the attributes.
    fn regions(&mut self, scope: &Scope<'s>, head: &mut Head<'s>) -> Result<()> {
        loop {
            let before = self.c.clone();
            let loc = self.c.here();
            let name = self.c.word();
            let next = self.c.peek();
            if next == b'{' && !name.is_empty() && name != "return" {
                self.c.expect(
                    b'(',
                    &format!("and the parameters of the body `{}`", clip(name)),
                )?;
            }
            if name.is_empty() || name.starts_with("tgraph.") || !matches!(next, b'(' | b'[' | b'@')
            {
                self.c = before;
                return Ok(());
            }
            if head.attrs.0.iter().any(|(k, _)| k == name) {
                return Err(
                    Error::new(Code::DuplicateName, format!("`{name}` is given twice")).at(loc),
                );
            }
            let value = if next == b'[' {
                self.c.bump();
                let mut items = Vec::new();
                while !self.c.eat(b']') {
                    items.push(self.region(scope, name)?);
                    if !self.c.eat(b',') && self.c.peek() != b']' {
                        self.c.expect(b']', "or `,` after a body")?;
                    }
                }
                Attr::List(items)
            } else {
                self.region(scope, name)?
            };
            head.attrs.0.push((name.to_owned().into(), value));
        }
    }

    fn region(&mut self, outer: &Scope<'s>, name: &str) -> Result<Attr> {
        let loc = self.c.here();
        if self.c.byte() == b'@' {
            return Ok(Attr::Fn(self.module_here()?));
        }
        if self.bodies == MAX_DEPTH {
            return Err(self.c.error(
                Code::Limit,
                format!("bodies nest deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.c.expect(b'(', "and the parameters of a body")?;
        let b = outer.b.nested(name);
        let mut scope = Scope {
            b,
            names: FxHashMap::default(),
            what: format!("the body `{}`", clip(name)),
            body: true,
        };
        while !self.c.eat(b')') {
            let at = self.c.here();
            self.c.expect(b'%', "and the name of a parameter")?;
            let param = self.c.name("the name of a parameter")?;
            self.c.expect(b':', "and the type of the parameter")?;
            let ty = self.ty()?;
            let ty = self.fill(&ty);
            let v = scope.b.param(ty, None);
            self.define(&mut scope, param, at, v)?;
            if !self.c.eat(b',') && self.c.peek() != b')' {
                self.c.expect(b')', "or `,` after a parameter")?;
            }
        }
        self.c.expect(b'{', "and the statements of the body")?;
        self.marks.open(&self.c);
        self.bodies += 1;
        let results = self.statements(&mut scope, loc)?;
        self.bodies -= 1;
        let f = Arc::new(scope.b.finish(&results)?);
        self.marks.made(&f);
        Ok(Attr::Fn(f))
    }

    /// Gives a value its name in this scope.
    pub fn define(
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
        // `%7` at position 7 is how a value without a name prints.
        if name.parse() != Ok(v.index()) || name.starts_with('0') && name.len() > 1 {
            scope.b.set_name(v, &name);
        }
        scope.names.insert(name, (v, at));
        Ok(())
    }

    /// Fresh symbols for the `?` of a type.
    pub fn fill(&mut self, ty: &Type) -> Type {
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

    /// `?a`, `?b`, .. without `x` and those that stand in the text.
    fn fresh(&mut self) -> Dim {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwyz";
        let src = self.c.src();
        let written = self.written.get_or_insert_with(|| {
            let ends = |s: &str| {
                s.find(|c: char| c == 'x' || !crate::names::is_name_char(c))
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

    /// Numerics of what does not choose its own.
    pub fn numerics(&self) -> Numerics {
        self.over
            .or(self.head.unwrap_or_default().or(Numerics::TGRAPH))
    }

    /// Takes note of a directive.
    pub fn add_directive(&mut self, d: Directive) {
        self.items.push(Item::Directive(d));
    }
}

/// Certainly another type; `?` fits anything.
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

/// A type as messages show it.
pub(super) fn spelled(ty: &Type) -> String {
    ty.to_string()
}
