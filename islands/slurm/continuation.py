"""The run that an attempt of a job makes: a new one, or the one that is already in its folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from islands.configuration.given import gathered, of_table
from islands.custom.scripts import is_reference
from islands.custom.trust import NO_TRUST
from islands.errors import IslandsError, UsageError
from islands.problems import load
from islands.record.folder import SETTINGS, claim
from islands.record.inputs import has_problem, is_stored
from islands.record.lock import FolderLock
from islands.run.request import parts_in
from islands.slurm.attempts import JobAttempts
from islands.slurm.command_line import CommandWords
from islands.untrusted import read_toml


def continues(given: CommandWords, folder: Path, attempts: JobAttempts, job: str) -> bool:
    """Return whether the run in the folder continues; refuse the folder of another run."""
    if given.resumes:
        return True
    last = attempts.last_with_run()
    if last is not None and last.job == job:
        return True
    # The same job, submitted again, continues: its --force was for the run before it. If it is
    # done, --force repeats it.
    is_same = last is not None and last.words == given.all
    if is_same and not (given.forces and last is not None and last.status == 0):
        return True
    if given.forces or not (folder / SETTINGS).exists():
        return False
    raise UsageError(
        f"--out {folder}: contains a run with other options. Name another folder, add --force to"
        f" overwrite it, or resume it with: sbatch slurm/run.sbatch resume"
        f" {shlex.quote(str(folder))}"
    )


def options(given: CommandWords, folder: Path, *, goes_on: bool) -> list[str]:
    """Return the words of `islands` that begin the run in the folder, or continue it."""
    if given.resumes:
        return [*given.all]
    if goes_on and (folder / SETTINGS).exists():
        return ["resume", str(folder), *_scripts(given, folder), *given.of_resume()]
    words = CommandWords(given.without("--out")).all
    # A series, or a run that has not begun, continues with the options that begin it.
    return [
        "run",
        *(word for word in words if not (goes_on and word == "--force")),
        "--out",
        str(folder),
    ]


def _scripts(given: CommandWords, folder: Path) -> list[str]:
    """Return the scripts of the run that the job's own words name, as words of `resume`.

    The folder is signed by the node that wrote it; others may not have the key.
    """
    named = given.scripts()
    stored = gathered(of_table(read_toml(folder / SETTINGS)))
    words, instance = list[str](), stored.get("instance")
    if has_problem(folder) and named.issuperset(NO_TRUST.naming(instance).files):
        words += _unchanged(folder, str(instance))
    for name, values in parts_in(stored).items():
        for each in values:
            words += [f"--{name}", each] if NO_TRUST.naming(each).files <= named else []
    return words


def _unchanged(folder: Path, instance: str) -> list[str]:
    """Return the script of the problem, unless it has changed since, so that the copy is used."""
    try:
        return [instance] if is_reference(instance) and is_stored(folder, load(instance)) else []
    except IslandsError:
        return []


def remove_older(places: Iterable[Path]) -> None:
    """Remove the runs that --force overwrites, so that no later attempt resumes one of them."""
    for place in places:
        if (place / SETTINGS).exists():
            with FolderLock() as lock:
                claim(place, name="", force=True, lock=lock)
