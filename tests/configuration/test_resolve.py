from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeProblem
from problems_for_tests import knapsack

import islands.configuration.resolve as module
from islands.algorithms import ALGORITHMS
from islands.configuration.given import ALIASES
from islands.configuration.resolve import instance_of, layers, resolve
from islands.configuration.spec import RunSpec
from islands.errors import InputError, UsageError
from islands.instances.catalogue import BestKnown
from islands.instances.synthetic import uniform_tsp
from islands.presets import PRESETS
from islands.problems import load
from islands.problems.tsp import Tsp
from islands.text import command_line


def resolved(options: dict[str, Any], config: Path | None = None) -> RunSpec:
    return resolve(layers(options, config), FakeProblem())


def test_defaults_equal_the_documentation() -> None:
    spec = resolved({})
    assert (spec.algorithm, spec.encoding, spec.preset) == ("brkga", "keys", None)
    assert (spec.general.islands, spec.general.population, spec.general.seed) == (8, 256, 1)
    assert (spec.record.every, spec.record.migrations, spec.checkpoint.every) == (50, True, 60)
    assert [criterion.text for criterion in spec.stop] == ["seconds=60"]
    assert instance_of(layers({})) == "demo/tsp"


def test_default_criteria_are_the_proven_optimum_and_time() -> None:
    def stops(instance: str, status: str) -> list[str]:
        problem = FakeProblem(BestKnown(7, status, "a list"))
        problem.instance = instance
        return [criterion.text for criterion in resolve(layers({}), problem).stop]

    assert stops("tsplib/berlin52", "optimal") == ["optimum", "seconds=60"]
    assert stops("tsplib/berlin52", "best_known") == ["seconds=60"]
    assert stops("demo/tsp", "optimal") == ["optimum", "seconds=20"]


def test_without_a_time_limit_a_population_has_the_size_for_the_default_one() -> None:
    problem = Tsp(uniform_tsp(6000, seed=1))

    def population(**options: Any) -> int:
        return resolve(layers({"backend": "cpu", **options}), problem).general.population

    usual = population()
    assert population(stop="generations=50") == population(stop="seconds=60") == usual
    assert population(stop="seconds=2") < usual


def test_options_override_the_file_which_overrides_the_preset(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('preset = "xavier2019"\nrho = 0.8\nelite = 0.2\n[migration]\ninterval = 7\n')
    spec = resolved({"rho": "0.9", "migrants": "5"}, config)
    settings = spec.settings.to_mapping()
    assert settings["rho"] == 0.9
    assert settings["elite"] == 0.2
    assert settings["mutants"] == 0.1
    assert spec.general.islands == 3
    assert spec.migration.topology == "elite"
    assert (spec.migration.interval, spec.migration.migrants) == (7, 5)


def test_preset_has_the_settings_of_the_paper() -> None:
    spec = resolved({"preset": "xavier2019"})
    assert (spec.general.population, spec.general.islands) == (256, 3)
    settings = spec.settings.to_mapping()
    assert (settings["elite"], settings["mutants"], settings["rho"]) == (0.1, 0.1, 0.7)
    assert (settings["parents"], settings["elite_parents"], settings["bias"]) == (2, 1, "rho")
    assert spec.migration.topology == "elite"
    assert (spec.migration.interval, spec.migration.migrants) == (200, 2)
    assert [criterion.text for criterion in spec.stop] == ["generations=1000"]


def test_criteria_replace_those_of_the_preset() -> None:
    spec = resolved({"preset": "xavier2019", "stop": ["seconds=5", "target=3"]})
    assert [criterion.text for criterion in spec.stop] == ["seconds=5", "target=3"]


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_can_be_resolved(preset: str) -> None:
    is_of_knapsacks = preset.startswith(("dantas2014", "munhao2019"))
    problem = knapsack(10, 2) if is_of_knapsacks else FakeProblem()
    assert resolve(layers({"preset": preset}), problem).preset == preset


@pytest.mark.parametrize("empty", [[], ()])
def test_empty_criteria_mean_the_default(empty: Any) -> None:
    assert [each.text for each in resolved({"stop": empty}).stop] == ["seconds=60"]
    spec = resolved({"preset": "xavier2019", "stop": empty})
    assert [each.text for each in spec.stop] == ["seconds=60"]


def test_preset_option_with_an_overriding_file_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("population = 64\nparents = 3\nrho = 0.7\n")
    with pytest.raises(UsageError) as caught, command_line():
        resolved({"preset": "xavier2019"}, config)
    assert str(caught.value) == (
        f"--preset xavier2019 with --config {config}: the file overrides population of the preset."
        " Leave one of them out, or write preset = 'xavier2019' into the file"
    )
    # A setting among the options is not overridden.
    assert resolved({"preset": "xavier2019", "population": 32, "parents": 2}, config)


def test_name_that_is_not_utf8_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"caf\xe9.tsp")
    Path(name).touch()
    with pytest.raises(UsageError, match=r"caf\\udce9\.tsp': is not UTF-8, .*Rename the file"):
        resolved({"instance": name})


