"""`islands bench quality` and `islands bench colonies`: tables and statistical tests of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from results_for_tests import run_row

from islands.bench import quality
from islands.bench.base import BenchRequest
from islands.bench.quality_rows import MomentRow, QualityMeans, QualityRow, TargetRow, moments
from islands.bench.quality_runs import RunRow, with_references
from islands.bench.quality_tests import contrasts, rank_rows
from islands.cli import main
from islands.parallel import world

COURSE = ((0.5, 300), (1.0, 202), (2.0, 200.2), (4.0, 200.0))
"""Gaps of 50, 1, 0.1 and 0 % to 200."""


def command(*words: str) -> list[str]:
    return ["bench", "quality", *words, "--backend", "cpu", "--threads", "1", "--quiet"]


def test_a_row_shows_gaps_hits_and_times() -> None:
    rows = [
        run_row(seed=1, course=COURSE, seconds=4.0),
        run_row(seed=2, course=COURSE[:3], seconds=10.0),
        run_row(seed=3, course=COURSE[:1], seconds=10.0),
    ]
    row = QualityRow.of(rows)
    assert (row.known, row.best, row.runs, row.hits) == (200, 200, 3, 1)
    assert row.mean_gap == pytest.approx((0 + 0.1 + 50) / 3)
    assert row.worst_gap == 50
    assert row.seconds == 8.0
    assert row.seconds_to_best == pytest.approx((4 + 2 + 0.5) / 3)
    assert (row.to_1, row.to_0_1, row.to_0_01) == (1.0, 2.0, None)
    assert (row.to_known_10, row.to_known_50, row.to_known_90) == (4.0, None, None)
    target = TargetRow.of("1 %", rows)
    assert (target.reached, target.seconds_10, target.seconds_90) == (2, 1.0, None)
    means = QualityMeans.of("set", [row])
    assert (means.instances, means.reached, means.always, means.hits) == (1, 1, 0, 1)


def test_gaps_over_time_are_means_of_all_runs() -> None:
    rows = [
        run_row(seed=1, course=COURSE, limit=4.0),
        run_row(seed=2, course=COURSE[1:], limit=4.0),
    ]
    found = {each.seconds: each for each in MomentRow.all_of("set", rows)}
    assert list(found) == moments(4.0) == [0.1, 0.2, 0.5, 1, 2, 4]
    assert found[0.5].mean_gap is None  # the second run has no solution yet
    assert found[1].mean_gap == pytest.approx(1)
    assert (found[4].mean_gap, found[4].hits) == (0, 2)
    assert moments(0.05) == [0.05]


def test_without_a_best_known_value_gaps_are_to_the_best_of_all_runs() -> None:
    rows = [run_row(cost=cost, reference=None, is_known=False) for cost in (110, 100, 120)]
    found = with_references(rows)
    assert [each.final for each in found] == [10, 0, 20]
    assert not any(each.hits for each in found)
    row = QualityRow.of(found)
    assert (row.known, row.mean_gap, row.to_1, row.best) == (None, None, None, 100)


@pytest.mark.slow
def test_methods_are_tested_against_the_first() -> None:
    rows = [
        run_row(method=method, seed=seed, cost=base + seed, instance=instance)
        for instance in ("a", "b")
        for method, base in (("first", 300), ("worse", 400), ("better", 210))
        for seed in range(8)
    ]
    found = {(each.instance, each.method): each for each in contrasts(rows)}
    assert set(found) == {(i, m) for i in ("a", "b") for m in ("worse", "better")}
    assert (found["a", "worse"].a_gap, found["a", "better"].a_gap) == (0.0, 1.0)
    # All values of 8 are on one side: 2 of the 12870 ways to choose 8 of 16, times 4 tests.
    assert found["b", "worse"].p_gap == pytest.approx(4 * 2 / 12870)
    ranks = {each.method: each for each in rank_rows(rows)}
    assert [ranks[each].mean_rank for each in ("better", "first", "worse")] == [1, 2, 3]
    assert (ranks["first"].p, ranks["worse"].problems) == (None, 16)


def test_equal_gaps_are_compared_by_time() -> None:
    rows = [
        run_row(method=method, seed=seed, course=((factor * (1 + seed), 200),))
        for method, factor in (("slow", 100), ("fast", 1))
        for seed in range(6)
    ]
    (found,) = contrasts(rows)
    assert (found.p_gap, found.a_gap, found.target) == (1.0, 0.5, 0.0)
    assert (found.a_time, found.p_time) == (1.0, pytest.approx(2 / 924))
    assert list(contrasts([each for each in rows if each.method == "slow"])) == []


@pytest.mark.slow
def test_runs_are_kept_and_used_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    line = command("--of", "demo/qap,demo/mkp", "--limit", "0.2", "--seeds", "2", "--json")
    line += ["--variant", "default", "--variant", "algorithm=cellular population=36"]
    assert main([*line, "--out", str(tmp_path)]) == 0
    first = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "bench.json").read_text()) == first
    assert {"quality.csv", "gap-demo-qap.png", "time-all.png"} <= {
        each.name for each in tmp_path.iterdir()
    }
    runs = [RunRow(**row) for row in first["quality_runs"]]
    assert [(each.method, each.seed) for each in runs[:4]] == [
        *(("default", 1), ("default", 2)),
        *(("algorithm=cellular population=36", seed) for seed in (1, 2)),
    ]
    assert {each.population for each in runs if each.method != "default"} == {36}
    for each in runs:
        times, costs = zip(*each.course, strict=True)
        assert times == tuple(sorted(times))
        assert costs[-1] == each.cost
        assert sorted(costs, reverse=not each.maximise) == list(costs)
    # The second command finds all runs, although one line is cut off, which it repeats.
    kept = tmp_path / "runs.jsonl"
    whole = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(whole[:-1]) + whole[-1][:30])
    assert main([*line, "--out", str(tmp_path)]) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["quality_runs"][:-1] == first["quality_runs"][:-1]
    assert kept.read_text().splitlines(keepends=True)[:-1] == whole[:-1]
    assert second["provenance"]["islands"] == first["provenance"]["islands"]


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("variant", ["default", "islands=1"])
def test_all_ranks_take_part(variant: str, tmp_path: Path) -> None:
    ranks = world()
    options: dict[str, Any] = {"of": ("demo/qap",), "variant": (variant,), "out": tmp_path}
    request = BenchRequest(ranks, ["cpu"], limit=0.1, seeds=1, threads=1, **options)
    if ranks.rank == 0:
        request.campaign.ledger.open(tmp_path)
    rows = [each for each in quality.measure(request) if isinstance(each, RunRow)]
    assert [each.ranks for each in rows] == [ranks.size]
    assert len(set(ranks.allgather(rows[0].cost))) == 1
    assert (tmp_path / "runs.jsonl").exists() == (ranks.rank == 0)


pytest.importorskip("scipy")
