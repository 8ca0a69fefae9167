"""A program of a user with types: checked by ``mypy --strict``, and run by the tests."""

from __future__ import annotations

from typing import Any

import cotangent as ct


def loss(p: dict[str, ct.Array], x: ct.Array) -> ct.Array:
    """A mean of squares."""
    return ct.mean(ct.tanh(x @ p["w"] + p["b"]) ** 2)


def main() -> float:
    """A step of gradient descent."""
    p: dict[str, ct.Array] = {"w": ct.ones((3, 2)), "b": ct.zeros(2)}
    step = ct.jit(ct.value_and_grad(loss))
    value, g = step(p, ct.ones((4, 3)))
    p = ct.tree_map(lambda a, b: a - 0.1 * b, p, g)
    q: Any = ct.linalg.solve(ct.eye(2), p["b"])
    with ct.no_grad():
        y = ct.where(q > 0.0, q, -q)
    return float(value) + float(ct.sum(y, axis=0))


if __name__ == "__main__":
    print(main())
