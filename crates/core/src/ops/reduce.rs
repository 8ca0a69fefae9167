//! Reductions over axes: a table with a row per reduction.
//!
//! ```text
//! d sum(x)  = sum(dx)
//! d prod(x) = sum(e dx),  e[i] = product of all others: running products from both sides, never a division
//! d max(x)  = sum(w dx),  w[i] = 1 / ties where x[i] is the maximum; NaN everywhere if one x is NaN
//! ```

use super::entry::{Entry, Spelled, arity};
use super::support::{bytes, count, counting, mapped, sample_array, take_axes};
use super::{Comparison, Cumulative, Running, Side};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, ShiftRule, Val,
    no_rule,
};
use crate::math::maximum;
use crate::shape::{Dim, Env, Shape, Type};

/// The combining function of a reduction; its row is [`Reduction::def`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    Any,
    All,
    And,
    Or,
    Xor,
}

/// A row of the table of reductions.
pub struct ReductionDef {
    /// The reduction.
    pub op: Reduction,
    /// Its name in the text form.
    pub name: &'static str,
    /// A one-line description with the formula.
    pub doc: &'static str,
    /// The element types that it is defined on.
    pub types: fn(DType) -> bool,
    /// Whether it is defined for no elements.
    pub empty: bool,
    /// Its value on reals.
    pub real: fn(&[f64]) -> f64,
    /// Its value on complex numbers.
    pub complex: fn(&[C128]) -> C128,
    /// Its value on integers and booleans; the result is wrapped to the type.
    pub int: fn(&[i128], DType) -> i128,
    /// The derivative: operand, result, reduced axes, tangent.
    pub linearize: fn(&Lin<'_>, Val, Val, &[usize], Lv) -> Option<Lv>,
}

/// A row with default fields.
const fn row(op: Reduction, name: &'static str, doc: &'static str) -> ReductionDef {
    ReductionDef {
        op,
        name,
        doc,
        types: |d| d != DType::Bool,
        empty: true,
        real: |_| unreachable!("the type rule admits no floats"),
        complex: |_| unreachable!("the type rule admits no complex numbers"),
        int: |_, _| 0,
        linearize: |_, _, _, _, _| None,
    }
}

/// The table, in the order of the enum.
pub static REDUCTIONS: &[ReductionDef] = &[
    ReductionDef {
        real: |v| sum_f64(v.iter().copied()),
        complex: |v| sum_c128(v),
        int: |v, _| v.iter().sum(),
        ..row(
            Reduction::Sum,
            "reduce_sum",
            "The sum over axes, which are removed; 0 for no elements.",
        )
    },
    ReductionDef {
        real: |v| v.iter().product(),
        complex: |v| v.iter().product(),
        int: |v, _| v.iter().fold(1, |a, &x| a.wrapping_mul(x)),
        linearize: |cx, x, _, axes, t| {
            Some(cx.lsum(cx.scale(products_of_others(cx, x, axes), t), axes))
        },
        ..row(
            Reduction::Prod,
            "reduce_prod",
            "The product over axes, which are removed; 1 for no elements.",
        )
    },
    ReductionDef {
        types: |d| !d.is_complex(),
        empty: false,
        real: |v| v.iter().copied().fold(f64::NEG_INFINITY, maximum),
        int: |v, d| v.iter().copied().max().unwrap_or(d.int_range().0),
        linearize: |cx, x, y, axes, t| weighted_by_location(cx, true, x, y, axes, t),
        ..row(
            Reduction::Max,
            "reduce_max",
            "The maximum over axes, which are removed; NaN if an element is NaN.",
        )
    },
    ReductionDef {
        types: |d| !d.is_complex(),
        empty: false,
        real: |v| -v.iter().map(|&x| -x).fold(f64::NEG_INFINITY, maximum),
        int: |v, d| v.iter().copied().min().unwrap_or(d.int_range().1),
        linearize: |cx, x, y, axes, t| weighted_by_location(cx, false, x, y, axes, t),
        ..row(
            Reduction::Min,
            "reduce_min",
            "The minimum over axes, which are removed; NaN if an element is NaN.",
        )
    },
    ReductionDef {
        types: |d| d == DType::Bool,
        int: |v, _| v.contains(&1).into(),
        ..row(
            Reduction::Any,
            "reduce_any",
            "Logical or over axes, which are removed; false for no elements.",
        )
    },
    ReductionDef {
        types: |d| d == DType::Bool,
        int: |v, _| (!v.contains(&0)).into(),
        ..row(
            Reduction::All,
            "reduce_all",
            "Logical and over axes, which are removed; true for no elements.",
        )
    },
    ReductionDef {
        types: DType::is_int,
        int: |v, _| v.iter().fold(-1, |a, &x| a & x),
        ..row(
            Reduction::And,
            "reduce_and",
            "Bitwise and over axes, which are removed; all ones for no elements.",
        )
    },
    ReductionDef {
        types: DType::is_int,
        int: |v, _| v.iter().fold(0, |a, &x| a | x),
        ..row(
            Reduction::Or,
            "reduce_or",
            "Bitwise or over axes, which are removed; 0 for no elements.",
        )
    },
    ReductionDef {
        types: |d| matches!(d.kind(), Kind::Int | Kind::Bool),
        int: |v, _| v.iter().fold(0, |a, &x| a ^ x),
        ..row(
            Reduction::Xor,
            "reduce_xor",
            "Bitwise exclusive or over axes, which are removed (parity on booleans); 0 for no elements.",
        )
    },
];

/// For each element the product of all others: the derivative of the product.
fn products_of_others(cx: &Lin<'_>, x: Val, axes: &[usize]) -> Val {
    let ty = cx.ty(x);
    let kept: Vec<usize> = (0..ty.rank()).filter(|a| !axes.contains(a)).collect();
    // The reduced axes become one, the last.
    let perm: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let moved = cx.transpose(x, &perm);
    let n = axes
        .iter()
        .fold(Dim::Const(1), |n, &a| n * ty.shape[a].clone());
    let flat: Vec<Dim> = kept
        .iter()
        .map(|&a| ty.shape[a].clone())
        .chain([n])
        .collect();
    let flat = cx.reshape(moved, &flat);
    let side = |reverse| {
        let c = Cumulative {
            op: Running::Prod,
            axis: kept.len(),
            reverse,
            exclusive: true,
        };
        cx.op(c, &[flat])
    };
    let both = cx.mul(side(false), side(true));
    let mut back = vec![0; perm.len()];
    for (k, &p) in perm.iter().enumerate() {
        back[p] = k;
    }
    cx.transpose(cx.reshape(both, &cx.ty(moved).shape), &back)
}

/// The tangent of an extremum: the mean of the tangents at the elements equal to it. With a NaN
/// there are none: 0/0. On one side of a tie the first element increases most.
fn weighted_by_location(
    cx: &Lin<'_>,
    largest: bool,
    x: Val,
    y: Val,
    axes: &[usize],
    t: Lv,
) -> Option<Lv> {
    let ty = cx.ty(x);
    let there = cx.compare(x, Comparison::Eq, cx.spread(y, &ty, axes));
    let there = cx.convert(there, counting(ty.dtype));
    let ties = cx.reduce_sum(there, axes);
    let share = cx.spread(cx.div(cx.full_like(ties, 1.0), ties), &ty, axes);
    let weight = cx.convert(cx.mul(there, share), ty.dtype);
    let side = Side::Along {
        axes: axes.to_vec(),
        last: cx.rises(x, None) != largest,
    };
    Some(cx.lsum(cx.at_kink(side, weight, t), axes))
}

impl Reduction {
    /// Its row.
    pub fn def(self) -> &'static ReductionDef {
        &REDUCTIONS[self as usize]
    }

