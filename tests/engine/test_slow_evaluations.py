"""Runs of user-defined problems end in time, however slow evaluations are and wherever they run."""

import threading
import time
from typing import Any

import pytest
from emulated_gpu import EmulatedGpu
from slow_problems import slow

import islands

pytestmark = pytest.mark.slow

LIMIT = 1.0  # seconds
LATE = 2.0  # the promise: seconds after the limit


def late(problem: Any, **options: Any) -> float:
    """Return the seconds from the limit to the end of the search."""
    usual: dict[str, Any] = {"backend": "cpu", "threads": 1, "islands": 2, "population": 16}
    result = islands.solve(problem, seconds=LIMIT, **{"seed": 1, **usual, **options})
    assert "time limit of 1 s" in result.reason
    return result.seconds - LIMIT


# Evaluations of generation 0 take no time, later ones a second. A run at its limit begins neither
# another individual nor the second of two children.
@pytest.mark.parametrize("kind", ["permutation", "subset", "keys", "real"])
@pytest.mark.parametrize("by", ["cost", "cooperative", "repair"])
def test_evaluations_of_a_second(kind: str, by: str) -> None:
    assert late(slow(kind, by, 1.0, quick=100, real=kind == "real")) < LATE


def test_a_python_function_that_begins_to_take_a_second() -> None:
    assert late(slow("keys", "function", 1.0, quick=100)) < LATE


# A call with several solutions cannot be stopped: it gets more of them only if few were quick.
def test_a_batch_function_that_takes_a_second_for_a_solution() -> None:
    assert late(slow("keys", "batch", 1.0)) < LATE


SEARCHES: list[dict[str, Any]] = [
    *({"name": name} for name in ("swap", "two_opt", "reinsert")),
    {"name": "swap", "strategy": "best"},
    {"name": "swap", "scope": "position"},
    {"name": "tabu"},
]


# Generation 0 takes no time, and then a search begins.
@pytest.mark.parametrize("improver", SEARCHES, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("by", ["delta", "cost"])
def test_searches_with_evaluations_of_half_a_second(by: str, improver: dict[str, Any]) -> None:
    assert late(slow("permutation", by, 0.5, 30, quick=100), improver=improver) < LATE


# Generations without a search are so short that a launch of many follows, some of which search.
def test_searches_that_are_drawn_seldom() -> None:
    problem = slow("permutation", "delta", 0.02, 30)
    assert late(problem, improver={"name": "swap", "rate": 0.02}) < LATE


def test_evaluations_that_begin_to_take_long() -> None:
    assert late(slow("permutation", "cost", 0.02, quick=100_000)) < LATE


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> EmulatedGpu:
    """Let runs use an emulated GPU, whose programs look for stop requests as on a GPU."""
    emulated = EmulatedGpu(32)
    monkeypatch.setattr("islands.backends._create", lambda *_: emulated)
    return emulated


# The threads of a block wait one after another. Without checks, these runs would take minutes.
@pytest.mark.parametrize("improver", SEARCHES, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("by", ["cost", "delta"])
@pytest.mark.usefixtures("gpu")
def test_searches_on_a_gpu(by: str, improver: dict[str, Any]) -> None:
    assert late(slow("permutation", by, 0.01, 30, quick=4000), improver=improver) < LATE


@pytest.mark.usefixtures("gpu")
def test_evaluations_on_a_gpu() -> None:
    assert late(slow("permutation", "cost", 0.01, quick=4000), population=256) < LATE


# Costs without a search are computed by a thread for each child.
def test_evaluations_by_single_threads_of_a_gpu(gpu: EmulatedGpu) -> None:
    gpu.shared_memory = 200_000
    problem = slow("keys", "cost", 0.01, quick=4000)
    assert late(problem, population=1024) < LATE
    problem = slow("subset", "cost", 0.01)
    assert late(problem, population=1024) < LATE


@pytest.mark.parametrize("search", [{"name": "tabu"}, {"name": "swap", "strategy": "best"}])
def test_a_search_that_is_stopped_in_its_last_step_is_discarded(search: dict[str, Any]) -> None:
    problem = slow("permutation", "delta", 0.003, 30)
    options: dict[str, Any] = {"algorithm": "memetic", "islands": 1, "population": 2, "threads": 1}
    solver = islands.Solver(problem, backend="cpu", improver={**search, "steps": 1}, **options)
    archipelago, before = solver._archipelago, solver._archipelago.digests()
    ends = list[bool]()
    attempt = threading.Thread(target=lambda: ends.append(archipelago.attempt(1)))
    attempt.start()
    # The search of the other individual takes more than a second.
    while archipelago.new_individuals() < 1:
        time.sleep(0.01)
    archipelago.abandon()
    attempt.join()
    assert ends == [False]
    archipelago.undo()
    assert archipelago.digests() == before
