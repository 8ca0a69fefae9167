"""What is no array, too deep or too large is an error of Python that says what to do. Each runs in a process of its own, which must
end by itself: with a status, never by a signal."""

import subprocess
import sys
import textwrap

import pytest

HEAD = """
import collections, datetime, sys
import numpy as np
import cotangent as ct

def nested(make, end, n=100_000):
    x = end
    for _ in range(n):
        x = make(x)
    return x

def caught(f):
    # The class, and whether the text says something.
    try:
        y = f()
    except Exception as e:
        print(type(e).__module__, type(e).__name__, len(str(e)) > 20)
    else:
        print("no error", y)
"""

# Name: (program, names of classes that it may end with).
DTYPE, SHAPE, LIMIT = ["DTypeError", "TypeError"], ["ShapeError", "ValueError"], ["LimitError", "MemoryError"]
DEEP = LIMIT + ["RecursionError"]
REFUSED = {
    "objects": ("np.array([1, 'a', None], dtype=object)", DTYPE),
    "strings": ("np.array(['a', 'b'])", DTYPE),
    "bytes": ("np.array([b'a', b'b'])", DTYPE),
    "dates": ("np.array(['2020-01-01'], dtype='M8[D]')", DTYPE),
    "durations": ("np.array([1], dtype='m8[s]')", DTYPE),
    "records": ("np.zeros(2, dtype=[('a', 'f8'), ('b', 'i4')])", DTYPE),
    "long doubles": ("np.zeros(2, dtype=np.longdouble)", DTYPE),
    "a set": ("{1.0, 2.0}", DTYPE),
    "a frozen set": ("frozenset([1.0])", DTYPE),
    "a generator": ("(float(i) for i in range(3))", DTYPE),
    "a string": ("'1.0'", DTYPE),
    "None": ("None", DTYPE),
    "a module": ("sys", DTYPE),
    "a date": ("datetime.date(2020, 1, 1)", DTYPE),
    "a list with a string": ("[1.0, 'a']", DTYPE),
    "a list with None": ("[1.0, None]", DTYPE),
    "a ragged list": ("[[1.0, 2.0], [3.0]]", SHAPE),
    "a ragged list of arrays": ("[np.ones(2), np.ones(3)]", SHAPE),
    "a list that contains itself": ("(lambda x: (x.append(x), x)[1])([])", DEEP + SHAPE + DTYPE),
    "nested lists": ("nested(lambda x: [x], 1.0)", DEEP + SHAPE),
    "nested tuples": ("nested(lambda x: (x,), 1.0)", DEEP + SHAPE),
    "an integer that does not fit": ("2**70", ["OverflowError"]),
    "a huge view": ("np.broadcast_to(np.float64(1), (1 << 22, 1 << 22))", LIMIT),
}
# What is a tree of arrays as an argument, or a number that wraps.
TREES = {"None", "a ragged list", "a ragged list of arrays", "a list with None", "a huge view", "an integer that does not fit"}
PROGRAMS = {
    "a torch meta tensor": ("import torch\ncaught(lambda: ct.asarray(torch.zeros(3, device='meta')))",
                            ["BufferError", "TypeError", "DTypeError", "ValueError", "RuntimeError", "NotImplementedError"]),
    "zeros above memory": ("caught(lambda: ct.zeros(1 << 48))", LIMIT),
    "zeros of many extents": ("caught(lambda: ct.zeros((1 << 32, 1 << 32)))", LIMIT),
    "zeros of a negative extent": ("caught(lambda: ct.zeros(-1))", SHAPE + ["ArgumentError", "OverflowError"]),
    "arange above memory": ("caught(lambda: ct.arange(1 << 50))", LIMIT),
    "arange of floats above memory": ("caught(lambda: ct.arange(0.0, 1e17))", LIMIT),
    "arange without an end": ("caught(lambda: ct.arange(0.0, float('inf')))", LIMIT + ["OverflowError", "ArgumentError"]),
    "linspace above memory": ("caught(lambda: ct.linspace(0.0, 1.0, 1 << 48))", LIMIT),
    "eye above memory": ("caught(lambda: ct.eye(1 << 24))", LIMIT),
    "an outer product above memory": ("x = ct.ones(1 << 21)\ncaught(lambda: ct.outer(x, x))", LIMIT),
    "an outer product above memory in a program": (
        "x = np.ones(1 << 21)\ncaught(lambda: ct.jit(lambda x: ct.sort(ct.outer(x, x), axis=0))(x))", LIMIT),
    "a broadcast above memory in a program": (
        "caught(lambda: ct.jit(lambda x: ct.sort(ct.broadcast_to(x, (1 << 45, 2)) * 1.0, axis=0))(np.ones(2)))", LIMIT),
    "zeros above memory in a program": ("caught(lambda: ct.jit(lambda: ct.zeros(1 << 48))())", LIMIT),
    "random numbers above memory": ("caught(lambda: ct.random.normal(ct.random.key(0), (1 << 45,)))", LIMIT),
    "repeat above memory": ("caught(lambda: ct.repeat(ct.ones(4), 1 << 44))", LIMIT),
    "tile above memory": ("caught(lambda: ct.tile(ct.ones(4), (1 << 44,)))", LIMIT),
    "pad above memory": ("caught(lambda: ct.pad(ct.ones(4), 1 << 44))", LIMIT),
    "nested dicts as an argument": ("caught(lambda: ct.jit(lambda x: 1.0)(nested(lambda x: {'a': x}, 1.0)))", DEEP),
    "nested lists as an argument": ("caught(lambda: ct.jit(lambda x: 1.0)(nested(lambda x: [x], 1.0)))", DEEP),
    "nested tuples in grad": ("caught(lambda: ct.grad(lambda x: 1.0)(nested(lambda x: (x,), 1.0)))", DEEP),
    "nested lists in tree_flatten": ("caught(lambda: ct.tree_flatten(nested(lambda x: [x], 1.0)))", DEEP),
    "a list that contains itself as a tree": ("x = []\nx.append(x)\ncaught(lambda: ct.tree_flatten(x))", DEEP),
    "a nested result": ("caught(lambda: ct.jit(lambda x: nested(lambda y: [y], x))(1.0))", DEEP),
    "nested shapes": ("caught(lambda: ct.jit(lambda x: x, shapes=(nested(lambda y: (y,), None),)))", DEEP),
    "nested axes": ("caught(lambda: ct.vmap(lambda x: x, in_axes=(nested(lambda y: (y,), None),))(np.ones(2)))", DEEP + SHAPE),
    "a nested key": ("caught(lambda: ct.ones(3)[nested(lambda y: [y], 1)])", DEEP + SHAPE),
    "a nested attribute": ("caught(lambda: ct._cotangent.op('reshape', (ct.ones(1),), {'shape': nested(lambda y: [y], 1)}))", DEEP),
    "nested jits": ("""
        def deep(n):
            return (lambda x: x) if n == 0 else ct.jit(lambda x, f=deep(n - 1): f(x) + 1.0)
        sys.setrecursionlimit(100_000)
        caught(lambda: print(float(deep(1500)(1.0))) or 1 / 0)
        """, DEEP + ["ZeroDivisionError"]),
    "a function that calls itself": ("def f(x):\n    return ct.jit(f)(x)\ncaught(lambda: f(1.0))", DEEP),
    "a long chain of operations": ("""
        def f(x):
            for _ in range(200_000):
                x = x + 1.0
            return x
        print(float(ct.jit(f)(1.0)))
        caught(lambda: 1 / 0)
        """, ["ZeroDivisionError"]),
    "a long tape": ("""
        x = ct.variable(1.0)
        y = x
        for _ in range(200_000):
            y = y * 1.0
        y.backward()
        print(float(x.grad))
        caught(lambda: 1 / 0)
        """, ["ZeroDivisionError"]),
    "a wrong element type": ("caught(lambda: ct.asarray(1.0, dtype='float128'))", DTYPE),
    "a wrong shape": ("caught(lambda: ct.ones((2, 3)) @ ct.ones((2, 3)))", SHAPE),
    "a program of garbage": ("caught(lambda: ct.Program.from_text('(' * 100_000))", ["ProgramError", "LimitError"]),
    "a file that is not there": ("caught(lambda: ct.load('/no/such/file.npy'))", ["MissingFileError"]),
    "a file that is no array": ("""
        import tempfile, os
        path = os.path.join(tempfile.mkdtemp(), 'a.npz')
        open(path, 'wb').write(b'PK' + bytes(100))
        caught(lambda: ct.load(path))
        """, ["FileError", "ArgumentError", "ValueError", "ProgramError"]),
    "an array that raises when it is read": ("""
        class Bad:
            def __array__(self, *a, **k):
                raise KeyError('a text that is long enough to be read')
        caught(lambda: ct.asarray(Bad()))
        """, ["KeyError", "DTypeError", "TypeError"]),
    "a capsule that is none": ("""
        class Bad:
            def __dlpack__(self, **k):
                return 'not a capsule'
            def __dlpack_device__(self):
                return (1, 0)
        caught(lambda: ct.from_dlpack(Bad()))
        """, ["TypeError", "BufferError", "ValueError", "DTypeError"]),
    "a leaf whose flatten lies": ("""
        class Node: pass
        ct.register_pytree_node(Node, lambda x: ((1.0,), None), lambda aux, c: 5 / 0)
        caught(lambda: ct.jit(lambda x: x)(Node()))
        """, ["ZeroDivisionError"]),
}
ALL = {**{k: (f"caught(lambda: ct.asarray({e}))", c) for k, (e, c) in REFUSED.items()},
       **{f"{k}, compiled": (f"caught(lambda: ct.jit(lambda x: 1.0)({e}))", c + ["TypeError"] + LIMIT) for k, (e, c) in REFUSED.items()
          if k not in TREES},
       **PROGRAMS}


