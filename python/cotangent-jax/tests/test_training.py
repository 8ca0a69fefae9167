"""Training programs have the losses of XLA's CPU."""

import jax
import numpy as np
import pytest
from models import PROGRAMS, step_of


def losses(program, device, steps=101):
    start, loss, data = program()
    with jax.default_device(device):
        step, values = step_of(loss), []
        params = jax.jit(lambda: start())()
        for _ in range(steps):
            params, value = step(params, *data)
            values.append(value)
        return np.array([v.item() for v in values])


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_losses_are_those_of_xla(program, ours, xla):
    mine, theirs = losses(program, ours), losses(program, xla)
    assert mine[-1] < mine[0]
    np.testing.assert_allclose(mine, theirs, atol=1e-6, rtol=0)
