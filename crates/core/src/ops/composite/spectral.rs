//! Functions of spectra that do not depend on the choice of vectors: right where eigenvalues or singular values coincide.
//!
//! With `A = V diag(w) Vᴴ` and `M = Vᴴ dA V`, the derivative of `f(A) = V diag(f(w)) Vᴴ` is (Daleckii and Krein 1965)
//!
//! ```text
//! df(A) = V (D ∘ M) Vᴴ        D_ij = (f(w_j) - f(w_i)) / (w_j - w_i),  f' at the middle where w_i is near w_j
//! ```
//! and that of the truncation `A_k = Σ_{i<k} s_i u_i v_iᴴ` has a factor per pair of singular values, too, which is 1
//! inside the part that is kept and 0 inside the rest: only `s_k = s_{k+1}` is refused. Second derivatives go through the
//! vectors, and are refused at degenerate spectra.

use super::{Composite, operands};
use crate::dtype::DType;
use crate::emit::Emit;
use crate::ops::guard::DEGENERATE;
use crate::ops::{Bounds, Comparison};
use crate::primitive::Val;
use crate::shape::{Dim, Type};
use crate::transform::{self, AdContext};

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

/// The derivative of an elementwise function of numbers of this type, at `w`.
fn slope(cx: &dyn Emit, f: &dyn Fn(&dyn Emit, Val) -> Val, w: Val) -> Val {
    let b = cx.nested("slope");
    let x = b.param(cx.ty(w), None);
    let y = f(&b, x);
    let derived = b.finish(&[y]).and_then(|f| transform::jvp(&AdContext::default(), &f, f.params()));
    match derived {
        Ok(f) => cx.inline(&f, &[w, cx.full_like(w, 1.0)])[1],
        Err(e) => {
            cx.fail(e);
            Val::POISON
        }
    }
}

/// Eigenvalues nearer than this part of the largest are one to a difference quotient: the error of the middle is of the
/// order of its square, that of the quotient of `ε` divided by it.
fn near(dtype: DType) -> f64 {
    dtype.epsilon().cbrt()
}

/// `x_i` and `x_j` for all pairs, as matrices of the type of `like`.
fn pairs(cx: &dyn Emit, x: Val, like: &Type) -> (Val, Val) {
    let rank = like.rank();
    let along = |axis: usize| {
        let dims: Vec<usize> = (0..rank - 2).chain([axis]).collect();
        cx.broadcast_in_dim(x, &like.shape, &dims)
    };
    (along(rank - 2), along(rank - 1))
}

impl dyn Emit + '_ {
    /// `f` of the Hermitian part of square matrices: `V diag(f(w)) Vᴴ`. `f` acts on each eigenvalue alone.
    pub fn spectral_function(&self, a: Val, f: impl Fn(&dyn Emit, Val) -> Val) -> Val {
        if !self.is_square("spectral_function", a) {
            return Val::POISON;
        }
        let e = self.eigh(a);
        let body = |cx: &dyn Emit, x: &[Val]| {
            let (w, v) = (x[1], x[2]);
            vec![cx.mm(cx.mul(v, cx.along_columns(f(cx, w), v)), cx.adjoint(v))]
        };
        let rule = |cx: &dyn Emit, x: &[Val], _: &[Val], t: &[Option<Val>]| {
            vec![t[0].map(|t| {
                let (w, v) = (x[1], x[2]);
                let quotients = cx.quotients(w, &cx.ty(v), &f);
                let h = cx.scale_by(0.5, cx.add(t, cx.adjoint(t)));
                let m = cx.mm(cx.adjoint(v), cx.mm(cx.as_square(h), v));
                let m = cx.mul(cx.convert(quotients, cx.ty(v).dtype), m);
                cx.mm(v, cx.mm(m, cx.adjoint(v)))
            })]
        };
        // What the vectors are differentiated for is in the rule: their own tangents are not used.
        self.custom_jvp(&[self.as_square(a), e[0], e[1]], body, rule)[0]
    }

    /// Difference quotients of `f` between all pairs of `w`.
    fn quotients(&self, w: Val, like: &Type, f: &dyn Fn(&dyn Emit, Val) -> Val) -> Val {
        let real = like.with_dtype(self.ty(w).dtype);
        let (wi, wj) = pairs(self, w, &real);
        let (fi, fj) = pairs(self, f(self, w), &real);
        let gap = self.sub(wj, wi);
        let most = self.max_or_least(self.abs(self.stop_gradient(w)), &[self.ty(w).rank() - 1]);
        let bound = self.spread(self.scale_by(near(real.dtype), most), &real, &[real.rank() - 2, real.rank() - 1]);
        let far = self.compare(self.abs(self.stop_gradient(gap)), Comparison::Gt, bound);
        let quotient = self.div(self.sub(fj, fi), self.select(far, gap, self.full(&real, 1.0)));
        let middle = self.scale_by(0.5, self.add(wi, wj));
        self.select(far, quotient, slope(self, f, middle))
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
