"""launch/quickstart and its .venv, which it shares with tests/run."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from fake_machine import PYTHON, Machine


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


def test_a_changed_pyproject_is_installed_again_into_the_same_venv(machine: Machine) -> None:
    machine.run("launch/quickstart")
    with (machine.checkout / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    machine.run("launch/quickstart")
    assert len(machine.calls("-m venv")) == 1
    assert len(machine.calls("-m pip install")) == 2


def test_a_killed_install_is_repeated(machine: Machine) -> None:
    killed = machine.run("launch/quickstart", BREAK="pip install", KILL="yes")
    after = machine.run("launch/quickstart")
    assert killed.returncode != 0
    assert killed.stdout == ""
    assert after.returncode == 0
    assert len(machine.calls("-m venv")) == 2


def test_a_moved_checkout_gets_a_new_venv(machine: Machine) -> None:
    machine.run("launch/quickstart")
    machine.checkout = machine.checkout.rename(machine.folder / "moved")
    assert machine.run("launch/quickstart").returncode == 0
    assert len(machine.calls("-m venv")) == 2


def test_a_python_without_ensurepip_installs_with_its_own_pip(machine: Machine) -> None:
    done = machine.run("launch/quickstart", BREAK="venv --clear /")
    assert done.returncode == 0, done.stderr
    (install,) = machine.calls("-m pip")
    assert install.startswith(f"-m pip --python {machine.checkout}/.venv/bin/python install")


def test_without_a_network_the_last_line_names_the_cause(machine: Machine) -> None:
    trouble = "ERROR: No matching distribution found for hatchling"
    failed = machine.run("launch/quickstart", BREAK="pip install", TROUBLE=trouble)
    assert failed.returncode == 1
    assert trouble in failed.stderr
    assert "pip could not reach its package index" in failed.stderr.splitlines()[-1]
    assert machine.run("launch/quickstart").returncode == 0


@pytest.mark.parametrize("script", ["launch/quickstart", "tests/run"])
@pytest.mark.parametrize(
    ("missing", "variables", "message"),
    [
        ("python3", {}, "no Python >= 3.11 found"),
        ("", {"BREAK": "version_info"}, "no Python >= 3.11 found (python3: Python 3.11.9)"),
        ("", {"PYTHON": "/no/python"}, "PYTHON=/no/python is not a Python >= 3.11"),
        ("", {"BREAK": "import [ep]"}, "python3 has neither ensurepip nor pip"),
        (
            "c++",
            {"BREAK": "ziglang", "ISLANDS_NO_INSTALL": "1"},
            "no C++ compiler found, and no ziglang in ",
        ),
        ("", {"CXX": "nosuch++"}, "no C++ compiler found (tried CXX=nosuch++)"),
    ],
)
def test_missing_software_is_reported_in_one_line(
    machine: Machine, script: str, missing: str, variables: dict[str, str], message: str
) -> None:
    if missing:
        (machine.bin / missing).unlink()
    failed = machine.run(script, **variables)
    assert failed.returncode == 1
    assert failed.stdout == ""
    last = failed.stderr.splitlines()[-1]
    assert last.startswith(f"{machine.checkout / script}: {message}")


def test_a_missing_mpirun_is_reported_with_the_fix(machine: Machine) -> None:
    (machine.bin / "mpirun").unlink()
    failed = machine.run("launch/quickstart")
    assert failed.returncode == 1
    assert "no mpirun found: install Open MPI" in failed.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("script", "extras"),
    [("launch/quickstart", "mpi,compiler"), ("tests/run", "mpi,compiler,test")],
)
def test_without_a_compiler_zigs_compiler_is_installed(
    machine: Machine, script: str, extras: str
) -> None:
    (machine.bin / "c++").unlink()
    done = machine.run(script)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("No C++ compiler found (tried c++ g++ clang++): using Zig's")
    (install,) = machine.calls("-m pip install")
    assert install.endswith(f" .[{extras}]")


def test_a_compiler_is_installed_if_a_driver_has_no_gpu(machine: Machine) -> None:
    (machine.bin / "c++").unlink()
    machine.add_driver("580.159.03, 9.0")
    assert machine.run("launch/quickstart", GPUS="0").returncode == 0
    assert machine.calls("-m pip install")[-1].endswith(" .[mpi,cuda13,compiler]")


def test_tests_use_the_compiler_that_was_found(machine: Machine) -> None:
    machine.add("python3", PYTHON.replace("PYTHONPATH=${", "CXX=${CXX:-}, PYTHONPATH=${"))
    assert "CXX=, " in machine.run("tests/run").stdout
    (machine.bin / "c++").unlink()
    assert "CXX=python -m ziglang c++, " in machine.run("tests/run", "--no-install").stdout


def test_quickstart_ends_with_the_next_steps(machine: Machine) -> None:
    done = machine.run("launch/quickstart")
    lines = [line.split("    #")[0].strip() for line in done.stderr.splitlines()[-6:]]
    assert lines[1] == f". '{machine.checkout}/.venv/bin/activate'"
    assert lines[3:] == [
        "islands run demo/qap --stop seconds=5",
        f"'{machine.checkout}/launch/supervise' 4 demo/tsp --stop seconds=5",
        "islands doctor",
    ]
    done = machine.run("launch/quickstart", "--no-install")
    lines = [line.split("    #")[0].strip() for line in done.stderr.splitlines()[-6:]]
    assert lines[1] == f"export PYTHONPATH='{machine.checkout}'"
    assert lines[-1] == f"'{machine.bin}/python3' -P -m islands doctor"


def test_quickstart_has_the_status_of_the_run(machine: Machine) -> None:
    machine.add("mpirun", "#!/bin/sh\nexit 75\n")
    failed = machine.run("launch/quickstart")
    assert failed.returncode == 75
    assert "To continue" not in failed.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_quickstart_lets_the_run_write_a_checkpoint(
    machine: Machine, number: signal.Signals
) -> None:
    asked = "trap 'echo asked' USR1; trap 'echo ended; exit 75' TERM"
    machine.add("mpirun", f"#!/bin/sh\n{asked}\necho begun\nwhile :; do sleep 0.05; done\n")
    with subprocess.Popen(
        [str(machine.checkout / "launch/quickstart"), "--no-install"],
        env={"PATH": str(machine.bin), "CALLS": os.devnull, "GPUS": "0"},
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        for line in ("begun", "asked", "ended"):
            assert running.stdout.readline() == f"{line}\n"
            if line != "ended":
                running.send_signal(number)
    assert running.returncode == 75


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_checkout_is_refused(machine: Machine) -> None:
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


def test_a_driver_without_a_gpu_is_reported(machine: Machine) -> None:
    machine.add_driver("580.159.03, 9.0")
    done = machine.run("launch/quickstart", BREAK="getDeviceCount")
    assert "<mpirun><-n><2>" in done.stdout
    assert "finds no GPU: running on the CPU" in done.stderr


def test_another_driver_gets_a_venv_without_the_other_cupy(machine: Machine) -> None:
    for driver in ("575.57.08, 9.0", "580.159.03, 9.0"):
        machine.add_driver(driver)
        machine.run("launch/quickstart")
    assert len(machine.calls("-m venv")) == 2
