//! Batches of matrices: types, broadcasts, products, and the normalization of vectors.

use cotangent_core::ops::{
    Bounds, Comparison, DotGeneral, Op, Reduction, Slogdet, TriangularSolve, Turn, Unary,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};

/// Batch extents, rows and columns.
pub(crate) fn extents(ty: &Type) -> Result<(Vec<Dim>, usize, usize)> {
    match &ty.shape[..] {
        [lead @ .., m, n] => match (m.as_const(), n.as_const()) {
            (Some(m), Some(n)) => Ok((lead.to_vec(), m, n)),
            _ => bail!(
                Unsupported,
                "a factorisation of {ty}, with unknown extents, has no StableHLO form"
            ),
        },
        _ => bail!(
            ShapeMismatch,
            "a factorisation of {ty}, which is not a matrix"
        ),
    }
}

/// A type with the extents `lead`, then `rest`.
pub(crate) fn of(dtype: DType, lead: &[Dim], rest: &[usize]) -> Type {
    Type::new(
        dtype,
        lead.iter()
            .cloned()
            .chain(rest.iter().map(|&n| Dim::Const(n)))
            .collect::<Vec<_>>(),
    )
}

/// Broadcasts a value per matrix, or per vector, along the trailing axes.
pub(crate) fn leading(cx: &dyn Emit, v: Val, like: &Type) -> Val {
    let dims: Vec<usize> = (0..cx.ty(v).rank()).collect();
    cx.broadcast_in_dim(v, &like.shape, &dims)
}

/// Broadcasts a vector per matrix along columns: one number for each column.
pub(crate) fn on_columns(cx: &dyn Emit, v: Val, like: &Type) -> Val {
    let rank = like.rank();
    let dims: Vec<usize> = (0..rank - 2).chain([rank - 1]).collect();
    cx.broadcast_in_dim(v, &like.shape, &dims)
}

/// The factors of an empty matrix: nonempty results are orthogonal matrices. `None` if the operand
/// has elements.
pub(crate) fn empty_factors(cx: &dyn Emit, x: Val, y: &[Type]) -> Option<Vals> {
    let empty = |ty: &Type| ty.shape.iter().any(|d| d.is(0));
    let each = |ty: &Type| match &ty.shape[..] {
        [.., n, m] if n == m && !empty(ty) => cx.broadcast_to(cx.eye(ty.dtype, n), &ty.shape),
        _ => cx.zeros(ty),
    };
    empty(&cx.ty(x)).then(|| y.iter().map(each).collect())
}

/// `(A + Aᴴ) / 2`.
pub(crate) fn symmetric(cx: &dyn Emit, a: Val) -> Val {
    let sum = cx.add(a, cx.adjoint(a));
    cx.mul(sum, cx.full_like(sum, 0.5))
}

/// Products of batches of matrices.
pub(super) fn product(cx: &dyn Emit, x: Val, y: Val) -> Val {
    let rank = cx.ty(x).rank();
    let lead: Vec<usize> = (0..rank - 2).collect();
    let dims = DotGeneral::contract(&[rank - 1], &[rank - 2]).batched(&lead, &lead);
    cx.op(dims, &[x, y])
}

/// Products `Xᴴ Y` of batches of matrices.
pub(super) fn adjoint_product(cx: &dyn Emit, x: Val, y: Val) -> Val {
    let rank = cx.ty(x).rank();
    let lead: Vec<usize> = (0..rank - 2).collect();
    let dims = DotGeneral::contract(&[rank - 2], &[rank - 2]).batched(&lead, &lead);
    cx.op(dims, &[cx.conj(x), y])
}

/// `vᴴ A` of a vector and a matrix.
pub(super) fn row_product(cx: &dyn Emit, v: Val, a: Val) -> Val {
    let rank = cx.ty(a).rank();
    let lead: Vec<usize> = (0..rank - 2).collect();
    let dims = DotGeneral::contract(&[rank - 2], &[rank - 2]).batched(&lead, &lead);
    cx.op(dims, &[cx.conj(v), a])
}

