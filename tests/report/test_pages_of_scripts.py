"""Pages and pictures of problems that a script defines, with and without the script."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked_pages import page
from commands_for_tests import Capture, Patch

import islands
from islands.cli import main

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


@pytest.mark.slow
def test_a_script_of_others_is_not_run(tmp_path: Path, monkeypatch: Patch) -> None:
    folder = scripted(tmp_path, "problem")
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "other"))  # another user has another key
    assert "drawn by the script" not in page(folder)
    assert "drawn by the script" in page(folder, trusted=True)
