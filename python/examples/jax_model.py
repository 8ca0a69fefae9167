"""A model of JAX, taken over as a program and differentiated here."""

import numpy as np

import cotangent as ct

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise SystemExit("this example needs jax")


def model(w, x):
    return jnp.sum(jax.nn.softplus(x @ w))


w, x = np.ones((3, 2), dtype=np.float32), np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)
program = ct.Program.from_stablehlo(jax.jit(model).lower(w, x).as_text())
mine, theirs = ct.grad(program)(w, x), jax.grad(model)(w, x)
print("largest difference:", np.abs(np.asarray(mine) - np.asarray(theirs)).max())
assert np.allclose(mine, theirs, rtol=1e-5)
