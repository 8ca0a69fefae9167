//! `det` and `slogdet`: the determinant, and its sign (phase) and logarithm of magnitude.
//!
//! ```text
//! d det = Σ C ∘ dA                  C = ∂det/∂A, the cofactors: right at singular matrices, where inverses are not
//! d log|det| = Re Σ Z ∘ dA           d sign = i sign Im Σ Z ∘ dA         Z = A⁻ᵀ,  dZ = -Z dAᵀ Z
//! ```
//! On request `slogdet` also returns `Z`, so that the value and all derivatives share one
//! factorization.
//!
//! Cofactors up to 3×3 are polynomials. For larger matrices let `B = A + u vᴴ`, with constant `u`,
//! `v` such that `B` is regular if `A` has rank at least n - 1. By the matrix determinant lemma,
//! exactly and for any such `u`, `v`,
//!
//! ```text
//! Cᵀ = adj(A) = det(B) ((1 - vᴴ B⁻¹ u) B⁻¹ + B⁻¹ u vᴴ B⁻¹)
//! ```
//! If the rank of `A` is at most n - 2, cofactors are zero, and their derivative is NaN. The rank
//! is determined after rows and columns are scaled by powers of two: `A = R S C`,
//! `adj(A) = det(R C) C⁻¹ adj(S) R⁻¹`.

use super::super::support::bytes;
use super::matrix::{Matrix, ONE, complex, lead, matrices, pack, pack_matrices, real};
use super::support::{batch_leading, batches, ending, exchange, one_matrix, size, square};
use super::{TriangularSolve, Turn, lu, solve};
use crate::array::{Array, Scalar};
use crate::dtype::C128;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::{Binary, Comparison, DotGeneral, Unary};
use crate::shape::{Dim, Env, Type};

/// The determinant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Det;

/// Sign and logarithm of the magnitude of the determinant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slogdet {
    /// Whether it also returns the transposed inverse.
    pub inverse: bool,
}

/// The diagonal of `U`, and whether the number of row swaps is odd.
fn pivots(a: &Matrix) -> (Vec<C128>, bool) {
    let (packed, exchanges, _) = lu::factor(a);
    let odd = exchanges
        .iter()
        .enumerate()
        .filter(|(k, p)| k != *p)
        .count()
        % 2
        == 1;
    ((0..a.n).map(|k| packed[(k, k)]).collect(), odd)
}

fn det(a: &Matrix) -> C128 {
    let (d, odd) = pivots(a);
    let p: C128 = d.into_iter().product();
    if odd { -p } else { p }
}

fn slogdet(a: &Matrix) -> (C128, f64) {
    let (d, odd) = pivots(a);
    let start = if odd { -ONE } else { ONE };
    let phase = |z: C128| if z.norm() == 0.0 { z } else { z / z.norm() };
    (
        d.iter().fold(start, |s, &z| s * phase(z)),
        d.iter().map(|z| libm::log(z.norm())).sum(),
    )
}

/// `Σ c ∘ t` over the last two axes.
fn total(rank: usize) -> DotGeneral {
    let lead: Vec<usize> = (0..rank - 2).collect();
    DotGeneral::contract(&[rank - 2, rank - 1], &[rank - 2, rank - 1]).batched(&lead, &lead)
}

fn infer(op: &dyn Primitive, x: &[Type]) -> Result<Type> {
    one_matrix(op, x)?;
    square(op, &x[0])?;
    Ok(ending(&x[0], x[0].dtype, &[]))
}

fn cost(x: &[Type], y: &[Type]) -> Cost {
    let n = x[0].shape.last().map_or(1.0, size);
    Cost {
        flops: batches(&x[0]) * n * n * n * 2.0 / 3.0,
        bytes: x.iter().chain(y).map(bytes).sum(),
    }
}

