"""Perform the missing runs of a tuning, rank the configurations, and write the files."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from islands import statistics
from islands.backends.base import Backend
from islands.cells.campaign import Campaign
from islands.cells.configurations import words_of
from islands.cells.ranking import RankedConfiguration, Ranking, table
from islands.cells.store import StoredResult, plain
from islands.cells.tuning import COLUMNS, TaskResult, Tuning, TuningTask, row_of
from islands.custom.signature import signed
from islands.custom.trust import references
from islands.display.standstill import remedy
from islands.engine.build import take_device
from islands.engine.repeats import Repeat, Repeats
from islands.engine.sharing import sharing_run
from islands.engine.single import Output
from islands.errors import IslandsError, RunError, UsageError
from islands.inside import inside
from islands.paths import publish, writing
from islands.problems.base import Problem
from islands.record.files import write_table
from islands.record.folder import (
    BEST,
    CONCLUSION,
    LEDGER,
    PROVENANCE,
    RANKING,
    TUNING_TABLE,
)
from islands.text import counted, fitting, gap, one_line


@dataclass(frozen=True)
class TuneResult:
    """The result of a tuning, the same on every rank."""

    folder: Path
    tuning: Tuning
    ranking: Ranking
    best: dict[str, Any]
    """The settings of the best configuration in the format of `islands run --config`."""
    left_out: Mapping[int, str]
    """The errors of configurations that were rejected when they ran, by number."""

    def to_json(self) -> str:
        """Return the tuning as one JSON object on one line."""
        candidates, rejected = self.tuning.candidates, self.left_out.items()
        left_out = [{"configuration": number, "reason": error} for number, error in rejected]
        whole = {
            "instances": [*self.tuning.problems],
            "runs": self.tuning.runs,
            "metric": self.ranking.metric,
            "blocks": self.ranking.blocks,
            "friedman_p": self.ranking.friedman,
            "configurations": [*map(vars, self.ranking.ranked)],
            "left_out": left_out,
            "rejected": candidates.rejected,
            "last_rejection": candidates.rejection or None,
            "best": self.best,
            "folder": str(self.folder),
        }
        return json.dumps(whole)


def tune(tuning: Tuning, output: Output, campaign: Campaign) -> TuneResult:
    """Perform all runs, report the results, and write the files; collective."""
    general = tuning.tasks[0].spec.general
    backend = take_device(campaign.world, general.backend, general.threads or None)
    reject = partial(_reject_earlier, force=output.force)
    with campaign.opened(output.folder, "tune", reject, force=output.force) as folder:
        performance = _Performance(tuning, output, campaign, backend)
        performance.perform()
        campaign.end_work()
        results, left_out = performance.results, performance.left_out
        every = tuning.candidates.configurations
        ranked = [configuration for configuration in every if configuration.number not in left_out]
        ranking = Ranking.of(ranked, tuning.problems, results, tuning.metric)
        campaign.world.run_on_all(lambda: _require_any(ranking, tuning.problems.values(), folder))
        best = every[ranking.ranked[0].configuration]
        settings = tuning.base.to_mapping(best.values, best.settings[0].spec)
        result = TuneResult(folder, tuning, ranking, settings, left_out)
        if campaign.world.rank == 0:
            _write(result)
        return result


def _reject_earlier(folder: Path, *, force: bool) -> None:
    """Reject a folder with a table, but without a store."""
    path = folder / TUNING_TABLE
    if path.exists() and not (force or (folder / LEDGER).exists()):
        raise UsageError(
            f"{path}: the folder has no {LEDGER}, from which a tuning continues. Copy that file"
            " too, name another folder, or pass --force to overwrite it"
        )


class _Performance:
    """Performs the missing runs, and collects the results of all tasks; collective."""

    def __init__(
        self, tuning: Tuning, output: Output, campaign: Campaign, backend: Backend
    ) -> None:
        self.results: dict[tuple[int, str], TaskResult] = {}
        self.left_out: dict[int, str] = {}
        self._tuning, self._tasks = tuning, tuning.tasks
        self._output, self._campaign, self._backend = output, campaign, backend
        self._share = tuning.runs > 1 and all(map(self._may_share, self._tasks))
        self._limit = max(task.time_limit for task in self._tasks)
        self._is_timed = any(math.isfinite(task.time_limit) for task in self._tasks)

    def _may_share(self, task: TuningTask) -> bool:
        try:
            return sharing_run(None, task, self._backend, has_own_kind=True) is not None
        except IslandsError:
            return True  # it is rejected when it runs

    def perform(self) -> None:
        """Perform the runs and report the tasks; if interrupted, report how to continue."""
        campaign, count = self._campaign, len(self._tasks)
        if campaign.world.rank == 0 and campaign.folder is not None:
            campaign.store.tabulate(campaign.folder / TUNING_TABLE, COLUMNS, row_of)
        self._report(self._header())
        seconds = self._limit * (1 if self._share else self._tuning.runs)
        limit = seconds if math.isfinite(seconds) else None
        pieces = campaign.heartbeat.over(self._tasks, TuningTask.words, seconds=limit)
        try:
            with campaign.receiving_signals("tuning"):
                next(pieces)
                for number, words in enumerate(self._lines(), 1):
                    self._report(f"[{number:>{len(str(count))}}/{count}] {words}")
                    next(pieces, None)
        except BaseException:
            if done := len(self.results):
                of = f"{counted(count, 'row')} of {TUNING_TABLE}"
                words = campaign.to_continue(done, of, force=self._output.force)
                campaign.print(words, self._output.stream)
            raise

    def _lines(self) -> Iterator[str]:
        """Yield a line about each task when it is done, beginning with the stored ones."""
        campaign, tasks, runs = self._campaign, self._tasks, self._tuning.runs
        keys = [task.store_key(runs, share=self._share) for task in tasks]
        known = campaign.world.bcast([*map(campaign.store.known, keys)])
        for task, stored in zip(tasks, known, strict=True):
            if stored is not None:
                campaign.heartbeat.skip()
                yield self._keep(task, stored, "done before")
        # If some runs cannot share their time, none does.
        sharers = runs if self._share else 1
        plan = Repeats(tasks, shares=self._share or not self._is_timed, sharers=sharers)
        left = (p for p, old in enumerate(known) if old is None and not self._is_left_out(tasks[p]))
        groups = ([(place, run) for run in range(runs)] for place in left)
        ended = defaultdict[int, dict[int, Repeat]](dict)
        for (place, run), repeat in campaign.cells(plan, groups, [self._backend], runs):
            task, repeats = tasks[place], ended[place]
            if self._is_left_out(task):
                continue
            if isinstance(repeat, IslandsError):
                yield self._leave_out(task, repeat)
                continue
            repeats[run] = repeat
            if len(repeats) == runs:
                stored = plain(vars(TaskResult.of(task, [repeats[k] for k in range(runs)])))
                campaign.store.add(keys[place], stored)
                del ended[place]
                yield self._keep(task, stored)

    def _is_left_out(self, task: TuningTask) -> bool:
        return task.configuration.number in self.left_out

    def _leave_out(self, task: TuningTask, error: IslandsError) -> str:
        """Skip a configuration rejected when it runs; raise if all are, or if a run failed."""
        configuration, candidates = task.configuration, self._tuning.candidates
        words = f"configuration {configuration.number} ({words_of(configuration.values)})"
        error = type(error)(f"{words} on {task.spec.instance}: {error}")
        self.left_out[configuration.number] = str(error)
        is_last = len(self.left_out) == len(candidates.configurations)
        if is_last or not isinstance(error, UsageError):
            self._campaign.world.agree_on(error)
        self._campaign.heartbeat.skip()
        return f"skipped: {error}"

    def _keep(self, task: TuningTask, stored: StoredResult, time: str = "") -> str:
        """Keep a result, and return a line about it and about adjusted settings."""
        result = self.results[task.key] = TaskResult(**stored)
        costs = [cost for cost in result.costs if cost is not None]
        gaps = [percent for cost in costs if (percent := task.problem.gap(cost)) is not None]
        words = f"mean {fitting(statistics.mean(costs), 10)}" if costs else "no feasible solution"
        words = f"gap {gap(statistics.mean(gaps))}" if gaps and len(gaps) == len(costs) else words
        time = time or f"{result.seconds * len(result.costs):.2f} s"
        adjusted = f"\n    {task.spec.adjusted}" if task.spec.adjusted else ""
        return (
            f"{one_line(task.problem.instance)}   {task.configuration.number}:"
            f" {words_of(task.configuration.values)}   {words}, {time}{adjusted}"
        )

    def _header(self) -> str:
        """Return the lines that describe the planned runs."""
        tuning, ranks, device = self._tuning, self._campaign.world.size, self._backend.device
        number = counted(len(tuning.candidates.configurations), "configuration")
        instances, runs = counted(len(tuning.problems), "instance"), counted(tuning.runs, "run")
        lines = [
            f"{number} (number 0: the given settings), {instances}, {runs} per configuration and"
            f" instance, {device}{f' on each of {ranks} ranks' if ranks > 1 else ''}"
        ]
        if self._share:
            seconds = " and the seconds of --stop" if self._is_timed else ""
            lines.append(f"The {runs} of a configuration share launches{seconds}")
        elif tuning.runs > 1 and self._is_timed:
            lines.append(
                "Runs are performed one after another: some configurations cannot share launches"
            )
        return "\n".join([*lines, ""])

    def _report(self, text: str) -> None:
        if not self._output.quiet:
            self._campaign.print(text, self._output.stream)


def _require_any(ranking: Ranking, problems: Iterable[Problem], folder: Path) -> None:
    """Refuse to rank configurations if no run of any of them has a valid result."""
    if any(row.void < ranking.blocks for row in ranking.ranked):
        return
    for name in (RANKING, CONCLUSION, BEST, PROVENANCE):  # from an earlier command
        with writing(folder / name):
            (folder / name).unlink(missing_ok=True)
    words = "found a feasible solution"
    hints = {remedy(problem) for problem in problems} - {""}
    if ranking.metric == "evaluations":
        words = "reached the target of --stop"
        hints = {"Allow longer runs, or choose an easier target"}
    what = f"{folder / TUNING_TABLE}: no run of any configuration {words}"
    raise RunError(". ".join([what, *sorted(hints)]))


def _write(result: TuneResult) -> None:
    """Write the ranking, and the settings of the best configuration."""
    import tomli_w

    folder, ranked = result.folder, result.ranking.ranked
    rows = [{**vars(row), "values": json.dumps(row.values)} for row in ranked]
    write_table(folder / RANKING, [field.name for field in fields(RankedConfiguration)], rows)
    best = (
        f"# Configuration {ranked[0].configuration}, the best of {len(ranked)}. Use it"
        f" with: islands run INSTANCE --config FILE\n{tomli_w.dumps(result.best)}"
    )
    # Sign a file that names scripts: they have just been run.
    best = signed(best) if any(references(result.best)) else best
    publish(inside(folder, CONCLUSION), table(result.ranking) + "\n")
    publish(inside(folder, BEST), best)
