"""Make the runs of a tuning that are not made, rank the configurations, and write the files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from islands import statistics
from islands.cells.campaign import Campaign
from islands.cells.configurations import Candidates
from islands.cells.ranking import RankedConfiguration, Ranking, TaskResults, table
from islands.cells.store import Made, plain
from islands.cells.tuning import (
    COLUMNS,
    Task,
    TaskResult,
    Tuning,
    asked_of,
    earlier_rows,
    made_of,
    row_of,
)
from islands.configuration.stop import time_limit
from islands.custom.trust import references, signed
from islands.errors import IslandsError, RunError, UsageError
from islands.inside import inside
from islands.paths import published, writing
from islands.problems.base import Problem
from islands.record.files import write_table
from islands.record.folder import BEST, CONCLUSION, PROVENANCE, RANKING, TUNING_TABLE, FolderKind
from islands.record.folder import refuse_other_work as refuse_unfit
from islands.run.repeats import Repeat
from islands.text import counted, fitting, gap, one_line, rounded

_SEQUENTIAL = (
    "Runs are made one after another, as some configurations cannot share launches, such as with a"
    " halo, given start solutions or costs in Python"
)


@dataclass(frozen=True)
class TuneOutput:
    """Where a tuning writes files and messages."""

    folder: Path | None
    """None creates a new one in `runs`."""
    force: bool
    say: Callable[[str], None]
    quiet: bool


@dataclass(frozen=True)
class TuneResult:
    """The result of a tuning, the same on every rank."""

    folder: Path
    instances: tuple[str, ...]
    runs: int
    ranking: Ranking
    best: dict[str, Any]
    """The settings of the best configuration in the form of `islands run --config`."""
    left_out: Mapping[int, str]
    """Errors of configurations that were refused when they ran, by number."""
    candidates: Candidates

    def to_json(self) -> str:
        """Return the tuning as one JSON object on one line."""
        whole = {"instances": self.instances, "runs": self.runs, **self.ranking.to_mapping()}
        whole["left_out"] = [
            {"configuration": number, "reason": reason} for number, reason in self.left_out.items()
        ]
        whole |= {
            "refused": self.candidates.refused,
            "last_refusal": self.candidates.refusal or None,
        }
        return json.dumps({**whole, "best": self.best, "folder": str(self.folder)})


def tune(tuning: Tuning, metric: str, output: TuneOutput, campaign: Campaign) -> TuneResult:
    """Make all runs, report each task, and write the files; collective."""
    folder = campaign.claim(output.folder, "tune", partial(_refuse_unfit, force=output.force))
    try:
        campaign.open(folder, force=output.force)
        try:
            results, left_out = _results(tuning, campaign, output)
        except BaseException:
            _print_continuation(tuning, campaign, output)
            raise
        campaign.end_work()
        fit = [each for each in tuning.candidates.configurations if each.number not in left_out]
        ranking = Ranking.of(fit, tuning.problems, results, metric)
        campaign.world.run_on_all(lambda: _require_any(tuning, ranking, folder))
        best = _best(tuning, ranking)
        if campaign.world.rank == 0:
            _write(folder, ranking, best)
    finally:
        campaign.close()
    return TuneResult(
        *(folder, tuple(tuning.problems), tuning.runs, ranking, best, left_out),
        tuning.candidates,
    )


def _refuse_unfit(folder: Path, *, force: bool) -> None:
    """Refuse a folder with other work, and a damaged table."""
    refuse_unfit(folder, FolderKind.TUNING)
    if not force:
        list(earlier_rows(folder / TUNING_TABLE))


@dataclass(frozen=True)
class TaskEnd:
    """What became of a task: its result, or why it cannot be made."""

    task: Task
    made: Made | None
    refusal: UsageError | None = None
    was_known: bool = False


def _results(
    tuning: Tuning, campaign: Campaign, output: TuneOutput
) -> tuple[TaskResults, dict[int, str]]:
    """Return the results of the tasks, and the errors of refused configurations by number."""
    _tabulate(campaign, force=output.force)
    if not output.quiet:
        output.say(header(tuning, campaign.world.size))
    results: dict[tuple[int, str], TaskResult] = {}
    left_out: dict[int, str] = {}
    tasks, candidates = tuning.tasks, len(tuning.candidates.configurations)
    pieces = campaign.heartbeat.over(
        tasks, partial(at_work, tuning=tuning), seconds=seconds_a_task(tuning)
    )
    with campaign.hearing("tuning"):
        ends = _task_ends(tuning, campaign, left_out)
        for (number, _), each in zip(enumerate(pieces, 1), ends, strict=False):
            task = each.task
            if each.made is not None:
                results[task.configuration.number, task.name] = TaskResult.read(each.made)
            elif each.refusal is not None:
                left_out[task.configuration.number] = str(each.refusal)
                if len(left_out) == candidates:
                    campaign.raise_together(each.refusal)
            if each.was_known or each.refusal is not None:
                campaign.heartbeat.skip()
            if not output.quiet:
                output.say(f"[{number:>{len(str(len(tasks)))}}/{len(tasks)}] {line(each)}")
    return results, left_out


def _task_ends(
    tuning: Tuning, campaign: Campaign, left_out: Mapping[int, str]
) -> Iterator[TaskEnd]:
    """Yield the tasks as they end, those of the folder first; collective.

    The caller adds the numbers of refused configurations to `left_out`, which then take no time.
    """
    tasks, ledger = tuning.tasks, campaign.ledger
    asked = [asked_of(task, tuning) for task in tasks]
    known = campaign.world.bcast([ledger.take(each) for each in asked])
    for task, made in zip(tasks, known, strict=True):
        if made is not None:
            yield TaskEnd(task, made, was_known=True)
    plan, repeats = tuning.plan(), dict[int, dict[int, Repeat]]()
    wanted = (
        place
        for place, made in enumerate(known)
        if made is None and tasks[place].configuration.number not in left_out
    )
    cells = plan.cells(wanted, tuning.runs)
    for (place, run), found in campaign.cells(plan, cells, [tuning.backend], tuning.runs):
        task = tasks[place]
        if task.configuration.number in left_out:
            continue
        if isinstance(found, IslandsError):
            error = _named(task, found)
            if isinstance(error, UsageError):
                yield TaskEnd(task, None, error)
                continue
            campaign.raise_together(error)
        own = repeats.setdefault(place, {})
        own[run] = found
        if len(own) == tuning.runs:
            del repeats[place]
            made = plain(made_of(task, [own[each] for each in range(tuning.runs)]))
            ledger.add(asked[place], made)
            yield TaskEnd(task, made)


def _tabulate(campaign: Campaign, *, force: bool) -> None:
    """Keep `tune.tsv`; the ledger gets the rows that an earlier version has written."""
    if campaign.world.rank > 0:
        return
    assert campaign.folder is not None
    path, ledger = campaign.folder / TUNING_TABLE, campaign.ledger
    if not (force or len(ledger)):
        ledger.adopt(earlier_rows(path))
    ledger.tabulate(path, COLUMNS, row_of)


def _named(task: Task, error: IslandsError) -> IslandsError:
    """Return an error with the configuration and the instance in its message."""
    each = task.configuration
    what = f"configuration {each.number} ({each.words()}) on {task.name}"
    return type(error)(f"{what}: {error}")


def _require_any(tuning: Tuning, ranking: Ranking, folder: Path) -> None:
    """Refuse to rank configurations if all runs of all of them are void."""
    if any(each.void < ranking.blocks for each in ranking.ranked):
        return
    for name in (RANKING, CONCLUSION, BEST, PROVENANCE):  # from an earlier command
        with writing(folder / name):
            (folder / name).unlink(missing_ok=True)
    words, hints = (
        "found a feasible solution",
        {each.words.infeasible_fix for each in tuning.problems.values()},
    )
    if ranking.metric == "evaluations":
        words, hints = (
            "reached the target of --stop",
            {"Let runs take longer, or choose an easier target"},
        )
    sentences = [
        f"{folder / TUNING_TABLE}: no run of any configuration {words}",
        *sorted(hints - {""}),
    ]
    raise RunError(". ".join(sentences))


def _best(tuning: Tuning, ranking: Ranking) -> dict[str, Any]:
    number = ranking.ranked[0].configuration
    best = next(task for task in tuning.tasks if task.configuration.number == number)
    return tuning.request.settings(best.configuration.values, best.spec)


def _print_continuation(tuning: Tuning, campaign: Campaign, output: TuneOutput) -> None:
    table = campaign.ledger.table
    if table is None:
        return
    done = sum(table.row(asked_of(task, tuning)) is not None for task in tuning.tasks)
    if done:
        of = f"{counted(len(tuning.tasks), 'row')} of {TUNING_TABLE}"
        output.say(campaign.to_continue(done, of, force=output.force))


def _write(folder: Path, ranking: Ranking, best: dict[str, Any]) -> None:
    import tomli_w

    first, *_ = ranking.ranked
    rows = [{**vars(each), "values": json.dumps(each.values)} for each in ranking.ranked]
    columns = [each.name for each in fields(RankedConfiguration)]
    write_table(folder / RANKING, columns, rows, sealed=False)
    with published(inside(folder, CONCLUSION)) as temporary:
        temporary.write_text(table(ranking) + "\n", encoding="utf-8")
    with published(inside(folder, BEST)) as temporary:
        text = (
            f"# Configuration {first.configuration}, the best of {len(ranking.ranked)}. Use it"
            " with: islands run INSTANCE --config FILE\n"
        )
        text += tomli_w.dumps(best)
        # Its scripts have just been run.
        temporary.write_text(signed(text) if any(references(best)) else text, encoding="utf-8")


# Messages before the runs and after each task.


def header(tuning: Tuning, ranks: int) -> str:
    """Return the lines that describe the planned runs."""
    candidates, runs = tuning.candidates, tuning.runs
    number, device = len(candidates.configurations), tuning.backend.device
    parts = [
        f"{counted(number, 'configuration')} (number 0: the given settings)",
        counted(len(tuning.problems), "instance"),
        f"{counted(runs, 'run')} per configuration and instance",
        f"{device} on each of {ranks} ranks" if ranks > 1 else device,
    ]
    lines = [", ".join(parts)]
    if candidates.refused:
        lines.append(refused(candidates))
    if tuning.batched:
        shared = " and the seconds of --stop" if tuning.is_timed else ""
        lines.append(f"The {runs} runs of a configuration share launches{shared}")
    elif runs > 1 and tuning.is_timed:
        lines.append(_SEQUENTIAL)
    return "\n".join([*lines, ""])


def refused(candidates: Candidates) -> str:
    """Return a line with the number of invalid configurations and the last error."""
    return f"{candidates.refused} others are invalid; the last one: {candidates.refusal}"


def at_work(task: Task, tuning: Tuning) -> str:
    """Return the description of a running task."""
    first, number = task.spec.general.seed, task.configuration.number
    seeds = f", seeds {first} to {first + tuning.runs - 1}" if tuning.batched else ""
    return f"configuration {number}, {one_line(task.problem.instance)}{seeds}"


def seconds_a_task(tuning: Tuning) -> float | None:
    """Return the maximum seconds of a task, if known."""
    limit = max(time_limit(task.spec.stop) for task in tuning.tasks)
    return limit * (1 if tuning.batched else tuning.runs) if math.isfinite(limit) else None


def line(end: TaskEnd) -> str:
    """Return the line of a finished task, with adjusted settings."""
    task = end.task
    if end.made is None:
        return f"skipped: {end.refusal}"
    result = TaskResult.read(end.made)
    adjusted = f"\n    {task.spec.adjusted}" if task.spec.adjusted else ""
    time = "done before" if end.was_known else f"{result.seconds * len(result.costs):.2f} s"
    return (
        f"{one_line(task.problem.instance)}   {task.configuration.number}:"
        f" {task.configuration.words()}   {_outcome(task.problem, result)}, {time}{adjusted}"
    )


def _outcome(problem: Problem, result: TaskResult) -> str:
    costs = [cost for cost in result.costs if cost is not None]
    gaps = [each for cost in costs if (each := problem.gap(cost)) is not None]
    if not costs:
        return "no feasible solution"
    if len(gaps) == len(costs):
        return f"gap {gap(statistics.mean(gaps))}"
    mean = statistics.mean(costs)
    return f"mean {rounded(mean, 1) if problem.scale.is_whole else fitting(mean, 10)}"
