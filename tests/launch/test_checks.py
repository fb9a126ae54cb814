"""tests/run and .ci/run: every check runs, and a failed one is reported."""

from __future__ import annotations

import pytest
from fake_machine import Machine


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
