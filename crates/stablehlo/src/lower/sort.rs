//! `sort` and `top_k`: comparators are recognised.
//!
//! JAX compares floats in total order after making all zeros and all NaN alike, and several keys one after the other:
//!
//! ```text
//! lt(a0, b0) or (eq(a0, b0) and (lt(a1, b1) or ..))
//! ```
//! NaN comes last in ascending order and first in descending order. The sort of the core has it last in both, so a
//! descending one sorts by whether a key is NaN first.

use super::elementwise::direction;
use super::frame::{Frame, attribute, size};
use super::table::{How::By, Row};
use crate::ast::{Attr, Elements, Id, Operation, Region};
use cotangent_core::ops::{Comparison, Sort};
use cotangent_core::primitive::Vals;
use cotangent_core::{Dim, Emit, Result, Scalar, Val, bail};
use rustc_hash::FxHashMap;

pub const TABLE: &[Row] = &[
    ("sort", By(sort)),
    ("top_k", By(top_k)),
    ("topk", By(top_k)),
    ("TopK", By(top_k)),
    ("ApproxTopK", By(approx_top_k)),
];

/// What is compared of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Real,
    Imaginary,
}

/// A key: the operand, what of it, and whether it descends.
type Key = (usize, Part, bool);

/// The operations of a comparator by result.
struct Comparator<'o, 't> {
    frame: &'o Frame<'o>,
    ops: FxHashMap<Id, &'o Operation<'t>>,
    first: Id,
    params: Id,
}

impl<'o, 't> Comparator<'o, 't> {
    fn new(frame: &'o Frame<'o>, region: &'o Region<'t>) -> Comparator<'o, 't> {
        let ops = region.ops.iter().filter(|o| o.count == 1).map(|o| (o.first, o)).collect();
        Comparator { frame, ops, first: region.first, params: region.args.len() as Id }
    }

    fn op(&self, v: Id) -> Option<(&'o str, &'o Operation<'t>)> {
        let op = *self.ops.get(&v)?;
        Some((op.name.strip_prefix("stablehlo.")?, op))
    }

    fn is_zero(&self, v: Id) -> bool {
        self.literal(v) == Some(0.0)
    }

