"""Xavier 2019: brkgaCuda against brkgaAPI on the national and the VLSI instances.

The printed figures are of one run of each program on each national instance; unlike brkgaAPI and
us, brkgaCuda did not round distances. The paper plots the times of VLSI instances, and prints only
mean speed-ups.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean, stdev

import numpy as np

from islands.errors import UsageError
from islands.instances.catalogue import catalogue
from islands.instances.locate import Index, Located
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.studies.papers.cells import Cell, Fact, TableRow
from islands.studies.papers.experiment import RunResult
from islands.studies.papers.rows import mean, mean_ratio, numbers, significance
from islands.studies.papers.table import Paper, PaperTable, located
from islands.tables import Row

PAPER_LARGEST = 25_000
NEAR_PERCENT = 5.0
NEAR_RATIO = 0.04
_PAIRS_AT_ONCE = 1 << 16
_PROGRAMS = {"cuda": "brkgaCuda", "api": "brkgaAPI"}


def _costs(results: Sequence[RunResult]) -> list[float]:
    """Return the costs of runs that found a feasible solution."""
    return [result.cost for result in results if result.cost is not None]


def _values(problem: Problem, costs: Sequence[float], random: float) -> Mapping[str, Cell]:
    """Return the cells that describe an instance and the costs of its runs."""
    ours = {"mean": fmean(costs), "best": min(costs), "runs": len(costs)}
    return {"cities": problem.size, **ours, "random": random, "ratio": fmean(costs) / random}


class ValuesTable(PaperTable, of="xavier2019/values"):
    """Table 1: our means and the paper's two values, and their ratios to a random tour."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with several seeds."""
        # NumPy computes random tours on one core while the GPU works.
        with ThreadPoolExecutor(1) as aside:
            random = aside.submit(mean_random_tour, problem)
            costs = _costs(self.results(problem))
        paper, tour = self.printed()[problem.instance], random.result()
        better = min(paper["cuda_value"], paper["api_value"])
        yield self.row(
            problem,
            **paper | _values(problem, costs, tour),
            deviation=stdev(costs) if len(costs) > 1 else None,
            difference=100 * (fmean(costs) / better - 1),
            **{f"{name}_ratio": paper[f"{name}_value"] / tour for name in _PROGRAMS},
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of instances near the paper's values, means, and Wilcoxon's tests."""
        near = sum(difference <= NEAR_PERCENT for (difference,) in numbers(rows, "difference"))
        ratios = numbers(rows, "ratio", "cuda_ratio", "api_ratio")
        on_curve = sum(ours <= max(paper) + NEAR_RATIO for ours, *paper in ratios)
        curve = {"ratio_within_0.04": on_curve}
        facts = [
            self.fact("near", rows, {"within_5_percent": near}, percent=NEAR_PERCENT),
            self.fact("on_curve", rows, curve, ratio=NEAR_RATIO, on_curve=on_curve),
            self.fact("mean", rows, {"mean_value": mean(rows, "mean")}, **self.means_of(rows)),
        ]
        for name, program in _PROGRAMS.items():
            ratios = numbers(rows, "ratio", f"{name}_ratio")
            pairs = numbers(rows, "mean", f"{name}_value")
            facts += significance(f"{name}_value", f"our means and {program}'s", pairs, ratios)
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


class NationalTimesTable(PaperTable, of="xavier2019/times"):
    """Table 2: our seconds of the 21 national instances, and the paper's four columns."""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Time an instance: the median of several runs."""
        if self.request.backend == "cpu":
            results = [self.timed(problem, seed) for seed in self.seeds]
        else:
            results = self.results(problem)
        times, paper = self.time_cells(problem, results), self.printed()[problem.instance]
        cells = {**paper, "instance": problem.instance, "cities": problem.size, **times}
        yield self.filled(**cells, speedup_paper=paper["cuda_seconds"] / times["seconds"])

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean speed-ups over our CPU and over the paper's times."""
        ratio = {"mean_speedup_paper": mean_ratio(rows, "cuda_seconds", "seconds")}
        return [*self.speedup_facts(rows), self.fact("over_paper", rows, ratio)]


class VlsiTable(PaperTable, of="xavier2019/vlsi"):
    """Seconds and costs of the VLSI instances whose files exist."""

    @classmethod
    def names(cls) -> list[str]:
        """Return the instances of the catalogue."""
        return [entry.full_name for entry in catalogue().set("vlsi").entries.values()]

    @classmethod
    def instances(cls, index: Index) -> list[Located]:
        """Return the instances of the catalogue, and other files in a folder of the set."""
        others = index.others().items()
        return [
            *(located(name, index) for name in cls.names()),
            *(Located(name, path, None) for name, path in others if name.startswith("vlsi/")),
        ]

    def skip_reason(self, problem: Problem) -> str:
        """Return the reason to skip an instance that is larger than the paper's."""
        is_larger = problem.size > PAPER_LARGEST
        return f"the paper has no instance of {problem.size} cities" if is_larger else ""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance."""
        results = self.results(problem)
        values = _values(problem, _costs(results), mean_random_tour(problem))
        yield self.row(problem, **values, **self.time_cells(problem, results))

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the numbers of instances, and the mean speed-ups over our CPU."""
        absent = f"; missing: {', '.join(self.missing)}" if self.missing else ""
        known = len(catalogue().set("vlsi").entries)
        return [
            self.fact("instances", rows, {"instances": len(rows)}, known=known, absent=absent),
            self.fact("ratio", rows, {"mean_ratio": mean(rows, "ratio")}),
            *self.speedup_facts(rows),
        ]


PAPER = Paper.of("xavier2019", ValuesTable, NationalTimesTable, VlsiTable)
