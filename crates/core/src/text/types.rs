//! The grammar of types and dimensions: `f32`, `tensor<2x?xnx(2*n+1)xf32>`,
//! `!sparse.matrix<rows = 4>`.
//!
//! ```text
//! type := dtype | opaque | "tensor<" (dim "x")* dtype ">"
//! opaque := "!" name ["<" (key "=" value),* ">"]
//! dim  := number | "?" | symbol without x | "(" expr ")"
//! expr := ["-"] term (("+" | "-") term)*      term := atom ("*" atom)*
//! atom := number | name | "?" name | string | "(" expr ")" | "floordiv(" expr "," number ")" | "max(" expr ", 0)"
//! ```
//! A lone `?` is the symbol [`HOLE`]. In an argument it becomes a fresh symbol, in an annotation it
//! matches any extent.

use super::parser::{HOLE, Parser};
use crate::array::check_element;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::names::{clip, did_you_mean, is_name_char};
use crate::shape::{Atom, Dim, Poly, Shape, Type, relu};
use smallvec::SmallVec;
use std::fmt::Write;

/// Maximum rank of a type in a text.
const MAX_RANK: usize = 256;
/// Maximum size of a parsed dimension's polynomial: terms of a product, and factors of a term.
const MAX_TERMS: usize = 256;
const MAX_FACTORS: usize = 64;

const NO_X: &str =
    "a name of a dimension cannot contain the letter `x`, which separates dimensions; `(max)` can";

