"""Several runs, each in a folder of its own: all instances with one seed, then all with the next.

If the machine becomes slower, this affects all instances equally. An interrupted series continues
in its folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from islands.cells.campaign import Campaign
from islands.cells.store import differing
from islands.cells.summary import Summary, table
from islands.configuration.asked import Asked
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.configuration.stop import time_limit
from islands.display.screen import Screen
from islands.engine.build import RankOptions
from islands.engine.request import load_and_resolve
from islands.engine.runner import resume_requested, run
from islands.engine.signals import INTERRUPT, OUTPUT_LOST, Interruption
from islands.engine.single import Output
from islands.errors import RunError, UsageError
from islands.inside import inside
from islands.parallel import World, differences
from islands.paths import reading
from islands.progress.result import Result
from islands.record.files import Row
from islands.record.folder import RUN_SETTINGS, SERIES_TABLE, FolderKind
from islands.record.folder import refuse_unfit as refuse_other_run
from islands.record.inputs import read_settings, require_intact
from islands.text import count, counted, gap, one_line, option

COLUMNS = (
    *("instance", "gap", "evaluations", "seconds", "cost", "solution", "backend", "device"),
    *("started", "seed", "generations", "reason", "digest", "settings"),
    *("bound", "bound_gap", "bound_kind"),
)
"""Of the table of a series."""
_OWN = ("backend", "threads")
"""Settings that may differ between starts of a series, as they do not affect results."""
_OF_ONE = ("best", "mean", "standard_deviation", "hits")
"""Keys of JSON that are repeated at the top level if there is a single instance."""
_DEFAULT = RankOptions()


@dataclass(frozen=True)
class PlannedRun(Resolved):
    """One run of a series."""

    @property
    def folder(self) -> str:
        """The name of the run's folder in the folder of the series."""
        return f"{self.problem.instance.split('/')[-1]}-seed{self.spec.general.seed}"

    @property
    def key(self) -> dict[str, str]:
        """What distinguishes the run from others of the series."""
        return {"instance": self.problem.instance, "seed": str(self.spec.general.seed)}

    def words(self) -> str:
        """Return the instance and the seed."""
        return f"{one_line(self.problem.instance)}, seed {self.spec.general.seed}"


@dataclass(frozen=True)
class SeriesPlan:
    """All runs of a series."""

    first: tuple[PlannedRun, ...]
    """The run of each instance with the first seed."""
    runs: int

    @classmethod
    def of(
        cls,
        instances: Sequence[str],
        runs: int,
        asked: Asked,
    ) -> Self:
        """Resolve the settings of all runs; refuse invalid ones before the first run."""
        named: list[dict[str, str]] = [{"instance": name} for name in instances] or [{}]
        first = list[PlannedRun]()
        for instance in named:
            made = load_and_resolve(asked.also(instance))
            first.append(PlannedRun(made.spec, made.problem))
        if first[1:] and any(job.spec.start for job in first):
            raise UsageError(
                "--start with several instances: a solution belongs to one instance. Leave it"
                " out, or name one instance"
            )
        _refuse_duplicates(first)
        first[-1].later(runs - 1)
        return cls(tuple(first), runs)

    def jobs(self) -> Iterator[PlannedRun]:
        """Yield the runs in order."""
        for number in range(self.runs):
            for job in self.first:
                yield job.later(number)

    def require_agreement(self, campaign: Campaign, folder: Path | None, *, force: bool) -> None:
        """Refuse ranks with different plans or folders; collective."""
        found = differences(
            campaign.world,
            {
                "the instances": ", ".join(job.folder for job in self.first),
                "the number of runs": self.runs,
                option("out"): str(folder),
                option("force"): force,
            },
        )
        if found:
            error = UsageError(
                f"the ranks would make different series of runs: {found}. Start all of them with"
                " the same options"
            )
            campaign.raise_together(error)

    def refuse_other(self, folder: Path, *, force: bool) -> None:
        """Refuse a folder with foreign files and, without `force`, one with other runs."""
        if not folder.exists():
            return
        for job in self.jobs():
            place = inside(folder, job.folder)
            if place.exists():
                refuse_other_run(place, force=True)
                if not force and (place / RUN_SETTINGS).exists():
                    _refuse_other(folder, job)


