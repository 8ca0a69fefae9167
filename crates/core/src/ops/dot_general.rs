//! `dot_general`: the product of two tensors, summed over contracted axes and elementwise over
//! batch axes.
//!
//! ```text
//! y[b, i, j] = Σ_k x[b, i, k] y[b, k, j]        result axes: batch, free axes of lhs, free axes of rhs
//! ```
//! No operand is conjugated. The adjoints conjugate the other operand: `ct_x = ct · conj(y)ᵀ`. On
//! booleans it is the OR of ANDs.

use super::Binary;
use super::entry::{Entry, Spelled, arity};
use super::moving::strides;
use super::support::{bytes, count, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::reduce::{sum_c128, sum_f64};
use crate::shape::{Dim, Env, Type};

/// The pairs of batch axes and of contracted axes. The other axes are free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DotGeneral {
    /// Batch axes of the left operand, in the order of the result.
    pub lhs_batch: Vec<usize>,
    /// The paired axes of the right operand.
    pub rhs_batch: Vec<usize>,
    /// Axes of the left operand that are summed over.
    pub lhs_contract: Vec<usize>,
    /// The paired axes of the right operand.
    pub rhs_contract: Vec<usize>,
    /// Whether products and sums are compensated.
    pub stable: bool,
    /// Whether zero times anything is zero, infinity and NaN included.
    pub strong_zero: bool,
}

/// Axes of an operand that are in neither list, ascending.
fn free(rank: usize, batch: &[usize], contract: &[usize]) -> Vec<usize> {
    (0..rank)
        .filter(|a| !batch.contains(a) && !contract.contains(a))
        .collect()
}

/// The offsets of all indices over axes with these extents and strides, row-major.
fn offsets(extents: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut all = vec![0];
    for (&n, &s) in extents.iter().zip(strides) {
        all = all
            .iter()
            .flat_map(|&o| (0..n).map(move |i| o + i * s))
            .collect();
    }
    all
}

fn at(of: &[usize], axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|&a| of[a]).collect()
}

impl DotGeneral {
    /// A product summed over pairs of axes, without batch axes.
    pub fn contract(lhs: &[usize], rhs: &[usize]) -> DotGeneral {
        DotGeneral {
            lhs_contract: lhs.to_vec(),
            rhs_contract: rhs.to_vec(),
            ..DotGeneral::default()
        }
    }

    /// Adds batch axes (builder style).
    pub fn batched(self, lhs: &[usize], rhs: &[usize]) -> DotGeneral {
        DotGeneral {
            lhs_batch: lhs.to_vec(),
            rhs_batch: rhs.to_vec(),
            ..self
        }
    }

    /// Enables compensated products and sums (builder style).
    pub fn compensated(self) -> DotGeneral {
        DotGeneral {
            stable: true,
            ..self
        }
    }

    /// Free axes of the left operand.
    pub fn lhs_free(&self, rank: usize) -> Vec<usize> {
        free(rank, &self.lhs_batch, &self.lhs_contract)
    }

    /// Free axes of the right operand.
    pub fn rhs_free(&self, rank: usize) -> Vec<usize> {
        free(rank, &self.rhs_batch, &self.rhs_contract)
    }

    /// This product with its operands swapped. The free axes of the result are swapped, too.
    fn swapped(&self) -> DotGeneral {
        DotGeneral {
            lhs_batch: self.rhs_batch.clone(),
            rhs_batch: self.lhs_batch.clone(),
            lhs_contract: self.rhs_contract.clone(),
            rhs_contract: self.lhs_contract.clone(),
            ..*self
        }
    }

    /// Enables strong zeros (builder style).
    pub fn strong(self) -> DotGeneral {
        DotGeneral {
            strong_zero: true,
            ..self
        }
    }

    /// The multiplication of elements.
    pub fn multiplied(&self) -> Binary {
        if self.strong_zero {
            Binary::MulStrongZero
        } else {
            Binary::Mul
        }
    }

    /// This product, also compensated if the session's `stable` is set.
    fn within(&self, cx: &dyn Emit) -> DotGeneral {
        DotGeneral {
            stable: self.stable || cx.session().numerics().stable,
            ..self.clone()
        }
    }

    /// This product with a tangent or cotangent operand.
    fn of_tangent(&self, cx: &dyn Emit) -> DotGeneral {
        let strong_zero = self.strong_zero || cx.session().numerics().zeros_are_strong();
        DotGeneral {
            strong_zero,
            ..self.within(cx)
        }
    }

