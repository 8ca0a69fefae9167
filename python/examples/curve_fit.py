"""A curve through points: the parameters of a decaying oscillation by SciPy's minimiser with exact gradients."""

import numpy as np
import scipy.optimize

import cotangent as ct

t = np.linspace(0.0, 4.0, 60)
data = 1.5 * np.exp(-0.6 * t) * np.cos(3.0 * t) + 0.01 * np.sin(40.0 * t)


def loss(p):
    model = p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t)
    return np.mean((model - data) ** 2)


fun, jac, hessp = ct.scipy.objective(loss)
found = scipy.optimize.minimize(fun, [1.0, 0.5, 2.8], jac=jac, hessp=hessp, method="trust-krylov")
print("amplitude, rate, frequency:", np.round(found.x, 2))
assert found.success and np.allclose(found.x, [1.5, 0.6, 3.0], atol=0.02)
