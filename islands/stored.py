"""Runs in folders, from Python: `resume` continues a run, `read_run` returns its result."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from islands.calls import explained
from islands.configuration.keywords import of_keywords
from islands.custom.scripts import Trust, reject_while_importing
from islands.custom.trust import current, trusting, within
from islands.engine.build import RankOptions
from islands.engine.runner import resume_requested
from islands.engine.single import Output
from islands.errors import InputError, RunError
from islands.parallel import World
from islands.parallel import world as launched_world
from islands.paths import given_folder
from islands.problems import problem_of
from islands.problems.base import Problem
from islands.progress.progress import Callback
from islands.progress.result import Result
from islands.record.folder import FINISHED, MIGRATIONS, TRACE, require_run
from islands.record.inputs import trust_folder
from islands.record.one_run import files_of_other_runs
from islands.record.solution import recorded
from islands.record.tables import stored_table
from islands.report.notebook import html, of_result
from islands.report.pictures import draw_result, draw_run
from islands.report.recorded import RecordedRun


@explained
@trusting
def resume(
    folder: str | Path,
    *,
    problem: str | Path | Problem | None = None,
    stop: str | Sequence[str] | None = None,
    seconds: float | str | None = None,
    generations: int | None = None,
    evaluations: float | None = None,
    target: float | None = None,
    gap: float | str | None = None,
    stagnation: int | None = None,
    callback: Callback | None = None,
    backend: str | None = None,
    threads: int | None = None,
    share_gpu: bool = False,
    verbose: bool = False,
    world: World | None = None,
    trust: bool = False,
) -> Result:
    """Resume the run in a folder from its last checkpoint, and return its result.

    >>> first = islands.solve("demo/mkp", generations=5, out="short")
    >>> islands.resume("short", generations=8).generations
    8

    The arguments are those of `islands.solve`. Criteria replace those of the run, so that a
    finished run can continue; without any, the result of a finished run is returned. `problem` is
    needed only if the folder does not contain it: for a Python function, or a file that has moved.
    """
    reject_while_importing("islands.resume")
    name, given = _named(problem, "resume")
    request = of_keywords(
        {},
        instance=name,
        backend=backend,
        threads=threads,
        stop=stop,
        seconds=seconds,
        generations=generations,
        evaluations=evaluations,
        target=target,
        gap=gap,
        stagnation=stagnation,
    )
    output = Output(stream=sys.stdout if verbose else None, callback=callback)
    ranks = world if world is not None else launched_world()
    path = given_folder(folder, "folder")
    with ranks.guarded(show_traceback=True):
        if trust:
            ranks.run_on_all(lambda: trust_folder(path))
        result = resume_requested(
            *(path, request, ranks, output, RankOptions(share_gpu=share_gpu)), problem=given
        )
        if result.violation == 0:
            ranks.run_on_all(result.require_solution)
    result.warn_of_lost_files()
    return _with_records(result, given)


@explained
@trusting
def read_run(
    folder: str | Path, *, problem: str | Path | Problem | None = None, trust: bool = False
) -> Result:
    """Return the result of the finished run in a folder, with its records and pictures.

    >>> first = islands.solve("demo/mkp", generations=5, out="kept")
    >>> islands.read_run("kept").cost == first.cost
    True

    `problem` names its instance if the file has moved. A picture of a problem of your own needs the
    script that defines it, which is run only with `trust`.
    """
    path = given_folder(folder, "folder")
    require_run(path)
    if not (path / FINISHED).exists():
        raise InputError(
            f"{folder}: the run is not finished, or has found no feasible solution. Continue it"
            f" with islands.resume({str(folder)!r}), and a later criterion if it has ended"
        )
    if trust:
        trust_folder(path)
    name, given = _named(problem, "read_run")
    return _with_records(recorded(path).result, given, moved=name)


def _named(problem: Any, call: str) -> tuple[str | None, Problem | None]:
    """Return the name of a problem, or else the problem itself; neither if it is None."""
    if problem is None:
        return None, None
    name, given = problem_of(problem, call)
    return (name, None) if given is None else (None, given)


@dataclass(frozen=True)
class _Stored:
    """The records in a folder; its problem is loaded when it is needed."""

    folder: Path
    given: Problem | None
    moved: str | None
    trust: Trust
    """The files trusted by the call that returned the result."""

    @cached_property
    def problem(self) -> Problem:
        """The problem of the run."""
        with within(self.trust):
            if self.run.problem is None:
                raise RunError(f"{self.folder}: {' '.join(self.run.notes)}")
            return self.run.problem

    @cached_property
    def run(self) -> RecordedRun:
        """The run with its records."""
        return replace(RecordedRun.read(self.folder, moved=self.moved), given=self.given)

    def table(self, name: str) -> Any:
        """Return all rows of the record, ordered by generation and island."""
        self._require_own(name)
        return stored_table(self.folder, name)

    def draw(self, result: Result, what: str, axes: Any) -> Any:
        """Draw a picture; see `Result.plot`."""
        if what != "solution":
            self._require_own(TRACE, MIGRATIONS)
        with within(self.trust):
            return draw_run(lambda: self.run, result, what, axes)

    def page(self, result: Result) -> str:
        """Return the result as HTML, for notebooks."""
        with within(self.trust):
            return html(result, lambda: self.run)

    def _require_own(self, *names: str) -> None:
        """Reject records of another run."""
        faults = files_of_other_runs(self.folder) if self.folder.is_dir() else {}
        mixed = [fault for file, fault in faults.items() if file.split("/")[0] in names]
        if mixed:
            raise InputError(f"{self.folder}: {'; '.join(mixed)}. Restore the files of the run")


def _with_records(result: Result, given: Problem | None, moved: str | None = None) -> Result:
    if result.records is not None:
        return result.shown_by(draw_result, of_result)
    assert result.folder is not None
    stored = _Stored(Path(result.folder).absolute(), given, moved, current())
    return replace(result, records=stored).shown_by(stored.draw, stored.page)
