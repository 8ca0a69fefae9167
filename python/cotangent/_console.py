"""The console script ``cotangent``, and ``python -m cotangent``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from cotangent import _cotangent


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line with these arguments (by default those of the process), and returns its exit status."""
    if arguments is None:
        # Ctrl-C ends the process, as it ends the binary: meanwhile no Python code runs that could see the exception.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _cotangent.command_line(list(sys.argv[1:] if arguments is None else arguments))
