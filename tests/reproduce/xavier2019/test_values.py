from __future__ import annotations

import pytest

from islands.instances.synthetic import uniform_tsp
from islands.problems.tsp import Tsp
from islands.reproduce.xavier2019 import values
from islands.reproduce.xavier2019.figures import InstanceFigures
from islands.reproduce.xavier2019.values import values_facts, values_row


def test_a_row_compares_with_the_better_of_the_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        values, "printed", lambda: {"small": InstanceFigures(200.0, 160.0, 1.0, {})}
    )
    row = values_row(Tsp(uniform_tsp(5, seed=1), "small"), [160, 170, 174], random=400.0)
    assert row["mean"] == 168.0
    assert row["best"] == 160
    assert row["deviation"] == pytest.approx(52**0.5)  # (64 + 4 + 36) / 2
    assert row["difference"] == pytest.approx(5.0)
    assert (row["ratio"], row["cuda_ratio"], row["api_ratio"]) == (0.42, 0.5, 0.4)
    assert (row["runs"], row["cities"]) == (3, 5)
    assert values_row(Tsp(uniform_tsp(5, seed=1), "small"), [160], 400.0)["deviation"] is None


def row(mean: float, cuda: float, api: float, random: float) -> dict[str, float]:
    return {
        "mean": mean,
        "cuda_value": cuda,
        "api_value": api,
        "difference": 100 * (mean / min(cuda, api) - 1),
        "ratio": mean / random,
        "cuda_ratio": cuda / random,
        "api_ratio": api / random,
    }


def test_the_facts_count_near_values() -> None:
    pytest.importorskip("scipy")
    rows = [
        row(104.0, 100.0, 120.0, 200.0),  # 4 % above; ratio 0.52, below 0.60
        row(106.0, 100.0, 101.0, 1000.0),  # 6 % above; ratio 0.106, within 0.04 of 0.101
        row(150.0, 100.0, 101.0, 200.0),  # 50 % above; ratio 0.75, far above 0.505
        row(90.0, 100.0, 101.0, 200.0),  # below
    ]
    facts = {fact.name: fact.value for fact in values_facts(rows)}
    assert facts["within_5_percent"] == 2
    assert facts["ratio_within_0.04"] == 3
    assert facts["mean_value"] == 112.5
    # Differences to brkgaCuda 4, 6, 50, -10: ranks 1, 2, 4 against 3.
    assert facts["wilcoxon_better_cuda_value"] == "theirs"
    assert facts["wilcoxon_p_cuda_value"] == pytest.approx(10 / 16)
    # To brkgaAPI -16, 5, 49, -11: ranks 1, 4 against 3, 2.
    assert facts["wilcoxon_better_api_value"] == "neither"
    assert facts["wilcoxon_p_api_value"] == 1.0
