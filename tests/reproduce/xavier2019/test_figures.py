from __future__ import annotations

from statistics import fmean

import pytest

from islands.configuration.resolve import layers
from islands.configuration.stop import last_generation, parse
from islands.instances.catalogue import catalogue
from islands.reproduce.xavier2019 import PAPER
from islands.reproduce.xavier2019.figures import MEAN_SPEEDUPS, MEAN_VALUES, printed


def test_the_means_agree_with_the_printed_means() -> None:
    figures = printed().values()
    assert MEAN_VALUES == {"cuda_value": 31_840_933.69, "api_value": 32_068_688.19}
    assert fmean(each.cuda_value for each in figures) == pytest.approx(31_840_933.69, abs=0.01)
    assert fmean(each.api_value for each in figures) == pytest.approx(32_068_688.19, abs=0.01)
    assert fmean(each.cuda_seconds for each in figures) == pytest.approx(169.48, abs=0.01)
    api = {threads: fmean(each.api_seconds[threads] for each in figures) for threads in (1, 4, 8)}
    assert api == pytest.approx({1: 470.05, 4: 213.42, 8: 187.39}, abs=0.01)


def test_the_mean_speedups_agree_with_the_printed_ones() -> None:
    figures = printed().values()
    means = {
        threads: fmean(each.api_seconds[threads] / each.cuda_seconds for each in figures)
        for threads in MEAN_SPEEDUPS
    }
    assert MEAN_SPEEDUPS == {1: 2.71, 4: 1.28, 8: 1.16}
    # 1.28 is the mean of ratios that the paper first rounded to two digits.
    assert means == pytest.approx(MEAN_SPEEDUPS, abs=0.0056)


def test_every_instance_is_in_the_catalogue_and_in_order_of_size() -> None:
    sizes = []
    for name in printed():
        entry = catalogue().entry(*name.split("/"))
        assert entry is not None, name
        sizes.append(entry.size)
    assert len(sizes) == 21
    assert sizes == sorted(sizes)


def test_the_preset_has_the_generations_of_the_tables() -> None:
    for table in PAPER.tables.values():
        preset = layers({"preset": table.preset})[0].values
        assert last_generation(map(parse, preset["stop"])) == table.generations
