"""What the package's folders agree on: versions of the two lock files, where this is a checkout."""

import pathlib
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent


def versions(path):
    """The versions of each crate of a lock file."""
    found = {}
    for p in tomllib.loads(path.read_text())["package"]:
        found.setdefault(p["name"], set()).add(p["version"])
    return found


def test_the_extension_has_the_workspace_s_versions():
    files = ROOT / "Cargo.lock", ROOT / "crates" / "python" / "Cargo.lock"
    if not all(f.exists() for f in files):
        pytest.fail("run the tests from a checkout")
    workspace, extension = map(versions, files)
    both = workspace.keys() & extension.keys()
    assert len(both) > 60 and {n for n in both if not extension[n] <= workspace[n]} == set()


def test_every_code_of_the_core_has_a_class():
    import re

    from cotangent import _errors
    text = (ROOT / "crates" / "core" / "src" / "error.rs").read_text()
    codes = re.findall(r"^    ([A-Z]\w+),", text.split("pub enum Code {")[1].split("}")[0], re.M)
    # `Foreign` is the exception that a function of the user's raised.
    assert len(codes) > 40 and [c for c in codes if c not in _errors._CLASSES] == ["Foreign"]
    page = (ROOT / "book" / "src" / "python-errors.md").read_text()
    assert [c for c in _errors._CLASSES if c != "Interrupted" and f"`{c}`" not in page] == []
