"""`islands bench colonies`: colonies against each of them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples_for_tests import FOLDER

from islands.bench import LONG
from islands.bench.base import BenchRequest
from islands.bench.colonies import measure, methods
from islands.cli import main
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load

pytest.importorskip("scipy")


def test_all_methods_run_with_the_same_seeds_and_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mixes = f"demo/qap,{FOLDER / 'flow_shop.py'}:problem"
    line = ["bench", "colonies", "--mixes", mixes, "--seeds", "2", "--limit", "0.2"]
    line += ["--backend", "cpu", "--threads", "1", "--islands-a-rank", "4", "--interval", "3"]
    line += ["--colony", "algorithm=ga encoding=permutation population=16"]
    line += ["--colony", "algorithm=brkga population=16", "--quiet", "--json"]
    pytest.importorskip("matplotlib")
    assert main([*line, "--out", str(tmp_path / "found")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len((tmp_path / "found" / "quality.csv").read_text().splitlines()) == 1 + 12
    rows, runs = found["quality"], found["quality_runs"]
    names = [
        *("together", "together, no migration"),
        *("colony 0 ga permutation", "colony 0 ga permutation, no migration"),
        *("colony 1 brkga", "colony 1 brkga, no migration"),
    ]
    assert [row["method"] for row in rows] == names * 2
    for row in rows:
        mine = [each for each in runs if all(each[k] == row[k] for k in ("instance", "method"))]
        assert [each["seed"] for each in mine] == [1, 2]
        assert {each["islands"] for each in mine} == {4}
        assert row["best"] == min(each["cost"] for each in mine)
        if row["hits"] == 0:
            assert 0.2 <= row["seconds"] < 5
    algorithms = {each["method"].split(",")[0]: each["algorithm"] for each in runs}
    assert list(algorithms.values()) == ["ga + brkga", "ga", "brkga"]
    assert len(found["quality_tests"]) == 2 * 5
    assert {each["first"] for each in found["quality_tests"]} == {"together"}


def test_only_the_topology_differs_without_migration() -> None:
    request = BenchRequest(World(), ["cpu"], interval=7)
    for problem in (load("demo/tsp"), load("demo/qap"), load("demo/mkp")):
        specs = [each.resolved(problem, 1, {})[0] for each in methods(problem, request)]
        shown = [(each.migration.topology, each.migration.interval) for each in specs]
        assert shown == [("ring", 7), ("none", 7)] * 3
        assert {each.general.islands for each in specs} == {8}


def test_a_single_colony_is_refused() -> None:
    request = BenchRequest(World(), ["cpu"], mixes=("demo/tsp",), colony=("algorithm=ga",))
    with pytest.raises(UsageError, match=r"demo/tsp has one colony. Name two or more"):
        next(measure(request))


def test_the_study_runs_only_if_it_is_named() -> None:
    assert "colonies" in LONG
