//! Functions of spectra that do not depend on the choice of vectors. They are correct for
//! coincident eigenvalues or singular values.
//!
//! A function of eigenvalues is the operation `spectral`. The truncation is `A_k = P A`, with the
//! projector `P` on the first `k` left singular vectors. With `B = A Aᴴ`, which commutes with `P`,
//! the derivative of the projector is
//!
//! ```text
//! dP = Y + Yᴴ,    Y = (1 - P) Y P,    Y B - B Y = (1 - P) dB P
//! ```
//! The system for `Y` is a `linear_solve`. It is solved in the basis of singular vectors by
//! division by `s_j² - s_i²`, with `j <= k < i`, so only `s_k = s_{k+1}` is singular. Its equation
//! does not contain vectors, so derivatives of every order are correct for coincident singular
//! values on each side of the gap.
//!
//! The tangents of the first `k` singular vectors have a part within their span, from their own
//! gaps as in `svd`, and a part outside. With the rest `B = A - U s Vᴴ`, the latter solves
//!
//! ```text
//! X - B Bᴴ X / s² = (1 - U Uᴴ) dA V / s + B (dAᴴ U) / s²        Y = ((1 - V Vᴴ) dAᴴ U + Bᴴ X) / s
//! ```
//! which does not contain vectors of the rest, so the rest may have any rank.

use super::entry::{Composite, operands};
use crate::dtype::DType;
use crate::ir::{Emit, Val};
use crate::ops::guard::DEGENERATE;
use crate::ops::linalg::{ANCHOR, pairs};
use crate::ops::moving::exceeds;
use crate::ops::{Apply, Bounds, Comparison, Spectral};
use crate::shape::{Dim, Type};

pub(super) static SPECTRAL: &[Composite] = &[
    Composite {
        name: "eigvalsh",
        doc: "Eigenvalues, ascending, of the Hermitian part.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.eigvalsh(x)]),
    },
    Composite {
        name: "svdvals",
        doc: "Singular values, descending.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.svdvals(x)]),
    },
    Composite {
        name: "expm_hermitian",
        doc: "The exponential of the Hermitian part, by its eigenvalues.",
        build: |cx, s, x| {
            operands(s, x).map(|[x]| vec![cx.spectral_function(x, |cx, w| cx.exp(w))])
        },
    },
    Composite {
        name: "low_rank_approximation",
        doc: "The nearest matrix of rank `k`: the sum of the terms of the `k` largest singular values.",
        build: |cx, s, x| {
            let k = s.attrs.get::<Dim>("k")?;
            operands(s, x).map(|[x]| vec![cx.low_rank_approximation(x, &k)])
        },
    },
    Composite {
        name: "svd_truncated",
        doc: "The `k` largest singular values with their vectors: U, s, V^H.",
        build: |cx, s, x| {
            let k = s.attrs.get::<Dim>("k")?;
            operands(s, x).map(|[x]| cx.svd_truncated(x, &k))
        },
    },
    Composite {
        name: "svd_thresholded",
        doc: "The singular values above `rtol` times the largest with their vectors; their number is data-dependent.",
        build: |cx, s, x| {
            let rtol = s.attrs.opt::<f64>("rtol")?;
            operands(s, x).map(|[x]| cx.svd_thresholded(x, rtol))
        },
    },
];

