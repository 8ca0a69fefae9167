//! Parser from text to [`ast`](crate::ast): modules, functions, regions and names of values.
//!
//! It makes one pass with one token of lookahead. It recurses over regions, attributes and types,
//! whose nesting depth is limited.

mod attribute;
mod operation;
mod types;

use crate::ast::{
    Argument, Attr, Function, Id, MAX_NESTED, MAX_REGIONS, NamedAttrs, ParsedModule, Region, Ty,
    donates, memory_kind, memory_kinds,
};
use crate::lexer::{Lexer, Pos, Token, TokenKind, syntax, unquote};
use crate::scope::OpenRegions;
use cotangent_core::{Code, Error, Loc, Result};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Maximum nesting depth of modules.
const MAX_MODULES: usize = 8;

/// Parses a text.
pub(crate) fn parse(text: &str) -> Result<ParsedModule<'_>> {
    let mut lexer = Lexer::new(text)?;
    let tok = lexer.next()?;
    let mut p = Parser {
        lexer,
        tok,
        module: ParsedModule::default(),
        types: FxHashMap::default(),
        attr_aliases: FxHashMap::default(),
        type_aliases: FxHashMap::default(),
        in_alias: false,
        depth: 0,
        scope: FxHashMap::default(),
        undo: Vec::new(),
        open: OpenRegions::default(),
        values: 0,
    };
    p.items(0)?;
    match p.tok.kind {
        TokenKind::End => Ok(p.module),
        _ => Err(p.unexpected("a function")),
    }
}

/// The values of a name: the first value and their number.
type NamedValues = (Id, u32);

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token.
    tok: Token<'a>,
    module: ParsedModule<'a>,
    /// Tensor types by their text.
    types: FxHashMap<&'a str, Ty>,
    attr_aliases: FxHashMap<&'a str, Attr<'a>>,
    type_aliases: FxHashMap<&'a str, Ty>,
    /// Whether the definition of an alias is being parsed. Compound aliases are not expanded there:
    /// each could double the size.
    in_alias: bool,
    /// Current nesting depth of attributes and types.
    depth: usize,
    scope: FxHashMap<&'a str, NamedValues>,
    /// Names in the order of their definitions. The end of a region removes the names defined in
    /// it.
    undo: Vec<&'a str>,
    open: OpenRegions,
    values: Id,
}

