//! `eig`: eigenvalues and eigenvectors of any square matrix, `A V = V diag(w)`. They are complex,
//! also for a real matrix.
//!
//! ```text
//! M = V⁻¹ dA V,    dw = diag M,    dV = V (M_ij / (w_j - w_i)) - V diag(its change of length)
//! ```
//! Columns of `V` have length 1 and a real positive anchor (see `spectrum`). Eigenvalues are
//! ordered by real part, then (for real parts that are equal up to rounding) by imaginary part. The
//! alternative is the order of LAPACK's `geev`: that of deflation (see `francis`), with the
//! eigenvalue of positive imaginary part first in a conjugate pair, and the largest component of a
//! vector real. It also has left eigenvectors, `uᴴ A = w uᴴ`. At degenerate spectra derivatives are
//! NaN, also those of eigenvalues, because a matrix may have no basis of eigenvectors. O(n³).

use super::super::support::bytes;
use super::francis::{self, Balancing, MatrixElements};
use super::matrix::{Matrix, NAN, ONE, ZERO, complex, lead, matrices, pack, pack_matrices, real};
use super::spectrum::{ANCHOR, columns, phase, turn};
use super::support::{batch_leading, batches, ending, one_matrix, size, square};
use super::{Solve, qr};
use crate::array::Array;
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::guard::DEGENERATE;
use crate::ops::{Binary, Convert, Unary};
use crate::shape::{Dim, Env, Type};

/// The order of eigenvalues, and the component of each vector that is real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// By real part, then by imaginary part; the first component of nearly the largest magnitude.
    #[default]
    Sorted,
    /// As LAPACK's `geev`: the order of the Schur form of the balanced matrix; the component of
    /// largest magnitude.
    Lapack,
    /// The order of the Schur form of the unbalanced matrix; the component of largest magnitude.
    Schur,
}

/// The eigendecomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Eig {
    /// Whether eigenvectors are returned, too.
    pub vectors: bool,
    /// The order of eigenvalues.
    pub order: Order,
    /// Whether eigenvectors are left ones, `uᴴ A = w uᴴ`.
    pub left: bool,
}

impl Default for Eig {
    fn default() -> Eig {
        Eig {
            vectors: true,
            order: Order::Sorted,
            left: false,
        }
    }
}

impl Eig {
    /// Least magnitude of an anchor, relative to the largest component.
    fn anchor(self) -> f64 {
        if self.order == Order::Sorted {
            ANCHOR
        } else {
            1.0
        }
    }

    /// Eigenvalues and eigenvectors of a matrix with elements of this precision.
    fn of(self, a: &Matrix, real: bool, eps: f64) -> (Vec<C128>, Matrix) {
        match self.order {
            Order::Sorted => decompose(a, eps),
            Order::Lapack => {
                francis::eigen(a, MatrixElements { real, eps }, Balancing::Scale, self.left)
            }
            Order::Schur => {
                francis::eigen(a, MatrixElements { real, eps }, Balancing::None, self.left)
            }
        }
    }
}

fn complex_of(d: DType) -> DType {
    d.complex().unwrap_or(d)
}

/// Real parts that differ by at most this number of rounding errors of the largest magnitude count
/// as equal in the order.
pub(crate) const TIE_ROUNDINGS: f64 = 1e3;

/// The order of eigenvalues: by real part, then, among equal ones, by imaginary part.
pub fn order(w: &[C128], eps: f64) -> Vec<usize> {
    let mut at: Vec<usize> = (0..w.len()).collect();
    at.sort_by(|&i, &j| w[i].re.total_cmp(&w[j].re));
    let tie = TIE_ROUNDINGS * eps * w.iter().map(|z| z.norm()).fold(0.0, f64::max);
    let mut from = 0;
    for k in 1..=at.len() {
        if k == at.len() || w[at[k]].re - w[at[k - 1]].re > tie {
            at[from..k].sort_by(|&i, &j| w[i].im.total_cmp(&w[j].im));
            from = k;
        }
    }
    at
}

