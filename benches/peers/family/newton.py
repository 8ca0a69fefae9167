"""Newton iterations and other small dense iterations."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, program


@program("newton_system_32x3", "solve", [f64(32, 3, r="normal:0.3"), f64(3, 3, r="regular")], [0, 1])
def newton_system(b, a):
    """Systems of three equations, all at once, eight steps."""

    def f(x, b):
        return a @ x + 0.1 * x**3 - b

    def step(x, _):
        return jax.vmap(lambda x, b: x - jnp.linalg.solve(jax.jacfwd(f)(x, b), f(x, b)))(x, b), None

    return lax.scan(step, b, None, length=8)[0]


@program("newton_one_system_50x3", "solve", [f64(50, 3, r="normal:0.3"), f64(3, 3, r="regular")], [0, 1])
def newton_one_system(bs, a):
    """Systems one after another: four steps of Newton's method each, from the solution of the last."""

    def solve(x, b):
        for _ in range(4):
            x = x - jnp.linalg.solve(a + 0.3 * jnp.diag(x**2), a @ x + 0.1 * x**3 - b)
        return x, x

    return lax.scan(solve, jnp.zeros(3), bs)[1]


@program("matrix_root_12x3", "solve", [f64(3, 3, r="positive")], [0])
def matrix_root(a):
    """Denman's and Beavers' iteration: two inverses a step."""

    def step(c, _):
        y, z = c
        return ((y + jnp.linalg.inv(z)) / 2, (z + jnp.linalg.inv(y)) / 2), None

    return lax.scan(step, (a, jnp.eye(3)), None, length=12)[0][0]


@program("jacobi_rotations_6x5", "update", [f64(5, 5, r="positive")])
def jacobi_rotations(a):
    """Eigenvalues by plane rotations, each of which reads and writes two rows and two columns."""
    pairs = jnp.array([(i, j) for i in range(5) for j in range(i + 1, 5)], jnp.int32)

    def rotate(a, pq):
        p, q = pq
        angle = 0.5 * jnp.arctan2(2 * a[p, q], a[p, p] - a[q, q])
        c, s = jnp.cos(angle), jnp.sin(angle)
        rp, rq = a[p], a[q]
        a = a.at[p].set(c * rp + s * rq).at[q].set(c * rq - s * rp)
        cp, cq = a[:, p], a[:, q]
        return a.at[:, p].set(c * cp + s * cq).at[:, q].set(c * cq - s * cp), None

    a = lax.scan(lambda a, _: (lax.scan(rotate, a, pairs)[0], None), a, None, length=6)[0]
    return jnp.sort(jnp.diagonal(a))


@program("gram_schmidt_iteration_40x4x2", "fold", [f64(4, 4, r="positive"), f64(4, 2)], [0])
def gram_schmidt_iteration(a, v):
    """The two largest eigenvalues by orthogonal iteration."""

    def step(v, _):
        w = a @ v
        x = w[:, 0] / jnp.sqrt(jnp.sum(w[:, 0] ** 2))
        y = w[:, 1] - x * jnp.sum(x * w[:, 1])
        return jnp.stack([x, y / jnp.sqrt(jnp.sum(y * y))], 1), None

    v = lax.scan(step, v, None, length=40)[0]
    return jnp.sum(v * (a @ v), 0)


@program("elimination_7", "update", [f64(7, 7, r="regular"), f64(7)])
def elimination(a, b):
    """Gauss with pivots, by reads and writes of rows."""

    def column(k, ab):
        pivot = jnp.argmax(jnp.where(jnp.arange(7) >= k, jnp.abs(ab[:, k]), -1.0))
        top, row = ab[pivot], ab[k]
        ab = ab.at[pivot].set(row).at[k].set(top)
        factor = jnp.where(jnp.arange(7) > k, ab[:, k] / top[k], 0.0)
        return ab - factor[:, None] * top[None]

    ab = lax.fori_loop(0, 7, column, jnp.concatenate([a, b[:, None]], 1))

    def back(n, x):
        k = 6 - n
        return x.at[k].set((ab[k, 7] - ab[k, :7] @ x) / ab[k, k])

    return lax.fori_loop(0, 7, back, jnp.zeros(7))


@program("durand_kerner_40x5", "fold", [f64(5, r="normal:0.5")], tol=1e-6)
def durand_kerner(c):
    """All roots of a polynomial at once, in complex numbers."""
    powers = (0.4 + 0.9j) ** jnp.arange(5)

    def step(z, _):
        p = jnp.ones_like(z)
        for k in range(5):
            p = p * z + c[k]
        d = z[:, None] - z[None, :] + jnp.eye(5)
        return z - p / jnp.prod(d, 1), None

    z = lax.scan(step, powers.astype(jnp.complex128), None, length=40)[0]
    return jnp.sum(jnp.abs(z)) + jnp.sum(jnp.real(z * z))


@program("exponential_series_16x4", "product", [f32(4, 4, r="normal:0.3")], [0])
def exponential_series(a):
    """The exponential of a matrix: a series of sixteen terms, then squares."""

    def term(c, k):
        t, s = c
        t = t @ a / k
        return (t, s + t), None

    one = jnp.eye(4, dtype=jnp.float32)
    _, s = lax.scan(term, (one, one), jnp.arange(1, 17, dtype=jnp.float32))[0]
    return lax.fori_loop(0, 3, lambda _, s: s @ s, s)


@program("continued_fraction_200x30", "scalars", [f32(200, r="above:3")])
def continued_fraction(xs):
    """Lentz's method for each number, until its terms are one."""

    def one(x):
        def body(c):
            f, cc, d, k = c
            a = -k * (k - 0.5)
            b = x + 2 * k + 0.5
            d = 1 / (b + a * d)
            cc = b + a / cc
            return f * cc * d, cc, d, k + 1

        start = x + 0.5
        return lax.while_loop(lambda c: (jnp.abs(c[1] * c[2] - 1) > 1e-6) & (c[3] < 30), body, (start, start, 1 / (start + 2), jnp.float32(1)))[0]

    return lax.map(one, xs)