impl dyn Emit + '_ {
    /// `f` of the Hermitian part of square matrices: `V diag(f(w)) Vᴴ`. `f` is a function of one
    /// eigenvalue.
    pub fn spectral_function(&self, a: Val, f: impl FnOnce(&dyn Emit, Val) -> Val) -> Val {
        if !self.is_square("spectral_function", a) {
            return Val::POISON;
        }
        let number = Type::scalar(self.ty(a).dtype.real());
        match self.body("f", &[number], |cx, x| vec![f(cx, x[0])]).func {
            Some(f) => self.op(
                Spectral {
                    f,
                    order: 0,
                    decomposed: false,
                },
                &[self.as_square(a)],
            ),
            None => Val::POISON,
        }
    }

    /// The nearest matrix of rank `k`: `Σ_{i<k} s_i u_i v_iᴴ`.
    pub fn low_rank_approximation(&self, a: Val, k: &Dim) -> Val {
        if !self.has_values("low_rank_approximation", a, k) {
            return Val::POISON;
        }
        let ty = self.ty(a);
        if let [.., m, n] = &ty.shape[..]
            && exceeds(m, n)
        {
            return self.adjoint(self.low_rank_approximation(self.adjoint(a), k));
        }
        // The projector does not depend on the scale, so the matrix is scaled: its squares are in
        // range.
        let near_one = self.div(a, self.power_of_two(a));
        let d = self.svd(self.stop_gradient(near_one));
        if self.failed() {
            return Val::POISON;
        }
        let body = |cx: &dyn Emit, x: &[Val]| {
            let (u, s) = (x[1], x[2]);
            vec![cx.mm(
                cx.mul(u, cx.along_columns(cx.first(s, k), u)),
                cx.adjoint(u),
            )]
        };
        let rule = |cx: &dyn Emit, x: &[Val], y: &[Val], t: &[Option<Val>]| {
            vec![t[0].map(|t| cx.moved_projector((x[0], x[1], x[2]), y[0], t, k))]
        };
        let projector = self.custom_jvp(&[near_one, d[0], d[1]], body, rule)[0];
        self.mm(projector, a)
    }

    /// Mask of the first `k` numbers along the last axis.
    fn first(&self, s: Val, k: &Dim) -> Val {
        let ty = self.ty(s);
        let index = ty.with_dtype(DType::I64);
        self.compare(
            self.iota(&index, ty.rank().saturating_sub(1)),
            Comparison::Lt,
            self.extent(&index, k),
        )
    }

    /// The tangent of the projector `p` on the first `k` left singular vectors, for the tangent `t`
    /// of `a`.
    fn moved_projector(&self, (a, u, s): (Val, Val, Val), p: Val, t: Val, k: &Dim) -> Val {
        let (ah, along) = (self.adjoint(a), self.mm(t, self.adjoint(a)));
        let (b, db) = (self.mm(a, ah), self.add(along, self.adjoint(along)));
        // The part that maps out of the projector's range: (1 - P) Y P.
        let outward = |cx: &dyn Emit, p: Val, y: Val| {
            let y = cx.mm(y, p);
            cx.sub(y, cx.mm(p, y))
        };
        let matvec = |cx: &dyn Emit, c: &[Val], v: &[Val]| {
            let (b, y) = (c[0], outward(cx, c[1], v[0]));
            vec![cx.add(cx.sub(cx.mm(y, b), cx.mm(b, y)), cx.sub(v[0], y))]
        };
        let solver = |cx: &dyn Emit, _: &Apply<'_>, c: &[Val], r: &[Val]| {
            let (u, s) = (c[2], c[3]);
            let uh = cx.adjoint(u);
            let right = cx.mm(r[0], u);
            let r = cx.mm(uh, right);
            let like = cx.ty(r).with_dtype(cx.ty(s).dtype);
            let ((si, sj), kept) = (pairs(cx, s, &like), cx.first(s, k));
            let (ki, kj) = pairs(cx, kept, &like.with_dtype(DType::Bool));
            let gap = cx.mul(cx.sub(sj, si), cx.add(sj, si));
            let gap = cx.select(cx.and(cx.not(ki), kj), gap, cx.full(&like, 1.0));
            let within = cx.mm(u, cx.mm(cx.div(r, cx.convert(gap, cx.ty(r).dtype)), uh));
            let tu = cx.ty(u);
            if cx.failed() || tu.shape[tu.rank() - 2].same(&tu.shape[tu.rank() - 1]) == Some(true) {
                return vec![within];
            }
            // For a tall matrix `U` spans a subspace; on its complement the eigenvalues are 0.
            let beyond = cx.sub(right, cx.mm(u, r));
            let squares = cx.select(kept, cx.mul(s, s), cx.full_like(s, 1.0));
            let beyond = cx.mm(cx.div(beyond, cx.along_columns(squares, beyond)), uh);
            vec![cx.add(within, beyond)]
        };
        let y = self.linear_solve(&[b, p, u, s], &[outward(self, p, db)], true, matvec, solver)[0];
        let y = self.guard(y, self.has_gap(s, k), DEGENERATE);
        self.add(y, self.adjoint(y))
    }

    /// Whether the first `k` singular values are separated from the others.
    fn has_gap(&self, s: Val, k: &Dim) -> Val {
        let (ty, kept) = (self.ty(s), self.first(s, k));
        let last = [ty.rank().saturating_sub(1)];
        let most = |x: Val| self.max_or_least(x, &last);
        let smallest = self.neg(most(self.neg(self.select(
            kept,
            s,
            self.full(&ty, f64::INFINITY),
        ))));
        let largest = most(self.select(kept, self.zeros(&ty), s));
        let greatest = most(s);
        let bound = self.mul(
            self.tolerance(&self.ty(greatest), &ty.shape[last[0]]),
            greatest,
        );
        let all = self.not(self.reduce_any(self.not(kept), &last));
        self.or(
            all,
            self.compare(self.sub(smallest, largest), Comparison::Gt, bound),
        )
    }

    /// The `k` largest singular values with their vectors: `U`, `s`, `Vᴴ`.
    pub fn svd_truncated(&self, a: Val, k: &Dim) -> Vec<Val> {
        if !self.has_values("svd_truncated", a, k) {
            return vec![Val::POISON; 3];
        }
        let ty = self.ty(a);
        let rank = ty.rank();
        if ty.shape[rank - 2].least(&ty.shape[rank - 1]).same(k) == Some(true) {
            return self.svd(a).to_vec();
        }
        let d = self.svd(self.stop_gradient(a));
        if self.failed() {
            return vec![Val::POISON; 3];
        }
        self.leading_vectors(&[a, d[0], d[1], d[2]], k, |cx, x, axis| {
            cx.slice_axis(x[0], axis, 0, k.clone())
        })
    }

    /// The singular values above `rtol` times the largest (default: `max(m, n) ε`) with their
    /// vectors, of one matrix. Their number is data-dependent and has no derivative.
    pub fn svd_thresholded(&self, a: Val, rtol: Option<f64>) -> Vec<Val> {
        let d = self.svd(self.stop_gradient(a));
        if self.failed() || self.ty(a).rank() < 2 {
            return vec![Val::POISON; 3];
        }
        if self.ty(a).rank() > 2 {
            let text = format!(
                "`svd_thresholded` takes one matrix, got {}: the ranks of a batch differ. Use svd and a mask of its \
                 values, or svd_truncated, pinv or low_rank_approximation, which take batches",
                self.ty(a)
            );
            self.fail(crate::Error::new(crate::Code::RankVaries, text).at(self.loc()));
            return vec![Val::POISON; 3];
        }
        let keep = self.convert(self.counts(d[1], a, rtol), DType::I64);
        // Gathered at these positions instead of sliced, so that values with the extent depend on
        // the equation that binds it.
        let positions = self.count(self.reduce_sum(keep, &[0]), "rank");
        let Some(k) = self.ty(positions).shape.first().cloned() else {
            return vec![Val::POISON; 3];
        };
        let x = [a, d[0], d[1], d[2], positions];
        self.leading_vectors(&x, &k, |cx, x, axis| {
            cx.take(x[0], x[4], axis, Bounds::Clip)
        })
    }

    /// The first `k` singular vectors and values as functions of the matrix. `x` holds the matrix,
    /// `U`, `s`, `Vᴴ`, and operands of `first`, which reads the first `k` along an axis.
    fn leading_vectors(
        &self,
        x: &[Val],
        k: &Dim,
        first: impl Fn(&dyn Emit, &[Val], usize) -> Val,
    ) -> Vec<Val> {
        let rank = self.ty(x[0]).rank();
        let body = |cx: &dyn Emit, x: &[Val]| {
            let part = |v: Val, axis: usize| first(cx, &[&[v][..], &x[1..]].concat(), axis);
            vec![
                part(x[1], rank - 1),
                part(x[2], rank - 2),
                part(x[3], rank - 2),
            ]
        };
        let rule = |cx: &dyn Emit, x: &[Val], y: &[Val], t: &[Option<Val>]| match t[0] {
            Some(t) => cx
                .moved_vectors((x[0], x[1], x[2]), y, t, k)
                .into_iter()
                .map(Some)
                .collect(),
            None => vec![None; 3],
        };
        self.custom_jvp(x, body, rule)
    }

    /// The tangents of the first `k` singular vectors and values `y` of `a`, with `u` and `s` of
    /// its thin decomposition.
    fn moved_vectors(
        &self,
        (a, all_u, all_s): (Val, Val, Val),
        y: &[Val],
        t: Val,
        k: &Dim,
    ) -> [Val; 3] {
        let (u, s, vh) = (y[0], y[1], y[2]);
        let (uh, v, th) = (self.adjoint(u), self.adjoint(vh), self.adjoint(t));
        let over = |cx: &dyn Emit, x: Val, s: Val| cx.div(x, cx.along_columns(s, x));
        let (tv, tu) = (self.mm(t, v), self.mm(th, u));
        let core = self.mm(uh, tv);
        let (ty, last) = (self.ty(core), self.ty(core).rank() - 1);
        let real = ty.with_dtype(ty.dtype.real());
        let on = self.band(&real, Comparison::Eq, 0);
        let ds = self.reduce_sum(
            self.real(self.select(on, core, self.zeros(&ty))),
            &[last - 1],
        );
        let fine = self.and(self.has_gap(all_s, k), self.positive(s));
        let core = self.guard(core, fine, DEGENERATE);
        // Within their span.
        let turned = self.adjoint(core);
        let (h, skew) = (
            self.scale_by(0.5, self.add(core, turned)),
            self.scale_by(0.5, self.sub(core, turned)),
        );
        let (gaps, apart) = self.gaps(s);
        let h = self.guard(self.select(on, self.zeros(&ty), h), apart, DEGENERATE);
        let w = self.div(h, self.convert(gaps, ty.dtype));
        let (si, sj) = pairs(self, s, &real);
        let z = self.div(skew, self.convert(self.add(si, sj), ty.dtype));
        // Outside of their span.
        let rest = self.sub(a, self.mm(self.mul(u, self.along_columns(s, u)), vh));
        let out = |q: Val, x: Val| self.sub(x, self.mm(q, self.mm(self.adjoint(q), x)));
        let (left, right) = (out(u, tv), out(v, tu));
        let r = self.add(
            over(self, left, s),
            over(self, self.mm(rest, over(self, right, s)), s),
        );
        let matvec = |cx: &dyn Emit, c: &[Val], x: &[Val]| {
            let back = cx.mm(cx.adjoint(c[0]), over(cx, x[0], c[1]));
            vec![cx.sub(x[0], over(cx, cx.mm(c[0], back), c[1]))]
        };
        let solver = |cx: &dyn Emit, _: &Apply<'_>, c: &[Val], r: &[Val]| {
            let g = cx.mm(cx.adjoint(c[2]), r[0]);
            let like = cx.ty(g).with_dtype(cx.ty(c[3]).dtype);
            // 1 / (1 - q²) - 1 for the quotient q of a singular value of the rest and one of the
            // first `k`.
            let q = cx.div(
                cx.along_rows(c[3], &like),
                cx.along_columns(c[1], cx.zeros(&like)),
            );
            let one = cx.full(&like, 1.0);
            let weight = cx.div(cx.square(q), cx.mul(cx.sub(one, q), cx.add(one, q)));
            let kept = cx.along_rows(cx.first(c[3], k), &like.with_dtype(DType::Bool));
            let weight = cx.select(kept, cx.zeros(&like), weight);
            vec![cx.add(
                r[0],
                cx.mm(c[2], cx.mul(cx.convert(weight, cx.ty(g).dtype), g)),
            )]
        };
        let x = self.linear_solve(&[rest, s, all_u, all_s], &[r], true, matvec, solver)[0];
        let x = self.guard(x, fine, DEGENERATE);
        let y = over(self, self.add(right, self.mm(self.adjoint(rest), x)), s);
        let du = self.add(self.mm(u, self.add(w, z)), x);
        let dv = self.add(self.mm(v, self.sub(w, z)), y);
        if !ty.dtype.is_complex() {
            return [du, ds, self.adjoint(dv)];
        }
        // The phases of vectors change so that their anchors stay real.
        let (here, anchor) = self.anchors(u, ANCHOR);
        let side = self.imag(self.select(here, du, self.zeros(&self.ty(du))));
        let phi = self.div(self.reduce_sum(side, &[last - 1]), anchor);
        let i = crate::array::Scalar::C(crate::C128::new(0.0, -1.0));
        let turn = |x: Val, dx: Val| {
            let by = self.mul(self.full_like(x, i), self.along_columns(phi, x));
            self.add(dx, self.mul(by, x))
        };
        [turn(u, du), ds, self.adjoint(turn(v, dv))]
    }

    /// Broadcasts numbers of the last axis to factors of the rows of matrices of this type.
    fn along_rows(&self, x: Val, like: &Type) -> Val {
        let rank = like.rank();
        self.broadcast_in_dim(x, &like.shape, &(0..rank - 1).collect::<Vec<_>>())
    }
}
