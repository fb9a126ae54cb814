"""The folders of runs and of other work: their files, kinds, and when they may be overwritten."""

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path

from islands.configuration.spec import FORMAT, SIGN
from islands.errors import InputError, UsageError, system_reason
from islands.inside import inside, inside_all, line_breaks, opened
from islands.paths import reading, writing
from islands.problems import PROBLEMS
from islands.record import messages
from islands.text import option
from islands.untrusted import bounded_text, parsing

RUN_SETTINGS = "run.toml"
"""The settings, the first file written; it identifies the folder of a run."""
LOG = "log.txt"
TRACE, MIGRATIONS = "trace", "migrations"
"""Folders with one file per rank."""
UNFINISHED = ".unfinished.arrows"
"""The suffix of a rank's file until the run is finished."""
CHECKPOINTS = "checkpoints"
"""The folder of checkpoints, which are folders with one file per rank and the manifest."""
MANIFEST = "manifest.json"
"""The last file written in a checkpoint."""
PROBLEM = "problem.npz"
"""The problem, unless an instance file contains it."""
PARTS, INDEX = "parts", "index.json"
"""The folder of headers from scripts, and the file that lists them."""
JOB = "slurm"
"""The folder with the script, the output and the record of a Slurm job."""
FINISHED = "solution.parquet"
"""The last file that a run writes; with it, the run is finished."""
PAGE = "report.html"
"""The report of a folder."""
DRAWN = (PAGE, "solution.png")
"""The default outputs of `islands report` and `islands plot`, which a new run makes obsolete."""
_FIRST_LINE = re.compile(
    rf"{SIGN} (?P<version>[\w.+]+), format (?P<format>[0-9]{{1,9}}): --config repeats it\.\n"
)
_LONGEST_LINE = 200
FOLDERS = (TRACE, MIGRATIONS, CHECKPOINTS, PARTS)
"""The folders that a run writes."""

LEDGER = "runs.jsonl"
"""The results of many runs, one per line, in the folders of series, tunings and so on."""
LONGEST_RESULT = 1 << 28
"""Maximum length of a line of the ledger; the line of a run with ten million items is shorter."""
_MOST_COUNTED = 1 << 28
"""Maximum bytes of the ledger in which lines are counted: at least 200000 small runs."""
SERIES_TABLE, TUNING_TABLE = "runs.tsv", "tune.tsv"
EXPERIMENT_SETTINGS = "settings.toml"
PROVENANCE = "provenance.json"
"""The origin of the tables of an experiment or a tuning: the date, the commit and the versions."""
BENCH = "bench.json"
"""All tables of a measurement, the last file that it writes."""
RANKING, CONCLUSION, BEST = "ranking.tsv", "ranking.txt", "best.toml"
"""The results of a tuning; the second is the ranking as printed."""
BATCH_SETTINGS, BATCH_TABLE = "batch.json", "batch.tsv"
"""The settings of a batch, and the table of its results."""
BATCH_NAMES = "instances.jsonl"
"""The names of the instances of a batch."""
MANY_LOCK = ".runs.lock"
"""The file that a process with many runs locks; it contains the kind of the folder."""


def reject_unfit(folder: Path | None, *, force: bool) -> None:
    """Reject a file, a folder with foreign files and, without `force`, a folder with a run.

    An unfinished run without a checkpoint may be overwritten.
    """
    if folder is None:
        return
    try:
        if folder.exists() and not folder.is_dir():
            raise UsageError(
                f"{option('out', folder)}: is a file. Specify a new or existing folder"
            )
        if folder.exists() and _has_files(folder) and not _first_line(folder).startswith(SIGN):
            raise messages.foreign_files(folder, FolderKind.RUN.noun)
        if (folder / FINISHED).exists() and not force:
            raise messages.finished_run(folder)
        if has_checkpoint(folder) and not force:
            raise messages.resumable_run(folder)
    except OSError as error:
        raise unusable(folder, error) from error


def has_checkpoint(folder: Path) -> bool:
    """Return whether there is a checkpoint to resume from."""
    return any(inside(folder, CHECKPOINTS).glob(f"*/{MANIFEST}"))


def require_run(folder: Path) -> None:
    """Reject a folder without a run, or with a run of another format."""
    settings = folder / RUN_SETTINGS
    try:
        line = _first_line(folder)
        is_damaged = settings.exists() and (folder / LOG).exists()
    except OSError as error:
        raise InputError(f"{folder}: {system_reason(error)}. Specify a run's folder") from error
    if not line.startswith(SIGN):
        if is_damaged:
            raise InputError(f"{settings}: is damaged: it does not begin with {SIGN!r}. Restore it")
        content = not_a_run(folder) or (
            "contains no run. Specify the folder that a run writes, such as runs/NAME-DATE-TIME"
        )
        raise InputError(f"{folder}: {content}")
    written = _FIRST_LINE.fullmatch(line)
    if written is None:
        raise InputError(f"{settings}: is damaged: its first line contains no format. Restore it")
    if int(written["format"]) != FORMAT:
        repeat = how_to_repeat(folder)
        raise messages.other_format(folder, written["format"], written["version"], repeat)