impl Primitive for Det {
    fn name(&self) -> &str {
        "det"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![infer(self, x)?])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let all = matrices(&x[0]).iter().map(|a| vec![det(a)]).collect();
        Ok(vec![pack(all, x[0].dtype(), lead(&x[0]))?])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let dy = t[0].map(|t| {
            cx.apply1(
                total(cx.lty(t).rank()),
                &[cx.cofactors(x[0]).into(), t.into()],
            )
        });
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        cost(x, y)
    }
}

impl Primitive for Slogdet {
    fn name(&self) -> &str {
        "slogdet"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with_if(self.inverse, "inverse", true)
    }

    fn results(&self) -> usize {
        if self.inverse { 3 } else { 2 }
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let sign = infer(self, x)?;
        let log = sign.with_dtype(sign.dtype.real());
        let n = square(self, &x[0])?;
        let inverse = self.inverse.then(|| ending(&x[0], x[0].dtype, &[n, n]));
        Ok([sign, log].into_iter().chain(inverse).collect())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let all: Vec<(C128, f64)> = matrices(&x[0]).iter().map(slogdet).collect();
        let sign = pack(
            all.iter().map(|d| vec![d.0]).collect(),
            x[0].dtype(),
            lead(&x[0]),
        )?;
        let log = pack(
            all.iter().map(|d| vec![d.1.into()]).collect(),
            x[0].dtype().real(),
            lead(&x[0]),
        )?;
        if !self.inverse {
            return Ok(vec![sign, log]);
        }
        let &[.., m, n] = x[0].shape() else {
            unreachable!("the type rule asks for matrices")
        };
        let inverse = |a: &Matrix| solve::solution(a, &Matrix::eye(a.n)).transpose();
        let all = matrices(&x[0]).iter().map(inverse).collect();
        Ok(vec![
            sign,
            log,
            pack_matrices(all, &x[0], x[0].dtype(), m, n)?,
        ])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let mut y = cx.emit().emit(Slogdet { inverse: true }.into(), x);
        let mut all = vec![None; self.results()];
        let (sign, z) = (y[0], y[2]);
        y.truncate(self.results());
        let Some(t) = t[0] else { return Ok((y, all)) };
        let t = cx.lsquare(t);
        let rank = cx.lty(t).rank();
        if self.inverse {
            let turned = cx.apply1(exchange(rank), &[t.into()]);
            all[2] = Some(cx.lneg(cx.rmm(cx.lmm(z, turned), z)));
        }
        let trace = cx.apply1(total(rank), &[z.into(), t.into()]);
        if !cx.ty(x[0]).dtype.is_complex() {
            all[1] = Some(trace);
            return Ok((y, all));
        }
        let turn = cx.apply1(Unary::Imag, &[trace.into()]);
        let turn = cx.apply1(
            crate::ops::Convert {
                to: cx.ty(sign).dtype,
            },
            &[turn.into()],
        );
        let i = cx.full_like(sign, Scalar::C(C128::new(0.0, 1.0)));
        all[0] = Some(cx.apply1(Binary::Mul, &[cx.mul(i, sign).into(), turn.into()]));
        all[1] = Some(cx.apply1(Unary::Real, &[trace.into()]));
        Ok((y, all))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let by = if self.inverse { 3.0 } else { 1.0 };
        let once = cost(x, y);
        Cost {
            flops: by * once.flops,
            ..once
        }
    }
}

