"""The presets have the values of the papers, and our choices for values that they omit.

The values here are copied from the papers; groups have dotted names.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest
from problems_for_tests import flat, knapsack

from islands.configuration.resolve import layers, resolve
from islands.presets import PRESETS

Values = dict[str, Any]

# Xavier (2019), section 5: p = 256, K = 3, 1000 generations, pe = pm = 0.1, rho = 0.7, and the 2
# best are exchanged every 200 generations. Two parents are crossed, one of them elite; keys are
# sorted on the device; each population receives the best of every other one over its worst.
XAVIER: Values = {
    "algorithm": "brkga",
    "encoding": "keys",
    "population": 256,
    "islands": 3,
    "stop": ["generations=1000"],
    "elite": 0.1,
    "mutants": 0.1,
    "rho": 0.7,
    "parents": 2,
    "elite_parents": 1,
    "bias": "rho",
    "reset": 0,
    "decoding": "sorted",
    "improver.name": "none",
    "migration.topology": "elite",
    "migration.interval": 200,
    "migration.migrants": 2,
    "migration.selection": "best",
    "migration.replacement": "worst",
    "migration.delay": 0,
}

# Jardim (2021), table 1: Cr = 0.9, F = 0.7, Np = 1024, keys begin in [-3, 3], and a run ends after
# 150 million evaluations. The trial is DE/rand/1/bin. There is one population.
JARDIM: Values = {
    "algorithm": "de",
    "encoding": "keys",
    "Cr": 0.9,
    "F": 0.7,
    "population": 1024,
    "low": -3.0,
    "high": 3.0,
    "strategy": "rand/1",
    "adaptation": "none",
    "reset": 0,
    "islands": 1,
    "migration.topology": "none",
}
# Experiment A: 1000 generations without local search.
JARDIM_A = {"stop": ["generations=1000", "evaluations=150000000"], "improver.name": "none"}
# One move, the first that improves. The numbers of evaluations show that experiment B had the rate
# 0.2 that is printed for C, and that the limit of evaluations was checked often.
FIRST: Values = {
    "improver.rate": 0.2,
    "improver.every": 1,
    "improver.strategy": "first",
    "improver.steps": 1,
    "improver.scope": "all",
    "record.every": 5,
}
# Experiment B: 1000 generations with the common swap, or another move chosen instead.
JARDIM_B = {**JARDIM_A, **FIRST, "improver.name": "swap"}
# Experiment C: 15000 generations with 2-opt.
JARDIM_C = {
    **FIRST,
    "stop": ["generations=15000", "evaluations=150000000"],
    "improver.name": "two_opt",
}

# Soca et al. (2010), table I: 2048 individuals, 5000 generations, 32 blocks of 64 threads,
# crossover 0.9, mutation 0.1, neighbourhood 4. For the QAP: permutations on a ring, PMX, exchange
# of two genes, a proportional choice of the mate, the better child always replaces its parent, and
# every ten generations all try the best exchange with one and the same position.
SOCA: Values = {
    "algorithm": "cellular",
    "encoding": "permutation",
    "population": 2048,
    "stop": ["generations=5000"],
    "group": 64,
    "crossover_rate": 0.9,
    "mutation_rate": 0.1,
    "neighbours": 4,
    "grid": "ring",
    "islands": 1,
    "halo": False,
    "crossover": "pmx",
    "mutation": "swap",
    "strength": 1,
    "selection": "proportional",
    "replacement": "generational",
    "reset": 0,
    "improver.name": "swap",
    "improver.strategy": "best",
    "improver.steps": 1,
    "improver.scope": "position",
    "improver.every": 10,
    "improver.rate": 1.0,
    "migration.topology": "none",
}

# Munhão et al. (2019): a swarm of 512 for 600 iterations, with an inertia that is 1 at first.
SWARM: Values = {
    "algorithm": "pso",
    "encoding": "bits",
    "islands": 1,
    "population": 512,
    "stop": ["generations=600"],
    "inertia": 1.0,
    "velocity": 0.0,
    "neighbourhood": "global",
    "constriction": False,
    "reset": 0,
    "improver.name": "none",
    "migration.topology": "none",
}
# The decrease of the inertia and the initial particles are our choice.
CHOSEN: Values = {"schedule": "late", "inertia_end": 0.5, "horizon": 600, "fit_first": True}
M1 = {"c1": 0.601321, "c2": 1.79865, "infeasible": "linear", "penalty": 329.594}
M2 = {"c1": 0.670175, "c2": 0.670175, "infeasible": "dynamic"}

# Dantas and Cáceres (2014): 4096 individuals in 8 blocks, 50 generations, a migration of the best
# over the worst every 10. The two best are parents of all, and one bit of each child is inverted.
GENES: Values = {
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
    "reset": 0,
    "improver.name": "none",
    "migration.interval": 10,
    "migration.migrants": 1,
    "migration.selection": "best",
    "migration.replacement": "worst",
    "migration.delay": 0,
}

WANTED: dict[str, Values] = {
    "xavier2019": XAVIER,
    "jardim2021-a": {**JARDIM, **JARDIM_A},
    "jardim2021-b": {**JARDIM, **JARDIM_B},
    "jardim2021-c": {**JARDIM, **JARDIM_C},
    "soca2010": SOCA,
    "munhao2019-m1": {**SWARM, **CHOSEN, **M1},
    "munhao2019-m2": {**SWARM, **CHOSEN, **M2},
    "dantas2014-mpi": {**GENES, "migration.topology": "broadcast"},
    "dantas2014-cuda": {**GENES, "migration.topology": "ring"},
}


def with_dots(values: Values) -> Values:
    """Return values by name, with dotted names for groups."""
    whole = {name: value for name, value in values.items() if not isinstance(value, dict)}
    for group, members in values.items():
        if isinstance(members, dict):
            whole |= {f"{group}.{name}": value for name, value in members.items()}
    return whole


def resolved(preset: str) -> Values:
    is_knapsack = WANTED[preset]["encoding"] == "bits"
    problem = knapsack(10, 2) if is_knapsack else flat(9, 720)
    return with_dots(resolve(layers({"preset": preset}), problem).to_mapping())


def test_all_presets_are_tested() -> None:
    assert set(WANTED) == set(PRESETS)


@pytest.mark.parametrize("preset", WANTED)
def test_presets_have_the_settings_of_their_papers(preset: str) -> None:
    found, wanted = resolved(preset), WANTED[preset]
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize("preset", WANTED)
def test_presets_set_only_known_values(preset: str) -> None:
    text = files("islands").joinpath(f"presets/{preset}.toml").read_text(encoding="utf-8")
    names = set(with_dots(tomllib.loads(text)))
    assert names <= set(WANTED[preset])
    # Problems have other defaults for these.
    assert names >= {"algorithm", "encoding", "stop", "islands", "population", "migration.topology"}


def test_presets_give_the_numbers_that_the_papers_state() -> None:
    a, soca, xavier = resolved("jardim2021-a"), resolved("soca2010"), resolved("xavier2019")
    # Jardim, experiment A: number of evaluations in a run.
    assert a["population"] * (1 + int(a["stop"][0].split("=")[1])) == 1_025_024
    # Soca: blocks times threads.
    assert soca["population"] / soca["group"] == 32
    # Xavier: of 256 individuals, 25 are elite and 25 mutants; each population receives 4.
    assert [int(xavier[name] * xavier["population"]) for name in ("elite", "mutants")] == [25, 25]
    assert (xavier["islands"] - 1) * xavier["migration.migrants"] == 4
    for preset in ("dantas2014-mpi", "dantas2014-cuda"):
        each = resolved(preset)
        assert each["islands"] * each["population"] == 4096
