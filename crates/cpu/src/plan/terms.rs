//! Sums of pads, as the adjoints of many slices are: each term is added where it is not zero, so
//! that the work is the sum of the terms' sizes.
//!
//! A zero that is added changes nothing but the sign of a zero: `-0 + 0` is `+0`. The first term
//! plus 0 has no negative zero, and neither has a sum with it. So the results are equal if at each
//! index at least one zero was added.

use super::code::Region;
use crate::groups::schedule::MAX_RANGES;
use crate::nests::access::{Choice, Read, Source, are_own};
use crate::nests::affine::Var;
use crate::nests::nest::{Expr, ExprNode, ExprOp, ExprOperands, Nest, What};
use cotangent_core::ops::{Binary, Op};
use cotangent_core::{Scalar, Val};
use smallvec::SmallVec;

/// A sum of pads.
pub(crate) struct PadSum {
    /// The first term plus 0, at all indices.
    pub(crate) first: Expr,
    /// The sum so far plus a term, in the region where the term is not zero.
    pub(crate) others: Vec<(Expr, Region)>,
}

/// The sum of pads that a nest is, if its terms are more than a loop is cut into. `inline` is the
/// nest of a value that is part of it.
pub(crate) fn sum_of_pads(
    nests: &[Nest],
    nest: u32,
    inline: &dyn Fn(Val) -> Option<u32>,
) -> Option<PadSum> {
    let n = &nests[nest as usize];
    let What::Map(own) = &n.what else {
        return None;
    };
    let space: Option<Vec<usize>> = n.space.iter().map(|a| a.extent.as_const()).collect();
    let space = space?;
    let (mut e, mut at) = (own, own.nodes.len() - 1);
    let mut terms: Vec<(Source, Region)> = Vec::new();
    let add = loop {
        let node = &e.nodes[at];
        match &node.op {
            ExprOp::Apply { op, operands } if matches!(**op, Op::Binary(Binary::Add)) => {
                match &e.nodes[operands[1] as usize].op {
                    ExprOp::Read(r) => match pad(r, &space) {
                        Some(term) => terms.push(term),
                        None => break op,
                    },
                    _ => break op,
                }
                at = operands[0] as usize;
                if let ExprOp::Read(r) = &e.nodes[at].op
                    && let Some(inner) = identity(r).and_then(inline)
                    && let What::Map(own) = &nests[inner as usize].what
                    && matches!(&own.nodes[own.nodes.len() - 1].op, ExprOp::Apply { op, .. }
                        if matches!(**op, Op::Binary(Binary::Add)))
                {
                    (e, at) = (own, own.nodes.len() - 1);
                }
            }
            _ => {
                let ExprOp::Apply { op, .. } = &own.nodes[own.nodes.len() - 1].op else {
                    return None;
                };
                break op;
            }
        }
    };
    let apart = |a: &Region, b: &Region| {
        let both = a.iter().zip(b);
        both.into_iter()
            .any(|(a, b)| a.end <= b.start || b.end <= a.start)
    };
    let some_zero = terms
        .split_first()
        .is_some_and(|(first, rest)| rest.iter().any(|term| apart(&first.1, &term.1)));
    if terms.len() < MAX_RANGES || !some_zero {
        return None;
    }
    let dtype = e.nodes[at].dtype;
    let plus = |expr: &mut Expr, a: u32, b: u32| {
        let mut operands = ExprOperands::default();
        operands.push(a);
        operands.push(b);
        let op = add.clone();
        expr.push(ExprOp::Apply { op, operands }, dtype);
    };
    let nodes: Vec<ExprNode> = e.nodes[..=at].to_vec();
    let mut first = Expr { nodes };
    let zero = first.push(ExprOp::Number(Box::new(Scalar::I(0).cast(dtype))), dtype);
    plus(&mut first, at as u32, zero);
    let other = |(source, region): (Source, Region)| {
        let mut expr = Expr::default();
        let sum = expr.read(Read::identity(n.value, space.len()), dtype);
        let term = expr.read(Read::plain(source), dtype);
        plus(&mut expr, sum, term);
        (expr, region)
    };
    let others = terms.into_iter().rev().map(other).collect();
    Some(PadSum { first, others })
}

/// The value that is read at the index of the space.
fn identity(r: &Read) -> Option<Val> {
    match &r.source {
        Source::Element(a) if r.starts.is_empty() => are_own(&a.at).then_some(a.of),
        _ => None,
    }
}

/// The elements that a pad reads, and the region of a space where it is not zero.
fn pad(r: &Read, space: &[usize]) -> Option<(Source, Region)> {
    let Source::Choice(c) = &r.source else {
        return None;
    };
    let Choice {
        bounds,
        inside,
        outside: Source::Number(zero),
    } = &**c
    else {
        return None;
    };
    let is_zero = match **zero {
        Scalar::I(i) => i == 0,
        Scalar::F(x) => x.to_bits() == 0,
        Scalar::C(z) => z.re.to_bits() == 0 && z.im.to_bits() == 0,
    };
    if !is_zero || !r.starts.is_empty() {
        return None;
    }
    let mut region: SmallVec<[_; 4]> = space.iter().map(|&n| 0..n).collect();
    for b in bounds {
        let [t] = b.form.terms.as_slice() else {
            return None;
        };
        let (Var::Axis(k), true, true) = (t.var, t.is_plain(), t.coefficient.is(1)) else {
            return None;
        };
        let offset = b.form.offset.as_number()?;
        let (low, high) = (b.low.as_number()? - offset, b.high.as_number()? - offset);
        if b.step != 1 || low >= high {
            return None;
        }
        let end = region[k].end;
        let at = |i: i64| usize::try_from(i).unwrap_or(0).min(end);
        region[k] = region[k].start.max(at(low))..at(high);
        if region[k].is_empty() {
            return None;
        }
    }
    Some((inside.clone(), region))
}
