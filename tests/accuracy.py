#!/usr/bin/env python3
"""Measures the elementary functions against multiple precision: a table of the largest errors, in units in the last place.

    python3 tests/accuracy.py --bin target/release/cotangent [--doubles 20000] [--stride 1021] [--only REGEX] [--table FILE]

f64: numbers of every exponent and both signs, and many in the usual range of a function, against mpmath with
sufficient precision. f32: every `stride`-th of all floats, against mpmath through f64. Errors are in units in the last
place of the exact value; a correctly rounded result has an error of at most 0.5. Functions of the gamma family and Bessel
functions are measured at stored points, in the ranges where their derivatives and samplers use them; with `--before`
the same points are measured with another binary, and each function prints both. A result that is infinite, zero or NaN
where the rounded exact one is not, or the other way round, counts as infinite. Status 1 if a function exceeds its
bound. Needs numpy, scipy and mpmath; without them it prints a message and succeeds.
"""
import argparse, pathlib, re, subprocess, sys, tempfile

try:
    import mpmath
    import numpy as np
    import scipy.special as special
except ImportError as e:
    print(f"skipped: {e}; `pip install numpy scipy mpmath` brings what this script needs")
    sys.exit(0)

np.seterr(all="ignore")
mp = mpmath.mp
mp.prec = 160
BOUND = 2.0


def logistic(x):
    return 1 / (1 + mp.exp(-x))


def erfc(x):
    return mp.erfc(x) if abs(x) < 100 else mp.mpf(2 * (x < 0))


# Function, its definition in multiple precision, an f64 version (accurate to about one unit, for f32), and its usual range.
ONE = {
    "sqrt": (mp.sqrt, np.sqrt, 10),
    "rsqrt": (lambda x: 1 / mp.sqrt(x) if x else mp.inf, lambda x: 1 / np.sqrt(x), 10),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), np.cbrt, 10),
    "exp": (mp.exp, np.exp, 750),
    "exp2": (lambda x: mp.power(2, x), np.exp2, 1080),
    "expm1": (mp.expm1, np.expm1, 40),
    "log": (mp.log, np.log, 3),
    "log2": (lambda x: mp.log(x) / mp.log(2), np.log2, 3),
    "log1p": (mp.log1p, np.log1p, 3),
    "sin": (mp.sin, np.sin, 100),
    "cos": (mp.cos, np.cos, 100),
    "tan": (mp.tan, np.tan, 100),
    "asin": (mp.asin, np.arcsin, 1),
    "acos": (mp.acos, np.arccos, 1),
    "atan": (mp.atan, np.arctan, 10),
    "sinh": (mp.sinh, np.sinh, 30),
    "cosh": (mp.cosh, np.cosh, 30),
    "tanh": (mp.tanh, np.tanh, 20),
    "asinh": (mp.asinh, np.arcsinh, 10),
    "acosh": (mp.acosh, np.arccosh, 10),
    "atanh": (mp.atanh, np.arctanh, 1),
    "logistic": (logistic, special.expit, 40),
    "erf": (mp.erf, special.erf, 6),
    "erfc": (erfc, special.erfc, 27),
    "erf_inv": (lambda x: mp.erfinv(x) if abs(x) < 1 else mp.inf * mp.sign(x) if abs(x) == 1 else mp.nan, None, 1),
}
TWO = {
    "div": (lambda x, y: x / y if y else x * mp.inf, np.divide, 10),
    "pow": (lambda x, y: mp.power(x, y) if x or y > 0 else mp.inf, np.power, 20),
    "atan2": (mp.atan2, np.arctan2, 10),
}


def parameters(*spans):
    """Operands of a function: numbers of each span, by size and uniformly."""

    def draw(n, rng):
        out = []
        for low, high in spans:
            size = np.exp(rng.uniform(np.log(max(low, 1e-3)), np.log(high), n))
            out.append(np.where(rng.integers(0, 2, n) == 0, size, rng.uniform(low, high, n)))
        return out

    return draw


def both_signs(span):
    return lambda n, rng: [rng.uniform(-span, span, n)]


