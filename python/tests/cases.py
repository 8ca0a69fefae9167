"""A call for each public name, for the tests of its doors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import cotangent as ct

DOORS = {"eager": "eagerly", "jit": "compiled", "tape": "on a tape", "gradient": "gradient"}
ALL_DOORS = list(DOORS)
# Reasons why a door is not for a name.
VALUES = "its extents, or its result, depend on elements"
LEVEL = "its derivative is zero, or it has none"
TRANSFORM = "a transform traces its function: what is recorded is an argument of a compiled function"
STATE = "it makes or changes an object, and computes nothing"


@dataclasses.dataclass
class Case:
    """A function of arrays; ``without``: doors that it has not, with the reason."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    without: dict[str, str] = dataclasses.field(default_factory=dict)
    want: Any = None

    def runs(self, door: str) -> bool:
        """Whether a door is tried."""
        return door not in self.without


def smooth(f, *args, want=None):
    """A function with a gradient."""
    return Case(f, args, want=want)


def level(f, *args, want=None):
    """A function without a gradient."""
    return Case(f, args, {"gradient": LEVEL}, want)


def values(f, *args, want=None):
    """A function of known elements."""
    return Case(f, args, dict.fromkeys(("jit", "tape", "gradient"), VALUES), want)


def transform(f, *args, want=None):
    """A transform of a function."""
    return Case(f, args, {"tape": TRANSFORM}, want)


X = np.array([[0.3, 0.7, 0.45], [0.62, 0.21, 0.9]])
Y = np.array([[0.55, 0.35, 0.8], [0.15, 0.65, 0.4]])
V, W = X[0], Y[1]
SQUARE = np.array([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.0, 0.6, 1.1]])
SYMMETRIC = SQUARE @ SQUARE.T + np.eye(3)
INTEGERS = np.array([[5, 3, -2], [1, 7, 4]])
TRUTH = np.array([[True, False, True], [False, False, True]])
COMPLEX = X + 1j * Y
IMAGE = np.linspace(-1.0, 1.0, 2 * 3 * 5).reshape(2, 3, 5)
KERNEL = np.linspace(-0.5, 0.5, 4 * 3 * 2).reshape(4, 3, 2)
KEY = np.asarray(ct.random.key(7))
LEVELS = set("ceil floor trunc round sign isfinite isinf isnan signbit floor_divide nextafter equal not_equal less less_equal greater "
             "greater_equal logical_not logical_and logical_or logical_xor".split())
