"""launch/quickstart and its .venv, which it shares with tests/run, whose checks all run."""

import os

import pytest
from fake_machine import Machine

NO_NETWORK = "ERROR: No matching distribution found for hatchling"


def test_quickstart_installs_once_and_passes_its_arguments_on(machine: Machine) -> None:
    first = machine.run("launch/quickstart", "demo/tsp", "--set", "a=b  c")
    second = machine.run("launch/quickstart")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    command = "<mpirun><-n><2><-P><-m><islands><run>"
    assert first.stdout == f"{command}<demo/tsp><--set><a=b  c>\n"
    shown = "<demo/tour><--islands><2><--population><100><--interval><20>"
    assert second.stdout == f"{command}{shown}\n"
    assert len(machine.calls("-m venv")) == 1
    assert [line[-6:] for line in machine.calls("-m pip install")] == [".[mpi]"]


def test_an_installation_is_repeated_after_changes(machine: Machine) -> None:
    killed = machine.run("launch/quickstart", BREAK="pip install", KILL="yes")
    assert (killed.returncode != 0, killed.stdout) == (True, "")
    assert machine.run("launch/quickstart").returncode == 0
    assert len(machine.calls("-m venv")) == 2
    with (machine.checkout / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    machine.run("launch/quickstart")
    counts = [len(machine.calls(f"-m {what}")) for what in ("venv", "pip install")]
    assert counts == [2, 3]  # the same .venv, installed again
    machine.checkout = machine.checkout.rename(machine.folder / "moved")
    assert machine.run("launch/quickstart").returncode == 0
    assert len(machine.calls("-m venv")) == 3
    for driver in ("575.57.08, 9.0", "580.159.03, 9.0"):  # each needs another CuPy
        machine.add_driver(driver)
        machine.run("launch/quickstart")
    assert len(machine.calls("-m venv")) == 4


def test_a_python_without_ensurepip_installs_with_its_own_pip(machine: Machine) -> None:
    done = machine.run("launch/quickstart", BREAK="venv --clear /")
    assert done.returncode == 0, done.stderr
    (install,) = machine.calls("-m pip")
    assert install.startswith(f"-m pip --python {machine.checkout}/.venv/bin/python install")


@pytest.mark.parametrize(
    ("missing", "variables", "message"),
    [
        ("python3", {}, "no Python >= 3.11 found"),
        ("", {"BREAK": "version_info"}, "no Python >= 3.11 found"),
        ("", {"PYTHON": "/no/python"}, "PYTHON=/no/python is not a Python"),
        ("", {"BREAK": "import [ep]"}, "python3 has neither ensurepip nor pip"),
        ("", {"BREAK": "pip install", "TROUBLE": NO_NETWORK}, "could not reach its package index"),
        ("c++", {"BREAK": "ziglang", "ISLANDS_NO_INSTALL": "1"}, "no C++ compiler found"),
        ("", {"CXX": "nosuch++"}, "no C++ compiler found (tried CXX=nosuch++)"),
        ("mpirun", {}, "no mpirun found"),
    ],
)
def test_missing_software_is_reported_last(
    machine: Machine, missing: str, variables: dict[str, str], message: str
) -> None:
    if missing:
        (machine.bin / missing).unlink()
    failed = machine.run("launch/quickstart", **variables)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert message in failed.stderr.splitlines()[-1]


def test_without_a_compiler_and_without_a_gpu_zigs_compiler_is_installed(machine: Machine) -> None:
    (machine.bin / "c++").unlink()
    assert machine.run("launch/quickstart").returncode == 0
    assert machine.calls("-m pip install")[-1].endswith(" .[mpi,compiler]")
    machine.add_driver("580.159.03, 9.0")
    assert machine.run("launch/quickstart", GPUS="0").returncode == 0
    assert machine.calls("-m pip install")[-1].endswith(" .[mpi,cuda13,compiler]")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_checkout_is_rejected(machine: Machine) -> None:
    machine.checkout.chmod(0o555)
    failed = machine.run("launch/quickstart")
    machine.checkout.chmod(0o755)
    assert f"cannot write {machine.checkout}" in failed.stderr


@pytest.mark.parametrize(
    ("driver", "extras"),
    [
        ("580.159.03, 9.0", "mpi,cuda13"),
        ("610.10, 12.0", "mpi,cuda13"),
        ("575.57.08, 9.0", "mpi,cuda12"),
        ("580.159.03, 7.0", "mpi,cuda12"),
        ("470.82.01, 8.0", "mpi"),
        ("NVIDIA-SMI has failed because it could not communicate with the driver", "mpi"),
    ],
)
def test_cupy_matches_the_driver(machine: Machine, driver: str, extras: str) -> None:
    machine.add_driver(driver)
    machine.run("launch/quickstart")
    (install,) = machine.calls("-m pip install")
    assert install.endswith(f" .[{extras}]")


def test_one_rank_a_gpu_and_no_compiler_needed(machine: Machine) -> None:
    machine.add_driver("580.159.03, 9.0")
    (machine.bin / "c++").unlink()
    shown = machine.run("launch/quickstart", GPUS="3").stdout
    assert "<mpirun><-n><3>" in shown
    assert "<--islands><3>" in shown


def test_run_ends_with_the_last_line_of_pytest(machine: Machine) -> None:
    done = machine.run("tests/run", "--maxfail=3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "== 7 passed in 0.1s =="
    assert machine.calls("-m mypy")


@pytest.mark.parametrize(
    ("broken", "name"),
    [("ruff check", "ruff check"), ("mypy", "mypy"), ("-m pytest", "pytest")],
)
def test_run_fails_if_one_check_fails(machine: Machine, broken: str, name: str) -> None:
    failed = machine.run("tests/run", BREAK=broken)
    assert failed.returncode == 1
    assert failed.stdout.splitlines()[-1].startswith(f"==== failed: {name}, in ")
    assert len(machine.calls("-m pytest")) == 1


def test_run_fails_if_a_rank_fails(machine: Machine) -> None:
    machine.add("mpirun", "#!/bin/sh\nexit 5\n")
    failed = machine.run("tests/run")
    assert "==== failed: pytest on 3 ranks, in " in failed.stdout
    assert machine.run("tests/run", "-k", "no_test_of_ranks").returncode == 0
