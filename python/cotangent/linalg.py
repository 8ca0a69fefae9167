"""Linear algebra: the array API's extension, and more. Leading axes are batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cotangent import _cotangent, _products, _shapes
from cotangent._core import Array, ArrayLike, Axis, array, axes_of, beside, floating, kept, one_axis, op, raise_, several
from cotangent._elementwise import abs as _abs, conj as _conj, where as _where
from cotangent._reductions import count_nonzero as _count, max as _max, min as _min, sum as _sum

matmul = _products.matmul
matrix_transpose = _shapes.matrix_transpose
outer = _products.outer
tensordot = _products.tensordot
vecdot = _products.vecdot

class EighResult(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Complex eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """Sign (or phase) and logarithm of the magnitude of a determinant."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values, right singular vectors as rows."""

    U: Array
    S: Array
    Vh: Array


class LUResult(NamedTuple):
    """A permutation, a unit lower and an upper triangle."""

    P: Array
    L: Array
    U: Array


def _matrix(x: ArrayLike) -> Array:
    y = floating(x)
    if y.ndim < 2:
        raise raise_("ShapeMismatch", f"a matrix has two axes or more, not {y.ndim}")
    return y


def cholesky(x: ArrayLike, /, *, upper: bool = False, check: bool | None = None) -> Array:
    """The triangular L with ``L L^H = x``, or its adjoint with ``upper``.

    A matrix that is not positive definite is an error eagerly; in programs NaN, or an error with ``check=True``.

    >>> ct.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]], dtype=float64)
    """
    x = _matrix(x)
    factor, ok = several("cholesky_ex", (x,))
    if check or (check is None and not x.traced):
        factor = op("guard", (factor, ok), {"code": "not_positive_definite", "raise": True})
    return _conj(factor.mT) if upper else factor


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along an axis.

    >>> ct.linalg.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1], dtype=int64)
    """
    from cotangent._elementwise import broadcast_arrays
    x1, x2 = _cotangent.promoted(x1, x2)
    for x in (x1, x2):
        if x.shape[one_axis(axis, x.ndim)] != 3:
            raise raise_("ShapeMismatch", "a cross product is of vectors of three elements")
    a, b = broadcast_arrays(_shapes.moveaxis(x1, axis, -1), _shapes.moveaxis(x2, axis, -1))
    return _shapes.moveaxis(op("cross", (a, b), {"axis": a.ndim - 1}), -1, axis)


def det(x: ArrayLike, /) -> Array:
    """The determinant; its derivative is right for singular matrices, too.

    >>> ct.linalg.det([[1.0, 2.0], [3.0, 4.0]])
    array(-2., dtype=float64)
    """
    return op("det", (_matrix(x),))


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonal of the last two axes, ``offset`` above the main one.

    >>> ct.linalg.diagonal([[1, 2], [3, 4]])
    array([1, 4], dtype=int64)
    """
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
    """Complex eigenvalues and eigenvectors of square matrices.

    >>> ct.linalg.eig([[0.0, 1.0], [-1.0, 0.0]]).eigenvalues
    array([0.-1.j, 0.+1.j], dtype=complex128)
    """
    return EigResult(*several("eig", (_matrix(x),)))


def eigvals(x: ArrayLike, /) -> Array:
    """Complex eigenvalues of square matrices.

    >>> ct.linalg.eigvals([[2.0, 0.0], [0.0, 3.0]])
    array([2.+0.j, 3.+0.j], dtype=complex128)
    """
    return op("eig", (_matrix(x),), {"vectors": False})


def eigh(x: ArrayLike, /) -> EighResult:
    """Eigenvalues, ascending, and eigenvectors of the Hermitian part.

    >>> ct.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
    array([1., 2.], dtype=float64)
    """
    return EighResult(*several("eigh", (_matrix(x),)))


def eigvalsh(x: ArrayLike, /) -> Array:
    """Eigenvalues, ascending, of the Hermitian part.

    >>> ct.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]])
    array([1., 3.], dtype=float64)
    """
    return op("eigvalsh", (_matrix(x),))


def inv(x: ArrayLike, /) -> Array:
    """The inverse of square matrices.

    A singular matrix is a :class:`LinAlgError` eagerly; in programs the inverse is NaN.

    >>> ct.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float64)
    """
    return op("inv", (_matrix(x),))


def lstsq(a: ArrayLike, b: ArrayLike, /) -> Array:
    """The x of least norm that minimises ``|a x - b|``.

    >>> ct.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0])
    array([2.], dtype=float64)
    """
    return op("lstsq", _cotangent.promoted(a, b, kind="float"))


