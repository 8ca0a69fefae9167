//! Dimensions, shapes and types.
//!
//! A dimension is a number or an expression over *symbols*. A symbol names an extent that is known
//! at run time. It is bound by an argument whose type mentions it, or by the result of an operation
//! with a data-dependent extent (the number of steps of a `while`). Expressions are polynomials
//! with integer coefficients over symbols and floor divisions, stored in a normal form, so equal
//! expressions compare equal:
//!
//! ```
//! use cotangent_core::shape::Dim;
//! let n = Dim::sym("n");
//! assert_eq!(n.clone() + Dim::from(1) - Dim::from(1), n);
//! assert_eq!((n.clone() * Dim::from(2)).to_string(), "2*n");
//! ```
//!
//! Two dimensions are *certainly equal*, *certainly different* or *unknown* ([`Dim::same`]);
//! unknown ones are checked at run time.

mod poly;

pub(crate) use poly::relu;
pub use poly::{Atom, Env, Extents, Poly, Sym};

use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use std::fmt;
use std::ops::{Add, Deref, Mul, Sub};
use std::sync::Arc;

/// One extent of a shape.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// Known.
    Const(usize),
    /// A symbolic extent. Never a constant polynomial.
    Expr(Arc<Poly>),
}

impl Dim {
    /// The extent with this name.
    pub fn sym(name: &str) -> Dim {
        Dim::Expr(Arc::new(Poly::atom(Atom::Sym(name.into()))))
    }

    /// The extent as a polynomial.
    pub fn poly(&self) -> Poly {
        match self {
            Dim::Const(c) => Poly::constant(i64::try_from(*c).unwrap_or(i64::MAX)),
            Dim::Expr(p) => (**p).clone(),
        }
    }

    pub(crate) fn from_poly(p: Poly) -> Dim {
        match p.as_const() {
            Some(c) => Dim::Const(c.max(0) as usize),
            None => Dim::Expr(Arc::new(p)),
        }
    }

    /// The number, if it is a constant.
    pub fn as_const(&self) -> Option<usize> {
        match self {
            Dim::Const(c) => Some(*c),
            Dim::Expr(_) => None,
        }
    }

