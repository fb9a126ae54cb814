from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from islands.errors import UsageError
from islands.instances.synthetic import uniform_tsp
from islands.instances.tsplib import TspFile
from islands.problems import load
from islands.problems.tsp import Tsp
from islands.reproduce.xavier2019 import values
from islands.reproduce.xavier2019.values import mean_random_tour


def test_the_mean_over_all_tours() -> None:
    tsp = Tsp(uniform_tsp(7, seed=3, side=100))
    lengths = tsp.costs(np.array(list(permutations(range(7)))))
    assert mean_random_tour(tsp) == pytest.approx(lengths.mean(), rel=1e-12)


@pytest.mark.parametrize("pairs", [1, 60, 61, 1000])
def test_the_mean_does_not_depend_on_the_block_size(
    pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tsp = Tsp(uniform_tsp(20, seed=3))
    whole = mean_random_tour(tsp)
    monkeypatch.setattr(values, "_PAIRS_AT_ONCE", pairs)
    assert mean_random_tour(tsp) == whole


def test_other_distances_are_refused() -> None:
    square = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    tsp = Tsp(TspFile("odd", None, 3, "ATT", coordinates=square))
    with pytest.raises(UsageError, match=r"odd: ATT: .* only for EUC_2D"):
        mean_random_tour(tsp)


@pytest.mark.published
@pytest.mark.parametrize(("name", "length"), [("zi929", 2368790), ("mu1979", 5631967)])
def test_published_instances(name: str, length: int, published: Path) -> None:
    # The references use distances without rounding, so the last digits differ.
    tour = mean_random_tour(load(str(published / "national" / f"{name}.tsp")))
    assert tour == pytest.approx(length, rel=2e-6)
