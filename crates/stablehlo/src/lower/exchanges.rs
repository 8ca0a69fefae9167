//! Recognition of row swaps of `getrf`: the row permutation, and solutions of linear systems by the
//! factors.
//!
//! ```text
//! p = 0..m;  for each t: p[t], p[pivots[t]] = p[pivots[t]], p[t]    ->  permutation of `lu`
//! U⁻¹ L⁻¹ b[p]                                                      ->  solve(a, b)
//! ```
//! JAX prints a loop for the first, and the second for `jnp.linalg.solve`. Any other pattern is
//! left unchanged. The factors stay, too; dead code elimination removes them if they have no other
//! use. The derivative is then that of `solve`, not of the factorisation.
//!
//! The body of the loop is evaluated symbolically, in terms of step and pivot index. Any body with
//! the same result is recognised.

use super::factors::{LuPart, LuValue};
use super::function::FunctionLowering;
use super::loops::CountedLoop;
use crate::ast;
use cotangent_core::ops::{
    Binary, Combine, Comparison, Gather, Solve, TriangularSolve, Turn, While, Windows,
};
use cotangent_core::primitive::Vals;
use cotangent_core::{Dim, Function, Op, Scalar, Type, Val};

const LOWER: TriangularSolve = TriangularSolve {
    left: true,
    lower: true,
    unit: true,
    turn: Turn::None,
};
const UPPER: TriangularSolve = TriangularSolve {
    left: true,
    lower: false,
    unit: false,
    turn: Turn::None,
};

impl FunctionLowering<'_> {
    /// Records the results of `lu` of `a`: packed factors, row swaps counted from `first`, the
    /// permutation, and `info`.
    pub(super) fn record_lu(
        &self,
        a: Val,
        [packed, exchanges, order]: [Val; 3],
        first: i128,
        success: Option<Val>,
    ) {
        let mut all = self.factors.borrow_mut();
        let parts = [
            (packed, LuPart::Packed),
            (exchanges, LuPart::RowSwaps(first)),
            (order, LuPart::Permutation),
        ];
        for (v, part) in parts
            .into_iter()
            .chain(success.map(|v| (v, LuPart::Success)))
        {
            all.insert(v, LuValue { part, a, order });
        }
    }

    /// Whether an argument of a call is a factorisation. The callee is then expanded, so that its
    /// use of the factors is recognised.
    pub(super) fn passes_factors(&self, g: &ast::Function<'_>, x: &[Val]) -> bool {
        let is_short = g.body.as_ref().is_some_and(|b| b.ops.len() <= 64);
        is_short && !self.factors.borrow().is_empty() && x.iter().any(|&v| self.factor(v).is_some())
    }

    fn is_number(&self, v: Val, n: i128) -> bool {
        matches!(self.number(v), Some(Scalar::I(i)) if i == n)
    }

    /// The factorisation result that `v` is. Conversions, offsets of row swaps, and a select on
    /// success are looked through.
    pub(super) fn factor(&self, v: Val) -> Option<LuValue> {
        if let Some(&f) = self.factors.borrow().get(&v) {
            return Some(f);
        }
        let def = |op: &Op, x: &[Val]| match op {
            Op::Select(_) => Some((x[1], Some(x[0]), None)),
            Op::Binary(Binary::Sub) => Some((x[0], None, Some(x[1]))),
            Op::Convert(c) if c.to.is_int() => Some((x[0], None, None)),
            _ => None,
        };
        let (x, condition, less) = self.with_def(v, def).flatten()?;
        let f = self.factor(x)?;
        match (f.part, condition, less) {
            (LuPart::Packed, Some(c), _) if self.succeeds(c) => Some(f),
            (LuPart::RowSwaps(first), _, Some(n)) => match self.number(n)? {
                Scalar::I(n) => Some(LuValue {
                    part: LuPart::RowSwaps(first - n),
                    ..f
                }),
                _ => None,
            },
            (LuPart::RowSwaps(_) | LuPart::Permutation, None, None) => Some(f),
            _ => None,
        }
    }

    /// Whether a condition tests success of a factorisation: `info >= 0`, or `info == 0`.
    fn succeeds(&self, condition: Val) -> bool {
        let compared = |op: &Op, x: &[Val]| match op {
            Op::Compare(c) if matches!(c.0, Comparison::Ge | Comparison::Eq) => {
                Some(Ok((x[0], x[1])))
            }
            Op::BroadcastInDim(_) | Op::Reshape(_) => Some(Err(x[0])),
            _ => None,
        };
        match self.with_def(condition, compared).flatten() {
            Some(Ok((info, zero))) => {
                self.is_number(zero, 0)
                    && self.factor(info).is_some_and(|f| f.part == LuPart::Success)
            }
            Some(Err(inner)) => self.succeeds(inner),
            None => false,
        }
    }

    /// Emits `U⁻¹ b` as `solve`, if `b` is `L⁻¹` times permuted rows.
    pub(super) fn solve_by_factors(&self, a: Val, b: Val, how: TriangularSolve) -> Option<Val> {
        let whole = self
            .factor(a)
            .filter(|f| f.part == LuPart::Packed && how == UPPER)?;
        let half = self.reshaped_from(b);
        let (l, rows) = self
            .with_def(half, |op, x| {
                matches!(op, Op::TriangularSolve(t) if *t == LOWER).then(|| (x[0], x[1]))
            })
            .flatten()?;
        let same = self
            .factor(l)
            .is_some_and(|f| f.part == LuPart::Packed && f.order == whole.order);
        let (cx, ty) = (self.cx(), self.cx().ty(rows));
        if !same || ty != cx.ty(b) {
            return None;
        }
        let b = self.without_permutation(rows, ty.rank() - 2, whole.order)?;
        Some(cx.op(Solve, &[whole.a, b]))
    }

    /// The value without reshapes.
    fn reshaped_from(&self, v: Val) -> Val {
        match self
            .with_def(v, |op, x| matches!(op, Op::Reshape(_)).then(|| x[0]))
            .flatten()
        {
            Some(x) => self.reshaped_from(x),
            None => v,
        }
    }

    /// `v` without the permutation `order` of its rows along `axis`, if it has one.
    fn without_permutation(&self, v: Val, axis: usize, order: Val) -> Option<Val> {
        let (cx, ty) = (self.cx(), self.cx().ty(v));
        let (op, x) = self.with_def(v, |op, x| (op.clone(), x.to_vec()))?;
        let tx = cx.ty(*x.first()?);
        match op {
            Op::Transpose(t) => Some(cx.transpose(
                self.without_permutation(x[0], t.perm[axis], order)?,
                &t.perm,
            )),
            Op::Gather(g)
                if takes_rows(&g, &tx, &cx.ty(x[1]), axis) && self.is_order(x[1], order) =>
            {
                Some(x[0])
            }
            op if keeps_elements(&op, &tx, &ty) => {
                let y = self.without_permutation(x[0], same_axis(&tx, &ty, axis)?, order)?;
                Some(cx.reshape(y, &ty.shape))
            }
            _ => None,
        }
    }

    /// Whether indices are the permutation `order`, possibly with a guard against negative indices.
    fn is_order(&self, v: Val, order: Val) -> bool {
        if self
            .factor(v)
            .is_some_and(|f| f.part == LuPart::Permutation && f.order == order)
        {
            return true;
        }
        let Some((op, x)) = self.with_def(v, |op, x| (op.clone(), x.to_vec())) else {
            return false;
        };
        let ty = |v: Val| self.cx().ty(v);
        match op {
            Op::Select(_) => {
                self.is_negative(x[0], &|v| self.is_order(v, order)) && self.is_order(x[2], order)
            }
            op if x.len() == 1 && keeps_elements(&op, &ty(x[0]), &ty(v)) => {
                self.is_order(x[0], order)
            }
            _ => false,
        }
    }

    /// Whether a condition is `x < 0` for a value `x` that `are` accepts.
    pub(super) fn is_negative(&self, condition: Val, are: &dyn Fn(Val) -> bool) -> bool {
        let below = |op: &Op, x: &[Val]| {
            matches!(op, Op::Compare(c) if c.0 == Comparison::Lt).then(|| (x[0], x[1]))
        };
        let compared = self.with_def(condition, below).flatten();
        compared.is_some_and(|(x, zero)| self.is_number(zero, 0) && are(x))
    }
}