/// The Schur form `A = Q T Qᴴ`, by shifted QR steps on the part that is not triangular yet. `None`
/// if it does not converge.
fn schur(a: &Matrix) -> Option<(Matrix, Matrix)> {
    let n = a.n;
    let (mut t, mut q) = (a.clone(), Matrix::eye(n));
    let mut end = n;
    let mut steps = 0;
    while end > 1 {
        let small = |t: &Matrix, i: usize| {
            let below: f64 = (i..end)
                .flat_map(|r| (0..i).map(move |c| (r, c)))
                .map(|rc| t[rc].norm())
                .sum();
            below <= f64::EPSILON * (t[(i, i)].norm() + t[(i - 1, i - 1)].norm())
        };
        if small(&t, end - 1) {
            end -= 1;
            steps = 0;
            continue;
        }
        let start = (1..end - 1).rev().find(|&i| small(&t, i)).unwrap_or(0);
        steps += 1;
        if steps > 300 {
            return None;
        }
        let shift = shift(&t, end, steps);
        let block = Matrix::new(end - start, end - start, |i, j| {
            t[(start + i, start + j)] - if i == j { shift } else { ZERO }
        });
        let (g, _) = qr::factor(&block);
        let wide = Matrix::new(n, n, |i, j| {
            let inside = |k: usize| (start..end).contains(&k);
            if inside(i) && inside(j) {
                g[(i - start, j - start)]
            } else if i == j {
                ONE
            } else {
                ZERO
            }
        });
        t = wide.adjoint().times(&t).times(&wide);
        q = q.times(&wide);
    }
    Some((t, q))
}

/// Wilkinson's shift: the eigenvalue of the last 2×2 block that is nearer to its last element. At
/// some steps an exceptional shift.
fn shift(t: &Matrix, end: usize, steps: usize) -> C128 {
    let (a, b) = (t[(end - 2, end - 2)], t[(end - 2, end - 1)]);
    let (c, d) = (t[(end - 1, end - 2)], t[(end - 1, end - 1)]);
    if steps.is_multiple_of(10) || (steps == 1 && c == ZERO) {
        return d + C128::new(b.norm() + c.norm(), 0.5 * c.norm() + 0.1 * a.norm());
    }
    let half = (a - d) * 0.5;
    let root = (half * half + b * c).sqrt();
    let (x, y) = (d + half + root, d + half - root);
    if (x - d).norm() < (y - d).norm() {
        x
    } else {
        y
    }
}

fn decompose(a: &Matrix, eps: f64) -> (Vec<C128>, Matrix) {
    let n = a.n;
    let (a, e) = a.scaled();
    let Some((t, q)) = Some(&a).filter(|a| a.is_finite()).and_then(schur) else {
        return (vec![NAN; n], Matrix::new(n, n, |_, _| NAN));
    };
    let w: Vec<C128> = (0..n).map(|i| t[(i, i)]).collect();
    let least = f64::EPSILON * w.iter().map(|z| z.norm()).fold(f64::MIN_POSITIVE, f64::max);
    let mut y = Matrix::eye(n);
    for k in 0..n {
        for i in (0..k).rev() {
            let rest: C128 = (i + 1..=k).map(|j| t[(i, j)] * y[(j, k)]).sum();
            let gap = w[k] - w[i];
            y[(i, k)] = rest
                / if gap.norm() < least {
                    C128::new(least, 0.0)
                } else {
                    gap
                };
        }
    }
    let order = order(&w, eps);
    let mut v = columns(&q.times(&y), &order);
    for j in 0..n {
        let length = (0..n).map(|i| v[(i, j)].norm_sqr()).sum::<f64>().sqrt();
        let p = phase(&v, j);
        turn(&mut v, j, p);
        (0..n).for_each(|i| v[(i, j)] /= length);
    }
    let back = |z: C128| C128::new(libm::scalbn(z.re, e), libm::scalbn(z.im, e));
    (order.iter().map(|&i| back(w[i])).collect(), v)
}

impl Primitive for Eig {
    fn name(&self) -> &str {
        "eig"
    }

    fn attrs(&self) -> Attrs {
        let order = match self.order {
            Order::Sorted => "sorted",
            Order::Lapack => "lapack",
            Order::Schur => "schur",
        };
        let attrs = Attrs::default().with_if(!self.vectors, "vectors", false);
        attrs
            .with_if(self.order != Order::Sorted, "order", order)
            .with_if(self.left, "left", true)
    }

