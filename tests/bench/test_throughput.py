"""The throughput benchmarks of the algorithms."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from problems_for_tests import knapsack

from islands.bench import algorithms
from islands.bench.base import BenchRequest
from islands.bench.throughput import AlgorithmBench, copy_bandwidth
from islands.cli import main
from islands.parallel import World


def measured(bench: AlgorithmBench, generations: int, **changes: Any) -> list[Any]:
    """Return the rows of a short benchmark on the CPU."""
    short = replace(bench, seconds={"cpu": 0.01}, **changes)
    request = BenchRequest(world=World(), backends=["cpu"], generations=generations)
    return list(short.measure(request))


def test_brkga_counts_keys_and_bytes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short = replace(algorithms.BRKGA, instances={"national/random": 30, "national/wi29": 29})
    monkeypatch.setattr(algorithms, "BRKGA", short)
    monkeypatch.setattr(algorithms, "copy_bandwidth", lambda backend: 1e9)
    assert main(["bench", "brkga", "--backend", "cpu", "--generations", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["brkga"]
    assert [row["size"] for row in rows] == [30, 29]
    for row in rows:
        seconds = row["milliseconds"] / 1000
        # 3 islands of 256: 25 elite, copied (2 rows), 25 mutants (1), 206 children (2 + 1).
        assert row["share_of_copy"] == row["bytes_per_second"] / 1e9
        assert row["keys_per_second"] * seconds == pytest.approx(3 * 231 * row["size"])
        assert row["bytes_per_second"] * seconds == pytest.approx(
            3 * (206 * 3 + 25 + 50) * row["size"] * 4
        )


def test_copy_bandwidth_is_plausible(backend) -> None:
    assert 1e8 < copy_bandwidth(backend, repeats=2) < 1e14


def test_de_evaluates_1024_trials_per_generation() -> None:
    [row] = measured(algorithms.DE, 3, instances={"qaplib/absent": (2, 3)})
    assert (row["size"], row["runs"]) == (6, 1)
    assert 2 <= row["generations"] <= 3  # fewer on a busy machine
    assert row["evaluations_per_second"] == pytest.approx(1024 * row["generations_per_second"])
    assert row["cost"] > 0


def test_evaluations_include_all_concurrent_runs_and_the_improver() -> None:
    settings = {"b": {"preset": "jardim2021-b"}}
    [row] = measured(
        algorithms.DE,
        2,
        instances={"qaplib/absent": (2, 3)},
        settings=settings,
        runs={"cpu": (3,)},
    )
    assert (row["runs"], row["generations"]) == (3, 2)
    calls = row["evaluations_per_second"] * row["microseconds"] / 1e6
    # A fifth of the trials is improved by one exchange, which takes 1 to 15 calls.
    assert 3 * 1024 < calls < 3 * 1024 + 15 * 0.25 * 3 * 1024


@pytest.mark.published
@pytest.mark.usefixtures("published")
def test_cellular_counts_children_and_exchanges() -> None:
    [row] = measured(algorithms.CELLULAR, 10, instances={"qaplib/chr12a": 2.0})
    assert (row["instance"], row["size"], row["runs"], row["generations"]) == ("chr12a", 12, 1, 10)
    # Two children of each of 2048, and 11 exchanges of each every tenth generation.
    per_second = 2048 * (2 + 11 / 10) / (row["milliseconds"] / 1000)
    assert row["evaluations_per_second"] == pytest.approx(per_second)
    assert row["speedup"] == pytest.approx(2.0 / (5 * row["milliseconds"]))
    assert len(row.line()) == pytest.approx(len(row.table.header), abs=2)


def test_ga_counts_children_of_each_setting() -> None:
    whole, steady = measured(
        algorithms.GA, 2, instances={"some": None}, read=lambda *_: knapsack(40, 5)
    )
    assert (whole["setting"], whole["individuals"], whole["generations"]) == (
        "dantas2014",
        8 * 512,
        2,
    )
    assert whole["children_per_second"] == pytest.approx(4096 / (whole["milliseconds"] / 1000))
    assert (steady["items"], steady["constraints"], steady["individuals"]) == (40, 5, 8 * 64)
    # Half of the population has one child each, and so has each duplicate individual.
    a_generation = steady["children_per_second"] * steady["milliseconds"] / 1000
    assert 256 <= a_generation < 1.2 * 256
    assert len(steady.line()) == pytest.approx(len(steady.table.header), abs=2)


def test_pso_moves_512_particles_with_either_preset() -> None:
    rows = measured(
        algorithms.PSO, 12, instances={"some": (1.0, 2.0)}, read=lambda *_: knapsack(20, 3)
    )
    assert [row["preset"] for row in rows] == ["munhao2019-m1", "munhao2019-m2"]
    for row, published in zip(rows, (1.0, 2.0), strict=True):
        assert (row["size"], row["runs"]) == (20, 1)
        assert 10 <= row["generations"] <= 12
        per_second = 512 / (row["milliseconds"] / 1000)
        assert row["evaluations_per_second"] == pytest.approx(per_second)
        assert row["speedup"] == pytest.approx(published / (0.6 * row["milliseconds"]))
        assert len(row.line()) == pytest.approx(len(row.table.header), abs=2)


def test_eax_counts_children_in_passes_of_limited_length() -> None:
    [row] = measured(
        algorithms.EAX,
        1000,
        instances={"some": 200},
        read=lambda *_: algorithms.cities("absent", 200),
        most=30,
    )
    assert (row["size"], row["tours"]) == (200, 30)
    assert 20 <= row["generations"] <= 30
    children = row["children_per_second"] * row["microseconds"] / 1e6
    assert 0 < children <= 30 * 30  # none where a population has converged
    assert len(row.line()) == pytest.approx(len(row.table.header), abs=2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["bench", "brkgo"], "unknown benchmark 'brkgo'. Did you mean 'brkga'?"),
        (["bench", "de", "--backend", "auto"], "unknown backend 'auto'. Known: cuda, cpu"),
        (["bench", "de", "--generations", "0"], "--generations 0: must be at least 1"),
    ],
)
def test_invalid_options_are_refused(
    line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 2
    assert message in capsys.readouterr().err
