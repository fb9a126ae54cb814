"""The files of a batch: its results with their times, and its names."""

import json
import os
import signal
import tracemalloc
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from islands.cells import store
from islands.cells.batch import BatchPlan, run_batch
from islands.cells.campaign import Campaign
from islands.cells.names import keep_names, keeping, kept_names
from islands.cells.store import Store
from islands.configuration.request import Request
from islands.engine.build import RankOptions
from islands.engine.single import Output
from islands.errors import InputError, UsageError
from islands.parallel import World
from islands.record.folder import BATCH_NAMES, LEDGER, RUN_SETTINGS, FolderKind, reject_other_work


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def opened(folder: Path) -> Store:
    kept = Store()
    kept.open(folder)
    return kept


def add(kept: Store, clock: Clock, seed: int, seconds: float) -> None:
    def run() -> dict[str, int]:
        clock.now += seconds
        return {"cost": seed}

    campaign = Campaign()
    campaign.store = kept
    assert campaign.result({"seed": seed}, run) == {"cost": seed}


def test_seconds_are_those_of_all_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(store, "perf_counter", clock)
    first = opened(tmp_path)
    clock.now += 1
    add(first, clock, 1, 4.0)
    add(first, clock, 2, 2.5)
    assert first.seconds() == 7.5
    clock.now += 30  # killed before the third result: this time is repeated
    first.close()
    clock.now += 1000
    second = opened(tmp_path)
    assert second.seconds() == 7.5
    add(second, clock, 1, 4.0)  # known
    clock.now += 0.5
    assert second.seconds() == 8.0
    add(second, clock, 3, 2.0)
    assert second.seconds() == 10.0
    second.close()
    third = opened(tmp_path)
    assert third.seconds() == 10.0
    third.close()


@pytest.mark.parametrize(
    ("files", "own", "fits"),
    [
        ([], [], True),
        (["batch.json", "notes.txt"], [], True),
        (["slurm"], [], True),  # of the job that begins the batch
        (["one"], ["one"], True),
        (["slurm", "notes.txt"], ["one"], False),
        ([RUN_SETTINGS, LEDGER], [], False),
    ],
)
def test_only_empty_folders_and_those_of_a_batch_are_taken(
    tmp_path: Path, files: list[str], own: list[str], fits: bool
) -> None:
    reject_other_work(tmp_path / "new", FolderKind.BATCH)
    for name in files:
        (tmp_path / name).touch()
        with pytest.raises(UsageError):
            reject_other_work(tmp_path / name, FolderKind.BATCH)
    with nullcontext() if fits else pytest.raises(UsageError):
        reject_other_work(tmp_path, FolderKind.BATCH, own)


@pytest.mark.slow
def test_results_stay_on_disk_until_they_are_asked_for(tmp_path: Path) -> None:
    solution, count = list(range(300)), 200
    kept = opened(tmp_path)
    for seed in range(count):
        kept.add({"instance": "own", "seed": seed}, {"cost": seed, "solution": solution})
    kept.close()
    tracemalloc.start()
    again = opened(tmp_path)
    taken = [again.known({"instance": "own", "seed": seed}) for seed in (7, 3, 3)]
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken == [{"cost": 7, "solution": solution}, {"cost": 3, "solution": solution}, None]
    assert len(again) == count - 2
    again.close()
    assert held < 500 * count  # a line has more than 1300 bytes


def test_equal_questions_have_their_results_in_order(tmp_path: Path) -> None:
    for first in (0, 2):
        kept = opened(tmp_path)
        for cost in (first, first + 1):
            kept.add({"seed": 1}, {"cost": cost})
        kept.close()
    again = opened(tmp_path)
    assert [again.known({"seed": 1}) for _ in range(5)] == [*({"cost": k} for k in range(4)), None]
    again.close()


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    kept = opened(tmp_path)
    for seed in range(3):
        kept.add({"seed": seed}, {"cost": seed})
    kept.close()
    path = tmp_path / LEDGER
    path.write_bytes(path.read_bytes()[:-9])
    again = opened(tmp_path)
    assert [again.known({"seed": seed}) for seed in range(3)] == [{"cost": 0}, {"cost": 1}, None]
    again.add({"seed": 2}, {"cost": 7})
    again.close()
    last = opened(tmp_path)
    assert last.known({"seed": 2}) == {"cost": 7}
    last.close()


LIMIT = 1 << 16
"""Bytes of a line."""


@pytest.mark.parametrize("names", [[], ["a", "b"], ['"', "\\n", "\n", "é"], ["a" * (LIMIT - 3)]])
def test_names_are_read_as_they_were_kept(tmp_path: Path, names: list[str]) -> None:
    keep_names(tmp_path, names)
    assert kept_names(tmp_path) == names


@pytest.mark.parametrize("line", ['"' + "a" * LIMIT + '"', "a" * LIMIT, "[1]", "1", "{"])
def test_lines_that_are_no_names_are_rejected(tmp_path: Path, line: str) -> None:
    (tmp_path / BATCH_NAMES).write_text(f'"first"\n{line}\n"last"\n')
    with pytest.raises(InputError):
        kept_names(tmp_path)


def test_each_name_that_comes_is_taken_and_kept_once(tmp_path: Path) -> None:
    keep_names(tmp_path, ["known"])
    source = iter(["a", "b", None, "a", "known", "c", "c"])
    found = list(keeping(source, tmp_path, ["known"]))
    assert found == ["a", "b", None, "c"]
    lines = (tmp_path / BATCH_NAMES).read_text().splitlines()
    assert [json.loads(line) for line in lines] == ["known", "a", "b", "c"]


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
        BatchPlan.of_folder(folder_of(tmp_path / "a", runs=runs), Request(SETTINGS))


def test_a_configuration_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    folder = folder_of(tmp_path / "a", config=str(tmp_path / "pipe.toml"))
    with pytest.raises(InputError):
        BatchPlan.of_folder(folder, Request(SETTINGS))


@pytest.mark.slow
def test_any_number_of_runs_begins_at_once_and_ends_by_a_signal(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a", runs=10**12)
    seeds: list[int] = []

    def take(made: Mapping[str, Any]) -> None:
        seeds.append(made["seed"])
        if len(seeds) % 3 == 0:
            os.kill(os.getpid(), signal.SIGTERM)

    for _ in range(2):  # the second time, the first ones are known
        seeds.clear()
        plan = BatchPlan.of_folder(folder, Request(SETTINGS))
        tracemalloc.start()
        end = run_batch(plan, World(), Output(True, folder), RankOptions(), lines=take)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert end.ended_by
        assert seeds[:3] == [1, 2, 3]
        assert (end.count, end.failed) == (10**12, 0)
        assert peak < 64 << 20
