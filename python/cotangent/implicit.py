"""Values defined by equations: their derivatives are those of the equation, not of the iteration."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from cotangent import _cotangent

Solution = collections.namedtuple("Solution", "x residual steps converged")


def _solved(kind: str, f: Callable[[Any], Any], x0: Any, tol: float | None, max_steps: int | None, full: bool) -> Any:
    y = _cotangent.solve_equation(kind, f, x0, tol, max_steps, full)
    return Solution(*y) if full else y


def root(f: Callable[[Any], Any], x0: Any, *, tol: float | None = None, max_steps: int = 200, full: bool = False) -> Any:
    """The x near ``x0`` with ``f(x) = 0``, by Newton's method.

    Without convergence it is a :class:`NotConvergedError`; with ``full`` a Solution(x, residual, steps, converged).
    """
    return _solved("root", f, x0, tol, max_steps, full)


def fixed_point(f: Callable[[Any], Any], x0: Any, *, tol: float | None = None, max_steps: int = 10000, full: bool = False) -> Any:
    """The x with ``x = f(x)``, by iteration from ``x0``."""
    return _solved("fixed_point", f, x0, tol, max_steps, full)


def argmin(f: Callable[[Any], Any], x0: Any, *, tol: float | None = None, max_steps: int | None = None, full: bool = False) -> Any:
    """A local minimum of a real scalar ``f(x)`` near ``x0``."""
    return _solved("argmin", f, x0, tol, max_steps, full)


def linear_solve(matvec: Callable[[Any], Any], b: Any, *, solver: str = "auto", tol: float | None = None) -> Any:
    """The x with ``matvec(x) = b`` for a linear function; ``solver`` is "gmres", "cg" (symmetric positive definite) or "dense"."""
    return _cotangent.linear_solve(matvec, b, solver, tol)


NAMES = ["root", "fixed_point", "argmin", "linear_solve"]
__all__ = [*NAMES, "Solution"]
