"""Xavier 2019: brkgaCuda against brkgaAPI on the national and the VLSI instances.

The printed figures are of one run of each program on each national instance; unlike brkgaAPI and
us, brkgaCuda did not round distances. The paper plots the times of VLSI instances, and prints only
mean speed-ups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import fmean, stdev
from typing import ClassVar

import numpy as np

from islands.errors import UsageError
from islands.instances.catalogue import catalogue
from islands.instances.formats import FOUND_BY_NAME
from islands.instances.locate import Found, Index
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.studies.papers.cells import (
    INSTANCE,
    Cell,
    Fact,
    Plot,
    TableRow,
    figures,
    mean,
    mean_in_words,
    mean_ratio,
    numbers,
    significance,
)
from islands.studies.papers.table import ALL_CORES, Paper, PaperTable, named
from islands.studies.papers.timing import SECONDS
from islands.tables import Column, Row
from islands.text import counted

INTERPRETATIONS = (
    "25.6 elites and 25.6 mutants are rounded down to 25",
    "the paper does not say who sends elites to whom; here each population receives the 2 best of"
    " every other one",
)
"""What was chosen where the paper is silent."""
MEAN_VALUES = {"cuda_value": 31_840_933.69, "api_value": 32_068_688.19}
"""Printed means of table 1."""
MEAN_SPEEDUPS = {1: 2.71, 4: 1.28, 8: 1.16}
"""Printed means of table 2: speed-ups of brkgaCuda over brkgaAPI by number of threads."""
PAPER_INSTANCES = 81
PAPER_LARGEST = 25_000
PAPER_SPEEDUPS = {1: 2.61, 4: 1.30, 8: 1.26}
"""The same of VLSI instances, from the paper's text."""

NEAR_PERCENT = 5.0
NEAR_RATIO = 0.04
_PAIRS_AT_ONCE = 1 << 16
_PAPER = {"cuda_value": "brkgaCuda", "api_value": "brkgaAPI"}
_API_THREADS = (1, 4, 8)

printed = partial(figures, "xavier2019-national")
"""Return the paper's figures by the full name of the instance, in the order of its table 1."""


class XavierTable(PaperTable):
    """What all tables have."""

    interpretations: ClassVar[tuple[str, ...]] = INTERPRETATIONS
    preset = "xavier2019"
    generations = 1000


def _problem(problem: Problem) -> Mapping[str, Cell]:
    return {"instance": problem.instance, "cities": problem.size}


def _values(costs: Sequence[float], random: float) -> Mapping[str, Cell]:
    """Return the cells of the costs of runs that found a feasible solution."""
    ours = fmean(costs)
    cells = {"mean": ours, "best": min(costs), "runs": len(costs)}
    return {**cells, "random": random, "ratio": ours / random}


