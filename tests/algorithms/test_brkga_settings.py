"""Settings of BRKGA: invalid ones, and the bias of parents."""

from __future__ import annotations

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
