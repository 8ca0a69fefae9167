//! Products: a `dot_general` without contracted axes becomes elementwise, and can be fused with its
//! readers; a transposed product is the product of the exchanged factors.
//!
//! ```text
//! dot_general(a[b.., i..], c[b.., j..])  =  broadcast(a) broadcast(c)      of shape [b.., i.., j..]
//! transpose(f(broadcast(a), ..))         =  f(broadcast(a), ..)            with other axes
//! transpose(dot_general(a, c))           =  dot_general(c, a)              axes [b.., j.., i..]
//! ```
//! Both forms compute the same products in the same order, so their bits are equal. The last form
//! is for real numbers, since the parts of a complex product would be added in another order, and
//! for products that nothing else reads.

use super::pass::Pass;
use crate::ir::{Emit, Op, Val};
use crate::ops::{Binary, BroadcastInDim, DotGeneral, Transpose};
use crate::shape::Shape;

/// Rewrites a product without contracted axes whose batch axes come first.
pub(super) fn outer(p: &mut Pass, d: &DotGeneral, x: &[Val]) -> Option<Val> {
    let (a, b) = (p.b.ty(x[0]), p.b.ty(x[1]));
    let batch = d.lhs_batch.len();
    let first = |axes: &[usize]| axes.iter().copied().eq(0..batch);
    let known = a.shape.as_const().is_some() && b.shape.as_const().is_some();
    if !d.lhs_contract.is_empty()
        || !known
        || !a.dtype.has_tangent()
        || !first(&d.lhs_batch)
        || !first(&d.rhs_batch)
    {
        return None;
    }
    let shape: Shape = a.shape.iter().chain(&b.shape[batch..]).cloned().collect();
    let rank = shape.rank();
    let y = [
        BroadcastInDim {
            shape: shape.clone(),
            dims: (0..a.rank()).collect(),
        },
        BroadcastInDim {
            shape,
            dims: (0..batch).chain(a.rank()..rank).collect(),
        },
    ];
    let y: Vec<Val> = y.into_iter().zip(x).map(|(b, &x)| p.one(b, &[x])).collect();
    Some(p.one(d.multiplied(), &y))
}

/// Rewrites the transpose of a product of broadcast operands.
pub(super) fn transposed(p: &mut Pass, t: &Transpose, x: Val) -> Option<Val> {
    let (op, factors) = p.b.with_def(x, |op, x| match op {
        Op::Binary(op @ (Binary::Mul | Binary::MulStrongZero)) => Some((*op, [x[0], x[1]])),
        _ => None,
    })??;
    let shape: Shape = t.perm.iter().map(|&a| p.b.ty(x).shape[a].clone()).collect();
    let moved = factors.map(|v| {
        p.b.with_def(v, |op, x| {
            let Op::BroadcastInDim(b) = op else {
                return None;
            };
            let dims: Vec<usize> = b
                .dims
                .iter()
                .filter_map(|d| t.perm.iter().position(|a| a == d))
                .collect();
            dims.is_sorted().then_some((x[0], dims))
        })?
    });
    let [Some(a), Some(b)] = moved else {
        return None;
    };
    let y = [a, b].map(|(v, dims)| {
        p.one(
            BroadcastInDim {
                shape: shape.clone(),
                dims,
            },
            &[v],
        )
    });
    Some(p.one(op, &y))
}

/// Rewrites the transpose of a product that exchanges the free axes of its factors.
pub(super) fn exchanged(p: &mut Pass, t: &Transpose, x: Val) -> Option<Val> {
    let (d, factors) = p.b.with_def(x, |op, x| match op {
        Op::DotGeneral(d) => Some((DotGeneral::clone(d), [x[0], x[1]])),
        _ => None,
    })??;
    let batch = d.lhs_batch.len();
    let left = p.b.ty(factors[0]).rank() - d.lhs_contract.len();
    let rank = t.perm.len();
    let exchanges = (0..batch).chain(left..rank).chain(batch..left);
    if !t.perm.iter().copied().eq(exchanges) || p.b.ty(x).dtype.is_complex() || !p.is_used_once(x) {
        return None;
    }
    let exchanged = DotGeneral {
        lhs_batch: d.rhs_batch,
        rhs_batch: d.lhs_batch,
        lhs_contract: d.rhs_contract,
        rhs_contract: d.lhs_contract,
        ..d
    };
    Some(p.one(exchanged, &[factors[1], factors[0]]))
}
