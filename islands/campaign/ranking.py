"""Rank the configurations of a tuning by the results of their runs, and print the ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from islands import statistics
from islands.campaign.configurations import Configuration, Values, words_of
from islands.campaign.tuning import TaskResult
from islands.problems.base import Problem
from islands.progress.standings import Standing
from islands.statistics import SIGNIFICANT, Losses, against, friedman, mean_ranks, percent_worse
from islands.tables import Column, header, line
from islands.text import count, counted, fitting, rounded


class _Metric(NamedTuple):
    title: str
    form: Callable[[float], str]
    void: str = "No feasible solution was found"


_METRICS = {
    "gap": _Metric("Gap", partial(rounded, digits=3)),
    "cost": _Metric("Cost", partial(fitting, width=10)),
    "evaluations": _Metric("Evaluations", rounded, "The target was not reached"),
}

TaskResults = Mapping[tuple[int, str], TaskResult]
"""Results by number of the configuration and name of the instance."""


@dataclass(frozen=True)
class RankedConfiguration:
    """The results of one configuration on all instances."""

    configuration: int
    values: Values
    mean_rank: float
    """Mean over all blocks; 1 is the best."""
    loss: float | None
    """Mean gap in per cent, cost or evaluations of the runs that are not void.

    The mean over the instances, like the standard deviation of an instance's runs."""
    standard_deviation: float | None
    hits: int | None
    """Runs at least as good as the best known value; None if no instance has one."""
    void: int
    """Runs without a feasible solution or, with metric `evaluations`, that missed the target."""
    evaluations: float
    """Mean evaluations of a run."""
    seconds: float
    """Mean seconds of a run."""
    p: float | None
    """The p-value against the best configuration; None for the best itself."""


