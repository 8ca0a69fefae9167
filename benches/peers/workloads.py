"""The programs that are compared, each written once for JAX, PyTorch and NumPy.

A workload is a function of `nn`, a library with the names that the programs need, and of arrays. Its inputs are recipes,
so that Rust can generate inputs of the same kind without Python. `DERIVED` specifies the timed computation:

    value            the results
    grad             the gradients of a scalar with respect to `wrt`
    hvp              the product of the Hessian with one direction per `wrt` input, given as further inputs
    hessian          the Hessian with respect to one input
    first_gradient   from the program's text to its gradient, including parsing and compilation
"""

import importlib
from dataclasses import dataclass

import numpy as np


@dataclass
class Workload:
    name: str
    derived: str
    wrt: tuple
    inputs: list  # (dtype, shape, recipe)
    f: object
    peers: tuple = ("jax", "torch")
    tol: float = None  # tolerance, relative to the largest number
    all_inputs: bool = False  # JAX keeps unused inputs and equations
    primal: object = None  # the function without the weights of its gradient
    weighted: bool = False  # whether weights are the first input
    holds: str = ""  # what the body of the innermost loop holds


def make(rng, dtype, shape, recipe):
    kind, _, number = recipe.partition(":")
    n = float(number or 1)
    if dtype.startswith("complex"):
        x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) * n
    elif kind == "normal":
        x = rng.standard_normal(shape) * n
    elif kind == "uniform":
        x = rng.random(shape)
    elif kind == "above":  # numbers of at least 0.5
        x = 0.5 + rng.random(shape) * n
    elif kind == "inside":  # in (-1, 1)
        x = (rng.random(shape) * 2 - 1) * 0.95
    elif kind == "sorted":
        x = np.sort(rng.random(shape))
    elif kind == "bits":
        x = rng.integers(0, 2**32, shape, dtype=np.uint64)
    elif kind == "permutation":  # different numbers below n
        x = rng.permutation(int(n))[: int(np.prod(shape))].reshape(shape)
    elif kind == "regular":  # well conditioned matrices
        x = rng.standard_normal(shape) * 0.3 + 2 * np.eye(shape[-1])
    elif kind == "grid":
        x = np.linspace(-2, 2, int(np.prod(shape))).reshape(shape)
    elif kind == "value":
        x = np.full(shape, n)
    elif kind == "labels":
        x = rng.integers(0, int(n), shape)
    elif kind == "positive":  # symmetric positive definite
        a = rng.standard_normal(shape)
        x = a @ np.swapaxes(a, -1, -2) / shape[-1] + np.eye(shape[-1])
    else:
        raise ValueError(recipe)
    return x.astype(dtype)


ALL = []


def add(name, derived, wrt, inputs, f, peers=("jax", "torch")):
    ALL.append(Workload(name, derived, tuple(wrt), inputs, f, peers))


# 0. Products.
for n in (128, 256, 512, 1024, 2048):
    for letter, dtype in (("s", "float32"), ("d", "float64")):
        square = (dtype, (n, n), "uniform")
        add(f"0_{letter}gemm_{n}", "value", (), [square, square], lambda nn, a, b: a @ b, ("jax", "torch", "numpy"))


# a. Small programs: the cost of a call.
def chain(nn, x, n=100):
    for i in range(n):
        x = (lambda x: x * 1.01, lambda x: x + 0.01, nn.tanh)[i % 3](x)
    return x


def summed(f):
    return lambda nn, *x: nn.sum(f(nn, *x))


for dtype in ("float32", "float64"):
    add(f"a_sumsq3_grad_{dtype}", "grad", [0], [(dtype, (3,), "normal")], lambda nn, x: nn.sum(x * x))
    add(f"a_chain100_fwd_{dtype}", "value", (), [(dtype, (10,), "value:0.5")], chain, ("jax", "torch", "numpy"))
    add(f"a_chain100_grad_{dtype}", "grad", [0], [(dtype, (10,), "value:0.5")], summed(chain))


