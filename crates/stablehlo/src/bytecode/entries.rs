//! Attributes and types of a bytecode file, in the forms of the syntax tree. An entry is read when
//! it is first used.
//!
//! Entries refer to others by number, so they form a graph. Cycles, deep nesting and attributes
//! that are large when shared parts are counted at each use are errors.

use super::cursor::Cursor;
use super::file::{Entry, File};
use crate::ast::{Attr, Dense, Elements, MAX_NESTED, NamedAttrs, Ty};
use cotangent_core::ops::Format;
use cotangent_core::{Code, Dim, Error, Result, bf16, f16};
use std::borrow::Cow;
use std::rc::Rc;

/// Maximum size of an attribute or type, in nodes. A shared part counts at each use.
const MAX_ENTRY_NODES: usize = 1 << 20;

/// The extent of a VHLO type that is unknown.
const UNKNOWN_EXTENT: i64 = i64::MIN;

/// The state of an entry.
#[derive(Clone, Debug)]
enum State<T> {
    Unread,
    /// It is being read: a use of it is a cycle.
    Open,
    /// Its value and size in nodes.
    Read(Result<(T, usize)>),
}

/// Attributes and types by number.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    pub file: File<'a>,
    attributes: Vec<State<Attr<'a>>>,
    types: Vec<State<Ty>>,
    /// Current nesting depth.
    depth: usize,
    /// Nodes of the entry that is being read.
    nodes: usize,
}

