"""Doors: what goes in and out of programs, what they keep, and what ends them."""

import gc
import operator
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import cotangent as ct

X = np.linspace(-1.0, 2.0, 6).reshape(2, 3)


# Other forms of programs.

STABLEHLO = """
func.func @main(%x: tensor<2x3xf64>, %y: tensor<3xf64>) -> (tensor<f64>, tensor<2x3xf64>) {
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf64>) -> tensor<2x3xf64>
  %1 = stablehlo.multiply %x, %0 : tensor<2x3xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
  return %2, %1 : tensor<f64>, tensor<2x3xf64>
}
"""


def test_programs_of_stablehlo_run_and_have_derivatives():
    y = np.array([1.0, 2.0, 3.0])
    for p in (ct.Program.from_stablehlo(STABLEHLO), ct.Program.from_text(STABLEHLO)):
        total, product = p(X, y)
        assert float(total) == (X * y).sum() and np.array_equal(product, X * y)
        assert np.array_equal(ct.grad(lambda x: p(x, y)[0])(X), np.broadcast_to(y, (2, 3)))
        assert np.array_equal(ct.jit(lambda x: p(x, y)[1])(X), X * y)
        again = ct.Program.from_stablehlo(p.stablehlo)
        assert float(again(X, y)[0]) == float(total)
    with pytest.raises(ct.ProgramError) as e:
        ct.Program.from_stablehlo("func.func @main() { stablehlo.sinus }")
    assert e.value.where is not None