    fn results(&self) -> usize {
        1 + usize::from(self.vectors)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        one_matrix(self, x)?;
        if self.left && self.order == Order::Sorted {
            bail!(
                Attribute,
                "`eig` has left eigenvectors in the orders `lapack` and `schur` only"
            );
        }
        let n = square(self, &x[0])?;
        let to = complex_of(x[0].dtype);
        Ok([ending(&x[0], to, &[n]), ending(&x[0], to, &[n, n])]
            .into_iter()
            .take(self.results())
            .collect())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let n = x[0].shape()[x[0].shape().len() - 1];
        let (to, eps) = (complex_of(x[0].dtype()), x[0].dtype().epsilon());
        let (w, v): (Vec<_>, Vec<_>) = matrices(&x[0])
            .iter()
            .map(|a| self.of(a, !x[0].dtype().is_complex(), eps))
            .unzip();
        let mut y = vec![pack(w, to, &[lead(&x[0]), &[n]].concat())?];
        if self.vectors {
            y.push(pack_matrices(v, &x[0], to, n, n)?);
        }
        Ok(y)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let mut y = cx.emit().emit(
            Eig {
                vectors: true,
                ..*self
            }
            .into(),
            &[cx.as_square(x[0])],
        );
        let (w, v) = (y[0], y[1]);
        y.truncate(self.results());
        let Some(t) = t[0] else {
            return Ok((y, vec![None; self.results()]));
        };
        let ty = cx.ty(v);
        let t = cx.lsquare(t);
        let t = if cx.lty(t).dtype == ty.dtype {
            t
        } else {
            cx.apply1(Convert { to: ty.dtype }, &[t.into()])
        };
        // Left eigenvectors are those of the adjoint, whose eigenvalues are the conjugates.
        let (t, w) = if self.left {
            (cx.ladjoint(t), cx.conj(w))
        } else {
            (t, w)
        };
        let (gaps, fine) = cx.gaps(w);
        let av = cx.lguard(cx.rmm(t, v), fine, DEGENERATE);
        let m = cx.apply1(Solve, &[v.into(), av.into()]);
        let dw = cx.ldiagonal(m);
        let dw = if self.left {
            cx.apply1(Unary::Conj, &[dw.into()])
        } else {
            dw
        };
        if !self.vectors {
            return Ok((y, vec![Some(dw)]));
        }
        let dv = cx.lmm(v, cx.over_gaps(m, gaps));
        let along = cx.lsum(
            cx.apply1(Binary::Mul, &[cx.conj(v).into(), dv.into()]),
            &[ty.rank() - 2],
        );
        let dv = cx.sum(dv, cx.lneg(cx.scale_columns(v, cx.lreal(along))));
        Ok((
            y,
            vec![
                Some(dw),
                Some(cx.turned(v, dv, cx.turning(v, dv, self.anchor()))),
            ],
        ))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape.last().map_or(1.0, size);
        let flops = if self.vectors { 25.0 } else { 10.0 };
        Cost {
            flops: flops * batches(&x[0]) * n * n * n,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// Eigenvalues and eigenvectors, complex, of square matrices.
    pub fn eig(&self, x: Val) -> Vals {
        self.emit(Eig::default().into(), &[x])
    }

    /// Eigenvalues only.
    pub fn eigvals(&self, x: Val) -> Val {
        self.op(
            Eig {
                vectors: false,
                ..Eig::default()
            },
            &[x],
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let order = match s.attrs.opt::<String>("order")?.as_deref() {
        None | Some("sorted") => Order::Sorted,
        Some("lapack") => Order::Lapack,
        Some("schur") => Order::Schur,
        Some(o) => bail!(
            Attribute,
            "`eig` has no order `{o}`; there are sorted, lapack and schur"
        ),
    };
    let (vectors, left) = (
        s.attrs.opt("vectors")?.unwrap_or(true),
        s.attrs.opt("left")?.unwrap_or(false),
    );
    Ok(Eig {
        vectors,
        order,
        left,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [1.0, 2.0, -0.5, -1.5, 0.4, 1.2, -0.7, 0.3, 3.3];
    let two = [[1.0, 0.5, 0.2, 2.0], [0.1, 1.5, -1.0, 0.4]].concat();
    let z = [(0.3, 0.4), (1.0, -0.5), (1.2, 0.3), (-0.4, 0.9)];
    let mut all = Vec::new();
    for vectors in [true, false] {
        all.push(Sample::new(
            Eig {
                vectors,
                ..Eig::default()
            },
            vec![real(&[3, 3], &a)],
        ));
        all.push(Sample::new(
            Eig {
                vectors,
                ..Eig::default()
            },
            vec![complex(&[2, 2], &z)],
        ));
    }
    all.push(Sample::new(Eig::default(), vec![real(&[2, 2, 2], &two)]));
    all.push(Sample::new(Eig::default(), vec![real(&[0, 0], &[])]));
    for (order, left) in [
        (Order::Lapack, false),
        (Order::Lapack, true),
        (Order::Schur, false),
    ] {
        let of = Eig {
            order,
            left,
            ..Eig::default()
        };
        all.push(Sample::new(of, vec![real(&[3, 3], &a)]));
        all.push(Sample::new(of, vec![complex(&[2, 2], &z)]));
    }
    all
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Eigenvalues, by real part (or order = \"lapack\"), and, unless vectors = false, eigenvectors of a square matrix.";
    vec![Entry {
        name: "eig",
        doc,
        parse,
        samples,
    }]
}
