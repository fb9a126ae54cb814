"""Refusals and wrong costs: one message on all ranks, and no result."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import islands
from islands.cli import main
from islands.errors import RunError
from islands.problems.tsp import Tsp

RUN = ["--population", "20", "--islands", "3", "--backend", "cpu", "--set", "elite=0.2"]
RUN += ["--algorithm", "brkga", "--improver", "none", "--migration", "ring"]
RUN += ["--stop", "generations=6"]
MESSAGE = "This is an error in islands: please report it"
_exact = Tsp.costs


def lengthen(monkeypatch: pytest.MonkeyPatch, by: int = 1) -> None:
    """Make NumPy's lengths differ from those of the kernels."""
    monkeypatch.setattr(Tsp, "costs", lambda self, tours: _exact(self, tours) + by)


def results() -> list[str]:
    """Return the files of a result or a checkpoint, and the rows of tables."""
    names = ("solution*", "*.parquet", "manifest.json", "best.toml")
    files = {str(path) for name in names for path in Path().rglob(name)}
    rows = [row for path in Path().rglob("*.tsv") for row in path.read_text().splitlines()[1:]]
    return [*files, *rows]


@pytest.mark.parametrize("by", [-1, 1])
@pytest.mark.parametrize(
    "line",
    [
        "run demo/tsp",
        "run demo/tsp --runs 2",
        "run demo/tsp --json",
        "tune demo/tsp --over rho=0.6,0.7 --runs 1",
        "tune demo/tsp --over rho=0.6,0.7 --runs 2",
    ],
)
def test_a_command_fails_without_a_result(
    line: str, by: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lengthen(monkeypatch, by)
    assert main([*line.split(), *RUN, "--quiet"]) == 1
    said = capsys.readouterr()
    (message,) = said.err.splitlines()
    assert "but its exact cost is" in message
    assert message.endswith(MESSAGE)
    assert said.out == ""
    assert results() == []


def test_resumed_run_that_fails_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["resume", "a", "--stop", "generations=8"]
    assert main(["run", "demo/tsp", *RUN, "--out", "a"]) == 0
    with monkeypatch.context() as patched:
        lengthen(patched)
        assert main(line) == 1
    assert not Path("a", "solution.parquet").exists()
    assert [path.name for path in Path("a", "checkpoints").iterdir()] == ["000000000006.1"]
    assert main(line) == 0


def test_python_interface_raises_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lengthen(monkeypatch)
    settings = {"backend": "cpu", "population": 20, "algorithm": "brkga", "elite": 0.2}
    with pytest.raises(RunError, match=MESSAGE):
        islands.solve("demo/tsp", stop="generations=2", **settings)
    with pytest.raises(RunError, match=MESSAGE):
        islands.Solver("demo/tsp", **settings).best()


@pytest.mark.slow
def test_ranks_fail_together_with_one_message(mpirun: list[str]) -> None:
    broken = "from islands.problems.tsp import Tsp; exact = Tsp.costs;"
    broken += " Tsp.costs = lambda self, tours: exact(self, tours) + 1;"
    command = f"import sys; {broken} from islands.cli import main; sys.exit(main(sys.argv[1:]))"
    line = [*mpirun, "3", sys.executable, "-c", command, "run", "demo/tsp", *RUN, "--quiet"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    # On a busy machine, it follows the message of Open MPI, which ends with a zero byte.
    lines = done.stderr.replace("\0", "\n").splitlines()
    (said,) = [each for each in lines if each.startswith("islands: ")]
    assert said.endswith(MESSAGE)
    assert results() == []


ATTEMPTS = 5
DASHES = "-" * 40
SLOW = pytest.mark.slow


def without_report(run: Callable[[int], tuple[int, str]]) -> tuple[int, str]:
    """Return status and stderr of a run; call it again, with the next number, if mpirun reports.

    On a busy machine, mpirun may see that rank 0 ends with an error status before the others end,
    and reports this itself, below a line of dashes.
    """
    for attempt in range(ATTEMPTS):
        status, said = run(attempt)
        assert said.count("islands: ") == 1
        if DASHES not in said:
            break
    return status, said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("run --foo", "unknown option '--foo'", marks=SLOW),  # before MPI is started
        pytest.param(
            "run demo/tsp --migration random --async",
            "--async with migration random: ",
            marks=SLOW,
        ),
        ("verify demo/tsp nosuch", "nosuch: no such file"),  # only by rank 0
    ],
)
def test_refusal_prints_one_message_and_gives_status_2(
    mpirun: list[str], line: str, message: str
) -> None:
    command = [*mpirun, "3", sys.executable, "-m", "islands", *line.split()]

    def refused(_: int) -> tuple[int, str]:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout == ""
        return done.returncode, done.stderr

    status, said = without_report(refused)
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith(f"islands: {message}")


@pytest.mark.slow
def test_ranks_with_different_options_are_refused(mpirun: list[str]) -> None:
    command = [sys.executable, "-m", "islands", "run", "demo/tsp", "--backend", "cpu"]
    other = [":", "-n", "1", *command, "--seed", "5"]
    command = [*mpirun, "1", *command, *other]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("rank 1 of 2 differs from rank 0 in the settings") == 1
    assert "MPI_ABORT" not in done.stderr
    assert not Path("runs").exists()
