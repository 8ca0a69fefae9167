"""Every public name has an example, which runs and prints what its documentation shows."""

import doctest
import importlib

import numpy as np
import pytest

import cotangent as ct

# The module a library is needed for.
NEEDS = {"jax": "jax", "torch": "torch", "scipy": "scipy"}
ERRORS = {n for n in ct.__all__ if isinstance(getattr(ct, n), type) and issubclass(getattr(ct, n), Exception)}
PLAIN = {n for n in ct.__all__ if not callable(getattr(ct, n)) or isinstance(getattr(ct, n), ct.DType)}
SUBMODULES = ["linalg", "fft", "random", "special", "nn", "implicit", "scipy", "jax", "torch"]
# Named tuples are shown where they are returned; names that `ct` has, too, there.
RESULTS = {"Solution"}
NAMES = [("cotangent", n) for n in ct.__all__ if n not in ERRORS | PLAIN] + [
    (f"cotangent.{m}", n) for m in SUBMODULES for n in getattr(importlib.import_module(f"cotangent.{m}"), "__all__") if n not in RESULTS] + [
    ("cotangent.tessera", "install")] + [
    (f"cotangent.tessera.{m}", n) for m in ("graph", "op") for n in vars(type(getattr(ct.tessera, m))) if not n.startswith("_")]


def run(text, name):
    """Runs the examples of a text; their number."""
    test = doctest.DocTestParser().get_doctest(text, {"ct": ct, "np": np}, name, None, None)
    failures = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    doctest.DocTestRunner(optionflags=options).run(test, out=failures.append)
    assert not failures, "".join(failures)
    return len(test.examples)


@pytest.mark.parametrize("module, name", NAMES, ids=lambda x: x)
def test_the_example_of_a_name_runs(module, name):
    last = module.rpartition(".")[2]
    if last in NEEDS:
        pytest.importorskip(NEEDS[last])
    owner = getattr(ct.tessera, last) if last in ("graph", "op") else importlib.import_module(module)
    assert run(getattr(owner, name).__doc__, name) > 0, "it has no example"


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_errors_have_a_sentence(name):
    assert getattr(ct, name).__doc__


@pytest.mark.parametrize("module", ["cotangent", "cotangent.numpy"])
def test_the_examples_of_a_module_run(module):
    assert run(importlib.import_module(module).__doc__, module) > 0
