"""Arrays of numbers, and element types: the array API's creation and inspection functions."""

from __future__ import annotations

import builtins
import numbers
import warnings
from typing import Any

from cotangent import _cotangent
from cotangent._core import Array, ArrayLike, DType, DTypeLike, array as _array, beside, on_device, op, raise_, reshape

(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64,
 complex128) = (_cotangent.dtype(n) for n in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128"))

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128"]
e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")
newaxis = None


def asarray(obj: Any, /, *, dtype: DTypeLike = None, device: Any = None, copy: builtins.bool | None = None) -> Array:
    """The array of numbers, nested lists, NumPy arrays, DLPack objects and buffers.

    The elements are copied, because their source may change. ``copy=False`` shares its memory, which nobody may then
    change, or raises ``ValueError`` where a copy is necessary.

    >>> ct.asarray([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]], dtype=int64)
    """
    return on_device(_cotangent.asarray(obj, dtype, copy), device)


def array(obj: Any, dtype: DTypeLike = None) -> Array:
    """``asarray(obj, dtype=dtype, copy=True)``.

    >>> ct.array([1, 2], dtype="float32")
    array([1., 2.], dtype=float32)
    """
    return _cotangent.asarray(obj, dtype, True)


def from_dlpack(x: Any, /, *, device: Any = None, copy: builtins.bool | None = None) -> Array:
    """The array of a DLPack object: it shares the object's memory where that is dense and aligned.

    >>> ct.from_dlpack(np.arange(3.0))
    array([0., 1., 2.], dtype=float64)
    """
    y = x if isinstance(x, Array) else _cotangent.from_dlpack(x, copy)
    return on_device(y, device if device != (1, 0) else None)


def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: builtins.bool = True, device: Any = None) -> Array:
    """x with elements of another type. Complex to real is an error.

    >>> ct.astype([1.7, -1.7], ct.int64)
    array([ 1, -1], dtype=int64)
    """
    return on_device(_cotangent.convert(x, dtype), device)


