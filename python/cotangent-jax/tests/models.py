"""Training programs: a function for the first parameters, a loss, and its data; and a step of gradient descent."""

import jax
import jax.numpy as jnp
import numpy as np


def layers(key, sizes):
    keys = jax.random.split(key, len(sizes))
    pairs = zip(keys, sizes[:-1], sizes[1:])
    return [(jax.random.normal(k, (m, n)) / np.sqrt(m), jnp.zeros(n)) for k, m, n in pairs]


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def mlp():
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(256, 64)).astype(np.float32), rng.integers(0, 10, 256)

    def loss(params, x, labels):
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[-1]
        return cross_entropy(x @ w + b, labels)

    return lambda: layers(jax.random.key(0), [64, 128, 128, 10]), loss, (x, labels)


def transformer():
    rng = np.random.default_rng(1)
    tokens = rng.integers(0, 50, (8, 33))
    width, heads = 64, 4

    def start():
        keys = jax.random.split(jax.random.key(1), 6)
        shapes = [(50, width), (width, 3 * width), (width, width), (width, 128), (128, width), (width, 50)]
        return [jax.random.normal(k, s) / np.sqrt(s[0]) for k, s in zip(keys, shapes)]

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def loss(params, tokens):
        embed, qkv, out, up, down, head = params
        x = embed[tokens[:, :-1]]
        n = x.shape[1]
        q, k, v = jnp.split(norm(x) @ qkv, 3, axis=-1)
        q, k, v = (a.reshape(8, n, heads, -1) for a in (q, k, v))
        scores = jnp.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(width / heads)
        scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e9)
        mixed = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores), v)
        x = x + mixed.reshape(8, n, width) @ out
        x = x + jax.nn.gelu(norm(x) @ up) @ down
        return cross_entropy(norm(x) @ head, tokens[:, 1:])

    return start, loss, (tokens,)


def rnn():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 16, 8)).astype(np.float32)
    target = np.sin(x.sum(-1).cumsum(0)).astype(np.float32)

    def start():
        a, b, c = jax.random.split(jax.random.key(2), 3)
        normal = jax.random.normal
        return [normal(a, (8, 32)) / 3, normal(b, (32, 32)) / 6, jnp.zeros(32), normal(c, (32,)) / 6]

    def loss(params, x, target):
        w, u, b, out = params

        def step(h, x):
            h = jnp.tanh(x @ w + h @ u + b)
            return h, h @ out

        _, y = jax.lax.scan(step, jnp.zeros((16, 32)), x)
        return jnp.mean((y - target) ** 2)

    return start, loss, (x, target)


PROGRAMS = {"mlp": mlp, "transformer": transformer, "rnn": rnn}


def step_of(loss, rate=0.05):
    """A compiled step of gradient descent, which overwrites the parameters."""

    def step(params, *data):
        value, grads = jax.value_and_grad(loss)(params, *data)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

    return jax.jit(step, donate_argnums=0)
