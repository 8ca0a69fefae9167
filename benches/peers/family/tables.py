"""Dynamic programming."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, i32, program


@program("levenshtein_40x40", "nested", [i32(4, 40), i32(4, 40)])
def levenshtein(a, b):
    def row(last, x):
        def cell(left, at):
            diagonal, above, y = at
            d = jnp.minimum(jnp.minimum(left, above) + 1, diagonal + (x != y))
            return d, d

        first = last[0] + 1
        _, rest = lax.scan(cell, first, (last[:-1], last[1:], b))
        return jnp.concatenate([first[None], rest]), None

    return lax.scan(row, jnp.arange(41, dtype=jnp.int32), a)[0][-1]


@program("soft_warping_30x30", "slices", [f64(30), f64(30)], [0, 1])
def soft_warping(a, b):
    """Soft dynamic time warping by antidiagonals."""
    n, big = 30, 1e8
    cost = (a[:, None] - b[None, :]) ** 2
    skewed = jnp.stack([jnp.pad(cost[i], (i, n - 1 - i), constant_values=big) for i in range(n)], 1)

    def step(c, d):
        before, last = c
        shifted = jnp.concatenate([jnp.array([big]), last[:-1]])
        corner = jnp.concatenate([jnp.array([big]), before[:-1]])
        best = -0.5 * jax.nn.logsumexp(-jnp.stack([last, shifted, corner]) / 0.5, 0)
        new = jnp.minimum(d + best, big)
        return (last, new), None

    first = jnp.full(n, big).at[0].set(cost[0, 0])
    return lax.scan(step, (jnp.full(n, big), first), skewed[1:])[0][1][-1]


@program("knapsack_40x200", "read", [i32(60, 40), f32(40, r="uniform")], [1])
def knapsack(weights, values):
    """Each item reads the table at an offset: a slice whose start is data."""

    def item(best, wv):
        w, v = wv
        moved = lax.dynamic_slice(jnp.concatenate([jnp.full(64, -1e6, jnp.float32), best]), (63 - w,), (200,))
        return jnp.maximum(best, moved + v), None

    return lax.scan(item, jnp.zeros(200, jnp.float32), (weights, values))[0]


@program("parenthesise_10", "update", [f32(11, r="above:4")])
def parenthesise(p):
    """The least number of multiplications of a chain of matrices: a table, filled by three nested loops."""
    n = 10

    def span(length, table):
        def start(i, table):
            j = i + length

            def split(k, best):
                return jnp.minimum(best, table[i, k] + table[k + 1, j] + p[i] * p[k + 1] * p[j + 1])

            return table.at[i, j].set(lax.fori_loop(i, j, split, jnp.float32(1e9)))

        return lax.fori_loop(0, n - length, start, table)

    return lax.fori_loop(1, n, span, jnp.zeros((n, n), jnp.float32))[0, n - 1]


@program("shortest_paths_24", "read", [f32(24, 24, r="above:3")], [0])
def shortest_paths(d):
    """Floyd's and Warshall's: row and column k of the matrix."""

    def step(d, k):
        return jnp.minimum(d, lax.dynamic_slice_in_dim(d, k, 1, 1) + lax.dynamic_slice_in_dim(d, k, 1, 0)), None

    return lax.scan(step, d, jnp.arange(24))[0]


@program("bellman_ford_20x80", "scatter", [i32(20, 80), i32(20, 80), f32(80, r="above")])
def bellman_ford(source, target, length):
    """Edges relax until no distance changes."""

    def body(c):
        d, _ = c
        new = d.at[target].min(d[source] + length)
        return new, jnp.any(new < d)

    return lax.while_loop(lambda c: c[1], body, (jnp.full(20, 1e6, jnp.float32).at[0].set(0), jnp.bool_(True)))[0]


@program("coins_6x120", "nested", [i32(9, 6)])
def coins(worth):
    """Counts of ways to pay, in 64 bits: each entry adds an earlier one of the same table."""

    def coin(ways, w):
        def amount(a, ways):
            return ways.at[a].add(jnp.where(a >= w, ways[jnp.maximum(a - w, 0)], 0))

        return lax.fori_loop(0, 120, amount, ways), None

    return lax.scan(coin, jnp.zeros(120, jnp.int64).at[0].set(1), worth + 1)[0]


@program("alignment_affine_24x24", "nested", [f32(24, 24), f32(r="value:0.9"), f32(r="value:0.3")], [0, 1, 2])
def alignment(score, gap, more):
    """Local alignment with affine gaps: three tables, row after row, cell after cell."""

    def row(c, s):
        h, e = c

        def cell(c, at):
            left, f, diagonal = c
            above, e, s = at
            e = jnp.maximum(above - gap, e - more)
            f = jnp.maximum(left - gap, f - more)
            new = jnp.maximum(jnp.maximum(diagonal + s, 0.0), jnp.maximum(e, f))
            return (new, f, above), (new, e)

        z = jnp.zeros((), jnp.float32)
        _, (h, e) = lax.scan(cell, (z, z - 5.0, z), (h, e, s))
        return (h, e), jnp.max(h)

    start = (jnp.zeros(24, jnp.float32), jnp.full(24, -5.0, jnp.float32))
    return jnp.max(lax.scan(row, start, score)[1])


@program("inside_grammar_8x5", "product", [f32(5, 5, 5, r="uniform"), f32(8, 5, r="uniform")], [0, 1])
def inside(rules, words):
    """Sums over the trees of a sentence of eight words, by spans."""
    n = 8
    chart = {(i, i): words[i] for i in range(n)}
    rules = rules / jnp.sum(rules, (1, 2), keepdims=True)
    for length in range(1, n):
        for i in range(n - length):
            left = jnp.stack([chart[i, k] for k in range(i, i + length)])
            right = jnp.stack([chart[k + 1, i + length] for k in range(i, i + length)])
            chart[i, i + length] = jnp.einsum("abc,kb,kc->a", rules, left, right)
    return chart[0, n - 1]


@program("stock_trades_300x4", "slices", [f64(300, r="above")], [0])
def stock_trades(prices):
    """The most that four purchases and sales can earn."""

    def step(c, p):
        held, free = c
        held = jnp.maximum(held, free[:-1] - p)
        return (held, jnp.concatenate([free[:1], jnp.maximum(free[1:], held + p)])), None

    return lax.scan(step, (jnp.full(4, -1e3), jnp.zeros(5)), prices)[0][1][-1]
