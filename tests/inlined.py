#!/usr/bin/env python3
"""Finds calls in vector code of functions that should be inlined.

    python3 tests/inlined.py target/release/cotangent

A function that is not inlined is compiled for the baseline instruction set: its intrinsics become calls, and its loops have
no wide vectors. Such calls are listed with their callers: calls of intrinsics, and calls of functions of arrays or
iterators from a function that is compiled for more CPU features. Needs `objdump`; exit code 1 if something is listed.
"""

import collections
import re
import shutil
import subprocess
import sys

CALL = re.compile(r"\s(?:call|jmp)\s+[0-9a-f]+ <(.*)>$")
# Detection of CPU features, which is no vector code.
DETECTION = re.compile(r"detect|load_x86_features")
VECTORS = re.compile(r"cotangent_kernels::.*(avx2|avx512|widest::wide)")
OUTSIDE = re.compile(r"core::(array|iter|option|slice::iter)\b(?!.*panic)|\{\{closure\}\}")


def calls(binary):
    listing = ["objdump", "-d", "-C", "--no-show-raw-insn", binary]
    process = subprocess.Popen(listing, stdout=subprocess.PIPE, text=True, errors="replace")
    caller = ""
    for line in process.stdout:
        if line.endswith(">:\n"):
            caller = line.split("<", 1)[1][:-3]
        elif found := CALL.search(line.rstrip()):
            yield caller, re.sub(r"\+0x[0-9a-f]+$", "", found[1])
    if process.wait():
        sys.exit(f"objdump could not read {binary}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("objdump"):
        sys.exit("skipped: needs objdump")
    wrong, seen = collections.Counter(), 0
    for caller, callee in calls(sys.argv[1]):
        seen += 1
        intrinsic = callee.startswith("core::core_arch::") and not DETECTION.search(caller)
        outside = VECTORS.search(caller) and callee != caller and OUTSIDE.search(callee)
        if intrinsic or outside:
            wrong[caller[:150] + "  ->  " + callee[:100]] += 1
    if not seen:
        sys.exit(f"{sys.argv[1]} has no calls: is it a binary with symbols?")
    for call, times in wrong.most_common():
        print(f"{times:6} {call}")
    print(f"{sum(wrong.values())} calls in vector code that should be inlined, of {seen} calls")
    sys.exit(1 if wrong else 0)


main()
