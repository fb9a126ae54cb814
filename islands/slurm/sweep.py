"""A sweep: a job array in which each element is a separate run with its own folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from islands.custom.trust import Trust, UntrustedError, is_signed
from islands.errors import InputError, IslandsError, UsageError
from islands.inside import inside
from islands.slurm.allocation import Allocation
from islands.slurm.array import begin_array
from islands.slurm.attempts import JobAttempts
from islands.slurm.command_line import Check, CommandWords, of_one_run
from islands.slurm.run_job import run_job
from islands.untrusted import bounded_text, followed

_MOST_BYTES = 1 << 24
"""Of a list of options."""


def run_element(words: Sequence[str], check: Check) -> int:
    """Run one element of a job array; return the exit status of its attempt.

    The words are options of `islands run`; the seed is the element's number. If the first word is a
    .txt file, the options are its line with that number.
    """
    allocation = Allocation.of(os.environ)
    if allocation.element is None or allocation.array is None:
        raise UsageError(
            "SLURM_ARRAY_TASK_ID is not set: a sweep is a job array. Submit it with:"
            " sbatch --array=1-10 slurm/sweep.sbatch INSTANCE"
        )
    given = CommandWords(words)
    folder = given.folder or Path("runs") / f"{allocation.name}-{allocation.array}"
    common = given.without("--out")
    begin_array(folder, allocation.array, common)
    place = inside(folder, str(allocation.element))
    try:
        options = element_options(common, allocation.element)
        _require_trusted(common, options)
    except IslandsError as error:
        attempts = JobAttempts(place)
        attempts.end(attempts.begin(allocation.job, common), error.status)
        raise
    return run_job(options, of_one_run(check), place)


def element_options(words: Sequence[str], element: int) -> list[str]:
    """Return the options of one element."""
    if not _is_list(words):
        if (seed := CommandWords(words).value("--seed")) is not None:
            raise UsageError(
                f"--seed {seed}: each element of a sweep uses its own number as seed. Leave --seed"
                " out, or name a file with a line of options per element"
            )
        return [*words, "--seed", str(element)]
    lines = read_list(Path(words[0]))
    if not 1 <= element <= len(lines):
        raise UsageError(
            f"element {element}: {words[0]} has options for elements 1 to {len(lines)}. Submit it"
            f" with: sbatch --array=1-{len(lines)} slurm/sweep.sbatch {words[0]}"
        )
    return [*lines[element - 1], *words[1:]]


def _require_trusted(words: Sequence[str], options: Sequence[str]) -> None:
    """Refuse scripts that a line of a list names, unless this user has submitted the list.

    The words after the list may name the scripts too.
    """
    if not _is_list(words) or is_signed(_text(path := Path(words[0]))):
        return
    own, line = CommandWords(words[1:]), CommandWords(options)
    trust = Trust(own.scripts(), own.trusts)
    trust.require(f"{path}: ", [("in its line", line.references())])
    if line.trusts and not own.trusts:
        raise UntrustedError(
            f"{path}: its line has --trust, but you have not written the list on this machine, or"
            " it was changed since. Write --trust after the name of the list instead"
        )


def _is_list(words: Sequence[str]) -> bool:
    return bool(words) and words[0].endswith(".txt")


def read_list(path: Path) -> list[list[str]]:
    """Return the options of each element: one line each, without blank lines and `#` lines."""
    lines = [line.strip() for line in _text(path).split("\n")]
    try:
        return [shlex.split(line) for line in lines if line and not line.startswith("#")]
    except ValueError as error:
        raise InputError(f"{path}: {error}. Write the options of one run on each line") from error


def _text(path: Path) -> str:
    return bounded_text(path, _MOST_BYTES, followed, "replace")