def how_to_repeat(folder: Path) -> str:
    """Return the command that repeats the run of a folder."""
    return f"islands run --config {shlex.quote(str(folder / RUN_SETTINGS))}"


def _first_line(folder: Path) -> str:
    """Return the first line of the settings of a run, or an empty string if there are none."""
    if not (folder / RUN_SETTINGS).is_file():
        return ""
    with opened(folder / RUN_SETTINGS) as stream:
        return stream.readline(_LONGEST_LINE).decode(errors="replace")


def remove_unpublished(folder: Path) -> None:
    """Remove temporary files of a killed run, except in its checkpoints.

    On NFS, this may fail until a later call.
    """
    for path in _unpublished_of_a_run(folder):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def remove_checkpoint(checkpoint: Path) -> None:
    """Remove a checkpoint; it is invalid as soon as the manifest is removed."""
    with writing(checkpoint):
        for path in _files_of_a_checkpoint(checkpoint):
            if not path.is_dir():  # no run creates a folder of this name
                path.unlink(missing_ok=True)
        if not any(checkpoint.iterdir()):
            checkpoint.rmdir()


def unusable(folder: Path, error: OSError) -> UsageError:
    """Return the error of a folder that cannot be used."""
    reason = f"{option('out', folder)}: {system_reason(error)}"
    return UsageError(f"{reason}. Specify a folder in which you may write")


def _has_files(folder: Path) -> bool:
    # Ignore the files that a run leaves if it is killed before it writes its settings.
    return any(
        path.name != JOB
        and not path.name.startswith(f".{RUN_SETTINGS}.")
        and not (path.name == LOG and path.stat().st_size == 0)
        for path in folder.iterdir()
    )


def remove_earlier_run(folder: Path) -> None:
    """Remove the files of a run, but not other files of the user.

    The log is emptied, not removed, as the lock needs it.
    """
    for path in _files_of_a_run(folder):
        if path.name == LOG:
            opened(path, "wb").close()
        else:
            path.unlink(missing_ok=True)
    # Inner folders first.
    for inner in (*_checkpoints(folder), *(inside(folder, name) for name in FOLDERS)):
        if inner.is_dir() and not any(inner.iterdir()):
            inner.rmdir()


def _files_of_a_run(folder: Path) -> Iterator[Path]:
    # The solution is removed first, as a partly emptied folder must not look finished. The settings
    # are removed last, as the remaining files must not look like files of the user. Checkpoints
    # precede the records that they need.
    yield folder / FINISHED
    for checkpoint in _checkpoints(folder):
        yield from _files_of_a_checkpoint(checkpoint)
    yield from (folder / name for name in (*_solutions(), *DRAWN))
    yield folder / LOG
    for name in (TRACE, MIGRATIONS):
        for suffix in (".parquet", UNFINISHED):
            yield from sorted(inside(folder, name).glob(f"rank-[0-9]*{suffix}"))
    yield from _unpublished_of_a_run(folder)
    parts = inside(folder, PARTS)
    yield from (parts / name for name in (*_parts(folder), INDEX))
    yield folder / PROBLEM
    yield folder / RUN_SETTINGS


def _checkpoints(folder: Path) -> list[Path]:
    return inside_all(inside(folder, CHECKPOINTS), "[0-9]*")


def _solutions() -> list[str]:
    """Return the solution file names of all kinds of problems."""
    return [f"solution{kind.solution_suffix}" for kind in PROBLEMS.values()]


def _unpublished_of_a_run(folder: Path) -> Iterator[Path]:
    yield from _unpublished(folder, FINISHED, *_solutions(), PROBLEM, RUN_SETTINGS)
    yield from _unpublished(inside(folder, PARTS), *_parts(folder), INDEX)
    for name in (TRACE, MIGRATIONS):
        yield from _unpublished(inside(folder, name), "rank-")


def file_name_of(header: str) -> str:
    """Return the file name under which a script's header is stored."""
    return header.replace("/", "-")


def _parts(folder: Path) -> list[str]:
    """Return the names of the stored header files."""
    index = inside(folder, PARTS, INDEX)
    if not index.exists():
        return []
    with suppress(InputError), parsing(index):
        names = [part["file"] for part in json.loads(bounded_text(index))]
        return [name for name in names if name and Path(name).name == name]
    return []


def _files_of_a_checkpoint(checkpoint: Path) -> Iterator[Path]:
    yield checkpoint / MANIFEST
    yield from sorted(checkpoint.glob("rank-[0-9]*.npz"))
    yield from _unpublished(checkpoint, "rank-", MANIFEST)


def _unpublished(folder: Path, *names: str) -> Iterator[Path]:
    """Yield the temporary files, with these prefixes, of a process killed in `published`."""
    for name in names:
        yield from sorted(folder.glob(f".{name}*"))


