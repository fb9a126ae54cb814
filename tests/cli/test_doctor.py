"""`islands doctor` as a single process and under mpirun."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "islands", "doctor"]


def doctor(
    *line: str, before: tuple[str, ...] = (), **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, *COMMAND, *line],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_doctor_checks_a_single_process() -> None:
    done = doctor()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("All checks passed.\n")


@pytest.mark.slow
def test_json_under_mpirun_lists_all_ranks(mpirun: list[str]) -> None:
    # Ranks on a machine with one GPU would have to share it.
    done = doctor("--json", before=(*mpirun, "2"), CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert [each["rank"] for each in report["ranks"]] == [0, 1]
    assert {each["host"] for each in report["ranks"]} == {platform.node()}
    for trial in report["transports"]:
        assert (trial["trouble"], len(trial["timings"])) == ("", 4)
    assert report["transports"][-1]["transport"] == "staged"
    assert report["mpi"]["name"]
    assert report["works"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"CXX": "nosuch++"}, "CXX=nosuch++: "),
        ({"CXX": "'"}, "CXX=': "),
        (
            {"HOME": os.devnull, "ISLANDS_CACHE": "", "XDG_CACHE_HOME": ""},
            f"cannot make the cache folder {os.devnull}/.cache/islands: ",
        ),
    ],
)
def test_a_missing_compiler_or_cache_gives_status_1(
    variables: dict[str, str], problem: str
) -> None:
    # On a GPU, no compiler is needed.
    done = doctor("--json", CUDA_VISIBLE_DEVICES="", **variables)
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"][-1].startswith(problem)
