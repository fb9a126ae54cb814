"""A sweep: a job array in which each element is a separate run with its own folder.

DIR/slurm/array-JOB.json is written when an array is submitted, or when its first element begins. At
the same time, a job is submitted that writes the table once all elements have ended.
"""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from islands.custom.signature import is_signed
from islands.custom.trust import trusts_all
from islands.errors import InputError, IslandsError, UntrustedError, UsageError
from islands.inside import inside, inside_all
from islands.paths import publish, writing
from islands.record.folder import JOB
from islands.record.lock import FolderLock
from islands.studies.clusters import jobs
from islands.studies.clusters.command_line import Check, CommandWords
from islands.studies.clusters.commands import elements_in_queue, reason, sbatch
from islands.studies.clusters.ranks import Allocation
from islands.studies.clusters.run_job import run_job
from islands.text import show
from islands.untrusted import bounded_text, followed

LIST = "sweep.txt"
"""The file in DIR/slurm with the options of each element."""
_LOCK = ".array.lock"
_PATIENCE_SECONDS = 60.0
"""Maximum time that an element waits for another one to submit the collecting job."""
_PLACES = ("account", "partition", "qos")
_SIZES = {
    "nodes": "SLURM_JOB_NUM_NODES",
    "ntasks-per-node": "SLURM_NTASKS_PER_NODE",
    "cpus-per-task": "SLURM_CPUS_PER_TASK",
    "gpus-per-node": "SLURM_GPUS_PER_NODE",
}
"""Options of sbatch, and the variables of a job that contain their values."""


def run_element(
    words: Sequence[str], check: Check, trust_words: Callable[[Sequence[str]], None]
) -> int:
    """Run one element of a job array; return the exit status of its attempt.

    The words are options of `islands run`, and the seed is the number of the element. If the first
    word is a .txt file, the options are the line with this number; `trust_words` is called to trust
    the scripts in the line if this user has submitted the list.
    """
    allocation = Allocation.of(os.environ)
    if allocation.element is None or allocation.array is None:
        missing = "TASK" if allocation.element is None else "JOB"
        raise UsageError(
            f"SLURM_ARRAY_{missing}_ID is not set: a sweep is a job array. Submit it with:"
            " sbatch --array=1-10 slurm/sweep.sbatch INSTANCE"
        )
    given = CommandWords(words)
    folder = given.folder or Path("runs") / f"{allocation.name}-{allocation.array}"
    common = given.without("--out")
    begin_array(folder, allocation.array, common)
    place = inside(folder, str(allocation.element))
    try:
        options = element_options(common, allocation.element)
        path = _list_of(common)
        if path is not None and is_signed(_text(path)):
            trust_words(options)
        elif path is not None and "--trust" in options and not trusts_all():
            raise UntrustedError(
                f"{path}: its line has --trust, but you have not written the list on this machine,"
                " or it was changed since. Write --trust after the name of the list instead"
            )
    except IslandsError as error:
        attempts = jobs.JobAttempts(place)
        attempts.end(attempts.begin(allocation.job, common), error.status)
        raise
    return run_job(options, check, place)


def element_options(words: Sequence[str], element: int) -> list[str]:
    """Return the options of one element."""
    if (path := _list_of(words)) is None:
        if (seed := CommandWords(words).value("--seed")) is not None:
            raise UsageError(
                f"--seed {seed}: each element of a sweep uses its own number as seed. Leave --seed"
                " out, or specify a file with a line of options per element"
            )
        return [*words, "--seed", str(element)]
    lines = read_list(path)
    if not 1 <= element <= len(lines):
        raise UsageError(
            f"element {element}: {path} has options for elements 1 to {len(lines)}. Submit it"
            f" with: sbatch --array=1-{len(lines)} slurm/sweep.sbatch {path}"
        )
    return [*lines[element - 1], *words[1:]]


def own_words(words: Sequence[str]) -> list[str]:
    """Return the words that the user has written, without --out and a list of options."""
    common = CommandWords(words).without("--out")
    return common if _list_of(common) is None else common[1:]


def _list_of(words: Sequence[str]) -> Path | None:
    """Return the list of options that the first word names, or None."""
    return Path(words[0]) if words and words[0].endswith(".txt") else None


def read_list(path: Path) -> list[list[str]]:
    """Return the options of each element: one line each, without blank lines and `#` lines."""
    lines = [line.strip() for line in _text(path).split("\n")]
    try:
        return [shlex.split(line) for line in lines if line and not line.startswith("#")]
    except ValueError as error:
        raise InputError(f"{path}: {error}. Write the options of one run on each line") from error


def _text(path: Path) -> str:
    return bounded_text(path, jobs.MOST_BYTES, followed, "replace")


