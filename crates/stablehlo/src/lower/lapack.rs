//! Linear algebra: `cholesky`, `triangular_solve`, and LAPACK routines as custom calls
//! (`lapack_dgetrf_ffi`), including their names on other platforms.
//!
//! Routines for Hermitian matrices read the triangle that `uplo` selects. `info` is 0, except that
//! `potrf` returns 1 for a matrix that is not positive definite.
//!
//! The results satisfy LAPACK's documentation. Eigenvalues of `geev` and `gees` are in the order of
//! the Schur form, not sorted. The eigenvalue of a conjugate pair with positive imaginary part
//! comes first. Eigenvectors of `geev` have norm 1 and a real largest component. Blocks of `gees`
//! are in standard form. `getrf` selects pivots by `|re| + |im|`. Results that the documentation
//! leaves open are those of the core: signs and phases of vectors, and the order of equal values.

use super::attributes::{attribute, find};
use super::function::{FunctionLowering, first, one};
use super::row::{LoweringRow, LoweringRule::Custom};
use super::tridiagonal;
use crate::ast::{Attr, Operation};
use crate::portable::matrix::symmetric;
use cotangent_core::ops::{
    Binary, Cholesky, Comparison, Eig, EigOrder, Eigh, Lu, Op, Reflectors, Schur, Svd,
    TriangularSolve, Turn, apply_reflectors, product_of_reflectors,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Emit, Result, Scalar, bail};

pub(super) const LAPACK: &[LoweringRow] = &[
    ("cholesky", Custom(cholesky)),
    ("triangular_solve", Custom(triangular_solve)),
    ("LuDecomposition", Custom(lu)),
    ("Qr", Custom(|f, op| qr(f, op, 0, false))),
    ("ProductOfElementaryHouseholderReflectors", Custom(product)),
    ("Eigh", Custom(eigh)),
    (
        "tridiagonal_solve_perturbed_ffi",
        Custom(tridiagonal::perturbed),
    ),
];

/// Routines by name, without the letter of their element type.
const ROUTINES: &[LoweringRow] = &[
    ("potrf", Custom(potrf)),
    ("trsm", Custom(trsm)),
    ("getrf", Custom(getrf)),
    ("geqrf", Custom(|f, op| qr(f, op, 0, false))),
    ("geqp3", Custom(|f, op| qr(f, op, 0, true))),
    ("gehrd", Custom(|f, op| qr(f, op, 1, false))),
    ("sytrd", Custom(sytrd)),
    ("hetrd", Custom(sytrd)),
    ("orgqr", Custom(product)),
    ("ungqr", Custom(product)),
    ("ormqr", Custom(multiply)),
    ("unmqr", Custom(multiply)),
    ("syevd", Custom(syevd)),
    ("heevd", Custom(syevd)),
    ("gesdd", Custom(svd)),
    ("gesvd", Custom(svd)),
    ("geev", Custom(geev)),
    ("gees", Custom(gees)),
    ("gtsv", Custom(tridiagonal::gtsv)),
];

/// The rule of a routine by its target, such as `lapack_dgetrf_ffi`.
pub(super) fn routine(target: &str) -> Option<super::row::LoweringRule> {
    let name = target.strip_prefix("lapack_")?.trim_end_matches("_ffi");
    let name = name.strip_prefix(['s', 'd', 'c', 'z'])?;
    ROUTINES.iter().find(|r| r.0 == name).map(|r| r.1)
}

/// An attribute of a call: in its backend configuration, or of the call itself.
fn setting<'o, 't>(op: &'o Operation<'t>, name: &str) -> Option<&'o Attr<'t>> {
    ["mhlo.backend_config", "backend_config"]
        .iter()
        .find_map(|p| op.attr(p)?.get(name))
        .or_else(|| op.attr(name))
}

/// An option, as LAPACK's letter for it.
fn letter(op: &Operation<'_>, name: &str) -> Result<char> {
    let code = setting(op, name)
        .and_then(Attr::int)
        .and_then(|i| u8::try_from(i).ok());
    code.map(char::from)
        .ok_or_else(|| attribute(op, name, "the code of a letter"))
}

