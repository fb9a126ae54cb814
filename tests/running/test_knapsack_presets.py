"""The presets of knapsacks are what the papers print, and what was chosen where they are silent."""

from __future__ import annotations

from typing import Any

import pytest
from problems_for_tests import knapsack

from islands.run.resolve import layers, resolve

SWARM = {
    "algorithm": "pso",
    "encoding": "bits",
    "islands": 1,
    "population": 512,
    "stop": ["generations=600"],
    "inertia": 1.0,
}
CHOSEN = {"schedule": "late", "inertia_end": 0.5, "horizon": 600, "fit_first": True}
GENES = {
    "algorithm": "ga",
    "encoding": "bits",
    "islands": 8,
    "population": 512,
    "stop": ["generations=50"],
    "infeasible": "drop",
    "selection": "best",
    "crossover": "one_point",
    "crossover_rate": 1.0,
    "mutation": "flip",
    "mutation_rate": 1.0,
    "strength": 1,
    "replacement": "generational",
    "elite": 0,
}
WANTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "munhao2019-m1": (
        {**SWARM, **CHOSEN, "c1": 0.601321, "c2": 1.79865}
        | {"infeasible": "linear", "penalty": 329.594},
        {"topology": "none"},
    ),
    "munhao2019-m2": (
        {**SWARM, **CHOSEN, "c1": 0.670175, "c2": 0.670175, "infeasible": "dynamic"},
        {"topology": "none"},
    ),
    "dantas2014-mpi": (GENES, {"topology": "broadcast", "interval": 10, "migrants": 1}),
    "dantas2014-cuda": (GENES, {"topology": "ring", "interval": 10, "migrants": 1}),
}


@pytest.mark.parametrize("preset", WANTED)
def test_a_preset_is_the_setting_of_its_paper(preset: str) -> None:
    found = resolve(layers({"preset": preset}), knapsack(10, 2)).to_mapping()
    settings, migration = WANTED[preset]
    assert {name: found[name] for name in settings} == settings
    assert {name: found["migration"][name] for name in migration} == migration
    assert found["improver"]["name"] == "none"
