//! Compensated sums of an array, in the steps of a loop that add to few windows of it.
//!
//! ```text
//! a = update(h, u, i)    h' = add(a, b)          ->  h' = update(h, add(u, v), i)
//! b = update(l, v, i)    l' = add_error(a, b)        l' = update(l, add_error(u, v), i)
//! ```
//! `h` and `l` are carries that begin with numbers, `l` with `+0`. Outside of the windows
//! `add(h, l)` is `h` then, and `add_error(h, l)` is `l`: it is so in the first step, and where `h`
//! and `l` are the sum of two numbers and its error. This holds for all numbers, also if the sum is
//! not finite, where its error is `+0`; but not for `h = -0`, which no element is (see
//! [`zeros`](super::zeros)).

use super::form::LoopForm;
use super::sums::{MAX_WINDOWS, MIN_SHARE};
use super::total::bytes;
use super::zeros::{Numbers, of_loop, with_region};
use crate::analysis::without_dead;
use crate::dtype::DType;
use crate::ir::{Builder, Emit, Function, Op, Val, Vals, Walk};
use crate::ops::Binary;
use crate::rewrite::fold::is_positive_zero;
use crate::shape::Shape;
use std::sync::Arc;

/// An array in which a step updates windows, in their order.
struct Updated {
    /// The array before the updates: a carry, or its sum with zero.
    before: Val,
    /// Updates and their starts.
    windows: Vec<(Val, Vals)>,
    after: Val,
}

/// A compensated sum: the numbers of its carries, and what a step adds up at its end.
struct SumPair {
    carries: [usize; 2],
    parts: [Updated; 2],
}

/// The loop with sums in windows; `None` if it has none.
pub(super) fn in_windows(before: &Builder, form: &LoopForm<'_>) -> Option<Op> {
    let f = form.body;
    let numbers = Numbers::of(f);
    let pairs: Vec<SumPair> = (0..form.init.len())
        .filter_map(|k| SumPair::of(form, &numbers, k))
        .filter(|p| is_positive_zero(before, form.init[p.carries[1]]))
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let known = of_loop(before, form);
    let given = |k: &usize| known[form.consts.len() + k];
    let pairs: Vec<SumPair> = pairs
        .into_iter()
        .filter(|p| p.carries.iter().all(given))
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let b = Builder::new(&f.name, Default::default());
    b.reserve(f);
    let mut walk = Walk::copying(f);
    walk.copy_params(&b);
    walk.copy_named(&b);
    let mut results = walk.results();
    for p in &pairs {
        let sums = p.write(&b, &|v| walk.image(v));
        for (k, y) in p.carries.into_iter().zip(sums) {
            results[k] = y;
        }
    }
    let g = b.finish(&results).ok()?;
    let g = without_dead(&g).unwrap_or(g);
    Some(with_region(form.op, f, Arc::new(g)))
}

impl SumPair {
    /// The sum whose high part is the carry `k`.
    fn of(form: &LoopForm<'_>, numbers: &Numbers, k: usize) -> Option<SumPair> {
        let f = form.body;
        let high = f.results()[k];
        let [a, b] = operands(f, high, Binary::Add)?;
        if !matches!(f.ty(high).dtype, DType::F32 | DType::F64) {
            return None;
        }
        let error = |&j: &usize| operands(f, f.results()[j], Binary::AddError) == Some([a, b]);
        let low = (0..form.init.len()).find(error)?;
        let parts = [
            Updated::of(f, numbers, a, form.carry(k))?,
            Updated::of(f, numbers, b, form.carry(low))?,
        ];
        let mut written = 0usize;
        for (u, _) in parts.iter().flat_map(|p| &p.windows) {
            written = written.saturating_add(bytes(f.ty(*u))?);
        }
        let is_small = written.saturating_mul(MIN_SHARE) <= bytes(f.ty(high))?.saturating_mul(2);
        (written > 0 && is_small).then_some(SumPair {
            carries: [k, low],
            parts,
        })
    }

    /// Both results of a step. `image` has the values of the new body.
    fn write(&self, cx: &dyn Emit, image: &dyn Fn(Val) -> Val) -> [Val; 2] {
        let images = |i: &Vals| -> Vec<Val> { i.iter().map(|&i| image(i)).collect() };
        let both = |x: [Val; 2]| [Binary::Add, Binary::AddError].map(|op| cx.op(op, &x));
        // One window of both: the sums are those of the updates.
        if let [[(u, i)], [(v, j)]] = [0, 1].map(|k| &self.parts[k].windows[..])
            && i == j
            && cx.ty(image(*u)) == cx.ty(image(*v))
        {
            let new = both([image(*u), image(*v)]);
            let write = |k: usize| {
                let before = image(self.parts[k].before);
                cx.dynamic_update_slice(before, new[k], &images(i))
            };
            return [0, 1].map(write);
        }
        let after = [0, 1].map(|k| image(self.parts[k].after));
        let mut windows: Vec<(Shape, Vec<Val>)> = Vec::new();
        for (u, i) in self.parts.iter().flat_map(|p| &p.windows) {
            let window = (cx.ty(image(*u)).shape, images(i));
            if !windows.contains(&window) {
                windows.push(window);
            }
        }
        // All are read before the first is written.
        let sum = |(shape, i): (Shape, Vec<Val>)| {
            let x = after.map(|y| cx.dynamic_slice(y, &i, &shape));
            (both(x), i)
        };
        let sums: Vec<([Val; 2], Vec<Val>)> = windows.into_iter().map(sum).collect();
        sums.iter().fold(after, |y, (new, i)| {
            [0, 1].map(|k| cx.dynamic_update_slice(y[k], new[k], i))
        })
    }
}

impl Updated {
    /// An array with few windows updated, whose elements elsewhere are those of a carry, or of its
    /// sum with zero.
    fn of(f: &Function, numbers: &Numbers, after: Val, carry: Val) -> Option<Updated> {
        let (mut before, mut windows) = (after, Vec::new());
        while let Some((Op::DynamicUpdateSlice(_), x)) = f.definition(before) {
            if windows.len() == MAX_WINDOWS {
                return None;
            }
            windows.push((x[1], Vals::from_slice(&x[2..])));
            before = x[0];
        }
        windows.reverse();
        let is_sum = || {
            let (op, x) = f.definition(before)?;
            Some(x[numbers.added_to(f, op, x)?] == carry)
        };
        (before == carry || is_sum() == Some(true)).then_some(Updated {
            before,
            windows,
            after,
        })
    }
}

/// The operands of the equation that defines `v`, if it is this operation on values of one type.
fn operands(f: &Function, v: Val, op: Binary) -> Option<[Val; 2]> {
    match f.definition(v)? {
        (Op::Binary(own), &[x, y]) if *own == op && f.ty(x) == f.ty(y) => Some([x, y]),
        _ => None,
    }
}
