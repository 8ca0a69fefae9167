//! `svd`: `A = U diag(s) Vᴴ` with singular values descending. Results: `U`, `s`, `Vᴴ`, or `s`
//! alone.
//!
//! With `X = Uᴴ dA V`, its Hermitian part `H` and skew-Hermitian part `K`,
//!
//! ```text
//! ds = Re diag X        W_ij = H_ij / (s_j - s_i) off the diagonal,    Z_ij = K_ij / (s_i + s_j)
//! dU = U (W + Z) + (I - U Uᴴ) dA V / s        dV = V (W - Z) + (I - V Vᴴ) dAᴴ U / s
//! ```
//! (the second terms if the matrix is tall or wide). One component of each column of `U` is real
//! and positive (see `spectrum`). If a singular value is zero, the same holds for `V`. Without
//! vectors the derivative exists everywhere. With vectors it is NaN if singular values coincide, or
//! if a singular value that is a divisor is zero. `full` gives square `U` and `Vᴴ`, which have no
//! derivatives unless `A` is square. O(m n min(m, n)).

use super::super::support::bytes;
use super::eigh::{rotate_columns, rotation};
use super::matrix::{Matrix, NAN, ONE, ZERO, complex, lead, matrices, pack, pack_matrices, real};
use super::spectrum::{ANCHOR, columns, extents, phase, turn};
use super::support::{batch_leading, batches, ending, one_matrix, size};
use crate::array::Array;
use crate::dtype::C128;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::guard::{DEGENERATE, RANK_DEFICIENT};
use crate::ops::{Binary, Comparison};
use crate::shape::{Dim, Env, Type};

/// The singular value decomposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Svd {
    /// Whether singular vectors are returned, too.
    pub vectors: bool,
    /// Whether the matrices of vectors are square.
    pub full: bool,
}

/// One-sided Jacobi method (Hestenes) for tall `A`: rotates pairs of columns until all are
/// orthogonal, `A V = U diag(s)`.
fn tall(a: &Matrix) -> (Matrix, Vec<f64>, Matrix) {
    let (mut b, mut v) = (a.clone(), Matrix::eye(a.n));
    let dot = |b: &Matrix, p: usize, q: usize| {
        (0..b.m).map(|i| b[(i, p)].conj() * b[(i, q)]).sum::<C128>()
    };
    for _ in 0..60 {
        let mut still = true;
        for p in 0..a.n {
            for q in p + 1..a.n {
                let (x, y, z) = (dot(&b, p, p).re, dot(&b, q, q).re, dot(&b, p, q));
                if z.norm() > 1e-16 * (x * y).sqrt() && z.norm() > 1e-300 {
                    let r = rotation(x, y, z);
                    rotate_columns(&mut b, p, q, r);
                    rotate_columns(&mut v, p, q, r);
                    still = false;
                }
            }
        }
        if still {
            break;
        }
    }
    let s: Vec<f64> = (0..a.n).map(|j| dot(&b, j, j).re.sqrt()).collect();
    let mut order: Vec<usize> = (0..a.n).collect();
    order.sort_by(|&i, &j| s[j].total_cmp(&s[i]));
    let s: Vec<f64> = order.iter().map(|&j| s[j]).collect();
    let (b, v) = (columns(&b, &order), columns(&v, &order));
    let some = |j: usize| s[j] > 0.0 && s[j] > f64::EPSILON * 1e-3 * s[0];
    let u = Matrix::new(
        b.m,
        b.n,
        |i, j| if some(j) { b[(i, j)] / s[j] } else { ZERO },
    );
    (complete(u), s, v)
}

/// Replaces zero columns by unit vectors that are orthogonal to all others.
fn complete(mut u: Matrix) -> Matrix {
    for j in 0..u.n {
        if (0..u.m).any(|i| u[(i, j)] != ZERO) {
            continue;
        }
        let mut best = (0.0, Vec::new());
        for e in 0..u.m {
            let mut x: Vec<C128> = (0..u.m).map(|i| if i == e { ONE } else { ZERO }).collect();
            for _ in 0..2 {
                for k in (0..u.n).filter(|&k| k != j) {
                    let c: C128 = (0..u.m).map(|i| u[(i, k)].conj() * x[i]).sum();
                    (0..u.m).for_each(|i| x[i] -= u[(i, k)] * c);
                }
            }
            let norm = x.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            if norm > best.0 + 1e-9 {
                best = (norm, x);
            }
        }
        best.1
            .iter()
            .enumerate()
            .for_each(|(i, z)| u[(i, j)] = z / best.0);
    }
    u
}

