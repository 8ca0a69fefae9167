//! Lowering of `sort` and `top_k`, with recognition of comparators.
//!
//! JAX replaces zeros by +0 and NaN by one NaN, then compares floats in total order. Several keys
//! are compared lexicographically:
//!
//! ```text
//! lt(a0, b0) or (eq(a0, b0) and (lt(a1, b1) or ..))
//! ```
//! NaN comes last in ascending order and first in descending order. The core's `sort` puts it last
//! in both. A descending sort therefore has an additional first key: whether the key is NaN. Floats
//! in total order (`-NaN < -inf < .. < -0 < +0 < .. < NaN`) are sorted by integers with the same
//! order.
//!
//! A comparator may apply the same computation to both sides (`|a| < |b|`). The computed values are
//! then the key. Any other comparator is applied to every pair of elements along the axis. The
//! position of an element is the number of elements that compare less.

use super::attributes::direction;
use super::attributes::{attribute, size};
use super::elementwise::{total_key, total_order};
use super::function::FunctionLowering;
use super::row::{LoweringRow, LoweringRule::Custom};
use crate::ast::{Attr, Elements, Id, Operation, Region, Ty};
use crate::constant::constant;
use cotangent_core::ops::{Comparison, Sort, Value};
use cotangent_core::primitive::{Batched, Vals};
use cotangent_core::transform::batch_into;
use cotangent_core::{DType, Dim, Emit, Function, Result, Scalar, Type, Val, bail};
use rustc_hash::FxHashMap;

pub(super) const SORTS: &[LoweringRow] = &[
    ("sort", Custom(sort)),
    ("top_k", Custom(top_k)),
    ("topk", Custom(top_k)),
    ("TopK", Custom(top_k)),
    ("ApproxTopK", Custom(approx_top_k)),
];

/// Part of an element that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementPart {
    Whole,
    Real,
    Imaginary,
}

/// Source of a sort key: a part of an operand, or a value that the comparator computes from the
/// first element of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeySource {
    Operand(usize, ElementPart, Unified),
    Computed(Id),
}

/// Values that the comparator replaces by one representative before it compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Unified {
    zeros: bool,
    nan: bool,
}

/// A sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SortKey {
    source: KeySource,
    /// Whether the order is descending.
    down: bool,
    /// Whether floats are compared in total order.
    total: bool,
}

/// A comparator: its operations by result.
struct Comparator<'o, 't> {
    frame: &'o FunctionLowering<'o>,
    ops: FxHashMap<Id, &'o Operation<'t>>,
    first: Id,
    params: Id,
}

impl<'o, 't> Comparator<'o, 't> {
    fn new(frame: &'o FunctionLowering<'o>, region: &'o Region<'t>) -> Comparator<'o, 't> {
        let ops = region
            .ops
            .iter()
            .filter(|o| o.count == 1)
            .map(|o| (o.first, o))
            .collect();
        Comparator {
            frame,
            ops,
            first: region.first,
            params: region.args.len() as Id,
        }
    }

    fn op(&self, v: Id) -> Option<(&'o str, &'o Operation<'t>)> {
        let op = *self.ops.get(&v)?;
        Some((op.name.strip_prefix("stablehlo.")?, op))
    }

    fn is_zero(&self, v: Id) -> bool {
        self.literal(v) == Some(0.0)
    }

