"""Markov chains and sampling."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, i32, program, u32


def xorshift(s):
    s = s ^ (s << 13)
    s = s ^ (s >> 17)
    return s ^ (s << 5)


def unit(s):
    return (s >> 8).astype(jnp.float32) / 2**24


@program("metropolis_500", "bits", [u32(), f32(r="value:0.8")])
def metropolis(seed, width):
    def step(c, _):
        x, lp, s = c
        s = xorshift(s)
        y = x + width * (unit(s) - 0.5)
        lq = -(y**4) + 2 * y * y
        s = xorshift(s)
        ok = jnp.log(unit(s) + 1e-7) < lq - lp
        x, lp = jnp.where(ok, y, x), jnp.where(ok, lq, lp)
        return (x, lp, s), x

    return lax.scan(step, (jnp.float32(0), jnp.float32(0), seed | 1), None, length=500)[1]


@program("stationary_12", "product", [f64(12, 12, r="uniform")])
def stationary(p):
    """The power method, until the distribution stands."""
    p = p / jnp.sum(p, 1, keepdims=True)

    def body(c):
        new = c[0] @ p
        return new, jnp.max(jnp.abs(new - c[0])), c[2] + 1

    x, _, n = lax.while_loop(lambda c: c[1] > 1e-13, body, (jnp.full(12, 1 / 12), jnp.array(1.0), 0))
    return jnp.concatenate([x, jnp.stack([n.astype(x.dtype)])])


@program("gibbs_60", "bits", [("uint32", (2,), "bits")], tol=1e-2)
def gibbs(key):
    """Two correlated normal numbers by turns, with keys that are split in the loop."""

    def step(c, _):
        x, y, key = c
        key, a, b = jax.random.split(key, 3)
        x = 0.8 * y + 0.6 * jax.random.normal(a, (), jnp.float32)
        y = 0.8 * x + 0.6 * jax.random.normal(b, (), jnp.float32)
        return (x, y, key), x * y

    return lax.scan(step, (jnp.float32(0), jnp.float32(0), jax.random.wrap_key_data(key)), None, length=60)[1]


@program("random_walk_300x20", "gather", [f32(20, 20, r="uniform"), f32(300, r="uniform")])
def random_walk(p, us):
    """The next state is found in a row of cumulative probabilities."""
    rows = jnp.cumsum(p / jnp.sum(p, 1, keepdims=True), 1)

    def step(s, u):
        s = jnp.minimum(jnp.searchsorted(rows[s], u), 19).astype(jnp.int32)
        return s, s

    return lax.scan(step, jnp.int32(0), us)[1]


@program("hamiltonian_40x8x4", "nested", [f64(4), f64(40, 4), f64(40, r="uniform"), f64(4, 4, r="positive")], [0, 3])
def hamiltonian(x, momenta, us, precision):
    """Leapfrog steps within proposals, with a gradient in each."""

    def energy(x):
        return 0.5 * x @ precision @ x + 0.1 * jnp.sum(x**4)

    def proposal(x, at):
        p0, u = at

        def leap(c, _):
            q, p = c
            p = p - 0.05 * jax.grad(energy)(q)
            q = q + 0.1 * p
            return (q, p - 0.05 * jax.grad(energy)(q)), None

        (q, p), _ = lax.scan(leap, (x, p0), None, length=8)
        ok = jnp.log(u) < energy(x) + p0 @ p0 / 2 - energy(q) - p @ p / 2
        x = jnp.where(ok, q, x)
        return x, x

    return lax.scan(proposal, x, (momenta, us))[1]


@program("gillespie_birth_death", "scalars", [u32(), f32(2, r="value:0.9")])
def gillespie(seed, rates):
    """Events at random times, until the time is over."""

    def body(c):
        t, n, s, events, area = c
        birth, death = rates[0] * 20, rates[1] * n.astype(jnp.float32)
        s = xorshift(s)
        dt = -jnp.log(unit(s) + 1e-7) / (birth + death)
        s = xorshift(s)
        n = n + jnp.where(unit(s) * (birth + death) < birth, 1, -1)
        return t + dt, n, s, events + 1, area + dt * n

    t, n, _, events, area = lax.while_loop(lambda c: c[0] < 20, body, (jnp.float32(0), jnp.int32(5), seed | 1, jnp.int32(0), jnp.float32(0)))
    return jnp.stack([n.astype(jnp.float32), events.astype(jnp.float32), area / 20])


@program("rank_of_pages_40x200", "scatter", [f32(200, r="above"), i32(40, 200), i32(40, 200)], [0])
def rank_of_pages(w, source, target):
    out = jax.ops.segment_sum(w, source, 40) + 1e-3
    w = w / out[source]

    def step(r, _):
        return 0.15 / 40 + 0.85 * jax.ops.segment_sum(w * r[source], target, 40), None

    return lax.scan(step, jnp.full(40, 1 / 40, jnp.float32), None, length=30)[0]


@program("absorbing_chain_64x5", "product", [f64(64, 5, 5)], [0])
def absorbing_chain(logits):
    """A product of 64 transition matrices, applied to a distribution, with what is absorbed on the way."""

    def step(c, l):
        d, lost = c
        d = d @ jax.nn.softmax(l, -1)
        return (d * jnp.array([1, 1, 1, 1, 0.5]), lost + d[4] * 0.5), lost

    return lax.scan(step, (jnp.full(5, 0.2), jnp.zeros(())), logits)[1]