# c. Elementwise fusion.
def elementwise(nn, x):
    x2 = x * x
    return nn.tanh(1.3 * x + 0.2) * nn.exp(-x2) / (1 + x2)


for dtype in ("float32", "float64"):
    for n in (10**4, 10**6, 10**7):
        x = [(dtype, (n,), "grid")]
        size = f"{dtype}_{n}"
        add(f"c_copy_{size}", "value", (), x, lambda nn, x: x + 1, ("jax", "torch", "numpy"))
        add(f"c_elem_fwd_{size}", "value", (), x, elementwise, ("jax", "torch", "numpy"))
        add(f"c_elem_grad_{size}", "grad", [0], x, summed(elementwise))

# d. Reductions of a matrix, forward, and the gradient of a weighted sum.
SQUARE = ("float32", (1024, 1024), "normal")
ROW = ("float32", (1024,), "normal")


def layer_norm(nn, x, g, o):
    c = x - nn.mean(x, -1)
    return c * nn.rsqrt(nn.mean(c * c, -1) + 1e-5) * g + o


def weighted(f):
    return lambda nn, w, *x: nn.sum(f(nn, *x) * w)


for name, f, weight in (
    ("sum", lambda nn, x: nn.sum(x), None),
    ("sumrows", lambda nn, x: nn.sum(x, 1), ROW),
    ("sumcols", lambda nn, x: nn.sum(x, 0), ROW),
    ("softmax", lambda nn, x: nn.softmax(x), SQUARE),
    ("logsumexp", lambda nn, x: nn.logsumexp(x), ROW),
):
    add(f"d_{name}_fwd", "value", (), [SQUARE], f, ("jax", "torch", "numpy"))
    if weight:
        add(f"d_{name}_grad", "grad", [1], [weight, SQUARE], weighted(f))
    else:
        add(f"d_{name}_grad", "grad", [0], [SQUARE], f)
affine = [("float32", (1024,), "value:1"), ("float32", (1024,), "value:0")]
add("d_layernorm_fwd", "value", (), [SQUARE] + affine, layer_norm)
add("d_layernorm_grad", "grad", [1, 2, 3], [SQUARE, SQUARE] + affine, weighted(layer_norm))


# e. Neural networks.
def perceptron(activation):
    def loss(nn, x, y, w1, b1, w2, b2, w3, b3):
        h = activation(nn, x @ w1 + b1)
        h = activation(nn, h @ w2 + b2)
        return nn.cross_entropy(h @ w3 + b3, y)

    return loss


def f32(*shape, by=1.0):
    return ("float32", shape, f"normal:{by}")


PERCEPTRON = [f32(256, 784), ("int32", (256,), "labels:10")]
PERCEPTRON += [f32(784, 512, by=0.05), f32(512, by=0), f32(512, 512, by=0.05), f32(512, by=0), f32(512, 10, by=0.05), f32(10, by=0)]
add("e_mlp_grad", "grad", range(2, 8), PERCEPTRON, perceptron(lambda nn, x: nn.relu(x)))


def attention(nn, q, k, v):
    s = nn.softmax(q @ nn.swap(k) * 0.125)
    return nn.sum((s @ v) ** 2)


add("e_attn_grad", "grad", range(3), [f32(8, 8, 128, 64)] * 3, attention)

D, HEADS, TIME, BATCH = 256, 8, 128, 8


