//! The grammar of attribute values: numbers, words, lists, extents, dense arrays.
//!
//! ```text
//! value := number | "(" number "," number ")" | "true" | "false" | word | string | dtype | expr
//!        | "[" value,* "]" | "dense<" elements ">" ":" type | "@" name
//! ```
//! A word is a string, or an extent where the operation expects one. A single symbol that reads as
//! another value is written in parentheses and quotes: `("f32")`.

use super::cursor::scalar;
use super::parser::Parser;
use crate::array::{Array, Element, Scalar, Wide, check_element, numel};
use crate::dtype::{C64, C128, DType, bf16, f16};
use crate::error::{Code, Error, Result};
use crate::for_dtype;
use crate::ir::{Attr, Attrs};
use crate::math::{nearest_bf16, nearest_f16};
use crate::names::clip;

/// Maximum number of elements of `dense<1.0> : tensor<..>`. It bounds the memory that a short text
/// can request.
pub(super) const MAX_SPLAT: usize = 1 << 24;

impl<'s> Parser<'s> {
    /// Parses `{key = value, ..}`, if present.
    pub(super) fn attrs(&mut self) -> Result<Attrs> {
        self.attrs_between(b'{', b'}')
    }

    /// Parses `key = value, ..` between these brackets, if present.
    pub(super) fn attrs_between(&mut self, open: u8, close: u8) -> Result<Attrs> {
        let mut attrs = Attrs::default();
        if !self.c.eat(open) {
            return Ok(attrs);
        }
        while !self.c.eat(close) {
            let loc = self.c.here();
            let key = self.c.name(match close {
                b'}' => "the name of an attribute or `}`",
                _ => "the name of a parameter or `>`",
            })?;
            self.c
                .expect(b'=', &format!("after the attribute name `{}`", clip(&key)))?;
            if attrs.0.iter().any(|(k, _)| *k == key) {
                return Err(Error::new(
                    Code::DuplicateName,
                    format!("the attribute `{key}` is given twice"),
                )
                .at(loc));
            }
            let value = self.value()?;
            attrs.0.push((key.into_owned().into(), value));
            if !self.c.eat(b',') && self.c.peek() != close {
                self.c.expect(close, "or `,` after an attribute")?;
            }
        }
        Ok(attrs)
    }

    /// The value of an attribute.
    pub(super) fn value(&mut self) -> Result<Attr> {
        match self.c.peek() {
            b'"' => {
                let before = self.c.clone();
                let word = self.c.string()?;
                if !self.operator() {
                    return Ok(Attr::Str(word));
                }
                self.c = before;
                Ok(self.dim()?.into())
            }
            b'[' => self.list(),
            b'@' => Ok(Attr::Fn(self.module_here()?)),
            b'!' => Ok(Attr::DType(self.dtype()?)),
            b'?' => Ok(self.dim()?.into()),
            b'(' => self.parenthesis(),
            _ if self.c.at_number() => {
                let before = self.c.clone();
                let n = self.c.number()?;
                if !self.operator() {
                    return Ok(Attr::Num(n));
                }
                self.c = before;
                Ok(self.dim()?.into())
            }
            b'-' => Ok(self.dim()?.into()),
            _ => self.word_value(),
        }
    }

    /// Whether the next character is an operator of an expression.
    fn operator(&mut self) -> bool {
        let b = self.c.peek();
        matches!(b, b'+' | b'*') || (b == b'-' && self.c.second() != b'>')
    }

    fn word_value(&mut self) -> Result<Attr> {
        let before = self.c.clone();
        let word = self.c.word();
        match word {
            "" => {
                let found = self.c.found();
                return Err(self.c.error(
                    Code::Syntax,
                    format!("expected the value of an attribute, found {found}"),
                ));
            }
            "true" => return Ok(Attr::Bool(true)),
            "false" => return Ok(Attr::Bool(false)),
            "dense" if self.c.eat(b'<') => return self.dense(),
            _ => {}
        }
        let function = matches!(word, "max" | "floordiv") && self.c.peek() == b'(';
        if function || self.operator() {
            self.c = before;
            return Ok(self.dim()?.into());
        }
        if word == "complex" && self.c.peek() == b'<' {
            self.c = before;
            return Ok(Attr::DType(self.dtype()?));
        }
        Ok(DType::parse(word).map_or_else(|| Attr::Str(word.into()), Attr::DType))
    }

