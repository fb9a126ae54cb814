"""Settings of the genetic algorithm: invalid ones, those of the paper, and on GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_ga import DANTAS
from problems_for_tests import facilities, knapsack
from programs_for_tests import for_gpu, parts, require_compiles
from test_operators import FITTING, problem_for

from islands import solve
from islands.algorithms.ga import Ga, GaSettings
from islands.backends.base import Block
from islands.configuration.fit import encoding_for
from islands.configuration.resolve import layers, resolve
from islands.errors import UsageError
from islands.problems.mkp import MkpSettings


@pytest.mark.parametrize(
    ("settings", "population", "encoding", "message"),
    [
        ({}, 1, "bits", "population=1: must be at least 2"),
        (
            {"elite": 9, "replacement": "generational"},
            9,
            "bits",
            "elite=9: must be below population=9",
        ),
        ({"children": 10}, 9, "bits", "children=10: must be at most population=9"),
        (
            {"elite": 1},
            9,
            "bits",
            "elite=1: only has an effect with replacement=generational, but replacement is",
        ),
        (
            {"replacement": "generational", "children": 3},
            9,
            "bits",
            "children=3: only has an effect with replacement=steady, but replacement is"
            " generational. Leave children at 0, or choose replacement=steady",
        ),
        ({"replacement": "generational", "duplicates": "accept"}, 9, "bits", "duplicates=accept:"),
        (
            {"selection": "random", "tournament": 3},
            9,
            "bits",
            "tournament=3: only has an effect with selection=tournament, but selection is random",
        ),
        ({"selection": "roulette"}, 9, "bits", "Known: best, tournament, random, proportional"),
        (
            {"crossover": "pmx"},
            9,
            "bits",
            "crossover=pmx supports permutation, but the encoding is",
        ),
        ({"mutation": "flip"}, 9, "keys", "mutation=flip supports bits, but the encoding is"),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, Any], population: int, encoding: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Ga(GaSettings.build(settings), population, encoding)
    assert message in str(caught.value)


def test_resolved_settings_can_be_resolved_again() -> None:
    for changes in ({}, {"replacement": "generational"}, {"selection": "best"}):
        whole = Ga.completed(GaSettings.build(changes), "bits").to_mapping()
        assert GaSettings.build(whole).to_mapping() == whole
        assert (whole["crossover"], whole["mutation"]) == ("uniform", "flip")


def test_default_encoding_is_the_solution_itself() -> None:
    assert encoding_for("ga", None, knapsack(20, 2)) == "bits"
    assert encoding_for("ga", None, facilities(5)) == "permutation"
    assert encoding_for("ga", "keys", facilities(5)) == "keys"


@pytest.mark.parametrize(("version", "topology"), [("mpi", "broadcast"), ("cuda", "ring")])
def test_presets_have_the_settings_of_the_paper(version: str, topology: str) -> None:
    spec = resolve(layers({"preset": f"dantas2014-{version}"}), knapsack(20, 2))
    assert (spec.algorithm, spec.encoding, spec.improver.name) == ("ga", "bits", "none")
    assert spec.general.islands * spec.general.population == 4096
    assert [criterion.text for criterion in spec.stop] == ["generations=50"]
    assert (spec.migration.topology, spec.migration.interval) == (topology, 10)
    assert (spec.migration.migrants, spec.migration.replacement) == (1, "worst")
    assert spec.problem == MkpSettings(infeasible="drop")
    same = {"mutation": "flip", "mutation_rate": 1, "crossover_rate": 1, "elite": 0}
    assert spec.settings == GaSettings.build(DANTAS | same)


@pytest.mark.usefixtures("optimised")
@pytest.mark.published
def test_gaps_are_similar_to_a_sequential_prototype(published: Path) -> None:
    """The prototype had gaps of 4.0 and 5.1 % with 1 island, 2.0 and 6.0 % with 8 in a ring."""
    one: dict[str, Any] = {"islands": 1, "population": 4096, "migration": "none"}
    eight: dict[str, Any] = {}
    for instance, options, gap in (
        ("mknapcb1-00", one, 4.0),
        ("mknapcb1-00", eight, 2.0),
        ("mknapcb3-00", one, 5.1),
        ("mknapcb3-00", eight, 6.0),
    ):
        found = [
            solve(
                f"orlib/{instance}", preset="dantas2014-cuda", seed=seed, backend="cpu", **options
            )
            for seed in range(1, 6)
        ]
        assert float(np.mean([result.gap for result in found])) == pytest.approx(gap, abs=0.9)


@pytest.mark.gpu
@pytest.mark.parametrize("encoding", sorted(FITTING))
@pytest.mark.parametrize(
    "settings",
    [DANTAS, {"selection": "proportional"}, {"selection": "random", "duplicates": "accept"}],
    ids=str,
)
def test_kernels_compile_for_gpus(encoding: str, settings: dict[str, Any]) -> None:
    crossover = FITTING[encoding][0][0]
    chosen = parts(problem_for(encoding), "ga", encoding, settings | {"crossover": crossover})
    require_compiles(for_gpu("program.cuh", chosen.macros(), Block(32, 32)))