    /// The cotangent of the left operand (of rank `rank`): `ct` contracted with the right operand
    /// over its free axes. `kept` are the corresponding axes of `ct`.
    fn ct_lhs(&self, cx: &dyn Emit, rank: usize, rhs: Val, ct: Val, kept: Vec<usize>) -> Val {
        let d = DotGeneral {
            lhs_batch: (0..self.lhs_batch.len()).collect(),
            rhs_batch: self.rhs_batch.clone(),
            lhs_contract: kept,
            rhs_contract: self.rhs_free(cx.ty(rhs).rank()),
            ..self.of_tangent(cx)
        };
        // The axes of the product: batch, free axes of lhs, contracted axes in the order of rhs.
        let mut pairs: Vec<(usize, usize)> = self
            .rhs_contract
            .iter()
            .copied()
            .zip(self.lhs_contract.iter().copied())
            .collect();
        pairs.sort_unstable();
        let have: Vec<usize> = self
            .lhs_batch
            .iter()
            .copied()
            .chain(self.lhs_free(rank))
            .chain(pairs.iter().map(|p| p.1))
            .collect();
        let mut perm = vec![0; rank];
        for (k, &axis) in have.iter().enumerate() {
            perm[axis] = k;
        }
        let y = cx.op(d, &[ct, cx.conj(rhs)]);
        cx.transpose(y, &perm)
    }

    fn check_side(&self, side: &str, ty: &Type, batch: &[usize], contract: &[usize]) -> Result<()> {
        let mut seen = vec![false; ty.rank()];
        for &a in batch.iter().chain(contract) {
            match seen.get_mut(a) {
                Some(s) if !*s => *s = true,
                _ => bail!(
                    Attribute,
                    "`dot_general`: axis {a} of the {side} operand {ty} is {}",
                    if a < ty.rank() {
                        "named twice"
                    } else {
                        "not there"
                    }
                ),
            }
        }
        Ok(())
    }
}

impl Primitive for DotGeneral {
    fn name(&self) -> &str {
        "dot_general"
    }

