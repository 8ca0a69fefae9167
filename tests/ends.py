"""Writes crates/cpu/tests/data/{ends,complex}.txt: functions at the limits of float ranges, and complex functions at infinities.

    python3 tests/ends.py

Real values are computed by mpmath and rounded once. Complex values are those of Annex G of C17, computed by NumPy with glibc
(`exp2`, `expm1`, `log1p`, `log2` and divisions are derived from these, because NumPy is less accurate there). Needs mpmath and NumPy; the tests read the files.
"""
import math, os
import numpy as np
from mpmath import mp, mpf

mp.prec = 1400
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crates", "cpu", "tests", "data")
# Digits of the significand, least exponent of a normal number, greatest exponent, bytes.
TYPES = {"f16": (11, -14, 15, 2), "bf16": (8, -126, 127, 2), "f32": (24, -126, 127, 4), "f64": (53, -1022, 1023, 8)}


def points(t):
    p, low, high, _ = TYPES[t]
    least, normal, ulp = mpf(2) ** (low - p + 1), mpf(2) ** low, mpf(2) ** (1 - p)
    top = (2 - ulp) * mpf(2) ** high
    some = [mpf(0), least, 3 * least, normal - least, normal, mpf(2) ** (-p), mpf(2) ** (-p // 2), mpf("0.5"), 1 - ulp / 2, mpf(1), 1 + ulp, mpf(2), mpf(7), top / 2, top]
    return [(x, s) for x in some for s in (0, 1)]


def bits(t, x, negative_zero=False):
    """The bits of the nearest number; x is an mpf, or "nan"."""
    p, low, high, size = TYPES[t]
    width = size * 8
    if isinstance(x, str):
        return "nan"
    sign = 1 if x < 0 or (x == 0 and negative_zero) else 0
    a = abs(x)
    if mp.isinf(a) or a >= (2 - mpf(2) ** -p) * mpf(2) ** high:
        field = ((1 << (width - p)) - 1) << (p - 1)
    elif a == 0:
        field = 0
    else:
        e = max(int(mp.floor(mp.log(a, 2))), low)
        while e > low and mpf(2) ** e > a:
            e -= 1
        while mpf(2) ** (e + 1) <= a:
            e += 1
        units = a / mpf(2) ** (e - p + 1)
        n = int(mp.floor(units))
        rest = units - n
        n += 1 if rest > 0.5 or (rest == 0.5 and n % 2) else 0
        # The exponent field follows from the carry.
        field = n + ((e - low) << (p - 1)) if n else 0
    return format((sign << (width - 1)) | field, "x")


INF, NAN = mp.inf, "nan"
FAR = 10 ** 6


def far(f, above, below):
    return lambda x: above if x > FAR else below if x < -FAR else f(x)


def inside(f, ok):
    return lambda x: f(x) if ok(x) else NAN


def lgamma(x):
    if x <= 0 and x == mp.floor(x):
        return INF
    if x > FAR:
        return (x - mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2 + 1 / (12 * x)
    if abs(x) < mpf(10) ** -30:
        return -mp.log(abs(x)) - mp.euler * x
    return mp.log(abs(mp.gamma(x)))


def digamma(x):
    if x < 0 and x == mp.floor(x):
        return NAN
    if x > FAR:
        return mp.log(x) - 1 / (2 * x)
    return -1 / x - mp.euler if abs(x) < mpf(10) ** -30 else mp.psi(0, x)


def bessel(n):
    def f(x):
        a = abs(x)
        if a > FAR:
            y = (1 - mpf(4 * n * n - 1) / (8 * a)) / mp.sqrt(2 * mp.pi * a)
        elif a < mpf(10) ** -30:
            y = (a / 2) ** n / mp.factorial(n) * (1 - a)
        else:
            y = mp.besseli(n, a) * mp.exp(-a)
        return -y if n % 2 and x < 0 else y
    return f


def erf_inv(x):
    if abs(x) > 1:
        return NAN
    if abs(x) == 1:
        return INF * x
    y = mpf(mp.erfinv(x)) if abs(x) > mpf(10) ** -20 else x * mp.sqrt(mp.pi) / 2
    return y


def power(n):
    def f(x):
        if x == 0:
            return INF if n < 0 else mpf(0)
        big = n * mp.log(abs(x), 2)
        if big > 2000 or big < -2000:
            y = INF if big > 0 else mpf(0)
        else:
            y = abs(x) ** n
        return -y if n % 2 and x < 0 else y
    return f


same, one, plus = "same", mpf(1), mpf(0)
# Name, function for x != 0, and the value at 0: a number, the zero itself, or its reciprocal.
UNARY = [
    ("sqrt", inside(mp.sqrt, lambda x: x > 0), same),
    ("rsqrt", inside(lambda x: 1 / mp.sqrt(x), lambda x: x > 0), "pole"),
    ("cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), same),
    ("exp", far(mp.exp, INF, plus), one),
    ("exp2", far(lambda x: mpf(2) ** x, INF, plus), one),
    ("expm1", far(mp.expm1, INF, -one), same),
    ("log", inside(mp.log, lambda x: x > 0), -INF),
    ("log2", inside(lambda x: mp.log(x) / mp.log(2), lambda x: x > 0), -INF),
    ("log1p", lambda x: NAN if x < -1 else -INF if x == -1 else mp.log1p(x), same),
    ("sin", mp.sin, same),
    ("cos", mp.cos, one),
    ("tan", mp.tan, same),
    ("asin", inside(mp.asin, lambda x: abs(x) <= 1), same),
    ("acos", inside(mp.acos, lambda x: abs(x) <= 1), mp.pi / 2),
    ("atan", mp.atan, same),
    ("sinh", far(mp.sinh, INF, -INF), same),
    ("cosh", far(mp.cosh, INF, INF), one),
    ("tanh", far(mp.tanh, one, -one), same),
    ("asinh", lambda x: mp.sign(x) * mp.log1p(abs(x) + abs(x) ** 2 / (1 + mp.sqrt(1 + x * x))), same),
    ("acosh", inside(mp.acosh, lambda x: x >= 1), NAN),
    ("atanh", lambda x: NAN if abs(x) > 1 else INF * x if abs(x) == 1 else mp.atanh(x), same),
    ("logistic", far(lambda x: 1 / (1 + mp.exp(-x)), one, plus), mpf("0.5")),
    ("erf", far(mp.erf, one, -one), same),
    ("erfc", lambda x: plus if x > 1000 else mpf(2) if x < -1000 else mp.erfc(x), one),
    ("erf_inv", erf_inv, same),
    ("lgamma", lgamma, INF),
    ("digamma", digamma, "minus pole"),
    ("one_minus_square", lambda x: 1 - x * x, one),
    ("bessel_ie 0", bessel(0), one),
    ("bessel_ie 1", bessel(1), same),
    ("bessel_ie 2", bessel(2), plus),
] + [(f"integer_pow {n}", power(n), (plus if n % 2 == 0 else same) if n > 0 else (INF if n % 2 == 0 else "pole")) for n in (-1024, -17, -16, -5, -2, -1, 2, 3, 16, 17, 100, 1023, 2**31)]


def real_lines():
    for t in TYPES:
        xs = points(t)
        yield f"{t} x " + " ".join(bits(t, -x if s else x, bool(s)) for x, s in xs)
        for name, f, at_zero in UNARY:
            out = []
            for x, s in xs:
                if x == 0:
                    y, negative = at_zero, False
                    if at_zero == same:
                        y, negative = mpf(0), bool(s)
                    elif at_zero == "pole":
                        y = -INF if s else INF
                    elif at_zero == "minus pole":
                        y = INF if s else -INF
                    out.append(bits(t, y, negative))
                else:
                    x = -x if s else x
                    y = f(x)
                    # A result that is too small keeps its sign.
                    odd = name in ("cbrt", "expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "erf_inv", "bessel_ie 1")
                    odd = odd or (name.startswith("integer_pow") and int(name.split()[1]) % 2)
                    out.append(bits(t, y, bool(s) and bool(odd)))
            yield f"{t} {name} " + " ".join(out)


GRID = [math.inf, -math.inf, math.nan, 0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, -1e-300]


def divide(a, b):
    """The division of Annex G (G.5.1, example 2)."""
    if (math.isinf(b.real) or math.isinf(b.imag)) and math.isfinite(a.real) and math.isfinite(a.imag):
        c = math.copysign(1.0 if math.isinf(b.real) else 0.0, b.real)
        d = math.copysign(1.0 if math.isinf(b.imag) else 0.0, b.imag)
        return complex(0.0 * (a.real * c + a.imag * d), 0.0 * (a.imag * c - a.real * d))
    if b == 0:
        if math.isnan(a.real) and math.isnan(a.imag):
            return complex(math.nan, math.nan)
        pole = math.copysign(math.inf, b.real)
        return complex(pole * a.real, pole * a.imag)
    if (math.isinf(a.real) or math.isinf(a.imag)) and math.isfinite(b.real) and math.isfinite(b.imag):
        x = math.copysign(1.0 if math.isinf(a.real) else 0.0, a.real)
        y = math.copysign(1.0 if math.isinf(a.imag) else 0.0, a.imag)
        re, im = x * b.real + y * b.imag, y * b.real - x * b.imag
        return complex(math.inf * re, math.inf * im)
    return None


def complex_functions():
    z = lambda f: lambda x: complex(f(np.complex128(x)))
    exp, log = z(np.exp), z(np.log)
    ln2 = math.log(2)

    def expm1(x):
        if x.imag == 0:
            # The real part of a zero is +0, as in the array API.
            return complex(math.expm1(x.real) + 0.0 if x.real < 709 else math.inf, x.imag) if not math.isnan(x.real) else complex(math.nan, x.imag)
        y = exp(x)
        if math.isfinite(x.real) and math.isfinite(x.imag) and abs(x.real) < 100:
            w = mp.expm1(mp.mpc(x.real, x.imag))
            return complex(float(w.real), float(w.imag))
        return complex(y.real - 1, y.imag)

    def log1p(x):
        if x.imag == 0 and x.real > -1:
            return complex(math.log1p(x.real), x.imag)
        if math.isfinite(x.real) and math.isfinite(x.imag) and not x.imag == 0:
            w = mp.log(1 + mp.mpc(x.real, x.imag))
            return complex(float(w.real), float(w.imag))
        return log(complex(1 + x.real, x.imag))

    yield "exp", exp
    yield "exp2", lambda x: exp(complex(x.real * ln2, x.imag * ln2))
    yield "expm1", expm1
    yield "log", log
    yield "log2", lambda x: (lambda y: complex(y.real / ln2, y.imag / ln2))(log(x))
    yield "log1p", log1p
    for name, f in [("sqrt", np.sqrt), ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan), ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh)]:
        yield name, z(f)


def open_signs(name, x):
    """Parts whose sign Annex G does not specify, as `r`, `i`."""
    re, im = x.real, x.imag
    if name in ("sin", "tan", "asin", "atan"):
        # f(z) = -i g(iz): real and imaginary parts are exchanged.
        g = {"sin": "sinh", "tan": "tanh", "asin": "asinh", "atan": "atanh"}[name]
        return "".join({"r": "i", "i": "r"}[p] for p in open_signs(g, complex(-im, re)))
    if name == "cos":
        return open_signs("cosh", complex(-im, re))
    bad = not math.isfinite(im)
    if name in ("exp", "exp2", "expm1"):
        if re == math.inf and math.isinf(im):
            return "r"
        if re == -math.inf and bad:
            return "ri"
    if name == "sqrt" and re == -math.inf and math.isnan(im):
        return "i"
    if name == "cosh":
        if (re == 0 and bad) or (math.isnan(re) and im == 0):
            return "i"
        if math.isinf(re) and math.isinf(im):
            return "r"
    if name == "sinh":
        if re == 0 and bad or math.isinf(re) and bad:
            return "r"
    if name == "tanh" and math.isinf(re) and bad:
        return "i"
    if name == "acos" and math.isinf(re) and math.isnan(im):
        return "i"
    if name == "acosh" and re == 0 and math.isnan(im):
        return "i"
    if name == "asinh" and math.isnan(re) and math.isinf(im):
        return "r"
    if name == "atanh" and math.isnan(re) and math.isinf(im):
        return "r"
    return ""


def number(x):
    if math.isnan(x):
        return "nan"
    return repr(float(x)).replace("1e+300", "1e300")


def complex_lines():
    np.seterr(all="ignore")
    for name, f in complex_functions():
        for re in GRID:
            cells = []
            for im in GRID:
                y = f(complex(re, im))
                cells.append(f"{number(y.real)},{number(y.imag)}" + (":" + open_signs(name, complex(re, im)) if open_signs(name, complex(re, im)) else ""))
            yield f"{name} {number(re)} " + " ".join(cells)
    some = [complex(a, b) for a in (math.inf, math.nan, 0.0, -0.0, 1.0, -1.0) for b in (math.inf, -math.inf, math.nan, 0.0, 1.0)]
    for a in some:
        cells = [divide(a, b) for b in some]
        cells = ["*" if y is None else f"{number(y.real)},{number(y.imag)}" for y in cells]
        yield f"div {number(a.real)},{number(a.imag)} " + " ".join(cells)


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    with open(os.path.join(HERE, "ends.txt"), "w") as f:
        f.write("\n".join(real_lines()) + "\n")
    with open(os.path.join(HERE, "complex.txt"), "w") as f:
        f.write("\n".join(complex_lines()) + "\n")
