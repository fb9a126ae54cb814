"""Pages of runs: what they say, and that they need nothing else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from checked_pages import Checked, experiment, page, plain

from islands.errors import InputError
from islands.record.solution import recorded
from islands.report.figure import style
from islands.report.folders import page_for
from islands.report.page import Page, facts, figure, folded, note, paragraph, table
from islands.report.recorded import RecordedRun


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tsp", "qap", "mkp"])
def test_the_page_of_a_run_shows_all_of_it(runs: Path, name: str) -> None:
    text = page(runs / name)
    words = plain(text)
    result = recorded(runs / name).result
    assert f"best {result.cost:,}" in words
    assert f"demo/{name}, ga, seed 2" in words
    for heading in ("Course", "Solution", "Migration", "Time", "Origin", "Settings"):
        assert f"<h2>{heading}</h2>" in text
    # Costs and diversity, costs twice, the solution, the lineage, the matrix and the phases.
    assert text.count("<svg") == 8
    assert "migration.interval 3" in words
    assert f"repeat it with islands run --config {runs / name / 'run.toml'} " in words
    assert "same digest again yes" in words


def unfinished(runs: Path, folder: Path) -> Path:
    """Return a copy of a run that looks as if it went on."""
    shutil.copytree(runs / "tsp", folder / "going")
    (folder / "going" / "solution.parquet").unlink()
    return folder / "going"


@pytest.mark.slow
def test_an_unfinished_run_shows_its_rows_so_far(runs: Path, tmp_path: Path) -> None:
    text = page(unfinished(runs, tmp_path))
    assert "This run is not finished" in text
    assert "<h2>Course</h2>" in text
    assert "<h2>Solution</h2>" not in text
    run = RecordedRun.read(runs / "tsp")
    assert run.result is not None
    assert f"best so far {run.best:,.0f} best known 8,637 gap {run.result.gap:.2f}%" in plain(text)


@pytest.mark.slow
def test_a_run_without_rows(runs: Path, tmp_path: Path) -> None:
    folder = unfinished(runs, tmp_path)
    shutil.rmtree(folder / "trace")
    assert "The trace has no rows yet" in page(folder)
    # A run that was killed before its first row leaves an empty stream.
    (folder / "trace").mkdir()
    (folder / "trace" / "rank-000.1.unfinished.arrows").touch()
    assert "The trace has no rows yet" in page(folder)


def test_a_damaged_file_and_another_version_give_one_clear_error(
    runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs / "tsp", tmp_path / "damaged")
    file = tmp_path / "damaged" / "trace" / "rank-000.parquet"
    seconds = parquet.read_metadata(file).row_group(0).column(2)
    raw = bytearray(file.read_bytes())
    raw[seconds.data_page_offset + seconds.total_compressed_size - 2] ^= 255
    file.write_bytes(raw)
    with pytest.raises(InputError, match=r"rank-000\.parquet: .*damaged/run\.toml$"):
        page(tmp_path / "damaged")
    parquet.write_table(parquet.read_table(runs / "tsp" / "trace" / "rank-000.parquet"), file)
    with pytest.raises(InputError, match="has no checksum"):
        page(tmp_path / "damaged")
    shutil.copytree(runs / "tsp", tmp_path / "older")
    settings = tmp_path / "older" / "run.toml"
    text = settings.read_text()
    settings.write_text(re.sub(r"format \d+", "format 3", text, count=1))
    with pytest.raises(InputError, match="has format 3, written by islands"):
        page(tmp_path / "older")
    (tmp_path / "experiment").mkdir()
    experiment(tmp_path / "experiment")
    with pytest.raises(InputError, match="islands reproduce"):
        page_for([runs / "tsp", tmp_path / "experiment"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: contains no run"):
        page(tmp_path / "empty")
    with pytest.raises(InputError, match="nowhere: no such folder"):
        page(tmp_path / "nowhere")


def test_a_setting_of_matplotlib_that_starts_another_program_has_no_effect() -> None:
    """Matplotlib reads a matplotlibrc in the current folder, which may be somebody else's."""
    mpl = pytest.importorskip("matplotlib")
    with mpl.rc_context({"text.usetex": True}), style():
        assert mpl.rcParams["text.usetex"] is False


def test_text_of_any_source_is_escaped() -> None:
    evil = "<script>alert('&')</script>"
    made = Page(evil)
    made.add(facts([(evil, evil)]), table([{evil: evil}]), paragraph(evil), note(evil))
    made.section(evil, figure("", evil, folded(evil, paragraph(evil))))
    text = made.html()
    Checked(text)
    assert text.count("<script") == 1
    assert plain(text).count("<script>") == 0
    assert text.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;") == 12
