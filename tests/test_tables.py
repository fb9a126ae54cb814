"""The tables of measurements and experiments, in each form."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from islands.record.files import append_row, read_table, write_table
from islands.tables import Column, Table, header, line, markdown, write_csv

COLUMNS = (
    Column("name", "who", 4, "<"),
    Column("hidden"),
    Column("seconds", "s", 6, ".2f"),
    Column("share", "of the whole", form=lambda share: f"{share:.0%}"),
)


@dataclass
class Measured:
    name: str
    seconds: float | None
    share: float = 0.5
    hidden: int = 7


def test_titles_and_rows_are_aligned() -> None:
    assert header(COLUMNS) == "who        s  of the whole"
    for row in (Measured("ab", 1.234), vars(Measured("ab", 1.234))):
        assert line(COLUMNS, row) == "ab      1.23           50%"


def test_a_missing_cell_is_a_dash() -> None:
    assert line(COLUMNS, Measured("ab", None)) == "ab         -           50%"
    assert line(COLUMNS, {"name": "ab"}) == "ab         -             -"
    assert line(COLUMNS, {}) == "-          -             -"


def test_a_table_of_markdown_has_the_columns_of_the_text() -> None:
    lines = markdown(COLUMNS, [Measured("ab", 1.234)]).splitlines()
    assert lines == ["| who | s | of the whole |", "| --- | --- | --- |", "| ab | 1.23 | 50% |"]


def test_a_file_has_all_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_csv(path, [each.name for each in COLUMNS], [{"name": "a,b", "hidden": 7}])
    with path.open(newline="") as stream:
        [row] = csv.DictReader(stream)
    assert row == {"name": "a,b", "hidden": "7", "seconds": "", "share": ""}


def test_a_row_has_the_cells_of_what_was_measured() -> None:
    columns = (*COLUMNS, Column("twice", "2 s", 5, ".1f", lambda each: 2 * each.seconds))
    table = Table("times", columns, above="Of a test")
    row = table.row_of(Measured("ab", 1.25, 0.5))
    assert json.loads(json.dumps(row)) == {**vars(Measured("ab", 1.25, 0.5)), "twice": 2.5}
    assert list(row) == ["name", "hidden", "seconds", "share", "twice"]
    assert row.line() == "ab      1.25           50%    2.5"
    assert table.header == "Of a test\nwho        s  of the whole    2 s"
    assert Table("written", [Column("name")]).header == ""


def test_a_row_needs_exactly_the_cells_of_its_table() -> None:
    table = Table("times", COLUMNS)
    row = table.row(seconds=1.0, share=0.1, name="ab", hidden=1)
    assert (list(row), row.table) == (["name", "hidden", "seconds", "share"], table)
    with pytest.raises(TypeError, match="table times: hidden, sceonds, seconds"):
        table.row(name="ab", sceonds=1.0, share=0.1)


def test_columns_next_to_each_other_share_a_group() -> None:
    columns = [Column("a", "a", 3), *(Column(n, n, 6, group="both of") for n in "bc"), Column("d")]
    assert header(columns) == "        both of\n  a       b       c"


TEXTS = ["=1+2", "+x", "-x/a.tsp", "@list", "'=1", "''+1"]
PLAIN = ["-5", "-1.5e3", "+5", "-inf", "a=b", "'a", "-", "", "1-2"]


def test_no_cell_is_a_formula_and_tables_keep_their_texts(tmp_path: Path) -> None:
    rows = [{"name": each} for each in [*TEXTS, *PLAIN]]
    write_table(tmp_path / "a.tsv", ["name"], rows[:-1])
    append_row(tmp_path / "a.tsv", ["name"], rows[-1])
    write_csv(tmp_path / "a.csv", ["name"], rows)
    for name, delimiter in (("a.tsv", "\t"), ("a.csv", ",")):
        with (tmp_path / name).open(newline="") as stream:
            cells = [row["name"] for row in csv.DictReader(stream, delimiter=delimiter)]
        assert cells == [*(f"'{each}" for each in TEXTS), *PLAIN]
    assert read_table(tmp_path / "a.tsv", ["name"], "names") == rows