def _refuse_duplicates(jobs: Sequence[PlannedRun]) -> None:
    seen: dict[str, PlannedRun] = {}
    for job in jobs:
        other = seen.setdefault(job.folder, job)
        one, two = other.problem.instance, job.problem.instance
        if other is not job and one == two:
            raise UsageError(f"{one} is named twice. Name each instance once")
        if other is not job:
            raise UsageError(
                f"{one} and {two} would both have the folder {job.folder}. Run one of them in a"
                " series of its own"
            )


def _refuse_other(folder: Path, job: PlannedRun) -> None:
    """Refuse a job's folder that contains a run with other settings."""
    stored = Asked(config=require_intact(folder / job.folder))
    kept, asked = resolve(stored, job.problem).spec.to_mapping(), job.spec.to_mapping()
    if names := [name for name in differing(kept, asked) if name not in _OWN]:
        raise UsageError(
            f"--out {folder}: {job.folder} contains a run with other settings:"
            f" {', '.join(names)}. Name another folder, or pass --force to overwrite it"
        )


def row_of(result: Result) -> Row:
    """Return the row of a completed run; it is the same each time it is built."""
    settings = Path(str(result.folder), RUN_SETTINGS)
    asked = read_settings(settings.parent)
    with reading(settings):
        # The settings are written when a run begins or is resumed.
        started = datetime.fromtimestamp(settings.stat().st_mtime, UTC).astimezone()
    made = {
        "solution": " ".join(map(str, result.items() or [])),
        "started": started.isoformat(timespec="seconds"),
        "settings": json.dumps(asked),
    }
    cells = {name: made[name] if name in made else getattr(result, name) for name in COLUMNS}
    return {name: "" if cell is None else str(cell) for name, cell in cells.items()}


@dataclass(frozen=True)
class Series:
    """The results of all runs, in order, and their summaries."""

    folder: Path
    instances: int
    results: Sequence[Result]
    summaries: Sequence[Summary]
    """The summaries of the instances with at least one uninterrupted run."""
    interrupted: bool
    suspended: bool
    """Whether a signal ended the series."""

    @classmethod
    def of(
        cls,
        plan: SeriesPlan,
        folder: Path,
        results: Sequence[Result],
        ended_by: int,
    ) -> Self:
        """Return the series with a summary of each instance; `ended_by` are signals."""
        whole = [each for each in results if not (each.interrupted or each.suspended)]
        summaries = [
            Summary.of(runs, job.problem.scale)
            for job in plan.first
            if (runs := [each for each in whole if each.instance == job.problem.instance])
        ]
        ends = bool(ended_by & INTERRUPT), bool(ended_by & ~INTERRUPT)
        return cls(folder, len(plan.first), results, summaries, *ends)

    @property
    def write_error(self) -> str:
        """Why the last run could not write its files, which ended the series."""
        return self.results[-1].write_error if self.results else ""

    def require_solutions(self, hint: Callable[[str], str]) -> None:
        """Raise a `RunError` if all runs of an instance ended without a solution.

        `hint` returns the fix for a kind of problem. An interrupted series is accepted, as it may
        still find a solution.
        """
        if self.interrupted or self.suspended:
            return
        for summary in self.summaries:
            if summary.without_solution == summary.runs:
                runs = f"none of {summary.runs} runs" if summary.runs > 1 else "no run"
                words = f"{one_line(summary.instance)}: {runs} found a feasible solution"
                raise RunError(". ".join(filter(None, (words, hint(summary.problem)))))

    def to_json(self) -> str:
        """Return the series as one JSON object on one line."""
        summaries = [asdict(summary) for summary in self.summaries]
        whole: dict[str, Any] = {
            "runs": [result.to_mapping() for result in self.results],
            "instances": summaries,
            "folder": str(self.folder),
            "interrupted": self.interrupted,
            "suspended": self.suspended,
        }
        if self.instances == 1:
            whole |= {name: summaries[0][name] if summaries else None for name in _OF_ONE}
        return json.dumps(whole)


def run_series(
    plan: SeriesPlan, world: World, output: Output, rank_options: RankOptions = _DEFAULT
) -> Series:
    """Perform the missing runs and return the series, the same on every rank; collective."""
    campaign = Campaign(world, kind=FolderKind.SERIES)
    plan.require_agreement(campaign, output.folder, force=output.force)
    refuse = partial(plan.refuse_other, force=output.force)
    own = [job.folder for job in plan.jobs()]
    with (
        Interruption(suspends="ending the series of runs") as interruption,
        campaign.opened(output.folder, "several", refuse, own) as folder,
    ):
        return _Runs(plan, campaign, output, folder, rank_options, interruption).perform()


