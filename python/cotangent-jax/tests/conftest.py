"""Settings of the tests: both platforms are named, so that XLA's CPU computes the references."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cotangent,cpu")

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
