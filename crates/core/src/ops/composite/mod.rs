//! Composites: named functions that are written with operations, not operations themselves.
//!
//! They have no rules of their own: what they are made of is differentiated. Each is written so
//! that this is right and stable to every order, which takes more than a stable value:
//!
//! - a function with two forms chooses by `select` between forms that are both analytic, so both
//!   have all derivatives (`|x|` would have slope 0 at 0, and lose the curvature there);
//! - a shift that only keeps numbers in range goes through `stop_gradient`: its derivative is zero
//!   in exact arithmetic;
//! - where one side of a `select` is singular its argument is replaced there first (double-where).
//!
//! Sixteen-bit floats are computed in `f32` and rounded once.

mod elementary;
mod fourier;
mod implicit;
mod matrices;
mod nn;
mod products;
mod random;
mod samplers;
mod spectral;
mod statistics;

pub use matrices::MatrixNorm;

use super::Spelled;
use super::support::{take_axes, take_axis};
use crate::attr::FromAttr;
use crate::bail;
use crate::dtype::DType;
use crate::emit::Emit;
use crate::error::{Code, Error, Result};
use crate::primitive::Val;
use crate::shape::{Dim, Type};
use std::sync::LazyLock;

/// A named function of the text form that is written with operations.
#[derive(Clone, Copy)]
pub struct Composite {
    /// The name without prefix.
    pub name: &'static str,
    /// One sentence, with the formula.
    pub doc: &'static str,
    /// Writes it, for operands and attributes as spelled.
    pub build: fn(&dyn Emit, &mut Spelled<'_>, &[Val]) -> Result<Vec<Val>>,
}

/// Every composite.
pub fn composites() -> &'static [Composite] {
    static ALL: LazyLock<Vec<Composite>> = LazyLock::new(|| {
        [
            statistics::TABLE,
            nn::TABLE,
            products::TABLE,
            elementary::TABLE,
            fourier::TABLE,
            matrices::TABLE,
            spectral::TABLE,
            samplers::TABLE,
        ]
        .concat()
    });
    &ALL
}

/// Composites of a module, which stands before their operands: `tgraph.root @f %x`. Some have the
/// name of an operation that takes no module.
pub fn applied() -> &'static [Composite] {
    implicit::TABLE
}

/// The operands, if there are `N` of them.
fn operands<const N: usize>(s: &Spelled<'_>, x: &[Val]) -> Result<[Val; N]> {
    match x.try_into() {
        Ok(x) => Ok(x),
        Err(_) => bail!(
            Arity,
            "`{}` takes {N} operand{}, got {}",
            s.name,
            if N == 1 { "" } else { "s" },
            x.len()
        ),
    }
}

/// An attribute, or its default.
fn option<T: FromAttr>(s: &mut Spelled<'_>, name: &str, default: T) -> Result<T> {
    Ok(s.attrs.opt(name)?.unwrap_or(default))
}

/// `f` in single precision for sixteen-bit floats, the result rounded back; an error for integers
/// and booleans.
fn in_f32(cx: &dyn Emit, name: &str, x: Val, f: impl FnOnce(Val) -> Val) -> Val {
    match cx.ty(x) {
        ty if !ty.dtype.has_tangent() => {
            let text =
                format!("`{name}` of {ty}: it is defined on floats; convert to a float first");
            cx.fail(Error::new(Code::DTypeMismatch, text).at(cx.loc()));
            Val::POISON
        }
        Type {
            dtype: d @ (DType::F16 | DType::BF16),
            ..
        } => cx.convert(f(cx.convert(x, DType::F32)), d),
        _ => f(x),
    }
}

/// Number of elements along these axes.
fn extent(ty: &Type, axes: &[usize]) -> Dim {
    axes.iter()
        .filter_map(|&a| ty.shape.get(a))
        .fold(Dim::Const(1), |n, d| n * d.clone())
}

/// A reduced value with the reduced axes back, of extent 1.
fn keep(cx: &dyn Emit, y: Val, like: &Type, axes: &[usize]) -> Val {
    let dim = |(a, d): (usize, &Dim)| {
        if axes.contains(&a) {
            Dim::Const(1)
        } else {
            d.clone()
        }
    };
    cx.reshape(
        y,
        &like.shape.iter().enumerate().map(dim).collect::<Vec<_>>(),
    )
}

/// A reduction as spelled: `axes` (all by default, or one `axis`) and `keepdims`.
fn reduced(
    cx: &dyn Emit,
    s: &mut Spelled<'_>,
    x: &[Val],
    f: impl FnOnce(Val, &[usize]) -> Val,
) -> Result<Vec<Val>> {
    let [x] = operands(s, x)?;
    let one = s.attrs.0.iter().any(|(n, _)| n == "axis");
    let axes = if one {
        vec![take_axis(s)?]
    } else {
        take_axes(s)?
    };
    let (y, ty) = (f(x, &axes), cx.ty(x));
    Ok(vec![if option(s, "keepdims", false)? {
        keep(cx, y, &ty, &axes)
    } else {
        y
    }])
}
