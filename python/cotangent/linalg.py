"""Linear algebra: the array API's extension, and more. Leading axes are batches."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from cotangent import _cotangent, _products, _shapes
from cotangent._core import Array, ArrayLike, Axis, array, axes_of, floating, kept, one_axis, op, raise_
from cotangent._elementwise import abs as _abs, conj as _conj, where as _where
from cotangent._reductions import count_nonzero as _count, max as _max, min as _min, sum as _sum

matmul = _products.matmul
matrix_transpose = _shapes.matrix_transpose
outer = _products.outer
tensordot = _products.tensordot
vecdot = _products.vecdot

EighResult = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
EigResult = collections.namedtuple("EigResult", "eigenvalues eigenvectors")
QRResult = collections.namedtuple("QRResult", "Q R")
SlogdetResult = collections.namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = collections.namedtuple("SVDResult", "U S Vh")
LUResult = collections.namedtuple("LUResult", "P L U")


def _matrix(x: ArrayLike) -> Array:
    x = floating(x)
    if x.ndim < 2:
        raise raise_("ShapeMismatch", f"a matrix has two axes or more, not {x.ndim}")
    return x


def cholesky(x: ArrayLike, /, *, upper: bool = False, check: bool | None = None) -> Array:
    """The triangular L with ``L L^H = x``, or its adjoint with ``upper``.

    A matrix that is not positive definite is an error eagerly; in programs NaN, or an error with ``check=True``.
    """
    x = _matrix(x)
    factor, ok = op("cholesky_ex", (x,))
    if check or (check is None and not x.traced):
        factor = op("guard", (factor, ok), {"code": "not_positive_definite", "raise": True})
    return _conj(factor.mT) if upper else factor


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along an axis."""
    from cotangent._elementwise import broadcast_arrays
    x1, x2 = _cotangent.promoted(x1, x2)
    for x in (x1, x2):
        if x.shape[one_axis(axis, x.ndim)] != 3:
            raise raise_("ShapeMismatch", "a cross product is of vectors of three elements")
    a, b = broadcast_arrays(_shapes.moveaxis(x1, axis, -1), _shapes.moveaxis(x2, axis, -1))
    return _shapes.moveaxis(op("cross", (a, b), {"axis": a.ndim - 1}), -1, axis)


def det(x: ArrayLike, /) -> Array:
    """The determinant; its derivative is right for singular matrices, too."""
    return op("det", (_matrix(x),))


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonal of the last two axes, ``offset`` above the main one."""
    x = array(x)
    if x.ndim < 2:
        raise raise_("ShapeMismatch", f"a diagonal is of two axes or more, not {x.ndim}")
    n, m = x.shape[-2:]
    if offset:
        x = x[..., offset:] if offset > 0 else x[..., -offset:, :]
        if isinstance(n, int) and isinstance(m, int) and (offset >= m or -offset >= n):
            return _shapes.reshape(x[..., :0, :0], (*x.shape[:-2], 0))
    return op("diagonal", (x,))


def eig(x: ArrayLike, /) -> EigResult:
    """Complex eigenvalues and eigenvectors of square matrices."""
    return EigResult(*op("eig", (_matrix(x),)))


def eigvals(x: ArrayLike, /) -> Array:
    """Complex eigenvalues of square matrices."""
    return op("eig", (_matrix(x),), {"vectors": False})


def eigh(x: ArrayLike, /) -> EighResult:
    """Eigenvalues, ascending, and eigenvectors of the Hermitian part."""
    return EighResult(*op("eigh", (_matrix(x),)))


def eigvalsh(x: ArrayLike, /) -> Array:
    """Eigenvalues, ascending, of the Hermitian part."""
    return op("eigvalsh", (_matrix(x),))


def inv(x: ArrayLike, /) -> Array:
    """The inverse of square matrices."""
    return op("inv", (_matrix(x),))


def lstsq(a: ArrayLike, b: ArrayLike, /) -> Array:
    """The x of least norm that minimises ``|a x - b|``."""
    return op("lstsq", _cotangent.promoted(a, b, kind="float"))


def lu(x: ArrayLike, /) -> LUResult:
    """A permutation P, a unit lower triangular L and an upper triangular U: ``x = P L U``."""
    from cotangent._create import eye
    x = _matrix(x)
    n, m = x.shape[-2:]
    k = min(n, m)
    packed, _, perm = op("lu", (x,))
    lower = op("tril", (packed[..., :, :k],), {"k": -1}) + eye(n, k, dtype=x.dtype)
    upper = op("triu", (packed[..., :k, :],))
    p = _cotangent.convert(perm[..., None, :] == _cotangent.iota(n, "int64")[:, None], x.dtype)
    return LUResult(p, lower, upper)


def matrix_exp(x: ArrayLike, /) -> Array:
    """The exponential of square matrices."""
    return op("matrix_exp", (_matrix(x),))


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """A norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    x = _matrix(x)
    whole = isinstance(ord, float) and ord.is_integer()
    return kept(op("matrix_norm", (x,), {"ord": str(int(ord) if whole else ord)}), x, [x.ndim - 2, x.ndim - 1], keepdims)


def matrix_power(x: ArrayLike, n: int, /) -> Array:
    """Square matrices to an integer power."""
    return op("matrix_power", (_matrix(x),), {"n": n})


def matrix_rank(x: ArrayLike, /, *, rtol: Any = None) -> Array:
    """The number of singular values above ``rtol`` times the largest."""
    from cotangent._create import finfo
    x = _matrix(x)
    s = svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps
    limit = _max(s, axis=-1, keepdims=True) * (array(rtol)[..., None] if not isinstance(rtol, float) else rtol)
    return _count(s > limit, axis=-1)


