"""A sample of each family of JAX's own tests: values, types and derivatives here are those of XLA's CPU.

`just jax CLONE` runs JAX's own tests; SAMPLES has a key for each of their files.
"""

import functools

import jax
import jax.experimental.jet
import jax.experimental.ode
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np
import pytest
from jax import lax
from jax.example_libraries import optimizers
from jax_tests import FILES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5)).astype(np.float32)
Y = RNG.normal(size=(4, 5)).astype(np.float32)
SQUARE = RNG.normal(size=(5, 5)).astype(np.float32)
POSITIVE = SQUARE @ SQUARE.T + 5 * np.eye(5, dtype=np.float32)
INTEGERS = RNG.integers(-9, 9, (4, 5)).astype(np.int32)
COMPLEX = (X + 1j * Y).astype(np.complex64)
IMAGE = RNG.normal(size=(2, 7, 8, 3)).astype(np.float32)


def derivatives(f, *args):
    """Value, gradient, and directional derivative of the sum of a function."""
    total = lambda *args: jnp.sum(jnp.real(f(*args)))
    args = tuple(jnp.asarray(a) for a in args)
    tangents = tuple(jnp.ones_like(a) for a in args)
    numbers = tuple(range(len(args)))
    return f(*args), jax.grad(total, numbers)(*args), jax.jvp(f, args, tangents)[1]


def batched(f, *args, axes=0):
    return jax.jit(jax.vmap(f, in_axes=axes))(*args)


def pool(x, init, op):
    return lax.reduce_window(x, init, op, (1, 3, 2, 1), (1, 2, 1, 1), "SAME")


def windows(x):
    pair = lambda a, b: (jnp.maximum(a[0], b[0]), a[1] * b[1])
    return pool(x, -np.inf, lax.max), pool(x, 1.0, lax.add), pool((x, x), (-np.inf, 2.0), pair)


def convolutions(x):
    kernel = jnp.sin(jnp.arange(3 * 2 * 3 * 4.0)).reshape(3, 2, 3, 4)
    numbers = ("NHWC", "HWIO", "NHWC")
    conv = functools.partial(lax.conv_general_dilated, dimension_numbers=numbers)
    return (
        conv(x, kernel, (1, 2), "SAME"),
        conv(x, kernel, (1, 1), [(2, 1), (-1, 3)], lhs_dilation=(2, 1), rhs_dilation=(1, 2)),
        conv(x[..., :2], kernel[:, :, :1], (1, 1), "VALID", feature_group_count=2),
    )


def gathers(x):
    index = jnp.array([[0], [3], [7], [-1]])
    numbers = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    scatter = lax.ScatterDimensionNumbers(
        update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )
    modes = [lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP]
    return [
        (
            lax.gather(x, index, numbers, (1, 5), mode=mode),
            lax.scatter_add(x, index, x * 2, scatter, mode=mode),
            lax.scatter_max(x, index, x * 2, scatter, mode=mode),
        )
        for mode in modes
    ]


def loops(x):
    def step(c, x):
        c = lax.cond(x.sum() > 0, lambda c: jnp.sin(c) + x, lambda c: c * x, c)
        return c, c.sum()

    scanned = lax.scan(step, x[0], x, reverse=True)
    collatz = lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2, 3 * s[0] + 1, s[0] // 2), s[1] + 1), (27, 0))
    switched = [lax.switch(k, [jnp.sin, jnp.cos, lambda x: x], x) for k in (-1, 1, 5)]
    prefix = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x, x))
    return scanned, collatz, switched, prefix, lax.map(jnp.sort, x), lax.fori_loop(0, 7, lambda i, c: c + i * x, x)


@jax.custom_vjp
def clipped(x):
    return x * 2


clipped.defvjp(lambda x: (x * 2, x), lambda x, g: (jnp.clip(g * x, -0.5, 0.5),))


def root(c):
    f = lambda x: x**3 + x - c
    newton = lambda f, x: lax.fori_loop(0, 20, lambda _, x: x - f(x) / jax.grad(f)(x), x)
    return lax.custom_root(f, jnp.ones_like(c), newton, lambda g, y: y / g(1.0))


def linear_solve(b):
    a = jnp.asarray(POSITIVE)
    solve = lambda matvec, b: jnp.linalg.solve(jax.jacobian(matvec)(b), b)
    return lax.custom_linear_solve(lambda x: a @ x, b, solve, symmetric=True)