/// The first `N` operands of a routine, which must be matrices.
fn matrices<const N: usize>(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<[Val; N]> {
    let x = first(f, op)?;
    match f.cx().ty(x[0]).rank() {
        0 | 1 => bail!(
            ShapeMismatch,
            "`{}` takes matrices, got {}",
            op.name,
            f.cx().ty(x[0])
        ),
        _ => Ok(x),
    }
}

/// A matrix with the Hermitian part that is given by one triangle of `a`. Operations read this part
/// only.
fn hermitian_operand(f: &FunctionLowering<'_>, a: Val, lower: bool) -> Val {
    symmetrized(f, a).unwrap_or_else(|| hermitian(f.cx(), a, lower))
}

/// `x`, if `a` is `(x + xᵀ) / 2` of a real `x`.
fn symmetrized(f: &FunctionLowering<'_>, a: Val) -> Option<Val> {
    let def = |v: Val| f.with_def(v, |op, x| (op.clone(), x.to_vec()));
    let (Op::Binary(Binary::Div), halved) = def(a)? else {
        return None;
    };
    let (Op::Binary(Binary::Add), x) = def(halved[0])? else {
        return None;
    };
    let real = f.cx().ty(a).dtype.is_float() && matches!(f.number(halved[1])?, Scalar::F(2.0));
    let turned = |y: Val, x: Val| {
        let last = f.cx().ty(x).rank() - 1;
        let swaps = |p: &[usize]| {
            p[last] == last - 1 && p[last - 1] == last && (0..last - 1).all(|k| p[k] == k)
        };
        matches!(def(y), Some((Op::Transpose(t), of)) if of[0] == x && swaps(&t.perm))
    };
    (real && (turned(x[1], x[0]) || turned(x[0], x[1])))
        .then(|| if turned(x[1], x[0]) { x[0] } else { x[1] })
}

/// The Hermitian matrix given by one triangle.
fn hermitian(cx: &dyn Emit, a: Val, lower: bool) -> Val {
    let (whole, rest) = if lower {
        (cx.tril(a, 0), cx.tril(a, -1))
    } else {
        (cx.triu(a, 0), cx.triu(a, 1))
    };
    cx.add(whole, cx.adjoint(rest))
}

fn factor(f: &FunctionLowering<'_>, a: Val, lower: bool) -> Val {
    let cx = f.cx();
    if let Some(wide) = factorisation_type(f, a) {
        let to = cx.ty(a).dtype;
        return cx.convert(factor(f, cx.convert(a, wide), lower), to);
    }
    let l = cx.op(Cholesky, &[hermitian_operand(f, a, lower)]);
    if lower { l } else { cx.adjoint(l) }
}

fn cholesky(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let lower = op.attr("lower").and_then(Attr::bool) != Some(false);
    one(factor(f, a, lower))
}

/// A zero `info` result.
fn zero_info(f: &FunctionLowering<'_>, op: &Operation<'_>, k: usize) -> Result<Val> {
    Ok(f.cx().zeros(&f.result(op, k)?))
}

fn potrf(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let cx = f.cx();
    let l = factor(f, a, letter(op, "uplo")? == 'L');
    let (ty, info) = (cx.ty(l), f.result(op, 1)?);
    let (rank, n) = (ty.rank(), &ty.shape[ty.rank() - 1]);
    // A failed factorisation is NaN in all elements, so one element suffices.
    let first = if n.as_const() > Some(0) {
        cx.slice_axis(
            cx.slice_axis(l, rank - 2, 0usize, 1usize),
            rank - 1,
            0usize,
            1usize,
        )
    } else {
        l
    };
    let bad = cx.reduce_any(cx.is_nan(first), &[rank - 2, rank - 1]);
    Ok(Vals::from_slice(&[l, cx.convert(bad, info.dtype)]))
}

fn triangular_solve(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a, b] = matrices(f, op)?;
    let is = |name: &str, default: bool| op.attr(name).map_or(Some(default), Attr::bool);
    let turn = match op.attr("transpose_a").and_then(Attr::word) {
        Some("TRANSPOSE") => Turn::Transpose,
        Some("ADJOINT") => Turn::Adjoint,
        None | Some("NO_TRANSPOSE") => Turn::None,
        _ => {
            return Err(attribute(
                op,
                "transpose_a",
                "one of NO_TRANSPOSE, TRANSPOSE, ADJOINT",
            ));
        }
    };
    match (
        is("left_side", true),
        is("lower", true),
        is("unit_diagonal", false),
    ) {
        (Some(left), Some(lower), Some(unit)) => one(solve_triangular(
            f,
            a,
            b,
            TriangularSolve {
                left,
                lower,
                unit,
                turn,
            },
        )),
        _ => Err(attribute(
            op,
            "left_side",
            "a boolean, like lower and unit_diagonal",
        )),
    }
}

fn trsm(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a, b] = matrices(f, op)?;
    let how = TriangularSolve {
        left: letter(op, "side")? == 'L',
        lower: letter(op, "uplo")? == 'L',
        unit: letter(op, "diag")? == 'U',
        turn: match letter(op, "trans_x")? {
            'T' => Turn::Transpose,
            'C' => Turn::Adjoint,
            _ => Turn::None,
        },
    };
    one(solve_triangular(f, a, b, how))
}

