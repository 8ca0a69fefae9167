"""Values defined by equations: their derivatives are those of the equation, not of the iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cotangent import _cotangent
from cotangent._cotangent import Array
from cotangent._transforms import once, recorded


class Solution(NamedTuple):
    """A solution, its residual, the number of steps, and whether they converged.

    >>> s = ct.implicit.root(lambda x: x * x - 4.0, 1.0, full=True)
    >>> round(float(s.x), 9), bool(s.converged)
    (2.0, True)
    """

    x: Any
    residual: Array
    steps: Array
    converged: Array


def _solved(kind: str, f: Callable[[Any], Any], x0: Any, tol: float | None, max_steps: int | None, full: bool) -> Any:
    if recorded(x0):
        return once(lambda x: _solved(kind, f, x, tol, max_steps, full), x0)
    y = _cotangent.solve_equation(kind, f, x0, tol, max_steps, full)
    return Solution(*y) if full else y


def root(f: Callable[[Any], Any], x0: Any, *, tol: float | None = None, max_steps: int = 200, full: bool = False) -> Any:
    """The x near ``x0`` with ``f(x) = 0``, by Newton's method.

    Without convergence it is a :class:`NotConvergedError`; with ``full`` a Solution(x, residual, steps, converged).

    >>> ct.implicit.root(lambda x: x * x - 2.0, 1.0)
    array(1.41421356, dtype=float64)
    """
    return _solved("root", f, x0, tol, max_steps, full)


def fixed_point(f: Callable[[Any], Any], x0: Any, *, tol: float | None = None, max_steps: int = 10000, full: bool = False) -> Any:
    """The x with ``x = f(x)``, by iteration from ``x0``.

    >>> round(float(ct.implicit.fixed_point(ct.cos, 1.0)), 9)
    0.739085133
    """
    return _solved("fixed_point", f, x0, tol, max_steps, full)


def argmin(f: Callable[[Any], Any], x0: Any, *, tol: float | None = None, max_steps: int | None = None, full: bool = False) -> Any:
    """A local minimum of a real scalar ``f(x)`` near ``x0``.

    >>> ct.round(ct.implicit.argmin(lambda x: (x - 3.0) ** 2, 0.0), 6)
    array(3., dtype=float64)
    """
    return _solved("argmin", f, x0, tol, max_steps, full)


def linear_solve(matvec: Callable[[Any], Any], b: Any, *, solver: str = "auto", tol: float | None = None) -> Any:
    """The x with ``matvec(x) = b`` for a linear function; ``solver`` is "gmres", "cg" (symmetric positive definite) or "dense".

    >>> ct.implicit.linear_solve(lambda x: 2.0 * x, np.array([1.0, 3.0]))
    array([0.5, 1.5], dtype=float64)
    """
    if recorded(b):
        return once(lambda x: linear_solve(matvec, x, solver=solver, tol=tol), b)
    return _cotangent.linear_solve(matvec, b, solver, tol)


__all__ = ["root", "fixed_point", "argmin", "linear_solve", "Solution"]
