//! Parser of operations, in the generic and the pretty form.
//!
//! One grammar accepts all pretty forms: operands, words, `name = value`, dictionaries and lists in
//! any order, then a colon and the types. Only `reduce` and `while` have grammars of their own.

use super::{Parser, fail};
use crate::ast::{Attr, Operation, Region, Signature, Ty};
use crate::lexer::{Token, TokenKind, syntax};
use cotangent_core::Result;
use smallvec::{SmallVec, smallvec};

impl<'a> Parser<'a> {
    /// Parses one operation.
    pub(super) fn operation(&mut self) -> Result<Operation<'a>> {
        let pos = self.tok.pos;
        let mut names: SmallVec<[(Token<'a>, u32); 2]> = SmallVec::new();
        while self.tok.kind == TokenKind::Value {
            let name = self.bump()?;
            let mut count = 1;
            if self.eat(b':')? {
                let n = self.expect_kind(TokenKind::Int, "a number of results")?;
                count = match n.text.parse() {
                    Ok(c) if c > 0 => c,
                    _ => return fail(n.pos, format!("{} is not a number of results", n.show())),
                };
            }
            names.push((name, count));
            if !self.eat(b',')? {
                break;
            }
        }
        if !names.is_empty() {
            self.expect(b'=')?;
        }
        let mut op = Operation {
            name: "",
            pos: pos.into(),
            first: 0,
            count: 0,
            operands: smallvec![],
            attrs: Vec::new(),
            regions: Vec::new(),
            signature: Signature::None,
            opaque: false,
        };
        let name = self.tok;
        match name.kind {
            TokenKind::Str => {
                op.name = name.text.trim_matches('"');
                self.generic(&mut op)?;
            }
            TokenKind::Word => {
                self.bump()?;
                op.name = match name.text {
                    "call" => "func.call",
                    "return" => "func.return",
                    n => n,
                };
                match op.name {
                    "stablehlo.while" => self.pretty_while(&mut op)?,
                    "stablehlo.reduce" => self.pretty_reduce(&mut op)?,
                    _ => self.pretty(&mut op)?,
                }
            }
            _ => return Err(self.unexpected("an operation")),
        }
        self.skip_loc()?;
        op.first = self.values;
        for (name, count) in names {
            self.define(&name, count)?;
            op.count += count;
        }
        Ok(op)
    }

    /// Parses `"name"(%a) <{..}> ({..}) {..} : (t) -> t`.
    fn generic(&mut self, op: &mut Operation<'a>) -> Result<()> {
        self.bump()?;
        self.expect(b'(')?;
        self.comma_list(b')', |p| {
            let v = p.value()?;
            op.operands.push(v);
            Ok(())
        })?;
        if self.is(b'[') {
            return fail(self.tok.pos, "jumps between blocks are not supported");
        }
        op.attrs = self.properties()?;
        if self.eat(b'(')? {
            self.comma_list(b')', |p| {
                let r = p.region(&[])?;
                op.regions.push(r);
                Ok(())
            })?;
        }
        if self.is(b'{') {
            op.attrs.extend(self.attr_dict()?);
        }
        if !self.is(b':') {
            return Err(self.unexpected("`:` and the types of the operation"));
        }
        op.signature = self.signature()?;
        Ok(())
    }

    fn pretty(&mut self, op: &mut Operation<'a>) -> Result<()> {
        let mut open = 0usize;
        loop {
            let tok = self.tok;
            match tok.kind {
                TokenKind::Value => {
                    let v = self.value()?;
                    op.operands.push(v);
                }
                TokenKind::Punct(b',') => {
                    self.bump()?;
                }
                TokenKind::Punct(b'(') => {
                    self.bump()?;
                    open += 1;
                }
                TokenKind::Punct(b')') if open > 0 => {
                    self.bump()?;
                    open -= 1;
                }
                TokenKind::Punct(b'{') => op.attrs.extend(self.attr_dict()?),
                TokenKind::Punct(b'<') => self.skip_balanced()?,
                TokenKind::Punct(b':') => break,
                TokenKind::Word if starts_operation(tok.text) || tok.text == "loc" => break,
                TokenKind::Word => {
                    let value = self.nested(|p| p.attr(false))?;
                    if self.eat(b'=')? {
                        let value = self.nested(|p| p.attr(false))?;
                        op.attrs.push((tok.text.into(), value));
                    } else {
                        // The type of a constant follows its elements.
                        let done = matches!(&value, Attr::Dense(d) if d.ty.is_some());
                        op.attrs.push(("".into(), value));
                        if done {
                            return Ok(());
                        }
                    }
                }
                TokenKind::Int
                | TokenKind::Float
                | TokenKind::Str
                | TokenKind::Symbol
                | TokenKind::Hash
                | TokenKind::Punct(b'[') => {
                    let value = self.nested(|p| p.attr(false))?;
                    op.attrs.push(("".into(), value));
                }
                TokenKind::Punct(b'}') | TokenKind::End | TokenKind::Block => break,
                _ => {
                    return Err(
                        self.unexpected("an operand, an attribute or the types of the operation")
                    );
                }
            }
        }
        if open > 0 {
            return Err(self.unexpected("`)`"));
        }
        op.signature = self.signature()?;
        if self.is(b'{') {
            self.skip_balanced()?;
            op.opaque = true;
        }
        Ok(())
    }

    /// Parses `while(%i = %a, %j = %b) : t, t attributes {..} cond {..} do {..}`.
    fn pretty_while(&mut self, op: &mut Operation<'a>) -> Result<()> {
        let mut names = Vec::new();
        self.expect(b'(')?;
        self.comma_list(b')', |p| {
            names.push(p.expect_kind(TokenKind::Value, "a name for a carried value")?);
            p.expect(b'=')?;
            let v = p.value()?;
            op.operands.push(v);
            Ok(())
        })?;
        op.signature = self.signature()?;
        let types: &[Ty] = match &op.signature {
            Signature::List(l) => l,
            Signature::None => &[],
            Signature::Function(..) => {
                return fail(op.pos, "`while` needs the types of its carries");
            }
        };
        if types.len() != names.len() {
            return fail(
                op.pos,
                format!(
                    "`while` carries {} values but names {} types",
                    names.len(),
                    types.len()
                ),
            );
        }
        let args: Vec<(Token<'a>, Ty)> = names.into_iter().zip(types.iter().cloned()).collect();
        if self.eat_word("attributes")? {
            op.attrs = self.attr_dict()?;
        }
        for word in ["cond", "do"] {
            if !self.eat_word(word)? {
                return Err(self.unexpected(&format!("`{word}` of `while`")));
            }
            op.regions.push(self.region(&args)?);
        }
        Ok(())
    }

    /// Parses `reduce(%x init: %a) applies stablehlo.add across dimensions = [0] : ..`, or the form
    /// followed by `reducer(..) {..}`. Operands are ordered as in the generic form: inputs, then
    /// initial values.
    fn pretty_reduce(&mut self, op: &mut Operation<'a>) -> Result<()> {
        let mut inits = Vec::new();
        while self.eat(b'(')? {
            let v = self.value()?;
            op.operands.push(v);
            if !self.eat_word("init")? {
                return Err(self.unexpected("`init:` of `reduce`"));
            }
            self.expect(b':')?;
            inits.push(self.value()?);
            self.expect(b')')?;
            self.eat(b',')?;
        }
        op.operands.extend(inits);
        if self.eat_word("applies")? {
            let body = self.expect_kind(TokenKind::Word, "the operation that `reduce` applies")?;
            op.attrs.push(("applies".into(), Attr::Word(body.text)));
        }
        if self.eat_word("across")? {
            self.expect_kind(TokenKind::Word, "`dimensions`")?;
            self.expect(b'=')?;
            let dims = self.nested(|p| p.attr(false))?;
            op.attrs.push(("dimensions".into(), dims));
        }
        if self.is(b'{') {
            op.attrs.extend(self.attr_dict()?);
        }
        op.signature = self.signature()?;
        self.skip_loc()?;
        if self.eat_word("reducer")? {
            op.regions.push(self.reducer()?);
        }
        Ok(())
    }

    /// Parses `(%a: t, %b: t) (%c: t, %d: t) {..}`: one pair of arguments per operand. The block
    /// takes all first arguments, then all second ones.
    fn reducer(&mut self) -> Result<Region<'a>> {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        while self.eat(b'(')? {
            let pos = self.tok.pos;
            let mut pair = Vec::new();
            self.comma_list(b')', |p| {
                let name = p.expect_kind(TokenKind::Value, "an argument, `%name: type`")?;
                p.expect(b':')?;
                pair.push((name, p.ty()?));
                p.skip_loc()
            })?;
            let mut pair = pair.into_iter();
            let (Some(a), Some(b), None) = (pair.next(), pair.next(), pair.next()) else {
                return Err(syntax(
                    pos,
                    "a reducer takes two arguments for each operand",
                ));
            };
            first.push(a);
            second.push(b);
        }
        first.append(&mut second);
        self.region(&first)
    }
}

/// Whether a word begins the next operation.
fn starts_operation(word: &str) -> bool {
    word.contains('.') || matches!(word, "return" | "call")
}