class FolderKind(Enum):
    """What a folder contains: a run, or work that consists of many runs.

    A folder of many runs states its kind in the file `MANY_LOCK`. `results` are its main files.
    """

    RUN = "a run", {"solution": FINISHED}
    TUNING = "a tuning", {"ranking": RANKING, "best": BEST}
    EXPERIMENT = "an experiment of islands reproduce", {"page": PAGE}
    SERIES = "a series of runs", {"table": SERIES_TABLE}
    BATCH = "a batch", {"table": BATCH_TABLE}
    MEASUREMENT = "a measurement of islands bench", {"tables": BENCH}

    def __init__(self, words: str, results: Mapping[str, str]) -> None:
        self.words, self.results = words, results

    @property
    def noun(self) -> str:
        """The kind in one word."""
        return self.name.lower()

    @property
    def lock(self) -> str:
        """The name of the file that a process locks."""
        return LOG if self is FolderKind.RUN else MANY_LOCK


_OF_FILES = {
    TUNING_TABLE: FolderKind.TUNING,
    EXPERIMENT_SETTINGS: FolderKind.EXPERIMENT,
    SERIES_TABLE: FolderKind.SERIES,
    BATCH_SETTINGS: FolderKind.BATCH,
    BENCH: FolderKind.MEASUREMENT,
    LEDGER: FolderKind.MEASUREMENT,
}
"""Files that show the kind of a folder without `MANY_LOCK`. The first that exists decides, as all
folders of many runs may have a ledger."""


def kind_of(folder: Path) -> FolderKind | None:
    """Return what a folder contains, or None if islands has not written it."""
    if (folder / RUN_SETTINGS).is_file():
        return FolderKind.RUN
    if (folder / MANY_LOCK).is_file():
        name = bounded_text(inside(folder, MANY_LOCK), errors="replace").strip().upper()
        if name in FolderKind.__members__:
            return FolderKind[name]
    # A copy of the folder may lack the hidden file.
    for name, kind in _OF_FILES.items():
        if (folder / name).is_file():
            return kind
    if any(runs_in(folder)):
        return FolderKind.SERIES
    return FolderKind.EXPERIMENT if any(experiments_in(folder)) else None


def reject_other_work(folder: Path, kind: FolderKind, leftovers: Collection[str] = ()) -> None:
    """Reject a file, and a folder with work of another kind or with foreign files.

    `leftovers` are the names of files or folders that work of this kind may leave before its first
    result. The caller checks whether existing work of this kind can be continued.
    """
    with reading(folder):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise UsageError(f"--out {folder}: is a file. Specify a new or existing folder")
        present, names = kind_of(folder), {path.name for path in folder.iterdir()}
    if present is kind and names.intersection((LEDGER, MANY_LOCK, BENCH, BATCH_SETTINGS)):
        return
    if present not in (None, kind):
        raise UsageError(
            f"--out {folder}: contains {present.words}, not {kind.words}. Specify a new folder"
        )
    if {name for name in names if not name.startswith(".")} - {*leftovers, JOB}:
        raise messages.foreign_files(folder, kind.noun)


def results_in(folder: Path) -> int:
    """Return the number of complete lines in the ledger."""
    path = inside(folder, LEDGER)
    return line_breaks(path, _MOST_COUNTED) if path.is_file() else 0


def runs_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of the runs of a series, in alphabetical order."""
    yield from _folders_with(RUN_SETTINGS, folder)


def experiments_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of the experiments of several papers, in alphabetical order."""
    yield from _folders_with(EXPERIMENT_SETTINGS, folder)


def _folders_with(name: str, folder: Path) -> list[Path]:
    """Return the folders in `folder` that contain a file of this name."""
    return [inside(folder, path.parent.name) for path in sorted(folder.glob(f"*/{name}"))]


def how_to_continue(folder: Path, kind: FolderKind) -> str:
    """Return how to complete the runs of a folder of many runs."""
    place = shlex.quote(str(folder))
    if kind is FolderKind.BATCH:
        return f"to continue: islands resume {place}"
    return f"to continue, repeat its command with --out {place}"


def results_of(folder: Path, kind: FolderKind) -> str:
    """Return the paths of the results of many runs as text."""
    files = {what: folder / name for what, name in kind.results.items()}
    return "; ".join(f"{what}: {path}" for what, path in files.items() if path.exists())


def not_a_run(folder: Path) -> str:
    """Return the message if a folder of many runs is not the required run, or an empty string."""
    kind = kind_of(folder)
    if kind is None or kind is FolderKind.RUN:
        return ""
    look = f"Its results are in {folder / next(iter(kind.results.values()))}"
    if kind is FolderKind.SERIES:
        look = f"Specify one of its runs, such as {next(runs_in(folder), folder / 'NAME-seed1')}"
    elif kind in (FolderKind.TUNING, FolderKind.EXPERIMENT):
        look = f"View it with: islands report {shlex.quote(str(folder))}"
    return f"contains {kind.words}, not a run. {look}; {how_to_continue(folder, kind)}"


def is_batch(folder: Path) -> bool:
    """Return whether a folder contains a batch."""
    return (folder / BATCH_SETTINGS).is_file()
