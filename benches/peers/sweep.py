"""One operation in the body of a loop of 100 steps, on numbers, vectors and matrices of several extents, and its gradient.

Each step adds a little of the operation's result to the carry, so that nothing is invariant and numbers stay bounded. The
sets of whole programs show how common a slow operation is; this one shows which operation and which extents are slow.
"""

import jax
import jax.numpy as jnp
from jax import lax

from programs import Program

PROGRAMS = []
STEPS = 100
VECTORS = [(7,), (100,), (1000,), (30000,)]
MATRICES = [(3, 40), (40, 3), (30, 30), (200, 150)]
SQUARES = [(3, 3), (8, 8), (30, 30)]


def sweep(name, f, shapes, dtype="float32", wrt=True, recipe="normal:0.5"):
    """Loops of `x + 0.01 f(x, i)`, or of `f` itself for integers, with `i` the number of the step."""
    for shape in shapes:

        def program(x, f=f):
            def step(x, i):
                y = f(x, i)
                return (x + 0.01 * jnp.broadcast_to(y, x.shape)).astype(x.dtype) if x.dtype.kind == "f" else y.astype(x.dtype), None

            return lax.scan(step, x, jnp.arange(STEPS))[0]

        title = f"{name}_{'x'.join(map(str, shape)) or 'scalar'}"
        wrt_here = (0,) if wrt and dtype.startswith("float") else ()
        PROGRAMS.append(Program(title, "sweep", [(dtype, shape, recipe)], program, None, wrt_here, True, 2e-2, ""))


def last(f):
    """A function of an axis, along the last one."""
    return lambda x, i: f(x, -1)


def first(f):
    return lambda x, i: f(x, 0)


def kept(f):
    return lambda x, i: f(x, axis=-1, keepdims=True)


def start(x, i, axis=-1):
    """A start of a slice that data decides."""
    return (i * 7 + (x.reshape(-1)[0] > 0)) % max(1, x.shape[axis] // 2)


def half(x, i):
    n = max(1, x.shape[-1] // 2)
    return lax.dynamic_slice_in_dim(x, start(x, i), n, -1)


def index_of(x, n, i):
    """Indices below `n` for the elements of `x`, others in each step. Rounding does not change them."""
    return (lax.iota(jnp.int32, x.size).reshape(x.shape) * 7 + i.astype(jnp.int32) * 3) % n


def window(x, init, op, k):
    return lax.reduce_window(x, init, op, (1,) * (x.ndim - 1) + (k,), (1,) * x.ndim, "SAME")


def convolve(x, taps):
    return lax.conv_general_dilated(x.reshape(1, 1, -1), jnp.asarray(taps, x.dtype).reshape(1, 1, -1), (1,), "SAME").reshape(x.shape)


def neighbours(x):
    y = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 1)], mode="edge")
    return y[..., 2:] - 2 * y[..., 1:-1] + y[..., :-2]


def rule(x, i):
    left, right = jnp.roll(x, 1, -1), jnp.roll(x, -1, -1)
    return left ^ (x | right)


def halves(x):
    n = x.shape[-1] // 2
    return jnp.concatenate([x[..., n:], x[..., :n]], -1)


