//! Sums over the steps of a loop that are computed after the loop, from stacked values.
//!
//! ```text
//! sum_t  a[t] · b[t]     =  a · b, with the steps contracted, too
//! sum_t  map(b[t])       =  map(sum_t b[t])                        for a linear map
//! ```
//! The cotangent of a matrix by which a loop multiplies is a sum of products: one large product is
//! computed instead of a small one and a sum of matrices in each step. Other values are summed in
//! the loop ([`sums`](super::sums)).
//!
//! Condition: stacking an operand costs no more than adding the product does, and all together are
//! not larger than the arrays that the loop already reads row by row.

use super::moving::exceeds;
use super::sums::Compensated;
use super::{Binary, DotGeneral};
use crate::ir::{Def, Emit, Function, Op, Val};
use crate::shape::{Dim, Type};

/// Maximum number of terms of one sum.
const MAX_TERMS: usize = 16;

/// Maximum number of linear maps between a term and the value that is summed.
const MAX_MAPS: usize = 16;

/// A value that is summed over the steps: `maps(base)`.
struct StepTerm {
    value: Val,
    base: Base,
    /// Linear maps of one operand, in the order of their application.
    maps: Vec<Op>,
}

impl StepTerm {
    /// The sum over all steps.
    fn sum(&self, cx: &dyn Emit, array: impl Fn(Val) -> Val) -> Val {
        let total = match &self.base {
            Base::Product(d, x) => {
                let shifted = |axes: &[usize]| axes.iter().map(|a| a + 1).collect::<Vec<_>>();
                let with_steps = |axes: &[usize]| [vec![0], shifted(axes)].concat();
                let d = DotGeneral {
                    lhs_batch: shifted(&d.lhs_batch),
                    rhs_batch: shifted(&d.rhs_batch),
                    lhs_contract: with_steps(&d.lhs_contract),
                    rhs_contract: with_steps(&d.rhs_contract),
                    ..*d
                };
                cx.dot_general(array(x[0]), array(x[1]), d)
            }
            Base::Value(v) => cx.reduce_sum(array(*v), &[0]),
        };
        let apply = |v: Val, op: &Op| cx.emit(op.clone(), &[v])[0];
        self.maps.iter().fold(total, apply)
    }
}

enum Base {
    Product(DotGeneral, [Val; 2]),
    Value(Val),
}

impl Base {
    fn operands(&self) -> &[Val] {
        match self {
            Base::Product(_, x) => x,
            Base::Value(v) => std::slice::from_ref(v),
        }
    }
}

/// The sum over all steps of one value of the step.
struct StepSum {
    /// Terms that are summed after the loop.
    after: Vec<StepTerm>,
    /// Values that are summed in the loop.
    within: Vec<Val>,
    /// The sum of `within`.
    sum: Compensated,
}

impl StepSum {
    /// The types of the carries that represent the sum in the loop.
    fn held(&self) -> Vec<Type> {
        match self.within.is_empty() {
            true => Vec::new(),
            false => self.sum.types(),
        }
    }
}

/// Sums over the steps of values of a step.
pub(super) struct StepSums<'f> {
    step: &'f Function,
    sums: Vec<StepSum>,
    /// The positions of values of the step among the arrays: those of rows, then those that are
    /// stacked for sums.
    place: Vec<Option<usize>>,
    /// Number of elements of the rows.
    of_rows: Dim,
    /// Values that are stacked only for sums.
    pub stacked: Vec<Val>,
    /// Number of elements of `stacked`.
    of_stacked: Dim,
}