    /// The reduction of each group of elements, given by their flat indices, as an array of this
    /// shape.
    pub(super) fn of_groups(
        self,
        x: &Array,
        groups: &[Vec<usize>],
        shape: &[usize],
    ) -> Result<Array> {
        fn fold<T: Copy>(groups: &[Vec<usize>], v: &[T], f: impl Fn(&[T]) -> T) -> Vec<T> {
            groups
                .iter()
                .map(|g| f(&g.iter().map(|&i| v[i]).collect::<Vec<T>>()))
                .collect()
        }
        let d = self.def();
        let y = match x.wide() {
            Wide::F(v) => Wide::F(fold(groups, &v, d.real)),
            Wide::I(v) => Wide::I(fold(groups, &v, |v| (d.int)(v, x.dtype()))),
            Wide::C(v) => Wide::C(fold(groups, &v, d.complex)),
        };
        y.narrow(x.dtype(), shape)
    }
}

/// The reduced elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ReducedAxes {
    /// These axes, which are removed.
    Axes(Vec<usize>),
    /// Axes whose extent is 1 in this shape and more in the operand: known at run time.
    To(Shape),
}

/// A reduction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// The combining function.
    pub op: Reduction,
    over: ReducedAxes,
    /// Whether sums are compensated.
    pub stable: bool,
    /// Whether the extremum of no elements is the least (greatest) value instead of an error.
    pub identity: bool,
}

