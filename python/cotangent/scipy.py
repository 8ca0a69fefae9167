"""Functions for SciPy: objectives of ``scipy.optimize``, and linear operators."""

# Of the other library: it may be missing, or without types.
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cotangent as ct


def objective(f: Callable[..., Any]) -> tuple[Callable[..., float], Callable[..., Any], Callable[..., Any]]:
    """``fun``, ``jac`` and ``hessp`` of a scalar function of a vector, for ``scipy.optimize.minimize``.

    Each is one compiled program, takes and returns arrays of NumPy, and further arguments are those of ``args=``. A call of
    ``fun`` computes the gradient, too, which the next ``jac`` at the same point returns.

    >>> fun, jac, hessp = ct.scipy.objective(lambda x: ct.sum(x**3))
    >>> x = np.array([1.0, 2.0])
    >>> fun(x), jac(x), hessp(x, x)
    (9.0, array([ 3., 12.]), array([ 6., 24.]))
    """
    import numpy as np
    both = ct.jit(ct.value_and_grad(f))
    product = ct.jit(lambda x, v, *args: ct.hvp(lambda y: f(y, *args), (x,), (v,))[0])
    # The point and arguments of the last call of `fun`, and its gradient until `jac` takes it: arguments, and parameters that
    # `f` reads, may change between two calls of `fun`.
    last: list[Any] = []

    def fun(x: Any, *args: Any) -> float:
        value, gradient = both(np.asarray(x, dtype=float), *args)
        last[:] = [np.array(x), args, gradient]
        return float(value)

    def jac(x: Any, *args: Any) -> Any:
        found, last[:] = list(last), []
        if found and np.array_equal(found[0], x) and _same(found[1], args):
            return np.array(found[2])
        return np.array(both(np.asarray(x, dtype=float), *args)[1])

    def hessp(x: Any, p: Any, *args: Any) -> Any:
        return np.asarray(product(np.asarray(x, dtype=float), np.asarray(p, dtype=float), *args))

    return fun, jac, hessp


def _same(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def linear_operator(f: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of ``f`` at ``x`` as a ``scipy.sparse.linalg.LinearOperator`` on vectors.

    >>> A = ct.scipy.linear_operator(lambda x: x**2, [1.0, 2.0])
    >>> A @ np.ones(2)
    array([2., 4.])
    """
    import numpy as np
    from scipy.sparse.linalg import LinearOperator
    x = ct.asarray(x)
    y = ct.jit(f)(x)
    push = ct.jit(lambda x, t: ct.jvp(f, (x,), (t,))[1])
    pull = ct.jit(lambda x, t: ct.vjp(f, x)[1](t)[0])
    dtype = np.asarray(y).dtype

    def matvec(t: Any) -> Any:
        return np.asarray(push(x, np.asarray(t, dtype=dtype).reshape(x.shape))).reshape(-1)

    def rmatvec(t: Any) -> Any:
        return np.asarray(pull(x, np.asarray(t, dtype=dtype).reshape(y.shape))).reshape(-1)

    return LinearOperator((y.size, x.size), matvec=matvec, rmatvec=rmatvec, dtype=dtype)


__all__ = ["objective", "linear_operator"]
