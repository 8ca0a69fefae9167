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
    """A flat function of arrays, with its derivatives as flat functions: one object each, so that JAX's caches find them.

    Derivatives are those of the arguments at the positions ``where`` and of the results at the positions ``outs``, which have
    tangents: others, such as indices, are values only.
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.programs: dict[Any, Any] = {}
        self.derived: dict[Any, _Function] = {}

    def _at(self, x: Any, where: tuple[int, ...], outs: tuple[int, ...]) -> tuple[Callable[..., Any], Any]:
        """The results ``outs`` as a function of the arguments ``where``, and these arguments."""
        def f(*v: Any) -> Any:
            full = list(x)
            for k, value in zip(where, v):
                full[k] = value
            y = self.f(*full)
            return tuple(y[k] for k in outs)
        return f, tuple(x[k] for k in where)

    def pushed(self, n: int, where: tuple[int, ...], outs: tuple[int, ...]) -> _Function:
        """The n arguments and tangents of some to the tangents of results."""
        def push(*both: Any) -> Any:
            f, x = self._at(both[:n], where, outs)
            return ct.jvp(f, x, both[n:])[1]
        return self.derived.setdefault(("push", n, where, outs), _Function(push))

    def pulled(self, n: int, where: tuple[int, ...], outs: tuple[int, ...]) -> _Function:
        """The n arguments and cotangents of results to those of arguments, in JAX's convention for complex numbers."""
        def pull(*both: Any) -> Any:
            f, x = self._at(both[:n], where, outs)
            _, back = ct.vjp(f, *x)
            return tuple(map(ct.conj, back(tuple(map(ct.conj, both[n:])))))
        return self.derived.setdefault(("pull", n, where, outs), _Function(pull))

    def batched(self, axes: tuple[Any, ...]) -> _Function:
        """The function of a batch."""
        return self.derived.setdefault(("batch", axes), _Function(ct.vmap(self.f, in_axes=axes)))

    def program(self, avals: Any) -> Any:
        """The program for arguments of these types."""
        key = tuple((a.shape, str(a.dtype)) for a in avals)
        found = self.programs.get(key)
        if found is None:
            found = self.programs[key] = ct.trace(self.f, *(ct.zeros(s, dtype=d) for s, d in key))
        return found


def _with_tangents(avals: Any) -> tuple[int, ...]:
    """The positions of floats and complex numbers."""
    import jax
    return tuple(k for k, a in enumerate(avals) if jax.numpy.issubdtype(a.dtype, jax.numpy.inexact))


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
    for p in (push, pull):
        p.def_abstract_eval(lambda *a, function, **_: _result_avals(function, a))

    def value_jvp(x: Any, t: Any, *, function: _Function) -> Any:
        y = value.bind(*x, function=function)
        where, outs = _with_tangents(map(jax.typeof, x)), _with_tangents(map(jax.typeof, y))
        dy = [ad.Zero(jax.typeof(a).to_tangent_aval()) for a in y]
        if outs and any(not isinstance(t[k], ad.Zero) for k in where):
            of: dict[str, Any] = dict(n=len(x), where=where, outs=outs)
            found = push.bind(*x, *(instantiated(x[k], t[k]) for k in where), function=function.pushed(**of), base=function, **of)
            for k, a in zip(outs, found):
                dy[k] = a
        return y, dy

    def transposed(p: Any, derived: Callable[..., _Function]) -> Any:
        def rule(cotangents: Any, *args: Any, function: _Function, base: _Function, n: int, **of: Any) -> Any:
            given = [ad.instantiate_zeros(c) for c in cotangents]
            found = p.bind(*args[:n], *given, function=derived(base, n=n, **of), base=base, n=n, **of)
            return [None] * n + [c if ad.is_undefined_primal(a) else None for a, c in zip(args[n:], found)]
        return rule

    def linear_jvp(p: Any) -> Any:
        def rule(args: Any, t: Any, *, function: _Function, n: int, **of: Any) -> Any:
            y = p.bind(*args, function=function, n=n, **of)
            along = [instantiated(a, b) for a, b in zip(args[n:], t[n:])]
            dy = p.bind(*args[:n], *along, function=function, n=n, **of)
            where = _with_tangents(map(jax.typeof, args[:n]))
            if all(isinstance(t[k], ad.Zero) for k in where):
                return y, dy
            at: dict[str, Any] = dict(n=len(args), where=where, outs=tuple(range(len(y))))
            more = push.bind(*args, *(instantiated(args[k], t[k]) for k in where), function=function.pushed(**at), base=function, **at)
            return y, [a + b for a, b in zip(dy, more)]
        return rule

    ad.primitive_jvps[value] = value_jvp
    ad.primitive_jvps[push] = linear_jvp(push)
    ad.primitive_jvps[pull] = linear_jvp(pull)
    ad.primitive_transposes[push] = transposed(pull, _Function.pulled)
    ad.primitive_transposes[pull] = transposed(push, _Function.pushed)

    def value_batch(args: Any, dims: Any, *, function: _Function) -> Any:
        axes = tuple(None if d is None else d for d in dims)
        y = value.bind(*args, function=function.batched(axes))
        return y, [0] * len(y)

    def linear_batch(p: Any, derived: Callable[..., _Function]) -> Any:
        def rule(args: Any, dims: Any, *, function: _Function, base: _Function, n: int, **of: Any) -> Any:
            size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
            args = [batching.bdim_at_front(a, d, size) for a, d in zip(args, dims)]
            many = base.batched((0,) * n)
            y = p.bind(*args, function=derived(many, n=n, **of), base=many, n=n, **of)
            return y, [0] * len(y)
        return rule

    batching.primitive_batchers[value] = value_batch
    batching.primitive_batchers[push] = linear_batch(push, _Function.pushed)
    batching.primitive_batchers[pull] = linear_batch(pull, _Function.pulled)
    return value, push, pull


