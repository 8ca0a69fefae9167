"""Programs: errors with the place in JAX's program, types, many executables, threads and forks."""

import gc
import os
import pathlib
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def run(code, **variables):
    """Runs a program in a process of its own. Returns what it prints."""
    environment = {**os.environ, "JAX_PLATFORMS": "cotangent,cpu", **variables}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_linear_algebra_has_the_rules_of_the_cpu():
    a = jnp.array([[2.0, 1.0], [1.0, 3.0]])
    w, v = jnp.linalg.eigh(a)
    np.testing.assert_allclose(v @ jnp.diag(w) @ v.T, a, atol=1e-6)
    q, r = jnp.linalg.qr(a)
    np.testing.assert_allclose(q @ r, a, atol=1e-6)
    u, s, t = jnp.linalg.svd(a)
    np.testing.assert_allclose(u * s @ t, a, atol=1e-6)


def test_types_that_arrays_cannot_have_are_errors_that_name_them():
    with pytest.raises(Exception, match="i4"):
        jnp.zeros(3, jnp.int4) + jnp.ones(3, jnp.int4)


def test_costs_and_memory_of_a_program_are_known():
    compiled = jax.jit(lambda a, b: a @ b).lower(jnp.ones((20, 30)), jnp.ones((30, 10))).compile()
    assert compiled.cost_analysis()["flops"] >= 2 * 20 * 30 * 10
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * (600 + 300) and memory.output_size_in_bytes == 800
    assert "dot" in compiled.as_text()


def test_unknown_options_of_compilations_are_refused():
    f = lambda **options: jax.jit(lambda x: x + 1, compiler_options=options)(1.0)
    assert f(xla_embed_ir_in_executable=True) == 2
    with pytest.raises(Exception, match="No such compile option: 'unknown'"):
        f(unknown=1)


def test_many_different_programs_leave_no_memory():
    def resident():
        gc.collect()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("the system has no /proc")
    sizes = []
    for k in range(1000):
        f = jax.jit(lambda x, k=k: jnp.sin(x * k) + k)
        assert f(jnp.float32(0)) == k
        f.clear_cache()
        if k % 50 == 49:
            jax.clear_caches()
            sizes.append(resident())
    assert sizes[-1] - sizes[0] < 5, sizes


def test_results_have_the_same_bits_for_any_number_of_threads():
    code = """
        import hashlib, jax, jax.numpy as jnp, numpy as np
        x = jax.random.normal(jax.random.key(0), (300, 400))
        y = [jnp.tanh(x @ x.T), x.sum(), jnp.fft.fft(x[0]), jnp.sort(x, axis=0), jax.nn.softmax(x).mean(0)]
        print(hashlib.sha256(b"".join(np.asarray(a).tobytes() for a in y)).hexdigest())
    """
    assert run(code, COTANGENT_JAX_THREADS="1") == run(code, COTANGENT_JAX_THREADS="2")


@pytest.mark.parametrize("x64", ["0", "1"])
def test_numbers_have_64_bits_where_they_are_enabled(x64):
    code = """
        import jax.numpy as jnp
        print(jnp.sin(jnp.arange(3) * 0.1).dtype, jnp.arange(3).dtype, float(jnp.float64(1) / 3 if False else jnp.exp(0.1)))
    """
    out = run(code, JAX_ENABLE_X64=x64).split()
    assert out[:2] == (["float64", "int64"] if x64 == "1" else ["float32", "int32"])
    assert abs(float(out[2]) - np.exp(0.1)) < (1e-15 if x64 == "1" else 1e-7)


def test_a_forked_process_computes_or_reports_an_error():
    code = """
        import os, signal, warnings
        warnings.simplefilter("ignore")
        import jax, jax.numpy as jnp
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda i, x: jnp.tanh(x @ x), x).sum())
        x = jnp.ones((100, 100)) / 100
        expected = float(f(x))
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if float(f(x)) == expected else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code).strip() == "0"


def test_nothing_happens_where_the_platform_is_not_named():
    code = """
        import sys, jax
        print(jax.devices()[0].platform, "cotangent_jax._plugin" in sys.modules)
    """
    assert run(code, JAX_PLATFORMS="cpu").split() == ["cpu", "False"]


ARTEFACTS = pathlib.Path(os.environ.get("COTANGENT_BYTECODE", "../shared/bytecode"))


def values_of(path):
    """Arguments and results of an artefact."""
    file = path.with_name(path.stem.rsplit("-", 1)[0] + ".npz")
    if file.exists():
        data = np.load(file)
        return ([data[f"{name}_{k}"] for k in range(len(data)) if f"{name}_{k}" in data] for name in ("in", "out"))
    # Value and gradient with respect to w of sum(tanh(x @ w)).
    assert path.stem.startswith("sharded")
    x, w = np.ones((8, 4), np.float32), np.ones((4, 2), np.float32)
    return [x, w], [16 * np.tanh(np.float32(4)), np.full((4, 2), 8 * (1 - np.tanh(4) ** 2), np.float32)]


@pytest.mark.skipif(not ARTEFACTS.is_dir(), reason="the artefacts of bytecode are not beside this checkout")
@pytest.mark.parametrize("path", sorted(ARTEFACTS.glob("*.mlirbc")), ids=lambda p: p.stem)
def test_artefacts_run_to_their_values(path, ours):
    from jax._src.lib import xla_client

    options = xla_client.CompileOptions()
    devices = xla_client.DeviceList((ours,))
    with jax.enable_x64(True):
        executable = ours.client.compile_and_load(path.read_bytes(), devices, options)
        assert executable.local_devices() == [ours]
        arguments, wanted = values_of(path)
        results = executable.execute_sharded([jax.device_put(a, ours) for a in arguments])
        results = [np.asarray(r[0]) for r in results.disassemble_into_single_device_arrays()]
    assert len(results) == len(wanted)
    for result, want in zip(results, wanted):
        # Results of type bfloat16 are stored as their bits.
        want = want.view(result.dtype) if result.dtype.name == "bfloat16" else want
        assert (result.dtype, result.shape) == (want.dtype, want.shape)
        assert result.dtype.kind in "fcV" or (result == want).all()
        scale = {4: 2e-5, 8: 1e-9, 2: 0}[np.dtype(result.real.dtype).itemsize] if result.dtype.kind in "fcV" else 0
        scale *= max(1.0, np.abs(want[np.isfinite(want)]).max(initial=0)) if scale else 0
        np.testing.assert_allclose(result.astype(complex), want.astype(complex), rtol=0, atol=scale)
