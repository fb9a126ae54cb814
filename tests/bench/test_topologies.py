"""Benchmarks of migration: takeover and traffic of topologies, and the rates of ranks."""

import json
from statistics import fmean

import pytest

from islands.cli import main
from islands.migration.route import plan
from islands.migration.topology import TOPOLOGIES, Scene
from islands.parallel import Deal
from islands.studies.bench.topologies import (
    SEEDS,
    Traffic,
    counted_traffic,
    simulated,
    takeover,
    traffic,
)

SENDING = [name for name in TOPOLOGIES if name != "none"]


def hop_by_hop(name: str, islands: int, start: int, seed: int) -> int:
    """Return the number of migrations until the best of `start` is on all islands."""
    have, epoch = {start}, 0
    while len(have) < islands:
        epoch += 1
        senders = TOPOLOGIES[name].sources(Scene(islands, seed, epoch), range(islands)).tolist()
        have |= {island for island, row in enumerate(senders) if have & {s for s in row if s >= 0}}
    return epoch


@pytest.mark.parametrize("islands", [2, 8, 13])
@pytest.mark.parametrize("name", SENDING)
def test_the_simulation_agrees_with_single_hops(name: str, islands: int) -> None:
    seeds = range(1, 1 + (SEEDS if TOPOLOGIES[name].changes else 1))
    starts = [(start, seed) for seed in seeds for start in range(islands)]
    times = [hop_by_hop(name, islands, start, seed) for start, seed in starts]
    takeover_ = simulated(TOPOLOGIES[name], islands)
    assert takeover_.mean == pytest.approx(fmean(times))
    assert takeover_.worst == max(times)


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


def as_routed(name: str, islands: int, ranks: int) -> Traffic:
    """Return the traffic of the routes of a real run."""
    deal = Deal(islands, ranks)
    topology = TOPOLOGIES[name]
    parcels, most_parcels, most_messages, arriving = [], [], [], 0
    for epoch in range(1, 9):
        scene = Scene(islands, 1, epoch)
        routes = [
            plan(lambda them, scene=scene: topology.sources(scene, them), deal, rank)
            for rank in range(ranks)
        ]
        sent = [sum(parcel.last - parcel.first for parcel in route.sends) for route in routes]
        parcels.append(fmean(sent))
        most_parcels.append(max(sent))
        most_messages.append(max(len(route.sends) for route in routes))
        arriving = max(arriving, *(route.sources.shape[1] for route in routes))
    return Traffic(arriving, fmean(parcels), fmean(most_parcels), fmean(most_messages))


@pytest.mark.parametrize(("islands", "ranks"), [(8, 1), (16, 4), (13, 3)])
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_traffic_agrees_with_a_run(name: str, islands: int, ranks: int) -> None:
    expected = as_routed(name, islands, ranks)
    for found in (counted_traffic(TOPOLOGIES[name], islands, ranks), traffic(name, islands, ranks)):
        assert found.arriving == expected.arriving
        assert found.parcels == pytest.approx(expected.parcels)
        assert found.most_parcels == pytest.approx(expected.most_parcels)
        assert found.most_messages == pytest.approx(expected.most_messages)


def test_one_rank_has_rates_of_islands(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--instances", "demo/tsp", "--population", "32", "--islands-a-rank", "2"]
    line = ["bench", "migration", *small, "--interval", "3", "--seconds", "0.01", "--json"]
    assert main([*line, "--backend", "cpu", "--threads", "1", "--quiet"]) == 0
    tables = json.loads(capsys.readouterr().out)
    rows = [row for table in tables.values() if isinstance(table, list) for row in table]
    assert {row["ranks"] for row in rows if "ranks" in row} == {1}
    assert all(row["generations"] % 3 == 0 for row in rows if "generations" in row)
