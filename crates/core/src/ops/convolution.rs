//! `convolution`: sums of products of an operand with a sliding kernel.
//!
//! ```text
//! y[g, b, o, p] = Σ_{f, k} x[g, b, f, i] w[g, o, f, k]        x_dilation · i = stride · p + dilation · k - low
//! ```
//! where `p`, `k` and `i` have one component per spatial axis, and elements outside are zero. No
//! operand is conjugated or reversed. The adjoints are convolutions, too: for the operand `i` and
//! `p` are exchanged, for the kernel `k` and `p`. The axis `g` holds groups of features or of
//! batches. [`ConvolutionSpec`] has the conventional layout and names.

use super::Binary;
use super::entry::{Entry, Spelled, arity};
use super::sliding::Sliding;
use super::support::{bytes, count, mapped, sample_array};
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::moving::advance;
use crate::ops::reduce::{sum_c128, sum_f64};
use crate::shape::{Dim, Env, Type};

/// A convolution of `x[g, b, f, ..]` and `w[g, o, f, ..]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// Steps along the spatial axes.
    pub sliding: Sliding,
    /// Spatial extents of the result.
    pub extents: Vec<Dim>,
    /// Whether products and sums are compensated.
    pub stable: bool,
    /// Whether zero times anything is zero, infinity and NaN included.
    pub strong_zero: bool,
}

/// Number of leading axes that are not spatial.
const NON_SPATIAL_AXES: usize = 3;

/// Pairs of flat spatial indices `(operand, kernel)` whose product contributes to element `p` of
/// the result.
fn meeting(s: &Sliding, x: &[usize], w: &[usize], p: &[usize]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    if w.contains(&0) {
        return out;
    }
    let mut k = vec![0; w.len()];
    let mut at = 0;
    loop {
        let from = (0..p.len()).try_fold(0, |sum, a| {
            Some(sum * x[a] + s.source(a, p[a], k[a], x[a])?)
        });
        out.extend(from.map(|from| (from, at)));
        at += 1;
        if !advance(&mut k, w) {
            return out;
        }
    }
}

/// Merges axis 0 into axis `to` (1 or 2), as its outer factor.
fn merge(cx: &dyn Emit, v: Val, to: usize) -> Val {
    let ty = cx.ty(v);
    let moved = cx.transpose(v, &moved_to(ty.rank(), to));
    let s = cx.ty(moved).shape;
    let one = s[to].clone() * s[to + 1].clone();
    cx.reshape(moved, &[&s[..to], &[one], &s[to + 2..]].concat())
}

/// The permutation that moves axis 0 to `to`.
fn moved_to(rank: usize, to: usize) -> Vec<usize> {
    let mut perm: Vec<usize> = (1..rank).collect();
    perm.insert(to, 0);
    perm
}

/// The permutation that moves axis `from` to the front.
fn moved_front(rank: usize, from: usize) -> Vec<usize> {
    std::iter::once(from)
        .chain((0..rank).filter(|&a| a != from))
        .collect()
}

impl Convolution {
    /// The multiplication of elements.
    pub fn multiplied(&self) -> Binary {
        if self.strong_zero {
            Binary::MulStrongZero
        } else {
            Binary::Mul
        }
    }

    /// This convolution for a tangent or cotangent operand: also compensated if the session's
    /// `stable` is set.
    fn of_tangent(&self, cx: &dyn Emit) -> Convolution {
        let numerics = cx.session().numerics();
        let (stable, strong_zero) = (
            self.stable || numerics.stable,
            self.strong_zero || numerics.zeros_are_strong(),
        );
        Convolution {
            stable,
            strong_zero,
            ..self.clone()
        }
    }

    fn swapped(cx: &dyn Emit, v: Val) -> Val {
        let mut perm: Vec<usize> = (0..cx.ty(v).rank()).collect();
        perm.swap(1, 2);
        cx.transpose(v, &perm)
    }
}

impl Primitive for Convolution {
    fn name(&self) -> &str {
        "convolution"
    }

