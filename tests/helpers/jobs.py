"""Runs as separate processes, under mpirun if they have several ranks."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

ANY_RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""The environment in which mpirun starts any number of ranks, also as root."""


def started(
    number: int,
    line: list[str],
    *options: str,
    stdout: int | IO[str] = subprocess.DEVNULL,
    stderr: int | IO[str] = subprocess.PIPE,
    apart: bool = False,
) -> subprocess.Popen[str]:
    """Start `islands` with a command line on `number` ranks; `options` are those of mpirun.

    With `apart`, it is in its own process group and can receive signals as from a terminal.
    """
    command = [sys.executable, "-m", "islands", *line]
    if number > 1:
        command = [*(mpirun() or ["mpirun"]), *options, "-n", str(number), *command]
    return subprocess.Popen(
        command,
        stdout=stdout,
        stderr=stderr,
        text=True,
        start_new_session=apart,
        # As with the fixture `own_tmpdir`: one mpirun would disturb another.
        env={**os.environ, **ANY_RANKS, "TMPDIR": tempfile.mkdtemp(prefix="ranks-")},
    )


def mpirun() -> list[str] | None:
    """Return the command of mpirun, or None if there is no mpirun."""
    installed = Path(sys.executable).with_name("mpirun")
    found = str(installed) if installed.exists() else shutil.which("mpirun")
    return [found] if found is not None else None


def pids(run: Path) -> list[int]:
    """Return the process ids in the log of a run."""
    found = re.findall(r"^rank \d+   host .*   pid (\d+) ", log(run), re.MULTILINE)
    return sorted({int(pid) for pid in found})


def log(run: Path) -> str:
    """Return the current log of a run."""
    try:
        return (run / "log.txt").read_text()
    except OSError:
        return ""


def kill_all(process: subprocess.Popen[str]) -> None:
    """Kill a process and all its descendants, including the ranks, and wait for their end."""
    family = family_of(process.pid)
    for pid in family:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.communicate()
    while any(is_alive(pid) for pid in family):
        time.sleep(0.005)


def family_of(parent: int) -> list[int]:
    """Return a process and all its descendants."""
    family = [parent]
    for pid in family:
        family += _children(pid)
    return family


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after_name[1]) == parent:
            found.append(int(stat.parent.name))
    return found
