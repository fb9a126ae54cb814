"""The table of a sweep: a row for each run, and the command that repeats unfinished runs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from islands.errors import InputError, IslandsError
from islands.inside import inside
from islands.paths import published
from islands.progress.result import Result
from islands.record.folder import JOB
from islands.record.solution import recorded
from islands.slurm.array import LIST, Array, arrays_of
from islands.slurm.state import JobState
from islands.slurm.sweep import element_options
from islands.slurm.sweep_state import is_sweep, states_of
from islands.text import counted, gap, show

TABLE = "results.csv"
_VALUES = (
    *("instance", "problem", "algorithm", "encoding", "preset", "seed", "cost", "best_known"),
    *("gap", "generations", "evaluations", "seconds", "reason", "islands", "backend", "digest"),
)
_HEADER = (
    f"{'element':>7}  {'state':<10} {'instance':<24} {'seed':>6}"
    f" {'best':>14} {'gap':>8} {'seconds':>9}"
)


@dataclass(frozen=True)
class Element:
    """One run of a sweep."""

    number: int
    folder: Path
    state: JobState
    result: Result | None

    def row(self, options: Sequence[str]) -> dict[str, object]:
        """Return the row of the table."""
        values = {} if self.result is None else self.result.to_mapping()
        known = {name: values.get(name) for name in _VALUES}
        of_sweep = {"element": self.number, "state": self._said, "options": " ".join(options)}
        return of_sweep | known | {"folder": str(self.folder)}

    def line(self) -> str:
        """Return the line of the printed table."""
        if self.result is None:
            return f"{self.number:>7}  {self._said}"
        result = self.result
        return (
            f"{self.number:>7}  {self.state.word:<10} {result.instance:<24} {result.seed:>6}"
            f" {result.cost!s:>14} {gap(result.gap):>8} {result.seconds:>9.2f}"
        )

    @property
    def _said(self) -> str:
        return self.state.word if self.result else f"{self.state.word}: {self.state.detail}"


def collect(folder: Path, elements: Sequence[Element]) -> int:
    """Write and print the table of the runs of a sweep; return 1 if some are not finished."""
    arrays = arrays_of(folder)
    path = inside(folder, TABLE)
    rows = [each.row(_options(folder, arrays, each.number)) for each in elements]
    with published(path) as temporary, temporary.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    show("\n".join([_HEADER, *(each.line() for each in elements)]))
    done = sum(each.result is not None for each in elements)
    ended = [each.number for each in elements if each.result is None and each.state.is_final]
    active = len(elements) - done - len(ended)
    show(f"\n{done} of {counted(len(elements), 'run')} done. The table is in {path}")
    for command in _commands(arrays, ended):
        show(f"Run the others again, and write the table again, with: {command}")
    if active:
        show(
            f"{counted(active, 'run')} queued or running: follow them with islands status {folder}"
        )
    if ended or active:
        show(f"Write only the table again with: islands collect {folder}")
    return 1 if ended or active else 0


def elements_of(folder: Path) -> list[Element]:
    """Return the runs of a sweep, including runs that have not begun."""
    states = states_of(folder) if is_sweep(folder) else {}
    if not states:
        raise InputError(
            f"{folder}: contains no sweep. Name the folder of one, which has a folder for each run"
        )
    return [
        _element(number, inside(folder, str(number)), state) for number, state in states.items()
    ]


def _element(number: int, folder: Path, state: JobState) -> Element:
    if state.word != "done":
        return Element(number, folder, state, None)
    try:
        return Element(number, folder, state, recorded(folder).result)
    except IslandsError as error:
        return Element(number, folder, JobState("failed", str(error)), None)


def _options(folder: Path, arrays: Sequence[Array], number: int) -> Sequence[str]:
    """Return the options of an element, or none if they are unknown."""
    array = next((each for each in reversed(arrays) if number in each.elements), None)
    if array is None:
        return ()
    words = list(array.words)
    if words and words[0].endswith(".txt"):
        words[0] = str(inside(folder, JOB, LIST))
    try:
        return element_options(words, number)
    except IslandsError:
        return ()


def _commands(arrays: Sequence[Array], numbers: Sequence[int]) -> list[str]:
    """Return a command for each job array that runs elements again."""
    commands: list[str] = []
    left = set(numbers)
    for array in reversed(arrays):
        if again := sorted(left & set(array.elements)):
            commands.append(array.again(again))
        left -= set(array.elements)
    return commands
