//! `lu`: `A[perm, :] = L U` with partial pivoting (by `|re| + |im|` of complex numbers, as in
//! LAPACK); `L` is unit lower and `U` upper triangular, packed into one matrix.
//!
//! For an m×n matrix let `L'` (m×m) and `U'` (n×n) be the factors extended with the identity. With
//! `Ȧ = dA[perm, :]`
//!
//! ```text
//! X = L'⁻¹ Ȧ U'⁻¹,    d(packed) = L' strictly_lower(X) + L'⁻¹ Ȧ - strictly_lower(X) U'
//! ```
//! where the last terms are `upper(X) U'`. The part of `X` below the diagonal needs all pivots of a
//! tall matrix; for other matrices the last pivot may be zero. Results: packed factors, the index
//! of the row swapped with row `k` in step `k`, and `perm` (both `i32`). A zero pivot, whose column
//! is zero, is skipped. O(m n min(m, n)).

use super::super::support::bytes;
use super::TriangularSolve;
use super::matrix::{Matrix, ZERO, complex, lead, matrices, pack, pack_matrices, real};
use super::support::{batch_leading, batches, ending, one_matrix, product, size};
use crate::array::Array;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::{Bounds, Comparison, Gather, Windows};
use crate::shape::{Dim, Env, Type};

/// The LU factorization with partial pivoting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lu;

/// Magnitude by which pivots are chosen: `|re| + |im|`, as in LAPACK.
fn pivot_size(z: C128) -> f64 {
    z.re.abs() + z.im.abs()
}

/// Packed factors, row swaps and the permutation of one matrix.
pub(super) fn factor(a: &Matrix) -> (Matrix, Vec<usize>, Vec<usize>) {
    let (mut a, mut pivots, mut perm) = (a.clone(), Vec::new(), (0..a.m).collect::<Vec<_>>());
    for k in 0..a.m.min(a.n) {
        let mut p = k;
        for i in k + 1..a.m {
            if pivot_size(a[(i, k)]) > pivot_size(a[(p, k)]) {
                p = i;
            }
        }
        pivots.push(p);
        perm.swap(k, p);
        for j in 0..a.n {
            let (x, y) = (a[(k, j)], a[(p, j)]);
            (a[(k, j)], a[(p, j)]) = (y, x);
        }
        if a[(k, k)] == ZERO {
            continue;
        }
        for i in k + 1..a.m {
            let l = a[(i, k)] / a[(k, k)];
            a[(i, k)] = l;
            for j in k + 1..a.n {
                let u = a[(k, j)];
                a[(i, j)] -= l * u;
            }
        }
    }
    (a, pivots, perm)
}

/// Rows `indices` of matrices with `n` columns: `y[.., i, :] = x[.., indices[.., i], :]`.
pub(super) fn rows(rank: usize, n: &Dim) -> Gather {
    let lead: Vec<usize> = (0..rank.saturating_sub(2)).collect();
    let row = rank.saturating_sub(2);
    let windows = Windows {
        window: vec![row + 1],
        collapsed: vec![row],
        operand_batch: lead.clone(),
        index_batch: lead.clone(),
        axes: vec![row],
        vector: row + 1,
    };
    let sizes = lead
        .iter()
        .map(|_| Dim::Const(1))
        .chain([Dim::Const(1), n.clone()])
        .collect();
    Gather {
        windows,
        sizes,
        bounds: Bounds::Clip,
    }
}

impl Primitive for Lu {
    fn name(&self) -> &str {
        "lu"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
    }