    fn attrs(&self) -> Attrs {
        self.sliding
            .attrs(Attrs::default().with("extents", &self.extents))
            .with_if(self.stable, "stable", true)
            .with_if(self.strong_zero, "strong_zero", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        let (x, w) = (&x[0], &x[1]);
        if x.dtype != w.dtype || x.dtype == DType::Bool {
            bail!(
                DTypeMismatch,
                "`convolution` needs operands of one numeric element type, got {x} and {w}"
            );
        }
        if self.strong_zero && !x.dtype.has_tangent() {
            bail!(
                DTypeMismatch,
                "`convolution` with `strong_zero` needs floats or complex numbers, got {x}; leave it out"
            );
        }
        if x.rank() < NON_SPATIAL_AXES || w.rank() != x.rank() {
            bail!(
                ShapeMismatch,
                "`convolution` takes x[g, b, f, ..] and w[g, o, f, ..] of one rank, got {x} and {w}"
            );
        }
        self.sliding
            .check(self.name(), x.rank() - NON_SPATIAL_AXES)?;
        if self.extents.len() != x.rank() - NON_SPATIAL_AXES {
            bail!(
                Attribute,
                "`convolution`: `extents` = {:?} are not those of {} axes",
                self.extents,
                x.rank() - NON_SPATIAL_AXES
            );
        }
        for (axis, what) in [(0, "groups"), (2, "features")] {
            if x.shape[axis].same(&w.shape[axis]) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`convolution` of {x} and {w}: axis {axis}, the {what}, is {} and {}",
                    x.shape[axis],
                    w.shape[axis]
                );
            }
        }
        let g = if x.shape[0].as_const().is_some() {
            &x.shape[0]
        } else {
            &w.shape[0]
        };
        let front = [g.clone(), x.shape[1].clone(), w.shape[1].clone()];
        Ok(vec![
            x.with_shape(
                front
                    .into_iter()
                    .chain(self.extents.iter().cloned())
                    .collect::<Vec<_>>(),
            ),
        ])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let (xs, ws) = (x[0].shape(), x[1].shape());
        let extents = self
            .extents
            .iter()
            .map(|d| d.eval(env))
            .collect::<Result<Vec<_>>>()?;
        let volume = |s: &[usize]| s.iter().product::<usize>();
        let (n, m) = (
            volume(&xs[NON_SPATIAL_AXES..]),
            volume(&ws[NON_SPATIAL_AXES..]),
        );
        let mut places = Vec::new();
        let mut p = vec![0; extents.len()];
        while !extents.contains(&0) {
            places.push(meeting(
                &self.sliding,
                &xs[NON_SPATIAL_AXES..],
                &ws[NON_SPATIAL_AXES..],
                &p,
            ));
            if !advance(&mut p, &extents) {
                break;
            }
        }
        let (batches, outputs, features) = (xs[1], ws[1], xs[2]);
        // For each element of the result, the positions of its factors.
        let factors = (0..xs[0] * batches * outputs).flat_map(|row| {
            let (g, b, o) = (
                row / outputs / batches,
                row / outputs % batches,
                row % outputs,
            );
            places.iter().map(move |pairs| {
                let (x0, w0) = ((g * batches + b) * features, (g * outputs + o) * features);
                (0..features).flat_map(move |f| {
                    pairs
                        .iter()
                        .map(move |&(i, k)| ((x0 + f) * n + i, (w0 + f) * m + k))
                })
            })
        });
        let y = match (x[0].wide(), x[1].wide()) {
            (Wide::F(a), Wide::F(b)) => {
                let times = self.multiplied().def().real;
                Wide::F(
                    factors
                        .map(|at| 0.0 + sum_f64(at.map(|(i, k)| times(a[i], b[k]))))
                        .collect(),
                )
            }
            (Wide::C(a), Wide::C(b)) => {
                let times = self.multiplied().def().complex;
                Wide::C(
                    factors
                        .map(|at| {
                            let p: Vec<C128> = at.map(|(i, k)| times(a[i], b[k])).collect();
                            C128::ZERO + sum_c128(&p)
                        })
                        .collect(),
                )
            }
            (Wide::I(a), Wide::I(b)) => Wide::I(
                factors
                    .map(|at| at.fold(0i128, |s, (i, k)| s.wrapping_add(a[i].wrapping_mul(b[k]))))
                    .collect(),
            ),
            _ => unreachable!("the type rule makes both element types one"),
        };
        Ok(vec![y.narrow(
            x[0].dtype(),
            [&[xs[0], batches, outputs], &extents[..]].concat(),
        )?])
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
        let like = |sliding, ty: &Type| {
            let extents = ty.shape[NON_SPATIAL_AXES..].to_vec();
            Convolution {
                sliding,
                extents,
                ..self.of_tangent(cx)
            }
        };
        match (&x[0], &x[1], ct[0]) {
            (Arg::L(ty), Arg::R(w), Some(ct)) => {
                let op = like(self.sliding.inverse(), ty);
                Ok(vec![
                    Some(cx.op(op, &[ct, Convolution::swapped(cx, cx.conj(*w))])),
                    None,
                ])
            }
            (Arg::R(x), Arg::L(ty), Some(ct)) => {
                let op = like(self.sliding.exchanged(), ty);
                let by = [
                    Convolution::swapped(cx, cx.conj(*x)),
                    Convolution::swapped(cx, ct),
                ];
                Ok(vec![None, Some(Convolution::swapped(cx, cx.op(op, &by)))])
            }
            _ => Err(no_rule(self, "transpose")),
        }
    }

    /// Batch elements become groups; or batches if only the operand is batched, or outputs if only
    /// the kernel is.
    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let axis = match (x[0].mapped, x[1].mapped) {
            (true, true) => 0,
            (true, false) => 1,
            _ => 2,
        };
        let into = |b: &Batched, to: usize| {
            if b.mapped {
                merge(cx, b.val, to)
            } else {
                b.val
            }
        };
        let y = cx.op(self.clone(), &[into(&x[0], axis), into(&x[1], axis.min(1))]);
        let element = self.infer(&[x[0].element(cx), x[1].element(cx)])?.remove(0);
        let mut split = element.shape.to_vec();
        split.insert(axis, size.clone());
        let y = cx.reshape(y, &split);
        mapped(cx.transpose(y, &moved_front(split.len(), axis)))
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let per: f64 = x[1].shape[2..]
            .iter()
            .map(|d| d.as_const().unwrap_or(1) as f64)
            .product();
        Cost {
            flops: 2.0 * count(&y[0]) * per,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }

    fn map_dims(&self, f: &dyn Fn(&Dim) -> Dim) -> Option<Op> {
        Some(
            Convolution {
                extents: self.extents.iter().map(f).collect(),
                ..self.clone()
            }
            .into(),
        )
    }
}