/// The element type in which matrices of half precision are factorised.
fn factorisation_type(f: &FunctionLowering<'_>, a: Val) -> Option<DType> {
    matches!(f.cx().ty(a).dtype, DType::F16 | DType::BF16).then_some(DType::F32)
}

/// Emits a triangular solve.
fn solve_triangular(f: &FunctionLowering<'_>, a: Val, b: Val, how: TriangularSolve) -> Val {
    if let Some(wide) = factorisation_type(f, a) {
        let (cx, to) = (f.cx(), f.cx().ty(b).dtype);
        return cx.convert(
            cx.triangular_solve(cx.convert(a, wide), cx.convert(b, wide), how),
            to,
        );
    }
    f.cx().triangular_solve(a, b, how)
}

/// Lowers `getrf`. Row swaps count from 1.
fn getrf(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let (cx, y) = (f.cx(), f.cx().emit(Lu.into(), &[a]));
    let (pivots, info) = (cx.add(y[1], cx.full_like(y[1], 1i64)), zero_info(f, op, 2)?);
    Ok(Vals::from_slice(&[y[0], pivots, info]))
}

/// Lowers `LuDecomposition`: packed factors, row swaps that count from 0, and the permutation.
fn lu(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    Ok(f.cx().emit(Lu.into(), &[a]))
}

/// Lowers `geqrf` and `gehrd`: packed reflectors, their scalar factors, and `info` if the routine
/// returns it. The second result of `geqp3` is the column permutation.
fn qr(f: &FunctionLowering<'_>, op: &Operation<'_>, offset: usize, pivoted: bool) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let r = Reflectors { offset, pivoted };
    let [packed, taus, columns] = r.reduce(f.cx(), a)?;
    let mut y = if pivoted {
        let places = f.result(op, 1)?;
        let from_one = f.cx().add(columns, f.cx().full_like(columns, 1i64));
        Vals::from_slice(&[packed, f.cx().convert(from_one, places.dtype), taus])
    } else {
        Vals::from_slice(&[packed, taus])
    };
    if y.len() < op.count as usize {
        y.push(zero_info(f, op, y.len())?);
    }
    Ok(y)
}

/// Lowers `sytrd`: for a symmetric matrix, a reduction to Hessenberg form. With the upper triangle,
/// rows and columns are counted from the end.
fn sytrd(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let cx = f.cx();
    let (ty, real) = (cx.ty(a), f.result(op, 1)?.dtype);
    let (last, lower) = (ty.rank() - 1, letter(op, "uplo")? == 'L');
    let turned = |v: Val, axes: &[usize]| if lower { v } else { cx.reverse(v, axes) };
    // Imaginary parts of the diagonal are not read.
    let whole = match ty.dtype.is_complex() {
        true => symmetric(cx, hermitian(cx, a, lower)),
        false => hermitian(cx, a, lower),
    };
    let whole = turned(whole, &[last - 1, last]);
    let [packed, taus, _] = Reflectors {
        offset: 1,
        pivoted: false,
    }
    .reduce(cx, whole)?;
    let n = &ty.shape[last];
    let rows = cx.slice_axis(packed, last - 1, 1usize, n.clone());
    let below = cx.slice_axis(rows, last, 0usize, n.affine(1, -1));
    let number = |v: Val| {
        if cx.ty(v).dtype.is_complex() {
            cx.real(v)
        } else {
            v
        }
    };
    let diagonal = |v: Val| turned(cx.convert(number(cx.diagonal(v)), real), &[last - 1]);
    let (d, e, taus) = (diagonal(packed), diagonal(below), turned(taus, &[last - 1]));
    // The diagonal is real, and the other triangle is unchanged.
    let packed = match ty.dtype.is_complex() {
        true => {
            let real = cx.convert(cx.real(packed), ty.dtype);
            cx.select(cx.band_of(&ty, 0), real, packed)
        }
        false => packed,
    };
    let packed = turned(packed, &[last - 1, last]);
    let packed_triangle = if lower {
        cx.add(cx.tril(packed, 0), cx.triu(a, 1))
    } else {
        cx.add(cx.triu(packed, 0), cx.tril(a, -1))
    };
    Ok(Vals::from_slice(&[
        packed_triangle,
        d,
        e,
        taus,
        zero_info(f, op, 4)?,
    ]))
}

