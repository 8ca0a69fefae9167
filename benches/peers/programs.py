"""Programs of 17 families, written for JAX and most of them for PyTorch, and chosen without regard to the runtime.

`P(name, inputs, jax, torch=None, wrt=(..), value=True, tol=None)`: `jax(*x)` returns an array. Its computation is timed
(`name.v`, unless `value=False`). If `wrt` names inputs, so is the gradient of its inner product with fixed weights
(`name.g`; for a scalar, the gradient of the scalar). Inputs are `(dtype, shape, recipe)`, as in `workloads.py`.
"""

from dataclasses import dataclass

import numpy as np

PROGRAMS = []


@dataclass
class Program:
    name: str
    family: str
    inputs: list
    jax: object
    torch: object
    wrt: tuple
    value: bool
    tol: float
    holds: str = ""


FAMILY = [""]


def family(name):
    FAMILY[0] = name


def P(name, inputs, jax, torch=None, wrt=(), value=True, tol=None):
    assert all(p.name != name for p in PROGRAMS), name
    PROGRAMS.append(Program(name, FAMILY[0], inputs, jax, torch, tuple(wrt), value, tol))


def f32(*s, r="normal"):
    return ("float32", s, r)

def f64(*s, r="normal"):
    return ("float64", s, r)

def i32(n, *s):
    return ("int32", s, f"labels:{n}")

