"""Optimisers in loops."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, program


def rosenbrock(x):
    return jnp.sum(5 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@program("adam_100x8", "slices", [f64(8, r="normal:0.5"), f64(r="value:0.03")], [0, 1])
def adam(x, rate):
    def step(c, t):
        x, m, v = c
        g = jax.grad(rosenbrock)(x)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return (x - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-6), m, v), None

    return lax.scan(step, (x, jnp.zeros(8), jnp.zeros(8)), jnp.arange(1.0, 101.0))[0][0]


@program("bfgs_25x4", "product", [f64(4, r="normal:0.5")])
def bfgs(x):
    """An estimate of the inverse Hessian, and a line search that halves its step while it must."""

    def step(c, _):
        x, h = c
        g = jax.grad(rosenbrock)(x)
        d = -h @ g
        a = lax.while_loop(lambda a: (rosenbrock(x + a * d) > rosenbrock(x) + 1e-4 * a * (g @ d)) & (a > 1e-4), lambda a: a / 2, jnp.ones(()))
        s = a * d
        y = jax.grad(rosenbrock)(x + s) - g
        r = 1 / (s @ y + 1e-12)
        e = jnp.eye(4) - r * jnp.outer(s, y)
        h = jnp.where(s @ y > 1e-10, e @ h @ e.T + r * jnp.outer(s, s), h)
        return (x + s, h), rosenbrock(x)

    return lax.scan(step, (x, 0.1 * jnp.eye(4)), None, length=25)[1]


@program("conjugate_gradients_10", "product", [f64(10, 10, r="positive"), f64(10)])
def conjugate_gradients(a, b):
    def body(c):
        x, r, p, rr, n = c
        ap = a @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + new / rr * p, new, n + 1

    return lax.while_loop(lambda c: (c[3] > 1e-22) & (c[4] < 40), body, (jnp.zeros(10), b, b, b @ b, 0))[0]


@program("minimal_residual_12x20", "product", [f32(20, 20, r="regular"), f32(20)], [0, 1])
def minimal_residual(a, b):
    def step(x, _):
        r = b - a @ x
        ar = a @ r
        return x + (r @ ar) / (ar @ ar + 1e-9) * r, None

    return lax.scan(step, jnp.zeros(20, jnp.float32), None, length=12)[0]


@program("simplex_search_60", "sort", [f64(3, 2)])
def simplex_search(points):
    """Nelder's and Mead's search in the plane: three vertices are sorted, and branches within branches."""

    def f(p):
        return (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2

    def step(p, _):
        y = jax.vmap(f)(p)
        order = jnp.argsort(y)
        p, y = p[order], y[order]
        c = (p[0] + p[1]) / 2
        r = 2 * c - p[2]

        def expand():
            e = 3 * c - 2 * p[2]
            return p.at[2].set(jnp.where(f(e) < f(r), e, r))

        def contract():
            k = (c + p[2]) / 2
            return lax.cond(f(k) < y[2], lambda: p.at[2].set(k), lambda: (p + p[0]) / 2)

        p = lax.cond(f(r) < y[0], expand, lambda: lax.cond(f(r) < y[1], lambda: p.at[2].set(r), contract))
        return p, jnp.min(y)

    return lax.scan(step, points, None, length=60)[1]


@program("golden_section_64", "branch", [f64(64)])
def golden_section(shifts):
    """Minima of 64 functions, one after another, each to a tolerance."""
    g = 0.6180339887498949

    def search(shift):
        def f(x):
            return (x - shift) ** 2 + 0.3 * jnp.sin(3 * x)

        def body(c):
            a, b = c
            x, y = b - g * (b - a), a + g * (b - a)
            return lax.cond(f(x) < f(y), lambda: (a, y), lambda: (x, b))

        a, b = lax.while_loop(lambda c: c[1] - c[0] > 1e-8, body, (shift - 1, shift + 1))
        return (a + b) / 2

    return lax.map(search, shifts)


@program("levenberg_marquardt_15x30", "solve", [f64(3, r="value:0.7"), f64(30, r="uniform"), f64(30)])
def levenberg_marquardt(p, xs, noise):
    ys = 2 * jnp.exp(-3 * xs) + 0.5 + 0.01 * noise

    def residual(p):
        return p[0] * jnp.exp(-p[1] * xs) + p[2] - ys

    def step(c, _):
        p, damping = c
        r, j = residual(p), jax.jacfwd(residual)(p)
        q = p - jnp.linalg.solve(j.T @ j + damping * jnp.eye(3), j.T @ r)
        better = jnp.sum(residual(q) ** 2) < jnp.sum(r**2)
        return lax.cond(better, lambda: (q, damping / 3), lambda: (p, damping * 4)), jnp.sum(r * r)

    return lax.scan(step, (p, jnp.array(0.1)), None, length=15)[0][0]


@program("limited_memory_30x5x10", "update", [f64(10, r="normal:0.5")])
def limited_memory(x):
    """The two loops of limited-memory BFGS over a ring of five pairs."""

    def step(c, t):
        x, ss, ys, rho = c
        g = jax.grad(rosenbrock)(x)

        def down(q, k):
            i = (t + 4 - k) % 5
            a = rho[i] * (ss[i] @ q)
            return q - a * ys[i], a

        q, alphas = lax.scan(down, g, jnp.arange(5))

        def up(r, ka):
            k, a = ka
            i = (t + k) % 5
            return r + ss[i] * (a - rho[i] * (ys[i] @ r)), None

        r, _ = lax.scan(up, 0.05 * q, (jnp.arange(5), alphas[::-1]))
        s = -0.5 * r / jnp.maximum(1.0, jnp.sqrt(r @ r))
        y = jax.grad(rosenbrock)(x + s) - g
        i = t % 5
        keep = jnp.where(s @ y > 1e-10, 1.0, 0.0)
        return (x + s, ss.at[i].set(keep * s), ys.at[i].set(keep * y), rho.at[i].set(keep / (jnp.abs(s @ y) + 1e-12))), rosenbrock(x)

    return lax.scan(step, (x, jnp.zeros((5, 10)), jnp.zeros((5, 10)), jnp.zeros(5)), jnp.arange(30))[1]


@program("sinkhorn_50x12x15", "fold", [f32(12, 15), f32(r="value:0.3")], [0, 1])
def sinkhorn(cost, eps):
    def step(c, _):
        f, g = c
        f = -eps * jax.nn.logsumexp((g[None] - cost) / eps, 1)
        g = -eps * jax.nn.logsumexp((f[:, None] - cost) / eps, 0)
        return (f, g), None

    f, g = lax.scan(step, (jnp.zeros(12, jnp.float32), jnp.zeros(15, jnp.float32)), None, length=50)[0]
    return jnp.sum(f) / 12 + jnp.sum(g) / 15


@program("clusters_20x60x4", "scatter", [f32(60, 3)])
def clusters(x):
    """Lloyd's algorithm: the nearest centre of each point, and new centres by sums over segments."""

    def step(centres, _):
        label = jnp.argmin(jnp.sum((x[:, None] - centres[None]) ** 2, -1), 1)
        count = jax.ops.segment_sum(jnp.ones(60, jnp.float32), label, 4)
        return jax.ops.segment_sum(x, label, 4) / jnp.maximum(count, 1)[:, None], None

    return lax.scan(step, x[:4], None, length=20)[0]