def density(a, x):
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def zeta(s, q):
    # The library's error bound is absolute, and the value may be small.
    with mp.workprec(1200):
        return mp.zeta(s, q)


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def beta(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def slope(f, k):
    """The derivative in operand k."""
    return lambda *x: mp.diff(lambda v: f(*x[:k], v, *x[k + 1 :]), x[k], h=mp.mpf(2) ** -50)


GAMMA = parameters((0, 60), (0, 80))
BETA = parameters((0, 40), (0, 40), (0, 1))
# Name, operation, definition, operands, and the maximum permitted errors in f32 and f64.
POINTS = [
    ("lgamma, x > 0", "lgamma", "", mp.loggamma, parameters((0, 300)), 2, 2, 0),
    ("lgamma, x < 0", "lgamma", "", lambda x: mp.log(abs(mp.gamma(x))), both_signs(30), 2, 16, 0),
    ("digamma, x > 0", "digamma", "", mp.digamma, parameters((0, 300)), 2, 3, 0),
    ("digamma, x < 0", "digamma", "", mp.digamma, both_signs(30), 2, 3, 1),
    ("polygamma 1", "polygamma", "{order = 1}", lambda x: mp.psi(1, x), parameters((0, 300)), 2, 6, 0),
    ("polygamma 2", "polygamma", "{order = 2}", lambda x: mp.psi(2, x), parameters((0, 300)), 2, 8, 0),
    ("zeta", "zeta", "", zeta, parameters((1.01, 40), (0, 60)), 2, 10, 0),
    ("igamma", "igamma", "", lower, GAMMA, 2, 8, 0),
    ("igammac", "igammac", "", upper, GAMMA, 2, 9, 0),
    ("gamma_density", "gamma_density", "", density, GAMMA, 2, 4, 0),
    ("igamma by a", "igamma", "{order = 1}", slope(lower, 0), GAMMA, 64, 64, 0),
    # For a small parameter the result may be a difference from 1.
    ("betainc", "betainc", "", beta, BETA, 2, 4e3, 0),
    ("betainc by a", "betainc", "{orders = [1, 0]}", slope(beta, 0), BETA, 64, 1e3, 0),
    ("bessel_ie 0", "bessel_ie", "", lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), both_signs(60), 2, 14, 0),
    ("bessel_ie 1", "bessel_ie", "{order = 1}", lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), both_signs(60), 2, 14, 0),
]


def ulps(got, exact, fraction, least, beside=0.0):
    """The error of results `got`, stored as f64, from exact values (f64 pairs: rounded value and remainder)."""
    high, low = exact
    unit = np.ldexp(1.0, np.maximum(np.frexp(np.maximum(np.abs(high), beside))[1] - 1 - fraction, least).astype(int))
    return np.abs((got - high) - low) / unit


def module(name, dtype, operands, attributes):
    params = "".join(f"  %{v} = tgraph.arg : tensor<nx{dtype}>\n" for v in operands)
    body = f"  %r = tgraph.{name} {', '.join('%' + v for v in operands)} {attributes}\n"
    return f"tgraph.module @m {{\n{params}{body}  tgraph.return %r : tensor<nx{dtype}>\n}}\n"


