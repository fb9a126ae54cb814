from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest
from batches_for_tests import called
from problems_for_tests import facilities, knapsack
from results_for_tests import NEAR_BEST_KNOWN, result

from islands.bench import BENCHES, quality
from islands.bench.base import BenchRequest
from islands.bench.highs import HighsResult, highs, silent_processes
from islands.bench.quality_rows import QualityMeans
from islands.cli import bench, main
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.result import Result

pytest.importorskip("scipy")


def test_highs_finds_the_optimum() -> None:
    problem = knapsack(12, 3)
    choices = (np.arange(1 << 12)[:, None] >> np.arange(12)) & 1
    fits = (choices @ problem.file.weights.T <= problem.file.capacities).all(axis=1)
    end = highs(problem, 20.0)
    assert (end.profit, end.proved) == (problem.costs(choices[fits]).max(), True)


def test_output_of_highs_is_discarded(capfd: pytest.CaptureFixture[str]) -> None:
    with silent_processes(1) as processes:
        assert processes.apply(os.write, (1, b"said")) == 4
        end = processes.apply(highs, (knapsack(12, 3), 20.0))
    assert end.proved
    assert capfd.readouterr().out == ""


def test_busy_processes_end_with_their_block() -> None:
    began = time.monotonic()
    with silent_processes(1) as processes:
        processes.apply_async(time.sleep, (60,))
        (process,) = processes._pool  # type: ignore[attr-defined]
    assert not process.is_alive()
    assert time.monotonic() - began < 30


def test_a_row_shows_gaps_and_hits_of_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = knapsack(12, 3)
    best = int(highs(problem, 20.0).profit or 0)
    problem.best_known = BestKnown(best + 1, "best_known", "")
    monkeypatch.setattr(quality, "load", lambda name: problem)
    request = BenchRequest(World(), ["cpu"], of=("knapsack",), limit=0.1, seeds=2)
    row, means = quality.measure(request)
    gap = 100 / (best + 1)
    assert (row.known, row.best, row.runs, row.hits) == (best + 1, best, 2, 0)
    assert row.mean_gap == row.worst_gap == pytest.approx(gap)
    assert row.seconds >= 0.1
    assert 0 <= row.seconds_to_best <= row.seconds
    assert isinstance(means, QualityMeans)
    assert (means.instances, means.reached) == (1, 0)
    assert means.mean_gap == pytest.approx(gap)
    for each in (row, means):
        assert abs(len(each.line()) - len(each.HEADER)) <= 1
    # A run ends when it reaches the best known value.
    problem.best_known = BestKnown(best, "optimal", "")
    row = next(quality.measure(BenchRequest(World(), ["cpu"], of=("knapsack",), limit=30, seeds=1)))
    assert (row.hits, row.mean_gap, row.highs, row.highs_gap) == (1, 0.0, None, None)
    assert row.seconds < 20


@pytest.mark.parametrize(("known", "near", "maximise"), NEAR_BEST_KNOWN)
def test_a_near_miss_is_not_a_hit(
    known: float, near: float, maximise: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = called("own", known, maximise=maximise)
    request = BenchRequest(World(), ["cpu"], seeds=3)

    def means(*costs: float | None) -> tuple[int, QualityMeans]:
        def run(problem: Problem, request: BenchRequest, backend: str, seed: int) -> Result:
            cost = costs[seed - 1]
            gap = None if cost is None else problem.gap(cost)
            return result(cost=cost, gap=gap, best_known=known)

        monkeypatch.setattr(quality, "_run", run)
        reference = HighsResult(near, 0.25, proved=False)  # type: ignore[arg-type]
        row = quality._measured(problem, request, lambda: reference)
        return row.hits, QualityMeans.of("own", [row])

    hits, mixed = means(near, known, None)
    assert (hits, mixed.hits, mixed.reached, mixed.always, mixed.highs_reached) == (1, 1, 1, 0, 0)
    hits, missed = means(near, near, near)
    assert (hits, missed.hits, missed.reached, missed.always) == (0, 0, 0, 0)
    assert means(known, known, known)[1].always == 1


def test_a_row_shows_the_result_of_highs() -> None:
    problem = knapsack(12, 3)
    best = int(highs(problem, 20.0).profit or 0)
    problem.best_known = BestKnown(best, "optimal", "")
    request = BenchRequest(World(), ["cpu"], limit=0.1, seeds=1)
    rows = [
        quality._measured(problem, request, end)
        for end in (
            lambda: HighsResult(best - 3, 0.25, proved=False),
            lambda: HighsResult(best, 0.05, proved=True),
            lambda: HighsResult(None, 0.1, proved=False),
        )
    ]
    seen = [(each.highs, each.highs_seconds, each.highs_proved) for each in rows]
    assert seen == [(best - 3, 0.25, False), (best, 0.05, True), (None, 0.1, False)]
    assert [each.highs_gap for each in rows] == [pytest.approx(300 / best), 0.0, None]
    means = QualityMeans.of("all", rows)
    assert (means.highs_reached, means.highs_proved) == (1, 1)
    assert means.highs_mean_gap == pytest.approx(150 / best)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_highs_runs_with_either_backend(device: str) -> None:
    problem = knapsack(12, 3)
    request = BenchRequest(World(), [device], limit=20.0, highs=True)
    with silent_processes(1) as pool:
        (wait,) = quality._highs_results([problem], request, pool).values()
        end = wait()
    assert (end.profit, end.proved) == (highs(problem, 20.0).profit, True)


def test_other_problems_are_measured_without_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = facilities(6)
    request = BenchRequest(World(), ["cpu"], limit=0.1, seeds=1, highs=True)
    with silent_processes(1) as pool:
        assert quality._highs_results([problem], request, pool) == {}
    row = quality._measured(problem, request, None)
    assert (row.constraints, row.known, row.mean_gap, row.highs) == (None, None, None, None)
    assert row.best is not None
    assert row.line()


def test_sets_and_patterns_select_instances() -> None:
    assert len(quality.named(["sac94", "gk", "sac94/hp1"])) == 54 + 11
    first = quality.named(["orlib/mknapcb?-?0"])
    assert (len(first), first[1]) == (27, "orlib/mknapcb1-10")
    assert quality.named(["own.dat", "demo/mkp"]) == ["own.dat", "demo/mkp"]


def test_quality_runs_only_if_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "quality" in BENCHES
    assert "quality" not in bench._ALONE
    line = ["bench", "quality", "--of", "demo/mkp", "--limit", "1", "--seeds", "1", "--json"]
    assert main([*line, "--backend", "cpu", "--out", str(tmp_path)]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert tables["quality"][0]["instance"] == "demo/mkp"
    assert tables["quality_means"][0]["instances"] == 1
    assert (tmp_path / "quality.csv").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--limit", "0"], "--limit 0: must be a finite number above 0"),
        (["--seeds", "0"], "--seeds 0: must be at least 1"),
        (["--of", "nowhere/a"], "unknown instance 'nowhere/a'"),
    ],
)
def test_invalid_options_are_refused(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "quality", *line, "--backend", "cpu"]) == 2
    assert message in capsys.readouterr().err
