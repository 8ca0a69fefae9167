#!/usr/bin/env python3
"""Instructions an element of every elementwise operation on every type, by callgrind (AVX2), for both engines.

    cargo test --release -p cotangent-cpu --lib --no-run      # prints the path of the tests
    python3 tests/cells.py target/release/deps/cotangent_cpu-HASH [--all]

An element of a type should cost at most 4 times as much for each byte as the same operation on f32, or, for what f32 does
not have, as the sum of two f32 (the opposite of one, where there is one operand). Cells above that are printed, and all with
`--all`; exit code 1 if one is not in `EXCEPTIONS`. Needs valgrind.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

MOST = 4.0
SIZES = {"i1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}
# Operations, their types, and the reason.
EXCEPTIONS = ()


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
        two = re.match(r"Binary|Compare|Select|Special|Complex", form)
        base = each.get((op, form, engine, "f32"), plain[engine]["two" if two else "one"])
        share = instructions / SIZES[dtype] / (base / 4)
        over = share > MOST and not any(op == o and dtype in types for o, types, _ in EXCEPTIONS)
        if over:
            failed.append((op, dtype))
        if over or "--all" in sys.argv:
            print(f"{op:28} {dtype:5} {'code' if engine == 'Code' else 'tiles':6} {instructions:8.2f} {share:6.2f}{' !' if over else ''}  {form}")
    print(f"{len(each)} cells, {len(failed)} above {MOST} times f32 at equal bytes: {sorted(set(failed))}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
