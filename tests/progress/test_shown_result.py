"""How Python shows a result, and the records that it returns."""

import pickle
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from results_for_tests import result

import islands
from islands import solve
from islands.testing.ranks import on_ranks

FEW: dict[str, Any] = {
    "islands": 3, "population": 16, "backend": "cpu", "improver": "none", "threads": 1,
    "interval": 6, "record": {"every": 4}, "generations": 20, "migration": "ring",
    "migrants": 1,
}  # fmt: skip
EPOCHS = [0, 4, 6, 8, 12, 16, 18, 20]


@pytest.fixture(autouse=True)
def _without_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")


def test_foreign_text_makes_no_lines_and_no_codes() -> None:
    evil = "a\x1b[2J\nseed      9"
    found = result(instance=evil, reason=evil, folder=evil, device=evil, checked=evil)
    for shown, lines in ((str(found), str(result())), (found.summary(), result().summary())):
        assert shown.count("\n") == lines.count("\n")
        assert shown.replace("\n", "").isprintable()


def test_records_are_the_same_with_and_without_a_folder(tmp_path: Path) -> None:
    kept, written = solve("demo/tsp", **FEW), solve("demo/tsp", out=tmp_path, **FEW)
    trace = kept.trace()
    assert isinstance(trace, pa.Table)
    assert trace["generation"].to_pylist() == [each for each in EPOCHS for _ in range(3)]
    assert trace["island"].to_pylist() == [0, 1, 2] * len(EPOCHS)
    assert pc.min(trace["best"]).as_py() == kept.cost
    assert sum(trace["evaluations"].to_pylist()[-3:]) == kept.evaluations
    migrations = kept.migrations()
    assert migrations["to"].to_pylist()[:3] == [0, 1, 2]
    assert migrations.num_rows == 9
    for name, times in (("trace", ["seconds"]), ("migrations", ["microseconds"])):
        one, other = getattr(kept, name)(), getattr(written, name)()
        assert one.schema == other.schema
        assert one.drop_columns(times) == other.drop_columns(times)
        file = pq.read_table(tmp_path / name / "rank-000.parquet").replace_schema_metadata()
        assert other == file


def test_every_rank_has_the_records_of_all(tmp_path: Path) -> None:
    alone = solve("demo/tsp", **FEW)

    def work(world: Any) -> list[islands.Result]:
        found = [solve("demo/tsp", world=world, **FEW)]
        return [*found, solve("demo/tsp", world=world, out=tmp_path / "a", **FEW)]

    for found in on_ranks(2, work):
        for each in found:
            same = ["island", "generation", "best", "mean", "evaluations"]
            assert each.trace().select(same) == alone.trace().select(same)
            same = ["epoch", "generation", "from", "to", "cost", "accepted"]
            assert each.migrations().select(same) == alone.migrations().select(same)


def test_results_can_be_pickled() -> None:
    found = solve("demo/tsp", **FEW)
    copy = pickle.loads(pickle.dumps(found))
    assert copy.trace() == found.trace()
    assert (copy.solution == found.solution).all()


def test_records_that_are_missing_are_rejected(tmp_path: Path) -> None:
    settings = FEW | {"record": {"migrations": False}}
    for out in (None, tmp_path):
        with pytest.raises(islands.IslandsError, match="recorded no migrations"):
            solve("demo/tsp", out=out, **settings).migrations()
    found = solve("demo/tsp", out=tmp_path / "a", **FEW)
    (tmp_path / "a" / "solution.parquet").unlink()
    with pytest.raises(islands.IslandsError, match="is not finished"):
        found.trace()
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(islands.IslandsError, match="no longer exists"):
        found.trace()
    with pytest.raises(islands.IslandsError, match="has no trace"):
        result().trace()
