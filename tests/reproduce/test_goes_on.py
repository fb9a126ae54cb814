"""An experiment that is ended goes on in its folder, for every table of every paper."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pytest

pytest.importorskip("scipy")

from beside_for_tests import called, ended

from islands.errors import InputError, UnwritableError, UsageError
from islands.instances.catalogue import BestKnown
from islands.instances.locate import Found, Index
from islands.instances.synthetic import uniform_tsp
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.record import lock as hold
from islands.reproduce import PAPERS, experiment, output
from islands.reproduce import perform as module
from islands.reproduce.experiment import Asked
from islands.reproduce.ledger import LEDGER, Ledger
from islands.reproduce.output import Folder
from islands.reproduce.selection import Selection
from islands.reproduce.table import Table

TABLES = {
    f"{paper}/{name}": table
    for paper, home in PAPERS.items()
    for name, table in import_module(home).PAPER.tables.items()
}
SETTINGS = {"what": "a/b", "seeds": {"b": [1, 2]}}


def problem(found: Found) -> Problem:
    """Return a small problem that goes by a published name."""
    kind = found.name.partition("/")[0]
    if kind in ("national", "vlsi"):
        made: Problem = Tsp(uniform_tsp(6, seed=1), found.name)
        made.best_known = BestKnown(900, "optimal", "")
        return made
    return called(found.name, 900, maximise=kind != "qaplib")


class Made:
    """Runs that are made up, by what is asked for alone; it counts them and ends one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, self.ends_at = 0, 0
        monkeypatch.setattr(module, "read", problem)
        monkeypatch.setattr(output, "write_plot", lambda *_: None)
        monkeypatch.setattr(experiment, "take_device", lambda *_: None)
        monkeypatch.setattr(experiment, "run_asked", self._alone)
        monkeypatch.setattr(experiment, "run_batch", self._beside)

    def _chance(self, asked: Any) -> int:
        self.count += 1
        if self.count == self.ends_at:
            raise KeyboardInterrupt
        return crc32(json.dumps(asked, sort_keys=True).encode())

    def _alone(self, asked: Any, *_: Any) -> Any:
        chance = self._chance(asked)
        seconds = (1 + chance % 97) / 7
        return SimpleNamespace(
            cost=1000 + chance % 89,
            seconds=seconds,
            generations=500,
            interrupted=False,
            suspended=False,
            given_up_seconds=0.0,
            is_partial=False,
        )

    def _beside(self, spec: Any, problem: Problem, runs: int, _: Any) -> Any:
        chance = self._chance([spec.to_mapping(), problem.instance, runs])
        sign = -1 if problem.maximise else 1
        costs = [900 + sign * ((chance >> shift) % 89) for shift in range(runs)]
        return ended(costs, generations=500, seconds=(1 + chance % 83) / 11)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(monkeypatch)


def filled(table: type[Table], folder: Folder | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return a table of two instances, and what was said of it."""
    here = [found for found in table.instances(Index()) if found.name][:2]
    asked = Asked("cuda", "a GPU", (1,), 2, 500, World())
    said = list[str]()
    return module.perform([Selection(table, here, [])], asked, said.append, folder), said


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.csv")}


@pytest.mark.parametrize("name", TABLES)
def test_each_table_goes_on_where_it_was_ended(name: str, made: Made, tmp_path: Path) -> None:
    table = TABLES[name]
    whole, said = filled(table, Folder(tmp_path / "whole", SETTINGS))
    runs, table_files = made.count, files(tmp_path / "whole")
    assert runs > 1
    assert table_files
    for ends_at in sorted({1, 2, runs // 2 + 1, runs}):
        path = tmp_path / str(ends_at)
        made.count, made.ends_at = 0, ends_at
        with pytest.raises(KeyboardInterrupt):
            filled(table, Folder(path, SETTINGS))
        made.count, made.ends_at = 0, 0
        again, heard = filled(table, Folder(path, SETTINGS))
        # Where a device is warmed up, that is a part of what was ended.
        redone = made.count - (runs - ends_at + 1)
        assert 0 <= redone <= (name == "dantas2014/islands")
        assert again == whole
        assert [line for line in heard if "known already" not in line] == said
        assert files(path) == table_files
        made.count = 0
        assert filled(table, Folder(path, SETTINGS))[0] == whole
        assert made.count == 0


def test_what_was_not_written_whole_is_made_again(made: Made, tmp_path: Path) -> None:
    table = TABLES["jardim2021/literature"]
    whole, _ = filled(table, Folder(tmp_path, SETTINGS))
    ledger = tmp_path / LEDGER
    lines = ledger.read_bytes()
    ledger.write_bytes(lines[:-5])
    made.count = 0
    assert filled(table, Folder(tmp_path, SETTINGS))[0] == whole
    assert made.count == 1
    assert ledger.read_bytes() == lines
    ledger.write_bytes(b"{}\n" + lines)
    with pytest.raises(InputError, match=r"runs\.jsonl:1: cannot be read: remove that line"):
        Folder(tmp_path, SETTINGS)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({**SETTINGS, "seeds": {"b": [1]}}, "seeds"),
        ({**SETTINGS, "device": "another GPU"}, "device"),
        ({"seeds": SETTINGS["seeds"]}, "what"),
    ],
)
def test_another_experiment_in_its_folder_is_refused(
    settings: dict[str, Any], names: str, tmp_path: Path
) -> None:
    Folder(tmp_path, SETTINGS).ledger.close()
    with pytest.raises(UsageError, match=rf"an experiment with other settings: {names}\. To go on"):
        Folder(tmp_path, settings)
    assert len(Folder(tmp_path, SETTINGS).ledger) == 0


def test_one_that_begins_in_the_same_moment_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(folder: Path) -> Ledger:
        with monkeypatch.context() as patched:
            patched.setattr(output, "Ledger", Ledger)
            Folder(folder, SETTINGS).close()
        return Ledger(folder)

    monkeypatch.setattr(output, "Ledger", later)
    with pytest.raises(UsageError, match="an experiment with other settings: seeds"):
        Folder(tmp_path, {**SETTINGS, "seeds": {"b": [1]}})
    monkeypatch.undo()
    Folder(tmp_path, SETTINGS).close()


def test_a_file_that_has_no_room_is_named(tmp_path: Path) -> None:
    ledger, (soft, hard) = Ledger(tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, hard))
    try:
        with pytest.raises(UnwritableError, match=r"runs\.jsonl: cannot be written: File too"):
            ledger.kept({"a": 1}, World(), lambda: {"value": 5})
        with pytest.raises(UnwritableError, match=r"runs\.jsonl: cannot be written: File too"):
            ledger.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(Ledger(tmp_path)) == 0


def test_two_processes_do_not_fill_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hold, "_PATIENCE_SECONDS", 0.0)
    first = Ledger(tmp_path)
    with pytest.raises(InputError, match=r"another process is using this experiment\. Wait"):
        Ledger(tmp_path)
    first.close()
    Ledger(tmp_path).close()


def test_runs_that_ask_for_the_same_are_told_apart_by_their_order(tmp_path: Path) -> None:
    def run(value: int) -> Callable[[], dict[str, int]]:
        return lambda: {"value": value}

    first = Ledger(tmp_path)
    values = [first.kept({"a": 1}, World(), run(k))["value"] for k in (5, 7)]
    first.close()
    second = Ledger(tmp_path)
    assert len(second) == 2
    assert [second.kept({"a": 1}, World(), run(k))["value"] for k in (0, 0, 9)] == [*values, 9]