impl Reduce {
    /// A reduction over these axes (ascending), which are removed. `stable` has an effect on sums
    /// only.
    pub fn new(op: Reduction, axes: &[usize], stable: bool) -> Reduce {
        Reduce {
            op,
            over: ReducedAxes::Axes(axes.to_vec()),
            stable: stable && op == Reduction::Sum,
            identity: false,
        }
    }

    /// The sum over every axis whose extent in `shape` is 1. The axes keep extent 1.
    pub fn sum_to(shape: Shape, stable: bool) -> Reduce {
        Reduce {
            op: Reduction::Sum,
            over: ReducedAxes::To(shape),
            stable,
            identity: false,
        }
    }

    /// Returns the identity for no elements, also for extrema (builder style).
    pub fn or_identity(self) -> Reduce {
        Reduce {
            identity: !self.op.def().empty,
            ..self
        }
    }

    /// The reduced axes, or `None` if they are data-dependent.
    pub fn axes_given(&self) -> Option<&[usize]> {
        match &self.over {
            ReducedAxes::Axes(a) => Some(a),
            ReducedAxes::To(_) => None,
        }
    }

    /// The axes reduced for an operand of this shape, and whether they keep extent 1.
    pub fn axes(&self, x: &[usize]) -> (Vec<usize>, bool) {
        match &self.over {
            ReducedAxes::Axes(a) => (a.clone(), false),
            ReducedAxes::To(s) => (
                (0..x.len()).filter(|&a| s[a].is(1) && x[a] != 1).collect(),
                true,
            ),
        }
    }
}

impl Primitive for Reduce {
    fn name(&self) -> &str {
        match self.over {
            ReducedAxes::Axes(_) => self.op.def().name,
            ReducedAxes::To(_) => "sum_to",
        }
    }

