"""Cellular automata."""

import jax.numpy as jnp
from jax import lax

from . import f32, i32, program, u32


@program("rule_110_100x128", "rolls", [i32(2, 128)])
def rule_110(cells):
    def step(c, _):
        left, right = jnp.roll(c, 1), jnp.roll(c, -1)
        c = (c | right) & ~(left & c & right)
        return c, c

    return lax.scan(step, cells > 0, None, length=100)[1]


@program("rule_30_words_200x8", "bits", [u32(8)])
def rule_30(words):
    """256 cells in eight words: neighbours come by shifts and from the next word."""

    def step(w, _):
        left = (w >> 1) | (jnp.roll(w, 1) << 31)
        right = (w << 1) | (jnp.roll(w, -1) >> 31)
        w = left ^ (w | right)
        return w, lax.population_count(w)

    return lax.scan(step, words, None, length=200)[1]


@program("life_40x24x24", "rolls", [i32(2, 24, 24)])
def life(cells):
    def step(_, c):
        n = sum(jnp.roll(c, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((n == 3) | ((n == 2) & (c == 1))).astype(jnp.int8)

    return lax.fori_loop(0, 40, step, cells.astype(jnp.int8))


@program("smooth_life_20x16x16", "slices", [f32(16, 16, r="uniform"), f32(3, 3, r="uniform")], [0, 1])
def smooth_life(u, kernel):
    """A weighted sum of nine neighbours through a bell."""
    kernel = kernel / jnp.sum(kernel)

    def step(u, _):
        p = jnp.pad(u, 1, mode="wrap")
        s = sum(kernel[i, j] * p[i : i + 16, j : j + 16] for i in range(3) for j in range(3))
        return jnp.clip(u + 0.2 * (2 * jnp.exp(-20 * (s - 0.4) ** 2) - 1), 0, 1), None

    return lax.scan(step, u, None, length=20)[0]


@program("ant_500x16x16", "update", [i32(2, 16, 16)])
def ant(grid):
    """Langton's ant turns by the cell on which it stands, changes it, and steps."""
    dy, dx = jnp.array([-1, 0, 1, 0], jnp.int32), jnp.array([0, 1, 0, -1], jnp.int32)

    def step(_, c):
        grid, y, x, way = c
        cell = grid[y, x]
        way = (way + jnp.where(cell == 0, 1, 3)) % 4
        return grid.at[y, x].set(1 - cell), (y + dy[way]) % 16, (x + dx[way]) % 16, way

    return lax.fori_loop(0, 500, step, (grid, jnp.int32(8), jnp.int32(8), jnp.int32(0)))[0]


@program("sandpile_12x12", "slices", [i32(8, 12, 12)])
def sandpile(grains):
    """Piles of four and more fall, until none is left."""

    def body(g):
        falls = (g >= 4).astype(jnp.int32)
        p = jnp.pad(falls, 1)
        return g - 4 * falls + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]

    return lax.while_loop(lambda g: jnp.any(g >= 4), body, grains)


@program("ising_sweep_400x12x12", "update", [u32(), f32(r="value:0.6")])
def ising(seed, beta):
    """Single spins turn by Metropolis' rule; the numbers come from a congruential generator in the carry."""

    def step(c, _):
        spins, s, energy = c
        s = s * jnp.uint32(1664525) + jnp.uint32(1013904223)
        y, x = (s >> 8).astype(jnp.int32) % 12, (s >> 20).astype(jnp.int32) % 12
        around = spins[(y + 1) % 12, x] + spins[(y + 11) % 12, x] + spins[y, (x + 1) % 12] + spins[y, (x + 11) % 12]
        change = 2.0 * spins[y, x] * around
        s = s * jnp.uint32(1664525) + jnp.uint32(1013904223)
        turns = (s >> 9).astype(jnp.float32) / 2**23 < jnp.exp(-beta * change)
        spins = spins.at[y, x].multiply(jnp.where(turns, -1.0, 1.0).astype(jnp.float32))
        energy = energy + jnp.where(turns, change, 0.0)
        return (spins, s, energy), energy

    start = (jnp.ones((12, 12), jnp.float32), seed, jnp.zeros((), jnp.float32))
    return lax.scan(step, start, None, length=400)[1]