/// A convolution in the conventional layout: `x[b, f, ..]` with `w[o, f / feature_groups, ..]`
/// gives `y[b, o, ..]`.
///
/// Empty lists stand for the default along every spatial axis: steps of 1, no padding.
#[derive(Clone, Debug, Default)]
pub struct ConvolutionSpec {
    /// Step between kernel positions.
    pub stride: Vec<usize>,
    /// Elements added (negative: removed) before the first and after the last.
    pub padding: Vec<(i64, i64)>,
    /// Dilation of the operand: `d - 1` zeros are inserted between elements.
    pub x_dilation: Vec<usize>,
    /// Dilation of the kernel: distance between its elements in the operand.
    pub w_dilation: Vec<usize>,
    /// Number of independent groups of features and outputs. 0 stands for 1.
    pub feature_groups: usize,
    /// Number of independent groups of batches and outputs. 0 stands for 1.
    pub batch_groups: usize,
}

impl ConvolutionSpec {
    /// The geometry for `n` spatial axes with this padding.
    fn sliding(&self, n: usize, padding: &[(i64, i64)]) -> Result<Sliding> {
        let steps = |v: &[usize]| -> Vec<i64> {
            if v.is_empty() {
                vec![1; n]
            } else {
                v.iter()
                    .map(|&s| s.try_into().unwrap_or(i64::MAX))
                    .collect()
            }
        };
        let sliding = Sliding {
            stride: steps(&self.stride),
            dilation: steps(&self.w_dilation),
            x_dilation: steps(&self.x_dilation),
            low: padding.iter().map(|p| p.0).collect(),
        };
        sliding.check("convolution", n)?;
        Ok(sliding)
    }

