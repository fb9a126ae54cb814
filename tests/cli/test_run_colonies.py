"""`islands run` and `islands resume` with colonies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from commands_for_tests import done
from standing_ranks import StandingRanks

import islands

COLONIES = [
    *("--colony", "islands=2 algorithm=brkga population=20 improver=none"),
    *("--colony", "islands=3 algorithm=ga encoding=permutation population=16 rate=2"),
]
RUN = ["demo/tsp", *COLONIES, "--backend", "cpu", "--threads", "1"]
MIGRATION = ["--migration", "ring", "--interval", "4", "--set", "migration.delay=1"]


def on_ranks(standing: StandingRanks, ranks: int, *line: str) -> dict[str, Any]:
    done = standing.run(ranks, "-m", "islands", *line, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows(folder: str, record: str) -> list[dict[str, Any]]:
    """Return the rows of all ranks in order, without times and transports."""
    paths = sorted(Path(folder, record).glob("*.parquet"))
    table = pa.concat_tables([parquet.read_table(path).replace_schema_metadata() for path in paths])
    names = ["seconds", "microseconds", "transport"]
    table = table.drop([name for name in names if name in table.column_names])
    found: list[dict[str, Any]] = table.to_pylist()
    return sorted(found, key=lambda row: [str(value) for value in row.values()])


@pytest.mark.slow
def test_ranks_give_the_same_result_and_records(
    standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", *RUN, *MIGRATION, "--stop", "generations=22"]
    alone = done(capsys, *line, "--out", "alone")
    several = on_ranks(standing_ranks, 3, *line, "--out", "several")
    for key in ("digest", "cost", "solution", "island", "colony", "colonies", "evaluations"):
        assert several[key] == alone[key]
    for record in ("trace", "migrations"):
        assert rows("several", record) == rows("alone", record)
    assert [each["islands"] for each in alone["colonies"]] == [2, 3]
    assert alone["colonies"][alone["colony"]]["cost"] == alone["cost"]
    trace, migrations = rows("alone", "trace"), rows("alone", "migrations")
    assert {(row["island"], row["colony"]) for row in trace} == {
        *((0, 0), (1, 0), (2, 1), (3, 1), (4, 1)),
    }
    pairs = {(row["from"], row["to"], row["from_colony"], row["to_colony"]) for row in migrations}
    assert pairs == {(4, 0, 1, 0), (0, 1, 0, 0), (1, 2, 0, 1), (2, 3, 1, 1), (3, 4, 1, 1)}


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


def test_a_colony_of_uneven_generations_may_lie_on_one_rank_only(
    capsys: pytest.CaptureFixture[str], standing_ranks: StandingRanks
) -> None:
    line = ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--stop", "generations=13"]
    line += ["--colony", "islands=2 algorithm=eax population=20", "--colony"]
    line += ["islands=3 algorithm=ga encoding=permutation population=16 rate=2"]
    line += ["--migration", "ring", "--interval", "5"]
    alone = done(capsys, *line)["digest"]
    assert on_ranks(standing_ranks, 3, *line, "--out", "on-three")["digest"] == alone
