"""`islands report`, `plot`, `export` and `run --plot`."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from quick_plots import without_rendering
from standing_ranks import StandingRanks

import islands
from islands.cli import main

RUN = ["run", "demo/tsp", "--islands", "4", "--population", "16", "--backend", "cpu", "--quiet"]
RUN += ["--interval", "2", "--set", "record.every=2", "--set", "improver.name=none"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "a"
    assert main([*RUN, "--stop", "generations=12", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def _without_rendering() -> Iterator[None]:
    with without_rendering():
        yield


def test_report_writes_a_page(run: Path, capsys: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert main(["report", str(run)]) == 0
    assert capsys.readouterr().out == f"Wrote {run}/report.html\n"
    assert (run / "report.html").read_text().startswith("<!doctype html>")
    assert main(["report", str(run), "--out", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_bytes() == (run / "report.html").read_bytes()


def test_report_refuses_a_page_that_is_not_html(run: Path, capsys: Any, tmp_path: Path) -> None:
    for name in ("x.pdf", "x"):
        assert main(["report", str(run), "--out", str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert f"{tmp_path / name}: must end in .html or .htm" in error
        assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_without_rendering")
def test_report_says_which_runs_it_compares(run: Path, capsys: Any, tmp_path: Path) -> None:
    names = [tmp_path / "few" / each for each in "abcdefg"]
    for name in names[:2]:
        shutil.copytree(run, name)
    assert main(["report", str(tmp_path / "few")]) == 0
    said, wrote, _ = capsys.readouterr().out.split("\n")
    assert said == f"The page compares 2 runs: {names[0]}, {names[1]}"
    assert wrote == f"Wrote {tmp_path}/few/report.html"
    for name in names[2:]:
        shutil.copytree(run, name)
    (names[0] / "trace" / "rank-000.parquet").write_bytes(b"PAR1")
    assert main(["report", *map(str, names), "--out", str(tmp_path / "PAGE.HTM")]) == 0
    shown = ", ".join(map(str, names[1:5]))
    out = capsys.readouterr().out
    assert out.startswith(f"The page compares 6 runs: {shown}, 2 others\n")


def test_plot_writes_one_picture(run: Path, capsys: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert main(["plot", str(run)]) == 0
    raw = (run / "solution.png").read_bytes()
    assert raw.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", raw[16:24])
    assert 700 < width < 900
    assert height > 300
    for what in ("convergence", "evaluations", "seconds", "migration", "lineage"):
        assert main(["plot", str(run), what, "--out", str(tmp_path / f"{what}.svg")]) == 0
        assert b"<svg" in (tmp_path / f"{what}.svg").read_bytes()
        drawn = (tmp_path / f"{what}.svg").read_text()
        assert ">demo/tsp, eax</" in drawn
        assert re.search(r">best [\d,]+, gap [\d.]+%, seed 1</", drawn)
    assert main(["plot", str(run), "islands", "--out", str(tmp_path / "same.svg")]) == 0
    assert (tmp_path / "same.svg").read_bytes() == (tmp_path / "migration.svg").read_bytes()
    assert main(["plot", str(run), "tour", "--out", str(tmp_path / "tour.png")]) == 0
    assert (tmp_path / "tour.png").read_bytes() == raw
    capsys.readouterr()
    assert main(["plot", str(run), "island"]) == 2
    assert "unknown picture 'island'. Did you mean 'islands'?" in capsys.readouterr().err
    assert main(["plot", str(run), "--out", str(tmp_path / "a.jpg")]) == 2
    assert "must end in .png or .svg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "fix"),
    [
        (["--interval", "9"], "no migrant arrived. Run it again for more generations, or with a"),
        (["--migration", "none"], "had no migration. Run it again with another --migration, such"),
        (["--set", "record.migrations=false"], "Run it again with record.migrations=true"),
    ],
)
def test_a_picture_without_migrants_names_the_fix(
    settings: list[str], fix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    sizes = ["--population", "16", "--islands", "2", "--backend", "cpu", "--improver", "none"]
    out = ["--out", str(tmp_path / "run"), "--stop", "generations=2", "--quiet"]
    assert main(["run", "demo/tsp", *sizes, *settings, *out]) == 0
    for what in ("migration", "lineage"):
        assert main(["plot", str(tmp_path / "run"), what]) == 2
        assert fix in capsys.readouterr().err


@pytest.mark.usefixtures("_without_rendering")
def test_pictures_and_pages_are_removed_with_their_run(run: Path) -> None:
    assert main(["plot", str(run)]) == main(["report", str(run)]) == 0
    again = [*RUN, "--stop", "generations=12", "--out", str(run), "--force"]
    assert main(again) == 0
    assert not (run / "solution.png").exists()
    assert not (run / "report.html").exists()


def test_run_draws_its_solution(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("matplotlib")
    line = [*RUN, "--stop", "generations=2", "--plot", "--out", str(tmp_path / "a")]
    assert main(line) == 0
    assert f"Drew {tmp_path}/a/solution.png\n" in capsys.readouterr().out
    assert (tmp_path / "a" / "solution.png").exists()
    assert main([*line, "--runs", "2"]) == 2
    assert "--plot draws the solution of one run" in capsys.readouterr().err


def test_without_matplotlib_one_error_names_the_extra(
    run: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    for command in ("report", "plot"):
        assert main([command, str(run)]) == 2
        error = capsys.readouterr().err
        assert "pip install 'islands[report]'" in error
        assert error.count("\n") == 1


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


def test_export_merges_ranks(tmp_path: Path, standing_ranks: StandingRanks, capsys: Any) -> None:
    for ranks, folder in ((2, "two"), (1, "one")):
        line = [*RUN, "--threads", "1", "--stop", "generations=6", "--out", str(tmp_path / folder)]
        assert standing_ranks.run(ranks, "-m", "islands", *line).returncode == 0
        assert (
            main(["export", str(tmp_path / folder), "--parquet", str(tmp_path / f"{folder}.p")])
            == 0
        )
    two, one = (parquet.read_table(tmp_path / f"{name}.p") for name in ("two", "one"))
    assert two["rank"].to_pylist() == [0, 0, 1, 1] * (len(two) // 4)
    for name in ("island", "generation", "best", "mean", "worst", "distance", "distinct"):
        assert two[name].to_pylist() == one[name].to_pylist()


def test_export_of_a_run_that_is_killed(run: Path, tmp_path: Path, capsys: Any) -> None:
    from fakes import FakeProblem

    from islands.archipelago.measure import IslandMeasure
    from islands.progress.progress import Epoch, Progress
    from islands.record.records import Trace

    folder = tmp_path / "killed"
    shutil.copytree(run, folder)
    (folder / "solution.parquet").unlink()
    trace = Trace(folder, 0, 7, FakeProblem())
    for generation in (0, 5):
        measures = [IslandMeasure(i, 10 - i, 205, 20.5, 30, 0, 7) for i in (0, 1)]
        trace.add(Epoch(measures, None, Progress(generation, 14, 2.0 * generation, 5, 5, 0, 20.5)))
        trace.kept()
    stream = folder / "trace" / "rank-000.7.unfinished.arrows"
    with stream.open("ab") as end:
        end.write(b"\xff\xff\xff\xff\x00\x01")  # the next batch is incomplete
    file = tmp_path / "rows.parquet"
    assert main(["export", str(folder), "--parquet", str(file)]) == 0
    assert parquet.read_table(file)["generation"].to_pylist() == [0, 0, 5, 5]


def test_export_refuses_what_it_cannot_write(run: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["export", str(run)]) == 2
    assert "Add --csv FILE or --parquet FILE" in capsys.readouterr().err
    assert main(["export", str(run), "traces", "--csv", str(tmp_path / "a")]) == 2
    assert "Did you mean 'trace'?" in capsys.readouterr().err
    assert main(["export", str(tmp_path), "--csv", str(tmp_path / "a")]) == 2
    assert "contains no run" in capsys.readouterr().err


def test_a_result_draws_the_pictures_of_islands_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    few = {"islands": 4, "population": 16, "improver": "none", "backend": "cpu", "interval": 2}
    record = {"record": {"every": 2}}
    for out in (None, tmp_path / "a"):
        result = islands.solve("demo/tsp", generations=8, out=out, **few, **record)
        tour = result.plot(what="solution").get_lines()[0].get_xydata()
        assert len(tour) == 121
        assert tour[0].tolist() == tour[-1].tolist()
        for what in ("convergence", "islands", "lineage"):
            assert result.plot(what=what).figure is not None
        axes = result.plot()
        assert result.plot(axes, "solution") is axes
        with pytest.raises(islands.IslandsError, match="lineage needs a figure of its own"):
            result.plot(axes, "lineage")
    assert isinstance(result.trace(), pa.Table)
