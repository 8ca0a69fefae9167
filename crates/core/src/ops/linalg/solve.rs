//! `solve`: `X` with `A X = B`, by LU with partial pivoting.
//!
//! ```text
//! dX = A⁻¹ (dB - dA X)        ct_B = A⁻ᴴ ct,  ct_A = -ct_B Xᴴ
//! ```
//! A derivative uses the factors of the value: there is one factorization, and no inverse. Linear
//! in `B`.

use super::super::support::{bytes, sample_array};
use super::matrix::{Matrix, complex, matrices, pack_matrices, real};
use super::support::{batch_leading, batches, matrix, product, size, square};
use super::{TriangularSolve, lu};
use crate::array::Array;
use crate::bail;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::entry::{Entry, Spelled, arity};
use crate::shape::{Dim, Env, Type};

/// The solution of systems of equations with the same leading axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Solve;

const LOWER: TriangularSolve = TriangularSolve {
    left: true,
    lower: true,
    unit: true,
    turn: super::Turn::None,
};
const UPPER: TriangularSolve = TriangularSolve {
    left: true,
    lower: false,
    unit: false,
    turn: super::Turn::None,
};

pub(super) fn solution(a: &Matrix, b: &Matrix) -> Matrix {
    let (packed, _, perm) = lu::factor(a);
    let b = Matrix::new(b.m, b.n, |i, j| b[(perm[i], j)]);
    UPPER.solve(&packed, &LOWER.solve(&packed, &b))
}