def test_programs_are_read_from_files_and_written_to_them(tmp_path):
    p = ct.trace(lambda x: ct.sum(ct.sin(x)), X)
    for name in ("a.tgraph", "a.mlir"):
        p.save(tmp_path / name)
        again = ct.Program.from_file(tmp_path / name)
        assert float(again(X)) == float(p(X))
    with pytest.raises(FileNotFoundError) as e:
        ct.Program.from_file(tmp_path / "none.tgraph")
    assert isinstance(e.value, ct.FileError)
    with pytest.raises(FileNotFoundError) as e:
        ct.load(tmp_path / "none.npy")
    assert isinstance(e.value, ct.FileError) and "none.npy" in str(e.value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64"])
def test_arrays_come_back_from_files(tmp_path, dtype):
    x = ct.asarray(np.arange(6).reshape(2, 3).astype(dtype))
    ct.save(tmp_path / "a.npy", x)
    assert np.load(tmp_path / "a.npy").dtype == dtype and ct.load(tmp_path / "a.npy").tolist() == x.tolist()
    files = ["a.npz"] + ([] if dtype == "complex64" else ["a.safetensors"])
    for name in files:
        ct.save(tmp_path / name, {"x": x, "y": X})
        again = ct.load(tmp_path / name)
        assert list(again) == ["x", "y"] and again["x"].dtype == x.dtype and again["x"].tolist() == x.tolist()


def run(*words):
    """The console script, as a module and, where the package is installed, as a script."""
    script = shutil.which("cotangent", path=str(pathlib.Path(sys.executable).parent))
    forms = [[sys.executable, "-m", "cotangent"]] + ([[script]] if script else [])
    done = [subprocess.run([*f, *map(str, words)], capture_output=True, text=True, timeout=120) for f in forms]
    assert all((d.returncode, d.stdout, d.stderr) == (done[0].returncode, done[0].stdout, done[0].stderr) for d in done)
    return done[0]


def test_the_console_script_is_the_command_line(tmp_path):
    file = tmp_path / "m.tgraph"
    file.write_text("tgraph.module @m {\n  %x = tgraph.arg : tensor<2xf64>\n  %y = tgraph.mul %x, %x\n  %s = tgraph.reduce_sum %y {axes = [0]}\n"
                    "  tgraph.return %s\n}\n")
    np.savez(tmp_path / "in.npz", x=np.array([1.0, 3.0]))
    done = run("grad", file, "--in", tmp_path / "in.npz", "--out", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    assert [a.tolist() for a in np.load(tmp_path / "out.npz").values()] == [10.0, [2.0, 6.0]]
    assert ct.__version__ in run("version").stdout
    bad = run("grad", tmp_path / "none.tgraph")
    assert bad.returncode == 2 and "none.tgraph" in bad.stderr and not bad.stdout
    assert run("no-such-command").returncode == 2


def test_texts_of_programs_hold_the_arrays_that_they_captured(tmp_path):
    w = ct.asarray(X)
    p = ct.trace(lambda x: ct.sum(x * w), X)
    want = float(p(X))
    for q in (ct.Program.from_text(p.text), ct.Program.from_stablehlo(p.stablehlo)):
        assert len(q.inputs) == 1 and float(q(X)) == want
    for name in ("a.tgraph", "a.mlir"):
        p.save(tmp_path / name)
        assert float(ct.Program.from_file(tmp_path / name)(X)) == want


def test_programs_refuse_names_that_they_do_not_have():
    p = ct.Program.from_text("tgraph.module @m {\n %x = tgraph.arg : f64\n %w = tgraph.arg : f64\n %y = tgraph.mul %x, %w\n tgraph.return %y\n}")
    assert float(p(2.0, w=3.0)) == float(p(w=3.0, x=2.0)) == 6.0
    for call in (lambda: p(2.0, 3.0, q=1.0), lambda: p(2.0, q=1.0), lambda: p(2.0, 3.0, x=1.0), lambda: p(x=2.0),
                 lambda: ct.trace(ct.sin, 1.0)(x=1.0)):
        with pytest.raises(TypeError):
            call()


def test_what_is_pickled_comes_back_as_it_was():
    import pickle
    tree = ct.tree_structure({"a": (1.0, None), "b": [2.0]})
    assert repr(pickle.loads(pickle.dumps(tree))) == repr(tree)
    again = pickle.loads(pickle.dumps(ct.variable(X)))
    ct.sum(again * again).backward()
    assert np.array_equal(again.grad, 2 * X)
    parameter = pickle.loads(pickle.dumps(ct.Parameter(X)))
    assert isinstance(parameter, ct.Parameter) and not parameter.tracked and np.array_equal(parameter, X)


def test_booleans_are_true_unless_their_byte_is_zero():
    b = np.array([2, 0, 255], dtype=np.uint8).view(bool)
    assert ct.asarray(b).tolist() == [True, False, True]
    assert int(ct.jit(lambda b: ct.sum(ct.astype(b, ct.int64)))(b)) == 2
    with pytest.raises(ValueError, match="copy"):
        ct.asarray(b, copy=False)


def test_names_of_element_types_are_numpy_s_too():
    assert ct.zeros(2, dtype="f4").dtype == ct.float32 and ct.ones(2, dtype="int").dtype == ct.int64
    for bad in ("f3", "nonsense", ">f8", "S3"):
        with pytest.raises(ct.DTypeError):
            ct.zeros(2, dtype=bad)


def test_array_objects_do_what_python_asks():
    x = ct.arange(3.0)
    assert [float(v) for v in reversed(x)] == [2.0, 1.0, 0.0] and x.itemsize == 8
    with pytest.raises(TypeError, match="at"):
        del x[0]
    import math
    assert math.trunc(ct.asarray(-2.7)) == -2
    with pytest.raises(TypeError):
        ct.sum(x, axis="a")
    with pytest.raises(ct.ArgumentError):
        ct.switch(0, [], 1.0)
    assert np.allclose(ct.einsum("ij,kj", X, X, optimize=False), X @ X.T)


# Random numbers, layers.


def test_random_numbers_have_jax_s_bits():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    mine, theirs = ct.random.key(3), jax.random.PRNGKey(3)
    for name in ("uniform", "normal", "exponential", "gumbel", "laplace", "cauchy"):
        a, b = getattr(ct.random, name)(mine, (50,)), getattr(jax.random, name)(theirs, (50,))
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert np.array_equal(ct.random.bits(mine, (20,)), jax.random.bits(theirs, (20,), "uint32"))
    assert np.array_equal(np.asarray(ct.random.split(mine, 3)), np.asarray(jax.random.split(theirs, 3)))
    assert np.array_equal(ct.random.randint(mine, (50,), 0, 9), jax.random.randint(theirs, (50,), 0, 9))


@pytest.mark.parametrize("name, args, mean, variance", [
    ("uniform", (), 0.5, 1 / 12), ("normal", (), 0.0, 1.0), ("exponential", (), 1.0, 1.0), ("laplace", (), 0.0, 2.0),
    ("gamma", (2.5,), 2.5, 2.5), ("beta", (2.0, 3.0), 0.4, 0.04), ("poisson", (3.0,), 3.0, 3.0)])
def test_distributions_have_their_moments(name, args, mean, variance):
    x = np.asarray(getattr(ct.random, name)(ct.random.key(11), *args, shape=(20_000,))).astype(float)
    assert abs(x.mean() - mean) < 0.05 and abs(x.var() - variance) < 0.15 * variance
    assert np.isfinite(x).all()


LAYERS = {
    "relu": lambda x: np.maximum(x, 0.0), "silu": lambda x: x / (1 + np.exp(-x)), "softplus": lambda x: np.log1p(np.exp(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh, "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x), "hard_tanh": lambda x: np.clip(x, -1, 1),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "log_softmax": lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
    "layer_norm": lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_their_formulas(name):
    np.testing.assert_allclose(getattr(ct.nn, name)(X), LAYERS[name](X), rtol=1e-12, atol=1e-14)


def test_entropies_and_attention_are_their_formulas():
    logits, p = X, LAYERS["softmax"](X)
    np.testing.assert_allclose(ct.cross_entropy(logits, [2, 0]), -np.log(p[[0, 1], [2, 0]]).mean(), rtol=1e-12)
    np.testing.assert_allclose(ct.cross_entropy(logits, p, reduction="none"), -(p * np.log(p)).sum(-1), rtol=1e-12)
    scores = LAYERS["softmax"](X @ X.T / np.sqrt(3.0))
    np.testing.assert_allclose(ct.nn.dot_product_attention(X, X, X), scores @ X, rtol=1e-12)


# Transforms with options.


def test_files_have_the_arrays_of_their_kind(tmp_path):
    x = ct.ones(2)
    for name, arrays in [("a.npz", x), ("a.safetensors", x), ("a.npy", {"x": x}), ("a.txt", x), ("a", {"x": x})]:
        with pytest.raises(ct.ArgumentError):
            ct.save(tmp_path / name, arrays)
    assert not list(tmp_path.iterdir())


def test_arrays_contain_numbers_and_seeds_fit_64_bits():
    x = ct.asarray([[0.0, 1.0], [2.0, 3.0]])
    assert 3.0 in x and 5 not in x
    for seed in (2**63, -2**63 - 1):
        with pytest.raises(ct.ArgumentError):
            ct.random.key(seed)


def test_tails_of_special_functions_keep_their_digits():
    scipy = pytest.importorskip("scipy.special")
    p = np.array([0.0, 1e-300, 1e-17, 1e-10, 0.009, 0.3, 0.5, 0.995, 1.0 - 1e-12, 1.0])
    y = np.asarray(ct.special.ndtri(p))
    assert np.allclose(y, scipy.ndtri(p), rtol=1e-14, atol=0)
    slope = np.sqrt(2 * np.pi) * np.exp(y**2 / 2)
    for k in range(1, 9):
        assert np.isclose(ct.grad(ct.special.ndtri)(p[k]), slope[k], rtol=1e-10)
    # y'' = y y'^2
    assert np.isclose(ct.grad(ct.grad(ct.special.ndtri))(1e-17), y[2] * slope[2] ** 2, rtol=1e-8)
    assert float(ct.special.log_ndtr(-np.inf)) == -np.inf
    assert np.isclose(ct.special.betaln(1e10, 1.0), -23.025850929940457, rtol=1e-14)
    a = np.array([1e-3, 2.0, 19.0, 21.0, 1e6])
    assert np.allclose(ct.special.betaln(a[:, None], a), scipy.betaln(a[:, None], a), rtol=1e-9)
    assert np.isclose(ct.grad(ct.special.betaln)(30.0, 30.0), scipy.digamma(30.0) - scipy.digamma(60.0), rtol=1e-12)


def test_second_derivatives_on_tapes_are_those_of_transforms():
    x = ct.variable(X)
    f = lambda x: ct.sum(ct.sin(x) ** 3)
    (g,) = ct.grad_of(f(x), [x], create_graph=True)
    (h,) = ct.grad_of(ct.sum(g * X), [x], create_graph=True)
    np.testing.assert_allclose(h.detach(), ct.hvp(f, (X,), (X,))[0], rtol=1e-12)
    tree = ct.grad_of(f(x), {"x": [x]})
    assert np.allclose(tree["x"][0], ct.grad(f)(X))
    assert x.grad is None


@pytest.mark.parametrize("policy", [None, 7, "sqrt", ("snapshots", 5)])
def test_checkpoints_change_memory_and_not_results(policy):
    def f(x):
        return ct.sum(ct.fori_loop(0, 1000, lambda i, c: c + 0.01 * ct.sin(c), x))

    x = np.linspace(0.0, 1.0, 500)
    plain, saving = ct.jit(ct.grad(f)), ct.jit(ct.grad(ct.checkpoint(f, policy)))
    np.testing.assert_allclose(saving(x), plain(x), rtol=1e-12)
    np.testing.assert_allclose(ct.grad(ct.checkpoint(f, policy))(x), plain(x), rtol=1e-12)
    assert float(ct.checkpoint(f, policy)(x)) == float(f(x))
    if policy is not None:
        assert saving.lower(x).memory() < plain.lower(x).memory() / 4
    assert ct.jit(ct.grad(f)).lower(x).memory() == plain.lower(x).memory()


def test_a_policy_that_is_none_says_so():
    for policy in ("cube root", 0, -1, ("snapshots", 0), 1.5):
        with pytest.raises((ct.ArgumentError, OverflowError), match="policy|negative"):
            ct.checkpoint(ct.sin, policy)


def test_donated_arrays_are_the_memory_of_results():
    step = ct.jit(lambda p, g: {"w": p["w"].at[0].set(g), "n": p["n"] + 1}, donate_argnums=0)
    p = {"w": np.zeros(100_000), "n": 0}
    places = set()
    for k in range(6):
        old, p = p, step(p, float(k))
        places.add(np.asarray(p["w"]).__array_interface__["data"][0])
        assert float(p["w"][0]) == k and int(p["n"]) == k + 1
        if k > 0:
            with pytest.raises(ct.TapeError, match="donat"):
                old["w"] + 1.0
            with pytest.raises(RuntimeError, match="donat"):
                step(old, 0.0)
        assert p["w"].shape == (100_000,) and p["w"].dtype == ct.float64
    # The first call has NumPy's array, which is not ours; later ones write where they read.
    assert len(places) <= 2


def test_a_view_keeps_donated_memory_from_change():
    step = ct.jit(lambda x: x.at[0].set(5.0), donate_argnums=0)
    x = step(np.zeros(10_000))
    view = np.asarray(x)
    y = step(x)
    view_of_y = np.asarray(y)
    assert not np.shares_memory(view, view_of_y) and view[0] == 5.0


def test_donations_are_positions_that_are_not_static():
    f = ct.jit(lambda n, x, y: x * n + y, static_argnums=0, donate_argnums=-1)
    y = f(2, np.ones(3), np.ones(3))
    z = f(2, np.ones(3), y)
    assert z.tolist() == [5.0] * 3
    with pytest.raises(ct.TapeError):
        y.tolist()
    with pytest.raises(ct.ArgumentError):
        ct.jit(lambda n: n, static_argnums=0, donate_argnums=0)
    # Inside a trace, and on a tape, nothing is given up.
    g = ct.jit(lambda x: ct.sum(f(3, x, x)))
    assert float(g(np.ones(3))) == 12.0
    w = ct.variable(np.ones(3))
    ct.sum(f(2, w, w)).backward()
    assert w.grad.tolist() == [3.0] * 3


def test_extents_of_trees_are_symbols():
    calls = []

    def f(p, x):
        calls.append(1)
        return ct.sum(x @ p["w"] + p["b"]) / x.shape[0]

    j = ct.jit(f, shapes=({"w": ("m", 2)}, ("n", "m")))
    for n, m in ((1, 2), (5, 2), (4, 7)):
        p, x = {"w": np.full((m, 2), 0.5), "b": np.ones(2)}, np.ones((n, m))
        assert float(j(p, x)) == m + 2.0
    assert len(calls) == 1
    pair = ct.jit(lambda x: ct.sum(x[0]) + ct.sum(x[1][0]), shapes=((("n",), [("n",)]),))
    assert float(pair((np.ones(3), [np.ones(3)]))) == 6.0 and float(pair((np.ones(4), [np.ones(4)]))) == 8.0
    assert pair.cache_info().misses == 1
    with pytest.raises(ct.ShapeError, match="argument 0"):
        pair((np.ones((3, 1)), [np.ones(3)]))
    with pytest.raises(ct.ShapeError, match="key 'v'"):
        ct.jit(f, shapes=({"v": ("n",)}, None))({"w": X, "b": X}, X)
    with pytest.raises(ct.ShapeError, match="structure"):
        ct.jit(lambda x: x, shapes=([("n",), ("n",)],))(X)
    with pytest.raises(TypeError, match="tuple of extents"):
        ct.jit(lambda x: x, shapes=("n",))


def test_maps_are_used_by_other_threads():
    _, push = ct.linearize(lambda x: ct.sin(x) * x, X)
    _, pull = ct.vjp(lambda x: ct.sin(x) * x, X)
    found = []
    work = lambda: found.append((push(X).tolist(), push.transpose(X)[0].tolist(), pull(X)[0].tolist()))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    assert len(found) == 2 and found[0] == found[1]


def test_eight_threads_share_a_program():
    p = ct.trace(lambda x: ct.sum(ct.tanh(x @ x.T) ** 2), np.ones((30, 30)))
    j = ct.jit(ct.grad(lambda x: ct.sum(ct.tanh(x @ x.T) ** 2)))
    inputs = [np.full((30, 30), 0.01 * k) for k in range(8)]
    want = [(float(p(x)), np.asarray(j(x)).tobytes()) for x in inputs]
    wrong = []

    def work(k):
        for _ in range(100):
            if (float(p(inputs[k])), np.asarray(j(inputs[k])).tobytes()) != want[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


# Mistakes.

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), SINGULAR, np.stack([np.eye(2), SINGULAR]), np.zeros((2, 2), np.complex64)])
def test_singular_systems_are_errors_eagerly_and_nan_in_programs(matrix):
    for f in (lambda a: ct.linalg.solve(a, np.ones((2, 1))), ct.linalg.inv, lambda a: np.linalg.solve(ct.asarray(a), np.ones((2, 1)))):
        with pytest.raises(ct.LinAlgError, match="singular") as e:
            f(matrix)
        assert e.value.code == "Singular"
        y = np.asarray(ct.jit(f)(matrix))
        bad = np.linalg.matrix_rank(matrix) < 2
        assert np.isnan(y[bad]).all() and np.isfinite(y[~bad]).all()
    with pytest.raises(ct.LinAlgError):
        ct.linalg.solve(ct.variable(matrix), np.ones((2, 1)))


def test_systems_broadcast_as_those_of_numpy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 1, 2, 2)), rng.normal(size=(4, 2, 3))
    assert np.allclose(ct.linalg.solve(a, b), np.linalg.solve(a, b))
    assert np.allclose(ct.linalg.solve(a[0, 0], b), np.linalg.solve(a[0, 0], b))
    assert np.allclose(ct.linalg.solve(a, b[0, :, 0]), np.linalg.solve(a, b[0, :, :1])[..., 0])
    for wrong in (np.ones(3), np.ones((3, 2)), np.ones((5, 2, 1))):
        with pytest.raises(ct.ShapeError):
            ct.linalg.solve(np.broadcast_to(np.eye(2), (4, 2, 2)), wrong)


def test_ranges_are_arrays():
    assert ct.asarray(range(3)).tolist() == [0, 1, 2] and ct.asarray(range(3)).dtype == ct.int64
    assert ct.asarray(range(7, 0, -3), dtype="float32").tolist() == [7.0, 4.0, 1.0]
    assert ct.asarray([range(2), range(5, 7)]).tolist() == [[0, 1], [5, 6]] and ct.asarray(range(0)).shape == (0,)
    assert float(ct.sum(range(4))) == 6.0 and ct.jit(lambda x: x + 1)(range(2)).tolist() == [1, 2]
    with pytest.raises(MemoryError):
        ct.asarray(range(1 << 60))


W = [ct.variable(2.0), ct.variable(np.ones(2))]
# A call, the class and the code of its error, and words of its text.
MISTAKES = {
    "mT of a vector": (lambda: ct.ones(3).mT, ValueError, "ShapeMismatch", "x.T"),
    "mT of a traced vector": (lambda: ct.jit(lambda x: x.mT)(np.ones(3)), ValueError, "ShapeMismatch", "two axes"),
    "a shape that is a float": (lambda: ct.zeros(2.5), TypeError, None, "integer or a tuple of integers, not 2.5"),
    "a shape of floats": (lambda: ct.ones((2.5, 1)), TypeError, None, "not 2.5"),
    "grad of an integer": (lambda: ct.grad(lambda x: x * 2.0)(3), TypeError, "IntegerInput", "argument 0.*int64.*argnums"),
    "grad by the second": (lambda: ct.grad(lambda x, y: x, 1)(1.0, {"n": np.arange(2)}), TypeError, "IntegerInput", "argument 1"),
    "grad of booleans": (lambda: ct.value_and_grad(lambda x: 1.0)(np.ones(2, bool)), TypeError, "IntegerInput", "bool"),
    "jacobian of integers": (lambda: ct.jacobian(lambda x: x * 2.0)(np.arange(2)), TypeError, "IntegerInput", "astype"),
    "hessian of integers": (lambda: ct.hessian(lambda x: ct.sum(x * 2.0))(np.arange(2)), TypeError, "IntegerInput", "astype"),
    "hvp of integers": (lambda: ct.hvp(lambda x: ct.sum(x * 2.0), (np.arange(2),), (np.arange(2),)), TypeError, "IntegerInput", "astype"),
    "grad of a vector": (lambda: ct.grad(lambda x: x * 2.0)(np.ones(2)), TypeError, "NonScalarOutput", "cotangent.sum"),
    "grad of a complex number": (lambda: ct.grad(lambda x: x * 2j)(1.0), TypeError, "ComplexLoss", "cotangent.real"),
    "grad of a count": (lambda: ct.grad(lambda x: ct.argmax(x))(np.ones(2)), TypeError, "IntegerOutput", "float"),
    "a vector with has_aux": (lambda: ct.grad(lambda x: (x, 1), has_aux=True)(np.ones(2)), TypeError, "NonScalarOutput", "rank 1"),
    "a variable of integers": (lambda: ct.variable([1, 2]), TypeError, "IntegerInput", "int64.*2.0 instead of 2"),
    "backward of a constant": (lambda: ct.sum(ct.ones(2)).backward(), RuntimeError, "Unbound", "cotangent.variable"),
    "backward of a detached array": (lambda: (W[0] * 2.0).detach().backward(), RuntimeError, "Unbound", "detached"),
    "backward of a vector": (lambda: (W[1] * 2.0).backward(), TypeError, "NonScalarOutput", "seed"),
    "backward of a complex number": (lambda: (W[0] * 2j).backward(), TypeError, "ComplexLoss", "cotangent.real"),
    "grad_of of a constant": (lambda: ct.grad_of(ct.ones(()), [W[0]]), RuntimeError, "Unbound", "cotangent.variable"),
}
RUST = re.compile(r"::|_(with|in|from)\b|value_and_grad_of|&|\.\.\)|\b[ifuc](8|16|32|64|128)\b|Tensor|Vec|holomorphic")


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_in_python_s_words(name):
    f, kind, code, words = MISTAKES[name]
    with pytest.raises(kind) as e:
        f()
    text = str(e.value)
    assert re.search(words, text) and not RUST.search(text), text
    assert code is None or e.value.code == code


NUMBERS = [True, 0, 1, 2, -3, 200, 2**53 + 1, 0.0, -0.0, 0.1, -2.5, 1e300, np.inf, np.nan, 1j, 2.5 - 0.5j]
ELEMENTS = [0, 1, 2, 3, 7, 100, 1, 5]
OPERATORS = {
    f"{f.__name__}": f for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
                                 operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.or_,
                                 operator.xor, ct.maximum, ct.minimum, ct.atan2, ct.add, ct.less)
}


