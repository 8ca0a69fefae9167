"""Steppers of ordinary and partial differential equations."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, program


def repeat(step, carry, n):
    return lax.scan(lambda c, _: (step(c), None), carry, None, length=n)[0]


@program("rk4_van_der_pol_1000", "scalars", [f64(r="value:1.2"), f64(r="value:0.7")], [0, 1])
def van_der_pol(mu, x0):
    def f(x, v):
        return v, mu * (1 - x * x) * v - x

    def step(c):
        x, v = c
        h = 0.01
        a, b = f(x, v)
        p, q = f(x + h / 2 * a, v + h / 2 * b)
        r, s = f(x + h / 2 * p, v + h / 2 * q)
        t, u = f(x + h * r, v + h * s)
        return x + h / 6 * (a + 2 * p + 2 * r + t), v + h / 6 * (b + 2 * q + 2 * s + u)

    x, v = repeat(step, (x0, jnp.zeros_like(x0)), 1000)
    return x * v


@program("rk45_lotka_volterra", "stack", [f64(4, r="value:0.8")])
def lotka_volterra(p):
    """Dormand-Prince with step control, until the time is over."""
    rows = ([1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729])
    rows += ([9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656], [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
    fourth = (5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)

    def f(y):
        return jnp.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])

    def body(c):
        t, h, y, n = c
        k = [f(y)]
        for row in rows:
            z = y + h * sum(a * k for a, k in zip(row, k))
            k.append(f(z))
        e = jnp.max(jnp.abs(z - y - h * sum(b * k for b, k in zip(fourth, k)))) + 1e-16
        ok = e < 1e-7
        return jnp.where(ok, t + h, t), h * jnp.clip(0.9 * (1e-7 / e) ** 0.2, 0.3, 3.0), jnp.where(ok, z, y), n + 1

    t, _, y, n = lax.while_loop(lambda c: c[0] < 20.0, body, (0.0, 0.05, jnp.array([1.5, 0.6]), 0))
    return jnp.concatenate([y, jnp.stack([t, n.astype(y.dtype)])])


@program("adams_bashforth_2000x2", "slices", [f64(2, r="value:0.5"), f64(2, 2, r="value:0.3")], [0, 1])
def adams_bashforth(y0, a):
    """Four past slopes are rows of one array, the newest first."""
    w = jnp.array([55.0, -59.0, 37.0, -9.0]) / 24

    def f(y):
        return a @ jnp.sin(y) - y

    def step(c):
        y, past = c
        y = y + 0.005 * (w @ past)
        return y, jnp.concatenate([f(y)[None], past[:3]])

    return repeat(step, (y0, jnp.broadcast_to(f(y0), (4, 2))), 2000)[0]


@program("verlet_kepler_1000", "fold", [f64(2, r="value:1"), f64(r="value:0.4")], [0, 1])
def kepler(x0, e):
    """The velocity form of Verlet's method, in the plane."""

    def force(x):
        return -x / jnp.sum(x * x) ** 1.5

    def step(c):
        x, v = c
        v = v + 0.005 * force(x)
        x = x + 0.01 * v
        return x, v + 0.005 * force(x)

    x, v = repeat(step, (x0, jnp.stack([-e, e])), 1000)
    return jnp.concatenate([x, v])


@program("yoshida_henon_heiles_300x4", "nested", [f64(r="value:0.3"), f64(r="value:0.1")], [0, 1])
def henon_heiles(x0, y0):
    """Of fourth order and symplectic: a loop over its coefficients within the loop over time."""
    w1 = 1 / (2 - 2 ** (1 / 3))
    w0 = 1 - 2 * w1
    cs = jnp.array([w1 / 2, (w0 + w1) / 2, (w0 + w1) / 2, w1 / 2])
    ds = jnp.array([w1, w0, w1, 0.0])

    def kick(s, cd):
        x, y, u, v = s
        x, y = x + 0.05 * cd[0] * u, y + 0.05 * cd[0] * v
        return (x, y, u - 0.05 * cd[1] * (x + 2 * x * y), v - 0.05 * cd[1] * (y + x * x - y * y)), None

    x, y, u, v = repeat(lambda s: lax.scan(kick, s, (cs, ds))[0], (x0, y0, 0.2 + 0 * x0, 0.1 + 0 * x0), 300)
    return (u * u + v * v + x * x + y * y) / 2 + x * x * y - y**3 / 3


