from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray

from islands.configuration.identity import identity, require_agreement
from islands.configuration.resolve import layers, resolve
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.parallel import World


class Ranks(World):
    """Rank 0 of three; the other ranks contribute the values of previous calls."""

    def __init__(self) -> None:
        super().__init__()
        self.size = 3
        self.said: list[Any] = []

    def allgather(self, value: Any) -> list[Any]:
        self.said.append(value)
        return [*self.said[::-1], *[value] * 3][:3]

    def run_on_all(self, work: Any) -> Any:
        return work()


class Data(FakeProblem):
    def __init__(self, *numbers: int) -> None:
        super().__init__()
        self.numbers = numbers

    def arrays(self) -> list[NDArray[np.generic]]:
        return [np.array(self.numbers)]


class Known(Data):
    def __init__(self, value: int) -> None:
        super().__init__(1, 2)
        self.best_known = BestKnown(value, "best_known", "a paper")


def agree(
    ranks: Ranks,
    problem: FakeProblem,
    writes: bool = True,
    folder: Path | None = None,
    asynchronous: bool = False,
    **options: Any,
) -> None:
    spec = resolve(layers({"instance": "fake/five", **options}), problem)
    require_agreement(
        *(ranks, spec, problem), writes=writes, folder=folder, asynchronous=asynchronous
    )


def test_ranks_may_use_different_devices() -> None:
    ranks = Ranks()
    agree(ranks, Data(1, 2), backend="cpu", threads=2)
    agree(ranks, Data(1, 2), backend="auto", threads=3)
    agree(ranks, Data(1, 2))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rho": 0.8}, r"the settings \(rho 0\.8 instead of 0\.7\)"),
        ({"problem": Data(1, 3)}, "the data of the instance"),
        ({"writes": False}, "whether files are written"),
        ({"folder": Path("a")}, "the folder of the files"),
        ({"asynchronous": True}, "async"),
        ({"seed": 2, "problem": Data(2)}, "the settings .* and the data of the instance"),
        ({"problem": Known(90)}, "the best known cost"),
    ],
)
def test_ranks_with_differences_are_named(change: dict[str, Any], what: str) -> None:
    ranks = Ranks()
    agree(ranks, **{"problem": Data(1, 2), **change})
    with pytest.raises(UsageError, match=rf"^rank 1 of 3 differs from rank 0 in {what}"):
        agree(ranks, Data(1, 2))


def digest(problem: FakeProblem, **options: Any) -> str:
    return identity(resolve(layers({"instance": "fake/five", **options}), problem), problem)


def test_identity_depends_on_settings_and_data_but_not_on_criteria_and_devices() -> None:
    for same in (
        {"backend": "cpu", "threads": 2},
        {"stop": "seconds=5"},
        {"checkpoint.every": 300},
    ):
        assert digest(Data(1, 2), **same) == digest(Data(1, 2))
    for other in ({"seed": 2}, {"rho": 0.8}, {"record.every": 5}):
        assert digest(Data(1, 2), **other) != digest(Data(1, 2))
    assert digest(Data(1, 3)) != digest(Data(1, 2))
