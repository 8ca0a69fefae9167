"""Functions agree with NumPy: on arrays in, and when NumPy's own functions are called."""

import subprocess
import sys

import numpy as np
import pytest

import cotangent as ct
import cotangent.numpy as cnp

A = np.arange(24.0).reshape(2, 3, 4) / 7
CALLS = {
    "concatenate": lambda m: m.concatenate([A, A], axis=1),
    "stack": lambda m: m.stack([A, A], axis=-1),
    "roll": lambda m: m.roll(A, 2, axis=1),
    "tile": lambda m: m.tile(A, (2, 1, 2)),
    "repeat": lambda m: m.repeat(A, 2, axis=1),
    "pad": lambda m: m.pad(A, ((1, 0), (0, 2), (1, 1)), "edge"),
    "diff": lambda m: m.diff(A, axis=-1),
    "take": lambda m: m.take(A, [0, -1], axis=1),
    "sort": lambda m: m.sort(-A, axis=1),
    "tril": lambda m: m.tril(A[0], -1),
    "diag": lambda m: m.diag(A[0, 0], 1),
    "trace": lambda m: m.trace(A),
    "dot": lambda m: m.dot(A, A[0].T),
    "inner": lambda m: m.inner(A[0], A[0]),
    "einsum": lambda m: m.einsum("ijk,ijl->kl", A, A),
    "median": lambda m: m.median(A, axis=(0, 2)),
    "nan_to_num": lambda m: m.nan_to_num(np.array([1.0, np.nan, np.inf])),
    "clip": lambda m: m.clip(A, 1.0, 2.0),
    "vstack": lambda m: m.vstack([A[0], A[0]]),
    "searchsorted": lambda m: m.searchsorted(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 2.0, 5.0]), side="right"),
    "cumsum": lambda m: m.cumsum(A),
    "floor_divide": lambda m: m.floor_divide(np.array([7.0, -7.0, 0.0]), np.array([2.0, 2.0, -3.0])),
    "remainder": lambda m: m.remainder(np.array([7, -7, 3]), np.array([2, 2, -2])),
    "sum where": lambda m: m.sum(A, axis=1, where=A > 1, initial=2.0),
    "prod where": lambda m: m.prod(A, axis=(0, 2), where=A > 1),
    "mean where": lambda m: m.mean(A, axis=0, where=A > 0.1),
    "max initial": lambda m: m.max(A, axis=1, initial=2.0, where=A < 3),
    "any where": lambda m: m.any(A > 3, axis=0, where=A < 3.2),
    "all where": lambda m: m.all(A < 1, axis=0, where=A < 1),
    "average": lambda m: m.average(A, axis=1, weights=np.arange(1.0, 4.0)),
    "average returned": lambda m: m.average(A, weights=A + 1, returned=True)[1],
    "std correction": lambda m: m.std(A, axis=1, correction=1),
    "reshape F": lambda m: m.reshape(A, (4, -1), order="F"),
    "ravel F": lambda m: m.ravel(A, "F"),
    "take wrap": lambda m: m.take(A, [5, -7], axis=1, mode="wrap"),
    "float_power": lambda m: m.float_power(np.array([2, 3]), 2),
    "array_equal": lambda m: m.array_equal(np.array([1.0, np.nan]), np.array([1.0, np.nan]), equal_nan=True),
    "array ndmin": lambda m: m.array([1, 2], dtype="float32", ndmin=2),
    "divmod": lambda m: m.divmod(A, 0.3)[0],
    "angle": lambda m: m.angle(A - 1j, deg=True),
    "isclose": lambda m: m.isclose(np.array([1.0, np.nan, np.inf, 2.0]), np.array([1.0 + 1e-9, np.nan, np.inf, 2.1]), equal_nan=True),
    "argwhere": lambda m: m.argwhere(A > 2),
    "flatnonzero": lambda m: m.flatnonzero(A > 2),
    "append": lambda m: m.append(A, A[:, :1], axis=1),
    "ediff1d": lambda m: m.ediff1d(np.array([1.0, 4.0, 9.0]), to_begin=0.0, to_end=[7.0, 8.0]),
    "rollaxis": lambda m: m.rollaxis(A, 2, 1),
    "rot90": lambda m: m.rot90(A, 3, axes=(0, 2)),
    "array_split": lambda m: m.array_split(np.arange(8.0), 3)[1],
    "hsplit": lambda m: m.hsplit(A, [1])[1],
    "dsplit": lambda m: m.dsplit(A, 2)[1],
    "tri": lambda m: m.tri(3, 4, 1),
    "vander": lambda m: m.vander(np.arange(3.0), 4),
    "logspace": lambda m: m.logspace(0.0, 2.0, 5),
    "geomspace": lambda m: m.geomspace(1.0, 1000.0, 4),
    "select": lambda m: m.select([A > 2, A < 1], [A, -A], 7.0),
    "polyval": lambda m: m.polyval(np.array([1.0, 2.0, 3.0]), A),
    "trapezoid": lambda m: m.trapezoid(A, axis=1, dx=0.5),
    "gradient": lambda m: m.gradient(A, 0.5, axis=2),
    "gradients": lambda m: m.gradient(A[0])[1],
    "convolve": lambda m: m.convolve(np.arange(4.0), np.array([1.0, -2.0, 5.0]), "same"),
    "convolve full": lambda m: m.convolve(np.arange(4.0), np.array([1.0, -2.0])),
    "correlate": lambda m: m.correlate(np.arange(4.0), np.array([1.0, -2.0, 5.0]), "full"),
    "cov": lambda m: m.cov(A[0]),
    "corrcoef": lambda m: m.corrcoef(np.sin(A[0])),
    "quantile": lambda m: m.quantile(A, np.array([0.1, 0.5]), axis=(0, 2)),
    "quantile keepdims": lambda m: m.quantile(A, 0.3, axis=1, keepdims=True),
    "percentile": lambda m: m.percentile(A, 30, axis=1),
    **{f"nan{n}": lambda m, n=n: getattr(m, f"nan{n}")(np.where(A > 3, np.nan, A), axis=1)
       for n in ("sum", "prod", "max", "min", "mean", "var", "std")},
    "norm": lambda m: m.linalg.norm(A[0], 1),
    "norm axes": lambda m: m.linalg.norm(A, axis=(0, 2), keepdims=True),
    "singular values": lambda m: m.linalg.svd(A, compute_uv=False),
    "lstsq": lambda m: m.linalg.lstsq(A[0] ** 2 + np.eye(3, 4), A[0, :, 0])[0],
    "lstsq residuals": lambda m: m.linalg.lstsq(np.sin(A[0, :, :2]), A[0, :, 3])[1],
    "rank": lambda m: m.linalg.matrix_rank(A[0]),
    "multi_dot": lambda m: m.linalg.multi_dot([A[0, 0], A[0].T, A[0]]),
    "cond": lambda m: m.linalg.cond(np.eye(3) + A[0, :, :3]),
    "eigvalsh": lambda m: m.linalg.eigvalsh(A[0, :, :3], "U"),
    "fft": lambda m: m.fft.fft(A, 3, 1),
    "fft2": lambda m: m.fft.fft2(A, (2, 5)),
    "rfftn": lambda m: m.fft.rfftn(A, (2, 5), (0, 2), "ortho"),
    "fftfreq": lambda m: m.fft.fftfreq(7, 0.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_numpy_s_spelling(name):
    np.testing.assert_allclose(CALLS[name](cnp), CALLS[name](np), rtol=1e-12, atol=1e-14)


# NumPy's own functions, of arrays here.
DISPATCHED = {
    "sum where": lambda x: np.sum(x, where=A > 1), "ravel F": lambda x: np.ravel(x, order="F"), "fft": lambda x: np.abs(np.fft.fft(x, 3, 1)),
    "singular values": lambda x: np.linalg.svd(x, compute_uv=False), "lstsq": lambda x: np.linalg.lstsq(x[0, :, :2], x[1, :, 0], rcond=None)[0],
    "quantile": lambda x: np.quantile(np.sin(x), 0.3, axis=1), "trapezoid": lambda x: np.trapezoid(x), "gradient": lambda x: np.gradient(x, axis=0),
    "convolve": lambda x: np.convolve(x[0, 0], x[1, 1], "valid"), "reduce": lambda x: np.add.reduce(x, axis=1, initial=1.0, where=A < 3),
    "outer": lambda x: np.multiply.outer(x[0, 0], x[0, 1]), "accumulate": lambda x: np.add.accumulate(x, axis=2),
    "dtype": lambda x: np.add(x, 1, dtype=np.float64), "nanmean": lambda x: np.nanmean(x, axis=0), "float_power": lambda x: np.float_power(x + 1, 1.5),
    "eigvalsh": lambda x: np.linalg.eigvalsh(x[0, :, :3] @ x[0, :, :3].T), "average": lambda x: np.average(x, axis=2, weights=np.arange(4.0)),
}


@pytest.mark.parametrize("name", DISPATCHED)
def test_numpy_s_functions_run_eagerly_compiled_and_with_derivatives(name):
    f = DISPATCHED[name]
    np.testing.assert_allclose(f(ct.asarray(A)), f(A), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ct.jit(f)(A), f(A), rtol=1e-12, atol=1e-14)
    x = A + 0.1 * np.sin(np.arange(24.0)).reshape(A.shape)
    g = np.asarray(ct.grad(lambda x: ct.sum(ct.asarray(f(x)) ** 2))(x))
    t = np.cos(np.arange(24.0)).reshape(A.shape)
    loss = lambda x: np.sum(np.asarray(f(x)) ** 2)
    np.testing.assert_allclose((g * t).sum(), (loss(x + 1e-6 * t) - loss(x - 1e-6 * t)) / 2e-6, rtol=1e-6, atol=1e-6)


def test_where_and_out_of_ufuncs_leave_other_elements():
    w = np.full(3, 7.0)
    np.multiply(ct.arange(3.0), 2.0, out=w, where=np.array([True, False, True]))
    assert w.tolist() == [0.0, 7.0, 4.0]
    np.max(ct.arange(3.0), out=(v := np.zeros(())))
    assert float(v) == 2.0
    with pytest.raises(TypeError, match="immutable"):
        np.add(ct.ones(2), 1.0, out=ct.ones(2), where=np.array([True, False]))
    with pytest.raises(ValueError, match="initial"):
        np.max(ct.arange(3.0), where=np.array([True, False, True]))


KEYS = [0, -1, slice(None, None, -1), (Ellipsis, 1), (None, 0, slice(1, 3)), (slice(None), [0, 2]), ([0, 1], [2, 0]),
        ([0, 1], slice(None), [1, 3]), (slice(None), [[0, 1], [2, 0]], 1), A > 1, (0, np.array([True, False, True])),
        (slice(0, 0),), (1, -1, -1), (slice(None), slice(2, 0, -1), slice(None, None, 2))]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_is_numpy_s(key):
    x = ct.asarray(A)
    got, want = np.asarray(x[key]), A[key]
    assert got.shape == want.shape and np.array_equal(got, want)
    changed = A.copy()
    changed[key] = 5.0
    assert np.array_equal(x.at[key].set(5.0), changed)
    changed = A.copy()
    np.add.at(changed, key, 2.0)
    np.testing.assert_allclose(x.at[key].add(2.0), changed, rtol=1e-15)  # twice 2 is added as 4


def test_out_is_filled_and_methods_of_ufuncs_work():
    w = np.zeros(3)
    w -= 0.1 * ct.ones(3)
    assert np.allclose(w, -0.1)
    assert float(np.add.reduce(ct.arange(4.0))) == 6.0
    assert np.allclose(np.histogram(ct.arange(4.0))[0], np.histogram(np.arange(4.0))[0])


def test_the_table_is_long():
    assert len(cnp.table()) > 140


@pytest.mark.parametrize("name", ["solve", "det", "inv", "eigh", "qr", "svd", "cholesky", "slogdet", "pinv"])
def test_linear_algebra_is_numpy_s(name):
    m = A[0, :, :3] @ A[0, :, :3].T + 3 * np.eye(3)
    args = (m, A[0, :, 0]) if name == "solve" else (m,)
    got, want = getattr(ct.linalg, name)(*args), getattr(np.linalg, name)(*args)
    for a, b in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
        np.testing.assert_allclose(np.abs(a), np.abs(b), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "fftn", "ifftn", "rfftn", "irfft", "irfftn", "hfft", "ihfft"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_fourier_transforms_are_numpy_s(name, norm):
    x = A[0, :, 0] if "n" not in name[1:] else A[0]
    np.testing.assert_allclose(getattr(ct.fft, name)(x, norm=norm), getattr(np.fft, name)(x, norm=norm), rtol=1e-12, atol=1e-13)


def test_floor_division_at_infinities_is_the_array_api_s():
    x = ct.asarray([np.inf, -np.inf, 3.0, -3.0, np.inf, np.nan, 1.0, -1.0])
    y = ct.asarray([2.0, 2.0, -np.inf, np.inf, np.inf, 1.0, 0.0, 0.0])
    for got in (np.asarray(x // y), np.asarray(ct.jit(ct.floor_divide)(x, y))):
        np.testing.assert_array_equal(got, [np.inf, -np.inf, -0.0, -0.0, np.nan, np.nan, np.inf, -np.inf])
        assert np.signbit(got[2]) and np.signbit(got[3])


@pytest.mark.parametrize("dtype", [ct.complex64, ct.complex128])
def test_expm1_of_complex_zeros_is_the_array_api_s(dtype):
    zeros = [complex(re, im) for re in (0.0, -0.0) for im in (0.0, -0.0)]
    x = ct.asarray(zeros, dtype=dtype)
    for y in (np.asarray(ct.expm1(x)), np.asarray(ct.jit(ct.expm1)(x)), np.asarray(ct.jit(ct.expm1)(ct.tile(x, 9)))[:4]):
        assert np.all(y == 0) and not np.signbit(y.real).any() and list(np.signbit(y.imag)) == [False, True, False, True]
    assert np.signbit(float(ct.expm1(-0.0)))


def test_from_dlpack_takes_every_array_of_numpy():
    x = np.arange(3.0)
    x.flags.writeable = False
    assert np.shares_memory(np.asarray(ct.from_dlpack(x)), x)
    assert ct.from_dlpack(np.arange(3.0)[::-1]).tolist() == [2.0, 1.0, 0.0]
    assert ct.from_dlpack(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]


def test_ufuncs_of_scipy_are_known_whenever_it_is_imported():
    code = """
import numpy as np, cotangent as ct
np.sin(ct.ones(2))
import scipy.special as special
print(float(ct.grad(lambda x: special.gammaln(x))(3.0)), "erf" in ct.numpy.table())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.stdout.startswith("0.92278433509846") and out.stdout.endswith("True\n"), out.stderr


def test_quantiles_are_of_every_shape():
    q = np.array([[0.0, 0.5], [0.25, 1.0]])
    for axis in (None, 0, (0, 2)):
        for keepdims in (False, True):
            assert np.allclose(cnp.quantile(A, q, axis=axis, keepdims=keepdims), np.quantile(A, q, axis=axis, keepdims=keepdims))


def test_special_numbers_stay_where_they_are():
    x = np.array([np.inf, -1.0, np.nan])
    for k in (-1, 0, 2):
        assert np.array_equal(cnp.diag(x, k), np.diag(x, k), equal_nan=True)
    assert np.array_equal(cnp.heaviside(x, 0.5), np.heaviside(x, 0.5), equal_nan=True)
    assert cnp.heaviside([0.0, 2.0], 0.5).tolist() == [0.5, 1.0]
    assert cnp.nan_to_num(np.array([1, 2])).tolist() == [1, 2]
    assert cnp.average(np.ones(3, dtype=np.float32)).dtype == np.float32
    n = np.array([3, 1, 2], dtype=np.uint8)
    assert cnp.isclose(n, n + 1).tolist() == [False] * 3 and cnp.isclose([True], [True]).tolist() == [True]
    assert cnp.argwhere(np.float64(2)).shape == (1, 0)
    assert bool(np.allclose(ct.asarray(A), A + 1e-12)) and not cnp.allclose(A, A + 1.0)
    assert np.array_equal(cnp.gradient(n), np.gradient(n))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_correlations_have_numpy_s_order_for_every_length(mode):
    rng = np.random.default_rng(0)
    for n in range(1, 6):
        for m in range(1, 6):
            a, v = rng.normal(size=n) + 1j * rng.normal(size=n), rng.normal(size=m) + 1j * rng.normal(size=m)
            assert np.allclose(cnp.correlate(a, v, mode), np.correlate(a, v, mode))
            assert np.allclose(cnp.convolve(a, v, mode), np.convolve(a, v, mode))


def test_methods_write_to_out_and_compute_in_dtype():
    x = ct.asarray(A.astype(np.float32))
    for name in ("sum", "mean", "var", "max", "argmax"):
        out = np.zeros((3, 4), dtype=np.int64 if name == "argmax" else np.float64)
        assert getattr(x, name)(axis=0, out=out) is out
        assert np.allclose(out, getattr(A, name)(axis=0), rtol=1e-5)
    assert x.var(dtype=np.float64).dtype == np.float64
    with pytest.raises(TypeError):
        x.sum(out=ct.zeros(()))


def test_masks_are_not_lost():
    x = np.ma.array([1.0, 2.0], mask=[False, True])
    for f in (ct.asarray, lambda x: ct.asarray(x, copy=False), ct.sum, lambda x: ct.ones(2) * x, ct.jit(lambda x: x)):
        with pytest.raises(ct.DTypeError, match="masked"):
            f(x)
    assert ct.asarray(x.filled(0.0)).tolist() == [1.0, 0.0] and ct.asarray(np.asarray(x)).tolist() == [1.0, 2.0]


def test_arguments_without_a_meaning_are_refused():
    for bad in (lambda: cnp.diag(np.ones((2, 2, 2))), lambda: cnp.vander(np.ones((2, 2))), lambda: cnp.where([True], 1.0),
                lambda: cnp.array_split(np.ones(3), 0), lambda: cnp.quantile(A, 1.5), lambda: cnp.percentile(A, [50, -1]),
                lambda: cnp.gradient(np.ones(1))):
        with pytest.raises(ValueError):
            bad()