/// `c v` for real `c` of the same shape.
pub(super) fn scaled(cx: &dyn Emit, c: Val, v: Val) -> Val {
    cx.mul(cx.convert(c, cx.ty(v).dtype), v)
}

/// The phase of each number, and 1 for zero.
pub(super) fn phase(cx: &dyn Emit, x: Val) -> Val {
    let none = cx.compare(x, Comparison::Eq, cx.full_like(x, 0.0));
    let phase = cx.op(Unary::Sign, &[x]);
    cx.select(none, cx.full_like(phase, 1.0), phase)
}

/// Matrices divided by a power of two near their largest magnitude, and these powers. Products of
/// two elements are then in range.
pub(super) fn normal_range(cx: &dyn Emit, a: Val) -> (Val, Val) {
    let ty = cx.ty(a);
    let axes = [ty.rank() - 2, ty.rank() - 1];
    let most = cx.max_or_least(magnitude(cx, a), &axes);
    let (exponent, least, limit) = match ty.dtype.real() {
        DType::F32 => (8, 2f64.powi(-100), 2f64.powi(100)),
        _ => (11, 2f64.powi(-1000), 2f64.powi(1000)),
    };
    let number = |c: f64| cx.full_like(most, c);
    // The rounding to a mantissa without bits gives a power of two.
    let power = cx.reduce_precision(
        cx.minimum(cx.maximum(most, number(least)), number(limit)),
        exponent,
        0,
    );
    let known = cx.compare(most, Comparison::Eq, most);
    let power = cx.select(known, power, number(1.0));
    (
        scaled(
            cx,
            leading(cx, cx.recip(power), &ty.with_dtype(ty.dtype.real())),
            a,
        ),
        power,
    )
}

/// The larger component in absolute value: within a factor of two of the magnitude, without
/// overflow.
fn magnitude(cx: &dyn Emit, a: Val) -> Val {
    if !cx.ty(a).dtype.is_complex() {
        return cx.abs(a);
    }
    cx.maximum(cx.abs(cx.real(a)), cx.abs(cx.imag(a)))
}

/// `v`, and NaN for the matrices (or vectors) of the batch where `fine` is false.
pub(super) fn nan_unless(cx: &dyn Emit, fine: Val, v: Val) -> Val {
    let ty = cx.ty(v);
    cx.select(leading(cx, fine, &ty), v, cx.full(&ty, f64::NAN))
}

/// Whether all elements of each matrix are finite.
pub(super) fn finite(cx: &dyn Emit, a: Val) -> Val {
    let rank = cx.ty(a).rank();
    cx.reduce_all(cx.op(Unary::IsFinite, &[a]), &[rank - 2, rank - 1])
}

/// Elements in column `j` or row `j` of the last two axes: a mask of this type, from the number
/// `j`.
pub(super) fn compare_index(cx: &dyn Emit, ty: &Type, axis: usize, c: Comparison, j: Val) -> Val {
    let index = ty.with_dtype(DType::I32);
    cx.compare(
        cx.iota(&index, axis),
        c,
        cx.broadcast_in_dim(j, &index.shape, &[]),
    )
}

/// The phase of each column's pivot component: the first one of at least `anchor` times the largest
/// magnitude. 1 for a column of zeros.
pub(crate) fn phases(cx: &dyn Emit, v: Val, anchor: f64) -> Val {
    let ty = cx.ty(v);
    let rows = ty.rank() - 2;
    let size = cx.abs(v);
    let most = cx.max_or_least(size, &[rows]);
    let bound = cx.mul(most, cx.full_like(most, anchor));
    let near = cx.compare(size, Comparison::Ge, on_columns(cx, bound, &cx.ty(size)));
    let pivot_row = cx.argmax(cx.convert(near, DType::I32), rows);
    let mut shape = ty.shape.to_vec();
    shape[rows] = Dim::Const(1);
    let anchor = cx.take_along_axis(v, cx.reshape(pivot_row, &shape), rows, Bounds::Clip);
    let anchor = cx.reshape(anchor, &cx.ty(pivot_row).shape);
    let none = cx.compare(anchor, Comparison::Eq, cx.zeros(&cx.ty(anchor)));
    let phase = cx.op(Unary::Sign, &[anchor]);
    cx.select(none, cx.full_like(phase, 1.0), phase)
}

