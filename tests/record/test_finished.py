"""What is read again of a run that is finished, and what is refused of it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from runs_for_tests import Honest, resumed, solved

from islands.errors import InputError
from islands.parallel import World
from islands.record.lock import FolderLock
from islands.record.parquet import read_parquet, write_parquet
from islands.run import asked as asked
from islands.run.runner import Output, resume_asked


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.run.build.Archipelago", Honest)


def test_a_result_that_its_solution_contradicts_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    solved(folder)
    path = folder / "solution.parquet"
    table = read_parquet(path)
    facts = json.loads(table.schema.metadata[b"islands.result"]) | {"cost": 99}
    said = table.schema.metadata | {b"islands.result": json.dumps(facts)}
    table = table.replace_schema_metadata(said)
    write_parquet(path, [table], table.schema)
    with pytest.raises(InputError, match=r"says cost 99, but .* has cost 100\. Remove s"):
        resumed(folder)
    path.unlink()
    assert resumed(folder).cost == 100


@pytest.mark.parametrize("facts", [{"cost": "100"}, {"seed": True}, {"ranks": None}])
def test_a_result_of_other_types_is_refused(tmp_path: Path, facts: dict[str, object]) -> None:
    folder = tmp_path / "a"
    solved(folder)
    path = folder / "solution.parquet"
    table = read_parquet(path)
    whole = json.loads(table.schema.metadata[b"islands.result"]) | facts
    said = table.schema.metadata | {b"islands.result": json.dumps(whole)}
    table = table.replace_schema_metadata(said)
    write_parquet(path, [table], table.schema)
    with pytest.raises(InputError, match=r"solution\.parquet: is damaged or cut off: "):
        resumed(folder)


def test_settings_that_were_changed_are_not_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    solved(folder)
    path = folder / "run.toml"
    path.write_text(path.read_text().replace("seed = 1", "seed = 3"))
    with pytest.raises(InputError, match=r"run\.toml: checksum mismatch"):
        resumed(folder)


def test_a_result_whose_instance_has_changed_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    solved(folder)
    solution = folder / "solution.parquet"
    table = read_parquet(solution)
    said = table.schema.metadata | {b"islands.run": b"0" * 64}
    write_parquet(solution, [table], table.replace_schema_metadata(said).schema)
    with pytest.raises(InputError, match=r"or fake/five has changed since\. Restore the"):
        resumed(folder)


def test_a_result_is_told_though_its_instance_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise InputError("mine.tsp: no such file")

    folder = tmp_path / "a"
    cost = solved(folder).cost
    monkeypatch.setattr(asked, "load", gone)
    stream = StringIO()
    ended = resume_asked(folder, {}, World(), Output(True, folder, stream=stream))
    assert ended.cost == cost
    assert "cannot be computed now, as not all is there: mine.tsp" in stream.getvalue()


def test_a_folder_that_another_process_goes_on_with_is_not_put_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    solved(folder)
    stream = folder / "trace" / "rank-000.2.unfinished.arrows"
    stream.touch()
    with FolderLock() as other:
        other.take(folder)
        resumed(folder)
        assert stream.exists()
    resumed(folder)
    assert not stream.exists()


def test_settings_that_are_damaged_at_their_beginning_are_called_so(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    solved(folder)
    path = folder / "run.toml"
    path.write_text(path.read_text()[1:])
    with pytest.raises(InputError, match=r"run\.toml: is damaged: it does not begin with"):
        resumed(folder)


def test_settings_that_are_cut_off_are_called_so(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    solved(folder)
    path = folder / "run.toml"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-4]))
    with pytest.raises(InputError, match=r"run\.toml: is cut off: it has no table"):
        resumed(folder)
