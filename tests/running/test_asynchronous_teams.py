"""Runs whose ranks do not wait for each other, with more ranks than islands."""

from typing import Any

import pytest

from islands.parallel import world
from islands.run import single as single
from islands.run.build import RankOptions
from islands.run.runner import run_requested
from islands.run.single import Output


def _digests(archipelago: Any) -> list[tuple[int, str]]:
    """Return the digests of the islands of a rank, also if it records none."""
    generation = archipelago.generation
    return [pair for each in archipelago._colonies for pair in each.digests(generation, None)]


@pytest.mark.mpi(min_size=3)
def test_members_of_a_team_stay_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    ranks = world()
    evolved = single.evolve_asynchronous

    def kept(archipelago: Any, *arguments: Any, **observers: Any) -> Any:
        seen.append(archipelago)
        return evolved(archipelago, *arguments, **observers)

    monkeypatch.setattr(single, "evolve_asynchronous", kept)
    options = {
        "instance": "demo/qap",
        "algorithm": "cellular",
        "improver.name": "two_opt",
        "islands": 2,
        "population": 24,
        "migration.topology": "ring",
        "migration.interval": 5,
        "backend": "cpu",
        "threads": 1,
        "stop": ["generations=60"],
    }
    rank_options = RankOptions(asynchronous=True)
    result = run_requested(options, None, ranks, Output(), None, rank_options)
    assert result.team == (ranks.size + 1) // 2
    assert not result.reproducible
    everyone = ranks.allgather(_digests(seen[0]))
    by_island: dict[int, set[str]] = {}
    for rank in everyone:
        for island, digest in rank:
            by_island.setdefault(island, set()).add(digest)
    assert sorted(by_island) == [0, 1]
    assert all(len(digests) == 1 for digests in by_island.values())
