from __future__ import annotations

from statistics import fmean

import pytest

from islands.bench.takeover import SEEDS, simulated, takeover
from islands.migration.topology import TOPOLOGIES, Scene

SENDING = [name for name in TOPOLOGIES if name != "none"]


def by_hand(name: str, islands: int, start: int, seed: int, delay: int) -> int:
    """Return the migrations until all have what `start` has, one island and one set at a time."""
    have, away, epoch = {start}, set[int](), 0
    while len(have) < islands:
        epoch += 1
        if delay:
            # Those who left one migration before come in before anybody leaves.
            have |= away
        senders = TOPOLOGIES[name].sources(Scene(islands, seed, epoch), range(islands)).tolist()
        away = {island for island, row in enumerate(senders) if have & {s for s in row if s >= 0}}
        if not delay:
            have |= away
    return epoch


def all_by_hand(name: str, islands: int, delay: int) -> list[list[int]]:
    """Return the takeover times from all starts, a list a seed."""
    seeds = range(1, 1 + (SEEDS if TOPOLOGIES[name].changes else 1))
    return [[by_hand(name, islands, s, seed, delay) for s in range(islands)] for seed in seeds]


@pytest.mark.parametrize("islands", [2, 8, 13])
@pytest.mark.parametrize("name", SENDING)
def test_the_simulation_is_what_happens_hop_by_hop(name: str, islands: int) -> None:
    times = [time for seed in all_by_hand(name, islands, delay=0) for time in seed]
    found = simulated(TOPOLOGIES[name], islands)
    assert found.mean == pytest.approx(fmean(times))
    assert found.worst == max(times)


@pytest.mark.parametrize("name", SENDING)
def test_with_a_delay_takeover_comes_one_migration_later(name: str) -> None:
    at_once, delayed = (all_by_hand(name, 11, delay) for delay in (0, 1))
    assert delayed == [[time + 1 for time in seed] for seed in at_once]


@pytest.mark.parametrize(
    ("name", "islands", "mean"),
    [
        *(("ring", 64, 63), ("ring", 1000, 999), ("hypercube", 4096, 12), ("elite", 65536, 1)),
        *(("torus", 100, 9), ("ring", 1, 0), ("elite", 1, 0), ("broadcast", 1, 0)),
    ],
)
def test_takeover_of_regular_topologies_is_known(name: str, islands: int, mean: int) -> None:
    found = takeover(name, islands)
    assert (found.mean, found.worst) == (mean, mean)


@pytest.mark.parametrize("islands", [5, 16])
def test_what_is_worked_out_agrees_with_what_is_simulated(islands: int) -> None:
    assert takeover("elite", islands) == simulated(TOPOLOGIES["elite"], islands)
    times = all_by_hand("broadcast", islands, delay=0)
    found = takeover("broadcast", islands)
    assert found.mean == pytest.approx(fmean(map(fmean, times)), rel=0.3)
    assert found.worst == pytest.approx(fmean(map(max, times)), rel=0.3)
