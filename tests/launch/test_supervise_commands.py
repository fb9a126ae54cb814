"""launch/supervise: the commands that it runs, their folders, help and wrong usage."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from fake_machine import Supervised


@pytest.fixture
def machine(tmp_path: Path) -> Supervised:
    return Supervised(tmp_path)


def test_a_run_that_dies_before_writing_its_settings_starts_again(machine: Supervised) -> None:
    done = machine.supervise("2", "--out", "r", plan=["137", "0 r/solution.parquet"])
    assert done.returncode == 0
    assert machine.launches()[1] == ["-n", "1", "run", "--out", "r"]


def test_the_settings_of_an_earlier_run_are_not_resumed(machine: Supervised) -> None:
    (machine.folder / "r").mkdir()
    (machine.folder / "r/run.toml").touch()
    plan = ["137", "137 r/run.toml", "0 r/solution.parquet"]
    done = machine.supervise("2", "--out", "r", "--force", plan=plan)
    assert done.returncode == 0
    assert [call[2] for call in machine.launches()] == ["run", "run", "resume"]


def test_resume_keeps_all_its_options(machine: Supervised) -> None:
    (machine.folder / "r").mkdir()
    (machine.folder / "r/run.toml").touch()
    options = ["--stop", "generations=9", "--quiet"]
    done = machine.supervise("2", "resume", "r", *options, plan=["137", "0 r/solution.parquet"])
    assert done.returncode == 0
    assert machine.launches()[1] == ["-n", "1", "resume", "r", *options]


def test_a_new_folder_is_created_and_named(machine: Supervised) -> None:
    first = machine.supervise("2", "it's", "", plan=["1"])
    second = machine.supervise("2", plan=["1"])
    folders = [call[-1] for call in machine.launches()]
    assert machine.launches()[0][2:5] == ["run", "it's", ""]
    assert folders[0] != folders[1]
    for folder, done in zip(folders, (first, second), strict=True):
        assert (machine.folder / folder).is_dir()
        assert f"the run's folder is {folder}\n" in done.stderr


def test_the_launcher_and_the_python_can_be_named(machine: Supervised) -> None:
    machine.add("srun", f"#!/bin/sh\nexec '{machine.bin}/mpirun' srun \"$@\"\n")
    machine.add("python9", (machine.bin / "python3").read_text())
    machine.supervise(
        "2", "--out", "r", plan=["1"], ISLANDS_MPIRUN="srun  --mpi=pmix", PYTHON="python9"
    )
    call = (machine.folder / "launches").read_text()
    expected = f"<srun><--mpi=pmix><-n><2><{machine.bin}/python9><-P><-m><islands><run><--out><r>\n"
    assert expected in call


@pytest.mark.parametrize("asked", [["--help"], ["resume", "-h"], ["demo/tsp", "--out=r", "-h"]])
def test_help_comes_from_islands_and_creates_no_folder(
    machine: Supervised, asked: list[str]
) -> None:
    done = machine.supervise("2", *asked, plan=["0"])
    assert (done.returncode, done.stderr) == (0, "")
    line = asked if asked[0] == "resume" else ["run", *asked]
    assert machine.calls("-m islands") == [f"-m islands {' '.join(line)}"]
    assert not (machine.folder / "launches").exists()
    assert not (machine.folder / "runs").exists()


def test_help_before_the_number_of_ranks_is_that_of_the_script(machine: Supervised) -> None:
    for word in ("-h", "--help"):
        done = machine.supervise("-k", word, plan=["0"])
        assert (done.returncode, done.stderr) == (0, "")
        assert "launch/supervise [-r RESTARTS] [-k] [-H FILE] RANKS resume DIR" in done.stdout
        assert "#" not in done.stdout
        assert "set -eu" not in done.stdout
        assert done.stdout.startswith("Runs islands under mpirun")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "'' is not a number of ranks. Write: "),
        ("0", "'0' is not a number of ranks. Write: "),
        ("demo/tsp", "'demo/tsp' is not a number of ranks. Write: "),
        ("-r many 2", "-r many: must be a whole number, such as -r 3"),
        ("-r", "-r : must be a whole number, such as -r 3"),
        ("-H nosuch 2", "-H nosuch: no such file, or not readable"),
        ("2 resume", "resume needs the folder of a run: "),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(machine: Supervised, line: str, message: str) -> None:
    failed = machine.run("launch/supervise", *shlex.split(line))
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith(f"{machine.checkout / 'launch/supervise'}: {message}")
    assert failed.stderr.count("\n") == 1
