"""The job arrays of a sweep: their elements, and the job that writes the table at the end.

DIR/slurm/array-JOB.json is written when an array is submitted or its first element begins.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from islands.inside import inside, inside_all
from islands.paths import published, writing
from islands.record.folder import JOB
from islands.slurm.commands import output, reason, sbatch
from islands.slurm.jobs import MOST_ELEMENTS, again
from islands.slurm.template import output_in
from islands.text import show
from islands.untrusted import bounded_text

LIST = "sweep.txt"
"""The file in DIR/slurm with the options of each element."""
_PATIENCE_SECONDS = 60.0
"""How long an element waits for another one to submit the collecting job."""
_MOST_BYTES = 1 << 24
"""Of the record of an array."""
_PLACES = ("account", "partition", "qos")
_SIZES = {
    "nodes": "SLURM_JOB_NUM_NODES",
    "ntasks-per-node": "SLURM_NTASKS_PER_NODE",
    "cpus-per-task": "SLURM_CPUS_PER_TASK",
    "gpus-per-node": "SLURM_GPUS_PER_NODE",
}
"""Options of sbatch, and the variables of a job that contain their values."""


@dataclass(frozen=True)
class Array:
    """A job array that runs elements of a sweep."""

    job: str
    began: float
    elements: tuple[int, ...]
    words: tuple[str, ...]
    """The options of all elements, or the list of options and the options after it."""
    command: tuple[str, ...]
    """The words after `sbatch --array=...` that run elements again."""
    collecting: str | None = None
    """The job that writes the table when all elements have ended."""

    def again(self, elements: Sequence[int]) -> str:
        """Return the command that runs elements again."""
        numbers = ",".join(map(str, elements))
        return f"sbatch --array={numbers} {shlex.join(self.command)}"


def arrays_of(folder: Path) -> list[Array]:
    """Return the job arrays of a sweep, the oldest first."""
    arrays = []
    for path in inside_all(inside(folder, JOB), "array-*.json"):
        # Another element may be about to write it.
        with suppress(OSError, ValueError, TypeError, KeyError):
            values = json.loads(bounded_text(path, _MOST_BYTES))
            if len(values["elements"]) > MOST_ELEMENTS:
                continue
            tuples = {name: tuple(values[name]) for name in ("elements", "words", "command")}
            arrays.append(Array(**(values | tuples)))
    return sorted(arrays, key=lambda each: each.began)


def begin_array(folder: Path, job: str, words: Sequence[str]) -> Array | None:
    """Record a job array and submit its collecting job; only the first call does, others get None.

    The submitting process and each element call this; `words` are the options of the array.
    """
    path = inside(folder, JOB, f"array-{job}.json")
    if not _is_first(path):
        return None
    try:
        _copy_list(folder, words)
        of_slurm = _queried(job)
        collecting = _submit_collecting(folder, job, of_slurm)
        elements = tuple(of_slurm) or _range(os.environ)
        command = _command(folder, words, next(iter(of_slurm.values()), {}), os.environ)
        array = Array(job, time.time(), elements, tuple(words), tuple(command), collecting)
        with published(path) as temporary:
            temporary.write_text(json.dumps(asdict(array)) + "\n")
    except BaseException:
        path.unlink(missing_ok=True)  # another element then writes it
        raise
    return array


def _is_first(path: Path) -> bool:
    """Create an empty file and return True; return False if another process has completed it.

    Wait while the file is empty, and replace it after a time: its process may have been killed.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with suppress(FileExistsError):
                path.touch(exist_ok=False)
                return True
            with suppress(FileNotFoundError):
                found = path.stat()
                if found.st_size > 0:
                    return False
                if time.time() - found.st_mtime > _PATIENCE_SECONDS:
                    path.unlink()
            time.sleep(0.2)


def _copy_list(folder: Path, words: Sequence[str]) -> None:
    """Copy the list of options into the folder, so that the table can show them later."""
    target = inside(folder, JOB, LIST)
    if not words or not words[0].endswith(".txt"):
        return
    with suppress(OSError):  # each element reports a missing list
        text = Path(words[0]).read_text(errors="replace")
        if not (target.exists() and target.samefile(words[0])):
            with published(target) as temporary:
                temporary.write_text(text)


def _queried(job: str) -> dict[int, dict[str, str]]:
    """Return account, partition, QOS and time limit of each element of an array."""
    query = ["squeue", "--noheader", "--array", f"--jobs={job}", "--states=all"]
    names = ("element", *_PLACES, "time")
    lines = output([*query, "--format=%K|%a|%P|%q|%l"]).splitlines()
    values = [dict(zip(names, line.split("|"), strict=False)) for line in lines]
    return {int(each["element"]): each for each in values if each["element"].isdecimal()}


def _range(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Return the elements between the first and the last one."""
    first, last, step = (
        int(environment.get(f"SLURM_ARRAY_TASK_{name}", default))
        for name, default in (("MIN", "1"), ("MAX", "0"), ("STEP", "1"))
    )
    return tuple(range(first, last + 1, max(1, step)))


def _submit_collecting(
    folder: Path, job: str, of_slurm: Mapping[int, dict[str, str]]
) -> str | None:
    """Submit the job that writes the table of a sweep; return its number, or None."""
    program = shlex.join([sys.executable, "-m", "islands", "collect", str(folder)])
    asked = sbatch(
        [
            *("--parsable", "--nodes=1", "--ntasks=1", "--time=10", "--job-name=collect"),
            *(f"--dependency=afterany:{job}", f"--output={output_in(folder, 'collect.out')}"),
            *_places(next(iter(of_slurm.values()), {})),
            f"--wrap={program}",
        ]
    )
    if asked.returncode != 0:
        show(
            f"islands job: Slurm refuses the collecting job: {reason(asked.stderr)}. When all"
            " elements have ended, write the table with:"
            f" islands collect {shlex.quote(str(folder))}",
            file=sys.stderr,
        )
        return None
    return asked.stdout.strip().partition(";")[0]


def _places(values: Mapping[str, str]) -> list[str]:
    """Return the options that give a job the same account, partition and QOS."""
    found = ((name, values.get(name, "")) for name in _PLACES)
    return [f"--{name}={value}" for name, value in found if value not in ("", "(null)", "N/A")]


def _command(
    folder: Path, words: Sequence[str], values: Mapping[str, str], environment: Mapping[str, str]
) -> list[str]:
    """Return the words after `sbatch --array=...` that run elements again."""
    if (submitted := again(folder)) is not None:
        return shlex.split(submitted)[1:]
    sizes = [f"--{name}={environment[key]}" for name, key in _SIZES.items() if environment.get(key)]
    time = values.get("time", "")
    limit = [f"--time={time}"] if time[:1].isdigit() else []
    script = environment.get("ISLANDS_SCRIPT", "slurm/sweep.sbatch")
    return [*sizes, *limit, *_places(values), script, *words, "--out", str(folder)]
