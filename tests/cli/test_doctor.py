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


def test_doctor_checks_a_single_process() -> None:
    done = doctor()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("All checks passed.\n")
    assert "C++ compiler" in done.stdout


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


@pytest.mark.parametrize("wanted", ["nosuch++", "'"])
def test_missing_compiler_gives_status_1(wanted: str) -> None:
    # On a GPU, no compiler is needed.
    done = doctor("--json", CXX=wanted, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["compiler"] is None
    (problem,) = report["problems"]
    assert problem.startswith(f"CXX={wanted}: ")


def test_read_only_home_folder_is_reported_with_a_fix() -> None:
    more = dict.fromkeys(("ISLANDS_CACHE", "XDG_CACHE_HOME"), "")
    done = doctor("--json", HOME=os.devnull, CUDA_VISIBLE_DEVICES="", **more)
    assert done.returncode == 1
    problems = json.loads(done.stdout)["problems"]
    cache = f"{os.devnull}/.cache/islands"
    assert problems[-1].startswith(f"cannot make the cache folder {cache}: {os.devnull} is not a")
    assert "Let ISLANDS_CACHE name a folder that you may write" in problems[-1]