/// `U`, `s`, `V`; with square `U` and `V` if `full`.
fn decompose(a: &Matrix, full: bool) -> (Matrix, Vec<f64>, Matrix) {
    if !a.is_finite() {
        let k = a.m.min(a.n);
        let nan = |m: usize, n: usize| Matrix::new(m, if full { m } else { n }, |_, _| NAN);
        return (nan(a.m, k), vec![f64::NAN; k], nan(a.n, k));
    }
    let (a, e) = a.scaled();
    let (u, s, v) = if a.m >= a.n {
        tall(&a)
    } else {
        let (v, s, u) = tall(&a.adjoint());
        (u, s, v)
    };
    let widen = |x: Matrix, n: usize| {
        complete(Matrix::new(
            x.m,
            n,
            |i, j| if j < x.n { x[(i, j)] } else { ZERO },
        ))
    };
    let (mut u, mut v) = if full {
        (widen(u, a.m), widen(v, a.n))
    } else {
        (u, v)
    };
    let zero = s
        .first()
        .map_or(0.0, |s| s * f64::EPSILON * a.m.max(a.n) as f64);
    for j in 0..u.n.max(v.n) {
        if j < s.len() && s[j] > zero {
            let p = phase(&u, j);
            turn(&mut u, j, p);
            turn(&mut v, j, p);
            continue;
        }
        for x in [&mut u, &mut v].into_iter().filter(|x| j < x.n) {
            let p = phase(x, j);
            turn(x, j, p);
        }
    }
    (u, s.into_iter().map(|s| libm::scalbn(s, e)).collect(), v)
}

impl Primitive for Svd {
    fn name(&self) -> &str {
        "svd"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with_if(!self.vectors, "vectors", false)
            .with_if(self.full, "full", true)
    }

