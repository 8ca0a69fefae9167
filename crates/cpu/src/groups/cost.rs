//! The cost model: constants, and estimates of extents and of expressions. It decides no bits.

use crate::nests::access::{Bound, Choice, Read, Source};
use crate::nests::nest::{Expr, ExprOp, Nest, What, known_volume};
use crate::tuning::{
    ARITHMETIC_BYTE_PS, CACHED_BYTE_PS, LOAD_BYTE_PS, MEMORY_BYTE_PS, PACKED_PS_PER_ELEMENT,
    STEP_PS,
};
use cotangent_core::{DType, Dim, Env, Function, Op, Type, Val};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// Value of a symbol before a run decides it.
pub(crate) const UNKNOWN_EXTENT: usize = 1024;

/// Maximum number of elements that a group reads at each of its indices.
pub(crate) const MAX_READS: usize = 128;

/// Maximum number of operations of the expressions of a group.
pub(crate) const MAX_INSTRUCTIONS: usize = 800;

/// Maximum size of the values that a group keeps for one row, in bytes.
pub(crate) const MAX_BLOCK_BYTES: f64 = 262144.0;

/// Maximum number of indices of unrolled axes.
pub(crate) const MAX_UNROLLED: usize = 64;

/// Least number of rows for each index of unrolled axes that precede the axes of rows.
pub(crate) const MIN_UNROLLED_ROWS: usize = 4;

/// Maximum number of indices of unrolled axes along which elements of an operand are adjacent: more
/// are strided reads of whole rows.
pub(crate) const MAX_INTERLEAVED: usize = 8;

/// Maximum number of different index maps at which readers recompute a value.
pub(crate) const MAX_COPIES: usize = 16;

/// Minimum number of nests between a value and its reader for which the lifetime of operands
/// matters.
pub(crate) const MIN_DISTANCE: usize = 16;

/// Maximum number of axes of a group.
pub(crate) const MAX_AXES: usize = 16;

/// Least number of elements of an operand for an element of a window at a known start that is
/// written where it is.
pub(crate) const MIN_UPDATE_SHARE: usize = 4;

/// Least number of elements of an operand with such a window.
pub(crate) const MIN_UPDATED_ELEMENTS: usize = 512;

/// Maximum size of such an operand for each part into which the window cuts a loop, in bytes: a
/// part takes about as long as writing and reading these.
const PART_BYTES: usize = 8192;

/// Maximum size of a value that stays in the cache, in bytes.
const CACHED_BYTES: f64 = 1048576.0;

/// Estimates for a function before its extents are known.
pub(crate) struct Estimate {
    env: Env,
    /// The symbolic extent that was estimated last: most values have the one of the value before.
    last: RefCell<Option<(Dim, f64)>>,
    /// The cost of an operation on an element type, by the address of the shared operation.
    ops: FxHashMap<(usize, DType), f64>,
}

impl Estimate {
    pub(crate) fn new(f: &Function) -> Estimate {
        let mut env = Env::default();
        for s in f.syms() {
            env.insert(s.clone(), UNKNOWN_EXTENT);
        }
        let ops = FxHashMap::default();
        let last = RefCell::default();
        Estimate { env, last, ops }
    }

    /// The extents of symbols that the estimates assume.
    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    fn extent(&self, d: &Dim) -> f64 {
        if let Some(n) = d.as_const() {
            return n as f64;
        }
        let mut last = self.last.borrow_mut();
        match &*last {
            Some((known, n)) if known == d => *n,
            _ => {
                let n = extent(d, &self.env) as f64;
                *last = Some((d.clone(), n));
                n
            }
        }
    }

    /// The number of indices of a space.
    pub(crate) fn volume<'a>(&self, extents: impl IntoIterator<Item = &'a Dim>) -> f64 {
        extents.into_iter().map(|d| self.extent(d)).product()
    }

    /// The number of bytes of a value.
    pub(crate) fn bytes(&self, ty: &Type) -> f64 {
        self.volume(ty.shape.iter()) * ty.dtype.size() as f64
    }

    /// The time of one evaluation of an expression, in ps.
    pub(crate) fn expr(&mut self, e: &Expr) -> f64 {
        let mut sum = 0.0;
        for n in &e.nodes {
            let size = n.dtype.size() as f64;
            sum += match &n.op {
                ExprOp::Read(r) => {
                    let packed = r.starts.iter().filter(|s| s.read.has_axis()).count();
                    LOAD_BYTE_PS as f64 * size + packed as f64 * PACKED_PS_PER_ELEMENT as f64
                }
                ExprOp::Number(_) | ExprOp::Extent(_) => 0.0,
                ExprOp::Index(_) => ARITHMETIC_BYTE_PS as f64 * size,
                ExprOp::Apply { op, operands } => {
                    let first = operands
                        .first()
                        .map_or(n.dtype, |&x| e.nodes[x as usize].dtype);
                    let key = (Arc::as_ptr(op) as usize, first);
                    let (count, to) = (operands.len(), n.dtype);
                    *self
                        .ops
                        .entry(key)
                        .or_insert_with(|| op_cost(op, first, count, to))
                }
            };
        }
        sum
    }
}

/// Arithmetic operations that round a result to 16 bits.
const HALF_ROUNDING: f64 = 10.0;

