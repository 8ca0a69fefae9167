"""NumPy's own functions on arrays: those of the table go to ``cotangent.numpy``; known arrays may use the others, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotangent import _cotangent
from cotangent._core import Array


def _leaves(x: Any, out: list[Any]) -> list[Any]:
    if isinstance(x, Array):
        out.append(x)
    elif isinstance(x, (list, tuple)):
        for y in x:
            _leaves(y, out)
    elif isinstance(x, dict):
        _leaves(list(x.values()), out)
    return out


def _converted(x: Any) -> Any:
    if isinstance(x, Array):
        return np.asarray(x)
    if isinstance(x, (list, tuple)):
        return type(x)(_converted(y) for y in x)
    if isinstance(x, dict):
        return {k: _converted(v) for k, v in x.items()}
    return x


def _by_numpy(f: Any, name: str, args: Any, kwargs: Any) -> Any:
    """A function outside the table runs in NumPy for known elements."""
    for x in _leaves([args, kwargs], []):
        if x.traced or x.tracked:
            state = "traced" if x.traced else "recorded"
            raise TypeError(f"numpy.{name} of a {state} array: it is not in cotangent.numpy.table(); write it with functions "
                            "that are, or convert known arrays with numpy.asarray")
    return f(*_converted(args), **_converted(kwargs))


def _filled(out: Any, y: Any) -> Any:
    """Writes results into NumPy's arrays ``out``."""
    outs = out if isinstance(out, tuple) else (out,)
    results = y if isinstance(y, tuple) else (y,)
    for target, value in zip(outs, results):
        if isinstance(target, Array):
            raise TypeError("out= is an array of cotangent, which is immutable")
        np.copyto(target, np.asarray(value), casting="same_kind")
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def function(f: Any, args: Any, kwargs: Any) -> Any:
    """``__array_function__``."""
    from cotangent import numpy as cnp
    mine = cnp._functions().get(f)
    if mine is None:
        return _by_numpy(f, f.__name__, args, kwargs)
    out = kwargs.pop("out", None) if isinstance(kwargs, dict) and "out" in kwargs else None
    y = mine(*args, **kwargs)
    return y if out is None else _filled(out, y)


def ufunc(f: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """``__array_ufunc__``."""
    from cotangent import numpy as cnp
    out = kwargs.pop("out", None)
    mine = cnp._functions().get(f)
    name = f.__name__
    if mine is not None and method == "__call__" and kwargs.get("where", True) is True:
        kwargs.pop("where", None)
        dtype = kwargs.pop("dtype", None)
        casting = kwargs.pop("casting", None)
        del casting
        if not kwargs:
            y = mine(*inputs)
            y = y if dtype is None else _cotangent.convert(y, dtype)
            return y if out is None else _filled(out, y)
        kwargs.update({} if dtype is None else {"dtype": dtype})
    reductions = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
                  "logical_or": "any"}
    if method == "reduce" and name in reductions:
        options = {k: kwargs[k] for k in ("axis", "dtype", "keepdims") if k in kwargs}
        y = getattr(cnp, reductions[name])(inputs[0], **{"axis": 0, **options})
        return y if out is None else _filled(out, y)
    y = _by_numpy(getattr(f, method), f"{name}.{method}" if method != "__call__" else name, inputs, kwargs)
    return y if out is None else _filled(out, y)
