"""Buffers: memory of NumPy's arrays is shared, donated buffers are gone, and arrays of any strides arrive."""

import gc
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_numpy_reads_the_memory_of_an_array_without_a_copy():
    x = jnp.arange(100_000, dtype=jnp.float32)
    a, b = np.asarray(x), np.asarray(x)
    assert a.ctypes.data == b.ctypes.data == x.unsafe_buffer_pointer()
    assert not a.flags.writeable


def test_device_put_of_a_large_array_shares_its_memory_and_keeps_it():
    host = np.arange(100_000, dtype=np.float32)
    x = jax.device_put(host)
    assert x.unsafe_buffer_pointer() == host.ctypes.data
    del host
    gc.collect()
    assert float(x[99_999]) == 99_999


@pytest.mark.parametrize(
    "view",
    [
        lambda h: h[::-1],
        lambda h: h[::3],
        lambda h: h.reshape(10, 100).T,
        lambda h: np.broadcast_to(h[:3], (4, 3)),
        lambda h: h.reshape(10, 10, 10)[::2, ::-1, 3:7],
        lambda h: h[:0],
        lambda h: h.reshape(10, 0, 100) if h.size == 0 else h[:0].reshape(3, 0),
        lambda h: np.frombuffer(b"x" + h[:10].tobytes(), dtype=np.uint8)[1:].view(h.dtype),
        lambda h: h[5],
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex64])
def test_arrays_of_any_strides_arrive(view, dtype):
    host = view(np.arange(1000).astype(dtype))
    np.testing.assert_array_equal(np.asarray(jax.device_put(host)), host)


def test_booleans_are_zero_or_one():
    host = np.array([0, 1, 2, 255], np.uint8).view(bool)
    x = jax.device_put(host)
    assert np.asarray(x).view(np.uint8).tolist() == [0, 1, 1, 1]
    assert int(x.sum()) == 3


def test_a_donated_array_is_deleted_and_memory_that_numpy_reads_stays():
    x = jnp.arange(10_000, dtype=jnp.float32)
    seen = np.asarray(x)
    y = jax.jit(lambda a: a * 2, donate_argnums=0)(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(seen, np.arange(10_000, dtype=np.float32))
    np.testing.assert_array_equal(np.asarray(y), 2 * seen)
    with pytest.raises(RuntimeError, match="deleted"):
        x + 1


def test_the_same_array_donated_twice_is_an_error():
    x = jnp.ones(3)
    f = jax.jit(lambda a, b: (a + 1, b + 1), donate_argnums=(0, 1))
    with pytest.raises(Exception, match="donate the same buffer twice"):
        f(x, x)
    assert not x.is_deleted()


def test_memory_of_other_libraries_arrives_by_dlpack():
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = jax.device_put(jax.dlpack.from_dlpack(host), jax.devices("cotangent")[0])
    np.testing.assert_array_equal(np.asarray(x + 1), host + 1)


def test_eight_threads_compile_and_run():
    errors = []

    def work(k):
        try:
            f = jax.jit(lambda x: jnp.sin(x * (k + 1)).sum())
            for n in range(1, 20):
                x = jnp.arange(n, dtype=jnp.float32)
                expected = np.sin(np.arange(n, dtype=np.float32) * (k + 1)).sum()
                np.testing.assert_allclose(float(f(x)), expected, rtol=1e-4, atol=1e-5)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors


def test_a_long_run_returns_at_once_and_its_readers_wait():
    @jax.jit
    def long(x):
        return jax.lax.fori_loop(0, 200, lambda i, x: jnp.tanh(x @ x) + i * 1e-3, x)

    x = (jnp.ones((200, 200)) / 200).block_until_ready()
    y = long(x)
    assert not y.is_ready()
    z = [(y + k).sum() for k in range(5)]
    again = long(x)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(again))
    np.testing.assert_allclose(np.asarray(z), np.asarray(again).sum() + 40_000 * np.arange(5), rtol=1e-4)


def test_statistics_count_live_arrays():
    # Runs of other tests have ended and have released their memory.
    jnp.zeros(()).block_until_ready()
    gc.collect()
    stats = jax.devices()[0].memory_stats
    before = stats()["bytes_in_use"]
    x = jnp.zeros(1 << 16, jnp.float32).block_until_ready()
    assert stats()["bytes_in_use"] == before + (1 << 18)
    del x
    assert stats()["bytes_in_use"] == before


def test_arrays_and_results_may_be_in_pinned_memory(ours):
    sharding = jax.sharding.SingleDeviceSharding(ours, memory_kind="pinned_host")
    x = jax.device_put(np.arange(3.0, dtype=np.float32), sharding)
    y = jax.jit(lambda x: x + 1, out_shardings=sharding)(x)
    z = jax.device_put(y, jax.sharding.SingleDeviceSharding(ours, memory_kind="device"))
    assert [a.sharding.memory_kind for a in (x, y, z)] == ["pinned_host", "pinned_host", "device"]
    np.testing.assert_array_equal(z, [1, 2, 3])


def test_tokens_have_no_value():
    token = jax.lax.create_token()
    with pytest.raises(RuntimeError, match="token"):
        np.asarray(token._buf)
    x, after = jax.jit(lambda x, token: (x + 1, jax.lax.after_all(token)))(jnp.ones(3), token)
    after.block_until_ready()
    np.testing.assert_array_equal(x, [2, 2, 2])
