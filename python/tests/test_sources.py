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
