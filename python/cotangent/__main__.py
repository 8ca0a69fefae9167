"""``python -m cotangent``: the command line."""

import sys

from cotangent._console import main

if __name__ == "__main__":
    sys.exit(main())