/// Lowers `gees`: `A = Q T Qᴴ`, the eigenvalues (real and imaginary parts for a real matrix), the
/// number of selected ones, and `info`. Signs of the columns of `Q` are those of `schur`.
fn gees(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let (cx, ty) = (f.cx(), f.cx().ty(a));
    let y = cx.emit(Schur.into(), &[a]);
    f.check_errors()?;
    let (t, last) = (y[0], ty.rank() - 1);
    let mut out = y.clone();
    out.push(cx.diagonal(t));
    if !ty.dtype.is_complex() {
        // The imaginary parts of a 2×2 block are ± the root of the product of its off-diagonal
        // elements, positive first.
        let other = cx.matrix_transpose(t);
        let beside = |k: i64| {
            let here = cx.band_of(&ty, k);
            let joined = cx.compare(if k < 0 { t } else { other }, Comparison::Ne, cx.zeros(&ty));
            let (mask, one) = (cx.and(here, joined), cx.full(&ty, 1i64));
            let root = |v: Val| cx.sqrt(cx.abs(cx.select(mask, v, one)));
            let imaginary = cx.select(mask, cx.mul(root(t), root(other)), cx.zeros(&ty));
            cx.reduce_sum(imaginary, &[last - 1])
        };
        out.push(cx.sub(beside(-1), beside(1)));
    }
    for k in out.len()..op.count as usize {
        out.push(zero_info(f, op, k)?);
    }
    Ok(out)
}

/// Lowers `orgqr`: the leading columns of the product of reflectors.
fn product(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a, taus] = matrices(f, op)?;
    one(product_of_reflectors(f.cx(), a, taus)?)
}

/// Lowers `ormqr`: the product of reflectors, or its adjoint, times a matrix.
fn multiply(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a, taus, c] = matrices(f, op)?;
    let is = |name: &str| setting(op, name).and_then(Attr::bool).unwrap_or(false);
    let turned = is("transpose");
    one(apply_reflectors(f.cx(), a, taus, c, is("left"), turned)?)
}

/// Eigenvectors and eigenvalues of the Hermitian matrix given by one triangle.
fn eigenpairs(f: &FunctionLowering<'_>, a: Val, lower: bool, vectors: bool) -> (Val, Val) {
    let cx = f.cx();
    let y = cx.emit(Eigh { vectors }.into(), &[hermitian_operand(f, a, lower)]);
    match y[..] {
        [w, v] => (v, w),
        _ => (a, y[0]),
    }
}

fn syevd(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let (v, w) = eigenpairs(f, a, letter(op, "uplo")? == 'L', letter(op, "mode")? == 'V');
    Ok(Vals::from_slice(&[v, w, zero_info(f, op, 2)?]))
}

/// Lowers `Eigh`, the name on other platforms. The first character of the configuration selects the
/// triangle: `0` is the upper one.
fn eigh(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let upper = find(op, &["backend_config"])
        .and_then(Attr::word)
        .is_some_and(|c| c.starts_with('0'));
    let (v, w) = eigenpairs(f, a, !upper, true);
    Ok(Vals::from_slice(&[v, w]))
}

/// Lowers `gesdd`: a result for the overwritten operand, singular values, left and right vectors,
/// and `info`.
fn svd(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let cx = f.cx();
    let (vectors, full) = match letter(op, "mode")? {
        'N' => (false, false),
        'A' => (true, true),
        _ => (true, false),
    };
    let y = cx.emit(Svd { vectors, full }.into(), &[a]);
    let (u, s, v) = match y[..] {
        [u, s, v] => (u, s, v),
        _ => (
            cx.zeros(&f.result(op, 2)?),
            y[0],
            cx.zeros(&f.result(op, 3)?),
        ),
    };
    Ok(Vals::from_slice(&[a, s, u, v, zero_info(f, op, 4)?]))
}

/// Lowers `geev`: eigenvalues (real and imaginary parts for a real matrix), left and right
/// eigenvectors, and `info`. Eigenvalues are in LAPACK's order; each vector has norm 1 and a real
/// largest component.
fn geev(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [a] = matrices(f, op)?;
    let (cx, real) = (f.cx(), !f.cx().ty(a).dtype.is_complex());
    let (left, right) = (
        letter(op, "compute_left")? == 'V',
        letter(op, "compute_right")? == 'V',
    );
    let of = |left: bool| {
        cx.emit(
            Eig {
                order: EigOrder::Lapack,
                left,
                ..Eig::default()
            }
            .into(),
            &[a],
        )
    };
    let w = match left || right {
        true => of(!right)[0],
        false => cx.op(
            Eig {
                vectors: false,
                order: EigOrder::Lapack,
                left: false,
            },
            &[a],
        ),
    };
    let mut out = if real {
        vec![cx.real(w), cx.imag(w)]
    } else {
        vec![w]
    };
    let k = out.len();
    for (k, wanted, side) in [(k, left, true), (k + 1, right, false)] {
        out.push(if wanted {
            of(side)[1]
        } else {
            cx.zeros(&f.result(op, k)?)
        });
    }
    out.push(zero_info(f, op, k + 2)?);
    Ok(out.into())
}
