//! Common subexpressions: one equation for equal operations on equal operands.
//!
//! Name, attributes and operands determine an operation and are its key: hashed directly
//! ([`OpKey`]) or as text. Operations with regions are not merged, because a checkpoint recomputes
//! values on purpose. The state of an extension operation is unknown: it equals only itself, unless
//! it has a key ([`Primitive::key`](crate::Primitive::key)).

use crate::array::{Array, Wide};
use crate::ir::{Attr, Op, OpKey, Val, Vals};
use crate::ops::Binary;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Operation and operands.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct ExpressionKey(OpIdentity, Vals);

/// The identity of an operation: its hashable key, its text, or its address. The operation is kept
/// alive so that its address is not reused.
enum OpIdentity {
    Keyed(Op),
    Spelled(String),
    Itself(Op),
}

impl OpIdentity {
    fn key(&self) -> Option<OpKey<'_>> {
        match self {
            OpIdentity::Keyed(op) => op.key_without_text(),
            OpIdentity::Spelled(_) | OpIdentity::Itself(_) => None,
        }
    }

    fn address(&self) -> Option<*const ()> {
        match self {
            OpIdentity::Itself(Op::Extension(p)) => Some(Arc::as_ptr(p).cast()),
            _ => None,
        }
    }

    fn spelled(&self) -> Option<&str> {
        match self {
            OpIdentity::Keyed(_) | OpIdentity::Itself(_) => None,
            OpIdentity::Spelled(text) => Some(text),
        }
    }
}

impl PartialEq for OpIdentity {
    fn eq(&self, o: &OpIdentity) -> bool {
        self.key() == o.key() && self.spelled() == o.spelled() && self.address() == o.address()
    }
}

impl Eq for OpIdentity {}

impl Hash for OpIdentity {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (self.key(), self.spelled(), self.address()).hash(h);
    }
}

/// Results of equations by operation and operands.
pub(super) struct ExpressionTable(FxHashMap<ExpressionKey, Vals>);

/// Maximum number of elements of constants that are compared element by element. Larger constants
/// are not merged.
const MAX_COMPARED_ELEMENTS: usize = 256;

impl ExpressionTable {
    /// A table with capacity for the results of `n` equations.
    pub(super) fn for_equations(n: usize) -> ExpressionTable {
        ExpressionTable(FxHashMap::with_capacity_and_hasher(n, Default::default()))
    }

    /// The key of an operation, or `None` if it must not be merged.
    pub(super) fn key(&self, op: &Op, x: &[Val]) -> Option<ExpressionKey> {
        let mut x = Vals::from_slice(x);
        if matches!(op, Op::Binary(Binary::Add | Binary::Mul)) {
            x.sort();
        }
        if op.key_without_text().is_some() {
            return Some(ExpressionKey(OpIdentity::Keyed(op.clone()), x));
        }
        if !op.regions().is_empty() {
            return None;
        }
        if let Op::Extension(p) = op {
            // Names of built-in operations contain no colon, so the key of an extension cannot
            // equal one of them.
            let name = p.key().map_or_else(
                || OpIdentity::Itself(op.clone()),
                |k| OpIdentity::Spelled(format!("{}::{k}", p.name())),
            );
            return Some(ExpressionKey(name, x));
        }
        let mut text = op.name().to_owned();
        // The type of an operation without operands is not an attribute.
        match op {
            Op::Constant(c) => write!(text, "{}", c.ty).ok()?,
            Op::Iota(i) => write!(text, "{}", i.ty).ok()?,
            _ => {}
        }
        for (name, value) in op.attrs().0 {
            write!(text, ";{name}=").ok()?;
            spell(&mut text, &value)?;
        }
        Some(ExpressionKey(OpIdentity::Spelled(text), x))
    }

    pub(super) fn get(&self, key: &ExpressionKey) -> Option<&Vals> {
        self.0.get(key)
    }

    pub(super) fn insert(&mut self, key: ExpressionKey, y: Vals) {
        self.0.insert(key, y);
    }
}

/// Writes an attribute as text. Different attributes have different texts.
fn spell(out: &mut String, a: &Attr) -> Option<()> {
    match a {
        Attr::Array(a) => spell_array(out, a)?,
        Attr::Num(s) => bits(out, &s.array(kind_of(s)))?,
        Attr::Fn(_) => return None,
        Attr::List(v) => {
            out.push('[');
            for a in v {
                spell(out, a)?;
                out.push(',');
            }
            out.push(']');
        }
        other => write!(out, "{other:?}").ok()?,
    }
    Some(())
}

fn kind_of(s: &crate::array::Scalar) -> crate::DType {
    match s {
        crate::array::Scalar::I(_) => crate::DType::I64,
        crate::array::Scalar::F(_) => crate::DType::F64,
        crate::array::Scalar::C(_) => crate::DType::C128,
    }
}

fn spell_array(out: &mut String, a: &Array) -> Option<()> {
    if a.len() > MAX_COMPARED_ELEMENTS {
        return None;
    }
    write!(out, "{}", a.ty()).ok()?;
    bits(out, a)
}

fn bits(out: &mut String, a: &Array) -> Option<()> {
    match a.wide() {
        Wide::F(v) => v.iter().try_for_each(|x| write!(out, "{:x} ", x.to_bits())),
        Wide::I(v) => v.iter().try_for_each(|x| write!(out, "{x} ")),
        Wide::C(v) => v
            .iter()
            .try_for_each(|z| write!(out, "{:x}+{:x} ", z.re.to_bits(), z.im.to_bits())),
    }
    .ok()
}
