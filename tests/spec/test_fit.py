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
    """Let there be an encoding for either kind of solutions, and two algorithms."""
    encodings = {"keys": {"order": ENCODINGS["keys"]["order"]}, "bits": ENCODINGS["bits"]}
    monkeypatch.setattr(module, "ENCODINGS", encodings)
    monkeypatch.setattr(module, "ALGORITHMS", {"brkga": Brkga, "mover": Mover})


@pytest.mark.usefixtures("_more")
def test_the_first_encoding_that_fits_is_taken() -> None:
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
            'brkga moves keys only, but encoding="bits" was asked for.'
            ' Leave encoding out, or use algorithm="mover"',
        ),
        (
            "brkga",
            None,
            "brkga on keys does not fit fake/five, whose solutions are of the kind 'subset'."
            " What fits: mover on bits",
        ),
        (
            "mover",
            "keys",
            "encoding keys does not fit fake/five, whose solutions are of the kind 'subset'."
            ' Leave encoding out, or choose encoding="bits"',
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(
    algorithm: str, asked: str | None, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        encoding_for(algorithm, asked, Subset())
    assert str(caught.value) == message


def test_a_run_that_cannot_be_is_not_resolved() -> None:
    class Strange(FakeProblem):
        solution_kind = "strange"

    with pytest.raises(UsageError, match=r"What fits: nothing"):
        resolve(layers({}), Strange())


class Unpriced(FakeProblem):
    name = "unpriced"
    moves = ("reversal",)


def test_an_improver_whose_moves_have_no_delta_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[object] = []
    monkeypatch.setattr(CpuBackend, "compile", lambda *asked: compiled.append(asked))
    for name in ("swap", "tabu"):
        with pytest.raises(UsageError) as caught:
            islands.Solver(Unpriced(), improver=name, backend="cpu")
        assert str(caught.value) == (
            f"improver {name} asks for the delta of the move swap, which unpriced does not give."
            " Write it into its header and name it in Unpriced.moves, or choose an improver that"
            " fits: none, two_opt"
        )
    resolve(layers({"improver": "two_opt", "algorithm": "brkga"}), Unpriced())
    assert not compiled
