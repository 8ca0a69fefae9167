//! Elements shifted around, repeated, compared with their neighbours, and positions in sorted
//! lists.

use super::entry::{Composite, operands, option};
use crate::dtype::DType;
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::support::take_axis;
use crate::ops::{Bounds, Comparison};
use crate::shape::Dim;

pub(super) static REARRANGED: &[Composite] = &[
    Composite {
        name: "roll",
        doc: "The elements moved by `shift` along an axis; those past the end come first.",
        build: |cx, s, x| {
            let ([x], shift, axis) = (operands(s, x)?, s.attrs.get::<i64>("shift")?, take_axis(s)?);
            Ok(vec![cx.roll(x, shift, axis)])
        },
    },
    Composite {
        name: "tile",
        doc: "The whole of x several times along each axis: `counts` for the last axes.",
        build: |cx, s, x| {
            let ([x], counts) = (operands(s, x)?, s.attrs.get::<Vec<Dim>>("counts")?);
            Ok(vec![cx.tile(x, &counts)])
        },
    },
    Composite {
        name: "repeat",
        doc: "Each element `count` times along an axis.",
        build: |cx, s, x| {
            let ([x], count, axis) = (operands(s, x)?, s.attrs.get::<Dim>("count")?, take_axis(s)?);
            Ok(vec![cx.repeat(x, &count, axis)])
        },
    },
    Composite {
        name: "diff",
        doc: "Differences of neighbours along an axis, taken `n` times; of booleans, whether they differ.",
        build: |cx, s, x| {
            let ([x], n, axis) = (operands(s, x)?, option(s, "n", 1usize)?, take_axis(s)?);
            Ok(vec![cx.diff(x, n, axis)])
        },
    },
    Composite {
        name: "searchsorted",
        doc: "Positions, as i64, at which the elements of the second operand are inserted into the first, an ascending vector: before equal elements, or after them with `right`; NaN is last.",
        build: |cx, s, x| {
            let ([x, v], right) = (operands(s, x)?, option(s, "right", false)?);
            Ok(vec![cx.searchsorted(x, v, right)])
        },
    },
];

/// The extent of an axis. Reports an error if there is no such axis.
fn extent_of(cx: &dyn Emit, what: &str, x: Val, axis: usize) -> Option<Dim> {
    let ty = cx.ty(x);
    let found = ty.shape.get(axis).cloned();
    if found.is_none() && !cx.failed() {
        let text = format!("`{what}` of {ty}: there is no axis {axis}");
        cx.fail(Error::new(Code::ShapeMismatch, text).at(cx.loc()));
    }
    found
}

