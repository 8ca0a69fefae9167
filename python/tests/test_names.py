"""A test for each name of the table: its signature; eager, compiled and recorded results have the same bits; the gradient obeys the
laws of derivatives. Prints how many rows and doors were run, and each exemption with its reason (``pytest -s``)."""

import inspect
import types

import numpy as np
import pytest

import cotangent as ct
import names
from cases import ALL_DOORS, CASES, DOORS, Case, default

MODULES = {"ct": ct, **{n: getattr(ct, n) for n in ("linalg", "fft", "random", "special", "nn", "implicit", "tessera", "numpy", "scipy")}}
NEEDS = {"jax": "jax", "torch": "torch"}
KEYS = [(module, signature) for row in names.ROWS for module, *signatures in [row] for signature in signatures]


def of(module, name):
    """The object of a name."""
    if module in NEEDS:
        pytest.importorskip(NEEDS[module])
        return getattr(getattr(ct, module), name)
    head, *rest = module.split(".")
    x = MODULES[head]
    for part in rest:
        x = getattr(x, part)
    return getattr(x, name)


def bits(y):
    """Types, shapes and bytes of a tree of arrays."""
    leaves, structure = ct.tree_flatten(y)
    arrays = [ct.asarray(x).detach() for x in leaves]
    return str(structure), [(x.dtype.name, x.shape, np.asarray(x).tobytes()) for x in arrays]


def parameters(text):
    """The parameters that a signature lists."""
    name, _, rest = text.partition("(")
    scope = {}
    exec(f"def {name}({rest}: pass", {}, scope)
    return list(inspect.signature(scope[name]).parameters.values())


def same_default(mine, listed):
    if isinstance(mine, ct.DType):
        return mine == listed
    return mine == listed or (mine is ... and listed is ...)


@pytest.mark.parametrize("module, text", [k for k in KEYS if "(" in k[1]], ids=lambda x: x)
def test_the_signature_is_the_listed_one(module, text):
    f = of(module, text.partition("(")[0])
    assert f.__doc__, "it has no documentation"
    mine = list(inspect.signature(f).parameters.values())
    listed = parameters(text)
    if isinstance(of(module, text.partition("(")[0]), types.MethodDescriptorType):
        # Of methods of the extension only `self` has no name.
        listed[0] = listed[0].replace(kind=mine[0].kind)
    for m, p in zip(mine, listed):
        assert (m.name, m.kind) == (p.name, p.kind), (str(inspect.signature(f)), text)
        if p.default is not p.empty:
            assert m.default is not m.empty and same_default(m.default, p.default), (m, p)
    assert len(mine) >= len(listed)
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    assert all(p.default is not p.empty or p.kind in optional for p in mine[len(listed):]), str(inspect.signature(f))


@pytest.mark.parametrize("module, text", [k for k in KEYS if "(" not in k[1]], ids=lambda x: x)
def test_the_name_is_there(module, text):
    of(module, text)


def case_of(module, text):
    """The case of a name: listed, or the default of an elementwise function."""
    name = text.partition("(")[0]
    found = CASES.get(f"{module}.{name}")
    return found or default(of(module, name), text)


DOOR_KEYS = [k for k in KEYS if k[0] not in NEEDS]


@pytest.mark.parametrize("module, text", DOOR_KEYS, ids=lambda x: x)
def test_doors_agree_to_the_bit(module, text):
    case = case_of(module, text)
    if not isinstance(case, Case):
        assert isinstance(case, str) and case, "a name without a case says why"
        return
    x = [ct.asarray(a) for a in case.args]
    eager = case.f(*x)
    if case.want is not None:
        np.testing.assert_allclose(np.asarray(ct.tree_leaves(eager)[0]), case.want, rtol=1e-12, atol=1e-14)
    if case.runs("jit"):
        assert bits(ct.jit(case.f)(*case.args)) == bits(eager)
    if case.runs("tape"):
        tape = case.f(*(ct.variable(a) if a.dtype.kind in "fc" else a for a in x))
        assert any(leaf.tracked for leaf in ct.tree_leaves(tape)) or not case.runs("gradient")
        assert bits(tape) == bits(eager)
    if case.runs("gradient"):
        ct.check_grads(case.f, [np.asarray(a) for a in case.args], order=1)


def test_every_row_has_a_case_or_a_reason(capsys):
    runs, exempt = 0, []
    for module, text in DOOR_KEYS:
        case, name = case_of(module, text), f"{module}.{text.partition('(')[0]}"
        if isinstance(case, str):
            exempt.append(f"{name}: {case}")
            continue
        for door in ALL_DOORS:
            runs += case.runs(door)
            if not case.runs(door):
                exempt.append(f"{name}, {DOORS[door]}: {case.without[door]}")
    with capsys.disabled():
        print(f"\n{len(names.ROWS)} rows, {len(KEYS)} names, {runs} doors run, {len(exempt)} exempt:")
        print("\n".join(f"  {e}" for e in exempt))
    unknown = set(CASES) - {f"{m}.{t.partition('(')[0]}" for m, t in KEYS}
    assert not unknown and len(names.ROWS) > 200


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "std", "var", "argmax", "argmin", "cumsum", "any", "all"])
def test_methods_are_numpy_s(name):
    x = np.array([[0.3, 0.7, 0.45], [0.62, 0.0, 0.9]])
    for axis in (None, 0, -1):
        mine, theirs = getattr(ct.asarray(x), name)(axis=axis), getattr(x, name)(axis=axis)
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)
