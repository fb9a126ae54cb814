"""`islands report`, `plot`, `export` and `run --plot`."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from islands.cli import main

RUN = ["run", "demo/tsp", "--islands", "4", "--population", "16", "--backend", "cpu", "--quiet"]
RUN += ["--interval", "2", "--set", "record.every=2", "--set", "improver.name=none"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "a"
    assert main([*RUN, "--stop", "generations=12", "--out", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_plot_writes_one_picture(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert main(["plot", str(run)]) == 0
    raw = (run / "solution.png").read_bytes()
    assert raw.startswith(b"\x89PNG")
    for what in ("convergence", "evaluations", "seconds", "migration", "lineage"):
        assert main(["plot", str(run), what, "--out", str(tmp_path / f"{what}.svg")]) == 0
        drawn = (tmp_path / f"{what}.svg").read_text()
        assert "<svg" in drawn
        assert re.search(r">best [\d,]+, gap [\d.]+%, seed 1</", drawn)
    for other, same in (("islands", "migration.svg"), ("tour", "tour.png")):
        path = tmp_path / f"same{same[-4:]}"
        assert main(["plot", str(run), other, "--out", str(path)]) == 0
        assert path.read_bytes() == (raw if other == "tour" else (tmp_path / same).read_bytes())


def test_run_draws_its_solution(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    line = [*RUN, "--stop", "generations=2", "--plot", "--out", str(tmp_path / "a")]
    assert main(line) == 0
    assert (tmp_path / "a" / "solution.png").exists()
    assert main([*line, "--runs", "2"]) == 2


@pytest.mark.parametrize("name", ["trace", "migrations"])
def test_export_writes_the_records(run: Path, name: str, tmp_path: Path) -> None:
    files = [str(tmp_path / "a.csv"), str(tmp_path / "a.parquet")]
    assert main(["export", str(run), name, "--csv", files[0], "--parquet", files[1]]) == 0
    record = parquet.read_table(run / name / "rank-000.parquet").replace_schema_metadata()
    island = "island" if name == "trace" else "to"
    record = record.sort_by([("generation", "ascending"), (island, "ascending")])
    written = parquet.read_table(files[1])
    assert written.column_names == ["rank", *record.column_names]
    assert set(written["rank"].to_pylist()) == {0}
    assert written.drop_columns(["rank"]).equals(record)
    read = csv.read_csv(files[0])
    assert read.column_names == written.column_names
    for column in read.column_names:
        assert read[column].to_pylist() == written[column].to_pylist()
