"""Images by slices."""

import jax.numpy as jnp
from jax import lax

from . import f32, i32, program


@program("edges_96x96", "none", [f32(96, 96)], [0])
def edges(u):
    """Sobel's slopes and the suppression of what is not the largest along the slope."""
    gx = (u[:-2, 2:] + 2 * u[1:-1, 2:] + u[2:, 2:]) - (u[:-2, :-2] + 2 * u[1:-1, :-2] + u[2:, :-2])
    gy = (u[2:, :-2] + 2 * u[2:, 1:-1] + u[2:, 2:]) - (u[:-2, :-2] + 2 * u[:-2, 1:-1] + u[:-2, 2:])
    m = jnp.sqrt(gx * gx + gy * gy + 1e-6)
    c = m[1:-1, 1:-1]
    flat = jnp.abs(gx[1:-1, 1:-1]) > jnp.abs(gy[1:-1, 1:-1])
    along = jnp.where(flat, jnp.maximum(m[1:-1, 2:], m[1:-1, :-2]), jnp.maximum(m[2:, 1:-1], m[:-2, 1:-1]))
    return jnp.where(c >= along, c, 0)


@program("box_filter_128x128", "none", [f32(128, 128, r="uniform")], [0])
def box_filter(u):
    """Means of 9 x 9 by sums of sums."""
    s = jnp.pad(jnp.cumsum(jnp.cumsum(u, 0), 1), ((1, 0), (1, 0)))
    return (s[9:, 9:] - s[:-9, 9:] - s[9:, :-9] + s[:-9, :-9]) / 81


@program("bilateral_48x48x25", "none", [f32(48, 48, r="uniform")], [0])
def bilateral(u):
    p = jnp.pad(u, 2, mode="edge")
    weight, total = 0.0, 0.0
    for i in range(5):
        for j in range(5):
            v = p[i : i + 48, j : j + 48]
            w = jnp.exp(-((v - u) ** 2) * 8 - ((i - 2) ** 2 + (j - 2) ** 2) * 0.2)
            weight, total = weight + w, total + w * v
    return total / weight


@program("dither_24x24", "nested", [f32(24, 24, r="uniform")])
def dither(u):
    """The errors of Floyd and Steinberg go right and to three pixels below."""

    def row(below, line):
        def pixel(c, x):
            carry, left, here = c
            v = x + carry
            y = jnp.where(v > 0.5, 1.0, 0.0).astype(jnp.float32)
            e = v - y
            return (e * 7 / 16, here + e * 5 / 16, e / 16), (y, left + e * 3 / 16)

        z = jnp.float32(0)
        (_, last, _), (ys, es) = lax.scan(pixel, (z, z, z), line + below)
        return jnp.concatenate([es[1:], last[None]]), ys

    return lax.scan(row, jnp.zeros(24, jnp.float32), u)[1]


@program("seam_40x32", "argmax", [f32(40, 32, r="uniform")])
def seam(energy):
    """The path of least energy from top to bottom."""
    far = jnp.full(1, 1e6, jnp.float32)

    def row(m, e):
        choices = jnp.stack([jnp.concatenate([far, m[:-1]]), m, jnp.concatenate([m[1:], far])])
        return e + jnp.min(choices, 0), (jnp.argmin(choices, 0) - 1).astype(jnp.int32)

    m, moves = lax.scan(row, energy[0], energy[1:])

    def back(x, move):
        return x + move[x], x

    first, path = lax.scan(back, jnp.argmin(m).astype(jnp.int32), moves, reverse=True)
    return jnp.concatenate([first[None], path])


@program("flood_fill_20x20", "slices", [i32(4, 20, 20)])
def flood_fill(u):
    """A region grows until it stands; truth values."""
    free = u > 0

    def grow(c):
        r, _ = c
        p = jnp.pad(r, 1)
        new = free & (p[1:-1, 1:-1] | p[2:, 1:-1] | p[:-2, 1:-1] | p[1:-1, 2:] | p[1:-1, :-2])
        return new, jnp.any(new != r)

    start = free & (jnp.arange(400).reshape(20, 20) % 20 == 0)
    return lax.while_loop(lambda c: c[1], grow, (start, jnp.bool_(True)))[0].astype(jnp.int32)


