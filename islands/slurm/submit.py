"""Submit a job: let sbatch check its script, and store the script in the folder of the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import which

from islands.errors import InputError, UsageError
from islands.paths import reading, writing
from islands.record.folder import JOB
from islands.slurm.sweep import COLLECTED, submit_collecting

_NO_CLUSTER = ("configuration source", "slurm.conf", "Unable to contact")
"""Parts of the messages of an sbatch that reaches no cluster."""
SCRIPT, _JOB = "job.sbatch", "job.json"


@dataclass(frozen=True)
class Job:
    """A job as it was submitted."""

    job: str
    folder: str
    script: str
    submitted: float
    elements: int | None = None
    """The elements of its array, or None for a single job."""
    collecting: str | None = None
    """The job that writes the table of the array."""


def require_accepted(script: str) -> None:
    """Refuse a script that `sbatch --test-only` rejects, with its message."""
    if which("sbatch") is None:
        return
    tested = _sbatch(["--test-only"], script)
    if any(words in tested.stderr for words in _NO_CLUSTER):
        print(f"islands: not checked by sbatch: {_reason(tested.stderr)}", file=sys.stderr)
    elif tested.returncode != 0:
        raise UsageError(
            f"Slurm refuses the job: {_reason(tested.stderr)}. Change the options of islands"
            " submit, or site.env"
        )


def submit(script: str, folder: Path, elements: int | None) -> Job:
    """Write the script into the folder, submit it, and store the number of the job."""
    if which("sbatch") is None:
        raise UsageError(
            "no command sbatch here: submit jobs on a login node of the cluster. --dry-run prints"
            " the script anywhere"
        )
    path = folder / JOB / SCRIPT
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
        if elements is not None:
            (path.parent / COLLECTED).touch()  # the elements need not submit the collecting job
    done = _sbatch(["--parsable", str(path)])
    if done.returncode != 0:
        raise InputError(
            f"Slurm refuses the job: {_reason(done.stderr)}. Change the options of islands"
            f" submit, or the script {path}"
        )
    number = done.stdout.strip().partition(";")[0]
    collecting = None
    if elements is not None:
        collecting = submit_collecting(folder, number)
    job = Job(number, str(folder), str(path), time.time(), elements, collecting)
    with writing(path):
        (folder / JOB / _JOB).write_text(json.dumps(asdict(job)) + "\n")
    return job


def submitted(folder: Path) -> Job | None:
    """Return the job that was submitted for a folder, or None."""
    path = folder / JOB / _JOB
    if not path.exists():
        return None
    with reading(path):
        try:
            return Job(**json.loads(path.read_text()))
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: is damaged: {error}. Remove it") from error


def _sbatch(options: Sequence[str], script: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sbatch", *options],
        input=script,
        env=_without_defaults(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )


def _without_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what would override the directives of the script."""
    return {key: value for key, value in environment.items() if not key.startswith("SBATCH_")}


def _reason(errors: str) -> str:
    """Return the message of sbatch on one line."""
    lines = [line.removeprefix("sbatch: error: ").strip(" .") for line in errors.splitlines()]
    return "; ".join(dict.fromkeys(line for line in lines if line))
