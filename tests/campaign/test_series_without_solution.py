"""Series with runs that found no feasible solution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from results_for_tests import result, summary

from islands.campaign.series import Series
from islands.campaign.summary import Summary, table
from islands.errors import RunError
from islands.run import request as request


@pytest.mark.parametrize(
    ("without_solution", "message"),
    [
        (0, None),
        (1, None),
        (2, r"fake/five: none of 2 runs found a feasible solution\. Fix tsp$"),
    ],
)
def test_a_series_without_any_solution_is_an_error(
    without_solution: int, message: str | None
) -> None:
    costs = [None] * without_solution + [200] * (2 - without_solution)
    runs = [result(cost=cost, gap=None, solution=None) for cost in costs]
    summary_of_both = Summary.of(runs, maximise=True)
    series = Series(
        Path("a"), 1, runs, [summary(210), summary_of_both], interrupted=False, suspended=False
    )
    for cut_short in ({"interrupted": True}, {"suspended": True}):
        replace(series, **cut_short).require_solutions("Fix {}".format)
    if message is None:
        series.require_solutions("Fix {}".format)
    else:
        with pytest.raises(RunError, match=message):
            series.require_solutions("Fix {}".format)


def test_a_summary_without_solutions_shows_dashes() -> None:
    nothing = Summary.of([result(cost=None, gap=None, solution=None)] * 2, maximise=True)
    assert (nothing.runs, nothing.without_solution, nothing.hits) == (2, 2, 0)
    assert (nothing.best, nothing.mean, nothing.gap_mean, nothing.standard_deviation) == (None,) * 4
    lines = table([nothing, summary(210)]).split("\n")
    assert len(lines[3]) == len(lines[4]) == len(lines[2])
    assert lines[3].split()[:8] == ["fake/five", "2", "|", "-", "-", "|", "-", "-"]
    assert lines[5].startswith("fake/five: 2 of 2 runs found no feasible solution")
