from __future__ import annotations

import json

import pytest

from islands.reproduce.cells import Scaled, mean, mean_ratio, numbers
from islands.tables import Column, line


def test_a_scaled_time_is_marked_when_printed_and_a_number_in_files() -> None:
    time = Scaled(12.345)
    assert line([Column("seconds", "s", 6, ".2f")], {"seconds": time}) == "~12.35"
    assert json.dumps(time) == str(time) == "12.345"


def test_numbers_come_from_complete_rows() -> None:
    rows = [{"a": 6, "b": 3.0}, {"a": 1, "b": None}, {"a": 4, "b": 1}]
    assert numbers(rows, "a", "b") == [(6.0, 3.0), (4.0, 1.0)]
    assert mean(rows, "b") == 2.0
    assert mean_ratio(rows, "a", "b") == pytest.approx((6 / 3 + 4 / 1) / 2)
