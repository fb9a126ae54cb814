"""Sizes are rejected before arrays are allocated; messages name the needed and the free memory."""

import re
from typing import Any

import pytest
from numpy.typing import DTypeLike, NDArray
from recorded_launches import CASES, Recorder

from islands.archipelago import archipelago, sizes
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Array
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.build import islands_of
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem

SIZES = {"islands": 40, "population": 512}


class Counting(Recorder):
    """A device that counts the bytes of all arrays, with `free` bytes of memory."""

    def __init__(self, free: int | None = None) -> None:
        super().__init__()
        self.free = free
        self.bytes = 0

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        array = super().empty(shape, dtype)
        self.bytes += array.nbytes
        return array

    def host_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        array = super().host_array(shape, dtype)
        self.bytes += array.nbytes
        return array


class Second(World):
    """The second of four ranks, which is alone in this process."""

    rank, size = 1, 4

    def __init__(self) -> None:
        """Start no MPI."""


def made(problem: Problem, backend: Counting, world: World | None = None, **options: Any) -> Any:
    request = {"stop": "generations=9", "migrants": 1, "migration": "ring", "improver": "none"}
    sizes = {} if "colonies" in options else SIZES
    resolved = resolve(Request.of(request | sizes | options), problem)
    return islands_of(resolved, world or World(), backend)


@pytest.fixture
def needed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found, compute = list[int](), sizes.bytes_needed

    def spied(*arguments: Any) -> int:
        found.append(compute(*arguments))
        return found[-1]

    monkeypatch.setattr(sizes, "bytes_needed", spied)
    return found


@pytest.mark.parametrize("topology", ["ring", "elite"])
@pytest.mark.parametrize("case", CASES)
def test_the_memory_needed_is_that_of_all_arrays(
    case: str, topology: str, needed: list[int]
) -> None:
    make, options = CASES[case]
    backend = Counting()
    islands: Archipelago = made(make(), backend, **{"migration": topology} | options)
    for colony in islands._colonies:
        colony.begin_attempt(0, 2)  # which copies what it overwrites
    assert needed[0] == pytest.approx(backend.bytes, rel=0.03)


COLONIES = [
    {"islands": 4, "algorithm": "ga", "population": 512},
    {"islands": 4, "algorithm": "brkga", "population": 100},
]


@pytest.mark.parametrize("colonies", [None, COLONIES])
def test_the_fix_that_an_error_names_is_enough(
    colonies: list[dict[str, Any]] | None, needed: list[int]
) -> None:
    problem = load("demo/tsp")
    own: dict[str, Any] = {"islands": 400} if colonies is None else {"colonies": colonies}
    made(problem, Counting(), **own)
    backend = Counting(needed[0] // 5)
    with pytest.raises(UsageError) as error:
        made(problem, backend, **own)
    assert backend.bytes == 0, "an array was made"
    said = str(error.value)
    limits = dict(re.findall(r"(islands|population) to (?:at most|about) (\d+)", said))
    if colonies is None:
        made(problem, Counting(backend.free), islands=int(limits["islands"]))
        made(
            problem,
            Counting(int(1.05 * backend.free)),
            **own | {"population": limits["population"]},
        )
    else:
        assert said.startswith("4 islands x population=512 + 4 islands x population=100 need")


def test_each_rank_needs_memory_for_its_share(needed: list[int], monkeypatch: Any) -> None:
    monkeypatch.setattr(archipelago, "require_fit", lambda *_, **__: None)
    problem = load("demo/tsp")
    made(problem, Counting(), islands=400)
    with pytest.raises(UsageError, match="100 islands"):
        made(problem, Counting(needed[0] // 5), Second(), islands=400)
    assert needed[1] == pytest.approx(needed[0] / 4, rel=0.05)
