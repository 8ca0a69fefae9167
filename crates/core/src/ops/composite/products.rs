//! Matrix products by NumPy's rules, and other functions of matrices without factorizations.

use super::entry::{Composite, operands};
use crate::array::Scalar;
use crate::dtype::DType;
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::support::take_axis;
use crate::ops::{Comparison, DotGeneral, Reduction};
use crate::shape::{Dim, Type};

pub(super) static PRODUCTS: &[Composite] = &[
    Composite {
        name: "matmul",
        doc: "The matrix product of the last two axes; leading axes are broadcast, a vector is a row on the left and a column on the right.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.matmul(x, y)]),
    },
    Composite {
        name: "outer",
        doc: "The outer product: every element of x times every element of y, of shape x.shape + y.shape.",
        build: |cx, s, x| {
            operands(s, x).map(|[x, y]| vec![cx.dot_general(x, y, DotGeneral::default())])
        },
    },
    Composite {
        name: "cross",
        doc: "The cross product of vectors of three elements along an axis.",
        build: |cx, s, x| {
            let ([x, y], axis) = (operands(s, x)?, take_axis(s)?);
            Ok(vec![cx.cross(x, y, axis)])
        },
    },
    Composite {
        name: "diagonal",
        doc: "The elements x[.., i, i] of the last two axes.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.diagonal(x)]),
    },
    Composite {
        name: "trace",
        doc: "The sum of the diagonal of the last two axes; of booleans, whether one is true.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.trace(x)]),
    },
];

/// The common extent of two extents by NumPy's rules: 1 is broadcast.
fn aligned<'a>(a: &'a Dim, b: &'a Dim) -> Option<&'a Dim> {
    if a.is(1) || b.is(1) {
        return Some(if a.is(1) { b } else { a });
    }
    (a.same(b) != Some(false)).then_some(if b.as_const().is_some() { b } else { a })
}

impl dyn Emit + '_ {
    /// The matrix product of the last two axes, as NumPy's `matmul`. Leading axes are batch axes
    /// and are broadcast. A vector is a row on the left and a column on the right, and its axis is
    /// removed.
    pub fn matmul(&self, x: Val, y: Val) -> Val {
        let (tx, ty) = (self.ty(x), self.ty(y));
        if tx.dtype != ty.dtype {
            let text = format!(
                "`matmul` needs operands of one element type, got {tx} and {ty}; convert one of them"
            );
            self.fail(Error::new(Code::DTypeMismatch, text).at(self.loc()));
            return Val::POISON;
        }
        let bad = |why: &str| {
            self.fail(
                Error::new(
                    Code::ShapeMismatch,
                    format!("`matmul` of {tx} and {ty}: {why}"),
                )
                .at(self.loc()),
            );
            Val::POISON
        };
        if tx.rank() == 0 || ty.rank() == 0 {
            return bad("a scalar has no rows; multiply elementwise");
        }
        let (row, column) = (tx.rank() == 1, ty.rank() == 1);
        let (bx, by) = (tx.rank().saturating_sub(2), ty.rank().saturating_sub(2));
        let contract = |batch: usize| if column { batch } else { ty.rank() - 2 };
        let (k, l) = (tx.rank() - 1, contract(0));
        if tx.shape[k].same(&ty.shape[l]) == Some(false) {
            return bad(&format!(
                "axis {k} of the first is {}, axis {l} of the second is {}; they must be equal",
                tx.shape[k], ty.shape[l]
            ));
        }
        if by == 0 {
            // With one right operand for all batches, batches are rows of one larger product.
            return self.dot_general(x, y, DotGeneral::contract(&[k], &[l]));
        }
        let batch = bx.max(by);
        let extent =
            |t: &Type, n: usize, k: usize| (k + n >= batch).then(|| t.shape[k + n - batch].clone());
        let mut shape = Vec::new();
        for k in 0..batch {
            let (a, b) = (extent(&tx, bx, k), extent(&ty, by, k));
            let one = Dim::Const(1);
            match aligned(a.as_ref().unwrap_or(&one), b.as_ref().unwrap_or(&one)) {
                Some(d) => shape.push(d.clone()),
                None => return bad("their leading axes do not align"),
            }
        }
        let widen = |v: Val, t: &Type, n: usize| {
            self.broadcast_to(
                v,
                &shape
                    .iter()
                    .chain(&t.shape[n..])
                    .cloned()
                    .collect::<Vec<_>>(),
            )
        };
        let (x, y) = (widen(x, &tx, bx), widen(y, &ty, by));
        let axes: Vec<usize> = (0..batch).collect();
        let d = DotGeneral::contract(&[batch + usize::from(!row)], &[batch]).batched(&axes, &axes);
        self.dot_general(x, y, d)
    }

    /// Mask of the diagonal of the last two axes. An error if there are fewer than two axes.
    fn on_diagonal(&self, x: Val) -> Option<(Val, Type)> {
        let ty = self.ty(x);
        if ty.rank() < 2 {
            let text = format!("{ty} has no diagonal: it takes two axes");
            self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
            return None;
        }
        let index = ty.with_dtype(DType::I64);
        let (i, j) = (
            self.iota(&index, ty.rank() - 2),
            self.iota(&index, ty.rank() - 1),
        );
        Some((self.compare(i, Comparison::Eq, j), ty))
    }

    /// The elements `x[.., i, i]` of the last two axes.
    pub fn diagonal(&self, x: Val) -> Val {
        let Some((here, ty)) = self.on_diagonal(x) else {
            return Val::POISON;
        };
        let (rows, columns) = (&ty.shape[ty.rank() - 2], &ty.shape[ty.rank() - 1]);
        // The sum of the masked elements along the longer axis is the diagonal.
        let long = match (rows.as_const(), columns.as_const()) {
            (Some(r), Some(c)) if r < c => ty.rank() - 1,
            (Some(_), Some(_)) => ty.rank() - 2,
            _ if rows == columns => ty.rank() - 2,
            _ => {
                let text = format!(
                    "the diagonal of {ty}: which of {rows} and {columns} is smaller is unknown for symbolic extents"
                );
                self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
                return Val::POISON;
            }
        };
        self.masked_sum(x, here, &[long])
    }

    /// The sum over axes of the elements where the mask is true; of booleans, whether one is true.
    fn masked_sum(&self, x: Val, mask: Val, axes: &[usize]) -> Val {
        let reduction = match self.ty(x).dtype {
            DType::Bool => Reduction::Any,
            _ => Reduction::Sum,
        };
        let masked = self.select(mask, x, self.full_like(x, Scalar::I(0)));
        self.reduce(reduction, masked, axes)
    }

    /// The sum of the diagonal of the last two axes. Of booleans, whether an element is true.
    pub fn trace(&self, x: Val) -> Val {
        let Some((here, ty)) = self.on_diagonal(x) else {
            return Val::POISON;
        };
        self.masked_sum(x, here, &[ty.rank() - 2, ty.rank() - 1])
    }
}
