#!/usr/bin/env python3
"""Adds a unary function as CONTRIBUTING.md says, in a copy of the project.

    python3 tests/contributing.py

The example of CONTRIBUTING.md is the only change by hand. Then its commands run: the laws, which ask for what is missing, and
the test that writes the methods. Exit code 1 if a command fails, or if another file
changes that does not say that this test writes it.
Takes minutes: the copy is compiled in target/debug.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

# What a written file says in its first lines.
NOTICE = "//! Written by `crates/cli/tests/methods`"
ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "target/contributing"


def files(folder):
    """Each file of the project under `folder`, by its path."""
    listed = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    names = [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    return {name: folder / name for name in names}


def copy():
    shutil.rmtree(COPY, ignore_errors=True)
    for name, path in files(COPY).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, path)


def apply(example):
    """Applies a diff whose old lines occur once in their file. Returns the name of the file."""
    name = re.search(r"^\+\+\+ (\S+)$", example, re.M)[1]
    text = (COPY / name).read_text()
    for hunk in re.split(r"^@@.*\n", example, flags=re.M)[1:]:
        old, new = ("".join(line[1:] + "\n" for line in hunk.splitlines() if line[0] in kept) for kept in (" -", " +"))
        if text.count(old) != 1:
            sys.exit(f"these lines occur {text.count(old)} times in {name}, not once:\n{old}")
        text = text.replace(old, new)
    (COPY / name).write_text(text)
    return name


def cargo(arguments, **settings):
    command = ["cargo", *arguments, "--locked", "--target-dir", str(ROOT / "target")]
    print("+", *(f"{k}={v}" for k, v in settings.items()), *command, flush=True)
    if subprocess.run(command, cwd=COPY, env={**os.environ, **settings}).returncode:
        sys.exit("the command of CONTRIBUTING.md failed")


def main():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    example = re.search(r"^```diff\n(.*?)^```$", text, re.M | re.S)[1]
    commands = re.search(r"^```sh\n(.*?)^```$", text, re.M | re.S)[1].splitlines()
    copy()
    by_hand = apply(example)
    for command in commands:
        setting, arguments = command.split(" cargo ")
        cargo(arguments.split(), **dict([setting.split("=")]))
    changed = {name for name, path in files(COPY).items() if not path.exists() or path.read_bytes() != (ROOT / name).read_bytes()}
    new = {str(path.relative_to(COPY)) for path in COPY.rglob("*") if path.is_file()} - set(files(COPY))
    written = changed - {by_hand}
    print("by hand:", by_hand, "\nwritten:", *sorted(written), sep="\n  ")
    others = [name for name in sorted(written | new) if NOTICE not in (COPY / name).read_text()]
    if not written or others:
        sys.exit(f"changed, and not written by the test of methods: {others or 'nothing was written'}")


if __name__ == "__main__":
    main()
