//! Functions of spectra that do not depend on the choice of vectors: right where eigenvalues or singular values coincide.
//!
//! A function of eigenvalues is the operation `spectral`. The truncation is `A_k = P A`, with the projector `P` on the first
//! left singular vectors. With `B = A Aᴴ`, which commutes with `P`, the projector moves by
//!
//! ```text
//! dP = Y + Yᴴ,    Y = (1 - P) Y P,    Y B - B Y = (1 - P) dB P
//! ```
//! The system for `Y` is a `linear_solve`, solved in the basis of singular vectors by the quotients of `s_j² - s_i²`, `j` kept
//! and `i` not: only `s_k = s_{k+1}` is refused. Its derivative is that of an equation in which no vectors occur, so every
//! order is right where singular values coincide on either side of the gap.

use super::{Composite, operands};
use crate::dtype::DType;
use crate::emit::Emit;
use crate::ops::guard::DEGENERATE;
use crate::ops::linalg::pairs;
use crate::ops::moving::exceeds;
use crate::ops::{Apply, Bounds, Comparison, Spectral};
use crate::primitive::Val;
use crate::shape::{Dim, Type};

pub(super) static TABLE: &[Composite] = &[
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
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.spectral_function(x, |cx, w| cx.exp(w))]),
    },
    Composite {
        name: "low_rank_approximation",
        doc: "The nearest matrix of rank `k`: the part of the `k` largest singular values.",
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
        doc: "The singular values above `rtol` times the largest with their vectors; how many is decided when it runs.",
        build: |cx, s, x| {
            let rtol = s.attrs.opt::<f64>("rtol")?;
            operands(s, x).map(|[x]| cx.svd_thresholded(x, rtol))
        },
    },
];

impl dyn Emit + '_ {
    /// `f` of the Hermitian part of square matrices: `V diag(f(w)) Vᴴ`. `f` is a function of one eigenvalue.
    pub fn spectral_function(&self, a: Val, f: impl FnOnce(&dyn Emit, Val) -> Val) -> Val {
        if !self.is_square("spectral_function", a) {
            return Val::POISON;
        }
        let number = Type::scalar(self.ty(a).dtype.real());
        match self.body("f", &[number], |cx, x| vec![f(cx, x[0])]).func {
            Some(f) => self.op(Spectral { f, order: 0, decomposed: false }, &[self.as_square(a)]),
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
        let d = self.svd(self.stop_gradient(a));
        if self.failed() {
            return Val::POISON;
        }
        let body = |cx: &dyn Emit, x: &[Val]| {
            let (u, s) = (x[1], x[2]);
            vec![cx.mm(cx.mul(u, cx.along_columns(cx.first(s, k), u)), cx.adjoint(u))]
        };
        let rule = |cx: &dyn Emit, x: &[Val], y: &[Val], t: &[Option<Val>]| {
            vec![t[0].map(|t| cx.moved_projector((x[0], x[1], x[2]), y[0], t, k))]
        };
        let projector = self.custom_jvp(&[a, d[0], d[1]], body, rule)[0];
        self.mm(projector, a)
    }

    /// Which of the numbers along the last axis are the first `k`.
    fn first(&self, s: Val, k: &Dim) -> Val {
        let ty = self.ty(s);
        let index = ty.with_dtype(DType::I64);
        self.compare(self.iota(&index, ty.rank().saturating_sub(1)), Comparison::Lt, self.extent(&index, k))
    }

    /// The tangent of the projector `p` on the first `k` left singular vectors, for the tangent `t` of `a`.
    fn moved_projector(&self, (a, u, s): (Val, Val, Val), p: Val, t: Val, k: &Dim) -> Val {
        let (ah, along) = (self.adjoint(a), self.mm(t, self.adjoint(a)));
        let (b, db) = (self.mm(a, ah), self.add(along, self.adjoint(along)));
        // What leads out of the projector's range: (1 - P) Y P.
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
            let r = cx.mm(uh, cx.mm(r[0], u));
            let like = cx.ty(r).with_dtype(cx.ty(s).dtype);
            let ((si, sj), kept) = (pairs(cx, s, &like), cx.first(s, k));
            let (ki, kj) = pairs(cx, kept, &like.with_dtype(DType::Bool));
            let gap = cx.mul(cx.sub(sj, si), cx.add(sj, si));
            let gap = cx.select(cx.and(cx.not(ki), kj), gap, cx.full(&like, 1.0));
            vec![cx.mm(u, cx.mm(cx.div(r, cx.convert(gap, cx.ty(r).dtype)), uh))]
        };
        let y = self.linear_solve(&[b, p, u, s], &[outward(self, p, db)], true, matvec, solver)[0];
        let y = self.guard(y, self.has_gap(s, k), DEGENERATE);
        self.add(y, self.adjoint(y))
    }

    /// Whether the first `k` singular values are apart from the others.
    fn has_gap(&self, s: Val, k: &Dim) -> Val {
        let (ty, kept) = (self.ty(s), self.first(s, k));
        let last = [ty.rank().saturating_sub(1)];
        let most = |x: Val| self.max_or_least(x, &last);
        let smallest = self.neg(most(self.neg(self.select(kept, s, self.full(&ty, f64::INFINITY)))));
        let largest = most(self.select(kept, self.zeros(&ty), s));
        let greatest = most(s);
        let bound = self.mul(self.tolerance(&self.ty(greatest), &ty.shape[last[0]]), greatest);
        let all = self.not(self.reduce_any(self.not(kept), &last));
        self.or(all, self.compare(self.sub(smallest, largest), Comparison::Gt, bound))
    }

    /// The `k` largest singular values with their vectors: `U`, `s`, `Vᴴ`.
    pub fn svd_truncated(&self, a: Val, k: &Dim) -> Vec<Val> {
        if !self.has_values("svd_truncated", a, k) {
            return vec![Val::POISON; 3];
        }
        let d = self.svd(a);
        let rank = self.ty(a).rank();
        if self.failed() {
            return vec![Val::POISON; 3];
        }
        let first = |x: Val, axis: usize| self.slice_axis(x, axis, 0, k.clone());
        vec![first(d[0], rank - 1), first(d[1], rank - 2), first(d[2], rank - 2)]
    }

    /// The singular values above `rtol` times the largest (default: `max(m, n) ε`) with their vectors, of one matrix.
    /// Their number is decided when it runs, and has no derivative.
    pub fn svd_thresholded(&self, a: Val, rtol: Option<f64>) -> Vec<Val> {
        let d = self.svd(a);
        if self.failed() || self.ty(a).rank() < 2 {
            return vec![Val::POISON; 3];
        }
        if self.ty(a).rank() > 2 {
            let text = format!("`svd_thresholded` takes one matrix, got {}: the ranks of a batch differ", self.ty(a));
            self.fail(crate::Error::new(crate::Code::RankVaries, text).at(self.loc()));
            return vec![Val::POISON; 3];
        }
        let keep = self.convert(self.counts(d[1], a, rtol), DType::I64);
        // Taken at these positions, not sliced: what has the extent then depends on what decides it.
        let positions = self.count(self.reduce_sum(keep, &[0]), "rank");
        let first = |x: Val, axis: usize| self.take(x, positions, axis, Bounds::Clip);
        vec![first(d[0], 1), first(d[1], 0), first(d[2], 0)]
    }
}
