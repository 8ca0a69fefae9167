"""Programs that were written before the runtime for loops: steppers, filters, tables, walks, automata, chains, optimisers,
Newton iterations, integers, images and short matrices.

None of them is in `workloads.py` or `programs.py`. `@program(name, holds, inputs, wrt, tol)` adds a function of JAX: it is
timed as it is (`NAME.v`) and, where `wrt` names inputs, as a gradient (`NAME.g`), as in `programs.py`. `holds` names what
is most costly to run step by step in the body of its innermost loop.
"""

from programs import Program, f32, f64, i32

PROGRAMS = []
HOLDS = {
    "scalars": "arithmetic of single numbers",
    "elementwise": "arithmetic of equal extents",
    "stack": "vectors built of numbers, or taken apart",
    "slices": "slices, concatenations, pads",
    "rolls": "rolls of a carry",
    "fold": "sums, maxima, norms",
    "argmax": "argmax or argmin",
    "sort": "sort, argsort, top_k",
    "read": "a read at an index",
    "update": "an update at an index",
    "gather": "a gather or a search, one index for each element",
    "scatter": "an addition at one index for each element",
    "product": "products of small matrices",
    "solve": "solves, inverses, factorisations of small matrices",
    "nested": "a loop of scalars within the loop",
    "branch": "a branch",
    "bits": "shifts, rotations, masks",
    "none": "no loop",
}

__all__ = ["HOLDS", "PROGRAMS", "define", "f32", "f64", "i32", "program", "u32"]


def u32(*s):
    return ("uint32", s, "bits")


def program(name, holds, inputs, wrt=(), tol=None):
    assert holds in HOLDS and all(p.name != name for p in PROGRAMS), name

    def add(f):
        PROGRAMS.append(Program(name, f.__module__.rpartition(".")[2], inputs, f, None, tuple(wrt), True, tol, holds))
        return f

    return add


def define():
    from . import automata, chains, filters, images, integers, newton, optimisers, short, steppers, tables, walks  # noqa: F401
