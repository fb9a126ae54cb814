"""What settings a particle swarm takes, and that its kernels compile for GPUs."""

from __future__ import annotations

from typing import Any

import pytest
from problems_for_tests import lattice
from programs_for_tests import NEEDS_NVRTC, for_gpu, parts, require_compiles
from test_operators import Wanted

from islands.algorithms.pso import Pso, PsoSettings
from islands.backends.base import Block
from islands.backends.header import Header
from islands.errors import UsageError


@pytest.mark.parametrize(
    ("settings", "population", "message"),
    [
        ({"c1": -1}, 20, "c1=-1: must be from 0 to 100"),
        ({"schedule": "liner"}, 20, "Did you mean 'linear'?"),
        (
            {"inertia_end": 0.5},
            20,
            "inertia_end=0.5: is of schedule=linear or early or late, but schedule is constant."
            " Leave inertia_end at 0.4, or choose",
        ),
        (
            {"neighbours": 4},
            20,
            "neighbours=4: is of neighbourhood=ring, but neighbourhood is global.",
        ),
        ({"neighbourhood": "ring", "neighbours": 3}, 20, "neighbours=3: must be even"),
        ({"neighbourhood": "ring"}, 2, "population=2: a ring with neighbours=2 has to hold at"),
        ({"constriction": True}, 20, "c1=1.49618 + c2=1.49618 = 2.99236: must be more than 4"),
        (
            {"constriction": True, "c1": 3, "c2": 3, "inertia": 1},
            20,
            "inertia=1.0: is of constriction=false, but constriction is true",
        ),
        ({"low": 3, "high": 3}, 20, "low=3 with high=3: the first keys lie from low to high"),
        ({"C1": 0.5}, 20, "unknown setting 'C1'. Did you mean 'c1'?"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], population: int, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Pso(PsoSettings.build(settings), population)
    assert message in str(caught.value)


@pytest.mark.parametrize(("encoding", "usual"), [("keys", 0.7298), ("bits", 1.0)])
def test_each_encoding_has_its_usual_inertia(encoding: str, usual: float) -> None:
    completed = Pso.completed(PsoSettings(), encoding)
    assert completed.inertia == usual
    assert Pso.completed(completed, encoding) == completed
    bound = PsoSettings.build({"constriction": True, "c1": 2.05, "c2": 2.05})
    assert PsoSettings.build(Pso.completed(bound, encoding).to_mapping()) == bound


def test_bits_have_no_range() -> None:
    with pytest.raises(UsageError) as caught:
        Pso(PsoSettings.build({"low": -1}), 20, "bits")
    assert "low=-1.0: is of encoding=keys, but encoding is bits" in str(caught.value)


@NEEDS_NVRTC
@pytest.mark.parametrize("encoding", ["bits", "keys", "keys_of_subset"])
@pytest.mark.parametrize("block", [Block(32, 32), Block(1024, 1, 1)])
def test_swarms_compile_for_gpus(encoding: str, block: Block) -> None:
    problem = lattice("GEO") if encoding == "keys" else Wanted(20)
    chosen = parts(problem, "pso", encoding.removesuffix("_of_subset"))
    assert chosen.encoding.header == Header(f"encodings/{encoding}.cuh")
    require_compiles(for_gpu("program.cuh", chosen.macros(), block))
