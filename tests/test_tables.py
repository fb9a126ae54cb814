"""The tables of measurements and experiments, in each form."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from islands.algorithms import ALGORITHMS
from islands.configuration.stop import CRITERIA
from islands.encodings import ENCODINGS
from islands.improvers import IMPROVERS
from islands.instances.formats import FORMATS
from islands.migration import TOPOLOGIES
from islands.presets import PRESETS
from islands.record.files import append_row, read_table, write_table
from islands.tables import Column, Table, write_csv
from islands.text import meant, nearest, one_line, plain, unknown

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


def test_a_row_needs_exactly_the_cells_of_its_table() -> None:
    table = Table("times", COLUMNS)
    row = table.row(seconds=1.0, share=0.1, name="ab", hidden=1)
    assert (list(row), row.table) == (["name", "hidden", "seconds", "share"], table)
    with pytest.raises(TypeError, match="table times: hidden, sceonds, seconds"):
        table.row(name="ab", sceonds=1.0, share=0.1)


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


@pytest.mark.parametrize("name", ["2opt", "2-opt", "two-opt", "Two_Opt", "TWOOPT", "two opt"])
def test_all_spellings_of_a_name_are_accepted(name: str) -> None:
    assert meant(name, IMPROVERS) == "two_opt"


def test_other_names_are_not_changed() -> None:
    assert meant("3opt", IMPROVERS) == "3opt"
    assert meant("", IMPROVERS) == ""
    assert meant("best_known", CRITERIA) == "best-known"
    assert meant("1point", ["one_point", "two_point"]) == "one_point"


@pytest.mark.parametrize(
    "names",
    [ALGORITHMS, ENCODINGS, IMPROVERS, FORMATS, TOPOLOGIES, PRESETS, CRITERIA],
    ids=lambda names: next(iter(names)),
)
def test_names_differ_in_plain_form(names: Iterable[str]) -> None:
    assert len({plain(name) for name in names}) == len(list(names))


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("brgka", ["brkga"]),
        ("tab", ["tabu"]),
        ("ag", ["ga"]),
        ("PSO", ["pso"]),
        ("sa", []),
        ("random", []),
    ],
)
def test_only_similar_names_are_suggested(name: str, near: list[str]) -> None:
    assert nearest(name, [*ALGORITHMS, "tabu", "two_opt"]) == near
    assert ("Did you mean" in unknown("name", name, [*ALGORITHMS, "tabu", "two_opt"])) == bool(near)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tsplib/att48", "tsplib/att48"),
        ("Zürich 'n' \\ co", "Zürich 'n' \\ co"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("a\0\x1b[2Jb\x85c\u2028d", "a\\x00\\x1b[2Jb\\x85c\\u2028d"),
        ("caf\udce9", "caf\\udce9"),
        ("", ""),
        ("x" * 1000, "x" * 1000),
        ("x" * 1001, "x" * 997 + "..."),
        ("\n" * 1000, "\\n" * 498 + "\\..."),
    ],
)
def test_any_text_becomes_one_line(text: str, line: str) -> None:
    assert one_line(text) == line
    assert line.isprintable()
    assert len(line.encode().decode().splitlines()) <= 1
