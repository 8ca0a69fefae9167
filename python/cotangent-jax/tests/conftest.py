"""Settings of the tests: both platforms are named, so that XLA's CPU computes the references."""

import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cotangent,cpu")
# The list of JAX's own tests.
sys.path.append(str(pathlib.Path(__file__).parents[1]))

import jax
import pytest


@pytest.fixture(scope="session", autouse=True)
def platform():
    assert jax.devices()[0].platform == "cotangent", "the package cotangent-jax is not installed"


@pytest.fixture
def xla():
    return jax.devices("cpu")[0]


@pytest.fixture
def ours():
    return jax.devices("cotangent")[0]