impl<'a> Parser<'a> {
    /// Consumes the next token.
    fn bump(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.tok, next))
    }

    fn is(&self, c: u8) -> bool {
        self.tok.kind == TokenKind::Punct(c)
    }

    fn is_word(&self, w: &str) -> bool {
        self.tok.kind == TokenKind::Word && self.tok.text == w
    }

    /// Consumes a character if it is next.
    fn eat(&mut self, c: u8) -> Result<bool> {
        let yes = self.is(c);
        if yes {
            self.bump()?;
        }
        Ok(yes)
    }

    fn eat_word(&mut self, w: &str) -> Result<bool> {
        let yes = self.is_word(w);
        if yes {
            self.bump()?;
        }
        Ok(yes)
    }

    fn expect(&mut self, c: u8) -> Result<()> {
        match self.eat(c)? {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{}`", c as char))),
        }
    }

    fn expect_kind(&mut self, kind: TokenKind, what: &str) -> Result<Token<'a>> {
        if self.tok.kind == kind {
            self.bump()
        } else {
            Err(self.unexpected(what))
        }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        syntax(
            self.tok.pos,
            format!("expected {wanted}, found {}", self.tok.show()),
        )
    }

    /// Runs `f` one nesting level deeper, or returns an error if that exceeds the limit.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_NESTED {
            let text = format!("attributes and types nest deeper than {MAX_NESTED} levels");
            return Err(Error::new(Code::Limit, text).at(self.tok.pos.into()));
        }
        let r = f(self);
        self.depth -= 1;
        r
    }

    /// Parses `item, item, ..` up to and including a closing character.
    fn comma_list(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        while !self.eat(close)? {
            item(self)?;
            if !self.is(close) {
                self.expect(b',')?;
            }
        }
        Ok(())
    }

    /// Skips the next token, a bracket, and everything up to its matching bracket.
    fn skip_balanced(&mut self) -> Result<()> {
        let (mut depth, from) = (0usize, self.tok.pos);
        loop {
            match self.bump()?.kind {
                TokenKind::Punct(b'(' | b'[' | b'{' | b'<') | TokenKind::Resources => depth += 1,
                TokenKind::Punct(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
                TokenKind::End => return Err(syntax(from, "this bracket is never closed")),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips `loc(..)`, if it is next.
    fn skip_loc(&mut self) -> Result<()> {
        if self.eat_word("loc")? {
            if !self.is(b'(') {
                return Err(self.unexpected("`(` of a location"));
            }
            self.skip_balanced()?;
        }
        Ok(())
    }

    /// Parses the items of a module, up to its end.
    fn items(&mut self, modules: usize) -> Result<()> {
        if modules > MAX_MODULES {
            return Err(Error::new(Code::Limit, "modules nest too deeply").at(self.tok.pos.into()));
        }
        loop {
            let tok = self.tok;
            match (tok.kind, tok.text) {
                (TokenKind::End, _) | (TokenKind::Punct(b'}'), _) => return Ok(()),
                (TokenKind::Word, "module" | "builtin.module") => self.pretty_module(modules)?,
                (TokenKind::Word, "func.func") => self.pretty_function()?,
                (TokenKind::Str, "\"builtin.module\"") => self.generic_module(modules)?,
                (TokenKind::Str, "\"func.func\"") => self.generic_function()?,
                (TokenKind::Hash, _) => self.attr_alias()?,
                (TokenKind::Bang, _) => self.type_alias()?,
                (TokenKind::Resources, _) => self.resources()?,
                (TokenKind::Word, "loc") => self.skip_loc()?,
                (TokenKind::Word | TokenKind::Str, w) if w.contains('.') => self.skip_item()?,
                _ => return Err(self.unexpected("`module` or `func.func`")),
            }
        }
    }

    fn pretty_module(&mut self, modules: usize) -> Result<()> {
        self.bump()?;
        if self.tok.kind == TokenKind::Symbol {
            let name = symbol(self.bump()?.text);
            self.module.name.get_or_insert(name);
        }
        if self.eat_word("attributes")? {
            let pos = self.tok.pos;
            let attrs = self.attr_dict()?;
            self.module_attrs(attrs, pos);
        }
        self.expect(b'{')?;
        self.items(modules + 1)?;
        self.expect(b'}')?;
        self.skip_loc()
    }

    /// `"builtin.module"() <{..}> ({ .. }) {..} : () -> ()`.
    fn generic_module(&mut self, modules: usize) -> Result<()> {
        self.bump()?;
        self.expect(b'(')?;
        self.expect(b')')?;
        let pos = self.tok.pos;
        let attrs = self.properties()?;
        self.module_attrs(attrs, pos);
        self.expect(b'(')?;
        self.expect(b'{')?;
        if self.tok.kind == TokenKind::Block {
            self.block_args()?;
        }
        self.items(modules + 1)?;
        self.expect(b'}')?;
        self.expect(b')')?;
        if self.is(b'{') {
            let pos = self.tok.pos;
            let attrs = self.attr_dict()?;
            self.module_attrs(attrs, pos);
        }
        self.signature()?;
        self.skip_loc()
    }

    /// Records the attributes of a module and their position.
    fn module_attrs(&mut self, attrs: NamedAttrs<'a>, pos: Pos) {
        self.module.attrs.extend(
            attrs
                .into_iter()
                .map(|(name, value)| (name, value, pos.into())),
        );
    }

    /// Skips a module-level operation that does not affect values: up to the end of its line, with
    /// balanced brackets.
    fn skip_item(&mut self) -> Result<()> {
        let line = self.tok.pos.line;
        loop {
            match self.tok.kind {
                TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => self.skip_balanced()?,
                TokenKind::Punct(b'}') | TokenKind::End => return Ok(()),
                _ => {
                    self.bump()?;
                }
            }
            if self.tok.pos.line > line {
                return Ok(());
            }
        }
    }

    /// Parses `{-# dialect_resources: { builtin: { name: "0x.." } } #-}`: strings by name.
    fn resources(&mut self) -> Result<()> {
        let start = self.bump()?.pos;
        let mut name = "";
        loop {
            let t = self.bump()?;
            match t.kind {
                TokenKind::Word => name = t.text,
                TokenKind::Str if self.is(b':') => name = t.text,
                TokenKind::Str => self.module.resources.push((symbol(name), t.text)),
                TokenKind::Punct(b'#') if t.text == "#-}" => return Ok(()),
                TokenKind::End => {
                    return Err(syntax(start, "these resources have no closing `#-}`"));
                }
                _ => {}
            }
        }
    }

    /// Parses `func.func public @f(%x: t {..}) -> (t {..}) attributes {..} { .. }`.
    fn pretty_function(&mut self) -> Result<()> {
        let pos = self.bump()?.pos;
        let public = !self.eat_word("private")?;
        if public && !self.eat_word("public")? {
            self.eat_word("nested")?;
        }
        let name = symbol(
            self.expect_kind(TokenKind::Symbol, "the name of a function, `@name`")?
                .text,
        );
        self.expect(b'(')?;
        let mut args: Vec<(Token<'a>, Ty)> = Vec::new();
        let mut donated = Vec::new();
        self.comma_list(b')', |p| {
            let name = if p.tok.kind == TokenKind::Value {
                Some(p.bump()?)
            } else {
                None
            };
            if name.is_some() {
                p.expect(b':')?;
            }
            let ty = p.ty()?;
            args.extend(name.map(|n| (n, ty)));
            donated.push(donates(&p.decorations()?));
            Ok(())
        })?;
        let (mut results, mut memory_kinds) = (Vec::new(), Vec::new());
        if self.tok.kind == TokenKind::Arrow {
            self.bump()?;
            if self.eat(b'(')? {
                self.comma_list(b')', |p| {
                    results.push(p.ty()?);
                    memory_kinds.push(memory_kind(&p.decorations()?));
                    Ok(())
                })?;
            } else {
                results.push(self.ty()?);
            }
        }
        if self.eat_word("attributes")? {
            self.attr_dict()?;
        }
        let body = if self.is(b'{') {
            self.start_function();
            let mut body = self.region(&args)?;
            for (arg, donated) in body.args.iter_mut().zip(donated) {
                arg.donated = donated;
            }
            Some(body)
        } else {
            None
        };
        self.skip_loc()?;
        self.module.functions.push(Function {
            name,
            public,
            pos: pos.into(),
            results,
            memory_kinds,
            body,
        });
        Ok(())
    }

    /// Parses the attributes and the location of an argument or result.
    fn decorations(&mut self) -> Result<Vec<(Cow<'a, str>, Attr<'a>)>> {
        let attrs = match self.is(b'{') {
            true => self.attr_dict()?,
            false => Vec::new(),
        };
        self.skip_loc()?;
        Ok(attrs)
    }

    /// Parses the generic form `"func.func"() <{..}> ({ ^bb0(%x: t): .. }) : () -> ()`, with the
    /// attributes `sym_name` and `function_type`.
    fn generic_function(&mut self) -> Result<()> {
        let pos = self.bump()?.pos;
        self.expect(b'(')?;
        self.expect(b')')?;
        let mut attrs = self.properties()?;
        self.expect(b'(')?;
        self.start_function();
        let mut body = self.region(&[])?;
        self.expect(b')')?;
        if self.is(b'{') {
            attrs.extend(self.attr_dict()?);
        }
        self.signature()?;
        self.skip_loc()?;
        let attr = |name: &str| attrs.iter().find(|(n, _)| n == name).map(|(_, a)| a);
        let (Some(Attr::Str(name)), Some(Attr::Type(Ty::Function(f)))) =
            (attr("sym_name"), attr("function_type"))
        else {
            return Err(syntax(
                pos,
                "`func.func` needs the attributes `sym_name` and `function_type`",
            ));
        };
        let public = attr("sym_visibility").and_then(Attr::word) != Some("private");
        let results = f.1.clone();
        if let Some(Attr::List(all)) = attr("arg_attrs") {
            for (arg, attrs) in body.args.iter_mut().zip(all.iter()) {
                arg.donated = matches!(attrs, Attr::Dict(d) if donates(d));
            }
        }
        let memory_kinds = memory_kinds(attr("res_attrs"));
        // In the generic form, a function without a body has an empty region.
        let body = Some(body).filter(|b| !b.ops.is_empty());
        let f = Function {
            name: name.clone(),
            public,
            pos: pos.into(),
            results,
            memory_kinds,
            body,
        };
        self.module.functions.push(f);
        Ok(())
    }

    /// Resets the scope: a function cannot use values of another one.
    fn start_function(&mut self) {
        self.scope.clear();
        self.undo.clear();
        self.open = OpenRegions::default();
        self.values = 0;
    }

    /// Parses `{ ^bb0(..): ops }`. The arguments are `args`, or those of the block label.
    fn region(&mut self, args: &[(Token<'a>, Ty)]) -> Result<Region<'a>> {
        let pos = self.tok.pos;
        self.expect(b'{')?;
        if self.open.depth() >= MAX_REGIONS {
            return Err(Error::new(
                Code::Limit,
                format!("regions nest deeper than {MAX_REGIONS} levels"),
            )
            .at(pos.into()));
        }
        let first = self.values;
        let undo = self.undo.len();
        self.open.open(first);
        let labelled;
        let mut args = args;
        if self.tok.kind == TokenKind::Block {
            labelled = self.block_args()?;
            if !labelled.is_empty() {
                args = &labelled;
            }
        }
        let mut region = Region {
            pos: pos.into(),
            first,
            ..Region::default()
        };
        for (name, ty) in args {
            let id = self.define(name, 1)?;
            region.args.push(Argument {
                id,
                name: name.text.into(),
                ty: ty.clone(),
                constant: None,
                donated: false,
            });
        }
        while !self.is(b'}') {
            if self.tok.kind == TokenKind::Block {
                let text = "regions of several blocks are not supported: use `stablehlo.case`, `if` and `while`";
                return Err(syntax(self.tok.pos, text));
            }
            let op = self.operation()?;
            region.ops.push(op);
        }
        self.bump()?;
        for name in self.undo.drain(undo..) {
            self.scope.remove(name);
        }
        region.captures = self.open.close();
        Ok(region)
    }

    /// Parses `^bb0(%x: t, %y: t):`.
    fn block_args(&mut self) -> Result<Vec<(Token<'a>, Ty)>> {
        self.bump()?;
        let mut args = Vec::new();
        if self.eat(b'(')? {
            self.comma_list(b')', |p| {
                let name = p.expect_kind(TokenKind::Value, "an argument, `%name: type`")?;
                p.expect(b':')?;
                args.push((name, p.ty()?));
                p.skip_loc()
            })?;
        }
        self.expect(b':')?;
        Ok(args)
    }

    /// Defines a name for the next `count` values.
    fn define(&mut self, name: &Token<'a>, count: u32) -> Result<Id> {
        let first = self.values;
        if self.scope.contains_key(name.text) {
            let text = format!("{} is defined twice", name.show());
            return Err(Error::new(Code::DuplicateName, text).at(name.pos.into()));
        }
        let Some(next) = first.checked_add(count).filter(|&n| n < u32::MAX / 2) else {
            return Err(Error::new(Code::Limit, "too many values").at(name.pos.into()));
        };
        self.values = next;
        self.scope.insert(name.text, (first, count));
        self.undo.push(name.text);
        Ok(first)
    }

    /// Parses `%x` or `%x#1`.
    fn value(&mut self) -> Result<Id> {
        let name = self.expect_kind(TokenKind::Value, "a value, `%name`")?;
        let (first, count) = match self.scope.get(name.text) {
            Some(&n) => n,
            None => {
                let text = format!("{} is not defined here", name.show());
                return Err(Error::new(Code::UnknownName, text).at(name.pos.into()));
            }
        };
        let mut k = 0;
        if self.tok.kind == TokenKind::Hash
            && self.tok.text.starts_with(|c: char| c.is_ascii_digit())
        {
            let t = self.bump()?;
            k = t
                .text
                .parse()
                .ok()
                .filter(|&k: &u32| k < count)
                .ok_or_else(|| {
                    syntax(
                        t.pos,
                        format!(
                            "{} has {count} values, there is no `#{}`",
                            name.show(),
                            t.text
                        ),
                    )
                })?;
        } else if count != 1 {
            return Err(syntax(
                name.pos,
                format!(
                    "{} has {count} values: select one, `%{}#0`",
                    name.show(),
                    name.text
                ),
            ));
        }
        let id = first + k;
        self.open.used(id);
        Ok(id)
    }
}

/// The name of a symbol, without quotes.
fn symbol(text: &str) -> Cow<'_, str> {
    if text.starts_with('"') {
        unquote(text).into()
    } else {
        text.into()
    }
}

/// A syntax error at a position, as a result.
fn fail<T>(pos: impl Into<Loc>, message: impl Into<String>) -> Result<T> {
    Err(syntax(pos, message))
}
