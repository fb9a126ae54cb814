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
from islands.text import command_line


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
        (
            {"interval": 7, "stop": "seconds=5"},
            r"the settings \(stop .*5'\] instead of .*, migration\.interval 7 instead of \d+\)",
        ),
        ({"problem": Data(1, 3)}, "the data of the instance"),
        ({"writes": False}, r"whether files are written \(False instead of True\)"),
        ({"folder": Path("a")}, r"the folder of the files \(a instead of a new one\)"),
        ({"asynchronous": True}, r"async \(True instead of False\)"),
        (
            {"seed": 2, "problem": Data(2)},
            r"the settings \(seed 2 instead of 1\) and the data of the instance",
        ),
        (
            {"problem": Known(90)},
            r"the best known cost \(90 best_known instead of none\)",
        ),
    ],
)
def test_ranks_with_differences_are_named(change: dict[str, Any], what: str) -> None:
    ranks = Ranks()
    agree(ranks, **{"problem": Data(1, 2), **change})
    hosts = r"\[rank 0: host \S+; rank 1: host \S+\]"
    words = rf"^rank 1 of 3 differs from rank 0 in {what} {hosts}\. Start all ranks with the same"
    with pytest.raises(UsageError, match=words):
        agree(ranks, Data(1, 2))


def test_configuration_file_is_named_like_the_user_option() -> None:
    ranks = Ranks()
    agree(ranks, Data(1, 2))
    with pytest.raises(UsageError, match=" that config, ISLANDS_INSTANCES and "):
        agree(ranks, Data(1, 3))
    with command_line(), pytest.raises(UsageError, match=" that --config, ISLANDS_INSTANCES and "):
        agree(ranks, Data(1, 3))


def test_single_rank_always_agrees() -> None:
    agree(World(), FakeProblem())  # type: ignore[arg-type]


def digest(problem: FakeProblem, **options: Any) -> str:
    return identity(resolve(layers({"instance": "fake/five", **options}), problem), problem)


@pytest.mark.parametrize(
    "options",
    [{"backend": "cpu", "threads": 2}, {"stop": "seconds=5"}, {"checkpoint.every": "5m"}],
)
def test_identity_does_not_depend_on_criteria_and_devices(
    options: dict[str, Any],
) -> None:
    assert digest(Data(1, 2), **options) == digest(Data(1, 2))


@pytest.mark.parametrize("options", [{"seed": 2}, {"rho": 0.8}, {"record.every": 5}])
def test_identity_depends_on_settings(options: dict[str, Any]) -> None:
    assert digest(Data(1, 2), **options) != digest(Data(1, 2))


def test_identity_depends_on_data() -> None:
    assert digest(Data(1, 3)) != digest(Data(1, 2))