impl Parser<'_> {
    /// Parses a type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        let before = self.c.clone();
        if !(self.c.eat_str("tensor") && self.c.eat(b'<')) {
            self.c = before;
            return Ok(Type::scalar(self.dtype()?));
        }
        let mut dims: SmallVec<[Dim; 6]> = SmallVec::new();
        loop {
            self.c.ws();
            if dims.len() > MAX_RANK {
                return Err(self
                    .c
                    .error(Code::Limit, format!("a type has at most {MAX_RANK} axes")));
            }
            let dim = match self.c.byte() {
                b'0'..=b'9' => Dim::Const(self.c.natural()?),
                b'?' => self.unknown(),
                b'(' => {
                    self.c.bump();
                    let d = self.dim()?;
                    self.c.expect(b')', "after the expression of an extent")?;
                    d
                }
                b'*' => {
                    return Err(self.c.error(
                        Code::Syntax,
                        "a tensor needs a rank: write a `?` for each axis",
                    ));
                }
                _ if self.is_complex() => break,
                _ => {
                    let before = self.c.clone();
                    let name = self.c.symbol();
                    if self.c.byte() != b'x' {
                        self.c = before;
                        break;
                    }
                    if name.is_empty() || name.starts_with("tgraph.") {
                        return Err(self
                            .c
                            .error(Code::Syntax, "a dimension is missing before this `x`")
                            .note(NO_X));
                    }
                    Dim::sym(name)
                }
            };
            dims.push(dim);
            if self.c.peek() != b'x' {
                let found = self.c.found();
                let text = format!(
                    "expected `x` and the rest of the type after a dimension, found {found}"
                );
                return Err(self.c.error(Code::Syntax, text));
            }
            self.c.bump();
        }
        let named = dims.iter().any(|d| d.as_sym().is_some());
        let loc = self.c.here();
        let dtype = self
            .dtype()
            .map_err(|e| if named { e.note(NO_X) } else { e })?;
        check_element(dtype).map_err(|e| e.at(loc))?;
        self.c.expect(b'>', "after the element type")?;
        let shape: Shape = if dims.is_empty() {
            Shape::scalar()
        } else {
            dims.into_iter().collect()
        };
        Ok(Type::new(dtype, shape))
    }

    /// Whether `complex<` is next, which is no name of a dimension although it contains an `x`.
    fn is_complex(&self) -> bool {
        let mut c = self.c.clone();
        c.eat_str("complex") && c.eat(b'<')
    }

    /// Parses `?` or `?name`, up to the next `x`.
    fn unknown(&mut self) -> Dim {
        let start = self.c.pos();
        self.c.bump();
        self.c.symbol();
        Dim::sym(&self.c.src()[start..self.c.pos()])
    }

    /// Parses an opaque type, whose `!` is next.
    fn opaque(&mut self) -> Result<DType> {
        self.nested(|p| {
            let loc = p.c.here();
            p.c.bump();
            let name = p.c.name("the name of an opaque type")?;
            let entry = p.table.opaque(&name).map_err(|e| e.at(loc))?;
            let mut parameters = p.attrs_between(b'<', b'>')?;
            let ty = (entry.parse)(&mut parameters).map_err(|e| e.at(loc))?;
            parameters
                .finish(&format!("!{}", entry.name))
                .map_err(|e| e.at(loc))?;
            Ok(DType::Opaque(ty))
        })
    }

    /// Parses an element type, or an opaque type.
    pub(super) fn dtype(&mut self) -> Result<DType> {
        let loc = self.c.here();
        if self.c.byte() == b'!' {
            return self.opaque();
        }
        let start = self.c.pos();
        let word = self.c.word();
        if word == "complex" && self.c.eat(b'<') {
            self.c.ws();
            let part = self.c.word();
            self.c.expect(b'>', "after the parts' element type")?;
            if let Some(d) = DType::parse(&format!("complex<{part}>")) {
                return Ok(d);
            }
        }
        let name = &self.c.src()[start..self.c.pos()];
        if let Some(d) = DType::parse(name) {
            return Ok(d);
        }
        if name.is_empty() || name.starts_with("tgraph.") {
            let found = if name.is_empty() {
                self.c.found()
            } else {
                format!("`{}`", clip(name))
            };
            return Err(
                Error::new(Code::Syntax, format!("expected a type, found {found}")).at(loc),
            );
        }
        let hint = did_you_mean(name, "", DType::ALL.map(DType::name));
        let all = DType::ALL.map(DType::name).join(" ");
        Err(Error::new(
            Code::UnknownDType,
            format!("unknown element type `{}`{hint}", clip(name)),
        )
        .at(loc)
        .note(format!(
            "element types: {all} (also complex<f32>, complex<f64>)"
        )))
    }

    /// Parses an expression of an extent.
    pub(super) fn dim(&mut self) -> Result<Dim> {
        Ok(Dim::from_poly(self.poly()?))
    }

    fn poly(&mut self) -> Result<Poly> {
        self.nested(|p| {
            let negative = p.c.eat(b'-');
            let first = p.term()?;
            let mut sum = if negative {
                Poly::default().plus(&first, -1)
            } else {
                first
            };
            loop {
                let sign = match p.c.peek() {
                    b'+' => 1,
                    b'-' if p.c.second() != b'>' => -1,
                    _ => return Ok(sum),
                };
                p.c.bump();
                sum = sum.plus(&p.term()?, sign);
                p.small(sum.len(), 0)?;
            }
        })
    }

    fn term(&mut self) -> Result<Poly> {
        let mut product = self.atom()?;
        while self.c.eat(b'*') {
            let next = self.atom()?;
            // A product of long sums is not expanded.
            self.small(
                product.len().max(next.len()),
                product.degree() + next.degree(),
            )?;
            product = product.times(&next);
        }
        Ok(product)
    }

    fn small(&mut self, terms: usize, factors: usize) -> Result<()> {
        if terms > MAX_TERMS || factors > MAX_FACTORS {
            return Err(self
                .c
                .error(Code::Limit, "this expression of an extent is too large"));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<Poly> {
        let sym = |name: &str| Poly::atom(Atom::Sym(name.into()));
        match self.c.peek() {
            b'0'..=b'9' => Ok(Poly::constant(self.c.natural()? as i64)),
            b'"' => Ok(sym(&self.c.string()?)),
            b'?' => {
                let start = self.c.pos();
                self.c.bump();
                self.c.word();
                Ok(sym(&self.c.src()[start..self.c.pos()]))
            }
            b'(' => {
                self.c.bump();
                let p = self.poly()?;
                self.c.expect(b')', "after the expression of an extent")?;
                Ok(p)
            }
            _ => {
                let name = self.c.word();
                match name {
                    "" => {
                        let found = self.c.found();
                        Err(self
                            .c
                            .error(Code::Syntax, format!("expected an extent, found {found}")))
                    }
                    "floordiv" if self.c.eat(b'(') => {
                        let p = self.poly()?;
                        self.c.expect(b',', "before the divisor of `floordiv`")?;
                        let d = self.c.natural()?;
                        self.c.expect(b')', "after the divisor of `floordiv`")?;
                        if d == 0 {
                            return Err(self.c.error(
                                Code::Attribute,
                                "`floordiv` divides by a positive number, got 0",
                            ));
                        }
                        Ok(Dim::from_poly(p).floor_div(d).poly())
                    }
                    "max" if self.c.eat(b'(') => {
                        let p = self.poly()?;
                        self.c.expect(b',', "before the 0 of `max(.., 0)`")?;
                        if self.c.natural()? != 0 {
                            return Err(self
                                .c
                                .error(Code::Syntax, "an extent supports `max(.., 0)` only"));
                        }
                        self.c.expect(b')', "after `max(.., 0`")?;
                        Ok(relu(p))
                    }
                    name => Ok(sym(name)),
                }
            }
        }
    }
}

/// Whether a symbol can be written in a type without parentheses.
pub(super) fn stands_bare(sym: &str) -> bool {
    let name = sym.strip_prefix('?').unwrap_or(sym);
    let bare = name
        .chars()
        .all(|c| c != 'x' && c != '.' && is_name_char(c));
    bare && !name.starts_with(|c: char| c.is_numeric()) && (!name.is_empty() || sym == HOLE)
}

/// Prints a type. Extents accepted by `open` are printed as `?`.
pub(super) fn write_type(out: &mut String, t: &Type, open: &dyn Fn(&Dim) -> bool) {
    if t.rank() == 0 {
        out.push_str(t.dtype.name());
        return;
    }
    out.push_str("tensor<");
    for d in t.shape.iter() {
        match (d, d.as_sym()) {
            (Dim::Const(c), _) => {
                let _ = write!(out, "{c}");
            }
            _ if open(d) => out.push('?'),
            (_, Some(s)) if stands_bare(s) => out.push_str(s),
            _ => {
                let _ = write!(out, "({d})");
            }
        }
        out.push('x');
    }
    out.push_str(t.dtype.name());
    out.push('>');
}