def lu(x: ArrayLike, /) -> LUResult:
    """A permutation P, a unit lower triangular L and an upper triangular U: ``x = P L U``.

    >>> ct.linalg.lu([[1.0, 2.0], [4.0, 4.0]]).U
    array([[4., 4.],
           [0., 1.]], dtype=float64)
    """
    from cotangent._create import eye
    x = _matrix(x)
    n, m = x.shape[-2:]
    k = min(n, m)
    packed, _, perm = several("lu", (x,))
    lower = op("tril", (packed[..., :, :k],), {"k": -1}) + beside(x, eye(n, k, dtype=x.dtype))
    upper = op("triu", (packed[..., :k, :],))
    p = _cotangent.convert(perm[..., None, :] == beside(x, _cotangent.iota(n, "int64"))[:, None], x.dtype)
    return LUResult(p, lower, upper)


def matrix_exp(x: ArrayLike, /) -> Array:
    """The exponential of square matrices.

    >>> ct.linalg.matrix_exp([[0.0, 1.0], [0.0, 0.0]])
    array([[1., 1.],
           [0., 1.]], dtype=float64)
    """
    return op("matrix_exp", (_matrix(x),))


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """A norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    >>> ct.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]])
    array(5., dtype=float64)
    """
    x = _matrix(x)
    whole = isinstance(ord, float) and ord.is_integer()
    return kept(op("matrix_norm", (x,), {"ord": str(int(ord) if whole else ord)}), x, [x.ndim - 2, x.ndim - 1], keepdims)


def matrix_power(x: ArrayLike, n: int, /) -> Array:
    """Square matrices to an integer power.

    >>> ct.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 5)
    array([[1., 5.],
           [0., 1.]], dtype=float64)
    """
    return op("matrix_power", (_matrix(x),), {"n": n})


def matrix_rank(x: ArrayLike, /, *, rtol: Any = None) -> Array:
    """The number of singular values above ``rtol`` times the largest.

    >>> ct.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    array(1, dtype=int64)
    """
    from cotangent._create import finfo
    x = _matrix(x)
    s = svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps
    limit = _max(s, axis=-1, keepdims=True) * (array(rtol)[..., None] if not isinstance(rtol, float) else rtol)
    return _count(s > limit, axis=-1)


def pinv(x: ArrayLike, /, *, rtol: Any = None) -> Array:
    """The Moore-Penrose inverse; singular values up to ``rtol`` times the largest count as zero.

    >>> ct.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float64)
    """
    x = _matrix(x)
    if rtol is None or isinstance(rtol, (int, float)):
        return op("pinv", (x,), {"rtol": None if rtol is None else float(rtol)})
    u, s, vh = svd(x, full_matrices=False)
    small = s <= _max(s, axis=-1, keepdims=True) * array(rtol)[..., None]
    inverse = _where(small, s * 0, 1 / _where(small, s * 0 + 1, s))
    return matmul(_conj(vh.mT) * inverse[..., None, :], _conj(u.mT))


def qr(x: ArrayLike, /, *, mode: str = "reduced") -> QRResult:
    """Q with orthonormal columns and an upper triangular R; ``mode="complete"``: a square Q.

    >>> ct.linalg.qr([[3.0, 1.0], [4.0, 2.0]]).R.shape
    (2, 2)
    """
    if mode not in ("reduced", "complete"):
        raise raise_("Attribute", f"mode is 'reduced' or 'complete', not {mode!r}")
    return QRResult(*several("qr", (_matrix(x),), {"complete": mode == "complete"}))


def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """Sign (phase) and logarithm of the magnitude of the determinant.

    >>> ct.linalg.slogdet([[-2.0, 0.0], [0.0, 3.0]])
    SlogdetResult(sign=array(-1., dtype=float64), logabsdet=array(1.79175947, dtype=float64))
    """
    return SlogdetResult(*several("slogdet", (_matrix(x),)))


def solve(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The solution of ``x1 x = x2``: a vector, or matrices, whose batches broadcast.

    A singular matrix is a :class:`LinAlgError` eagerly; in programs the solution is NaN.

    >>> ct.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0])
    array([0.5 , 0.25], dtype=float64)
    """
    a, b = _cotangent.promoted(x1, x2, kind="float")
    if a.ndim < 2:
        raise raise_("ShapeMismatch", f"a matrix has two axes or more, not {a.ndim}")
    return _cotangent.solve(a, b)


def svd(x: ArrayLike, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular values, descending, with U and V^H.

    >>> ct.linalg.svd([[3.0, 0.0], [0.0, 4.0]]).S
    array([4., 3.], dtype=float64)
    """
    return SVDResult(*several("svd", (_matrix(x),), {"full": full_matrices}))


