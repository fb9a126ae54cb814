"""If the exact objective contradicts the device, a command fails without a result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from numpy.typing import NDArray

import islands
from islands.cli import main
from islands.errors import RunError
from islands.problems.tsp import Tsp

RUN = ["--population", "20", "--islands", "3", "--backend", "cpu", "--set", "elite=0.2"]
RUN += [
    "--algorithm",
    "brkga",
    "--improver",
    "none",
    "--migration",
    "ring",
    "--stop",
    "generations=6",
]
MESSAGE = "This is an error in islands: please report it"
_exact = Tsp.costs


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lengthen(monkeypatch: pytest.MonkeyPatch, by: int = 1) -> None:
    """Make NumPy's lengths differ from those of the kernels."""
    monkeypatch.setattr(Tsp, "costs", lambda self, tours: _exact(self, tours) + by)


@pytest.fixture
def off_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    lengthen(monkeypatch)


def results() -> list[str]:
    """Return the files of a result or a checkpoint."""
    names = ("solution*", "*.parquet", "manifest.json", "best.toml")
    return sorted({str(path) for name in names for path in Path().rglob(name)})


def tables() -> list[str]:
    """Return the rows of all tables, without headers."""
    return [row for path in Path().rglob("*.tsv") for row in path.read_text().splitlines()[1:]]


def assert_fails(capsys: pytest.CaptureFixture[str], *line: str) -> None:
    capsys.readouterr()
    assert main(list(line)) == 1
    said = capsys.readouterr()
    (message,) = said.err.splitlines()
    assert message.startswith("islands: ")
    assert "but its exact cost is" in message
    assert message.endswith(MESSAGE)
    for word in ("Stopped:", "checked again", "Wrote"):
        assert word not in said.out
    assert results() == tables() == []


@pytest.mark.parametrize("by", [-1, 1])
@pytest.mark.parametrize("how", [[], ["--runs", "2"], ["--out", "a", "--quiet"]])
def test_run_fails_without_a_result(
    how: list[str],
    by: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengthen(monkeypatch, by)
    assert_fails(capsys, "run", "demo/tsp", *RUN, *how)


@pytest.mark.usefixtures("off_by_one")
def test_failed_run_prints_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo/tsp", *RUN, "--json"]) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("off_by_one")
@pytest.mark.parametrize("runs", [1, 2])
def test_tuning_fails_without_a_row(runs: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    line = ["tune", "demo/tsp", *RUN, "--runs", str(runs), "--over", "rho=0.6,0.7", "--quiet"]
    assert_fails(capsys, *line)


def test_resumed_run_that_fails_is_not_finished(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["resume", "a", "--stop", "generations=8"]
    assert main(["run", "demo/tsp", *RUN, "--out", "a"]) == 0
    with monkeypatch.context() as patched:
        lengthen(patched)
        assert main(line) == 1
    assert MESSAGE in capsys.readouterr().err
    assert not Path("a", "solution.parquet").exists()
    assert [path.name for path in Path("a", "checkpoints").iterdir()] == ["000000000006.1"]
    assert main(line) == 0


def test_invalid_solution_gives_no_result(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: Tsp, _tour: NDArray[object]) -> None:
        raise RunError("not a tour of demo/tsp")

    monkeypatch.setattr(Tsp, "check", refuse)
    assert main(["run", "demo/tsp", *RUN, "--quiet"]) == 1
    assert capsys.readouterr().err == "islands: not a tour of demo/tsp\n"
    assert results() == []


@pytest.mark.usefixtures("off_by_one")
def test_python_interface_raises_the_error() -> None:
    settings = {"backend": "cpu", "population": 20, "algorithm": "brkga", "elite": 0.2}
    with pytest.raises(RunError, match=MESSAGE):
        islands.solve("demo/tsp", stop="generations=2", **settings)
    with pytest.raises(RunError, match=MESSAGE):
        islands.Solver("demo/tsp", **settings).best()


def test_ranks_fail_together_with_one_message(mpirun: list[str]) -> None:
    broken = "from islands.problems.tsp import Tsp; exact = Tsp.costs;"
    broken += " Tsp.costs = lambda self, tours: exact(self, tours) + 1;"
    command = f"import sys; {broken} from islands.cli import main; sys.exit(main(sys.argv[1:]))"
    line = [*mpirun, "3", sys.executable, "-c", command, "run", "demo/tsp", *RUN, "--quiet"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    # On a busy machine, it follows the message of Open MPI, which ends with a zero byte.
    lines = done.stderr.replace("\0", "\n").splitlines()
    said = [each for each in lines if each.startswith("islands: ")]
    assert len(said) == 1
    assert said[0].endswith(MESSAGE)
    assert done.stdout == ""
    assert results() == []
