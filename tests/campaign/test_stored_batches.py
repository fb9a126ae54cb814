"""Batches whose folder somebody else may have made."""

from __future__ import annotations

import json
import os
import signal
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from islands.campaign.batch import BatchPlan, run_batch
from islands.errors import InputError
from islands.parallel import World
from islands.run.build import RankOptions
from islands.run.single import Output

SETTINGS = {"backend": "cpu", "threads": 1}


def folder_of(path: Path, **changes: object) -> Path:
    path.mkdir(exist_ok=True)
    stored = {"is_open": False, "runs": 1, "options": {"stop": "generations=1"}, "config": None}
    (path / "batch.json").write_text(json.dumps(stored | changes))
    (path / "instances.jsonl").write_text('"demo/tsp"\n')
    return path


@pytest.mark.parametrize("runs", [0, 1.5, True, "3"])
def test_a_number_of_runs_is_a_whole_number(tmp_path: Path, runs: object) -> None:
    with pytest.raises(InputError):
        BatchPlan.of_folder(folder_of(tmp_path / "a", runs=runs), SETTINGS)


def test_a_configuration_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    folder = folder_of(tmp_path / "a", config=str(tmp_path / "pipe.toml"))
    with pytest.raises(InputError):
        BatchPlan.of_folder(folder, SETTINGS)


def test_any_number_of_runs_begins_at_once_and_ends_by_a_signal(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a", runs=10**12)
    seeds: list[int] = []

    def take(made: Mapping[str, Any]) -> None:
        seeds.append(made["seed"])
        if len(seeds) % 3 == 0:
            os.kill(os.getpid(), signal.SIGTERM)

    for _ in range(2):  # the second time, the first ones are known
        seeds.clear()
        plan = BatchPlan.of_folder(folder, SETTINGS)
        tracemalloc.start()
        end = run_batch(plan, World(), Output(True, folder), RankOptions(), lines=take)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert end.ended_by
        assert seeds[:3] == [1, 2, 3]
        assert (end.count, end.failed) == (10**12, 0)
        assert peak < 64 << 20
