"""Arrays and programs on devices of PJRT plugins: XLA's CPU, and Cotangent's own plugin. A plugin that is missing is skipped; with
``COTANGENT_REQUIRE=pjrt`` that is a failure."""

import os
import pathlib
import pickle
import re

import numpy as np
import pytest

import cotangent as ct

PLUGINS = ["xla", "cotangent"]
FOUND = [d for d in ct.devices() if d != "cpu"]
REQUIRED = "pjrt" in os.environ.get("COTANGENT_REQUIRE", "").split(",")
A = np.arange(6.0).reshape(2, 3) / 4 - 0.5


@pytest.fixture(params=PLUGINS)
def device(request):
    name = f"{request.param}:0"
    if name not in FOUND:
        assert not REQUIRED, f"{name} is not among {FOUND}"
        pytest.skip("no PJRT plugin (pip install xla-cpu-pjrt==0.0.1; COTANGENT_PJRT_COTANGENT is the path of ours)")
    return name


def near(a, b, tolerance=1e-12):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_devices_are_listed_and_an_array_goes_there_and_back(device):
    assert ct.devices()[0] == "cpu" and ct.__array_namespace_info__().devices() == ct.devices()
    x = ct.asarray(A)
    there = x.to_device(device)
    assert (x.device, there.device, there.shape, there.dtype) == ("cpu", device, (2, 3), ct.float64)
    assert there.to_device(device) is there and x.to_device("cpu") is x
    assert there.to_device(device.split(":")[0]) is there
    back = there.to_device("cpu")
    assert back.device == "cpu" and np.array_equal(back, A)
    for t in ("bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex64", "complex128"):
        y = ct.asarray([[0, 1], [1, 1]], dtype=t)
        assert y.to_device(device).to_device("cpu").tolist() == y.tolist()


def test_what_reads_elements_waits_and_copies(device):
    x = ct.asarray(A).to_device(device)
    y = ct.sin(x) * 2.0 + x[:, :1]
    assert y.device == device
    expected = np.sin(A) * 2.0 + A[:, :1]
    for read in (np.asarray(y), y.tolist(), y.to_device("cpu"), np.from_dlpack(y), memoryview(y), pickle.loads(pickle.dumps(y))):
        near(np.asarray(read), expected)
    assert f"{y}" == f"{y.to_device('cpu')}" and repr(y) == repr(y.to_device("cpu"))
    assert float(y[1, 2]) == pytest.approx(expected[1, 2]) and y.sum().item() == pytest.approx(expected.sum())
    assert bool((y > -10.0).all())


def test_functions_of_the_package_stay_on_the_device(device):
    x = ct.asarray([[4.0, 1.0], [1.0, 3.0]])
    functions = [
        lambda x: x @ x, lambda x: ct.where(x > 1.5, x, 0.0), lambda x: ct.linalg.solve(x, x[0]), ct.linalg.cholesky,
        lambda x: ct.linalg.lu(x).L, lambda x: ct.linalg.eigh(x).eigenvalues, lambda x: ct.nn.softmax(x),
        lambda x: x.at[0, 1].add(2.0), lambda x: ct.cumulative_sum(x, axis=0, include_initial=True), ct.zeros_like,
        lambda x: ct.diff(x, prepend=0.0), lambda x: ct.sort(x, axis=1), lambda x: x[::-1, None], lambda x: ct.triu(x),
        lambda x: ct.nn.layer_norm(x, bias=x[0]), lambda x: ct.concat([x, x * 2]), lambda x: ct.full_like(x, 7.0),
        lambda x: ct.repeat(x, np.array([1, 2]), axis=0), lambda x: ct.astype(x, "float32"), lambda x: ct.mean(x, axis=1),
        lambda x: ct.einsum("ij,kj->ik", x, x), lambda x: ct.fft.fft(x), lambda x: 2 ** x, lambda x: np.exp(x)]
    for f in functions:
        y = f(x.to_device(device))
        assert y.device == device
        near(y, f(x))
    key = ct.random.key(3)
    there = key.to_device(device)
    for draw in (lambda k: ct.random.normal(k, (4,)), lambda k: ct.random.split(k)[1], lambda k: ct.random.permutation(k, 5)):
        y = draw(there)
        assert y.device == device
        near(y, draw(key))
    for y in (ct.zeros(3, device=device), ct.arange(3, device=device), ct.linspace(0, 1, 3, device=device), ct.eye(3, device=device),
              ct.asarray([1, 2], device=device), ct.full((2,), 1.5, device=device), ct.fft.fftfreq(4, device=device)):
        assert y.device == device


