"""docs/results.md names all keys and columns that a run writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from pages import ROOT

import islands


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> islands.Result:
    few = {"population": 8, "islands": 3, "interval": 2, "migration": "ring", "migrants": 1}
    folder = tmp_path_factory.mktemp("run") / "a"
    return islands.solve("demo/mkp", stop="generations=4", backend="cpu", out=folder, **few)


def named(section: str) -> set[str]:
    """Return the names in the first column of the tables in a section."""
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    part = page.partition(f"## {section}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_every_key_of_json_is_named(result: islands.Result) -> None:
    assert named("JSON") == set(json.loads(result.to_json()))


def test_every_column_of_the_records_is_named(result: islands.Result) -> None:
    assert result.folder is not None
    files = [Path(result.folder) / name / "rank-000.parquet" for name in ("trace", "migrations")]
    columns = [set(parquet.read_schema(file).names) for file in files]
    assert named("Records") == columns[0] | columns[1]
