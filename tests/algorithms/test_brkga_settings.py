"""Settings of BRKGA: invalid ones, and the bias of parents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.errors import UsageError


@pytest.mark.parametrize("bias", ["cubic", "exponential", "logarithmic"])
def test_each_bias_favours_better_parents(bias: str) -> None:
    settings = BrkgaSettings.build({"parents": 4, "elite_parents": 2, "bias": bias})
    shares = np.diff([0, *(int(word) for word in Brkga(settings, 50)._bias()), 2**32])
    assert (np.diff(shares) < 0).all()


def test_the_bias_is_the_weight_of_the_rank_among_all_parents() -> None:
    weights = {
        "constant": [1, 1, 1],
        "linear": [1, 1 / 2, 1 / 3],
        "quadratic": [1, 1 / 4, 1 / 9],
        "cubic": [1, 1 / 8, 1 / 27],
        "exponential": [1, 1 / math.e, 1 / math.e**2],
        "logarithmic": [1 / math.log(2), 1 / math.log(3), 1 / math.log(4)],
    }
    for bias, (first, second, third) in weights.items():
        settings = BrkgaSettings.build({"parents": 3, "bias": bias})
        total = first + second + third
        shares = [int(word) / 2**32 for word in Brkga(settings, 50)._bias()]
        assert shares == pytest.approx([first / total, (first + second) / total], abs=1e-9), bias


@pytest.mark.parametrize("percent", range(1, 50))
def test_a_share_of_a_hundred_individuals_is_that_number(percent: int) -> None:
    shares = {"elite": percent / 100, "mutants": percent / 100}
    made = Brkga(BrkgaSettings.build(shares), 100)  # 0.29 * 100 is below 29
    assert (made.elite, made.mutants) == (percent, percent)


@pytest.mark.parametrize(
    ("settings", "population", "message"),
    [
        ({"elite": 0.7, "mutants": 0.6}, 100, "elite=0.7 + mutants=0.6 = 1.3: must be at most 1"),
        ({"rho": 2}, 100, "rho=2: must be from 0.5 to 1"),
        (
            {"elite": 0.1},
            5,
            "elite=0.1 of population=5 is 0 individuals, too few for elite_parents=1",
        ),
        ({"elite": 1.0, "mutants": 0}, 5, "leaves 0 others, but parents=2 needs 1"),
        ({"parents": 3}, 50, "bias=rho is for parents=2 with elite_parents=1"),
        (
            {"parents": 2, "elite_parents": 3},
            50,
            "elite_parents=3: must be at most parents=2. Lower",
        ),
        ({"parents": 2.5}, 50, "parents=2.5: must be a whole number"),
        ({"rhoo": 0.7}, 50, "unknown setting 'rhoo'. Did you mean 'rho'?"),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, Any], population: int, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Brkga(BrkgaSettings.build(settings), population)
    assert message in str(caught.value)
