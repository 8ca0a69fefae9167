"""JAX, PyTorch and NumPy with the names that the workloads use, and their derivatives, synchronization and conversion to arrays."""

import os


class Jax:
    name = "jax"

    def __init__(self, threads):
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp

        self.jax, self.jnp, self.version = jax, jnp, f"jax {jax.__version__}, jit"
        nn = jax.nn
        self.exp, self.tanh, self.sin, self.abs = jnp.exp, jnp.tanh, jnp.sin, jnp.abs
        self.sum, self.einsum, self.transpose = jnp.sum, jnp.einsum, jnp.transpose
        self.rsqrt, self.relu, self.sigmoid = jax.lax.rsqrt, nn.relu, nn.sigmoid
        self.softmax, self.logsumexp, self.gelu = nn.softmax, lambda x: nn.logsumexp(x, -1), nn.gelu
        la = jnp.linalg
        self.qr, self.cholesky, self.eigh, self.solve = la.qr, la.cholesky, la.eigh, la.solve
        self.svd, self.svdvals = lambda a: la.svd(a, full_matrices=False), lambda a: la.svd(a, compute_uv=False)
        self.logabsdet = lambda a: la.slogdet(a)[1]

    def mean(self, x, axis=None):
        return self.jnp.mean(x) if axis is None else self.jnp.mean(x, axis, keepdims=True)

    def swap(self, x):
        return self.jnp.swapaxes(x, -1, -2)

    def weighted_sum(self, y, w):
        return self.jnp.sum(self.jnp.real(y) * w)

    def constant(self, x):
        return self.jnp.array(x, self.jnp.float32)

    def zeros(self, shape):
        return self.jnp.zeros(shape, self.jnp.float32)

    def causal(self, n):
        return self.jnp.triu(self.jnp.full((n, n), -self.jnp.inf, self.jnp.float32), 1)

    def cross_entropy(self, logits, y):
        return -self.jnp.mean(self.jnp.take_along_axis(self.jax.nn.log_softmax(logits), y[:, None], 1))

    def conv(self, x, k):
        return self.jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")

    def max_pool(self, x):
        return self.jax.lax.reduce_window(x, -self.jnp.inf, self.jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def split4(self, x):
        return self.jnp.split(x, 4, 1)

    def scan(self, step, carry, xs, n):
        return self.jax.lax.scan(lambda c, x: (step(c, x), None), carry, xs, length=n)[0]

    def array(self, x):
        return self.jnp.asarray(x)

    def function(self, w):
        """The timed computation, as a function of arrays."""
        jax = self.jax

        def f(*x):
            return w.f(self, *x)

        if w.derived == "value":
            return f
        if w.derived in ("grad", "first_gradient"):
            return jax.grad(f, argnums=w.wrt)
        if w.derived == "hessian":
            return jax.hessian(f, argnums=w.wrt[0])
        n = len(w.inputs) - len(w.wrt)

        def product(*x):
            def gradient(*p):
                y = list(x[:n])
                for i, v in zip(w.wrt, p):
                    y[i] = v
                return jax.grad(f, argnums=w.wrt)(*y)

            return jax.jvp(gradient, tuple(x[i] for i in w.wrt), tuple(x[n:]))[1]

        return product

    def prepare(self, w, inputs):
        jax, inputs = self.jax, [self.array(x) for x in inputs]
        if w.derived == "first_gradient":

            def first():
                jax.clear_caches()
                return jax.block_until_ready(jax.jit(self.function(w))(*inputs))

            return first
        g = jax.jit(self.function(w))
        return lambda: jax.block_until_ready(g(*inputs))

    def text(self, w):
        """The primal program as StableHLO text."""
        n = len(w.inputs) - (len(w.wrt) if w.derived == "hvp" else 0)
        types = [self.jax.ShapeDtypeStruct(s, d) for d, s, _ in w.inputs[:n]]
        return self.jax.jit(lambda *x: w.f(self, *x), keep_unused=w.all_inputs).lower(*types).as_text()

    def numpy(self, y):
        return self.jax.tree.leaves(y)


class JaxLoops(Jax):
    """JAX with a higher limit on the size of loops that it compiles as one function."""

    environment = {"XLA_FLAGS": "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=65536"}

    def __init__(self, threads):
        super().__init__(threads)
        self.version += ", loops of 64 KiB"


class Torch:
    name = "torch"

    def __init__(self, threads):
        import torch
        import torch.nn.functional as F

        torch.set_num_threads(threads)
        self.torch, self.F, self.version = torch, F, f"torch {torch.__version__}, eager"
        self.exp, self.tanh, self.sin, self.abs, self.rsqrt = torch.exp, torch.tanh, torch.sin, torch.abs, torch.rsqrt
        self.einsum, self.relu, self.sigmoid = torch.einsum, torch.relu, torch.sigmoid
        self.softmax, self.logsumexp = lambda x: torch.softmax(x, -1), lambda x: torch.logsumexp(x, -1)
        self.gelu = lambda x: F.gelu(x, approximate="tanh")
        self.transpose, self.swap = lambda x, p: x.permute(p), lambda x: x.transpose(-1, -2)
        la = torch.linalg
        self.qr, self.cholesky, self.eigh, self.solve, self.svdvals = la.qr, la.cholesky, la.eigh, la.solve, la.svdvals
        self.svd, self.logabsdet = lambda a: la.svd(a, full_matrices=False), lambda a: la.slogdet(a)[1]
        self.max_pool, self.conv = lambda x: F.max_pool2d(x, 2), lambda x, k: F.conv2d(x, k, padding=1)
        self.split4, self.zeros, self.constant = lambda x: x.chunk(4, 1), torch.zeros, torch.tensor

    def sum(self, x, axis=None):
        return x.sum() if axis is None else x.sum(axis)

    def mean(self, x, axis=None):
        return x.mean() if axis is None else x.mean(axis, keepdim=True)

    def weighted_sum(self, y, w):
        return ((y.real if y.is_complex() else y) * w).sum()

    def causal(self, n):
        return self.torch.triu(self.torch.full((n, n), float("-inf")), 1)

    def cross_entropy(self, logits, y):
        return self.F.cross_entropy(logits, y.long())

    def scan(self, step, carry, xs, n):
        for i in range(n):
            carry = step(carry, None if xs is None else xs[i])
        return carry

    def prepare(self, w, inputs):
        torch = self.torch
        x = [torch.from_numpy(v.copy()) if v.shape else torch.tensor(v.item(), dtype=getattr(torch, str(v.dtype))) for v in inputs]
        if w.derived == "value":

            def value():
                with torch.no_grad():
                    return w.f(self, *x)

            return value
        if w.derived == "hessian":
            h = torch.func.hessian(lambda x: w.f(self, x))
            return lambda: h(*x)
        for i in w.wrt:
            x[i].requires_grad_(True)
        at = [x[i] for i in w.wrt]
        if w.derived == "hvp":
            n = len(x) - len(w.wrt)

            def product():
                g = torch.autograd.grad(w.f(self, *x[:n]), at, create_graph=True)
                return torch.autograd.grad(g, at, grad_outputs=x[n:])

            return product
        return lambda: torch.autograd.grad(w.f(self, *x), at)

    def numpy(self, y):
        return [v.detach().resolve_conj().numpy() for v in (y if isinstance(y, (tuple, list)) else [y])]


class NumPy:
    name = "numpy"

    def __init__(self, threads):
        import numpy as np

        self.version = f"numpy {np.__version__}"
        self.exp, self.tanh, self.sin, self.abs, self.sum = np.exp, np.tanh, np.sin, np.abs, np.sum
        la = np.linalg
        self.qr, self.cholesky, self.eigh, self.solve = la.qr, la.cholesky, la.eigh, la.solve
        self.svdvals = lambda a: la.svd(a, compute_uv=False)

    def softmax(self, x):
        import scipy.special

        return scipy.special.softmax(x, -1)

    def logsumexp(self, x):
        import scipy.special

        return scipy.special.logsumexp(x, -1)

    def prepare(self, w, inputs):
        return lambda: w.f(self, *inputs)

    def numpy(self, y):
        return list(y) if isinstance(y, (tuple, list)) else [y]


LIBRARIES = {"jax": Jax, "torch": Torch, "numpy": NumPy, "jax+loops": JaxLoops}


def limit_threads(threads):
    """Sets the cores of this process and the variables of thread pools. Called before a library is loaded."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "COTANGENT_THREADS"):
        os.environ[name] = str(threads)
