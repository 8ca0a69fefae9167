//! Functions of matrices written with factorizations: inverses, least squares, norms, powers,
//! exponentials.

use super::entry::{Composite, operands, option};
use crate::bail;
use crate::dtype::DType;
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::moving::exceeds;
use crate::ops::{Comparison, TriangularSolve, Turn};
use crate::shape::Dim;

/// A norm of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixNorm {
    /// The square root of the sum of squared magnitudes.
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
    /// The greatest singular value.
    Spectral,
    /// The least singular value.
    LeastSingular,
    /// The greatest sum of magnitudes of a column.
    One,
    /// The least sum of magnitudes of a column.
    LeastColumn,
    /// The greatest sum of magnitudes of a row.
    Infinity,
    /// The least sum of magnitudes of a row.
    LeastRow,
}

impl MatrixNorm {
    /// Parses a name of NumPy's `ord`: `fro`, `nuc`, `2`, `-2`, `1`, `-1`, `inf`, `-inf`.
    pub fn parse(ord: &str) -> Option<MatrixNorm> {
        Some(match ord {
            "fro" => MatrixNorm::Frobenius,
            "nuc" => MatrixNorm::Nuclear,
            "2" => MatrixNorm::Spectral,
            "-2" => MatrixNorm::LeastSingular,
            "1" => MatrixNorm::One,
            "-1" => MatrixNorm::LeastColumn,
            "inf" => MatrixNorm::Infinity,
            "-inf" => MatrixNorm::LeastRow,
            _ => return None,
        })
    }
}

pub(super) static MATRICES: &[Composite] = &[
    Composite {
        name: "inv",
        doc: "The inverse of square matrices; NaN for singular ones.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.inv(x)]),
    },
    Composite {
        name: "cholesky_ex",
        doc: "The lower Cholesky factor, and whether the matrix is positive definite; if not, the factor is NaN.",
        build: |cx, s, x| operands(s, x).map(|[x]| cx.cholesky_ex(x).to_vec()),
    },
    Composite {
        name: "pinv",
        doc: "The Moore-Penrose inverse; singular values below `rtol` times the largest count as zero.",
        build: |cx, s, x| {
            let rtol = s.attrs.opt::<f64>("rtol")?;
            operands(s, x).map(|[x]| vec![cx.pinv(x, rtol)])
        },
    },
    Composite {
        name: "lstsq",
        doc: "The x of least norm that minimises |A x - b|.",
        build: |cx, s, x| {
            let rtol = s.attrs.opt::<f64>("rtol")?;
            operands(s, x).map(|[a, b]| vec![cx.lstsq(a, b, rtol)])
        },
    },
    Composite {
        name: "matrix_norm",
        doc: "The norm `ord` of matrices: fro, nuc, 2, -2, 1, -1, inf or -inf.",
        build: |cx, s, x| {
            let ord = option(s, "ord", "fro".to_owned())?;
            let Some(kind) = MatrixNorm::parse(&ord) else {
                bail!(
                    Attribute,
                    "`matrix_norm` has no `ord` = {ord}; there are fro, nuc, 2, -2, 1, -1, inf, -inf"
                )
            };
            operands(s, x).map(|[x]| vec![cx.matrix_norm(x, kind)])
        },
    },
    Composite {
        name: "matrix_exp",
        doc: "The exponential of square matrices.",
        build: |cx, s, x| operands(s, x).map(|[x]| vec![cx.matrix_exp(x)]),
    },
    Composite {
        name: "matrix_power",
        doc: "Square matrices to the integer power `n`; for negative n, the power of the inverse.",
        build: |cx, s, x| {
            let n = s.attrs.get::<i64>("n")?;
            operands(s, x).map(|[x]| vec![cx.matrix_power(x, n)])
        },
    },
    Composite {
        name: "kron",
        doc: "The Kronecker product of matrices: blocks x[i, j] y.",
        build: |cx, s, x| operands(s, x).map(|[x, y]| vec![cx.kron(x, y)]),
    },
    Composite {
        name: "tril",
        doc: "The elements on and below diagonal `k`, zero elsewhere.",
        build: |cx, s, x| {
            let k = option(s, "k", 0)?;
            operands(s, x).map(|[x]| vec![cx.tril(x, k)])
        },
    },
    Composite {
        name: "triu",
        doc: "The elements on and above diagonal `k`, zero elsewhere.",
        build: |cx, s, x| {
            let k = option(s, "k", 0)?;
            operands(s, x).map(|[x]| vec![cx.triu(x, k)])
        },
    },
];

