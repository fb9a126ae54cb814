import inspect
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeProblem
from synthetic import uniform_tsp

import islands
import islands.configuration.resolve as module
from islands.algorithms import ALGORITHMS
from islands.configuration.given import ALIASES
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.problems import PROBLEMS, load
from islands.problems.tsp import Tsp


def resolved(options: dict[str, Any], config: Path | None = None) -> RunSpec:
    return resolve(Request.of(options, config), FakeProblem()).spec


def test_default_criteria_are_the_proven_optimum_and_time() -> None:
    def stops(instance: str, status: str) -> list[str]:
        problem = FakeProblem(BestKnown(7, status, "a list"))
        problem.instance = instance
        return [criterion.text for criterion in resolve(Request.of({}), problem).spec.stop]

    assert stops("tsplib/berlin52", "optimal") == ["optimum", "seconds=60"]
    assert stops("tsplib/berlin52", "best_known") == ["seconds=60"]
    assert stops("demo/tsp", "optimal") == ["optimum", "seconds=20"]


def test_without_a_time_limit_a_population_has_the_size_for_the_default_one() -> None:
    problem = Tsp(uniform_tsp(6000, seed=1))

    def population(**options: Any) -> int:
        return resolve(Request.of({"backend": "cpu", **options}), problem).spec.general.population

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


def test_criteria_replace_those_of_the_preset() -> None:
    spec = resolved({"preset": "xavier2019", "stop": ["seconds=5", "target=3"]})
    assert [criterion.text for criterion in spec.stop] == ["seconds=5", "target=3"]


@pytest.mark.parametrize("empty", [[], ()])
def test_empty_criteria_mean_the_default(empty: Any) -> None:
    assert [each.text for each in resolved({"stop": empty}).stop] == ["seconds=60"]
    spec = resolved({"preset": "xavier2019", "stop": empty})
    assert [each.text for each in spec.stop] == ["seconds=60"]


def test_name_that_is_not_utf8_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"caf\xe9.tsp")
    Path(name).touch()
    with pytest.raises(UsageError, match="UTF-8"):
        resolved({"instance": name})


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("migration", "ring", lambda spec: spec.migration.topology == "ring"),
        ("interval", "9", lambda spec: spec.migration.interval == 9),
        ("record.every", "3", lambda spec: spec.record.every == 3),
        ("record.migrations", "false", lambda spec: not spec.record.migrations),
        ("checkpoint.every", "5m", lambda spec: spec.checkpoint.every == 300),
        ("population", "1e3", lambda spec: spec.general.population == 1000),
        ("seed", str(2**63 - 1), lambda spec: spec.general.seed == 2**63 - 1),
    ],
)
def test_settings_by_name(key: str, value: str, found: Any) -> None:
    assert found(resolved({key: value}))


def test_toml_of_a_run_resolves_to_the_same_run(tmp_path: Path) -> None:
    options = {
        "instance": "fake/five", "preset": "xavier2019", "rho": "0.7123456789012345",
        "stop": ["gap=0.5%", "seconds=2h"], "seed": str(2**63 - 1), "migration": "ring",
    }  # fmt: skip
    problem = FakeProblem(BestKnown(7, "best_known", "a list"))
    spec = resolve(Request.of(options), problem).spec
    config = tmp_path / "run.toml"
    config.write_text(spec.to_toml())
    assert resolve(Request.of({}, config), problem).spec == spec
    assert Request.of({}, config).instance == "fake/five"
    assert tomllib.loads(spec.to_toml())["migration"]["topology"] == "ring"


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("\ufeffislands = 5\n", encoding="utf-8")
    assert resolve(Request.of({}, path), load("demo/tsp")).spec.general.islands == 5


def test_paths_in_toml_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.tsp").touch()
    Path("first.tour").touch()
    spec = resolved({"instance": "mine.tsp", "start": ["first.tour"]})
    assert spec.instance == str(tmp_path / "mine.tsp")
    assert spec.start == (str(tmp_path / "first.tour"),)


def test_names_of_settings_are_unique() -> None:
    general = {*module.GeneralSettings.names(), *module.GROUPS, *module.NAMES, *ALIASES}
    arguments = {*inspect.signature(islands.solve).parameters} - {"settings"}
    for algorithm in ALGORITHMS.values():
        of_algorithm = {*algorithm.Settings.names()}
        assert general.isdisjoint(of_algorithm)
        for problem in PROBLEMS.values():
            names = problem.Settings.names()
            assert len(names) == len({*names})
            assert {*of_algorithm, *general, *arguments}.isdisjoint(names)


def test_many_islands_form_a_ring_unless_a_topology_is_given() -> None:
    few, many = ({"population": 50, "islands": islands} for islands in (8, 64))
    assert (resolved(few).migration.topology, resolved(few).adjusted) == ("elite", "")
    spec = resolved(many)
    assert spec.migration.topology == "ring"
    assert "migration elite -> ring" in spec.adjusted


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
    usual = resolve(Request.of({}), problem).spec.algorithm
    found = resolve(Request.of(part), problem).spec
    assert found.algorithm != usual
    assert found.adjusted.startswith(found.algorithm)