    /// A complex number or an extent.
    fn parenthesis(&mut self) -> Result<Attr> {
        let before = self.c.clone();
        self.c.bump();
        if self.c.at_number() {
            let re = self.c.number()?;
            if self.c.eat(b',') {
                let im = self.part()?;
                self.c.expect(b')', "after a complex number")?;
                let (Scalar::F(re), Scalar::F(im)) = (re.cast(DType::F64), im.cast(DType::F64))
                else {
                    unreachable!("numbers in a text are real");
                };
                return Ok(Attr::Num(Scalar::C(C128::new(re, im))));
            }
        }
        self.c = before;
        Ok(self.dim()?.into())
    }

    fn part(&mut self) -> Result<Scalar> {
        if !self.c.at_number() {
            let found = self.c.found();
            return Err(self
                .c
                .error(Code::Syntax, format!("expected a number, found {found}")));
        }
        self.c.number()
    }

    fn list(&mut self) -> Result<Attr> {
        self.nested(|p| {
            p.c.bump();
            let mut items = Vec::new();
            while !p.c.eat(b']') {
                items.push(p.value()?);
                if !p.c.eat(b',') && p.c.peek() != b']' {
                    p.c.expect(b']', "or `,` after an item of a list")?;
                }
            }
            Ok(Attr::List(items))
        })
    }

    /// Parses the elements of a dense array and its type. The elements are scanned for their shape
    /// first, then parsed as elements of the type.
    fn dense(&mut self) -> Result<Attr> {
        let loc = self.c.here();
        let mut texts: Vec<&'s str> = Vec::new();
        let mut counts: Vec<Option<usize>> = Vec::new();
        self.elements(0, &mut texts, &mut counts)?;
        self.c.expect(b'>', "after the elements")?;
        self.c.expect(
            b':',
            "and the type after the elements, as in `dense<[1.0, 2.0]> : tensor<2xf32>`",
        )?;
        let ty = self.ty()?;
        check_element(ty.dtype).map_err(|e| e.at(loc))?;
        let Some(shape) = ty.shape.as_const() else {
            let text = format!("a dense array needs numbers as extents, got {ty}");
            return Err(Error::new(Code::ShapeMismatch, text).at(loc));
        };
        let have: Vec<usize> = counts.iter().map(|c| c.unwrap_or(0)).collect();
        let width = if ty.dtype.is_complex() { 2 } else { 1 };
        let n = numel(&shape).unwrap_or(usize::MAX);
        let splat = counts.is_empty();
        let fits = splat || have == shape || (n == 0 && texts.is_empty());
        if !fits {
            let text = format!("the elements have shape {have:?}, the type is {ty}");
            return Err(Error::new(Code::ShapeMismatch, text).at(loc));
        }
        if splat && n > MAX_SPLAT {
            let text = format!(
                "a dense array of type {ty} is too large; use `constant` with a number, or `iota`"
            );
            return Err(Error::new(Code::Limit, text).at(loc));
        }
        if texts.len() != width * if splat { 1 } else { n } {
            let want = if width == 2 { "`(re, im)`" } else { "a number" };
            return Err(Error::new(
                Code::Syntax,
                format!("an element of {} is {want}", ty.dtype),
            )
            .at(loc));
        }
        match array(ty.dtype, &shape, &texts, splat) {
            Ok(a) => Ok(Attr::Array(a)),
            Err(e) => Err(e.at(loc)),
        }
    }

    /// Parses elements in nested brackets. `counts` receives the extents. Brackets of one depth
    /// have the same number of items.
    fn elements(
        &mut self,
        depth: usize,
        texts: &mut Vec<&'s str>,
        counts: &mut Vec<Option<usize>>,
    ) -> Result<()> {
        if self.c.eat(b'[') {
            return self.nested(|p| {
                if counts.len() == depth {
                    counts.push(None);
                }
                let mut n = 0;
                while !p.c.eat(b']') {
                    let leaf = !matches!(p.c.peek(), b'[');
                    if leaf != (counts.len() == depth + 1) && !(n == 0 && counts[depth].is_none()) {
                        return Err(p
                            .c
                            .error(Code::Syntax, "the brackets of a dense array are uneven"));
                    }
                    p.elements(depth + 1, texts, counts)?;
                    n += 1;
                    if !p.c.eat(b',') && p.c.peek() != b']' {
                        p.c.expect(b']', "or `,` after an element")?;
                    }
                }
                if counts[depth].is_some_and(|c| c != n) {
                    let text = format!(
                        "the rows of a dense array differ: {} and {n} items",
                        counts[depth].unwrap_or(0)
                    );
                    return Err(p.c.error(Code::ShapeMismatch, text));
                }
                counts[depth] = Some(n);
                Ok(())
            });
        }
        if self.c.eat(b'(') {
            for end in [b',', b')'] {
                self.element(texts)?;
                self.c.expect(end, "in a complex element `(re, im)`")?;
            }
            return Ok(());
        }
        self.element(texts)
    }

