//! Attributes of operations, in braces in the text form.

use super::Function;
use crate::array::{Array, Scalar};
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::names::quoted;
use crate::shape::Dim;
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum Attr {
    /// An integer, float or complex number.
    Num(Scalar),
    /// `true`, `false`.
    Bool(bool),
    /// A word or a quoted string.
    Str(String),
    /// An element type.
    DType(DType),
    /// A symbolic dimension.
    Dim(Dim),
    /// `[a, b]`.
    List(Vec<Attr>),
    /// A dense constant.
    Array(Array),
    /// A function: `@name` or a region.
    Fn(Arc<Function>),
}

impl Attr {
    /// Prints a number, a boolean, a word, an element type, or a list. `other` prints values of
    /// other kinds.
    pub(crate) fn write(&self, out: &mut String, other: &mut dyn FnMut(&mut String, &Attr)) {
        match self {
            Attr::Num(s) => {
                let _ = write!(out, "{s}");
            }
            Attr::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Attr::Str(s) => out.push_str(&quoted(s)),
            Attr::DType(d) => out.push_str(d.name()),
            Attr::List(v) => {
                out.push('[');
                for (i, a) in v.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    a.write(out, other);
                }
                out.push(']');
            }
            Attr::Dim(_) | Attr::Array(_) | Attr::Fn(_) => other(out, self),
        }
    }
}

/// Attributes by name, in order.
#[derive(Clone, Debug, Default)]
pub struct Attrs(pub Vec<(Cow<'static, str>, Attr)>);

impl Attrs {
    /// Adds an attribute (builder style).
    pub fn with(mut self, name: &'static str, value: impl Into<Attr>) -> Attrs {
        self.0.push((name.into(), value.into()));
        self
    }

    /// Adds an attribute if the condition holds: default values are not printed.
    pub fn with_if(self, cond: bool, name: &'static str, value: impl Into<Attr>) -> Attrs {
        if cond { self.with(name, value) } else { self }
    }

    /// Removes an attribute and returns it.
    pub fn take(&mut self, name: &str) -> Option<Attr> {
        let i = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.remove(i).1)
    }

    /// Removes an attribute of type `T`. Returns an error if it is missing or of another type.
    pub fn get<T: FromAttr>(&mut self, name: &str) -> Result<T> {
        match self.opt(name)? {
            Some(v) => Ok(v),
            None => bail!(
                Attribute,
                "the attribute `{name}` ({}) is missing",
                T::what()
            ),
        }
    }

    /// Removes an attribute of type `T`, if it is present. Returns an error if it is of another
    /// type.
    pub fn opt<T: FromAttr>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(a) = self.take(name) else {
            return Ok(None);
        };
        match T::from_attr(&a) {
            Some(v) => Ok(Some(v)),
            None => bail!(Attribute, "the attribute `{name}` must be {}", T::what()),
        }
    }

    /// Returns an error if an attribute was not read.
    pub fn finish(&self, op: &str) -> Result<()> {
        match self.0.first() {
            Some((name, _)) => bail!(Attribute, "`{op}` has no attribute `{name}`"),
            None => Ok(()),
        }
    }
}

/// A type that an attribute can be read as.
pub trait FromAttr: Sized {
    /// Description for error messages: "a number".
    const WHAT: &'static str;
    /// Description with that of its elements: "a list in brackets, each a number".
    fn what() -> String {
        Self::WHAT.into()
    }
    /// The value, if it has this type.
    fn from_attr(a: &Attr) -> Option<Self>;
}

impl FromAttr for usize {
    const WHAT: &'static str = "a non-negative number";
    fn from_attr(a: &Attr) -> Option<usize> {
        i64::from_attr(a).and_then(|i| i.try_into().ok())
    }
}

impl FromAttr for i64 {
    const WHAT: &'static str = "an integer";
    fn from_attr(a: &Attr) -> Option<i64> {
        match a {
            Attr::Num(Scalar::I(i)) => (*i).try_into().ok(),
            Attr::Dim(Dim::Const(c)) => (*c).try_into().ok(),
            _ => None,
        }
    }
}