@program("soft_threshold_100x16x24", "product", [f32(16, 24, r="normal:0.25"), f32(16), f32(r="value:0.05")], [0, 1, 2])
def soft_threshold(a, b, weight):
    """Proximal gradients with momentum."""

    def step(c, k):
        x, z = c
        u = z - 0.2 * (a.T @ (a @ z - b))
        new = jnp.sign(u) * jnp.maximum(jnp.abs(u) - 0.2 * weight, 0)
        return (new, new + k / (k + 3) * (new - x)), None

    z = jnp.zeros(24, jnp.float32)
    return lax.scan(step, (z, z), jnp.arange(100, dtype=jnp.float32))[0][0]


@program("coordinate_descent_30x12", "update", [f64(12, 12, r="positive"), f64(12)], [0, 1])
def coordinate_descent(a, b):
    """One unknown after another, within sweeps."""

    def coordinate(i, x):
        return x.at[i].add((b[i] - a[i] @ x) / a[i, i])

    return lax.fori_loop(0, 30, lambda _, x: lax.fori_loop(0, 12, coordinate, x), jnp.zeros(12))


@program("annealing_tour_300x16", "gather", [f32(16, 2), f32(300, 3, r="uniform")])
def annealing_tour(cities, us):
    """A tour is reversed between two places: a gather with indices made from data."""

    def length(tour):
        p = cities[tour]
        return jnp.sum(jnp.sqrt(jnp.sum((p - jnp.roll(p, 1, 0)) ** 2, 1)))

    def step(c, u):
        tour, l, t = c
        i, j = jnp.sort((u[:2] * 16).astype(jnp.int32))
        k = jnp.arange(16, dtype=jnp.int32)
        new = tour[jnp.where((k >= i) & (k <= j), i + j - k, k)]
        m = length(new)
        ok = u[2] < jnp.exp((l - m) / t)
        return (jnp.where(ok, new, tour), jnp.where(ok, m, l), t * 0.98), l

    start = jnp.arange(16, dtype=jnp.int32)
    return lax.scan(step, (start, length(start), jnp.float32(1)), us)[1]