impl dyn Emit + '_ {
    /// `y[.., (i + shift) mod n, ..] = x[.., i, ..]` along an axis of extent `n`. If `n` is
    /// symbolic, it must be at least `|shift|`.
    pub fn roll(&self, x: Val, shift: i64, axis: usize) -> Val {
        let Some(n) = extent_of(self, "roll", x, axis) else {
            return Val::POISON;
        };
        // The position of the first element of the result.
        let first = match n.as_const() {
            Some(0) => return x,
            Some(n) => Dim::from((-shift).rem_euclid(n as i64) as usize),
            None if shift > 0 => n.clone() - Dim::from(shift as usize),
            None => Dim::from(shift.unsigned_abs() as usize),
        };
        if first.is(0) {
            return x;
        }
        let (head, tail) = (
            self.slice_axis(x, axis, first.clone(), n),
            self.slice_axis(x, axis, 0, first),
        );
        self.concatenate(&[head, tail], axis)
    }

    /// The whole of `x` several times along each axis: `counts` for the last axes, 1 for the
    /// others. With more counts than axes, leading axes of extent 1 are added.
    pub fn tile(&self, x: Val, counts: &[Dim]) -> Val {
        let ty = self.ty(x);
        let rank = ty.rank().max(counts.len());
        let padded = |from: &[Dim]| {
            let ones = vec![Dim::Const(1); rank - from.len()];
            [ones, from.to_vec()].concat()
        };
        let (extents, counts) = (padded(&ty.shape), padded(counts));
        // Each axis is preceded by one for its copies.
        let pairs = || counts.iter().cloned().zip(extents.iter().cloned());
        let split: Vec<Dim> = pairs().flat_map(|(_, n)| [Dim::Const(1), n]).collect();
        let all: Vec<Dim> = pairs().flat_map(|(count, n)| [count, n]).collect();
        let tiled: Vec<Dim> = pairs().map(|(count, n)| count * n).collect();
        self.reshape(self.broadcast_to(self.reshape(x, &split), &all), &tiled)
    }

    /// Each element `count` times along an axis.
    pub fn repeat(&self, x: Val, count: &Dim, axis: usize) -> Val {
        let Some(n) = extent_of(self, "repeat", x, axis) else {
            return Val::POISON;
        };
        let shape = self.ty(x).shape.to_vec();
        let with =
            |d: &Dim| [&shape[..=axis], std::slice::from_ref(d), &shape[axis + 1..]].concat();
        let mut repeated = shape.clone();
        repeated[axis] = n * count.clone();
        let copies = self.broadcast_to(self.reshape(x, &with(&Dim::Const(1))), &with(count));
        self.reshape(copies, &repeated)
    }

    /// Differences of neighbours along an axis, taken `n` times. Of booleans, whether they differ.
    pub fn diff(&self, x: Val, n: usize, axis: usize) -> Val {
        let mut y = x;
        for _ in 0..n {
            let Some(extent) = extent_of(self, "diff", y, axis) else {
                return Val::POISON;
            };
            if extent.is(0) {
                return y;
            }
            let after = self.slice_axis(y, axis, 1, extent.clone());
            let before = self.slice_axis(y, axis, 0, extent - Dim::Const(1));
            y = match self.ty(x).dtype {
                DType::Bool => self.xor(after, before),
                _ => self.sub(after, before),
            };
        }
        y
    }

    /// Positions, as `i64`, at which elements of `v` (of any shape) are inserted into an ascending
    /// vector so that it stays ascending: before equal elements, or after them if `right`. NaN is
    /// greater than every number. O(log n) steps, each over all elements of `v`.
    pub fn searchsorted(&self, sorted: Val, v: Val, right: bool) -> Val {
        let (ty, tv) = (self.ty(sorted), self.ty(v));
        if ty.rank() != 1 || ty.dtype != tv.dtype || ty.dtype.is_complex() {
            if !self.failed() {
                let text = format!(
                    "`searchsorted` of {tv} in {ty}: it searches an ascending vector of the same real element type"
                );
                self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
            }
            return Val::POISON;
        }
        let n = &ty.shape[0];
        let index = tv.with_dtype(DType::I64);
        let number = |cx: &dyn Emit, i: i64| cx.full(&index, i);
        if n.is(0) {
            return number(self, 0);
        }
        // Before the result, elements precede v: steps of decreasing powers of two skip them.
        let steps = n.as_const().map_or(40, |n| n.ilog2() + 1);
        let first = number(self, 1 << (steps - 1));
        let end = self.extent(&index, n);
        let found = self.fori(
            0,
            i64::from(steps),
            &[sorted, v, end],
            &[number(self, 0), first],
            |cx, w, _, c| {
                let next = cx.add(c[0], c[1]);
                let last = cx.sub(next, number(cx, 1));
                let x = cx.take(w[0], last, 0, Bounds::Clip);
                let precedes = cx.precedes(x, w[1], right);
                let inside = cx.compare(next, Comparison::Le, w[2]);
                let at = cx.select(cx.and(inside, precedes), next, c[0]);
                vec![at, cx.shift_right_logical(c[1], number(cx, 1))]
            },
        );
        found[0]
    }

    /// Whether `x` is less than `v`, or equal if `equal`; NaN is greater than every number.
    fn precedes(&self, x: Val, v: Val, equal: bool) -> Val {
        let than = if equal {
            Comparison::Le
        } else {
            Comparison::Lt
        };
        let less = self.compare(x, than, v);
        if !self.ty(x).dtype.is_float() {
            return less;
        }
        let nan = self.is_nan(v);
        match equal {
            true => self.or(less, nan),
            false => self.or(less, self.and(nan, self.not(self.is_nan(x)))),
        }
    }

    /// The cross product of vectors of three elements along an axis of both.
    pub fn cross(&self, x: Val, y: Val, axis: usize) -> Val {
        let (tx, ty) = (self.ty(x), self.ty(y));
        let three = |d: Option<&Dim>| d.is_some_and(|d| d.is(3));
        if tx != ty || !three(tx.shape.get(axis)) {
            if !self.failed() {
                let text = format!(
                    "`cross` of {tx} and {ty} along axis {axis}: both have one type, with extent 3 there"
                );
                self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
            }
            return Val::POISON;
        }
        // x_k y_(k+1) - x_(k+1) y_k is element k + 2.
        let next = |v: Val| self.roll(v, -1, axis);
        next(self.sub(self.mul(x, next(y)), self.mul(next(x), y)))
    }
}
