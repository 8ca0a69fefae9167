"""Transforms of functions: derivatives, batches, compiled functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar, Union, overload

from cotangent import _cotangent
from cotangent._core import Array, beside, raise_
from cotangent._cotangent import Jitted, Linearized, LinearMap, Program

Argnums = Union[int, Sequence[int]]
F = Callable[..., Any]
P = ParamSpec("P")
A = TypeVar("A")
R = TypeVar("R")


class CacheInfo(NamedTuple):
    """Use of the cache of a jitted function."""

    hits: int
    misses: int
    entries: int
    limit: int


def _named(g: Any, f: Any, what: str) -> Any:
    name = getattr(f, "__name__", None)
    if name:
        g.__name__ = g.__qualname__ = f"{what}_{name}"
        g.__doc__ = f"{what} of {name}. {f.__doc__ or ''}"
    return g


def _positional(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The function of positional arguments; keywords are given to it as they are."""
    return (functools.partial(f, **kwargs) if kwargs else f), args


def _by(f: F, argnums: Argnums, has_aux: bool, value: bool, what: str) -> Any:
    single = isinstance(argnums, int)
    nums = [argnums] if isinstance(argnums, int) else list(argnums)

    def derived(*args: Any, **kwargs: Any) -> Any:
        g, args = _positional(f, args, kwargs)
        y, aux, grads = _cotangent.value_and_grad(g, nums, has_aux, value, args)
        grads = grads[0] if single else grads
        if value:
            return ((y, aux) if has_aux else y), grads
        return (grads, aux) if has_aux else grads

    return _named(derived, f, what)


@overload
def grad(f: Callable[Concatenate[A, P], Any], argnums: Literal[0] = 0, has_aux: Literal[False] = False) -> Callable[  # type: ignore[overload-overlap]
    Concatenate[A, P], A]: ...
@overload
def grad(f: Callable[Concatenate[A, P], Any], argnums: Literal[0] = 0, *, has_aux: Literal[True]) -> Callable[  # type: ignore[overload-overlap]
    Concatenate[A, P], tuple[A, Any]]: ...
@overload
def grad(f: Callable[P, Any], argnums: Argnums, has_aux: bool = False) -> Callable[P, Any]: ...
def grad(f: F, argnums: Argnums = 0, has_aux: bool = False) -> F:
    """The gradient of a function that returns a real scalar, in the structure of the arguments ``argnums``.

    >>> ct.grad(lambda x: ct.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.], dtype=float64)
    >>> ct.grad(lambda p, x: p["a"] * x, argnums=(0, 1))({"a": 2.0}, 3.0)
    ({'a': array(3., dtype=float64)}, array(2., dtype=float64))
    """
    return _by(f, argnums, has_aux, False, "grad")  # type: ignore[no-any-return]


@overload
def value_and_grad(f: Callable[Concatenate[A, P], R], argnums: Literal[0] = 0, has_aux: bool = False) -> Callable[  # type: ignore[overload-overlap]
    Concatenate[A, P], tuple[R, A]]: ...
@overload
def value_and_grad(f: Callable[P, R], argnums: Argnums, has_aux: bool = False) -> Callable[P, tuple[R, Any]]: ...
def value_and_grad(f: F, argnums: Argnums = 0, has_aux: bool = False) -> F:
    """The value and the gradient. With ``has_aux`` the function returns a pair: ``((value, aux), gradient)``.

    >>> ct.value_and_grad(lambda x: x**3)(2.0)
    (array(8., dtype=float64), array(12., dtype=float64))
    """
    return _by(f, argnums, has_aux, True, "value_and_grad")  # type: ignore[no-any-return]