fn op_cost(op: &Op, from: DType, count: usize, to: DType) -> f64 {
    let x = vec![Type::scalar(from); count];
    let flops = op.cost(&x, &[Type::scalar(to)]).flops.max(1.0);
    let rounding = match to {
        DType::F16 | DType::BF16 => HALF_ROUNDING,
        _ => 0.0,
    };
    (flops + rounding) * ARITHMETIC_BYTE_PS as f64 * from.size().max(to.size()) as f64
}

/// An extent, for these symbols. Unknown ones have [`UNKNOWN_EXTENT`].
pub(crate) fn extent(d: &Dim, env: &Env) -> usize {
    match d.as_const() {
        Some(n) => n,
        None => d.eval(env).unwrap_or(UNKNOWN_EXTENT),
    }
}

/// Whether axes have so few indices that they can be unrolled.
pub(crate) fn is_short<'a>(extents: impl IntoIterator<Item = &'a Dim>) -> bool {
    known_volume(extents).is_some_and(|n| n <= MAX_UNROLLED)
}

/// A value that its readers may compute instead of reading it.
pub(crate) struct Recomputed {
    /// Number of elements, and their size in bytes.
    pub(crate) count: f64,
    pub(crate) size: usize,
    /// Reads of each element, and the passes over the value that these are. A fold that reads an
    /// element several times finds it in the cache.
    pub(crate) passes: [f64; 2],
    /// Time of one element in ps.
    pub(crate) time: f64,
    /// Bytes that the readers read instead, besides those that its own computation reads.
    pub(crate) operands: f64,
}

impl Recomputed {
    /// Whether it takes less time to compute the value at each read than to write and read it.
    /// `step` is set if it would else be a step of its own.
    pub(crate) fn is_faster(&self, step: bool) -> bool {
        let bytes = self.count * self.size as f64;
        let byte = if bytes <= CACHED_BYTES {
            CACHED_BYTE_PS as f64
        } else {
            MEMORY_BYTE_PS as f64
        };
        let [reads, passes] = self.passes;
        let passes = passes.min(reads);
        let cached = (reads - passes) * CACHED_BYTE_PS as f64;
        let step = if step { STEP_PS as f64 } else { 0.0 };
        let stored = bytes * ((1.0 + passes) * byte + cached) + step;
        (reads - 1.0) * self.count * self.time + self.operands * byte <= stored
    }
}

/// The operand of an update of a small window at a known start, and the value in the window, if a
/// nest is one and the operand is small, too: then writing the window where the operand is takes
/// less time than the parts into which it would cut the loops of its readers.
pub(crate) fn known_update(n: &Nest) -> Option<[Val; 2]> {
    let What::Map(e) = &n.what else { return None };
    let [read] = &e.nodes[..] else { return None };
    let ExprOp::Read(Read {
        source: Source::Choice(c),
        ..
    }) = &read.op
    else {
        return None;
    };
    let (Source::Element(update), Source::Element(operand)) = (&c.inside, &c.outside) else {
        return None;
    };
    let space = n.extents();
    let all = known_volume(&space).filter(|&n| n >= MIN_UPDATED_ELEMENTS)?;
    let share: f64 = c.bounds.iter().map(|b| share_of(b, &space)).product();
    let parts: usize = (0..space.len())
        .map(|k| parts_of(&c.bounds, &space, k))
        .product();
    let gains = all.saturating_mul(e.nodes[0].dtype.size()) <= parts.saturating_mul(PART_BYTES);
    let few = share * MIN_UPDATE_SHARE as f64 <= 1.0;
    (few && gains).then_some([operand.of, update.of])
}

/// The number of parts into which bounds cut an axis.
fn parts_of(bounds: &[Bound], space: &[Dim], axis: usize) -> usize {
    let n = space[axis].as_const().map_or(0, |n| n as i64);
    let ends = bounds.iter().filter_map(|b| b.range(&Env::default()));
    let own = ends.filter(|(k, _)| *k == axis).flat_map(|(_, ends)| ends);
    1 + own.filter(|&at| at > 0 && at < n).count()
}

/// The share of the indices of a space at which a bound holds, if its numbers are known.
fn share_of(b: &Bound, space: &[Dim]) -> f64 {
    let range = b.range(&Env::default());
    let known = range.and_then(|(k, ends)| Some((space.get(k)?.as_const()?, ends)));
    match known {
        Some((n, [low, end])) if n > 0 => {
            let count = (end.min(n as i64) - low.max(0)) as f64 / b.step as f64;
            (count / n as f64).clamp(0.0, 1.0)
        }
        _ => 1.0,
    }
}

/// Visits the leaves of a source, each with the estimated share of the indices at which it is read.
pub(crate) fn shares<'a>(
    s: &'a Source,
    space: &[Dim],
    share: f64,
    visit: &mut dyn FnMut(&'a Source, f64),
) {
    match s {
        Source::Number(_) | Source::Element(_) => visit(s, share),
        Source::Choice(c) => {
            let Choice {
                bounds,
                inside,
                outside,
            } = &**c;
            let inner: f64 = bounds.iter().map(|b| share_of(b, space)).product();
            shares(inside, space, share * inner, visit);
            let outer = if inner == 1.0 {
                share
            } else {
                share * (1.0 - inner)
            };
            shares(outside, space, outer, visit);
        }
    }
}