def loss(p, x, y):
    return ct.mean((ct.tanh(x @ p["w"]) + p["b"] - y) ** 2)


def problem():
    key = ct.random.key(0)
    x, w = ct.random.normal(key, (8, 3)), ct.random.normal(ct.random.fold_in(key, 1), (3, 2))
    return {"w": w, "b": ct.zeros(2)}, x, ct.sin(x[:, :2])


def put(tree, device):
    leaves, structure = ct.tree_flatten(tree)
    return structure.unflatten([leaf.to_device(device) for leaf in leaves])


def test_gradients_are_computed_on_the_device(device):
    args = problem()
    there = put(args, device)
    expected = ct.grad(loss)(*args)
    for g in (ct.grad(loss), ct.jit(ct.grad(loss))):
        y = g(*there)
        assert y["w"].device == y["b"].device == device
        near(y["w"], expected["w"])
        near(y["b"], expected["b"])
    v, t = ct.jvp(lambda x: ct.sin(x) * x, (there[1],), (there[1],))
    assert v.device == t.device == device
    near(t, ct.jvp(lambda x: ct.sin(x) * x, (args[1],), (args[1],))[1])
    h = ct.hessian(lambda x: ct.sum(x ** 3))(there[1][0])
    assert h.device == device
    near(h, np.diag(6 * np.asarray(args[1][0])))
    batch = ct.vmap(lambda x: ct.sum(x * x))(there[1])
    assert batch.device == device
    y, pull = ct.vjp(lambda x: ct.exp(x), there[1])
    near(pull(y)[0] if isinstance(pull(y), tuple) else pull(y), np.exp(2 * np.asarray(args[1])))


def test_a_tape_is_on_the_device(device):
    x, y = np.linspace(-1, 1, 12).reshape(4, 3), np.ones(4)
    results = {}
    for d in ("cpu", device):
        w = ct.variable(ct.zeros(3, device=d))
        at, to = ct.asarray(x, device=d), ct.asarray(y, device=d)
        losses = []
        for step in range(20):
            value = ct.mean((at @ w - to) ** 2)
            value.backward()
            assert w.grad.device == d
            w.set(w.detach() - (0.5 / (1 + step)) * w.grad)
            w.clear_grad()
            losses.append(value.item())
        assert w.device == d and losses[-1] < losses[0]
        results[d] = losses
    np.testing.assert_allclose(results[device], results["cpu"], rtol=1e-12)
    with pytest.raises(ct.DeviceError, match="to_device"):
        w.set(np.zeros(3))


def test_jit_runs_on_its_device_or_on_that_of_its_arguments(device):
    args = problem()
    g = ct.jit(ct.value_and_grad(loss), device=device)
    value, grads = g(*args)
    assert value.device == grads["w"].device == device
    near(value, loss(*args))
    # Arguments on the device, on the CPU, of NumPy, and results of the function itself.
    near(g(*put(args, device))[0], value)
    near(g(args[0], np.asarray(args[1]), args[2])[0], value)
    near(g({"w": args[0]["w"], "b": grads["b"] * 0.0}, *args[1:])[0], value)
    assert g.cache_info().misses == 1
    assert pickle.loads(pickle.dumps(ct.jit(ct.sin, device=device)))(A).device == device
    # The same function on both devices.
    f = ct.jit(lambda x: ct.exp(x).sum())
    there = ct.asarray(A).to_device(device)
    assert [f(x).device for x in (A, there, A, there, ct.asarray(A))] == ["cpu", device, "cpu", device, "cpu"]
    assert f.cache_info().misses == 2
    # What a function captures is part of its program.
    w = ct.asarray([1.0, 2.0, 3.0])
    near(ct.jit(lambda x: x @ w)(there), A @ np.asarray(w))
    p = ct.Parameter(ct.asarray([1.0, 2.0, 3.0], device=device))
    h = ct.jit(lambda: ct.sum(p * p))
    assert h().device == device and h().item() == 14.0
    p.set(ct.zeros(3, device=device))
    assert h().item() == 0.0
    program = ct.trace(lambda x: ct.cos(x), A)
    assert program(there).device == device and program(A).device == "cpu"


