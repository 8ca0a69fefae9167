"""Short matrices and vectors: chains of transforms, circuits, small networks."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, i32, program


@program("arm_of_joints_64x8", "stack", [f32(64, 8), f32(8, r="above")], [0, 1])
def arm(angles, lengths):
    """Ends of 64 arms of eight joints: products of 3 x 3 with sines and cosines."""

    def one(angles):
        def joint(t, al):
            c, s = jnp.cos(al[0]), jnp.sin(al[0])
            z, o = jnp.zeros_like(c), jnp.ones_like(c)
            m = jnp.stack([jnp.stack([c, -s, al[1] * c]), jnp.stack([s, c, al[1] * s]), jnp.stack([z, z, o])])
            return t @ m, None

        return lax.scan(joint, jnp.eye(3, dtype=jnp.float32), (angles, lengths))[0][:2, 2]

    return jax.vmap(one)(angles)


@program("thin_films_200x2", "product", [f64(200, r="above"), f64(200, r="uniform")], [0, 1], tol=1e-5)
def thin_films(index, thickness):
    """What a stack of layers reflects: products of complex matrices of 2 x 2."""

    def layer(m, nd):
        n, d = nd
        phase = 0.3 * n * d
        c, s = jnp.cos(phase) + 0j, 1j * jnp.sin(phase)
        return m @ jnp.array([[c, s / n], [s * n, c]]), None

    m = lax.scan(layer, jnp.eye(2, dtype=jnp.complex128), (index, thickness))[0]
    r = (m[0, 0] + m[0, 1] - m[1, 0] - m[1, 1]) / (m[0, 0] + m[0, 1] + m[1, 0] + m[1, 1])
    return jnp.real(r * jnp.conj(r))


@program("matrix_product_state_40x4", "product", [f32(40, 4, 2, 4, r="normal:0.4"), i32(2, 40)], [0])
def matrix_product_state(sites, bits):
    """An amplitude: one of two matrices of each site, chosen by a bit; the norm is kept aside."""

    def site(c, ab):
        v, log = c
        a, b = ab
        v = v @ a[:, b]
        n = jnp.sqrt(jnp.sum(v * v))
        return (v / n, log + jnp.log(n)), None

    v, log = lax.scan(site, (jnp.full(4, 0.5, jnp.float32), jnp.float32(0)), (sites, bits))[0]
    return log + v[0]


@program("circuit_20x4", "product", [f32(20, 4)], [0], tol=1e-2)
def circuit(angles):
    """Four qubits: a turn of each, and phases, in layers; complex numbers of 32 bits."""
    signs = jnp.array([(-1.0) ** (bin(k & (k >> 1)).count("1")) for k in range(16)], jnp.float32)

    def layer(state, a):
        for q in range(4):
            c, s = jnp.cos(a[q] / 2), jnp.sin(a[q] / 2)
            psi = state.reshape(2**q, 2, -1)
            state = jnp.stack([c * psi[:, 0] - 1j * s * psi[:, 1], c * psi[:, 1] - 1j * s * psi[:, 0]], 1).reshape(16)
        return state * signs, None

    state = lax.scan(layer, jnp.zeros(16, jnp.complex64).at[0].set(1), angles)[0]
    return jnp.real(state * jnp.conj(state))


@program("gru_text_80x6", "read", [i32(10, 80), f32(10, 6), f32(6, 18, r="normal:0.4"), f32(6, 18, r="normal:0.4"), f32(6, 10)], [1, 2, 3, 4])
def gru_text(text, embedding, wx, wh, out):
    """A gated network that reads letters and is scored by the next."""

    def step(h, ab):
        a, b = ab
        x, y = embedding[a] @ wx, h @ wh
        r, z = jax.nn.sigmoid(x[:6] + y[:6]), jax.nn.sigmoid(x[6:12] + y[6:12])
        h = (1 - z) * jnp.tanh(x[12:] + r * y[12:]) + z * h
        return h, jax.nn.log_softmax(h @ out)[b]

    return -jnp.mean(lax.scan(step, jnp.zeros(6, jnp.float32), (text[:-1], text[1:]))[1])


@program("cached_attention_24x8", "update", [f32(8, r="uniform"), f32(3, 8, 8, r="normal:0.4")], [0, 1])
def cached_attention(x, w):
    """Twenty-four tokens, each written to a cache of keys and values, with a mask over what is not yet there."""

    def step(c, t):
        x, keys, values = c
        q, k, v = w @ x
        keys, values = keys.at[t].set(k), values.at[t].set(v)
        p = jax.nn.softmax(jnp.where(jnp.arange(24) <= t, keys @ q / 8**0.5, -1e9))
        x = jnp.tanh(x + p @ values)
        return (x, keys, values), None

    z = jnp.zeros((24, 8), jnp.float32)
    return lax.scan(step, (x, z, z), jnp.arange(24))[0][0]


@program("schulz_inverse_bf16_12x5", "product", [f32(5, 5, r="positive")], [0], tol=1e-1)
def schulz_inverse(a):
    """An inverse by products whose operands are rounded to bfloat16."""
    half = lambda x: x.astype(jnp.bfloat16).astype(jnp.float32)

    def step(x, _):
        return x @ (2 * jnp.eye(5, dtype=jnp.float32) - half(a) @ half(x)), None

    return lax.scan(step, a.T / jnp.sum(a * a), None, length=12)[0]


@program("spinning_body_500", "stack", [f64(3), f64(3, r="above")], [0, 1])
def spinning_body(w, inertia):
    """Euler's equations and a quaternion that is made a unit again at each step."""

    def step(c, _):
        w, q = c
        w = w + 0.01 * jnp.cross(inertia * w, w) / inertia
        a, v = q[0], q[1:]
        q = q + 0.005 * jnp.concatenate([-(v @ w)[None], a * w + jnp.cross(v, w)])
        return (w, q / jnp.sqrt(jnp.sum(q * q))), None

    return lax.scan(step, (w, jnp.array([1.0, 0.0, 0.0, 0.0])), None, length=500)[0][1]