impl<'a> Entries<'a> {
    /// The entries of a file, unread.
    pub(super) fn new(file: File<'a>) -> Entries<'a> {
        Entries {
            attributes: vec![State::Unread; file.attributes.len()],
            types: vec![State::Unread; file.types.len()],
            file,
            depth: 0,
            nodes: 0,
        }
    }

    /// Reads the number of an attribute, and the attribute.
    pub(super) fn attr(&mut self, c: &mut Cursor<'a>) -> Result<Attr<'a>> {
        let v = c.varint()?;
        self.attr_at(v, c)
    }

    /// The attribute of a number that was read before `c`.
    pub(super) fn attr_at(&mut self, v: u64, c: &Cursor<'a>) -> Result<Attr<'a>> {
        let i = c.below(v, "attribute", self.attributes.len())?;
        let entry = self.file.attributes[i];
        self.resolve(|e| &mut e.attributes, entry, i, Entries::attribute)
    }

    /// Reads the number of a type, and the type.
    pub(super) fn ty(&mut self, c: &mut Cursor<'a>) -> Result<Ty> {
        let v = c.varint()?;
        self.ty_at(v, c)
    }

    /// The type of a number that was read before `c`.
    pub(super) fn ty_at(&mut self, v: u64, c: &Cursor<'a>) -> Result<Ty> {
        let i = c.below(v, "type", self.types.len())?;
        let entry = self.file.types[i];
        self.resolve(|e| &mut e.types, entry, i, Entries::type_of)
    }

    /// Reads the number of a string, and the string.
    fn string(&self, c: &mut Cursor<'a>) -> Result<Cow<'a, str>> {
        let i = c.index("string", self.file.strings.len())?;
        Ok(String::from_utf8_lossy(self.file.strings[i]))
    }

    /// Reads the number of a dictionary, and its attributes. One that cannot be read is skipped,
    /// unless `is_needed` of its name.
    pub(super) fn dictionary(
        &mut self,
        c: &mut Cursor<'a>,
        is_needed: impl Fn(&str) -> bool,
    ) -> Result<NamedAttrs<'a>> {
        const DICTIONARY: u64 = 1;
        let i = c.index("attribute", self.attributes.len())?;
        let Entry {
            dialect,
            mut data,
            encoded,
        } = self.file.attributes[i];
        if dialect != "builtin" || !encoded || data.varint()? != DICTIONARY {
            return Err(data.error("expected a dictionary of attributes"));
        }
        let all = data.list(|c| {
            let name = self.name(c)?;
            let before = *c;
            let value = self.attr(c).or_else(|e| match is_needed(&name) {
                true => Err(e),
                false => {
                    *c = before;
                    c.varint()?;
                    Ok(Attr::Skipped)
                }
            })?;
            Ok((name, value))
        })?;
        data.finish("a dictionary")?;
        Ok(all)
    }

    /// Reads the number of an attribute that is a name.
    fn name(&mut self, c: &mut Cursor<'a>) -> Result<Cow<'a, str>> {
        let at = *c;
        match self.attr(c)? {
            Attr::Str(name) => Ok(name),
            _ => Err(at.error("expected the name of an attribute")),
        }
    }

    /// The value of an entry. It is read by `read` unless it was read before.
    fn resolve<T: Clone>(
        &mut self,
        states: fn(&mut Self) -> &mut Vec<State<T>>,
        entry: Entry<'a>,
        i: usize,
        read: fn(&mut Self, Entry<'a>) -> Result<T>,
    ) -> Result<T> {
        let value = match states(self)[i].clone() {
            State::Read(value) => value,
            State::Open => return Err(entry.data.error("this attribute or type contains itself")),
            State::Unread if self.depth == MAX_NESTED => {
                let text = format!("attributes and types nest deeper than {MAX_NESTED} levels");
                return Err(Error::new(Code::Limit, text).at(entry.data.loc()));
            }
            State::Unread => {
                states(self)[i] = State::Open;
                let outer = std::mem::replace(&mut self.nodes, 1);
                self.depth += 1;
                let value = read(self, entry).map(|v| (v, self.nodes));
                self.depth -= 1;
                self.nodes = outer;
                states(self)[i] = State::Read(value.clone());
                value
            }
        };
        let (value, nodes) = value?;
        if self.depth > 0 {
            self.nodes = self.nodes.saturating_add(nodes);
            if self.nodes > MAX_ENTRY_NODES {
                let text = format!("an attribute or type of more than {MAX_ENTRY_NODES} parts");
                return Err(Error::new(Code::Limit, text).at(entry.data.loc()));
            }
        }
        Ok(value)
    }

    fn attribute(&mut self, entry: Entry<'a>) -> Result<Attr<'a>> {
        let mut c = entry.data;
        let attr = match (entry.dialect, entry.encoded) {
            ("builtin", true) => self.builtin_attribute(&mut c)?,
            ("vhlo", true) => self.vhlo_attribute(&mut c)?,
            // Text, and shardings: there is one device.
            _ => return Ok(Attr::Skipped),
        };
        match attr {
            Some(attr) => c.finish("an attribute").map(|()| attr),
            None => Ok(Attr::Skipped),
        }
    }

    /// `None` for a location.
    fn builtin_attribute(&mut self, c: &mut Cursor<'a>) -> Result<Option<Attr<'a>>> {
        let pos = c.loc();
        Ok(Some(match c.varint()? {
            0 => Attr::List(c.list(|c| self.attr(c))?.into()),
            1 => Attr::Dict(c.list(|c| Ok((self.name(c)?, self.attr(c)?)))?.into()),
            2 => Attr::Str(self.string(c)?),
            3 => {
                let text = self.string(c)?;
                self.ty(c)?;
                Attr::Str(text)
            }
            4 => Attr::Symbol(self.name(c)?),
            5 => {
                let root = self.name(c)?;
                c.list(|c| self.name(c))?;
                Attr::Symbol(root)
            }
            6 => Attr::Type(self.ty(c)?),
            7 => Attr::Unit,
            8 | 9 => self.number(c)?,
            10..=15 | 22 => return Ok(None),
            17 => {
                let element = self.ty(c)?;
                let n = c.varint()?;
                let bytes = c.blob()?;
                let all = numbers(&element, bytes).filter(|l| l.len() as u64 == n);
                Attr::List(
                    all.ok_or_else(|| c.error(format!("this is no array of {n} numbers")))?
                        .into(),
                )
            }
            18 => self.constant(c, pos)?,
            code => return Err(unknown(c, "an attribute", "builtin", code)),
        }))
    }

    fn vhlo_attribute(&mut self, c: &mut Cursor<'a>) -> Result<Option<Attr<'a>>> {
        let pos = c.loc();
        Ok(Some(match c.varint()? {
            1 => Attr::List(c.list(|c| self.attr(c))?.into()),
            2 => Attr::Bool(c.varint()? != 0),
            3 => word(c, &["EQ", "NE", "GE", "GT", "LE", "LT"])?,
            4 => word(c, &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"])?,
            // The version of a custom call's interface is a number in StableHLO.
            5 => Attr::Int(c.varint()?.into()),
            6 => Attr::Dict(c.list(|c| Ok((self.name(c)?, self.attr(c)?)))?.into()),
            7 => word(c, &["FFT", "IFFT", "RFFT", "IRFFT"])?,
            8 | 9 => self.number(c)?,
            10 => record([
                ("output_tuple_indices", integers(c)?),
                ("operand_index", Attr::Int(c.signed()?.into())),
                ("operand_tuple_indices", integers(c)?),
            ]),
            11 => word(c, &["DEFAULT", "HIGH", "HIGHEST"])?,
            12 => word(c, &["DEFAULT", "THREE_FRY", "PHILOX"])?,
            13 => word(c, &["INVALID", "UNIFORM", "NORMAL"])?,
            14 => Attr::Str(self.string(c)?),
            15 => self.constant(c, pos)?,
            16 => word(
                c,
                &["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"],
            )?,
            17 => Attr::Type(self.ty(c)?),
            18 => integers(c)?,
            19 => word(c, &["DEFAULT", "HIGHEST", "TOLERANCE"])?,
            20 => record([
                ("atol", Attr::Float(f64::from_bits(c.bits(64)? as u64))),
                ("rtol", Attr::Float(f64::from_bits(c.bits(64)? as u64))),
                ("ulps", Attr::Int(c.signed()?.into())),
                ("mode", self.attr(c)?),
            ]),
            21 => record([
                ("pre_size", Attr::Int(c.signed()?.into())),
                ("size", Attr::Int(c.signed()?.into())),
            ]),
            22 => {
                let name = self.attr(c)?;
                let part = match c.varint()? {
                    0 => Attr::Unit,
                    _ => self.attr(c)?,
                };
                record([("name", name), ("sub_axis_info", part)])
            }
            23 => record([("mesh", self.attr(c)?), ("axes", self.attr(c)?)]),
            24 => record([
                ("name", self.attr(c)?),
                ("size", Attr::Int(c.signed()?.into())),
            ]),
            25 => {
                let axes = self.attr(c)?;
                record([("axes", axes), ("device_ids", self.optional(c)?)])
            }
            code => return Err(unknown(c, "an attribute", "vhlo", code)),
        }))
    }

    /// Reads a flagged number of an attribute: absent without the flag.
    fn optional(&mut self, c: &mut Cursor<'a>) -> Result<Attr<'a>> {
        let (i, is_there) = c.flagged()?;
        if !is_there {
            return Ok(Attr::Unit);
        }
        let i = c.below(i, "attribute", self.attributes.len())?;
        let entry = self.file.attributes[i];
        self.resolve(|e| &mut e.attributes, entry, i, Entries::attribute)
    }

    /// Reads a type and a number of this type.
    fn number(&mut self, c: &mut Cursor<'a>) -> Result<Attr<'a>> {
        let ty = self.ty(c)?;
        let Some(element) = Element::of(&ty) else {
            return Err(c.error("this type has no numbers"));
        };
        let bits = c.bits(element.width())?;
        element
            .number(bits)
            .ok_or_else(|| c.error(format!("numbers of type {} are not supported", element.0)))
    }

    /// Reads a tensor type and the bytes of a constant.
    fn constant(&mut self, c: &mut Cursor<'a>, pos: cotangent_core::Loc) -> Result<Attr<'a>> {
        let ty = Some(self.ty(c)?);
        let elements = Elements::Bytes(c.blob()?);
        Ok(Attr::Dense(Rc::new(Dense { pos, elements, ty })))
    }

    fn type_of(&mut self, entry: Entry<'a>) -> Result<Ty> {
        let mut c = entry.data;
        let ty = match (entry.dialect, entry.encoded) {
            ("builtin", true) => self.builtin_type(&mut c)?,
            ("vhlo", true) => self.vhlo_type(&mut c)?,
            (_, false) => other(&String::from_utf8_lossy(c.terminated()?)),
            (dialect, true) => return Err(c.error(format!("a type of the dialect `{dialect}`"))),
        };
        c.finish("a type")?;
        Ok(ty)
    }

    fn builtin_type(&mut self, c: &mut Cursor<'a>) -> Result<Ty> {
        Ok(match c.varint()? {
            0 => {
                let v = c.varint()?;
                let sign = match v & 3 {
                    0 => "",
                    1 => "s",
                    _ => "u",
                };
                other(&format!("{sign}i{}", v >> 2))
            }
            1 => other("index"),
            2 => self.function_type(c)?,
            3 => other("bf16"),
            4 => other("f16"),
            5 => other("f32"),
            6 => other("f64"),
            9 => self.complex(c)?,
            12 => other("none"),
            13 => {
                let shape = c.list(Cursor::signed)?;
                self.tensor(&shape, c)?
            }
            code => return Err(unknown(c, "a type", "builtin", code)),
        })
    }

    fn vhlo_type(&mut self, c: &mut Cursor<'a>) -> Result<Ty> {
        Ok(match c.varint()? {
            0 => other("i1"),
            1 => self.complex(c)?,
            2 => other("bf16"),
            3 => other("f16"),
            4 => other("f32"),
            5 => other("f64"),
            6 => other("f8E4M3FN"),
            7 => other("f8E5M2"),
            8 => self.function_type(c)?,
            9 => other("index"),
            code @ 10..=14 => other(["i4", "i8", "i16", "i32", "i64"][code as usize - 10]),
            code @ 15..=19 => other(["ui4", "ui8", "ui16", "ui32", "ui64"][code as usize - 15]),
            code @ (20 | 21) => {
                // Bounds of unknown extents decide nothing.
                if code == 21 {
                    self.attr(c)?;
                }
                let shape = c.list(Cursor::signed)?;
                self.tensor(&shape, c)?
            }
            22 => Ty::Token,
            23 => {
                c.list(|c| self.ty(c))?;
                other("tuple")
            }
            code @ (24 | 30) => self.quantized(c, code == 30)?,
            25 => {
                self.ty(c)?;
                other("tensor<*>")
            }
            26 => other("!shape.witness"),
            27 => other("f8E4M3FNUZ"),
            28 => other("f8E5M2FNUZ"),
            29 => other("f8E4M3B11FNUZ"),
            31 => other("i2"),
            32 => other("ui2"),
            33 => other("none"),
            34 => other("tf32"),
            35 => other("f8E4M3"),
            36 => other("f8E3M4"),
            37 => other("f4E2M1FN"),
            38 => other("f6E2M3FN"),
            39 => other("f6E3M2FN"),
            40 => other("f8E8M0FNU"),
            41 => {
                c.list(Cursor::signed)?;
                self.ty(c)?;
                other("!stablehlo.buffer")
            }
            42 => {
                c.list(|c| self.ty(c))?;
                other("!stablehlo.future")
            }
            code => return Err(unknown(c, "a type", "vhlo", code)),
        })
    }

    /// Reads a quantized type, of the whole tensor or per axis. Its numbers are not supported.
    fn quantized(&mut self, c: &mut Cursor<'a>, per_axis: bool) -> Result<Ty> {
        c.varint()?;
        self.ty(c)?;
        self.ty(c)?;
        if per_axis {
            c.varint()?;
            c.signed()?;
            c.signed()?;
            c.list(|c| c.bits(64))?;
            c.list(Cursor::signed)?;
        } else {
            c.bits(64)?;
            c.signed()?;
            c.signed()?;
            c.signed()?;
        }
        Ok(other("!quant.uniform"))
    }

    fn function_type(&mut self, c: &mut Cursor<'a>) -> Result<Ty> {
        let params = c.list(|c| self.ty(c))?;
        let results = c.list(|c| self.ty(c))?;
        Ok(Ty::Function(Rc::new((params, results))))
    }

    fn complex(&mut self, c: &mut Cursor<'a>) -> Result<Ty> {
        match self.ty(c)? {
            Ty::Other(part) => Ok(other(&format!("complex<{part}>"))),
            _ => Err(c.error("a complex number has two floats")),
        }
    }

    /// Reads the element type of a tensor with these extents.
    fn tensor(&mut self, shape: &[i64], c: &mut Cursor<'a>) -> Result<Ty> {
        let element = self.ty(c)?;
        let dims = shape.iter().map(|&n| match n {
            UNKNOWN_EXTENT => Ok(Dim::sym("?")),
            n => match usize::try_from(n) {
                Ok(n) => Ok(Dim::Const(n)),
                Err(_) => Err(c.error(format!("the extent {n} is negative"))),
            },
        });
        let dims = dims.collect::<Result<Vec<Dim>>>()?;
        let Ty::Other(name) = element else {
            return Err(c.error("expected the element type of a tensor"));
        };
        let written = || {
            let extents = shape.iter().map(|n| match *n {
                UNKNOWN_EXTENT => "?x".to_owned(),
                n => format!("{n}x"),
            });
            other(&format!("tensor<{}{name}>", extents.collect::<String>()))
        };
        Ok(Ty::tensor(&name, dims).unwrap_or_else(written))
    }
}

/// A type by its name.
fn other(name: &str) -> Ty {
    Ty::Other(name.into())
}

/// The error of a code that has no meaning.
fn unknown(c: &Cursor<'_>, what: &str, dialect: &str, code: u64) -> Error {
    c.error(format!(
        "code {code} of {what} of the dialect `{dialect}` is unknown"
    ))
}

/// Reads a value of an enumeration.
fn word<'a>(c: &mut Cursor<'_>, values: &[&'static str]) -> Result<Attr<'a>> {
    let i = c.index("value of this enumeration", values.len())?;
    Ok(Attr::Word(values[i]))
}

fn integers<'a>(c: &mut Cursor<'_>) -> Result<Attr<'a>> {
    let all = c.list(|c| Ok(Attr::Int(c.signed()?.into())))?;
    Ok(Attr::List(all.into()))
}

fn record<'a, const N: usize>(fields: [(&'static str, Attr<'a>); N]) -> Attr<'a> {
    Attr::Dict(fields.map(|(name, a)| (name.into(), a)).into())
}

/// The name of an element type that has numbers.
struct Element<'t>(&'t str);

impl Element<'_> {
    fn of(ty: &Ty) -> Option<Element<'_>> {
        match ty {
            Ty::Other(name) => Some(Element(name)).filter(|e| e.width() > 0),
            _ => None,
        }
    }

    /// Number of bits, 0 if there are no numbers of this type.
    fn width(&self) -> u32 {
        if self.0 == "index" {
            return 64;
        }
        let digits = self.0.trim_start_matches(|c: char| !c.is_ascii_digit());
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        digits[..count].parse().unwrap_or(0)
    }

    fn number<'a>(&self, bits: u128) -> Option<Attr<'a>> {
        Some(match self.0 {
            "i1" => Attr::Bool(bits & 1 != 0),
            "f64" => Attr::Float(f64::from_bits(bits as u64)),
            "f32" => Attr::Float(f32::from_bits(bits as u32).into()),
            "f16" => Attr::Float(f16::from_bits(bits as u16).to_f64()),
            "bf16" => Attr::Float(bf16::from_bits(bits as u16).to_f64()),
            name if name.starts_with("ui") => Attr::Int(i128::try_from(bits).ok()?),
            name if name.starts_with(['i', 's']) => {
                let unused = 128 - self.width();
                Attr::Int((bits as i128) << unused >> unused)
            }
            name => Attr::Float(Format::parse(name)?.decode(bits as u32)),
        })
    }
}

/// The numbers of an array from their bytes.
fn numbers<'a>(element: &Ty, bytes: &[u8]) -> Option<Vec<Attr<'a>>> {
    let element = Element::of(element)?;
    let size = element.width().div_ceil(8) as usize;
    if size > 8 || !bytes.len().is_multiple_of(size) {
        return None;
    }
    let one = |b: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(b);
        element.number(u64::from_le_bytes(word).into())
    };
    bytes.chunks_exact(size).map(one).collect()
}