def test_sizes_and_symbols(device):
    f = ct.jit(lambda x: ct.sum(x * x), shapes=(("n",),), device=device)
    for n in (3, 5, 3):
        assert f(np.ones(n)).item() == n
    assert f.cache_info().misses == 1


def test_donated_arguments_cannot_be_used_again(device):
    step = ct.jit(lambda x: x * 0.5, donate_argnums=0, device=device)
    first = ct.asarray(A).to_device(device)
    x = step(first)
    near(first, A)  # no result of such a function
    y = step(x)
    near(y, A * 0.25)
    with pytest.raises(ct.TapeError, match="donated"):
        x.tolist()


def test_arrays_do_not_move_by_themselves(device):
    x = ct.asarray(A)
    there = x.to_device(device)
    here = [
        lambda: there + x, lambda: x * there, lambda: there + A, lambda: ct.matmul(there, x.T), lambda: ct.concat([x, there]),
        lambda: ct.jit(lambda a, b: a + b)(there, x), lambda: ct.jit(lambda a, b: a + b)(A, there),
        lambda: ct.grad(lambda a, b: ct.sum(a * b))(there, x), lambda: ct.jit(ct.sin, device="cpu")(there)]
    for f in here:
        with pytest.raises(ct.DeviceError, match="to_device") as e:
            f()
        assert e.value.code == "DeviceMismatch" and device in str(e.value) and "cpu" in str(e.value)
    # Numbers do.
    near(there * ct.asarray(2.0), A * 2)
    near(there * np.float64(2.0), A * 2)
    w = ct.variable(A)
    with pytest.raises(ct.TapeError, match="detach"):
        (w * 2).to_device(device)
    with pytest.raises(ct.ConcretizationError, match="device="):
        ct.jit(lambda x: x.to_device(device))(A)


def test_errors_say_what_to_do(device):
    for name in ("gpu", "cpu:0", "", "XLA"):
        with pytest.raises(ct.ArgumentError, match="devices"):
            ct.zeros(2).to_device(name)
        with pytest.raises(ct.ArgumentError, match="devices"):
            ct.jit(ct.sin, device=name)
    with pytest.raises(ct.Error, match="there is no device 99"):
        ct.zeros(2).to_device(device.split(":")[0] + ":99")
    with pytest.raises(ct.ArgumentError, match="name"):
        ct.zeros(2).to_device(3)
    with pytest.raises(ct.ArgumentError, match="stream"):
        ct.zeros(2).to_device("cpu", stream=1)
    if device == "xla:0":
        x = ct.asarray([[1.0, 2.0], [3.0, 4.0]]).to_device(device)
        with pytest.raises(ct.DeviceError, match="`eig` has no form on") as e:
            ct.linalg.eig(x)
        assert e.value.code == "Unsupported"
        with pytest.raises(ct.DeviceError, match="CPU runtime"):
            ct.jit(ct.linalg.eigvals, device=device)(np.asarray(x))
        with pytest.raises(ct.LinAlgError):
            ct.linalg.cholesky(-x).tolist()
        near(x + 1, np.asarray(x) + 1)  # it works afterwards


def test_a_missing_plugin_says_how_to_install_it():
    if "tpu:0" in FOUND:
        return
    with pytest.raises(ct.FileError, match="pip install libtpu"):
        ct.zeros(2).to_device("tpu")


def test_the_book_s_program_runs_here(device, monkeypatch):
    page = pathlib.Path(__file__).parent.parent.parent / "book" / "src" / "devices.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert len(programs) == 1
    monkeypatch.setattr(ct, "devices", lambda: ["cpu", device])
    exec(programs[0], {})