def pinv(x: ArrayLike, /, *, rtol: Any = None) -> Array:
    """The Moore-Penrose inverse; singular values up to ``rtol`` times the largest count as zero."""
    x = _matrix(x)
    if rtol is None or isinstance(rtol, (int, float)):
        return op("pinv", (x,), {"rtol": None if rtol is None else float(rtol)})
    u, s, vh = svd(x, full_matrices=False)
    small = s <= _max(s, axis=-1, keepdims=True) * array(rtol)[..., None]
    inverse = _where(small, s * 0, 1 / _where(small, s * 0 + 1, s))
    return matmul(_conj(vh.mT) * inverse[..., None, :], _conj(u.mT))


def qr(x: ArrayLike, /, *, mode: str = "reduced") -> QRResult:
    """Q with orthonormal columns and an upper triangular R; ``mode="complete"``: a square Q."""
    if mode not in ("reduced", "complete"):
        raise raise_("Attribute", f"mode is 'reduced' or 'complete', not {mode!r}")
    return QRResult(*op("qr", (_matrix(x),), {"complete": mode == "complete"}))


def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """Sign (phase) and logarithm of the magnitude of the determinant."""
    return SlogdetResult(*op("slogdet", (_matrix(x),)))


def solve(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The solution of ``x1 x = x2``: a vector, or matrices, whose batches broadcast."""
    from cotangent._elementwise import broadcast_shapes, broadcast_to
    a, b = _cotangent.promoted(x1, x2, kind="float")
    if a.ndim < 2:
        raise raise_("ShapeMismatch", f"a matrix has two axes or more, not {a.ndim}")
    vector = b.ndim == 1
    if vector:
        b = b[:, None]
    if a.shape[-1] != b.shape[-2]:
        raise raise_("ShapeMismatch", f"solve with a matrix of shape {a.shape} and right sides of shape {b.shape}")
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = op("solve", (broadcast_to(a, (*batch, *a.shape[-2:])), broadcast_to(b, (*batch, *b.shape[-2:]))))
    return y[..., 0] if vector else y


def svd(x: ArrayLike, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular values, descending, with U and V^H."""
    return SVDResult(*op("svd", (_matrix(x),), {"full": full_matrices}))


def svdvals(x: ArrayLike, /) -> Array:
    """Singular values, descending."""
    return op("svdvals", (_matrix(x),))


def svd_truncated(x: ArrayLike, k: int, /) -> SVDResult:
    """The ``k`` largest singular values with their vectors."""
    return SVDResult(*op("svd_truncated", (_matrix(x),), {"k": k}))


def svd_thresholded(x: ArrayLike, tol: float, /) -> SVDResult:
    """The singular values above ``tol`` times the largest, with their vectors."""
    return SVDResult(*op("svd_thresholded", (_matrix(x),), {"rtol": float(tol)}))


def low_rank_approximation(x: ArrayLike, k: int, /) -> Array:
    """The nearest matrix of rank ``k``."""
    return op("low_rank_approximation", (_matrix(x),), {"k": k})


def spectral_function(f: Callable[[Array], Array], x: ArrayLike, /) -> Array:
    """``V diag(f(w)) V^H`` for the eigenvalues w of the Hermitian part; exact where eigenvalues coincide."""
    from cotangent._create import zeros
    from cotangent._transforms import trace as program_of
    x = _matrix(x)
    real = {"complex64": "float32", "complex128": "float64"}.get(x.dtype.name, x.dtype)
    return op("spectral", (x,), {"f": program_of(f, zeros((), dtype=real))})


def expm_hermitian(x: ArrayLike, /) -> Array:
    """The exponential of the Hermitian part."""
    return op("expm_hermitian", (_matrix(x),))


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of a diagonal of the last two axes."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def triangular_solve(a: ArrayLike, b: ArrayLike, /, *, lower: bool = True, transpose: bool = False, unit: bool = False) -> Array:
    """The solution of ``a x = b`` (or ``a^T x = b``) for a triangular a; ``unit``: its diagonal is one."""
    from cotangent._create import eye
    a, b = _cotangent.promoted(a, b, kind="float")
    if unit:
        n = a.shape[-1]
        a = op("tril" if lower else "triu", (a,), {"k": -1 if lower else 1}) + eye(n, dtype=a.dtype)
    vector = b.ndim == 1
    y = op("triangular_solve", (a, b[:, None] if vector else b), {
        "lower": lower, "transpose_a": "transpose" if transpose else "none"})
    return y[..., 0] if vector else y


def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The ``ord``-norm over axes; that of no differences has gradient zero."""
    x = floating(x)
    axes = sorted(axes_of(axis, x.ndim))
    if ord == 2:
        return op("norm", (x,), {"axes": axes, "keepdims": keepdims})
    size = _abs(x)
    if ord == float("inf"):
        y = _max(size, axis=tuple(axes))
    elif ord == float("-inf"):
        y = _min(size, axis=tuple(axes))
    elif ord == 0:
        y = _cotangent.convert(_count(x, axis=tuple(axes)), size.dtype)
    elif ord == 1:
        y = _sum(size, axis=tuple(axes))
    else:
        y = _sum(size ** ord, axis=tuple(axes)) ** (1 / ord)
    return kept(y, x, axes, keepdims)


NAMES = ["matmul", "matrix_transpose", "outer", "tensordot", "vecdot", "cholesky", "cross", "det", "diagonal", "eig", "eigvals",
         "eigh", "eigvalsh", "inv", "lstsq", "lu", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "pinv", "qr",
         "slogdet", "solve", "svd", "svdvals", "svd_truncated", "svd_thresholded", "low_rank_approximation",
         "spectral_function", "expm_hermitian", "trace", "triangular_solve", "vector_norm"]
__all__ = NAMES
