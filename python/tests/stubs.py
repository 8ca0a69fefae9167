"""Writes the stubs of the package from the signatures of what it defines: ``python tests/stubs.py`` after an install."""

from __future__ import annotations

import inspect
import pathlib
import re
import types

import cotangent as ct
from cotangent import _cotangent

FOLDER = pathlib.Path(__file__).parent.parent / "cotangent"
HEAD = '''"""Written by tests/stubs.py from signatures."""

import builtins
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, Union

'''
ALIASES = '''_bool = builtins.bool
ArrayLike = Any
Axis = Union[int, Sequence[int], None]
Argnums = Union[int, Sequence[int]]
DTypeLike = Any
Shape = Any
F = Callable[..., Any]
T = TypeVar("T")
'''
BINARY = "add sub mul truediv floordiv mod matmul pow and or xor lshift rshift".split()


def annotation(a: object) -> str:
    """An annotation as text; names that the package shadows are those of ``builtins``."""
    if a is inspect.Parameter.empty:
        return "Any"
    text = a if isinstance(a, str) else getattr(a, "__name__", str(a))
    text = re.sub(r"(?<![\w.])bool\b", "_bool", text.replace("builtins.bool", "bool"))
    text = text.replace("types.SimpleNamespace", "Any")
    return re.sub(r"\b(UniqueAll|UniqueCounts|UniqueInverse|Limits|_Info)\b", "Any", text)


def signature(f: object, method: bool = False) -> str:
    """The parameters and the result of a function."""
    try:
        s = inspect.signature(f)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(*args: Any, **kwargs: Any) -> Any"
    parts, state = [], None
    parameters = list(s.parameters.values())
    for k, p in enumerate(parameters):
        if state == p.POSITIONAL_ONLY != p.kind:
            parts.append("/")
        if p.kind == p.KEYWORD_ONLY and state not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            parts.append("*")
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        first = method and k == 0
        default = "" if p.default is p.empty else " = ..."
        parts.append(f"{star}{p.name}" + ("" if first else f": {annotation(p.annotation)}") + default)
        state = p.kind
    if state == inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    result = annotation(s.return_annotation)
    if "contextmanager" in getattr(getattr(f, "__wrapped__", None), "__module__", "") or result.startswith("Iterator"):
        result = result.replace("Iterator", "contextlib.AbstractContextManager")
    return f"({', '.join(parts)}) -> {result}"


