"""Whole runs on more ranks than islands: the result and the records of one rank."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import decide
from models_for_tests import TIMES, makespans
from shared_launches import facts
from starts_for_tests import rows

import islands
from islands.configuration.request import Request
from islands.engine.build import RankOptions
from islands.engine.runner import run_requested
from islands.engine.single import Output
from islands.errors import UsageError
from islands.parallel import World
from islands.progress.result import Result
from islands.testing.ranks import on_ranks

BASIC: dict[str, Any] = {"islands": 2, "population": 16, "generations": 13, "interval": 3}
BASIC |= {"seed": 5, "backend": "cpu", "threads": 1, "record": {"every": 4}}
MIGRATED = {"migration": "ring", "migrants": 2}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "host": ("demo/tsp", {"algorithm": "brkga", "improver": "none", "decoding": "host"}),
    "delay": ("demo/qap", {"algorithm": "ga", "improver": "none", "migration.delay": 1}),
    "halo": (
        "demo/qap",
        {"algorithm": "cellular", "improver": "none", "halo": True, "migration": "none"},
    ),
    "replicas": ("demo/qap", {"algorithm": "tempering", "tuning": 4, "sweeps": 8}),
    "tours": ("demo/tsp", {"algorithm": "eax", "children": 8, "generations": 40}),
    "colonies": (
        "demo/qap",
        {
            "colonies": [
                {"islands": 1, "algorithm": "de", "population": 20},
                {"islands": 1, "algorithm": "ga", "population": 12, "rate": 2, "improver": "swap"},
            ]
        },
    ),
}


def solved(name: str, ranks: World, folder: Path, **more: Any) -> Result:
    instance, settings = RUNS[name]
    options = BASIC | MIGRATED | settings | more
    if "colonies" in options:
        del options["islands"], options["population"]
    own = islands.load(instance)
    return islands.solve(own, world=ranks, out=folder, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_results_and_records_are_those_of_one_rank(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(monkeypatch, shared=True)
    alone = solved(name, World(), tmp_path / "1")
    folder = tmp_path / "5"
    found = on_ranks(5, lambda ranks: solved(name, ranks, folder))
    assert {str(facts(each)) for each in found} == {str(facts(alone))}
    assert (found[0].ranks, found[0].team, found[0].idle_ranks) == (5, 3, 0)
    for record in ("trace", "migrations"):
        assert rows(folder, record) == rows(tmp_path / "1", record)
    assert len(list((folder / "trace").glob("*.parquet"))) == 5
    assert rows(tmp_path / "1", "trace")


@pytest.mark.slow
def test_python_functions_are_called_by_all_ranks() -> None:
    called: dict[int, int] = {}

    def solve(ranks: World) -> Result:
        def costs(orders: np.ndarray) -> np.ndarray:
            called[ranks.rank] = called.get(ranks.rank, 0) + len(orders)
            return makespans(orders)

        problem = islands.permutation(len(TIMES), batch=costs)
        own = {"algorithm": "ga", "islands": 1, "population": 24}
        return islands.solve(problem, world=ranks, **BASIC | own)

    alone = solve(World())
    called.clear()
    found = on_ranks(3, solve)
    assert {str(facts(each)) for each in found} == {str(facts(alone))}
    # Besides checks of the result, each rank evaluates about a third.
    assert all(alone.evaluations / 4 < called[rank] < alone.evaluations / 2 for rank in range(3))


def test_ranks_of_a_team_cannot_go_on_without_waiting() -> None:
    def solve(ranks: World) -> None:
        options = {"instance": "demo/qap", "islands": 2, "backend": "cpu", "stop": "generations=1"}
        alone = RankOptions(asynchronous=True)
        with pytest.raises(UsageError, match="--async with teams of 2 ranks: ranks that share"):
            run_requested(Request.of(options), ranks, Output(), None, alone)

    on_ranks(3, solve)
