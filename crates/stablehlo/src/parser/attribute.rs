//! Parser of attributes: numbers, words, lists, dictionaries, constants and dialect attributes.

use super::{Parser, fail, symbol};
use crate::ast::{Attr, Dense, Elements, NamedAttrs, Number, Ty};
use crate::lexer::{TokenKind, unquote};
use cotangent_core::Result;
use std::rc::Rc;

impl<'a> Parser<'a> {
    /// Parses `{a = 1 : i64, b}`.
    pub(super) fn attr_dict(&mut self) -> Result<NamedAttrs<'a>> {
        let mut out = Vec::new();
        self.expect(b'{')?;
        self.comma_list(b'}', |p| {
            let name = match p.tok.kind {
                TokenKind::Word | TokenKind::Str => symbol(p.bump()?.text),
                _ => return Err(p.unexpected("the name of an attribute")),
            };
            let value = if p.eat(b'=')? {
                p.nested(|p| p.attr(true))?
            } else {
                Attr::Unit
            };
            out.push((name, value));
            Ok(())
        })?;
        Ok(out)
    }

    /// Parses `<{a = 1}>`, if it is next.
    pub(super) fn properties(&mut self) -> Result<NamedAttrs<'a>> {
        if !self.eat(b'<')? {
            return Ok(Vec::new());
        }
        let out = self.attr_dict()?;
        self.expect(b'>')?;
        Ok(out)
    }

    /// Parses `#name = attribute`. Locations are skipped.
    pub(super) fn attr_alias(&mut self) -> Result<()> {
        let name = self.bump()?.text;
        self.expect(b'=')?;
        if self.is_word("loc") {
            return self.skip_loc();
        }
        self.in_alias = true;
        let value = self.nested(|p| p.attr(true))?;
        self.in_alias = false;
        self.attr_aliases.insert(name, value);
        Ok(())
    }

    /// Parses an attribute. With `typed`, a colon and a type may follow a number or a string.
    pub(super) fn attr(&mut self, typed: bool) -> Result<Attr<'a>> {
        let tok = self.tok;
        match tok.kind {
            TokenKind::Int => {
                self.bump()?;
                let Some(value) = integer(tok.text) else {
                    return fail(
                        tok.pos,
                        format!("{} is not an integer of 128 bits", tok.show()),
                    );
                };
                self.attr_type(typed)?;
                Ok(Attr::Int(value))
            }
            TokenKind::Float => {
                self.bump()?;
                self.attr_type(typed)?;
                Ok(Attr::Float(tok.text.parse().unwrap_or(f64::NAN)))
            }
            TokenKind::Str => {
                self.bump()?;
                self.attr_type(typed)?;
                Ok(Attr::Str(unquote(tok.text).into()))
            }
            TokenKind::Symbol => {
                self.bump()?;
                while self.is(b':') {
                    self.bump()?;
                    if self.tok.kind == TokenKind::Symbol {
                        self.bump()?;
                    }
                }
                Ok(Attr::Symbol(symbol(tok.text)))
            }
            TokenKind::Hash => self.dialect_attr(),
            TokenKind::Bang => Ok(Attr::Type(self.ty()?)),
            TokenKind::Punct(b'(') => Ok(Attr::Type(self.ty()?)),
            TokenKind::Punct(b'[') => self.nested(|p| p.list(typed)),
            TokenKind::Punct(b'{') => Ok(Attr::Dict(self.nested(|p| p.attr_dict())?.into())),
            TokenKind::Punct(b'<') => self.nested(|p| p.record()),
            TokenKind::Word => self.word(typed),
            _ => Err(self.unexpected("an attribute")),
        }
    }

    fn attr_type(&mut self, typed: bool) -> Result<()> {
        if typed && self.eat(b':')? {
            self.ty()?;
        }
        Ok(())
    }

    fn word(&mut self, typed: bool) -> Result<Attr<'a>> {
        match self.tok.text {
            "tensor" | "tuple" | "complex" | "vector" => return Ok(Attr::Type(self.ty()?)),
            "loc" => {
                self.skip_loc()?;
                return Ok(Attr::Skipped);
            }
            _ => {}
        }
        let tok = self.bump()?;
        match tok.text {
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            "unit" => Ok(Attr::Unit),
            "dense" if self.is(b'<') => self.dense(),
            "dense_resource" if self.is(b'<') => {
                self.bump()?;
                let name = match self.tok.kind {
                    TokenKind::Word | TokenKind::Str => symbol(self.bump()?.text),
                    _ => return Err(self.unexpected("the name of a resource")),
                };
                self.expect(b'>')?;
                self.constant(Elements::Resource(name), tok.pos)
            }
            "array" if self.is(b'<') => self.array(),
            _ if self.is(b'<') => {
                self.skip_balanced()?;
                self.attr_type(typed)?;
                Ok(Attr::Skipped)
            }
            w => Ok(Attr::Word(w)),
        }
    }

    /// Parses `[a, b]` and products of lists: `[0] x [1]`, `[b, f, 0]x[o, i, 0]->[b, f, 0]`.
    fn list(&mut self, typed: bool) -> Result<Attr<'a>> {
        let first = self.plain_list(typed)?;
        if !self.is_word("x") {
            return Ok(first);
        }
        self.bump()?;
        let mut all = vec![first, self.plain_list(typed)?];
        if self.tok.kind == TokenKind::Arrow {
            self.bump()?;
            all.push(self.plain_list(typed)?);
        }
        Ok(Attr::Product(all.into()))
    }

    fn plain_list(&mut self, typed: bool) -> Result<Attr<'a>> {
        let mut out = Vec::new();
        self.expect(b'[')?;
        self.comma_list(b']', |p| {
            // `?` is an unknown extent.
            let a = if p.eat(b'?')? {
                Attr::Skipped
            } else {
                p.nested(|p| p.attr(typed))?
            };
            let a = if !typed && p.is(b':') { p.range(a)? } else { a };
            out.push(a);
            Ok(())
        })?;
        Ok(Attr::List(out.into()))
    }

    /// Parses the rest of `0:4:2` after its first number.
    fn range(&mut self, first: Attr<'a>) -> Result<Attr<'a>> {
        let mut all = vec![first];
        while self.eat(b':')? {
            let tok = self.expect_kind(TokenKind::Int, "a number")?;
            all.push(integer(tok.text).map_or(Attr::Skipped, Attr::Int));
        }
        Ok(Attr::Product(all.into()))
    }

    /// Parses `array<i64: 0, 1>` after the word `array`.
    fn array(&mut self) -> Result<Attr<'a>> {
        self.expect(b'<')?;
        self.expect_kind(TokenKind::Word, "an element type")?;
        let mut out = Vec::new();
        if self.eat(b':')? {
            self.comma_list(b'>', |p| {
                out.push(p.attr(false)?);
                Ok(())
            })?;
        } else {
            self.expect(b'>')?;
        }
        Ok(Attr::List(out.into()))
    }

    /// Parses `#alias`, `#stablehlo<precision DEFAULT>` or `#stablehlo.gather<a = 1>`. Attributes
    /// of other dialects are skipped.
    fn dialect_attr(&mut self) -> Result<Attr<'a>> {
        let tok = self.bump()?;
        if !self.is(b'<') {
            return Ok(match self.attr_aliases.get(tok.text) {
                Some(Attr::List(_) | Attr::Dict(_) | Attr::Product(_)) if self.in_alias => {
                    Attr::Skipped
                }
                Some(a) => a.clone(),
                None => Attr::Skipped,
            });
        }
        let dialect = tok.text.split('.').next().unwrap_or("");
        if matches!(dialect, "stablehlo" | "chlo" | "mhlo") {
            return self.nested(|p| p.record());
        }
        self.skip_balanced()?;
        Ok(Attr::Skipped)
    }

    /// Parses `<a = 1, b = [2]>`. `<kind VALUE>` becomes the word `VALUE`.
    fn record(&mut self) -> Result<Attr<'a>> {
        let mut out: NamedAttrs<'a> = Vec::new();
        self.expect(b'<')?;
        while !self.eat(b'>')? {
            let tok = self.tok;
            match tok.kind {
                TokenKind::End => return Err(self.unexpected("`>`")),
                TokenKind::Word => {
                    let value = self.word(false)?;
                    if self.eat(b'=')? {
                        let value = self.nested(|p| p.attr(true))?;
                        out.push((tok.text.into(), value));
                    } else {
                        out.push(("".into(), value));
                    }
                }
                TokenKind::Punct(b'(' | b'{' | b'<') => self.skip_balanced()?,
                TokenKind::Punct(b'[')
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::Str
                | TokenKind::Hash
                | TokenKind::Symbol => {
                    let value = self.nested(|p| p.attr(true))?;
                    out.push(("".into(), value));
                }
                _ => {
                    self.bump()?;
                }
            }
        }
        let unnamed = out.iter().all(|(n, _)| n.is_empty());
        match out.last() {
            Some((_, Attr::Word(w))) if unnamed && out.len() <= 2 => Ok(Attr::Word(w)),
            Some((_, Attr::Product(p))) if out.len() == 1 => Ok(Attr::Product(p.clone())),
            _ => Ok(Attr::Dict(out.into())),
        }
    }

    /// Parses `dense<..> : type` after the word `dense`.
    fn dense(&mut self) -> Result<Attr<'a>> {
        let pos = self.tok.pos;
        self.expect(b'<')?;
        let elements = match self.tok.kind {
            TokenKind::Str => Elements::Hex(self.bump()?.text),
            TokenKind::Punct(b'[') => self.dense_list()?,
            TokenKind::Punct(b'>') => Elements::List(Vec::new(), vec![0]),
            _ => Elements::Splat(self.number()?),
        };
        self.expect(b'>')?;
        self.constant(elements, pos)
    }

    /// Parses the type after the elements of a constant.
    fn constant(&mut self, elements: Elements<'a>, pos: crate::lexer::Pos) -> Result<Attr<'a>> {
        let ty: Option<Ty> = if self.eat(b':')? {
            Some(self.ty()?)
        } else {
            None
        };
        let pos = pos.into();
        Ok(Attr::Dense(Rc::new(Dense { pos, elements, ty })))
    }

    /// Parses `1.5`, `true`, `0x7FC00000` or `(1.0, 2.0)`.
    fn number(&mut self) -> Result<Number<'a>> {
        if !self.eat(b'(')? {
            return Ok(Number {
                re: self.plain_number()?,
                im: None,
            });
        }
        let re = self.plain_number()?;
        self.expect(b',')?;
        let im = Some(self.plain_number()?);
        self.expect(b')')?;
        Ok(Number { re, im })
    }

    fn plain_number(&mut self) -> Result<&'a str> {
        match self.tok.kind {
            TokenKind::Int | TokenKind::Float => Ok(self.bump()?.text),
            TokenKind::Word if matches!(self.tok.text, "true" | "false") => Ok(self.bump()?.text),
            _ => Err(self.unexpected("a number")),
        }
    }

    /// Parses nested lists of numbers. All lists of a level have the same length.
    fn dense_list(&mut self) -> Result<Elements<'a>> {
        const MAX_RANK: usize = 64;
        let (mut values, mut extents, mut counts) =
            (Vec::new(), Vec::<Option<usize>>::new(), Vec::<usize>::new());
        loop {
            let pos = self.tok.pos;
            if self.eat(b'[')? {
                if counts.len() == MAX_RANK {
                    return fail(
                        pos,
                        format!("a constant nests deeper than {MAX_RANK} lists"),
                    );
                }
                counts.push(0);
                if extents.len() < counts.len() {
                    if !values.is_empty() {
                        return fail(pos, "a list is next to a number in this constant");
                    }
                    extents.push(None);
                }
            } else if self.eat(b']')? {
                let (Some(n), level) = (counts.pop(), counts.len()) else {
                    return Err(self.unexpected("a number"));
                };
                if *extents[level].get_or_insert(n) != n {
                    return fail(
                        pos,
                        format!(
                            "the lists of this constant have different lengths, {n} and others"
                        ),
                    );
                }
                match counts.last_mut() {
                    Some(c) => *c += 1,
                    None => break,
                }
            } else {
                let n = self.number()?;
                if counts.len() != extents.len() {
                    return fail(pos, "a number is next to a list in this constant");
                }
                values.push(n);
                if let Some(c) = counts.last_mut() {
                    *c += 1;
                }
            }
            if !self.is(b']') && !counts.is_empty() && !self.is(b'[') {
                // A comma stands between entries only, not after an opening bracket.
                self.eat(b',')?;
            }
        }
        Ok(Elements::List(
            values,
            extents.into_iter().map(|e| e.unwrap_or(0)).collect(),
        ))
    }
}

/// A decimal or hexadecimal integer.
fn integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