@overload
def jvp(f: Callable[..., R], primals: Any, tangents: Any, has_aux: Literal[False] = False) -> tuple[R, R]: ...
@overload
def jvp(f: Callable[..., tuple[R, A]], primals: Any, tangents: Any, has_aux: Literal[True]) -> tuple[R, R, A]: ...
def jvp(f: F, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """The result of ``f(*primals)`` and its tangent along ``tangents``.

    >>> ct.jvp(ct.sin, (0.0,), (2.0,))
    (array(0., dtype=float64), array(2., dtype=float64))
    """
    y, dy = _cotangent.jvp(f, primals, tangents)
    return (y[0], dy[0], y[1]) if has_aux else (y, dy)


@overload
def vjp(f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False) -> tuple[R, LinearMap]: ...
@overload
def vjp(f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]) -> tuple[R, F, A]: ...
def vjp(f: F, *primals: Any, has_aux: bool = False) -> Any:
    """The result of ``f(*primals)``, and a function from its cotangent to those of the arguments (a tuple).

    >>> y, pull = ct.vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> pull(np.array([1.0, 10.0]))
    (array([ 2., 40.], dtype=float64),)
    """
    if not has_aux:
        return _cotangent.vjp(f, primals)
    y, pull = _cotangent.vjp(f, primals)
    zeros = _zeros_of(y[1])
    return y[0], lambda ct: pull((ct, zeros)), y[1]


def _zeros_of(tree: Any) -> Any:
    from cotangent._create import zeros_like
    from cotangent._trees import tree_map
    return tree_map(zeros_like, tree)


def linearize(f: Callable[..., R], *primals: Any) -> tuple[R, Linearized]:
    """The result of ``f(*primals)``, and its derivative there as a function of tangents.

    >>> y, push = ct.linearize(ct.sin, 0.0)
    >>> push(2.0)
    array(2., dtype=float64)
    """
    return _cotangent.linearize(f, primals)


def linear_transpose(f: F, *types: Any) -> LinearMap:
    """The transpose of a linear function of arrays like ``types``: from a cotangent to a tuple of cotangents.

    >>> ct.linear_transpose(lambda x: ct.asarray([[1.0, 2.0], [3.0, 4.0]]) @ x, ct.ones(2))(np.array([1.0, 0.0]))
    (array([1., 2.], dtype=float64),)
    """
    y, pull = _cotangent.vjp(f, types)
    del y
    return pull


def jvp_basis(x: Any) -> Any:
    """The directions of an array: a batch of unit arrays."""
    from cotangent._create import eye
    from cotangent._shapes import reshape
    return reshape(beside(x, eye(x.size, dtype=x.dtype)), (x.size, *x.shape))


def _jac(f: Callable[P, Any], argnums: Argnums, mode: str) -> Callable[P, Any]:
    single = isinstance(argnums, int)
    nums = [argnums] if isinstance(argnums, int) else list(argnums)

    def derived(*args: Any, **kwargs: Any) -> Any:
        g, args = _positional(f, args, kwargs)
        if mode == "auto":
            y = _cotangent.jacobian(g, nums, args)
            if y is not None:
                return y[0] if single else y
        at = [k % len(args) for k in nums]

        def of(*x: Any) -> Any:
            full = list(args)
            for k, v in zip(at, x):
                full[k] = v
            return g(*full)

        x = tuple(args[k] for k in at)
        y = _forward(of, x) if mode == "forward" else _reverse(of, x)
        from cotangent._trees import tree_map
        return tree_map(lambda t: t.value[0] if single else t.value, y)

    return _named(derived, f, "jacobian")  # type: ignore[no-any-return]


class _Box:
    """A leaf that holds a tree."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _reverse(f: F, x: tuple[Any, ...]) -> Any:
    from cotangent._create import zeros_like
    from cotangent._shapes import reshape
    from cotangent._trees import tree_flatten, tree_map
    y, pull = _cotangent.vjp(f, x)
    leaves, structure = tree_flatten(y)
    rows = []
    for k, leaf in enumerate(leaves):
        def one(ct: Any, k: int = k) -> Any:
            return pull(structure.unflatten([ct if j == k else zeros_like(z) for j, z in enumerate(leaves)]))
        many = vmap(one)(jvp_basis(leaf))
        rows.append(_Box(tree_map(lambda t, leaf=leaf: reshape(t, tuple(leaf.shape) + tuple(t.shape[1:])), many)))
    return structure.unflatten(rows)


def _forward(f: F, x: tuple[Any, ...]) -> Any:
    from cotangent._create import asarray, zeros_like
    from cotangent._shapes import moveaxis, reshape
    from cotangent._trees import tree_flatten
    leaves, structure = tree_flatten(x)
    leaves = [asarray(t) for t in leaves]
    x = structure.unflatten(leaves)
    columns = []
    out = None
    for k, leaf in enumerate(leaves):
        def one(t: Any, k: int = k) -> Any:
            return _cotangent.jvp(f, x, structure.unflatten(
                [t if j == k else zeros_like(z) for j, z in enumerate(leaves)]))[1]
        many, out = tree_flatten(vmap(one)(jvp_basis(leaf)))
        columns.append([reshape(moveaxis(t, 0, -1), tuple(t.shape[1:]) + tuple(leaf.shape)) for t in many])
    assert out is not None
    return out.unflatten([_Box(structure.unflatten(list(parts))) for parts in zip(*columns)])


def jacobian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """All derivatives: for each result and argument an array of the shape ``result.shape + argument.shape``.

    >>> ct.jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]], dtype=float64)
    """
    return _jac(f, argnums, "auto")


def jacfwd(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The Jacobian by forward mode, a pass for each element of the arguments.

    >>> ct.jacfwd(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]], dtype=float64)
    """
    return _jac(f, argnums, "forward")