    /// A number that stands in the comparator, or before it.
    fn literal(&self, v: Id) -> Option<f64> {
        let Some((name, op)) = self.op(v) else {
            return match self.frame.number(self.frame.value(v).ok()?)? {
                Scalar::F(x) => Some(x),
                Scalar::I(i) => Some(i as f64),
                Scalar::C(_) => None,
            };
        };
        match op.attr("value").or_else(|| op.unnamed().next()).filter(|_| name == "constant")? {
            Attr::Dense(d) => match &d.elements {
                // Bits in hexadecimal are no zero.
                Elements::Splat(n) => Some(n.re.parse().unwrap_or(f64::NAN)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The parameter that a value is, or a part of it, but for zeros and NaN made alike.
    fn param(&self, v: Id) -> Option<(Id, Part)> {
        if (self.first..self.first + self.params).contains(&v) {
            return Some((v - self.first, Part::Whole));
        }
        if let Some((name @ ("real" | "imag"), op)) = self.op(v) {
            let (of, whole) = self.param(*op.operands.first()?)?;
            let part = if name == "real" { Part::Real } else { Part::Imaginary };
            return (whole == Part::Whole).then_some((of, part));
        }
        let ("select", op) = self.op(v)? else { return None };
        let &[p, alike, other] = &op.operands[..] else { return None };
        let ("compare", c) = self.op(p)? else { return None };
        let &[x, y] = &c.operands[..] else { return None };
        let of = self.param(other)?;
        let tests = match direction(c).ok()? {
            Comparison::Eq => self.is_zero(y) && self.is_zero(alike),
            Comparison::Ne => x == y && self.literal(alike).is_some(),
            _ => false,
        };
        (tests && self.param(x)? == of).then_some(of)
    }

    /// The key that a comparison is of, and how it compares.
    fn comparison(&self, v: Id) -> Option<(usize, Part, Comparison)> {
        let ("compare", op) = self.op(v)? else { return None };
        let &[x, y] = &op.operands[..] else { return None };
        let ((x, part), (y, other), c) = (self.param(x)?, self.param(y)?, direction(op).ok()?);
        match (x / 2 == y / 2 && part == other, x % 2, y % 2) {
            (true, 0, 1) => Some((x as usize / 2, part, c)),
            (true, 1, 0) => Some((x as usize / 2, part, flipped(c))),
            _ => None,
        }
    }

    /// The keys of a lexicographic comparison, appended.
    fn keys(&self, v: Id, out: &mut Vec<Key>) -> Option<()> {
        let mut v = v;
        loop {
            if let Some(key) = self.strict(v) {
                out.push(key);
                return Some(());
            }
            let ("or", op) = self.op(v)? else { return None };
            let &[a, b] = &op.operands[..] else { return None };
            let (less, rest) = if self.strict(a).is_some() { (a, b) } else { (b, a) };
            let key = self.strict(less)?;
            let ("and", both) = self.op(rest)? else { return None };
            let &[p, q] = &both.operands[..] else { return None };
            let equal = |v: Id| self.comparison(v) == Some((key.0, key.1, Comparison::Eq));
            out.push(key);
            v = if equal(p) {
                q
            } else if equal(q) {
                p
            } else {
                return None;
            };
        }
    }

    fn strict(&self, v: Id) -> Option<Key> {
        match self.comparison(v)? {
            (k, part, Comparison::Lt | Comparison::Le) => Some((k, part, false)),
            (k, part, Comparison::Gt | Comparison::Ge) => Some((k, part, true)),
            _ => None,
        }
    }
}

fn flipped(c: Comparison) -> Comparison {
    match c {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        c => c,
    }
}

fn sort(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let x = f.operands(op)?;
    let (Some(region), Some(&first)) = (op.regions.first(), x.first()) else {
        bail!(Arity, "`{}` needs operands and a comparator", op.name)
    };
    let axis = match op.attr("dimension").and_then(Attr::int) {
        None | Some(-1) => f.cx().ty(first).rank().wrapping_sub(1),
        Some(a) => usize::try_from(a).map_err(|_| attribute(op, "dimension", "an axis"))?,
    };
    let result = region.ops.last().and_then(|o| o.operands.first());
    let mut keys = Vec::new();
    let known = result.and_then(|&r| Comparator::new(f, region).keys(r, &mut keys));
    if known.is_none() || keys.iter().any(|k| k.0 >= x.len()) {
        bail!(
            UnknownOperation,
            "`{}` with this comparator is not supported: it may compare the operands, one after the other",
            op.name
        );
    }
    Ok(sorted(f.cx(), &x, axis, &keys))
}

/// `x` sorted by keys.
fn sorted(cx: &dyn Emit, x: &[Val], axis: usize, keys: &[Key]) -> Vals {
    let descending = keys.iter().all(|k| k.2);
    let mut by = Vec::new();
    for &(k, part, down) in keys {
        let v = match part {
            Part::Whole => x[k],
            Part::Real => cx.real(x[k]),
            Part::Imaginary => cx.imag(x[k]),
        };
        let dtype = cx.ty(v).dtype;
        let turned = |v: Val| if dtype.is_float() { cx.neg(v) } else { cx.not(v) };
        if down && dtype.is_float() {
            let nan = cx.is_nan(v);
            by.push(if descending { nan } else { cx.not(nan) });
        }
        by.push(if down == descending { v } else { turned(v) });
    }
    // A key that is an operand comes out sorted; others are only sorted by.
    let num_keys = by.len();
    let mut all = by;
    let at: Vec<usize> = x
        .iter()
        .map(|&v| {
            all.iter().position(|&a| a == v).unwrap_or_else(|| {
                all.push(v);
                all.len() - 1
            })
        })
        .collect();
    let y = cx.emit(Sort { axis, operands: all.len(), num_keys, descending }.into(), &all);
    at.into_iter().map(|k| y[k]).collect()
}

/// The `k` greatest along the last axis, and where they are.
fn top_k(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.take(op)?;
    let (cx, ty) = (f.cx(), f.cx().ty(x));
    let (values, places) = (f.result(op, 0)?, f.result(op, 1)?);
    let Some(axis) = ty.rank().checked_sub(1) else { bail!(ShapeMismatch, "`{}` of a scalar", op.name) };
    let k = match values.shape.last() {
        Some(Dim::Const(k)) => *k,
        _ => size(op, &["k"])?,
    };
    let smallest = op.attr("mhlo.attributes").and_then(|a| a.get("largest")).and_then(Attr::bool) == Some(false);
    let place = cx.iota(&ty.with_dtype(places.dtype), axis);
    let y = sorted(cx, &[x, place], axis, &[(0, Part::Whole, !smallest)]);
    Ok(y.into_iter().map(|v| cx.slice_axis(v, axis, 0usize, k)).collect())
}

/// The `top_k` first of several operands by the comparator that it calls, of the first one.
fn approx_top_k(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let all = f.operands(op)?;
    let setting = |name: &str| {
        let a =
            ["mhlo.backend_config", "backend_config"].iter().find_map(|p| op.attr(p)?.get(name)).and_then(Attr::int);
        a.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| attribute(op, name, "a number that is not negative"))
    };
    let (k, axis) = (setting("top_k")?, setting("reduction_dim")?);
    let called = match op.attr("called_computations") {
        Some(Attr::List(l)) => l.first().and_then(Attr::word),
        _ => None,
    };
    let body = f.lowering.text.functions.iter().find(|g| Some(&*g.name) == called).and_then(|g| g.body.as_ref());
    let first = body.and_then(|b| b.ops.iter().find(|o| o.name == "stablehlo.compare"));
    let down = match first.map(direction).transpose()? {
        Some(Comparison::Gt | Comparison::Ge) => true,
        Some(Comparison::Lt | Comparison::Le) => false,
        _ => return Err(attribute(op, "called_computations", "a function that compares its first two parameters")),
    };
    let x = &all[..all.len() / 2];
    let rank = x.first().map_or(0, |&v| f.cx().ty(v).rank());
    if axis >= rank {
        return Err(attribute(op, "reduction_dim", "an axis of the operand"));
    }
    let y = sorted(f.cx(), x, axis, &[(0, Part::Whole, down)]);
    Ok(y.into_iter().map(|v| f.cx().slice_axis(v, axis, 0usize, k)).collect())
}