def interleave(x):
    n = x.shape[-1] // 2 * 2
    return jnp.concatenate([jnp.stack([x[..., n // 2 : n], x[..., : n // 2]], -1).reshape(*x.shape[:-1], n), x[..., n:]], -1)


def inner(x, i):
    return lax.fori_loop(0, 5, lambda _, y: jnp.sin(y) + 0.1 * x, x)


def inner_while(x, i):
    return lax.while_loop(lambda c: c[0] < 3 + i % 3, lambda c: (c[0] + 1, c[1] * 0.5 + x), (0, x))[1]


def positive(x):
    return x @ x.T / x.shape[0] + jnp.eye(x.shape[0], dtype=x.dtype)


def define():
    both = VECTORS + MATRICES
    sweep("tanh", lambda x, i: jnp.tanh(x), [(), *both])
    sweep("poly", lambda x, i: ((0.1 - x * 0.3) * x - 0.5) * x + 0.7, [(), *both])
    sweep("where", lambda x, i: jnp.where(x > 0, x, 0.1 * x), both)
    for name, f in [("max", jnp.max), ("mean", jnp.mean), ("std", jnp.std), ("logsumexp", jax.nn.logsumexp)]:
        sweep(f"{name}_last", kept(f), both)
        sweep(f"{name}_first", lambda x, i, f=f: f(x, axis=0, keepdims=True), MATRICES)
    sweep("minmax", lambda x, i: (x - x.min()) / (x.max() - x.min() + 1), both)
    sweep("softmax_last", last(jax.nn.softmax), both)
    sweep("softmax_first", first(jax.nn.softmax), MATRICES)
    sweep("layer_norm", lambda x, i: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5), both)
    sweep("norm", lambda x, i: x / jnp.sqrt((x * x).sum() + 1), both)
    sweep("argmax", lambda x, i: jnp.argmax(x, -1, keepdims=True), both, wrt=False)
    sweep("argmin_value", lambda x, i: x.reshape(-1)[jnp.argmin(x)], both)
    sweep("count_if", lambda x, i: jnp.sum(x > 0.3), both, wrt=False)
    sweep("any", lambda x, i: jnp.any(x > 2, -1, keepdims=True), both, wrt=False)
    sums, products = lambda x, axis: jnp.cumsum(x, axis) / x.shape[axis], lambda x, axis: jnp.cumprod(jnp.cos(x), axis)
    for name, f in [("cumsum", sums), ("cummax", lax.cummax), ("cumprod", products), ("cumlogsumexp", lax.cumlogsumexp)]:
        sweep(f"{name}_last", lambda x, i, f=f: f(x, axis=x.ndim - 1), both)
        sweep(f"{name}_first", lambda x, i, f=f: f(x, axis=0), MATRICES)
    sweep("sort", lambda x, i: jnp.sort(x, -1), both)
    sweep("argsort", lambda x, i: jnp.argsort(x, -1), [(7,), (100,), (3, 40), (40, 3)], wrt=False)
    sweep("top_k", lambda x, i: lax.top_k(x, 3)[0][..., :1], both)
    sweep("roll", lambda x, i: jnp.roll(x, 1, -1), both)
    sweep("roll_first", lambda x, i: jnp.roll(x, 1, 0), MATRICES)
    sweep("roll_dynamic", lambda x, i: jnp.roll(x, start(x, i), -1), both)
    sweep("flip", lambda x, i: jnp.flip(x, -1), both)
    sweep("flip_first", lambda x, i: jnp.flip(x, 0), MATRICES)
    sweep("halves", lambda x, i: halves(x), both)
    sweep("interleave", lambda x, i: interleave(x), both)
    sweep("repeat", lambda x, i: jnp.repeat(x[..., ::2], 2, -1)[..., : x.shape[-1]], both)
    sweep("transpose", lambda x, i: x.reshape(x.shape[::-1]).T, MATRICES)
    sweep("symmetric", lambda x, i: x + x.T, SQUARES)
    sweep("triangle", lambda x, i: jnp.tril(x), SQUARES)
    sweep("diagonal", lambda x, i: jnp.diag(jnp.diagonal(x)), SQUARES)
    sweep("trace", lambda x, i: jnp.trace(x), SQUARES)
    sweep("outer", lambda x, i: jnp.outer(x[:, 0], x[0]), MATRICES)
    sweep("neighbours", lambda x, i: neighbours(x), both)
    sweep("laplacian", lambda x, i: sum(jnp.roll(x, s, a) for s in (1, -1) for a in (0, 1)) - 4 * x, MATRICES)
    sweep("interior", lambda x, i: jnp.zeros_like(x).at[1:-1, 1:-1].set(x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1]), MATRICES)
    sweep("diff", lambda x, i: jnp.diff(x, axis=-1, append=x[..., :1]), both)
    sweep("set_column", lambda x, i: x.at[..., 1].set(x[..., 0] * 2), both)
    sweep("add_row", lambda x, i: x.at[1].add(x[0]), MATRICES)
    sweep("evens", lambda x, i: x.at[..., ::2].multiply(0.5), both)
    sweep("odd_rows", lambda x, i: x.at[1::2].set(jnp.cos(x[1::2])), both)
    sweep("checkerboard", lambda x, i: x.at[1::2, ::2].add(x[1::2, ::2] * x[::2, ::2][: x.shape[0] // 2]), MATRICES)
    sweep("dynslice", lambda x, i: jnp.mean(half(x, i), -1, keepdims=True), both)
    sweep("dynslice_row", lambda x, i: lax.dynamic_slice_in_dim(x, start(x, i, 0), 1, 0), MATRICES)
    sweep("dynupdate", lambda x, i: lax.dynamic_update_slice_in_dim(x, half(x, i) * 0.5, 0, x.ndim - 1), both)
    sweep("dynupdate_at", lambda x, i: lax.dynamic_update_slice_in_dim(x, x[..., :2] * 0.5, start(x, i), x.ndim - 1), both)
    sweep("set_at", lambda x, i: x.at[start(x, i)].set(x[0] * 0.5), VECTORS)
    sweep("set_at2", lambda x, i: x.at[start(x, i, 0), start(x, i)].set(x[0, 0] * 0.5), MATRICES)
    sweep("read_at", lambda x, i: x[start(x, i)], VECTORS)
    sweep("read_at2", lambda x, i: x[start(x, i, 0), start(x, i)], MATRICES)
    sweep("gather", lambda x, i: x[index_of(x, x.shape[0], i)], VECTORS)
    sweep("gather_rows", lambda x, i: x[index_of(x[:, 0], x.shape[0], i)], MATRICES)
    sweep("gather_constant", lambda x, i: x[(jnp.arange(x.shape[0]) * 7 + 3) % x.shape[0]], VECTORS)
    sweep("take_along", lambda x, i: jnp.take_along_axis(x, index_of(x, x.shape[-1], i), -1), MATRICES)
    sweep("scatter_add", lambda x, i: jnp.zeros_like(x).at[index_of(x, x.shape[0], i)].add(x), VECTORS)
    sweep("scatter_rows", lambda x, i: jnp.zeros_like(x).at[index_of(x[:, 0], x.shape[0], i)].add(x), MATRICES)
    sweep("segment_sum", lambda x, i: jax.ops.segment_sum(x, jnp.arange(x.shape[0]) // 3, x.shape[0]), VECTORS)
    sweep("histogram", lambda x, i: jnp.zeros(8, x.dtype).at[index_of(x, 8, i)].add(1.0)[index_of(x, 8, i)], VECTORS)
    sweep("one_hot", lambda x, i: jax.nn.one_hot(index_of(x, 4, i), 4).sum(-1), both, wrt=False)
    sweep("searchsorted", lambda x, i: jnp.searchsorted(jnp.linspace(-1, 1, 50).astype(x.dtype), x), VECTORS, wrt=False)
    sweep("interp", lambda x, i: jnp.interp(x, jnp.linspace(-1, 1, 20), jnp.linspace(0, 1, 20) ** 2), VECTORS)
    sweep("convolution_3", lambda x, i: convolve(x, [0.2, 0.5, 0.3]), VECTORS)
    sweep("convolution_9", lambda x, i: convolve(x, [0.1] * 9), VECTORS)
    sweep("average_3", lambda x, i: window(x, 0.0, lax.add, 3), both)
    sweep("maximum_3", lambda x, i: window(x, -jnp.inf, lax.max, 3), both)
    sweep("pool_2", lambda x, i: jnp.repeat(x[..., : x.shape[-1] // 2 * 2].reshape(*x.shape[:-1], -1, 2).max(-1), 2, -1).mean(-1, keepdims=True), both)
    sweep("matvec", lambda x, i: jnp.cos(jnp.arange(x.size**2, dtype=x.dtype)).reshape(x.size, x.size) @ x * 0.01, [(3,), (7,), (40,), (200,), (1000,)])
    sweep("matmul", lambda x, i: x @ x * 0.01, [*SQUARES, (100, 100)])
    sweep("gram", lambda x, i: (x @ x.T).mean() * 0.1, MATRICES)
    sweep("quadratic", lambda x, i: x @ jnp.eye(x.shape[0], dtype=x.dtype) @ x / x.shape[0], [(3,), (7,), (40,), (200,)])
    sweep("solve", lambda x, i: jnp.linalg.solve(positive(x), x), SQUARES)
    sweep("cholesky", lambda x, i: jnp.linalg.cholesky(positive(x)), SQUARES)
    sweep("inverse", lambda x, i: jnp.linalg.inv(positive(x)), SQUARES)
    sweep("determinant", lambda x, i: jnp.linalg.det(positive(x) / x.shape[0]) * 1e-3, SQUARES)
    sweep("pairs", lambda x, i: (1 / (jnp.abs(x[:, None] - x[None]) + 1)).sum(1), [(7,), (100,)])
    sweep("inner_loop", inner, [(), *both[:3], (3, 40), (30, 30)])
    sweep("inner_while", inner_while, [(), *both[:3], (3, 40), (30, 30)], wrt=False)
    sweep("branch", lambda x, i: lax.cond(x.reshape(-1)[0] > 0, jnp.sin, jnp.cos, x), [(), *both])
    sweep("switch", lambda x, i: lax.switch(i % 3, [jnp.sin, jnp.cos, lambda y: y * y], x), [(), *both])
    sweep("vmap_cond", lambda x, i: jax.vmap(lambda r: lax.cond(r.reshape(-1)[0] > 0, jnp.sin, jnp.cos, r))(x), both)
    sweep("automaton", rule, both, "uint32", recipe="bits")
    sweep("xorshift", lambda x, i: (x ^ (x << 13)) ^ (x >> 17), [(), *both], "uint32", recipe="bits")
    sweep("modulo", lambda x, i: (x * 5 + 3) % 97, [(), *both], "int32", recipe="labels:90")
    sweep("life", lambda x, i: sum(jnp.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) % 2, MATRICES, "int32", recipe="labels:2")
    sweep("random", lambda x, i: jax.random.uniform(jax.random.key(i), x.shape, x.dtype), both, wrt=False)