    /// The operation, and its operands in its layout, for operands of these types.
    fn lower(&self, cx: &dyn Emit, x: Val, w: Val) -> Result<Val> {
        let (tx, tw) = (cx.ty(x), cx.ty(w));
        if tx.rank() < 2 || tw.rank() != tx.rank() {
            bail!(
                ShapeMismatch,
                "a convolution takes x[b, f, ..] and w[o, f, ..] of one rank, got {tx} and {tw}"
            );
        }
        let n = tx.rank() - 2;
        let padding = if self.padding.is_empty() {
            vec![(0, 0); n]
        } else {
            self.padding.clone()
        };
        let sliding = self.sliding(n, &padding)?;
        let (features, batches) = (self.feature_groups.max(1), self.batch_groups.max(1));
        let groups = features.max(batches);
        if features != 1 && batches != 1 {
            bail!(
                Attribute,
                "a convolution has groups of features ({features}) or of batches ({batches}), not both"
            );
        }
        let divided = |d: &Dim, what: &str| match d.as_const() {
            Some(c) if c % groups != 0 => {
                bail!(
                    ShapeMismatch,
                    "a convolution of {tx} and {tw}: {groups} groups do not divide the {c} {what}"
                )
            }
            _ => Ok(d.floor_div(groups)),
        };
        let extents = (0..n)
            .map(|k| sliding.count(k, &tx.shape[2 + k], &tw.shape[2 + k], padding[k].1))
            .collect::<Result<Vec<_>>>()?;
        let split = |v: Val, axis: usize, what: &str| -> Result<Val> {
            let mut s = cx.ty(v).shape.to_vec();
            s[axis] = divided(&s[axis], what)?;
            s.insert(axis, Dim::Const(groups));
            Ok(cx.reshape(v, &s))
        };
        let x = match batches {
            1 => {
                let x = split(x, 1, "features")?;
                cx.transpose(x, &moved_front(n + NON_SPATIAL_AXES, 1))
            }
            _ => split(x, 0, "batches")?,
        };
        let w = split(w, 0, "outputs")?;
        let stable = cx.session().numerics().stable;
        let y = cx.op(
            Convolution {
                sliding,
                extents,
                stable,
                strong_zero: false,
            },
            &[x, w],
        );
        let y = cx.transpose(y, &moved_to(n + NON_SPATIAL_AXES, 1));
        let s = cx.ty(y).shape;
        if s.rank() != n + NON_SPATIAL_AXES {
            return Ok(Val::POISON);
        }
        Ok(cx.reshape(
            y,
            &[
                &[s[0].clone(), s[1].clone() * s[2].clone()],
                &s[NON_SPATIAL_AXES..],
            ]
            .concat(),
        ))
    }
}

