//! Special functions that are not one operation of the core.

use super::frame::{Frame, one};
use super::table::{How::By, Row};
use crate::ast::Operation;
use cotangent_core::primitive::Vals;
use cotangent_core::{Result, Scalar, bail};

pub const TABLE: &[Row] = &[("polygamma", By(polygamma))];

/// `chlo.polygamma`: the order is an operand, but a constant.
fn polygamma(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [order, x] = f.take(op)?;
    match f.number(order) {
        Some(Scalar::F(n)) if n >= 0.0 && n.fract() == 0.0 && n < 1001.0 => one(f.cx().polygamma(n as u32, x)),
        _ => bail!(UnknownOperation, "`{}` is supported where the order is one constant, a whole number", op.name),
    }
}
