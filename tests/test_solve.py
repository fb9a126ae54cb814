"""`solve`, sessions and callbacks: what they take, and that equal calls give equal results."""

import ctypes
import sys
import threading
import time
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems_for_tests import cities, facilities
from synthetic import uniform_tsp

import islands
from islands import Problem, Progress, solve
from islands.backends.base import Backend
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.calls import explained
from islands.engine import runner as runner
from islands.errors import RunError, UsageError
from islands.parallel import World
from islands.parallel.failure import portable
from islands.problems.tsp import Tsp
from islands.testing.ranks import on_ranks


@pytest.mark.parametrize("name", ["a\nb", "caf\udce9", "a\0b", "x" * 5000, "../up"])
@pytest.mark.parametrize("kind", ["tsp", "qap"])
def test_a_problem_object_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = uniform_tsp(9, seed=1)
    made: dict[str, Problem] = {"tsp": Tsp(replace(file, name=name)), "qap": facilities(9)}
    problem = made[kind]
    problem.instance = name
    result = solve(
        problem, stop="generations=1", population=16, islands=1, backend="cpu", out="out"
    )
    solution = problem.read_solution(Path("out"))
    assert problem.cost(solution) == result.cost
    assert result.instance == name
    again = solve(problem, config="out/run.toml", backend="cpu")
    assert again.digest == result.digest


def test_only_verbose_runs_print(capsys: pytest.CaptureFixture[str]) -> None:
    solve("demo/tsp", stop="generations=2", population=32)
    assert capsys.readouterr().out == ""
    solve("demo/tsp", stop="generations=2", population=32, verbose=True)
    assert "checked again by NumPy" in capsys.readouterr().out


def test_an_error_inside_of_a_call_is_kept() -> None:
    @explained
    def wrong(number: int) -> int:
        return len(number)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        wrong(3)


SETTINGS = {"islands": 2, "population": 20, "generations": 6, "seed": 3, "backend": "cpu"}


def tour(cities: int, seed: int) -> islands.Problem:
    return islands.tsp(np.random.default_rng(seed).random((cities, 2)) * 1000)


def test_a_second_run_loads_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    first = islands.solve(tour(30, 1), **SETTINGS)
    loads = list[Source]()
    load = CpuBackend._load

    def counted(self: CpuBackend, source: Source) -> tuple[ctypes.CDLL, str]:
        loads.append(source)
        return load(self, source)

    monkeypatch.setattr(CpuBackend, "_load", counted)
    assert islands.solve(tour(40, 2), **SETTINGS).cost > 0
    assert islands.solve(tour(30, 1), **SETTINGS).digest == first.digest
    assert loads == []
    islands.solve(tour(30, 1), **{**SETTINGS, "algorithm": "brkga"})
    assert len({*(source.key() for source in loads)}) == len(loads) > 0


def test_a_session_solves_as_solve_does() -> None:
    problems = [tour(number, number) for number in (12, 30, 45)]
    alone = [islands.solve(each, **SETTINGS) for each in problems]
    settings = {name: value for name, value in SETTINGS.items() if name != "backend"}
    with islands.Session(backend="cpu", threads=1) as session:
        together = [session.solve(each, **settings) for each in problems]
        with pytest.raises(UsageError, match="backend='cpu'"):
            session.solve(problems[0], backend="cuda")
        with pytest.raises(UsageError, match="threads=2: this session has threads=1"):
            session.solve(problems[0], threads=2)
    assert [each.digest for each in together] == [each.digest for each in alone]
    assert all(each.settings["threads"] == 1 for each in together)
    with pytest.raises(UsageError, match="this session is closed"):
        session.solve(problems[0])


