"""Table 1: the lengths of the tours on the 21 national instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean, stdev
from typing import ClassVar

import numpy as np

from islands.errors import UsageError
from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.reproduce.cells import INSTANCE, Fact, TableRow, mean, mean_in_words, numbers
from islands.reproduce.selection import named
from islands.reproduce.significance import significance
from islands.reproduce.table import PaperTable
from islands.reproduce.xavier2019.figures import INTERPRETATIONS, MEAN_VALUES, printed
from islands.tables import Column
from islands.text import counted

NEAR_PERCENT = 5.0
NEAR_RATIO = 0.04
_PAIRS_AT_ONCE = 1 << 16
_PAPER = {"cuda_value": "brkgaCuda", "api_value": "brkgaAPI"}


class ValuesTable(PaperTable):
    """Our means and the paper's two values, and their ratios to a random tour."""

    name: ClassVar[str] = "values"
    title: ClassVar[str] = "table 1: tour values (only brkgaCuda's distances are not rounded)"
    interpretations: ClassVar[tuple[str, ...]] = (
        *INTERPRETATIONS,
        "the lengths of brkgaCuda are sums of distances that are not rounded; ours, like those of"
        " brkgaAPI, follow TSPLIB's rule",
    )
    preset: ClassVar[str] = "xavier2019"
    generations: ClassVar[int] = 1000
    runs: ClassVar[int] = 5

    @staticmethod
    def instances(index: Index) -> list[Found]:
        """Return the national instances of the paper."""
        return [named(name, index) for name in printed()]

    def columns(self) -> list[Column]:
        """Return the paper's two values, ours, and their ratios to a random tour."""
        return [
            *INSTANCE,
            Column("cuda_value", "brkgaCuda", 11, ".2f"),
            Column("api_value", "brkgaAPI", 8, ".0f"),
            Column("mean", "our mean", 10, ".1f"),
            Column("best", "our best", 8, "d"),
            Column("deviation", "st.dev.", 7, ".0f"),
            Column("runs"),
            Column("difference", "diff %", 6, "+.2f"),
            Column("random"),
            Column("ratio", "ratio", 5, ".3f"),
            Column("cuda_ratio", "Cuda's", 6, ".3f"),
            Column("api_ratio", "API's", 5, ".3f"),
        ]

    def rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with several seeds."""
        # NumPy computes random tours on one core while the GPU works.
        with ThreadPoolExecutor(1) as aside:
            random = aside.submit(mean_random_tour, problem)
            costs = self.experiment.costs(problem, self.runs)
        yield values_row(problem, costs, random.result())

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the comparison of our values with the paper's."""
        return values_facts(rows)


def values_row(problem: Problem, costs: Sequence[float], random: float) -> TableRow:
    """Return the row of an instance with the costs of our runs and a random tour's mean length."""
    paper = printed()[problem.instance]
    ours = fmean(costs)
    better = min(paper.cuda_value, paper.api_value)
    return {
        "instance": problem.instance,
        "cities": problem.size,
        "cuda_value": paper.cuda_value,
        "api_value": paper.api_value,
        "mean": ours,
        "best": min(costs),
        "deviation": stdev(costs) if len(costs) > 1 else None,
        "runs": len(costs),
        "difference": 100 * (ours / better - 1),
        "random": random,
        "ratio": ours / random,
        "cuda_ratio": paper.cuda_value / random,
        "api_ratio": paper.api_value / random,
    }


def values_facts(rows: Sequence[TableRow]) -> list[Fact]:
    """Return the number of instances near the paper's values, means, and Wilcoxon's tests."""
    near = sum(difference <= NEAR_PERCENT for (difference,) in numbers(rows, "difference"))
    ratios = numbers(rows, "ratio", "cuda_ratio", "api_ratio")
    on_curve = sum(ours <= max(paper) + NEAR_RATIO for ours, *paper in ratios)
    means = {name: mean(rows, name) for name in ("mean", *_PAPER)}
    is_whole = len(rows) == len(printed())
    theirs = ", ".join(
        f"{program} {mean_in_words(means[name], MEAN_VALUES[name], '.2f', is_whole=is_whole)}"
        for name, program in _PAPER.items()
    )
    facts = [
        Fact(
            "within_5_percent",
            near,
            f"our mean is at most {NEAR_PERCENT:g} % above the better of the paper's two values on"
            f" {near} of {counted(len(rows), 'instance')}",
        ),
        Fact(
            "ratio_within_0.04",
            on_curve,
            f"its ratio to a random tour is at most {NEAR_RATIO:g} above either of the paper's on"
            f" {on_curve} of {len(rows)}",
        ),
        Fact(
            "mean_value",
            means["mean"],
            f"mean values: ours {means['mean']:.2f}; of the paper's rows {theirs}",
        ),
    ]
    for name, program in _PAPER.items():
        ratios = numbers(rows, "ratio", name.replace("value", "ratio"))
        words = f"our means against {program}"
        facts += significance(name, words, numbers(rows, "mean", name), ratios)
    return facts


def mean_random_tour(problem: Problem) -> float:
    """Return the exact mean length of a random tour: n times the mean over all ordered pairs."""
    if not isinstance(problem, Tsp) or problem.near.metric != "EUC_2D":
        metric = problem.near.metric if isinstance(problem, Tsp) else problem.name
        raise UsageError(
            f"{problem.instance}: {metric}: mean random tours are computed only for EUC_2D."
            " Select other instances with --only"
        )
    x, y = np.ascontiguousarray(problem.arrays()[0].T.astype(np.float64))
    rows = max(1, _PAIRS_AT_ONCE // problem.size)
    total = 0
    for first in range(0, problem.size, rows):
        # Distances are symmetric: those to later rows count twice.
        distances = np.square(x[first : first + rows, np.newaxis] - x[first:])
        distances += np.square(y[first : first + rows, np.newaxis] - y[first:])
        np.sqrt(distances, out=distances)
        distances += 0.5
        np.floor(distances, out=distances)
        total += 2 * int(distances.sum()) - int(distances[:, :rows].sum())
    return total / (problem.size - 1)
