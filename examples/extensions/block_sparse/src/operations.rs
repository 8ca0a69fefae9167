//! The operations, and their rules. Each is linear in one operand at a time, or in all together.
//!
//! ```text
//! matmul         y = A x                    ct_A = sampled_outer(ct, x),  ct_x = Aᵀ ct
//! sampled_outer  A = the blocks of u vᵀ     ct_u = ct v,  ct_v = ctᵀ u
//! ```

use crate::Pattern;
use crate::matrix::error;
use cotangent_core::ops::DotGeneral;
use cotangent_core::primitive::{Arg, Batched, Cost, Linearized, no_rule};
use cotangent_core::transform::{Lin, Lv, Operand};
use cotangent_core::{
    Array, Attrs, Code, DType, Dim, Emit, Env, Op, OpaqueType, Primitive, Result, Type, Val,
};

/// An operation on block-sparse matrices. Vectors and dense matrices are arrays of `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SparseOp {
    /// The zero of a type.
    Zero(OpaqueType),
    /// `A + B`, of one pattern.
    Add,
    /// `A s`, for a number `s`.
    Scale,
    /// The sum of the products of the elements of two matrices of one pattern.
    Dot,
    /// The matrix with these blocks, an array of shape `[blocks, block, block]`.
    FromBlocks(OpaqueType),
    /// The blocks of a matrix.
    Blocks,
    /// `A x`, or `Aᵀ x`, for a vector or a dense matrix `x`.
    Matmul {
        /// Whether the matrix is transposed.
        transposed: bool,
    },
    /// The blocks of `u vᵀ` in a pattern, for two vectors, or two dense matrices with the same
    /// number of columns.
    SampledOuter(OpaqueType),
}

use SparseOp::*;

impl From<SparseOp> for Op {
    fn from(op: SparseOp) -> Op {
        Op::extension(op)
    }
}

fn pattern(t: &Type) -> Option<&'static Pattern> {
    Pattern::of(t.dtype.opaque()?)
}

/// The extents of a vector or a dense matrix: rows, then columns if it has them.
fn dense(t: &Type) -> Option<(usize, Vec<usize>)> {
    let shape = t.shape.as_const().filter(|_| t.dtype == DType::F64)?;
    match &shape[..] {
        [n, columns @ ..] if columns.len() < 2 => Some((*n, columns.to_vec())),
        _ => None,
    }
}

impl SparseOp {
    /// `A x`.
    pub const MATMUL: SparseOp = Matmul { transposed: false };

    /// The inner product of two vectors, an operation of the core.
    pub fn dot_of_vectors() -> Op {
        let axis = || vec![0];
        DotGeneral {
            lhs_batch: Vec::new(),
            rhs_batch: Vec::new(),
            lhs_contract: axis(),
            rhs_contract: axis(),
            stable: false,
            strong_zero: false,
        }
        .into()
    }

    /// Rows and columns of the matrix that it multiplies by.
    fn extents(self, p: &Pattern) -> [usize; 2] {
        let [rows, columns] = p.extents();
        match self {
            Matmul { transposed: true } => [columns, rows],
            _ => [rows, columns],
        }
    }

    /// The type of the result, if the operands fit.
    fn result(self, x: &[Type]) -> Option<Type> {
        let f64s = |shape: &[usize]| Type::new(DType::F64, shape);
        match (self, x) {
            (Zero(ty), []) => Some(ty.into()),
            (Add, [a, b]) => pattern(a).filter(|_| a == b).map(|_| a.clone()),
            (Dot, [a, b]) => pattern(a).filter(|_| a == b).map(|_| f64s(&[])),
            (Scale, [a, s]) => pattern(a).filter(|_| *s == f64s(&[])).map(|_| a.clone()),
            (FromBlocks(ty), [v]) => Pattern::of(ty)
                .filter(|p| *v == f64s(&p.shape()))
                .map(|_| ty.into()),
            (Blocks, [a]) => Some(f64s(&pattern(a)?.shape())),
            (Matmul { .. }, [a, x]) => {
                let ([rows, columns], (n, right)) = (self.extents(pattern(a)?), dense(x)?);
                (n == columns).then(|| f64s(&[vec![rows], right].concat()))
            }
            (SampledOuter(ty), [u, v]) => {
                let ([rows, columns], u, v) = (Pattern::of(ty)?.extents(), dense(u)?, dense(v)?);
                (u.0 == rows && v.0 == columns && u.1 == v.1).then(|| ty.into())
            }
            _ => None,
        }
    }
}