@program("eigen_2x2_1000", "none", [f64(1000, 2, 2, r="positive")], [0])
def eigen(a):
    """Principal values and angles in closed form."""
    t, d = a[:, 0, 0] + a[:, 1, 1], a[:, 0, 0] - a[:, 1, 1]
    r = jnp.sqrt(d * d + 4 * a[:, 0, 1] * a[:, 1, 0])
    return jnp.stack([(t + r) / 2, (t - r) / 2, 0.5 * jnp.arctan2(2 * a[:, 0, 1], d)], -1)


@program("trusses_100x6", "none", [f64(100, 3, 2), f64(100, r="above")], [0, 1])
def trusses(nodes, stiffness):
    """The matrices of 100 triangles of three bars, added up from outer products."""
    k = 0.0
    for i, j in ((0, 1), (1, 2), (2, 0)):
        d = nodes[:, j] - nodes[:, i]
        n = d / jnp.sqrt(jnp.sum(d * d, 1, keepdims=True) + 0.1)
        b = jnp.zeros((100, 6)).at[:, 2 * i : 2 * i + 2].set(-n).at[:, 2 * j : 2 * j + 2].set(n)
        k = k + stiffness[:, None, None] * b[:, :, None] * b[:, None, :]
    return k


@program("mixed_norms_f16_2000x7", "none", [f32(2000, 7)], [0], tol=5e-2)
def mixed_norms(x):
    """Rows of seven in halves: a norm, a share, and a smooth largest."""
    h = x.astype(jnp.float16)
    s = h / (jnp.sum(jnp.abs(h), 1, keepdims=True) + jnp.float16(0.1))
    return jax.nn.logsumexp(s, 1).astype(jnp.float32) + jnp.max(s, 1).astype(jnp.float32)