    fn attrs(&self) -> Attrs {
        let a = match &self.over {
            ReducedAxes::Axes(axes) => Attrs::default().with("axes", axes),
            ReducedAxes::To(s) => Attrs::default().with("shape", &s.to_vec()),
        };
        a.with_if(self.stable, "stable", true)
            .with_if(self.identity, "identity", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 1)?;
        if !(self.op.def().types)(x[0].dtype) {
            bail!(
                DTypeMismatch,
                "`{}` is not defined on {}; convert it first",
                self.name(),
                x[0].dtype
            );
        }
        let rank = x[0].rank();
        match &self.over {
            ReducedAxes::Axes(axes) => {
                if axes.windows(2).any(|w| w[0] >= w[1]) || axes.last().is_some_and(|&a| a >= rank)
                {
                    bail!(
                        Attribute,
                        "`axes` = {axes:?} must be ascending axes of {}",
                        x[0]
                    );
                }
                if let Some(a) = axes.iter().find(|&&a| x[0].shape[a].is(0))
                    && !(self.op.def().empty || self.identity)
                {
                    bail!(
                        ShapeMismatch,
                        "`{}` over axis {a} of {}: no elements have no extremum",
                        self.name(),
                        x[0]
                    );
                }
                let keep = (0..rank)
                    .filter(|a| !axes.contains(a))
                    .map(|a| x[0].shape[a].clone());
                Ok(vec![x[0].with_shape(keep.collect::<Vec<_>>())])
            }
            ReducedAxes::To(s) => {
                let fits = |(a, b): (&Dim, &Dim)| b.is(1) || a.same(b) != Some(false);
                if s.rank() != rank || !x[0].shape.iter().zip(s.iter()).all(fits) {
                    bail!(
                        ShapeMismatch,
                        "cannot sum {} to {}",
                        x[0],
                        x[0].with_shape(s.clone())
                    );
                }
                Ok(vec![x[0].with_shape(s.clone())])
            }
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let from = x[0].shape();
        let (axes, keep) = self.axes(from);
        let shape: Vec<usize> = (0..from.len())
            .filter_map(|a| {
                if !axes.contains(&a) {
                    Some(from[a])
                } else {
                    keep.then_some(1)
                }
            })
            .collect();
        let n: usize = shape.iter().product();
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); n];
        for i in 0..x[0].len() {
            let (mut rest, mut at, mut stride) = (i, 0, 1);
            for a in (0..from.len()).rev() {
                if !axes.contains(&a) {
                    at += rest % from[a] * stride;
                    stride *= from[a];
                }
                rest /= from[a];
            }
            groups[at].push(i);
        }
        Ok(vec![self.op.of_groups(&x[0], &groups, &shape)?])
    }

    fn shift_rule(&self) -> Option<ShiftRule<'_>> {
        self.axes_given()
            .filter(|_| self.op == Reduction::Sum)
            .map(ShiftRule::Sum)
    }

    fn linear_in(&self, _: &[bool]) -> bool {
        self.op == Reduction::Sum
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        match &self.over {
            ReducedAxes::Axes(axes) if self.op != Reduction::Sum => {
                let y = cx.op(self.clone(), x);
                let dy = t[0].and_then(|t| (self.op.def().linearize)(cx, x[0], y, axes, t));
                Ok(cx.one(y, dy))
            }
            _ => {
                let y = cx.op(self.clone(), x);
                let stable = self.stable || cx.session().numerics().stable;
                Ok(cx.one(
                    y,
                    t[0].map(|t| {
                        cx.apply1(
                            Reduce {
                                stable,
                                ..self.clone()
                            },
                            &[t.into()],
                        )
                    }),
                ))
            }
        }
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::L(ty), Some(ct), Reduction::Sum) = (&x[0], ct[0], self.op) else {
            return Err(no_rule(self, "transpose"));
        };
        let dims: Vec<usize> = match &self.over {
            ReducedAxes::Axes(axes) => (0..ty.rank()).filter(|a| !axes.contains(a)).collect(),
            ReducedAxes::To(_) => (0..ty.rank()).collect(),
        };
        Ok(vec![Some(cx.broadcast_in_dim(ct, &ty.shape, &dims))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let over = match &self.over {
            ReducedAxes::Axes(axes) => ReducedAxes::Axes(axes.iter().map(|a| a + 1).collect()),
            ReducedAxes::To(s) => {
                ReducedAxes::To(std::iter::once(size).chain(s.iter()).cloned().collect())
            }
        };
        mapped(cx.op(
            Reduce {
                over,
                ..self.clone()
            },
            &[x[0].val],
        ))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        Cost {
            flops: count(&x[0]),
            bytes: bytes(&x[0]) + bytes(&y[0]),
        }
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        match &self.over {
            ReducedAxes::Axes(_) => None,
            ReducedAxes::To(s) => Some(
                Reduce {
                    over: ReducedAxes::To(s.iter().map(f).collect()),
                    ..self.clone()
                }
                .into(),
            ),
        }
    }
}

/// The reference semantics of a sum: compensated in double precision (Neumaier), so that the
/// results of all faster orders are close to it.
pub(super) fn sum_f64(v: impl Iterator<Item = f64>) -> f64 {
    let (mut s, mut c) = (0.0f64, 0.0f64);
    let mut any = false;
    for x in v {
        let t = s + x;
        c += if s.abs() >= x.abs() {
            (s - t) + x
        } else {
            (x - t) + s
        };
        s = if any { t } else { x };
        any = true;
    }
    if s.is_finite() && c.is_finite() {
        if c == 0.0 { s } else { s + c }
    } else {
        s
    }
}

/// [`sum_f64`] of both parts.
pub(super) fn sum_c128(v: &[C128]) -> C128 {
    C128::new(
        sum_f64(v.iter().map(|z| z.re)),
        sum_f64(v.iter().map(|z| z.im)),
    )
}

impl Lin<'_> {
    /// The sum of a tangent over `axes`, which are removed. Compensated if the session's `stable`
    /// is set.
    pub fn lsum(&self, t: Lv, axes: &[usize]) -> Lv {
        self.apply1(
            Reduce::new(Reduction::Sum, axes, self.session().numerics().stable),
            &[t.into()],
        )
    }
}

/// `cx.reduce_max(x, axes)`: a method per row.
macro_rules! methods {
    ($($method:ident $op:ident),* $(,)?) => {
        impl dyn Emit + '_ {
            $(#[doc = concat!("`", stringify!($method), "` over axes (ascending), which are removed. Writes no operation for no axes.")]
            pub fn $method(&self, x: Val, axes: &[usize]) -> Val {
                self.reduce(Reduction::$op, x, axes)
            })*
        }
    };
}

methods! {
    reduce_sum Sum, reduce_prod Prod, reduce_max Max, reduce_min Min, reduce_any Any, reduce_all All, reduce_and And,
    reduce_or Or, reduce_xor Xor,
}

