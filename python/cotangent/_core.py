"""What the functions of the package share: names of the extension, axes, and sequences of functions from rows of a table."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Union

from cotangent import _cotangent
from cotangent._cotangent import Array, DType, Dim, Parameter
from cotangent._cotangent import binary as _binary, unary as _unary
from cotangent._errors import of_code

op = _cotangent.op
# Operations with several results.
several: Callable[..., tuple[Array, ...]] = _cotangent.op  # type: ignore[assignment]
ArrayLike = Any
Axis = Union[int, Sequence[int], None]
Shape = Any
DTypeLike = Any


def raise_(code: str, message: str) -> BaseException:
    """The exception of a code, to be raised."""
    return of_code(code, message)


def array(x: ArrayLike) -> Array:
    """The array of an object."""
    return x if isinstance(x, Array) else _cotangent.asarray(x, None, None)


def floating(x: ArrayLike) -> Array:
    """The array of an object; integers and booleans become float64."""
    x = array(x)
    return _cotangent.convert(x, "float64") if x.dtype.kind in "biu" else x


def one_axis(axis: int, rank: int) -> int:
    """An axis that counts from the front."""
    k = operator.index(axis)
    if not -rank <= k < rank:
        raise raise_("OutOfBounds", f"axis {k} of an array of rank {rank}")
    return k % rank


def axes_of(axis: Axis, rank: int) -> list[int]:
    """The axes of an argument ``axis``: all for ``None``."""
    if axis is None:
        return list(range(rank))
    if isinstance(axis, (tuple, list)):
        found = [one_axis(a, rank) for a in axis]
        if len(set(found)) != len(found):
            raise raise_("Attribute", f"an axis is listed twice in {axis}")
        return found
    return [one_axis(axis, rank)]  # type: ignore[arg-type]


def reshape(x: Array, shape: Sequence[Any]) -> Array:
    """The elements in another shape; no extent is -1."""
    return op("reshape", (x,), {"shape": tuple(shape)})


def kept(y: Array, x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    """A reduced array, with its reduced axes again if asked for."""
    if not keepdims:
        return y
    return reshape(y, [1 if k in axes else n for k, n in builtins.enumerate(x.shape)])


def on_device(x: Array, device: Any) -> Array:
    """The array, copied to a device if one is named."""
    if device is None:
        return x
    if not isinstance(device, str):
        raise raise_("Attribute", f"a device is a name such as 'cpu' or 'cuda:1', not {device!r}")
    return _cotangent.to_device(x, device)


def beside(x: Array, y: Array) -> Array:
    """y, which a function of the package made, on the device of its argument x."""
    return y if x.traced else on_device(y, x.device)


G = TypeVar("G", bound=Callable[..., Any])


def row(name: str, doc: str, call: str, result: str) -> Callable[[G], G]:
    """Names and documents a function of a table, with the result of a call."""
    def named(f: G) -> G:
        f.__name__ = f.__qualname__ = name
        f.__module__ = "cotangent"
        f.__doc__ = f"{doc}\n\n>>> {call}\n{result}\n"
        return f
    return named


def unary(name: str, operation: str, kind: str, doc: str, call: str, result: str) -> Callable[[ArrayLike], Array]:
    """An elementwise function of one array."""
    @row(name, doc, call, result)
    def f(x: ArrayLike, /) -> Array:
        return _unary(operation, kind, x)
    return f


def binary(name: str, operation: str, kind: str, doc: str, call: str, result: str) -> Callable[[ArrayLike, ArrayLike], Array]:
    """An elementwise function of two arrays, which broadcast."""
    @row(name, doc, call, result)
    def f(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        return _binary(operation, kind, x1, x2)
    return f


__all__ = ["Array", "ArrayLike", "Axis", "DType", "DTypeLike", "Dim", "Parameter", "Shape", "array", "axes_of", "binary",
           "beside", "floating", "kept", "on_device", "one_axis", "op", "raise_", "reshape", "row", "several", "unary"]
