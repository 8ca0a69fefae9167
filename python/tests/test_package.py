"""The package as a user meets it: errors, trees, compiled functions, tapes, files, transforms of several arguments."""

import pathlib
import pickle
import runpy
import sys
import threading

import numpy as np
import pytest

import cotangent as ct

HERE = pathlib.Path(__file__).parent


def test_a_typed_program_runs():
    import typed
    assert typed.main() > 0.0


@pytest.mark.parametrize("name", ["curve_fit", "pinn", "bayesian_regression"])
def test_examples_run(name, capsys):
    runpy.run_path(str(HERE.parent / "examples" / f"{name}.py"))
    assert capsys.readouterr().out


def test_jacobians_of_trees_are_blocks():
    f = lambda x, y: {"a": x * ct.sum(y), "b": y[0]}
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    for jacobian in (ct.jacobian, ct.jacfwd, ct.jacrev):
        jx, jy = jacobian(f, argnums=(0, 1))(x, y)["a"]
        assert np.allclose(jx, 12.0 * np.eye(2)) and np.allclose(jy, np.outer(x, np.ones(3)))
    assert np.allclose(ct.jacobian(lambda x: x**2)(x), np.diag(2 * x))


def test_hessians_of_several_arguments_are_trees_of_trees():
    h = ct.hessian(lambda p: p["x"] ** 2 * p["y"])({"x": 2.0, "y": 3.0})
    assert float(h["x"]["x"]) == 6.0 and float(h["x"]["y"]) == 4.0 and float(h["y"]["y"]) == 0.0


def test_linearize_and_its_transpose():
    y, push = ct.linearize(lambda x: ct.sin(x), np.array([0.0, 1.0]))
    t = np.array([1.0, 2.0])
    assert np.allclose(push(t), np.cos([0.0, 1.0]) * t)
    assert np.allclose(push.transpose(t)[0], np.cos([0.0, 1.0]) * t)


def test_a_parameter_is_a_hidden_argument():
    w = ct.Parameter(np.ones(3))
    calls = []
    f = ct.jit(lambda x: (calls.append(1), ct.sum(w * x))[1])
    assert float(f(np.ones(3))) == 3.0
    w.set(2.0 * np.ones(3))
    assert float(f(np.ones(3))) == 6.0 and len(calls) == 1
    # Also where no argument is beside it, and in what is computed of it.
    inner = ct.jit(lambda: ct.sum(w.detach()) + ct.einsum("i,i->", w, w))
    functions = [ct.jit(lambda: ct.sum(w * 2.0)), ct.jit(lambda x: ct.exp(ct.max(w)) + 0.0 * x), inner, ct.jit(lambda: inner() * 2.0),
                 ct.jit(lambda: ct.cond(w[0] > 0.0, lambda: ct.sum(w), lambda: 0.0)), ct.jit(lambda: np.sum(np.sin(w)))]
    for g in functions:
        args = (0.0,) if g is functions[1] else ()
        before = float(g(*args))
        w.set(3.0 * np.ones(3))
        assert float(g(*args)) != before and g.cache_info().misses == 1
        w.set(2.0 * np.ones(3))
        assert float(g(*args)) == before
    with pytest.raises(ct.ConcretizationError):
        ct.jit(lambda: float(w[0]))()


def test_a_compiled_function_is_one_operation_of_the_tape():
    w = ct.variable(np.array([1.0, 2.0]))
    f = ct.jit(lambda w: ct.sum(w**3))
    f(w).backward()
    assert w.grad.tolist() == [3.0, 12.0]
    with pytest.raises(ct.TapeError):
        ct.grad(lambda x: ct.sum(x * (w * 1.0)))(np.ones(2))


def test_gradients_of_gradients_on_tapes():
    x = ct.variable(2.0)
    (g,) = ct.grad_of(x**3, [x], create_graph=True)
    (h,) = ct.grad_of(g, [x])
    assert float(g) == 12.0 and float(h) == 12.0


def test_jitted_functions_are_pickled_as_their_function():
    again = pickle.loads(pickle.dumps(ct.jit(np.square)))
    assert float(again(3.0)) == 9.0


