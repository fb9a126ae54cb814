"""`islands run` and `islands resume` with colonies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import copied_parts
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from examples_for_tests import FOLDER
from standing_ranks import StandingRanks

import islands
from islands.cli import main

COLONIES = [
    *("--colony", "islands=2 algorithm=brkga population=20 improver=none"),
    *("--colony", "islands=3 algorithm=ga encoding=permutation population=16 rate=2"),
]
RUN = ["demo/tsp", *COLONIES, "--backend", "cpu", "--threads", "1"]
MIGRATION = ["--migration", "ring", "--interval", "4", "--set", "migration.delay=1"]
_FUNCTION = """
import islands
import numpy as np

distances = np.abs(np.subtract.outer(np.arange(12) ** 2, np.arange(12) ** 2))


def length(order):
    return int(distances[order, np.roll(order, 1)].sum())


def lengths(orders):
    return distances[orders, np.roll(orders, 1, axis=1)].sum(axis=1)


COST = \"\"\"
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += data.distances[s[i] * n + s[(i + n - 1) % n]];
    return sum;
}
\"\"\"
function = islands.permutation(12, function=length)
batch = islands.permutation(12, batch=lengths)
cost = islands.permutation(12, cost=COST, data={"distances": distances}, reference=lengths)
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def solved(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    assert main([*line, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


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


def test_ranks_give_the_same_result_and_records(
    standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", *RUN, *MIGRATION, "--stop", "generations=22"]
    alone = solved(capsys, *line, "--out", "alone")
    for ranks in (2, 3):
        several = on_ranks(standing_ranks, ranks, *line, "--out", str(ranks))
        for key in ("digest", "cost", "solution", "island", "colony", "colonies", "evaluations"):
            assert several[key] == alone[key]
        for record in ("trace", "migrations"):
            assert rows(several["folder"], record) == rows("alone", record)
    assert (alone["algorithm"], alone["encoding"]) == ("brkga + ga", "keys + permutation")
    assert [each["islands"] for each in alone["colonies"]] == [2, 3]
    assert alone["colonies"][alone["colony"]]["cost"] == alone["cost"]
    trace, migrations = rows("alone", "trace"), rows("alone", "migrations")
    assert {(row["island"], row["colony"]) for row in trace} == {
        *((0, 0), (1, 0), (2, 1), (3, 1), (4, 1)),
    }
    pairs = {(row["from"], row["to"], row["from_colony"], row["to_colony"]) for row in migrations}
    assert pairs == {(4, 0, 1, 0), (0, 1, 0, 0), (1, 2, 0, 1), (2, 3, 1, 1), (3, 4, 1, 1)}


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 2)])
def test_a_run_resumes_on_other_ranks(
    before: int, after: int, standing_ranks: StandingRanks, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", *RUN, *MIGRATION]
    whole = solved(capsys, *line, "--stop", "generations=22", "--out", "whole")
    first = ["run", *RUN, *MIGRATION, "--stop", "generations=10", "--out", "part"]
    on_ranks(standing_ranks, before, *first)
    rest = on_ranks(standing_ranks, after, "resume", "part", "--stop", "generations=22")
    assert (rest["digest"], rest["colonies"]) == (whole["digest"], whole["colonies"])
    assert rows("part", "migrations") == rows("whole", "migrations")
    again = solved(capsys, "resume", "part")
    assert (again["digest"], again["colony"]) == (whole["digest"], whole["colony"])
    repeated = solved(capsys, "run", "--config", "whole/run.toml", "--out", "again")
    assert repeated["digest"] == whole["digest"]


def test_ranks_that_do_not_wait_keep_all_costs(standing_ranks: StandingRanks) -> None:
    line = ["run", *RUN, "--migration", "ring", "--interval", "2", "--stop", "generations=40"]
    found = on_ranks(standing_ranks, 3, *line, "--async")  # its cost is checked
    assert not found["reproducible"]
    assert min(each["cost"] for each in found["colonies"]) == found["cost"]


def test_all_ways_to_evaluate_give_the_same_digest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text(_FUNCTION, encoding="utf-8")
    line = [*COLONIES, *MIGRATION, "--backend", "cpu", "--stop", "generations=10"]
    found = [
        solved(capsys, "run", f"own.py:{name}", *line, "--set", "migration.duplicates=refuse")
        for name in ("cost", "function", "batch")
    ]
    assert len({each["digest"] for each in found}) == 1


def test_a_problem_of_a_script_has_colonies(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", f"{FOLDER / 'flow_shop.py'}:problem", "--backend", "cpu"]
    line += ["--stop", "generations=6", "--migration", "elite", "--interval", "2"]
    found = solved(capsys, *line, *COLONIES)
    assert len(found["colonies"]) == 2


def test_the_output_names_the_colonies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *RUN, "--stop", "generations=4"]) == 0
    output = capsys.readouterr().out
    assert "5 islands in 2 colonies   seed 1" in output
    assert "  colony 0: brkga on keys   2 islands x 20\n" in output
    words = "  colony 1: ga on permutation   3 islands x 16, 2 generations in each of the run\n"
    assert words in output
    assert "   on island " in output
    assert " of colony " in output
    (first,) = (line for line in output.splitlines() if line.startswith("*           0 "))
    assert ":" in first.split("|")[1]


def test_a_population_is_refused_before_the_header(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "demo/qap", "--colony", "islands=1", "--backend", "cpu", "--colony"]
    assert main([*line, "islands=1 algorithm=tempering population=20"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "islands: colony 1: population=20: must be a multiple of rungs=8. Choose 16 or 24, or other"
        " rungs\n"
    )
    assert not Path("runs").exists()


def test_several_runs_have_colonies(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", *RUN, "--stop", "generations=3", "--runs", "2", "--out", "runs"]
    found = solved(capsys, *line)
    assert [each["seed"] for each in found["runs"]] == [1, 2]
    again = solved(capsys, *line)
    assert [each["digest"] for each in again["runs"]] == [each["digest"] for each in found["runs"]]


def test_a_script_solves_with_colonies() -> None:
    colonies = [
        {"islands": 2, "algorithm": "brkga", "population": 20, "improver": "none"},
        {"islands": 1, "algorithm": "ga", "encoding": "permutation", "population": 16},
    ]
    result = islands.solve("demo/tsp", colonies=colonies, generations=6, backend="cpu",
                           migration="ring", interval=2)  # fmt: skip
    assert set(result.trace().to_pydict()["colony"]) == {0, 1}
    assert {0, 1} == set(result.migrations().to_pydict()["from_colony"])
    assert "brkga + ga, 3 islands in 2 colonies" in str(result)
    solver = islands.Solver("demo/tsp", colonies=colonies, backend="cpu", migration="ring")
    solver.evolve(3)
    best = solver.best()[0]
    solver.exchange()
    solver.inject([best.solution] * 3)
    assert [len(each) for each in solver.populations()] == [20, 20, 16]
    assert solver.best()[0].cost <= best.cost


@pytest.mark.parametrize("colonies", [["--config", "two.toml"], COLONIES])
def test_colonies_are_not_tuned(colonies: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.toml").write_text("[[colony]]\nislands = 1\n", encoding="utf-8")
    line = ["tune", "demo/tsp", *colonies, "--over", "population=8,16"]
    assert main([*line, "--stop", "generations=2", "--runs", "1"]) == 2
    assert "a run with colonies cannot be tuned" in capsys.readouterr().err


def test_colonies_have_parts_of_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("parts.py").write_text(Path(copied_parts.__file__).read_text(encoding="utf-8"))
    line = ["run", "demo/tsp", "--backend", "cpu", "--migration", "ring", "--interval", "3"]
    line += ["--colony", "islands=1 algorithm=parts.py:Breed encoding=permutation population=20"]
    line += ["--colony", "islands=2 algorithm=de encoding=parts.py:Digits population=20"]
    solved(capsys, *line, "--stop", "generations=4", "--out", "part")
    index = json.loads(Path("part", "parts", "index.json").read_text(encoding="utf-8"))
    assert [each["file"] for each in index] == ["breed.cuh", "digits.cuh"]
    rest = solved(capsys, "resume", "part", "--stop", "generations=8")
    whole = solved(capsys, *line, "--stop", "generations=8", "--out", "whole")
    assert rest["digest"] == whole["digest"]


def test_a_colony_of_uneven_generations_may_lie_on_one_rank_only(
    capsys: pytest.CaptureFixture[str], standing_ranks: StandingRanks
) -> None:
    line = ["run", "demo/tsp", "--backend", "cpu", "--threads", "1", "--stop", "generations=13"]
    line += ["--colony", "islands=2 algorithm=eax population=20", "--colony"]
    line += ["islands=3 algorithm=ga encoding=permutation population=16 rate=2"]
    line += ["--migration", "ring", "--interval", "5"]
    alone = solved(capsys, *line)["digest"]
    assert on_ranks(standing_ranks, 3, *line, "--out", "on-three")["digest"] == alone