@pytest.mark.slow
def test_threads_with_a_device_each_solve_at_the_same_time() -> None:
    """Launches without helpers share neither buffers nor counters of blocks."""
    problems = [tour(20 + 5 * number, number) for number in range(12)]
    alone = [islands.solve(each, threads=1, **SETTINGS).digest for each in problems]
    found: dict[int, str] = {}

    def work(first: int) -> None:
        for number in range(first, len(problems), 3):
            found[number] = islands.solve(problems[number], threads=1, **SETTINGS).digest

    threads = [threading.Thread(target=work, args=(first,)) for first in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [found[number] for number in range(len(problems))] == alone


def test_a_released_device_still_works(backend: Backend) -> None:
    problem = cities(20)
    first = islands.solve(problem, backend=backend.name, generations=3)
    backend.release()
    assert islands.solve(problem, backend=backend.name, generations=3).digest == first.digest


FEW: dict[str, Any] = {
    "islands": 2, "population": 16, "backend": "cpu", "improver": "none", "interval": 6,
    "record": {"every": 4}, "threads": 1,
}  # fmt: skip
EPOCHS = [0, 4, 6, 8, 12, 16, 18, 20]


def test_it_sees_the_progress_of_each_epoch() -> None:
    seen: list[Progress] = []
    result = solve("demo/tsp", generations=20, callback=seen.append, **FEW)
    assert [each.generation for each in seen] == EPOCHS
    last = seen[-1]
    assert isinstance(last, Progress)
    assert (last.cost, last.gap, last.best_known) == (result.cost, result.gap, result.best_known)
    assert (last.evaluations, last.seconds) == (result.evaluations, result.seconds)
    with pytest.raises(FrozenInstanceError):
        last.cost = 0  # type: ignore[misc]


def test_true_ends_the_run_normally(tmp_path: Path) -> None:
    answer = np.True_
    whole = solve("demo/tsp", generations=8, **FEW)
    ends = lambda progress: answer if progress.generation == 8 else None  # noqa: E731
    result = solve("demo/tsp", generations=20, callback=ends, out=tmp_path / "a", **FEW)
    assert (result.generations, result.reason) == (8, "the callback returned True")
    assert (result.digest, result.interrupted, result.suspended) == (whole.digest, False, False)
    assert (tmp_path / "a" / "solution.tour").exists()


def test_the_time_of_a_callback_is_a_phase_of_its_own() -> None:
    seen, began = list[int](), time.perf_counter()

    def callback(progress: Progress) -> None:
        seen.append(progress.generation)
        time.sleep(0.02)

    result = solve("demo/tsp", generations=20, callback=callback, **FEW)
    whole = time.perf_counter() - began
    (phases,) = result.rank_seconds
    assert seen == EPOCHS
    assert phases["callback"] >= 0.02 * len(EPOCHS)
    assert phases["migration"] > 0
    assert result.seconds - 0.01 <= sum(phases.values()) <= whole


@pytest.mark.parametrize("answer", [np.False_, 1, "stop"])
def test_other_values_do_not_end_the_run(answer: object) -> None:
    result = solve("demo/tsp", generations=8, callback=lambda _: answer, **FEW)
    assert result.reason == "8 generations done"


class OwnError(Exception):
    def __init__(self, first: int, second: int) -> None:  # cannot be unpickled
        super().__init__(f"{first} and {second}")


def failing(progress: Progress) -> None:
    if progress.generation == 6:
        raise OwnError(1, 2)


def test_its_exception_ends_the_run_with_its_traceback() -> None:
    with pytest.raises(OwnError, match="1 and 2") as caught:
        solve("demo/tsp", generations=20, callback=failing, **FEW)
    assert caught.traceback[-1].name == "failing"


def test_it_cannot_end_the_process() -> None:
    with pytest.raises(RunError, match=r"sys\.exit"):
        solve("demo/tsp", generations=20, callback=lambda _: sys.exit(0), **FEW)


def test_rank_0_calls_it_and_all_ranks_agree() -> None:
    called: list[tuple[int, int]] = []

    def work(world: World) -> tuple[str, str]:
        def watch(progress: Progress) -> bool:
            called.append((world.rank, progress.generation))
            return progress.generation == 8

        # Another rank may have no callback.
        mine = watch if world.rank < 2 else None
        result = solve(
            "demo/tsp", generations=20, callback=mine, world=world, **{**FEW, "islands": 3}
        )
        return result.reason, result.digest

    first, *others = on_ranks(3, work)
    assert first[0] == "the callback returned True"
    assert others == [first, first]
    assert called == [(0, 0), (0, 4), (0, 6), (0, 8)]


def test_all_ranks_raise_its_exception() -> None:
    def work(world: World) -> str:
        def fail(_: Progress) -> None:
            raise ZeroDivisionError("in the callback")

        with pytest.raises(ZeroDivisionError, match="in the callback") as caught:
            solve("demo/tsp", generations=20, callback=fail, world=world, **FEW)
        return "".join(getattr(caught.value, "__notes__", []))

    first, second = on_ranks(2, work)
    assert first == ""
    assert "On rank 0:" in second
    assert "in fail" in second


def test_exceptions_that_cannot_be_pickled_reach_other_ranks_as_text() -> None:
    copy = portable(OwnError(1, 2))
    assert isinstance(copy, islands.IslandsError)
    assert str(copy) == "OwnError: 1 and 2"
