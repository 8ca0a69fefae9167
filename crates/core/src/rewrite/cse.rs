//! Common subexpressions: one equation for equal operations on equal operands.
//!
//! Name, attributes, operands and the type they give determine an operation, so they are the key:
//! as they are ([`Plain`]) or spelled out. Operations with bodies are not merged: a checkpoint
//! computes again on purpose. Nothing is known of the state of an operation of another crate: it is
//! equal to itself alone, unless it has a key of its own
//! ([`Primitive::key`](crate::Primitive::key)).

use crate::array::{Array, Wide};
use crate::ir::{Attr, Op, Val, Vals};
use crate::ops::{Binary, Plain};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Operation and operands.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key(Name, Vals);

/// An operation, as it is, spelled out, or by identity. The operation is kept, so that its address
/// is not used again.
enum Name {
    Plain(Op),
    Spelled(String),
    Itself(Op),
}

impl Name {
    fn plain(&self) -> Option<Plain<'_>> {
        match self {
            Name::Plain(op) => op.plain(),
            Name::Spelled(_) | Name::Itself(_) => None,
        }
    }

    fn address(&self) -> Option<*const ()> {
        match self {
            Name::Itself(Op::Extension(p)) => Some(Arc::as_ptr(p).cast()),
            _ => None,
        }
    }

    fn spelled(&self) -> Option<&str> {
        match self {
            Name::Plain(_) | Name::Itself(_) => None,
            Name::Spelled(text) => Some(text),
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, o: &Name) -> bool {
        self.plain() == o.plain() && self.spelled() == o.spelled() && self.address() == o.address()
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (self.plain(), self.spelled(), self.address()).hash(h);
    }
}

/// Values by what computes them.
pub(super) struct Table(FxHashMap<Key, Vals>);

/// Larger constants are not compared element by element.
const MAX_ELEMENTS: usize = 256;

impl Table {
    /// A table with room for the results of so many equations.
    pub fn for_equations(n: usize) -> Table {
        Table(FxHashMap::with_capacity_and_hasher(n, Default::default()))
    }

    /// The key of an operation, if it may be merged.
    pub fn key(&self, op: &Op, x: &[Val]) -> Option<Key> {
        let mut x = Vals::from_slice(x);
        if matches!(op, Op::Binary(Binary::Add | Binary::Mul)) {
            x.sort();
        }
        if op.plain().is_some() {
            return Some(Key(Name::Plain(op.clone()), x));
        }
        if !op.regions().is_empty() {
            return None;
        }
        if let Op::Extension(p) = op {
            // A name of ours has no colon: no key reads like an operation of the list.
            let name = p.key().map_or_else(
                || Name::Itself(op.clone()),
                |k| Name::Spelled(format!("{}::{k}", p.name())),
            );
            return Some(Key(name, x));
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
        Some(Key(Name::Spelled(text), x))
    }

    pub fn get(&self, key: &Key) -> Option<&Vals> {
        self.0.get(key)
    }

    pub fn insert(&mut self, key: Key, y: Vals) {
        self.0.insert(key, y);
    }
}

/// Writes an attribute so that different ones read differently.
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
    if a.len() > MAX_ELEMENTS {
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
