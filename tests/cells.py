#!/usr/bin/env python3
"""Instructions per element of every elementwise operation on every type, by callgrind (AVX2), for both engines.

    cargo test --release -p cotangent-cpu --lib --no-run      # prints the path of the tests
    python3 tests/cells.py target/release/deps/cotangent_cpu-HASH [--all]

Per byte read or written, an operation may cost at most 4 times as much as on f32. An operation that f32 lacks is
compared with the f32 addition (negation for one operand). Cells above this bound, or above their bound in
`EXCEPTIONS`, are printed; `--all` prints all cells. Exit code 1 if a cell is above its bound. Needs valgrind.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 4.0
SIZES = {"i1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}
INTEGERS = "i8 u8 i16 u16 i32 u32 i64 u64".split()
COMPLEX = ["c64", "c128"]
# Operations (an empty list means all), their types, the maximum permitted ratio, and the reason.
EXCEPTIONS = (
    ((), ["bf16"], 12.0, "lanes of f32 rounded by integer instructions after each operation: subnormal numbers keep their bits"),
    (("div", "rem"), INTEGERS, 17.5, "no instruction divides integers: quotients of floats, corrected"),
    (("integer_pow",), INTEGERS, 14.5, "the interpreter takes products by a loop over the bits of the exponent"),
    (("convert",), [*INTEGERS, "i1", "f64", "c128"], 14.5, "to a float of fewer bits: rounded once, from 64 bits in two steps"),
    (("shift_left", "shift_right_logical", "shift_right_arithmetic"), ["i8", "u8"], 6.5, "no instruction shifts bytes"),
    (("count_leading_zeros",), ["i32", "u32", "i64", "u64"], 6.0, "AVX2 has no instruction for it: the exponent of a float"),
    (("asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt"), COMPLEX, 36.0, "several real functions, by the interpreter alone"),
    ("exp exp2 expm1 log log2 log1p xlogy cosh tanh sech_square".split(), COMPLEX, 7.5, "two to four real functions of f64"),
    (("integer_pow",), COMPLEX, 25.0, "products of f64, and for negative exponents quotients of c128"),
    (
        "abs conj eq ne imag mul mul_strong_zero one_minus_square div div_strong_zero sqrt rsqrt bitcast_convert".split(),
        COMPLEX,
        13.5,
        "several products, quotients and roots of f64, whose lanes are pairs of f32 taken apart",
    ),
)


def counts(tests):
    """Instructions by operation, type, engine and number of elements."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", tests, "instructions_of_every_cell", "--ignored", "--test-threads=1"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
        found = {}
        for dump in pathlib.Path(folder).glob("out.*"):
            text = dump.read_text(errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
            if name and total:
                op, dtype, engine, n, form = name[1].split(" ")
                found[op, form, dtype, engine, int(n)] = int(total[1])
        return found


def moved(op, form, dtype):
    """Bytes of the operands and of the result."""
    operands = 3 if form.startswith(("Select", "Clamp")) else 2 if is_of_two(form) else 1
    to = re.search(r"to:(\w+)", form)
    if to:
        result = SIZES[{"Bool": "i1"}.get(to[1], to[1].lower())]
    elif form.startswith("Compare") or op.startswith("is_"):
        result = 1
    else:
        result = SIZES[dtype] // (2 if dtype in COMPLEX and op in ("abs", "real", "imag") else 1)
    return operands * SIZES[dtype] + result


def is_of_two(form):
    return re.match(r"Binary|Compare|Select|Special|Complex", form)


def allowed(op, dtype):
    """The ratio to the instructions on f32."""
    return max([most for ops, types, most, _ in EXCEPTIONS if op in (ops or [op]) and dtype in types], default=MOST)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = counts(sys.argv[1])
    cells = collections.defaultdict(dict)
    for op, form, dtype, engine, n in found:
        cells[op, form, engine].setdefault(dtype, []).append((n, found[op, form, dtype, engine, n]))
    each = {}
    for key, types in cells.items():
        for dtype, runs in types.items():
            (n, a), (m, b) = sorted(runs)
            each[(*key, dtype)] = (b - a) / (m - n)
    plain = {engine: {k: each[op, form, engine, "f32"] for k, (op, form) in {"one": ("neg", "Unary(Neg)"), "two": ("add", "Binary(Add)")}.items()} for engine in ("Chosen", "Code")}
    failed = []
    for (op, form, engine, dtype), instructions in sorted(each.items()):
        base = each.get((op, form, engine, "f32"), plain[engine]["two" if is_of_two(form) else "one"])
        share = instructions / moved(op, form, dtype) / (base / moved(op, form, "f32"))
        over = share > allowed(op, dtype)
        if over:
            failed.append((op, dtype))
        if over or "--all" in sys.argv:
            print(f"{op:28} {dtype:5} {'code' if engine == 'Code' else 'tiles':6} {instructions:8.2f} {share:6.2f}{' !' if over else ''}  {form}")
    print(f"{len(each)} cells, {len(failed)} above what is allowed: {sorted(set(failed))}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