def jacrev(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The Jacobian by reverse mode, a pass for each element of the results.

    >>> ct.jacrev(lambda x: ct.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.], dtype=float64)
    """
    return _jac(f, argnums, "reverse")


def hessian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The second derivatives of a function that returns a real scalar: a tree of trees.

    >>> ct.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]], dtype=float64)
    """
    single = isinstance(argnums, int)
    nums = [argnums] if isinstance(argnums, int) else list(argnums)

    def derived(*args: Any, **kwargs: Any) -> Any:
        g, args = _positional(f, args, kwargs)
        h = _cotangent.hessian(g, nums, args)
        if not single:
            return h
        from cotangent._trees import tree_flatten
        x = args[nums[0]]
        rows = tree_flatten(x)[1].prefix_of(h[0])
        return tree_flatten(x)[1].unflatten([r[0] for r in rows])

    return _named(derived, f, "hessian")  # type: ignore[no-any-return]


def hvp(f: F, primals: Any, tangents: Any) -> Any:
    """The product of the Hessian of ``f(*primals)`` with ``tangents``, in the structure of ``primals``.

    >>> ct.hvp(lambda x: ct.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    (array([6., 0.], dtype=float64),)
    """
    return _cotangent.hvp(f, primals, tangents)


def vmap(f: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0) -> Callable[P, R]:
    """``f`` of each element of a batch: ``in_axes`` and ``out_axes`` are an axis, or trees of axes and ``None``.

    >>> ct.vmap(ct.sum)(np.array([[1, 2], [3, 4]]))
    array([3, 7], dtype=int64)
    >>> ct.vmap(ct.matmul, in_axes=(None, 0))(ct.eye(2), ct.ones((3, 2))).shape
    (3, 2)
    """
    def mapped(*args: Any, **kwargs: Any) -> Any:
        g, args = _positional(f, args, kwargs)
        axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        return _cotangent.vmap(g, axes, out_axes, args)
    return _named(mapped, f, "vmap")  # type: ignore[no-any-return]


def _names(x: Union[str, Sequence[str]]) -> list[str]:
    return [x] if isinstance(x, str) else list(x)


def _parameters(f: F, nums: list[int], names: list[str]) -> list[Any] | None:
    """The parameters of a function some of whose arguments are treated apart, if it has a signature."""
    if not (nums or names):
        return None
    try:
        return list(_signature(f).parameters.values())
    except ValueError:  # a function of C without a signature: only positions from the front can be meant
        if names or min(nums) < 0:
            raise
        return None


@overload
def jit(f: Callable[P, R], *, static_argnums: Argnums = (), static_argnames: Union[str, Sequence[str]] = (), shapes: Any = None,
        donate_argnums: Argnums = (), cache_limit: int = 256, device: str | None = None) -> Jitted[P, R]: ...