class _Runs:
    """Performs the runs and collects their results, the same on every rank."""

    def __init__(
        self,
        plan: SeriesPlan,
        campaign: Campaign,
        output: Output,
        folder: Path,
        rank_options: RankOptions,
        interruption: Interruption,
    ) -> None:
        self._interruption = interruption
        self._plan, self._campaign, self._world = plan, campaign, campaign.world
        self._output, self._folder, self._rank_options = output, folder, rank_options
        self._count = plan.runs * len(plan.first)
        self._results: list[Result] = []
        self._done = 0

    def perform(self) -> Series:
        """Perform the runs until all are done or a signal arrives; collective."""
        store, path = self._campaign.store, self._folder / SERIES_TABLE
        try:
            self._world.from_first(lambda: store.tabulate(path, COLUMNS, lambda _, row: row))
            ended_by = self._ended_by()
        except BaseException:
            self._print_continuation()
            raise
        series = Series.of(self._plan, self._folder, self._results, ended_by)
        if series.summaries:
            self._say(f"\n{table(series.summaries)}")
        if ended_by:
            self._print_continuation()
        else:
            self._campaign.end_work()
            self._say(f"\nWrote {self._folder}: {SERIES_TABLE}, and one folder per run")
        return series

    def _ended_by(self) -> int:
        """Perform the runs; return the signals that ended them."""
        limit = time_limit(self._plan.first[0].spec.stop)
        jobs, seconds = [*self._plan.jobs()], limit if math.isfinite(limit) else None
        for job in self._campaign.heartbeat.over(jobs, PlannedRun.words, seconds=seconds):
            if ended_by := self._campaign.received() or self._perform(job):
                return ended_by
        return 0

    def _perform(self, job: PlannedRun) -> int:
        """Perform or read a run, and keep its row; return the signal that ended it."""
        if not self._output.quiet:
            space = "\n" if self._results else ""
            self._say(f"{space}run {len(self._results) + 1} of {self._count}: {job.words()}\n")
        store = self._campaign.store
        known = self._world.from_first(lambda: store.known(job.key))
        result = self._result(job, known)
        self._results.append(result)
        if self._output.quiet:
            self._say(_words(result))
        if result.interrupted:
            return INTERRUPT
        if result.suspended or result.write_error:
            return 2 * INTERRUPT

        def keep() -> None:
            if (row := row_of(result)) != known:
                store.add(job.key, row)

        self._world.from_first(keep)
        self._done += 1
        return 0

    def _result(self, job: PlannedRun, known: Row | None) -> Result:
        """Return the result of a run: new, resumed, or already finished; collective."""
        folder, world, options = inside(self._folder, job.folder), self._world, self._rank_options
        # Without checkpoints (--async), there is nothing to resume from.
        force = self._output.force or options.asynchronous
        stream = None if self._output.quiet else self._output.stream
        output = replace(self._output, folder=folder, force=force, stream=stream)
        is_whole = known is not None and bool(known["cost"])
        goes_on = not self._output.force and (is_whole or not options.asynchronous)
        if not world.from_first(lambda: goes_on and (folder / RUN_SETTINGS).exists()):
            return run(job, world, output, options)
        self._campaign.heartbeat.skip()
        general = job.spec.general
        place = Asked({"backend": general.backend, "threads": general.threads})
        return resume_requested(folder, place, world, output, options)

    def _print_continuation(self) -> None:
        """Print the command that performs the remaining runs, if some are done."""
        if self._results:
            of = counted(self._count, "run")
            self._say(self._campaign.to_continue(self._done, of, force=self._output.force))

    def _say(self, text: str) -> None:
        stream = self._output.stream if self._world.rank == 0 else None
        with Screen(stream, None, failed=self._end_without_output) as screen:
            screen.say(text)

    def _end_without_output(self, _error: Exception, _is_log: bool) -> None:
        self._interruption.request(OUTPUT_LOST)


def _words(result: Result) -> str:
    """Return a result as a line."""
    cost = "no feasible solution" if result.cost is None else result.cost
    return (
        f"{one_line(result.instance)} seed {result.seed}: {cost}, gap {gap(result.gap)},"
        f" {count(result.evaluations)} evaluations, {result.seconds:.2f} s:"
        f" {one_line(result.reason)}"
    )
