//! `scatter`: windows combined into the operand at data-dependent indices ([`Windows`] defines the
//! axes).
//!
//! ```text
//! y = x, then y[start(indices[g]) + w] = combine(y[..], u[g, w]) for every g, w in order
//! ```
//! `set` and `add` are linear in operand and updates together. Their adjoint gathers; for `set`
//! only at the last update of each element. The derivative of `mul` uses [`ScatterRecurrence`], so
//! it is correct for repeated indices and zeros. `min` and `max` divide the derivative equally
//! among equal values.

use super::entry::{Entry, Spelled};
use super::moving::{no_axis, overlay};
use super::support::{mapped, sample_array};
use super::windows::{Bounds, Combine, SCATTER_FIELDS, Windows, cases, cost};
use super::{Binary, Comparison, ScatterRecurrence, Side};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::shape::{Dim, Env, Type};

const COMBINE: [(&str, Combine); 5] = [
    ("set", Combine::Set),
    ("add", Combine::Add),
    ("mul", Combine::Mul),
    ("min", Combine::Min),
    ("max", Combine::Max),
];

impl Combine {
    fn word(self) -> &'static str {
        COMBINE[self as usize].0
    }

    /// The binary function; `None` for `Set`.
    pub(crate) fn binary(self) -> Option<Binary> {
        match self {
            Combine::Set => None,
            Combine::Add => Some(Binary::Add),
            Combine::Mul => Some(Binary::Mul),
            Combine::Min => Some(Binary::Min),
            Combine::Max => Some(Binary::Max),
        }
    }
}

/// Combines windows into an operand.
#[derive(Clone, Debug)]
pub struct Scatter {
    /// The function that combines an element with an update.
    pub combine: Combine,
    /// The roles of axes.
    pub windows: Windows,
    /// Treatment of updates out of bounds.
    pub bounds: Bounds,
    /// The caller guarantees that no element is written twice. Derivatives of `set` then need not
    /// determine the last update.
    pub unique: bool,
    /// Whether sums are compensated.
    pub stable: bool,
}

impl Scatter {
    fn with(&self, combine: Combine) -> Scatter {
        Scatter {
            combine,
            ..self.clone()
        }
    }

    /// The elements of `x` at the indices of the updates.
    fn read(&self, cx: &dyn Emit, x: Val, indices: Val, updates: &Type) -> Val {
        let sizes = self.windows.sizes(cx.ty(x).rank(), &updates.shape);
        cx.gather(&self.windows, &sizes, self.bounds, x, indices)
    }

    /// True where an update is the last one of its element.
    fn last(&self, cx: &dyn Emit, x: &Type, indices: Val, updates: &Type) -> Val {
        let flat = Type::new(DType::I64, vec![updates.shape.numel()]);
        // Numbered from 1: an update out of bounds reads 0.
        let number = cx.add(cx.iota(&flat, 0), cx.full(&flat, 1i64));
        let number = cx.reshape(number, &updates.shape);
        let none = cx.zeros(&x.with_dtype(DType::I64));
        let last = cx.op(self.with(Combine::Set), &[none, indices, number]);
        cx.compare(
            self.read(cx, last, indices, updates),
            Comparison::Eq,
            number,
        )
    }

