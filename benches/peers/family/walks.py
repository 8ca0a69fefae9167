"""Walks over beams, trees, heaps and graphs."""

import jax
import jax.numpy as jnp
from jax import lax

from . import f32, f64, i32, program


@program("beam_search_20x4x12", "sort", [f32(12, 12)])
def beam_search(logits):
    logp = jax.nn.log_softmax(logits, -1)

    def step(c, _):
        scores, last = c
        best, at = lax.top_k((scores[:, None] + logp[last]).reshape(-1), 4)
        parent, word = at // 12, at % 12
        return (best, word), (parent, word)

    (scores, last), (parents, words) = lax.scan(step, (jnp.array([0.0, -1.0, -2.0, -3.0], jnp.float32), jnp.arange(4, dtype=jnp.int32)), None, length=20)
    back = lambda k, pw: (pw[0][k], pw[1][k])
    _, path = lax.scan(back, jnp.int32(0), (parents, words), reverse=True)
    return jnp.concatenate([path, last])


@program("decision_tree_8x64", "gather", [i32(10, 255), f32(255), f32(64, 10), f32(256)], [3])
def decision_tree(feature, threshold, x, leaves):
    def step(node, _):
        return 2 * node + 1 + (jnp.take_along_axis(x, feature[node][:, None], 1)[:, 0] > threshold[node]), None

    node, _ = lax.scan(step, jnp.zeros(64, jnp.int32), None, length=8)
    return leaves[node - 255]


@program("heapify_31", "update", [f64(31)])
def heapify(x):
    """Each number sinks as far as it must: a while loop in a loop."""

    def sink(k, x):
        def child(x, i):
            l, r = 2 * i + 1, jnp.minimum(2 * i + 2, 30)
            return jnp.where(x[r] > x[l], r, l)

        def goes_on(c):
            x, i = c
            return (2 * i + 1 < 31) & (x[child(x, jnp.minimum(i, 14))] > x[i])

        def body(c):
            x, i = c
            j = child(x, i)
            a, b = x[i], x[j]
            return x.at[i].set(b).at[j].set(a), j

        return lax.while_loop(goes_on, body, (x, 14 - k))[0]

    return lax.fori_loop(0, 15, sink, x)


@program("components_64x60", "scatter", [i32(64, 60), i32(64, 60)])
def components(a, b):
    """Connected components: labels go down along edges, and pointers jump, until nothing changes."""

    def body(c):
        label, _ = c
        new = label.at[a].min(label[b]).at[b].min(label[a])
        new = new[new]
        return new, jnp.any(new != label)

    return lax.while_loop(lambda c: c[1], body, (jnp.arange(64, dtype=jnp.int32), jnp.bool_(True)))[0]


@program("interval_sums_40x64", "read", [f64(64), i32(32, 40), i32(32, 40)])
def interval_sums(x, low, width):
    """Queries of a tree of sums, each by a walk from its leaves up."""
    levels = [x]
    while levels[-1].shape[0] > 1:
        levels.append(jnp.sum(levels[-1].reshape(-1, 2), 1))
    tree = jnp.concatenate([jnp.zeros(1)] + levels[::-1])

    def query(total, lw):
        def body(c):
            l, r, s = c
            s = s + jnp.where(l % 2 == 1, tree[l], 0.0)
            l = l + l % 2
            r = r - r % 2
            s = s + jnp.where((r != c[1]), tree[r], 0.0)
            return l // 2, r // 2, s

        _, _, s = lax.while_loop(lambda c: c[0] < c[1], body, (lw[0] + 64, lw[0] + lw[1] + 65, jnp.zeros(())))
        return total + s, s

    return lax.scan(query, jnp.zeros(()), (low, width))[1]


@program("cycle_lengths_48", "read", [("int32", (48,), "permutation:48")])
def cycle_lengths(p):
    """For each start, steps along a permutation until it returns."""

    def length(start):
        return lax.while_loop(lambda c: c[0] != start, lambda c: (p[c[0]], c[1] + 1), (p[start], jnp.int32(1)))[1]

    return lax.map(length, jnp.arange(48, dtype=jnp.int32))


@program("bandit_300x8", "argmax", [f32(300, 8), f32(8, r="uniform")])
def bandit(noise, means):
    """Upper confidence bounds: the best arm is drawn, its count and mean change."""

    def step(c, at):
        count, mean = c
        t, n = at
        arm = jnp.argmax(mean + jnp.sqrt(jnp.log(t) / count))
        reward = means[arm] + 0.3 * n[arm]
        count = count.at[arm].add(1)
        mean = mean.at[arm].add((reward - mean[arm]) / count[arm])
        return (count, mean), arm.astype(jnp.int32)

    return lax.scan(step, (jnp.ones(8, jnp.float32), means), (jnp.arange(2, 302, dtype=jnp.float32), noise))[1]


@program("huffman_16", "argmax", [f64(16, r="above")])
def huffman(weights):
    """The two lightest trees merge, fifteen times; the cost of the code."""

    def merge(c, _):
        w, cost = c
        i = jnp.argmin(w)
        a = w[i]
        w = w.at[i].set(jnp.inf)
        j = jnp.argmin(w)
        b = w[j]
        return (w.at[j].set(a + b), cost + a + b), (i, j)

    (_, cost), (i, j) = lax.scan(merge, (weights, 0.0), None, length=15)
    return cost + 1e-3 * jnp.sum(i * 17 + j)


@program("depth_first_40x3", "update", [i32(40, 40, 3)])
def depth_first(neighbours):
    """A stack of nodes, marks, and the order of visits; it ends when the stack is empty."""

    def body(c):
        stack, top, seen, order, n = c
        node = stack[top - 1]
        top = top - 1
        fresh = ~seen[node]
        order = jnp.where(fresh, order.at[n].set(node, mode="drop"), order)
        n = n + fresh
        seen = seen.at[node].set(True)

        def push(k, st):
            stack, top = st
            v = neighbours[node, k]
            goes = fresh & ~seen[v]
            return jnp.where(goes, stack.at[top].set(v), stack), top + goes

        stack, top = lax.fori_loop(0, 3, push, (stack, top))
        return stack, top, seen, order, n

    start = (jnp.zeros(128, jnp.int32), jnp.int32(1), jnp.zeros(40, bool), jnp.full(40, -1, jnp.int32), jnp.int32(0))
    return lax.while_loop(lambda c: c[1] > 0, body, start)[3]


@program("switching_map_200", "branch", [f64(200), f64(r="value:0.3")], [0, 1])
def switching_map(x, w):
    """One of four small functions at each step, chosen by the number that the last left."""

    fs = [lambda s, x: s + w * x, lambda s, x: jnp.tanh(s) - x, lambda s, x: s * 0.5 + jnp.sin(x), lambda s, x: s - w * s * s]

    def step(s, x):
        s = lax.switch(jnp.int32(jnp.floor(jnp.abs(s) * 10)) % 4, fs, s, x)
        return s, s

    return lax.scan(step, jnp.zeros(()), x)[1]
