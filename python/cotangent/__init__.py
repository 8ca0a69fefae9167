"""Differentiable arrays: NumPy's functions with derivatives, compiled programs and batches.

>>> import cotangent as ct
>>> f = lambda x: ct.sum(ct.sin(x) ** 2)
>>> ct.grad(f)(ct.asarray([0.0, 0.5])).tolist()
[0.0, 0.8414709848078965]
"""

from __future__ import annotations

import importlib as _importlib

from cotangent import _cpu

_cpu.check()

from cotangent import (_control, _create, _elementwise, _methods, _products, _reductions, _search, _shapes, _transforms,
                       _trees)
from cotangent._cotangent import Array, DType, Dim, Parameter, Program, TreeDef, __version__
from cotangent._errors import (ArgumentError, CheckError, ConcretizationError, DeviceError, DifferentiationError, DTypeError, Error,
                               FileError, InternalError, LimitError, LinAlgError, NotConvergedError, OutOfBoundsError, ProgramError,
                               ShapeError, StructureError, TapeError, TraceError, UnknownNameError)

__array_api_version__ = "2024.12"

_CLASSES = ["Array", "DType", "Dim", "Parameter", "Program", "TreeDef", "ArgumentError", "CheckError", "ConcretizationError",
            "DeviceError", "DifferentiationError", "DTypeError", "Error", "FileError", "InternalError", "LimitError", "LinAlgError",
            "NotConvergedError", "OutOfBoundsError", "ProgramError", "ShapeError", "StructureError", "TapeError", "TraceError",
            "UnknownNameError"]
__all__ = list(_CLASSES)
for _module in (_create, _elementwise, _shapes, _reductions, _search, _products, _transforms, _control, _trees):
    for _name in _module.NAMES:
        globals()[_name] = getattr(_module, _name)
    __all__ += [n for n in _module.NAMES if n not in __all__]

# Submodules, and names that they define, which are imported at the first use.
_SUBMODULES = ["fft", "implicit", "jax", "linalg", "nn", "numpy", "random", "scipy", "special", "tessera", "torch"]
_LAZY = {
    "root": "implicit", "fixed_point": "implicit", "progress": "_progress",
    "relu": "nn", "gelu": "nn", "silu": "nn", "softplus": "nn", "sigmoid": "nn", "softmax": "nn", "log_softmax": "nn",
    "cross_entropy": "nn", "layer_norm": "nn", "one_hot": "nn",
}
__all__ += list(_LAZY)


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return _importlib.import_module(f"cotangent.{name}")
    if name in _LAZY:
        value = getattr(_importlib.import_module(f"cotangent.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'cotangent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_LAZY})