@pytest.mark.parametrize("dtype", [getattr(ct, n) for n in
                                   "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
                                   "complex128".split()], ids=str)
def test_numbers_beside_few_elements_are_numbers_beside_many(dtype):
    """Operations on few elements have a way of their own: elements, element types and errors are those of long arrays."""
    few = ct.asarray(ELEMENTS, dtype=dtype)
    if ct.isdtype(dtype, "real floating"):
        few = ct.concat([few[:4] * -0.3, few[4:6], ct.asarray([np.nan, -np.inf], dtype=dtype)])
    if ct.isdtype(dtype, "complex floating"):
        few = few * ct.asarray(0.5 - 1j, dtype=dtype)
    many = ct.tile(few, 1 << 12)

    def outcome(f, x, y):
        try:
            z = f(x, y)
        except Exception as e:
            return type(e), getattr(e, "code", None)
        return z.dtype, np.asarray(z[:8]).tobytes()

    quick = 0
    for name, f in OPERATORS.items():
        for n in NUMBERS:
            for left in (False, True):
                operands = lambda x: (n, x) if left else (x, n)
                got = outcome(f, *operands(few))
                assert got == outcome(f, *operands(many)), (name, n, left)
                with ct.no_grad():
                    assert got == outcome(f, *operands(few)), (name, n, left)
                quick += isinstance(got[0], ct.DType)
    assert quick > 100, "most operations of a number and an array have a result"