    /// The value of a constant, defined in the comparator or outside.
    fn literal(&self, v: Id) -> Option<f64> {
        let Some((name, op)) = self.op(v) else {
            return match self.frame.number(self.frame.value(v).ok()?)? {
                Scalar::F(x) => Some(x),
                Scalar::I(i) => Some(i as f64),
                Scalar::C(_) => None,
            };
        };
        match op
            .attr("value")
            .or_else(|| op.unnamed().next())
            .filter(|_| name == "constant")?
        {
            Attr::Dense(d) => match (&d.elements, &d.ty) {
                // Hexadecimal bits do not denote zero.
                (Elements::Splat(n), _) => Some(n.re.parse().unwrap_or(f64::NAN)),
                (Elements::Bytes(_), Some(Ty::Tensor(ty))) => {
                    let value = constant(self.frame.lowering.text, d, ty, None).ok()?.value;
                    match value {
                        Value::Splat(Scalar::F(x)) => Some(x),
                        Value::Splat(Scalar::I(i)) => Some(i as f64),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The parameter that a value is, the part of it, and the replacements applied to it.
    fn param(&self, v: Id) -> Option<(Id, ElementPart, Unified)> {
        if (self.first..self.first + self.params).contains(&v) {
            return Some((v - self.first, ElementPart::Whole, Unified::default()));
        }
        if let Some((name @ ("real" | "imag"), op)) = self.op(v) {
            let (of, whole, alike) = self.param(*op.operands.first()?)?;
            let part = if name == "real" {
                ElementPart::Real
            } else {
                ElementPart::Imaginary
            };
            return (whole == ElementPart::Whole && alike == Unified::default())
                .then_some((of, part, alike));
        }
        let ("select", op) = self.op(v)? else {
            return None;
        };
        let &[p, one, other] = &op.operands[..] else {
            return None;
        };
        let ("compare", c) = self.op(p)? else {
            return None;
        };
        let &[x, y] = &c.operands[..] else {
            return None;
        };
        let (of, part, mut alike) = self.param(other)?;
        let same = |x: Id| self.param(x).is_some_and(|(a, b, _)| (a, b) == (of, part));
        match direction(c).ok()? {
            Comparison::Eq if self.is_zero(y) && self.is_zero(one) && same(x) => alike.zeros = true,
            Comparison::Ne if x == y && self.literal(one).is_some_and(f64::is_nan) && same(x) => {
                alike.nan = true
            }
            _ => return None,
        }
        Some((of, part, alike))
    }

    /// The key of a comparison, its direction, and whether it is in total order.
    fn comparison(&self, v: Id) -> Option<(KeySource, Comparison, bool)> {
        let ("compare", op) = self.op(v)? else {
            return None;
        };
        let &[x, y] = &op.operands[..] else {
            return None;
        };
        let (c, total) = (direction(op).ok()?, total_order(op));
        if let (Some((x, part, alike)), Some((y, other, too))) = (self.param(x), self.param(y)) {
            let source = KeySource::Operand(x as usize / 2, part, alike);
            return match (
                x / 2 == y / 2 && (part, alike) == (other, too),
                x % 2,
                y % 2,
            ) {
                (true, 0, 1) => Some((source, c, total)),
                (true, 1, 0) => Some((source, flipped(c), total)),
                _ => None,
            };
        }
        if self.mirrored(x, y, 0, &mut 0) {
            return Some((KeySource::Computed(x), c, total));
        }
        self.mirrored(y, x, 0, &mut 0)
            .then(|| (KeySource::Computed(y), flipped(c), total))
    }

    /// Whether `x` is the same function of first elements as `y` is of second elements.
    fn mirrored(&self, x: Id, y: Id, depth: usize, seen: &mut usize) -> bool {
        *seen += 1;
        if depth > 32 || *seen > 1000 {
            return false;
        }
        let inside = |v: Id| v.checked_sub(self.first).filter(|_| v >= self.first);
        match (inside(x), inside(y)) {
            // Captured values.
            (None, None) => x == y,
            (Some(i), Some(j)) if i < self.params || j < self.params => {
                i % 2 == 0 && j == i + 1 && j < self.params
            }
            (Some(_), Some(_)) => {
                let (Some((name, a)), Some((other, b))) = (self.op(x), self.op(y)) else {
                    return false;
                };
                name == other
                    && a.regions.is_empty()
                    && b.regions.is_empty()
                    && a.operands.len() == b.operands.len()
                    && attribute_texts(a) == attribute_texts(b)
                    && format!("{:?}", a.result_types()) == format!("{:?}", b.result_types())
                    && a.operands
                        .iter()
                        .zip(&b.operands)
                        .all(|(&x, &y)| self.mirrored(x, y, depth + 1, seen))
            }
            _ => false,
        }
    }

    /// Appends the keys of a lexicographic comparison; `None` if the comparator is none.
    fn keys(&self, v: Id, out: &mut Vec<SortKey>) -> Option<()> {
        let mut v = v;
        loop {
            if let Some(key) = self.strict(v) {
                out.push(key);
                return Some(());
            }
            let ("or", op) = self.op(v)? else { return None };
            let &[a, b] = &op.operands[..] else {
                return None;
            };
            let (less, rest) = if self.strict(a).is_some() {
                (a, b)
            } else {
                (b, a)
            };
            let key = self.strict(less)?;
            let ("and", both) = self.op(rest)? else {
                return None;
            };
            let &[p, q] = &both.operands[..] else {
                return None;
            };
            let equal = |v: Id| {
                self.comparison(v)
                    .is_some_and(|(s, c, _)| self.same(s, key.source) && c == Comparison::Eq)
            };
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

    /// Whether two keys are the same function.
    fn same(&self, a: KeySource, b: KeySource) -> bool {
        match (a, b) {
            (KeySource::Computed(x), KeySource::Computed(y)) => self.alike(x, y, &mut 0),
            (a, b) => a == b,
        }
    }

    fn alike(&self, x: Id, y: Id, seen: &mut usize) -> bool {
        *seen += 1;
        let ops = || Some((self.op(x)?, self.op(y)?));
        x == y
            || *seen < 1000
                && ops().is_some_and(|((n, a), (m, b))| {
                    n == m
                        && a.regions.is_empty()
                        && b.regions.is_empty()
                        && a.operands.len() == b.operands.len()
                        && attribute_texts(a) == attribute_texts(b)
                        && a.operands
                            .iter()
                            .zip(&b.operands)
                            .all(|(&x, &y)| self.alike(x, y, seen))
                })
    }

    fn strict(&self, v: Id) -> Option<SortKey> {
        let (source, c, total) = self.comparison(v)?;
        match c {
            Comparison::Lt | Comparison::Le => Some(SortKey {
                source,
                down: false,
                total,
            }),
            Comparison::Gt | Comparison::Ge => Some(SortKey {
                source,
                down: true,
                total,
            }),
            _ => None,
        }
    }
}

/// The attributes of an operation as text, without the positions of constants.
fn attribute_texts(op: &Operation<'_>) -> Vec<String> {
    let one = |a: &Attr<'_>| match a {
        Attr::Dense(d) => format!("{:?}{:?}", d.elements, d.ty),
        a => format!("{a:?}"),
    };
    op.attrs
        .iter()
        .map(|(name, a)| format!("{name} {}", one(a)))
        .collect()
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

fn sort(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
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
    let has_keys = result.and_then(|&r| Comparator::new(f, region).keys(r, &mut keys));
    let operand = |k: &SortKey| !matches!(k.source, KeySource::Operand(k, ..) if k >= x.len());
    if has_keys.is_none() || !keys.iter().all(operand) {
        return sort_by_rank(f, op, region, &x, axis);
    }
    let computed: Vec<Id> = keys
        .iter()
        .filter_map(|k| {
            if let KeySource::Computed(v) = k.source {
                Some(v)
            } else {
                None
            }
        })
        .collect();
    let mut values = if computed.is_empty() {
        Vec::new()
    } else {
        computed_keys(f, region, &x, &computed)?
    }
    .into_iter();
    let keys = keys.iter().map(|k| match k.source {
        KeySource::Operand(n, part, alike) => by_part(f.cx(), x[n], part, alike, *k),
        // `computed_keys` returns one value per computed key.
        KeySource::Computed(_) => SortOperand {
            value: values.next().unwrap_or(x[0]),
            down: k.down,
            total: k.total,
        },
    });
    Ok(sorted(f.cx(), &x, axis, &keys.collect::<Vec<_>>()))
}

/// A key of the emitted `sort`.
struct SortOperand {
    value: Val,
    down: bool,
    /// Whether floats are compared in total order.
    total: bool,
}

/// The key of a part of an operand.
fn by_part(cx: &dyn Emit, x: Val, part: ElementPart, alike: Unified, k: SortKey) -> SortOperand {
    let value = match part {
        ElementPart::Whole => x,
        ElementPart::Real => cx.real(x),
        ElementPart::Imaginary => cx.imag(x),
    };
    // The core's order already treats zeros as equal, and NaN as equal.
    let total = k.total
        && alike
            != Unified {
                zeros: true,
                nan: true,
            };
    SortOperand {
        value: if total {
            unified(cx, value, alike)
        } else {
            value
        },
        down: k.down,
        total,
    }
}

fn unified(cx: &dyn Emit, v: Val, alike: Unified) -> Val {
    let zero = cx.zeros(&cx.ty(v));
    let v = if alike.zeros {
        cx.select(cx.compare(v, Comparison::Eq, zero), zero, v)
    } else {
        v
    };
    if alike.nan {
        cx.select(cx.is_nan(v), cx.full_like(v, f64::NAN), v)
    } else {
        v
    }
}

/// The comparator as a function of scalars. With `results`, it returns these values.
fn comparator_function(
    f: &FunctionLowering<'_>,
    region: &Region<'_>,
    x: &[Val],
    results: Option<&[Id]>,
) -> Result<Function> {
    let types: Vec<Type> = x
        .iter()
        .flat_map(|&v| {
            [
                Type::scalar(f.cx().ty(v).dtype),
                Type::scalar(f.cx().ty(v).dtype),
            ]
        })
        .collect();
    let Some(results) = results else {
        return f.region("comparator", region, &region.captures, &types);
    };
    let mut keys = region.clone();
    if let Some(last) = keys.ops.last_mut() {
        last.operands = results.iter().copied().collect();
        last.signature = Default::default();
    }
    f.region("key", &keys, &region.captures, &types)
}

/// Applies a function of scalars elementwise to arrays of one shape.
fn apply_elementwise(
    f: &FunctionLowering<'_>,
    region: &Region<'_>,
    g: &Function,
    x: &[Val],
) -> Result<Vec<Val>> {
    let (cx, shape) = (f.cx(), f.cx().ty(x[0]).shape);
    let n = shape.numel();
    let mut args = Vec::new();
    for &c in &region.captures {
        args.push(Batched {
            val: f.value(c)?,
            mapped: false,
        });
    }
    args.extend(x.iter().map(|&v| Batched {
        val: cx.reshape(v, std::slice::from_ref(&n)),
        mapped: true,
    }));
    let y = batch_into(cx, g, &args, &n)?;
    Ok(y.into_iter()
        .map(|r| cx.reshape(cx.replicate(r, &n).val, &shape))
        .collect())
}

/// The values that a comparator computes from each element.
fn computed_keys(
    f: &FunctionLowering<'_>,
    region: &Region<'_>,
    x: &[Val],
    keys: &[Id],
) -> Result<Vec<Val>> {
    let g = comparator_function(f, region, x, Some(keys))?;
    let pairs: Vec<Val> = x.iter().flat_map(|&v| [v, v]).collect();
    apply_elementwise(f, region, &g, &pairs)
}

/// Maximum extent of a sorted axis for which a general comparator is applied to every pair of
/// elements.
const MAX_PAIRWISE_ELEMENTS: usize = 1 << 13;

/// Sorts by the number of elements that the comparator orders before each element. The sort is
/// stable.
fn sort_by_rank(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    region: &Region<'_>,
    x: &[Val],
    axis: usize,
) -> Result<Vals> {
    let (cx, ty) = (f.cx(), f.cx().ty(x[0]));
    let Some(n) = ty
        .shape
        .get(axis)
        .and_then(Dim::as_const)
        .filter(|&n| n <= MAX_PAIRWISE_ELEMENTS)
    else {
        bail!(
            UnknownOperation,
            "`{}` with this comparator is not supported along {} elements: a comparator must compare the operands, or keys \
             computed from each side, lexicographically; any other one is supported up to {MAX_PAIRWISE_ELEMENTS}",
            op.name,
            ty.shape
                .get(axis)
                .map_or_else(|| "no axis of".into(), ToString::to_string)
        );
    };
    let g = comparator_function(f, region, x, None)?;
    if g.result_types() != [Type::scalar(DType::Bool)] {
        bail!(
            DTypeMismatch,
            "the comparator of `{}` returns a boolean",
            op.name
        );
    }
    // Element i runs along the sorted axis, element j along a new last axis.
    let rank = ty.rank();
    let square: Vec<Dim> = ty.shape.iter().cloned().chain([Dim::Const(n)]).collect();
    let along: Vec<usize> = (0..rank).collect();
    let across: Vec<usize> = (0..rank)
        .map(|k| if k == axis { rank } else { k })
        .collect();
    let place = |v: Val, dims: &[usize]| {
        // `broadcast_in_dim` requires ascending axes.
        let mut order = along.clone();
        order.sort_by_key(|&k| dims[k]);
        let sorted: Vec<usize> = order.iter().map(|&k| dims[k]).collect();
        cx.broadcast_in_dim(cx.transpose(v, &order), &square, &sorted)
    };
    let pairs = |first: &[usize], second: &[usize]| -> Vec<Val> {
        x.iter()
            .flat_map(|&v| [place(v, first), place(v, second)])
            .collect()
    };
    let one = |all: Vec<Val>| all.into_iter().next().unwrap_or(Val::POISON);
    let after = one(apply_elementwise(f, region, &g, &pairs(&across, &along))?);
    let before = one(apply_elementwise(f, region, &g, &pairs(&along, &across))?);
    f.check_errors()?;
    let index = cx.ty(after).with_dtype(DType::I64);
    let earlier = cx.compare(cx.iota(&index, rank), Comparison::Lt, cx.iota(&index, axis));
    let same = cx.compare(after, Comparison::Eq, before);
    let counted = cx.or(cx.and(after, cx.not(before)), cx.and(same, earlier));
    let ranks = cx.reduce_sum(cx.convert(counted, DType::I64), &[rank]);
    Ok(sorted(
        cx,
        x,
        axis,
        &[SortOperand {
            value: ranks,
            down: false,
            total: false,
        }],
    ))
}

/// Emits a sort of `x` by keys.
fn sorted(cx: &dyn Emit, x: &[Val], axis: usize, keys: &[SortOperand]) -> Vals {
    let descending = keys.iter().all(|k| k.down);
    let mut by = Vec::new();
    for k in keys {
        let float = cx.ty(k.value).dtype.is_float();
        let v = if float && k.total {
            total_key(cx, k.value)
        } else {
            k.value
        };
        let plain = float && !k.total;
        let inverted = |v: Val| if plain { cx.neg(v) } else { cx.not(v) };
        if k.down && plain {
            let nan = cx.is_nan(v);
            by.push(if descending { nan } else { cx.not(nan) });
        }
        by.push(if k.down == descending { v } else { inverted(v) });
    }
    // If a key is an operand, its sorted values are the result; other keys only determine the
    // order.
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
    let y = cx.emit(
        Sort {
            axis,
            operands: all.len(),
            num_keys,
            descending,
        }
        .into(),
        &all,
    );
    at.into_iter().map(|k| y[k]).collect()
}

/// Lowers `top_k`: the `k` greatest elements along the last axis in total order, and their indices.
fn top_k(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let (cx, ty) = (f.cx(), f.cx().ty(x));
    let (values, indices) = (f.result(op, 0)?, f.result(op, 1)?);
    let Some(axis) = ty.rank().checked_sub(1) else {
        bail!(ShapeMismatch, "`{}` of a scalar", op.name)
    };
    let k = match values.shape.last() {
        Some(Dim::Const(k)) => *k,
        _ => size(op, &["k"])?,
    };
    let smallest = op
        .attr("mhlo.attributes")
        .and_then(|a| a.get("largest"))
        .and_then(Attr::bool)
        == Some(false);
    let index = cx.iota(&ty.with_dtype(indices.dtype), axis);
    let y = sorted(
        cx,
        &[x, index],
        axis,
        &[SortOperand {
            value: x,
            down: !smallest,
            total: true,
        }],
    );
    Ok(y.into_iter()
        .map(|v| cx.slice_axis(v, axis, 0usize, k))
        .collect())
}

/// Lowers `ApproxTopK`: the first `top_k` elements of several operands, ordered by the first one
/// with the called comparator.
fn approx_top_k(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let all = f.operands(op)?;
    let setting = |name: &str| {
        let a = ["mhlo.backend_config", "backend_config"]
            .iter()
            .find_map(|p| op.attr(p)?.get(name))
            .and_then(Attr::int);
        a.and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| attribute(op, name, "a number that is not negative"))
    };
    let (k, axis) = (setting("top_k")?, setting("reduction_dim")?);
    let called = match op.attr("called_computations") {
        Some(Attr::List(l)) => l.first().and_then(Attr::word),
        _ => None,
    };
    let body = f
        .lowering
        .text
        .functions
        .iter()
        .find(|g| Some(&*g.name) == called)
        .and_then(|g| g.body.as_ref());
    let first = body.and_then(|b| b.ops.iter().find(|o| o.name == "stablehlo.compare"));
    let down = match first.map(direction).transpose()? {
        Some(Comparison::Gt | Comparison::Ge) => true,
        Some(Comparison::Lt | Comparison::Le) => false,
        _ => {
            return Err(attribute(
                op,
                "called_computations",
                "a function that compares its first two parameters",
            ));
        }
    };
    let x = &all[..all.len() / 2];
    let rank = x.first().map_or(0, |&v| f.cx().ty(v).rank());
    if axis >= rank {
        return Err(attribute(op, "reduction_dim", "an axis of the operand"));
    }
    let y = sorted(
        f.cx(),
        x,
        axis,
        &[SortOperand {
            value: x[0],
            down,
            total: false,
        }],
    );
    Ok(y.into_iter()
        .map(|v| f.cx().slice_axis(v, axis, 0usize, k))
        .collect())
}
