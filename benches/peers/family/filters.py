"""Filters and likelihoods of series."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, i32, program


@program("biquads_3x500", "nested", [f32(500), f32(3, 5, r="normal:0.2")], [0, 1])
def biquads(xs, coefficients):
    """A cascade: each sample passes three sections, each with two numbers of state."""

    def section(x, cs):
        c, s = cs
        y = c[0] * x + s[0]
        return y, jnp.stack([c[1] * x - c[3] * y + s[1], c[2] * x - c[4] * y])

    def step(state, x):
        y, state = lax.scan(section, x, (coefficients, state))
        return state, y

    return lax.scan(step, jnp.zeros((3, 2), jnp.float32), xs)[1]


@program("extended_kalman_bearing_150", "product", [f64(150, r="normal:0.3"), f64(r="value:0.1")], [0, 1])
def extended_kalman(bearings, q):
    """Range and speed from bearings; the gain of a scalar measurement; slopes by forward differentiation."""
    f = jnp.array([[1.0, 0.1], [0.0, 1.0]])

    def step(c, z):
        m, p = c
        m, p = f @ m, f @ p @ f.T + q * jnp.eye(2)
        measured, slope = jax.value_and_grad(lambda m: jnp.arctan2(m[0], 2 + m[1] ** 2))(m)
        s = slope @ p @ slope + 0.2
        k = p @ slope / s
        e = z - measured
        return (m + k * e, p - jnp.outer(k, slope) @ p), jnp.log(s) + e * e / s

    return jnp.sum(lax.scan(step, (jnp.array([1.0, 0.5]), jnp.eye(2)), bearings)[1])


@program("particle_filter_50x100", "gather", [f32(50), f32(50, 100), f32(50, r="uniform")])
def particle_filter(ys, noise, us):
    """Systematic resampling: a search in cumulative weights, and a gather."""

    def step(x, at):
        y, n, u = at
        x = 0.9 * x + 0.4 * n
        w = jax.nn.softmax(-0.5 * (y - x) ** 2)
        i = jnp.searchsorted(jnp.cumsum(w), (jnp.arange(100, dtype=jnp.float32) + u) / 100)
        return x[jnp.minimum(i, 99)], jnp.sum(w * x)

    return lax.scan(step, noise[0], (ys, noise, us))[1]


@program("recursive_least_squares_300x4", "product", [f64(300, 4), f64(300)], [0, 1])
def recursive_least_squares(xs, ys):
    def step(c, xy):
        w, p = c
        x, y = xy
        k = p @ x / (0.99 + x @ p @ x)
        e = y - w @ x
        return (w + k * e, (p - jnp.outer(k, x @ p)) / 0.99), e * e

    return jnp.mean(lax.scan(step, (jnp.zeros(4), jnp.eye(4)), (xs, ys))[1])


@program("hidden_markov_forward_200x6", "fold", [f64(6, 6), f64(200, 6)], [0, 1])
def hidden_markov(transitions, emissions):
    a = jax.nn.log_softmax(transitions, -1)
    step = lambda alpha, e: (jax.nn.logsumexp(alpha[:, None] + a, 0) + e, None)
    return jax.nn.logsumexp(lax.scan(step, emissions[0], emissions[1:])[0])


@program("viterbi_150x8", "argmax", [f32(8, 8), f32(150, 8)])
def viterbi(a, emissions):
    """The best path: back pointers forth, then a walk back along them."""

    def forth(v, e):
        s = v[:, None] + a
        return jnp.max(s, 0) + e, jnp.argmax(s, 0).astype(jnp.int32)

    v, pointers = lax.scan(forth, emissions[0], emissions[1:])
    last = jnp.argmax(v).astype(jnp.int32)
    back = lambda s, row: (row[s], s)
    first, path = lax.scan(back, last, pointers, reverse=True)
    return jnp.concatenate([first[None], path])


@program("median_of_five_300", "sort", [f32(300)], [0])
def median(xs):
    def step(window, x):
        window = jnp.concatenate([window[1:], x[None]])
        return window, jnp.sort(window)[2]

    return lax.scan(step, jnp.zeros(5, jnp.float32), xs)[1]


@program("holt_winters_240x12", "update", [f64(240, r="above"), f64(3, r="value:0.3")], [0, 1])
def holt_winters(ys, p):
    def step(c, at):
        level, trend, season = c
        i, y = at
        old = season[i]
        e = y - (level + trend + old)
        new = p[0] * (y - old) + (1 - p[0]) * (level + trend)
        trend = p[1] * (new - level) + (1 - p[1]) * trend
        return (new, trend, season.at[i].set(p[2] * (y - new) + (1 - p[2]) * old)), e * e

    return jnp.mean(lax.scan(step, (ys[0], 0.0, jnp.zeros(12)), (jnp.arange(240) % 12, ys))[1])


@program("garch_1000", "scalars", [f64(1000), f64(3, r="value:0.2")], [0, 1])
def garch(r, p):
    def step(s, r):
        l = jnp.log(s) + r * r / s
        return p[0] + p[1] * r * r + p[2] * s, l

    return jnp.sum(lax.scan(step, jnp.ones(()), r)[1]) / 2


@program("ctc_50x21x12", "slices", [f32(50, 12), i32(11, 10)], [0])
def ctc(logits, labels):
    """The forward sums of connectionist temporal classification over an extended label of 21."""
    extended = jnp.zeros(21, jnp.int32).at[1::2].set(labels + 1)
    logp = jax.nn.log_softmax(logits, -1)
    low = jnp.float32(-1e5)
    skip = jnp.concatenate([jnp.zeros(2, bool), (extended[2:] != extended[:-2]) & (extended[2:] != 0)])

    def step(alpha, l):
        one = jnp.concatenate([low[None], alpha[:-1]])
        two = jnp.where(skip, jnp.concatenate([low[None], low[None], alpha[:-2]]), low)
        return jnp.logaddexp(jnp.logaddexp(alpha, one), two) + l[extended], None

    start = jnp.full(21, low).at[:2].set(logp[0, extended[:2]])
    alpha = lax.scan(step, start, logp[1:])[0]
    return -jnp.logaddexp(alpha[-1], alpha[-2])


@program("cordic_16x64", "bits", [i32(40000, 64)])
def cordic(angle):
    """Sines and cosines by shifts and additions; the angles of the turns are a table."""
    import numpy as np

    turns = jnp.asarray(np.round(np.arctan(0.5 ** np.arange(16)) * 2**15).astype(np.int32))

    def step(c, at):
        x, y, z = c
        i, turn = at
        s = jnp.where(z < 0, -1, 1).astype(jnp.int32)
        return (x - s * (y >> i), y + s * (x >> i), z - s * turn), None

    zero = jnp.zeros(64, jnp.int32)
    x, y, _ = lax.scan(step, (zero + 19898, zero, angle), (jnp.arange(16, dtype=jnp.int32), turns))[0]
    return jnp.stack([x, y])


@program("smoothing_bf16_400x32", "elementwise", [f32(400, 32), f32(32, r="uniform")], [0, 1], tol=5e-2)
def smoothing(xs, decay):
    """An exponential mean whose state is kept in bfloat16."""
    decay = decay.astype(jnp.bfloat16)

    def step(s, x):
        s = decay * s + (1 - decay) * x.astype(jnp.bfloat16)
        return s, s.astype(jnp.float32)

    return lax.scan(step, jnp.zeros(32, jnp.bfloat16), xs)[1]
