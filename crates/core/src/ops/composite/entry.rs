//! [`Composite`]: a named function of the text form. Helpers that read operands and attributes.

use crate::bail;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::ir::{Emit, FromAttr, Val};
use crate::ops::entry::Spelled;
use crate::ops::support::{take_axes, take_axis};
use crate::shape::{Dim, Type};

/// Writes a composite: emitter, attributes and operands to results.
pub type CompositeFn = fn(&dyn Emit, &mut Spelled<'_>, &[Val]) -> Result<Vec<Val>>;

/// A named function of the text form, written with operations.
#[derive(Clone, Copy)]
pub struct Composite {
    /// The name without prefix.
    pub name: &'static str,
    /// One sentence, with the formula.
    pub doc: &'static str,
    /// Writes the function, for operands and attributes as parsed.
    pub build: CompositeFn,
}

/// The operands. Returns an error unless there are `N`.
pub(super) fn operands<const N: usize>(s: &Spelled<'_>, x: &[Val]) -> Result<[Val; N]> {
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
pub(super) fn option<T: FromAttr>(s: &mut Spelled<'_>, name: &str, default: T) -> Result<T> {
    Ok(s.attrs.opt(name)?.unwrap_or(default))
}

/// Computes `f` in single precision for 16-bit floats and rounds the result. An error for integers
/// and booleans.
pub(super) fn in_f32(cx: &dyn Emit, name: &str, x: Val, f: impl FnOnce(Val) -> Val) -> Val {
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
pub(super) fn extent(ty: &Type, axes: &[usize]) -> Dim {
    axes.iter()
        .filter_map(|&a| ty.shape.get(a))
        .fold(Dim::Const(1), |n, d| n * d.clone())
}

/// A reduced value with the reduced axes restored, of extent 1.
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

/// A reduction with parsed attributes: `axes` (all by default, or one `axis`) and `keepdims`.
pub(super) fn reduced(
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
