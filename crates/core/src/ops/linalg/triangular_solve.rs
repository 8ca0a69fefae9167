//! `triangular_solve`: `X` with `op(A) X = B`, or `X op(A) = B`, for triangular `A`.
//!
//! ```text
//! dX = op(A)⁻¹ (dB - op(dA) X)        ct_B = op(A)⁻ᴴ ct        op: A, Aᵀ or Aᴴ
//! ```
//! Only the given triangle is read, without the diagonal if it is a unit diagonal. Gradients are
//! zero elsewhere. A zero on the diagonal gives a division by zero. Linear in `B`. O(n²) per
//! right-hand side.

use super::super::support::{bytes, sample_array};
use super::matrix::{Matrix, ONE, ZERO, complex, div, matrices, mul, pack_matrices, real};
use super::support::{batch_leading, exchange, matrix, product, size, square};
use super::vector::of_vector;
use crate::array::Array;
use crate::bail;
use crate::dtype::{C128, DType};
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::entry::{Entry, Spelled, arity};
use crate::ops::{Comparison, Unary};
use crate::shape::{Dim, Env, Type};

/// The operation `op` on a matrix (BLAS `trans`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The matrix itself.
    #[default]
    None,
    /// Transposed.
    Transpose,
    /// Conjugated and transposed.
    Adjoint,
}

impl Turn {
    /// The adjoint for this element type: for real ones the transpose.
    pub fn adjoint(dtype: DType) -> Turn {
        if dtype.is_complex() {
            Turn::Adjoint
        } else {
            Turn::Transpose
        }
    }

    fn name(self) -> &'static str {
        match self {
            Turn::None => "none",
            Turn::Transpose => "transpose",
            Turn::Adjoint => "adjoint",
        }
    }
}

/// A triangular system of equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TriangularSolve {
    /// Whether the system is `op(A) X = B` instead of `X op(A) = B`.
    pub left: bool,
    /// Whether the lower triangle of `A` is read instead of the upper one.
    pub lower: bool,
    /// Whether the diagonal is taken to be ones without being read.
    pub unit: bool,
    /// The operation `op` applied to the matrix.
    pub turn: Turn,
}

impl Default for TriangularSolve {
    /// `A X = B` with lower triangular `A`.
    fn default() -> TriangularSolve {
        TriangularSolve {
            left: true,
            lower: true,
            unit: false,
            turn: Turn::None,
        }
    }
}

impl TriangularSolve {
    /// `op(A)` of one matrix, with zeros and ones outside the elements that are read.
    fn taken(&self, a: &Matrix) -> Matrix {
        let t = Matrix::new(a.m, a.n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal if self.unit => ONE,
            std::cmp::Ordering::Less if self.lower => ZERO,
            std::cmp::Ordering::Greater if !self.lower => ZERO,
            _ => a[(i, j)],
        });
        match self.turn {
            Turn::None => t,
            Turn::Transpose => t.transpose(),
            Turn::Adjoint => t.adjoint(),
        }
    }

    pub(super) fn solve(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let a = self.taken(a);
        let lower = self.lower == (self.turn == Turn::None);
        match self.left {
            true => substitute(&a, b, lower),
            false => substitute(&a.transpose(), &b.transpose(), !lower).transpose(),
        }
    }

    /// Mask of the elements that are read, for a matrix of this type.
    fn read(&self, cx: &dyn Emit, ty: &Type) -> Val {
        let c = match (self.lower, self.unit) {
            (true, false) => Comparison::Le,
            (true, true) => Comparison::Lt,
            (false, false) => Comparison::Ge,
            (false, true) => Comparison::Gt,
        };
        cx.band(ty, c, 0)
    }
}

/// Forward or backward substitution.
fn substitute(a: &Matrix, b: &Matrix, lower: bool) -> Matrix {
    let n = a.n;
    let mut x = b.clone();
    for j in 0..b.n {
        for step in 0..n {
            let i = if lower { step } else { n - 1 - step };
            let known = if lower { 0..i } else { i + 1..n };
            let rest = x[(i, j)] - known.map(|k| mul(a[(i, k)], x[(k, j)])).sum::<C128>();
            x[(i, j)] = div(rest, a[(i, i)]);
        }
    }
    x
}