impl dyn Emit + '_ {
    /// The determinant of square matrices. Its derivative is correct for singular matrices, too.
    pub fn det(&self, x: Val) -> Val {
        self.op(Det, &[x])
    }

    /// Sign (for complex matrices: phase) and logarithm of the magnitude of the determinant. They
    /// are 0 and -inf if it is zero.
    pub fn slogdet(&self, x: Val) -> Vals {
        self.emit(Slogdet { inverse: false }.into(), &[x])
    }

    /// `∂det/∂A`: the matrix of cofactors.
    fn cofactors(&self, a: Val) -> Val {
        match self.ty(a).shape.last().and_then(Dim::as_const) {
            Some(0 | 1) => self.full_like(a, 1.0),
            Some(2) => {
                let rank = self.ty(a).rank();
                let sign = self.constant(real(&[2, 2], &[1.0, -1.0, -1.0, 1.0]));
                let sign =
                    self.broadcast_to(self.convert(sign, self.ty(a).dtype), &self.ty(a).shape);
                self.mul(sign, self.reverse(a, &[rank - 2, rank - 1]))
            }
            Some(3) => {
                let at = |rows: usize, columns: usize| self.turned(a, rows, columns);
                self.sub(self.mul(at(1, 1), at(2, 2)), self.mul(at(1, 2), at(2, 1)))
            }
            _ => {
                let (scaled, back) = self.equilibrated(self.as_square(a));
                let y = self.large_cofactors(scaled);
                // The factor is applied in two steps, because it may be out of range where the
                // result is not.
                let half = self.floor(self.scale_by(0.5, back));
                let power = |e: Val| self.convert(self.exp2(e), self.ty(y).dtype);
                let y = self.mul(self.mul(y, power(half)), power(self.sub(back, half)));
                if self.ty(y).shape == self.ty(a).shape {
                    y
                } else {
                    self.reshape(y, &self.ty(a).shape)
                }
            }
        }
    }

    /// Equilibrates matrices: rows and columns are multiplied by powers of two so that their norms
    /// are comparable. Also returns the exponents of the factors for their cofactors. Matrices with
    /// comparable rows and columns are not changed.
    fn equilibrated(&self, a: Val) -> (Val, Val) {
        let ty = self.ty(a);
        let real = ty.with_dtype(ty.dtype.real());
        let limit = if real.dtype == crate::DType::F32 {
            120.0
        } else {
            1000.0
        };
        let (mut scaled, mut back) = (a, self.zeros(&real));
        for axis in [ty.rank().saturating_sub(1), ty.rank().saturating_sub(2)] {
            let most = self.max_or_least(self.abs(self.stop_gradient(scaled)), &[axis]);
            let of = self.ty(most);
            let (last, n) = (
                [of.rank().saturating_sub(1)],
                of.shape.last().cloned().unwrap_or(Dim::Const(1)),
            );
            let (zero, one) = (self.zeros(&of), self.full(&of, 1.0));
            let usable = self.and(
                self.is_finite(most),
                self.compare(most, Comparison::Gt, zero),
            );
            let size = self.floor(self.log2(self.select(usable, most, one)));
            let sum = |x: Val| self.spread(self.reduce_sum(x, &last), &of, &last);
            let apart = self.sub(size, self.floor(self.div(sum(size), self.extent(&of, &n))));
            let apart = self.clip(apart, self.full(&of, -limit), self.full(&of, limit));
            let similar = self.compare(self.abs(apart), Comparison::Le, self.full(&of, 8.0));
            let exponent = self.select(similar, zero, apart);
            // The product of all factors except that of the row (column) itself.
            back = self.add(
                back,
                self.spread(self.sub(sum(exponent), exponent), &real, &[axis]),
            );
            let factor = self.spread(self.exp2(self.neg(exponent)), &real, &[axis]);
            scaled = self.mul(scaled, self.convert(factor, ty.dtype));
        }
        (scaled, back)
    }

    /// 3×3 matrices with cyclically shifted rows and columns: `y[i, j] = x[i + rows, j + columns]`
    /// modulo 3.
    fn turned(&self, x: Val, rows: usize, columns: usize) -> Val {
        let rank = self.ty(x).rank();
        let turn = |x: Val, axis: usize, by: usize| {
            self.concatenate(
                &[
                    self.slice_axis(x, axis, by, 3),
                    self.slice_axis(x, axis, 0, by),
                ],
                axis,
            )
        };
        turn(turn(x, rank - 2, rows), rank - 1, columns)
    }

    /// Cofactors of equilibrated square matrices of any size.
    fn large_cofactors(&self, a: Val) -> Val {
        let ty = self.ty(a);
        let rank = ty.rank();
        let (u, v) = self.border(a);
        let b = self.add(a, self.mm(u, self.adjoint(v)));
        let f = self.lu(b);
        let diagonal = self.abs(self.stop_gradient(self.diagonal(f[0])));
        let (least, most) = (
            self.neg(self.max_or_least(self.neg(diagonal), &[rank - 2])),
            self.max_or_least(diagonal, &[rank - 2]),
        );
        let small = self.tolerance(&self.ty(most), ty.shape.last().unwrap_or(&Dim::Const(1)));
        let poor = self.not(self.compare(least, Comparison::Gt, self.mul(small, most)));
        let all: Vec<usize> = (0..rank - 2).collect();
        let spread = |p: Val| self.broadcast_in_dim(p, &ty.shape, &all);
        let b = self.select(spread(poor), self.eye_like(a), b);
        let inverse = self.op(super::Solve, &[b, self.eye_like(b)]);
        let (iu, vi) = (self.mm(inverse, u), self.mm(self.adjoint(v), inverse));
        let rest = self.sub(
            self.eye_like(self.mm(self.adjoint(v), u)),
            self.mm(self.adjoint(v), iu),
        );
        let rest = self.broadcast_to(rest, &ty.shape);
        let adjugate = self.add(self.mul(rest, inverse), self.mm(iu, vi));
        let adjugate = self.mul(spread(self.det(b)), adjugate);
        // Zero with derivative NaN.
        let nothing = self.reduce_sum(
            self.mul(self.zeros(&ty.with_dtype(ty.dtype.real())), self.real(a)),
            &[rank - 2, rank - 1],
        );
        let nothing = self.sqrt(self.select(poor, nothing, self.full_like(nothing, 1.0)));
        let refused = spread(self.convert(nothing, ty.dtype));
        self.matrix_transpose(self.select(spread(poor), refused, adjugate))
    }

    /// Constant columns `u`, `v` for which `A + u vᴴ` is regular if `A` has rank at least n - 1:
    /// approximate singular vectors of the least singular value, by inverse iteration.
    fn border(&self, a: Val) -> (Val, Val) {
        let a = self.stop_gradient(a);
        let (ty, f) = (self.ty(a), self.lu(a));
        let rank = ty.rank();
        let axes = [rank - 2, rank - 1];
        let most = self.max_or_least(self.abs(a), &axes);
        let zero = self.compare(most, Comparison::Eq, self.zeros(&self.ty(most)));
        let most = self.select(zero, self.full_like(most, 1.0), most);
        let real = ty.with_dtype(ty.dtype.real());
        let scale = self.spread(most, &real, &axes);
        // Negligible pivots are replaced by a tiny number.
        let tiny = self.mul(scale, self.tolerance(&real, &Dim::Const(1)));
        let small = self.compare(self.abs(f[0]), Comparison::Lt, tiny);
        let on = self.band(&ty, Comparison::Eq, 0);
        let packed = self.select(self.and(on, small), self.convert(tiny, ty.dtype), f[0]);
        let n = ty.shape.last().cloned().unwrap_or(Dim::Const(1));
        let column = ending(&ty, ty.dtype, &[&n, &Dim::Const(1)]);
        let unit = |x: Val| {
            let length = self.spread(self.norm(x, &axes), &column.with_dtype(real.dtype), &axes);
            self.div(x, self.convert(length, ty.dtype))
        };
        let (lower, upper) = (
            TriangularSolve {
                unit: true,
                ..Default::default()
            },
            TriangularSolve {
                lower: false,
                ..Default::default()
            },
        );
        let turn = Turn::adjoint(ty.dtype);
        let rows = lu::rows(rank, &Dim::Const(1));
        // The inverse permutation is the argsort of the permutation.
        let back = self.argsort(f[2], rank - 2, false);
        let inverse = |x: Val| {
            let x = self.op(rows.clone(), &[x, f[2]]);
            unit(self.triangular_solve(packed, self.triangular_solve(packed, x, lower), upper))
        };
        let adjoint = |x: Val| {
            let x = self.triangular_solve(packed, x, TriangularSolve { turn, ..upper });
            let x = self.triangular_solve(packed, x, TriangularSolve { turn, ..lower });
            unit(self.op(rows.clone(), &[x, back]))
        };
        let index = self.convert(
            self.iota(&column.with_dtype(crate::DType::I64), rank - 2),
            real.dtype,
        );
        let start = self.convert(
            self.add(self.cos(index), self.full_like(index, 1.5)),
            ty.dtype,
        );
        let mut v = inverse(start);
        let mut u = adjoint(v);
        for _ in 0..2 {
            v = inverse(u);
            u = adjoint(v);
        }
        let scale = self.convert(
            self.spread(most, &column.with_dtype(real.dtype), &axes),
            ty.dtype,
        );
        (
            self.stop_gradient(self.mul(scale, u)),
            self.stop_gradient(v),
        )
    }

    /// `n ε` of a real type: numbers below this fraction of the largest one are rounding errors.
    pub(crate) fn tolerance(&self, ty: &Type, n: &Dim) -> Val {
        self.mul(self.extent(ty, n), self.full(ty, ty.dtype.epsilon()))
    }
}

