from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities, facilities

from islands import IslandsError, Problem, Solver, load, solve, solver
from islands.backends.base import Backend
from islands.calls import explained
from islands.cli import main
from islands.instances.synthetic import uniform_tsp
from islands.parallel import World
from islands.problems.tsp import Tsp
from islands.run import runner as runner
from islands.run.build import take_device


def test_a_problem_object_gives_the_same_result_as_its_name(tmp_path: Path) -> None:
    def digest(problem: str | Problem, out: Path | None = None) -> str:
        options = {
            "algorithm": "brkga",
            "rho": 0.6,
            "migration": "ring",
            "interval": 7,
            "record": {"every": 10},
        }
        options["improver"] = "none"
        return solve(
            problem,
            stop=["generations=40"],
            islands=2,
            population=32,
            out=out,
            world=World(),
            **options,
        ).digest

    assert digest(load("demo/tsp")) == digest("demo/tsp", tmp_path / "a")
    assert 'topology = "ring"' in (tmp_path / "a" / "run.toml").read_text()


def test_only_another_seed_gives_another_digest() -> None:
    digests = [
        solve("demo/tsp", stop="generations=5", population=32, seed=seed, improver="none").digest
        for seed in (1, 2, 1)
    ]
    assert digests[0] == digests[2] != digests[1]


def test_a_run_starts_from_a_given_solution(tmp_path: Path) -> None:
    first = solve("demo/tsp", stop="generations=200", population=64, out=tmp_path / "a")
    tour = str(tmp_path / "a" / "solution.tour")
    second = solve("demo/tsp", stop="generations=1", population=64, seed=9, start=[tour])
    assert second.cost <= first.cost


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


def test_a_problem_may_be_a_path(tmp_path: Path) -> None:
    few = {"generations": 2, "population": 16, "backend": "cpu"}
    problem = cities(9, tmp_path)
    assert problem.path is not None
    assert solve(problem.path, **few).digest == solve(str(problem.path), **few).digest


def test_only_verbose_runs_print(capsys: pytest.CaptureFixture[str]) -> None:
    solve("demo/tsp", stop="generations=2", population=32)
    assert capsys.readouterr().out == ""
    solve("demo/tsp", stop="generations=2", population=32, verbose=True)
    assert "checked again by NumPy" in capsys.readouterr().out


def test_ranks_may_share_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = list[bool]()

    def take(world: World, name: str, threads: int | None = None, *, share_gpu: bool) -> Backend:
        shared.append(share_gpu)
        return take_device(world, name, threads)

    for module in (runner, solver):
        monkeypatch.setattr(module, "take_device", take)
    problem, options = cities(9, tmp_path), {"population": 20, "backend": "cpu"}
    for share in ({"share_gpu": True}, {}):
        solve(problem, stop="generations=1", **options, **share)
        Solver(problem, **options, **share)
    assert shared == [True, True, False, False]


@pytest.mark.parametrize(
    ("settings", "in_python", "on_the_line"),
    [
        ({"stop": "x=1"}, 'stop="x=1"', "--stop x=1"),
        ({"algorithm": "brkga", "encoding": "bits"}, 'encoding="keys"', "--encoding keys"),
        ({"format": "tsp"}, 'format="tsp"', "--format tsp"),
    ],
)
def test_errors_name_settings_in_the_users_notation(
    settings: dict[str, Any], in_python: str, on_the_line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for make in (solve, Solver):
        with pytest.raises(IslandsError) as caught:
            make("demo/tsp", **settings)
        assert in_python in str(caught.value)
        assert "--" not in str(caught.value)
    line = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    assert main(["run", "demo/tsp", *line]) == 2
    assert on_the_line in capsys.readouterr().err


def test_an_error_inside_of_a_call_is_kept() -> None:
    @explained
    def wrong(number: int) -> int:
        return len(number)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        wrong(3)