def full(shape: Any, fill_value: Any, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """An array with one number in every element.

    >>> ct.full((2, 2), 7)
    array([[7, 7],
           [7, 7]], dtype=int64)
    """
    return on_device(_cotangent.full(shape, fill_value, dtype), device)


def zeros(shape: Any, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """An array of zeros.

    >>> ct.zeros(2)
    array([0., 0.], dtype=float64)
    """
    return full(shape, 0, dtype=float64 if dtype is None else dtype, device=device)


def ones(shape: Any, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """An array of ones.

    >>> ct.ones((1, 2), dtype="float32")
    array([[1., 1.]], dtype=float32)
    """
    return full(shape, 1, dtype=float64 if dtype is None else dtype, device=device)


def empty(shape: Any, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """An array of zeros: elements are never uninitialised.

    >>> ct.empty(2)
    array([0., 0.], dtype=float64)
    """
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: ArrayLike, /, fill_value: Any, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """An array with one number in every element, of the type of x.

    >>> ct.full_like([1.0, 2.0], 5)
    array([5., 5.], dtype=float64)
    """
    x = _array(x)
    y = _cotangent.full(x.shape, fill_value, x.dtype if dtype is None else dtype)
    return beside(x, y) if device is None else on_device(y, device)


def zeros_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """Zeros of the type of x.

    >>> ct.zeros_like([1, 2])
    array([0, 0], dtype=int64)
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """Ones of the type of x.

    >>> ct.ones_like([1.5, 2.0])
    array([1., 1.], dtype=float64)
    """
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """Zeros of the type of x.

    >>> ct.empty_like([1, 2])
    array([0, 0], dtype=int64)
    """
    return full_like(x, 0, dtype=dtype, device=device)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """Numbers from ``start`` in steps, without ``stop``; with one argument, from 0 to it.

    >>> ct.arange(1, 9, 3)
    array([1, 4, 7], dtype=int64)
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (x.item() if isinstance(x, Array) else x for x in (start, stop, step))
    start, stop, step = (int(x) if isinstance(x, numbers.Integral) else x for x in (start, stop, step))
    whole = builtins.all(isinstance(x, int) for x in (start, stop, step))
    if dtype is None:
        dtype = int64 if whole else float64
    kind = _cotangent.dtype(dtype)
    if step == 0:
        raise raise_("Attribute", "arange with step 0")
    if whole:
        n = len(range(start, stop, step))
        if kind.kind in "iu":
            y = _cotangent.iota(n, int64) * step + start
            return on_device(_cotangent.convert(y, kind) if kind != int64 else y, device)
    else:
        import math
        n = max(math.ceil((stop - start) / step), 0)
    wide = float64 if kind.kind != "c" else kind
    y = _cotangent.iota(n, float64) * float(step) + float(start)
    return on_device(_cotangent.convert(y, kind) if kind != wide or kind.kind == "c" else y, device)


def linspace(start: Any, stop: Any, /, num: int, *, dtype: DTypeLike = None, device: Any = None,
             endpoint: builtins.bool = True) -> Array:
    """Evenly spaced numbers from ``start`` to ``stop``, which is the last one unless ``endpoint`` is false.

    >>> ct.linspace(0.0, 1.0, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64)
    """
    a, b = _array(start), _array(stop)
    default = complex128 if "c" in (a.dtype.kind, b.dtype.kind) else float64
    kind = _cotangent.dtype(default if dtype is None else dtype)
    wide = default if kind.kind in "iu" else kind
    a, b = (_cotangent.convert(x, wide) for x in (a, b))
    if wide.kind == "f" and num > (1 if endpoint else 0):
        y = op("linspace", (a, b), {"num": num if endpoint else num + 1, "dtype": wide})
        y = y if endpoint else y[:num]
    else:
        k = _cotangent.convert(_cotangent.iota(num, float64), wide)
        y = a + k * ((b - a) / max(num - 1 if endpoint else num, 1))
        if endpoint and num > 1:
            y = y.at[-1].set(b)
    return on_device(y if wide == kind else _cotangent.convert(y, kind), device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike = None, device: Any = None) -> Array:
    """Ones on a diagonal: ``k`` above the main one.

    >>> ct.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float64)
    """
    n, m = n_rows, n_rows if n_cols is None else n_cols
    k = max(-2**62, min(k, 2**62))  # further diagonals are outside, too
    rows, columns = reshape(_cotangent.iota(n, int64), (n, 1)), reshape(_cotangent.iota(m, int64), (1, m))
    return on_device(_cotangent.convert(rows + k == columns, float64 if dtype is None else dtype), device)


def tril(x: ArrayLike, /, *, k: int = 0) -> Array:
    """The elements on and below diagonal ``k``; zero elsewhere.

    >>> ct.tril(ct.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]], dtype=float64)
    """
    return op("tril", (x,), {"k": k})


def triu(x: ArrayLike, /, *, k: int = 0) -> Array:
    """The elements on and above diagonal ``k``; zero elsewhere.

    >>> ct.triu(ct.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]], dtype=float64)
    """
    return op("triu", (x,), {"k": k})


def meshgrid(*arrays: ArrayLike, indexing: str = "xy") -> list[Array]:
    """Coordinates of a grid: ``indexing`` is ``"xy"`` or ``"ij"``.

    >>> ct.meshgrid([1, 2], [3, 4])
    [array([[1, 2],
           [1, 2]], dtype=int64), array([[3, 3],
           [4, 4]], dtype=int64)]
    """
    from cotangent._elementwise import broadcast_to
    if indexing not in ("xy", "ij"):
        raise raise_("Attribute", f"indexing is 'xy' or 'ij', not {indexing!r}")
    found = _cotangent.promoted(*arrays) if arrays else ()
    n = len(found)
    place = list(range(n))
    if indexing == "xy" and n > 1:
        place[:2] = [1, 0]
    shape = [0] * n
    for x, k in zip(found, place):
        shape[k] = x.size
    return [broadcast_to(reshape(x, [x.size if k == j else 1 for j in range(n)]), tuple(shape)) for x, k in zip(found, place)]


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The element type that arrays, element types and Python numbers promote to.

    >>> ct.result_type("float32", 1.0, np.int8)
    cotangent.float32
    """
    return _cotangent.result_type(*arrays_and_dtypes)


def can_cast(from_: Any, to: DTypeLike, /) -> builtins.bool:
    """Whether promotion leads from one element type to another.

    >>> ct.can_cast("int8", "int16")
    True
    """
    a = from_.dtype if isinstance(from_, Array) else _cotangent.dtype(from_)
    try:
        return builtins.bool(_cotangent.result_type(a, to) == _cotangent.dtype(to))
    except TypeError:
        return False


_KINDS = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
          "complex floating": "c", "numeric": "iufc"}


def isdtype(dtype: DTypeLike, kind: Any) -> builtins.bool:
    """Whether an element type is of a kind of the array API, of one of several, or another element type.

    >>> ct.isdtype(ct.float32, "real floating")
    True
    """
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, k) for k in kind)
    d = _cotangent.dtype(dtype)
    if isinstance(kind, str) and kind in _KINDS:
        return d.kind in _KINDS[kind]
    return builtins.bool(d == _cotangent.dtype(kind))


class Limits:
    """Limits of an element type. Those of integers have no ``eps`` and no ``smallest_normal``."""

    bits: int
    eps: float
    max: Any
    min: Any
    smallest_normal: float
    dtype: DType

    def __init__(self, **limits: Any) -> None:
        self.__dict__.update(limits)

    def __repr__(self) -> str:
        return f"Limits({', '.join(f'{k}={v}' for k, v in self.__dict__.items())})"


def finfo(dtype: Any, /) -> Limits:
    """Limits of a floating-point type: bits, eps, max, min, smallest_normal, dtype.

    >>> ct.finfo("float32").eps
    1.1920928955078125e-07
    """
    d = dtype.dtype if isinstance(dtype, Array) else _cotangent.dtype(dtype)
    if d.kind not in "fc":
        raise raise_("DTypeMismatch", f"finfo of {d}: it takes a floating-point type")
    part = {"complex64": float32, "complex128": float64}.get(d.name, d)
    bits, exponent = {"float16": (11, 5), "bfloat16": (8, 8), "float32": (24, 8), "float64": (53, 11)}[part.name]
    bias = 2 ** (exponent - 1) - 1
    largest = float((2 - 2.0 ** (1 - bits)) * 2.0 ** bias)
    return Limits(bits=8 * part.itemsize, eps=2.0 ** (1 - bits), max=largest, min=-largest,
                  smallest_normal=2.0 ** (1 - bias), dtype=part)


def iinfo(dtype: Any, /) -> Limits:
    """Limits of an integer type: bits, max, min, dtype.

    >>> ct.iinfo("int8").max
    127
    """
    d = dtype.dtype if isinstance(dtype, Array) else _cotangent.dtype(dtype)
    if d.kind not in "iu":
        raise raise_("DTypeMismatch", f"iinfo of {d}: it takes an integer type")
    bits = 8 * d.itemsize
    low, high = (0, 2 ** bits - 1) if d.kind == "u" else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    return Limits(bits=bits, max=high, min=low, dtype=d)


class _Info:
    """What the package offers, for libraries on the array API."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and shapes that depend on elements: eagerly."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """The CPU."""
        return "cpu"

    def devices(self) -> list[str]:
        """Names of the devices."""
        return devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Element types of Python numbers, on every device."""
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """Element types by name, on every device."""
        return {n: globals()[n] for n in DTYPES if n not in ("float16", "bfloat16")
                and (kind is None or isdtype(globals()[n], kind))}


def devices() -> list[str]:
    """Names of the devices: ``cpu``, and those of the PJRT plugins that are installed, such as ``cuda:1``. ``xla`` is XLA on
    the CPU. The first one of a plugin is also called by the plugin's name. A plugin that cannot be used is a warning.

    >>> ct.devices()[0]
    'cpu'
    """
    names, failed = _cotangent.find_devices()
    for plugin, why in failed.items():
        warnings.warn(f"{plugin} cannot be used: {why}", stacklevel=2)
    return names


def __array_namespace_info__() -> _Info:
    """Inspection by the array API.

    >>> ct.__array_namespace_info__().default_device()
    'cpu'
    """
    return _Info()


NAMES = DTYPES + ["e", "pi", "inf", "nan", "newaxis", "asarray", "array", "from_dlpack", "astype", "full", "zeros", "ones",
                  "empty", "full_like", "zeros_like", "ones_like", "empty_like", "arange", "linspace", "eye", "tril", "triu",
                  "meshgrid", "result_type", "can_cast", "isdtype", "finfo", "iinfo", "devices", "__array_namespace_info__"]
