"""The data of one run that a report needs, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from islands.configuration.given import COLONIES
from islands.custom.scripts import is_reference
from islands.custom.trust import named_by, signed_scripts, trust_files
from islands.errors import InputError, IslandsError, RunError, UntrustedError
from islands.modelling.model import Model, NeedsScriptError
from islands.problems import loaded
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.record.folder import FINISHED, MIGRATIONS, RUN_SETTINGS, TRACE, require_run
from islands.record.inputs import has_problem, is_stored, read_settings, stored_problem
from islands.record.one_run import warnings
from islands.record.solution import Finished, recorded
from islands.record.tables import read_records
from islands.report.history import History, Lineage, Migrants, sense_of
from islands.report.ready import drawing_of
from islands.settings import flat

if TYPE_CHECKING:
    import pyarrow as pa

_MOVED = "If its file or script has moved, specify it with --instance"
_PLAIN = (
    "the function that draws its solutions (plot=), if it has one, is only in its script, so the"
    " picture shows the numbers. Specify the script with --instance FILE.py:NAME"
)
_TRUST = "Add --trust to run the script that defines the problem"


@dataclass(frozen=True)
class RecordedRun:
    """A run in a folder or in memory, finished or not."""

    folder: Path
    settings: Mapping[str, Any]
    """All settings by their full names, such as `migration.interval`."""
    finished: Finished | None
    """The result, with the date and the versions; None if the run is not finished."""
    trace: pa.Table | None = None
    migrations: pa.Table | None = None
    moved: str | None = None
    """The current path of the instance or script, if the user has named it."""
    notes: list[str] = field(default_factory=list)
    """What could not be read, and why; shown to the user."""
    given: Problem | None = None
    """The problem of a result in memory."""

    @classmethod
    def read(
        cls,
        folder: Path,
        *,
        migrations: bool = True,
        moved: str | None = None,
    ) -> Self:
        """Return the run in a folder; reject a folder without a run, and damaged files."""
        require_run(folder)
        settings = flat(read_settings(folder))
        finished = recorded(folder) if (folder / FINISHED).exists() else None
        notes = warnings(folder)
        trace = read_records(folder, TRACE, thinned=notes.append)
        arrivals = read_records(folder, MIGRATIONS, thinned=notes.append) if migrations else None
        return cls(folder, settings, finished, trace, arrivals, moved, notes)

    @classmethod
    def of(cls, result: Result) -> Self:
        """Return the run of a result in memory, whose ranks are unknown."""
        assert result.records is not None
        tables: dict[str, pa.Table] = {}
        for name in (TRACE, MIGRATIONS):
            with suppress(RunError):  # not recorded
                rows = result.records.table(name)
                ranks = np.zeros(len(rows), np.int32)
                tables[name] = rows.add_column(0, "rank", [ranks])
        folder, finished = (
            Path(result.folder or result.instance),
            Finished(result, run="", start=0, date="", versions={}),
        )
        both, problem = (tables.get(TRACE), tables.get(MIGRATIONS)), result.records.problem
        return cls(folder, flat(result.settings), finished, *both, given=problem)

    @property
    def result(self) -> Result | None:
        """The result; None if the run is not finished."""
        return None if self.finished is None else self.finished.result

    @property
    def instance(self) -> str:
        """The name of the instance."""
        if self.result is not None:
            return self.result.instance
        return str(self.settings.get("instance", "unknown"))

    @property
    def title(self) -> str:
        """The instance, the algorithm and the seed."""
        return f"{self.instance}, {method_of(self.settings)}, seed {self.settings.get('seed', '?')}"

    @cached_property
    def problem(self) -> Problem | None:
        """The problem; None, with a note, if it is not found or needs an untrusted script."""
        if self.given is not None:
            return self.given
        if self.moved is not None:
            return self._named(self.moved)
        try:
            problem, note = _problem(self.folder, self.settings)
        except IslandsError as error:
            problem, note = None, f"The problem could not be read: {error}. {_MOVED}"
        problem = None if problem is None else problem.as_solved(self.settings)
        if problem is not None and not self._fits(problem):
            problem, note = None, f"The problem is not that of the run. {_MOVED}"
        if note:
            self.notes.append(note)
        return problem

    def _named(self, name: str) -> Problem:
        """Return the problem that the user has named; reject it if it is not that of the run."""
        form = self.settings.get("format")
        named = loaded(name, None if form is None else str(form))
        problem = named.as_solved(self.settings)
        is_other = has_problem(self.folder) and not is_stored(self.folder, named)
        if is_other or not self._fits(problem):
            raise InputError(
                f"--instance {name}: is not the problem of {self.folder}. Specify the"
                f" problem of the run, {self.instance}"
            )
        return problem

    def _fits(self, problem: Problem) -> bool:
        """Return whether the solution of the run, if any, is valid for a problem."""
        try:
            if self.result is not None and self.result.solution is not None:
                problem.check(self.result.solution)
        except RunError:
            return False
        return True

    @cached_property
    def maximise(self) -> bool:
        """Whether larger costs are better."""
        sense = None if self.trace is None else sense_of(self.trace)
        return self.problem is not None and self.problem.maximise if sense is None else sense

    @cached_property
    def best_known(self) -> float | None:
        """The best known value, if there is one."""
        if self.result is not None:
            return self.result.best_known
        known = self.problem.best_known if self.problem is not None else None
        return None if known is None else known.value

    @property
    def best(self) -> float | None:
        """The best cost, so far if the run is unfinished; None without a feasible solution."""
        if self.result is not None:
            return self.result.cost
        best = np.nan if self.history is None else float(self.history.overall()[-1])
        return None if np.isnan(best) else best

    @property
    def gap(self) -> float | None:
        """The gap of the best cost in per cent, if the best known value is known."""
        if self.result is not None:
            return self.result.gap
        if self.best is None or self.problem is None:
            return None
        return self.problem.gap(self.best)

    @cached_property
    def history(self) -> History | None:
        """The costs over the generations; None if the trace has no rows."""
        if self.trace is None or len(self.trace) == 0:
            return None
        return History.of(self.trace, maximise=self.maximise)

    @cached_property
    def migrants(self) -> Migrants | None:
        """The migrants that arrived; None if none are known."""
        if self.history is None or self.migrations is None or len(self.migrations) == 0:
            return None
        return Migrants.of(self.migrations, self.history)

    @cached_property
    def lineage(self) -> Lineage | None:
        """The lineage of the best solution; None without migrants."""
        if self.history is None or self.migrants is None:
            return None
        result, best = self.result, self.history.found_best()
        if result is not None and result.island is not None:
            best = result.island, result.best_generation
        return Lineage.of(self.migrants, *best)

    def without_rows(self) -> str:
        """Return why the course of the run cannot be drawn, and the fix."""
        if self.result is not None and self.trace is None:
            return f"the trace is missing. Restore {self.folder / TRACE}"
        return "the trace has no rows yet, so there is no course to show. Draw it later"

    def without_migrants(self) -> str:
        """Return why no migrants are known, and the fix."""
        if self.settings.get("record.migrations") is False:
            return "the run did not record migrants. Run it again with record.migrations=true"
        if sum(int(colony.get("islands", 0)) for colony in colonies_of(self.settings)) == 1:
            return "there is one island, so no migrant arrived. Run it again with more --islands"
        if self.settings.get("migration.topology") == "none":
            again = "Run it again with another --migration, such as ring"
            return f"its islands did not exchange migrants. {again}"
        if self.result is not None and self.migrations is None:
            return f"the record of migrants is missing. Restore {self.folder / MIGRATIONS}"
        return "no migrant arrived. Run it again for more generations, or with a smaller --interval"


def method_of(settings: Mapping[str, Any]) -> str:
    """Return the algorithm of a run, or the different algorithms of its colonies."""
    names = (colony.get("algorithm", "unknown algorithm") for colony in colonies_of(settings))
    return " and ".join(dict.fromkeys(map(str, names)))


def colonies_of(settings: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the settings of each colony; a run without colonies counts as one."""
    colonies: Sequence[Mapping[str, Any]] = settings.get(COLONIES, [settings])
    return colonies


def _problem(folder: Path, settings: Mapping[str, Any]) -> tuple[Problem, str]:
    """Return the problem of a run, and a note if it lacks what only its script contains."""
    trust_files(signed_scripts(folder / RUN_SETTINGS))
    instance, form = str(settings.get("instance", "")), settings.get("format")
    stored: Problem | None = None
    if has_problem(folder):
        try:
            with suppress(NeedsScriptError):  # a part of it is only in its script
                stored = stored_problem(folder)
        except UntrustedError as error:
            raise InputError(
                f"{folder}: contains code that you have not stored. {_TRUST}"
            ) from error
    if stored is None and not is_reference(instance):
        return loaded(instance, None if form is None else str(form)), ""
    if stored is not None and not isinstance(stored, Model):
        return stored, ""
    note = f"{instance}: {_PLAIN}"
    if is_reference(instance):
        try:
            # Only the script contains the function that draws a solution.
            with named_by(f"{folder / RUN_SETTINGS}: "):
                return loaded(instance), ""
        except IslandsError as error:
            if stored is None:
                raise
            note = f"{error}. {note}"
    assert stored is not None, "it is stored unless its script defines it"
    stored.plot = drawing_of(stored)
    return stored, note if stored.plot is None else ""