@program("warp_5x32x32", "gather", [f32(32, 32), f32(5, 2, r="normal:0.5")], [0, 1])
def warp(u, shifts):
    """Five turns, each of which reads four neighbours of a place between pixels."""
    y, x = jnp.meshgrid(jnp.arange(32, dtype=jnp.float32), jnp.arange(32, dtype=jnp.float32), indexing="ij")

    def step(u, s):
        a, b = jnp.clip(y + s[0] + 0.02 * (x - 16), 0, 30.99), jnp.clip(x + s[1] - 0.02 * (y - 16), 0, 30.99)
        i, j = jnp.floor(a).astype(jnp.int32), jnp.floor(b).astype(jnp.int32)
        p, q = a - i, b - j
        return (1 - p) * (1 - q) * u[i, j] + p * (1 - q) * u[i + 1, j] + (1 - p) * q * u[i, j + 1] + p * q * u[i + 1, j + 1], None

    return lax.scan(step, u, shifts)[0]


@program("haar_3x128", "none", [f32(128, 128)], [0])
def haar(u):
    """Three levels of wavelets by steps of two, joined in quarters."""

    def level(u, n):
        if n == 0:
            return u
        a, b, c, d = u[::2, ::2], u[::2, 1::2], u[1::2, ::2], u[1::2, 1::2]
        top = jnp.concatenate([level((a + b + c + d) / 2, n - 1), (a - b + c - d) / 2], 1)
        return jnp.concatenate([top, jnp.concatenate([(a + b - c - d) / 2, (a - b - c + d) / 2], 1)], 0)

    return level(u, 3)


@program("mosaic_64x64", "none", [f32(64, 64, r="uniform")], [0])
def mosaic(raw):
    """Three colours from a pattern of Bayer: means of slices, and interleaved rows and columns."""
    p = jnp.pad(raw, 1, mode="reflect")
    cross = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) / 4
    across, down = (p[1:-1, :-2] + p[1:-1, 2:]) / 2, (p[:-2, 1:-1] + p[2:, 1:-1]) / 2
    corners = (p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]) / 4

    def interleave(a, b, c, d):
        rows = [jnp.stack([x[i::2, ::2], y[i::2, 1::2]], -1).reshape(32, 64) for i, (x, y) in enumerate(((a, b), (c, d)))]
        return jnp.stack(rows, 1).reshape(64, 64)

    return jnp.stack([interleave(raw, across, down, corners), interleave(cross, raw, raw, cross), interleave(corners, down, across, raw)])


@program("equalise_u8_96x96", "none", [i32(200, 96, 96)])
def equalise(u):
    u = u.astype(jnp.uint8)
    counts = jnp.zeros(256, jnp.int32).at[u.reshape(-1)].add(1)
    cdf = jnp.cumsum(counts)
    lowest = jnp.min(jnp.where(counts > 0, cdf, 96 * 96))
    table = jnp.round((cdf - lowest).astype(jnp.float32) / (96 * 96 - lowest).astype(jnp.float32) * 255).astype(jnp.uint8)
    return table[u].astype(jnp.int32)


@program("diffusion_30x40x40", "slices", [f32(40, 40), f32(r="value:0.5")], [0, 1])
def diffusion(u, k):
    """Perona's and Malik's: less flow across edges."""

    def step(u, _):
        dy, dx = jnp.diff(u, axis=0), jnp.diff(u, axis=1)
        dy, dx = dy * jnp.exp(-((dy / k) ** 2)), dx * jnp.exp(-((dx / k) ** 2))
        return u + 0.2 * (jnp.diff(jnp.pad(dy, ((1, 1), (0, 0))), axis=0) + jnp.diff(jnp.pad(dx, ((0, 0), (1, 1))), axis=1)), None

    return lax.scan(step, u, None, length=30)[0]