    /// `y = x Π u`: `dy = dx Π u + Σ_k x (Π_{m < k} u_m) du_k (Π_{m > k} u_m)`, a recurrence along
    /// the updates; `dy = dx u + x du` if no element has two updates.
    fn linearize_product(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>], tu: Lv) -> Lv {
        if self.unique {
            let dx = match t[0] {
                Some(dx) => cx.apply1(self.clone(), &[dx.into(), x[1].into(), x[2].into()]),
                None => cx.zeros(&cx.ty(x[0])),
            };
            let of_x = self.read(cx.emit(), x[0], x[1], &cx.ty(x[2]));
            let du = cx.scale(of_x, tu);
            return cx.apply1(
                self.with(Combine::Add),
                &[dx.into(), x[1].into(), du.into()],
            );
        }
        let op = ScatterRecurrence {
            windows: self.windows.clone(),
            bounds: self.bounds,
            reverse: false,
        };
        let out = cx.emit();
        let before = out.emit(
            op.clone().into(),
            &[x[0], x[1], x[2], out.zeros(&out.ty(x[2]))],
        )[1];
        let tx = cx.or_zeros(t[0], x[0]);
        cx.apply(
            op,
            &[
                tx.into(),
                x[1].into(),
                x[2].into(),
                cx.scale(before, tu).into(),
            ],
        )[0]
    }

    /// Each of the `n` elements and updates equal to the result has the weight `1 / n` in its
    /// derivative.
    fn linearize_extreme(&self, cx: &Lin<'_>, x: &[Val], y: Val, t: &[Option<Lv>]) -> Option<Lv> {
        let (tx, tu) = (cx.ty(x[0]), cx.ty(x[2]));
        let number = |hit: Val| cx.convert(hit, DType::I64);
        let read = |x_like: Val| self.read(cx.emit(), x_like, x[1], &tu);
        let hit_x = number(cx.compare(x[0], Comparison::Eq, y));
        let hit_u = number(cx.compare(x[2], Comparison::Eq, read(y)));
        let hits = cx.op(self.with(Combine::Add), &[hit_x, x[1], hit_u]);
        let share =
            |hit: Val, hits: Val| cx.div(cx.convert(hit, tx.dtype), cx.convert(hits, tx.dtype));
        let dx = t[0].map(|t| cx.at_kink(Side::Known, share(hit_x, hits), t));
        let Some(t) = t[2] else { return dx };
        let mut of_u = share(hit_u, read(hits));
        if self.bounds == Bounds::Drop {
            let all = cx.full(&tx.with_dtype(DType::Bool), true);
            of_u = cx.select(read(all), of_u, cx.emit().zeros(&tu));
        }
        let du = cx.at_kink(Side::Known, of_u, t);
        let dx = dx.unwrap_or_else(|| cx.zeros(&tx));
        let add = Scatter {
            stable: cx.session().numerics().stable,
            ..self.with(Combine::Add)
        };
        Some(cx.apply1(add, &[dx.into(), x[1].into(), du.into()]))
    }
}

impl Primitive for Scatter {
    fn name(&self) -> &str {
        "scatter"
    }

