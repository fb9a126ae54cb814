"""Colonies of different algorithms compared with each algorithm alone, at equal time.

Each instance is solved with the colonies together and with each of them on all islands, with
migration and without, for the same seeds. p is of Wilcoxon's signed-rank test against the colonies
together with migration, corrected by Holm's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from islands.bench.base import BenchRequest, BenchRow
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run.runner import Output, run_requested
from islands.spec.given import colonies as parsed
from islands.statistics.ranks import SIGNIFICANT, against, mean_ranks

_COLONIES = {
    "tsp": (
        "algorithm=brkga",
        "algorithm=ga encoding=permutation improver=two_opt population=64",
    ),
    "qap": ("algorithm=cellular", "algorithm=ga encoding=permutation improver=tabu population=64"),
    "mkp": ("algorithm=ga", "algorithm=pso population=64"),
}
"""The colonies that are compared on the problems of the package."""
_USUAL = ("algorithm=brkga", "algorithm=ga encoding=permutation population=64")
_SUBSET = ("algorithm=ga", "algorithm=pso")
_NUMBERS = ("algorithm=brkga", "algorithm=de")
_BY_KIND = {"order": _USUAL, "subset": _SUBSET, "keys": _NUMBERS, "vector": ("algorithm=de",)}


@dataclass(frozen=True)
class ColonyRow(BenchRow):
    """The runs of one method on one instance."""

    TABLE: ClassVar[str] = "colonies"
    HEADER: ClassVar[str] = (
        "instance           method                     migrates  runs       best          mean"
        "  mean gap  rank        p"
    )

    device: str
    instance: str
    method: str
    migrates: bool
    runs: int
    best: float | None
    mean: float | None
    mean_gap: float | None
    mean_rank: float
    """Mean rank of the method among all of the instance; 1 is the best."""
    p: float | None
    """Against the colonies together with migration."""
    costs: Sequence[float | None]
    """The cost of each seed."""
    generations: float
    seconds: float
    colonies: Sequence[Mapping[str, Any]]
    """The settings of the method."""

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        best = "-" if self.best is None else f"{self.best:g}"
        mean = "-" if self.mean is None else f"{self.mean:.1f}"
        gap = "-" if self.mean_gap is None else f"{self.mean_gap:.3f}"
        p = "-" if self.p is None else f"{self.p:.3g}{'*' if self.p < SIGNIFICANT else ''}"
        return (
            f"{self.instance:<18} {self.method:<26} {'yes' if self.migrates else 'no':>8}"
            f" {self.runs:>5} {best:>10} {mean:>13} {gap:>9} {self.mean_rank:>5.2f} {p:>8}"
        )


@dataclass(frozen=True)
class _Method:
    name: str
    colonies: Sequence[Mapping[str, Any]]
    migrates: bool


def measure(request: BenchRequest) -> Iterator[ColonyRow]:
    """Run all methods on each instance on the first backend."""
    problems = [load(name) for name in request.mixes]
    runs = 2 * (1 + len(request.colony or _USUAL)) * request.seeds
    for problem in request.heartbeat.over(
        problems, lambda each: each.instance, seconds=runs * request.limit
    ):
        methods = _methods(problem, request)
        results = [
            [_run(problem, request, each, seed) for each in methods]
            for seed in range(1, request.seeds + 1)
        ]
        yield from _rows(problem, methods, results)


def _methods(problem: Problem, request: BenchRequest) -> list[_Method]:
    """Return the colonies together, the first with migration, and each alone."""
    usual = _COLONIES.get(problem.name, _BY_KIND[problem.solution_kind])
    stated = parsed(list(request.colony or usual))
    if len(stated) < 2:
        raise UsageError(
            f"bench colonies: {problem.instance} has one colony. Name two or more with --colony"
        )
    share = max(1, request.islands_a_rank // len(stated))
    mixed = [{"islands": share, **each} for each in stated]
    islands = sum(int(each["islands"]) for each in mixed)
    found = [_Method("together", mixed, migrates) for migrates in (True, False)]
    for each in stated:
        alone = [{**each, "islands": islands}]
        name = " ".join(str(each.get(key, "")) for key in ("algorithm", "encoding")).strip()
        found += [_Method(name, alone, migrates) for migrates in (True, False)]
    return found


def _run(problem: Problem, request: BenchRequest, method: _Method, seed: int) -> Result:
    options: dict[str, Any] = {
        "instance": problem.instance,
        "backend": request.backends[0],
        "seed": seed,
        "stop": [f"seconds={request.limit:g}"],
        "colony": [dict(each) for each in method.colonies],
        "migration.topology": request.topology if method.migrates else "none",
        "migration.interval": request.interval,
        "migration.migrants": request.migrants,
    }
    if request.threads is not None:
        options["threads"] = request.threads
    request.heartbeat.detail(f"{method.name}, seed {seed}")
    result = run_requested(options, None, World(), Output(), problem, allow_no_solution=True)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def _rows(
    problem: Problem, methods: Sequence[_Method], results: Sequence[Sequence[Result]]
) -> Iterator[ColonyRow]:
    """Yield a row for each method; `results` has a row for each seed."""
    sign = -1 if problem.maximise else 1
    losses = np.array(
        [[inf if one.cost is None else sign * one.cost for one in row] for row in results]
    )
    ranks, p = mean_ranks(losses), against(losses, 0)
    for place, method in enumerate(methods):
        own = [row[place] for row in results]
        costs = [each.cost for each in own if each.cost is not None]
        gaps = [each.gap for each in own if each.gap is not None]
        yield ColonyRow(
            device=own[0].device,
            instance=problem.instance,
            method=method.name,
            migrates=method.migrates,
            runs=len(own),
            best=(max if problem.maximise else min)(costs, default=None),
            mean=fmean(costs) if costs else None,
            mean_gap=fmean(gaps) if gaps else None,
            mean_rank=ranks[place],
            p=p[place],
            costs=[each.cost for each in own],
            generations=fmean(each.generations for each in own),
            seconds=fmean(each.seconds for each in own),
            colonies=[dict(each) for each in method.colonies],
        )
