"""The state of a run, a job, a sweep or other work, from Slurm and from its folder.

`collect` writes the table of a sweep, and prints the command that repeats unfinished runs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from islands.display.heartbeat import read_work
from islands.errors import InputError, IslandsError, Suspended
from islands.inside import inside, inside_all, last_lines
from islands.record import folder as folders
from islands.record.lock import is_locked
from islands.record.solution import recorded
from islands.studies.clusters import jobs
from islands.studies.clusters.commands import RUNNING, WAITING, state_in_queue, states_in_queue
from islands.studies.clusters.jobs import JobAttempt, JobAttempts
from islands.studies.clusters.sweep import arrays_of
from islands.studies.described import table
from islands.tables import Row
from islands.text import counted, escaped, one_line, show

_ROW = re.compile(r"^[*C ]{0,3}\s+\d+ +[\d.]+[smh]")
_ATTEMPT = re.compile(r"islands job: (attempt \d+ ended|job \S+, attempt \d+)|islands job: warning")
_RANKED = (folders.FolderKind.TUNING, folders.FolderKind.MEASUREMENT)
"""Kinds of folders whose results are computed after their last run."""
_TABLE = table(Path(__file__).with_name("tables.toml"), "results")


@dataclass(frozen=True)
class JobState:
    """The state of a run in one word, and in a sentence."""

    word: str
    """queued, running, requeued, done, failed or stopped."""
    detail: str
    job: str | None = None
    progress: str | None = None
    """The last row of progress."""

    @property
    def is_final(self) -> bool:
        """Whether the state remains until a user acts."""
        return self.word in ("done", "failed", "stopped")

    def __str__(self) -> str:
        job = f" (job {self.job})" if self.job else ""
        words = f"{self.word}{job}: {self.detail}" if self.detail else f"{self.word}{job}"
        return escaped(words, kept="")  # texts from a folder could imitate other lines


def state_of(folder: Path, in_queue: Callable[[str], tuple[str, str]] = state_in_queue) -> JobState:
    """Return the state of a run, inside or outside of a job, or of other work."""
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}. Specify the folder of a run or a submitted job")
    attempts, number = JobAttempts(folder).all(), jobs.latest_job(folder)
    if number is None and not (folder / folders.RUN_SETTINGS).exists():
        return _state_of_work(folder)
    word, detail = _state_of_run(folder, attempts, number, in_queue)
    return JobState(word, detail, number, _last_row(folder))


def _state_of_run(
    folder: Path,
    attempts: list[JobAttempt],
    number: str | None,
    in_queue: Callable[[str], tuple[str, str]],
) -> tuple[str, str]:
    last = attempts[-1] if attempts and attempts[-1].job == number else None
    has_ended = number is None or (last is not None and last.status is not None)
    is_finished = (folder / folders.FINISHED).exists()
    slurm, reason = ("", "") if is_finished and has_ended else in_queue(number or "")
    if is_finished and slurm not in (*WAITING, *RUNNING):
        result = recorded(folder).result
        return "done", f"best {result.cost}; {result.reason}"
    if slurm in WAITING:
        if last is None:
            return "queued", reason
        return "requeued", f"attempt {len(attempts)} ended at {last.after or last.before}; {reason}"
    if slurm in RUNNING or is_locked(folder):
        return "running", reason if last is None else f"attempt {len(attempts)} on {reason}"
    status = None if last is None else last.status
    if status == 0 and (folder / folders.SERIES_TABLE).exists():
        return "done", f"all runs; table: {folder / folders.SERIES_TABLE}"
    message = _last_error(folder, last)
    can_resume = (folder / folders.RUN_SETTINGS).exists()
    if status == Suspended.status or (status is None and not message and can_resume):
        command = jobs.command_to_continue(folder, last)
        return "stopped", f"{slurm.lower() or 'no job runs it'}; continue with: {command}"
    how = f"status {status}" if status is not None else slurm.lower() or "its job has ended"
    return "failed", "; ".join(filter(None, (how, message)))


def _last_row(folder: Path) -> str | None:
    """Return the last row of progress in the log."""
    log = log_of(folder)
    rows = [line for line in _lines(log) if _ROW.match(line)] if log is not None else []
    return rows[-1].strip() if rows else None


def log_of(folder: Path) -> Path | None:
    """Return the log of a run, or of the latest run of a series."""
    if (log := inside(folder, folders.LOG)).is_file():
        return log
    logs = [
        inside(folder, path.parent.name, folders.LOG) for path in folder.glob(f"*/{folders.LOG}")
    ]
    return max(logs, key=lambda path: path.stat().st_mtime, default=None)


def _last_error(folder: Path, attempt: JobAttempt | None) -> str:
    """Return the last message of the job itself, or the last error in its output."""
    if attempt is not None and attempt.error:
        return attempt.error
    outputs = inside_all(inside(folder, folders.JOB), "*.out")
    messages = [
        line
        for path in (outputs if attempt is None else [Path(attempt.output)])
        for line in _lines(path)
        if line.startswith(("islands:", "islands job:", "slurmstepd", "no islands"))
    ]
    errors = [line for line in messages if not _ATTEMPT.match(line)]
    return errors[-1] if errors else ""


def _lines(path: Path) -> Iterator[str]:
    """Yield the last lines of a file; it may be long."""
    if path.is_file():
        yield from last_lines(path)


def _state_of_work(folder: Path) -> JobState:
    """Return the state of a series, a tuning, an experiment or a measurement outside of jobs."""
    kind = folders.kind_of(folder)
    if kind is None:
        raise InputError(
            f"{folder}: contains no run, series, tuning, experiment, measurement or submitted job."
            " Specify the folder of one"
        )
    work, count = read_work(folder), ""
    if kind is folders.FolderKind.MEASUREMENT and (runs := folders.results_in(folder)):
        count = f"; {counted(runs, 'run')} so far"
    # A run of a series may have been started by itself.
    in_series = kind is folders.FolderKind.SERIES and any(
        is_locked(run) for run in folders.runs_in(folder)
    )
    if is_locked(folder, kind.lock) or in_series:
        about = kind.words if work is None else f"{kind.words}: {work}"
        return JobState("running", about + count)
    lacks_results = kind in _RANKED and not folders.results_of(folder, kind)
    if work is None and not lacks_results:
        return JobState("done", f"{kind.words}; {_outcome(folder, kind)}")
    at = ("" if work is None else f" at {work.words}") + count
    return JobState("stopped", f"{kind.words}{at}; {folders.how_to_continue(folder, kind)}")


def _outcome(folder: Path, kind: folders.FolderKind) -> str:
    """Return how many runs a measurement has, and where the results are."""
    runs = folders.results_in(folder) if kind is folders.FolderKind.MEASUREMENT else 0
    count = f"{counted(runs, 'run')}; " if runs else ""
    if results := folders.results_of(folder, kind):
        return f"{count}{results}"
    inside = counted(len([*folders.runs_in(folder)]), "run")
    return inside if kind is folders.FolderKind.SERIES else f"tables: {folder}"


def is_sweep(folder: Path) -> bool:
    """Return whether a folder contains the runs of a job array."""
    if (folder / folders.RUN_SETTINGS).exists():
        return False
    job = jobs.submitted(folder)
    if job is not None:
        return job.elements is not None
    return bool(arrays_of(folder) or _begun(folder))


def states_of(folder: Path) -> dict[int, JobState]:
    """Return the state of each run by its number, including runs that have not begun."""
    arrays: dict[int, str] = {}
    job = jobs.submitted(folder)
    if job is not None and job.elements is not None:
        arrays |= dict.fromkeys(range(1, job.elements + 1), job.job)
    for array in arrays_of(folder):
        arrays |= dict.fromkeys(array.elements, array.job)
    queue = states_in_queue(sorted(set(arrays.values())))
    numbers = sorted({*arrays, *_begun(folder)})
    return {number: _state(folder, number, arrays.get(number), queue) for number in numbers}


def counted_states(states: Mapping[int, JobState]) -> str:
    """Return the number of runs in each state, such as `3 done, 1 running`."""
    counts = Counter(state.word for state in states.values())
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


def _state(
    folder: Path, number: int, array: str | None, queue: Mapping[str, tuple[str, str]]
) -> JobState:
    """Return the state of a run of a sweep; `array` is its latest job array."""

    def in_queue(job: str) -> tuple[str, str]:
        return queue.get(job) or state_in_queue(job)

    place, job = inside(folder, str(number)), None if array is None else f"{array}_{number}"
    slurm, reason = ("", "") if job is None else in_queue(job)
    last = JobAttempts(place).last()
    is_resubmitted = last is not None and last.job != job and slurm in WAITING
    if (last is not None or (place / folders.RUN_SETTINGS).exists()) and not is_resubmitted:
        return state_of(place, in_queue)
    if slurm in (*WAITING, *RUNNING):
        return JobState("queued" if slurm in WAITING else "running", reason, job)
    return JobState("failed", "its job has ended before the run began", job)


def _begun(folder: Path) -> list[int]:
    """Return the numbers of the runs that have a folder."""
    return [
        int(place.name)
        for place in folder.glob("[0-9]*")
        if place.name.isdecimal()
        and ((place / folders.JOB).is_dir() or (place / folders.RUN_SETTINGS).exists())
    ]


def collect(folder: Path) -> tuple[list[Path], bool]:
    """Write and print the table of a sweep; return the finished runs, and whether these are all."""
    states = states_of(folder) if is_sweep(folder) else {}
    if not states:
        raise InputError(
            f"{folder}: contains no sweep. Specify the folder of one, which has a folder for each"
            " run"
        )
    arrays = arrays_of(folder)
    latest = {number: array for array in arrays for number in array.elements}
    rows, lines = list[Row](), [_TABLE.header]
    done, ended = list[Path](), list[int]()
    for number, state in states.items():
        place, values = inside(folder, str(number)), dict[str, object]()
        if state.word == "done":
            try:
                values = recorded(place).result.to_mapping()
                done.append(place)
            except IslandsError as error:
                state = JobState("failed", str(error))
        if not values and state.is_final:
            ended.append(number)
        words = state.word if values else f"{state.word}: {state.detail}"
        options = latest[number].options(folder, number) if number in latest else []
        own = {"element": number, "state": words, "options": " ".join(options)}
        own["folder"] = str(place)
        row = _TABLE.row(**{c.name: values.get(c.name) for c in _TABLE.columns} | own)
        rows.append(row)
        lines.append(row.line() if values else f"{number:>7}  {one_line(words)}")
    path = _TABLE.write(folder, rows, end="\n")
    show("\n".join(lines))
    show(f"\n{len(done)} of {counted(len(rows), 'run')} done. The table is in {path}")
    for array in reversed(arrays):
        if numbers := [number for number in ended if latest.get(number) is array]:
            command = array.command_to_repeat(numbers)
            show(f"Run the others again, and write the table again, with: {command}")
    if active := len(rows) - len(done) - len(ended):
        show(
            f"{counted(active, 'run')} queued or running: follow them with islands status {folder}"
        )
    if ended or active:
        show(f"Write only the table again with: islands collect {folder}")
    return done, not (ended or active)
