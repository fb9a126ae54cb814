"""The result and the settings of a run are read again, and rejected if they are damaged."""

import re
import tomllib
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import FakeProblem
from runs_for_tests import Honest, change_metadata, change_result, resumed, solved

from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine import loading
from islands.engine.runner import resume_requested
from islands.engine.single import Output
from islands.errors import InputError
from islands.parallel import World
from islands.record.inputs import RUN_LINE, read_settings, require_intact, write_settings
from islands.record.parquet import read_parquet, write_parquet
from islands.record.solution import recorded


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.engine.build.Archipelago", Honest)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    solved(tmp_path / "a")
    return tmp_path / "a"


def test_a_result_that_contradicts_its_solution_is_rejected(folder: Path) -> None:
    path = change_result(folder, cost=99)
    with pytest.raises(InputError, match="cost 99"):
        resumed(folder)
    path.unlink()
    assert resumed(folder).cost == 100


@pytest.mark.parametrize("facts", [{"cost": "100"}, {"seed": True}, {"ranks": None}])
def test_a_result_with_values_of_other_types_is_rejected(
    folder: Path, facts: dict[str, object]
) -> None:
    change_result(folder, **facts)
    with pytest.raises(InputError, match=r"solution\.parquet"):
        resumed(folder)


def test_a_result_of_a_changed_instance_is_rejected(folder: Path) -> None:
    # As both were written when the instance was another one.
    change_metadata(folder, b"islands.run", lambda _: b"0" * 64)
    settings = folder / "run.toml"
    text = settings.read_text().rpartition("# SHA-256")[0]
    settings.write_text(re.sub(f"{RUN_LINE}.*", f"{RUN_LINE}{'0' * 64}", text))
    with pytest.raises(InputError, match="fake/five has changed"):
        resumed(folder)


def test_a_result_is_returned_even_if_its_instance_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise InputError("mine.tsp: no such file")

    monkeypatch.setattr(loading, "loaded", gone)
    output = Output(True, folder, stream=StringIO())
    assert resume_requested(folder, Request(), World(), output).cost == 100


@pytest.mark.parametrize(
    "columns", [{"words": pa.array(["w"] * 5)}, {"more": pa.array(range(5))}, {"solution": None}]
)
def test_a_solution_has_one_column_of_numbers(folder: Path, columns: dict[str, Any]) -> None:
    path = folder / "solution.parquet"
    table = read_parquet(path, [*pq.read_schema(path)])
    said = table.schema.metadata
    for name, column in columns.items():
        if column is None:
            table = pa.table({name: [str(each) for each in table[name].to_pylist()]})
        else:
            table = table.append_column(name, column.take(pa.array([0] * len(table))))
    write_parquet(path, [table], table.schema.with_metadata(said))
    with pytest.raises(InputError):
        recorded(folder)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_settings(tmp_path, resolve(Request.of({"stop": "generations=100"}), FakeProblem()).spec)
    return tmp_path


def test_the_file_is_toml_and_is_read_again(written: Path) -> None:
    assert read_settings(written) == tomllib.loads((written / "run.toml").read_text())
    assert read_settings(written)["stop"] == ["generations=100"]


@pytest.mark.slow
def test_every_flipped_bit_of_settings_is_detected_or_harmless(written: Path) -> None:
    path, settings = written / "run.toml", read_settings(written)
    content = bytearray(path.read_bytes())
    noticed = 0
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            path.write_bytes(content)
            try:
                assert read_settings(written) == settings
            except InputError:
                noticed += 1
            content[place] ^= 1 << bit
    assert noticed > 7 * len(content)


def test_the_error_explains_how_to_change_settings_on_purpose(written: Path) -> None:
    path = written / "run.toml"
    path.write_text(path.read_text().replace("generations=100", "generations=200"))
    with pytest.raises(InputError, match="remove its last line"):
        require_intact(written)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    assert read_settings(written)["stop"] == ["generations=200"]
