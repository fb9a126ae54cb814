"""Several runs, each in its own folder: all instances with one seed, then all with the next.

In this order, a slowdown of the machine affects all instances equally. An interrupted series
continues in its folder.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self

from islands.cells.campaign import Campaign
from islands.cells.store import DEVICE_SETTINGS, differing
from islands.cells.summary import Summary, table
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.configuration.stop import time_limit
from islands.display.screen import Screen
from islands.engine import runner
from islands.engine.build import RankOptions
from islands.engine.loading import load_and_resolve
from islands.engine.signals import INTERRUPT, OUTPUT_LOST, Interruption
from islands.engine.single import Output
from islands.errors import RunError, UsageError
from islands.inside import inside
from islands.parallel import World, differences
from islands.paths import reading
from islands.progress.result import HOW_TO_BE_FEASIBLE, Result
from islands.record.files import Row
from islands.record.folder import RUN_SETTINGS, SERIES_TABLE, FolderKind
from islands.record.folder import reject_unfit as reject_other_run
from islands.record.inputs import read_settings, require_intact
from islands.text import count, counted, gap, one_line, option

COLUMNS = (
    *("instance", "gap", "evaluations", "seconds", "cost", "solution", "backend", "device"),
    *("started", "seed", "generations", "reason", "digest", "settings"),
    *("bound", "bound_gap", "bound_kind"),
)
"""The columns of the table of a series."""
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
        """The key of the run in the store."""
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
    def of(cls, instances: Sequence[str], runs: int, request: Request) -> Self:
        """Resolve the settings of all runs; reject invalid ones before the first run."""
        requests = [request.also({"instance": name}) for name in instances] or [request]
        first = [PlannedRun(**vars(load_and_resolve(request))) for request in requests]
        if first[1:] and any(run.spec.start for run in first):
            raise UsageError(
                "--start with several instances: a solution belongs to one instance. Leave it"
                " out, or specify one instance"
            )
        _reject_duplicates(first)
        first[-1].later(runs - 1)
        return cls(tuple(first), runs)

    def planned(self) -> Iterator[PlannedRun]:
        """Yield the runs in order."""
        return (run.later(number) for number in range(self.runs) for run in self.first)

    def require_agreement(self, campaign: Campaign, folder: Path | None, *, force: bool) -> None:
        """Reject ranks with different plans or folders; collective."""
        facts = {
            "the instances": ", ".join(run.folder for run in self.first),
            "the number of runs": self.runs,
            option("out"): str(folder),
            option("force"): force,
        }
        if names := differences(campaign.world, facts):
            error = UsageError(
                f"the ranks would perform different series of runs: {names}. Start all of them with"
                " the same options"
            )
            campaign.world.agree_on(error)

    def reject_other(self, folder: Path, *, force: bool) -> None:
        """Reject a folder with foreign files and, without `force`, one with other runs."""
        if not folder.exists():
            return
        for run in self.planned():
            place = inside(folder, run.folder)
            if place.exists():
                reject_other_run(place, force=True)
                if not force and (place / RUN_SETTINGS).exists():
                    _reject_other(folder, run)


def _reject_duplicates(runs: Sequence[PlannedRun]) -> None:
    seen: dict[str, PlannedRun] = {}
    for run in runs:
        other = seen.setdefault(run.folder, run)
        first, second = other.problem.instance, run.problem.instance
        if other is not run and first == second:
            raise UsageError(f"{first} is named twice. Specify each instance once")
        if other is not run:
            raise UsageError(
                f"{first} and {second} would both have the folder {run.folder}. Run one of them in"
                " a series of its own"
            )


def _reject_other(folder: Path, run: PlannedRun) -> None:
    """Reject a folder that contains the same run with other settings."""
    stored = Request(config=require_intact(folder / run.folder))
    kept, wanted = resolve(stored, run.problem).spec.to_mapping(), run.spec.to_mapping()
    if names := [name for name in differing(kept, wanted) if name not in DEVICE_SETTINGS]:
        raise UsageError(
            f"--out {folder}: {run.folder} contains a run with other settings:"
            f" {', '.join(names)}. Specify another folder, or pass --force to overwrite it"
        )


def row_of(result: Result) -> Row:
    """Return the table row of a completed run, also for a result that was read from its folder."""
    settings = Path(str(result.folder), RUN_SETTINGS)
    request = read_settings(settings.parent)
    with reading(settings):
        # The settings are written when a run begins or is resumed.
        started = datetime.fromtimestamp(settings.stat().st_mtime, UTC).astimezone()
    cells = {name: getattr(result, name, None) for name in COLUMNS} | {
        "solution": " ".join(map(str, result.items() or [])),
        "started": started.isoformat(timespec="seconds"),
        "settings": json.dumps(request),
    }
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
    """Whether SIGINT interrupted the series, or anything else suspended it."""

    @classmethod
    def of(cls, plan: SeriesPlan, folder: Path, results: Sequence[Result], ended_by: int) -> Self:
        """Return the series with a summary of each instance; `ended_by` contains the signals."""
        ended = [result for result in results if not (result.interrupted or result.suspended)]
        summaries = [
            Summary.of(completed, first.problem.scale)
            for first in plan.first
            if (completed := [run for run in ended if run.instance == first.problem.instance])
        ]
        ends = bool(ended_by & INTERRUPT), bool(ended_by & ~INTERRUPT)
        return cls(folder, len(plan.first), results, summaries, *ends)

    @property
    def write_error(self) -> str:
        """The error in writing files of the last run, which ended the series; empty if none."""
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
                results = [r for r in self.results if r.instance == summary.instance]
                is_priced = any(result.violation > 0 for result in results)
                fix = HOW_TO_BE_FEASIBLE if is_priced else hint(summary.problem)
                raise RunError(". ".join(filter(None, (words, fix))))

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
    reject = partial(plan.reject_other, force=output.force)
    folders = [run.folder for run in plan.planned()]
    with (
        Interruption(suspends="ending the series of runs") as interruption,
        campaign.opened(output.folder, "several", reject, folders) as folder,
    ):
        return _Runs(plan, campaign, output, folder, rank_options, interruption).perform()


@dataclass
class _Runs:
    """Performs the runs and collects their results, the same on every rank."""

    plan: SeriesPlan
    campaign: Campaign
    output: Output
    folder: Path
    rank_options: RankOptions
    interruption: Interruption
    results: list[Result] = field(default_factory=list)
    done: int = 0

    def perform(self) -> Series:
        """Perform the runs until all are done or a signal arrives; collective."""
        campaign, path = self.campaign, self.folder / SERIES_TABLE
        tabulate = partial(campaign.store.tabulate, path, COLUMNS, lambda _, row: row)
        try:
            campaign.world.from_first(tabulate)
            ended_by = self._ended_by()
        except BaseException:
            self._print_continuation()
            raise
        series = Series.of(self.plan, self.folder, self.results, ended_by)
        if series.summaries:
            self._say(f"\n{table(series.summaries)}")
        if ended_by:
            self._print_continuation()
        else:
            campaign.end_work()
            self._say(f"\nWrote {self.folder}: {SERIES_TABLE}, and one folder per run")
        return series

    def _ended_by(self) -> int:
        """Perform the runs; return the signals that ended them."""
        limit = time_limit(self.plan.first[0].spec.stop)
        runs, seconds = [*self.plan.planned()], limit if math.isfinite(limit) else None
        for planned in self.campaign.heartbeat.over(runs, PlannedRun.words, seconds=seconds):
            if ended_by := self.campaign.received() or self._perform(planned, len(runs)):
                return ended_by
        return 0

    def _perform(self, planned: PlannedRun, count: int) -> int:
        """Perform or read one of `count` runs, and store it; return the signal that ended it."""
        if not self.output.quiet:
            space = "\n" if self.results else ""
            self._say(f"{space}run {len(self.results) + 1} of {count}: {planned.words()}\n")
        store, world = self.campaign.store, self.campaign.world
        known = world.from_first(lambda: store.known(planned.key))
        result = self._result(planned, known)
        self.results.append(result)
        if self.output.quiet:
            self._say(_words(result))
        if result.interrupted:
            return INTERRUPT
        if result.suspended or result.write_error:
            return 2 * INTERRUPT

        def keep() -> None:
            if (row := row_of(result)) != known:
                store.add(planned.key, row)

        world.from_first(keep)
        self.done += 1
        return 0

    def _result(self, planned: PlannedRun, known: Row | None) -> Result:
        """Return the result of a run: new, resumed, or already finished; collective."""
        folder, options = inside(self.folder, planned.folder), self.rank_options
        # Without checkpoints (--async), there is nothing to resume from.
        force = self.output.force or options.asynchronous
        stream = None if self.output.quiet else self.output.stream
        output = replace(self.output, folder=folder, force=force, stream=stream)
        is_whole = known is not None and bool(known["cost"])
        may_resume = not self.output.force and (is_whole or not options.asynchronous)
        world = self.campaign.world
        if not world.from_first(lambda: may_resume and (folder / RUN_SETTINGS).exists()):
            return runner.run(planned, world, output, options)
        self.campaign.heartbeat.skip()
        general = planned.spec.general
        device = Request({"backend": general.backend, "threads": general.threads})
        return runner.resume_requested(folder, device, world, output, options)

    def _print_continuation(self) -> None:
        """Print the command that performs the remaining runs, if some are done."""
        if self.results:
            of = counted(self.plan.runs * len(self.plan.first), "run")
            self._say(self.campaign.to_continue(self.done, of, force=self.output.force))

    def _say(self, text: str) -> None:
        def end(_error: Exception, _is_log: bool) -> None:
            self.interruption.request(OUTPUT_LOST)

        stream = self.output.stream if self.campaign.world.rank == 0 else None
        with Screen(stream, None, failed=end) as screen:
            screen.say(text)


def _words(result: Result) -> str:
    cost = "no feasible solution" if result.cost is None else result.cost
    return (
        f"{one_line(result.instance)} seed {result.seed}: {cost}, gap {gap(result.gap)},"
        f" {count(result.evaluations)} evaluations, {result.seconds:.2f} s:"
        f" {one_line(result.reason)}"
    )
