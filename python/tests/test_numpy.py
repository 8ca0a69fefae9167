"""Functions agree with NumPy: on arrays in, and when NumPy's own functions are called."""

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
}


@pytest.mark.parametrize("name", CALLS)
def test_numpy_s_spelling(name):
    np.testing.assert_allclose(CALLS[name](cnp), CALLS[name](np), rtol=1e-14)


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
