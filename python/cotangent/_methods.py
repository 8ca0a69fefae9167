"""Methods of arrays that call functions, and the doors for NumPy's functions. They are attached to the class here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cotangent import _cotangent, _create, _elementwise, _reductions, _search, _shapes
from cotangent._core import Array, on_device, one_axis, raise_, reshape

if TYPE_CHECKING:
    from cotangent._indexing import At


def _axes(axes: tuple[Any, ...]) -> Any:
    return axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes


def _reshape(self: Array, *shape: Any, copy: bool | None = None) -> Array:
    """The elements in another shape; one extent may be -1."""
    return _shapes.reshape(self, _axes(shape))


def _transpose(self: Array, *axes: Any) -> Array:
    """Axes permuted; reversed without arguments."""
    axes = _axes(axes)
    return _shapes.permute_dims(self, axes) if axes and axes != (None,) else self.T


def _into(out: Any, y: Array) -> Array:
    """A result, which is written to NumPy's array ``out`` if that is given."""
    if out is None:
        return y
    from cotangent._dispatch import _filled
    filled: Array = _filled(out, y)
    return filled


def _sum(self: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """The sum over axes."""
    return _into(out, _reductions.sum(self, axis=axis, dtype=dtype, keepdims=keepdims))


def _prod(self: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """The product over axes."""
    return _into(out, _reductions.prod(self, axis=axis, dtype=dtype, keepdims=keepdims))


def _mean(self: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """The mean over axes."""
    return _into(out, _reductions.mean(self if dtype is None else self.astype(dtype), axis=axis, keepdims=keepdims))


def _std(self: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Array:
    """The standard deviation over axes."""
    x = self if dtype is None else self.astype(dtype)
    return _into(out, _reductions.std(x, axis=axis, correction=ddof, keepdims=keepdims))


def _var(self: Array, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Array:
    """The variance over axes."""
    x = self if dtype is None else self.astype(dtype)
    return _into(out, _reductions.var(x, axis=axis, correction=ddof, keepdims=keepdims))


def _reduction(f: Callable[..., Array]) -> Callable[..., Array]:
    def method(self: Array, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
        return _into(out, f(self, axis=axis, keepdims=keepdims))
    method.__doc__ = f.__doc__
    return method


def _astype(self: Array, dtype: Any, copy: bool = True, device: Any = None) -> Array:
    """The elements as another type. Complex to real is an error."""
    return on_device(_cotangent.convert(self, dtype), device)


def _clip(self: Array, min: Any = None, max: Any = None) -> Array:
    """Elements within bounds."""
    return _elementwise.clip(self, min, max)


def _round(self: Array, decimals: int = 0) -> Array:
    """Nearest numbers with so many decimals, ties to even."""
    return _elementwise.round(self, decimals)


def _cumsum(self: Array, axis: int | None = None, dtype: Any = None) -> Array:
    """The running sum along an axis; of all elements in a row for ``None``."""
    x = self.flatten() if axis is None else self
    return _reductions.cumulative_sum(x, axis=0 if axis is None else axis, dtype=dtype)


def _cumprod(self: Array, axis: int | None = None, dtype: Any = None) -> Array:
    """The running product along an axis; of all elements in a row for ``None``."""
    x = self.flatten() if axis is None else self
    return _reductions.cumulative_prod(x, axis=0 if axis is None else axis, dtype=dtype)


def _flatten(self: Array, order: str = "C") -> Array:
    """The elements in a row: ``order="F"`` with the first axis fastest."""
    return reshape(self.T if order == "F" else self, [self.size])


def _squeeze(self: Array, axis: Any = None) -> Array:
    """Without axes of extent 1."""
    return _shapes.squeeze(self, tuple(k for k, n in enumerate(self.shape) if n == 1) if axis is None else axis)


def _dot(self: Array, other: Any) -> Array:
    """NumPy's ``dot``."""
    from cotangent import numpy as cnp
    return cnp.dot(self, other)


def _swapaxes(self: Array, a: int, b: int) -> Array:
    """Two axes exchanged."""
    order = list(range(self.ndim))
    a, b = one_axis(a, self.ndim), one_axis(b, self.ndim)
    order[a], order[b] = order[b], order[a]
    return _shapes.permute_dims(self, order)


def _divmod(self: Array, other: Any) -> tuple[Array, Array]:
    return self // other, self % other


def _rdivmod(self: Array, other: Any) -> tuple[Array, Array]:
    return other // self, other % self


def _dunder_round(self: Array, ndigits: int | None = None) -> Array:
    return _elementwise.round(self, ndigits or 0)


def _to_device(self: Array, device: Any, /, *, stream: Any = None) -> Array:
    """The elements on a device, such as ``cpu`` or ``cuda:1``: a copy, unless they are there."""
    if stream is not None:
        raise raise_("Attribute", "to_device takes no stream: transfers are ordered by what reads them")
    return on_device(self, device)


def _namespace(self: Array, /, *, api_version: str | None = None) -> Any:
    import cotangent
    if api_version is not None and api_version not in ("2021.12", "2022.12", "2023.12", "2024.12"):
        from cotangent._core import raise_
        raise raise_("Attribute", f"there is no version {api_version} of the array API here: the latest is 2024.12")
    return cotangent


def _at(self: Array) -> At:
    from cotangent._indexing import At
    return At(self)


def _array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    from cotangent._dispatch import ufunc as call
    return call(ufunc, method, inputs, kwargs)


def _array_function(self: Array, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    from cotangent._dispatch import function as call
    return call(func, args, kwargs)


def _delitem(self: Array, key: Any) -> None:
    raise TypeError("arrays do not change: x.at[key].set(v) returns a new one")


def _contains(self: Array, value: Any) -> bool:
    """Whether an element is equal to a number."""
    return bool(_reductions.any(self == value))


def _reversed(self: Array) -> Iterator[Array]:
    return iter(_shapes.flip(self, axis=0))


def _trunc(self: Array) -> int:
    return int(self)


def _parameter(self: Any, protocol: int) -> Any:
    """How a parameter is pickled: as its elements, and a variable of the tape as one."""
    return (_cotangent.variable if self.tracked else _cotangent.Parameter), (self.detach(),)


def _conj(self: Array) -> Array:
    """The complex conjugate."""
    return _elementwise.conj(self)


def _copy(self: Array, order: str = "C") -> Array:
    """A copy of the elements."""
    return _create.array(self)


METHODS: dict[str, Any] = {
    "reshape": _reshape, "transpose": _transpose, "sum": _sum, "prod": _prod, "mean": _mean, "std": _std, "var": _var,
    "max": _reduction(_reductions.max), "min": _reduction(_reductions.min), "any": _reduction(_reductions.any),
    "all": _reduction(_reductions.all), "argmax": _reduction(_search.argmax), "argmin": _reduction(_search.argmin),
    "astype": _astype, "clip": _clip, "round": _round, "cumsum": _cumsum, "cumprod": _cumprod, "flatten": _flatten,
    "ravel": _flatten, "squeeze": _squeeze, "dot": _dot, "swapaxes": _swapaxes, "to_device": _to_device,
    "conj": _conj, "copy": _copy, "__delitem__": _delitem, "__contains__": _contains, "__reversed__": _reversed, "__trunc__": _trunc,
    "__divmod__": _divmod, "__rdivmod__": _rdivmod, "__round__": _dunder_round, "__array_namespace__": _namespace,
    "__array_ufunc__": _array_ufunc, "__array_function__": _array_function, "__array_priority__": 1000.0,
}
for _name, _f in METHODS.items():
    if callable(_f):
        _f.__name__ = _name
        _f.__qualname__ = f"Array.{_name}"
    setattr(Array, _name, _f)
setattr(Array, "itemsize", property(lambda self: self.dtype.itemsize, doc="The size of an element in bytes."))
setattr(Array, "at", property(_at, doc="Index it with a key to get new arrays with other elements there."))
setattr(Array, "real", property(lambda self: _elementwise.real(self), doc="The real part."))
setattr(Array, "imag", property(lambda self: _elementwise.imag(self), doc="The imaginary part."))


def _save(self: Any, path: Any) -> None:
    """Writes the function to a file: its StableHLO form for the extension ``.mlir``, otherwise its text."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(self.stablehlo if str(path).endswith(".mlir") else self.text)


setattr(_cotangent.Program, "save", _save)
setattr(_cotangent.Parameter, "__reduce_ex__", _parameter)
