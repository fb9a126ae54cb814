"""The random settings of tests/deadlines are valid, and include all choices."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

import pytest
from random_settings import RandomRun, RandomRuns

from islands.algorithms import ALGORITHMS
from islands.cli.run import add_run, options
from islands.configuration.resolve import layers
from islands.encodings import ENCODINGS
from islands.improvers import IMPROVERS
from islands.problems import PROBLEMS
from islands.run.request import resolved

RUNS = 200


@pytest.fixture(scope="module")
def draws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RandomRuns]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ISLANDS_INSTANCES", raising=False)
        yield RandomRuns(tmp_path_factory.mktemp("drawn"), [1, 2, 3])


@pytest.fixture(scope="module")
def runs(draws: RandomRuns) -> list[RandomRun]:
    return [draws.draw_run(random.Random(k), may_be_asynchronous=True) for k in range(RUNS)]


def test_command_line_accepts_drawn_settings(draws: RandomRuns, runs: list[RandomRun]) -> None:
    parser = argparse.ArgumentParser()
    add_run(parser)
    for run in runs:
        asked = layers(options(parser.parse_args(run.line())))
        spec, _ = resolved(asked, draws.problem(run.instance))
        given = {key: spec.to_mapping()[key] for key in ("algorithm", "encoding", "islands")}
        assert given == {key: run.values[key] for key in given}


def test_all_choices_are_drawn(draws: RandomRuns, runs: list[RandomRun]) -> None:
    assert {run.values["algorithm"] for run in runs} == set(ALGORITHMS)
    solved = {problem.solution_kind for problem in PROBLEMS.values()}
    fitting = {name for name, by_kind in ENCODINGS.items() if solved & set(by_kind)}
    assert {run.values["encoding"] for run in runs} == fitting
    assert {run.values["improver.name"] for run in runs} == set(IMPROVERS)
    assert {run.ranks for run in runs} == {1, 2, 3}
    assert any(run.ranks > run.values["islands"] for run in runs)
    assert {run.values["migration.delay"] for run in runs} == {0, 1}
    assert any(run.values.get("halo") for run in runs)
    assert any(run.is_asynchronous for run in runs)
    problems = [draws.problem(run.instance) for run in runs]
    assert {problem.name for problem in problems} == {"tsp", "qap", "mkp"}
    assert max(problem.size for problem in problems) == 25_000


def test_same_seed_draws_the_same_settings(draws: RandomRuns) -> None:
    one, other = (draws.draw_run(random.Random(3)) for _ in range(2))
    assert one == other
