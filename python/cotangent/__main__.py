"""``python -m cotangent``: the command line."""

import sys

from cotangent._console import main

sys.exit(main())
