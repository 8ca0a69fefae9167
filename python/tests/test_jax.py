"""Functions in programs of JAX, and functions of JAX here."""

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
