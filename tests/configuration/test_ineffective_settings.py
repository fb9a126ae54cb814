"""Settings of a problem; settings that a choice makes ineffective are dropped."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray
from problems_for_tests import knapsack

from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.problems.base import Problem
from islands.problems.mkp import WAYS, MkpSettings
from islands.settings import Settings, setting


def resolved(options: dict[str, Any], config: Path | None = None) -> dict[str, Any]:
    return resolve(Request.of(options, config), knapsack(10, 2)).spec.to_mapping()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "preset", ["munhao2019-m1", "munhao2019-m2", "dantas2014-mpi", "dantas2014-cuda"]
)
def test_each_preset_supports_each_infeasible_setting(preset: str, way: str) -> None:
    found = resolved({"preset": preset, "infeasible": way})
    begins_fit = preset.startswith("munhao") and way in ("linear", "dynamic")
    assert (found["infeasible"], found["fit_first"]) == (way, begins_fit)


def test_settings_that_depend_on_dropped_settings_are_dropped() -> None:
    """Constriction drops the schedule, which drops inertia_end."""
    found = resolved(
        {"preset": "munhao2019-m1", "constriction": "yes", "c1": 2.05, "c2": 2.05, "velocity": 4}
    )
    names = ("inertia", "schedule", "inertia_end", "horizon", "velocity", "fit_first")
    assert [found[name] for name in names] == [0.0, "constant", 0.4, 1000, 4.0, True]


def test_options_drop_settings_of_a_file_but_a_file_must_be_consistent(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('algorithm = "ga"\ntournament = 5\nelite = 2\nreplacement = "generational"\n')
    assert resolved({}, config)["tournament"] == 5
    found = resolved({"selection": "random", "elite": 3}, config)
    assert (found["tournament"], found["elite"]) == (2, 3)
    with pytest.raises(UsageError, match="elite=3"):
        resolved({"replacement": "steady", "elite": 3}, config)
    config.write_text('algorithm = "ga"\ntournament = 5\nselection = "random"\n')
    with pytest.raises(UsageError, match="tournament=5"):
        resolved({}, config)


def test_only_the_strongest_choice_drops_settings(tmp_path: Path) -> None:
    config = tmp_path / "best.toml"
    config.write_text('preset = "munhao2019-m2"\ninfeasible = "repair"\norders = 4\n')
    names = ("infeasible", "fit_first", "orders")
    assert [resolved({}, config)[name] for name in names] == ["repair", False, 4]
    found = resolved({"infeasible": "dynamic"}, config)
    assert [found[name] for name in names] == ["dynamic", True, 16]


def test_settings_of_keys_are_dropped_for_bits(tmp_path: Path) -> None:
    config = tmp_path / "keys.toml"
    config.write_text('algorithm = "pso"\nencoding = "keys"\nlow = -4.0\nhigh = 4.0\n')
    assert [resolved({}, config)[name] for name in ("low", "high")] == [-4.0, 4.0]
    found = resolved({"encoding": "bits"}, config)
    assert [found[name] for name in ("encoding", "low", "high")] == ["bits", 0.0, 1.0]


def test_options_drop_settings_of_a_problem() -> None:
    problem = knapsack(10, 2).adjusted(MkpSettings(infeasible="linear", penalty=7.0))
    for options, wanted in (
        ({}, MkpSettings(infeasible="linear", penalty=7.0)),
        ({"fit_first": True}, MkpSettings(infeasible="linear", penalty=7.0, fit_first=True)),
        ({"infeasible": "dynamic"}, MkpSettings(infeasible="dynamic")),
    ):
        assert resolve(Request.of(options), problem).spec.problem == wanted


@dataclass(frozen=True)
class WaySettings(Settings):
    way: str = setting("left", "where to go", choices=("left", "right"))
    fine: float = setting(2.5, "what it costs", low=0)


class Chosen(FakeProblem):
    """A problem with settings and with defaults for one of them."""

    Settings = WaySettings
    settings: Settings = WaySettings()
    usual: dict[str, Any] = {"algorithm": "brkga", "fine": 4, "islands": 3}

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__()
        self.settings = settings or WaySettings()

    def defaults(self) -> dict[str, Any]:
        return self.usual

    def arrays(self) -> list[NDArray[np.generic]]:
        return []


class Plain(Chosen):
    name = "plain"
    usual: dict[str, Any] = {"algorithm": "brkga"}


def spec_of(problem: Problem | None = None, **options: Any) -> RunSpec:
    return resolve(Request.of(options), problem or Plain()).spec


def test_settings_of_a_problem_have_no_prefix() -> None:
    assert spec_of().problem == WaySettings()
    assert spec_of(way="right").problem == WaySettings("right")
    assert spec_of(fine="7").problem == WaySettings("left", 7.0)


def test_toml_contains_settings_of_the_problem(tmp_path: Path) -> None:
    spec = spec_of(way="right", fine=0.1)
    path = tmp_path / "run.toml"
    path.write_text(spec.to_toml())
    assert 'way = "right"' in path.read_text()
    assert resolve(Request.of({}, path), Plain()).spec == spec
    again = resolve(Request.of({"way": "left"}, path), Plain())
    assert again.spec.problem == WaySettings("left", 0.1)


def test_defaults_may_set_settings_of_the_problem_and_islands() -> None:
    spec = spec_of(Chosen())
    assert (spec.problem, spec.general.islands) == (WaySettings("left", 4), 3)
    # Population and criteria are not part of the choice of a search.
    spec = spec_of(Chosen(), population=64, stop="seconds=1", way="right", seed=9)
    assert (spec.problem, spec.general.islands) == (WaySettings("right", 4), 3)
    assert spec_of(Chosen(), islands=5).problem == WaySettings("left", 4)
    for other in ({"algorithm": "de"}, {"preset": "xavier2019"}):
        assert spec_of(Chosen(), **other).problem == WaySettings()


def test_the_problem_of_a_run_has_its_settings() -> None:
    for way in ("left", "right"):
        found = resolve(Request.of({"way": way}), Chosen())
        assert found.problem.settings == found.spec.problem == WaySettings(way, 4)