/// Divides each column by its phase, a number of magnitude 1.
pub(crate) fn normalized(cx: &dyn Emit, v: Val, phase: Val) -> Val {
    cx.mul(v, on_columns(cx, cx.conj(phase), &cx.ty(v)))
}

/// The columns of a matrix in another order, of type i64.
pub(super) fn columns(cx: &dyn Emit, v: Val, order: Val) -> Val {
    let ty = cx.ty(v);
    let mut shape = ty.shape.to_vec();
    shape[ty.rank() - 2] = Dim::Const(1);
    let index = cx.reshape(order, &shape);
    cx.take_along_axis(v, index, ty.rank() - 1, Bounds::Clip)
}

/// The solution of a system with the LU factors of its matrix.
pub(crate) fn solve(cx: &dyn Emit, y: &[Val], b: Val) -> Val {
    let ty = cx.ty(b);
    let rank = ty.rank();
    let rows: Vec<usize> = (0..rank - 1).collect();
    let index = cx.broadcast_in_dim(y[2], &ty.shape, &rows);
    let b = cx.take_along_axis(b, index, rank - 2, Bounds::Clip);
    let lower = TriangularSolve {
        left: true,
        lower: true,
        unit: true,
        turn: Turn::None,
    };
    let x = cx.triangular_solve(y[0], b, lower);
    cx.triangular_solve(
        y[0],
        x,
        TriangularSolve {
            lower: false,
            unit: false,
            ..lower
        },
    )
}

/// The diagonal of `U`, and whether the number of row swaps is odd.
fn pivots(cx: &dyn Emit, y: &[Val]) -> (Val, Val) {
    let ty = cx.ty(y[1]);
    let last = ty.rank() - 1;
    let moved = cx.compare(y[1], Comparison::Ne, cx.iota(&ty, last));
    let count = cx.reduce_sum(cx.convert(moved, DType::I32), &[last]);
    let odd = cx.compare(
        cx.and(count, cx.full_like(count, 1i64)),
        Comparison::Eq,
        cx.full_like(count, 1i64),
    );
    (cx.diagonal(y[0]), odd)
}

/// Determinants from LU factors.
pub(crate) fn det(cx: &dyn Emit, factors: &[Val]) -> Val {
    let (diagonal, odd) = pivots(cx, factors);
    let p = cx.reduce(Reduction::Prod, diagonal, &[cx.ty(diagonal).rank() - 1]);
    cx.select(odd, cx.neg(p), p)
}

/// Results of `slogdet`, of types `y`, from LU factors.
pub(crate) fn slogdet(cx: &dyn Emit, s: &Slogdet, factors: &[Val], y: &[Type]) -> Vals {
    let (diagonal, odd) = pivots(cx, factors);
    let last = [cx.ty(diagonal).rank() - 1];
    let sign = cx.reduce(Reduction::Prod, cx.op(Unary::Sign, &[diagonal]), &last);
    let size = cx.reduce_sum(cx.log(cx.abs(diagonal)), &last);
    let mut all = Vals::from_slice(&[cx.select(odd, cx.neg(sign), sign), size]);
    if s.inverse {
        let one = cx.broadcast_to(cx.eye(y[2].dtype, &y[2].shape[last[0]]), &y[2].shape);
        all.push(cx.matrix_transpose(solve(cx, factors, one)));
    }
    all
}

/// Whether an operation is a factorisation, whose results for empty matrices are [`empty_factors`].
pub(crate) fn is_factorisation(op: &Op) -> bool {
    matches!(
        op,
        Op::Lu(_) | Op::Qr(_) | Op::Eigh(_) | Op::Svd(_) | Op::Eig(_) | Op::Schur(_)
    )
}
