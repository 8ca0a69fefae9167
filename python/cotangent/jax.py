"""Functions of this package in programs of JAX, as typed calls of its foreign function interface; and JAX's functions here.

A wrapped function becomes three primitives: the value, the push (the derivative along a tangent, linear in it), and the pull
(its transpose). Each is lowered to one call of a compiled program, without Python in it.
"""

# Of the other library: it may be missing, or without types.
# mypy: disable-error-code="no-untyped-call, import-not-found, import-untyped, misc"

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import cotangent as ct
from cotangent import _cotangent

TARGET = "cotangent_program"


# The primitives, after the handler was registered.
_PRIMITIVES: list[Any] = []


def register() -> None:
    """Registers the handler of programs with XLA. :func:`wrap` calls it.

    >>> ct.jax.register()
    """
    import jax
    if _PRIMITIVES:
        return
    _PRIMITIVES.extend(_primitives())
    jax.ffi.register_ffi_target(TARGET, _cotangent.xla_handler(), platform="cpu", api_version=1)


class _Function:
    """A flat function of arrays, with its derivatives as flat functions: one object each, so that JAX's caches find them."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.programs: dict[Any, Any] = {}
        self.derived: dict[Any, _Function] = {}

    @functools.cached_property
    def pushed(self) -> _Function:
        """x, t to the tangents of the results."""
        def push(*both: Any) -> Any:
            n = len(both) // 2
            return ct.jvp(self.f, both[:n], both[n:])[1]
        return _Function(push)

    @functools.cached_property
    def pulled(self) -> _Function:
        """x, ct to the cotangents of the arguments, in JAX's convention for complex numbers."""
        def pull(*both: Any, n: int) -> Any:
            _, back = ct.vjp(self.f, *both[:n])
            return tuple(map(ct.conj, back(tuple(map(ct.conj, both[n:])))))
        return _Function(pull)

    def pulled_at(self, n: int) -> _Function:
        """The pull for ``n`` arguments."""
        f = self.pulled.f
        return self.derived.setdefault(n, _Function(lambda *both: f(*both, n=n)))

    def batched(self, axes: tuple[Any, ...]) -> _Function:
        """The function of a batch."""
        return self.derived.setdefault(axes, _Function(ct.vmap(self.f, in_axes=axes)))

    def program(self, avals: Any) -> Any:
        """The program for arguments of these types."""
        key = tuple((a.shape, str(a.dtype)) for a in avals)
        found = self.programs.get(key)
        if found is None:
            found = self.programs[key] = ct.trace(self.f, *(ct.zeros(s, dtype=d) for s, d in key))
        return found


def _result_avals(function: _Function, avals: Any) -> Any:
    import jax
    import numpy as np
    return [jax.core.ShapedArray(tuple(s), np.dtype(d)) for d, s in function.program(avals)._result_types]


def _lower(ctx: Any, *args: Any, function: _Function, **_: Any) -> Any:
    import jax
    import numpy as np
    register()
    program = function.program(ctx.avals_in)
    constants = [np.asarray(c) for c in program._constants]
    listed = _cotangent.xla_register(program)
    # Compiled modules refer to the program by its number: it is listed as long as one of them lives.
    ctx.module_context.add_keepalive(listed)
    call = jax.ffi.ffi_lowering(TARGET)
    if constants:
        from jax.interpreters import mlir
        args = (*args, *(mlir.ir_constant(c) for c in constants))
        ctx = ctx.replace(avals_in=[*ctx.avals_in, *(jax.core.ShapedArray(c.shape, c.dtype) for c in constants)])
    return call(ctx, *args, program=np.int64(listed.number))


