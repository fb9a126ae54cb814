"""The command `islands submit`: refused options, the script, and the submitted job."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from private_slurm import RUN, SCRIPTS, User

from islands.slurm.jobs import JobAttempts

EXAMPLES = SCRIPTS.parent / "docs/examples"

LINE = ["submit", *RUN, "--stop", "generations=20", "--nodes", "2", "--ranks-per-node", "2"]
LAUNCH_FAILED = (213, 250)
"""Statuses of mpirun if srun cannot start its daemon, as on a machine that stands still."""


def test_a_job_is_submitted_and_followed(user: User) -> None:
    said = json.loads(user.islands(*LINE, "--time", "5m", "--out", "run", "--json"))
    assert (user.folder / said["script"]).read_text().startswith("#!/bin/bash\n")
    shown = user.islands("watch", "run")
    assert "Stopped: 20 generations done" in shown
    assert shown.splitlines()[-1].startswith(f"run: done (job {said['job']})")
    assert user.result("run").ranks == 4
    assert json.loads(user.islands("status", "run", "--json"))["word"] == "done"


def test_a_job_uses_the_python_that_submitted_it_in_folders_with_spaces(user: User) -> None:
    del user.environment["PYTHON"]
    user.environment["PATH"] = "/usr/bin:/bin"
    user.folder = user.folder / "a folder"
    user.folder.mkdir()
    user.islands(*LINE, "--time", "5m", "--out", "a run")
    user.islands("watch", "a run")
    assert user.result("a run").ranks == 4


def test_slurm_receives_a_comment_and_a_folder_as_they_are(user: User) -> None:
    comment = """a "b" 'c' \\ # $(touch owned) `touch owned`"""
    line = [*LINE, "--out", "50%j # $(touch owned)", "--sbatch", f"comment={comment}", "--json"]
    job = json.loads(user.islands(*line))["job"]
    assert user.call("squeue", "--noheader", f"--jobs={job}", "--format=%k") == f"{comment}\n"
    user.islands("watch", "50%j # $(touch owned)")
    assert user.result("50%j # $(touch owned)").ranks == 4
    assert (user.folder / "50%j # $(touch owned)/slurm" / f"{job}.out").exists()
    assert [each.name for each in user.folder.iterdir()] == ["50%j # $(touch owned)"]


def test_a_run_in_a_folder_is_not_taken_for_another(user: User) -> None:
    user.islands("run", *RUN, "--stop", "generations=5", "--out", "run")
    user.islands(*LINE, "--out", "run", status=2)
    # Slurm accepts the script that a dry run prints, and refuses what it does not have.
    (user.folder / "job.sbatch").write_text(user.islands(*LINE, "--time", "1h", "--dry-run"))
    user.call("sbatch", "--test-only", "job.sbatch")
    user.islands(*LINE, "--partition", "nowhere", "--dry-run", status=2)


def test_a_folder_has_one_job_at_a_time_and_may_be_submitted_again(user: User) -> None:
    first = json.loads(user.islands(*LINE, "--sbatch", "hold", "--out", "run", "--json"))["job"]
    refused = user.islands(*LINE, "--out", "run", status=2)
    assert f"job {first} for this folder is queued or running" in refused
    assert f"scancel {first}" in refused
    user.call("scancel", first)
    second = user.call("sbatch", "--parsable", "--hold", "run/slurm/job.sbatch").strip()
    user.call("scontrol", "release", second)
    user.cluster.wait(second, "COMPLETED", "FAILED")
    state = json.loads(user.islands("status", "run", "--json"))
    assert (state["word"], state["job"]) == ("done", second)


def test_a_problem_of_a_script_is_submitted_from_its_folder_requeued_and_resumed(
    user: User,
) -> None:
    place = user.folder / "my problem"
    shutil.copytree(EXAMPLES, place)
    user.folder = place
    words = ["binary_quadratic.py:problem", *RUN[1:], "--population", "512"]
    line = ["submit", *words, "--stop", "seconds=4", "--ranks-per-node", "2", "--out", "run"]
    job = json.loads(user.islands(*line, "--json"))["job"]
    deadline = time.monotonic() + 120
    while "%" not in (log := read(place / "run/log.txt")):
        assert time.monotonic() < deadline, log
        time.sleep(0.2)
    user.cluster.call("scontrol", "requeue", job)
    user.cluster.wait(job, "COMPLETED", "FAILED")
    statuses = [each.status for each in JobAttempts(place / "run").all()]
    assert statuses in ([75, 0], *([75, status, 0] for status in LAUNCH_FAILED))
    resume = ["submit", "resume", "run", "binary_quadratic.py:problem", "--backend", "cpu"]
    more = ["--stop", "seconds=4.5", "--nodes", "2", "--ranks-per-node", "2", "--json"]
    job = json.loads(user.islands(*resume, *more))["job"]
    user.cluster.wait(job, "COMPLETED", "FAILED")
    assert "time limit of 4.5 s reached" in user.islands("status", "run")
    assert user.result("run").ranks == 4


def test_the_code_of_somebody_else_is_resumed_only_with_trust(user: User) -> None:
    shutil.copy(EXAMPLES / "binary_quadratic.py", user.folder)
    own = ["binary_quadratic.py:problem", *RUN[1:], "--stop", "generations=9", "--out", "run"]
    user.environment["ISLANDS_CACHE"] = str(user.folder / "cache of somebody else")
    user.islands("run", *own)
    (user.folder / "binary_quadratic.py").unlink()
    user.environment["ISLANDS_CACHE"] = str(user.folder / "my cache")
    resume = ["submit", "resume", "run", "--backend", "cpu", "--stop", "generations=12"]
    user.islands(*resume, status=2)
    job = json.loads(user.islands(*resume, "--trust", "--json"))["job"]
    user.cluster.wait(job, "COMPLETED", "FAILED")
    assert user.result("run").generations == 12


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""