def test_too_long_file_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"x\.tour: File name too long\. Name a file"):
        resolved({"start": ["x" * 300 + "x.tour"]})


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("migration", "ring", lambda spec: spec.migration.topology == "ring"),
        ("migration.topology", "ring", lambda spec: spec.migration.topology == "ring"),
        ("interval", "9", lambda spec: spec.migration.interval == 9),
        ("record.every", "3", lambda spec: spec.record.every == 3),
        ("record.migrations", "false", lambda spec: not spec.record.migrations),
        ("checkpoint.every", "5m", lambda spec: spec.checkpoint.every == 300),
        ("checkpoint.every", "0", lambda spec: spec.checkpoint.every == 0),
        ("population", "1e3", lambda spec: spec.general.population == 1000),
        ("seed", str(2**63 - 1), lambda spec: spec.general.seed == 2**63 - 1),
    ],
)
def test_settings_by_name(key: str, value: str, found: Any) -> None:
    assert found(resolved({key: value}))


def test_toml_of_a_run_resolves_to_the_same_run(tmp_path: Path) -> None:
    options = {
        "instance": "fake/five",
        "preset": "xavier2019",
        "rho": "0.7123456789012345",
        "stop": ["gap=0.5%", "seconds=2h"],
        "seed": str(2**63 - 1),
        "migration": "ring",
    }
    problem = FakeProblem(BestKnown(7, "best_known", "a list"))
    spec = resolve(layers(options), problem)
    config = tmp_path / "run.toml"
    config.write_text(spec.to_toml())
    assert resolve(layers({}, config), problem) == spec
    assert instance_of(layers({}, config)) == "fake/five"
    assert tomllib.loads(spec.to_toml())["migration"]["topology"] == "ring"


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("\ufeffislands = 5\n", encoding="utf-8")
    assert resolve(layers({}, path), load("demo/tsp")).general.islands == 5


