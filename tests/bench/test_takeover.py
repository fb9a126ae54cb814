from __future__ import annotations

from statistics import fmean

import pytest

from islands.bench.takeover import SEEDS, simulated, takeover
from islands.migration.topology import TOPOLOGIES, Scene

SENDING = [name for name in TOPOLOGIES if name != "none"]


def hop_by_hop(name: str, islands: int, start: int, seed: int, delay: int) -> int:
    """Return the number of migrations until the best of `start` is on all islands."""
    have, away, epoch = {start}, set[int](), 0
    while len(have) < islands:
        epoch += 1
        if delay:
            # Migrants of the previous migration arrive before new ones leave.
            have |= away
        senders = TOPOLOGIES[name].sources(Scene(islands, seed, epoch), range(islands)).tolist()
        away = {island for island, row in enumerate(senders) if have & {s for s in row if s >= 0}}
        if not delay:
            have |= away
    return epoch


def all_hop_by_hop(name: str, islands: int, delay: int) -> list[list[int]]:
    """Return the takeover times from all start islands, one list per seed."""
    seeds = range(1, 1 + (SEEDS if TOPOLOGIES[name].changes else 1))
    return [[hop_by_hop(name, islands, s, seed, delay) for s in range(islands)] for seed in seeds]


@pytest.mark.parametrize("islands", [2, 8, 13])
@pytest.mark.parametrize("name", SENDING)
def test_the_simulation_agrees_with_single_hops(name: str, islands: int) -> None:
    times = [time for seed in all_hop_by_hop(name, islands, delay=0) for time in seed]
    found = simulated(TOPOLOGIES[name], islands)
    assert found.mean == pytest.approx(fmean(times))
    assert found.worst == max(times)


@pytest.mark.parametrize("name", SENDING)
def test_with_a_delay_takeover_takes_one_migration_more(name: str) -> None:
    at_once, delayed = (all_hop_by_hop(name, 11, delay) for delay in (0, 1))
    assert delayed == [[time + 1 for time in seed] for seed in at_once]


@pytest.mark.parametrize(
    ("name", "islands", "mean"),
    [
        *(("ring", 64, 63), ("ring", 1000, 999), ("hypercube", 4096, 12), ("elite", 65536, 1)),
        *(("torus", 100, 9), ("ring", 1, 0), ("elite", 1, 0), ("broadcast", 1, 0)),
    ],
)
def test_known_takeover_times_of_regular_topologies(name: str, islands: int, mean: int) -> None:
    found = takeover(name, islands)
    assert (found.mean, found.worst) == (mean, mean)


@pytest.mark.parametrize("islands", [5, 16])
def test_formulas_agree_with_the_simulation(islands: int) -> None:
    assert takeover("elite", islands) == simulated(TOPOLOGIES["elite"], islands)
    times = all_hop_by_hop("broadcast", islands, delay=0)
    found = takeover("broadcast", islands)
    assert found.mean == pytest.approx(fmean(map(fmean, times)), rel=0.3)
    assert found.worst == pytest.approx(fmean(map(max, times)), rel=0.3)
