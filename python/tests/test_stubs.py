"""The stubs are those that ``stubs.py`` writes (``BLESS=1`` writes them)."""

import os
import re

import pytest

import stubs


@pytest.mark.parametrize("file", stubs.STUBS)
def test_a_stub_is_what_the_signatures_say(file):
    path, text = stubs.FOLDER / file, stubs.STUBS[file]()
    if os.environ.get("BLESS"):
        path.write_text(text)
    assert path.read_text() == text, "run BLESS=1 pytest python/tests/test_stubs.py"


# Their results are trees of arrays in the structure of arguments, or leaves of trees.
TREES = {"grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "hvp", "vjp", "root", "fixed_point", "load", "tree_flatten",
         "tree_leaves", "tree_unflatten", "static"}


def test_results_have_types_but_trees():
    found = {m[1] for m in re.finditer(r"^def (\w+)\(.*\) -> (.*): \.\.\.", stubs.package(), re.M) if re.search(r"\bAny\b|_F\b", m[2])}
    assert found == TREES
