"""Slurm's commands: ask for the state of a job, submit and requeue jobs."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from shutil import which

from islands.errors import UsageError

WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT")
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING")
REQUEUE, PREEMPTION, TIME_LIMIT, CANCEL = "requeue", "preemption", "time limit", "cancel"
"""The reasons why Slurm ends a job."""
UNKNOWN = "no answer from Slurm"
_TRIES, _PAUSE_SECONDS = 3, 2.0
"""Attempts to ask why Slurm ends a job, and the pause; it kills the script in 30 s (KillWait)."""


def state_in_queue(job: str) -> tuple[str, str]:
    """Return Slurm's state of a job, and its reason or nodes; empty if Slurm has removed it."""
    if not job:
        return "", ""
    queries = (
        ["squeue", "--noheader", f"--jobs={job}", "--states=all", "--format=%T|%R"],
        ["sacct", "-nXP", f"--jobs={job}", "--format=State,Reason"],
    )
    for query in queries:
        line = output(query).partition("\n")[0]
        if line:
            state, _, reason = line.partition("|")
            return state.split()[0], _reason(reason)
    return "", ""


def states_in_queue(arrays: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the state and reason of all elements of job arrays by their jobs, such as `15_3`."""
    rows = elements_in_queue(arrays, "%i|%T|%R") if arrays else []
    return {job: (state, _reason(reason)) for job, state, reason, *_ in rows}


def elements_in_queue(arrays: Sequence[str], form: str) -> list[list[str]]:
    """Return the fields, separated by `|` in `form`, that squeue prints for each array element."""
    query = ["squeue", "--noheader", "--array", f"--jobs={','.join(arrays)}", "--states=all"]
    return [line.split("|") for line in output([*query, f"--format={form}"]).splitlines()]


def _reason(words: str) -> str:
    """Return the reason or the nodes that squeue prints; empty for "None"."""
    words = words.strip("()")
    return "" if words == "None" else words


def is_active(job: str) -> bool:
    """Return whether a job, or an element of a job array, is queued or running."""
    return bool(output(["squeue", "--noheader", f"--jobs={job}", "--format=%i"]))


def ending(job: str, restarts: int) -> str | None:
    """Return why Slurm ends this job, or None if it does not.

    `restarts` is the number of restarts at the job's start. While the script of an ending job runs,
    its state is COMPLETING, whatever the reason.
    """
    for number in range(_TRIES):
        time.sleep(_PAUSE_SECONDS if number else 0)
        if words := output(["scontrol", "--oneliner", "show", "job", job]).split():
            break
    else:
        return UNKNOWN
    shown = dict(word.split("=", 1) for word in words if "=" in word)
    if int(shown.get("Restarts", 0)) > restarts:
        return REQUEUE
    if shown.get("PreemptTime", "None") != "None":
        return PREEMPTION
    if shown.get("Reason") == "TimeLimit":
        return TIME_LIMIT
    return None if shown.get("JobState", "RUNNING") == "RUNNING" else CANCEL


def requeue(job: str) -> str:
    """Requeue a job; return Slurm's message if it rejects, otherwise an empty string."""
    done = _run(["scontrol", "requeue", job])
    return "" if done.returncode == 0 else done.stderr.strip() or "no reason given"


def sbatch(options: Sequence[str], script: str = "") -> subprocess.CompletedProcess[str]:
    """Run sbatch without SBATCH_ variables, which would override the directives of a script."""
    return _run(["sbatch", *options], script, without_options(os.environ))


def without_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that are options of sbatch."""
    return {key: value for key, value in environment.items() if not key.startswith("SBATCH_")}


def reason(errors: str) -> str:
    """Return the message of sbatch on one line."""
    lines = [line.removeprefix("sbatch: error: ").strip(" .") for line in errors.splitlines()]
    return "; ".join(dict.fromkeys(line for line in lines if line))


def output(command: Sequence[str]) -> str:
    """Return what a command prints, or an empty string if it fails or is missing."""
    if which(command[0]) is None:
        return ""
    done = _run(command)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(
    command: Sequence[str], text: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    if which(command[0]) is None:
        raise UsageError(
            f"this machine has no {command[0]}: jobs run on a cluster with Slurm. Use islands run"
        )
    return subprocess.run(
        command, input=text, env=environment, capture_output=True, text=True, check=False
    )
