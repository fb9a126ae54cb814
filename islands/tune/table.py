"""The table that a tuning ends with."""

from __future__ import annotations

from islands.text import count, counted
from islands.tune.configurations import words_of
from islands.tune.ranking import Ranking, Standing
from islands.tune.statistics import SIGNIFICANT

_TITLES = {"gap": "Gap", "cost": "Cost", "evaluations": "Evaluations"}
_DIGITS = {"gap": 3, "cost": 1, "evaluations": 0}
_VOID = {"evaluations": "What they had to reach was not reached"}


def table(ranking: Ranking) -> str:
    """Return the lines that end a tuning: a row a configuration, and what the tests say."""
    header = (
        f"  Rank    No |{_TITLES[ranking.metric]:>12}    Std dev    Hits |   Evals      Time"
        " |       p   Configuration"
    )
    rows = [_row(each, _DIGITS[ranking.metric]) for each in ranking.standings]
    return "\n".join([*_key(ranking), "", header, *rows, "", _verdict(ranking)])


def _key(ranking: Ranking) -> list[str]:
    lines = [
        f"Rank: mean over {counted(ranking.blocks, 'block')}, an instance with a seed each; 1 is"
        f" the best of {len(ranking.standings)}.",
        "Std dev: of the runs of an instance. p: Wilcoxon's signed-rank test against the first,"
        " corrected by Holm's method.",
    ]
    if ranking.metric == "gap":
        lines[1] = f"Gap: in per cent. {lines[1]}"
        if ranking.unknown:
            names = ", ".join(ranking.unknown)
            lines.append(f"Gaps to the best of these runs, as no better value is known: {names}.")
    lines += [
        f"{_VOID.get(ranking.metric, 'No feasible solution was met')} by {each.void} of the runs of"
        f" {each.configuration}: they rank last, and are no part of its means."
        for each in ranking.standings
        if each.void
    ]
    return lines


def _row(standing: Standing, digits: int) -> str:
    return (
        f"{standing.mean_rank:>6.2f} {standing.configuration:>5} |"
        f"{_rounded(standing.loss, digits):>12} {_rounded(standing.standard_deviation, digits):>10}"
        f" {'-' if standing.hits is None else standing.hits:>7} |"
        f" {count(standing.evaluations):>7} {standing.seconds:>8.3f}s |"
        f" {'-' if standing.p is None else f'{standing.p:.2g}':>7}   {words_of(standing.values)}"
    )


def _rounded(number: float | None, digits: int) -> str:
    return "-" if number is None else f"{number:.{digits}f}"


def _verdict(ranking: Ranking) -> str:
    first, *others = ranking.standings
    if not others:
        return f"Only configuration {first.configuration} is left."
    alike = [str(each.configuration) for each in others if (each.p or 0) >= SIGNIFICANT]
    better = f"not significantly better than {', '.join(alike)}" if alike else "better than all"
    best = f"The best is {first.configuration}, {better}."
    if ranking.friedman is None:
        return best
    differ = "differ" if ranking.friedman < SIGNIFICANT else "do not differ significantly"
    return f"The configurations {differ} (Friedman, p = {ranking.friedman:.2g}). {best}"