/// Whether the elements are unchanged in row-major order: a reshape, or a broadcast without new
/// elements.
pub(super) fn keeps_elements(op: &Op, from: &Type, to: &Type) -> bool {
    match op {
        Op::Reshape(_) => true,
        Op::BroadcastInDim(_) => from.shape.numel().same(&to.shape.numel()) == Some(true),
        _ => false,
    }
}

/// The axis of `from` that corresponds to `axis` of `to`, if the shapes differ by axes of extent 1
/// only.
fn same_axis(from: &Type, to: &Type, axis: usize) -> Option<usize> {
    let long = |t: &Type| {
        (0..t.rank())
            .filter(|&k| !t.shape[k].is(1))
            .collect::<Vec<_>>()
    };
    let (a, b) = (long(from), long(to));
    let equal = a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|(&i, &j)| from.shape[i] == to.shape[j]);
    equal
        .then(|| b.iter().position(|&k| k == axis))
        .flatten()
        .map(|k| a[k])
}

/// Whether a gather is `y[l, .., i, ..] = x[l, .., indices[l, i], ..]`, with `i` at `axis` and
/// leading batch axes `l`.
fn takes_rows(g: &Gather, x: &Type, indices: &Type, axis: usize) -> bool {
    let w = &g.windows;
    let lead: Vec<usize> = (0..w.operand_batch.len()).collect();
    let others: Vec<usize> = (0..x.rank())
        .filter(|k| !w.operand_batch.contains(k) && *k != axis)
        .collect();
    let counted = lead.len() + 1;
    w.axes == [axis]
        && w.collapsed == [axis]
        && w.index_batch == lead
        && w.operand_batch.iter().all(|&k| k < axis)
        && w.window == others
        && others.iter().all(|&k| g.sizes[k] == x.shape[k])
        && w.vector == counted
        && (indices.rank() == counted || indices.rank() == counted + 1)
}

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

/// The results of a loop over row swaps, if it is one.
pub(super) fn permutation(
    f: &FunctionLowering<'_>,
    c: &CountedLoop,
    w: &While,
    x: &[Val],
) -> Option<Vals> {
    let (cx, nb) = (f.cx(), w.body_consts);
    let (consts, init) = x[w.cond_consts..].split_at(nb);
    let [k] = c.free()[..] else { return None };
    let ty = cx.ty(init[k]);
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
    let every = cx.ty(pivots).shape.last().is_some_and(|n| n.is(c.steps()));
    if !every || cx.ty(factor.order) != ty {
        return None;
    }
    let y = symbolic_results(&w.body, &seeds, 0)?;
    (y[k] == Some(BodyValue::Swapped)).then(|| c.results(cx, init, |_| factor.order))
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
            cotangent_core::ops::Value::Splat(s) => integer(*s),
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
