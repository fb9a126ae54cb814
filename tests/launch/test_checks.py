"""tests/run and .ci/run: every check runs, and a failed one is reported."""

from __future__ import annotations

import re

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
