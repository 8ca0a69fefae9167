"""Trees of containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cotangent import _cotangent
from cotangent._cotangent import TreeDef

T = TypeVar("T")


def tree_flatten(t: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree, and its structure."""
    return _cotangent.tree_flatten(t)


def tree_unflatten(treedef: TreeDef, leaves: Any) -> Any:
    """The tree of a structure with these leaves."""
    return treedef.unflatten(leaves)


def tree_leaves(t: Any) -> list[Any]:
    """The leaves of a tree."""
    return _cotangent.tree_flatten(t)[0]


def tree_structure(t: Any) -> TreeDef:
    """The structure of a tree."""
    return _cotangent.tree_flatten(t)[1]


def tree_map(f: Callable[..., Any], t: Any, *rest: Any) -> Any:
    """The tree of the results of ``f`` for each leaf, and the leaves of other trees at its place."""
    leaves, structure = _cotangent.tree_flatten(t)
    others = [structure.leaves_of(r) for r in rest]
    return structure.unflatten([f(*x) for x in zip(leaves, *others)])


def register_pytree_node(type: Any, flatten: Callable[[Any], Any], unflatten: Callable[[Any, Any], Any]) -> None:
    """Makes a class a node: ``flatten(x) -> (children, metadata)`` and ``unflatten(metadata, children) -> x``."""
    _cotangent.register_pytree_node(type, flatten, unflatten)


def static(default: Any = ..., **options: Any) -> Any:
    """A field of a dataclass that is metadata, compared by ``==``, and no child."""
    import dataclasses
    if default is not ...:
        options["default"] = default
    return dataclasses.field(metadata={"cotangent_static": True}, **options)


def register_dataclass(cls: type[T]) -> type[T]:
    """Makes a dataclass a node: its fields are children, those of :func:`static` metadata. A decorator."""
    import dataclasses
    fields = [f for f in dataclasses.fields(cls) if f.init]  # type: ignore[arg-type]
    children = [f.name for f in fields if not f.metadata.get("cotangent_static")]
    metadata = [f.name for f in fields if f.metadata.get("cotangent_static")]

    def flatten(x: Any) -> Any:
        return tuple(getattr(x, n) for n in children), tuple(getattr(x, n) for n in metadata)

    def unflatten(aux: Any, parts: Any) -> Any:
        x = object.__new__(cls)
        for n, v in zip(children + metadata, (*parts, *aux)):
            object.__setattr__(x, n, v)
        return x

    _cotangent.register_pytree_node(cls, flatten, unflatten)
    return cls


NAMES = ["tree_flatten", "tree_unflatten", "tree_leaves", "tree_structure", "tree_map", "register_pytree_node", "static",
         "register_dataclass", "TreeDef"]
