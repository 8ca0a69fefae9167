//! The grammar of modules and statements.
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
//! The parser is one pass. It does not recurse over statements; the nesting depth of regions and
//! brackets is limited.

use super::ast::ProgramItem;
use super::parser::{
    Annotation, Head, ParsedOperand, Parser, ResultNames, Scope, differs, spelled,
};
use crate::directive::derive;
use crate::error::{Code, Error, Loc, Result};
use crate::ir::{AdContext, Attr, Attrs, Builder, Emit, Function, MAX_DEPTH, Val};
use crate::names::{clip, count, did_you_mean, written};
use crate::shape::Type;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

impl<'s> Parser<'s> {
    /// Parses the whole text.
    pub(super) fn program(&mut self) -> Result<()> {
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
        self.items.push(ProgramItem::Module(f, public));
        Ok(())
    }

    /// Parses `@name` of a module above.
    pub(super) fn module_here(&mut self) -> Result<Arc<Function>> {
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

    /// The module of a directive above, which is derived here because it is called. Only the
    /// operations' own rules are used.
    fn made(&mut self, name: &str) -> Result<Option<Arc<Function>>> {
        // Follows the directives back to an existing module, then derives forward.
        let mut chain: Vec<usize> = Vec::new();
        let mut at = name.to_owned();
        let mut f = loop {
            if let Some(f) = self.modules.get(&*at) {
                break f.clone();
            }
            let Some(i) = self.items.iter().position(|i| *i.name() == *at) else {
                return Ok(None);
            };
            let ProgramItem::Directive(d) = &self.items[i] else {
                return Ok(None);
            };
            at = d.of.to_string();
            chain.push(i);
        };
        let around = self.policy();
        for i in chain.into_iter().rev() {
            let ProgramItem::Directive(d) = &mut self.items[i] else {
                unreachable!("the chain holds directives")
            };
            f = Arc::new(derive(d, &f, around, &AdContext::default())?);
            d.made = Some(f.clone());
            self.modules.insert(d.target.clone(), f.clone());
        }
        Ok(Some(f))
    }

    /// Parses statements up to and including the closing brace. Returns the returned values.
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
                    self.bindings(scope, &mut ResultNames::new(), &mut [head])?;
                    self.marks.end_of_statement(mark, scope.b.values());
                }
            }
        }
    }

    /// Parses operands and types of a return, and the closing brace.
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
        let mut names = ResultNames::new();
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

    /// Parses an operation with operands, attributes, regions and types.
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
            // A comma may also be followed by another binding of this line.
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

    fn operand(&mut self, scope: &Scope<'s>) -> Result<ParsedOperand> {
        if self.c.byte() == b'%' {
            return self.operand_val(scope).map(ParsedOperand::Val);
        }
        if let Some(b) = self.c.boolean() {
            return Ok(ParsedOperand::Bool(b));
        }
        self.c.number().map(|n| ParsedOperand::Num(Box::new(n)))
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
            e.note("a body is closed: values that it uses must be operands of its operation")
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
            // A comma may also be followed by another binding of this line.
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

    /// Parses named regions after the attributes.
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
}
