//! The row permutation of `lu`, which programs compute from its row swaps.
//!
//! ```text
//! p = 0..m;  for each t: p[t], p[pivots[t]] = p[pivots[t]], p[t]  ->  permutation of `lu`
//! ```
//! Condition: the loop is counted, has a step for each pivot, and starts with `0..m`. Its body is
//! evaluated symbolically, in terms of step and pivot index, so any body with the same result is
//! recognised. Integers are equal exactly.

use super::counted_loop::CountedLoop;
use super::lu::{LuPart, keeps_elements};
use super::pattern::Raising;
use crate::array::Scalar;
use crate::ir::{Function, Op, Val, Vals};
use crate::ops::{Combine, Comparison, Value, While, Windows};
use crate::shape::{Dim, Type};

/// An index into the permutation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PermutationIndex {
    /// The step of the loop.
    Step,
    /// The pivot of the step.
    Pivot,
}

/// Symbolic value in the loop body.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BodyValue {
    Number(i128),
    False,
    Index(PermutationIndex),
    Pivots,
    Permutation,
    /// The element of the permutation at this index.
    Element(PermutationIndex),
    /// The permutation after one write of a swap: this index holds the element of the other index.
    HalfSwapped(PermutationIndex),
    /// The permutation after the swap.
    Swapped,
}

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::While(w) = op else { return None };
    row_permutation(r, &CountedLoop::new(r, w, x)?, w, x)
}

/// The results of a loop over row swaps, if it is one.
fn row_permutation(f: &Raising, c: &CountedLoop, w: &While, x: &[Val]) -> Option<Vals> {
    let nb = w.body_consts;
    let (consts, init) = x[w.cond_consts..].split_at(nb);
    let [k] = c.free()[..] else { return None };
    let ty = f.ty(init[k]);
    let counts = f.with_def(
        init[k],
        |op, _| matches!(op, Op::Iota(i) if i.axis + 1 == i.ty.rank()),
    );
    if counts != Some(true) {
        return None;
    }
    let (mut seeds, mut found) = (vec![None; nb + init.len()], None);
    for (p, seed) in seeds.iter_mut().enumerate() {
        *seed = match p.checked_sub(nb) {
            Some(p) if p == k => Some(BodyValue::Permutation),
            Some(p) if c.counts_steps(p) => Some(BodyValue::Index(PermutationIndex::Step)),
            Some(p) if !c.stays(p) => None,
            _ => {
                let v = if p < nb { consts[p] } else { init[p - nb] };
                let pivots = f.factor(v).filter(|f| f.part == LuPart::RowSwaps(0));
                match pivots {
                    Some(pivots) => {
                        found = Some((v, pivots));
                        Some(BodyValue::Pivots)
                    }
                    None => f.number(v).and_then(integer),
                }
            }
        };
    }
    let (pivots, factor) = found?;
    let every = f.ty(pivots).shape.last().is_some_and(|n| *n == c.length());
    if !every || f.ty(factor.order) != ty {
        return None;
    }
    let y = symbolic_results(&w.body, &seeds, 0)?;
    (y[k] == Some(BodyValue::Swapped)).then(|| c.results(f.cx(), init, |_| factor.order))
}

fn integer(s: Scalar) -> Option<BodyValue> {
    if let Scalar::I(i) = s {
        Some(BodyValue::Number(i))
    } else {
        None
    }
}

/// Maximum nesting depth of calls in a body that is evaluated.
const MAX_FOLLOWED_CALLS: usize = 8;

/// Symbolic results of a body, from its symbolic arguments.
fn symbolic_results(
    f: &Function,
    x: &[Option<BodyValue>],
    depth: usize,
) -> Option<Vec<Option<BodyValue>>> {
    let mut seen: Vec<Option<BodyValue>> = vec![None; f.len()];
    f.params()
        .iter()
        .zip(x)
        .for_each(|(p, s)| seen[p.index()] = *s);
    for e in f.eqns() {
        let x = f.operands(e);
        let of: Vec<Option<BodyValue>> = x.iter().map(|v| seen[v.index()]).collect();
        if let Op::Call(c) = &e.op {
            let y = (depth < MAX_FOLLOWED_CALLS)
                .then(|| symbolic_results(&c.callee, &of, depth + 1))
                .flatten()?;
            e.results().zip(y).for_each(|(r, s)| seen[r.index()] = s);
        } else if let Some(r) = e.results().next() {
            let types: Vec<&Type> = x.iter().map(|&v| f.ty(v)).collect();
            seen[r.index()] = symbolic_value(&e.op, &of, &types, f.ty(r));
        }
    }
    Some(f.results().iter().map(|r| seen[r.index()]).collect())
}

