"""`islands bench quality` and `gpus`: rows compared with NumPy, and statistical tests."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from results_for_tests import gpu_row, run_row

from islands.cli import main
from islands.parallel import world
from islands.studies.bench import gpus
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.gpus_rows import RUNS, SPEED, SPEEDS, speed_rows, target_rows
from islands.studies.bench.quality_rows import (
    contrasts,
    means_row,
    quality_row,
    rank_rows,
    target_row,
)
from islands.studies.bench.quality_runs import RunRow

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
    row = quality_row(rows)
    assert (row["known"], row["best"], row["runs"], row["hits"]) == (200, 200, 3, 1)
    assert row["mean_gap"] == pytest.approx((0 + 0.1 + 50) / 3)
    assert row["worst_gap"] == 50
    assert row["seconds"] == 8.0
    assert row["seconds_to_best"] == pytest.approx((4 + 2 + 0.5) / 3)
    assert (row["to_1"], row["to_0_1"], row["to_0_01"]) == (1.0, 2.0, None)
    assert (row["to_known_10"], row["to_known_50"], row["to_known_90"]) == (4.0, None, None)
    target = target_row("1 %", rows)
    assert (target["reached"], target["seconds_10"], target["seconds_90"]) == (2, 1.0, None)
    means = means_row("set", [row])
    assert (means["instances"], means["reached"], means["always"], means["hits"]) == (1, 1, 0, 1)


@pytest.mark.slow
def test_methods_are_tested_against_the_first() -> None:
    rows = [
        run_row(method=method, seed=seed, cost=base + seed, instance=instance)
        for instance in ("a", "b")
        for method, base in (("first", 300), ("worse", 400), ("better", 210))
        for seed in range(8)
    ]
    found = {(each["instance"], each["method"]): each for each in contrasts(rows)}
    assert set(found) == {(i, m) for i in ("a", "b") for m in ("worse", "better")}
    assert (found["a", "worse"]["a_gap"], found["a", "better"]["a_gap"]) == (0.0, 1.0)
    # All values of 8 are on one side: 2 of the 12870 ways to choose 8 of 16, times 4 tests.
    assert found["b", "worse"]["p_gap"] == pytest.approx(4 * 2 / 12870)
    ranks = {each["method"]: each for each in rank_rows(rows)}
    assert [ranks[each]["mean_rank"] for each in ("better", "first", "worse")] == [1, 2, 3]
    assert (ranks["first"]["p"], ranks["worse"]["problems"]) == (None, 16)


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


pytest.importorskip("scipy")


def request(**options: Any) -> BenchRequest:
    usual: dict[str, Any] = {"limit": 0.2, "seeds": 1, "threads": 1, "of": ("demo/qap",)}
    return BenchRequest(world(), ["cpu"], **(usual | options))


@pytest.mark.slow
@pytest.mark.mpi(min_size=2)
def test_all_numbers_of_ranks_have_the_same_solutions() -> None:
    ranks = world()
    rows = [*gpus.measure(request(stop=3, variant=("islands=1 population=8",)))]
    assert ranks.allgather(rows) == [rows] * ranks.size
    sizes = sorted({1, 2, ranks.size})
    speed = [row for row in rows if row.table is SPEEDS]
    assert [(row["ranks"], row["digests"]) for row in speed] == [
        (each, "-" if each == 1 else "same") for each in sizes
    ]
    runs = [row for row in rows if row.table is RUNS and row["purpose"] == SPEED]
    assert [row["ranks"] for row in runs] == sizes
    assert len({row["digest"] for row in runs}) == 1
    for row in runs:
        assert 0 <= row["exchange"] + row["migration"] + row["waiting"] + row["idle"] <= 1 + 1e-9


def test_times_to_a_target_are_those_of_numpy() -> None:
    times = {1: [8.0, 4.0, 6.0, 2.0, 9.0], 2: [4.0, 3.0, 2.0, 1.0, 5.0]}
    runs = {
        ranks: [gpu_row(ranks, each, seed=seed) for seed, each in enumerate(mine)]
        for ranks, mine in times.items()
    }
    for gap, factor, name in ((0.0, 1.0, "best known"), (0.1, 0.5, "0.1 %")):
        one, two = target_rows(gap, runs)
        assert (one["target"], one["ranks"], two["ranks"]) == (name, 1, 2)
        for row in (one, two):
            found = [row["seconds_10"], row["seconds_50"], row["seconds_90"]]
            shown = np.quantile(times[row["ranks"]], [0.1, 0.5, 0.9], method="inverted_cdf")
            assert found == pytest.approx((factor * shown).tolist())
            assert row["reached"] == 5
        assert (one["speed_up"], one["efficiency"]) == (1.0, 1.0)
        assert two["speed_up"] == pytest.approx(np.median(times[1]) / np.median(times[2]))
        assert two["efficiency"] == pytest.approx(two["speed_up"] / 2)
        assert (two["exchange"], two["waiting"]) == pytest.approx((0.1, 0.2))


def test_the_speed_excludes_generation_0() -> None:
    usual = {"generations": 10, "evaluations": 1100, "start_evaluations": 100}
    runs = {
        1: [gpu_row(1, 12.0, seconds=12.0, start_seconds=2.0, **usual)],
        2: [gpu_row(2, each, seconds=each, start_seconds=1.0, **usual) for each in (5.0, 6.0, 9.0)],
    }
    one, two = speed_rows(runs)
    assert (one["evaluations_per_second"], one["generations_per_second"]) == (100, 1)
    assert (two["evaluations_per_second"], two["generations_per_second"]) == (200, 2)
    assert (two["speed_up"], two["efficiency"], two["runs"], two["start_seconds"]) == (2, 1, 3, 1)
    assert two["spread"] == pytest.approx((250 - 125) / 200)
