"""The start of ranks under a launcher that goes on when one dies: the others end, and say why."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from islands.parallel.process import Neighbours


class Processes:
    """A folder as /proc, with a launcher, process 10, and its ranks, processes 20 and up."""

    def __init__(self, folder: Path, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", str(ranks))
        self.folder = folder
        self.begin(1, 0, "init", "HOME=/")
        self.begin(10, 1, "prterun", "HOME=/")
        for rank in range(ranks):
            self.begin_rank(20 + rank, rank)

    def begin(self, pid: int, parent: int, name: str, *variables: str) -> None:
        (self.folder / str(pid)).mkdir()
        (self.folder / str(pid) / "environ").write_text("".join(f"{word}\0" for word in variables))
        self.set_state(pid, parent, name, "S")

    def begin_rank(self, pid: int, rank: int, parent: int = 10, job: str = "a@1") -> None:
        self.begin(pid, parent, "a (python) 3", f"PMIX_NAMESPACE={job}", f"PMIX_RANK={rank}")

    def set_state(self, pid: int, parent: int, name: str, state: str) -> None:
        (self.folder / str(pid) / "stat").write_text(f"{pid} ({name}) {state} {parent} 1 1")

    def end(self, pid: int) -> None:
        for path in (self.folder / str(pid)).iterdir():
            path.unlink()
        (self.folder / str(pid)).rmdir()

    def seen_by(self, pid: int) -> Neighbours:
        return Neighbours(self.folder, pid)


def both(neighbours: Neighbours) -> tuple[str, str]:
    """Return what is found early, and late."""
    return neighbours.loss(is_late=False), neighbours.loss(is_late=True)


def test_a_rank_that_has_been_seen_is_missed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes(tmp_path, 3, monkeypatch)
    neighbours = processes.seen_by(20)
    assert both(neighbours) == ("", "")
    processes.set_state(22, 10, "python", "Z")
    assert both(neighbours) == ("rank 2 has died", "rank 2 has died")
    processes.end(22)
    processes.end(21)
    assert neighbours.loss(is_late=False) == "rank 1 has died"


def test_a_rank_that_was_never_seen_is_missed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes(tmp_path, 3, monkeypatch)
    processes.end(21)
    assert both(processes.seen_by(20)) == ("", "only 2 of 3 ranks of this host are alive")
    # The launcher has not begun the program of a rank yet, or hides its variables.
    processes.begin(21, 10, "prterun", "HOME=/")
    assert both(processes.seen_by(20)) == ("", "")
    processes.set_state(21, 10, "ssh", "S")  # starts the launcher of another host
    assert both(processes.seen_by(20))[1] == "only 2 of 3 ranks of this host are alive"
    (tmp_path / "21/environ").unlink()
    assert both(processes.seen_by(20)) == ("", "")


def test_a_rank_may_be_started_by_a_script_and_start_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes(tmp_path, 2, monkeypatch)
    processes.begin_rank(30, 0, parent=20)
    processes.begin_rank(31, 1, parent=21)
    neighbours = processes.seen_by(30)
    assert both(neighbours) == ("", "")
    processes.end(21)
    assert both(neighbours) == ("", "")
    processes.begin_rank(32, 1, parent=10)
    assert neighbours.loss(is_late=False) == ""
    processes.end(31)
    # Its processes so far are gone, but it has a new one.
    assert neighbours.loss(is_late=False) == ""
    processes.end(32)
    assert neighbours.loss(is_late=False) == "rank 1 has died"


DIES = """
import os, sys, threading, time
from islands.parallel import launched, world
def die():
    os.kill(os.getpid(), 9)
rank, when = launched()[0], sys.argv[1]
if rank == 1 and when == "before":
    die()
if rank == 1 and when == "during":
    time.sleep(2)
    threading.Timer(0.05, die).start()
ranks = world(fault_tolerant=sys.argv[2] == "yes")
if when == "never":
    print(ranks.allgather(rank), flush=True)
    sys.exit(0)
with ranks.guarded(show_traceback=False):
    if rank == 1:
        die()
    ranks.barrier()
"""


def started(mpirun: list[str], when: str, option: str) -> subprocess.CompletedProcess[str]:
    """Start three ranks, of which rank 1 dies."""
    line = [mpirun[0], "--with-ft", "ulfm", *mpirun[1:], "3", sys.executable, "-c", DIES]
    return subprocess.run(
        [*line, when, option], capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("option", ["yes", "no"])
@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_the_others_end_soon_and_another_start_may_help(
    mpirun: list[str], when: str, option: str
) -> None:
    begun = time.monotonic()
    done = started(mpirun, when, option)
    assert done.returncode == 69, done.stderr
    assert time.monotonic() - begun < 60  # MPI itself waits forever
    # On a busy machine, it follows the message of Open MPI, which ends with a zero byte.
    lines = done.stderr.replace("\0", "\n").splitlines()
    line = next(line for line in lines if line.startswith("islands: "))
    assert line.startswith(("islands: [rank 0 of 3, ", "islands: [rank 2 of 3, "))
    assert ". Repeat the command" in line
    assert line.endswith(" by itself")


@pytest.mark.slow
def test_ranks_that_live_start_and_end_with_status_0(mpirun: list[str]) -> None:
    done = started(mpirun, "never", "yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[0, 1, 2]\n" * 3


ONE_IS_INTERRUPTED = """
import os, signal, time
import islands.cli, islands.cli.run

def interrupted(**options):
    ranks = islands.parallel.world(**options)
    if ranks.rank == 1:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return ranks

islands.cli.run.world = interrupted
islands.cli.main()
"""


@pytest.mark.slow
def test_an_interrupt_of_one_rank_during_the_start_ends_all(mpirun: list[str]) -> None:
    command = [*mpirun, "2", sys.executable, "-c", ONE_IS_INTERRUPTED]
    command += ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--stop", "seconds=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 130
