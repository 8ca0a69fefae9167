"""Integers, strings and bits."""

import jax.numpy as jnp
from jax import lax

from . import i32, program, u32


@program("crc32_200", "nested", [i32(256, 200)])
def crc32(data):
    def byte(c, b):
        c = c ^ b.astype(jnp.uint32)
        c = lax.fori_loop(0, 8, lambda _, c: (c >> 1) ^ (jnp.uint32(0xEDB88320) & (0 - (c & 1))), c)
        return c, None

    return ~lax.scan(byte, jnp.uint32(0xFFFFFFFF), data)[0]


@program("crc32_table_1000", "read", [i32(256, 1000), u32(256)])
def crc32_table(data, table):
    byte = lambda c, b: ((c >> 8) ^ table[(c ^ b.astype(jnp.uint32)) & 255], None)
    return lax.scan(byte, jnp.uint32(0xFFFFFFFF), data)[0]


@program("murmur_hash_500", "bits", [u32(500)])
def murmur_hash(words):
    def rotate(x, n):
        return (x << n) | (x >> (32 - n))

    def word(h, k):
        k = rotate(k * jnp.uint32(0xCC9E2D51), 15) * jnp.uint32(0x1B873593)
        return rotate(h ^ k, 13) * 5 + jnp.uint32(0xE6546B64), None

    h = lax.scan(word, jnp.uint32(7), words)[0]
    h = (h ^ (h >> 16)) * jnp.uint32(0x85EBCA6B)
    h = (h ^ (h >> 13)) * jnp.uint32(0xC2B2AE35)
    return h ^ (h >> 16)


@program("prefix_function_80", "update", [i32(2, 80)])
def prefix_function(s):
    """Of Knuth, Morris and Pratt: the walk back along shorter borders has no fixed length."""

    def step(i, pi):
        k = lax.while_loop(lambda k: (k > 0) & (s[k] != s[i]), lambda k: pi[k - 1], pi[i - 1])
        return pi.at[i].set(k + (s[k] == s[i]))

    return lax.fori_loop(1, 80, step, jnp.zeros(80, jnp.int32))


@program("run_lengths_200", "branch", [i32(2, 200)])
def run_lengths(bits):
    def step(c, b):
        last, n, out, at = c

        def ends():
            return b, jnp.int32(1), out.at[at].set(n), at + 1

        return lax.cond(b == last, lambda: (last, n + 1, out, at), ends), None

    last, n, out, at = lax.scan(step, (bits[0], jnp.int32(0), jnp.zeros(200, jnp.int32), jnp.int32(0)), bits)[0]
    return out.at[at].set(n)


@program("unpack_copies_24", "update", [i32(8, 24), i32(8, 24), i32(256, 24)])
def unpack_copies(back, length, literal):
    """Lempel's and Ziv's copies of earlier bytes, byte after byte, and a literal after each."""

    def token(c, bll):
        out, n = c
        b, l, x = bll

        def body(s):
            out, n, k = s
            return out.at[n].set(out[jnp.maximum(n - b - 1, 0)]), n + 1, k + 1

        out, n, _ = lax.while_loop(lambda s: s[2] < l, body, (out, n, jnp.int32(0)))
        return (out.at[n].set(x.astype(jnp.uint8)), n + 1), None

    return lax.scan(token, (jnp.zeros(256, jnp.uint8), jnp.int32(0)), (back, length, literal))[0][0]


