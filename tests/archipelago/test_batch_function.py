"""A GPU repeats the launches of a batch function, and sometimes compares with its costs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models_for_tests import TIMES, makespans, model_of

import islands
from islands.archipelago import parts as program_parts
from islands.backends.base import Backend
from islands.backends.cpu import CpuBackend
from islands.errors import RunError

GENERATIONS = 70
OPTIONS: dict[str, Any] = {
    "stop": f"generations={GENERATIONS}",
    "algorithm": "brkga",
    "population": 16,
    "islands": 2,
    "seed": 3,
}


@pytest.fixture(autouse=True)
def in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the CPU evaluate as GPUs do."""
    usual = program_parts._evaluated_by

    def chosen(problem: Any, improver: Any, decoding: Any, *, on_cpu: bool) -> str:
        return usual(problem, improver, decoding, on_cpu=False)

    monkeypatch.setattr(program_parts, "_evaluated_by", chosen)


class Recorded:
    """Stands for launches that a GPU repeats: `work` itself, `until` a number of repetitions."""

    def __init__(self, until: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.until, self.repeated = until, 0
        monkeypatch.setattr(CpuBackend, "recorded", lambda _, work: self._repeating(work))

    def _repeating(self, work: Callable[[], Any]) -> Callable[[], None]:
        def repeat() -> None:
            self.repeated += 1
            if self.repeated <= self.until:
                work()

        return repeat


def run(name: str, function: Callable[[Any], Any]) -> Any:
    return islands.solve(islands.permutation(9, batch=function), backend=name, **OPTIONS)


def digest(name: str) -> str:
    return str(islands.solve(model_of("permutation", "cost"), backend=name, **OPTIONS).digest)


@pytest.mark.slow
def test_repeated_launches_give_the_same_digest(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded, called = Recorded(10**6, monkeypatch), 0
    times = backend.upload(TIMES)  # a copy from the host cannot be repeated

    def counted(orders: Any) -> Any:
        nonlocal called
        called += 1
        return makespans(orders, times if type(orders) is type(times) else None)

    assert run(backend.name, counted).digest == digest(backend.name)
    if backend.in_host_memory:
        assert recorded.repeated == GENERATIONS - 16
    else:
        assert called < GENERATIONS // 2


def test_launches_that_escape_from_the_recording_are_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = Recorded(0, monkeypatch)
    assert run("cpu", makespans).digest == digest("cpu")
    assert recorded.repeated == 1


def test_costs_that_change_later_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Recorded(5, monkeypatch)
    with pytest.raises(RunError, match="depend on the solutions alone"):
        run("cpu", makespans)
    assert recorded.repeated == 16  # the 32nd call is compared


def test_a_function_that_waits_for_the_gpu_is_called_each_time(backend: Backend) -> None:
    called = 0

    def waiting(orders: Any) -> Any:
        nonlocal called
        called += 1
        on_host = orders if isinstance(orders, np.ndarray) else orders.get()
        return makespans(on_host)

    assert run(backend.name, waiting).digest == digest(backend.name)
    assert called >= GENERATIONS


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["permutation", "subset"])
def test_chains_have_the_result_of_evaluation_on_the_host(kind: str, backend: Backend) -> None:
    def weighted(solutions: Any) -> Any:
        return solutions.astype(np.int64).cumsum(axis=1).max(axis=1) - 7 * solutions[:, 3]

    problem = getattr(islands, kind)(40, batch=weighted)
    options = OPTIONS | {"algorithm": "tempering", "stop": "generations=4"}
    found = [
        islands.solve(problem, backend=backend.name, decoding=decoding, **options).digest
        for decoding in ("", "host")
    ]
    assert found[0] == found[1]
