"""Munhão et al. 2019: a binary particle swarm on a GPU for the multidimensional knapsack.

The printed figures are of thirty runs of each instance, for the models m1 and m2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from math import hypot, sqrt
from typing import Any, ClassVar

from islands.cells.configurations import random
from islands.cells.domains import Range
from islands.configuration.request import Request
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.studies.papers.cells import Fact, Figures, TableRow, printed_rows
from islands.studies.papers.orlib import ProblemKind, first_names
from islands.studies.papers.rows import (
    average,
    least,
    matching,
    mean,
    named,
    numbers,
    significance,
    standard_error,
    total,
)
from islands.studies.papers.table import Paper, PaperTable, PooledTable
from islands.tables import Row
from islands.text import counted

MODELS = {"m1": "munhao2019-m1", "m2": "munhao2019-m2"}
"""The presets of the models."""
RUNS = 30
SPEEDUPS = {"m1": 4.15, "m2": 6.33}
"""Printed speed-ups of all sets over the paper's sequential program."""
GOAL = 100
"""The target speed-up over the paper's GPU."""
RANGES = {"c1": (0.5, 2.0), "c2": (0.5, 2.0), "penalty": (100.0, 500.0)}
"""The ranges that the paper drew from; only m1 has a penalty."""
RANDOM = 10
"""Number of random configurations. Number 0 is the paper's choice."""

_NOISE = 2.0
"""Standard errors of the difference of two means that count as noise."""
_OF_MODEL = {"m1": tuple(RANGES), "m2": ("c1", "c2")}
_SEED = 1
_DIGITS = 9  # gaps that differ only beyond these digits are equal


@dataclass(frozen=True)
class InstanceGroup:
    """A group of instances: a row of two tables of the paper, one for each model."""

    m: int
    n: int
    instances: tuple[str, ...]
    printed: dict[str, Figures]
    """The printed figures by model: gaps, of which `best` is the smallest of all runs of the group,
    milliseconds of a run, the speed-up over the paper's sequential program, and hits if given."""
    reference: int | None
    """The value to which gaps refer, unless it is the best known value."""