@program("collatz_64", "elementwise", [i32(3000, 64)])
def collatz(n):
    """Lengths for 64 starts at once, until the last is done."""

    def body(c):
        n, k = c
        on = n > 1
        return jnp.where(on, jnp.where(n % 2 == 0, n // 2, 3 * n + 1), n), k + on

    return lax.while_loop(lambda c: jnp.any(c[0] > 1), body, (n + 1, jnp.zeros(64, jnp.int32)))[1]


@program("common_divisors_100", "scalars", [i32(100000, 100), i32(100000, 100)])
def common_divisors(a, b):
    def one(ab):
        return lax.while_loop(lambda c: c[1] != 0, lambda c: (c[1], c[0] % c[1]), (ab[0], ab[1]))[0]

    return lax.map(one, (a, b))


@program("sieve_400", "elementwise", [i32(5, 400)])
def sieve(shift):
    n = jnp.arange(400, dtype=jnp.int32)

    def step(p, prime):
        return prime & ~((n % jnp.maximum(p, 1) == 0) & (n > p))

    return lax.fori_loop(2, 20, step, n > 1).astype(jnp.int32) + shift


@program("modular_power_32x16", "bits", [u32(16), u32(16)])
def modular_power(base, exponent):
    """By squares, in products of 64 bits."""
    m = jnp.uint64(1000000007)

    def step(c, i):
        r, b = c
        odd = ((exponent >> i) & 1) == 1
        return (jnp.where(odd, r * b % m, r), b * b % m), None

    start = (jnp.ones(16, jnp.uint64), base.astype(jnp.uint64) % m)
    return lax.scan(step, start, jnp.arange(32, dtype=jnp.uint32))[0][0].astype(jnp.uint32)


@program("utf8_states_400", "read", [i32(256, 400), i32(9, 9, 12)])
def utf8_states(data, table):
    """A machine over bytes: the class of a byte and the state choose the next state."""

    def step(c, b):
        state, count = c
        kind = jnp.minimum(b >> 4, 11)
        state = table[state, kind]
        return (state, count + (state == 0)), state

    return lax.scan(step, (jnp.int32(0), jnp.int32(0)), data)[1]


@program("long_product_24x24", "nested", [u32(24), u32(24)])
def long_product(a, b):
    """Of numbers of 24 words: digits of 32 bits in 64, with a carry along each row."""
    wide = a.astype(jnp.uint64)

    def row(out, at):
        i, y = at
        old = lax.dynamic_slice(out, (i,), (24,))

        def digit(carry, xo):
            t = xo[0] * y + xo[1] + carry
            return t >> 32, t & 0xFFFFFFFF

        carry, new = lax.scan(digit, jnp.uint64(0), (wide, old))
        return lax.dynamic_update_slice(out, jnp.concatenate([new, carry[None]]), (i,)), None

    return lax.scan(row, jnp.zeros(48, jnp.uint64), (jnp.arange(24, dtype=jnp.int32), b.astype(jnp.uint64)))[0][0:48].astype(jnp.uint32)


@program("tea_32x128", "bits", [u32(128), u32(128), u32(4)])
def tea(v, w, key):
    def step(c, _):
        v, w, s = c
        s = s + jnp.uint32(0x9E3779B9)
        v = v + (((w << 4) + key[0]) ^ (w + s) ^ ((w >> 5) + key[1]))
        w = w + (((v << 4) + key[2]) ^ (v + s) ^ ((v >> 5) + key[3]))
        return (v, w, s), None

    v, w, _ = lax.scan(step, (v, w, jnp.uint32(0)), None, length=32)[0]
    return v ^ w


@program("bitonic_sort_64", "none", [("int32", (50, 64), "labels:1000")])
def bitonic_sort(x):
    """Sorts rows by comparisons of halves: reshapes, slices and stacks, unrolled."""
    n = 64
    k = 2
    while k <= n:
        up = (jnp.arange(n) & k) == 0
        j = k // 2
        while j:
            y = x.reshape(50, n // (2 * j), 2, j)
            partner = jnp.stack([y[:, :, 1], y[:, :, 0]], 2).reshape(50, n)
            low = (jnp.arange(n) & j) == 0
            x = jnp.where(low == up, jnp.minimum(x, partner), jnp.maximum(x, partner))
            j //= 2
        k *= 2
    return x


@program("insertion_sort_40", "update", [i32(100, 40)])
def insertion_sort(x):
    def insert(i, x):
        key = x[i]

        def body(c):
            x, j = c
            return x.at[j + 1].set(x[j]), j - 1

        x, j = lax.while_loop(lambda c: (c[1] >= 0) & (c[0][jnp.maximum(c[1], 0)] > key), body, (x, jnp.asarray(i, jnp.int32) - 1))
        return x.at[j + 1].set(key)

    return lax.fori_loop(1, 40, insert, x)


@program("bit_parallel_subsequence_300", "bits", [i32(4, 32), i32(4, 300)])
def bit_parallel_subsequence(pattern, text):
    """The longest common subsequence, 32 cells in a word."""
    masks = jnp.stack([jnp.sum((pattern == c).astype(jnp.uint32) << jnp.arange(32, dtype=jnp.uint32), dtype=jnp.uint32) for c in range(4)])

    def step(v, c):
        u = v & masks[c]
        return (v + u) | (v - u), None

    return lax.population_count(~lax.scan(step, jnp.uint32(0xFFFFFFFF), text)[0])
