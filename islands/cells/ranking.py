"""Rank the configurations of a tuning by the results of their runs, and print the ranking."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from islands import statistics
from islands.cells.configurations import Configuration, Values, words_of
from islands.cells.tuning import TaskResult
from islands.problems.base import Problem
from islands.progress.standings import BestCost
from islands.statistics import SIGNIFICANT, Losses, against, friedman, mean_ranks, percent_worse
from islands.tables import Column, header, line
from islands.text import count, counted, fitting, rounded

_TITLES = {"gap": "Gap (%)", "cost": "Cost", "evaluations": "Evaluations"}
_FORMS: dict[str, Callable[[float], str]] = {
    "gap": partial(rounded, digits=3),
    "cost": partial(fitting, width=10),
    "evaluations": rounded,
}

TaskResults = Mapping[tuple[int, str], TaskResult]
"""Results by number of the configuration and name of the instance."""


@dataclass(frozen=True)
class RankedConfiguration:
    """The results of one configuration on all instances."""

    configuration: int
    values: Values
    mean_rank: float
    """Mean rank over all blocks (an instance with a seed); 1 is the best."""
    loss: float | None
    """Mean gap in per cent, cost or evaluations of the runs that are not void.

    This and the standard deviation are means over the instances."""
    standard_deviation: float | None
    hits: int | None
    """Number of runs that reach the best known value; None if no instance has such a value."""
    void: int
    """Number of runs that found no feasible solution or, for `evaluations`, missed the target."""
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
    """Instances without a best known value; their gaps are relative to the best of these runs."""

    @classmethod
    def of(
        cls,
        configurations: Sequence[Configuration],
        problems: Mapping[str, Problem],
        results: TaskResults,
        metric: str,
    ) -> Self:
        """Rank the configurations by all runs; ties keep the order of the configurations."""
        losses = {
            name: _losses(problem, [results[c.number, name] for c in configurations], metric)
            for name, problem in problems.items()
        }
        blocks = np.concatenate(list(losses.values()))
        ranks = mean_ranks(blocks)
        order = sorted(range(len(ranks)), key=lambda column: (ranks[column], column))
        compared = against(blocks, order[0])
        are_profits = all(problem.maximise for problem in problems.values())
        sign = -1 if metric == "cost" and are_profits else 1

        def ranked(column: int) -> RankedConfiguration:
            configuration = configurations[column]
            tasks = {name: results[configuration.number, name] for name in problems}
            solved = [
                [loss for loss in rows[:, column].tolist() if math.isfinite(loss)]
                for rows in losses.values()
            ]
            loss = _mean(statistics.mean(runs) for runs in solved if runs)
            hits = [
                BestCost(problem, cost).has_reached_best_known
                for name, problem in problems.items()
                if problem.best_known is not None
                for cost in tasks[name].costs
            ]
            return RankedConfiguration(
                configuration=configuration.number,
                values=configuration.values,
                mean_rank=ranks[column],
                loss=None if loss is None else sign * loss,
                standard_deviation=_mean(map(statistics.deviation, solved)),
                hits=sum(hits) if hits else None,
                void=int(np.isinf(blocks[:, column]).sum()),
                evaluations=statistics.mean(statistics.mean(r.evaluations) for r in tasks.values()),
                seconds=statistics.mean(result.seconds for result in tasks.values()),
                p=compared[column],
            )

        return cls(
            metric=metric,
            ranked=tuple(map(ranked, order)),
            blocks=len(blocks),
            friedman=friedman(blocks),
            unknown=tuple(name for name, p in problems.items() if p.best_known is None),
        )


def _losses(problem: Problem, results: Sequence[TaskResult], metric: str) -> Losses:
    """Return the loss of each run: one row per seed, one column per configuration."""
    sign = -1 if problem.maximise else 1
    if metric == "evaluations":
        runs = [
            [number if is_done else math.inf for number, is_done in pairs]
            for pairs in (zip(r.evaluations, r.reached, strict=True) for r in results)
        ]
    else:
        runs = [[math.inf if cost is None else sign * cost for cost in r.costs] for r in results]
    losses: Losses = np.array(runs, np.float64).T
    solved = losses[np.isfinite(losses)]
    if metric != "gap" or not solved.size:
        return losses
    known = problem.best_known
    best = float(solved.min()) if known is None else sign * known.value
    # A gap in per cent is undefined if the best value is 0: the loss is then the cost itself.
    return np.asarray(percent_worse(losses, best))


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are known, if there are any."""
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def table(ranking: Ranking) -> str:
    """Return the lines at the end of a tuning: one row per configuration, and the test results."""
    title, form = _TITLES[ranking.metric], _FORMS[ranking.metric]
    columns = [
        Column("mean_rank", "Rank", 6, ".2f"),
        Column("configuration", "No", 4),
        Column("loss", title, 11, form),
        Column("standard_deviation", "Std dev", 10, form),
        Column("hits", "Hits", 5),
        Column("void", "Void", 5),
        Column("evaluations", "Evals", 6, count),
        Column("seconds", "Time", 8, "{:.3f}s".format),
        Column("p", "p", 7, ".2g"),
        Column("values", "Configuration", form="<", value=lambda row: words_of(row.values)),
    ]
    rows = [line(columns, row) for row in ranking.ranked]
    return "\n".join([*_legend(ranking), "", header(columns), *rows, "", _verdict(ranking)])


def _legend(ranking: Ranking) -> list[str]:
    runs = "without a feasible solution"
    if ranking.metric == "evaluations":
        runs = "that did not reach the target"
    lines = [
        f"Rank: mean over {counted(ranking.blocks, 'block')} (an instance with a seed); 1 is the"
        f" best of {len(ranking.ranked)}.",
        "Std dev: of the runs of an instance. p: Wilcoxon's signed-rank test against the best,"
        " corrected by Holm's method.",
        f"Void: runs {runs}, which rank last and do not count in the means.",
    ]
    if ranking.metric == "gap" and ranking.unknown:
        names = ", ".join(ranking.unknown)
        lines.append(f"No best known value; gaps are relative to the best of these runs: {names}.")
    return lines


def _verdict(ranking: Ranking) -> str:
    first, *rest = ranking.ranked
    if not rest:
        return f"Only configuration {first.configuration} is left."
    alike = [str(other.configuration) for other in rest if (other.p or 0) >= SIGNIFICANT]
    better = f"not significantly better than {', '.join(alike)}" if alike else "better than all"
    best = f"Configuration {first.configuration} ranks first, {better}."
    if ranking.friedman is None:
        return best
    differ = "differ" if ranking.friedman < SIGNIFICANT else "do not differ significantly"
    return f"The configurations {differ} (Friedman, p = {ranking.friedman:.2g}). {best}"
