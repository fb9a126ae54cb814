"""Files of another run in the folder of a run are found, and every command says so."""

import json
import shutil
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch
from quick_plots import without_rendering

import islands
from islands.cli import main
from islands.errors import InputError
from islands.record.one_run import files_of_other_runs

RUN = ["--islands", "2", "--population", "16", "--algorithm", "brkga", "--improver", "none"]
RUN += ["--backend", "cpu", "--threads", "1", "--interval", "2", "--quiet"]
FILES = {
    "run.toml": "trace/rank-000.parquet belongs to another run",
    "solution.parquet": "solution.parquet belongs to another run",
    "trace/rank-000.parquet": "trace/rank-000.parquet belongs to another run",
    "migrations/rank-000.parquet": "migrations/rank-000.parquet belongs to another run",
    "checkpoints": "/manifest.json belongs to another run",
}
"""Each file that is copied from a run with another seed, and the message."""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Go to the folder of two runs that differ in their seeds; return the first one."""
    monkeypatch.chdir(tmp_path)
    for seed in ("1", "2"):
        line = ["demo/tsp", *RUN, "--seed", seed, "--stop", "generations=6"]
        assert main(["run", *line, "--out", f"seed{seed}"]) == 0
    return Path("seed1")


def copied(name: str) -> None:
    """Replace a file, or a folder, of the first run by that of the second one."""
    if Path("seed2", name).is_dir():
        shutil.rmtree(Path("seed1", name))
        shutil.copytree(Path("seed2", name), Path("seed1", name))
    else:
        shutil.copy(Path("seed2", name), Path("seed1", name))


def said(capsys: Capture, *line: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main([*line]) == status
    out, err = capsys.readouterr()
    return out + err


def test_files_of_one_run_are_no_strangers(runs: Path, capsys: Capture) -> None:
    assert files_of_other_runs(runs) == {}
    assert main(["resume", str(runs), "--stop", "generations=9", "--quiet"]) == 0
    assert files_of_other_runs(runs) == {}
    (runs / "solution.parquet").unlink()  # the trace is the one of the last start
    assert files_of_other_runs(runs) == {}
    assert main(["resume", str(runs), "--stop", "generations=12", "--quiet"]) == 0
    assert "mixes" not in said(capsys, "status", str(runs))
    assert "mixes" not in said(capsys, "verify", "demo/tsp", str(runs))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_command_says_what_is_of_another_run(runs: Path, capsys: Capture, name: str) -> None:
    copied(name)
    words = FILES[name]
    (found,) = json.loads(said(capsys, "status", "seed1", "--json"))["warnings"]
    assert words in found
    for line, status in (
        (["status", "seed1"], 0),
        (["report", "seed1"], 0),
        (["report", "seed1", "seed2", "--out", "both.html"], 0),
        (["plot", "seed1", "convergence"], 0),
        (["export", "seed1", "--csv", "rows.csv"], 0),
        (["verify", "demo/tsp", "seed1"], 1),
        # The result is that of the settings, or the folder is rejected.
        (["resume", "seed1"], 2 if name in ("run.toml", "solution.parquet") else 0),
    ):
        with without_rendering():
            assert words in said(capsys, *line, status=status), line
    for page in ("seed1/report.html", "both.html"):
        assert "mixes files of different runs" in Path(page).read_text()
    assert json.loads(said(capsys, "verify", "demo/tsp", "seed1", "--json", status=1))


def test_records_of_another_run_are_rejected_in_python(runs: Path) -> None:
    own = islands.read_run(runs)
    assert own.trace().num_rows > 0
    copied("trace/rank-000.parquet")
    mixed = islands.read_run(runs)
    assert mixed.cost == own.cost
    with pytest.raises(InputError):
        mixed.trace()
    with pytest.raises(InputError):
        mixed.plot()
    assert mixed.migrations().equals(own.migrations())


def test_runs_with_the_same_settings_differ_in_their_starts_or_results(
    runs: Path, capsys: Capture
) -> None:
    line = ["demo/tsp", *RUN, "--seed", "1", "--stop", "generations=9"]
    assert main(["run", *line, "--out", "longer"]) == 0
    shutil.copy("longer/trace/rank-000.parquet", runs / "trace/rank-000.parquet")
    words = "rank-000.parquet belongs to another run or start, not to that of solution.parquet"
    assert words in said(capsys, "status", "seed1")


def test_the_same_settings_of_another_instance_are_another_run(runs: Path, capsys: Capture) -> None:
    for seed in (1, 2):
        cities = islands.tsp([[0, 0], [0, 9], [9, seed], [9, 9], [5, 5]], name="five")
        few = {"generations": 3, "islands": 2, "population": 8, "backend": "cpu"}
        islands.solve(cities, out=f"five{seed}", improver="none", **few)
    for name in ("trace/rank-000.parquet", "solution.parquet", "problem.npz"):
        shutil.copytree("five1", "mixed")
        shutil.copy(f"five2/{name}", f"mixed/{name}")
        assert name in said(capsys, "status", "mixed")
        shutil.rmtree("mixed")
    shutil.copytree("five1", "mixed")
    shutil.copy("five2/problem.npz", "mixed/problem.npz")
    rejected = said(capsys, "resume", "mixed", "--stop", "generations=5", status=2)
    assert "problem.npz does not contain the problem of run.toml" in rejected


def test_verify_compares_the_two_files_of_the_solution(runs: Path, capsys: Capture) -> None:
    lines = (runs / "solution.tour").read_text().splitlines(keepends=True)
    first = lines.index("TOUR_SECTION\n") + 1
    lines[first : first + 2] = reversed(lines[first : first + 2])
    (runs / "solution.tour").write_text("".join(lines))
    out = said(capsys, "verify", "demo/tsp", "seed1", status=1)
    assert "solution.tour does not contain the solution of solution.parquet" in out
