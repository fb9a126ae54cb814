from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from islands.cli import verify
from islands.errors import InputError
from islands.paths import data_folder

OPTIMAL = data_folder("instances") / "tsp" / "demo.opt.tour"


def run(*line: str) -> int:
    parser = argparse.ArgumentParser()
    verify.add_arguments(parser)
    return verify.main(parser.parse_args(line))


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Return a file whose first two cities are the same one."""
    path = tmp_path / "twice.tour"
    lines = OPTIMAL.read_text().splitlines()
    first = lines.index("TOUR_SECTION") + 1
    lines[first + 1] = lines[first]
    path.write_text("\n".join(lines))
    return path


def test_an_optimal_tour(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/tsp", str(OPTIMAL)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["length 8637", "best known 8637 (optimal)   gap 0.00%", "feasible"]


def test_a_bare_name_is_looked_for_beside_the_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("demo/tsp", OPTIMAL.name) == 0
    assert "length 8637\n" in capsys.readouterr().out


def test_a_runs_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "solution.tour").write_bytes(OPTIMAL.read_bytes())
    assert run("demo/tsp", str(tmp_path)) == 0
    assert "length 8637\n" in capsys.readouterr().out


def test_an_infeasible_tour(twice: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/tsp", str(twice)) == 1
    out = capsys.readouterr().out
    assert (
        "infeasible: not a tour of demo/tsp: city 1 is visited twice, at positions 1 and 2" in out
    )
    assert "length" not in out


def test_json_is_one_object(twice: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo/tsp", str(OPTIMAL), "--json") == 0
    right = json.loads(capsys.readouterr().out)
    assert run("demo/tsp", str(twice), "--json") == 1
    wrong = json.loads(capsys.readouterr().out)
    assert (right["cost"], right["best_known"], right["gap"]) == (8637, 8637, 0.0)
    assert (right["feasible"], right["reason"]) == (True, None)
    assert (wrong["feasible"], wrong["cost"], wrong["gap"]) == (False, None, None)
    assert "city 1 is visited twice" in wrong["reason"]


def test_a_missing_file_says_where_it_was_looked_for() -> None:
    with pytest.raises(InputError, match=r"none\.tour: no such file, nor one beside .*demo\.tsp"):
        run("demo/tsp", "none.tour")


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("att48", 10628),
        ("gr666", 294358),
        ("ulysses16", 6859),
        ("pcb442", 50778),
        ("pa561", 2763),
        ("bayg29", 1610),
    ],
)
def test_published_tours(
    published: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    length: int,
) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    assert run(f"tsplib/{name}", f"{name}.opt.tour") == 0
    assert f"length {length}\n" in capsys.readouterr().out


def test_what_may_not_be_looked_for_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match=r"^xxx.*: File name too long\. Name a file that can be"):
        run("demo/tsp", "x" * 300)
