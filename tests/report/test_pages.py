"""Pages of runs, tunings and experiments: what they say, and that they need nothing else."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from checked_pages import Checked, experiment, page, plain
from commands_for_tests import Capture
from matplotlib.backends.backend_agg import FigureCanvasAgg

import islands
from islands.cli import main
from islands.errors import InputError, UsageError
from islands.modelling.model import Model, restored
from islands.record.solution import recorded
from islands.report.figure import inline, new_figure, style
from islands.report.page import Page, facts, figure, folded, note, paragraph, table
from islands.report.ready import drawing_of
from islands.report.recorded import RecordedRun
from islands.studies.pages.campaigns import stored_picture
from islands.studies.pages.folders import page_for


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tsp", "qap", "mkp"])
def test_the_page_of_a_run_shows_all_of_it(runs: Path, name: str) -> None:
    text = page(runs / name)
    words = plain(text)
    result = recorded(runs / name).result
    assert f"best {result.cost:,}" in words
    assert f"demo/{name}, ga, seed 2" in words
    for heading in ("Convergence", "Solution", "Migration", "Time", "Origin", "Settings"):
        assert f"<h2>{heading}</h2>" in text
    # Costs and diversity, costs twice, the solution, the lineage, the matrix and the phases.
    assert text.count("<svg") == 8
    assert "migration.interval 3" in words
    assert f"repeat it with islands run --config {runs / name / 'run.toml'} " in words
    assert "same digest again yes" in words


@pytest.mark.slow
def test_an_unfinished_run_shows_its_rows_so_far(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "tsp", tmp_path / "going")
    (tmp_path / "going" / "solution.parquet").unlink()
    text = page(tmp_path / "going")
    assert "This run is not finished" in text
    assert "<h2>Convergence</h2>" in text
    assert "<h2>Solution</h2>" not in text
    run = RecordedRun.read(runs / "tsp")
    assert f"best so far {run.best:,.0f} best known 8,637 gap {run.result.gap:.2f}%" in plain(text)


def test_damaged_files_and_other_versions_give_one_error(runs: Path, tmp_path: Path) -> None:
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
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: not a folder"):
        page(tmp_path / "file")


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
    assert text.count("&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;") == 12


def test_a_stored_picture_is_an_image_in_which_nothing_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text(
        "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(2)</script>"
        "<title>&quot; onload=&quot;alert(3)</title></svg>"
    )
    text, title = stored_picture(path)
    assert re.fullmatch(
        '<img alt="&#34; onload=&#34;alert\\(3\\)" src="data:image/svg\\+xml;base64,[\\w+/=]+">',
        text,
    )
    assert title == '" onload="alert(3)'


@pytest.mark.slow
def test_several_runs_are_compared(methods: Path, tmp_path: Path) -> None:
    words = plain(page(methods))
    assert "12 runs" in words
    for heading in ("Gap over time", "Time to the target", "Tests", "Instances", "Runs"):
        assert heading in words
    assert "Friedman" not in words  # it needs three methods
    assert "6 problems (an instance with a seed)" in words
    one, other = sorted(methods.glob("ga-tsp-*"))[:2]
    assert "2 runs" in plain(page(one, other))
    with pytest.raises(UsageError, match="a run is named twice"):
        page(one, one)


@pytest.mark.slow
def test_runs_without_a_feasible_solution_are_compared(tmp_path: Path) -> None:
    script = "def one(x):\n    return 1.0\nproblem = islands.permutation(5, function=one"
    (tmp_path / "never.py").write_text(f"import islands\n{script}, violation=one)\n")
    folder = str(tmp_path / "never")
    run = ["run", f"{tmp_path / 'never.py'}:problem", "--runs", "2", "--stop", "generations=2"]
    assert main([*run, "--backend", "cpu", "--out", folder]) == 1
    words = plain(page(Path(folder)))
    assert "0 of 2 runs found a solution" in words
    assert "best of these runs, 0" not in words


@pytest.mark.slow
def test_a_damaged_run_among_several_is_left_out(methods: Path, tmp_path: Path) -> None:
    shutil.copytree(methods, tmp_path / "some")
    (tmp_path / "some" / "ga-tsp-1" / "trace" / "rank-000.parquet").write_bytes(b"PAR1")
    words = plain(page(tmp_path / "some"))
    assert "11 runs" in words
    assert "Left out:" in words


SCRIPT = """
import islands

COST = "__device__ long long cost(const Solution& s, int n, const Data& data) { return s[0]; }"


def draw(solution, axes):
    axes.set_title("drawn by " + "the script")
    axes.plot(solution)


problem = islands.permutation(9, cost=COST, name="first-last", plot=draw)


def broken(solution, axes):
    raise ValueError("no picture today")