BITS = set("bitwise_invert bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split())


def default(f, text):
    """The case of an elementwise function by its parameters."""
    name, _, parameters = text.partition("(")
    count = {"x, /)": 1, "x)": 1, "p, /)": 1, "x1, x2, /)": 2, "x, y, /)": 2, "a, b, /)": 2, "a, x, /)": 2}.get(parameters)
    if count is None:
        raise KeyError(f"{text}: no case")
    if name in BITS:
        return level(f, *[INTEGERS, np.array([[1, 2, 3], [3, 2, 1]])][:count])
    return (level if name in LEVELS else smooth)(f, *[X, Y][:count])


def with_key(name, *args, **options):
    """A case of a random function: no gradient by the key, and the same bits for the same key."""
    return level(lambda key: getattr(ct.random, name)(key, *args, **options), KEY)


def methods(names, *args):
    """Cases of methods of arrays by name."""
    return {f"ct.Array.{n}": smooth(lambda x, *y, n=n: getattr(x, n)(*y), X, *args) for n in names.split()}


def operators(names, make, *args):
    """Cases of operators by name."""
    return {f"ct.Array.__{n}__": make(lambda x, *y, n=n: getattr(x, f"__{n}__")(*y), *args) for n in names.split()}


def loss(x):
    """A scalar."""
    return ct.sum(ct.sin(x) ** 2)


def table():
    """The guide's names."""
    graph, op = ct.tessera.graph, ct.tessera.op
    lazy = "lazy arrays are values of a program of their own"
    once = {"jit": lazy, "tape": lazy, "gradient": lazy}
    op_cases = {f"tessera.op.{n}": smooth(getattr(op, n), X) for n in "softmax relu exp log sin cos tanh sum mean reduce_sum".split()}

    def lazily(f):
        return graph.module("m")(f)

    return {
        **op_cases,
        "tessera.op.add": smooth(op.add, X, Y), "tessera.op.mul": smooth(op.mul, X, Y),
        "tessera.op.matmul": smooth(op.matmul, X, SQUARE), "tessera.op.solve": smooth(op.solve, SQUARE, V),
        "tessera.op.cross_entropy": smooth(lambda x: op.cross_entropy(x, np.array([0, 2])), X),
        "tessera.op.tensor": STATE, "tessera.install": STATE,
        "tessera.op.fixed_point": Case(lambda a: op.fixed_point(lambda x: 0.5 * ct.cos(x) + a, a), (V,), once),
        "tessera.op.root": Case(lambda a: op.root(lambda x: x * x - a, a), (V,), once),
        "tessera.op.argmin": Case(lambda a: op.argmin(lambda x: ct.sum((x - 2.0) ** 2), a), (V,), once),
        "tessera.graph.module": Case(lazily(ct.sin), (X,), once, np.sin(X)),
        "tessera.graph.training_step": Case(graph.training_step()(ct.sin), (X,), want=np.sin(X)),
        "tessera.graph.backward": Case(lambda x: graph.backward(lazily(loss)(x), x), (X,), once, np.sin(2 * X)),
        "tessera.graph.forward": transform(lambda x, t: graph.forward(ct.sin, (x,), (t,)), X, Y),
        "tessera.graph.jvp": Case(lambda x: graph.jvp(lazily(ct.sin)(x), x), (X,), once, np.cos(X)),
        "tessera.graph.vjp": Case(lambda x, t: graph.vjp(lazily(ct.sin)(x), x, t), (X, Y), once, np.cos(X) * Y),
        "tessera.graph.hvp": transform(lambda x, t: graph.hvp(loss, x, t), X, Y, want=2 * np.cos(2 * X) * Y),
        "tessera.graph.derive": STATE,
    }


CASES: dict[str, Any] = {
    # Arrays.
    "ct.Array": STATE, "ct.Parameter": STATE, "ct.DType": STATE, "ct.Dim": STATE, "ct.__all__": STATE, "ct.__version__": STATE,
    **{f"ct.{n}": STATE for n in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
       "complex128 e pi inf nan newaxis __array_namespace_info__ __array_api_version__ progress result_type can_cast isdtype "
       "finfo iinfo devices broadcast_shapes load save no_grad threads".split()},
    **{f"ct.{n}": STATE for n in ct.__all__ if isinstance(getattr(ct, n), type) and issubclass(getattr(ct, n), Exception)},
    **{f"ct.Array.{n}": STATE for n in "shape ndim size dtype device at item tolist __float__ __int__ __complex__ __bool__ __index__ "
       "__array__ __dlpack__ __dlpack_device__ __array_ufunc__ __array_function__ __array_namespace__ backward grad clear_grad "
       "tracked".split()},
    **{f"ct.Array.{n}": smooth(lambda x, n=n: getattr(x, n), COMPLEX) for n in ("real", "imag")},
    **{f"ct.Array.{n}": smooth(lambda x, n=n: getattr(x, n), X) for n in ("T", "mT")},
    **methods("sum mean std var prod max min flatten ravel cumsum transpose conj"),
    **{f"ct.Array.{n}": level(lambda x, n=n: getattr(x, n)(), X) for n in "argmax argmin any all round detach".split()},
    "ct.Array.clip": smooth(lambda x: x.clip(0.25, 0.8), X),
    "ct.Array.reshape": smooth(lambda x: x.reshape(3, -1), X),
    "ct.Array.squeeze": smooth(lambda x: x[None].squeeze(0), X),
    "ct.Array.astype": smooth(lambda x: x.astype("complex128"), X),
    "ct.Array.to_device": smooth(lambda x: x.to_device("cpu"), X),
    "ct.Array.__getitem__": smooth(lambda x: x[:, ::-1][1], X),
    **operators("add sub mul truediv pow radd rsub rmul rtruediv rpow mod rmod", smooth, X, Y),
    **operators("matmul rmatmul", smooth, SQUARE, SYMMETRIC),
    **operators("floordiv rfloordiv eq ne lt le gt ge", level, X, Y),
    **operators("and or xor lshift rshift rand ror rxor rlshift rrshift", level, INTEGERS, np.array([[1, 2, 3], [3, 2, 1]])),
    **operators("invert", level, INTEGERS), **operators("neg pos abs", smooth, X),
    "ct.asarray": smooth(lambda x: ct.asarray(x), X), "ct.array": smooth(lambda x: ct.array(x), X),
    "ct.from_dlpack": values(lambda x: ct.from_dlpack(np.asarray(x)), X),
    "ct.astype": smooth(lambda x: ct.astype(x, ct.complex128), X),
    "ct.broadcast_arrays": smooth(lambda x, y: ct.broadcast_arrays(x, y), X, V),
    "ct.broadcast_to": smooth(lambda x: ct.broadcast_to(x, (2, 3)), V),
    # Creation.
    **{f"ct.{n}": level(lambda f=getattr(ct, n): f((2, 3))) for n in ("zeros", "ones", "empty")},
    "ct.full": level(lambda: ct.full((2, 3), 1.5), want=np.full((2, 3), 1.5)),
    **{f"ct.{n}": level(getattr(ct, n), X) for n in ("zeros_like", "ones_like", "empty_like")},
    "ct.full_like": level(lambda x: ct.full_like(x, 2), X),
    "ct.arange": level(lambda: ct.arange(1, 9, 2), want=[1, 3, 5, 7]),
    "ct.linspace": level(lambda: ct.linspace(0.0, 1.0, 5), want=np.linspace(0, 1, 5)),
    "ct.eye": level(lambda: ct.eye(3, 4, k=1), want=np.eye(3, 4, 1)),
    "ct.tril": smooth(lambda x: ct.tril(x, k=1), X, want=np.tril(X, 1)), "ct.triu": smooth(ct.triu, X, want=np.triu(X)),
    "ct.meshgrid": smooth(lambda x, y: ct.meshgrid(x, y), V, W),
    # Elementwise.
    "ct.acosh": smooth(ct.acosh, X + 1.5), "ct.conj": smooth(ct.conj, COMPLEX), "ct.real": smooth(ct.real, COMPLEX),
    "ct.imag": smooth(ct.imag, COMPLEX), "ct.clip": smooth(lambda x: ct.clip(x, 0.25, 0.8), X),
    "ct.where": smooth(lambda c, x, y: ct.where(c, x, y), TRUTH, X, Y),
    "ct.stop_gradient": level(ct.stop_gradient, X), "ct.fmod": smooth(ct.fmod, 2 * X, Y),
    "ct.copysign": smooth(ct.copysign, X - 0.5, Y - 0.5, want=np.copysign(X - 0.5, Y - 0.5)),
    "ct.floor_divide": level(ct.floor_divide, X - 0.5, Y - 0.5, want=(X - 0.5) // (Y - 0.5)),
    "ct.remainder": smooth(ct.remainder, X - 0.5, Y - 0.5, want=(X - 0.5) % (Y - 0.5)),
    "ct.nextafter": level(ct.nextafter, X, Y, want=np.nextafter(X, Y)),
    "ct.signbit": level(ct.signbit, X - 0.5, want=np.signbit(X - 0.5)),
    # Shapes.
    "ct.reshape": smooth(lambda x: ct.reshape(x, (3, -1)), X), "ct.permute_dims": smooth(lambda x: ct.permute_dims(x, (2, 0, 1)), IMAGE),
    "ct.matrix_transpose": smooth(ct.matrix_transpose, IMAGE), "ct.moveaxis": smooth(lambda x: ct.moveaxis(x, 0, 2), IMAGE),
    "ct.expand_dims": smooth(lambda x: ct.expand_dims(x, 1), X), "ct.squeeze": smooth(lambda x: ct.squeeze(x[:, None], 1), X),
    "ct.concat": smooth(lambda x, y: ct.concat([x, y], axis=1), X, Y), "ct.stack": smooth(lambda x, y: ct.stack([x, y]), X, Y),
    "ct.unstack": smooth(lambda x: ct.unstack(x, axis=1), X), "ct.split": smooth(lambda x: ct.split(x, [1, 2], axis=1), X),
    "ct.flip": smooth(lambda x: ct.flip(x, axis=1), X), "ct.roll": smooth(lambda x: ct.roll(x, (1, -2), axis=(0, 1)), X,
                                                                          want=np.roll(X, (1, -2), (0, 1))),
    "ct.repeat": smooth(lambda x: ct.repeat(x, 2, axis=1), X, want=np.repeat(X, 2, 1)),
    "ct.tile": smooth(lambda x: ct.tile(x, (2, 1, 3)), X, want=np.tile(X, (2, 1, 3))),
    "ct.pad": smooth(lambda x: ct.pad(x, 1, "edge"), X, want=np.pad(X, 1, "edge")),
    # Reductions, order, search.
    **{f"ct.{n}": smooth(lambda x, f=getattr(ct, n): f(x, axis=1), X) for n in "sum prod max min mean var std median logsumexp "
       "cumulative_sum cumulative_prod cummax cummin cumlogsumexp".split()},
    **{f"ct.{n}": level(lambda x, f=getattr(ct, n): f(x, axis=1), TRUTH) for n in ("any", "all", "count_nonzero")},
    "ct.diff": smooth(lambda x: ct.diff(x, axis=1, n=2, prepend=0.5), X, want=np.diff(X, 2, 1, 0.5)),
    **{f"ct.{n}": level(lambda x, f=getattr(ct, n): f(x, axis=1), X) for n in ("argmax", "argmin", "argsort")},
    "ct.sort": smooth(lambda x: ct.sort(x, axis=1, descending=True), X), "ct.top_k": smooth(lambda x: ct.top_k(x, 2)[0], X),
    "ct.searchsorted": level(lambda x: ct.searchsorted(np.array([0.1, 0.3, 0.7]), x, side="right"), X,
                             want=np.searchsorted([0.1, 0.3, 0.7], X, "right")),
    "ct.nonzero": values(ct.nonzero, TRUTH),
    **{f"ct.unique_{n}": values(getattr(ct, f"unique_{n}"), INTEGERS) for n in ("all", "counts", "inverse", "values")},
    "ct.isin": level(lambda x: ct.isin(x, np.array([0.3, 0.9])), X, want=np.isin(X, [0.3, 0.9])),
    "ct.take": smooth(lambda x: ct.take(x, np.array([2, 0, -1]), axis=1), X),
    "ct.take_along_axis": smooth(lambda x: ct.take_along_axis(x, np.array([[0, 2], [1, 1]]), axis=1), X),
    # Products.
    "ct.matmul": smooth(ct.matmul, X, SQUARE), "ct.vecdot": smooth(ct.vecdot, X, Y),
    "ct.tensordot": smooth(lambda x, y: ct.tensordot(x, y, axes=1), X, SQUARE),
    "ct.einsum": smooth(lambda x, y: ct.einsum("ij,jk,ik->k", x, y, x), X, SQUARE),
    "ct.einsum_path": STATE, "ct.kron": smooth(ct.kron, X, SQUARE), "ct.outer": smooth(ct.outer, V, W),
    "ct.convolution": smooth(lambda x, w: ct.convolution(x, w, strides=2, padding=1), IMAGE, KERNEL),
    "ct.reduce_window": smooth(lambda x: ct.reduce_window(x, "sum", (1, 1, 2), strides=(1, 1, 2)), IMAGE),
    # Transforms.
    "ct.grad": transform(lambda x: ct.grad(loss)(x), X, want=np.sin(2 * X)),
    "ct.value_and_grad": transform(lambda x: ct.value_and_grad(loss)(x), X),
    "ct.jvp": transform(lambda x, t: ct.jvp(ct.sin, (x,), (t,)), X, Y), "ct.vjp": transform(lambda x, t: ct.vjp(ct.sin, x)[1](t), X, Y),
    "ct.linearize": transform(lambda x, t: ct.linearize(ct.sin, x)[1](t), X, Y),
    "ct.linear_transpose": transform(lambda x: ct.linear_transpose(lambda y: y @ SQUARE, X)(x), X, want=X @ SQUARE.T),
    **{f"ct.{n}": transform(lambda x, f=getattr(ct, n): f(ct.sin)(x), V, want=np.diag(np.cos(V))) for n in ("jacobian", "jacfwd", "jacrev")},
    "ct.hessian": transform(lambda x: ct.hessian(loss)(x), V, want=np.diag(2 * np.cos(2 * V))),
    "ct.hvp": transform(lambda x, t: ct.hvp(loss, (x,), (t,)), X, Y, want=2 * np.cos(2 * X) * Y),
    "ct.vmap": transform(lambda x: ct.vmap(ct.grad(loss))(x), X, want=np.sin(2 * X)),
    "ct.jit": smooth(ct.jit(lambda x: ct.sin(x) * x), X), "ct.trace": STATE, "ct.check_grads": STATE,
    **{f"ct._cotangent.Jitted.{n}": STATE for n in ("cache_info", "clear_cache", "lower")},
    "ct.checkpoint": transform(lambda x: ct.checkpoint(ct.sin)(x), X, want=np.sin(X)),
    "ct.custom_jvp": transform(lambda x: ct.custom_jvp(ct.sin, lambda x, t: (ct.sin(x[0]), ct.cos(x[0]) * t[0]))(x), X),
    "ct.custom_vjp": Case(lambda x: ct.custom_vjp(ct.sin, lambda x: (ct.sin(x), x), lambda x, t: (ct.cos(x) * t,))(x), (X,),
                          {"tape": TRANSFORM, "gradient": "it has a reverse mode only: the laws compare it with forward mode"}),
    "ct.cond": smooth(lambda x: ct.cond(ct.sum(x) > 0.0, ct.sin, ct.cos, x), X, want=np.sin(X)),
    "ct.switch": smooth(lambda x: ct.switch(1, [ct.sin, ct.cos], x), X, want=np.cos(X)),
    "ct.scan": smooth(lambda c, x: ct.scan(lambda c, x: (c * x + 1.0, c), c, x), V, X),
    "ct.while_loop": smooth(lambda x: ct.while_loop(lambda c: ct.sum(c) < 50.0, lambda c: c * 2.0, x), X, want=X * 16),
    "ct.fori_loop": smooth(lambda x: ct.fori_loop(0, 3, lambda i, c: c * x, x), X, want=X**4),
    "ct.variable": STATE, "ct.grad_of": STATE,
    # Trees and programs.
    **{f"ct.{n}": STATE for n in "tree_flatten tree_unflatten tree_leaves tree_structure register_pytree_node register_dataclass static "
       "Program".split()},
    "ct.tree_map": smooth(lambda x, y: ct.tree_map(lambda a, b: a * b, {"a": x}, {"a": y}), X, Y),
    **{f"ct.Program.{n}": STATE for n in "from_text from_stablehlo from_file names __getitem__ __call__ text stablehlo inputs outputs "
       "grad vjp jvp hvp explain memory profile check save _repr_html_".split()},
    # Linear algebra.
    **{f"linalg.{n}": smooth(getattr(ct.linalg, n), SQUARE) for n in "det inv matrix_exp slogdet trace matrix_norm pinv "
       "vector_norm matrix_transpose diagonal".split()},
    "linalg.svdvals": Case(ct.linalg.svdvals, (SQUARE,), {"tape": "what is recorded needs the vectors, and another algorithm gives them"}),
    "linalg.cholesky": smooth(ct.linalg.cholesky, SYMMETRIC), "linalg.eigvalsh": smooth(ct.linalg.eigvalsh, SYMMETRIC),
    "linalg.expm_hermitian": smooth(ct.linalg.expm_hermitian, SYMMETRIC / 10),
    "linalg.spectral_function": smooth(lambda x: ct.linalg.spectral_function(ct.exp, x), SYMMETRIC / 10),
    "linalg.eigh": Case(ct.linalg.eigh, (SYMMETRIC,), {"gradient": "vectors are determined up to signs: eigvalsh is checked"}),
    "linalg.eig": Case(ct.linalg.eig, (SQUARE,), {"gradient": "vectors are determined up to phases: eigvals is checked"}),
    "linalg.eigvals": smooth(ct.linalg.eigvals, SQUARE),
    "linalg.svd": Case(ct.linalg.svd, (X,), {"gradient": "vectors are determined up to signs: svdvals is checked"}),
    "linalg.svd_truncated": Case(lambda x: ct.linalg.svd_truncated(x, 1), (X,), {"gradient": "vectors are determined up to signs"}),
    "linalg.svd_thresholded": Case(lambda x: ct.linalg.svd_thresholded(x, 0.5), (X,), {"gradient": "vectors are determined up to signs"}),
    "linalg.low_rank_approximation": smooth(lambda x: ct.linalg.low_rank_approximation(x, 1), X),
    "linalg.qr": smooth(ct.linalg.qr, SQUARE),
    "linalg.lu": Case(ct.linalg.lu, (SQUARE,), {"gradient": "the permutation has no derivative: solve and det are checked"}),
    "linalg.cross": smooth(ct.linalg.cross, X, Y, want=np.cross(X, Y)),
    "linalg.matrix_power": smooth(lambda x: ct.linalg.matrix_power(x, 3), SQUARE),
    "linalg.matrix_rank": level(ct.linalg.matrix_rank, SQUARE), "linalg.solve": smooth(ct.linalg.solve, SQUARE, V),
    "linalg.lstsq": smooth(ct.linalg.lstsq, X.T, V), "linalg.matmul": smooth(ct.linalg.matmul, X, SQUARE),
    "linalg.outer": smooth(ct.linalg.outer, V, W), "linalg.tensordot": smooth(ct.linalg.tensordot, X, Y),
    "linalg.vecdot": smooth(ct.linalg.vecdot, X, Y),
    "linalg.triangular_solve": smooth(lambda a, b: ct.linalg.triangular_solve(a, b), np.tril(SQUARE), V),
    # Fourier transforms.
    **{f"fft.{n}": smooth(getattr(ct.fft, n), X) for n in "fft ifft rfft irfft fftn ifftn rfftn irfftn hfft ihfft fftshift ifftshift".split()},
    "fft.fftfreq": level(lambda: ct.fft.fftfreq(5), want=np.fft.fftfreq(5)),
    "fft.rfftfreq": level(lambda: ct.fft.rfftfreq(5), want=np.fft.rfftfreq(5)),
    # Random numbers.
    "random.key": level(lambda: ct.random.key(7), want=KEY),
    **{f"random.{n}": with_key(n, (2, 3)) for n in "bits uniform normal exponential gumbel".split()},
    "random.split": with_key("split", 3), "random.fold_in": with_key("fold_in", 4),
    "random.truncated_normal": with_key("truncated_normal", -1.0, 1.0, (2, 3)), "random.bernoulli": with_key("bernoulli", 0.3, (2, 3)),
    "random.categorical": with_key("categorical", X), "random.randint": with_key("randint", (2, 3), 0, 9),
    "random.permutation": with_key("permutation", 5),
    "random.dropout": Case(lambda x: ct.random.dropout(KEY, x, 0.5), (X,)),
    "random.gamma": with_key("gamma", 2.0, shape=(2, 3)), "random.beta": with_key("beta", 2.0, 3.0, shape=(2, 3)),
    "random.poisson": with_key("poisson", 2.0, shape=(2, 3)), "random.laplace": with_key("laplace", shape=(2, 3)),
    "random.cauchy": with_key("cauchy", shape=(2, 3)),
    # Special functions.
    "special.polygamma": smooth(lambda x: ct.special.polygamma(1, x), X), "special.logsumexp": smooth(lambda x: ct.special.logsumexp(x, axis=1), X),
    "special.zeta": smooth(lambda x: ct.special.zeta(3.0, x), X), "special.gammainc": smooth(lambda x: ct.special.gammainc(1.5, x), X),
    "special.gammaincc": smooth(lambda x: ct.special.gammaincc(1.5, x), X),
    "special.betainc": smooth(lambda x: ct.special.betainc(1.5, 2.5, x), X),
    "special.spherical_jn": smooth(lambda x: ct.special.spherical_jn(2, x), X),
    # Layers.
    "nn.softmax": smooth(ct.nn.softmax, X), "nn.log_softmax": smooth(ct.nn.log_softmax, X), "nn.gelu": smooth(ct.nn.gelu, X),
    "nn.cross_entropy": smooth(lambda x: ct.nn.cross_entropy(x, np.array([0, 2])), X),
    "nn.layer_norm": smooth(lambda x, w, b: ct.nn.layer_norm(x, w, b), X, V, W),
    "nn.one_hot": level(lambda i: ct.nn.one_hot(i, 3), np.array([0, 2]), want=np.eye(3)[[0, 2]]),
    "nn.glu": smooth(lambda x: ct.nn.glu(x, axis=0), X),
    "nn.dot_product_attention": smooth(ct.nn.dot_product_attention, X, Y, X),
    "nn.batch_norm": smooth(lambda x, m, v: ct.nn.batch_norm(x, m, v), X, V, W),
    # Equations.
    "implicit.root": transform(lambda a: ct.implicit.root(lambda x: x * x - a, a), V, want=np.sqrt(V)),
    "implicit.fixed_point": transform(lambda a: ct.implicit.fixed_point(lambda x: 0.5 * ct.cos(x) + a, a), V),
    "implicit.argmin": transform(lambda a: ct.implicit.argmin(lambda x: ct.sum((x - a) ** 2), a * 0.0), V),
    "implicit.linear_solve": transform(lambda b: ct.implicit.linear_solve(lambda x: SQUARE @ x, b), V, want=np.linalg.solve(SQUARE, V)),
    **table(),
    # Beside others.
    "numpy.table": STATE, "scipy.objective": STATE, "scipy.linear_operator": STATE,
}