    /// The symbol, if the dimension is a single symbol.
    pub fn as_sym(&self) -> Option<&Sym> {
        let Dim::Expr(p) = self else { return None };
        match p.0.first_key_value() {
            Some((product, 1)) if p.0.len() == 1 => match product.as_slice() {
                [Atom::Sym(s)] => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it is known to be exactly `n`.
    pub fn is(&self, n: usize) -> bool {
        *self == Dim::Const(n)
    }

    /// `Some(true)`: equal for all values of the symbols. `Some(false)`: different for all values.
    /// `None`: unknown.
    pub fn same(&self, other: &Dim) -> Option<bool> {
        match (self, other) {
            (Dim::Const(a), Dim::Const(b)) => Some(a == b),
            _ if self == other => Some(true),
            _ => (self.poly().plus(&other.poly(), -1).as_const()).map(|c| c == 0),
        }
    }

    /// `floor(self / d)`.
    pub fn floor_div(&self, d: usize) -> Dim {
        match self {
            Dim::Const(c) => Dim::Const(c / d.max(1)),
            _ if d <= 1 => self.clone(),
            Dim::Expr(p) => Dim::from_poly(p.floor_div(d as i64)),
        }
    }

    /// `max(scale * self + offset, 0)`: the extent arithmetic of pads and strides.
    pub fn affine(&self, scale: i64, offset: i64) -> Dim {
        let p = Poly::constant(offset).plus(&self.poly(), scale);
        let may_be_negative = offset < 0 || p.0.values().any(|c| *c < 0);
        Dim::from_poly(if may_be_negative { relu(p) } else { p })
    }

    /// The smaller of two extents: one of them if the order is known, otherwise
    /// `a - max(a - b, 0)`.
    pub fn least(&self, other: &Dim) -> Dim {
        match self.same(other) {
            Some(true) => {
                return if self.as_const().is_some() {
                    self.clone()
                } else {
                    other.clone()
                };
            }
            // The same expression for both orders of the operands.
            _ if other.to_string() < self.to_string() => return other.least(self),
            _ => {}
        }
        let more = relu(self.poly().plus(&other.poly(), -1));
        Dim::from_poly(self.poly().plus(&more, -1))
    }

    /// Whether it is at most `other` for all values of the symbols.
    pub fn never_exceeds(&self, other: &Dim) -> bool {
        self.same(other) == Some(true) || self.poly().plus(&other.poly(), -1).never_below(-1)
    }

    /// The extent for these values of the symbols.
    pub fn eval(&self, env: &Env) -> Result<usize> {
        match self {
            Dim::Const(c) => Ok(*c),
            Dim::Expr(p) => match usize::try_from(p.eval(env)?) {
                Ok(n) => Ok(n),
                Err(_) => bail!(
                    ShapeMismatch,
                    "the extent {self} is negative for these inputs"
                ),
            },
        }
    }

    /// The extent in another arithmetic, for example as values of a program that computes it.
    pub fn compute<E: Extents>(&self, e: &E) -> E::Number {
        match self {
            Dim::Const(c) => e.number(i64::try_from(*c).unwrap_or(i64::MAX)),
            Dim::Expr(p) => p.compute(e),
        }
    }

    /// Calls `f` with every symbol.
    pub fn syms(&self, f: &mut dyn FnMut(&Sym)) {
        if let Dim::Expr(p) = self {
            p.syms(f);
        }
    }

    /// Replaces symbols.
    pub fn subst(&self, f: &dyn Fn(&Sym) -> Option<Dim>) -> Dim {
        match self {
            Dim::Const(_) => self.clone(),
            Dim::Expr(p) => Dim::from_poly(p.subst(&|s| f(s).map(|d| d.poly()))),
        }
    }
}

impl From<usize> for Dim {
    fn from(n: usize) -> Dim {
        Dim::Const(n)
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Dim {
        Dim::sym(name)
    }
}

type OfNumbers = fn(i64, i64) -> Option<i64>;

/// A function of two extents, without polynomials if they are numbers.
fn combined(a: &Dim, b: &Dim, numbers: OfNumbers, polys: fn(&Poly, &Poly) -> Poly) -> Dim {
    let number = |d: &Dim| i64::try_from(d.as_const()?).ok();
    match number(a).zip(number(b)).and_then(|(a, b)| numbers(a, b)) {
        Some(y) => Dim::Const(y.max(0) as usize),
        None => Dim::from_poly(polys(&a.poly(), &b.poly())),
    }
}

impl Add for Dim {
    type Output = Dim;
    fn add(self, o: Dim) -> Dim {
        combined(&self, &o, i64::checked_add, |a, b| a.plus(b, 1))
    }
}

impl Sub for Dim {
    type Output = Dim;
    fn sub(self, o: Dim) -> Dim {
        combined(&self, &o, i64::checked_sub, |a, b| a.plus(b, -1))
    }
}

impl Mul for Dim {
    type Output = Dim;
    fn mul(self, o: Dim) -> Dim {
        combined(&self, &o, i64::checked_mul, Poly::times)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Const(c) => write!(f, "{c}"),
            Dim::Expr(p) => p.fmt(f),
        }
    }
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The extents of a tensor. Clones share memory.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape(Arc<[Dim]>);

impl Shape {
    /// Rank 0.
    pub fn scalar() -> Shape {
        static EMPTY: std::sync::OnceLock<Shape> = std::sync::OnceLock::new();
        EMPTY.get_or_init(|| Shape(Arc::new([]))).clone()
    }

    /// Whether both share memory: a fast test that implies equality.
    pub(crate) fn is(&self, other: &Shape) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The extents, if all are constants.
    pub fn as_const(&self) -> Option<Vec<usize>> {
        self.0.iter().map(Dim::as_const).collect()
    }

    /// The extents for these values of the symbols.
    pub fn eval(&self, env: &Env) -> Result<Vec<usize>> {
        self.0.iter().map(|d| d.eval(env)).collect()
    }

    /// Number of elements.
    pub fn numel(&self) -> Dim {
        self.0.iter().fold(Dim::Const(1), |a, d| a * d.clone())
    }

    /// Whether the ranks or some extents are certainly different.
    pub fn differs(&self, other: &[Dim]) -> bool {
        let mut pairs = self.0.iter().zip(other);
        self.rank() != other.len() || pairs.any(|(a, b)| a.same(b) == Some(false))
    }

    /// Replaces symbols.
    pub fn subst(&self, f: &dyn Fn(&Sym) -> Option<Dim>) -> Shape {
        if self.0.iter().all(|d| matches!(d, Dim::Const(_))) {
            return self.clone();
        }
        self.0.iter().map(|d| d.subst(f)).collect()
    }
}

impl Deref for Shape {
    type Target = [Dim];
    fn deref(&self) -> &[Dim] {
        &self.0
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromIterator<Dim> for Shape {
    fn from_iter<I: IntoIterator<Item = Dim>>(it: I) -> Shape {
        let dims: Vec<Dim> = it.into_iter().collect();
        if dims.is_empty() {
            Shape::scalar()
        } else {
            Shape(dims.into())
        }
    }
}

impl From<Vec<Dim>> for Shape {
    fn from(dims: Vec<Dim>) -> Shape {
        dims.into_iter().collect()
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Shape {
        dims.iter().map(|&d| Dim::Const(d)).collect()
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Shape {
        dims.as_slice().into()
    }
}

// There are no conversions of `[Dim; N]` and `&[Dim; N]`: the types of `[]` and `&[]` would be
// unknown.
impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(dims: &[usize; N]) -> Shape {
        dims.as_slice().into()
    }
}

impl From<&Vec<usize>> for Shape {
    fn from(dims: &Vec<usize>) -> Shape {
        dims.as_slice().into()
    }
}

impl From<&[Dim]> for Shape {
    fn from(dims: &[Dim]) -> Shape {
        dims.iter().cloned().collect()
    }
}

impl From<&Vec<Dim>> for Shape {
    fn from(dims: &Vec<Dim>) -> Shape {
        dims.as_slice().into()
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

/// Element type and shape of a value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Type {
    /// Element type.
    pub dtype: DType,
    /// Extents.
    pub shape: Shape,
}

impl Type {
    /// A type of this element type and shape.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Type {
        Type {
            dtype,
            shape: shape.into(),
        }
    }

    /// Rank 0.
    pub fn scalar(dtype: DType) -> Type {
        Type {
            dtype,
            shape: Shape::scalar(),
        }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Same shape, other element type.
    pub fn with_dtype(&self, dtype: DType) -> Type {
        Type {
            dtype,
            shape: self.shape.clone(),
        }
    }

    /// Same element type, other shape.
    pub fn with_shape(&self, shape: impl Into<Shape>) -> Type {
        Type {
            dtype: self.dtype,
            shape: shape.into(),
        }
    }

    /// The type with one more leading axis.
    pub fn batched(&self, size: &Dim) -> Type {
        self.with_shape(
            std::iter::once(size.clone())
                .chain(self.shape.iter().cloned())
                .collect::<Shape>(),
        )
    }

    /// The type without its leading axis.
    pub fn unbatched(&self) -> Type {
        self.with_shape(self.shape[1..].iter().cloned().collect::<Shape>())
    }

    /// Returns an error for an array of values of an opaque type.
    pub fn check(&self) -> Result<()> {
        if self.rank() > 0
            && let Some(opaque) = self.dtype.opaque()
        {
            bail!(
                DTypeMismatch,
                "{self} is no type: values of the opaque type {opaque} have no axes, and cannot be \
                 stacked or batched; loop over them instead"
            );
        }
        Ok(())
    }

    /// Whether element types, ranks or some extents are certainly different.
    pub fn differs(&self, other: &Type) -> bool {
        self.dtype != other.dtype || self.shape.differs(&other.shape)
    }

    /// Calls `f` with every symbol.
    pub fn syms(&self, f: &mut dyn FnMut(&Sym)) {
        self.shape.iter().for_each(|d| d.syms(f));
    }

    /// The type with every extent evaluated whose symbols have a value.
    pub fn evaluated(&self, env: &Env) -> Type {
        if self.shape.iter().all(|d| d.as_const().is_some()) {
            return self.clone();
        }
        let extent = |d: &Dim| d.eval(env).map_or_else(|_| d.clone(), Dim::Const);
        self.with_shape(self.shape.iter().map(extent).collect::<Shape>())
    }

    /// Replaces symbols.
    pub fn subst(&self, f: &dyn Fn(&Sym) -> Option<Dim>) -> Type {
        Type {
            dtype: self.dtype,
            shape: self.shape.subst(f),
        }
    }
}

impl fmt::Display for Type {
    /// `f64[2,n]`, `f64[]`: the short form for messages. The text form prints `tensor<2xnxf64>`
    /// (see `text`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(opaque) = self.dtype.opaque().filter(|_| self.rank() == 0) {
            return write!(f, "{opaque}");
        }
        write!(f, "{}[", self.dtype)?;
        for (i, d) in self.shape.iter().enumerate() {
            write!(f, "{}{d}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
