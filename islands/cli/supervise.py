"""The command `islands-supervise`: the shell script launch/supervise, with this Python."""

from __future__ import annotations

import os
import sys

from islands.paths import data_folder

_SHELL = "/bin/sh"


def main() -> None:
    """Become the script."""
    script = data_folder("launch") / "supervise"
    chosen = {"PYTHON": sys.executable, "ISLANDS_CALLED": "islands-supervise"}
    os.execve(_SHELL, [_SHELL, str(script), *sys.argv[1:]], chosen | os.environ)