@pytest.mark.parametrize("f", [lambda x: 2.0 * x, lambda x: x * 2, lambda x: 3 - x, lambda x: 2.0 / x, lambda x: 2 ** x, lambda x: ct.maximum(0.5, x)])
def test_numbers_beside_recorded_arrays_have_derivatives(f):
    w = ct.variable([0.25, 0.5, 1.5])
    ct.sum(f(w)).backward()
    np.testing.assert_array_equal(w.grad, ct.grad(lambda x: ct.sum(f(x)))(w.detach()))


def test_rules_and_equations_on_recorded_arrays_are_operations_of_the_tape():
    ten = ct.custom_jvp(ct.sin, lambda x, t: (ct.sin(x[0]), 10.0 * t[0]))
    back = ct.custom_vjp(ct.sin, lambda x: (ct.sin(x), x), lambda x, t: (10.0 * t,))
    solved = lambda x: ct.implicit.linear_solve(lambda y: 4.0 * y, x)
    root = lambda x: ct.implicit.root(lambda y: y - 2.5 * x, 1.0)
    for f, slope in ((ten, 10.0), (back, 10.0), (ct.checkpoint(lambda x: x * x), 4.0), (solved, 0.25)):
        w = ct.variable(2.0)
        y = f(w)
        assert y.tracked and float(y) == float(f(2.0))
        y.backward()
        assert float(w.grad) == slope
        with ct.no_grad():
            assert float(f(w)) == float(y) and not f(w).tracked
    # A rule of two arguments, one of which is no array of the tape.
    w = ct.variable([1.0, 2.0])
    product = ct.custom_jvp(lambda x, y: x * y, lambda x, t: (x[0] * x[1], 3.0 * t[0] + x[0] * t[1]))
    ct.sum(product(w, np.array([5.0, 7.0]))).backward()
    assert w.grad.tolist() == [3.0, 3.0]
    with pytest.raises(ct.TapeError, match="argument"):
        root(w[0])