    fn element(&mut self, texts: &mut Vec<&'s str>) -> Result<()> {
        if self.c.at_number() {
            texts.push(self.c.number_text());
            return Ok(());
        }
        let before = self.c.clone();
        let word = self.c.word();
        if matches!(word, "true" | "false") {
            texts.push(word);
            return Ok(());
        }
        self.c = before;
        let found = self.c.found();
        Err(self
            .c
            .error(Code::Syntax, format!("expected an element, found {found}")))
    }
}

/// The array with these elements.
fn array(d: DType, shape: &[usize], texts: &[&str], splat: bool) -> Result<Array> {
    fn all<T: Element>(
        shape: &[usize],
        texts: &[&str],
        splat: bool,
        width: usize,
        one: impl Fn(&[&str]) -> Result<T>,
    ) -> Result<Array> {
        if splat {
            return Array::full(shape, one(texts)?);
        }
        Array::from_vec(
            shape,
            texts.chunks(width).map(one).collect::<Result<Vec<T>>>()?,
        )
    }
    match d {
        DType::F16 => all(shape, texts, splat, 1, |t| {
            float(t[0], d, |b| f16::from_bits(b as u16), nearest_f16)
        }),
        DType::BF16 => all(shape, texts, splat, 1, |t| {
            float(t[0], d, |b| bf16::from_bits(b as u16), nearest_bf16)
        }),
        DType::F32 => all(shape, texts, splat, 1, |t| single(t[0])),
        DType::F64 => all(shape, texts, splat, 1, |t| double(t[0])),
        DType::C64 => all(shape, texts, splat, 2, |t| {
            Ok(C64::new(single(t[0])?, single(t[1])?))
        }),
        DType::C128 => all(shape, texts, splat, 2, |t| {
            Ok(C128::new(double(t[0])?, double(t[1])?))
        }),
        _ => integers(d, shape, texts, splat),
    }
}

fn single(t: &str) -> Result<f32> {
    // Parsed at its own precision, because rounding twice may differ.
    match t.parse::<f32>() {
        Ok(v) if v.is_finite() => Ok(v),
        _ => float(t, DType::F32, |b| f32::from_bits(b as u32), |v| v as f32),
    }
}

fn double(t: &str) -> Result<f64> {
    float(t, DType::F64, f64::from_bits, |v| v)
}

/// Parses a float. Hexadecimal digits are its bits.
fn float<T>(t: &str, d: DType, bits: impl Fn(u64) -> T, round: impl Fn(f64) -> T) -> Result<T> {
    if let Some(hex) = t.strip_prefix("0x")
        && let Ok(b) = u64::from_str_radix(hex, 16)
        && hex.len() == 2 * d.size()
    {
        return Ok(bits(b));
    }
    match scalar(t).map(|s| s.cast(DType::F64)) {
        Some(Scalar::F(v)) if !t.contains("0x") => Ok(round(v)),
        _ => Err(Error::new(
            Code::DTypeMismatch,
            format!("{} is not an element of {d}", clip(t)),
        )),
    }
}

fn integers(d: DType, shape: &[usize], texts: &[&str], splat: bool) -> Result<Array> {
    let (lo, hi) = d.int_range();
    let read = |t: &&str| {
        let v = match *t {
            "true" => Some(1),
            "false" => Some(0),
            t => match scalar(t) {
                Some(Scalar::I(i)) => Some(i),
                _ => None,
            },
        };
        v.filter(|v| (lo..=hi).contains(v)).ok_or_else(|| {
            Error::new(
                Code::DTypeMismatch,
                format!("{} is not an element of {d}", clip(t)),
            )
        })
    };
    let wide = Wide::I(texts.iter().map(read).collect::<Result<_>>()?);
    if !splat {
        return wide.narrow(d, shape);
    }
    let one = wide.narrow(d, Vec::new())?;
    for_dtype!(d, T => Array::full(shape, T::slice(one.data()).expect("the element type just made")[0]))
}