def optimized(make):
    start, update, get = make
    state = start({"w": jnp.ones(3), "b": jnp.zeros(())})
    loss = lambda p: jnp.sum((jnp.array([1.0, 2.0, 3.0]) * p["w"] + p["b"] - 1) ** 2)
    for k in range(20):
        state = update(k, jax.grad(loss)(get(state)), state)
    return get(state)


def pendulum(length):
    field = lambda y, t: jnp.stack([y[1], -jnp.sin(y[0]) / length])
    return jax.experimental.ode.odeint(field, jnp.array([1.0, 0.0]), jnp.linspace(0.0, 3.0, 7), rtol=1e-6, atol=1e-6)


def nonsymmetric():
    return jnp.sort_complex(jnp.linalg.eigvals(SQUARE)) if jax.devices() else None


def of_spectra():
    w, v = jnp.linalg.eigh(POSITIVE)
    u, s, t = jnp.linalg.svd(X, full_matrices=False)
    q, r = jnp.linalg.qr(X.T)
    return w, (v * w) @ v.T, s, (u * s) @ t, q @ r, jnp.abs(jnp.diag(r))


def types():
    names = "bool_ int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64".split()
    x = jnp.array([0, 1, 3, 2])
    converted = [x.astype(getattr(jnp, a)).astype(getattr(jnp, b)) for a in names for b in names]
    mixed = [x.astype(getattr(jnp, a)) + jnp.ones(4, getattr(jnp, b)) for a in names for b in names]
    return converted, mixed, lax.bitcast_convert_type(X, jnp.uint32), lax.bitcast_convert_type(X, jnp.uint8)


def keys():
    key = jax.random.key(7)
    a, b = jax.random.split(jax.random.fold_in(key, 3))
    r = jax.random
    exact = [r.bits(a, (3, 5)), r.randint(b, (7,), -5, 90), r.permutation(a, 11), r.bernoulli(b, 0.3, (9,))]
    exact += [r.choice(a, 10, (4,), replace=False), r.categorical(b, jnp.log(jnp.arange(1.0, 6.0)), shape=(9,))]
    drawn = [f(a, shape=(6,)) for f in (r.uniform, r.normal, r.exponential, r.laplace, r.gumbel, r.cauchy, r.logistic)]
    drawn += [r.gamma(a, 2.5, (4,)), r.beta(b, 0.7, 2.0, (4,)), r.poisson(a, 3.0, (5,)), r.dirichlet(b, jnp.ones(4))]
    drawn += [r.truncated_normal(a, -1.0, 2.0, (4,)), r.orthogonal(b, 3), r.multivariate_normal(a, jnp.ones(2), jnp.eye(2))]
    other = [r.normal(r.key(1, impl=impl), (3,)) for impl in ("rbg", "unsafe_rbg")]
    return exact, drawn, [x.shape for x in other]


