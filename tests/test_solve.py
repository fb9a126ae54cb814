"""`solve` and sessions: what they take, and that equal calls give equal results."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from problems_for_tests import cities, facilities

import islands
from islands import Problem, solve
from islands.backends.base import Backend
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.calls import explained
from islands.errors import UsageError
from islands.instances.synthetic import uniform_tsp
from islands.problems.tsp import Tsp
from islands.run import runner as runner


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
def test_threads_with_a_device_each_solve_at_the_same_time(tmp_path: Path) -> None:
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


def test_a_released_device_still_works(backend: Backend, tmp_path: Path) -> None:
    problem = cities(20, tmp_path)
    first = islands.solve(problem, backend=backend.name, generations=3)
    backend.release()
    assert islands.solve(problem, backend=backend.name, generations=3).digest == first.digest
