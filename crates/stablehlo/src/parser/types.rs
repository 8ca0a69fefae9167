//! Parser of types: `tensor<2x?xf32>`, `!stablehlo.token`, function types. Encodings are skipped.

use super::Parser;
use crate::ast::{Signature, Ty};
use crate::lexer::{Pos, TokenKind, syntax};
use cotangent_core::{Dim, Result};
use smallvec::SmallVec;
use std::rc::Rc;

impl<'a> Parser<'a> {
    /// Parses a type.
    pub(super) fn ty(&mut self) -> Result<Ty> {
        match self.tok.kind {
            TokenKind::Word if self.tok.text == "tensor" => self.tensor(),
            TokenKind::Word => {
                let (name, pos) = (self.bump()?.text, self.tok.pos);
                let inner = if self.is(b'<') { self.raw()? } else { "" };
                match name {
                    "tuple" => Err(syntax(
                        pos,
                        "tuples are not supported: return several values instead",
                    )),
                    _ if inner.is_empty() => Ok(Ty::Other(name.into())),
                    _ => Ok(Ty::Other(format!("{name}<{inner}>").into())),
                }
            }
            TokenKind::Bang => {
                let name = self.bump()?.text;
                let inner = if self.is(b'<') { self.raw()? } else { "" };
                match name {
                    "stablehlo.token" | "mhlo.token" => Ok(Ty::Token),
                    _ => Ok(match self.type_aliases.get(name) {
                        Some(Ty::Function(_)) | None => {
                            Ty::Other(format!("!{name}<{inner}>").into())
                        }
                        Some(t) => t.clone(),
                    }),
                }
            }
            TokenKind::Punct(b'(') => self.nested(|p| {
                let params = p.ty_list()?;
                p.expect_kind(TokenKind::Arrow, "`->` of a function type")?;
                let results = if p.is(b'(') {
                    p.ty_list()?
                } else {
                    vec![p.ty()?]
                };
                Ok(Ty::Function(Rc::new((params, results))))
            }),
            _ => Err(self.unexpected("a type")),
        }
    }

    /// Parses `(a, b)`.
    fn ty_list(&mut self) -> Result<Vec<Ty>> {
        let mut out = Vec::new();
        self.expect(b'(')?;
        self.comma_list(b')', |p| {
            out.push(p.ty()?);
            Ok(())
        })?;
        Ok(out)
    }

    /// The text between angle brackets. The opening bracket is the next token.
    fn raw(&mut self) -> Result<&'a str> {
        let text = self.lexer.raw_type()?;
        self.bump()?;
        Ok(text)
    }

    fn tensor(&mut self) -> Result<Ty> {
        let pos = self.bump()?.pos;
        if !self.is(b'<') {
            return Err(self.unexpected("`<` of a tensor type"));
        }
        let text = self.raw()?;
        if let Some(t) = self.types.get(text) {
            return Ok(t.clone());
        }
        let t = tensor_type(text, pos)?;
        self.types.insert(text, t.clone());
        Ok(t)
    }

    /// Parses `!name = type`.
    pub(super) fn type_alias(&mut self) -> Result<()> {
        let name = self.bump()?.text;
        self.expect(b'=')?;
        let t = self.ty()?;
        self.type_aliases.insert(name, t);
        Ok(())
    }

    /// Parses `: a, b`, `: (a, b) -> c` or `: a -> b`, if a colon is next.
    pub(super) fn signature(&mut self) -> Result<Signature> {
        if !self.eat(b':')? {
            return Ok(Signature::None);
        }
        let mut types: SmallVec<[Ty; 2]> = SmallVec::new();
        if self.is(b'(') {
            types.extend(self.ty_list()?);
        } else {
            types.push(self.ty()?);
            while self.eat(b',')? {
                types.push(self.ty()?);
            }
        }
        if self.tok.kind != TokenKind::Arrow {
            return Ok(Signature::List(types));
        }
        self.bump()?;
        let results = if self.is(b'(') {
            self.ty_list()?.into()
        } else {
            smallvec::smallvec![self.ty()?]
        };
        Ok(Signature::Function(types, results))
    }
}

/// Parses `2x?xf32, #encoding`, the text between the brackets.
fn tensor_type(text: &str, pos: Pos) -> Result<Ty> {
    let wrong = || syntax(pos, format!("`tensor<{text}>` is not a tensor type"));
    let (mut rest, mut dims) = (text.trim(), Vec::new());
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let dim = match (digits, rest.strip_prefix('?')) {
            (0, None) => break,
            (0, Some(r)) => {
                rest = r;
                Dim::sym("?")
            }
            _ => {
                let n = rest[..digits]
                    .parse::<usize>()
                    .ok()
                    .filter(|&n| n <= i64::MAX as usize);
                rest = &rest[digits..];
                Dim::Const(n.ok_or_else(wrong)?)
            }
        };
        dims.push(dim);
        rest = rest
            .trim_start()
            .strip_prefix('x')
            .ok_or_else(wrong)?
            .trim_start();
    }
    let name = rest.split(',').next().unwrap_or("").trim();
    if name.is_empty() {
        return Err(wrong());
    }
    // Other element types occur in ignored attributes. Lowering rejects values of such types.
    Ok(Ty::tensor(name, dims).unwrap_or_else(|| Ty::Other(format!("tensor<{text}>").into())))
}
