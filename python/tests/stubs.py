"""Writes the stubs of the package from the signatures of what it defines: ``python tests/stubs.py`` after an install.

Functions of the package have annotations and overloads in their sources. What the extension defines has none: its types are the
table ``TYPES``.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import types
import typing

import cotangent as ct
from cotangent import _cotangent

FOLDER = pathlib.Path(__file__).parent.parent / "cotangent"
HEAD = '''"""Written by tests/stubs.py from signatures."""

import builtins
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, Union, overload

'''
VARIABLES = "_bool = builtins.bool\n" + "".join(f'_{n} = TypeVar("_{n}")\n' for n in "ACRTY") + '_P = ParamSpec("_P")\n'
ALIASES = VARIABLES + '''_ArrayLike = Any
_Axis = Union[int, Sequence[int], None]
_Argnums = Union[int, Sequence[int]]
_DTypeLike = Any
_Shape = Any
_F = Callable[..., Any]
'''
PRIVATE = re.compile(r"(?<![\w.])(A|C|R|T|Y|P|F|ArrayLike|Axis|Argnums|DTypeLike|Shape)\b")
OPERATORS = "add sub mul truediv floordiv mod matmul pow and or xor lshift rshift".split()
COMPARISONS = "eq ne lt le gt ge".split()
TREE = "Any"  # a tree of arrays, or of leaves
NUMPY = "np.ndarray[Any, np.dtype[Any]]"
# Results of members of classes, or their whole signature; of functions of the extension, TREE if they are not listed.
TYPES = {
    "Array.__array__": NUMPY, "Array.__bool__": "_bool", "Array.__complex__": "complex", "Array.__dlpack__": "object",
    "Array.__dlpack_device__": "tuple[int, int]", "Array.__float__": "float", "Array.__format__": "(self, spec: str, /) -> str",
    "Array.__getitem__": "Array", "Array.__index__": "int", "Array.__int__": "int", "Array.__iter__": "Iterator[Array]",
    "Array.__len__": "int", "Array.__repr__": "str", "Array.__str__": "str", "Array._type": "str",
    **dict.fromkeys((f"Array.__{n}__" for n in "neg pos abs invert".split()), "Array"),
    "Array.at": "At", "Array.backward": "None", "Array.clear_grad": "None", "Array.detach": "Array", "Array.device": "str",
    "Array.dtype": "DType", "Array.grad": "Array | None", "Array.imag": "Array", "Array.item": "_bool | int | float | complex",
    "Array.mT": "Array", "Array.T": "Array", "Array.nbytes": "int", "Array.ndim": "int", "Array.real": "Array",
    "Array.shape": "tuple[int, ...]", "Array.size": "int", "Array.tolist": TREE, "Array.traced": "_bool", "Array.tracked": "_bool",
    "Array.weak_type": "_bool", "Array.__array_namespace__": "types.ModuleType", "Array.__array_priority__": "float",
    "Array.__copy__": "Array", "Array.__deepcopy__": "Array", "DType.__copy__": "DType", "DType.__deepcopy__": "DType",
    "Array.__delitem__": "None", "Array.__reversed__": "Iterator[Array]", "Array.__trunc__": "int", "Array.itemsize": "int",
    "Array.__array_ufunc__": TREE, "Array.__array_function__": TREE,
    "Parameter.set": "None",
    "Dim.__index__": "int", "Dim.__int__": "int", "Dim.__repr__": "str", "Dim.__hash__": "int", "Dim.__neg__": "Dim",
    "DType.__numpy_dtype__": "np.dtype[Any]", "DType.dtype": "np.dtype[Any]", "DType.__repr__": "str", "DType.__str__": "str",
    "DType.itemsize": "int", "DType.kind": "str", "DType.name": "str", "DType.__hash__": "int",
    "Jitted.__call__": "(self, *args: _P.args, **kwargs: _P.kwargs) -> _R", "Jitted.cache_info": "CacheInfo", "Jitted.clear_cache": "None",
    "Jitted.lower": "Program", "Jitted.__get__": "(self, object: Any, _class: Any = ..., /) -> Callable[..., _R]",
    "LinearMap.__call__": TREE, "Linearized.__call__": TREE, "Linearized.transpose": TREE, "Listed.number": "int",
    "Program.__call__": TREE, "Program.__getitem__": "Program", "Program._constants": "list[Array]", "Program.inputs": "list[tuple[str, str]]",
    "Program._argument_types": "list[str]",
    "Program._result_types": "list[tuple[str, list[int]]]", "Program.names": "list[str]", "Program.outputs": "list[str]",
    "Program.memory": "int", **{f"Program.{n}": "Program" for n in "from_file from_stablehlo from_text grad hvp jvp vjp".split()},
    **{f"Program.{n}": "str" for n in "__repr__ _repr_html_ check explain profile stablehlo text".split()},
    "Saving.__enter__": "None", "Saving.__exit__": "None",
    "TreeDef.__repr__": "str", "TreeDef.num_leaves": "int", "TreeDef.unflatten": TREE, "TreeDef.leaves_of": "list[Any]",
    **{n: "Array" for n in "asarray op unary binary convert full iota from_dlpack einsum convolution solve array_of lazy".split()},
    "command_line": "int", "dtype": "DType", "result_type": "DType", "variable": "Parameter", "promoted": "tuple[Array, ...]",
    "einsum_path": "str", "check_grads": "str", "operations": "list[tuple[str, str]]", "set_threads": "int", "xla_programs": "int",
    "xla_register": "Listed", "tree_flatten": "tuple[list[Any], TreeDef]", "read_file": "dict[str, Array]", "vjp": "tuple[Any, LinearMap]",
    "linearize": "tuple[Any, Linearized]", "grad_of": "list[Array]", "program_of": "Program", "to_device": "Array",
    "find_devices": "tuple[list[str], dict[str, str]]",
    **dict.fromkeys("silence clear_grads lazily fail write_file write_npy register_pytree_node".split(), "None"),
}
NEW = {"Parameter": "value: Any", "Saving": "policy: Any", "Jitted": (
    "f: Callable[_P, _R], static_argnums: list[int], static_argnames: list[str], shapes: Any, donated: list[int], "
    "cache_limit: int, device: str | None")}
# Their overloads for the first argument come before those for any.
OVERLAPPING = {"grad", "value_and_grad"}
GENERIC = {"Jitted": "Generic[_P, _R]"}


def annotation(a: object) -> str:
    """An annotation as text; names that the package shadows are those of ``builtins``."""
    if a is inspect.Parameter.empty:
        return "Any"
    text = a if isinstance(a, str) else getattr(a, "__name__", str(a))
    return PRIVATE.sub(r"_\1", re.sub(r"(?<![\w.])bool\b", "_bool", text.replace("builtins.bool", "bool")))


def signature(f: object, result: str | None = None, method: bool = False) -> str:
    """The parameters and the result of a function; ``result`` is that of a function without annotations."""
    try:
        s = inspect.signature(f)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return f"({'self, ' * method}*args: Any, **kwargs: Any) -> {result}"
    parts: list[str] = []
    state = None
    for p in s.parameters.values():
        if state == p.POSITIONAL_ONLY != p.kind:
            parts.append("/")
        if p.kind == p.KEYWORD_ONLY and state not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            parts.append("*")
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        first = method and not parts
        default = "" if p.default is p.empty else " = ..."
        parts.append(f"{star}{p.name}" + ("" if first else f": {annotation(p.annotation)}") + default)
        state = p.kind
    if state == inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    found = annotation(s.return_annotation) if s.return_annotation is not s.empty else result or "Any"
    if found.startswith("Iterator") and "contextlib" in getattr(getattr(f, "__code__", None), "co_filename", ""):
        found = found.replace("Iterator", "contextlib.AbstractContextManager")
    return f"({', '.join(parts)}) -> {found}"


def functions(name: str, f: typing.Callable[..., object]) -> list[str]:
    """The function, or its overloads."""
    overloads = typing.get_overloads(f)
    if not overloads:
        return [f"def {name}{signature(f)}: ..."]
    last = len(overloads) - 1
    ignored = ["  # type: ignore[overload-overlap]" if name in OVERLAPPING and k < last else "" for k in range(len(overloads))]
    return [line for o, i in zip(overloads, ignored) for line in ("@overload", f"def {name}{signature(o)}: ...{i}")]


def member_stub(owner: type, name: str, member: object) -> list[str]:
    """A member of a class of the extension."""
    bare, key = name.strip("_"), f"{owner.__name__}.{name}"
    numeric = owner in (_cotangent.Array, _cotangent.Dim)
    if name.startswith("__") and (bare in OPERATORS or bare.removeprefix("r") in OPERATORS):
        modulo = ", mod: None = ..., /" if bare in ("pow", "rpow") else ", /"
        return [f"    def {name}(self, other: Any{modulo}) -> {owner.__name__ if owner is _cotangent.Array else 'Any'}: ..."] if numeric else []
    if bare in COMPARISONS and name.startswith("__"):
        other = "object" if bare in ("eq", "ne") else "Any"
        result = "Array" if owner is _cotangent.Array else "_bool"
        ignored = "  # type: ignore[override]" if (owner, other) == (_cotangent.Array, "object") else ""
        return [f"    def {name}(self, other: {other}, /) -> {result}: ...{ignored}"]
    result = TYPES.get(key)
    if isinstance(member, (property, types.GetSetDescriptorType)):
        return [f"    @property\n    def {name}(self) -> {result}: ..."] if result else []
    if isinstance(member, (classmethod, types.ClassMethodDescriptorType)):
        text = signature(getattr(owner, name), result).replace("(", "(cls, ", 1)
        return [f"    @classmethod\n    def {name}{text}: ..."]
    if not callable(member):
        return [f"    {name}: {result}"] if result else []
    if result and result.startswith("("):
        return [f"    def {name}{result}: ..."]
    if name.startswith("__") and result is None:
        # Of object, or with annotations of its own.
        return [f"    def {name}{signature(member, method=True)}: ..."] if isinstance(member, types.FunctionType) else []
    if isinstance(member, types.WrapperDescriptorType) and name != "__call__":
        arguments = ", key: Any, /" if name == "__getitem__" else ""
        return [f"    def {name}(self{arguments}) -> {result}: ..."]
    return [f"    def {name}{signature(member, result or TREE, method=True)}: ..."]


def class_stub(cls: type) -> list[str]:
    """The members of a class of the extension."""
    base = cls.__base__.__name__ if cls.__base__ not in (object, None) else GENERIC.get(cls.__name__)
    marks = ["@disjoint_base" if cls is _cotangent.Array else "@final"]
    lines = [*marks, f"class {cls.__name__}{f'({base})' if base else ''}:"]
    if cls.__name__ in NEW:
        lines.append(f"    def __new__(cls, {NEW[cls.__name__]}) -> Self: ...")
    for name, member in sorted(vars(cls).items()):
        if name not in ("__new__", "__doc__", "__module__", "__weakref__", "__dict__", "__getattribute__", "__reduce__", "__reduce_ex__",
                        "__hash__"):
            lines += member_stub(cls, name, member)
    if cls.__hash__ is None:
        lines.append("    __hash__: None  # type: ignore[assignment]")
    return lines if not lines[-1].startswith("class") else [*lines[:-1], lines[-1] + " ..."]


def extension() -> str:
    """The stub of the extension."""
    lines = [HEAD.replace("import contextlib\n", "import types\n").replace("Union, overload", "Union, final") + "import numpy as np\nfrom typing_extensions import Self, disjoint_base\n\n"
             "from cotangent._indexing import At\nfrom cotangent._transforms import CacheInfo\n", VARIABLES + f"__version__: str\n__all__ = {list(_cotangent.__all__)}"]
    for name, member in vars(_cotangent).items():
        if isinstance(member, type):
            lines += ["", *class_stub(member)]
    lines.append("")
    for name, member in vars(_cotangent).items():
        if isinstance(member, types.BuiltinFunctionType):
            lines.append(f"def {name}{signature(member, TYPES.get(name, TREE))}: ...")
    return "\n".join(lines) + "\n"


def package() -> str:
    """The stub of the package."""
    classes = [n for n in ct.__all__ if isinstance(getattr(ct, n), type) and getattr(ct, n).__module__ != "cotangent._errors"]
    errors = [n for n in ct.__all__ if isinstance(getattr(ct, n), type) and n not in classes]
    lines = [HEAD + f"from cotangent import {', '.join(f'{m} as {m}' for m in ct._SUBMODULES)}",
             f"from cotangent._cotangent import {', '.join(f'{n} as {n}' for n in classes)}, Jitted, LinearMap, Linearized",
             "from cotangent._create import Limits, _Info",
             f"from cotangent._errors import {', '.join(f'{n} as {n}' for n in errors)}",
             "from cotangent._search import UniqueAll, UniqueCounts, UniqueInverse", "", ALIASES,
             "__version__: str", "__array_api_version__: str", f"__all__ = {ct.__all__}"]
    for name in ct.__all__:
        value = getattr(ct, name)
        if name in classes or name in errors:
            continue
        if isinstance(value, ct.DType):
            lines.append(f"{name}: DType")
        elif callable(value):
            lines += functions(name, value)
        else:
            lines.append(f"{name}: {'None' if value is None else type(value).__name__}")
    return "\n".join(lines) + "\n"


STUBS = {"__init__.pyi": package, "_cotangent.pyi": extension}

if __name__ == "__main__":
    for file, text in STUBS.items():
        (FOLDER / file).write_text(text())