impl dyn Emit + '_ {
    /// A reduction over `axes`, which are removed. Sums are compensated if the session's `stable`
    /// is set.
    pub fn reduce(&self, op: Reduction, x: Val, axes: &[usize]) -> Val {
        if axes.is_empty() && (op.def().types)(self.ty(x).dtype) {
            return x;
        }
        let stable = op == Reduction::Sum && self.session().numerics().stable;
        self.op(Reduce::new(op, axes, stable), &[x])
    }

    /// The maximum over `axes`, which are removed. The least value of the type if there are no
    /// elements.
    pub fn max_or_least(&self, x: Val, axes: &[usize]) -> Val {
        if axes.is_empty() {
            x
        } else {
            self.op(Reduce::new(Reduction::Max, axes, false).or_identity(), &[x])
        }
    }

    /// Broadcasts `y`, a reduction of a value of type `like` over `axes`, along these axes.
    pub fn spread(&self, y: Val, like: &Type, axes: &[usize]) -> Val {
        let dims: Vec<usize> = (0..like.rank()).filter(|a| !axes.contains(a)).collect();
        self.broadcast_in_dim(y, &like.shape, &dims)
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    if s.name == "sum_to" {
        let stable = s.attrs.opt("stable")?.unwrap_or(false);
        let shape: Vec<Dim> = s.attrs.get("shape")?;
        return Ok(Reduce::sum_to(shape.into(), stable).into());
    }
    let logic = s.operands.first().is_some_and(|t| t.dtype == DType::Bool);
    let op = match s.name {
        "reduce_and" if logic => Reduction::All,
        "reduce_or" if logic => Reduction::Any,
        name => match REDUCTIONS.iter().find(|d| d.name == name) {
            Some(d) => d.op,
            None => bail!(UnknownOperation, "`{name}` is not a reduction"),
        },
    };
    // Other reductions have neither: only sums round, and only extrema lack a value for no
    // elements.
    let stable = op == Reduction::Sum && s.attrs.opt("stable")?.unwrap_or(false);
    let identity = !op.def().empty && s.attrs.opt("identity")?.unwrap_or(false);
    let r = Reduce::new(op, &take_axes(s)?, stable);
    Ok(if identity { r.or_identity() } else { r }.into())
}

fn samples(name: &str) -> Vec<Sample> {
    if name == "sum_to" {
        return vec![Sample::new(
            Reduce::sum_to([2, 1].into(), false),
            vec![sample_array(DType::F64, &[2, 3], 0)],
        )];
    }
    let d = REDUCTIONS
        .iter()
        .find(|d| d.name == name)
        .expect("called with a name of the table");
    let r = |axes: &[usize], stable| Reduce::new(d.op, axes, stable);
    let mut out: Vec<Sample> = [
        DType::F64,
        DType::F32,
        DType::BF16,
        DType::C128,
        DType::I32,
        DType::U8,
        DType::Bool,
    ]
    .into_iter()
    .filter(|&t| (d.types)(t))
    .flat_map(|t| {
        [
            Sample::new(r(&[1], false), vec![sample_array(t, &[2, 3], 0)]),
            Sample::new(r(&[0, 2], false), vec![sample_array(t, &[2, 2, 3], 5)]),
        ]
    })
    .collect();
    if d.empty && (d.types)(DType::F64) {
        out.push(Sample::new(
            r(&[0], false),
            vec![sample_array(DType::F64, &[0, 2], 0)],
        ));
        let zeros = vec![0.0, 2.0, 3.0, 0.0, 0.0, 5.0];
        out.push(Sample::new(
            r(&[1], false),
            vec![Array::from_vec([2, 3], zeros).expect("six elements")],
        ));
    }
    if !d.empty {
        out.push(Sample::rough(
            r(&[0], false).or_identity(),
            vec![sample_array(DType::F64, &[0, 2], 0)],
        ));
    }
    if d.op == Reduction::Sum {
        out.push(Sample::new(
            r(&[0, 1], true),
            vec![sample_array(DType::F64, &[2, 3], 0)],
        ));
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let sum_to = Entry {
        name: "sum_to",
        doc: "The adjoint of broadcast_in_dim: the sum over axes of extent 1.",
        parse,
        samples,
    };
    REDUCTIONS
        .iter()
        .map(|d| Entry {
            name: d.name,
            doc: d.doc,
            parse,
            samples,
        })
        .chain([sum_to])
        .collect()
}