def _dispatch(primitive: Any) -> Any:
    from jax._src import dispatch
    return functools.partial(dispatch.apply_primitive, primitive)


_FUNCTIONS: Any = weakref.WeakKeyDictionary()


def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` as a function of JAX's arrays and trees of them, which every transform of JAX takes.

    It is traced once for the types of its arguments: arrays and parameters that it reads from outside are constants then.

    >>> import jax
    >>> f = ct.jax.wrap(lambda x: ct.sum(x**2))
    >>> jax.grad(f)(np.array([1.0, 2.0], dtype="float32")).tolist()
    [2.0, 4.0]
    """
    register()

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        import jax
        leaves, structure = jax.tree.flatten((args, kwargs))
        leaves = [jax.numpy.asarray(x) for x in leaves]
        key = structure, tuple((x.shape, str(x.dtype)) for x in leaves)
        # The structure of results is that of each signature.
        known = _FUNCTIONS.setdefault(wrapped, {})
        found = known.get(key)
        if found is None:
            out: list[Any] = []

            def call(*x: Any) -> Any:
                args, kwargs = jax.tree.unflatten(structure, x)
                found, tree = _cotangent.tree_flatten(f(*args, **kwargs))
                out[:] = [tree]
                return tuple(found)

            found = _Function(call), out
            found[0].program([jax.typeof(x) for x in leaves])
            known[key] = found
        function, out = found
        return out[0].unflatten(_PRIMITIVES[0].bind(*leaves, function=function))

    wrapped.__name__ = getattr(f, "__name__", "wrapped")
    wrapped.__doc__ = getattr(f, "__doc__", None)
    return wrapped


def _as_jax_does(x: Any, dtype: str) -> Any:
    """The argument of a program of JAX, in the type that JAX gave it: of 32 bits instead of 64, unless 64 are enabled."""
    x = x if isinstance(x, ct.Array) else ct.asarray(x)
    same_kind = x.dtype.kind == _cotangent.dtype(dtype).kind
    return x.astype(dtype) if same_kind and x.dtype != dtype else x


def from_jax(f: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """A function of JAX as a program for arguments of these types: it takes and returns trees as ``f`` does.

    >>> import jax
    >>> f = ct.jax.from_jax(lambda x: jax.numpy.sum(x**2), np.ones(2, dtype="float32"))
    >>> ct.grad(f)(np.array([1.0, 2.0], dtype="float32"))
    array([2., 4.], dtype=float32)
    """
    import jax
    lowered = jax.jit(f, keep_unused=True).lower(*args)
    program = ct.Program.from_stablehlo(lowered.as_text())
    tree_in = _cotangent.tree_flatten(args)[1]
    tree_out = jax.tree.structure(lowered.out_info)
    types = program._argument_types

    def call(*x: Any) -> Any:
        y = program(*map(_as_jax_does, tree_in.leaves_of(x), types))
        return jax.tree.unflatten(tree_out, y if isinstance(y, tuple) else (y,))

    return call


__all__ = ["wrap", "from_jax", "register"]
