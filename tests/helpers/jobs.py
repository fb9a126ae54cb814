"""Runs as separate processes, under mpirun if they have several ranks; some are observed."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

PROGRAM = (sys.executable, "-m", "islands")
ANY_RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""The environment in which mpirun starts any number of ranks, also as root."""


def ran(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; return its status and output."""
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run(command, **options)


def wait_until(
    is_so: Callable[[], object],
    process: subprocess.Popen[Any] | None = None,
    seconds: float = 60,
) -> None:
    """Wait until a condition holds; fail if a given process ends before that."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if process is not None and (process.poll() is not None or time.monotonic() > deadline):
            process.kill()
            raise AssertionError(process.communicate())
        assert time.monotonic() < deadline
        time.sleep(0.02)


def started(
    number: int,
    line: list[str],
    stdout: int | IO[str] = subprocess.DEVNULL,
    stderr: int | IO[str] = subprocess.PIPE,
    apart: bool = False,
) -> subprocess.Popen[str]:
    """Start `islands` with a command line on `number` ranks.

    With `apart`, it is in its own process group and can receive signals as from a terminal.
    """
    command = [*PROGRAM, *line]
    if number > 1:
        command = [*(mpirun() or ["mpirun"]), "-n", str(number), *command]
    return subprocess.Popen(
        command,
        stdout=stdout,
        stderr=stderr,
        text=True,
        start_new_session=apart,
        # Not the TMPDIR of the test: two mpiruns of one test would disturb each other.
        env={**os.environ, **ANY_RANKS, "TMPDIR": tempfile.mkdtemp(dir=os.environ.get("TMPDIR"))},
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
    family = [parent]
    for pid in family:
        family += _children(pid)
    return family


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    return _status(pid)[0] not in "ZX"


def parent_of(pid: int) -> int:
    """Return the parent of a process, or 0 if it has ended."""
    return int(_status(pid)[1])


def all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _status(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["X", "0"]


def _children(parent: int) -> list[int]:
    return [pid for pid in all_pids() if parent_of(pid) == parent]


class Waits:
    """The time that threads wait for a core, from the first call of `look`."""

    def __init__(self) -> None:
        self._first: dict[Path, int] = {}
        self._last: dict[Path, int] = {}

    def look(self, family: list[int]) -> None:
        for pid in family:
            for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                try:
                    waited = int(path.read_text().split()[1])
                except (OSError, IndexError):
                    continue
                self._first.setdefault(path, waited)
                self._last[path] = waited

    def seconds(self) -> float:
        """Return the longest wait of any thread."""
        return max((self._last[each] - self._first[each] for each in self._first), default=0) / 1e9


class Job:
    """A run in a folder on `ranks` ranks."""

    def __init__(self, line: list[str], ranks: int, folder: Path, *, goes_on: bool = False) -> None:
        self.folder, self.ranks = folder, ranks
        self.out, self.err = folder.with_suffix(".json"), folder.with_suffix(".err")
        self._begun_before, self.waits = _starts(folder), Waits()
        where = [] if goes_on else ["--out", str(folder)]
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = started(ranks, [*line, *where], stdout=out, stderr=err, apart=True)

    def begins(self, until: float) -> bool:
        """Wait for the search to begin; return False if time or the run ends first."""
        while time.monotonic() < until and self.process.poll() is None:
            if _starts(self.folder) >= self._begun_before + self.ranks:
                return True
            time.sleep(0.005)
        return False

    def ends(self, until: float) -> float | None:
        """Wait for the end of all processes; return its time, or None if they still run."""
        family = family_of(self.process.pid)
        while self.process.poll() is None or any(map(is_alive, family)):
            if time.monotonic() > until:
                return None
            self.waits.look(family)
            time.sleep(0.01)
        return time.monotonic()

    def send(self, number: signal.Signals, target: str, draw: random.Random) -> float:
        """Send a signal to a target that `tests/deadlines` names; return the time."""
        if target == "group":
            os.killpg(self.process.pid, number)
        elif target in ("mpirun", "it"):
            os.kill(self.process.pid, number)
        else:
            ranks = [pid for pid in family_of(self.process.pid) if _is_rank(pid)]
            ranks = [pid for pid in pids(self.folder) if pid in ranks] or ranks
            for pid in (
                ranks if target == "all ranks" else [draw.choice(ranks or [self.process.pid])]
            ):
                os.kill(pid, number)
        return time.monotonic()

    def result(self) -> dict[str, object]:
        try:
            return dict(json.loads(self.out.read_text()))
        except ValueError:
            return {}

    def explain(self) -> None:
        """Write the stacks of all processes to a file."""
        if spy := shutil.which("py-spy"):
            with self.folder.with_suffix(".stacks").open("a") as file:
                for pid in family_of(self.process.pid):
                    command = [spy, "dump", "--native", "--pid", str(pid)]
                    subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=False)


def _is_rank(pid: int) -> bool:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"islands" in line and b"-n" not in line


def _starts(run: Path) -> int:
    """Return how many ranks have begun to search, over all starts of a run."""
    return log(run).count("   pid ")
