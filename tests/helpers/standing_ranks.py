"""Ranks that run one command after another in the same processes, as a start takes a second.

For tests of what ranks compute and print together. Those of processes, in which ranks die, receive
signals or fail alone, use the fixture `mpirun`.
"""

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Client, Connection, Listener, wait
from pathlib import Path

import jobs
from scripts_for_tests import forgotten

MOST = 5
_PASSED_ON = ("OMPI_", "PMIX_", "PRTE_")
"""Variables by which a launcher tells a process what it has started."""


class StandingRanks:
    """Up to `MOST` ranks, which are started when they are first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._ranks: list[Connection] = []
        self._folder = Path()

    def run(self, ranks: int, *line: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a line of options of Python, such as `-m islands run`, as `mpirun -n RANKS` would.

        They have the folder and the variables of this process. Output is in the order of ranks.
        """
        if self._process is None:
            self._start()
        with tempfile.TemporaryDirectory() as folder:
            # A file each: what two ranks print at the same time would mix in one.
            stdout, stderr = (
                [Path(folder, f"{name}-{rank}") for rank in range(ranks)] for name in ("out", "err")
            )
            working = self._ranks[:ranks]
            for rank, *streams in zip(working, stdout, stderr, strict=True):
                rank.send((ranks, line, Path.cwd(), dict(os.environ), streams))
            try:
                statuses = [self._answer(rank, timeout) for rank in working]
            except (EOFError, TimeoutError):
                self.stop()
                raise AssertionError(f"{line}: {_texts(stdout)} {_texts(stderr)}") from None
            return subprocess.CompletedProcess(
                line, statuses[0], "".join(_texts(stdout)), "".join(_texts(stderr))
            )

    def stop(self) -> None:
        if self._process is not None:
            jobs.kill_all(self._process)
            shutil.rmtree(self._folder, ignore_errors=True)
        self._process, self._ranks = None, []

    def _start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ranks-"))
        address = str(self._folder / "socket")
        with Listener(address, backlog=MOST) as listener:
            command = [*(jobs.mpirun() or ["mpirun"]), "-n", str(MOST), sys.executable, __file__]
            self._process = subprocess.Popen(
                [*command, address],
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **jobs.ANY_RANKS, "TMPDIR": str(self._folder)},
            )
            found = [listener.accept() for _ in range(MOST)]
        self._ranks = [each for _, each in sorted((each.recv(), each) for each in found)]

    @staticmethod
    def _answer(rank: Connection, timeout: float) -> int:
        if not wait([rank], timeout):
            raise TimeoutError
        return int(rank.recv())


def _texts(paths: Sequence[Path]) -> list[str]:
    return [path.read_text() for path in paths if path.exists()]


def _serve(address: str) -> None:
    """Run what another process asks for, until it ends."""
    from mpi4py import MPI

    everyone = MPI.COMM_WORLD
    started = {k: v for k, v in os.environ.items() if k.startswith(_PASSED_ON)}
    some: dict[int, MPI.Comm] = {}
    with Client(address) as asking:
        asking.send(everyone.rank)
        while True:
            try:
                ranks, line, folder, variables, streams = asking.recv()
            except EOFError:
                return
            if ranks not in some:
                some[ranks] = everyone.Create_group(everyone.group.Incl(list(range(ranks))))
            MPI.COMM_WORLD = some[ranks]
            own = {f"OMPI_COMM_WORLD{name}SIZE": str(ranks) for name in ("_", "_LOCAL_")}
            os.environ.clear()
            os.environ.update(variables | started | own)
            tempfile.tempdir = None  # that of the command before, which is removed
            os.chdir(folder)
            with _written_to(streams), forgotten(folder):
                status = _run(line)
            asking.send(status)


@contextmanager
def _written_to(paths: Sequence[Path]) -> Iterator[None]:
    kept = [os.dup(1), os.dup(2)]
    try:
        for number, path in enumerate(paths, 1):
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(file, number)
            os.close(file)
        yield
    finally:
        for number, stream in enumerate((sys.stdout, sys.stderr), 1):
            stream.flush()
            os.dup2(kept[number - 1], number)
            os.close(kept[number - 1])


def _run(line: Sequence[str]) -> int:
    """Run what `python LINE` would; return the exit status."""
    if line[:2] == ("-m", "islands"):
        from islands.cli import main

        return main(line[2:])
    sys.argv = list(line)
    sys.path.insert(0, str(Path(line[0]).parent))
    try:
        runpy.run_path(line[0], run_name="__main__")
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])
