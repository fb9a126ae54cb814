"""`islands run` and `islands resume` with colonies."""

from __future__ import annotations

import json
from typing import Any

from standing_ranks import StandingRanks

import islands

COLONIES = [
    *("--colony", "islands=2 algorithm=brkga population=20 improver=none"),
    *("--colony", "islands=3 algorithm=ga encoding=permutation population=16 rate=2"),
]
RUN = ["demo/tsp", *COLONIES, "--backend", "cpu", "--threads", "1"]


def on_ranks(standing: StandingRanks, ranks: int, *line: str) -> dict[str, Any]:
    done = standing.run(ranks, "-m", "islands", *line, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ranks_that_do_not_wait_keep_all_costs(standing_ranks: StandingRanks) -> None:
    line = ["run", *RUN, "--migration", "ring", "--interval", "2", "--stop", "generations=40"]
    found = on_ranks(standing_ranks, 3, *line, "--async")  # its cost is checked
    assert not found["reproducible"]
    assert min(each["cost"] for each in found["colonies"]) == found["cost"]


def test_a_script_solves_with_colonies() -> None:
    colonies = [
        {"islands": 2, "algorithm": "brkga", "population": 20, "improver": "none"},
        {"islands": 1, "algorithm": "ga", "encoding": "permutation", "population": 16},
    ]
    result = islands.solve("demo/tsp", colonies=colonies, generations=6, backend="cpu",
                           migration="ring", interval=2)  # fmt: skip
    assert set(result.trace().to_pydict()["colony"]) == {0, 1}
    assert {0, 1} == set(result.migrations().to_pydict()["from_colony"])
    solver = islands.Solver("demo/tsp", colonies=colonies, backend="cpu", migration="ring")
    solver.evolve(3)
    best = solver.best()[0]
    solver.exchange()
    solver.inject([best.solution] * 3)
    assert [len(each) for each in solver.populations()] == [20, 20, 16]
    assert solver.best()[0].cost <= best.cost
