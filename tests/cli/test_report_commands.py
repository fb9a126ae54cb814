"""`islands report`, `plot`, `export` and `run --plot`."""

import json
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
    for what in ("convergence", "generations", "evaluations", "migration", "lineage"):
        assert main(["plot", str(run), what, "--out", str(tmp_path / f"{what}.svg")]) == 0
        drawn = (tmp_path / f"{what}.svg").read_text()
        assert "<svg" in drawn
        assert re.search(r">best [\d,]+, gap [\d.]+%, seed 1</", drawn)
    same_pictures = {"islands": "migration.svg", "seconds": "convergence.svg", "tour": "tour.png"}
    for other, same in same_pictures.items():
        path = tmp_path / f"same{same[-4:]}"
        assert main(["plot", str(run), other, "--out", str(path)]) == 0
        assert path.read_bytes() == (raw if other == "tour" else (tmp_path / same).read_bytes())


def test_run_draws_its_solution(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    line = [*RUN, "--stop", "generations=2", "--plot", "--out", str(tmp_path / "a")]
    assert main(line) == 0
    assert (tmp_path / "a" / "solution.png").exists()
    assert main([*line, "--runs", "2"]) == 2


def test_two_tables_are_not_exported_into_one_file(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert main(["export", str(run), "trace", "--csv", str(path), "--parquet", str(path)]) == 2
    assert not path.exists()


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


GEO = """NAME : geo
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : GEO
NODE_COORD_SECTION
1 52.30 13.24
2 48.08 11.35
3 50.56 6.57
4 53.33 10.00
"""


def test_a_tour_is_written_for_maps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance, file = tmp_path / "geo.tsp", tmp_path / "tour.geojson"
    instance.write_text(GEO)
    line = ["run", str(instance), "--stop", "generations=2", "--backend", "cpu", "--quiet"]
    line += ["--out", str(tmp_path / "geo"), "--geojson", str(file)]
    assert main(line) == 0
    written = file.read_text()
    assert len(json.loads(written)["features"][0]["geometry"]["coordinates"]) == 5
    file.write_text("kept")
    capsys.readouterr()
    assert main(line) == 2
    assert "exists. Specify another file, or pass --force" in capsys.readouterr().err
    assert file.read_text() == "kept"
    assert main([*line, "--force"]) == 0
    assert file.read_text() == written
    assert main(["plot", str(tmp_path / "geo"), "--out", str(tmp_path / "again.geojson")]) == 0
    assert (tmp_path / "again.geojson").read_text() == written


def test_a_run_without_a_tour_writes_none_for_maps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, file = tmp_path / "route.py", tmp_path / "tour.geojson"
    script.write_text(
        "import islands\n"
        "far = float('inf')\n"
        "lengths = [[0, 1, far, far], [1, 0, far, far], [far, far, 0, 1], [far, far, 1, 0]]\n"
        "places = [[13, 52], [14, 52], [13, 53], [14, 53]]\n"
        "stops = islands.tsp(distances=lengths, places=places)\n"
    )
    line = ["run", f"{script}:stops", "--stop", "generations=2", "--backend", "cpu"]
    assert main([*line, "--geojson", str(file), "--out", str(tmp_path / "run")]) != 0
    printed = capsys.readouterr()
    assert "no GeoJSON: the run has found no tour" in printed.out + printed.err
    assert not file.exists()


def test_a_table_of_a_road_engine_is_written_for_maps_with_its_names(tmp_path: Path) -> None:
    lengths = [[0, 12.5, 30], [10.1, 0, 9], [29.9, 8, 0]]
    names = ["Depot", "Market", "School"]
    sources = [{"location": [13 + k, 52], "name": name} for k, name in enumerate(names)]
    answer = {"durations": lengths, "sources": sources, "destinations": sources}
    table, script, file = (tmp_path / name for name in ("table.json", "route.py", "tour.geojson"))
    table.write_text(json.dumps(answer))
    script.write_text(f"import islands\nstops = islands.tsp(distances={str(table)!r}, start=0)\n")
    line = ["run", f"{script}:stops", "--stop", "generations=2", "--backend", "cpu", "--quiet"]
    assert main([*line, "--geojson", str(file), "--out", str(tmp_path / "run")]) == 0
    _, *stops = json.loads(file.read_text())["features"]
    assert [each["properties"]["label"] for each in stops] == names


def test_a_tour_without_places_is_rejected_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, words in (("demo/tsp", "drawn on a map"), ("demo/qap", "not tours")):
        line = ["run", name, "--geojson", str(tmp_path / "a"), "--out", str(tmp_path / "out")]
        assert main(line) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*line, "--runs", "2"]) == 2
    capsys.readouterr()
    assert main(["run", "demo/tsp", "--geojson", str(tmp_path / "none" / "a"), "--quiet"]) == 2
    assert "none does not exist. Create it, or specify another file" in capsys.readouterr().err
