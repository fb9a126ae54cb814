"""Parts of a run that fit each other, and names that no file can have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eax_for_tests import weights
from fakes import FakeProblem
from problems_for_tests import cities

import islands
from islands.archipelago.parts import ProgramParts
from islands.backends.cpu import CpuBackend
from islands.configuration.fit import require_block_memory
from islands.configuration.resolve import layers, resolve
from islands.errors import IslandsError, UsageError
from islands.paths import published
from islands.run.build import read_start
from islands.run.request import resolved


class Unpriced(FakeProblem):
    name = "unpriced"
    moves = ("reversal",)


def test_improver_without_delta_of_its_moves_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(CpuBackend, "compile", lambda *asked: compiled.append(asked))
    for name in ("swap", "tabu"):
        with pytest.raises(UsageError, match=f"improver {name} needs the delta of the move swap"):
            islands.Solver(Unpriced(), improver=name, backend="cpu")
    resolve(layers({"improver": "two_opt", "algorithm": "brkga"}), Unpriced())
    assert not compiled


EAX = {"algorithm": "eax", "population": 8, "islands": 1}
CURVE = "first_tours=curve"


def test_a_curve_through_a_matrix_is_refused_with_the_settings(tmp_path: Path) -> None:
    asked = layers({**EAX, "first_tours": "curve"})
    assert resolve(asked, cities(9, tmp_path)).settings.first_tours == "curve"
    with pytest.raises(UsageError, match=CURVE):
        resolve(asked, weights(9))
    colonies = ["islands=1", "islands=1 algorithm=eax first_tours=curve"]
    with pytest.raises(UsageError, match=f"colony 1: {CURVE}"):
        resolve(layers({"colonies": colonies}), weights(9))


@pytest.mark.parametrize(
    "colonies", [None, ["islands=1 algorithm=brkga", "islands=1 algorithm=eax"]]
)
def test_launches_that_no_block_has_memory_for_are_refused(
    colonies: list[str] | None, tmp_path: Path
) -> None:
    problem = cities(900, tmp_path)
    spec = resolve(layers({"colonies": colonies} if colonies else dict(EAX)), problem)
    parts = ProgramParts.of(replace(spec.all_colonies[-1], population=8), problem, None)
    launches = [*parts.schedule.launches()]
    largest = max(launch.room or 0 for launch in launches if launch.threads is not None)
    for enough in (None, 2 * largest):
        require_block_memory(spec, problem, lambda enough=enough: enough)
    with pytest.raises(UsageError) as caught:
        require_block_memory(spec, problem, lambda: largest // 2)
    assert str(caught.value).startswith("colony 1: eax_" if colonies else "eax_")


LONG = "a" * 5000


def start_of(options: dict[str, Any]) -> list[Any]:
    """Return the solutions with which a run begins."""
    return read_start(*resolved(layers(options)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"instance": "a\0.tsp"}, "no such file"),
        ({"instance": f"{LONG}.tsp"}, "File name too long"),
        ({"instance": "~nosuchuser/x.tsp"}, "there is no such user"),
        ({"crossover": "~nosuchuser/x.py:y"}, "there is no such user"),
        ({"start": [LONG]}, "File name too long"),
        ({"start": ["a\0.tour"]}, "a zero byte is in the name"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_names_that_no_file_can_have(
    options: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IslandsError, match=said) as error:
        start_of({"algorithm": "ga"} | options)
    assert str(error.value).isprintable()


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(IslandsError, match="a zero byte is in the name"),
        published(tmp_path / "a\0b"),
    ):
        pass
