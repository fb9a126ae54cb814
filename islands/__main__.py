"""`python -m islands` is the same as the command `islands`."""

import sys

from islands.cli import main

sys.exit(main())
