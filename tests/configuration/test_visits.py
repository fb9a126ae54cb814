from __future__ import annotations

import numpy as np
import pytest

from islands.configuration.spec import Visits


def test_visits_always_advance() -> None:
    visits = Visits(migration_interval=None, record_every=10, last=25)
    assert [visits.after(g) for g in (0, 9, 10, 20, 24, 25)] == [10, 10, 20, 25, 25, 30]


def test_visits_without_rows_of_the_trace_are_migrations_and_the_last_generation() -> None:
    visits = Visits(migration_interval=7, record_every=10, last=32)
    assert [visits.after(g, 23) for g in (0, 7, 14, 21, 28, 30)] == [7, 14, 21, 28, 30, 32]


@pytest.mark.parametrize("interval", [None, 7])
@pytest.mark.parametrize("last", [None, 25, 30])
def test_visits_follow_each_other(interval: int | None, last: int | None) -> None:
    visits = Visits(interval, 10, last)
    visited, generation = [0], 0
    while generation < 60:
        generation = visits.after(generation)
        visited.append(generation)
    assert [g for g in range(61) if visits.include(g)] == [g for g in visited if g <= 60]
    together = visits.include(np.arange(61))
    assert np.flatnonzero(together).tolist() == [g for g in visited if g <= 60]