class ValuesTable(XavierTable):
    """Table 1: our means and the paper's two values, and their ratios to a random tour."""

    name = "values"
    title = "table 1: tour values (only brkgaCuda's distances are not rounded)"
    interpretations = (
        *INTERPRETATIONS,
        "the lengths of brkgaCuda are sums of distances that are not rounded; ours, like those of"
        " brkgaAPI, follow TSPLIB's rule",
    )
    runs = 5
    names = staticmethod(printed)
    shown = (
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
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with several seeds."""
        # NumPy computes random tours on one core while the GPU works.
        with ThreadPoolExecutor(1) as aside:
            random = aside.submit(mean_random_tour, problem)
            costs = self.costs(problem)
        paper, tour = printed()[problem.instance], random.result()
        # By how many per cent our mean is above the better of the paper's two values.
        difference = 100 * (fmean(costs) / min(paper["cuda_value"], paper["api_value"]) - 1)
        yield self.filled(
            **_problem(problem),
            **{name: paper[name] for name in _PAPER},
            **_values(costs, tour),
            deviation=stdev(costs) if len(costs) > 1 else None,
            difference=difference,
            cuda_ratio=paper["cuda_value"] / tour,
            api_ratio=paper["api_value"] / tour,
        )

    def costs(self, problem: Problem) -> list[float]:
        """Return the costs of consecutive runs that found a feasible solution."""
        return [each.cost for each in self.results(problem) if each.cost is not None]

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of instances near the paper's values, means, and Wilcoxon's tests."""
        near = sum(difference <= NEAR_PERCENT for (difference,) in numbers(rows, "difference"))
        ratios = numbers(rows, "ratio", "cuda_ratio", "api_ratio")
        on_curve = sum(ours <= max(paper) + NEAR_RATIO for ours, *paper in ratios)
        ours, is_whole = mean(rows, "mean"), len(rows) == len(printed())
        means = {
            name: mean_in_words(mean(rows, name), value, is_whole=is_whole)
            for name, value in MEAN_VALUES.items()
        }
        theirs = ", ".join(f"{program} {means[name]}" for name, program in _PAPER.items())
        facts = [
            Fact(
                f"our mean is at most {NEAR_PERCENT:g} % above the better of the paper's two values"
                f" on {near} of {counted(len(rows), 'instance')}",
                {"within_5_percent": near},
            ),
            Fact(
                f"its ratio to a random tour is at most {NEAR_RATIO:g} above either of the paper's"
                f" on {on_curve} of {len(rows)}",
                {"ratio_within_0.04": on_curve},
            ),
            Fact(
                f"mean values: ours {ours:.2f}; of the paper's rows {theirs}",
                {"mean_value": ours},
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


class NationalTimesTable(XavierTable):
    """Table 2: our seconds of the 21 national instances, and the paper's four columns."""

    name = "times"
    title = "table 2: seconds of the generation loop"
    is_timed = True
    runs = 3
    names = staticmethod(printed)
    shown = (
        *INSTANCE,
        *SECONDS,
        Column("cuda_seconds", "brkgaCuda s", 11, ".2f"),
        *(Column(f"api_{each}_seconds", f"API {each} s", 7, ".2f") for each in _API_THREADS),
        Column("speedup_paper", "brkgaCuda/ours", 14, ".1f"),
    )
    plots = (
        Plot(
            {"cuda_seconds": "brkgaCuda 2019, MX150"}
            | {
                f"api_{each}_seconds": f"brkgaAPI 2019, {counted(each, 'thread')}"
                for each in _API_THREADS
            },
            "seconds",
            with_times=True,
        ),
    )

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Time an instance: the median of several runs."""
        if self.asked.backend == "cpu":
            results = [self.timed(problem, seed) for seed in self.seeds]
        else:
            results = self.results(problem)
        times, paper = self.time_cells(problem, results), printed()[problem.instance]
        ratio = paper["cuda_seconds"] / times["seconds"]
        yield self.filled(**{**paper, **_problem(problem), **times, "speedup_paper": ratio})

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the mean speed-ups over our CPU and over the paper's times."""
        ratio = mean_ratio(rows, "cuda_seconds", "seconds")
        sentence = f"mean of brkgaCuda's printed seconds over ours: {ratio:.1f}"
        over_paper = Fact(sentence, {"mean_speedup_paper": ratio})
        return [*self.speedup_facts(rows, MEAN_SPEEDUPS), over_paper]


class VlsiTable(XavierTable):
    """Seconds and costs of the VLSI instances whose files exist."""

    name = "vlsi"
    title = "VLSI instances: seconds and values"
    interpretations = (
        *INTERPRETATIONS,
        "the paper has a plot and means of 81 instances: a row for each one that is available",
    )
    is_timed = True
    runs = 1
    needs_all = False
    shown = (
        *INSTANCE,
        *SECONDS,
        Column("mean", "our mean", 10, ".1f"),
        *map(Column, ("best", "runs", "random")),
        Column("ratio", "ratio", 5, ".3f"),
    )
    plots = (Plot({}, "seconds", with_times=True),)

    @classmethod
    def names(cls) -> list[str]:
        """Return the instances of the catalogue."""
        return [entry.full_name for entry in catalogue().set("vlsi").entries.values()]

    @classmethod
    def instances(cls, index: Index) -> list[Found]:
        """Return the instances of the catalogue, and other files in a folder of the set."""
        others = index.others(FOUND_BY_NAME).items()
        return [
            *(named(name, index) for name in cls.names()),
            *(Found(name, path, None) for name, path in others if name.startswith("vlsi/")),
        ]

    def skip_reason(self, problem: Problem) -> str:
        """Return the reason to skip an instance that is larger than the paper's."""
        is_larger = problem.size > PAPER_LARGEST
        return f"the paper has no instance of {problem.size} cities" if is_larger else ""

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance."""
        results = self.results(problem)
        costs = [result.cost for result in results if result.cost is not None]
        times = self.time_cells(problem, results)
        values = _values(costs, mean_random_tour(problem))
        yield self.filled(**_problem(problem), **values, **times)

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the numbers of instances, and the mean speed-ups over our CPU."""
        absent = f"; missing: {', '.join(self.missing)}" if self.missing else ""
        known, ratio = len(catalogue().set("vlsi").entries), mean(rows, "ratio")
        sentence = (
            f"{counted(len(rows), 'instance')}; the paper has {PAPER_INSTANCES}, of which the"
            f" catalogue contains {known}{absent}"
        )
        return [
            Fact(sentence, {"instances": len(rows)}),
            Fact(f"mean ratio to a random tour: {ratio:.3f}", {"mean_ratio": ratio}),
            *self.speedup_facts(rows, PAPER_SPEEDUPS),
        ]


PAPER = Paper(
    "Xavier 2019, brkgaCuda (WSCAD 2019, doi:10.5753/wscad.2019.8653)",
    (ValuesTable, NationalTimesTable, VlsiTable),
    threads=(1, 4, 8, ALL_CORES),
    printed={"table1": "values", "table2": "times"},
)
