"""The figures that Munhão et al. 2019 printed, and facts that compare our rows with them.

They are of thirty runs of each instance, for the models m1 and m2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import hypot

from islands.studies.papers.cells import (
    Fact,
    Figures,
    TableRow,
    figures,
    matching,
    mean,
    named,
    numbers,
    printed_rows,
    significance,
)
from islands.studies.papers.orlib import ProblemKind
from islands.studies.papers.table import total
from islands.text import counted

MODELS = {"m1": "munhao2019-m1", "m2": "munhao2019-m2"}
"""The presets of the models."""
RUNS = 30
SPEEDUPS = {"m1": 4.15, "m2": 6.33}
"""Printed speed-ups of all sets over the paper's sequential program."""

_NOISE = 2.0
"""Standard errors of the difference of two means that count as noise."""


@dataclass(frozen=True)
class InstanceGroup:
    """A row of two tables of the paper, one for each model."""

    m: int
    n: int
    instances: tuple[str, ...]
    printed: Mapping[str, Figures]
    """The printed figures by model: gaps, of which `best` is the smallest of all runs of the group,
    milliseconds of a run, the speed-up over the paper's sequential program, and perhaps hits."""
    reference: int | None
    """The value that gaps refer to, if not the best known value."""


@cache
def orlib() -> Mapping[str, InstanceGroup]:
    """Return tables 1 and 2 by kind of problem."""

    def kind(row: Figures) -> ProblemKind:
        return ProblemKind(row["m"], row["n"], f"{row['alpha']:.2f}")

    return _groups("orlib", lambda row: kind(row).name, lambda row: kind(row).instances())


@cache
def sac94() -> Mapping[str, InstanceGroup]:
    """Return tables 3 and 4 by family and size."""
    return _groups(
        "sac94",
        lambda row: f"{row['family']} {row['m']} x {row['n']}",
        lambda row: tuple(f"sac94/{name}" for name in row["instances"].split()),
    )


@cache
def gk() -> Mapping[str, InstanceGroup]:
    """Return tables 5 and 6 by instance."""
    return _groups("gk", lambda row: row["instance"], lambda row: (f"gk/{row['instance']}",))


comparison = partial(figures, "munhao2019-comparison")
"""Return table 7, best gaps, by instance."""


def _groups(
    table: str,
    name: Callable[[Figures], str],
    instances: Callable[[Figures], tuple[str, ...]],
) -> dict[str, InstanceGroup]:
    models: dict[str, dict[str, Figures]] = {}
    groups = {}
    for row in printed_rows(f"munhao2019-{table}"):
        printed = models.setdefault(name(row), {})
        printed[row["model"]] = row
        groups[name(row)] = InstanceGroup(
            row["m"], row["n"], instances(row), printed, row.get("reference")
        )
    return groups


def set_facts(rows: Sequence[TableRow], parts: Sequence[TableRow]) -> list[Fact]:
    """Return the facts of each model, and those of both models."""
    facts = []
    for model in MODELS:
        mine = matching(rows, model=model)
        if numbers(mine, "mean"):
            facts += [mean_fact(model, mine), best_fact(model, mine)]
            facts += [*significance_facts(model, mine), *hit_facts(model, mine)]
    return [*facts, ratio_fact(rows), without_fact(parts)]


def mean_fact(model: str, rows: Sequence[TableRow]) -> Fact:
    """Return the mean gaps, and on how many rows ours is at most the printed one."""
    ours, paper = mean(rows, "mean"), mean(rows, "paper_mean")
    at_most, good = (sum(_is_as_good(row, noise) for row in rows) for noise in (0.0, _NOISE))
    return Fact(
        f"{model}: mean gaps {ours:.3f} % on average, of these rows in 2019 {paper:.3f} %; at"
        f" most the printed one on {at_most} of {counted(len(rows), 'row')}, or within {_NOISE:g}"
        f" standard errors above it on {good}",
        {
            f"mean_gap_{model}": ours,
            f"paper_mean_gap_{model}": paper,
            f"at_most_the_printed_{model}": at_most,
            f"as_good_{model}": good,
        },
    )


