"""The settings of the particle swarm, and the compilation of its kernels for GPUs."""

from __future__ import annotations

from typing import Any

import pytest
from problems_for_tests import lattice
from programs_for_tests import for_gpu, parts, require_compiles
from test_operators import Wanted

from islands.algorithms.pso import Pso, PsoSettings
from islands.backends.base import Block
from islands.backends.source import Header
from islands.errors import UsageError


@pytest.mark.parametrize(
    ("settings", "population", "message"),
    [
        ({"c1": -1}, 20, "c1=-1: must be from 0 to 100"),
        ({"schedule": "liner"}, 20, "Did you mean 'linear'?"),
        (
            {"inertia_end": 0.5},
            20,
            "inertia_end=0.5: only has an effect with schedule=linear or early or late, but"
            " schedule is constant. Leave inertia_end at 0.4, or choose",
        ),
        (
            {"neighbours": 4},
            20,
            "neighbours=4: only has an effect with neighbourhood=ring, but neighbourhood is"
            " global.",
        ),
        ({"neighbourhood": "ring", "neighbours": 3}, 20, "neighbours=3: must be even"),
        ({"neighbourhood": "ring"}, 2, "population=2: a ring with neighbours=2 needs at"),
        ({"constriction": True}, 20, "c1=1.49618 + c2=1.49618 = 2.99236: must be more than 4"),
        (
            {"constriction": True, "c1": 3, "c2": 3, "inertia": 1},
            20,
            "inertia=1.0: only has an effect with constriction=false, but constriction is true",
        ),
        ({"low": 3, "high": 3}, 20, "low=3 with high=3: low must be less than high"),
        ({"C1": 0.5}, 20, "unknown setting 'C1'. Did you mean 'c1'?"),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, Any], population: int, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Pso(PsoSettings.build(settings), population)
    assert message in str(caught.value)


@pytest.mark.parametrize(("encoding", "usual"), [("keys", 0.7298), ("bits", 1.0)])
def test_each_encoding_has_a_default_inertia(encoding: str, usual: float) -> None:
    completed = Pso.completed(PsoSettings(), encoding)
    assert completed.inertia == usual
    assert Pso.completed(completed, encoding) == completed
    bound = PsoSettings.build({"constriction": True, "c1": 2.05, "c2": 2.05})
    assert PsoSettings.build(Pso.completed(bound, encoding).to_mapping()) == bound


def test_range_of_keys_is_refused_for_bits() -> None:
    with pytest.raises(UsageError) as caught:
        Pso(PsoSettings.build({"low": -1}), 20, "bits")
    message = "low=-1.0: only has an effect with encoding=keys, but encoding is bits"
    assert message in str(caught.value)


@pytest.mark.gpu
@pytest.mark.parametrize("encoding", ["bits", "keys", "keys_of_subset"])
@pytest.mark.parametrize("block", [Block(32, 32), Block(1024, 1, 1)])
def test_kernels_compile_for_gpus(encoding: str, block: Block) -> None:
    problem = lattice("GEO") if encoding == "keys" else Wanted(20)
    chosen = parts(problem, "pso", encoding.removesuffix("_of_subset"))
    assert chosen.encoding.header == Header(f"encodings/{encoding}.cuh")
    require_compiles(for_gpu("program.cuh", chosen.macros(), block))
