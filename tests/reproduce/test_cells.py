from __future__ import annotations

import json

import pytest

from islands.reproduce.cells import Column, Scaled, header, line, mean, mean_ratio, numbers

COLUMNS = [Column("name", "who", 4), Column("hidden"), Column("seconds", "s", 6, ".2f")]


def test_titles_and_rows_are_aligned() -> None:
    assert header(COLUMNS) == "who        s"
    assert line(COLUMNS, {"name": "ab", "hidden": 7, "seconds": 1.234}) == "ab      1.23"


def test_a_cell_without_a_run_is_a_dash() -> None:
    assert line(COLUMNS, {"name": "ab", "seconds": None}) == "ab         -"
    assert line(COLUMNS, {"name": "ab"}) == "ab         -"


def test_a_scaled_time_is_marked_when_printed_and_a_number_in_files() -> None:
    time = Scaled(12.345)
    assert line(COLUMNS, {"name": "ab", "seconds": time}) == "ab    ~12.35"
    assert json.dumps(time) == str(time) == "12.345"


def test_numbers_come_from_complete_rows() -> None:
    rows = [{"a": 6, "b": 3.0}, {"a": 1, "b": None}, {"a": 4, "b": 1}]
    assert numbers(rows, "a", "b") == [(6.0, 3.0), (4.0, 1.0)]
    assert mean(rows, "b") == 2.0
    assert mean_ratio(rows, "a", "b") == pytest.approx((6 / 3 + 4 / 1) / 2)
