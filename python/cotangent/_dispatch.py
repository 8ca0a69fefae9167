"""NumPy's own functions on arrays: those of the table go to ``cotangent.numpy``; known arrays may use the others, too."""

from __future__ import annotations

from typing import Any

import numpy as np

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


# Ufuncs whose results are booleans: their element type is not that of the operands.
_COMPARE = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf", "isfinite", "signbit",
            "logical_and", "logical_or", "logical_xor", "logical_not"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}


def ufunc(f: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """``__array_ufunc__``."""
    from cotangent import numpy as cnp
    mine, name, out = cnp._functions().get(f), f.__name__, kwargs.get("out")
    usual = ("out", "casting", "order", "subok", *(["where"] if kwargs.get("where") is True else []))
    options = {k: v for k, v in kwargs.items() if k not in usual}
    dtype = options.get("dtype")
    found = False
    y: Any = None
    if mine is not None and method == "__call__" and not options.keys() - {"dtype"} and not (dtype and name in _COMPARE):
        y, found = mine(*(inputs if dtype is None else (cnp.asarray(x, dtype=dtype) for x in inputs))), True
    elif method == "reduce" and name in _REDUCTIONS:
        y, found = getattr(cnp, _REDUCTIONS[name])(inputs[0], **{"axis": 0, **options}), True
    elif method == "accumulate" and name in ("add", "multiply") and not options.keys() - {"axis", "dtype"}:
        y, found = (cnp.cumsum if name == "add" else cnp.cumprod)(inputs[0], **{"axis": 0, **options}), True
    elif method == "outer" and mine is not None and not options:
        a, b = map(cnp.asarray, inputs)
        y, found = mine(a.reshape(*a.shape, *[1] * b.ndim), b), True
    if found:
        return y if out is None else _filled(out, y)
    if out is not None and _leaves(out, []):
        raise TypeError("out= is an array of cotangent, which is immutable")
    called = getattr(f, method)
    return _by_numpy(lambda *a, **k: called(*a, **k), name if method == "__call__" else f"{name}.{method}", inputs, kwargs)