def evaluate(binary, name, dtype, x, attributes=""):
    """Results of a function."""
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        (d / "m.tgraph").write_text(module(name, dtype, "xyz"[: len(x)], attributes))
        np.savez(d / "in.npz", **dict(zip("xyz", x)))
        words = [binary, "run", d / "m.tgraph", "--in", d / "in.npz", "--out", d / "out.npz"]
        run = subprocess.run([str(w) for w in words], capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        with np.load(d / "out.npz") as out:
            return out[out.files[0]]


def exact_doubles(f, args):
    """Exact values as pairs of f64 numbers."""
    high, low = np.empty(len(args[0])), np.zeros(len(args[0]))
    for i, a in enumerate(zip(*args)):
        try:
            v = f(*(mp.mpf(float(z)) for z in a))
            v = mp.nan if isinstance(v, mpmath.mpc) else v
        except (ZeroDivisionError, ValueError, OverflowError):
            v = mp.nan
        high[i] = float(v) if not mp.isnan(v) else np.nan
        if np.isfinite(high[i]):
            low[i] = float(v - mp.mpf(high[i]))
    return high, low


def worst(got, exact, x, fraction, least, narrow, beside=0.0):
    """The largest error, in units in the last place of the exact value or of `beside`, whichever is larger."""
    high, low = exact
    rounded = narrow(high).astype(np.float64)
    usual = np.isfinite(rounded) & (rounded != 0) & np.isfinite(got) & np.isfinite(high)
    error = np.where(usual, ulps(got, exact, fraction, least, beside), 0.0)
    # A zero for a value below the least subnormal has an error of less than one unit.
    small = np.isfinite(high) & (np.abs(high) < np.ldexp(1.0, least + 1)) & (np.abs(got) <= np.ldexp(1.0, least + 1))
    odd = ~usual & ~small & ~((got == rounded) | (np.isnan(got) & np.isnan(rounded)))
    error = np.where(odd, np.inf, error)
    k = int(np.argmax(error))
    return float(error[k]), ", ".join(f"{z[k]:.9g}" for z in x)


def doubles(n, span, rng):
    bits = (rng.integers(0, 2, n) << 63) | (rng.integers(0, 2047, n) << 52) | rng.integers(0, 1 << 52, n)
    any_size = bits.astype(np.uint64).view(np.float64)
    near = rng.uniform(-span, span, n)
    turns = rng.integers(-200, 200, n // 4) * (np.pi / 4)
    ones = 1 + rng.uniform(-1, 1, n // 4) * 10.0 ** rng.uniform(-16, 0, n // 4)
    return np.concatenate([any_size, near, turns, ones, -ones])


def floats(stride):
    return np.arange(0, 1 << 32, stride, dtype=np.uint64).astype(np.uint32).view(np.float32)


def at_points(point, a, rng):
    """The row of a function at its stored points, and whether an error exceeds its bound."""
    title, name, attributes, exact, draw, *allowed, beside = point
    cells, over = [], False
    for dtype, fraction, least, bound in (("f32", 23, -149, allowed[0]), ("f64", 52, -1074, allowed[1])):
        narrow = lambda v: v.astype(np.float32 if dtype == "f32" else np.float64)
        x = [narrow(v) for v in draw(a.points if "by" not in title else a.points // 10, rng)]
        values = exact_doubles(exact, [v.astype(np.float64) for v in x])
        errors = []
        for binary in filter(None, (a.bin, a.before)):
            got = evaluate(binary, name, dtype, x, attributes).astype(np.float64)
            errors.append(worst(got, values, x, fraction, least, narrow, beside))
        cells.append(" (before ".join(f"{e:.2f}" for e, _ in errors) + ")" * (len(errors) - 1) + f" | {errors[0][1]}")
        over |= errors[0][0] > bound
    return f"| {title} | {' | '.join(cells)} |", over


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--doubles", type=int, default=20000)
    p.add_argument("--stride", type=int, default=1021)
    p.add_argument("--points", type=int, default=2000)
    p.add_argument("--before")
    p.add_argument("--only", default="")
    p.add_argument("--table")
    a = p.parse_args()
    rng, failed = np.random.default_rng(1), False
    lines = ["| function | f32 | at | f64 | at |", "|---|---|---|---|---|"]
    x32 = floats(a.stride)
    for table in (ONE, TWO):
        for name, (exact, quick, span) in table.items():
            if not re.search(a.only, name):
                continue
            if table is ONE:
                x, z = [doubles(a.doubles, span, rng)], [x32]
            else:
                x = [doubles(a.doubles, span, rng), doubles(a.doubles, span, rng)[::-1].copy()]
                z = [x32, np.roll(x32, len(x32) // 3 + 7)]
                z = [np.concatenate([z[0], rng.uniform(0, 9, 100000).astype(np.float32)]),
                     np.concatenate([z[1], rng.uniform(-9, 9, 100000).astype(np.float32)])]
            y64, y32 = evaluate(a.bin, name, "f64", x), evaluate(a.bin, name, "f32", z)
            wide = [v.astype(np.float64) for v in z]
            wide = (quick(*wide), np.zeros(len(z[0]))) if quick else exact_doubles(exact, wide)
            e64, at64 = worst(y64, exact_doubles(exact, x), x, 52, -1074, lambda v: v)
            e32, at32 = worst(y32.astype(np.float64), wide, z, 23, -149, lambda v: v.astype(np.float32))
            failed |= max(e64, e32) > BOUND
            lines.append(f"| {name} | {e32:.2f} | {at32} | {e64:.2f} | {at64} |")
            print(lines[-1], flush=True)
    for point in POINTS:
        if re.search(a.only, point[0]):
            row, over = at_points(point, a, np.random.default_rng(2))
            failed |= over
            lines.append(row)
            print(row, flush=True)
    if a.table:
        pathlib.Path(a.table).write_text("\n".join(lines) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