impl FromAttr for f64 {
    const WHAT: &'static str = "a number";
    fn from_attr(a: &Attr) -> Option<f64> {
        match a {
            Attr::Num(Scalar::I(i)) => Some(*i as f64),
            Attr::Num(Scalar::F(x)) => Some(*x),
            _ => None,
        }
    }
}

impl FromAttr for Scalar {
    const WHAT: &'static str = "a number";
    fn from_attr(a: &Attr) -> Option<Scalar> {
        match a {
            Attr::Num(s) => Some(*s),
            Attr::Bool(b) => Some((*b).into()),
            _ => None,
        }
    }
}

impl FromAttr for bool {
    const WHAT: &'static str = "true or false";
    fn from_attr(a: &Attr) -> Option<bool> {
        match a {
            Attr::Bool(b) => Some(*b),
            _ => None,
        }
    }
}

impl FromAttr for String {
    const WHAT: &'static str = "a word";
    fn from_attr(a: &Attr) -> Option<String> {
        match a {
            Attr::Str(s) => Some(s.clone()),
            _ => None,
        }
    }
}

impl FromAttr for DType {
    const WHAT: &'static str = "an element type";
    fn from_attr(a: &Attr) -> Option<DType> {
        match a {
            Attr::DType(d) => Some(*d),
            Attr::Str(s) => DType::parse(s),
            _ => None,
        }
    }
}

impl FromAttr for Dim {
    const WHAT: &'static str = "a dimension (a number that is not negative, or a name)";
    fn from_attr(a: &Attr) -> Option<Dim> {
        match a {
            Attr::Dim(d) => Some(d.clone()),
            Attr::Str(s) => Some(Dim::sym(s)),
            _ => usize::from_attr(a).map(Dim::Const),
        }
    }
}

impl FromAttr for Arc<Function> {
    const WHAT: &'static str = "a module name or a region";
    fn from_attr(a: &Attr) -> Option<Arc<Function>> {
        match a {
            Attr::Fn(f) => Some(f.clone()),
            _ => None,
        }
    }
}

impl FromAttr for Array {
    const WHAT: &'static str = "an array";
    fn from_attr(a: &Attr) -> Option<Array> {
        match a {
            Attr::Array(x) => Some(x.clone()),
            _ => None,
        }
    }
}

impl FromAttr for Attr {
    const WHAT: &'static str = "a value";
    fn from_attr(a: &Attr) -> Option<Attr> {
        Some(a.clone())
    }
}

impl<T: FromAttr> FromAttr for Vec<T> {
    const WHAT: &'static str = "a list in brackets";
    fn what() -> String {
        format!("{}, each {}", Self::WHAT, T::what())
    }
    fn from_attr(a: &Attr) -> Option<Vec<T>> {
        match a {
            Attr::List(v) => v.iter().map(T::from_attr).collect(),
            _ => None,
        }
    }
}

impl From<usize> for Attr {
    fn from(v: usize) -> Attr {
        Attr::Num(Scalar::I(v as i128))
    }
}

impl From<i64> for Attr {
    fn from(v: i64) -> Attr {
        Attr::Num(Scalar::I(v.into()))
    }
}

impl From<Scalar> for Attr {
    fn from(v: Scalar) -> Attr {
        Attr::Num(v)
    }
}

impl From<bool> for Attr {
    fn from(v: bool) -> Attr {
        Attr::Bool(v)
    }
}

impl From<&str> for Attr {
    fn from(v: &str) -> Attr {
        Attr::Str(v.into())
    }
}

impl From<DType> for Attr {
    fn from(v: DType) -> Attr {
        Attr::DType(v)
    }
}

impl From<Dim> for Attr {
    fn from(v: Dim) -> Attr {
        match v {
            Dim::Const(c) => c.into(),
            d => Attr::Dim(d),
        }
    }
}

impl From<Array> for Attr {
    fn from(v: Array) -> Attr {
        Attr::Array(v)
    }
}

impl From<Arc<Function>> for Attr {
    fn from(v: Arc<Function>) -> Attr {
        Attr::Fn(v)
    }
}

impl<T: Clone + Into<Attr>> From<&[T]> for Attr {
    fn from(v: &[T]) -> Attr {
        Attr::List(v.iter().cloned().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Attr>> From<&Vec<T>> for Attr {
    fn from(v: &Vec<T>) -> Attr {
        v.as_slice().into()
    }
}