fn symbolic_value(
    op: &Op,
    x: &[Option<BodyValue>],
    types: &[&Type],
    y: &Type,
) -> Option<BodyValue> {
    use BodyValue::*;
    match op {
        Op::Constant(c) => match &c.value {
            Value::Splat(s) => integer(*s),
            _ => None,
        },
        // Extents fit in both integer types.
        Op::Convert(_) if y.dtype.is_int() && y.dtype.size() >= 4 => x[0],
        Op::BroadcastInDim(_) if matches!(x[0], Some(Number(_))) => x[0],
        op if x.len() == 1 && keeps_elements(op, types[0], y) => x[0],
        Op::Compare(c) => match (c.0, x[0]?, x[1]?) {
            (Comparison::Lt, Index(_), Number(0)) => Some(False),
            _ => None,
        },
        Op::Select(_) => (x[0]? == False).then_some(x[2]).flatten(),
        Op::DynamicSlice(d) => {
            let (last, rank) = (types[0].rank() - 1, types[0].rank());
            let whole =
                (0..last).all(|k| d.sizes[k] == types[0].shape[k] && x[1 + k] == Some(Number(0)));
            (whole && d.sizes[last].is(1))
                .then(|| read(x[0], x[rank]))
                .flatten()
        }
        Op::Gather(g) => {
            let last = types[0].rank() - 1;
            let one = g.sizes[last].is(1);
            let whole =
                !g.windows.operand_batch.is_empty() || g.sizes[..last] == types[0].shape[..last];
            (one && whole && along_last(&g.windows, types[0].rank(), types[1]))
                .then(|| read(x[0], x[1]))
                .flatten()
        }
        Op::DynamicUpdateSlice(_) => {
            let rank = types[0].rank();
            let whole = x[2..2 + rank - 1].iter().all(|&s| s == Some(Number(0)))
                && one_each(types[0], types[1]);
            whole.then(|| write(x[0], x[1 + rank], x[1])).flatten()
        }
        Op::Scatter(s) if s.combine == Combine::Set => {
            let fits =
                along_last(&s.windows, types[0].rank(), types[1]) && one_each(types[0], types[2]);
            fits.then(|| write(x[0], x[1], x[2])).flatten()
        }
        _ => None,
    }
}

fn read(array: Option<BodyValue>, at: Option<BodyValue>) -> Option<BodyValue> {
    match (array?, at?) {
        (BodyValue::Pivots, BodyValue::Index(PermutationIndex::Step)) => {
            Some(BodyValue::Index(PermutationIndex::Pivot))
        }
        (BodyValue::Permutation, BodyValue::Index(at)) => Some(BodyValue::Element(at)),
        _ => None,
    }
}

fn write(
    array: Option<BodyValue>,
    at: Option<BodyValue>,
    element: Option<BodyValue>,
) -> Option<BodyValue> {
    let (BodyValue::Index(at), BodyValue::Element(from)) = (at?, element?) else {
        return None;
    };
    match array? {
        BodyValue::Permutation if at != from => Some(BodyValue::HalfSwapped(at)),
        // If both indices are equal, the two writes leave the element unchanged.
        BodyValue::HalfSwapped(first) if at != first && from == first => Some(BodyValue::Swapped),
        _ => None,
    }
}

/// Whether `part` has one element per row along the last axis of `array`.
fn one_each(array: &Type, part: &Type) -> bool {
    let rows: Dim = array.shape[..array.rank() - 1]
        .iter()
        .cloned()
        .fold(Dim::Const(1), |n, d| n * d);
    rows.same(&part.shape.numel()) == Some(true)
}

/// Whether windows index the last axis: with one index for all rows, or one per row.
fn along_last(w: &Windows, rank: usize, indices: &Type) -> bool {
    let lead: Vec<usize> = (0..rank - 1).collect();
    let each = w.operand_batch == lead && w.index_batch == lead;
    let all = w.operand_batch.is_empty() && indices.shape.numel().is(1);
    w.axes == [rank - 1] && (each || all)
}
