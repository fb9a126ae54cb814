"""Runs with all parts on several ranks give the same result as on one rank."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from standing_ranks import StandingRanks

from islands.cli import main

RUN = ["demo/qap", "--population", "10", "--islands", "5", "--backend", "cpu", "--seed", "7"]
RUN += ["--threads", "1", "--set", "record.every=5"]
MIGRATES = ["--migration", "ring", "--interval", "4"]
TABU = ["--improver", "tabu", "--set", "improver.steps=4", "--set", "improver.rate=0.5"]
TWO_OPT = ["--improver", "two_opt", "--set", "improver.steps=2", "--set", "improver.every=3"]
CELLULAR = ["--algorithm", "cellular", "--set", "replacement=generational", "--set", "group=4"]
TORUS = ["--set", "grid=torus", "--set", "width=5", "--set", "shape=moore"]
PARTS = {
    "de, jde, two_opt": ["--algorithm", "de", "--set", "adaptation=jde", *MIGRATES, *TWO_OPT],
    "rings, tabu": [*CELLULAR, *MIGRATES, *TABU],
    "one ring, tabu": [*CELLULAR, "--set", "halo=true", *TABU],
    "one torus, two_opt": [*CELLULAR, "--set", "halo=true", *TORUS, *TWO_OPT],
}
SAME = ("digest", "cost", "solution", "island", "best_generation", "generations", "evaluations")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def alone(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def on(standing: StandingRanks, ranks: int, *line: str) -> dict[str, Any]:
    done = standing.run(ranks, "-m", "islands", *line, "--json")
    assert done.returncode == 0, done.stderr
    result = dict(json.loads(done.stdout))
    assert result["ranks"] == ranks
    return result


def what_all_share(result: dict[str, Any]) -> dict[str, Any]:
    return {name: result[name] for name in SAME}


@pytest.mark.parametrize("parts", PARTS)
def test_any_number_of_ranks_gives_the_same_result(
    standing_ranks: StandingRanks, parts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", *RUN, *PARTS[parts], "--stop", "generations=14", "--out"]
    one = alone(capsys, *line, "1")
    most = 4 if parts == "one torus, two_opt" else 3
    for ranks in range(2, most + 1):
        several = on(standing_ranks, ranks, *line, str(ranks))
        assert what_all_share(several) == what_all_share(one), f"{ranks} ranks"


@pytest.mark.parametrize("parts", ["de, jde, two_opt", "one ring, tabu"])
def test_resuming_on_other_numbers_of_ranks_gives_the_same_result(
    standing_ranks: StandingRanks, parts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", *RUN, *PARTS[parts], "--out"]
    on(standing_ranks, 3, *line, "a", "--stop", "generations=6")
    alone(capsys, "resume", "a", "--stop", "generations=9")
    resumed = on(standing_ranks, 2, "resume", "a", "--stop", "generations=14")
    whole = alone(capsys, *line, "b", "--stop", "generations=14")
    assert what_all_share(resumed) == what_all_share(whole)