impl Primitive for Solve {
    fn name(&self) -> &str {
        "solve"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        let n = square(self, &x[0])?;
        let (rows, _) = matrix(self, &x[1])?;
        let lead = |t: &Type| t.shape[..t.rank() - 2].to_vec();
        let aligned = x[0].rank() == x[1].rank()
            && lead(&x[0])
                .iter()
                .zip(&lead(&x[1]))
                .all(|(p, q)| p.same(q) != Some(false));
        if !aligned || rows.same(n) == Some(false) || x[0].dtype != x[1].dtype {
            bail!(
                ShapeMismatch,
                "`solve` of {} and {}: the right-hand side needs {n} rows, the same leading axes and element type",
                x[0],
                x[1]
            );
        }
        Ok(vec![x[1].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (a, b) = (matrices(&x[0]), matrices(&x[1]));
        let &[.., m, n] = x[1].shape() else {
            unreachable!("the type rule asks for matrices")
        };
        let all = a.iter().zip(&b).map(|(a, b)| solution(a, b)).collect();
        Ok(vec![pack_matrices(all, &x[1], x[1].dtype(), m, n)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        !mask[0] && mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let (f, ty) = (cx.lu(cx.as_square(x[0])), cx.ty(x[1]));
        let (packed, perm) = (f[0], f[2]);
        let rows = lu::rows(ty.rank(), ty.shape.last().unwrap_or(&Dim::Const(1)));
        let half = cx.triangular_solve(packed, cx.op(rows.clone(), &[x[1], perm]), LOWER);
        let y = cx.triangular_solve(packed, half, UPPER);
        let moved = t[0].map(|t| cx.lneg(cx.apply1(product(ty.rank()), &[t.into(), y.into()])));
        let dy = cx.sum_opt(t[1], moved).map(|r| {
            let r = cx.apply1(rows.clone(), &[r.into(), perm.into()]);
            let half = cx.apply1(LOWER, &[packed.into(), r.into()]);
            cx.apply1(UPPER, &[packed.into(), half.into()])
        });
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Some(a), Some(ct)) = (x[0].val(), ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        Ok(vec![None, Some(cx.op(*self, &[cx.adjoint(a), ct]))])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let [.., n, k] = &y[0].shape[..] else {
            return Cost::default();
        };
        let (n, k) = (size(n), size(k));
        let flops = batches(&x[0]) * n * n * (2.0 * n / 3.0 + 2.0 * k);
        Cost {
            flops,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// The solution of `A X = B`. Leading axes are batch axes and are broadcast; a vector `B` is a
    /// column. NaN (an error in an eager runtime) if `A` is singular.
    pub fn solve(&self, a: Val, b: Val) -> Val {
        let matrices = |b: Val| {
            let (a, b) = self.same_leads(a, b);
            let x = self.op(Solve, &[a, b]);
            self.guard(x, self.finite_matrices(x), crate::ops::guard::SINGULAR)
        };
        self.solve_vector(a, b, true, &matrices)
            .unwrap_or_else(|| matrices(b))
    }

    /// The inverse. NaN (an error in an eager runtime) for a singular matrix.
    pub fn inv(&self, a: Val) -> Val {
        self.solve(a, self.eye_like(a))
    }

    /// A square matrix whose extents may be different symbols, with one symbol for both.
    pub(crate) fn as_square(&self, a: Val) -> Val {
        let ty = self.ty(a);
        match &ty.shape[..] {
            [lead @ .., m, n] if m != n => {
                let n = if m.as_const().is_some() { m } else { n };
                self.reshape(a, &lead.iter().chain([n, n]).cloned().collect::<Vec<_>>())
            }
            _ => a,
        }
    }

    /// Identity matrices of the type of a square matrix.
    pub(crate) fn eye_like(&self, a: Val) -> Val {
        let ty = self.ty(a);
        let one = self.full(&ty, 1.0);
        self.select(
            self.band(&ty, crate::ops::Comparison::Eq, 0),
            one,
            self.zeros(&ty),
        )
    }

    /// Whether all elements of each matrix are finite.
    pub(crate) fn finite_matrices(&self, x: Val) -> Val {
        let rank = self.ty(x).rank();
        let axes: Vec<usize> = (rank.saturating_sub(2)..rank).collect();
        self.reduce_all(self.is_finite(self.stop_gradient(x)), &axes)
    }

    /// Broadcasts the leading axes of two matrices by NumPy's rules.
    pub(crate) fn same_leads(&self, a: Val, b: Val) -> (Val, Val) {
        let (ta, tb) = (self.ty(a), self.ty(b));
        let (ra, rb) = (ta.rank().saturating_sub(2), tb.rank().saturating_sub(2));
        let lead = ra.max(rb);
        let at =
            |t: &Type, r: usize, k: usize| (k + r >= lead).then(|| t.shape[k + r - lead].clone());
        let shape: Vec<Dim> = (0..lead)
            .map(|k| match (at(&ta, ra, k), at(&tb, rb, k)) {
                (Some(p), Some(q)) => {
                    if p.is(1) || (q.as_const().is_some() && !q.is(1)) {
                        q
                    } else {
                        p
                    }
                }
                (p, q) => p.or(q).unwrap_or(Dim::Const(1)),
            })
            .collect();
        let widen = |v: Val, t: &Type, r: usize| {
            if t.rank() < 2 || t.shape[..r] == shape[..] {
                return v;
            }
            self.broadcast_to(
                v,
                &shape
                    .iter()
                    .chain(&t.shape[r..])
                    .cloned()
                    .collect::<Vec<_>>(),
            )
        };
        (widen(a, &ta, ra), widen(b, &tb, rb))
    }
}

fn parse(_: &mut Spelled<'_>) -> Result<Op> {
    Ok(Solve.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [1.0, 2.0, -0.5, 3.0, 0.4, 1.2, -0.7, 1.1, 2.3];
    let two = [[1.0, 0.5, 0.2, 2.0], [0.1, 1.5, -1.0, 0.4]].concat();
    let z = [(0.3, 0.4), (1.0, -0.5), (1.2, 0.3), (-0.4, 0.9)];
    vec![
        Sample::new(
            Solve,
            vec![real(&[3, 3], &a), sample_array(DType::F64, &[3, 2], 1)],
        ),
        Sample::new(
            Solve,
            vec![
                real(&[2, 2, 2], &two),
                sample_array(DType::F64, &[2, 2, 1], 1),
            ],
        ),
        Sample::new(
            Solve,
            vec![complex(&[2, 2], &z), sample_array(DType::C128, &[2, 3], 1)],
        ),
        Sample::new(Solve, vec![real(&[0, 0], &[]), real(&[0, 2], &[])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The solution X of A X = B, by LU with partial pivoting.";
    vec![Entry {
        name: "solve",
        doc,
        parse,
        samples,
    }]
}
