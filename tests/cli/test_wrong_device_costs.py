"""Rejections and wrong costs: one message on all ranks, and no result."""

import sys
from pathlib import Path

import pytest
from jobs import PROGRAM, ran

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
    done = ran(*line)
    assert (done.returncode, done.stdout) == (1, "")
    # On a busy machine, it follows the message of Open MPI, which ends with a zero byte.
    lines = done.stderr.replace("\0", "\n").splitlines()
    (said,) = [line for line in lines if line.startswith("islands: ")]
    assert said.endswith(MESSAGE)
    assert results() == []


SLOW = pytest.mark.slow


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
def test_rejection_prints_one_message_and_gives_status_2(
    mpirun: list[str], line: str, message: str
) -> None:
    # On a busy machine, mpirun may see that rank 0 ends with an error status before the others end,
    # and reports this itself, below a line of dashes.
    for _ in range(5):
        done = ran(*mpirun, "3", *PROGRAM, *line.split())
        assert done.stdout == ""
        assert done.stderr.count("islands: ") == 1
        if "-" * 40 not in done.stderr:
            break
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"islands: {message}")


@pytest.mark.slow
def test_ranks_with_different_options_are_rejected(mpirun: list[str]) -> None:
    command = [*PROGRAM, "run", "demo/tsp", "--backend", "cpu"]
    done = ran(*mpirun, "1", *command, ":", "-n", "1", *command, "--seed", "5")
    assert done.returncode == 2
    assert done.stderr.count("rank 1 of 2 differs from rank 0 in the settings") == 1
    assert "MPI_ABORT" not in done.stderr
    assert not Path("runs").exists()
