"""Progress of long runs."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator


@contextlib.contextmanager
def progress(every: float = 0.5) -> Iterator[None]:
    """A block that shows one line with the time that it has run, on standard error.

    >>> with ct.progress(): ct.sum(ct.ones(10))
    ...
    array(10., dtype=float64)
    """
    done = threading.Event()

    def show() -> None:
        begin = time.perf_counter()
        while not done.wait(every):
            print(f"\r{time.perf_counter() - begin:.1f} s", end="", file=sys.stderr, flush=True)
        print("\r", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