@overload
def jit(f: None = None, *, static_argnums: Argnums = (), static_argnames: Union[str, Sequence[str]] = (), shapes: Any = None,
        donate_argnums: Argnums = (), cache_limit: int = 256, device: str | None = None) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(f: F | None = None, *, static_argnums: Argnums = (), static_argnames: Union[str, Sequence[str]] = (),
        shapes: Any = None, donate_argnums: Argnums = (), cache_limit: int = 256, device: str | None = None) -> Any:
    """``f``, traced once for the structure, types and shapes of its arguments, and compiled.

    Static arguments are constants of the program; other values of them are traced again. ``shapes`` makes extents
    symbols: ``(("n", 3), ("n",))`` is one program for every ``n``; an argument that is a tree has a tree of extents, and
    ``None`` where they are those of each call. ``donate_argnums``: results may have the memory of these arguments, if they are
    results of such a function; they cannot be used afterwards. The ``cache_limit`` most recently used programs are kept.
    Arrays that ``f`` reads from outside are kept with the program; a :class:`Parameter` is read at each call.

    With ``device`` the program runs there, arguments from the CPU are copied there in each call, and results stay there.
    Without it the program runs on the device of its arguments.

    >>> f = ct.jit(lambda x: ct.sum(x * x))
    >>> f(np.array([1.0, 2.0]))
    array(5., dtype=float64)
    >>> f.cache_info()
    CacheInfo(hits=0, misses=1, entries=1, limit=256)
    """
    if f is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames, shapes=shapes,
                                 donate_argnums=donate_argnums, cache_limit=cache_limit, device=device)
    if not callable(f):
        raise TypeError(f"jit of {f!r}, which is no function")
    nums = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums)
    given = [donate_argnums] if isinstance(donate_argnums, int) else list(donate_argnums)
    names = _names(static_argnames)
    parameters = _parameters(f, nums + given, names)
    if parameters is not None:
        positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        unknown = [n for n in names if n not in [p.name for p in parameters] and not any(
            p.kind == p.VAR_KEYWORD for p in parameters)]
        if unknown:
            raise raise_("Attribute", f"jit: there are no parameters {', '.join(unknown)}")
        count = len(positional)
        many = any(p.kind == p.VAR_POSITIONAL for p in parameters)
        for n in nums + given:
            if n < -count or (n >= count and not many):
                raise raise_("Attribute", f"jit: there is no argument {n}: the function has {count} positional ones")
        nums, given = ([n + count if n < 0 else n for n in of] for of in (nums, given))
        nums += [positional.index(n) for n in names if n in positional]
    if set(nums) & set(given):
        raise raise_("Attribute", "jit: a static argument has no elements that could be donated")
    jitted: Any = Jitted(f, sorted(set(nums)), names, shapes, given, cache_limit, device)
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(f, name):
            setattr(jitted, name, getattr(f, name))
    jitted.__wrapped__ = f
    jitted._options = dict(static_argnums=static_argnums, static_argnames=static_argnames, shapes=shapes,
                           donate_argnums=donate_argnums, cache_limit=cache_limit, device=device)
    return jitted


def _rebuild(f: F, options: dict[str, Any]) -> Any:
    return jit(f, **options)


def _reduce(jitted: Any) -> Any:
    return _rebuild, (jitted.__wrapped__, jitted._options)


setattr(Jitted, "__reduce__", _reduce)


def _signature_of(f: Any) -> Any:
    import inspect
    return inspect.signature(f)


_known_signature = functools.lru_cache(maxsize=1024)(_signature_of)


def _signature(f: Any) -> Any:
    try:
        return _known_signature(f)
    except TypeError:  # it cannot be hashed
        return _signature_of(f)


