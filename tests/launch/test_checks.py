"""tests/run and .ci/run: every check runs, and a failed one is reported."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest
from fake_machine import Machine

TIER = "not (slow or slurm or docs or gpu)"


@pytest.mark.parametrize(
    ("options", "marks", "extras"),
    [([], f"-m {TIER} ", "mpi,test"), (["--all"], "", "mpi,cuda13,compiler,docs,test,test-all")],
)
def test_run_ends_with_the_last_line_of_pytest(
    machine: Machine, options: list[str], marks: str, extras: str
) -> None:
    done = machine.run("tests/run", *options, "--maxfail=3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "== 7 passed in 0.1s =="
    [call] = machine.calls("-m pytest")
    limit = "--timeout=600 --timeout-method=thread"
    spread = r"-n \d+ --dist worksteal"
    assert re.fullmatch(rf"-m pytest {limit}  ?{spread} {re.escape(marks)}--maxfail=3", call), call
    of_ranks = ["--only-mpi", "-m", f"mpi and {TIER}" if marks else "mpi", "-x"]
    assert "><".join(["<mpirun", "-n", "3", "-m", "pytest", *of_ranks]) in done.stdout
    assert machine.calls("-m pip install")[0].endswith(f".[{extras}]")
    assert machine.calls("-m mypy")


def test_a_part_runs_its_tests_alone(machine: Machine) -> None:
    for options in (["-k", "ring"], ["tests/run"]):
        assert machine.run("tests/run", *options).returncode == 0
    assert not any(TIER in call for call in machine.calls("-m pytest"))
    assert len(machine.calls("-m pytest")) == 2
    assert not machine.calls("-m mypy")
    assert machine.run("tests/run", "--ignore", "tests/run").returncode == 0
    assert machine.calls("-m mypy")


def test_help_installs_nothing(machine: Machine) -> None:
    done = machine.run("tests/run", "--help")
    assert done.returncode == 0
    assert "--all" in done.stdout
    assert not machine.calls("")


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


def test_nothing_is_installed_on_request(machine: Machine) -> None:
    for arguments, variables in ((["--no-install"], {}), ([], {"ISLANDS_NO_INSTALL": "1"})):
        done = machine.run("tests/run", *arguments, **variables)
        assert done.returncode == 0
        assert f"PYTHONPATH={machine.checkout}\n" in done.stdout
    assert not machine.calls("-m pip")
    assert not (machine.checkout / ".venv").exists()


def test_missing_tools_are_skipped_only_on_request(machine: Machine) -> None:
    (machine.bin / "mpirun").unlink()
    left = machine.run("tests/run", "--no-install", BREAK="ruff")
    assert left.returncode == 0
    assert left.stdout.count("== skipped, as this does not work here: ") == 2
    failed = machine.run("tests/run", BREAK="ruff")
    assert failed.returncode == 1


def test_the_record_of_a_gpu_names_what_was_run(machine: Machine) -> None:
    (machine.bin / "mpirun").unlink()
    line = ["tests/run", "--no-install", "--require-gpu", "tests/tours", "tests/eax"]
    done = machine.run(*line, BREAK="-m mypy")
    assert done.returncode == 0, done.stderr
    [call] = machine.calls("tests/evidence")
    asked = "--options --require-gpu tests/tours tests/eax --passed ruff check, ruff format, "
    assert call.startswith(f"tests/evidence {asked}clang-format, pytest --failed  --skipped mypy, ")
    assert re.search(r"--skipped mypy, pytest on 3 ranks \S+/pytest.xml$", call)
    assert not any("--junitxml" in each for each in machine.calls("-m mypy"))
    failed = machine.run(*line, BREAK="-m pytest")
    assert "==== failed: pytest, in " in failed.stdout
    assert " --failed pytest --skipped pytest on 3 ranks " in machine.calls("tests/evidence")[-1]


def test_continuous_integration_installs_what_is_missing_as_root(machine: Machine) -> None:
    (machine.bin / "c++").unlink()
    machine.add("id", "#!/bin/sh\necho 0\n")
    for package, command in (("g++", "c++"), ("iproute2", "ip")):
        machine.add(
            f"get-{package}", f"#!/bin/sh\ncp '{machine.bin}/mpirun' '{machine.bin}/{command}'\n"
        )
    script = '#!/bin/sh\nfor package; do :; done\n[ "$package" = update ] || get-$package\n'
    machine.add("apt-get", script)
    done = machine.run(".ci/run")
    assert done.returncode == 0, done.stderr
    for command in ("c++", "ip"):
        (machine.bin / command).unlink()
    machine.add("id", "#!/bin/sh\necho 1000\n")
    assert "No C++ compiler found" in machine.run(".ci/run").stderr


def test_continuous_integration_does_not_need_optional_packages(machine: Machine) -> None:
    machine.add("id", "#!/bin/sh\necho 0\n")
    machine.add("apt-get", "#!/bin/sh\nexit 100\n")
    assert machine.run(".ci/run").returncode == 0


def test_one_ctrl_c_ends_all_checks(machine: Machine) -> None:
    waits = (
        '    *pytest*) trap "exit 2" INT; echo >>"$CALLS.waits"; while :; do sleep 0.05; done ;;'
    )
    python = (machine.bin / "python3").read_text()
    machine.add("python3", python.replace("    *pytest*)", f"{waits}\n    *pytest*)"))
    running = subprocess.Popen(
        [str(machine.checkout / "tests/run")],
        env={"PATH": str(machine.bin), "CALLS": str(machine.folder / "calls"), "GPUS": "0"},
        cwd=machine.folder,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    waiting = machine.folder / "calls.waits"
    deadline = time.monotonic() + 30
    while not waiting.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    said, _ = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.endswith("==== interrupted ====\n")
    assert waiting.read_text().count("\n") == 1
