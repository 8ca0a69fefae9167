"""A test for each function of the table: signature, and eager = compiled = tape to the bit; gradients by finite differences."""

import inspect

import numpy as np
import pytest

import cotangent as ct
from cotangent import _elementwise, _reductions

X = np.array([[0.3, 0.7, 0.45], [0.62, 0.21, 0.9]])
Y = np.array([[0.55, 0.35, 0.8], [0.15, 0.65, 0.4]])
FLOATS = [r for r in _elementwise.UNARY if r[0] not in ("stop_gradient",)]
SMOOTH = {"add", "subtract", "multiply", "divide", "atan2", "hypot", "logaddexp", "maximum", "minimum", "xlogy"}
SHIFTED = {"acosh": 1.5}


def bits(x):
    return np.asarray(x).tobytes()


def agree(f, *x):
    """Eager, compiled and recorded results have the same bits."""
    eager = f(*map(ct.asarray, x))
    assert bits(ct.jit(f)(*x)) == bits(eager)
    tape = f(*map(ct.variable, x)) if all(np.asarray(a).dtype.kind in "fc" for a in x) else eager
    assert bits(tape.detach()) == bits(eager)
    return eager


def slope(f, x, v, h=1e-6):
    return (np.asarray(f(x + h * v)) - np.asarray(f(x - h * v))) / (2 * h)


@pytest.mark.parametrize("name", [r[0] for r in FLOATS])
def test_elementwise_functions_of_one_array(name):
    f, x = getattr(ct, name), X + SHIFTED.get(name, 0.0)
    assert str(inspect.signature(f)).startswith("(x: ArrayLike, /)") or "x" in str(inspect.signature(f))
    assert f.__doc__ and f.__name__ == name
    agree(f, x)
    v = np.ones_like(x)
    _, dy = ct.jvp(f, (x,), (v,))
    np.testing.assert_allclose(dy, slope(f, x, v), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", [r[0] for r in _elementwise.BINARY])
def test_elementwise_functions_of_two_arrays(name):
    f = getattr(ct, name)
    kind = next(r[2] for r in _elementwise.BINARY if r[0] == name)
    if name.startswith("bitwise"):
        agree(f, np.array([5, 3]), np.array([1, 2]))
        return
    y = agree(f, X, Y)
    assert (y.dtype == ct.bool) == (kind == "compare")
    if name in SMOOTH:
        v = np.ones_like(X)
        _, dy = ct.jvp(lambda a: f(a, Y), (X,), (v,))
        np.testing.assert_allclose(dy, slope(lambda a: f(a, Y), X, v), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", [n for n in _reductions.NAMES if n not in ("any", "all", "count_nonzero")])
def test_reductions(name):
    f = getattr(ct, name)
    options = {"axis": 1}
    g = lambda x: f(x, **options)
    agree(g, X)
    v = np.ones_like(X)
    _, dy = ct.jvp(g, (X,), (v,))
    np.testing.assert_allclose(dy, slope(g, X, v), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "std", "var", "argmax", "cumsum", "any"])
def test_methods_are_numpy_s(name):
    for axis in (None, 0, -1):
        mine, theirs = getattr(ct.asarray(X), name)(axis=axis), getattr(X, name)(axis=axis)
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)


def test_every_name_has_a_signature_and_a_sentence():
    for name in ct.__all__:
        f = getattr(ct, name)
        if callable(f) and not isinstance(f, type):
            assert f.__doc__, name
            inspect.signature(f)