def _primitives() -> Any:
    """The three primitives, with their rules."""
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    value, push, pull = (Primitive(f"cotangent_{n}") for n in ("value", "push", "pull"))

    def instantiated(x: Any, t: Any) -> Any:
        return ad.instantiate_zeros(t) if isinstance(t, ad.Zero) else t

    for p in (value, push, pull):
        p.multiple_results = True
        p.def_impl(functools.partial(jax.interpreters.xla.apply_primitive, p)
                   if hasattr(jax.interpreters.xla, "apply_primitive") else _dispatch(p))
        mlir.register_lowering(p, _lower, platform="cpu")
    value.def_abstract_eval(lambda *a, function: _result_avals(function, a))
    push.def_abstract_eval(lambda *a, function, base, n: _result_avals(function, a))
    pull.def_abstract_eval(lambda *a, function, base, n: _result_avals(function, a))

    def value_jvp(x: Any, t: Any, *, function: _Function) -> Any:
        t = [instantiated(a, b) for a, b in zip(x, t)]
        return value.bind(*x, function=function), push.bind(
            *x, *t, function=function.pushed, base=function, n=len(x))

    def push_transpose(ct_y: Any, *args: Any, function: _Function, base: _Function, n: int) -> Any:
        x = args[:n]
        ct_y = [ad.instantiate_zeros(c) for c in ct_y]
        g = pull.bind(*x, *ct_y, function=base.pulled_at(n), base=base, n=n)
        return [None] * n + list(g)

    def pull_transpose(ct_x: Any, *args: Any, function: _Function, base: _Function, n: int) -> Any:
        x = args[:n]
        t = [ad.instantiate_zeros(c) for c in ct_x]
        dy = push.bind(*x, *t, function=base.pushed, base=base, n=n)
        return [None] * n + list(dy)

    def linear_jvp(p: Any) -> Any:
        def rule(args: Any, t: Any, *, function: _Function, base: _Function, n: int) -> Any:
            t = [instantiated(a, b) for a, b in zip(args, t)]
            y = p.bind(*args, function=function, base=base, n=n)
            along = p.bind(*args[:n], *t[n:], function=function, base=base, n=n)
            zeros = [a * 0 for a in t[n:]]
            of_x = push.bind(*args, *t[:n], *zeros, function=function.pushed, base=function, n=len(args))
            return y, [a + b for a, b in zip(along, of_x)]
        return rule

    ad.primitive_jvps[value] = value_jvp
    ad.primitive_jvps[push] = linear_jvp(push)
    ad.primitive_jvps[pull] = linear_jvp(pull)
    ad.primitive_transposes[push] = push_transpose
    ad.primitive_transposes[pull] = pull_transpose

    def value_batch(args: Any, dims: Any, *, function: _Function) -> Any:
        axes = tuple(None if d is None else d for d in dims)
        y = value.bind(*args, function=function.batched(axes))
        return y, [0] * len(y)

    def linear_batch(p: Any, derived: Any) -> Any:
        def rule(args: Any, dims: Any, *, function: _Function, base: _Function, n: int) -> Any:
            size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
            args = [batching.bdim_at_front(a, d, size) for a, d in zip(args, dims)]
            many = base.batched((0,) * n)
            y = p.bind(*args, function=derived(many, n), base=many, n=n)
            return y, [0] * len(y)
        return rule

    batching.primitive_batchers[value] = value_batch
    batching.primitive_batchers[push] = linear_batch(push, lambda many, n: many.pushed)
    batching.primitive_batchers[pull] = linear_batch(pull, lambda many, n: many.pulled_at(n))
    return value, push, pull


def _dispatch(primitive: Any) -> Any:
    from jax._src import dispatch
    return functools.partial(dispatch.apply_primitive, primitive)


_FUNCTIONS: Any = weakref.WeakKeyDictionary()


def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` as a function of JAX's arrays and trees of them, which every transform of JAX takes.

    >>> import jax
    >>> f = ct.jax.wrap(lambda x: ct.sum(x**2))
    >>> jax.grad(f)(np.array([1.0, 2.0], dtype="float32")).tolist()
    [2.0, 4.0]
    """
    register()

    def wrapped(*args: Any) -> Any:
        import jax
        leaves, structure = jax.tree.flatten(args)
        leaves = [jax.numpy.asarray(x) for x in leaves]
        value = _PRIMITIVES[0]
        known = _FUNCTIONS.setdefault(wrapped, {})
        flat = known.get(structure)
        if flat is None:
            out: list[Any] = []

            def call(*x: Any) -> Any:
                y = f(*jax.tree.unflatten(structure, x))
                found, tree = _cotangent.tree_flatten(y)
                out[:] = [tree]
                return tuple(found)

            flat = known[structure] = (_Function(call), out)
        function, out = flat
        function.program([jax.typeof(x) for x in leaves])
        return out[0].unflatten(value.bind(*leaves, function=function))

    wrapped.__name__ = getattr(f, "__name__", "wrapped")
    wrapped.__doc__ = getattr(f, "__doc__", None)
    return wrapped


def from_jax(f: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """A function of JAX as a program for arguments of these types: it takes and returns trees as ``f`` does.

    >>> import jax
    >>> f = ct.jax.from_jax(lambda x: jax.numpy.sum(x**2), np.ones(2, dtype="float32"))
    >>> ct.grad(f)(np.array([1.0, 2.0], dtype="float32"))
    array([2., 4.], dtype=float32)
    """
    import jax
    program = ct.Program.from_stablehlo(jax.jit(f).lower(*args).as_text())
    leaves_in, tree_in = _cotangent.tree_flatten(args)
    tree_out = jax.tree.structure(jax.eval_shape(f, *args))
    del leaves_in

    def call(*x: Any) -> Any:
        y = program(*tree_in.leaves_of(x))
        return jax.tree.unflatten(tree_out, y if isinstance(y, tuple) else (y,))

    return call


__all__ = ["wrap", "from_jax", "register"]