def callbacks(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    f = lambda x: jax.pure_callback(np.sinh, shape, x, vmap_method="expand_dims")
    return jax.jit(f)(x), lax.scan(lambda c, x: (c + f(x * jnp.ones_like(shape, shape=x.shape)), c), 0 * x, x[None])[0]


def programs():
    f = jax.jit(lambda x, n: jnp.sin(x) ** n, static_argnums=1)
    remat = jax.checkpoint(lambda x: jnp.sin(jnp.cos(x)))
    flat, tree = jax.tree.flatten(jax.hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": X[0], "b": Y[0]}))
    compiled = jax.jit(lambda x: x + 1).lower(X).compile()
    linear, transposed = jax.linearize(jnp.tanh, X)[1], jax.linear_transpose(lambda x: 3 * x, X)
    return f(X, 3), jax.grad(lambda x: remat(x).sum())(X), flat, compiled(X), linear(Y), transposed(Y), jax.grad(lambda x: clipped(x).sum())(X)


def indices(x):
    i, j = jnp.array([0, 3, -1]), jnp.array([[1], [2]])
    read = [x[1:3, ::-2], x[i], x[:, None, 2], x[j, i], x[x > 0.5].sum() if not isinstance(x, jax.core.Tracer) else 0.0]
    write = [x.at[i].add(1.0), x.at[1, ::2].set(9.0), x.at[j, i].mul(2.0), x.at[9].set(1.0), x.at[i].max(0.0), x.at[9].get(mode="fill")]
    return read, write, jnp.take_along_axis(x, jnp.argsort(x, 1), 1)


SAMPLES = {
    "lax": [
        lambda: windows(IMAGE),
        lambda: convolutions(IMAGE),
        lambda: gathers(jnp.arange(40.0).reshape(8, 5)[:4]),
        lambda: lax.sort((INTEGERS, X), num_keys=2, dimension=1),
        lambda: lax.top_k(X, 3),
        lambda: lax.dot_general(X, Y, (((0,), (0,)), ((), ())), preferred_element_type=jnp.float32),
        lambda: lax.reduce((X, INTEGERS), (-np.inf, 0), lambda a, b: (jnp.maximum(a[0], b[0]), a[1] + b[1]), (1,)),
        lambda: lax.pad(X, 0.5, ((1, 2, 1), (-1, 0, 2))),
        lambda: lax.reduce_precision(X, 5, 7),
        lambda: [f(X, 0) for f in (lax.cumsum, lax.cumprod, lax.cummax, lax.cumlogsumexp)],
        lambda: [lax.population_count(INTEGERS), lax.clz(INTEGERS), lax.shift_right_logical(INTEGERS, 3)],
    ],
    "lax_autodiff": [
        lambda: derivatives(lambda x: pool(x, -np.inf, lax.max) * pool(x, 0.0, lax.add), IMAGE),
        lambda: derivatives(lambda x: jnp.stack([a.sum() for a in convolutions(x)]), IMAGE),
        lambda: derivatives(lambda x, y: lax.dot(x, y.T), X, Y),
        lambda: derivatives(lambda x: lax.sort(x, dimension=0) * jnp.arange(5.0), X),
        lambda: derivatives(lambda x, y: lax.atan2(x, y) + lax.pow(jnp.abs(x), y), X, Y),
        lambda: derivatives(lambda x: lax.cumprod(x, 1), X),
        lambda: jax.hessian(lambda x: jnp.sum(lax.logistic(x) * lax.expm1(x)))(X[0]),
    ],
    "lax_control_flow": [lambda: loops(X), lambda: derivatives(lambda x: loops(x)[0][1], X), lambda: batched(lambda x: loops(x)[4], X[None])],
    "api": [programs, lambda: jax.jit(jax.jvp, static_argnums=0)(jnp.sinc, (X,), (Y,)), lambda: jax.jit(lambda *t: t)(X, INTEGERS, COMPLEX)],
    "lax_numpy_operators": [
        lambda: [getattr(jnp, f)(X) for f in "sin cos tan arctan sinh tanh arcsinh exp exp2 expm1 cbrt sign floor rint square".split()],
        lambda: [getattr(jnp, f)(jnp.abs(X) + 0.1) for f in "log log2 log1p log10 sqrt reciprocal".split()],
        lambda: [getattr(jnp, f)(X, Y) for f in "add arctan2 copysign fmax fmin fmod hypot logaddexp logaddexp2 nextafter true_divide".split()],
        lambda: [getattr(jnp, f)(INTEGERS, INTEGERS.T.reshape(4, 5) | 1) for f in "floor_divide mod bitwise_xor left_shift gcd lcm".split()],
        lambda: [getattr(jnp, f)(COMPLEX) for f in "exp log sqrt sin tanh arctan angle abs conj".split()],
    ],
    "lax_numpy_einsum": [
        lambda: [jnp.einsum(*a) for a in [("ij,kj->ik", X, Y), ("ij->", X), ("ii->i", SQUARE), ("ab,cd,bd->ac", X, Y, SQUARE), ("...i,...i", X, Y)]],
        lambda: derivatives(lambda x, y: jnp.einsum("ij,ij,kj->ki", x, y, y), X, Y),
    ],
    "lax_numpy_reducers": [
        lambda: [getattr(jnp, f)(X, axis=a) for f in "sum prod max min mean std var argmax argmin cumsum ptp median nanmean".split() for a in (0, 1)],
        lambda: [jnp.any(INTEGERS > 7, 0), jnp.all(INTEGERS > -9, 1), jnp.count_nonzero(INTEGERS), jnp.average(X, weights=jnp.abs(Y))],
        lambda: [jnp.percentile(X, q, axis=0, method=m) for q in (10, 60) for m in ("linear", "lower", "nearest")],
    ],
    "lax_numpy_indexing": [lambda: indices(jnp.asarray(X)), lambda: derivatives(lambda x: indices(x)[0][3], X)],
    "fft": [
        lambda: [f(X) for f in (jnp.fft.fft, jnp.fft.ifft, jnp.fft.rfft, jnp.fft.fft2, jnp.fft.rfft2, jnp.fft.fftshift)],
        lambda: jnp.fft.irfft(jnp.fft.rfft(X, n=12), n=11),
        lambda: derivatives(lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2, X),
    ],
    "lax_scipy": [
        lambda: [f(jnp.abs(X) + 0.2) for f in (special.gammaln, special.digamma, special.erf, special.erfinv, special.i0e, special.i1, special.exp1)],
        lambda: [special.gammainc(jnp.abs(X) + 0.5, jnp.abs(Y)), special.betainc(2.0, jnp.abs(X) + 0.5, jnp.clip(jnp.abs(Y), 0, 1)), special.zeta(jnp.abs(X) + 1.5, 2.0)],
        lambda: [special.logsumexp(X, axis=1), special.xlogy(jnp.abs(X), jnp.abs(Y)), special.ndtri(jnp.clip(jnp.abs(X), 0.01, 0.99))],
    ],
    "image": [
        lambda: [jax.image.resize(IMAGE, (2, 5, 11, 3), m) for m in ("nearest", "linear", "cubic", "lanczos3")],
        lambda: derivatives(lambda x: jax.image.resize(x, (2, 10, 4, 3), "bilinear"), IMAGE),
        lambda: jax.scipy.ndimage.map_coordinates(X, [jnp.array([0.5, 2.2]), jnp.array([1.5, 3.3])], 1),
    ],
    "ode": [lambda: pendulum(1.5), lambda: jax.grad(lambda l: pendulum(l)[-1, 0])(1.5)],
    "optimizers": [
        lambda: [optimized(o) for o in (optimizers.sgd(0.01), optimizers.momentum(0.01, 0.9), optimizers.adam(0.1), optimizers.rmsprop(0.05), optimizers.adagrad(0.1))],
    ],
    "custom_root": [lambda: derivatives(root, jnp.float32(3.0)), lambda: batched(root, jnp.arange(1.0, 4.0))],
    "custom_linear_solve": [lambda: derivatives(linear_solve, X[0]), lambda: batched(linear_solve, X)],
    "array": [
        lambda: [jax.device_put(X[::-1].T), jnp.asarray(X).addressable_data(0), jnp.stack([jnp.asarray(X)] * 2)],
        lambda: [jnp.asarray(X).copy(), jax.make_array_from_callback((4, 5), jnp.asarray(X).sharding, lambda i: X[i])],
    ],
    "python_callback": [lambda: callbacks(X), lambda: batched(lambda x: jax.pure_callback(np.cos, x, x, vmap_method="sequential"), X)],
    "lax_numpy": [
        lambda: [jnp.sort(X, 0), jnp.unique(INTEGERS), jnp.histogram(X, 5), jnp.searchsorted(jnp.sort(X[0]), Y), jnp.interp(Y[0], jnp.arange(5.0), X[0])],
        lambda: [jnp.kron(X, Y), jnp.cross(X[:, :3], Y[:, :3]), jnp.convolve(X[0], Y[0]), jnp.polyfit(jnp.arange(5.0), X[0], 2), jnp.trace(SQUARE)],
        lambda: [jnp.roll(X, 2, 1), jnp.tile(X, (2, 1)), jnp.repeat(X, 3, 0), jnp.pad(X, 2, mode="reflect"), jnp.diff(X, 2), jnp.gradient(X), jnp.tril(X)],
        lambda: [jnp.where(X > 0, X, 0), jnp.nonzero(INTEGERS > 3), jnp.argwhere(X > 1), jnp.lexsort((INTEGERS, X)), jnp.cov(X), jnp.frexp(X), jnp.packbits(INTEGERS > 0)],
    ],
    "linalg": [
        of_spectra,
        nonsymmetric,
        lambda: [jnp.linalg.cholesky(POSITIVE), jnp.linalg.det(SQUARE), jnp.linalg.inv(SQUARE), jnp.linalg.solve(SQUARE, X.T), jnp.linalg.lstsq(X.T, Y[0])[0]],
        lambda: [lax.linalg.tridiagonal_solve(Y[0], Y[1] + 3, Y[2], X.T, perturb_singular=p) for p in (False, True)],
        lambda: [lax.linalg.tridiagonal(SQUARE + 1j * SQUARE.T, lower=lower) for lower in (True, False)],
        lambda: [jnp.linalg.norm(X, o) for o in (None, "fro", "nuc", 1, 2, np.inf)] + [jnp.linalg.matrix_power(SQUARE, -2), jnp.linalg.pinv(X)],
        lambda: [jax.scipy.linalg.expm(SQUARE / 5), jax.scipy.linalg.solve_triangular(POSITIVE, X.T, lower=True), jnp.abs(jax.scipy.linalg.lu(SQUARE)[2])],
        lambda: derivatives(lambda a: jnp.linalg.slogdet(a @ a.T)[1] + jnp.linalg.eigvalsh(a @ a.T)[-1] + jnp.linalg.solve(a @ a.T, jnp.ones(5)).sum(), jnp.asarray(POSITIVE)),
    ],
    "batching": [
        lambda: batched(lambda x, y: jnp.dot(x, y), X, Y),
        lambda: batched(lambda x, i: lax.dynamic_slice(x, (i,), (2,)), X, jnp.array([0, 3, 9, -1])),
        lambda: batched(lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + jnp.abs(x) + 0.1, x), X),
        lambda: batched(lambda a: jnp.linalg.solve(a, jnp.ones(5)), jnp.stack([POSITIVE, SQUARE])),
        lambda: batched(lambda x, k: lax.conv(x[None], k, (1, 1), "SAME"), jnp.moveaxis(IMAGE, 3, 1), jnp.ones((2, 4, 3, 2, 2))),
        lambda: jax.vmap(lambda x: lax.psum(x, "i") + lax.axis_index("i"), axis_name="i")(X),
    ],
    "core": [lambda: jax.core.eval_jaxpr((j := jax.make_jaxpr(lambda x, y: (jnp.sin(x) @ y.T, x > y))(X, Y)).jaxpr, j.consts, X, Y)],
    "dtypes": [types],
    "random_lax": [keys],
    "nn": [
        lambda: [getattr(jax.nn, f)(X) for f in "relu softplus silu gelu elu selu celu mish glu hard_swish log_sigmoid sparse_plus squareplus".split() if f != "glu"],
        lambda: derivatives(lambda x: jax.nn.log_softmax(x) * jax.nn.softmax(x, axis=0), X),
        lambda: [jax.nn.one_hot(INTEGERS, 7), jax.nn.standardize(X), jax.nn.logsumexp(X, 1), jax.nn.glu(X[:, :4])],
        lambda: jax.nn.dot_product_attention(*(jnp.asarray(IMAGE).reshape(2, 7, 4, 6),) * 3, is_causal=True),
        lambda: jax.nn.initializers.glorot_normal()(jax.random.key(1), (5, 6)),
    ],
    "jet": [lambda: jax.experimental.jet.jet(lambda x: jnp.sin(x) * jnp.exp(x) / (2 + jnp.tanh(x)), (X,), ([Y, jnp.ones_like(X), X],))],
    "lax_vmap": [
        lambda: jax.vmap(jax.vmap(lambda x, y: lax.max(x, y)), in_axes=(1, 1))(X, Y),
        lambda: jax.vmap(lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (1,), "SAME"))(X),
        lambda: jax.vmap(lambda x, i: x.at[i].add(1.0), in_axes=(0, 0))(X, INTEGERS % 5),
        lambda: jax.vmap(lambda x: lax.sort(x), in_axes=1, out_axes=1)(X),
    ],
}


def on(device, compute):
    with jax.default_device(device):
        return jax.tree.map(np.asarray, compute())


def test_every_file_of_tests_has_its_samples():
    assert sorted(f"{name}_test" for name in SAMPLES) == sorted(FILES)


@pytest.mark.parametrize("family", SAMPLES)
def test_samples_have_the_values_of_xla(family, ours, xla):
    for k, sample in enumerate(SAMPLES[family]):
        mine, theirs = on(ours, sample), on(xla, sample)
        assert jax.tree.structure(mine) == jax.tree.structure(theirs), k
        for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs)):
            assert a.dtype == b.dtype and a.shape == b.shape, k
            if a.dtype.kind in "fcV":
                wide = np.complex128 if a.dtype.kind == "c" else np.float64
                scale = 3e-2 if a.dtype.itemsize == 2 else 2e-5
                np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=scale, atol=scale, err_msg=f"sample {k}")
            else:
                np.testing.assert_array_equal(a, b, err_msg=f"sample {k}")
