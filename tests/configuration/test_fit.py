from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from eax_for_tests import weights
from fakes import FakeProblem
from problems_for_tests import cities

import islands
import islands.configuration.fit as module
from islands.algorithms.base import Algorithm
from islands.algorithms.brkga import Brkga
from islands.archipelago.parts import ProgramParts
from islands.backends.cpu import CpuBackend
from islands.configuration.fit import encoding_for, fitting, require_block_memory
from islands.configuration.resolve import layers, resolve
from islands.encodings import ENCODINGS
from islands.errors import UsageError


class Mover(Algorithm):
    name = "mover"
    encodings = ("bits", "keys")


class Subset(FakeProblem):
    solution_kind = "subset"


@pytest.fixture
def _more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register an encoding for each kind of solution, and two algorithms."""
    encodings = {"keys": {"order": ENCODINGS["keys"]["order"]}, "bits": ENCODINGS["bits"]}
    monkeypatch.setattr(module, "ENCODINGS", encodings)
    monkeypatch.setattr(module, "ALGORITHMS", {"brkga": Brkga, "mover": Mover})


@pytest.mark.usefixtures("_more")
def test_default_encoding_is_the_first_that_fits() -> None:
    assert encoding_for("brkga", None, FakeProblem()) == "keys"
    assert encoding_for("mover", None, FakeProblem()) == "keys"
    assert encoding_for("mover", None, Subset()) == "bits"
    assert fitting(FakeProblem()) == [("brkga", "keys"), ("mover", "keys")]


@pytest.mark.usefixtures("_more")
@pytest.mark.parametrize(
    ("algorithm", "asked", "message"),
    [
        (
            "brkga",
            "bits",
            'encoding="bits": brkga only supports keys or vector. Leave encoding out, or choose'
            ' algorithm="mover"',
        ),
        (
            "brkga",
            None,
            "brkga on keys or vector does not fit fake/five, whose solutions have the kind"
            " 'subset'. Possible: mover on bits",
        ),
        (
            "mover",
            "keys",
            "encoding keys does not fit fake/five, whose solutions have the kind 'subset'."
            ' Leave encoding out, or choose encoding="bits"',
        ),
    ],
)
def test_combinations_that_do_not_fit_are_refused(
    algorithm: str, asked: str | None, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        encoding_for(algorithm, asked, Subset())
    assert str(caught.value) == message


def test_impossible_combination_is_not_resolved() -> None:
    class Strange(FakeProblem):
        solution_kind = "strange"

    with pytest.raises(UsageError, match=r"Possible: no combination"):
        resolve(layers({}), Strange())


class Unpriced(FakeProblem):
    name = "unpriced"
    moves = ("reversal",)


def test_improver_without_delta_of_its_moves_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(CpuBackend, "compile", lambda *asked: compiled.append(asked))
    for name in ("swap", "tabu"):
        with pytest.raises(UsageError) as caught:
            islands.Solver(Unpriced(), improver=name, backend="cpu")
        assert str(caught.value) == (
            f"improver {name} needs the delta of the move swap, which unpriced does not have. Add"
            " it to its header and to `moves` of its class, or choose an improver that fits: none,"
            " two_opt"
        )
    resolve(layers({"improver": "two_opt", "algorithm": "brkga"}), Unpriced())
    assert not compiled


EAX = {"algorithm": "eax", "population": 8, "islands": 1}
CURVE = "first_tours=curve: a space-filling curve needs coordinates, but"


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
    where = "colony 1: " if colonies else ""
    assert str(caught.value).startswith(f"{where}eax_")
    assert f" bytes of block memory, but this GPU has {largest // 2}. Choose" in str(caught.value)


def test_the_memory_of_a_block_is_only_looked_up_if_a_launch_needs_it(tmp_path: Path) -> None:
    def fails() -> int:
        raise AssertionError

    problem = cities(9, tmp_path)
    require_block_memory(resolve(layers({"algorithm": "brkga"}), problem), problem, fails)