impl Primitive for SparseOp {
    fn name(&self) -> &str {
        match self {
            Zero(_) => "sparse.zero",
            Add => "sparse.add",
            Scale => "sparse.scale",
            Dot => "sparse.dot",
            FromBlocks(_) => "sparse.from_blocks",
            Blocks => "sparse.blocks",
            Matmul { .. } => "sparse.matmul",
            SampledOuter(_) => "sparse.sampled_outer",
        }
    }

    fn attrs(&self) -> Attrs {
        let attrs = Attrs::default();
        match self {
            Zero(ty) | FromBlocks(ty) | SampledOuter(ty) => attrs.with("type", *ty),
            Matmul { transposed } => attrs.with_if(*transposed, "transposed", true),
            _ => attrs,
        }
    }

    fn key(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        match self.result(x) {
            Some(ty) => Ok(vec![ty]),
            None => error(
                Code::ShapeMismatch,
                format!(
                    "`{}` is not defined on {x:?}: {:?}",
                    self.name(),
                    self.attrs().0
                ),
            ),
        }
    }

    /// The reference evaluation is on arrays alone: the executor computes these values.
    fn eval(&self, _: &[Array], _: &Env) -> Result<Vec<Array>> {
        error(
            Code::NoRule,
            format!("`{}` is computed by its executor", self.name()),
        )
    }

    fn is_zeros(&self) -> bool {
        matches!(self, Zero(_))
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        match self {
            Zero(_) => false,
            Add => mask == [true, true],
            FromBlocks(_) | Blocks => mask == [true],
            Scale | Dot | Matmul { .. } | SampledOuter(_) => mask[0] != mask[1],
        }
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        if *self == Add {
            return Ok(cx.one(y, cx.sum_opt(t[0], t[1])));
        }
        // The operation with one operand replaced by its tangent, summed over the operands.
        let by = |(k, t): (usize, &Option<Lv>)| {
            let mut operands: Vec<Operand> = x.iter().map(|&v| v.into()).collect();
            operands[k] = (*t)?.into();
            Some(cx.apply1(*self, &operands))
        };
        let terms = t.iter().enumerate().filter_map(by);
        Ok(cx.one(y, terms.reduce(|a, b| cx.sum(a, b))))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let ct = ct[0].expect("one result");
        let op = |op: SparseOp, x: &[Val]| Some(cx.op(op, x));
        let value = |k: usize| x.get(k).and_then(Arg::val);
        let type_of = |k: usize| x[k].ty(cx).dtype.opaque().expect("a matrix");
        Ok(match *self {
            Zero(_) => Vec::new(),
            Add => vec![Some(ct), Some(ct)],
            Scale => vec![
                value(1).and_then(|s| op(Scale, &[ct, s])),
                value(0).and_then(|a| op(Dot, &[a, ct])),
            ],
            Dot => vec![
                value(1).and_then(|b| op(Scale, &[b, ct])),
                value(0).and_then(|a| op(Scale, &[a, ct])),
            ],
            FromBlocks(_) => vec![op(Blocks, &[ct])],
            Blocks => vec![op(FromBlocks(type_of(0)), &[ct])],
            Matmul { transposed } => vec![
                value(1).and_then(|x| {
                    let (u, v) = if transposed { (x, ct) } else { (ct, x) };
                    op(SampledOuter(type_of(0)), &[u, v])
                }),
                value(0).and_then(|a| {
                    op(
                        Matmul {
                            transposed: !transposed,
                        },
                        &[a, ct],
                    )
                }),
            ],
            SampledOuter(_) => vec![
                value(1).and_then(|v| op(Matmul { transposed: false }, &[ct, v])),
                value(0).and_then(|u| op(Matmul { transposed: true }, &[ct, u])),
            ],
        })
    }

    /// A batch of vectors is multiplied as a dense matrix. Matrices have no batches.
    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let vector = |b: &Batched| b.mapped && b.element(cx).rank() == 1;
        match (self, x) {
            (Matmul { .. }, [a, x]) if !a.mapped && vector(x) => {
                let columns = cx.transpose(x.val, &[1, 0]);
                let y = cx.op(*self, &[a.val, columns]);
                let val = cx.transpose(y, &[1, 0]);
                Ok(vec![Batched { val, mapped: true }])
            }
            _ => Err(no_rule(self, "batch")),
        }
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}