@program("implicit_euler_robertson_60x5", "solve", [f64(3, r="value:1")], [0], tol=1e-5)
def robertson(k):
    """Stiff kinetics: five Newton steps with a Jacobian of 3 x 3 in each step of time."""

    def f(y):
        a, b, c = 0.04 * k[0] * y[0], 10.0 * k[1] * y[1] * y[2], 30.0 * k[2] * y[1] * y[1]
        return jnp.array([b - a, a - b - c, c])

    def step(y):
        def newton(z):
            return z - jnp.linalg.solve(jnp.eye(3) - 0.1 * jax.jacfwd(f)(z), z - y - 0.1 * f(z))

        return repeat(newton, y, 5)

    return repeat(step, jnp.array([1.0, 0.0, 0.0]), 60)


@program("bdf2_stiff_500x4", "nested", [f32(r="value:8"), f32(r="value:1")], [0, 1])
def bdf2(stiff, y0):
    """The second backward differentiation formula for one unknown; four Newton steps each."""
    h = 0.01

    def step(c, _):
        y, old, t = c
        t = t + h

        def newton(z):
            g = z - (4 * y - old) / 3 - 2 / 3 * h * (-stiff * (z - jnp.cos(t)) - z**3)
            return z - g / (1 + 2 / 3 * h * (stiff + 3 * z * z))

        return (repeat(newton, y, 4), y, t), y

    return lax.scan(step, (y0, y0, jnp.zeros_like(y0)), None, length=500)[1]


@program("crank_nicolson_50x32", "nested", [f64(32), f64(r="value:0.7")], [0, 1])
def crank_nicolson(u, r):
    """Heat in a bar: each step solves a tridiagonal system by a loop forth and a loop back."""

    def forth(c, d):
        cp, dp = c
        m = 1 + r + r / 2 * cp
        cp, dp = -(r / 2) / m, (d + r / 2 * dp) / m
        return (cp, dp), (cp, dp)

    def back(x, cd):
        x = cd[1] - cd[0] * x
        return x, x

    def step(u):
        p = jnp.pad(u, 1)
        d = r / 2 * (p[:-2] + p[2:]) + (1 - r) * u
        z = jnp.zeros((), u.dtype)
        _, cd = lax.scan(forth, (z, z), d)
        return lax.scan(back, z, cd, reverse=True)[1]

    return repeat(step, u, 50)


@program("euler_maruyama_200x64", "elementwise", [f32(200, 64), f32(r="value:0.5"), f32(r="value:0.2")], [1, 2])
def euler_maruyama(noise, theta, sigma):
    def step(x, n):
        x = x + 0.02 * theta * (1 - x) * x + sigma * jnp.sqrt(0.02) * jnp.abs(x) ** 0.75 * n
        return x, None

    return jnp.mean(lax.scan(step, jnp.full(64, 0.5, jnp.float32), noise)[0])


@program("implicit_midpoint_pendulum_200", "fold", [f64(2, r="value:0.9")])
def implicit_midpoint(s0):
    """Fixed points are iterated until they stand: the number of trips is known when it is reached."""

    def f(s):
        return jnp.array([1.0, -1.0]) * jnp.stack([s[1], jnp.sin(s[0])])

    def step(s):
        def body(c):
            return s + 0.1 * f((s + c[0]) / 2), c[0]

        return lax.while_loop(lambda c: jnp.max(jnp.abs(c[0] - c[1])) > 1e-10, body, (s + 0.1 * f(s), s))[0]

    return repeat(step, s0, 200)


