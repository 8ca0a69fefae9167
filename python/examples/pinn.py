"""A network that solves u'' = -u with u(0) = 0, u'(0) = 1: its derivatives are those of the network."""

import numpy as np

import cotangent as ct


def net(p, x):
    return ct.sum(ct.tanh(x * p["w"] + p["b"]) * p["v"])


def residuals(p, x):
    u = lambda x: x + x * x * net(p, x)          # the conditions at 0 hold for every network
    second = ct.grad(ct.grad(u))
    return ct.vmap(lambda x: second(x) + u(x))(x)


@ct.jit
def step(p, m, x):
    value, g = ct.value_and_grad(lambda p: ct.mean(residuals(p, x) ** 2))(p)
    m = ct.tree_map(lambda m, g: 0.9 * m + g, m, g)
    return ct.tree_map(lambda p, m: p - 0.005 * m, p, m), m, value


keys = ct.random.split(ct.random.key(0), 3)
p = {n: 0.5 * ct.random.normal(k, (16,)) for n, k in zip(("w", "b", "v"), keys)}
m = ct.tree_map(ct.zeros_like, p)
x = np.linspace(0.0, 2.0, 32)
for k in range(2000):
    p, m, value = step(p, m, x)
u = np.array([float(a + a * a * net(p, a)) for a in x])
print("mean square residual:", float(value), " largest error:", np.abs(u - np.sin(x)).max())
assert np.abs(u - np.sin(x)).max() < 0.05