def svdvals(x: ArrayLike, /) -> Array:
    """Singular values, descending.

    >>> ct.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
    array([4., 3.], dtype=float64)
    """
    return op("svdvals", (_matrix(x),))


def svd_truncated(x: ArrayLike, k: int, /) -> SVDResult:
    """The ``k`` largest singular values with their vectors.

    >>> ct.linalg.svd_truncated([[3.0, 0.0], [0.0, 4.0]], 1).S
    array([4.], dtype=float64)
    """
    return SVDResult(*several("svd_truncated", (_matrix(x),), {"k": k}))


def svd_thresholded(x: ArrayLike, tol: float, /) -> SVDResult:
    """The singular values above ``tol`` times the largest, with their vectors.

    >>> ct.linalg.svd_thresholded([[3.0, 0.0], [0.0, 1e-9]], 1e-6).S
    array([3.], dtype=float64)
    """
    return SVDResult(*several("svd_thresholded", (_matrix(x),), {"rtol": float(tol)}))


def low_rank_approximation(x: ArrayLike, k: int, /) -> Array:
    """The nearest matrix of rank ``k``.

    >>> ct.linalg.low_rank_approximation([[3.0, 0.0], [0.0, 4.0]], 1)
    array([[0., 0.],
           [0., 4.]], dtype=float64)
    """
    return op("low_rank_approximation", (_matrix(x),), {"k": k})


def spectral_function(f: Callable[[Array], Array], x: ArrayLike, /) -> Array:
    """``V diag(f(w)) V^H`` for the eigenvalues w of the Hermitian part; exact where eigenvalues coincide.

    >>> ct.linalg.spectral_function(ct.sqrt, [[4.0, 0.0], [0.0, 9.0]])
    array([[2., 0.],
           [0., 3.]], dtype=float64)
    """
    from cotangent._create import zeros
    from cotangent._transforms import trace as program_of
    x = _matrix(x)
    real = {"complex64": "float32", "complex128": "float64"}.get(x.dtype.name, x.dtype)
    return op("spectral", (x,), {"f": program_of(f, zeros((), dtype=real))})


def expm_hermitian(x: ArrayLike, /) -> Array:
    """The exponential of the Hermitian part.

    >>> ct.linalg.expm_hermitian([[0.0, 0.0], [0.0, 1.0]])
    array([[1.        , 0.        ],
           [0.        , 2.71828183]], dtype=float64)
    """
    return op("expm_hermitian", (_matrix(x),))


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of a diagonal of the last two axes.

    >>> ct.linalg.trace([[1, 2], [3, 4]])
    array(5, dtype=int64)
    """
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def triangular_solve(a: ArrayLike, b: ArrayLike, /, *, lower: bool = True, transpose: bool = False, unit: bool = False) -> Array:
    """The solution of ``a x = b`` (or ``a^T x = b``) for a triangular a; ``unit``: its diagonal is one.

    >>> ct.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [2.0, 3.0])
    array([1., 2.], dtype=float64)
    """
    from cotangent._create import eye
    a, b = _cotangent.promoted(a, b, kind="float")
    if unit:
        n = a.shape[-1]
        a = op("tril" if lower else "triu", (a,), {"k": -1 if lower else 1}) + beside(a, eye(n, dtype=a.dtype))
    vector = b.ndim == 1
    y = op("triangular_solve", (a, b[:, None] if vector else b), {
        "lower": lower, "transpose_a": "transpose" if transpose else "none"})
    return y[..., 0] if vector else y


def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The ``ord``-norm over axes; that of no differences has gradient zero.

    >>> ct.linalg.vector_norm([3.0, 4.0])
    array(5., dtype=float64)
    """
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


__all__ = ["matmul", "matrix_transpose", "outer", "tensordot", "vecdot", "cholesky", "cross", "det", "diagonal", "eig", "eigvals",
         "eigh", "eigvalsh", "inv", "lstsq", "lu", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "pinv", "qr",
         "slogdet", "solve", "svd", "svdvals", "svd_truncated", "svd_thresholded", "low_rank_approximation",
         "spectral_function", "expm_hermitian", "trace", "triangular_solve", "vector_norm"]