fn samples(name: &str) -> Vec<Sample> {
    let of = |a: Array| match name {
        "det" => Sample::new(Det, vec![a]),
        _ => Sample::new(Slogdet { inverse: false }, vec![a]),
    };
    let a = [1.0, 2.0, -0.5, 3.0, 0.4, 1.2, -0.7, 1.1, 2.3];
    let two = [[1.0, 0.5, 0.2, 2.0], [0.1, 1.5, -1.0, 0.4]].concat();
    let z = [(0.3, 0.4), (1.0, -0.5), (1.2, 0.3), (-0.4, 0.9)];
    let four = [
        2.0, 0.3, -0.4, 0.1, 0.5, -1.0, 0.2, 0.7, -0.3, 0.6, 1.5, 0.4, 0.2, -0.8, 0.9, 1.1,
    ];
    let mut all = vec![
        of(real(&[3, 3], &a)),
        of(real(&[2, 2, 2], &two)),
        of(complex(&[2, 2], &z)),
        of(real(&[4, 4], &four)),
        of(real(&[2, 0, 0], &[])),
    ];
    if name == "slogdet" {
        let with = |a: Array| Sample::new(Slogdet { inverse: true }, vec![a]);
        all.extend([
            with(real(&[3, 3], &a)),
            with(real(&[2, 2, 2], &two)),
            with(complex(&[2, 2], &z)),
        ]);
    } else {
        // Singular: the last row is the sum of the others.
        let rows: Vec<f64> = four[..12].to_vec();
        let last = (0..4).map(|j| rows[j] + rows[4 + j] + rows[8 + j]);
        all.push(of(real(
            &[4, 4],
            &rows.iter().copied().chain(last).collect::<Vec<_>>(),
        )));
        all.push(of(real(&[2, 2], &[1.0, 2.0, 2.0, 4.0])));
    }
    all
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(match s.name {
        "det" => Det.into(),
        _ => Slogdet {
            inverse: s.attrs.opt("inverse")?.unwrap_or(false),
        }
        .into(),
    })
}

pub(super) fn entries() -> Vec<Entry> {
    let det = "The determinant; its derivative is correct for singular matrices, too.";
    let slogdet =
        "Sign (phase) and logarithm of the magnitude of the determinant; with A^-T (`inverse`).";
    vec![
        Entry {
            name: "det",
            doc: det,
            parse,
            samples,
        },
        Entry {
            name: "slogdet",
            doc: slogdet,
            parse,
            samples,
        },
    ]
}
