"""Functions in programs of JAX, and functions of JAX here."""

import subprocess
import sys

import numpy as np
import pytest

import cotangent as ct

jax = pytest.importorskip("jax")
jnp = jax.numpy
jax.config.update("jax_enable_x64", True)

P, X = {"w": np.full((3, 2), 0.3)}, np.linspace(0, 1, 12).reshape(4, 3)
layer = ct.jax.wrap(lambda p, x: ct.sum(ct.tanh(x @ p["w"]) ** 2))


def same(p, x):
    """The function, written for JAX."""
    return jnp.sum(jnp.tanh(x @ p["w"]) ** 2)


TRANSFORMS = {
    "value": lambda f: f(P, X),
    "grad": lambda f: jax.grad(f)(P, X)["w"],
    "jit of grad": lambda f: jax.jit(jax.grad(f))(P, X)["w"],
    "jvp": lambda f: jax.jvp(lambda p: f(p, X), (P,), (P,))[1],
    "hessian": lambda f: jax.hessian(f)(P, X)["w"]["w"],
    "vmap of grad": lambda f: jax.vmap(jax.grad(f), in_axes=(None, 0))(P, np.stack([X, 2 * X]))["w"],
    "grad of grad": lambda f: jax.grad(lambda p: jnp.sum(jax.grad(f)(p, X)["w"] ** 2))(P)["w"],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_jax_take_wrapped_functions(name):
    np.testing.assert_allclose(TRANSFORMS[name](layer), TRANSFORMS[name](same), rtol=1e-12)


def test_arguments_and_results_without_tangents_are_values():
    rows = ct.jax.wrap(lambda w, i, *, scale: (scale * ct.sum(ct.take(w, i, axis=0) ** 2), ct.argmax(w)))
    theirs = lambda w, i, scale: scale * jnp.sum(jnp.take(w, i, axis=0) ** 2)
    w, i = np.array([1.0, 4.0, 2.0]), np.array([0, 2, 2])
    (value, k), g = jax.value_and_grad(rows, has_aux=True)(w, i, scale=3.0)
    assert float(value) == float(theirs(w, i, 3.0)) and int(k) == 1
    for t in (lambda f: jax.grad(lambda w: f(w, i, 3.0))(w), lambda f: jax.hessian(lambda w: f(w, i, 3.0))(w),
              lambda f: jax.jacfwd(lambda s: f(w, i, s))(3.0), lambda f: jax.jvp(lambda w: f(w, i, 3.0), (w,), (w,))[1],
              lambda f: jax.vmap(jax.grad(f), in_axes=(None, 0, None))(w, np.stack([i, i[::-1]]), 3.0),
              lambda f: jax.jit(jax.grad(lambda s: jnp.sum(jax.grad(f)(w, i, s) ** 2)))(3.0)):
        np.testing.assert_allclose(t(lambda w, i, s: rows(w, i, scale=s)[0]), t(theirs), rtol=1e-12)


def test_results_have_the_structure_of_each_signature():
    f = ct.jax.wrap(lambda x: (x, x) if x.ndim == 1 else {"a": x})
    assert isinstance(f(X[0]), tuple) and set(f(X)) == {"a"} and isinstance(f(X[0]), tuple)


def test_loops_branches_and_checkpoints_take_wrapped_functions():
    mine, theirs = ct.jax.wrap(lambda c, x: ct.sin(c) * x), lambda c, x: jnp.sin(c) * x
    for t in (lambda f: jax.lax.scan(lambda c, x: (f(c, x), c), 0.5, np.arange(1.0, 5.0)),
              lambda f: jax.grad(lambda a: jax.lax.scan(lambda c, x: (f(c, x), c), a, np.arange(1.0, 5.0))[0])(0.5),
              lambda f: jax.grad(lambda a: jax.lax.cond(a > 0, lambda c: f(c, 2.0), lambda c: c, a))(0.5),
              lambda f: jax.lax.while_loop(lambda c: c > 0.1, lambda c: f(c, 0.5), 0.5),
              lambda f: jax.grad(jax.checkpoint(lambda a: f(f(a, 2.0), 3.0)))(0.5),
              lambda f: jax.linearize(lambda a: f(a, 2.0), 0.5)[1](1.0)):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), t(mine), t(theirs))


def test_the_lowered_program_has_our_call():
    assert ct.jax.TARGET in jax.jit(layer).lower(P, X).as_text()
    assert "callback" not in jax.jit(layer).lower(P, X).as_text()


def test_an_error_of_a_program_is_an_error_of_jax():
    solve = ct.jax.wrap(lambda a: ct.linalg.cholesky(a, check=True))
    with pytest.raises(Exception, match="positive definite"):
        solve(-np.eye(2)).block_until_ready()


def test_functions_of_jax_are_programs():
    f = ct.jax.from_jax(same, P, X)
    np.testing.assert_allclose(ct.grad(f)(P, X)["w"], jax.grad(same)(P, X)["w"], rtol=1e-12)
    # Arguments that are not read, arrays from outside, and numbers of Python.
    c = jnp.arange(1000.0)
    f = ct.jax.from_jax(lambda x, y, n: {"r": jnp.sum(x * c) * n}, np.ones(1000), X, 3)
    assert float(f(np.ones(1000), X, 3)["r"]) == 3 * 499500.0
    assert np.array_equal(ct.grad(lambda x: f(x, X, 1)["r"])(np.ones(1000)), c)


def test_functions_of_jax_take_the_arguments_that_jax_takes():
    out = subprocess.run([sys.executable, "-c", """
import numpy as np, jax, cotangent as ct
f = ct.jax.from_jax(lambda x, n: jax.numpy.sum(x ** 2) * n, np.ones(2), 3)
y = f(np.array([1.0, 2.0]), 3)
print(float(y), y.dtype, ct.grad(f)(np.array([1.0, 2.0], dtype="float32"), 3).tolist())
"""], capture_output=True, text=True)
    assert out.stdout == "15.0 float32 [6.0, 12.0]\n", out.stderr


def test_programs_are_listed_as_long_as_something_refers_to_them():
    import gc

    from cotangent import _cotangent
    gc.collect()
    before = _cotangent.xla_programs()
    other = ct.jax.wrap(lambda x: ct.sum(ct.sin(x) * x))
    compiled = jax.jit(jax.value_and_grad(other)).lower(X).compile()
    want = np.sin(X) + X * np.cos(X)
    np.testing.assert_allclose(jax.jit(jax.grad(other))(X), want, rtol=1e-12)
    assert _cotangent.xla_programs() > before
    del other
    jax.clear_caches()
    gc.collect()
    # What is compiled ahead of time still refers to its programs.
    np.testing.assert_allclose(compiled(X)[1], want, rtol=1e-12)
    del compiled
    jax.clear_caches()
    gc.collect()
    assert _cotangent.xla_programs() <= before


def test_the_example_runs(capsys):
    import pathlib
    import runpy
    runpy.run_path(str(pathlib.Path(__file__).parent.parent / "examples" / "jax_model.py"))
    assert capsys.readouterr().out
