from __future__ import annotations

import pytest
from fakes import FakeProblem

import islands
import islands.spec.fit as module
from islands.algorithms.base import Algorithm
from islands.algorithms.brkga import Brkga
from islands.backends.cpu import CpuBackend
from islands.encodings import ENCODINGS
from islands.errors import UsageError
from islands.spec.fit import encoding_for, fitting
from islands.spec.resolve import layers, resolve


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
            'encoding="bits": brkga only supports keys. Leave encoding out, or choose'
            ' algorithm="mover"',
        ),
        (
            "brkga",
            None,
            "brkga on keys does not fit fake/five, whose solutions have the kind 'subset'."
            " Possible: mover on bits",
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
