"""Colonies in the settings of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import facilities, knapsack

from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec

STOP = "generations=5"
TWO = ["islands=2 algorithm=de F=0.7 population=20", "islands=3 algorithm=ga rate=4"]


def resolved(colonies: Any, config: Path | None = None, **options: Any) -> RunSpec:
    asked = {"stop": STOP, **({} if colonies is None else {"colonies": colonies}), **options}
    return resolve(layers(asked, config), facilities(9))


def test_a_colony_is_resolved_like_a_run_of_its_own() -> None:
    spec = resolved(TWO, migration="ring")
    one, other = spec.colonies
    assert (one.islands, one.algorithm, one.encoding, one.population, one.rate) == (
        *(2, "de", "keys", 20, 1),
    )
    assert (other.islands, other.algorithm, other.encoding, other.rate) == (
        3,
        "ga",
        "permutation",
        4,
    )
    alone = [
        resolved(None, algorithm="de", F=0.7, population=20, islands=2),
        resolved(None, algorithm="ga", islands=3),
    ]
    for colony, run in zip(spec.colonies, alone, strict=True):
        assert (colony.settings, colony.improver) == (run.settings, run.improver)
    assert spec.general.islands == 5
    assert spec.starts() == [0, 2]
    assert spec.individuals() == 2 * 20 + 3 * 256
    assert spec.individuals(range(1, 3)) == 20 + 256


@pytest.mark.parametrize("form", ["text", "mapping", "nested"])
def test_text_and_mappings_mean_the_same(form: str) -> None:
    forms: dict[str, list[Any]] = {
        "text": ["islands=2 improver=swap improver.rate=0.5", "islands=1 algorithm=ga"],
        "mapping": [
            {"islands": 2, "improver": "swap", "improver.rate": 0.5},
            {"islands": 1, "algorithm": "ga"},
        ],
        "nested": [
            {"islands": "2", "improver": {"name": "swap", "rate": 0.5}},
            {"islands": 1, "algorithm": "ga"},
        ],
    }
    assert resolved(forms[form]) == resolved(forms["text"])


def test_the_settings_file_repeats_the_run(tmp_path: Path) -> None:
    spec = resolved(TWO, migration="ring", **{"migration.delay": 1})
    path = tmp_path / "run.toml"
    path.write_text(spec.to_toml(), encoding="utf-8")
    assert resolve(layers({}, path), facilities(9)) == spec
    table = tomllib.loads(spec.to_toml())
    assert [each["algorithm"] for each in table["colony"]] == ["de", "ga"]
    assert not {"algorithm", "encoding", "population", "improver"} & table.keys()


def test_stronger_sources_replace_settings_of_weaker_colonies(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(
        'algorithm = "ga"\n[[colony]]\nislands = 1\npopulation = 30\n'
        "[[colony]]\nislands = 2\npopulation = 50\n",
        encoding="utf-8",
    )
    assert [each.population for each in resolved(None, path).colonies] == [30, 50]
    assert [each.population for each in resolved(None, path, population=60).colonies] == [60, 60]
    replaced = resolved(["islands=4 algorithm=de"], path)
    assert [(each.islands, each.algorithm) for each in replaced.colonies] == [(4, "de")]


def test_colonies_do_not_use_the_migration_of_a_problem_for_one_of_them() -> None:
    # The default of a knapsack is a ring, which belongs to its default algorithm.
    usual = resolve(layers({"stop": STOP}), knapsack(20, 3))
    assert usual.migration.topology == "ring"
    for colonies in (["islands=1", "islands=1 algorithm=pso"], ["islands=1 algorithm=pso"] * 2):
        spec = resolve(layers({"stop": STOP, "colonies": colonies}), knapsack(20, 3))
        assert spec.migration.topology == "elite"
