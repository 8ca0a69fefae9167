"""The posterior of a linear model by Laplace's approximation: its covariance is the inverse Hessian at the maximum."""

import numpy as np

import cotangent as ct

key = ct.random.split(ct.random.key(1), 3)
x = np.asarray(ct.random.normal(key[0], (200, 3)))
truth = np.array([0.5, -1.0, 2.0])
y = x @ truth + 0.3 * np.asarray(ct.random.normal(key[1], (200,)))


def energy(w):
    return ct.sum((y - x @ w) ** 2) / (2 * 0.3**2) + ct.sum(w**2) / 2


mode = ct.implicit.argmin(energy, ct.zeros(3))
covariance = ct.linalg.inv(ct.hessian(energy)(mode))
samples = mode + ct.random.normal(key[2], (1000, 3)) @ ct.linalg.cholesky(covariance).T
print("mean:", np.round(ct.mean(samples, axis=0), 3), " deviation:", np.round(ct.std(samples, axis=0), 3))
assert np.all(np.abs(np.asarray(mode) - truth) < 0.1)
