"""The record of a job array, and elements that fail before their run begins; without a cluster."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from commands_of_slurm import Commands, in_array

from islands.cli.job import main
from islands.slurm.array import arrays_of, begin_array
from islands.slurm.collect import collect
from islands.slurm.sweep_state import is_sweep, states_of


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
    assert collect(Path("all")) == 1
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
    assert [array.job for array in arrays_of(Path("all"))] == ["5", "50"]


def test_the_elements_and_options_of_an_array_are_those_that_slurm_lists(
    slurm: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm.prints("squeue", "7|mine|gpu|normal|1:00:00\n12|mine|gpu|normal|1:00:00")
    array = begin_array(Path("all"), "5", ["demo/tsp"])
    assert array is not None
    assert array.elements == (7, 12)
    assert array.collecting == "99"
    assert array.again([12]) == (
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
    assert collect(Path("all")) == 1
    assert list(states_of(Path("all"))) == [9]


def test_a_numbered_folder_alone_is_no_sweep(tmp_path: Path) -> None:
    (tmp_path / "2024").mkdir()
    assert not is_sweep(tmp_path)
    (tmp_path / "2024/slurm").mkdir()
    assert is_sweep(tmp_path)
