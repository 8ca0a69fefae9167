"""Trees of containers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cotangent import _cotangent
from cotangent._cotangent import TreeDef

T = TypeVar("T")


def tree_flatten(t: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree, and its structure.

    >>> ct.tree_flatten({"b": 1.0, "a": [2.0, None]})
    ([2.0, 1.0], TreeDef({'a': [*, None], 'b': *}))
    """
    return _cotangent.tree_flatten(t)


def tree_unflatten(treedef: TreeDef, leaves: Any) -> Any:
    """The tree of a structure with these leaves.

    >>> leaves, tree = ct.tree_flatten({"a": 1.0, "b": (2.0,)})
    >>> ct.tree_unflatten(tree, [3.0, 4.0])
    {'a': 3.0, 'b': (4.0,)}
    """
    return treedef.unflatten(leaves)


def tree_leaves(t: Any) -> list[Any]:
    """The leaves of a tree.

    >>> ct.tree_leaves({"b": 1.0, "a": [2.0, None]})
    [2.0, 1.0]
    """
    return _cotangent.tree_flatten(t)[0]


def tree_structure(t: Any) -> TreeDef:
    """The structure of a tree.

    >>> ct.tree_structure([1.0, (2.0, 3.0)])
    TreeDef([*, (*, *)])
    """
    return _cotangent.tree_flatten(t)[1]


def tree_map(f: Callable[..., Any], t: T, *rest: Any) -> T:
    """The tree of the results of ``f`` for each leaf, and the leaves of other trees at its place.

    >>> ct.tree_map(lambda a, b: a + b, {"x": 1, "y": (2, 3)}, {"x": 10, "y": (20, 30)})
    {'x': 11, 'y': (22, 33)}
    """
    leaves, structure = _cotangent.tree_flatten(t)
    others = [structure.leaves_of(r) for r in rest]
    mapped: T = structure.unflatten([f(*x) for x in zip(leaves, *others)])
    return mapped


def register_pytree_node(type: Any, flatten: Callable[[Any], Any], unflatten: Callable[[Any, Any], Any]) -> None:
    """Makes a class a node: ``flatten(x) -> (children, metadata)`` and ``unflatten(metadata, children) -> x``.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    ...
    >>> ct.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, c: Pair(*c))
    >>> float(ct.grad(lambda p: p.a * p.b)(Pair(2.0, 3.0)).a)
    3.0
    """
    _cotangent.register_pytree_node(type, flatten, unflatten)


def static(default: Any = ..., **options: Any) -> Any:
    """A field of a dataclass that is metadata, compared by ``==``, and no child.

    >>> import dataclasses
    >>> @ct.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: ct.Array
    ...     name: str = ct.static("layer")
    ...
    >>> ct.tree_leaves(Layer(1.0))
    [1.0]
    """
    import dataclasses
    if default is not ...:
        options["default"] = default
    return dataclasses.field(metadata={"cotangent_static": True}, **options)


def register_dataclass(cls: type[T]) -> type[T]:
    """Makes a dataclass a node: its fields are children, those of :func:`static` metadata. A decorator.

    >>> import dataclasses
    >>> @ct.register_dataclass
    ... @dataclasses.dataclass
    ... class Line:
    ...     a: ct.Array
    ...     b: ct.Array
    ...
    >>> ct.grad(lambda line: line.a * 2.0 + line.b)(Line(1.0, 5.0))
    Line(a=array(2., dtype=float64), b=array(1., dtype=float64))
    """
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


def _reduced(structure: TreeDef) -> Any:
    """How a structure is pickled: as that of a tree of numbers."""
    return tree_structure, (structure.unflatten([0] * structure.num_leaves),)


setattr(TreeDef, "__reduce__", _reduced)

NAMES = ["tree_flatten", "tree_unflatten", "tree_leaves", "tree_structure", "tree_map", "register_pytree_node", "static",
         "register_dataclass", "TreeDef"]