@dataclass(frozen=True)
class Array:
    """A job array, which runs elements of a sweep."""

    job: str
    began: float
    elements: tuple[int, ...]
    words: tuple[str, ...]
    """The options of all elements, or the list of options and the options after it."""
    command: tuple[str, ...]
    """The words after `sbatch --array=...` that repeat elements."""
    collecting: str | None = None
    """The job that writes the table when all elements have ended."""

    def command_to_repeat(self, elements: Sequence[int]) -> str:
        """Return the command that runs elements again."""
        numbers = ",".join(map(str, elements))
        return f"sbatch --array={numbers} {shlex.join(self.command)}"

    def options(self, folder: Path, element: int) -> list[str]:
        """Return the options of one element; empty if they are unknown."""
        words = list(self.words)
        if _list_of(words) is not None:
            words[0] = str(inside(folder, JOB, LIST))
        try:
            return element_options(words, element)
        except IslandsError:
            return []


def arrays_of(folder: Path) -> list[Array]:
    """Return the job arrays of a sweep, the oldest first."""
    arrays = []
    for path in inside_all(inside(folder, JOB), "array-*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError):  # of a damaged file
            values = json.loads(bounded_text(path, jobs.MOST_BYTES))
            if len(values["elements"]) > jobs.MOST_ELEMENTS:
                continue
            tuples = {name: tuple(values[name]) for name in ("elements", "words", "command")}
            arrays.append(Array(**(values | tuples)))
    return sorted(arrays, key=lambda array: array.began)


def begin_array(folder: Path, job: str, words: Sequence[str]) -> Array | None:
    """Record a job array and submit its collecting job; return None if another process has done so.

    The submitting process and each element call this. `words` are the options of the array.
    """
    path = inside(folder, JOB, f"array-{job}.json")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with FolderLock("job array", _LOCK) as lock:
        if not lock.try_acquire(path.parent, _PATIENCE_SECONDS) or path.exists():
            return None
        _copy_list(folder, words)
        of_elements = _queried(job)
        of_first = next(iter(of_elements.values()), {})
        collecting = _submit_collecting(folder, job, of_first)
        elements = tuple(of_elements) or _range()
        command = tuple(_command(folder, words, of_first))
        array = Array(job, time.time(), elements, tuple(words), command, collecting)
        publish(path, json.dumps(asdict(array)) + "\n")
    return array


def _copy_list(folder: Path, words: Sequence[str]) -> None:
    """Copy the list of options into the folder, so that the table can show them later."""
    source, target = _list_of(words), inside(folder, JOB, LIST)
    if source is None:
        return
    try:
        text = _text(source)
    except InputError:
        return  # each element reports it
    if not (target.exists() and target.samefile(source)):
        publish(target, text)


def _queried(job: str) -> dict[int, dict[str, str]]:
    """Return account, partition, QOS and time limit of each element of an array."""
    names = ("element", *_PLACES, "time")
    rows = elements_in_queue([job], "%K|%a|%P|%q|%l")
    values = [dict(zip(names, row, strict=False)) for row in rows]
    return {int(row["element"]): row for row in values if row["element"].isdecimal()}


def _range() -> tuple[int, ...]:
    """Return the elements in the range that the variables of a job array describe."""
    first, last, step = (
        int(os.environ.get(f"SLURM_ARRAY_TASK_{name}", default))
        for name, default in (("MIN", "1"), ("MAX", "0"), ("STEP", "1"))
    )
    return tuple(range(first, last + 1, max(1, step)))


def _submit_collecting(folder: Path, job: str, of_element: Mapping[str, str]) -> str | None:
    """Submit the job that writes the table of a sweep; return its number, or None."""
    program = shlex.join([sys.executable, "-P", "-m", "islands", "collect", str(folder)])
    submission = sbatch(
        [
            *("--parsable", "--nodes=1", "--ntasks=1", "--time=10", "--job-name=collect"),
            *(f"--dependency=afterany:{job}", f"--output={jobs.output_in(folder, 'collect.out')}"),
            *_places(of_element),
            f"--wrap={program}",
        ]
    )
    if submission.returncode != 0:
        show(
            f"islands job: Slurm rejects the collecting job: {reason(submission.stderr)}. When all"
            " elements have ended, write the table with:"
            f" islands collect {shlex.quote(str(folder))}",
            file=sys.stderr,
        )
        return None
    return submission.stdout.strip().partition(";")[0]


def _places(of_element: Mapping[str, str]) -> list[str]:
    """Return the options that give a job the same account, partition and QOS."""
    options = ((name, of_element.get(name, "")) for name in _PLACES)
    return [f"--{name}={value}" for name, value in options if value not in ("", "(null)", "N/A")]


def _command(folder: Path, words: Sequence[str], of_element: Mapping[str, str]) -> list[str]:
    """Return the words after `sbatch --array=...` that repeat elements."""
    if (submitted := jobs.command_to_resubmit(folder)) is not None:
        return shlex.split(submitted)[1:]
    environment = os.environ
    sizes = [f"--{name}={environment[key]}" for name, key in _SIZES.items() if environment.get(key)]
    time = of_element.get("time", "")
    limit = [f"--time={time}"] if time[:1].isdigit() else []
    script = environment.get("ISLANDS_SCRIPT", "slurm/sweep.sbatch")
    return [*sizes, *limit, *_places(of_element), script, *words, "--out", str(folder)]
