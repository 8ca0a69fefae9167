"""Text of arrays, as NumPy prints them."""

from __future__ import annotations

from typing import Any

from cotangent._cotangent import Array


def text(x: Array, whole: bool) -> str:
    """The elements (``whole``: with constructor and element type); of a traced array its type."""
    if x.traced:
        shape = ", ".join(map(str, x.shape))
        return f"Array(traced {x.dtype}[{shape}])"
    import numpy as np
    elements: Any = np.asarray(x)
    if not whole:
        return str(elements)
    body = np.array2string(elements, separator=", ", prefix="array(")
    return f"array({body}, dtype={x.dtype})"
