"""Makes the artefacts of this test: python make.py [FOLDER]. Needs jax 0.10 (CPU), numpy and flatbuffers.

NAME-VERSION.mlirbc is the portable artefact of a program for a version of StableHLO, NAME.mlir its text, NAME.npz its
inputs (in_0, ..) and results (out_0, ..) by XLA. bfloat16 is stored as its bits. NAME.jax_export is a file of jax.export.
"""
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _jax
from jaxlib.mlir.dialects import stablehlo

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "artefacts")
rng = np.random.default_rng(7)


def training(w, b, x, y):
    def loss(w, b):
        z = jnp.tanh(x @ w + b)
        return jnp.mean(jax.nn.logsumexp(z, axis=1) - jnp.sum(z * y, axis=1))

    return jax.value_and_grad(loss, (0, 1))(w, b)


def loops(x, n):
    c, ys = lax.scan(lambda c, t: (jnp.sin(c) * t, c + t), x[0], x)
    z = lax.fori_loop(0, n, lambda i, a: a * 0.5 + ys[i], c)
    return lax.switch(n % 3, [lambda a: a, lambda a: -a, lambda a: a * x[1]], z), ys


def windows(x, k):
    def f(x, k):
        y = lax.conv_general_dilated(x, k, (1, 2), ((1, 0), (0, 1)), lhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID") ** 2)

    return jax.grad(f, (0, 1))(x, k)


def indexing(x, i):
    b = jnp.bitwise_xor(i, 5) << 1
    return jnp.sort(x, axis=1), x[i], x.at[i, 1].add(2.0), lax.population_count(b), jnp.argmax(x, axis=0), lax.rev(x, (0, 1))


def elements(z, h):
    packed = jnp.asarray(np.arange(21).reshape(3, 7) % 3 == 0)
    odd = jnp.asarray(np.array([np.nan, np.inf, -0.0, 5e-324, 1e300]))
    words = jnp.asarray(np.array([0, 2**64 - 1, 2**63], np.uint64))
    half = h * jnp.asarray(np.array([0.75, -65504, 6e-8], np.float16))
    brain = jnp.asarray(np.array([0.1, 1e30, -2.0], jnp.bfloat16)) + jnp.bfloat16(1.25)
    small = jnp.asarray(np.array([-8, 7, 3], np.int8).astype(jnp.int4)).astype(jnp.int32)
    few, ones = jnp.asarray([True, False, True]), jnp.full((11,), True)
    return jnp.fft.fft(z) * np.complex64(1 + 2j), packed, odd, words, half, brain, small, few, ones, jnp.zeros((0, 3), jnp.int32), jnp.asarray(7, jnp.uint16)


def factors(a):
    q, r = jnp.linalg.qr(a)
    return jnp.linalg.cholesky(a), jnp.linalg.eigvalsh(a), jnp.abs(r), jnp.linalg.solve(a, a[0])


def effects(x):
    jax.debug.print("{y}", y=jnp.sin(x), ordered=True)
    jax.debug.print("{y}", y=jnp.cos(x), ordered=True)
    return x * 2.0


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


SQUARE = rng.standard_normal((3, 3))
SQUARE = SQUARE @ SQUARE.T + 3 * np.eye(3)
PROGRAMS = {
    "training": (training, [f32(4, 3), f32(3), f32(5, 4), np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]]], ["1.17.0", "1.4.0"]),
    "loops": (loops, [rng.standard_normal(4), np.int64(4)], ["1.17.0", "1.0.0", "0.15.0", "0.14.0", "0.12.0", "0.10.0", "0.9.0"]),
    "windows": (windows, [f32(1, 4, 5, 2), f32(3, 2, 2, 2)], ["1.17.0", "0.9.0"]),
    "indexing": (indexing, [rng.standard_normal((4, 3)), np.array([2, 0, 3])], ["1.17.0", "1.0.0", "0.9.0"]),
    "elements": (elements, [f32(8).astype(np.complex64), np.ones(3, np.float16)], ["1.17.0", "0.9.0"]),
    "factors": (factors, [SQUARE], ["1.17.0"]),
    "effects": (effects, [np.float64(0.5)], ["1.17.0"]),
}


def save(name, data):
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(data)


def save_values(name, inputs, results):
    bits = lambda a: a.view(np.uint16) if a.dtype == jnp.bfloat16 else a
    arrays = {f"in_{k}": np.asarray(a) for k, a in enumerate(inputs)}
    arrays |= {f"out_{k}": bits(np.asarray(a)) for k, a in enumerate(jax.tree.leaves(results))}
    np.savez_compressed(os.path.join(OUT, name + ".npz"), **arrays)


def main():
    os.makedirs(OUT, exist_ok=True)
    # The rules of shardings on custom calls have no portable form.
    jax.config.update("jax_use_shardy_partitioner", False)
    for name, (f, inputs, versions) in PROGRAMS.items():
        text = jax.jit(f).lower(*inputs).as_text()
        save(name + ".mlir", text.encode())
        save_values(name, inputs, jax.jit(f)(*inputs))
        for version in versions:
            save(f"{name}-{version}.mlirbc", stablehlo.serialize_portable_artifact_str(text, version))
    jax.config.update("jax_use_shardy_partitioner", True)

    # Symbolic extents.
    b, n = export.symbolic_shape("b, n")
    def symbolic(x, y):
        return jnp.concatenate([x, jnp.sin(y)]).reshape(2, -1).sum(0), jnp.mean(x[:, None] * y[None]), jnp.arange(x.shape[0] + 3)
    shapes = [jax.ShapeDtypeStruct((b,), np.float32)] * 2
    save("symbolic.jax_export", export.export(jax.jit(symbolic))(*shapes).serialize())
    inputs = [f32(6), f32(6)]
    save_values("symbolic", inputs, jax.jit(symbolic)(*inputs))

    # Two platforms. The branches of the other one call libraries that are unknown here, in a function that is called twice.
    factor = jax.jit(lambda a: jnp.linalg.cholesky(a + a.shape[0] * jnp.eye(a.shape[0])))
    def platforms(a):
        chosen = lax.platform_dependent(a, cpu=jnp.sin, cuda=jnp.cos)
        return factor(a) + chosen, factor(a * 2.0)
    save("platforms.jax_export", export.export(jax.jit(platforms), platforms=["cuda", "cpu"])(jax.ShapeDtypeStruct((n, n), np.float64)).serialize())
    save_values("platforms", [SQUARE], jax.jit(platforms)(SQUARE))

    # A program for two devices.
    mesh = Mesh(np.array(jax.devices()).reshape(2), ("data",))
    shardings = [NamedSharding(mesh, PartitionSpec("data", None)), NamedSharding(mesh, PartitionSpec())]
    def product(x, w):
        h = lax.with_sharding_constraint(x @ w, shardings[0])
        return jnp.tanh(h).sum()
    sharded = jax.jit(jax.value_and_grad(product, 1), in_shardings=shardings)
    inputs = [f32(4, 3), f32(3, 2)]
    save("sharded.jax_export", export.export(sharded)(*inputs).serialize())
    lowered = sharded.lower(*inputs).compiler_ir("stablehlo")
    save("sharded-1.17.0.mlirbc", _jax.mlir.serialize_portable_artifact(lowered, "1.17.0", True))
    save_values("sharded", inputs, sharded(*inputs))


main()
