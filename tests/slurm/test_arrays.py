"""The record of a job array, and elements that fail before their run begins; without a cluster."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from commands_of_slurm import Commands, in_array

from islands import cli
from islands.cli import report
from islands.cli.job import main
from islands.slurm import sweep
from islands.slurm.follow import is_sweep, states_of
from islands.slurm.sweep import arrays_of, begin_array

QUICK = [
    "--backend",
    "cpu",
    "--islands",
    "2",
    "--population",
    "16",
    "--improver",
    "none",
    "--quiet",
]
QUICK += ["--stop", "generations=2"]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    commands = Commands(tmp_path / "commands", monkeypatch)
    commands.prints("sbatch", "99")
    return commands


def run_element(monkeypatch: pytest.MonkeyPatch, element: int, *words: str, job: str = "5") -> int:
    """Return the exit status of an element of a job array."""
    with monkeypatch.context() as patched:
        for name, value in in_array(element, job).items():
            patched.setenv(name, value)
        return main(["sweep", *words])


def test_an_element_that_fails_at_once_is_listed_with_the_others(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sweep.txt").write_text("# one\ndemo/tsp --nonsense 1\n\ndemo/tsp\n")
    words = ["sweep.txt", "--quiet", "--out", "all"]
    assert run_element(monkeypatch, 3, *words) == 2, "the list has only two lines"
    assert run_element(monkeypatch, 1, *words) == 2
    captured = capsys.readouterr().err
    assert "element 3: sweep.txt has options for elements 1 to 2" in captured
    assert "unknown option '--nonsense'" in captured, "options are checked before GPUs"
    assert len(slurm.calls("sbatch")) == 1, "one collecting job for the array"
    assert "--dependency=afterany:5" in slurm.calls("sbatch")[0]
    states = states_of(Path("all"))
    assert [state.word for state in states.values()] == ["failed"] * 3
    assert "status 2" in states[3].detail
    Path("sweep.txt").unlink()
    assert cli.main(["collect", "all"]) == 1
    with Path("all/results.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["options"] for row in rows] == [
        "demo/tsp --nonsense 1 --quiet",
        "demo/tsp --quiet",
        "",
    ]
    printed = capsys.readouterr().out
    assert (
        "with: sbatch --array=1,2,3 --nodes=1 --ntasks-per-node=2"
        " '/home/me/a folder/sweep.sbatch' sweep.txt --quiet --out all\n"
    ) in printed
    assert "islands collect all" in printed


def test_each_job_array_has_a_collecting_job(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for job in ("5", "50"):
        run_element(monkeypatch, 2, "no-instance", "--out", "all", job=job)
    assert len(slurm.calls("sbatch")) == 2
    assert [each.job for each in arrays_of(Path("all"))] == ["5", "50"]


def test_the_elements_and_options_of_an_array_are_those_that_slurm_lists(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm.prints("squeue", "7|mine|gpu|normal|1:00:00\n12|mine|gpu|normal|1:00:00")
    begun = begin_array(Path("all"), "5", ["demo/tsp"])
    assert begun is not None
    assert begun.elements == (7, 12)
    assert begun.collecting == "99"
    assert begun.again([12]) == (
        "sbatch --array=12 --time=1:00:00 --account=mine --partition=gpu --qos=normal"
        " slurm/sweep.sbatch demo/tsp --out all"
    )
    assert "--account=mine --partition=gpu" in slurm.calls("sbatch")[0]
    assert begin_array(Path("all"), "5", ["demo/tsp"]) is None


def test_a_run_of_another_list_has_no_options_in_the_table(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sweep.txt").write_text("demo/tsp\n")
    begin_array(Path("all"), "5", ["sweep.txt"])
    Path("all/9/slurm").mkdir(parents=True)
    assert cli.main(["collect", "all"]) == 1
    assert list(states_of(Path("all"))) == [9]


def test_a_numbered_folder_alone_is_no_sweep(tmp_path: Path) -> None:
    (tmp_path / "2024").mkdir()
    assert not is_sweep(tmp_path)
    (tmp_path / "2024/slurm").mkdir()
    assert is_sweep(tmp_path)


def test_an_element_completes_the_record_that_a_killed_one_has_begun(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("all/slurm/array-5.json")
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(sweep, "_PATIENCE_SECONDS", 0.5)
    begun = begin_array(Path("all"), "5", ["demo/tsp"])
    assert begun is not None
    assert begun.collecting == "99"
    assert begin_array(Path("all"), "5", ["demo/tsp"]) is None


def test_an_element_that_cannot_write_the_record_leaves_it_to_the_next(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sweep, "_queried", lambda _: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            begin_array(Path("all"), "5", ["demo/tsp"])
    assert begin_array(Path("all"), "5", ["demo/tsp"]) is not None


def test_the_command_to_repeat_runs_does_not_name_those_in_the_queue(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm.prints("squeue", "1|a|p|q|1:00\n2|a|p|q|1:00\n3|a|p|q|1:00")
    begin_array(Path("all"), "5", ["demo/tsp"])
    slurm.prints("squeue", "5_1|PENDING|(Priority)\n5_2|RUNNING|n1\n5_3|FAILED|(None)")
    assert cli.main(["collect", "all"]) == 1
    printed = capsys.readouterr().out
    assert "with: sbatch --array=3 " in printed
    assert "2 runs queued or running: follow them with islands status all" in printed


def test_collect_writes_one_page_of_the_finished_runs(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for element in ("1", "2"):
        cli.main(["run", "demo/tsp", *QUICK, "--seed", element, "--out", f"all/{element}"])
    Path("all/3/slurm").mkdir(parents=True)  # failed before it began
    calls = []
    monkeypatch.setattr(report, "report", lambda args: calls.append((args.folders, args.out)) or 0)
    assert cli.main(["collect", "all"]) == 1
    assert calls == [([Path("all/1"), Path("all/2")], Path("all/report.html"))]


def test_scripts_of_a_list_that_the_user_has_submitted_are_run(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "import islands\nproblem = islands.tsp([[0, 0], [0, 9], [9, 0], [9, 9], [5, 5]])\n"
    Path("own.py").write_text(text)
    line = ["own.py:problem", *QUICK, "--array", "1-2", "--out", "all"]
    assert cli.main(["submit", *line]) == 0
    listed = "all/slurm/sweep.txt"
    assert run_element(monkeypatch, 1, listed, "--out", "all") == 0
    written = Path(listed).read_text()
    Path(listed).write_text(written.replace("--seed 2", "--seed 3"))
    assert run_element(monkeypatch, 2, listed, "--out", "all") == 2
    assert "add --trust, or name them too" in capsys.readouterr().err
    assert run_element(monkeypatch, 2, listed, "--trust", "--out", "all") == 0
    # Other lists need no signature.
    assert cli.main(["submit", "demo/tsp", *QUICK, "--array", "1-2", "--out", "other"]) == 0
    assert "#" not in Path("other/slurm/sweep.txt").read_text()