def best_fact(model: str, rows: Sequence[TableRow]) -> Fact:
    """Return on how many rows our best gap is at most the printed one."""
    pairs = numbers(rows, "best", "paper_best")
    # Printed best gaps are rounded.
    at_most = sum(round(ours, 6) <= round(paper, 6) for ours, paper in pairs)
    ours, paper = mean(rows, "best"), mean(rows, "paper_best")
    return Fact(
        f"{model}: best gaps {ours:.3f} % on average, of these rows in 2019 {paper:.3f} %; at most"
        f" the printed one on {at_most} of {counted(len(pairs), 'row')}",
        {f"best_as_good_{model}": at_most},
    )


def significance_facts(model: str, rows: Sequence[TableRow]) -> list[Fact]:
    """Return the tests of our gaps against the printed ones."""
    return [
        fact
        for which in ("mean", "best")
        for fact in significance(
            f"{which}_{model}",
            f"{model}: {which} gaps, ours against 2019",
            numbers(rows, which, f"paper_{which}"),
        )
    ]


def hit_facts(model: str, rows: Sequence[TableRow]) -> list[Fact]:
    """Return the number of hits of the optimum, if the paper prints it."""
    pairs = numbers(rows, "hits", "paper_hits")
    if not pairs:
        return []
    ours, paper = (sum(int(pair[which]) for pair in pairs) for which in (0, 1))
    reached, printed = (sum(pair[which] > 0 for pair in pairs) for which in (0, 1))
    sentence = (
        f"{model}: {ours} of {counted(total(rows, 'runs'), 'run')} reached the optimum, in 2019"
        f" {paper}; some run did on {reached} of {counted(len(pairs), 'row')}, in 2019 on {printed}"
    )
    values = {f"hits_{model}": ours, f"paper_hits_{model}": paper, f"rows_hit_{model}": reached}
    return [Fact(sentence, values)]


def ratio_fact(rows: Sequence[TableRow]) -> Fact:
    """Return the smallest and the largest ratio of times, and how many reach the target."""

    def ratio(row: TableRow) -> float:
        return numbers([row], "ratio")[0][0]

    least, most = min(rows, key=ratio), max(rows, key=ratio)
    enough = sum(found >= goal for found, goal in numbers(rows, "ratio", "wanted"))
    goals = sorted({int(goal) for (goal,) in numbers(rows, "wanted")})
    return Fact(
        f"the paper's milliseconds over ours: from {ratio(least):.0f} ({_named(least)}) to"
        f" {ratio(most):.0f} ({_named(most)}); the target, {' or '.join(map(str, goals))}, is"
        f" reached on {enough} of {counted(len(rows), 'row')}",
        {
            "least_ratio": ratio(least),
            "largest_ratio": ratio(most),
            "as_fast_as_wanted": enough,
        },
    )


def speedup_facts(rows: Sequence[TableRow], threads: Sequence[int]) -> list[Fact]:
    """Return our CPU's seconds over ours, and the printed speed-ups."""
    facts = []
    for model, printed in SPEEDUPS.items():
        mine = matching(rows, model=model)
        paper = mean(mine, "paper_speedup")
        means = {each: mean(mine, f"speedup_cpu_{each}") for each in threads}
        shown = "".join(
            f"our CPU with {counted(each, 'thread')} takes {value:.1f} times as long as ours; "
            for each, value in means.items()
        )
        sentence = (
            f"{model}: {shown}speed-up of these rows in 2019 {paper:.2f} on average, printed of"
            f" all sets {printed:.2f}"
        )
        values = {f"paper_speedup_{model}": paper, **named(f"speedup_{model}_cpu", means)}
        facts.append(Fact(sentence, values))
    return facts


def without_fact(parts: Sequence[TableRow]) -> Fact:
    """Return the number of runs without a feasible solution, by instance."""
    count, runs = total(parts, "without"), total(parts, "runs")
    names = [
        f"{row['instance']} {row['model']} ({row['without']})" for row in parts if row["without"]
    ]
    where = f": {', '.join(names)}" if names else ""
    return Fact(
        f"{count} of {counted(runs, 'run')} found no feasible solution{where}", {"without": count}
    )


def _is_as_good(row: TableRow, noise: float) -> bool:
    """Return whether our mean is at most the printed one plus `noise` standard errors."""
    errors = [hypot(*both) for both in numbers([row], "error", "paper_error")]
    return any(
        ours <= paper + noise * sum(errors) for ours, paper in numbers([row], "mean", "paper_mean")
    )


def _named(row: TableRow) -> str:
    return f"{row['group']} {row['model']}"