    fn results(&self) -> usize {
        3
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let (m, n) = one_matrix(self, x)?;
        let k = m.least(n);
        Ok(vec![
            x[0].clone(),
            ending(&x[0], DType::I32, &[&k]),
            ending(&x[0], DType::I32, &[m]),
        ])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let &[.., m, n] = x[0].shape() else {
            unreachable!("the type rule asks for matrices")
        };
        let (mut packed, mut pivots, mut perms) = (Vec::new(), Vec::new(), Vec::new());
        let numbers = |v: Vec<usize>| {
            v.into_iter()
                .map(|i| C128::new(i as f64, 0.0))
                .collect::<Vec<_>>()
        };
        for a in matrices(&x[0]) {
            let (a, p, q) = factor(&a);
            packed.push(a);
            pivots.push(numbers(p));
            perms.push(numbers(q));
        }
        Ok(vec![
            pack_matrices(packed, &x[0], x[0].dtype(), m, n)?,
            pack(pivots, DType::I32, &[lead(&x[0]), &[m.min(n)]].concat())?,
            pack(perms, DType::I32, &[lead(&x[0]), &[m]].concat())?,
        ])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit((*self).into(), x);
        let Some(t) = t[0] else {
            return Ok((y, vec![None; 3]));
        };
        let (packed, perm) = (y[0], y[2]);
        let ty = cx.ty(packed);
        let [.., m, n] = &ty.shape[..] else {
            return Ok((y, vec![None; 3]));
        };
        let (l, u) = (cx.filled(packed, m, true), cx.filled(packed, n, false));
        let moved = cx.apply1(rows(ty.rank(), n), &[t.into(), perm.into()]);
        let moved = cx.apply1(
            TriangularSolve {
                unit: true,
                ..TriangularSolve::default()
            },
            &[l.into(), moved.into()],
        );
        let right = TriangularSolve {
            left: false,
            lower: false,
            ..TriangularSolve::default()
        };
        let inner = cx.apply1(right, &[cx.without_last_pivot(u, m).into(), moved.into()]);
        let below = cx.lkeep(cx.band(&ty, Comparison::Lt, 0), inner);
        let l = cx.lmm(cx.unit_lower(l), below);
        let inside = cx.apply1(product(ty.rank()), &[below.into(), cx.triu(u, 0).into()]);
        let u = cx.lkeep(
            cx.band(&ty, Comparison::Ge, 0),
            cx.sum(moved, cx.lneg(inside)),
        );
        Ok((y, vec![Some(cx.sum(l, u)), None, None]))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let [.., m, n] = &x[0].shape[..] else {
            return Cost::default();
        };
        let (m, n) = (size(m), size(n));
        let k = m.min(n);
        Cost {
            flops: batches(&x[0]) * k * k * (m.max(n) - k / 3.0),
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// The LU factorization of matrices: packed factors, row swaps, permutation.
    pub fn lu(&self, x: Val) -> Vals {
        self.emit(Lu.into(), &[x])
    }

    /// `A[perm, :] = L U`: permutation, and separate `L` and `U`.
    pub fn lu_unpacked(&self, x: Val) -> [Val; 3] {
        let y = self.lu(x);
        let ty = self.ty(y[0]);
        let [.., m, n] = &ty.shape[..] else {
            return [y[0]; 3];
        };
        let k = m.least(n);
        let l = self.unit_lower(self.slice_axis(y[0], ty.rank() - 1, 0, k.clone()));
        [
            y[2],
            l,
            self.triu(self.slice_axis(y[0], ty.rank() - 2, 0, k.clone()), 0),
        ]
    }

    /// The strict lower triangle, ones on the diagonal, zero above.
    fn unit_lower(&self, x: Val) -> Val {
        let ty = self.ty(x);
        let one = self.full(&ty, 1.0);
        self.select(self.band(&ty, Comparison::Eq, 0), one, self.tril(x, -1))
    }

    /// Square triangular matrices with pivots 1 from row `m` on. No needed element is divided by
    /// these pivots.
    fn without_last_pivot(&self, u: Val, m: &Dim) -> Val {
        let ty = self.ty(u);
        let rank = ty.rank();
        let index = ty.with_dtype(DType::I64);
        let next = self.add(self.iota(&index, rank - 2), self.full(&index, 1i64));
        let last = self.compare(next, Comparison::Ge, self.extent(&index, m));
        let on = self.and(last, self.band(&ty, Comparison::Eq, 0));
        self.select(on, self.full(&ty, 1.0), u)
    }

    /// The factor in `packed` as a square matrix of extent `n`, extended with the identity.
    fn filled(&self, packed: Val, n: &Dim, lower: bool) -> Val {
        let ty = self.ty(packed);
        let rank = ty.rank();
        let [.., rows, columns] = &ty.shape[..] else {
            return packed;
        };
        if rows.same(columns) == Some(true) {
            return packed;
        }
        let (axis, have) = if lower {
            (rank - 1, columns)
        } else {
            (rank - 2, rows)
        };
        if n.never_exceeds(have) {
            return self.slice_axis(packed, axis, 0, n.clone());
        }
        let have = &have.least(n);
        let packed = self.slice_axis(packed, axis, 0, have.clone());
        // The last rows or columns of the identity.
        let mut square = ty.shape.to_vec();
        (square[rank - 2], square[rank - 1]) = (n.clone(), n.clone());
        let eye = self.broadcast_to(self.eye(ty.dtype, n), &square);
        let rest = self.slice_axis(eye, axis, have.clone(), n.clone());
        self.concatenate(&[packed, rest], axis)
    }
}

fn parse(_: &mut Spelled<'_>) -> Result<Op> {
    Ok(Lu.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [1.0, 2.0, -0.5, 3.0, 0.4, 1.2, -0.7, 1.1, 2.3];
    let two = [a, [0.2, 1.0, 0.3, 1.4, 0.1, -0.5, 0.6, -2.0, 0.7]].concat();
    let z = [(0.3, 0.4), (1.0, -0.5), (1.2, 0.3), (-0.4, 0.9)];
    vec![
        Sample::new(Lu, vec![real(&[2, 3, 3], &two)]),
        Sample::new(Lu, vec![real(&[3, 2], &[0.5, 1.0, 2.0, -0.3, -1.1, 0.8])]),
        Sample::new(
            Lu,
            vec![real(&[2, 4], &[0.5, 1.0, 2.0, -0.3, -1.1, 0.8, 0.6, 1.7])],
        ),
        Sample::new(Lu, vec![complex(&[2, 2], &z)]),
        Sample::new(Lu, vec![real(&[0, 2], &[])]),
        Sample::rough(Lu, vec![real(&[2, 2], &[0.0, 1.0, 0.0, 2.0])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "LU factors with partial pivoting, packed in one matrix; the row swaps; the permutation: A[perm] = L U.";
    vec![Entry {
        name: "lu",
        doc,
        parse,
        samples,
    }]
}