def class_stub(cls: type) -> list[str]:
    """The members of a class of the extension."""
    base = cls.__base__ if cls.__base__ is not object else None
    lines = [f"class {cls.__name__}{f'({base.__name__})' if base else ''}:"]
    for name, member in sorted(vars(cls).items()):
        if name in ("__new__", "__doc__", "__module__", "__hash__", "__weakref__", "__dict__", "__getattribute__") or (
                name.startswith("__") and name.strip("_").removeprefix("r").removeprefix("i") in BINARY):
            continue
        if isinstance(member, (property, types.GetSetDescriptorType)):
            kind = {"shape": "tuple[Any, ...]", "ndim": "int", "dtype": "DType", "T": "Array", "mT": "Array", "grad": "Any",
                    "traced": "_bool", "tracked": "_bool"}.get(name, "Any")
            kind = "Any" if cls is not _cotangent.Array else kind
            lines.append(f"    @property\n    def {name}(self) -> {kind}: ...")
        elif name in ("__eq__", "__ne__"):
            result = "Array" if cls is _cotangent.Array else "_bool"
            lines.append(f"    def {name}(self, other: object) -> {result}: ...  # type: ignore[override]")
        elif name in ("__lt__", "__le__", "__gt__", "__ge__"):
            if cls is _cotangent.Array:
                lines.append(f"    def {name}(self, other: Any) -> Array: ...")
        elif callable(member) or isinstance(member, (classmethod, staticmethod)):
            result = {"__float__": "float", "__int__": "int", "__complex__": "complex", "__bool__": "_bool", "__index__": "int",
                      "__len__": "int", "__repr__": "str", "__str__": "str", "__format__": "str",
                      "__iter__": "Iterator[Array]", "__getitem__": "Any"}.get(name)
            if name in ("__getbuffer__", "__releasebuffer__"):
                continue
            if result and name in ("__getitem__", "__format__"):
                argument = "key: Any" if name == "__getitem__" else "spec: str"
                kind = "Array" if cls is _cotangent.Array and name == "__getitem__" else result
                lines.append(f"    def {name}(self, {argument}, /) -> {kind}: ...")
            elif result:
                lines.append(f"    def {name}(self) -> {result}: ...")
            elif isinstance(member, (classmethod, types.ClassMethodDescriptorType)):
                lines.append(f"    @classmethod\n    def {name}(cls, *args: Any, **kwargs: Any) -> {cls.__name__}: ...")
            elif name.startswith("__") and name not in ("__call__", "__array__", "__dlpack__", "__dlpack_device__"):
                continue
            else:
                text = signature(member, method=True)
                lines.append(f"    def {name}{text}: ..." if "self" in text else f"    def {name}(self, *args: Any, **kwargs: Any) -> Any: ...")
        elif not name.startswith("__"):
            lines.append(f"    {name}: Any")
    if cls in (_cotangent.Array, _cotangent.Dim):
        result = "Array" if cls is _cotangent.Array else "Any"
        for op in BINARY:
            lines += [f"    def __{op}__(self, other: Any, /) -> {result}: ...",
                      f"    def __r{op}__(self, other: Any, /) -> {result}: ..."]
        for op in ("neg", "pos", "abs", "invert"):
            lines.append(f"    def __{op}__(self) -> {result}: ...")
    if cls is _cotangent.Parameter:
        lines.append("    def __new__(cls, value: Any) -> Parameter: ...")
    return lines if len(lines) > 1 else [lines[0] + " ..."]


def extension() -> str:
    """The stub of the extension."""
    lines = [HEAD + "_bool = builtins.bool\n__version__: str"]
    for name, member in vars(_cotangent).items():
        if isinstance(member, type):
            lines += ["", *class_stub(member)]
    lines.append("")
    for name, member in vars(_cotangent).items():
        if isinstance(member, types.BuiltinFunctionType):
            result = {"asarray": "Array", "unary": "Array", "binary": "Array", "convert": "Array", "full": "Array", "iota": "Array",
                      "from_dlpack": "Array", "dtype": "DType", "result_type": "DType", "variable": "Parameter",
                      "einsum": "Array", "convolution": "Array", "promoted": "tuple[Array, ...]"}.get(name, "Any")
            lines.append(f"def {name}(*args: Any, **kwargs: Any) -> {result}: ...")
    return "\n".join(lines) + "\n"


def package() -> str:
    """The stub of the package."""
    classes = [n for n in ct.__all__ if isinstance(getattr(ct, n), type) and getattr(ct, n).__module__ != "cotangent._errors"]
    errors = [n for n in ct.__all__ if isinstance(getattr(ct, n), type) and n not in classes]
    lines = [HEAD + f"from cotangent import {', '.join(f'{m} as {m}' for m in ct._SUBMODULES)}",
             f"from cotangent._cotangent import {', '.join(f'{n} as {n}' for n in classes)}",
             f"from cotangent._errors import {', '.join(f'{n} as {n}' for n in errors)}", "", ALIASES,
             "__version__: str", "__array_api_version__: str", "__all__: list[str]"]
    for name in ct.__all__:
        value = getattr(ct, name)
        if name in classes or name in errors:
            continue
        if isinstance(value, ct.DType):
            lines.append(f"{name}: DType")
        elif callable(value):
            lines.append(f"def {name}{signature(value)}: ...")
        else:
            lines.append(f"{name}: {'None' if value is None else type(value).__name__}")
    return "\n".join(lines) + "\n"


STUBS = {"__init__.pyi": package, "_cotangent.pyi": extension}

if __name__ == "__main__":
    for file, text in STUBS.items():
        (FOLDER / file).write_text(text())