@dataclass(frozen=True)
class Ranking:
    """All configurations, best first."""

    metric: str
    ranked: tuple[RankedConfiguration, ...]
    blocks: int
    friedman: float | None
    """The p-value of Friedman's test."""
    unknown: tuple[str, ...]
    """Instances without a best known value; their gaps are to the best of these runs."""

    @classmethod
    def of(
        cls,
        configurations: Sequence[Configuration],
        problems: Mapping[str, Problem],
        cells: TaskResults,
        metric: str,
    ) -> Self:
        """Rank the configurations by all runs; ties keep the order of the configurations."""
        losses = {
            name: _losses(problem, [cells[each.number, name] for each in configurations], metric)
            for name, problem in problems.items()
        }
        blocks = np.concatenate(list(losses.values()))
        ranks = mean_ranks(blocks)
        order = sorted(range(len(ranks)), key=lambda column: (ranks[column], column))
        compared = against(blocks, order[0])
        sign = -1 if metric == "cost" and all(each.maximise for each in problems.values()) else 1

        def ranked(column: int) -> RankedConfiguration:
            each = configurations[column]
            own = {name: cells[each.number, name] for name in problems}
            means, deviations = _means(rows[:, column] for rows in losses.values())
            return RankedConfiguration(
                configuration=each.number,
                values=each.values,
                mean_rank=ranks[column],
                loss=sign * statistics.mean(means) if means else None,
                standard_deviation=statistics.mean(deviations) if deviations else None,
                hits=_hits(problems, own),
                void=int(np.isinf(blocks[:, column]).sum()),
                evaluations=statistics.mean(
                    statistics.mean(cell.evaluations) for cell in own.values()
                ),
                seconds=statistics.mean(cell.seconds for cell in own.values()),
                p=compared[column],
            )

        return cls(
            metric=metric,
            ranked=tuple(ranked(column) for column in order),
            blocks=len(blocks),
            friedman=friedman(blocks),
            unknown=tuple(name for name, each in problems.items() if each.best_known is None),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the ranking as values for JSON."""
        return {
            "metric": self.metric,
            "blocks": self.blocks,
            "friedman_p": self.friedman,
            "configurations": [vars(each) for each in self.ranked],
        }


def _losses(problem: Problem, cells: Sequence[TaskResult], metric: str) -> Losses:
    """Return the loss of each run: one row per seed, one column per configuration."""
    sign = -1 if problem.maximise else 1
    if metric == "evaluations":
        runs = [
            [number if is_done else math.inf for number, is_done in pairs]
            for pairs in (zip(each.evaluations, each.reached, strict=True) for each in cells)
        ]
    else:
        runs = [[math.inf if cost is None else sign * cost for cost in c.costs] for c in cells]
    losses: Losses = np.array(runs, np.float64).T
    solved = losses[np.isfinite(losses)]
    if metric != "gap" or not solved.size:
        return losses
    known = problem.best_known
    best = float(solved.min()) if known is None else sign * known.value
    # A gap in per cent is undefined if the best value is 0: the loss is then the cost itself.
    return np.asarray(percent_worse(losses, best))


def _means(losses: Iterable[Losses]) -> tuple[list[float], list[float]]:
    """Return means and standard deviations of the runs of each instance that has solutions."""
    solved = [[float(loss) for loss in runs if math.isfinite(loss)] for runs in losses]
    means = [statistics.mean(runs) for runs in solved if runs]
    deviations = [statistics.deviation(runs) for runs in solved]
    return means, [each for each in deviations if each is not None]


def _hits(problems: Mapping[str, Problem], cells: Mapping[str, TaskResult]) -> int | None:
    hits = [
        Standing(problem, cost).has_reached_best_known
        for name, problem in problems.items()
        if problem.best_known is not None
        for cost in cells[name].costs
    ]
    return sum(hits) if hits else None


def table(ranking: Ranking) -> str:
    """Return the lines at the end of a tuning: one row per configuration, and the test results."""
    metric = _METRICS[ranking.metric]
    columns = [
        Column("mean_rank", "Rank", 6, ".2f"),
        Column("configuration", "No", 4),
        Column("loss", metric.title, 11, metric.form),
        Column("standard_deviation", "Std dev", 10, metric.form),
        Column("hits", "Hits", 5),
        Column("evaluations", "Evals", 6, count),
        Column("seconds", "Time", 8, "{:.3f}s".format),
        Column("p", "p", 7, ".2g"),
        Column("values", "Configuration", form="<", value=lambda each: words_of(each.values)),
    ]
    rows = [line(columns, each) for each in ranking.ranked]
    return "\n".join([*_legend(ranking), "", header(columns), *rows, "", _verdict(ranking)])


def _legend(ranking: Ranking) -> list[str]:
    lines = [
        f"Rank: mean over {counted(ranking.blocks, 'block')} (an instance with a seed); 1 is the"
        f" best of {len(ranking.ranked)}.",
        "Std dev: of the runs of an instance. p: Wilcoxon's signed-rank test against the best,"
        " corrected by Holm's method.",
    ]
    if ranking.metric == "gap":
        lines[1] = f"Gap: in per cent. {lines[1]}"
        if ranking.unknown:
            names = ", ".join(ranking.unknown)
            lines.append(f"No best known value, gaps are to the best of these runs: {names}.")
    lines += [
        f"{_METRICS[ranking.metric].void} by {each.void} of the runs"
        f" of configuration {each.configuration}: these rank last and do not count in its means."
        for each in ranking.ranked
        if each.void
    ]
    return lines


def _verdict(ranking: Ranking) -> str:
    first, *others = ranking.ranked
    if not others:
        return f"Only configuration {first.configuration} is left."
    alike = [str(each.configuration) for each in others if (each.p or 0) >= SIGNIFICANT]
    better = f"not significantly better than {', '.join(alike)}" if alike else "better than all"
    best = f"Configuration {first.configuration} ranks first, {better}."
    if ranking.friedman is None:
        return best
    differ = "differ" if ranking.friedman < SIGNIFICANT else "do not differ significantly"
    return f"The configurations {differ} (Friedman, p = {ranking.friedman:.2g}). {best}"
