"""Callbacks: a custom call with the index of a Python function in a table of this module.

The library calls one C function, made by ctypes, which holds Python's lock as long as it runs.
"""

import ctypes
import functools
import itertools
import threading
import traceback

import numpy as np

TARGET = "cotangent_callback"

_functions = {}
_numbers = itertools.count(1)
_lock = threading.Lock()


class _Array(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
        ("element_type", ctypes.c_int32),
    ]


@functools.cache
def _dtypes():
    """Element types by their number in PJRT."""
    import ml_dtypes

    names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
    types = [np.dtype(name) for name in names]
    types += [np.dtype(ml_dtypes.bfloat16), np.dtype("complex64"), np.dtype("complex128")]
    return dict(enumerate(types, 1))


def _view(array):
    """The memory of an array of the library, until the call returns."""
    shape = tuple(array.dims[k] for k in range(array.rank))
    dtype = _dtypes()[array.element_type]
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if size == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * size).from_address(array.data)
    return np.frombuffer(memory, dtype).reshape(shape)


def _call(index, count, arguments, results_count, results, message, size):
    try:
        function = _functions.get(index)
        if function is None:
            raise RuntimeError("the Python function of this program does not exist any more")
        values = function(*[_view(arguments[k]).copy() for k in range(count)])
        for k in range(results_count):
            _view(results[k])[...] = values[k]
        return 0
    except BaseException as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        text = f"a callback failed: {text}\n{''.join(traceback.format_exception(error))}"
        data = text.encode(errors="replace")[: size - 1] + b"\0"
        ctypes.memmove(message, data, len(data))
        return 1


_Function = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.POINTER(_Array),
    ctypes.c_int64,
    ctypes.POINTER(_Array),
    ctypes.c_void_p,
    ctypes.c_int64,
)
_function = _Function(_call)


def address():
    """The address of the C function, for the library."""
    return ctypes.cast(_function, ctypes.c_void_p).value


class _Entry:
    """A function of the table, as long as an executable keeps this."""

    def __init__(self, function):
        with _lock:
            self.index = next(_numbers)
            _functions[self.index] = function

    def __del__(self):
        _functions.pop(self.index, None)


def _checked(callback, avals):
    """The callback with the checks of JAX's own: number, shapes and types of results."""
    from jax._src import dtypes

    def call(*args):
        values = callback(*args)
        if len(values) != len(avals):
            raise RuntimeError(
                f"Mismatched number of outputs from callback. Expected: {len(avals)}, Actual: {len(values)}"
            )
        values = tuple(dtypes.canonicalize_value(np.asarray(v)) for v in values)
        for k, (value, aval) in enumerate(zip(values, avals)):
            if value.shape != aval.shape:
                raise RuntimeError(
                    f"Incorrect output shape for return value #{k}: Expected: {aval.shape}, Actual: {value.shape}"
                )
            if value.dtype != aval.dtype:
                raise RuntimeError(
                    f"Incorrect output dtype for return value #{k}: Expected: {aval.dtype}, Actual: {value.dtype}"
                )
        return values

    return call


def _emit(ctx, callback, token, operands, result_avals, has_side_effect, sharding):
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir.dialects import hlo

    entry = _Entry(_checked(callback, result_avals))
    ctx.module_context.add_keepalive(entry)
    types = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in result_avals]
    if token:
        types = [hlo.TokenType.get(), *types]
        operands = [token, *operands]
    call = mlir.custom_call(
        TARGET,
        result_types=types,
        operands=operands,
        backend_config=str(entry.index),
        has_side_effect=has_side_effect,
    )
    if sharding is not None:
        # One device: an annotation that other passes read, and that decides nothing.
        mlir.set_sharding(ctx.module_context, call, _with_token(sharding) if token and result_avals else sharding)
    results = list(call.results)
    if token:
        token, *results = results
    return results, token, callback


def _with_token(sharding):
    """The sharding of the results, with one for the token before them."""
    from jax._src import sharding_impls

    if not isinstance(sharding, sharding_impls.SdyArrayList):
        return sharding
    first, *rest = sharding.shardings
    of_token = sharding_impls.SdyArray(
        mesh_shape=(), dim_shardings=(), logical_device_ids=first.logical_device_ids
    )
    return sharding_impls.SdyArrayList((of_token, first, *rest))


def install(platform):
    """JAX's function that writes a callback writes ours for this platform."""
    from jax._src import callback as module

    original = module.emit_python_callback
    if getattr(original, "cotangent", False):
        return

    @functools.wraps(original)
    def emit(
        ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, sharding=None, **options
    ):
        if tuple(ctx.module_context.platforms) != (platform,):
            options |= {"has_side_effect": has_side_effect, "sharding": sharding}
            return original(ctx, callback, token, operands, operand_avals, result_avals, **options)
        return _emit(ctx, callback, token, list(operands), result_avals, has_side_effect, sharding)

    emit.cotangent = True
    module.emit_python_callback = emit
