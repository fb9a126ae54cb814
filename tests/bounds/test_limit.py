"""The time that a bound may take."""

from __future__ import annotations

import time

import pytest

from islands.bounds.pricing import Limit


def test_a_part_is_a_share_of_the_time_that_is_left() -> None:
    whole = Limit(1000.0, lambda: False, time.perf_counter() - 400)
    assert whole.left == pytest.approx(600, abs=30)
    assert whole.share == pytest.approx(0.4, abs=0.03)
    assert whole.part(0.5).left == pytest.approx(300, abs=30)
    over = Limit(1000.0, lambda: False, time.perf_counter() - 1000)
    assert (over.left, over.share, over.part(0.5).left) == (0.0, 1.0, 0.0)


def test_a_stopped_limit_has_no_time_left() -> None:
    stopped = list[bool]()
    limit = Limit(1000.0, lambda: bool(stopped))
    part = limit.part(0.5)
    assert part.left > 400
    stopped.append(True)
    assert (limit.left, limit.share, part.left, part.share) == (0.0, 1.0, 0.0, 1.0)
