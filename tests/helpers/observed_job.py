"""A run in other processes: observes when its search begins and its last process ends."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from jobs import family_of, is_alive, log, pids, started


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
