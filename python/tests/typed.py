"""A program of a user with types: checked by ``mypy --strict``, and run by the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import cotangent as ct

Parameters = dict[str, ct.Array]


def loss(p: Parameters, x: ct.Array) -> ct.Array:
    """A mean of squares."""
    return ct.mean(ct.tanh(x @ p["w"] + p["b"]) ** 2)


def with_aux(p: Parameters, x: ct.Array) -> tuple[ct.Array, int]:
    """The same, with a further result."""
    return loss(p, x), x.shape[0]


@ct.jit
def scaled(x: ct.Array, s: float) -> ct.Array:
    """A compiled function."""
    return x * s


@ct.jit(static_argnames="n")
def power(x: ct.Array, n: int) -> ct.Array:
    """A compiled function with a static argument."""
    return x**n


def transforms(p: Parameters, x: ct.Array) -> None:
    """Results of transforms have the types of the function."""
    assert_type(ct.grad(loss)(p, x), Parameters)
    assert_type(ct.grad(with_aux, has_aux=True)(p, x), tuple[Parameters, Any])
    assert_type(ct.value_and_grad(loss)(p, x), tuple[ct.Array, Parameters])
    assert_type(ct.value_and_grad(with_aux, has_aux=True)(p, x), tuple[tuple[ct.Array, int], Parameters])
    assert_type(ct.jit(loss)(p, x), ct.Array)
    assert_type(ct.jit(ct.grad(loss))(p, x), Parameters)
    assert_type(ct.jit(loss).lower(p, x), ct.Program)
    assert_type(ct.jit(loss).cache_info().hits, int)
    assert_type(scaled(x, 2.0), ct.Array)
    assert_type(power(x, 2), ct.Array)
    assert_type(ct.vmap(loss, in_axes=(None, 0))(p, x[None]), ct.Array)
    assert_type(ct.vmap(ct.grad(loss), in_axes=(None, 0))(p, x[None]), Parameters)
    assert_type(ct.checkpoint(loss)(p, x), ct.Array)
    assert_type(ct.jvp(loss, (p, x), (p, x)), tuple[ct.Array, ct.Array])
    assert_type(ct.vjp(loss, p, x)[0], ct.Array)
    assert_type(ct.linearize(loss, p, x)[0], ct.Array)
    assert_type(ct.trace(loss, p, x).text, str)
    assert_type(ct.tree_map(ct.sin, p), Parameters)
    f: Callable[[ct.Array], ct.Array] = ct.jit(ct.sin)
    assert_type(f(x), ct.Array)
    for g in (ct.grad(lambda y: ct.sum(y * y)), ct.jit(lambda y: y * y), ct.vmap(lambda y: y * y)):
        g(x)


def control(x: ct.Array) -> None:
    """Results of control flow have the types of the bodies."""
    def body(c: ct.Array) -> ct.Array:
        return c * 2.0

    assert_type(ct.while_loop(lambda c: ct.sum(c) < 10.0, body, x + 1.0), ct.Array)
    assert_type(ct.cond(ct.sum(x) > 0.0, body, ct.sin, x), ct.Array)

    def step(c: ct.Array, y: ct.Array) -> tuple[ct.Array, ct.Array]:
        return c + y, c

    assert_type(ct.scan(step, x[0], x), tuple[ct.Array, ct.Array])


def arrays(x: ct.Array) -> None:
    """Members of arrays and results of functions."""
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, ct.DType)
    assert_type(x.at[0].set(1.0), ct.Array)
    assert_type(x.grad, ct.Array | None)
    assert_type(x + 1.0, ct.Array)
    assert_type(1.0 - x, ct.Array)
    assert_type(x == x, ct.Array)
    assert_type(x.sum(axis=0), ct.Array)
    assert_type(float(ct.sum(x)), float)
    assert_type(ct.linalg.svd(x).S, ct.Array)
    assert_type(ct.unique_counts(x).counts, ct.Array)
    assert_type(ct.top_k(x, 1), tuple[ct.Array, ct.Array])
    assert_type(ct.finfo(ct.float64).eps, float)
    assert_type(ct.variable(x), ct.Parameter)


def main() -> float:
    """A step of gradient descent."""
    p: Parameters = {"w": ct.ones((3, 2)), "b": ct.zeros(2)}
    x = ct.ones((4, 3))
    step = ct.jit(ct.value_and_grad(loss))
    value, g = step(p, x)
    p = ct.tree_map(lambda a, b: a - 0.1 * b, p, g)
    q = ct.linalg.solve(ct.eye(2), p["b"])
    with ct.no_grad():
        y = ct.where(q > 0.0, q, -q)
    transforms(p, x)
    control(x)
    arrays(x)
    return float(value) + float(ct.sum(y, axis=0))


if __name__ == "__main__":
    print(main())
