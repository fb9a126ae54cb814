"""The tables of xavier2019: the copied figures, and rows made from given runs."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from results_for_tests import ended, filled

from islands.instances.catalogue import catalogue
from islands.instances.synthetic import uniform_tsp
from islands.problems import load
from islands.problems.tsp import Tsp
from islands.reproduce.xavier2019 import (
    MEAN_VALUES,
    ValuesTable,
    mean_random_tour,
    printed,
)


def test_the_means_agree_with_the_printed_means() -> None:
    figures = printed().values()
    assert MEAN_VALUES == {"cuda_value": 31_840_933.69, "api_value": 32_068_688.19}
    assert fmean(each.cuda_value for each in figures) == pytest.approx(31_840_933.69, abs=0.01)
    assert fmean(each.api_value for each in figures) == pytest.approx(32_068_688.19, abs=0.01)
    assert fmean(each.cuda_seconds for each in figures) == pytest.approx(169.48, abs=0.01)
    api = {
        threads: fmean(getattr(each, f"api_{threads}_seconds") for each in figures)
        for threads in (1, 4, 8)
    }
    assert api == pytest.approx({1: 470.05, 4: 213.42, 8: 187.39}, abs=0.01)


def test_every_instance_is_in_the_catalogue_and_in_order_of_size() -> None:
    sizes = []
    for name in printed():
        entry = catalogue().entry(*name.split("/"))
        assert entry is not None, name
        sizes.append(entry.size)
    assert len(sizes) == 21
    assert sizes == sorted(sizes)


def test_the_mean_over_all_tours() -> None:
    tsp = Tsp(uniform_tsp(7, seed=3, side=100))
    lengths = tsp.costs(np.array(list(permutations(range(7)))))
    assert mean_random_tour(tsp) == pytest.approx(lengths.mean(), rel=1e-12)


@pytest.mark.published
@pytest.mark.parametrize(("name", "length"), [("zi929", 2368790), ("mu1979", 5631967)])
def test_published_instances(name: str, length: int, published: Path) -> None:
    # The references use distances without rounding, so the last digits differ.
    tour = mean_random_tour(load(str(published / "national" / f"{name}.tsp")))
    assert tour == pytest.approx(length, rel=2e-6)


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
    facts = {fact.name: fact.value for fact in filled(ValuesTable, ended).facts(rows)}
    assert facts["within_5_percent"] == 2
    assert facts["ratio_within_0.04"] == 3
    assert facts["mean_value"] == 112.5
    # Differences to brkgaCuda 4, 6, 50, -10: ranks 1, 2, 4 against 3.
    assert facts["wilcoxon_better_cuda_value"] == "theirs"
    assert facts["wilcoxon_p_cuda_value"] == pytest.approx(10 / 16)
    # To brkgaAPI -16, 5, 49, -11: ranks 1, 4 against 3, 2.
    assert facts["wilcoxon_better_api_value"] == "neither"
    assert facts["wilcoxon_p_api_value"] == 1.0
