"""Refuses to load the extension on a CPU without the instructions that it is compiled for: the first one would end the process."""

from __future__ import annotations

import os

# Instruction sets that a build for x86-64 may need, by the compiler's name, and their names in /proc/cpuinfo.
_NAMES = {"sse4.2": "sse4_2", "popcnt": "popcnt", "avx": "avx", "avx2": "avx2", "bmi1": "bmi1", "bmi2": "bmi2", "f16c": "f16c",
          "fma": "fma", "lzcnt": "abm", "movbe": "movbe", "avx512f": "avx512f", "avx512bw": "avx512bw", "avx512dq": "avx512dq",
          "avx512vl": "avx512vl"}


def missing(built_for: str, cpuinfo: str) -> list[str]:
    """The instruction sets that a build needs and the first CPU of this text lacks. None if the text has no flags."""
    flags = next((line.split() for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    if flags is None:
        return []
    return [name for name in built_for.split(",") if name in _NAMES and _NAMES[name] not in flags]


def check(cpuinfo: str = "/proc/cpuinfo") -> None:
    """Raises ImportError where the extension cannot run. A system without this file is not checked."""
    try:
        with open(os.path.join(os.path.dirname(__file__), "cpu_features.txt"), encoding="ascii") as f:
            built_for = f.read()
        with open(cpuinfo, encoding="ascii", errors="replace") as f:
            lacks = missing(built_for, f.read(8192))
    except OSError:
        return
    if lacks:
        raise ImportError(
            f"this build of cotangent needs a CPU with {', '.join(lacks)}; this one has not. A build for this machine: "
            "RUSTFLAGS='-C target-cpu=native' pip install --no-binary cotangent-tensors cotangent-tensors")
