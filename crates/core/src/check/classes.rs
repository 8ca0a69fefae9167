//! Laws of what an operation says about its elements: [`Primitive::class`](crate::Primitive::class)
//! and [`Primitive::scalar`](crate::Primitive::scalar).

use crate::array::{Array, Wide};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Op, primitive::OpClass};
use crate::shape::{Env, Type};

/// Appends the violations of the operation's class and of its scalar function, for operands `x`
/// with results `y`.
pub(super) fn class(op: &Op, x: &[Array], y: &[Array], out: &mut Vec<String>) -> Result<()> {
    let types: Vec<DType> = x.iter().map(Array::dtype).collect();
    match op.class(&types) {
        OpClass::Elementwise if has_one_shape(x, y) => {
            if let Some(false) = is_elementwise(op, x, y)? {
                out.push("its class is elementwise, but single elements give other bits".into());
            }
        }
        OpClass::Elementwise if has_scalar_predicate(x) => {}
        OpClass::Elementwise => out.push(
            "its class is elementwise, but operands and result do not have one shape".to_owned(),
        ),
        OpClass::View => view(x, y, out),
        OpClass::Other => {}
    }
    if let Some(f) = op.scalar(&types) {
        scalar(&*f, x, y, out)?;
    }
    Ok(())
}

/// Whether each element of the one result depends only on the elements of the operands at its
/// index. `None` if operands and result do not have one shape, or the type rule rejects scalars.
pub fn is_elementwise(op: &Op, x: &[Array], y: &[Array]) -> Result<Option<bool>> {
    let scalars: Vec<Type> = x.iter().map(|a| Type::scalar(a.dtype())).collect();
    let fits = |t: Vec<Type>| t.len() == 1 && t[0] == Type::scalar(y[0].dtype());
    if !has_one_shape(x, y) || !op.infer(&scalars).is_ok_and(fits) {
        return Ok(None);
    }
    for i in 0..y[0].len() {
        let at: Vec<Array> = x.iter().map(|a| element(a, i)).collect::<Result<_>>()?;
        let got = op.eval(&at, &Env::default())?;
        if !got[0].same_bits(&element(&y[0], i)?) {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

fn has_one_shape(x: &[Array], y: &[Array]) -> bool {
    y.len() == 1 && !x.is_empty() && x.iter().all(|a| a.shape() == y[0].shape())
}

fn has_scalar_predicate(x: &[Array]) -> bool {
    matches!(x, [p, a, b] if p.dtype() == DType::Bool && p.shape().is_empty() && a.shape() == b.shape())
}

/// The element at a row-major index, as a scalar.
fn element(a: &Array, i: usize) -> Result<Array> {
    match a.wide() {
        Wide::F(v) => Wide::F(vec![v[i]]),
        Wide::I(v) => Wide::I(vec![v[i]]),
        Wide::C(v) => Wide::C(vec![v[i]]),
    }
    .narrow(a.dtype(), Vec::new())
}

fn view(x: &[Array], y: &[Array], out: &mut Vec<String>) {
    let bits = |a: &Array| -> Vec<[u64; 2]> {
        let parts = a.to_c128().into_iter();
        parts.map(|z| [z.re.to_bits(), z.im.to_bits()]).collect()
    };
    let from = bits(&x[0]);
    if y.len() != 1 || y[0].dtype() != x[0].dtype() || bits(&y[0]).iter().any(|e| !from.contains(e))
    {
        out.push("its class is a view, but the result has other elements than its operand".into());
    }
}

fn scalar(
    f: &dyn Fn(&[f64]) -> f64,
    x: &[Array],
    y: &[Array],
    out: &mut Vec<String>,
) -> Result<()> {
    if !has_one_shape(x, y) {
        out.push("it has a scalar function, but operands and result do not have one shape".into());
        return Ok(());
    }
    let operands: Vec<Vec<f64>> = x.iter().map(Array::to_f64).collect();
    let of = |i: usize| f(&operands.iter().map(|v| v[i]).collect::<Vec<f64>>());
    let got = Wide::F((0..y[0].len()).map(of).collect()).narrow(y[0].dtype(), y[0].shape())?;
    if !got.same_bits(&y[0]) {
        out.push(format!(
            "its scalar function gives {got:?}, its evaluation {:?}",
            y[0]
        ));
    }
    Ok(())
}