impl dyn Emit + '_ {
    /// A convolution in the conventional layout.
    pub fn convolution(&self, x: Val, w: Val, spec: &ConvolutionSpec) -> Val {
        if self.failed() {
            return Val::POISON;
        }
        spec.lower(self, x, w).unwrap_or_else(|e: Error| {
            self.fail(e.at(self.loc()));
            Val::POISON
        })
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let [x, w] = s.operands else {
        return Err(Error::new(
            Code::Arity,
            format!("`convolution` takes 2 operands, got {}", s.operands.len()),
        ));
    };
    let (x, w) = (
        x.shape.get(NON_SPATIAL_AXES..).unwrap_or_default(),
        w.shape.get(NON_SPATIAL_AXES..).unwrap_or_default(),
    );
    let sliding = Sliding::parse(s, x.len())?;
    let extents = sliding.take_extents(s, x, w)?;
    let stable = s.attrs.opt("stable")?.unwrap_or(false);
    let strong_zero = s.attrs.opt("strong_zero")?.unwrap_or(false);
    Ok(Convolution {
        sliding,
        extents,
        stable,
        strong_zero,
    }
    .into())
}

/// A sample with these strides, dilations of the kernel and of the operand, and padding, for these
/// shapes of operand and kernel.
fn sample(steps: [&[i64]; 4], high: &[i64], dtype: DType, x: &[usize], w: &[usize]) -> Sample {
    let [stride, dilation, x_dilation, low] = steps.map(<[i64]>::to_vec);
    let sliding = Sliding {
        stride,
        dilation,
        x_dilation,
        low,
    };
    let count = |k: usize| {
        sliding
            .count(k, &x[3 + k].into(), &w[3 + k].into(), high[k])
            .expect("a sample")
    };
    let extents = (0..high.len()).map(count).collect();
    let m = w.iter().product::<usize>();
    let (stable, strong_zero) = (m == 8, m <= 4 && dtype.has_tangent());
    Sample::new(
        Convolution {
            sliding,
            extents,
            stable,
            strong_zero,
        },
        vec![sample_array(dtype, x, 0), sample_array(dtype, w, 9)],
    )
}

fn samples(_: &str) -> Vec<Sample> {
    use DType::*;
    let reversed = Sliding {
        stride: vec![2],
        dilation: vec![-1],
        x_dilation: vec![1],
        low: vec![-2],
    };
    vec![
        sample(
            [&[1], &[1], &[1], &[0]],
            &[0],
            F64,
            &[1, 1, 1, 4],
            &[1, 1, 1, 2],
        ),
        sample(
            [&[2, 1], &[1, 1], &[1, 1], &[1, 0]],
            &[1, 0],
            F64,
            &[1, 2, 2, 3, 3],
            &[1, 2, 2, 2, 2],
        ),
        sample(
            [&[1], &[2], &[1], &[2]],
            &[1],
            F32,
            &[2, 1, 2, 4],
            &[2, 2, 2, 2],
        ),
        sample(
            [&[3], &[2], &[2], &[1]],
            &[2],
            F64,
            &[2, 1, 1, 5],
            &[2, 1, 1, 3],
        ),
        sample(
            [&[1], &[1], &[3], &[-2]],
            &[-1],
            F64,
            &[1, 1, 1, 4],
            &[1, 1, 1, 2],
        ),
        sample(
            [&[1], &[1], &[1], &[1]],
            &[1],
            C128,
            &[1, 1, 2, 3],
            &[1, 2, 2, 2],
        ),
        sample(
            [&[1], &[1], &[1], &[0]],
            &[0],
            I32,
            &[1, 1, 2, 3],
            &[1, 1, 2, 2],
        ),
        sample([&[], &[], &[], &[]], &[], F64, &[1, 2, 2], &[1, 3, 2]),
        sample(
            [&[1], &[1], &[1], &[0]],
            &[0],
            F64,
            &[1, 1, 1, 2],
            &[1, 1, 1, 3],
        ),
        Sample::new(
            Convolution {
                sliding: reversed,
                extents: vec![Dim::Const(2)],
                stable: false,
                strong_zero: false,
            },
            vec![
                sample_array(F64, &[1, 1, 1, 5], 0),
                sample_array(F64, &[1, 1, 1, 3], 9),
            ],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "y[g, b, o, p] = sum over f, k of x[g, b, f, i] w[g, o, f, k], x_dilation i = stride p + dilation k - low.";
    vec![Entry {
        name: "convolution",
        doc,
        parse,
        samples,
    }]
}
