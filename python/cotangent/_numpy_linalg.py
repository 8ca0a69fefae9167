"""``numpy.linalg``: NumPy's signatures of linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cotangent as ct
from cotangent._core import Array, array, axes_of, beside
from cotangent.linalg import (cholesky, det, eig, eigvals, inv, matrix_power, slogdet, solve, svdvals, vecdot)
from cotangent import matmul
from cotangent.numpy import cross, diagonal, matrix_transpose, outer, tensordot, trace


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """``numpy.linalg.norm``."""
    x = array(x)
    if axis is None and (ord is None or x.ndim == 1):
        return ct.linalg.vector_norm(x, ord=2 if ord is None else ord, keepdims=keepdims)
    axes = axes_of(axis, x.ndim)
    if len(axes) == 1:
        return ct.linalg.vector_norm(x, axis=axes[0], ord=2 if ord is None else ord, keepdims=keepdims)
    y = ct.linalg.matrix_norm(ct.moveaxis(x, axes, (-2, -1)), ord="fro" if ord is None else ord)
    return y if not keepdims else ct.expand_dims(y, tuple(axes))


def eigh(a: Any, UPLO: str = "L") -> Any:
    """The spectrum of a Hermitian matrix, of which one triangle is read."""
    return ct.linalg.eigh(_hermitian(a, UPLO))


def eigvalsh(a: Any, UPLO: str = "L") -> Array:
    """The eigenvalues of a Hermitian matrix, of which one triangle is read."""
    return ct.linalg.eigvalsh(_hermitian(a, UPLO))


def _hermitian(a: Any, triangle: str) -> Array:
    """The Hermitian matrix of a triangle."""
    if triangle.upper() not in ("L", "U"):
        raise ValueError(f"UPLO is 'L' or 'U', not {triangle!r}")
    x = array(a)
    lower = triangle.upper() == "L"
    part = ct.tril(x, k=-1) if lower else ct.triu(x, k=1)
    middle = beside(x, ct.eye(x.shape[-1], dtype=x.dtype)) * ct.linalg.diagonal(ct.real(x))[..., None, :]
    return part + ct.conj(part.mT) + middle


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """U, S and V^H, or the singular values alone."""
    return ct.linalg.svd(a, full_matrices=full_matrices) if compute_uv else ct.linalg.svdvals(a)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Q and R, or R alone for ``mode="r"``."""
    return ct.linalg.qr(a).R if mode == "r" else ct.linalg.qr(a, mode=mode)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """The Moore-Penrose inverse; singular values up to ``rtol`` times the largest count as zero."""
    small = rcond if rtol is None else rtol
    return ct.linalg.pinv(a, rtol=1e-15 if small is None else small)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """The number of singular values above ``tol``, or above ``rtol`` times the largest."""
    if tol is None:
        return ct.linalg.matrix_rank(A, rtol=rtol)
    s = ct.linalg.svdvals(A)
    return ct.count_nonzero(s > array(tol)[..., None], axis=-1)


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Array, Array, Array, Array]:
    """The solution of least squares, the sums of squared residuals, the rank and the singular values."""
    a, b = array(a), array(b)
    s = ct.linalg.svdvals(a)
    limit = ct.finfo(s.dtype).eps * max(a.shape) if rcond is None else rcond
    if rcond is not None:
        x = ct.linalg.pinv(a, rtol=float(rcond)) @ b
    else:
        x = ct.linalg.lstsq(a, b)
    rank = ct.count_nonzero(s > limit * ct.max(s))
    r = a @ x - b
    squares = ct.sum(ct.real(r * ct.conj(r)), axis=0)
    known = not (s.traced or a.shape[0] <= a.shape[1]) and int(rank) == a.shape[1]
    return x, ct.reshape(squares, (-1,)) if known else squares[..., None][:0].reshape(0), rank, s


def multi_dot(arrays: Sequence[Any]) -> Array:
    """The product of several matrices, in the cheapest order."""
    found = [array(x) for x in arrays]
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if len(found) + 1 > len(letters):
        raise ValueError(f"multi_dot of {len(found)} arrays: at most {len(letters) - 1}")
    at = 0
    terms = []
    for k, x in enumerate(found):
        if x.ndim == 1 and k == 0:
            terms.append(letters[0])
            continue
        terms.append(letters[at:at + x.ndim])
        at += x.ndim - 1
    first, last = terms[0][0] if found[0].ndim == 2 else "", terms[-1][-1] if found[-1].ndim == 2 else ""
    return ct.einsum(",".join(terms) + "->" + first + last, *found)


def cond(x: Any, p: Any = None) -> Array:
    """The condition number, by singular values or by the norms of the matrix and its inverse."""
    if p is None or p in (2, -2):
        s = ct.linalg.svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return ct.linalg.matrix_norm(x, ord=p) * ct.linalg.matrix_norm(inv(x), ord=p)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """A norm of matrices."""
    return ct.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """A norm of vectors."""
    return ct.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


__all__ = ["cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
           "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
           "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]
