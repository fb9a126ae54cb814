"""`islands bench colonies`: colonies against each of them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples_for_tests import FOLDER

from islands.bench import LONG
from islands.bench.base import BenchRequest
from islands.bench.colonies import ColonyRow, measure
from islands.cli import main
from islands.errors import UsageError
from islands.parallel import World

pytest.importorskip("scipy")


def test_all_methods_run_with_the_same_seeds_and_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mixes = f"demo/qap,{FOLDER / 'flow_shop.py'}:problem"
    line = ["bench", "colonies", "--mixes", mixes, "--seeds", "2", "--limit", "0.2"]
    line += ["--backend", "cpu", "--threads", "1", "--islands-a-rank", "4", "--interval", "3"]
    line += ["--colony", "algorithm=ga encoding=permutation population=16"]
    line += ["--colony", "algorithm=brkga population=16", "--quiet", "--json"]
    assert main([*line, "--out", str(tmp_path / "found")]) == 0
    rows = json.loads(capsys.readouterr().out)["colonies"]
    assert len((tmp_path / "found" / "colonies.csv").read_text().splitlines()) == 1 + 12
    assert [row["method"] for row in rows[:6]] == [
        *("together", "together", "ga permutation", "ga permutation", "brkga", "brkga"),
    ]
    assert [row["migrates"] for row in rows] == [True, False] * 6
    for row in rows:
        islands = sum(int(colony["islands"]) for colony in row["colonies"])
        assert (row["runs"], islands, len(row["costs"])) == (2, 4, 2)
        assert 0.2 <= row["seconds"] < 5
        assert row["best"] == min(row["costs"]) <= row["mean"]
    for instance in (rows[:6], rows[6:]):
        assert instance[0]["p"] is None
        assert all(0 < row["p"] <= 1 for row in instance[1:])
        assert sum(row["mean_rank"] for row in instance) == pytest.approx(21)
        text = ColonyRow(**instance[1]).line()
        assert abs(len(text) - len(ColonyRow.HEADER)) <= 12, text


def test_a_single_colony_is_refused() -> None:
    request = BenchRequest(World(), ["cpu"], mixes=("demo/tsp",), colony=("algorithm=ga",))
    with pytest.raises(UsageError, match=r"demo/tsp has one colony. Name two or more"):
        next(measure(request))


def test_the_study_runs_only_if_it_is_named() -> None:
    assert "colonies" in LONG