    fn results(&self) -> usize {
        if self.vectors { 3 } else { 1 }
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let (m, n) = one_matrix(self, x)?;
        let k = &m.least(n);
        let s = ending(&x[0], x[0].dtype.real(), &[k]);
        if !self.vectors {
            return Ok(vec![s]);
        }
        let (rows, columns) = if self.full { (m, n) } else { (k, k) };
        Ok(vec![
            ending(&x[0], x[0].dtype, &[m, rows]),
            s,
            ending(&x[0], x[0].dtype, &[columns, n]),
        ])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let &[.., m, n] = x[0].shape() else {
            unreachable!("the type rule asks for matrices")
        };
        let (k, dtype) = (m.min(n), x[0].dtype());
        let (mut u, mut s, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for a in matrices(&x[0]) {
            let d = decompose(&a, self.full);
            u.push(d.0);
            s.push(d.1.into_iter().map(C128::from).collect());
            v.push(d.2.adjoint());
        }
        let s = pack(s, dtype.real(), &[lead(&x[0]), &[k]].concat())?;
        if !self.vectors {
            return Ok(vec![s]);
        }
        let (rows, columns) = if self.full { (m, n) } else { (k, k) };
        Ok(vec![
            pack_matrices(u, &x[0], dtype, m, rows)?,
            s,
            pack_matrices(v, &x[0], dtype, columns, n)?,
        ])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let (m, n) = extents(&cx.ty(x[0]));
        if self.vectors && self.full && m.same(&n) != Some(true) {
            let text = "`svd` with full = true has no derivative: the last columns of the larger factor are not \
                        determined by the matrix. Use the thin decomposition";
            return Err(Error::new(Code::NoRule, text));
        }
        let y = cx.emit().emit(
            Svd {
                vectors: true,
                full: false,
            }
            .into(),
            x,
        );
        let mut all = vec![None; self.results()];
        let (u, s, vh) = (y[0], y[1], y[2]);
        let kept = if self.vectors {
            y.clone()
        } else {
            Vals::from_slice(&[s])
        };
        let Some(t) = t[0] else {
            return Ok((kept, all));
        };
        let v = cx.adjoint(vh);
        let av = cx.rmm(t, v);
        if !self.vectors {
            let each = cx.apply1(Binary::Mul, &[cx.conj(u).into(), av.into()]);
            all[0] = Some(cx.lreal(cx.lsum(each, &[cx.ty(u).rank() - 2])));
            return Ok((kept, all));
        }
        let core = cx.lmm(cx.adjoint(u), av);
        all[1] = Some(cx.lreal(cx.ldiagonal(core)));
        let (du, dv) = vectors(cx, (u, s, v), t, av, core, (m, n));
        (all[0], all[2]) = (Some(du), Some(cx.ladjoint(dv)));
        Ok((kept, all))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let (m, n) = extents(&x[0]);
        let (m, n) = (size(&m), size(&n));
        let flops = if self.vectors { 20.0 } else { 4.0 };
        Cost {
            flops: flops * batches(&x[0]) * m * n * m.min(n),
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

/// The tangents of `U` and `V`.
fn vectors(
    cx: &Lin<'_>,
    (u, s, v): (Val, Val, Val),
    t: Lv,
    av: Lv,
    x: Lv,
    (m, n): (Dim, Dim),
) -> (Lv, Lv) {
    let ty = cx.lty(x);
    let (rank, is_complex) = (ty.rank(), ty.dtype.is_complex());
    let (gaps, fine) = cx.gaps(s);
    let turned = cx.ladjoint(x);
    let (h, k) = (
        cx.scale_by(0.5, cx.sum(x, turned)),
        cx.scale_by(0.5, cx.sum(x, cx.lneg(turned))),
    );
    // For a real matrix the diagonal of K is zero, so it and its adjoint are omitted. Cancellation
    // in the adjoint would hide the other terms for large `s`.
    let k = if is_complex {
        k
    } else {
        cx.lkeep(cx.band(&ty, Comparison::Ne, 0), k)
    };
    let w = cx.lguard(cx.over_gaps(h, gaps), fine, DEGENERATE);
    let real = ty.with_dtype(cx.ty(s).dtype);
    let (columns, rows) = (
        cx.on_columns(s, &real),
        cx.matrix_transpose(cx.on_columns(s, &real)),
    );
    // Avoids 0 / 0 there.
    let mut sums = cx.add(columns, rows);
    if !is_complex {
        sums = cx.select(cx.band(&real, Comparison::Eq, 0), cx.full(&real, 1.0), sums);
    }
    let full = cx.positive(s);
    let divided = is_complex || m.same(&n) != Some(true);
    let guarded = |t: Lv| {
        if divided {
            cx.lguard(t, full, RANK_DEFICIENT)
        } else {
            t
        }
    };
    let sums = if is_complex {
        cx.convert(sums, ty.dtype)
    } else {
        sums
    };
    let z = guarded(cx.apply1(Binary::Div, &[k.into(), sums.into()]));
    let mut du = cx.lmm(u, cx.sum(w, z));
    let mut dv = cx.lmm(v, cx.sum(w, cx.lneg(z)));
    let outside = |q: Val, t: Lv, inside: Lv| {
        let rest = cx.sum(t, cx.lneg(cx.lmm(q, inside)));
        let like = cx.lty(rest);
        guarded(cx.apply1(Binary::Div, &[rest.into(), cx.on_columns(s, &like).into()]))
    };
    if !m.never_exceeds(&n) {
        du = cx.sum(du, outside(u, av, x));
    }
    if !n.never_exceeds(&m) {
        dv = cx.sum(dv, outside(v, cx.rmm(cx.ladjoint(t), u), turned));
    }
    debug_assert_eq!(rank, cx.ty(u).rank());
    if is_complex {
        let turning = cx.turning(u, du, ANCHOR);
        (du, dv) = (cx.turned(u, du, turning), cx.turned(v, dv, turning));
    }
    (du, dv)
}

impl dyn Emit + '_ {
    /// The thin singular value decomposition: `U`, `s` descending, `Vᴴ`.
    pub fn svd(&self, x: Val) -> Vals {
        self.emit(
            Svd {
                vectors: true,
                full: false,
            }
            .into(),
            &[x],
        )
    }

    /// Singular values only, descending. They have derivatives at degenerate spectra, too.
    pub fn svdvals(&self, x: Val) -> Val {
        self.op(
            Svd {
                vectors: false,
                full: false,
            },
            &[x],
        )
    }

    /// For each list of the last axis, whether no number is negligible relative to the largest.
    pub(crate) fn positive(&self, s: Val) -> Val {
        let s = self.stop_gradient(s);
        let ty = self.ty(s);
        let axes = [ty.rank() - 1];
        let most = self.max_or_least(s, &axes);
        let bound = self.mul(self.tolerance(&self.ty(most), &ty.shape[axes[0]]), most);
        self.reduce_all(
            self.compare(s, Comparison::Gt, self.spread(bound, &ty, &axes)),
            &axes,
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Svd {
        vectors: s.attrs.opt("vectors")?.unwrap_or(true),
        full: s.attrs.opt("full")?.unwrap_or(false),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [4.0, 1.0, 0.5, 0.2, 2.0, -0.4, 0.3, -0.6, -0.7];
    let six = [0.5, 1.0, 2.0, -0.3, -1.1, 0.8];
    let z = [
        (0.3, 0.4),
        (1.0, -0.5),
        (1.2, 0.3),
        (-0.4, 0.9),
        (0.8, -0.6),
        (0.5, 1.1),
    ];
    let thin = Svd {
        vectors: true,
        full: false,
    };
    let values = Svd {
        vectors: false,
        full: false,
    };
    vec![
        Sample::new(thin, vec![real(&[3, 3], &a)]),
        Sample::new(thin, vec![real(&[3, 2], &six)]),
        Sample::new(thin, vec![real(&[2, 3], &six)]),
        Sample::new(thin, vec![complex(&[3, 2], &z)]),
        Sample::new(thin, vec![complex(&[2, 3], &z)]),
        Sample::new(thin, vec![complex(&[2, 2], &z[..4])]),
        Sample::new(values, vec![real(&[2, 3, 1], &six)]),
        Sample::new(values, vec![complex(&[2, 3], &z)]),
        Sample::new(thin, vec![real(&[0, 2], &[])]),
        Sample::new(
            Svd {
                vectors: true,
                full: true,
            },
            vec![real(&[2, 2], &six[..4])],
        ),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Singular values, descending, with U and V^H (unless vectors = false); thin, or square factors (`full`).";
    vec![Entry {
        name: "svd",
        doc,
        parse,
        samples,
    }]
}