    fn attrs(&self) -> Attrs {
        let a = self
            .windows
            .attrs(SCATTER_FIELDS)
            .with("combine", self.combine.word());
        let a = a.with_if(self.bounds != Bounds::Drop, "mode", self.bounds.word(false));
        a.with_if(self.unique, "unique_indices", true)
            .with_if(self.stable, "stable", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let [x, indices, updates] = x else {
            bail!(
                Arity,
                "`scatter` takes an operand, indices and updates, got {} operands",
                x.len()
            )
        };
        self.windows
            .check_write("scatter", SCATTER_FIELDS, self.bounds, x, indices, updates)?;
        if let Some(f) = self.combine.binary().filter(|f| !(f.def().types)(x.dtype)) {
            bail!(
                DTypeMismatch,
                "`scatter` with `{}` is not defined on {}",
                f.def().name,
                x.dtype
            );
        }
        Ok(vec![x.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let to = self
            .windows
            .pairs(self, self.bounds, x[0].shape(), &x[1], x[2].shape())?;
        let Some(f) = self.combine.binary().map(Binary::def) else {
            return Ok(vec![overlay(x[0].clone(), &x[2], to.into_iter())?]);
        };
        fn fold<T: Copy>(
            mut y: Vec<T>,
            u: &[T],
            to: &[(usize, usize)],
            f: impl Fn(T, T) -> T,
        ) -> Vec<T> {
            for &(i, p) in to {
                y[p] = f(y[p], u[i]);
            }
            y
        }
        let dtype = x[0].dtype();
        let sum = self.combine == Combine::Add;
        let y = match (x[0].wide(), x[2].wide()) {
            (Wide::F(y), Wide::F(u)) if sum => Wide::F(add_all(y, &u, &to)),
            (Wide::C(y), Wide::C(u)) if sum => {
                let part = |v: &[C128], of: fn(&C128) -> f64| v.iter().map(of).collect::<Vec<_>>();
                let [re, im] = [(|z| z.re) as fn(&C128) -> f64, |z| z.im]
                    .map(|of| add_all(part(&y, of), &part(&u, of), &to));
                Wide::C(
                    re.into_iter()
                        .zip(im)
                        .map(|(re, im)| C128::new(re, im))
                        .collect(),
                )
            }
            (Wide::F(y), Wide::F(u)) => Wide::F(fold(y, &u, &to, f.real)),
            (Wide::C(y), Wide::C(u)) => Wide::C(fold(y, &u, &to, f.complex)),
            (Wide::I(y), Wide::I(u)) => Wide::I(fold(y, &u, &to, |a, b| (f.int)(a, b, dtype))),
            _ => unreachable!("the type rule makes both element types one"),
        };
        Ok(vec![y.narrow(dtype, x[0].shape())?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        match self.combine {
            Combine::Set | Combine::Add => mask == [true, false, true],
            Combine::Mul => mask == [true, false, false],
            Combine::Min | Combine::Max => false,
        }
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.clone(), x);
        let dy = match (self.combine, t[0], t[2]) {
            (Combine::Add, dx, None) => dx,
            (Combine::Set | Combine::Add, dx, du) => {
                let (dx, du) = (cx.or_zeros(dx, x[0]), cx.or_zeros(du, x[2]));
                let stable =
                    self.stable || self.combine == Combine::Add && cx.session().numerics().stable;
                Some(cx.apply1(
                    Scatter {
                        stable,
                        ..self.clone()
                    },
                    &[dx.into(), x[1].into(), du.into()],
                ))
            }
            (Combine::Mul, Some(dx), None) => {
                Some(cx.apply1(self.clone(), &[dx.into(), x[1].into(), x[2].into()]))
            }
            (Combine::Mul, _, Some(du)) => Some(self.linearize_product(cx, x, t, du)),
            (Combine::Min | Combine::Max, ..) => self.linearize_extreme(cx, x, y, t),
            (Combine::Mul, None, None) => None,
        };
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Arg::R(indices), Some(ct)) = (&x[1], ct[0]) else {
            return Ok(vec![None; 3]);
        };
        let (indices, ty) = (*indices, cx.ty(ct));
        Ok(match (self.combine, &x[2]) {
            (Combine::Add, Arg::L(u)) => vec![Some(ct), None, Some(self.read(cx, ct, indices, u))],
            (Combine::Set, Arg::L(u)) => {
                let rest = cx.op(self.clone(), &[ct, indices, cx.zeros(u)]);
                let mut of_u = self.read(cx, ct, indices, u);
                if !self.unique && !self.windows.disjoint(&cx.ty(indices)) {
                    of_u = cx.select(self.last(cx, &ty, indices, u), of_u, cx.zeros(&cx.ty(of_u)));
                }
                vec![Some(rest), None, Some(of_u)]
            }
            (Combine::Mul, Arg::R(u)) => vec![
                Some(cx.op(self.clone(), &[ct, indices, cx.conj(*u)])),
                None,
                None,
            ],
            _ => return Err(no_rule(self, "transpose")),
        })
    }

    fn added_to(&self, cx: &dyn Emit, to: Val, x: &[Val]) -> Option<Val> {
        let adds = self.combine == Combine::Add;
        adds.then(|| cx.op(self.clone(), &[to, x[1], x[2]]))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let [y, u] = [x[0], x[2]].map(|b| cx.replicate(b, size).val);
        let windows = if x[1].mapped {
            self.windows.batched(true)
        } else {
            self.windows.wider()
        };
        mapped(cx.op(
            Scatter {
                windows,
                ..self.clone()
            },
            &[y, x[1].val, u],
        ))
    }

    fn cost(&self, x: &[Type], _: &[Type]) -> Cost {
        cost(1.0, &x[1], &x[2])
    }
}

/// The reference semantics of sums: compensated in double precision (Neumaier), so that the results
/// of all faster orders are close to it.
fn add_all(mut y: Vec<f64>, u: &[f64], to: &[(usize, usize)]) -> Vec<f64> {
    let mut lost = vec![0.0; y.len()];
    for &(i, p) in to {
        let (a, b) = (y[p], u[i]);
        y[p] = a + b;
        lost[p] += if a.abs() >= b.abs() {
            (a - y[p]) + b
        } else {
            (b - y[p]) + a
        };
    }
    for (y, lost) in y.iter_mut().zip(lost) {
        if y.is_finite() && lost.is_finite() && lost != 0.0 {
            *y += lost;
        }
    }
    y
}

impl dyn Emit + '_ {
    /// `x` with the windows `updates` combined into it at `indices`.
    pub fn scatter(
        &self,
        combine: Combine,
        windows: &Windows,
        bounds: Bounds,
        x: Val,
        indices: Val,
        updates: Val,
    ) -> Val {
        let stable = combine == Combine::Add && self.session().numerics().stable;
        let op = Scatter {
            combine,
            windows: windows.clone(),
            bounds,
            unique: false,
            stable,
        };
        self.op(op, &[x, indices, updates])
    }

    /// `x` with `updates` combined into `x[.., indices, ..]` along an axis: the elements that
    /// `take` reads.
    pub fn put(
        &self,
        combine: Combine,
        x: Val,
        indices: Val,
        updates: Val,
        axis: usize,
        bounds: Bounds,
    ) -> Val {
        let (ty, rank) = (self.ty(x), self.ty(indices).rank());
        if axis >= ty.rank() {
            self.fail(no_axis("put", &ty, axis));
            return Val::POISON;
        }
        self.scatter(
            combine,
            &Windows::parts(ty.rank(), axis, rank),
            bounds,
            x,
            indices,
            updates,
        )
    }

    /// `x` with `updates` combined into the elements that `take_along_axis` reads. All three have
    /// equal extents along the other axes.
    pub fn put_along_axis(
        &self,
        combine: Combine,
        x: Val,
        indices: Val,
        updates: Val,
        axis: usize,
        bounds: Bounds,
    ) -> Val {
        self.scatter(
            combine,
            &Windows::along(self.ty(x).rank(), axis),
            bounds,
            x,
            indices,
            updates,
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let word: String = s.attrs.opt("combine")?.unwrap_or_else(|| "set".into());
    let Some((_, combine)) = COMBINE.iter().find(|(w, _)| *w == word) else {
        bail!(
            Attribute,
            "`scatter` cannot combine by `{word}`; there are set, add, mul, min and max"
        );
    };
    Ok(Scatter {
        combine: *combine,
        windows: Windows::parse(s, SCATTER_FIELDS)?,
        bounds: Bounds::take(s, Bounds::Drop)?,
        unique: s.attrs.opt("unique_indices")?.unwrap_or(false),
        stable: s.attrs.opt("stable")?.unwrap_or(false),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use crate::DType::*;
    let mut out = Vec::new();
    for (k, c) in cases().into_iter().enumerate() {
        for (_, combine) in COMBINE {
            let op = |bounds| Scatter {
                combine,
                windows: c.windows.clone(),
                bounds,
                unique: false,
                stable: false,
            };
            let shape = c.shape();
            let dtypes: &[_] = if k == 1 {
                &[F64, F32, C128, I32, Bool]
            } else {
                &[F64]
            };
            for &d in dtypes {
                if combine.binary().is_some_and(|f| !(f.def().types)(d)) {
                    continue;
                }
                let x = vec![
                    sample_array(d, &c.x, 0),
                    c.indices.clone(),
                    sample_array(d, &shape, 40),
                ];
                out.push(Sample::new(op(Bounds::Drop), x));
            }
            let x = vec![
                sample_array(F64, &c.x, 5),
                c.indices.clone(),
                sample_array(F64, &shape, 60),
            ];
            out.push(Sample::new(
                op(if c.outside {
                    Bounds::Clip
                } else {
                    Bounds::Error
                }),
                x,
            ));
        }
    }
    // Equal values: their weights are a convention.
    let ints = |v: &[i32]| Array::vector(v.to_vec());
    for (combine, windows) in [Combine::Min, Combine::Max].map(|c| (c, Windows::parts(1, 0, 1))) {
        let op = Scatter {
            combine,
            windows,
            bounds: Bounds::Drop,
            unique: false,
            stable: false,
        };
        let x = [
            Array::vector(vec![1.0f64, 2.0]),
            ints(&[0, 0, 4, 1]),
            Array::vector(vec![1.0f64, 1.0, 0.0, 2.0]),
        ];
        out.push(Sample::rough(op, x.to_vec()));
    }
    out.extend(samples_of_one_axis());
    out
}

/// Updates of a vector, at unique indices or with compensated sums.
fn samples_of_one_axis() -> Vec<Sample> {
    let mut out = Vec::new();
    for (combine, unique) in [
        (Combine::Set, true),
        (Combine::Mul, true),
        (Combine::Add, false),
    ] {
        let op = Scatter {
            combine,
            windows: Windows::parts(1, 0, 1),
            bounds: Bounds::Drop,
            unique,
            stable: !unique,
        };
        out.push(Sample::new(
            op,
            vec![
                sample_array(DType::F64, &[4], 0),
                Array::vector(vec![2i32, 0, 3]),
                sample_array(DType::F64, &[3], 30),
            ],
        ));
    }
    out
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Windows combined (set, add, mul, min, max) into an operand at indices.";
    vec![Entry {
        name: "scatter",
        doc,
        parse,
        samples,
    }]
}