def define():
    import jax
    import jax.numpy as jnp
    from jax import lax

    try:
        import torch as T
        import torch.nn.functional as F
    except Exception:  # needed by the process of PyTorch only
        T = F = None

    la = jnp.linalg
    # ------------------------------------------------------------------ short last axes
    family("short rows")
    P("softmax_20000x4", [f32(20000, 4)], lambda x: jax.nn.softmax(x), lambda x: T.softmax(x, -1), [0])
    P("unit_vectors_50000x3", [f32(50000, 3)], lambda x: x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True)), lambda x: x / T.sqrt((x * x).sum(-1, keepdim=True)), [0])
    P("cross_20000x3", [f32(20000, 3), f32(20000, 3)], lambda a, b: jnp.cross(a, b), lambda a, b: T.linalg.cross(a, b), [0, 1])

    P("variance_32768x8", [f32(32768, 8)], lambda x: jnp.var(x, -1), lambda x: T.var(x, -1, unbiased=False), [0])
    P("argmax_20000x10", [f32(20000, 10)], lambda x: jnp.argmax(x, -1).astype(jnp.int32), lambda x: T.argmax(x, -1).int())

    # ------------------------------------------------------------------ many small matrices
    family("small matrices")
    P("det_5000x3", [f64(5000, 3, 3, r="regular")], lambda a: la.det(a), lambda a: T.linalg.det(a), [0])
    P("solve_2000x6", [f32(2000, 6, 6, r="regular"), f32(2000, 6, 1)], lambda a, b: la.solve(a, b), lambda a, b: T.linalg.solve(a, b), [0, 1])
    P("cholesky_3000x5", [f64(3000, 5, 5, r="positive")], lambda a: la.cholesky(a), lambda a: T.linalg.cholesky(a), [0])
    P("qr_2000x4", [f64(2000, 4, 4, r="regular")], lambda a: la.qr(a)[1], lambda a: T.linalg.qr(a)[1], [0])
    P("eigvalsh_2000x3", [f64(2000, 3, 3, r="positive")], lambda a: la.eigvalsh(a), lambda a: T.linalg.eigvalsh(a), [0])
    P("matmul_20000x4", [f32(20000, 4, 4), f32(20000, 4, 4)], lambda a, b: a @ b, lambda a, b: a @ b, [0, 1])
    P("matvec_50000x3", [f32(50000, 3, 3), f32(50000, 3)], lambda a, b: jnp.einsum("nij,nj->ni", a, b), lambda a, b: T.einsum("nij,nj->ni", a, b), [0, 1])

    # ------------------------------------------------------------------ order
    family("sort and select")
    P("top_k_1000x1000_10", [f32(1000, 1000)], lambda x: lax.top_k(x, 10)[0], lambda x: T.topk(x, 10)[0], [0])
    P("sort_100000", [f32(100000)], lambda x: jnp.sort(x), lambda x: T.sort(x)[0], [0])
    P("sort_rows_2000x32", [f64(2000, 32)], lambda x: jnp.sort(x, -1), lambda x: T.sort(x, -1)[0], [0])
    P("searchsorted_100000", [f32(1000, r="sorted"), f32(100000, r="uniform")], lambda a, v: jnp.searchsorted(a, v).astype(jnp.int32), lambda a, v: T.searchsorted(a, v).int())

    # ------------------------------------------------------------------ Fourier
    family("fourier")
    P("fft_rows_256x256", [("complex64", (256, 256), "normal")], lambda x: jnp.fft.fft(x), lambda x: T.fft.fft(x))
    P("rfft_power_512x1000", [f32(512, 1000)], lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2, lambda x: T.abs(T.fft.rfft(x)) ** 2, [0], tol=1e-2)
    k = np.fft.fftfreq(128) * 128
    k2 = (k[:, None] ** 2 + k[None, :] ** 2).astype(np.float64)
    k2[0, 0] = 1.0
    P("poisson_128", [f64(128, 128)], lambda x: jnp.real(jnp.fft.ifft2(jnp.fft.fft2(x.astype(jnp.complex128)) / k2)), lambda x: T.fft.ifft2(T.fft.fft2(x.to(T.complex128)) / T.from_numpy(k2)).real, [0])

    # ------------------------------------------------------------------ scatter and gather
    family("scatter and gather")
    P("histogram_1000000", [i32(256, 1000000)], lambda i: jnp.zeros(256, jnp.int32).at[i].add(1), lambda i: T.bincount(i, minlength=256).int())
    P("segment_sum_100000", [f32(100000), i32(1000, 100000)], lambda x, i: jax.ops.segment_sum(x, i, 1000), lambda x, i: T.zeros(1000).index_add(0, i, x), [0])
    P("embedding_8192x64", [f32(10000, 64), i32(10000, 8192)], lambda e, i: jnp.take(e, i, axis=0, mode="clip"), lambda e, i: F.embedding(i, e), [0])
    P("scatter_set_100000", [f32(200000), ("int32", (100000,), "permutation:200000"), f32(100000)], lambda x, i, v: x.at[i].set(v, mode="drop", unique_indices=True), lambda x, i, v: x.index_copy(0, i.long(), v), [0, 2])

    def gnn(h, s, r, w):
        m = jnp.tanh(jnp.take(h, s, axis=0, mode="clip") @ w)
        return jax.ops.segment_sum(m, r, 5000)

    P("graph_network_40000", [f32(5000, 16), i32(5000, 40000), i32(5000, 40000), f32(16, 16, r="normal:0.3")], gnn, lambda h, s, r, w: T.zeros(5000, 16).index_add(0, r, T.tanh(h[s] @ w)), [0, 3])

    # ------------------------------------------------------------------ windows
    family("convolution and pooling")

    def conv(stride=(1, 1), pad="SAME", lhs=(1, 1), rhs=(1, 1), groups=1, dims=None):
        return lambda x, w: lax.conv_general_dilated(x, w, stride, pad, lhs_dilation=lhs, rhs_dilation=rhs, feature_group_count=groups, dimension_numbers=dims)

    P("conv_stride2_16x32x32", [f32(16, 32, 32, 32), f32(64, 32, 3, 3, r="normal:0.1")], conv((2, 2), [(1, 1), (1, 1)]), lambda x, w: F.conv2d(x, w, stride=2, padding=1), [0, 1])
    P("conv_dilated_8x32x32", [f32(8, 32, 32, 32), f32(32, 32, 3, 3, r="normal:0.1")], conv((1, 1), [(2, 2), (2, 2)], rhs=(2, 2)), lambda x, w: F.conv2d(x, w, padding=2, dilation=2), [0, 1])
    P("conv_depthwise_16x64x28", [f32(16, 64, 28, 28), f32(64, 1, 3, 3)], conv((1, 1), [(1, 1), (1, 1)], groups=64), lambda x, w: F.conv2d(x, w, padding=1, groups=64), [0, 1])
    P("conv_one_channel_64x28", [f32(64, 1, 28, 28), f32(8, 1, 5, 5)], conv((1, 1), "VALID"), lambda x, w: F.conv2d(x, w), [0, 1])
    P("conv3d_4x4x16", [f32(4, 4, 16, 16, 16), f32(8, 4, 3, 3, 3, r="normal:0.1")], lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME"), lambda x, w: F.conv3d(x, w, padding=1), [0, 1])
    P("max_pool3_16x16x55", [f32(16, 16, 55, 55)], lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "VALID"), lambda x: F.max_pool2d(x, 3, 2), [0])

    # ------------------------------------------------------------------ normalisations
    family("normalisation")

    def batch_norm(x, g, b):
        m = jnp.mean(x, (0, 2, 3), keepdims=True)
        c = x - m
        v = jnp.mean(c * c, (0, 2, 3), keepdims=True)
        return c * lax.rsqrt(v + 1e-5) * g[:, None, None] + b[:, None, None]

    P("batch_norm_64x32x16", [f32(64, 32, 16, 16), f32(32), f32(32)], batch_norm, lambda x, g, b: F.batch_norm(x, None, None, g, b, True), [0, 1, 2])

    def layer_norm(x, g, b):
        m = jnp.mean(x, -1, keepdims=True)
        c = x - m
        return c * lax.rsqrt(jnp.mean(c * c, -1, keepdims=True) + 1e-5) * g + b

    P("layer_norm_8192x32", [f32(8192, 32), f32(32), f32(32)], layer_norm, lambda x, g, b: F.layer_norm(x, (32,), g, b), [0, 1, 2])

    def rms_norm16(x, g):
        x, g = x.astype(jnp.bfloat16), g.astype(jnp.bfloat16)
        y = x.astype(jnp.float32)
        return ((y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(jnp.bfloat16) * g).astype(jnp.float32)

    def rms_norm16_t(x, g):
        x, g = x.bfloat16(), g.bfloat16()
        y = x.float()
        return ((y * T.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)).bfloat16() * g).float()

    P("rms_norm_bf16_512x1024", [f32(512, 1024), f32(1024)], rms_norm16, rms_norm16_t, [0, 1], tol=3e-2)

    # ------------------------------------------------------------------ attention and losses
    family("attention and losses")
    causal32 = np.tril(np.ones((32, 32), bool))

    def attn(q, k, v, mask, nn_softmax, where, swap):
        s = q @ swap(k) * q.shape[-1] ** -0.5
        return nn_softmax(where(mask, s, -1e9)) @ v

    P("attention_16x4x32x8", [f32(16, 4, 32, 8)] * 3, lambda q, k, v: attn(q, k, v, causal32, jax.nn.softmax, jnp.where, lambda x: jnp.swapaxes(x, -1, -2)), lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [0, 1, 2])

    P("cross_entropy_64x32000", [f32(64, 32000), i32(32000, 64)], lambda x, y: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1, mode="clip")), lambda x, y: F.cross_entropy(x, y.long()), [0])
    P("lm_head_128x256x8000", [f32(128, 256), f32(256, 8000, r="normal:0.05"), i32(8000, 128)], lambda h, w, y: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h @ w), y[:, None], 1, mode="clip")), lambda h, w, y: F.cross_entropy(h @ w, y.long()), [0, 1])
    P("contrastive_256x64", [f32(256, 64), f32(256, 64)], lambda a, b: jnp.mean(jax.nn.logsumexp((a / la.norm(a, axis=1, keepdims=True)) @ (b / la.norm(b, axis=1, keepdims=True)).T * 10.0, -1)), lambda a, b: T.logsumexp(F.normalize(a) @ F.normalize(b).T * 10.0, -1).mean(), [0, 1])

    # ------------------------------------------------------------------ recurrent networks
    family("recurrent networks")

    def rnn(xs, h, wx, wh, b):
        return lax.scan(lambda h, x: (jnp.tanh(x @ wx + h @ wh + b), None), h, xs)[0]

    def rnn_t(xs, h, wx, wh, b):
        for x in xs:
            h = T.tanh(x @ wx + h @ wh + b)
        return h

    P("rnn_200x16x32", [f32(200, 16, 8), f32(16, 32), f32(8, 32, r="normal:0.2"), f32(32, 32, r="normal:0.15"), f32(32, r="normal:0.1")], rnn, rnn_t, [2, 3, 4])

    def loop_t(step, c, xs):
        for x in xs:
            c = step(c, x)
        return c

    def lstm(xs, wx, wh, b, sigmoid, tanh, split, zeros, scan):
        def step(hc, x):
            h, c = hc
            i, f, o, u = split(x @ wx + h @ wh + b)
            c = sigmoid(f) * c + sigmoid(i) * tanh(u)
            return sigmoid(o) * tanh(c), c

        return scan(step, (zeros, zeros), xs)[0]

    P("lstm_200x16", [f32(200, 16), f32(16, 64, r="normal:0.2"), f32(16, 64, r="normal:0.2"), f32(64, r="normal:0.1")], lambda *a: lstm(*a, jax.nn.sigmoid, jnp.tanh, lambda g: jnp.split(g, 4, -1), jnp.zeros(16, jnp.float32), lambda s, h, xs: lax.scan(lambda c, x: (s(c, x), None), h, xs)[0]), lambda *a: lstm(*a, T.sigmoid, T.tanh, lambda g: g.chunk(4, -1), T.zeros(16), loop_t), [1, 2, 3])

    # ------------------------------------------------------------------ loops
    family("loops")

    def delay(xs, w):
        def step(c, x):
            buf, i = c
            buf = lax.dynamic_update_slice(buf, x[None], (i,))
            y = buf @ w
            return (buf, (i + 1) % 64), y

        return lax.scan(step, (jnp.zeros(64, jnp.float32), jnp.int32(0)), xs)[1]

    P("delay_line_2000x64", [f32(2000), f32(64)], delay, None, [0, 1])

    def fir(xs, w):
        return lax.scan(lambda c, x: ((n := jnp.concatenate([c[1:], x[None]])), jnp.sum(n * w)), jnp.zeros(8, jnp.float32), xs)[1]

    P("shift_register_5000x8", [f32(5000), f32(8)], fir, None, [0, 1])

    def adaptive(y0):
        """Adaptive Euler-Heun on the pendulum: a while loop over a dozen scalars."""

        def body(c):
            t, h, x, v, e, n, s0, s1, s2, s3, acc, rej = c
            k1x, k1v = v, -jnp.sin(x)
            x1, v1 = x + h * k1x, v + h * k1v
            k2x, k2v = v1, -jnp.sin(x1)
            err = jnp.abs(h * 0.5 * (k2x - k1x)) + jnp.abs(h * 0.5 * (k2v - k1v))
            ok = err < 1e-4
            nx, nv = x + 0.5 * h * (k1x + k2x), v + 0.5 * h * (k1v + k2v)
            g = jnp.clip(0.9 * jnp.sqrt(1e-4 / (err + 1e-12)), 0.2, 5.0)
            return (jnp.where(ok, t + h, t), h * g, jnp.where(ok, nx, x), jnp.where(ok, nv, v), jnp.maximum(e, err), n + 1, s0 + x, s1 + v, s2 + x * x, s3 + v * v, acc + ok, rej + (1 - ok))

        z = jnp.float64(0)
        c = lax.while_loop(lambda c: c[0] < 50.0, body, (z, z + 0.01, y0, z, z, jnp.int32(0), z, z, z, z, jnp.int32(0), jnp.int32(0)))
        return c[2] + c[3] + c[6] + c[8]

    P("adaptive_pendulum", [f64(r="uniform")], adaptive, None)

    def newton_many(a):
        def step(x, _):
            return x - (x * x * x - a) / (3 * x * x), None

        return lax.scan(step, jnp.ones_like(a), None, length=12)[0]

    P("newton_cube_root_10000", [f64(10000, r="above")], newton_many, None, [0])

    def kalman(ys, f, q, h, r):
        def step(c, y):
            m, p = c
            m, p = f @ m, f @ p @ f.T + q
            s = h @ p @ h.T + r
            k = la.solve(s, h @ p).T
            e = y - h @ m
            return (m + k @ e, p - k @ h @ p), e @ e

        return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), ys)[1].sum()

    P("kalman_200x4", [f64(200, 2), f64(4, 4, r="normal:0.3"), f64(4, 4, r="positive"), f64(2, 4), f64(2, 2, r="positive")], kalman, None, [1, 4], tol=1e-5)

    P("matvec_loop_200x256", [f32(256, 256, r="normal:0.06"), f32(256)], lambda a, x: lax.scan(lambda x, _: (jnp.tanh(a @ x), None), x, None, length=200)[0], None, [0, 1])

    def nested(a, xs):
        def inner(c, _):
            return c - 0.1 * (c - a * jnp.cos(c)), None

        def outer(c, x):
            y = lax.scan(inner, x + c, None, length=10)[0]
            return y, y

        return lax.scan(outer, jnp.float64(0), xs)[1]

    P("scan_in_scan_1000x10", [f64(r="value:0.7"), f64(1000)], nested, None, [0, 1])

    def sgd(w, b, xs, ys):
        def loss(p, x, y):
            return jnp.mean((jnp.tanh(x @ p[0]) @ p[1] - y) ** 2)

        def step(p, xy):
            g = jax.grad(loss)(p, *xy)
            return jax.tree.map(lambda p, g: p - 0.1 * g, p, g), None

        return lax.scan(step, (w, b), (xs, ys))[0][0]

    P("sgd_loop_100x16", [f32(8, 16, r="normal:0.3"), f32(16, r="normal:0.3"), f32(100, 16, 8), f32(100, 16)], sgd, None)

    # ------------------------------------------------------------------ prefixes
    family("prefixes")
    P("cumsum_1000x1000", [f32(1000, 1000)], lambda x: jnp.cumsum(x, 1), lambda x: T.cumsum(x, 1), [0], tol=1e-3)
    P("cumlogsumexp_200x500", [f64(200, 500)], lambda x: lax.cumlogsumexp(x, 1), lambda x: T.logcumsumexp(x, 1), [0])
    P("linear_recurrence_4096x8", [f32(4096, 8, r="uniform"), f32(4096, 8)], lambda a, b: lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (a, b))[1], None, [0, 1])

    # ------------------------------------------------------------------ particles and grids
    family("particles and grids")

    def forces(x, m):
        d = x[None, :, :] - x[:, None, :]
        r2 = jnp.sum(d * d, -1) + 0.01
        return jnp.sum(d * (m[None, :] * r2**-1.5)[..., None], 1)

    def forces_t(x, m):
        d = x[None, :, :] - x[:, None, :]
        r2 = (d * d).sum(-1) + 0.01
        return (d * (m[None, :] * r2**-1.5)[..., None]).sum(1)

    P("n_body_256", [f64(256, 3), f64(256, r="uniform")], forces, forces_t, [0, 1])

    def heat(u, roll, steps, scan):
        return scan(lambda u: u + 0.1 * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u), u, steps)

    def repeat_j(f, u, n):
        return lax.scan(lambda u, _: (f(u), None), u, None, length=n)[0]

    def repeat_t(f, u, n):
        for _ in range(n):
            u = f(u)
        return u

    P("heat_roll_50x128", [f32(128, 128)], lambda u: heat(u, jnp.roll, 50, repeat_j), lambda u: heat(u, T.roll, 50, repeat_t), [0])

    def wave(u, v):
        def step(c, _):
            u, v = c
            lap = jnp.concatenate([u[1:], u[:1]]) + jnp.concatenate([u[-1:], u[:-1]]) - 2 * u
            v = v + 0.1 * lap
            return (u + 0.1 * v, v), None

        return lax.scan(step, (u, v), None, length=200)[0][0]

    P("wave_200x500", [f32(500), f32(500)], wave, None, [0, 1])

    def laplace9(u):
        c = u[1:-1, 1:-1]
        return (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 4 + u[:-2, :-2] + u[2:, 2:] + u[:-2, 2:] + u[2:, :-2] - 20 * c

    P("stencil9_1000x1000", [f32(1000, 1000)], laplace9, laplace9, [0])

    def mandel(re, im):
        def body(_, c):
            x, y, n = c
            x2, y2 = x * x, y * y
            alive = x2 + y2 < 4
            x, y = jnp.where(alive, x2 - y2 + re, x), jnp.where(alive, 2 * x * y + im, y)
            return x, y, n + alive

        z = jnp.zeros_like(re)
        return lax.fori_loop(0, 50, body, (z, z, jnp.zeros(re.shape, jnp.int32)))[2]

    P("mandelbrot_50x200x200", [f32(200, 200, r="inside"), f32(200, 200, r="inside")], mandel, None, tol=1.0)
    P("total_variation_8x3x64", [f32(8, 3, 64, 64)], lambda x: jnp.sum(jnp.abs(x[..., 1:, :] - x[..., :-1, :])) + jnp.sum(jnp.abs(x[..., 1:] - x[..., :-1])), lambda x: (x[..., 1:, :] - x[..., :-1, :]).abs().sum() + (x[..., 1:] - x[..., :-1]).abs().sum(), [0])

    # ------------------------------------------------------------------ integers and random bits
    family("integers and random bits")
    u32 = lambda n: ("uint32", (n,), "bits")
    P("popcount_1000000", [u32(1000000)], lambda x: lax.population_count(x ^ (x >> 1)))

    P("div_mod_100000", [("int32", (100000,), "labels:1000000"), ("int32", (100000,), "labels:1000")], lambda a, b: (a // (b + 1)) * 3 + a % (b + 7), lambda a, b: T.div(a, b + 1, rounding_mode="floor") * 3 + T.remainder(a, b + 7))
    P("random_bits_1000000", [("uint32", (2,), "bits")], lambda k: jax.random.bits(jax.random.wrap_key_data(k), (1000000,), jnp.uint32))
    P("random_normal_100000", [("uint32", (2,), "bits")], lambda k: jax.random.normal(jax.random.wrap_key_data(k), (100000,), jnp.float32), tol=1e-2)
    P("dropout_256x1024", [("uint32", (2,), "bits"), f32(256, 1024)], lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.9, (256, 1024)), x / 0.9, 0), None, [1])

    # ------------------------------------------------------------------ half precision and complex numbers
    family("half and complex")
    P("gelu_bf16_1000000", [f32(1000000)], lambda x: jax.nn.gelu(x.astype(jnp.bfloat16)).astype(jnp.float32), lambda x: F.gelu(x.bfloat16(), approximate="tanh").float(), [0], tol=5e-2)
    P("matmul_bf16_512", [f32(512, 512), f32(512, 512)], lambda a, b: jnp.matmul(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32), lambda a, b: (a.bfloat16() @ b.bfloat16()).float(), [0, 1], tol=5e-2)
    P("matmul_i8_256", [("int8", (256, 256), "labels:100"), ("int8", (256, 256), "labels:100")], lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.int32))
    c64 = lambda *s: ("complex64", s, "normal:0.5")
    def chain_c(a, b, c, d, complex, conj, real, imag):
        z, w = complex(a, b), complex(c, d)
        y = (z * z + w) * conj(z) / (1 + z * w)
        return real(y) + 2 * imag(y)

    P("complex_chain_100000", [f32(100000, r="normal:0.5")] * 4, lambda *x: chain_c(*x, lax.complex, jnp.conj, jnp.real, jnp.imag), lambda *x: chain_c(*x, T.complex, T.conj, T.real, T.imag), [0, 1, 2, 3], tol=1e-2)
    P("complex_matmul_200", [c64(200, 200), c64(200, 200)], lambda a, b: a @ b, lambda a, b: a @ b, tol=1e-3)

    # ------------------------------------------------------------------ special functions
    family("special functions")
    P("erf_inv_100000", [f32(100000, r="inside")], lambda x: lax.erf_inv(x), lambda x: T.erfinv(x), [0])
    P("lgamma_100000", [f64(100000, r="above:5")], lambda x: lax.lgamma(x), lambda x: T.lgamma(x), [0])
    P("betainc_10000", [f64(10000, r="above:3"), f64(10000, r="above:3"), f64(10000, r="uniform")], lambda a, b, x: jax.scipy.special.betainc(a, b, x), None, tol=1e-4)  # in the text its derivative would be that of the loop
    P("log_ndtr_100000", [f64(100000)], lambda x: jax.scipy.special.log_ndtr(x), lambda x: T.special.log_ndtr(x), [0])
    P("poisson_loss_100000", [f32(100000), f32(100000, r="above:5")], lambda l, y: jnp.mean(jnp.exp(l) - y * l + lax.lgamma(y + 1)), lambda l, y: T.mean(T.exp(l) - y * l + T.lgamma(y + 1)), [0])

    # ------------------------------------------------------------------ kernels and statistics
    family("kernels and statistics")

    def gram(x, s):
        d = x[:, None, :] - x[None, :, :]
        return jnp.exp(-0.5 * jnp.sum((d / s) ** 2, -1))

    def gram_t(x, s):
        d = x[:, None, :] - x[None, :, :]
        return T.exp(-0.5 * ((d / s) ** 2).sum(-1))

    def gp(x, y, s):
        k = gram(x, s) + 0.1 * jnp.eye(100)
        l = la.cholesky(k)
        z = jax.scipy.linalg.solve_triangular(l, y, lower=True)
        return 0.5 * z @ z + jnp.sum(jnp.log(jnp.diagonal(l)))

    def gp_t(x, y, s):
        l = T.linalg.cholesky(gram_t(x, s) + 0.1 * T.eye(100, dtype=T.float64))
        z = T.linalg.solve_triangular(l, y[:, None], upper=False)[:, 0]
        return 0.5 * z @ z + T.log(T.diagonal(l)).sum()

    P("gaussian_process_100", [f64(100, 3), f64(100), f64(3, r="above")], gp, gp_t, [0, 1, 2])
    P("outer_sum_1000", [f32(1000), f32(1000)], lambda a, b: jnp.sum(jnp.tanh(a[:, None] * b[None, :]), 1), lambda a, b: T.tanh(a[:, None] * b[None, :]).sum(1), [0, 1])
    P("pairwise_argmin_1000x50x8", [f32(1000, 8), f32(50, 8)], lambda x, c: jnp.argmin(jnp.sum((x[:, None, :] - c[None, :, :]) ** 2, -1), 1).astype(jnp.int32), lambda x, c: T.argmin(((x[:, None, :] - c[None, :, :]) ** 2).sum(-1), 1).int())

    def logistic(w, x, y):
        z = x @ w
        return jnp.mean(jnp.logaddexp(0, z) - y * z)

    P("logistic_hessian_500x20", [f64(20), f64(500, 20), f64(500, r="uniform")], lambda w, x, y: jax.hessian(logistic)(w, x, y))

    # ------------------------------------------------------------------ derivatives of derivatives, many scalars, branches
    family("derivatives and scalars")

    def rosen(x):
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    P("hvp_rosenbrock_1000", [f64(1000), f64(1000)], lambda x, v: jax.jvp(jax.grad(rosen), (x,), (v,))[1])

    P("jacobian_forward_20", [f64(20)], lambda x: jax.jacfwd(lambda x: jnp.cumsum(jnp.sin(x) * jnp.roll(x, 1)))(x))
    n = 300
    P(f"scalar_parameters_{n}", [f32() for _ in range(n)], lambda *p: sum(jnp.sin(p[i]) * p[(i + 1) % n] for i in range(n)), None, range(n))

    def branches(k, x):
        fs = [lambda x: jnp.sin(x), lambda x: x * x, lambda x: jnp.exp(-x * x), lambda x: jnp.tanh(x) * x, lambda x: x]
        return lax.switch(k, fs, x)

    P("switch_1000", [("int32", (), "value:3"), f32(1000)], branches, None, [1])

    def lorenz(p):
        def rhs(s):
            x, y, z = s
            return jnp.stack([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])

        def step(s, _):
            k1 = rhs(s)
            k2 = rhs(s + 0.005 * k1)
            return s + 0.01 * k2, None

        return lax.scan(step, jnp.array([1.0, 1.0, 1.0]), None, length=500)[0]

    P("lorenz_500", [f64(3, r="value:2")], lorenz, None, [0])
