"""The names of a batch in its folder, and names that come while it runs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from islands.campaign.names import Arriving, keep_names, kept_names
from islands.errors import InputError
from islands.record.folder import BATCH_NAMES

LIMIT = 1 << 16
"""Bytes of a line."""


@pytest.mark.parametrize("names", [[], ["a", "b"], ['"', "\\n", "\n", "é"], ["a" * (LIMIT - 3)]])
def test_names_are_read_as_they_were_kept(tmp_path: Path, names: list[str]) -> None:
    keep_names(tmp_path, names)
    assert kept_names(tmp_path) == names


def test_a_name_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / BATCH_NAMES).write_text('"a"\n"bc')
    assert kept_names(tmp_path) == ["a"]


@pytest.mark.parametrize("line", ['"' + "a" * LIMIT + '"', "a" * LIMIT, "[1]", "1", "{"])
def test_lines_that_are_no_names_are_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / BATCH_NAMES).write_text(f'"first"\n{line}\n"last"\n')
    with pytest.raises(InputError):
        kept_names(tmp_path)


def test_each_name_that_comes_is_taken_and_kept_once(tmp_path: Path) -> None:
    keep_names(tmp_path, ["known"])
    found, end = [], time.monotonic() + 10
    source = iter(["a", "b", None, "a", "known", "c", "c"])
    with Arriving(source, tmp_path, ["known"]) as arriving:
        while not arriving.is_over and time.monotonic() < end:
            if (name := arriving.take()) is not None:
                found.append(name)
    assert found == ["a", "b", "c"]
    assert arriving.count == 3
    lines = (tmp_path / BATCH_NAMES).read_text().splitlines()
    assert [json.loads(line) for line in lines] == ["known", "a", "b", "c"]
