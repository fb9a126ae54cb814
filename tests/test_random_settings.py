"""The random settings of tests/deadlines are valid, and include all choices."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

import pytest
from random_settings import RandomRun, RandomRuns

from islands.cli.run import add_run, options
from islands.configuration.resolve import layers
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
