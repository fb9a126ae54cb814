"""Text for users: spellings of names, suggestions, settings and counts."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from islands.algorithms import ALGORITHMS
from islands.configuration.stop import CRITERIA
from islands.encodings import ENCODINGS
from islands.improvers import IMPROVERS
from islands.instances.formats import FORMATS
from islands.migration import TOPOLOGIES
from islands.presets import PRESETS
from islands.text import (
    command_line,
    counted,
    either,
    meant,
    nearest,
    one_line,
    option,
    plain,
    unknown,
)


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
        ("celular", ["cellular"]),
        ("ag", ["ga"]),
        ("PSO", ["pso"]),
        ("sa", []),
        ("aco", []),
        ("eso", []),
        ("tebu", ["tabu"]),
        ("tempring", ["tempering"]),
        ("annealing", []),
        ("random", []),
        ("genetic", []),
    ],
)
def test_only_similar_names_are_suggested(name: str, near: list[str]) -> None:
    assert nearest(name, [*ALGORITHMS, "tabu", "two_opt"]) == near
    assert ("Did you mean" in unknown("name", name, [*ALGORITHMS, "tabu", "two_opt"])) == bool(near)


def test_a_setting_is_written_in_the_users_notation() -> None:
    settings = [
        (("stop", "gap=1%"), 'stop="gap=1%"', "--stop gap=1%"),
        (("islands", 4), "islands=4", "--islands 4"),
        (("share_gpu", True), "share_gpu=True", "--share-gpu"),
        (("encoding",), "encoding", "--encoding"),
        (("migration", ["ring", "torus", "none"]), 'migration="ring", "torus" or "none"', ""),
    ]
    for asked, in_python, on_the_line in settings:
        assert option(*asked) == in_python
        with command_line():
            assert option(*asked) == (on_the_line or "--migration ring, torus or none")
        assert option(*asked) == in_python


def test_one_is_singular() -> None:
    assert [counted(n, "island") for n in (0, 1, 2)] == ["0 islands", "1 island", "2 islands"]
    assert counted(1, "city", "cities") == "1 city"
    assert counted(5000, "city", "cities", ",") == "5,000 cities"
    assert [either(["a"]), either(["a", "b"])] == ["a", "a or b"]


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
