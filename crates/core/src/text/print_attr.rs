//! Printing of attribute values. Parsing the text gives the same bits.

use super::attrs::MAX_SPLAT;
use super::types::write_type;
use crate::array::{Array, Data, write_float, write_pair};
use crate::dtype::DType;
use crate::ir::Attr;
use crate::names::{is_name, quoted};
use crate::shape::Dim;
use std::fmt::{self, Write};

impl fmt::Display for Attr {
    /// The value in the text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        attr(&mut out, self);
        f.write_str(&out)
    }
}

/// Prints a value that is not a region.
pub(super) fn attr(out: &mut String, a: &Attr) {
    a.write(out, &mut |out, a| match a {
        Attr::Dim(d) => dim(out, d),
        Attr::Array(a) => array(out, a),
        Attr::Fn(f) => {
            let _ = write!(out, "@{}", crate::names::written(&f.name));
        }
        Attr::Num(_) | Attr::Bool(_) | Attr::Str(_) | Attr::DType(_) | Attr::List(_) => {}
    });
}

/// Prints an extent. A symbol that would parse as another value is written in parentheses and
/// quotes.
fn dim(out: &mut String, d: &Dim) {
    let _ = match d.as_sym() {
        Some(s) if is_name(s) && !is_word(s) => write!(out, "{s}"),
        Some(s) if s.strip_prefix('?').is_some_and(is_name) => write!(out, "{s}"),
        Some(s) => write!(out, "({})", quoted(s)),
        None => write!(out, "{d}"),
    };
}

/// Words that are not parsed as a symbol.
fn is_word(s: &str) -> bool {
    matches!(s, "true" | "false" | "inf" | "nan" | "dense" | "complex")
        || DType::parse(s).is_some()
        || !s.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
}

fn array(out: &mut String, a: &Array) {
    let same = a.len() > 1 && a.len() <= MAX_SPLAT && all_same(a);
    out.push_str("dense<");
    if same || a.shape().is_empty() {
        element(out, a.data(), 0);
    } else if a.is_empty() {
        out.push_str("[]");
    } else {
        // A bracket opens at the first index of an axis and closes at the last.
        let shape = a.shape();
        for i in 0..a.len() {
            let ends = |from: usize| {
                let mut n = 0;
                let mut size = 1;
                for &d in shape.iter().rev() {
                    size *= d;
                    if !from.is_multiple_of(size) {
                        break;
                    }
                    n += 1;
                }
                n
            };
            if i > 0 {
                out.push_str(", ");
            }
            (0..ends(i)).for_each(|_| out.push('['));
            element(out, a.data(), i);
            (0..ends(i + 1)).for_each(|_| out.push(']'));
        }
    }
    out.push_str("> : ");
    write_type(out, &a.ty(), &|_| false);
}

fn all_same(a: &Array) -> bool {
    let (mut first, mut other) = (String::new(), String::new());
    element(&mut first, a.data(), 0);
    (1..a.len()).all(|i| {
        other.clear();
        element(&mut other, a.data(), i);
        other == first
    })
}

fn element(out: &mut String, data: &Data, i: usize) {
    let _ = match data {
        Data::Bool(v) => write!(out, "{}", v[i]),
        Data::I8(v) => write!(out, "{}", v[i]),
        Data::I16(v) => write!(out, "{}", v[i]),
        Data::I32(v) => write!(out, "{}", v[i]),
        Data::I64(v) => write!(out, "{}", v[i]),
        Data::U8(v) => write!(out, "{}", v[i]),
        Data::U16(v) => write!(out, "{}", v[i]),
        Data::U32(v) => write!(out, "{}", v[i]),
        Data::U64(v) => write!(out, "{}", v[i]),
        Data::F16(v) => write_float(out, v[i].to_f32()),
        Data::BF16(v) => write_float(out, v[i].to_f32()),
        Data::F32(v) => write_float(out, v[i]),
        Data::F64(v) => write_float(out, v[i]),
        Data::C64(v) => write_pair(out, v[i].re, v[i].im),
        Data::C128(v) => write_pair(out, v[i].re, v[i].im),
    };
}
