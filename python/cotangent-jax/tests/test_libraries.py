"""Programs of libraries that are written with JAX run unchanged, with the numbers of XLA's CPU."""

import jax
import jax.numpy as jnp
import numpy as np

import diffrax
import equinox as eqx
import optax


def on(device, compute):
    """What a function computes where this device is the default one, as arrays of NumPy."""
    with jax.default_device(device):
        return jax.tree.map(np.asarray, compute())


def solve(rates, dtype):
    """An adaptive solve of Lotka and Volterra's equations."""

    def field(t, y, rates):
        a, b, c, d = rates
        prey, predator = y
        return jnp.stack([a * prey - b * prey * predator, c * prey * predator - d * predator])

    return diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        t0=0.0,
        t1=10.0,
        dt0=0.1,
        y0=jnp.array([10.0, 5.0], dtype),
        args=rates,
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 10.0, 21)),
        stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-5),
        adjoint=diffrax.RecursiveCheckpointAdjoint(),
    )


def solution(dtype):
    """The solution, its number of steps, and a loss with its gradient."""
    rates = jnp.array([1.1, 0.4, 0.1, 0.4], dtype)
    out = eqx.filter_jit(solve)(rates, dtype)
    loss = lambda rates: jnp.mean(solve(rates, dtype).ys ** 2)
    return out.ys, out.stats["num_steps"], *jax.jit(jax.value_and_grad(loss))(rates)


def test_an_adaptive_solve_and_its_gradient_are_those_of_xla(ours, xla):
    (ys, steps, value, gradient), theirs = (on(device, lambda: solution(jnp.float32)) for device in (ours, xla))
    assert steps == theirs[1] and steps > 20
    np.testing.assert_allclose(value, theirs[2], rtol=1e-6)
    # A unit in the last place of a rate or of a first value moves the steps that the controller chooses: on
    # XLA's CPU the solution and the gradient change by 3e-5, the loss by 2e-6.
    np.testing.assert_allclose(ys, theirs[0], rtol=1e-4)
    np.testing.assert_allclose(gradient, theirs[3], rtol=1e-3)


def test_an_adaptive_solve_differs_from_xla_by_rounding_only(ours, xla):
    with jax.enable_x64(True):
        mine, theirs = (on(device, lambda: solution(jnp.float64)) for device in (ours, xla))
    assert mine[1] == theirs[1]
    for got, want in zip(mine, theirs):
        np.testing.assert_allclose(got, want, rtol=1e-11)


def test_a_solve_that_fails_raises_the_error_of_its_library(ours):
    with jax.default_device(ours):
        stops = lambda: diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: y**2), diffrax.Tsit5(), 0.0, 10.0, 0.1, jnp.array(1.0), max_steps=16
        )
        try:
            stops()
        except Exception as error:
            assert "maximum number of" in str(error)
        else:
            raise AssertionError("the solve did not fail")


def test_a_loop_with_modules_and_an_optimizer_has_the_losses_of_xla(ours, xla):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(128, 8)).astype(np.float32)
    y = np.sin(x.sum(1)).astype(np.float32)

    def compute():
        model = eqx.nn.MLP(8, "scalar", width_size=32, depth=2, activation=jax.nn.gelu, key=jax.random.key(4))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(3e-3, 200)))
        state = optimizer.init(eqx.filter(model, eqx.is_array))

        @eqx.filter_value_and_grad
        def loss(model, x, y):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        @eqx.filter_jit
        def step(model, state, x, y):
            value, gradients = loss(model, x, y)
            updates, state = optimizer.update(gradients, state, eqx.filter(model, eqx.is_array))
            return eqx.apply_updates(model, updates), state, value

        values = []
        for _ in range(100):
            model, state, value = step(model, state, x, y)
            values.append(value)
        return jnp.stack(values)

    mine, theirs = on(ours, compute), on(xla, compute)
    assert mine[-1] < 0.5 * mine[0]
    np.testing.assert_allclose(mine, theirs, atol=1e-6)
