"""If the exact objective contradicts the device, a command fails without a result."""

from __future__ import annotations

import subprocess
import sys
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
