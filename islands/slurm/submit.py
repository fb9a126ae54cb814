"""Submit a job: let sbatch check its script, and store the script in the folder of the run."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import which

from islands.custom.trust import signed
from islands.errors import InputError, UsageError
from islands.inside import inside
from islands.paths import published, writing
from islands.record.folder import JOB
from islands.slurm.array import LIST, begin_array
from islands.slurm.commands import reason, sbatch
from islands.slurm.jobs import Job
from islands.slurm.template import SCRIPT
from islands.text import show
from islands.untrusted import bounded_text

_NO_CLUSTER = ("configuration source", "slurm.conf", "Unable to contact")
"""Parts of the messages of an sbatch that reaches no cluster."""


def require_accepted(script: str) -> None:
    """Refuse a script that `sbatch --test-only` rejects, with its message."""
    if which("sbatch") is None:
        return
    tested = sbatch(["--test-only"], script)
    if any(words in tested.stderr for words in _NO_CLUSTER):
        show(f"islands: not checked by sbatch: {reason(tested.stderr)}", file=sys.stderr)
    elif tested.returncode != 0:
        raise UsageError(
            f"Slurm refuses the job: {reason(tested.stderr)}. Change the options of islands"
            " submit, or site.env"
        )


def submit(script: str, folder: Path, lines: Sequence[str] | None) -> Job:
    """Write the script into the folder, submit it, and store the number of the job.

    If Slurm refuses the job, the folder remains as it was.
    `lines` are the options of each element of a job array, or None for a single job.
    """
    if which("sbatch") is None:
        raise UsageError(
            "this machine has no sbatch: submit jobs on a login node of the cluster. --dry-run"
            " prints the script anywhere"
        )
    path, options = inside(folder, JOB, SCRIPT), inside(folder, JOB, LIST)
    submitted = time.time()
    with _restored_on_error(path, options):
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, script)
            if lines is not None:
                text = "".join(f"{line}\n" for line in lines)
                # The user has named the scripts of these runs.
                _write(options, signed(text) if ".py" in text or "--trust" in text else text)
        done = sbatch(["--parsable", str(path)])
        if done.returncode != 0:
            raise InputError(
                f"Slurm refuses the job: {reason(done.stderr)}. Change the options of islands"
                " submit, or site.env"
            )
    number = done.stdout.strip().partition(";")[0]
    elements, array = None, None
    if lines is not None:
        elements, array = len(lines), begin_array(folder, number, [str(options)])
    collecting = None if array is None else array.collecting
    job = Job(number, str(folder), str(path), submitted, elements, collecting)
    job.write()
    return job


def _write(path: Path, text: str) -> None:
    with published(path) as temporary:
        temporary.write_text(text)


@contextmanager
def _restored_on_error(*paths: Path) -> Iterator[None]:
    """Restore the files of an earlier job if the block fails; remove new files and folders."""
    earlier = {path: bounded_text(path) if path.exists() else None for path in paths}
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for path, text in earlier.items():
                if text is None:
                    path.unlink(missing_ok=True)
                else:
                    _write(path, text)
            for place in (paths[0].parent, paths[0].parent.parent):
                place.rmdir()  # fails if other files are in it
        raise
