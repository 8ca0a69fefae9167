"""A layer of this package in a module of PyTorch."""

import cotangent as ct

try:
    import torch
except ImportError:
    raise SystemExit("this example needs torch")


class Oscillator(torch.nn.Module):
    """The position of an oscillator after some time, by its frequency: the solution of an equation."""

    def __init__(self):
        super().__init__()
        self.frequency = torch.nn.Parameter(torch.tensor(0.8, dtype=torch.float64))
        self.layer = ct.torch.wrap(lambda w, t: ct.vmap(lambda t: ct.root(lambda x: x + 0.1 * x**3 - ct.sin(w * t), 0.0))(t))

    def forward(self, t):
        return self.layer(self.frequency, t)


t = torch.linspace(0, 3, 20, dtype=torch.float64)
target = Oscillator()
target.frequency.data.fill_(1.2)
want = target(t).detach()
module = Oscillator()
optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
for _ in range(100):
    optimizer.zero_grad()
    loss = ((module(t) - want) ** 2).mean()
    loss.backward()
    optimizer.step()
print("frequency:", module.frequency.item())
assert abs(module.frequency.item() - 1.2) < 1e-2