    fn attrs(&self) -> Attrs {
        let batch = !self.lhs_batch.is_empty();
        Attrs::default()
            .with_if(batch, "lhs_batch", &self.lhs_batch)
            .with_if(batch, "rhs_batch", &self.rhs_batch)
            .with("lhs_contract", &self.lhs_contract)
            .with("rhs_contract", &self.rhs_contract)
            .with_if(self.stable, "stable", true)
            .with_if(self.strong_zero, "strong_zero", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        let (l, r) = (&x[0], &x[1]);
        if l.dtype != r.dtype {
            bail!(
                DTypeMismatch,
                "`dot_general` needs operands of one element type, got {l} and {r}; convert one of them"
            );
        }
        if self.strong_zero && !l.dtype.has_tangent() {
            bail!(
                DTypeMismatch,
                "`dot_general` with `strong_zero` needs floats or complex numbers, got {l}; leave it out"
            );
        }
        for (what, a, b) in [
            ("batch", &self.lhs_batch, &self.rhs_batch),
            ("contracted", &self.lhs_contract, &self.rhs_contract),
        ] {
            if a.len() != b.len() {
                bail!(
                    Attribute,
                    "`dot_general`: {what} axes {a:?} and {b:?} must come in pairs"
                );
            }
        }
        self.check_side("left", l, &self.lhs_batch, &self.lhs_contract)?;
        self.check_side("right", r, &self.rhs_batch, &self.rhs_contract)?;
        let pairs = self
            .lhs_batch
            .iter()
            .chain(&self.lhs_contract)
            .zip(self.rhs_batch.iter().chain(&self.rhs_contract));
        for (&a, &b) in pairs {
            if l.shape[a].same(&r.shape[b]) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`dot_general` of {l} and {r}: axis {a} of the left operand is {}, its partner, axis {b} of the \
                     right one, is {}",
                    l.shape[a],
                    r.shape[b]
                );
            }
        }
        let known = |(&a, &b): (&usize, &usize)| {
            if l.shape[a].as_const().is_some() {
                l.shape[a].clone()
            } else {
                r.shape[b].clone()
            }
        };
        let batch = self.lhs_batch.iter().zip(&self.rhs_batch).map(known);
        let lhs = self
            .lhs_free(l.rank())
            .into_iter()
            .map(|a| l.shape[a].clone());
        let rhs = self
            .rhs_free(r.rank())
            .into_iter()
            .map(|a| r.shape[a].clone());
        Ok(vec![l.with_shape(
            batch.chain(lhs).chain(rhs).collect::<Vec<_>>(),
        )])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (ls, rs) = (x[0].shape(), x[1].shape());
        let (lt, rt) = (strides(ls), strides(rs));
        let (lf, rf) = (self.lhs_free(ls.len()), self.rhs_free(rs.len()));
        let lhs = |axes: &[usize]| offsets(&at(ls, axes), &at(&lt, axes));
        let rhs = |axes: &[usize]| offsets(&at(rs, axes), &at(&rt, axes));
        let (i, j) = (lhs(&lf), rhs(&rf));
        let batch: Vec<(usize, usize)> = lhs(&self.lhs_batch)
            .into_iter()
            .zip(rhs(&self.rhs_batch))
            .collect();
        let k: Vec<(usize, usize)> = lhs(&self.lhs_contract)
            .into_iter()
            .zip(rhs(&self.rhs_contract))
            .collect();
        // One list of offset pairs per element of the result.
        let dots = batch.iter().flat_map(|&(bl, br)| {
            let j = &j;
            i.iter()
                .flat_map(move |&i| j.iter().map(move |&j| (bl + i, br + j)))
        });
        // A sum of products starts from +0, so it is never -0.
        let zero = if self.lhs_contract.is_empty() {
            -0.0
        } else {
            0.0
        };
        let y = match (x[0].wide(), x[1].wide()) {
            (Wide::F(a), Wide::F(b)) => {
                let times = self.multiplied().def().real;
                Wide::F(
                    dots.map(|(l, r)| {
                        zero + sum_f64(k.iter().map(|&(m, n)| times(a[l + m], b[r + n])))
                    })
                    .collect(),
                )
            }
            (Wide::C(a), Wide::C(b)) => {
                let times = self.multiplied().def().complex;
                Wide::C(
                    dots.map(|(l, r)| {
                        let p: Vec<C128> =
                            k.iter().map(|&(m, n)| times(a[l + m], b[r + n])).collect();
                        C128::new(zero, zero) + sum_c128(&p)
                    })
                    .collect(),
                )
            }
            (Wide::I(a), Wide::I(b)) => Wide::I(
                dots.map(|(l, r)| {
                    k.iter().fold(0i128, |s, &(m, n)| {
                        s.wrapping_add(a[l + m].wrapping_mul(b[r + n]))
                    })
                })
                .collect(),
            ),
            _ => unreachable!("the type rule makes both element types one"),
        };
        let shape = [at(ls, &self.lhs_batch), at(ls, &lf), at(rs, &rf)].concat();
        Ok(vec![y.narrow(x[0].dtype(), shape)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0] != mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(self.clone(), x);
        let l = t[0].map(|t| cx.apply1(self.of_tangent(cx.emit()), &[t.into(), x[1].into()]));
        let r = t[1].map(|t| cx.apply1(self.of_tangent(cx.emit()), &[x[0].into(), t.into()]));
        Ok(cx.one(y, cx.sum_opt(l, r)))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let batch = self.lhs_batch.len();
        let rank = cx.ty(ct[0].unwrap_or(Val::POISON)).rank();
        match (&x[0], &x[1], ct[0]) {
            (Arg::L(ty), Arg::R(rhs), Some(ct)) => {
                let kept = (batch + self.lhs_free(ty.rank()).len()..rank).collect();
                Ok(vec![Some(self.ct_lhs(cx, ty.rank(), *rhs, ct, kept)), None])
            }
            (Arg::R(lhs), Arg::L(ty), Some(ct)) => {
                let kept = (batch..batch + self.lhs_free(cx.ty(*lhs).rank()).len()).collect();
                Ok(vec![
                    None,
                    Some(self.swapped().ct_lhs(cx, ty.rank(), *lhs, ct, kept)),
                ])
            }
            _ => Err(no_rule(self, "transpose")),
        }
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let shift = |axes: &[usize], by: bool| {
            axes.iter()
                .map(|a| a + usize::from(by))
                .collect::<Vec<usize>>()
        };
        let mut d = DotGeneral {
            lhs_batch: shift(&self.lhs_batch, x[0].mapped),
            rhs_batch: shift(&self.rhs_batch, x[1].mapped),
            lhs_contract: shift(&self.lhs_contract, x[0].mapped),
            rhs_contract: shift(&self.rhs_contract, x[1].mapped),
            ..*self
        };
        let both = x[0].mapped && x[1].mapped;
        if both {
            d.lhs_batch.insert(0, 0);
            d.rhs_batch.insert(0, 0);
        }
        // With one mapped operand the batch axis is its first free axis: one larger product, then a
        // transpose.
        let place = match both {
            true => 0,
            false if x[0].mapped => d.lhs_batch.len(),
            false => d.lhs_batch.len() + d.lhs_free(cx.ty(x[0].val).rank()).len(),
        };
        let y = cx.op(d, &[x[0].val, x[1].val]);
        let rank = cx.ty(y).rank();
        let perm: Vec<usize> = std::iter::once(place)
            .chain((0..rank).filter(|&a| a != place))
            .collect();
        mapped(cx.transpose(y, &perm))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let k: f64 = self
            .lhs_contract
            .iter()
            .map(|&a| x[0].shape[a].as_const().unwrap_or(1) as f64)
            .product();
        Cost {
            flops: 2.0 * count(&y[0]) * k,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// The product `d`; also compensated if the session's `stable` is set.
    pub fn dot_general(&self, x: Val, y: Val, d: DotGeneral) -> Val {
        self.op(d.within(self), &[x, y])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let mut list = |name: &str| Ok(s.attrs.opt::<Vec<usize>>(name)?.unwrap_or_default());
    Ok(DotGeneral {
        lhs_batch: list("lhs_batch")?,
        rhs_batch: list("rhs_batch")?,
        lhs_contract: list("lhs_contract")?,
        rhs_contract: list("rhs_contract")?,
        stable: s.attrs.opt("stable")?.unwrap_or(false),
        strong_zero: s.attrs.opt("strong_zero")?.unwrap_or(false),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    use DType::*;
    let sample = |dtype, d: DotGeneral, x: &[usize], y: &[usize]| {
        Sample::new(
            d,
            vec![sample_array(dtype, x, 0), sample_array(dtype, y, 7)],
        )
    };
    vec![
        sample(F64, DotGeneral::contract(&[1], &[0]), &[2, 3], &[3, 4]),
        sample(
            F64,
            DotGeneral::contract(&[2, 0], &[0, 2]).batched(&[1], &[1]),
            &[2, 3, 2],
            &[2, 3, 2, 2],
        ),
        sample(F32, DotGeneral::contract(&[0], &[0]), &[3], &[3]),
        sample(
            F64,
            DotGeneral::contract(&[1], &[0]).compensated(),
            &[2, 3],
            &[3, 2],
        ),
        sample(
            BF16,
            DotGeneral::contract(&[2], &[1])
                .batched(&[0], &[0])
                .compensated(),
            &[2, 2, 3],
            &[2, 3, 2],
        ),
        sample(
            C128,
            DotGeneral::contract(&[0], &[0]).compensated(),
            &[3],
            &[3, 2],
        ),
        sample(
            F64,
            DotGeneral::contract(&[1], &[0]).strong(),
            &[2, 3],
            &[3, 2],
        ),
        sample(
            C64,
            DotGeneral::contract(&[0], &[1]).compensated().strong(),
            &[3, 2],
            &[2, 3],
        ),
        sample(F32, DotGeneral::default().strong(), &[2], &[3]),
        sample(F64, DotGeneral::default(), &[2], &[3]),
        sample(F64, DotGeneral::contract(&[1], &[0]), &[2, 0], &[0, 3]),
        sample(
            C128,
            DotGeneral::contract(&[1], &[1]).batched(&[0], &[2]),
            &[2, 3, 2],
            &[2, 3, 2],
        ),
        sample(I32, DotGeneral::contract(&[1], &[0]), &[2, 3], &[3, 2]),
        sample(Bool, DotGeneral::contract(&[1], &[0]), &[2, 3], &[3, 2]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Product over batch axes, summed over contracted axes: y[b, i, j] = sum_k x[b, i, k] y[b, k, j].";
    vec![Entry {
        name: "dot_general",
        doc,
        parse,
        samples,
    }]
}
