"""The table of a sweep: a row for each run, done or not, and how to run the others again."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from islands.errors import InputError, IslandsError
from islands.paths import published
from islands.progress.result import Result
from islands.record.folder import JOB
from islands.record.solution import recorded
from islands.slurm.state import State
from islands.slurm.sweep import LIST, read_list
from islands.slurm.sweep_state import states_of
from islands.text import counted, gap

TABLE = "results.csv"
_VALUES = (
    *("instance", "problem", "algorithm", "encoding", "preset", "seed", "cost", "best_known"),
    *("gap", "generations", "evaluations", "seconds", "reason", "islands", "backend", "digest"),
)


@dataclass(frozen=True)
class Element:
    """One run of a sweep."""

    number: int
    folder: Path
    state: str
    result: Result | None

    def row(self, options: Sequence[str]) -> dict[str, object]:
        """Return the row of the table."""
        values = {} if self.result is None else self.result.to_mapping()
        known = {name: values.get(name) for name in _VALUES}
        of_sweep = {"element": self.number, "state": self.state, "options": " ".join(options)}
        return of_sweep | known | {"folder": str(self.folder)}

    def line(self) -> str:
        """Return the line of the printed table."""
        if self.result is None:
            return f"{self.number:>7}  {self.state}"
        result = self.result
        return (
            f"{self.number:>7}  {self.state:<10} {result.instance:<24} {result.seed:>6}"
            f" {result.cost!s:>14} {gap(result.gap):>8} {result.seconds:>9.2f}"
        )


_HEADER = (
    f"{'element':>7}  {'state':<10} {'instance':<24} {'seed':>6}"
    f" {'best':>14} {'gap':>8} {'seconds':>9}"
)


def collect(folder: Path) -> int:
    """Write and print the table of all runs of a sweep; return 1 if some are not done."""
    elements = elements_of(folder)
    if not elements:
        raise InputError(
            f"{folder}: holds no sweep. Name the folder of one, which has a folder for each run"
        )
    options = read_list(folder / LIST) if (folder / LIST).exists() else []
    path = folder / TABLE
    rows = [each.row(options[each.number - 1] if options else ()) for each in elements]
    with published(path) as temporary, temporary.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print("\n".join([_HEADER, *(each.line() for each in elements)]))
    unfinished = [each for each in elements if each.result is None]
    done = len(elements) - len(unfinished)
    print(f"\n{done} of {counted(len(elements), 'run')} done. The table is in {path}")
    if unfinished:
        print(f"Run the others again with: {_again(folder, unfinished)}")
    return 1 if unfinished else 0


def elements_of(folder: Path) -> list[Element]:
    """Return the runs of a sweep, including runs that have not begun."""
    return [
        _element(number, folder / str(number), state) for number, state in states_of(folder).items()
    ]


def _element(number: int, folder: Path, state: State) -> Element:
    if state.word != "done":
        return Element(number, folder, f"{state.word}: {state.detail}", None)
    try:
        return Element(number, folder, state.word, recorded(folder).result)
    except IslandsError as error:
        return Element(number, folder, f"failed: {error}", None)


def _again(folder: Path, elements: Sequence[Element]) -> str:
    numbers = ",".join(str(each.number) for each in elements)
    script = folder / JOB / "job.sbatch"
    if script.exists():
        return f"sbatch --array={numbers} {script}"
    return f"sbatch --array={numbers} slurm/sweep.sbatch, with the options of this sweep"