@program("bodies_5x3_leapfrog_200", "fold", [f64(5, 3), f64(5, r="above")], [0, 1])
def bodies(x, m):
    def acceleration(x):
        d = x[None] - x[:, None]
        return jnp.einsum("ij,ijk->ik", m * (jnp.sum(d * d, -1) + 0.3) ** -1.5, d)

    def step(c):
        x, v = c
        x = x + 0.005 * v
        v = v + 0.01 * acceleration(x)
        return x + 0.005 * v, v

    return repeat(step, (x, jnp.zeros_like(x)), 200)[0]


@program("kuramoto_300x16", "fold", [f32(16), f32(16, r="uniform"), f32(r="value:0.8")], [0, 1, 2])
def kuramoto(phase, omega, k):
    return repeat(lambda p: p + 0.05 * (omega + k * jnp.mean(jnp.sin(p[None] - p[:, None]), 1)), phase, 300)


@program("toda_lattice_300x24", "slices", [f64(24, r="normal:0.3")], [0])
def toda(q):
    def step(c):
        q, p = c
        bond = jnp.pad(jnp.exp(-jnp.diff(q)), 1)
        p = p + 0.02 * jnp.diff(-bond)
        return q + 0.02 * p, p

    return repeat(step, (q, jnp.zeros_like(q)), 300)[1]


@program("mackey_glass_1000x32", "update", [f64(32, r="above"), f64(r="value:0.2")], [0, 1])
def mackey_glass(history, beta):
    """A delay equation: the oldest entry of a ring is read and written over."""

    def step(c, i):
        ring, x = c
        old = ring[i % 32]
        x = x + 0.5 * (beta * old / (1 + old**10) - 0.1 * x)
        return (ring.at[i % 32].set(x), x), x

    return lax.scan(step, (history, history[31]), jnp.arange(1000))[1]


@program("burgers_upwind_100x64", "rolls", [f32(64), f32(r="value:0.01")], [0, 1])
def burgers(u, nu):
    def step(u):
        left, right = jnp.roll(u, 1), jnp.roll(u, -1)
        return u - 0.1 * u * jnp.where(u > 0, u - left, right - u) + nu * (left - 2 * u + right)

    return repeat(step, 0.5 * u, 100)


@program("hodgkin_huxley_1000", "scalars", [f64(r="value:10"), f64(r="value:36")], [0, 1], tol=1e-5)
def hodgkin_huxley(current, gk):
    def step(c):
        v, m, h, n, spikes = c
        am, bm = 0.1 * (v + 40.0) / (1 - jnp.exp(-(v + 40.0) / 10) + 1e-9), 4 * jnp.exp(-(v + 65.0) / 18)
        ah, bh = 0.07 * jnp.exp(-(v + 65.0) / 20), 1 / (1 + jnp.exp(-(v + 35.0) / 10))
        an, bn = 0.01 * (v + 55.0) / (1 - jnp.exp(-(v + 55.0) / 10) + 1e-9), 0.125 * jnp.exp(-(v + 65.0) / 80)
        i = 120 * m**3 * h * (v - 50) + gk * n**4 * (v + 77) + 0.3 * (v + 54.4)
        w = v + 0.01 * (current - i)
        return w, m + 0.01 * (am * (1 - m) - bm * m), h + 0.01 * (ah * (1 - h) - bh * h), n + 0.01 * (an * (1 - n) - bn * n), spikes + ((v < 0) & (w >= 0))

    v, _, _, n, spikes = repeat(step, (0 * gk - 65.0, 0 * gk + 0.05, 0 * gk + 0.6, 0 * gk + 0.32, jnp.int32(0)), 1000)
    return v + n + spikes


@program("bouncing_ball_600", "branch", [f32(r="value:1.5"), f32(r="value:0.8")], [0, 1])
def bouncing_ball(height, restitution):
    def bounce(y, v):
        return -y * restitution, -v * restitution

    def step(c):
        y, v = c
        y, v = y + 0.01 * v, v - 0.0981
        return lax.cond(y < 0, bounce, lambda y, v: (y, v * 0.999), y, v)

    y, v = repeat(step, (height, jnp.zeros_like(height)), 600)
    return y + v
