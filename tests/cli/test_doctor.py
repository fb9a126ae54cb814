"""`islands doctor` as a user starts it: alone and under mpirun."""

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


def test_alone() -> None:
    done = doctor()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("Everything here works.\n")
    assert "C++ compiler" in done.stdout


def test_as_one_object_under_mpirun(mpirun: list[str]) -> None:
    # A machine with one GPU would have to share it.
    done = doctor("--json", before=(*mpirun, "2"), CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert [each["rank"] for each in told["ranks"]] == [0, 1]
    assert {each["host"] for each in told["ranks"]} == {platform.node()}
    for trial in told["transports"]:
        assert (trial["trouble"], len(trial["timings"])) == ("", 4)
    assert told["transports"][-1]["transport"] == "staged"
    assert told["mpi"]["name"]
    assert told["works"] is True


@pytest.mark.parametrize("wanted", ["nosuch++", "'"])
def test_a_missing_compiler_is_status_1(wanted: str) -> None:
    # On a GPU, nothing would need it.
    done = doctor("--json", CXX=wanted, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["compiler"] is None
    (problem,) = told["problems"]
    assert problem.startswith(f"CXX={wanted}: ")


def test_a_home_folder_that_cannot_be_written_is_told_of_with_the_fix() -> None:
    more = dict.fromkeys(("ISLANDS_CACHE", "XDG_CACHE_HOME"), "")
    done = doctor("--json", HOME=os.devnull, CUDA_VISIBLE_DEVICES="", **more)
    assert done.returncode == 1
    problems = json.loads(done.stdout)["problems"]
    cache = f"{os.devnull}/.cache/islands"
    assert problems[-1].startswith(f"cannot make the cache folder {cache}: {os.devnull} is not a")
    assert "Let ISLANDS_CACHE name a folder that you may write" in problems[-1]
