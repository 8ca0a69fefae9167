"""A function with a symbolic size, exported for two platforms: python export.py. Needs jax and flatbuffers.

Writes export.jax_export, which `cotangent run export.jax_export` runs, and its inputs in export.npz.
"""
import os

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import export

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def loss(w, x, y):
    error = jnp.tanh(x @ w) - y
    return jnp.mean(error**2)


if __name__ == "__main__":
    folder = os.path.dirname(os.path.abspath(__file__))
    (batch,) = export.symbolic_shape("batch")
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, np.float32)
    exported = export.export(jax.jit(loss), platforms=["cpu", "cuda"])(f32(3), f32(batch, 3), f32(batch))
    with open(os.path.join(folder, "export.jax_export"), "wb") as file:
        file.write(exported.serialize())
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in [(3,), (4, 3), (4,)]]
    np.savez(os.path.join(folder, "export.npz"), **{f"in_{k}": a for k, a in enumerate(arrays)})
