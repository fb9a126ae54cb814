"""`islands bench gpus`: numbers of ranks compared, and its rows compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from results_for_tests import LIMIT, gpu_row

from islands.bench import gpus
from islands.bench.base import BenchRequest
from islands.bench.gpus_rows import (
    SPEED,
    GpuMeansRow,
    GpuRunRow,
    GpuSpeedRow,
    GpuTargetRow,
    digests,
)
from islands.parallel import world


def request(**options: Any) -> BenchRequest:
    usual: dict[str, Any] = {"limit": 0.2, "seeds": 1, "threads": 1, "of": ("demo/qap",)}
    return BenchRequest(world(), ["cpu"], **(usual | options))


@pytest.mark.slow
@pytest.mark.mpi(min_size=2)
def test_all_numbers_of_ranks_have_the_same_solutions() -> None:
    ranks = world()
    rows = [*gpus.measure(request(stop=3, variant=("islands=1 population=8",)))]
    assert ranks.allgather(rows) == [rows] * ranks.size
    sizes = sorted({1, 2, ranks.size})
    speed = [row for row in rows if isinstance(row, GpuSpeedRow)]
    assert [(row.ranks, row.digests) for row in speed] == [
        (each, "-" if each == 1 else "same") for each in sizes
    ]
    runs = [row for row in rows if isinstance(row, GpuRunRow) and row.purpose == SPEED]
    assert [row.ranks for row in runs] == sizes
    assert len({row.digest for row in runs}) == 1
    for row in runs:
        assert 0 <= row.exchange + row.migration + row.waiting + row.idle <= 1 + 1e-9


def test_times_to_a_target_are_those_of_numpy() -> None:
    times = {1: [8.0, 4.0, 6.0, 2.0, 9.0], 2: [4.0, 3.0, 2.0, 1.0, 5.0]}
    runs = {
        ranks: [gpu_row(ranks, each, seed=seed) for seed, each in enumerate(mine)]
        for ranks, mine in times.items()
    }
    for gap, factor, name in ((0.0, 1.0, "best known"), (0.1, 0.5, "0.1 %")):
        one, two = GpuTargetRow.all_of(gap, runs)
        assert (one.target, one.ranks, two.ranks) == (name, 1, 2)
        for row in (one, two):
            found = [row.seconds_10, row.seconds_50, row.seconds_90]
            shown = np.quantile(times[row.ranks], [0.1, 0.5, 0.9], method="inverted_cdf")
            assert found == pytest.approx((factor * shown).tolist())
            assert row.reached == 5
        assert (one.speed_up, one.efficiency) == (1.0, 1.0)
        assert two.speed_up == pytest.approx(np.median(times[1]) / np.median(times[2]))
        assert two.efficiency == pytest.approx(two.speed_up / 2)
        assert (two.exchange, two.waiting) == pytest.approx((0.1, 0.2))


def test_runs_that_miss_the_target_took_longer_than_the_limit() -> None:
    # One of them saw the target after the limit, before it ended.
    runs = {
        1: [gpu_row(1, each) for each in (3.0, 10.05, np.inf)],
        2: [gpu_row(2, each) for each in (2.0, 4.0, np.inf)],
    }
    one, two = GpuTargetRow.all_of(0.0, runs)
    assert (one.seconds_10, one.seconds_50, one.reached) == (3.0, None, 1)
    assert (two.seconds_50, two.seconds_90, two.reached) == (4.0, None, 2)
    assert one.speed_up is None
    assert (two.speed_up, two.is_at_least) == (LIMIT / 4, True)
    assert [*GpuMeansRow.all_of([one, two])] == []


def test_the_speed_excludes_generation_0() -> None:
    usual = {"generations": 10, "evaluations": 1100, "start_evaluations": 100}
    runs = {
        1: [gpu_row(1, 12.0, seconds=12.0, start_seconds=2.0, **usual)],
        2: [gpu_row(2, each, seconds=each, start_seconds=1.0, **usual) for each in (5.0, 6.0, 9.0)],
    }
    one, two = GpuSpeedRow.all_of(runs)
    assert (one.evaluations_per_second, one.generations_per_second) == (100, 1)
    assert (two.evaluations_per_second, two.generations_per_second) == (200, 2)
    assert (two.speed_up, two.efficiency, two.runs, two.start_seconds) == (2, 1, 3, 1)
    assert two.spread == pytest.approx((250 - 125) / 200)


def test_digests_are_compared_for_equal_settings_and_seeds() -> None:
    alone = [gpu_row(1, 1.0, seed=1, digest="a"), gpu_row(1, 1.0, seed=2, digest="b")]

    def two(first: str, second: str, settings: str = "s") -> list[GpuRunRow]:
        return [
            gpu_row(2, 1.0, seed=seed, digest=each, settings=settings)
            for seed, each in ((1, first), (2, second))
        ]

    assert digests(two("a", "b"), alone) == "same"
    assert digests(two("a", "c"), alone) == "DIFFER"
    assert digests(two("", "b"), alone) == "same"  # the time limit ended the first
    assert digests(two("", ""), alone) == digests(two("a", "c", "t"), alone) == "-"
    assert digests(alone, alone) == "-"
