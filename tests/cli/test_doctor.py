"""`islands doctor` under mpirun; tests/test_wheel.py has it as a single process."""

from __future__ import annotations

import json
import platform
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_json_under_mpirun_lists_all_ranks(
    mpirun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ranks on a machine with one GPU would have to share it.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    line = [*mpirun, "2", sys.executable, "-m", "islands", "doctor", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert [each["rank"] for each in report["ranks"]] == [0, 1]
    assert {each["host"] for each in report["ranks"]} == {platform.node()}
    for trial in report["transports"]:
        assert (trial["trouble"], len(trial["timings"])) == ("", 4)
    assert report["transports"][-1]["transport"] == "staged"
    assert report["mpi"]["name"]
    assert report["works"] is True
