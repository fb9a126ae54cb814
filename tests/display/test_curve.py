"""The course of a run in one line, from the rows of its log."""

from __future__ import annotations

import pytest

from islands.display.curve import curve, state_of_rows
from islands.display.screen import HEADER, KEY, row
from islands.progress.progress import Progress


def rows(costs: list[float | None], gap: float | None = 2.5) -> str:
    """Return the log of a run whose best costs these are, one a second."""
    found = [
        Progress(100 * nth, 5, float(nth), cost, 3, 1, 1e4, None if cost is None else gap)
        for nth, cost in enumerate(costs)
    ]
    lines = [
        row(each, found[nth - 1] if nth else None, is_kept=nth == 1)
        for nth, each in enumerate(found)
    ]
    return "\n".join(["ga on permutation", KEY, "", HEADER, *lines, ""])


def test_the_state_is_that_of_the_last_row() -> None:
    assert state_of_rows(rows([900, 500, 450, 400]), 40) == "3.0s: best 400, gap 2.50%  █▆▆▁"
    assert state_of_rows(rows([-7.5, -8.25], gap=None), 40) == "1.0s: best -8.25  █▁"


def test_rows_without_a_solution_are_left_out() -> None:
    assert state_of_rows(rows([None, None]), 40) == ""
    assert state_of_rows(rows([None, 8, 8]), 40).endswith("▁▁")
    assert state_of_rows("generations 5 | 3 | of a text\n", 40) == ""


@pytest.mark.parametrize(("count", "width"), [(1, 40), (7, 40), (40, 40), (1000, 40), (41, 8)])
def test_many_rows_are_as_wide_as_asked(count: int, width: int) -> None:
    falling = [1000.0 / (1 + nth) for nth in range(count)]
    drawn = curve(falling, width)
    assert len(drawn) == min(count, width)
    assert list(drawn) == sorted(drawn, reverse=True)
    assert drawn[-1] == "▁"
    rising = curve([-each for each in falling], width)  # of a profit
    assert rising == drawn