failing = islands.permutation(9, cost=COST, plot=broken)
"""


def scripted(folder: Path, name: str) -> Path:
    (folder / "mine.py").write_text(SCRIPT)
    few = {"population": 8, "islands": 2, "backend": "cpu"}
    islands.solve(f"{folder / 'mine.py'}:{name}", generations=3, out=folder / name, **few)
    return folder / name


@pytest.mark.slow
def test_a_problem_of_a_script_is_drawn_by_its_function(tmp_path: Path) -> None:
    assert "drawn by the script" in page(scripted(tmp_path, "problem"))
    assert "ValueError: no picture today" in page(scripted(tmp_path, "failing"))


@pytest.mark.slow
def test_a_script_that_has_moved_can_be_named(tmp_path: Path, capsys: Capture) -> None:
    folder = scripted(tmp_path, "problem")
    (tmp_path / "mine.py").rename(tmp_path / "yours.py")
    assert main(["plot", str(folder), "--out", str(tmp_path / "a.svg")]) == 0
    assert "--instance FILE.py:NAME\n" in capsys.readouterr().err
    named = ["--instance", f"{tmp_path / 'yours.py'}:problem"]
    assert main(["plot", str(folder), "--out", str(tmp_path / "b.svg"), *named]) == 0
    assert main(["report", str(folder), *named]) == 0
    assert capsys.readouterr().err == ""
    assert "drawn by the script" not in (tmp_path / "a.svg").read_text()
    for path in (tmp_path / "b.svg", folder / "report.html"):
        assert "drawn by the script" in path.read_text()
    other = f"{tmp_path / 'yours.py'}:failing"
    assert main(["plot", str(folder), "--instance", other]) == 2
    assert main(["report", str(tmp_path), *named]) == 2


EDGES = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
READY = [
    islands.models.max_cut(EDGES),
    islands.models.graph_colouring(EDGES),
    islands.models.job_shop([[0, 1], [1, 0, 0]], [[3, 2], [4, 1, 6]]),
    islands.models.job_shop([[0, [1, 0]], [1, 0, [0]]], [[3, [2, 4]], [4, 1, [6]]], release=[2, 5]),
    islands.models.flow_shop([[3, 2], [1, 4], [2, 1]]),
    islands.models.set_cover([3, 2, 2], [[0, 1], [0, 2], [0]]),
    islands.models.bin_packing([5, 4, 3, 2, 6], 10, 5),
    islands.models.p_median([[0, 3, 9], [3, 0, 7]], 2),
]


def svg(problem: Model, draws: Any) -> str:
    with style():
        drawn = new_figure()
        draws(problem.kind.drawn(1, seed=1)[0], drawn.add_subplot())
    return inline(drawn, draws.__doc__)


@pytest.mark.parametrize("problem", READY, ids=lambda problem: problem.name)
def test_a_stored_ready_model_is_drawn_as_by_its_class(problem: Model) -> None:
    assert svg(problem, drawing_of(restored(problem.saved()))) == svg(problem, problem.draw)


def test_each_row_that_a_chosen_column_covers_is_visible() -> None:
    problem = islands.models.set_cover([3, 2, 2], [[0, 1], [0, 2], [0]])
    with style():
        drawn = new_figure()
        axes = drawn.add_subplot()
        problem.draw(np.array([1, 0, 1]), axes)
        canvas = FigureCanvasAgg(drawn)
        canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3]
    for column, row in [(0, 0), (0, 1), (0, 2), (2, 1)]:
        x, y = axes.transData.transform((column, row)).astype(int)
        assert (pixels[y - 1 : y + 2, x - 1 : x + 2] == (31, 119, 180)).all(), (column, row)


def test_a_ready_model_with_another_hook_is_not_drawn_as_its_base_class() -> None:
    setup = "__device__ int setup(const Data&, int, int, int) { return 1; }"

    class WithSetup(islands.models.FlowShop, setup=setup):
        pass

    assert drawing_of(restored(WithSetup([[3, 2], [1, 4]]).saved())) is None


@pytest.mark.slow
def test_the_cut_of_a_run_from_python_is_plotted(tmp_path: Path, capsys: Capture) -> None:
    islands.solve(READY[0], generations=2, out=tmp_path / "run", backend="cpu")
    capsys.readouterr()
    assert main(["plot", str(tmp_path / "run"), "--out", str(tmp_path / "cut.svg")]) == 0
    assert capsys.readouterr().err == ""
    assert "nodes by class" in (tmp_path / "cut.svg").read_text()


SMALL = {"algorithm": "ga", "population": 16, "islands": 2, "backend": "cpu", "improver": "none"}
OTHER = "The problem is not that of the run"


def run_of(cities: int, folder: Path) -> Path:
    places = np.random.default_rng(1).integers(0, 100, (cities, 2)).tolist()
    islands.solve(islands.tsp(places), generations=5, seed=2, out=folder, **SMALL)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("cities", "others"), [(12, 9), (9, 12)])
def test_the_problem_of_another_run_is_not_drawn(
    cities: int, others: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    run = run_of(cities, tmp_path / "a")
    shutil.copy(run_of(others, tmp_path / "b") / "problem.npz", run)
    assert main(["report", str(run)]) == 0
    assert OTHER in (run / "report.html").read_text()
    capsys.readouterr()
    assert main(["plot", str(run)]) == 0
    assert OTHER in capsys.readouterr().err
