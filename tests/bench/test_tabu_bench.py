from __future__ import annotations

import numpy as np
import pytest

from islands.backends.base import Backend
from islands.bench import tabu
from islands.bench.base import BenchRequest
from islands.errors import RunError
from islands.parallel import World


def test_every_exchange_of_every_step_is_counted(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabu, "SIZES", (8, 21))
    monkeypatch.setattr(tabu, "_effort", lambda name, size: (3, 40))
    rows = list(tabu.measure(BenchRequest(world=World(), backends=[backend.name])))
    programs = ["kernel", "loop"] if backend.name == "cpu" else ["kernel"]
    assert [(row["program"], row["size"]) for row in rows] == [
        (program, size) for size in (8, 21) for program in programs
    ]
    for row in rows:
        seconds = row["milliseconds"] / 1000
        pairs = row["size"] * (row["size"] - 1) // 2
        assert row["evaluations_per_second"] * seconds == pytest.approx(3 * 40 * pairs)
        assert 3 * 40 * row["microseconds_a_step"] == pytest.approx(1e6 * seconds)


def test_the_benchmark_fails_on_a_wrong_cost_or_order(backend: Backend) -> None:
    search = tabu.TabuSearches(backend, 12, 2, 5)
    search.measured("kernel")
    search.check()
    costs, orders = search.costs["kernel"], search.orders["kernel"]
    search.costs["kernel"] = costs + np.array([0, 1])
    with pytest.raises(RunError, match=r"kernel, n=12: costs .* are not the exact"):
        search.check()
    search.costs["kernel"], search.orders["kernel"] = costs, 0 * orders
    with pytest.raises(RunError, match="not an assignment of random12"):
        search.check()