def bind(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Keywords bound to positions by the function's signature: called by the extension."""
    try:
        signature = _signature(f)
    except ValueError:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    return bound.args, bound.kwargs


def trace(f: F, *args: Any, **kwargs: Any) -> Program:
    """The program of ``f`` for arguments of these types.

    >>> print(ct.trace(lambda x: x + 1.0, ct.ones(2)).text)
    tgraph.module @main {
      %0 = tgraph.arg : tensor<2xf64>
      %1 = tgraph.constant {value = 1.0} : tensor<2xf64>
      %2 = tgraph.add %0, %1 : tensor<2xf64>
      tgraph.return %2 : tensor<2xf64>
    }
    """
    return jit(f).lower(*args, **kwargs)


def checkpoint(f: Callable[P, R], policy: int | str | tuple[str, int] | None = None) -> Callable[P, R]:
    """``f``, whose derivatives compute intermediate values again instead of keeping them: all, or by ``policy`` those of loops.

    A policy says what derivatives of the loops in ``f`` keep: a number k, the carries of every k-th step; ``"sqrt"``, of about
    the square root of their number; ``("snapshots", s)``, of about s steps. The length of the loop must be known for the last
    two.

    >>> ct.grad(ct.checkpoint(lambda x: ct.sin(ct.sin(x))))(0.0)
    array(1., dtype=float64)
    """
    saving = None if policy is None else _cotangent.Saving(policy)

    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if saving is not None:
            with saving:
                return f(*args, **kwargs)
        g, args = _positional(f, args, kwargs)
        return once(checkpoint(g), *args) if recorded(args) else _cotangent.checkpoint(g, args)
    return _named(checkpointed, f, "checkpoint")  # type: ignore[no-any-return]


def recorded(tree: Any) -> bool:
    """Whether an array of the tree is recorded on a tape."""
    return any(isinstance(x, Array) and x.tracked for x in _cotangent.tree_flatten(tree)[0])


def once(f: Callable[..., R], *args: Any) -> R:
    """A function of recorded arrays as one operation of the tape: that of a compiled function."""
    y: R = jit(f)(*args)
    return y


def custom_jvp(f: Callable[P, R], jvp: F) -> Callable[P, R]:
    """``f`` with the derivative ``jvp(primals, tangents) -> (y, dy)``, linear in the tangents.

    >>> f = ct.custom_jvp(ct.sin, lambda x, t: (ct.sin(x[0]), 10.0 * t[0]))
    >>> ct.grad(f)(0.0)
    array(10., dtype=float64)
    """
    def ruled(*args: Any) -> Any:
        return once(ruled, *args) if recorded(args) else _cotangent.custom_jvp(f, jvp, args)
    return _named(ruled, f, "custom_jvp")  # type: ignore[no-any-return]


def custom_vjp(f: Callable[P, R], fwd: F, bwd: F) -> Callable[P, R]:
    """``f`` with a reverse derivative: ``fwd(*args) -> (y, residuals)``, ``bwd(residuals, ct) -> cotangents`` (a tuple).

    >>> f = ct.custom_vjp(ct.sin, lambda x: (ct.sin(x), x), lambda x, t: (10.0 * t,))
    >>> ct.grad(f)(0.0)
    array(10., dtype=float64)
    """
    def ruled(*args: Any) -> Any:
        return once(ruled, *args) if recorded(args) else _cotangent.custom_vjp(f, fwd, bwd, args)
    return _named(ruled, f, "custom_vjp")  # type: ignore[no-any-return]


def check_grads(f: F, args: Any, order: int = 2, modes: Sequence[str] = ("fwd", "rev")) -> str:
    """The derivatives of ``f(*args)`` up to ``order`` (at most 3) against finite differences: a report.

    With ``"fwd"`` forward mode is checked; with ``"rev"`` reverse mode, against forward mode, and Hessians. A difference is a
    :class:`CheckError`.

    >>> print(ct.check_grads(ct.sin, (0.5,), order=1).splitlines()[0])
    check of `f`: passed: 3 of 3 laws hold
    """
    modes = [modes] if isinstance(modes, str) else list(modes)
    if not modes or not {"fwd", "rev"}.issuperset(modes):
        raise raise_("Attribute", f"check_grads: modes are 'fwd' and 'rev', not {modes}")
    if order not in (1, 2, 3):
        raise raise_("Attribute", f"check_grads: order is 1, 2 or 3, not {order}")
    args, fwd, rev = tuple(args), "fwd" in modes, "rev" in modes
    report: str = _cotangent.check_grads(f, args, order if rev else 1, fwd, rev)
    if not rev and order > 1:
        # Forward mode of forward mode: that of the tangents.
        directions = _cotangent.tree_flatten(args)[1].unflatten([_direction(x) for x in _cotangent.tree_flatten(args)[0]])
        report += check_grads(lambda x, t: jvp(f, x, t)[1], (args, directions), order - 1, modes)
    return report


def _direction(x: Any) -> Any:
    """A tangent of an array, with elements that differ."""
    from cotangent._create import arange, asarray
    x = asarray(x)
    return beside(x, asarray(1.0 + arange(x.size) / (1.0 + x.size)).reshape(x.shape).astype(x.dtype))


NAMES = ["grad", "value_and_grad", "jvp", "vjp", "linearize", "linear_transpose", "jacobian", "jacfwd", "jacrev", "hessian",
         "hvp", "vmap", "jit", "trace", "checkpoint", "custom_jvp", "custom_vjp", "check_grads"]
