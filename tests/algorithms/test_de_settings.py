"""The settings of differential evolution, and its quality with published ones."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from colonies_for_tests import one_colony
from problems_for_tests import NUMBERS

from islands.algorithms.de import De, DeSettings
from islands.backends.base import Backend
from islands.configuration.resolve import layers, resolve
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load


@pytest.mark.parametrize("kind", NUMBERS)
def test_the_initial_range_of_bounded_genes_is_fixed(kind: str) -> None:
    problem = NUMBERS[kind](3)
    given = resolve(layers({"algorithm": "de"}), problem).settings
    assert (given.low, given.high) == (0, 1)
    with pytest.raises(UsageError) as caught:
        resolve(layers({"algorithm": "de", "low": -1}), problem)
    assert str(caught.value) == (
        "low=-1, high=3: only for unbounded keys. Initial individuals of this problem cover its"
        " whole range. Leave low and high out"
    )


@pytest.mark.usefixtures("optimised")
@pytest.mark.published
@pytest.mark.parametrize(("name", "gaps"), [("chr12c", (4.0, 24.0)), ("bur26a", (0.8, 1.6))])
def test_gaps_of_experiment_a_of_the_thesis(
    backend: Backend, published: Path, name: str, gaps: tuple[float, float]
) -> None:
    """Table 3 has mean gaps of 10.3 to 15.9 % and of 1.08 to 1.35 % for three versions."""
    problem = load(f"qaplib/{name}")
    spec = resolve(layers({"preset": "jardim2021-a", "instance": f"qaplib/{name}"}), problem)
    mine = one_colony(
        problem=problem,
        algorithm=spec.algorithm,
        encoding=spec.encoding,
        settings=spec.settings,
        population=spec.general.population,
        islands=spec.general.islands,
        seed=1,
        migration=spec.migration,
        backend=backend,
        world=World(),
        runs=3,
    )
    mine.start()
    mine.advance(1000)
    measures = mine.measure()
    assert [measure.evaluations for measure in measures] == 3 * [1_025_024]
    found = [problem.gap(measure.best) for measure in measures]
    assert gaps[0] < mean(gap for gap in found if gap is not None) < gaps[1]


@pytest.mark.parametrize(
    ("settings", "population", "message"),
    [
        ({}, 3, "population=3: must be at least 4 for de"),
        ({"low": 3, "high": 3}, 20, "low=3 with high=3: low must be less than high"),
        ({"F": -0.1}, 20, "F=-0.1: must be from 0 to 2"),
        ({"Cr": 1.1}, 20, "Cr=1.1: must be from 0 to 1"),
        ({"strategy": "best/2"}, 20, "Did you mean 'best/1'?"),
        ({"adaptation": "jade"}, 20, "Did you mean 'jde'?"),
        ({"CR": 0.5}, 20, "unknown setting 'CR'. Did you mean 'Cr'?"),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, Any], population: int, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        De(DeSettings.build(settings), population)
    assert message in str(caught.value)
