#!/usr/bin/env python3
"""Makes transformer.mlir and transformer.npz: a small transformer's loss as JAX prints it, and 50 steps of training by JAX.

    pip install jax && python3 examples/transformer.py

Inputs in_0 .. are the parameters at the start, then tokens and targets; `losses` is the curve that JAX finds.
"""
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

VOCAB, WIDTH, HEADS, LAYERS, LENGTH, BATCH, RATE, STEPS = 16, 32, 2, 2, 12, 8, 0.3, 50
HERE = pathlib.Path(__file__).parent


def start(rng):
    def matrix(*shape):
        return (rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)

    params = [matrix(VOCAB, WIDTH), 0.1 * matrix(LENGTH, WIDTH)]
    for _ in range(LAYERS):
        params += [np.ones(WIDTH, np.float32), matrix(WIDTH, 3 * WIDTH), matrix(WIDTH, WIDTH)]
        params += [np.ones(WIDTH, np.float32), matrix(WIDTH, 4 * WIDTH), matrix(4 * WIDTH, WIDTH)]
    return params + [np.ones(WIDTH, np.float32), matrix(WIDTH, VOCAB)]


def normal(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return scale * x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def loss(*args):
    *params, tokens, targets = args
    params = iter(params)
    x = next(params)[tokens] + next(params)
    for _ in range(LAYERS):
        h = normal(x, next(params)) @ next(params)
        q, k, v = (a.reshape(BATCH, LENGTH, HEADS, -1) for a in jnp.split(h, 3, axis=-1))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(WIDTH / HEADS)
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -jnp.inf)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(BATCH, LENGTH, WIDTH)
        x = x + mixed @ next(params)
        x = x + jax.nn.gelu(normal(x, next(params)) @ next(params)) @ next(params)
    logits = normal(x, next(params)) @ next(params)
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1).mean()


def main():
    rng = np.random.default_rng(0)
    params = start(rng)
    # Each sequence is an arithmetic progression with a random start and step.
    first, step = rng.integers(0, VOCAB, (BATCH, 1)), rng.integers(1, 4, (BATCH, 1))
    text = ((first + step * np.arange(LENGTH + 1)) % VOCAB).astype(np.int32)
    data = [text[:, :-1], text[:, 1:]]
    (HERE / "transformer.mlir").write_text(jax.jit(loss).lower(*params, *data).as_text())
    arrays = {f"in_{i}": a for i, a in enumerate([*params, *data])}
    take = jax.jit(jax.value_and_grad(loss, argnums=tuple(range(len(params)))))
    losses = []
    for _ in range(STEPS):
        value, grads = take(*params, *data)
        losses.append(np.float32(value))
        params = [p - np.float32(RATE) * g for p, g in zip(params, grads)]
    np.savez(HERE / "transformer.npz", losses=np.array(losses), rate=np.float32(RATE), **arrays)
    print(losses[0], losses[-1])


if __name__ == "__main__":
    main()