def gpt_block(nn, x, g1, o1, wqkv, bqkv, wo, bo, g2, o2, w1, b1, w2, b2):
    h = layer_norm(nn, x, g1, o1)
    qkv = nn.transpose((h @ wqkv + bqkv).reshape(BATCH, TIME, 3, HEADS, D // HEADS), (2, 0, 3, 1, 4))
    a = nn.softmax(qkv[0] @ nn.swap(qkv[1]) * (D // HEADS) ** -0.5 + nn.causal(TIME)) @ qkv[2]
    x = x + nn.transpose(a, (0, 2, 1, 3)).reshape(BATCH, TIME, D) @ wo + bo
    h = layer_norm(nn, x, g2, o2)
    return nn.mean((x + nn.gelu(h @ w1 + b1) @ w2 + b2) ** 2)


one, zero = "value:1", "value:0"
GPT = [f32(BATCH, TIME, D), ("float32", (D,), one), ("float32", (D,), zero), f32(D, 3 * D, by=0.05), ("float32", (3 * D,), zero)]
GPT += [f32(D, D, by=0.05), ("float32", (D,), zero), ("float32", (D,), one), ("float32", (D,), zero)]
GPT += [f32(D, 4 * D, by=0.05), ("float32", (4 * D,), zero), f32(4 * D, D, by=0.05), ("float32", (D,), zero)]
add("e_gpt_grad", "grad", range(1, 13), GPT, gpt_block)


def cnn(nn, x, y, k1, c1, k2, c2, wf, bf):
    h = nn.max_pool(nn.relu(nn.conv(x, k1) + c1.reshape(1, -1, 1, 1)))
    h = nn.max_pool(nn.relu(nn.conv(h, k2) + c2.reshape(1, -1, 1, 1)))
    return nn.cross_entropy(h.reshape(32, -1) @ wf + bf, y)


CNN = [f32(32, 3, 32, 32), ("int32", (32,), "labels:10"), f32(32, 3, 3, 3, by=0.1), f32(32, by=0), f32(64, 32, 3, 3, by=0.1), f32(64, by=0)]
CNN += [f32(4096, 10, by=0.02), f32(10, by=0)]
add("e_cnn_grad", "grad", range(2, 8), CNN, cnn)

# f. Higher order.
tanh_loss = perceptron(lambda nn, x: nn.tanh(x))
add("f_grad_mlp_tanh", "grad", range(2, 8), PERCEPTRON, tanh_loss)
directions = [(d, s, "normal") for d, s, _ in PERCEPTRON[2:]]
add("f_hvp_mlp", "hvp", range(2, 8), PERCEPTRON + directions, tanh_loss)


def rosenbrock(nn, x):
    return nn.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


add("f_hess_rosen200", "hessian", [0], [("float64", (200,), "normal")], rosenbrock)


def pinn(nn, points, *p):
    """The residual of u_xx + u_yy + u for a tanh network of four layers of 50; forward over forward, by hand."""

    def second(direction):
        h, d, dd = points @ p[0] + p[1], direction @ p[0], None
        for i in range(4):
            t = nn.tanh(h)
            slope = 1 - t * t
            dd = slope * ((0 if dd is None else dd) - 2 * t * d * d)
            d, h = slope * d, t
            h, d, dd = h @ p[2 * i + 2] + p[2 * i + 3], d @ p[2 * i + 2], dd @ p[2 * i + 2]
        return h, dd

    u, xx = second(nn.constant([[1.0, 0.0]]))
    _, yy = second(nn.constant([[0.0, 1.0]]))
    return nn.mean((xx + yy + u) ** 2)


widths = [2, 50, 50, 50, 50, 1]
NETWORK = [p for i in range(5) for p in (f32(widths[i], widths[i + 1], by=round(widths[i] ** -0.5, 3)), f32(widths[i + 1], by=0.1))]
add("f_pinn_grad", "grad", range(1, 11), [("float32", (10000, 2), "uniform")] + NETWORK, pinn)

# g. Linear algebra.
for n in (32, 128, 512):
    A, S, B, b = (("float64", (n, n), r) for r in ("normal", "positive", "normal", "normal"))
    b = ("float64", (n,), "normal")

    def svd_loss(nn, a, w):
        u, s, v = nn.svd(a)
        return nn.sum((u * s**2) @ v * w) + nn.sum(s)

    def eigh_loss(nn, s, w):
        e, v = nn.eigh(s)
        return nn.sum(nn.abs(v) * w) + nn.sum(e**2)

    def qr_loss(nn, a, w):
        q, r = nn.qr(a)
        return nn.sum(q * w) + nn.sum(r * w)

    add(f"g_svdvals_sum_grad_{n}", "grad", [0], [A], lambda nn, a: nn.sum(nn.svdvals(a)))
    add(f"g_svd_vjp_{n}", "grad", [0], [A, B], svd_loss)
    add(f"g_eigh_vjp_{n}", "grad", [0], [S, B], eigh_loss)
    add(f"g_qr_vjp_{n}", "grad", [0], [A, B], qr_loss)
    add(f"g_chol_vjp_{n}", "grad", [0], [S, B], lambda nn, s, w: nn.sum(nn.cholesky(s) * w))
    add(f"g_solve_vjp_{n}", "grad", [0, 1], [A, b], lambda nn, a, b: nn.sum(nn.solve(a, b)))
    add(f"g_solvemat_vjp_{n}", "grad", [0, 1], [A, B], lambda nn, a, b: nn.sum(nn.solve(a, b)))
    add(f"g_logdet_vjp_{n}", "grad", [0], [A], lambda nn, a: nn.logabsdet(a))
    add(f"g_svd_fwd_{n}", "value", (), [A], lambda nn, a: nn.svdvals(a), ("jax", "torch", "numpy"))
    add(f"g_eigh_fwd_{n}", "value", (), [S], lambda nn, s: nn.abs(nn.eigh(s)[1]), ("jax", "torch", "numpy"))
    add(f"g_chol_fwd_{n}", "value", (), [S], lambda nn, s: nn.cholesky(s), ("jax", "torch", "numpy"))
    add(f"g_qr_fwd_{n}", "value", (), [A], lambda nn, a: nn.qr(a)[1], ("jax", "torch", "numpy"))
    add(f"g_solve_fwd_{n}", "value", (), [A, b], lambda nn, a, b: nn.solve(a, b), ("jax", "torch", "numpy"))
MANY = ("float64", (1000, 8, 8), "positive")
add("g_batch1000x8_solve_vjp", "grad", [0, 1], [MANY, ("float64", (1000, 8, 1), "normal")], lambda nn, a, b: nn.sum(nn.solve(a, b)))
add("g_batch1000x8_chol_vjp", "grad", [0], [MANY], lambda nn, a: nn.sum(nn.cholesky(a)))

# h. Loops.
HIDDEN, ROWS, STEPS = 128, 32, 100


def lstm(nn, xs, wx, wh, b):
    def step(hc, g):
        h, c = hc
        i, f, o, u = nn.split4(g + h @ wh)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * nn.tanh(u)
        return nn.sigmoid(o) * nn.tanh(c), c

    z = nn.zeros((ROWS, HIDDEN))
    h, _ = nn.scan(step, (z, z), xs @ wx + b, STEPS)
    return nn.sum(h**2)


small = 0.08
add("h_lstm_grad", "grad", [1, 2, 3], [f32(STEPS, ROWS, HIDDEN), f32(HIDDEN, 512, by=small), f32(HIDDEN, 512, by=small), f32(512, by=small)], lstm)


def ode(nn, y, w1, b1, w2, b2):
    def f(y):
        return nn.tanh(y @ w1 + b1) @ w2 + b2

    def step(y, _):
        k1 = f(y)
        k2 = f(y + 0.005 * k1)
        k3 = f(y + 0.005 * k2)
        k4 = f(y + 0.01 * k3)
        return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return nn.sum(nn.scan(step, y, None, 200) ** 2)


add("h_ode_grad", "grad", [1, 2, 3, 4], [f32(64), f32(64, 64, by=small), f32(64, by=small), f32(64, 64, by=small), f32(64, by=small)], ode)


def recurrence(nn, a, b, x):
    return nn.scan(lambda y, _: a * y + b * nn.sin(y), x, None, 100000)


for dtype in ("float64", "float32"):
    scalars = [(dtype, (), f"value:{v}") for v in (0.9, 0.3, 0.5)]
    add(f"h_recur1e5_fwd_{dtype}", "value", (), scalars, recurrence, ("jax",))
    add(f"h_recur1e5_grad_{dtype}", "grad", [0, 1, 2], scalars, recurrence, ("jax",))

# j. Tensor networks.
BOND, SITES = 64, 50


def mps_norm(nn, *a):
    e = nn.einsum("apb,apc->bc", a[0], a[0])
    for x in a[1:]:
        e = nn.einsum("apb,apc->bc", x, nn.einsum("ac,cpd->apd", e, x))
    return nn.sum(e)


def matrix_chain(nn, *c):
    r = nn.einsum("ab,bc,cd,de,ef->af", *c)
    return nn.sum(r * r)


def tensor_times_two(nn, *t):
    r = nn.einsum("ijk,jl,km->ilm", *t)
    return nn.sum(r * r)


for dtype in ("float32", "float64"):
    sites = [(dtype, (1 if i == 0 else BOND, 2, 1 if i == SITES - 1 else BOND), f"normal:{0.7 if i == 0 else 0.0884}") for i in range(SITES)]
    ends = [30, 1000, 40, 800, 50, 600]
    matrices = [(dtype, (ends[i], ends[i + 1]), "normal:0.03") for i in range(5)]
    three = [(dtype, s, "normal:0.1") for s in ((64, 128, 96), (128, 112), (96, 80))]
    for name, f, inputs in (("mps_norm", mps_norm, sites), ("matchain5", matrix_chain, matrices), ("ijk_jl_km", tensor_times_two, three)):
        add(f"j_{name}_fwd_{dtype}", "value", (), inputs, f, ("jax", "torch"))
        add(f"j_{name}_grad_{dtype}", "grad", range(len(inputs)), inputs, f)


# b. From a program's text, or function, to its first gradient.
def small_perceptron(nn, x, w1, b1, w2, b2):
    h = nn.tanh(x @ w1 + b1)
    return nn.mean(nn.logsumexp(h @ w2 + b2) - (h @ w2 + b2)[:, 0])


shallow = [f32(256, 784, by=0.05), f32(784, 512, by=0.05), f32(512, by=0.05), f32(512, 10, by=0.05), f32(10, by=0.05)]
add("b_compile_mlp", "first_gradient", range(1, 5), shallow, small_perceptron)
add("b_compile_gpt", "first_gradient", range(1, 13), GPT, gpt_block)
add("b_compile_chain200", "first_gradient", [0], [("float32", (10,), "value:0.5")], lambda nn, x: nn.sum(chain(nn, x, 200)))


# p. Programs chosen without regard to the runtime.
def chosen(p):
    return lambda nn, *x: getattr(p, nn.name)(*x)


def weighted_sum(p):
    return lambda nn, w, *x: nn.weighted_sum(getattr(p, nn.name)(*x), w)


def add_programs(module):
    """`NAME.v`, `NAME.g`: the weights of a gradient are its first input, unless the value is one number."""
    import jax

    jax.config.update("jax_enable_x64", True)
    programs = importlib.import_module(module)
    programs.define()
    for p in programs.PROGRAMS:
        peers = ("jax", "torch") if p.torch else ("jax",)
        if p.value:
            add(p.name + ".v", "value", (), p.inputs, chosen(p), peers)
        if p.wrt:
            y = jax.eval_shape(p.jax, *[jax.ShapeDtypeStruct(s, d) for d, s, _ in p.inputs])
            if y.shape == () and y.dtype.kind == "f":
                add(p.name + ".g", "grad", p.wrt, p.inputs, chosen(p), peers)
            else:
                w = (str(jax.numpy.finfo(y.dtype).dtype), y.shape, "normal")
                add(p.name + ".g", "grad", [i + 1 for i in p.wrt], [w, *p.inputs], weighted_sum(p), peers)
        for w in ALL[-2:]:
            if w.name[:-2] == p.name:
                w.tol, w.all_inputs, w.primal, w.holds = p.tol, True, chosen(p), p.holds
                w.weighted = len(w.inputs) > len(p.inputs)


try:
    add_programs("programs")
except ImportError as e:
    print(f"the programs `NAME.v` and `NAME.g` are left out: {e}")


def use_module(name):
    """Replaces the workloads by the programs of a module."""
    ALL.clear()
    add_programs(name)
