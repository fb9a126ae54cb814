"""Ask Slurm for the state of a job."""

from __future__ import annotations

import subprocess
from shutil import which

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING")


def state_in_queue(job: str) -> tuple[str, str]:
    """Return Slurm's name of the state, and its reason or nodes; empty for a job it has removed."""
    queries = (
        ["squeue", "--noheader", f"--jobs={job}", "--states=all", "--format=%T|%R"],
        ["sacct", "-nXP", f"--jobs={job}", "--format=State,Reason"],
    )
    for query in queries:
        if which(query[0]) is None:
            continue
        done = subprocess.run(query, capture_output=True, text=True, check=False)
        line = done.stdout.strip().partition("\n")[0]
        if done.returncode == 0 and line:
            state, _, reason = line.partition("|")
            return state.split()[0], reason.strip("()")
    return "", ""


def is_running(job: str) -> bool:
    """Return whether the job runs, and Slurm is not ending it."""
    return state_in_queue(job)[0] in ("RUNNING", "")