class ModelsTable(PooledTable):
    """Tables 1 to 6: both models on each group of instances of a set, ours and the printed ones."""

    goals: ClassVar[Mapping[str, int]] = {}
    """Target speed-ups of groups that differ from `GOAL`."""

    group_name: ClassVar[str]
    """The format of the names of groups, with columns of the printed figures in braces."""

    members: ClassVar[staticmethod[[Figures], tuple[str, ...]]]
    """Returns the instances of a row of printed figures."""

    @classmethod
    @cache
    def groups(cls) -> Mapping[str, InstanceGroup]:
        """Return the groups with the paper's figures, by name."""
        groups: dict[str, InstanceGroup] = {}
        for row in printed_rows(cls.theirs):
            group = InstanceGroup(row["m"], row["n"], cls.members(row), {}, row.get("reference"))
            name = cls.group_name.format(**row)
            groups.setdefault(name, group).printed[row["model"]] = row
        return groups

    @classmethod
    def names(cls) -> list[str]:
        """Return the instances of all groups."""
        return [name for group in cls.groups().values() for name in group.instances]

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the group that contains the instance."""
        return next(name for name, group in cls.groups().items() if instance in group.instances)

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with both models; time the CPU on the first instance of each group."""
        name = self.group(problem.instance)
        group, is_first = self.groups()[name], not matching(self.parts()[1], group=name)
        if (value := group.reference) is not None:
            problem = copy(problem)
            problem.best_known = BestKnown(value, "best_known", "reference of the paper's gaps")
        for model, preset in MODELS.items():
            sample = self.sample(problem, preset=preset)
            ours = self.seconds(sample)
            yield {
                "instance": problem.instance,
                "model": model,
                **sample.cells(ours),
                **(self.cpu_cells(problem, ours, preset=preset) if is_first else {}),
            }

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Yield the rows of a group, one for each model."""
        of = self.groups()[group]
        for model, paper in of.printed.items():
            model_parts = matching(parts, model=model)
            seconds = average(model_parts, "seconds") or 0.0
            milliseconds = type(seconds)(1000 * seconds)
            cpu = self.cpu_columns()
            yield self.filled(
                group=group,
                n=of.n,
                m=of.m,
                model=model,
                best=least(model_parts, "best_gap"),
                mean=average(model_parts, "mean_gap"),
                deviation=average(model_parts, "deviation"),
                error=standard_error(model_parts),
                **named("paper", paper),
                # The standard error of the mean over the instances.
                paper_error=float(paper["deviation"] / sqrt(RUNS * len(model_parts))),
                **{name: total(model_parts, name) for name in ("hits", "without", "runs")},
                milliseconds=milliseconds,
                ratio=float(paper["milliseconds"] / milliseconds),
                wanted=self.goals.get(group, GOAL),
                **{column.name: average(model_parts, column.name) for column in cpu},
                generations=max(total([row], "generations") for row in model_parts),
            )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the comparison of our gaps, times and hits with the paper's."""
        facts = []
        for model in MODELS:
            model_rows = matching(rows, model=model)
            if numbers(model_rows, "mean"):
                facts += [self.mean_fact(model, model_rows), self._best_fact(model, model_rows)]
                for which in ("mean", "best"):
                    words = f"{model}: our {which} gaps and those of the paper"
                    pairs = numbers(model_rows, which, f"paper_{which}")
                    facts += significance(f"{which}_{model}", words, pairs)
                facts += self._hit_facts(model, model_rows)
        facts += [self._ratio_fact(rows), self._without_fact()]
        return [*facts, *(self._speedup_fact(rows, *speedup) for speedup in SPEEDUPS.items())]

    @classmethod
    def mean_fact(cls, model: str, rows: Sequence[TableRow]) -> Fact:
        """Return the mean gaps, and the number of rows on which ours is at most the printed one."""
        ours, paper = mean(rows, "mean"), mean(rows, "paper_mean")
        at_most, good = (sum(_is_as_good(row, noise) for row in rows) for noise in (0.0, _NOISE))
        values = {"mean_gap": ours, "paper_mean_gap": paper}
        values |= {"at_most_the_printed": at_most, "as_good": good}
        return cls.fact("mean", rows, values, model, noise=_NOISE)

    def _best_fact(self, model: str, rows: Sequence[TableRow]) -> Fact:
        """Return the number of rows on which our best gap is at most the printed one."""
        pairs = numbers(rows, "best", "paper_best")
        # Printed best gaps are rounded.
        at_most = sum(round(ours, 6) <= round(paper, 6) for ours, paper in pairs)
        means = {"ours": mean(rows, "best"), "paper": mean(rows, "paper_best")}
        in_all = counted(len(pairs), "row")
        return self.fact("best", rows, {"best_as_good": at_most}, model, in_all=in_all, **means)

    def _hit_facts(self, model: str, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of hits of the optimum, if the paper prints it."""
        pairs = numbers(rows, "hits", "paper_hits")
        if not pairs:
            return []
        ours, paper = (sum(int(pair[which]) for pair in pairs) for which in (0, 1))
        reached, printed = (sum(pair[which] > 0 for pair in pairs) for which in (0, 1))
        values = {"hits": ours, "paper_hits": paper, "rows_hit": reached}
        words = {"runs": counted(total(rows, "runs"), "run"), "printed": printed}
        hit_rows = counted(len(pairs), "row")
        return [self.fact("hits", rows, values, model, hit_rows=hit_rows, **words)]

    def _ratio_fact(self, rows: Sequence[TableRow]) -> Fact:
        """Return the smallest and the largest ratio of times, and how many reach the target."""
        least, most = (pick(rows, key=lambda row: numbers([row], "ratio")) for pick in (min, max))
        enough = sum(ratio >= goal for ratio, goal in numbers(rows, "ratio", "wanted"))
        goals = sorted({str(int(goal)) for (goal,) in numbers(rows, "wanted")}, key=int)
        values = {"least_ratio": least["ratio"], "largest_ratio": most["ratio"]}
        values["as_fast_as_wanted"] = enough
        extremes = {"least": least, "most": most}
        words = {name: f"{row['group']} {row['model']}" for name, row in extremes.items()}
        return self.fact("ratio", rows, values, **words, goals=" or ".join(goals))

    def _speedup_fact(self, rows: Sequence[TableRow], model: str, printed: float) -> Fact:
        """Return the time on our CPU relative to ours, and the printed speed-ups."""
        model_rows = matching(rows, model=model)
        paper = mean(model_rows, "paper_speedup")
        means = {n: mean(model_rows, f"speedup_cpu_{n}") for n in self.request.threads}
        ours = "our CPU with {} takes {:.1f} times as long as our runs; "
        shown = "".join(ours.format(counted(k, "thread"), v) for k, v in means.items())
        values = {f"paper_speedup_{model}": paper, **named(f"speedup_{model}_cpu", means)}
        words = {"model": model, "shown": shown, "paper": paper, "printed": printed}
        return self.fact("speedup", model_rows, values, **words)

    def _without_fact(self) -> Fact:
        """Return the number of runs without a feasible solution, by instance."""
        _, parts = self.parts()
        name = "{instance} {model} ({without})".format_map
        names = [name(row) for row in parts if row["without"]]
        where = f": {', '.join(names)}" if names else ""
        values, runs = {"without": total(parts, "without")}, counted(total(parts, "runs"), "run")
        return self.fact("without", parts, values, runs=runs, where=where)


def _is_as_good(row: TableRow, noise: float) -> bool:
    """Return whether our mean is at most the printed one plus `noise` standard errors."""
    errors = [hypot(*both) for both in numbers([row], "error", "paper_error")]
    return any(
        ours <= paper + noise * sum(errors) for ours, paper in numbers([row], "mean", "paper_mean")
    )


class Sac94Table(ModelsTable, of="munhao2019/sac94"):
    """Instances from practice, with numbers of hits of the optimum."""

    members = staticmethod(lambda row: tuple(f"sac94/{name}" for name in row["instances"].split()))


class GkTable(ModelsTable, of="munhao2019/gk"):
    """Large instances, with gaps to the paper's reference values."""

    members = staticmethod(lambda row: (f"gk/{row['instance']}",))


class OrLibraryTable(ModelsTable, of="munhao2019/orlib"):
    """Random problems, ten of each size and tightness."""

    members = staticmethod(
        lambda row: ProblemKind(row["m"], row["n"], f"{row['alpha']:.2f}").instances()
    )


class ComparisonTable(PaperTable, of="munhao2019/comparison"):
    """Table 7: our best gaps with both models, and the three printed ones.

    The third is of the particle swarm of Hembecker et al. (2007).
    """

    def rows(self, problem: Problem) -> Iterator[Row]:
        """Run an instance with both models."""
        paper, cells = self.printed()[problem.instance], dict[str, Any]()
        samples = {model: self.sample(problem, preset=preset) for model, preset in MODELS.items()}
        for model, sample in samples.items():
            cells |= {
                f"{model}_best": sample.best,
                f"{model}_gap": sample.best_gap,
                f"{model}_paper_gap": paper[model],
                f"{model}_seconds": self.seconds(sample),
            }
        yield self.row(
            problem,
            samples["m1"],
            **cells,
            hembecker_gap=paper["hembecker"],
            generations=max(sample.generations for sample in samples.values()),
            runs=sum(sample.runs for sample in samples.values()),
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the number of instances on which each model is at least as good as the others."""
        facts = []
        for model in MODELS:
            gap, printed = f"{model}_gap", f"{model}_paper_gap"
            counts = {
                f"as_good_as_{name}": sum(one <= other for one, other in numbers(rows, gap, theirs))
                for name, theirs in (("printed", printed), ("hembecker", "hembecker_gap"))
            }
            facts.append(self.fact("model", rows, counts, model, mean=mean(rows, gap)))
            pairs = numbers(rows, gap, printed)
            facts += significance(model, f"{model}: our best gaps and those of the paper", pairs)
        return facts


class SearchTable(PooledTable, of="munhao2019/search"):
    """The paper's parameter search: the gaps of each configuration and its choice, best first."""

    names = staticmethod(first_names)

    @classmethod
    def group(cls, instance: str) -> str:
        """Return one group for all, as configurations are ranked on all instances."""
        return "all"

    def instance_rows(self, problem: Problem) -> Iterator[TableRow]:
        """Run an instance with each configuration of both models."""
        from scipy.stats import rankdata

        for model, preset in MODELS.items():
            rows = []
            for configuration in configurations(model):
                sample = self.sample(problem, preset=preset, **configuration)
                rows.append(sample.cells(self.seconds(sample)))
            # Equal losses share their mean rank.
            ranks = rankdata([_loss(row) for row in rows]).tolist()
            for number, (rank, row) in enumerate(zip(ranks, rows, strict=True)):
                first = {"instance": problem.instance, "model": model}
                yield {**first, "configuration": number, "rank": rank, **row}

    def pooled(self, group: str, parts: Sequence[TableRow]) -> Iterator[Row]:
        """Yield the configurations of each model by mean rank, best first."""
        for model in MODELS:
            rows = []
            for number, configuration in enumerate(configurations(model)):
                own_parts = matching(parts, model=model, configuration=number)
                rows.append(self._summary(model, number, configuration, own_parts))
            yield from sorted(rows, key=lambda row: numbers([row], "rank", "configuration"))

    def _summary(
        self, model: str, number: int, values: Mapping[str, float], parts: Sequence[TableRow]
    ) -> Row:
        return self.filled(
            model=model,
            configuration=number,
            **{name: values.get(name) for name in RANGES},
            mean=average(parts, "mean_gap"),
            rank=average(parts, "rank"),
            without=total(parts, "without"),
            instances=len(parts),
            generations=max(total([row], "generations") for row in parts),
            runs=total(parts, "runs"),
        )

    def facts(self, rows: Sequence[TableRow]) -> list[Fact]:
        """Return the best configuration of each model, and the rank of the paper's choice."""
        facts = []
        for model in MODELS:
            model_rows = matching(rows, model=model)
            ranks = [rank for (rank,) in numbers(model_rows, "rank")]
            paper = mean(matching(model_rows, configuration=0), "rank")
            place = 1 + sum(rank < paper for rank in ranks)
            others = ranks.count(paper) - 1
            shared = f", together with {counted(others, 'other')}" if others else ""
            best = ", ".join(f"{name} {model_rows[0][name]:.6g}" for name in _OF_MODEL[model])
            values, words = {"place_of_the_papers": place}, {"best": best, "shared": shared}
            facts.append(self.fact("place", model_rows, values, model, **words))
        return facts


@cache
def configurations(model: str) -> Sequence[Mapping[str, Any]]:
    """Return the paper's choice, then the configurations that `islands tune` draws with seed 1."""
    preset = Request({"preset": MODELS[model]}).values
    names = _OF_MODEL[model]
    domains = [Range(name, *RANGES[name]) for name in names]
    drawn = random(domains, RANDOM, _SEED, lambda values: tuple(values.items())).configurations[1:]
    return [{name: preset[name] for name in names}, *(c.values for c in drawn)]


def _loss(row: TableRow) -> float:
    """Return the mean gap of all runs; that of a run without a feasible solution is 100 %."""
    without, runs = total([row], "without"), total([row], "runs")
    loss = (runs - without) * sum(gap for (gap,) in numbers([row], "mean_gap"))
    return round((loss + 100 * without) / runs, _DIGITS)


PAPER = Paper.of("munhao2019", *(Sac94Table, GkTable, ComparisonTable, OrLibraryTable, SearchTable))