impl Primitive for TriangularSolve {
    fn name(&self) -> &str {
        "triangular_solve"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
            .with_if(!self.left, "left_side", false)
            .with_if(!self.lower, "lower", false)
            .with_if(self.unit, "unit_diagonal", true)
            .with_if(self.turn != Turn::None, "transpose_a", self.turn.name())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        arity(self, x, 2)?;
        let (a, b) = (&x[0], &x[1]);
        let n = square(self, a)?;
        let (rows, columns) = matrix(self, b)?;
        if a.dtype != b.dtype {
            bail!(
                DTypeMismatch,
                "`triangular_solve` needs operands of one element type, got {a} and {b}"
            );
        }
        let lead = |t: &Type| t.shape[..t.rank() - 2].to_vec();
        let aligned = a.rank() == b.rank()
            && lead(a)
                .iter()
                .zip(&lead(b))
                .all(|(p, q)| p.same(q) != Some(false));
        let side = if self.left { rows } else { columns };
        if !aligned || side.same(n) == Some(false) {
            let axis = if self.left { "rows" } else { "columns" };
            bail!(
                ShapeMismatch,
                "`triangular_solve` of {a} and {b}: the right-hand side needs {n} {axis} and the same leading axes"
            );
        }
        Ok(vec![b.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (a, b) = (matrices(&x[0]), matrices(&x[1]));
        let all = a.iter().zip(&b).map(|(a, b)| self.solve(a, b)).collect();
        let &[.., m, n] = x[1].shape() else {
            unreachable!("the type rule asks for matrices")
        };
        Ok(vec![pack_matrices(all, &x[1], x[1].dtype(), m, n)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        !mask[0] && mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let moved = t[0].map(|da| {
            let ty = cx.ty(x[0]);
            let mut da = cx.lkeep(self.read(cx.emit(), &ty), da);
            if self.turn != Turn::None {
                da = cx.apply1(exchange(ty.rank()), &[da.into()]);
            }
            if self.turn == Turn::Adjoint && ty.dtype.is_complex() {
                da = cx.apply1(Unary::Conj, &[da.into()]);
            }
            let (l, r) = if self.left {
                (da.into(), y.into())
            } else {
                (y.into(), da.into())
            };
            cx.lneg(cx.apply1(product(ty.rank()), &[l, r]))
        });
        let rest = cx.sum_opt(t[1], moved);
        Ok(cx.one(y, rest.map(|r| cx.apply1(*self, &[x[0].into(), r.into()]))))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let (Some(a), Some(ct)) = (x[0].val(), ct[0]) else {
            return Err(no_rule(self, "transpose"));
        };
        let (a, turn) = match self.turn {
            Turn::None => (a, Turn::adjoint(cx.ty(a).dtype)),
            Turn::Transpose => (cx.conj(a), Turn::None),
            Turn::Adjoint => (a, Turn::None),
        };
        Ok(vec![
            None,
            Some(cx.op(TriangularSolve { turn, ..*self }, &[a, ct])),
        ])
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape.last().map_or(1.0, size);
        let flops = y[0].shape.iter().map(size).product::<f64>() * n;
        Cost {
            flops,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// The solution of a triangular system; see [`TriangularSolve`]. Leading axes are batch axes
    /// and are broadcast. A vector `b` is a column, or a row if `A` is on the right.
    pub fn triangular_solve(&self, a: Val, b: Val, how: TriangularSolve) -> Val {
        of_vector(self, &how.into(), &[a, b]).unwrap_or_else(|| {
            let (a, b) = self.same_leads(a, b);
            self.op(how, &[a, b])
        })
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    let mut flag = |name: &str, default: bool| Ok(s.attrs.opt::<bool>(name)?.unwrap_or(default));
    let (left, lower, unit) = (
        flag("left_side", true)?,
        flag("lower", true)?,
        flag("unit_diagonal", false)?,
    );
    let turn = match s.attrs.opt::<String>("transpose_a")?.as_deref() {
        None | Some("none") => Turn::None,
        Some("transpose") => Turn::Transpose,
        Some("adjoint") => Turn::Adjoint,
        Some(o) => bail!(
            Attribute,
            "`transpose_a` of `triangular_solve` is none, transpose or adjoint, not {o}"
        ),
    };
    Ok(TriangularSolve {
        left,
        lower,
        unit,
        turn,
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = real(&[3, 3], &[2.0, 0.3, -0.4, 0.7, -1.5, 0.6, -0.2, 0.9, 1.8]);
    let z = complex(
        &[2, 2],
        &[(1.5, 0.5), (0.4, -0.3), (-0.6, 0.2), (1.0, -1.0)],
    );
    let how = TriangularSolve::default();
    let mut all = Vec::new();
    for turn in [Turn::None, Turn::Transpose, Turn::Adjoint] {
        let tall = sample_array(DType::F64, &[3, 2], 1);
        all.push(Sample::new(
            TriangularSolve { turn, ..how },
            vec![a.clone(), tall],
        ));
        let wide = sample_array(DType::C128, &[3, 2], 1);
        let upper = TriangularSolve {
            left: false,
            lower: false,
            turn,
            ..how
        };
        all.push(Sample::new(upper, vec![z.clone(), wide]));
        let unit = TriangularSolve {
            unit: true,
            lower: turn == Turn::None,
            turn,
            ..how
        };
        all.push(Sample::new(
            unit,
            vec![z.clone(), sample_array(DType::C128, &[2, 1], 1)],
        ));
    }
    let two = real(&[2, 2, 2], &[1.0, 0.5, -0.5, 2.0, 1.5, 0.2, 0.3, -1.0]);
    all.push(Sample::new(
        how,
        vec![two, sample_array(DType::F64, &[2, 2, 1], 1)],
    ));
    all.push(Sample::new(
        how,
        vec![real(&[0, 0], &[]), real(&[0, 2], &[])],
    ));
    all.push(Sample::rough(
        how,
        vec![
            real(&[2, 2], &[1.0, 0.0, 2.0, 0.0]),
            real(&[2, 1], &[1.0, 1.0]),
        ],
    ));
    all
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The solution X of op(A) X = B (or X op(A) = B) for triangular A, where op(A) is A, its transpose or adjoint.";
    vec![Entry {
        name: "triangular_solve",
        doc,
        parse,
        samples,
    }]
}
