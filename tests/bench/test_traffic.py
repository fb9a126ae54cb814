from __future__ import annotations

from statistics import fmean

import pytest

from islands.bench.traffic import Traffic, counted, traffic
from islands.migration.route import plan
from islands.migration.topology import TOPOLOGIES, Scene
from islands.parallel import Deal


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
    for found in (counted(TOPOLOGIES[name], islands, ranks), traffic(name, islands, ranks)):
        assert found.arriving == expected.arriving
        assert found.parcels == pytest.approx(expected.parcels)
        assert found.most_parcels == pytest.approx(expected.most_parcels)
        assert found.most_messages == pytest.approx(expected.most_messages)
