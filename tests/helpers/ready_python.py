"""A Python that has imported the package already: each command is a process forked from it.

Its start takes a tenth of the time of a new Python, which imports NumPy, PyArrow and the
package. Use it for what commands print and write; tests of starts, of process ids and of what a
process leaves behind start a Python of their own.
"""

from __future__ import annotations

import atexit
import functools
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_HELPERS = Path(__file__).parent


@functools.cache
def ready_python(python: str = sys.executable) -> list[str]:
    """Return the command that takes the place of a Python, and start its server."""
    folder = tempfile.TemporaryDirectory(prefix="python-")
    address = f"{folder.name}/socket"
    environment = dict(os.environ)
    # As under mpirun: the loader reads this only when a process starts.
    libraries = [f"{sys.prefix}/lib", os.environ.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)  # it has a package of its own
    server = subprocess.Popen(
        [python, str(_HELPERS / "ready_server.py"), address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # clients pass on the signals that they receive
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    atexit.register(_stop, server, folder)
    return [sys.executable, "-I", "-S", str(_HELPERS / "ready_client.py"), address]


def _stop(server: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    server.communicate()  # it ends with its input
    folder.cleanup()


def write_commands(folder: Path, python: str = sys.executable) -> None:
    """Write the commands `python` and `islands` to a folder."""
    line = shlex.join(ready_python(python))
    for name, options in (("python", ""), ("islands", " -m islands")):
        (folder / name).write_text(f'#!/bin/sh\nexec {line}{options} "$@"\n')
        (folder / name).chmod(0o755)
