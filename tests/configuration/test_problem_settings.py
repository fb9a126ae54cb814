"""Settings of a problem: given without prefix, stored with the run, and used by its islands."""

from __future__ import annotations

import inspect
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeArchipelago, FakeProblem
from numpy.typing import NDArray

import islands
import islands.configuration.resolve as module
from islands.archipelago.measure import Candidate
from islands.backends import choose
from islands.campaign.series import SeriesPlan, run_series
from islands.configuration.given import ALIASES
from islands.configuration.identity import identity
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.run import request as request
from islands.run.concurrent import run_concurrently
from islands.run.runner import resume_requested, run_requested
from islands.run.single import Output
from islands.settings import Settings, setting


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


class Named(Plain):
    name = "named"


def resolved(problem: Problem | None = None, **options: Any) -> RunSpec:
    return resolve(layers(options), problem or Plain())


def test_settings_of_a_problem_have_no_prefix() -> None:
    assert resolved().problem == WaySettings()
    assert resolved(way="right").problem == WaySettings("right")
    assert resolved(fine="7").problem == WaySettings("left", 7.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"way": "rigth"}, "way=rigth: unknown choice 'rigth'. Did you mean 'right'?"),
        ({"fine": "-1"}, "fine=-1: must be at least 0"),
        ({"wya": "left"}, "unknown setting of brkga on plain 'wya'. Did you mean 'way'?"),
    ],
)
def test_invalid_settings_are_refused_with_a_hint(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolved(**options)
    assert str(caught.value).startswith(message)


def test_settings_of_another_kind_of_problem_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROBLEMS, "chosen", Chosen)
    with pytest.raises(UsageError) as caught:
        resolved(FakeProblem(), way="left")
    assert str(caught.value) == (
        "way: is a setting of chosen, but fake/five is an instance of tsp. Leave it out, or choose"
        " an instance of chosen"
    )


def test_toml_contains_settings_of_the_problem(tmp_path: Path) -> None:
    spec = resolved(way="right", fine=0.1)
    path = tmp_path / "run.toml"
    path.write_text(spec.to_toml())
    assert 'way = "right"' in path.read_text()
    assert resolve(layers({}, path), Plain()) == spec
    assert resolve(layers({"way": "left"}, path), Plain()).problem == WaySettings("left", 0.1)


def test_defaults_may_set_settings_of_the_problem_and_islands() -> None:
    spec = resolved(Chosen())
    assert (spec.problem, spec.general.islands) == (WaySettings("left", 4), 3)
    # Population and criteria are not part of the choice of a search.
    spec = resolved(Chosen(), population=64, stop="seconds=1", way="right", seed=9)
    assert (spec.problem, spec.general.islands) == (WaySettings("right", 4), 3)
    assert resolved(Chosen(), islands=5).problem == WaySettings("left", 4)
    for other in ({"algorithm": "de"}, {"preset": "xavier2019"}):
        assert resolved(Chosen(), **other).problem == WaySettings()


def test_problem_keeps_the_settings_it_was_created_with() -> None:
    problem = Plain(WaySettings("right", 1.0))
    assert resolved(problem).problem == WaySettings("right", 1.0)
    assert resolved(problem, way="left").problem == WaySettings("left", 1.0)


def test_adjusted_problem_differs_only_in_its_settings() -> None:
    problem = Plain()
    assert problem.adjusted(WaySettings()) is problem
    other = problem.adjusted(WaySettings("right"))
    assert other.settings == WaySettings("right")
    assert (other.instance, problem.settings) == ("fake/five", WaySettings())


def test_identity_depends_on_settings() -> None:
    problem = Plain()
    digests = [identity(resolved(way=way), problem) for way in ("left", "right", "right")]
    assert digests[0] != digests[1] == digests[2]


class Adjusted(FakeArchipelago):
    """Records the problem that it is created for."""

    ways: list[Settings] = []

    def __init__(self, *, problem: Problem, **_: Any) -> None:
        super().__init__()
        self.ways.append(problem.settings)

    def measure(self) -> list[Any]:
        return [type(m)(m.island, 100, 0, 0.0, 100, 0, 1) for m in super().measure()]

    def best(self) -> Candidate:
        return Candidate(100, 0, np.arange(5), np.arange(5))

    def elite(self, count: int, run: int | None = None) -> list[Candidate]:
        return [self.best()]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Return the settings of the problems that islands are created for."""
    monkeypatch.setattr("islands.run.build.Archipelago", Adjusted)
    monkeypatch.setattr(request, "loaded", lambda *_: Plain())
    Adjusted.ways.clear()
    return Adjusted.ways


ASKED = {"instance": "fake/five", "way": "right", "stop": "generations=4", "backend": "cpu"}


def test_run_and_resumed_run_use_settings_of_the_problem(
    ways: list[Settings], tmp_path: Path
) -> None:
    folder = tmp_path / "a"
    run_requested(ASKED, None, World(), Output(writes=True, folder=folder))
    resume_requested(folder, {"stop": "generations=6"}, World(), Output(writes=True, folder=folder))
    assert ways == [WaySettings("right")] * 2


def test_series_uses_settings_of_the_problem(ways: list[Settings], tmp_path: Path) -> None:
    planned = SeriesPlan.of(["fake/five"], 2, ASKED)
    output = Output(writes=True, folder=tmp_path / "a")
    run_series(planned, World(), output)
    run_series(planned, World(), output)
    assert ways == [WaySettings("right")] * 2
    with pytest.raises(UsageError, match="contains a run with other settings: way"):
        run_series(SeriesPlan.of(["fake/five"], 2, {**ASKED, "way": "left"}), World(), output)


def test_concurrent_runs_and_solvers_use_settings_of_the_problem(ways: list[Settings]) -> None:
    asked = layers({**ASKED, "islands": 2, "migration": "none"})
    run_concurrently(resolve(asked, Plain()), Plain(), 1, choose("cpu"))
    solver = islands.Solver("fake/five", way="right", backend="cpu")
    assert solver.problem.settings == WaySettings("right")
    islands.solve(Named(), way="right", backend="cpu", stop="generations=1")
    assert ways == [WaySettings("right")] * 3


ARGUMENTS = {*inspect.signature(islands.solve).parameters} - {"settings"}
GENERAL = {*module.GeneralSettings.names(), *module.GROUPS, *module.NAMES, *ALIASES}


@pytest.mark.parametrize(
    ("problem", "algorithm"),
    list(itertools.product(PROBLEMS.values(), module.ALGORITHMS.values())),
    ids=lambda kind: kind.name,
)
def test_settings_of_problems_have_unique_names(
    problem: type[Problem], algorithm: type[Any]
) -> None:
    names = problem.Settings.names()
    assert len(names) == len({*names})
    assert {*algorithm.Settings.names(), *GENERAL, *ARGUMENTS}.isdisjoint(names)