def test_paths_in_toml_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.tsp").touch()
    Path("first.tour").touch()
    spec = resolved({"instance": "mine.tsp", "start": ["first.tour"]})
    assert spec.instance == str(tmp_path / "mine.tsp")
    assert spec.start == (str(tmp_path / "first.tour"),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "brgka"}, "unknown algorithm 'brgka'. Did you mean 'brkga'?"),
        ({"encoding": "key"}, "unknown encoding 'key'. Did you mean 'keys'?"),
        ({"preset": "xavier"}, "unknown preset 'xavier'. Did you mean 'xavier2019'?"),
        (
            {"eliet": "1"},
            "unknown setting of brkga 'eliet'. Did you mean 'elite'?",
        ),
        ({"steps": "9"}, "unknown setting of brkga 'steps'. Did you mean 'improver.steps'?"),
        ({"populatio": "9"}, "'populatio'. Did you mean 'population'?"),
        ({"decodin": "9"}, "Did you mean 'decoding' or 'encoding'?"),
        ({"second": "9"}, "Did you mean 'seconds'?"),
        ({"zzz": "9"}, "unknown setting of brkga 'zzz'. Known: elite, mutants, rho"),
        ({"brkga.elite": "0.2"}, "brkga.elite: is not a setting of islands. Write elite"),
        ({"rho": "2"}, "rho=2: must be from 0.5 to 1"),
        ({"rho": "high"}, "rho=high: must be a number"),
        ({"elite": "0.7", "mutants": "0.6"}, "elite=0.7 + mutants=0.6 = 1.3"),
        ({"islands": "0"}, "islands=0: must be from 1 to 16777216"),
        (
            {"checkpoint.every": "often"},
            "every=often: must be a number of seconds, or a duration such as 60s",
        ),
        ({"checkpoint.every": "-1s"}, "every=-1s: must be at least 0"),
        ({"seed": "-1"}, "seed=-1: must be from 0"),
        ({"migration": "rign"}, "Did you mean 'ring'?"),
        ({"backend": "gpu"}, "Known: auto, cpu, cuda"),
        ({"stop": ""}, "stop=\"\": unknown criterion ''"),
        ({"stop": ["gap=1%"]}, "no best known value for fake/five"),
    ],
)
def test_invalid_settings_are_refused_with_a_hint(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolved(options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_problems_with_bounds_know_the_bound() -> None:
    known = []
    for instance in ("demo/tsp", "demo/qap", "demo/mkp"):
        with pytest.raises(UsageError) as caught:
            resolve(layers({"algorithm": "brkga", "boud": "1"}), load(instance))
        known.append("Did you mean 'bound'?" in str(caught.value))
        resolve(layers({"bound": False}), load(instance))
    assert known == [True, False, True]


def test_error_of_an_unknown_key_names_the_file(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("[migration]\nintervall = 3\n")
    with pytest.raises(UsageError, match=r"mine\.toml: unknown setting .*'migration\.interval'"):
        resolved({}, config)


@pytest.mark.parametrize(
    ("content", "message"), [(b"rho = ", "not TOML"), (b"\xff\xfe", "is not UTF-8")]
)
def test_file_that_is_not_toml_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    config = tmp_path / "mine.toml"
    config.write_bytes(content)
    with pytest.raises(InputError, match=message):
        layers({}, config)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: No such file"):
        layers({}, tmp_path / "none.toml")


GENERAL = {*module.GeneralSettings.names(), *module.GROUPS, *module.NAMES, *ALIASES}


@pytest.mark.parametrize("algorithm", module.ALGORITHMS.values(), ids=lambda kind: kind.name)
def test_settings_of_algorithms_have_unique_names(algorithm: type[Any]) -> None:
    assert GENERAL.isdisjoint(algorithm.Settings.names())


def operators(spec: RunSpec) -> tuple[str, str]:
    chosen = spec.settings.to_mapping()
    return chosen["crossover"], chosen["mutation"]


def test_default_operators_of_the_encoding_are_named() -> None:
    spec = resolve(layers({"algorithm": "cellular", "encoding": "permutation"}), FakeProblem())
    assert operators(spec) == ("pmx", "swap")
    asked = {"algorithm": "cellular", "encoding": "keys", "crossover": "uniform"}
    spec = resolve(layers(asked), FakeProblem())
    assert operators(spec) == ("uniform", "reset")


def test_preset_of_another_algorithm_is_refused() -> None:
    asked = layers({"preset": "soca2010", "algorithm": "de"})
    with pytest.raises(UsageError, match=r"preset soca2010: .* cellular, but algorithm=\"de\""):
        resolve(asked, FakeProblem())


def test_many_islands_form_a_ring_unless_a_topology_is_given() -> None:
    few, many = ({"population": 50, "islands": islands} for islands in (8, 64))
    assert (resolved(few).migration.topology, resolved(few).adjusted) == ("elite", "")
    spec = resolved(many)
    assert spec.migration.topology == "ring"
    assert "migration elite -> ring, as the migrants of 64 islands do not fit" in spec.adjusted
    with pytest.raises(UsageError, match="migration elite brings up to 126 migrants"):
        resolved({**many, "migration.topology": "elite"})
    with pytest.raises(UsageError, match=r"elite=0\.1 of population=2"):
        resolved({"population": 2, "islands": 64})


@pytest.mark.parametrize(
    ("instance", "setting", "owners"),
    [
        ("demo/qap", {"rho": 0.7}, ["brkga"]),
        ("demo/tsp", {"mutation_rate": 0.5}, ["cellular", "ga"]),
        ("demo/mkp", {"tournament": 3}, ["ga"]),
        ("demo/mkp", {"c1": 1}, ["pso"]),
        ("demo/qap", {"colonies": [{"islands": 8, "rho": 0.7}]}, ["brkga"]),
        ("demo/qap", {"colonies": [{"islands": 8}], "rho": 0.7}, ["brkga"]),
        ("demo/qap", {"stop": "converged", "rho": 0.7}, ["brkga"]),
        ("demo/qap", {"algorithm": "tempering", "rho": 0.7}, ["brkga"]),
        ("demo/qap", {"improver": "none", "rho": 0.7}, ["brkga"]),
        ("demo/mkp", {"encoding": "bits", "strength": 3}, ["cellular", "ga"]),
        ("demo/qap", {"reset": 9}, None),  # tempering has it
    ],
)
def test_no_setting_chooses_the_algorithm(
    instance: str, setting: dict[str, Any], owners: list[str] | None
) -> None:
    problem = load(instance)
    usual = resolve(layers({"instance": instance}), problem).algorithm
    if owners is None:
        assert resolve(layers(setting), problem).algorithm == usual
        return
    with pytest.raises(UsageError) as caught:
        resolve(layers(setting), problem)
    assert {*owners} == {*ALGORITHMS} & {*re.findall(r"\w+", str(caught.value).split(" but ")[1])}
    for owner in owners:
        given = {**setting, "algorithm": owner}
        assert resolve(layers(given), problem).algorithm == owner


@pytest.mark.parametrize(
    ("instance", "part"),
    [
        ("demo/tsp", {"improver": "two_opt"}),
        ("demo/tsp", {"encoding": "keys"}),
        ("demo/tsp", {"crossover": "order"}),
        ("demo/qap", {"mutation": "swap", "strength": 2}),
    ],
)
def test_a_part_chooses_an_algorithm_that_takes_it(instance: str, part: dict[str, Any]) -> None:
    problem = load(instance)
    usual = resolve(layers({}), problem).algorithm
    found = resolve(layers(part), problem)
    assert found.algorithm != usual
    assert found.adjusted.startswith(found.algorithm)