def test_jitted_methods_are_bound():
    class Model:
        def __init__(self, w):
            self.w = w

        @ct.jit
        def __call__(self, x):
            return self.w * x

    ct.register_pytree_node(Model, lambda m: ((m.w,), None), lambda _, c: Model(*c))
    assert float(Model(3.0)(2.0)) == 6.0


@pytest.mark.parametrize("file", ["a.npz", "a.safetensors"])
def test_files(tmp_path, file):
    arrays = {"w": ct.arange(6.0).reshape(2, 3), "n": ct.asarray([1, 2])}
    ct.save(tmp_path / file, arrays)
    again = ct.load(tmp_path / file)
    assert again["w"].tolist() == arrays["w"].tolist() and again["n"].dtype == ct.int64
    ct.save(tmp_path / "b.npy", arrays["w"])
    assert np.load(tmp_path / "b.npy").tolist() == arrays["w"].tolist()


def test_programs_have_text_and_derivatives():
    p = ct.trace(lambda x: ct.sum(x**2), np.ones(3))
    assert "tgraph.module" in p.text and "stablehlo" in p.stablehlo
    assert p.grad()(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert p.inputs[0][1] == "f64[3]" and p.outputs == ["f64[]"]


def test_control_flow_takes_trees_and_weak_numbers():
    c, ys = ct.scan(lambda c, x: ({"n": c["n"] + 1, "s": c["s"] + x}, c["s"]), {"n": 0, "s": 0.0}, np.ones(4, dtype=np.float32))
    assert c["n"].dtype == ct.int64 and c["s"].dtype == ct.float32 and ys.tolist() == [0.0, 1.0, 2.0, 3.0]
    _, ys = ct.scan(lambda c, _: (c * 2, c), 1, length=4)
    assert ys.tolist() == [1, 2, 4, 8]
    assert float(ct.switch(0, [lambda x: x, lambda x: 1.0], np.float32(2))) == 2.0


def test_what_a_call_cannot_mean_is_refused():
    f = lambda x, n: x * n
    for bad in [dict(static_argnums=2), dict(static_argnums=-3), dict(donate_argnums=5), dict(static_argnames="m")]:
        with pytest.raises(ct.ArgumentError):
            ct.jit(f, **bad)
    assert float(ct.jit(f, static_argnums=-1)(2.0, 3)) == 6.0
    assert float(ct.jit(lambda *x: x[0] * x[2], static_argnums=2)(2.0, 0.0, 3)) == 6.0
    assert float(ct.jit(np.multiply, static_argnums=1)(2.0, 3)) == 6.0
    with pytest.raises(ct.ShapeError, match="length is 7"):
        ct.scan(lambda c, x: (c + x, x), 0.0, np.ones(5), length=7)
    with pytest.raises(TypeError):
        ct.random.key(1.5)
    for bad in (lambda: ct.split(np.ones(4), 0), lambda: ct.fft.fftn(np.ones((2, 2)), s=(2,), axes=(0, 1)),
                lambda: ct.fft.fftn(np.ones(2), s=(2, 2))):
        with pytest.raises(ct.ArgumentError):
            bad()
    with pytest.raises(ct.ShapeError):
        ct.reshape(np.ones(4), (-1, -1))


def test_integers_of_numpy_are_extents_and_narrow_ones_positions():
    x = ct.arange(300)
    assert ct.reshape(x, (np.int64(-1), np.int32(3))).shape == (100, 3)
    assert ct.arange(np.int64(3)).dtype == ct.int64 and ct.arange(np.float32(3)).dtype == ct.float64
    assert [len(a) for a in ct.split(x, np.int64(3))] == [100] * 3
    i = np.array([-1, 5], dtype=np.int8)
    assert ct.take(x, i).tolist() == [299, 5] and x[i].tolist() == [299, 5]
    assert ct.take_along_axis(x, i).tolist() == [299, 5]
    assert ct.jit(lambda i: ct.take(x, i))(i).tolist() == [299, 5]


def test_an_objective_sees_arguments_that_change_in_place():
    scale = ct.Parameter(1.0)
    fun, jac, hessp = ct.scipy.objective(lambda x, y: scale * ct.sum((x - y) ** 2))
    x, y = np.array([1.0, 2.0]), np.zeros(2)
    assert fun(x, y) == 5.0 and jac(x, y).tolist() == [2.0, 4.0]
    y[:] = 1.0
    assert fun(x, y) == 1.0 and jac(x, y).tolist() == [0.0, 2.0] == jac(x, y).tolist()
    scale.set(3.0)
    assert fun(x, y) == 3.0 and jac(x, y).tolist() == [0.0, 6.0] and hessp(x, x, y).tolist() == [6.0, 12.0]


def test_vmap_out_axes():
    y = ct.vmap(lambda x: (x, ct.sum(x)), out_axes=(1, 0))(np.ones((2, 3)))
    assert y[0].shape == (3, 2) and y[1].shape == (2,)


def test_threads_change_no_bits():
    x = np.random.default_rng(0).normal(size=100_000)
    f = lambda: np.asarray(ct.jit(lambda x: ct.sum(ct.sin(x)))(x)).tobytes()
    want = f()
    with ct.threads(1):
        assert f() == want


def test_traces_of_two_threads_are_apart():
    j = ct.jit(lambda x: ct.grad(lambda y: ct.sum(ct.sin(y)))(x))
    found = []
    threads = [threading.Thread(target=lambda n=n: found.append(j(np.zeros(n)).tolist() == [1.0] * n)) for n in range(1, 9)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert found == [True] * 8


def test_promotion_is_symmetric_and_what_the_page_says():
    kinds = [ct.bool, ct.int8, ct.int32, ct.uint8, ct.uint32, ct.float16, ct.bfloat16, ct.float32, ct.float64, ct.complex64]
    for a in kinds:
        for b in kinds:
            assert ct.result_type(a, b) == ct.result_type(b, a)
    assert ct.result_type(ct.float32, 1) == ct.float32 and ct.result_type(ct.bool, 1) == ct.int64


def test_printing_is_numpy_s():
    assert str(ct.asarray([1.0, 2.5])) == "[1.  2.5]" and f"{ct.asarray(2.5):.2f}" == "2.50"
    assert repr(ct.jit(lambda x: x).lower(1.0)).startswith("tgraph.module")


def test_lists_of_integers_fit_their_type():
    assert ct.asarray([2**64 - 1, True], dtype="uint64").dtype == "uint64"
    assert int(ct.asarray([2**64 - 1], dtype="uint64")[0]) == 2**64 - 1
    assert np.asarray(ct.asarray([[1, -2], [3, 4]], dtype="int8")).tolist() == [[1, -2], [3, 4]]
    for bad, dtype in [([300], "uint8"), ([[-1]], "uint64"), ([2**63], "int64"), ([2**63], None)]:
        with pytest.raises(OverflowError):
            ct.asarray(bad, dtype=dtype)


def test_masks_have_the_extents_of_their_axes():
    x = ct.zeros((2, 3))
    assert x[..., ct.asarray([True, False, True])].shape == (2, 2)
    assert x[None, ct.asarray([True, False])].shape == (1, 1, 3)
    assert ct.zeros((0,))[ct.asarray(np.zeros(0, bool))].shape == (0,)
    for key in [np.array([False]), (slice(None), np.array([True, False])), np.ones((3, 2), bool)]:
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(IndexError):
        ct.zeros((0,))[np.array([False])]


def test_diagonals_outside_of_a_matrix_are_empty():
    for k in (3, -3, 2**63, -2**70):
        assert not np.asarray(ct.eye(3, k=k)).any()


def test_a_cpu_without_the_instructions_of_the_build_is_an_import_error(tmp_path):
    from cotangent import _cpu
    built_for = (pathlib.Path(ct.__file__).parent / "cpu_features.txt").read_text()
    if sys.platform == "linux":
        assert _cpu.missing(built_for, pathlib.Path("/proc/cpuinfo").read_text()) == []
    assert _cpu.missing("avx2,fma,fxsr,lzcnt,sse2", "model name : old\nflags\t\t: fpu sse2 fma\n") == ["avx2", "lzcnt"]
    assert _cpu.missing("avx2", "Features : asimd\n") == []
    old = tmp_path / "cpuinfo"
    old.write_text("processor\t: 0\nflags\t\t: fpu sse sse2\n")
    if "avx2" in built_for.split(","):
        with pytest.raises(ImportError, match="needs a CPU with .*avx2.*RUSTFLAGS"):
            _cpu.check(str(old))
    _cpu.check(str(tmp_path / "absent"))
