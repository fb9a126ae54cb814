"""Directed tours on several ranks, killed and resumed: the digest of one rank."""

import json
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from jobs import kill_all, started

CITIES = 200
ROUTES = {"tour": [], "path": ["--set", "ends=3:any", "--set", "fixed=5-9,9-12"]}


@pytest.fixture
def line(mpirun: list[str], tmp_path: Path) -> list[str]:
    """Return the command of a run over a random matrix."""
    lengths = np.random.default_rng(5).integers(1, 1000, (CITIES, CITIES))
    rows = "\n".join(" ".join(map(str, row)) for row in lengths)
    file = tmp_path / "drawn.atsp"
    file.write_text(
        f"NAME: drawn\nTYPE: ATSP\nDIMENSION: {CITIES}\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n{rows}\nEOF\n"
    )
    return [
        *("run", str(file), "--islands", "3", "--population", "24", "--interval", "2"),
        *("--stop", "generations=12", "--seed", "7", "--backend", "cpu", "--threads", "1"),
        *("--set", "checkpoint.every=0.01", "--quiet", "--json"),
    ]


def ended(ranks: int, line: list[str]) -> dict[str, object]:
    """Return the result of a run that is not disturbed."""
    process = started(ranks, line, stdout=subprocess.PIPE)
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    result: dict[str, object] = json.loads(said)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
def test_three_ranks_have_the_digest_of_one(route: str, line: list[str], tmp_path: Path) -> None:
    one, three = (
        ended(ranks, [*line, *ROUTES[route], "--out", str(tmp_path / f"ranks-{ranks}")])
        for ranks in (1, 3)
    )
    assert (one["ranks"], three["ranks"]) == (1, 3)
    assert one["digest"] == three["digest"]
    assert one["solution"] == three["solution"]


@pytest.mark.slow
def test_a_path_killed_on_three_ranks_is_resumed_on_one(line: list[str], tmp_path: Path) -> None:
    line += ROUTES["path"]
    whole = ended(1, [*line, "--out", str(tmp_path / "whole")])
    killed = tmp_path / "killed"
    process = started(3, [*line, "--out", str(killed)])
    deadline = time.monotonic() + 300
    while not list(killed.glob("checkpoints/*/manifest.json")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    kill_all(process)
    assert "Stopped:" not in (killed / "log.txt").read_text()
    resumed = ended(1, ["resume", str(killed), "--backend", "cpu", "--quiet", "--json"])
    assert (resumed["ranks"], resumed["digest"]) == (1, whole["digest"])
    assert resumed["solution"] == whole["solution"]
