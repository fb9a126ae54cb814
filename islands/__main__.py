"""`python -m islands` is the same as the command `islands`."""

from __future__ import annotations

import sys


def main() -> int:
    """Do the command of this process; an interruption is one from the first import on."""
    try:
        from islands.cli import main as command

        return command()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
