"""Tables, texts and settings: their forms, spellings and values."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from pickle import dumps, loads
from types import SimpleNamespace
from typing import Any

import pytest

from islands.algorithms import ALGORITHMS
from islands.configuration.stop import CRITERIA
from islands.encodings import ENCODINGS
from islands.errors import UsageError
from islands.improvers import IMPROVERS
from islands.instances.formats import EVERY_FORMAT
from islands.migration import TOPOLOGIES
from islands.presets import PRESETS
from islands.record.files import append_row, write_table
from islands.settings import Settings, setting
from islands.studies import described
from islands.tables import Column, Table
from islands.text import meant, one_line, plain

TEXTS = ["=1+2", "+x", "-x/a.tsp", "@list", "'=1", "''+1"]
PLAIN = ["-5", "-1.5e3", "+5", "-inf", "a=b", "'a", "-", "", "1-2"]


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    rows = [{"name": each} for each in [*TEXTS, *PLAIN]]
    write_table(tmp_path / "a.tsv", ["name"], rows[:-1])
    append_row(tmp_path / "a.tsv", ["name"], rows[-1])
    Table("a", [Column("name")]).write(tmp_path, rows)
    for name, delimiter in (("a.tsv", "\t"), ("a.csv", ",")):
        with (tmp_path / name).open(newline="") as stream:
            cells = [row["name"] for row in csv.DictReader(stream, delimiter=delimiter)]
        assert cells == [*(f"'{each}" for each in TEXTS), *PLAIN]


@pytest.mark.parametrize("name", ["2opt", "2-opt", "two-opt", "Two_Opt", "TWOOPT", "two opt"])
def test_all_spellings_of_a_name_are_accepted(name: str) -> None:
    assert meant(name, IMPROVERS) == "two_opt"


@pytest.mark.parametrize(
    "names",
    [ALGORITHMS, ENCODINGS, IMPROVERS, EVERY_FORMAT, TOPOLOGIES, PRESETS, CRITERIA],
    ids=lambda names: next(iter(names)),
)
def test_names_differ_in_plain_form(names: Iterable[str]) -> None:
    assert len({plain(name) for name in names}) == len(list(names))


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


@dataclass(frozen=True)
class Sample(Settings):
    """One setting of each kind."""

    share: float = setting(0.5, "a share", low=0, high=1)
    size: int = setting(10, "a size", low=1)
    word: str = setting("ring", "a word", choices=("ring", "elite"))
    flag: bool = setting(False, "a flag")
    wait: float = setting(60.0, "a time", low=0, is_time=True)
    large: int = setting(1, "a large number", low=0, high=2**63 - 1)

    def check(self) -> None:
        """Reject share=1 with flag."""
        if self.flag and self.share == 1:
            raise UsageError("flag with share=1: choose one")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("share", "0.25", 0.25),
        ("share", 1, 1.0),
        ("size", "1e3", 1000),
        ("size", "9007199254740993", 9007199254740993),
        ("size", 5.0, 5),
        ("word", "elite", "elite"),
        ("flag", "yes", True),
        ("flag", False, False),
        ("wait", "1.5", 1.5),
        ("wait", "5m", 300.0),
        ("wait", 2, 2.0),
    ],
)
def test_values_are_converted_without_loss(name: str, value: Any, expected: Any) -> None:
    found = getattr(Sample.build({name: value}), name)
    assert found == expected
    assert type(found) is type(expected)


def test_changed_copy_is_checked_and_keeps_other_values() -> None:
    changed = Sample.build({"share": 0.25}).replace({"size": 3})
    assert changed == Sample(share=0.25, size=3)
    with pytest.raises(UsageError):
        changed.replace({"size": 0})
    with pytest.raises(UsageError, match="choose one"):
        Sample.build({"flag": True, "share": 1})


def test_mapping_gives_the_same_settings() -> None:
    settings = Sample.build({"word": "elite", "flag": "on"})
    assert Sample.build(settings.to_mapping()) == settings
    assert Sample.names() == ["share", "size", "word", "flag", "wait", "large"]


def test_a_column_without_a_name_is_only_in_text() -> None:
    table = Table(
        "hits",
        (
            Column("name", "name", 6, "<"),
            *map(Column, ("hits", "runs")),
            Column("", "hits", 5, value=lambda row: f"{row['hits']}/{row['runs']}"),
            Column("gap", "gap", form=".1f"),
        ),
    )
    row = table.row(name="a", hits=1, runs=2, gap=None).but(hits=2)
    assert row == {"name": "a", "hits": 2, "runs": 2, "gap": None}
    assert (table.header, row.line()) == ("name     hits  gap", "a         2/2    -")
    assert type(loads(dumps(row))) is dict
    with pytest.raises(TypeError, match="table hits: gap, other"):
        table.row(name="a", hits=1, runs=2, other=3)


DESCRIPTION = """
[shared]
runs = [["runs", "runs", 6]]

[found]
above = "Runs"
columns = [
    "seed",
    ["name", "name", 0, "<", "problem.name"],
    "*runs",
    ["seconds", "time", 0, "{:.1f} s"],
    {name = "cost", title = "cost", form = "doubled", group = "ends"},
    {title = "of", value = "{runs}/{seed}"},
    {title = "again", value = "cost"},
]
"""


def test_a_file_describes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "tables.toml"
    path.write_text(DESCRIPTION)
    table = described.table(path, "found", doubled=lambda cost: f"{2 * cost}")
    assert (table.name, table.above) == ("found", "Runs")
    assert [column.name for column in table.columns] == [
        *("seed", "name", "runs", "seconds", "cost", "", "")
    ]
    found = SimpleNamespace(problem=SimpleNamespace(name="qap"), seed=2, runs=1, seconds=3, cost=4)
    row = table.row_of(found)
    assert row == {"seed": 2, "name": "qap", "runs": 1, "seconds": 3, "cost": 4}
    assert row.line().split() == ["qap", "1", "3.0", "s", "8", "1/2", "4"]
    assert table.columns[4].group == "ends"
