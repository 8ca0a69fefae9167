//! Functions of spectra that do not depend on the choice of vectors: right where eigenvalues or singular values coincide.
//!
//! A function of eigenvalues is the operation `spectral`. The derivative of the truncation `A_k = Σ_{i<k} s_i u_i v_iᴴ` has
//! a factor per pair of singular values, which is 1 inside the part that is kept and 0 inside the rest: only
//! `s_k = s_{k+1}` is refused. Its second derivatives go through the vectors, and are refused where any two singular
//! values coincide.

use super::{Composite, operands};
use crate::dtype::DType;
use crate::emit::Emit;
use crate::ops::guard::DEGENERATE;
use crate::ops::linalg::pairs;
use crate::ops::{Bounds, Comparison, Spectral};
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
        let d = self.svd(a);
        let rank = self.ty(a).rank();
        if self.failed() || rank < 2 {
            return Val::POISON;
        }
        let kept = |cx: &dyn Emit, s: Val| {
            let ty = cx.ty(s);
            let index = ty.with_dtype(DType::I64);
            cx.compare(cx.iota(&index, ty.rank() - 1), Comparison::Lt, cx.extent(&index, k))
        };
        let body = |cx: &dyn Emit, x: &[Val]| {
            let (u, s, vh) = (x[1], x[2], x[3]);
            let s = cx.select(kept(cx, s), s, cx.zeros(&cx.ty(s)));
            vec![cx.mm(cx.mul(u, cx.along_columns(s, u)), vh)]
        };
        let rule = |cx: &dyn Emit, x: &[Val], _: &[Val], t: &[Option<Val>]| {
            vec![t[0].map(|t| cx.truncated(x[0], (x[1], x[2], x[3]), t, kept(cx, x[2])))]
        };
        self.custom_jvp(&[a, d[0], d[1], d[2]], body, rule)[0]
    }

    /// The tangent of a truncation that keeps the marked singular values.
    fn truncated(&self, a: Val, (u, s, vh): (Val, Val, Val), t: Val, kept: Val) -> Val {
        let (uh, v) = (self.adjoint(u), self.adjoint(vh));
        let tv = self.mm(t, v);
        let x = self.mm(uh, tv);
        let ty = self.ty(x);
        let real = ty.with_dtype(self.ty(s).dtype);
        let (si, sj) = pairs(self, s, &real);
        let (ki, kj) = pairs(self, kept, &real.with_dtype(DType::Bool));
        let (both, mixed) = (self.and(ki, kj), self.xor(ki, kj));
        let (one, zero) = (self.full(&real, 1.0), self.zeros(&real));
        let inside = self.select(both, one, zero);
        let over = self.select(ki, si, sj);
        let under = self.select(ki, sj, si);
        let factor = |below: Val| self.select(mixed, self.div(over, self.select(mixed, below, one)), inside);
        let (symmetric, skew) = (factor(self.sub(over, under)), factor(self.add(over, under)));
        // The border of what is kept: there must be a gap.
        let last = [real.rank() - 1];
        let least = |mask: Val, x: Val| self.select(mask, x, self.full(&self.ty(x), f64::INFINITY));
        let smallest = self.neg(self.max_or_least(self.neg(least(kept, s)), &[last[0] - 1]));
        let largest = self.max_or_least(self.select(kept, self.zeros(&self.ty(s)), s), &[last[0] - 1]);
        let most = self.max_or_least(s, &[last[0] - 1]);
        let n = self.ty(s).shape[last[0] - 1].clone();
        let bound = self.mul(self.tolerance(&self.ty(most), &n), most);
        let none = self.not(self.reduce_any(self.not(kept), &[last[0] - 1]));
        let gap =
            self.compare(self.stop_gradient(self.sub(smallest, largest)), Comparison::Gt, self.stop_gradient(bound));
        let fine = self.or(none, gap);
        let xh = self.adjoint(x);
        let (h, k) = (self.scale_by(0.5, self.add(x, xh)), self.scale_by(0.5, self.sub(x, xh)));
        let cast = |c: Val| self.convert(c, ty.dtype);
        let core = self.add(self.mul(cast(symmetric), h), self.mul(cast(skew), k));
        let core = self.guard(core, fine, DEGENERATE);
        let mut y = self.mm(self.mm(u, core), vh);
        let (m, n) = (self.ty(a).shape[last[0] - 1].clone(), self.ty(a).shape[last[0]].clone());
        let keep = self.convert(kept, real.dtype);
        if m.same(&n) != Some(true) {
            // What dA does outside the spaces of U and V: one of the two terms is zero.
            let rows = self.sub(tv, self.mm(u, x));
            y = self.add(y, self.mm(self.mul(rows, self.along_columns(keep, rows)), vh));
            let columns = self.sub(self.mm(self.adjoint(t), u), self.mm(v, xh));
            let columns = self.mul(columns, self.along_columns(keep, columns));
            y = self.add(y, self.mm(u, self.adjoint(columns)));
        }
        y
    }

    /// The `k` largest singular values with their vectors: `U`, `s`, `Vᴴ`.
    pub fn svd_truncated(&self, a: Val, k: &Dim) -> Vec<Val> {
        let d = self.svd(a);
        let rank = self.ty(a).rank();
        if self.failed() || rank < 2 {
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