@pytest.mark.parametrize("name", ALL)
def test_a_process_ends_by_itself(name):
    program, classes = ALL[name]
    if "import torch" in program:
        pytest.importorskip("torch")
    program = HEAD + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    words = done.stdout.split()
    assert words[-2] in classes, (done.stdout, classes)
    if words[-2] != "ZeroDivisionError":
        assert words[-1] == "True", "the text says too little"


LAYOUTS = {
    "read-only": "a.setflags(write=False)", "big-endian": "a = a.astype('>f8')", "negative strides": "a = a[::-1, ::-1]",
    "zero strides": "a = np.broadcast_to(a[0], a.shape)", "every second": "a = np.repeat(a, 2, 1)[:, ::2]",
    "unaligned": "a = np.frombuffer(b'x' + a.tobytes(), dtype=np.uint8)[1:].view('f8').reshape(a.shape)",
    "memory map": "import tempfile, os\np = os.path.join(tempfile.mkdtemp(), 'a.npy')\nnp.save(p, a)\na = np.load(p, mmap_mode='r')",
    "field of a record": "b = np.zeros(4, dtype=[('p', 'i1'), ('q', 'f8', 3)])\nb['q'] = a\na = b['q']",
    "transposed": "a = a.T", "empty": "a = a[:0]", "Fortran": "a = np.asfortranarray(a)",
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "c16", "i8", "i2", "u4", "?"])
def test_every_layout_comes_in_as_it_reads(dtype):
    program = HEAD + "".join(
        f"a = np.arange(12).reshape(4, 3).astype('{dtype}')\n" + step.replace("f8", dtype) + textwrap.dedent(f"""
        for x in (ct.asarray(a), ct.jit(lambda x: ct.stack([x, x])[0])(a), ct.stack([a, a])[0]):
            assert np.array_equal(np.asarray(x), np.asarray(a)) and x.dtype == a.dtype.newbyteorder('='), {name!r}
        """) for name, step in LAYOUTS.items()) + "print('done')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n" and done.returncode == 0, (done.returncode, done.stderr)