/// Coefficients of the Padé approximants of the exponential, and the norm up to which their error
/// is below rounding (Higham, The scaling and squaring method for the matrix exponential revisited,
/// 2005).
const PADE_7: (&[f64], f64) = (
    &[
        17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0,
    ],
    3.92572478313866,
);
const PADE_13: (&[f64], f64) = (
    &[
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ],
    5.371920351148152,
);

impl dyn Emit + '_ {
    /// Whether `x` is a matrix. Reports an error otherwise.
    fn is_matrix(&self, what: &str, x: Val) -> bool {
        let ty = self.ty(x);
        let fine = !self.failed() && ty.rank() >= 2;
        if !fine {
            let text = format!("`{what}` takes matrices in the last two axes, got {ty}");
            self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
        }
        fine
    }

    /// Whether the matrix may have `k` singular values. Reports an error otherwise.
    pub(super) fn has_values(&self, what: &str, x: Val, k: &Dim) -> bool {
        if !self.is_matrix(what, x) {
            return false;
        }
        let ty = self.ty(x);
        let fine = !ty.shape[ty.rank() - 2..].iter().any(|d| exceeds(k, d));
        if !fine {
            let text = format!(
                "`{what}`: a matrix of {ty} does not have {k} singular value{}",
                if k.is(1) { "" } else { "s" }
            );
            self.fail(Error::new(Code::Attribute, text).at(self.loc()));
        }
        fine
    }

    /// Whether the matrix is square. Reports an error otherwise.
    pub(super) fn is_square(&self, what: &str, x: Val) -> bool {
        if !self.is_matrix(what, x) {
            return false;
        }
        let ty = self.ty(x);
        let rank = ty.rank();
        let fine = ty.shape[rank - 2].same(&ty.shape[rank - 1]) != Some(false);
        if !fine {
            let text = format!("`{what}` takes square matrices, got {ty}");
            self.fail(Error::new(Code::ShapeMismatch, text).at(self.loc()));
        }
        fine
    }

    /// The Moore-Penrose inverse. Singular values up to `rtol` times the largest count as zero
    /// (default: `max(m, n) ε`). The derivative assumes constant rank.
    pub fn pinv(&self, a: Val, rtol: Option<f64>) -> Val {
        if !self.is_matrix("pinv", a) {
            return Val::POISON;
        }
        let body = |cx: &dyn Emit, x: &[Val]| {
            let f = cx.svd(x[0]);
            let (u, s, vh) = (f[0], f[1], f[2]);
            let keep = cx.counts(s, x[0], rtol);
            let one = cx.full_like(s, 1.0);
            let inverse = cx.select(
                keep,
                cx.div(one, cx.select(keep, s, one)),
                cx.zeros(&cx.ty(s)),
            );
            let v = cx.adjoint(vh);
            vec![cx.mm(cx.mul(v, cx.along_columns(inverse, v)), cx.adjoint(u))]
        };
        // d A⁺ = - A⁺ dA A⁺ + A⁺ A⁺ᴴ dAᴴ (I - A A⁺) + (I - A⁺ A) dAᴴ A⁺ᴴ A⁺ (Golub and Pereyra
        // 1973)
        let rule = |cx: &dyn Emit, x: &[Val], y: &[Val], t: &[Option<Val>]| {
            vec![t[0].map(|t| {
                let (a, p) = (x[0], y[0]);
                let (th, ph) = (cx.adjoint(t), cx.adjoint(p));
                let first = cx.neg(cx.mm(cx.mm(p, t), p));
                let left = cx.mm(cx.mm(p, ph), th);
                let second = cx.sub(left, cx.mm(cx.mm(left, a), p));
                let right = cx.mm(th, cx.mm(ph, p));
                let third = cx.sub(right, cx.mm(p, cx.mm(a, right)));
                cx.add(first, cx.add(second, third))
            })]
        };
        // The matrix is scaled to a norm near 1, so that products of two inverses are in range.
        let scale = self.power_of_two(a);
        let inverse = self.custom_jvp(&[self.div(a, scale)], body, rule)[0];
        self.div(inverse, self.power_of_two_like(scale, inverse))
    }

    /// A power of two near the largest element of each matrix (1 if there is none), broadcast to
    /// its elements. It is a constant in derivatives.
    pub(super) fn power_of_two(&self, a: Val) -> Val {
        let ty = self.ty(a);
        if self.failed() || ty.rank() < 2 {
            return Val::POISON;
        }
        let axes = [ty.rank() - 2, ty.rank() - 1];
        let most = self.max_or_least(self.abs(self.stop_gradient(a)), &axes);
        let scale = self.exp2(self.floor(self.log2(most)));
        let (zero, one) = (self.full_like(scale, 0.0), self.full_like(scale, 1.0));
        let usable = self.and(
            self.is_finite(scale),
            self.compare(scale, Comparison::Gt, zero),
        );
        let scale = self.stop_gradient(self.select(usable, scale, one));
        self.convert(
            self.spread(scale, &ty.with_dtype(ty.dtype.real()), &axes),
            ty.dtype,
        )
    }

    /// The scale that `power_of_two` returned, broadcast to matrices of the
    /// extents of `like`.
    fn power_of_two_like(&self, scale: Val, like: Val) -> Val {
        let (ty, of) = (self.ty(scale), self.ty(like));
        if self.failed() || ty.rank() < 2 {
            return Val::POISON;
        }
        let axes = [ty.rank() - 2, ty.rank() - 1];
        let each = self.max_or_least(self.real(scale), &axes);
        self.convert(
            self.spread(each, &of.with_dtype(of.dtype.real()), &axes),
            of.dtype,
        )
    }

    /// Mask of the singular values of `a` that are not negligible relative to the largest.
    pub(super) fn counts(&self, s: Val, a: Val, rtol: Option<f64>) -> Val {
        let (ty, ta) = (self.ty(s), self.ty(a));
        let last = [ty.rank().saturating_sub(1)];
        let most = self.max_or_least(self.stop_gradient(s), &last);
        let of = self.ty(most);
        let rtol = match rtol {
            Some(r) => self.full(&of, r),
            None => {
                let [.., m, n] = &ta.shape[..] else { return s };
                self.maximum(self.tolerance(&of, m), self.tolerance(&of, n))
            }
        };
        self.compare(
            self.stop_gradient(s),
            Comparison::Gt,
            self.spread(self.mul(rtol, most), &ty, &last),
        )
    }

    /// Broadcasts numbers of the last axis to factors of the columns of `like`.
    pub(super) fn along_columns(&self, s: Val, like: Val) -> Val {
        let ty = self.ty(like);
        let dims: Vec<usize> = (0..ty.rank()).filter(|&k| k + 2 != ty.rank()).collect();
        self.broadcast_in_dim(self.convert(s, ty.dtype), &ty.shape, &dims)
    }

    /// The `x` of least norm that minimises `|A x - b|`. A vector `b` is a column; leading axes are
    /// batch axes. Matrices that are certainly not wide use QR. Matrices without full rank, and all
    /// matrices if `rtol` is given, use the Moore-Penrose inverse.
    pub fn lstsq(&self, a: Val, b: Val, rtol: Option<f64>) -> Val {
        if !self.is_matrix("lstsq", a) {
            return Val::POISON;
        }
        let (ta, tb) = (self.ty(a), self.ty(b));
        if tb.rank() == 1 {
            let column: Vec<Dim> = [&tb.shape[..], &[Dim::Const(1)]].concat();
            let x = self.lstsq(a, self.reshape(b, &column), rtol);
            let shape: Vec<Dim> = self
                .ty(x)
                .shape
                .iter()
                .take(ta.rank() - 1)
                .cloned()
                .collect();
            return self.reshape(x, &shape);
        }
        let [.., m, n] = &ta.shape[..] else {
            return Val::POISON;
        };
        if rtol.is_some() || !n.never_exceeds(m) {
            return self.matmul(self.pinv(a, rtol), b);
        }
        let (a, b) = self.same_leads(a, b);
        let f = self.qr(self.stop_gradient(a));
        if self.failed() {
            return Val::POISON;
        }
        let fine = self.full_rank(f[1]);
        let all: Vec<usize> = (0..self.ty(fine).rank()).collect();
        let full = |cx: &dyn Emit, x: &[Val]| vec![cx.tall_lstsq(x[0], x[1], (x[2], x[3]))];
        let lacking = |cx: &dyn Emit, x: &[Val]| vec![cx.mm(cx.pinv(x[0], None), x[1])];
        self.cond(
            self.reduce_all(fine, &all),
            &[a, b, f[0], f[1]],
            full,
            lacking,
        )[0]
    }

    /// Least squares for matrices of full rank with factors `Q`, `R`: `x = R⁻¹ Qᴴ b`.
    fn tall_lstsq(&self, a: Val, b: Val, (q, r): (Val, Val)) -> Val {
        let upper = TriangularSolve {
            left: true,
            lower: false,
            ..TriangularSolve::default()
        };
        let body = |cx: &dyn Emit, x: &[Val]| {
            vec![cx.triangular_solve(x[3], cx.mm(cx.adjoint(x[2]), x[1]), upper)]
        };
        // dx = A⁺ (db - dA x) + (Aᴴ A)⁻¹ dAᴴ (b - A x), where the derivatives of the factors are
        // used for higher orders.
        let rule = |cx: &dyn Emit, x: &[Val], y: &[Val], t: &[Option<Val>]| {
            let f = cx.qr(x[0]);
            let back = TriangularSolve {
                turn: Turn::adjoint(cx.ty(x[0]).dtype),
                ..upper
            };
            let moved = match (t[1], t[0].map(|t| cx.mm(t, y[0]))) {
                (Some(b), Some(a)) => cx.sub(b, a),
                (Some(b), None) => b,
                (None, Some(a)) => cx.neg(a),
                (None, None) => return vec![None],
            };
            let mut inner = cx.mm(cx.adjoint(f[0]), moved);
            if let Some(t) = t[0] {
                let rest = cx.sub(x[1], cx.mm(x[0], y[0]));
                inner = cx.add(
                    inner,
                    cx.triangular_solve(f[1], cx.mm(cx.adjoint(t), rest), back),
                );
            }
            vec![Some(cx.triangular_solve(f[1], inner, upper))]
        };
        self.custom_jvp(&[a, b, q, r], body, rule)[0]
    }

    /// `(Σ |x|^p)^(1/p)` over `axes`, which are removed. For `p = ∞` the greatest magnitude, for
    /// `p = -∞` the least, for `p = 0` the number of nonzero elements.
    pub fn vector_norm(&self, x: Val, axes: &[usize], p: f64) -> Val {
        let size = self.abs(x);
        match p {
            2.0 => self.norm(x, axes),
            1.0 => self.reduce_sum(size, axes),
            f64::INFINITY => self.reduce_max(size, axes),
            f64::NEG_INFINITY => self.reduce_min(size, axes),
            0.0 => {
                let some = self.compare(size, Comparison::Ne, self.zeros(&self.ty(size)));
                self.reduce_sum(self.convert(some, self.ty(size).dtype), axes)
            }
            _ => {
                let ty = self.ty(size);
                let most = self.stop_gradient(self.max_or_least(size, axes));
                let (zero, one) = (self.full_like(most, 0.0), self.full_like(most, 1.0));
                let usable = self.and(
                    self.is_finite(most),
                    self.compare(most, Comparison::Gt, zero),
                );
                let scale = self.select(usable, most, one);
                let sum = self.reduce_sum(
                    self.pow_by(self.div(size, self.spread(scale, &ty, axes)), p),
                    axes,
                );
                let at_zero = self.compare(sum, Comparison::Eq, zero);
                let root = self.pow_by(self.select(at_zero, one, sum), 1.0 / p);
                self.mul(scale, self.select(at_zero, zero, root))
            }
        }
    }

    /// A norm of the matrices in the last two axes, which are removed.
    pub fn matrix_norm(&self, x: Val, kind: MatrixNorm) -> Val {
        if !self.is_matrix("matrix_norm", x) {
            return Val::POISON;
        }
        let rank = self.ty(x).rank();
        let (rows, columns) = (rank - 2, rank - 1);
        let extreme = matches!(kind, MatrixNorm::Spectral | MatrixNorm::LeastSingular);
        if extreme && !self.has_values("matrix_norm", x, &Dim::Const(1)) {
            return Val::POISON;
        }
        let sums = |axis: usize| self.reduce_sum(self.abs(x), &[axis]);
        match kind {
            MatrixNorm::Frobenius => self.norm(x, &[rows, columns]),
            MatrixNorm::Nuclear => self.reduce_sum(self.svdvals(x), &[rows]),
            MatrixNorm::Spectral => self.index_axis(self.svdvals(x), rows, 0),
            MatrixNorm::LeastSingular => {
                let s = self.svdvals(x);
                let n = self.ty(s).shape.get(rows).cloned().unwrap_or(Dim::Const(1));
                self.index_axis(s, rows, n - Dim::Const(1))
            }
            MatrixNorm::One => self.reduce_max(sums(rows), &[rows]),
            MatrixNorm::LeastColumn => self.reduce_min(sums(rows), &[rows]),
            MatrixNorm::Infinity => self.reduce_max(sums(columns), &[rows]),
            MatrixNorm::LeastRow => self.reduce_min(sums(columns), &[rows]),
        }
    }

    /// The exponential of square matrices, by scaling and squaring with a Padé approximant.
    pub fn matrix_exp(&self, a: Val) -> Val {
        if !self.is_square("matrix_exp", a) {
            return Val::POISON;
        }
        let ty = self.ty(a);
        let rank = ty.rank();
        let (coefficients, reach) = if matches!(ty.dtype, DType::F32 | DType::C64) {
            PADE_7
        } else {
            PADE_13
        };
        let sums = self.reduce_sum(self.abs(self.stop_gradient(a)), &[rank - 2]);
        let size = self.max_or_least(sums, &[rank - 2]);
        let least = self.full_like(size, f64::MIN_POSITIVE);
        let squarings =
            self.ceil(self.log2(self.maximum(self.div(size, self.full_like(size, reach)), least)));
        let squarings = self.clip(
            squarings,
            self.full_like(size, 0.0),
            self.full_like(size, 1000.0),
        );
        let squarings = self.select(self.is_finite(size), squarings, self.full_like(size, 0.0));
        let real = ty.with_dtype(ty.dtype.real());
        let axes = [rank - 2, rank - 1];
        let scale = self.spread(self.exp2(self.neg(squarings)), &real, &axes);
        let a = self.mul(a, self.convert(scale, ty.dtype));
        let (even, odd) = self.pade(self.as_square(a), coefficients);
        let r = self.solve(self.sub(even, odd), self.add(even, odd));
        if self.failed() {
            return Val::POISON;
        }
        let count = self.convert(squarings, DType::I64);
        let all: Vec<usize> = (0..self.ty(count).rank()).collect();
        let most = self.max_or_least(count, &all);
        self.fori(0, most, &[count], &[r], |cx, w, i, c| {
            let of = cx.ty(c[0]);
            let go = cx.compare(cx.broadcast_to(i, &cx.ty(w[0]).shape), Comparison::Lt, w[0]);
            let leading: Vec<usize> = (0..of.rank() - 2).collect();
            vec![cx.select(
                cx.broadcast_in_dim(go, &of.shape, &leading),
                cx.mm(c[0], c[0]),
                c[0],
            )]
        })[0]
    }

    /// Even and odd part of the Padé numerator, in powers of the square.
    fn pade(&self, a: Val, c: &[f64]) -> (Val, Val) {
        let eye = self.eye_like(a);
        let square = self.mm(a, a);
        let (mut even, mut odd) = (self.scale_by(c[0], eye), self.scale_by(c[1], eye));
        let mut power = eye;
        for k in (2..c.len()).step_by(2) {
            power = if k == 2 {
                square
            } else {
                self.mm(power, square)
            };
            even = self.add(even, self.scale_by(c[k], power));
            if k + 1 < c.len() {
                odd = self.add(odd, self.scale_by(c[k + 1], power));
            }
        }
        (even, self.mm(a, odd))
    }

    /// Square matrices to an integer power. For a negative power, the power of the inverse.
    pub fn matrix_power(&self, a: Val, n: i64) -> Val {
        if !self.is_square("matrix_power", a) {
            return Val::POISON;
        }
        let a = self.as_square(a);
        let (mut base, mut left) = (if n < 0 { self.inv(a) } else { a }, n.unsigned_abs());
        let mut y = None;
        while left > 0 {
            if left & 1 == 1 {
                y = Some(y.map_or(base, |y| self.mm(y, base)));
            }
            left >>= 1;
            if left > 0 {
                base = self.mm(base, base);
            }
        }
        y.unwrap_or_else(|| self.eye_like(a))
    }

    /// The Kronecker product: `y[i m + k, j n + l] = a[i, j] b[k, l]` for m×n matrices `b`.
    pub fn kron(&self, a: Val, b: Val) -> Val {
        if !self.is_matrix("kron", a) || !self.is_matrix("kron", b) {
            return Val::POISON;
        }
        let (a, b) = self.same_leads(a, b);
        if self.failed() {
            return Val::POISON;
        }
        let (ta, tb) = (self.ty(a), self.ty(b));
        let r = ta.rank();
        let (lead, one) = (&ta.shape[..r - 2], Dim::Const(1));
        let shape = |last: &[&Dim]| {
            lead.iter()
                .chain(last.iter().copied())
                .cloned()
                .collect::<Vec<Dim>>()
        };
        let (p, q, m, n) = (
            &ta.shape[r - 2],
            &ta.shape[r - 1],
            &tb.shape[r - 2],
            &tb.shape[r - 1],
        );
        let all = shape(&[p, m, q, n]);
        let left = self.broadcast_to(self.reshape(a, &shape(&[p, &one, q, &one])), &all);
        let right = self.broadcast_to(self.reshape(b, &shape(&[&one, m, &one, n])), &all);
        let (rows, columns) = (p.clone() * m.clone(), q.clone() * n.clone());
        self.reshape(self.mul(left, right), &shape(&[&rows, &columns]))
    }
}