impl StepSums<'_> {
    /// The sums of `values`. `rows` are the parameters that are rows of stacked arrays.
    pub(super) fn new<'f>(
        cx: &dyn Emit,
        step: &'f Function,
        values: &[Val],
        rows: &[Val],
    ) -> StepSums<'f> {
        let (mut waiting, mut sums) = (Vec::new(), Vec::new());
        for (k, &v) in values.iter().enumerate() {
            let sum = Compensated::new(cx, step.ty(v));
            let mut within = Vec::new();
            match if sum.is_plain() { None } else { terms(step, v) } {
                Some(terms) => waiting.extend(terms.into_iter().map(|t| (k, t))),
                None => within.push(v),
            }
            sums.push(StepSum {
                after: Vec::new(),
                within,
                sum,
            });
        }
        let mut place = vec![None; step.len()];
        rows.iter()
            .enumerate()
            .for_each(|(k, v)| place[v.index()] = Some(k));
        let mut all = StepSums {
            step,
            sums,
            place,
            of_rows: total(step, rows),
            stacked: Vec::new(),
            of_stacked: Dim::Const(0),
        };
        // A value that is stacked for one term may serve another.
        let mut before = waiting.len() + 1;
        while waiting.len() < before {
            before = waiting.len();
            for (k, term) in std::mem::take(&mut waiting) {
                match all.new_of(&term) {
                    Some(new) => {
                        all.stack(rows.len(), &new);
                        all.sums[k].after.push(term);
                    }
                    None => waiting.push((k, term)),
                }
            }
        }
        for (k, term) in waiting {
            all.sums[k].within.push(term.value);
        }
        // A sum that stays in the loop as a whole is the value itself.
        for (sum, &v) in all.sums.iter_mut().zip(values) {
            if sum.after.is_empty() {
                sum.within = vec![v];
            }
        }
        all
    }

    fn stack(&mut self, rows: usize, new: &[Val]) {
        self.of_stacked = self.of_stacked.clone() + total(self.step, new);
        for &v in new {
            self.place[v.index()] = Some(rows + self.stacked.len());
            self.stacked.push(v);
        }
    }

    /// The values that are stacked in addition, if the term is summed after the loop.
    fn new_of(&self, term: &StepTerm) -> Option<Vec<Val>> {
        let mut new: Vec<Val> = Vec::new();
        for &v in term.base.operands() {
            if self.place[v.index()].is_none() && !new.contains(&v) {
                new.push(v);
            }
        }
        // Constants and carries are not stacked.
        let parameter = |v: &Val| matches!(self.step.def(*v), Def::Param(_));
        let free = new.is_empty();
        let product = matches!(term.base, Base::Product(..)) && !new.iter().any(parameter);
        let size = total(self.step, &new);
        let worth = || !exceeds(&size, &total(self.step, &[term.value]));
        let small = || (self.of_stacked.clone() + size.clone()).never_exceeds(&self.of_rows);
        (free || product && worth() && small()).then_some(new)
    }

    /// The types of the carries that represent the sums in the loop.
    pub(super) fn held(&self) -> Vec<Type> {
        self.sums.iter().flat_map(StepSum::held).collect()
    }

    /// Values of the step that are summed in the loop.
    pub(super) fn within(&self) -> impl Iterator<Item = Val> {
        self.sums.iter().flat_map(|s| &s.within).copied()
    }

    /// The carries after a step whose values are `within`.
    pub(super) fn add(&self, cx: &dyn Emit, mut held: &[Val], mut within: &[Val]) -> Vec<Val> {
        let mut out = Vec::new();
        for s in &self.sums {
            let (own, others) = held.split_at(s.held().len());
            let (terms, rest) = within.split_at(s.within.len());
            (held, within) = (others, rest);
            let add = |sum: Vec<Val>, &x: &Val| s.sum.add(cx, &sum, x);
            out.extend(terms.iter().fold(own.to_vec(), add));
        }
        out
    }

    /// The sums, from the last carries, the arrays of rows, and the stacked values.
    pub(super) fn values(&self, cx: &dyn Emit, mut held: &[Val], arrays: &[Val]) -> Vec<Val> {
        let array = |v: Val| arrays[self.place[v.index()].expect("a stacked value")];
        let value = |s: &StepSum| {
            let (own, others) = held.split_at(s.held().len());
            held = others;
            let within = (!s.within.is_empty()).then(|| s.sum.value(cx, own));
            let after = s.after.iter().map(|t| t.sum(cx, array));
            let terms = after.chain(within);
            terms.reduce(|a, b| cx.add(a, b)).expect("a sum has a term")
        };
        self.sums.iter().map(value).collect()
    }
}

/// Number of elements of all values together.
fn total(f: &Function, all: &[Val]) -> Dim {
    let sizes = all.iter().map(|&v| f.ty(v).shape.numel());
    sizes.fold(Dim::Const(0), |a, b| a + b)
}

/// The terms of a sum, linear maps of products or values.
fn terms(f: &Function, v: Val) -> Option<Vec<StepTerm>> {
    if !f.bound_syms().is_empty() {
        return None;
    }
    let (mut open, mut found) = (vec![v], Vec::new());
    while let Some(v) = open.pop() {
        match f.definition(v) {
            Some((Op::Binary(Binary::Add), &[a, b])) => open.extend([b, a]),
            _ => found.push(term(f, v)),
        }
        if open.len() + found.len() > MAX_TERMS {
            return None;
        }
    }
    Some(found)
}

fn term(f: &Function, value: Val) -> StepTerm {
    let (mut v, mut maps) = (value, Vec::new());
    let base = loop {
        match f.definition(v) {
            Some((Op::DotGeneral(d), &[a, b])) => break Base::Product((**d).clone(), [a, b]),
            Some((op, &[x]))
                if maps.len() < MAX_MAPS && op.results() == 1 && op.linear_in(&[true]) =>
            {
                maps.push(op.clone());
                v = x;
            }
            _ => break Base::Value(v),
        }
    };
    maps.reverse();
    StepTerm { value, base, maps }
}
