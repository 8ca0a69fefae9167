"""Callbacks run Python functions from programs: in jit, scan, cond, while and vmap, in order where that is asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

SCALAR = jax.ShapeDtypeStruct((), np.float32)


def test_pure_callbacks_return_arrays_of_several_types():
    types = (jax.ShapeDtypeStruct((3,), np.float32), jax.ShapeDtypeStruct((2, 2), np.bool_), SCALAR)

    @jax.jit
    def f(x):
        return jax.pure_callback(lambda x: (np.sin(x), np.eye(2, dtype=bool), np.float32(x.sum())), types, x)

    a, b, c = f(jnp.arange(3.0))
    np.testing.assert_allclose(a, np.sin(np.arange(3.0)), rtol=1e-6)
    assert b.tolist() == [[True, False], [False, True]] and float(c) == 3


def test_ordered_callbacks_in_loops_and_branches_run_in_order():
    seen = []

    def log(x):
        io_callback(lambda x: seen.append(int(x)), None, x, ordered=True)

    @jax.jit
    def f(x):
        def step(c, i):
            jax.lax.cond(i % 2 == 0, lambda: log(i), lambda: log(10 * i))
            return c + i, None

        c, _ = jax.lax.scan(step, x, jnp.arange(5))
        log(c)
        return c

    f(0)
    f(100)
    jax.effects_barrier()
    assert seen == [0, 10, 2, 30, 4, 10, 0, 10, 2, 30, 4, 110]


def test_callbacks_whose_results_nothing_reads_run_once_per_iteration(capfd):
    seen = []

    @jax.jit
    def f(x):
        def body(s):
            i, x = s
            jax.debug.callback(lambda i: seen.append(int(i)), i)
            return i + 1, x * 2

        jax.debug.print("start {x}", x=x)
        return jax.lax.while_loop(lambda s: s[0] < 4, body, (0, x))[1]

    assert float(f(1.0)) == 16
    jax.effects_barrier()
    assert sorted(seen) == [0, 1, 2, 3]
    assert capfd.readouterr().out == "start 1.0\n"


def test_callbacks_are_executed_where_a_loop_has_no_results():
    seen = []
    jax.vmap(lambda x: io_callback(lambda x: seen.append(int(x)), None, x, ordered=False))(jnp.arange(4))
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_callbacks_are_batched(method):
    f = lambda x: jax.pure_callback(np.cos, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method=method)
    x = jnp.arange(4.0)
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(x), np.cos(np.arange(4.0)), rtol=1e-6)


def test_an_exception_arrives_at_the_caller():
    def wrong(x):
        raise ValueError("no such number")

    with pytest.raises(Exception, match="no such number"):
        jax.jit(lambda x: jax.pure_callback(wrong, SCALAR, x) + 1)(1.0).block_until_ready()
    with pytest.raises(Exception, match="Incorrect output shape"):
        jax.jit(lambda x: jax.pure_callback(lambda x: np.ones(2, np.float32), SCALAR, x))(1.0).block_until_ready()


def test_a_callback_may_use_this_device(ours):
    big = jnp.ones((300, 300))

    def nested(x):
        with jax.default_device(ours):
            return np.float32(np.asarray(jnp.sin(big) @ big).sum() * 0 + x)

    @jax.jit
    def f(x):
        return jax.pure_callback(nested, SCALAR, x) + 1

    assert float(f(2.0)) == 3
