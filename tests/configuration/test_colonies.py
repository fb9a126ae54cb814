"""Colonies in the settings of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import facilities, knapsack

from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.text import command_line

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


def test_settings_outside_are_those_of_all_colonies() -> None:
    spec = resolved(["islands=1 algorithm=ga", "islands=1 algorithm=de"], population=40, seed=7)
    assert [each.population for each in spec.colonies] == [40, 40]
    assert spec.general.seed == 7


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


@pytest.mark.parametrize(
    ("colonies", "options", "message"),
    [
        (["islands=1", "islands=0"], {}, r"^colony 1: islands=0: must be from 1 to 16777216$"),
        (["algorithm=de"], {}, r"^colony 0: needs a number of islands, such as islands=1"),
        (["islands=1", "islands=1 algorithm=dee"], {}, "^colony 1: unknown algorithm 'dee'"),
        (
            ["islands=1 algorithm=brkga encoding=permutation"],
            {},
            "^colony 0: .*brkga only supports keys",
        ),
        (["islands=1 algorithm=cellular halo=true"], {}, "^colony 0: halo=true: islands of a run"),
        (["islands=1", "islands=1 seed=3"], {}, "^colony 1: seed is a setting of the whole run"),
        (["islands=1 backend=cpu"], {}, "^colony 0: backend is a setting of the whole run"),
        (["islands=1 stop=seconds=1"], {}, "^colony 0: stop is a setting of the whole run"),
        (["islands=1 migration=ring"], {}, "^colony 0: migration.topology is a setting of the who"),
        (["islands=1 record.every=3"], {}, "^colony 0: record.every is a setting of the whole run"),
        (
            ["islands=1 algorithm=brkga F=0.9"],
            {},
            "^colony 0: F: brkga has no such setting, but de has it",
        ),
        (
            ["islands=1 interval=3"],
            {},
            "^colony 0: migration.interval is a setting of the whole run. .* choose its rate: rate",
        ),
        (["islands=1 rho"], {}, "^colony 0: rho: write KEY=VALUE, as in"),
        (["islands=1 'rho=1"], {}, "^colony 0: .*: No closing quotation. Correct the quotation"),
        (["islands=1 population=4 population=5"], {}, "^colony 0: population is given twice"),
        (["islands=1 rate=0"], {}, "^colony 0: rate=0: must be from 1 to 1000$"),
        (
            ["islands=1", "islands=1 population=4"],
            {"population": 8},
            "^colony 1: population=4, but population=8 is given for all colonies",
        ),
        (["islands=1"] * 2, {"islands": 3}, "^islands=3, but colonies 0 to 1 have 2 islands"),
        (
            ["islands=1 algorithm=ga", "islands=1 algorithm=brkga"],
            {"rho": 0.7},
            r"^rho=0.7 is given for all colonies, but only colony 1 \(brkga\) has this setting. Wri"
            "te it inside such a colony: 'islands=1 algorithm=brkga rho=0.7'$",
        ),
        (  # each colony lacks a setting of the other
            ["islands=1 algorithm=de", "islands=1 algorithm=brkga"],
            {"rho": 0.7, "F": 0.5},
            r"^rho=0.7 is given for all colonies, but only colony 1 \(brkga\)",
        ),
        (
            ["islands=1 algorithm=ga", "islands=1 algorithm=brkga"],
            {"rhoo": 0.7},
            "^unknown setting of ga or brkga 'rhoo'. Did you mean 'rho'?",
        ),
        ([], {}, r"^colonies=\[\]: must be a list of at least one colony"),
        ({}, {}, r"^colonies=\{\}: must be a list of at least one colony"),
        ({"islands": 2}, {}, r"^colonies=\{'islands': 2\}: must be a list of at least one colony"),
        ("islands=2", {}, "^colonies='islands=2': must be a list of at least one colony"),
        ([5], {}, "^colony 0: 5: must be a mapping"),
    ],
)
def test_wrong_colonies_are_refused_with_their_number(
    colonies: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        resolved(colonies, **options)


def test_a_colony_on_the_command_line_is_refused_in_the_words_of_a_colony() -> None:
    with command_line():
        with pytest.raises(UsageError) as caught:
            resolved(["islands=2 algorithm=ga"], preset="xavier2019")
        assert str(caught.value) == (
            "colony 0: preset xavier2019: its settings are for brkga, but algorithm=ga was"
            " requested. Leave one of them out"
        )
        with pytest.raises(UsageError) as caught:
            resolved(["islands=2 algorithm=pso encoding=permutation"])
        assert str(caught.value).startswith("colony 0: encoding=permutation: pso only supports")
        assert "Leave encoding out, or choose algorithm=cellular, ga, " in str(caught.value)


def test_a_colony_of_a_file_is_refused_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text("[[colony]]\nislands = 1\nseed = 4\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"two.toml: colony 0: seed is a setting of the whole"):
        resolved(None, path)


def test_a_known_setting_of_a_colony_is_not_one_of_the_whole_run() -> None:
    with pytest.raises(UsageError) as caught:
        resolved(["islands=1 algorithm=brkga rat=2"])
    known = str(caught.value).partition("Known: ")[2].split(", ")
    assert {"rate", "rho", "improver.steps"} <= {*known}
    for name in known:
        with pytest.raises(UsageError) as caught:  # of the value, not of the name
            resolved([{"islands": 1, "algorithm": "brkga", name: "?"}])
        assert "setting of" not in str(caught.value)


def test_the_number_of_islands_may_be_repeated() -> None:
    assert resolved(TWO, islands=5).general.islands == 5
