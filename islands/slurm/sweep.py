"""A sweep: a job array in which each element is a run of its own, in a folder of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.paths import reading
from islands.record.folder import JOB
from islands.slurm.allocation import Allocation
from islands.slurm.run_job import run_job, say
from islands.slurm.words import Words

LIST = "sweep.txt"
"""The file with the options of each element of a sweep: one line each; line 1 is element 1."""
COLLECTED = "collecting-job"


def run_element(words: Sequence[str]) -> int:
    """Run one element of a job array; return the exit status of its part.

    The words are options of `islands run`; the seed is the element's number. If the first word is a
    .txt file, the options are its line with that number.
    """
    allocation = Allocation.of(os.environ)
    if allocation.element is None or allocation.array is None:
        raise UsageError(
            "SLURM_ARRAY_TASK_ID is not set: a sweep is a job array. Submit it with:"
            " sbatch --array=1-10 slurm/sweep.sbatch INSTANCE"
        )
    given = Words(words)
    folder = given.folder or Path("runs") / f"{allocation.name}-{allocation.array}"
    options = element_options(given.without("--out"), allocation.element)
    _submit_collecting(folder, allocation)
    return run_job(options, folder / str(allocation.element))


def element_options(words: Sequence[str], element: int) -> list[str]:
    """Return the options of one element."""
    if not words or not words[0].endswith(".txt"):
        if Words(words).value("--seed") is not None:
            raise UsageError(
                f"--seed {Words(words).value('--seed')}: each element of a sweep has its own number"
                " as seed. Leave --seed out, or name a file with a line of options per element"
            )
        return [*words, "--seed", str(element)]
    lines = read_list(Path(words[0]))
    if not 1 <= element <= len(lines):
        raise UsageError(
            f"element {element}: {words[0]} has {len(lines)} lines. Submit it with:"
            f" sbatch --array=1-{len(lines)} slurm/sweep.sbatch {words[0]}"
        )
    return [*lines[element - 1], *words[1:]]


def read_list(path: Path) -> list[list[str]]:
    """Return the options of each element from a file with a line each."""
    with reading(path):
        lines = path.read_text().splitlines()
    try:
        return [shlex.split(line) for line in lines if line.strip()]
    except ValueError as error:
        raise InputError(f"{path}: {error}. Write the options of one run on each line") from error


def _submit_collecting(folder: Path, allocation: Allocation) -> None:
    """Submit the job that writes the table at the end; only the first element that starts does."""
    marker = folder / JOB / COLLECTED
    marker.parent.mkdir(parents=True, exist_ok=True)
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    job = submit_collecting(folder, str(allocation.array))
    if job is None:
        say(f"when all elements have ended, write the table with: islands collect {folder}")
    else:
        marker.write_text(f"{job}\n")


def submit_collecting(folder: Path, array: str) -> str | None:
    """Submit the job that collects the results of an array; return its number, or None."""
    program = shlex.join([sys.executable, "-m", "islands.slurm", "collect", str(folder)])
    command = [
        *("sbatch", "--parsable", "--nodes=1", "--ntasks=1", "--time=10", "--job-name=collect"),
        *(f"--dependency=afterany:{array}", f"--output={folder / JOB / 'collect.out'}"),
        *_same_place(os.environ),
        f"--wrap={program}",
    ]
    variables = {key: value for key, value in os.environ.items() if not key.startswith("SBATCH_")}
    asked = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        say(f"Slurm refuses the collecting job: {asked.stderr.strip()}")
        return None
    return asked.stdout.partition(";")[0].strip()


def _same_place(environment: Mapping[str, str]) -> list[str]:
    """Return the options that give a job the account and the partition of this one."""
    names = ("account", "partition", "qos")
    values = ((name, environment.get(f"SLURM_JOB_{name.upper()}", "")) for name in names)
    return [f"--{name}={value}" for name, value in values if value and value != "(null)"]
